"""Convolutions of single channels on a CUDA device: a thread has some neighbouring results, whose windows it loads once.

Neighbouring threads lie along the axis of y that is densest, be it channels or the last spatial axis. Taps, stride and dilation
are part of the code. What is not there counts as 0; a sum that came out as a NaN is taken again without it.
"""

from __future__ import annotations

from math import prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.convolution.cuda.code import Factor, coordinates, index_type
from baracuda.lowering.convolution.cuda.direct import FINITE, DirectTile, meets_padding, sums_of
from baracuda.lowering.convolution.problem import ConvolutionProblem, Matrix, W, X, product_of, runs
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.kernel import place_of_block
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

_THREADS = 256
#: Taps, elements of a window and results of a thread at most.
_TAPS, _HELD, _STRIP = 49, 72, 4
#: Columns from which on threads lie along the last spatial axis alone.
_WIDE = 24


def depthwise(p: ConvolutionProblem) -> Lowered | None:
    """The program; None where the problem is not one for it."""
    single = p.channels == 1 and p.columns == 1 and p.is_plain and not p.bits and p.segments == 1
    if not single or p.general or not 1 <= prod(p.taps) <= _TAPS or not p.rank or min(p.stride) < 1 or max(p.stride) > 8:
        return None
    if max(abs(d) * n for d, n in zip(p.dilation, p.taps, strict=True)) > 64:
        return None
    extents, place, y = p.extents(), {name: i for i, name in enumerate(p.extents())}, p.operands[-1]
    last = f"o{p.rank - 1}"
    strip: int | None = None
    rows: tuple[str, ...] = ("g",)
    columns: tuple[str, ...]
    if y.steps(place["g"]) == 1 and extents["g"] > 1:
        rows, columns, strip = (last,), ("g",), p.rank - 1
    elif p.rank > 1 and extents[last] >= _WIDE:
        rows, columns, strip = (f"o{p.rank - 2}",), (last,), p.rank - 2
    else:
        rows, columns = (
            ("g",),
            max(runs(p, tuple(f"o{a}" for a in p.spatial)), key=lambda run: prod(extents[name] for name in run), default=()),
        )
    batch = tuple(name for name in extents if name not in (*rows, *columns) and extents[name] > 1)
    m = Matrix(batch, rows, columns)
    count = 1
    if strip is not None:
        count = next((n for n in (_STRIP, 2) if _window(p, strip, n) <= _HELD and extents[rows[0]] >= n), 1)
    return _lower(p, m, strip if count > 1 else None, count)


def _window(p: ConvolutionProblem, strip: int, count: int) -> int:
    """Elements that so many results along an axis meet."""
    long = (count - 1) * p.stride[strip] + abs(p.dilation[strip]) * (p.taps[strip] - 1) + 1
    return long * prod(n for a, n in enumerate(p.taps) if a != strip)


def _lower(p: ConvolutionProblem, m: Matrix, strip: int | None, count: int) -> Lowered:
    c = product_of(p, m)
    words = Words(len(p.tensors), p.epilogue.params)
    bn = 128
    while bn > 8 and bn // 2 >= c.n:
        bn //= 2
    while bn > 32 and c.m > _THREADS // bn * count:
        bn //= 2
    tile = DirectTile(_THREADS // bn * count, bn)
    place = place_of_block(c, tile, words)  # type: ignore[arg-type]
    type_ = COMPUTE_TYPE[p.accumulator]
    row_lines, row_at = coordinates(p, m.rows, f"m0 + r * {count}", words, "row")
    column_lines, column_at = coordinates(p, m.columns, "n0 + q", words, "column")
    at = {name: f"c{i}" for i, name in enumerate(m.batch)} | row_at | column_at
    pitch = sums_pitch(c, tile)
    frame = epilogue_frame(c, words)
    rest, definitions = epilogue(c, frame, tile)
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        *place,
        f"{type_}* const sums0 = ({type_}*)shared;",
        "{",
        f"const int r = threadIdx.x / {bn}, q = threadIdx.x % {bn};",
        f"if (r * {count} < rows && q < columns) {{",
        *row_lines,
        *column_lines,
        *_sums(p, words, at, strip, count),
        "#pragma unroll",
        f"for (int v = 0; v < {count}; ++v) sums0[(r * {count} + v) * {pitch} + q] = acc[v];",
        *_again(p, m, words, count, pitch),
        "}}",
        "__syncthreads();",
        *rest,
    ]
    source = frame.kernel(body, _THREADS, PRODUCTS + FINITE + definitions)
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    launch = Launch(KernelSource(source), (blocks, 1, 1), _THREADS, sums_bytes(c, tile))
    return Lowered((launch,), tuple(words.values), 0, f"depthwise {tile.bm}x{tile.bn}, {count} a thread")


