"""Convolutions on a CUDA device, each result by a thread: any layout, any element, any arithmetic.

Threads of a block have neighbouring results, whose windows the first level of the cache holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.convolution.cuda.code import Factor, Taps, coordinates
from baracuda.lowering.convolution.cuda.integers import quantize
from baracuda.lowering.convolution.problem import ConvolutionProblem, Matrix, W, X, matrix, product_of
from baracuda.lowering.convolution.quantized import integer_strides, quantized
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.kernel import place_of_block
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Target, Words, translation_unit, unravel
from baracuda.runtime.program import KernelSource, Launch, Lowered

_THREADS = 256

FINITE = r"""
__device__ __forceinline__ bool is_finite(float x) { return (__float_as_uint(x) & 0x7fffffffu) < 0x7f800000u; }
"""


@dataclass(frozen=True)
class DirectTile:
    """The results of a block."""

    bm: int
    bn: int
    threads: int = _THREADS
    group: int = 8


def direct(p: ConvolutionProblem, target: Target) -> Lowered:
    """The program: of integers, both factors are turned into them first; sums of several chains are added last."""
    words = Words(len(p.tensors), p.epilogue.params)
    launches: list[Launch] = []
    nbytes = 0
    if p.bits:
        *both, nbytes = quantized(p)
        launches = [quantize(f, p, words) for f in both]
    m = matrix(p)
    if p.segments > 1:
        launches.append(_chains(p, m, words, nbytes))
        launches.append(finish(p, m, words, added(p, m, words, nbytes)))
        return Lowered(tuple(launches), tuple(words.values), nbytes + partial_bytes(p), "direct, in segments")
    launches.append(finish(p, m, words, sums_of(p, words, _coordinates(p, m, words))))
    return Lowered(tuple(launches), tuple(words.values), nbytes, "direct")


def finish(p: ConvolutionProblem, m: Matrix, words: Words, sums: list[str]) -> Launch:
    """The kernel that makes results of sums; the statements `sums` compute s, the sum in row m0 + r and column n0 + q."""
    c = product_of(p, m)
    bn = 32
    while bn > 1 and bn // 2 >= c.n:
        bn //= 2
    tile = DirectTile(_THREADS // bn, bn)
    place = place_of_block(c, tile, words)  # type: ignore[arg-type]
    frame = epilogue_frame(c, words)
    rest, definitions = epilogue(c, frame, tile)
    type_ = COMPUTE_TYPE[p.accumulator]
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        *place,
        f"{type_}* const sums0 = ({type_}*)shared;",
        "{",
        f"const int r = threadIdx.x / {bn}, q = threadIdx.x % {bn};",
        "if (r < rows && q < columns) {",
        *sums,
        f"sums0[r * {sums_pitch(c, tile)} + q] = s;",
        "}}",
        "__syncthreads();",
        *rest,
    ]
    source = frame.kernel(body, _THREADS, PRODUCTS + FINITE + definitions)
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    return Launch(KernelSource(source), (blocks, 1, 1), _THREADS, sums_bytes(c, tile))


def partial_bytes(p: ConvolutionProblem) -> int:
    """The chains of all segments, which lie over (segment, batches, rows, columns)."""
    return p.segments * prod(p.extents().values()) * p.accumulator.itemsize


def added(p: ConvolutionProblem, m: Matrix, words: Words, start: int, *, again: bool = False) -> list[str]:
    """The statements that add the chains of a result; with `again` those of a sum that is NaN are taken anew."""
    type_, extents = COMPUTE_TYPE[p.accumulator], p.extents()
    index = "0"
    for i, name in enumerate(m.batch):
        index = f"({index} * {words.signed(extents[name])} + c{i})"
    rows, columns = (prod(extents[name] for name in run) for run in (m.rows, m.columns))
    lines = [
        f"const {type_}* const chains = (const {type_}*)(W.w[{words.operands}] + {words.signed(start)});",
        f"const i64 one = ({index} * {words.signed(rows)} + m0 + r) * {words.signed(columns)} + n0 + q;",
        f"const i64 apart = {words.signed(prod(extents.values()))}, parts = {words.signed(p.segments)};",
        f"{type_} s = 0;",
        "for (i64 part = 0; part < parts; ++part) s = Sum::of(s, chains[part * apart + one]);",
    ]
    if again:
        inner = sums_of(p, words, _coordinates(p, m, words))
        lines += ["if (s != s) {", f"{type_} anew;", "{", *inner, "anew = s;", "}", "s = anew;", "}"]
    return lines


def _chains(p: ConvolutionProblem, m: Matrix, words: Words, start: int) -> Launch:
    """The kernel of the chains, each by a thread."""
    type_, extents = COMPUTE_TYPE[p.accumulator], p.extents()
    run = (*m.batch, *m.rows, *m.columns)
    total = prod(extents.values())
    count = p.segments * total
    lines = unravel("number", (p.segments, *(extents[name] for name in run)), words, "c", wide=True)
    at = {name: f"c{i}" for i, name in enumerate(run, 1)}
    body = [
        f"const i64 number = (i64)blockIdx.x * {_THREADS} + threadIdx.x;",
        f"if (number >= {words.signed(count)}) return;",
        *lines,
        *sums_of(p, words, ([], at), segment="c0"),
        f"(({type_}*)(W.w[{words.operands}] + {words.signed(start)}))[number] = s;",
    ]
    source = translation_unit(words, body, _THREADS, PRODUCTS + FINITE)
    return Launch(KernelSource(source), (-(-count // _THREADS), 1, 1), _THREADS)


def _coordinates(p: ConvolutionProblem, m: Matrix, words: Words) -> tuple[list[str], dict[str, str]]:
    """Where the result in row m0 + r and column n0 + q is."""
    batch = {name: f"c{i}" for i, name in enumerate(m.batch)}
    row_lines, rows = coordinates(p, m.rows, "m0 + r", words, "row")
    column_lines, columns = coordinates(p, m.columns, "n0 + q", words, "column")
    return [*row_lines, *column_lines], batch | rows | columns


def sums_of(p: ConvolutionProblem, words: Words, place: tuple[list[str], dict[str, str]], *, segment: str = "") -> list[str]:
    """The statements that compute the sum s of a result, given those that say where it is; of one segment where that is given."""
    lines, at = place
    taps, type_ = Taps(p, words, segment), COMPUTE_TYPE[p.accumulator]
    whole = p.segment > 0 and not segment
    general = p.x.general or p.w.general
    raw = [
        Factor.of(words, "x", p.x.kind, f"W.w[{X}]", p.x_strides(), general=general),
        Factor.of(words, "w", p.w.kind, f"W.w[{W}]", p.w_strides(), general=general),
    ]
    factors = raw
    if p.bits:
        x, w, _ = quantized(p)
        xq, xs, wq, ws = integer_strides(p)
        scratch = f"W.w[{words.operands}]"
        names = (("xq", x.integers, xq), ("wq", w.integers, wq), ("xs", x.scales, xs), ("ws", w.scales, ws))
        factors = [
            Factor.of(words, name, ElementKind.F32, f"{scratch} + {words.signed(place_)}", strides)
            for name, place_, strides in names
        ]

    def at_channel(pointer: str, f: Factor, c: str) -> str:
        return f"widen({pointer}[{f.offset({'c': c})}])"

    def chain(pointers: list[str]) -> list[str]:
        x, w = (at_channel(pointer, f, "c") for pointer, f in zip(pointers, factors, strict=True))
        return [
            *(_segments(p, words, type_) if whole else ()),
            "for (int c = 0; c < C; ++c)",
            f"s = chain(({type_}){x}, ({type_}){w}, s);",
        ]

    def integers(pointers: list[str]) -> list[str]:
        x, w = (at_channel(pointer, f, "c") for pointer, f in zip(pointers[:2], factors[:2], strict=True))
        x_scale, w_scale = (at_channel(pointer, f, "block") for pointer, f in zip(pointers[2:], factors[2:], strict=True))
        return [
            *(_segments(p, words, type_) if whole else ()),
            f"for (int block = 0; block * {BLOCK} < C; ++block) {{",
            "double product = 0;",
            f"const int end = C - block * {BLOCK} < {BLOCK} ? C : (block + 1) * {BLOCK};",
            f"for (int c = block * {BLOCK}; c < end; ++c) product = __fma_rn((double){x}, (double){w}, product);",
            f"const float x_scale = {x_scale}, w_scale = {w_scale};",
            "const float low = x_scale < w_scale ? x_scale : w_scale, high = x_scale < w_scale ? w_scale : x_scale;",
            "s = __fmaf_rn(__fmul_rn(__double2float_rn(product), low), high, s);",
            "}",
        ]

    def unusual(pointers: list[str]) -> list[str]:
        x, w = (at_channel(pointer, f, "c") for pointer, f in zip(pointers, raw, strict=True))
        return [
            "for (int c = 0; c < C; ++c) {",
            f"const float u = {x}, v = {w};",
            "if (!is_finite(u) || !is_finite(v)) { special = __fadd_rn(special, __fmul_rn(u, v)); found = true; }",
            "}",
        ]

    result = [
        *lines,
        *taps.declare(),
        f"const int C = (int){words.signed(p.channels)};",
        *[f.declaration for f in (*raw, *(factors if p.bits else ()))],
        f"{type_} s = 0;",
        *([f"{type_} total = 0; i64 segment = 0;"] if whole else ()),
        "{",
        *taps.loops(factors, at, integers if p.bits else chain),
        "}",
        *(["s = Sum::of(total, s);"] if whole else ()),
    ]
    if p.bits:
        result += ["if (s != s) {", "float special = 0; bool found = false;", "{"]
        result += [*Taps(p, words, segment).loops(raw, at, unusual), "}"]
        result += ["if (found) s = special;", "}"]
    return result


def _segments(p: ConvolutionProblem, words: Words, type_: str) -> list[str]:
    """Begins a new chain where a segment does."""
    if not p.segment:
        return []
    length = words.signed(p.segment)
    return [
        f"if (tap / {length} != segment) {{ segment = tap / {length}; total = Sum::of(total, s); s = 0; }}",
    ]


def meets_padding(p: ConvolutionProblem) -> bool:
    """Whether what is not there may have made a sum a NaN."""
    return p.accumulator.is_float and not all(_inside(p, a) for a in p.spatial)


def _inside(p: ConvolutionProblem, a: int) -> bool:
    """Whether every output and tap of an axis meet an element."""
    ends = [o * p.stride[a] + t * p.dilation[a] - p.low[a] for o in (0, p.outputs[a] - 1) for t in (0, p.taps[a] - 1)]
    return min(ends) >= 0 and max(ends) < p.inputs[a]
