"""Elements and their keys in CUDA C++: an element is one or two words, its bits."""

from __future__ import annotations

from baracuda.core.elements import Category, ElementKind
from baracuda.lowering.nest.cuda.kernel import Words, offset, unravel
from baracuda.lowering.sort.problem import INDICES, RANKS, VALUES, RowLayout, Sort, X

_WORD = {8: "unsigned char", 16: "unsigned short", 32: "unsigned", 64: "u64"}


def elements(sort: Sort) -> str:
    """`Element`, and `key_of(element, which)`, the last of whose keys counts most."""
    bits = sort.part_bits
    key = "u64" if bits == 64 else "unsigned"
    mask = (1 << bits) - 1
    suffix = "ull" if bits == 64 else "u"
    text = f"""
typedef {_WORD[bits]} Word;
typedef {key} Key;
constexpr int KEYS = {sort.keys};
struct alignas(sizeof(Word) * KEYS) Element {{ Word w[KEYS]; }};
constexpr Key MASK = {mask:#x}{suffix}, SIGN = MASK / 2 + 1;
"""
    if sort.infinity is None:
        body = "Key w = e.w[0];"
        if sort.kind is ElementKind.BOOL:
            body = "Key w = e.w[0] != 0;"
        elif sort.kind.category is Category.SIGNED:
            body += " w ^= SIGN;"
        if sort.descending:
            body += f" w ^= {(1 << sort.key_bits) - 1:#x}{suffix};"
        return text + f"__device__ __forceinline__ Key key_of(const Element& e, int) {{ {body} return w; }}\n"
    turn = " turned ^= MASK;" if sort.descending else ""
    text += f"""
__device__ __forceinline__ bool is_nan(Key w) {{ return (w & MASK / 2) > {sort.infinity:#x}{suffix}; }}
__device__ __forceinline__ Key number_of(Key w) {{
  if (w == SIGN) w = 0;
  Key turned = w & SIGN ? ~w & MASK : w | SIGN;{turn}
  return turned;
}}
"""
    ends = [f"{i if sort.nan_first else mask - i:#x}{suffix}" for i in range(3)]
    if not sort.complex:
        return text + (
            "__device__ __forceinline__ Key key_of(const Element& e, int) {\n"
            f"  return is_nan(e.w[0]) ? {ends[0]} : number_of(e.w[0]);\n}}\n"
        )
    both, only_re, only_im = ends
    return (
        text
        + f"""
__device__ __forceinline__ Key key_of(const Element& e, int which) {{
  const bool re = is_nan(e.w[0]), im = is_nan(e.w[1]);
  if (which) return re ? im ? {both} : {only_re} : im ? {only_im} : number_of(e.w[0]);
  return re && im ? {both} : number_of(im ? e.w[0] : e.w[1]);
}}
"""
    )


def digit(sort: Sort, at: tuple[int, int, int]) -> str:
    """`digit_of(element)`."""
    key, shift, bits = at
    return (
        "__device__ __forceinline__ unsigned digit_of(const Element& e) {\n"
        f"  return (unsigned)(key_of(e, {key}) >> {shift}) & {(1 << bits) - 1}u;\n}}\n"
    )


def rows(sort: Sort, words: Words) -> str:
    """Reads and writes of the tensors: `read_x(W, row, i)`, `write_values(W, row, i, element)` and so on."""
    text = ""
    for number, name in ((X, "x"), (VALUES, "values"), (INDICES, "indices"), (RANKS, "ranks")):
        layout = sort.tensors.get(number)
        if layout is None:
            continue
        text += f"__device__ __forceinline__ i64 {name}_row(const Words& W, unsigned row) {{\n  "
        text += "\n  ".join([*unravel("row", sort.outer, words, "c", wide=False), f"return {_offset(layout, words)};"]) + "\n}\n"
        type_ = "Element" if number in (X, VALUES) else "int" if layout.kind is ElementKind.S32 else "i64"
        at = f"(({type_}*)W.w[{number}])[row + (i64)i * {words.signed(layout.along)}]"
        if number == X:
            text += f"__device__ __forceinline__ Element read_x(const Words& W, i64 row, unsigned i) {{ return {at}; }}\n"
        else:
            text += (
                f"__device__ __forceinline__ void write_{name}(const Words& W, i64 row, unsigned i, {type_} value) "
                f"{{ {at} = value; }}\n"
            )
    return text


def _offset(layout: RowLayout, words: Words) -> str:
    return offset([words.signed(s) for s in layout.outer], "c")