def _sums(p: ConvolutionProblem, words: Words, at: dict[str, str], strip: int | None, count: int) -> list[str]:
    """The statements that compute acc, the sums of a thread."""
    type_, kind = COMPUTE_TYPE[p.accumulator], index_type(p)
    x = Factor.of(words, "x", p.x.kind, f"W.w[{X}]", p.x_strides())
    w = Factor.of(words, "w", p.w.kind, f"W.w[{W}]", p.w_strides())
    taps = prod(p.taps)
    lines = [
        x.declaration,
        w.declaration,
        f"const auto* const x_0 = x + ({x.offset({name: at[name] for name in ('b', 'g') if name in at})});",
        f"const auto* const w_0 = w + ({w.offset({'g': at['g']} if 'g' in at else {})});",
        f"{type_} weight[{taps}], acc[{count}];",
    ]
    steps = [words.signed(s) for name, s in p.w_strides().items() if name.startswith("t")]
    for number in range(taps):
        coordinate: list[int] = []
        rest = number
        for n in reversed(p.taps):
            coordinate.insert(0, rest % n)
            rest //= n
        offset = " + ".join(f"{t} * {s}" for t, s in zip(coordinate, steps, strict=True) if t) or "0"
        lines.append(f"weight[{number}] = ({type_})widen(w_0[{offset}]);")
    # where the window begins, and how long it is, along each axis
    strides = p.x_strides()
    longs = []
    for a in p.spatial:
        reach = (p.taps[a] - 1) * p.dilation[a]
        many = count if a == strip else 1
        longs.append((many - 1) * p.stride[a] + abs(reach) + 1)
        low = min(reach, 0)
        lines += [
            f"const {kind} i{a} = ({kind})({at.get(f'o{a}', '0')}) * {p.stride[a]} - ({kind}){words.signed(p.low[a])} + ({low});",
            f"const {kind} I{a} = ({kind}){words.signed(p.inputs[a])};",
            f"const i64 step{a} = {words.signed(strides[f'i{a}'])};",
        ]
    lines.append(f"const auto* const x_1 = x_0 + ({' + '.join(f'(i64)i{a} * step{a}' for a in p.spatial)});")
    lines += ["#pragma unroll", f"for (int v = 0; v < {count}; ++v) acc[v] = 0;"]

    def level(a: int, coordinate: list[int]) -> list[str]:
        """The taps from an axis on, those of the axes before it given; the last level holds its line of the window."""
        inner: list[str] = []
        for t in range(p.taps[a]):
            if a < p.rank - 1:
                inner += level(a + 1, [*coordinate, t])
                continue
            inner += term([*coordinate, t])
        return inner

    held: dict[tuple[int, ...], str] = {}

    def element(place: tuple[int, ...]) -> str:
        """The element of the window at a place, loaded before the first term that needs it."""
        if place not in held:
            name = held[place] = f"e{len(held)}"
            inside = " && ".join(f"i{a} + {j} >= 0 && i{a} + {j} < I{a}" for a, j in enumerate(place))
            offset = " + ".join(f"{j} * step{a}" for a, j in enumerate(place) if j) or "0"
            loads.append(f"const {type_} {name} = {inside} ? ({type_})widen(x_1[{offset}]) : ({type_})0;")
        return held[place]

    loads: list[str] = []

    def term(coordinate: list[int]) -> list[str]:
        number = 0
        for n, t in zip(p.taps, coordinate, strict=True):
            number = number * n + t
        out = []
        for v in range(count):
            place = tuple(
                t * p.dilation[a] - min((p.taps[a] - 1) * p.dilation[a], 0) + (v * p.stride[a] if a == strip else 0)
                for a, t in enumerate(coordinate)
            )
            out.append(f"acc[{v}] = chain({element(place)}, weight[{number}], acc[{v}]);")
        return out

    terms = level(0, [])
    assert all(j < long for place in held for j, long in zip(place, longs, strict=True))
    return [*lines, *loads, *terms]


def _again(p: ConvolutionProblem, m: Matrix, words: Words, count: int, pitch: int) -> list[str]:
    """Takes sums that are NaN again."""
    if not meets_padding(p):
        return []
    row_lines, row_at = coordinates(p, m.rows, f"m0 + r * {count} + v", words, "row")
    column_lines, column_at = coordinates(p, m.columns, "n0 + q", words, "column")
    at = {name: f"c{i}" for i, name in enumerate(m.batch)} | row_at | column_at
    return [
        "#pragma unroll 1",
        f"for (int v = 0; v < {count}; ++v) {{",
        f"const int line = r * {count} + v;",
        f"if (line < rows && sums0[line * {pitch} + q] != sums0[line * {pitch} + q]) {{",
        *sums_of(p, words, ([*row_lines, *column_lines], at)),
        f"sums0[line * {pitch} + q] = s;",
        "}}",
    ]
