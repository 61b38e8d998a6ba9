"""Recursive filters on CUDA: a thread for each row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.lowering.filter.problem import HELD, OPERANDS, A, Filter, Rows, X, Y
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, offset, translation_unit, unravel
from baracuda.runtime.program import KernelSource, Launch, Lowered

_THREADS = 32
#: Elements that are read ahead.
_AHEAD = 8


def ways(problem: Filter, target: Target) -> Iterator[Lowered]:
    """The launch of a problem."""
    yield lower(problem)


@lru_cache(maxsize=1024)
def lower(problem: Filter) -> Lowered:
    """The launch of a problem, the same for every target."""
    p, words = problem, Words(OPERANDS, ())
    if p.count >= INDEX_LIMIT:
        raise UnsupportedError(f"{p.count} rows; expected fewer than {INDEX_LIMIT}")
    wide = p.kind is ElementKind.F64
    type_, fma = ("double", "__fma_rn") if wide else ("float", "__fmaf_rn")

    def pointer(name: str, operand: int, rows: Rows) -> str:
        const = "" if operand == Y else "const "
        at = offset([words.signed(s) for s in rows.outer], "c")
        return f"{const}{type_}* const {name} = ({const}{type_}*)W.w[{operand}] + ({at});"

    body = [
        f"const unsigned row = blockIdx.x * {_THREADS}u + threadIdx.x;",
        f"if (row >= {words.unsigned(p.count)}) return;",
        *unravel("row", p.outer or (1,), words, "c", wide=False),
        pointer("x", X, p.x),
        pointer("a", A, p.a),
        pointer("y", Y, p.y),
        f"const i64 sx = {words.signed(p.x.along)}, sa = {words.signed(p.a.along)}, sy = {words.signed(p.y.along)};",
        f"const i64 length = {words.signed(p.length)};",
    ]
    body += _held(p.order, type_, fma) if p.order <= HELD else _from_memory(words.signed(p.order), type_, fma)
    launch = Launch(KernelSource(translation_unit(words, body, _THREADS)), (-(-p.count // _THREADS), 1, 1), _THREADS)
    return Lowered((launch,), tuple(words.values), 0, f"filter of {p.order}")


def _held(order: int, type_: str, fma: str) -> list[str]:
    """The elements before are in registers, and some of x are read ahead."""
    step = [
        "#pragma unroll",
        f"for (int k = {order - 1}; k >= 0; --k) s = {fma}(f[k], h[k], s);",
        "#pragma unroll",
        f"for (int k = {order - 1}; k > 0; --k) h[k] = h[k - 1];",
        "h[0] = s;",
    ]
    return [
        f"{type_} h[{order}], f[{order}];",
        "#pragma unroll",
        f"for (int k = 0; k < {order}; ++k) {{ h[k] = 0; f[k] = -a[k * sa]; }}",
        "i64 t = 0;",
        f"for (; t + {_AHEAD} <= length; t += {_AHEAD}) {{",
        f"  {type_} ahead[{_AHEAD}];",
        "  #pragma unroll",
        f"  for (int i = 0; i < {_AHEAD}; ++i) ahead[i] = x[(t + i) * sx];",
        "  #pragma unroll",
        f"  for (int i = 0; i < {_AHEAD}; ++i) {{",
        f"    {type_} s = ahead[i];",
        *(f"    {line}" for line in step),
        "    y[(t + i) * sy] = s;",
        "  }",
        "}",
        "for (; t < length; ++t) {",
        f"  {type_} s = x[t * sx];",
        *(f"  {line}" for line in step),
        "  y[t * sy] = s;",
        "}",
    ]


def _from_memory(order: str, type_: str, fma: str) -> list[str]:
    """The elements before are read where they were written."""
    return [
        f"const i64 order = {order};",
        "for (i64 t = 0; t < length; ++t) {",
        f"  {type_} s = x[t * sx];",
        f"  for (i64 i = t < order ? 0 : t - order; i < t; ++i) s = {fma}(-a[(t - i - 1) * sa], y[i * sy], s);",
        "  y[t * sy] = s;",
        "}",
    ]
