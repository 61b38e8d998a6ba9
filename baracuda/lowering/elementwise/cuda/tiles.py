"""Pointwise tiles: inputs whose unit stride is along another axis than the first output's (x + y.T).

Tiles of 64 x 64 elements (smaller where those would not fit) of the transposed inputs go through shared memory, so that both
sides move in full lines. The other inputs are loaded before the barrier, and so in flight together with the tiles.
"""

from __future__ import annotations

from math import prod

from baracuda.lowering.elementwise.cuda.pointwise import PointwiseKernel
from baracuda.lowering.nest.cuda.kernel import Frame, piece, unravel
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Sides of a tile, the best first, and threads of a block.
TILES, THREADS = (64, 32, 16), 256
#: Static shared memory that a block may declare.
SHARED_BYTES = 48 * 1024


def transposed_axis(nest: Nest) -> int | None:
    """The axis along which some inputs have unit stride while the first output has it along the last; None if no tile
    would pay."""
    last = len(nest.outer) - 1
    inputs = nest.operands[: len(nest.graph.inputs)]
    tiled = [o for o in inputs if last >= 0 and o.steps(last) not in (0, 1, None) and not o.gathered]
    axes = {o.strides.index(1) for o in tiled if 1 in o.strides}
    if len(axes) != 1 or nest.operands[len(inputs)].steps(last) != 1:
        return None
    (axis,) = axes
    return axis if nest.outer[axis] >= 16 and nest.outer[last] >= 16 else None


def _pitch(tile: int, size: int) -> int:
    """Elements from line to line of a tile: one 4-byte word more than it is wide, against bank conflicts."""
    return tile + max(1, 4 // size)


def lower_tiles(frame: Frame, axis: int) -> Lowered:
    """Lower a nest without reductions; `axis` is the one that the transposed inputs run along."""
    kernel, words, extents = PointwiseKernel(frame), frame.words, frame.nest.outer
    width, last = kernel.width, kernel.last
    inputs = [i for i in range(frame.inputs) if i not in kernel.scattered]
    tiled = [i for i in inputs if not frame.operands[i].gathered]
    transposed = [i for i in tiled if frame.operands[i].strides[last] not in (0, 1) and frame.operands[i].strides[axis] == 1]
    straight = [i for i in inputs if i not in transposed]
    outputs = range(frame.inputs, len(frame.ports))
    sizes = [frame.operands[i].kind.itemsize for i in transposed]
    tile = next((t for t in TILES if sum(t * _pitch(t, size) * size for size in sizes) <= SHARED_BYTES), TILES[-1])
    threads = min(THREADS, tile * tile // width)
    batch = [a for a in range(len(extents)) if a not in (axis, last)]
    shape = [*(extents[a] for a in batch), -(-extents[axis] // tile), -(-extents[last] // tile)]
    extent_axis, extent_last = words.signed(extents[axis]), words.signed(extents[last])
    fill, shared, elements = [], [], {}
    for i in transposed:
        storage, size = frame.storage(i), frame.operands[i].kind.itemsize
        step = piece(frame.operands[i], 16 // size, axis, extents)
        pitch = _pitch(tile, size)
        shared.append(f"__shared__ alignas(16) {storage} s{i}[{tile * pitch}];")
        strides = zip(batch, frame.strides(i, batch), strict=True)
        base = " + ".join(f"c{a} * {s}" for a, s in strides if s) or "0"
        along = words.signed(frame.operands[i].strides[last])
        per_line, word = tile // step, max(1, min(step, 4 // size))
        fill += [
            "#pragma unroll",
            f"for (int i = threadIdx.x; i < {tile * per_line}; i += {threads}) {{",
            f"const int l = i / {per_line}, t = i % {per_line} * {step};",
            f"const {storage}* from = p{i} + ({base} + (l0 + l) * {along} + t0 + t);",
            f"{storage}* to = &s{i}[l * {pitch} + t];",
            f"if (l0 + l < {extent_last}) {{",
            f"if (t0 + t + {step} <= {extent_axis}) {{",
            f"Vec<{storage}, {step}> piece; load<{step}>(piece, from); store<{word}>(to, piece);",
            "}",
            f"else for (int j = 0; t0 + t + j < {extent_axis}; ++j) to[j] = from[j];",
            "}}",
        ]
        elements[i] = f"s{i}[(l + v) * {pitch} + t]"
    compute, functions = kernel.compute(elements, "if (v < left) ")
    # A warp covers 8 runs along `last` and 4 rows along `axis`: full lines outside, few bank conflicts inside.
    across, runs = min(8, tile // width), tile * tile // width // threads
    each = [
        "#pragma unroll",
        f"for (int u = 0; u < {runs}; ++u) {{",
        f"const int i = threadIdx.x + u * {threads}, part = i / ({across} * {tile}), inside = i % ({across} * {tile});",
        f"const int l = (part * {across} + inside % {across}) * {width}, t = inside / {across};",
        f"const i64 c{axis} = t0 + t, at = l0 + l, left = {extent_last} - at;",
        f"if (c{axis} < {extent_axis} && left > 0) {{",
    ]
    body = [
        *frame.pointers(),
        *shared,
        *unravel("blockIdx.x", shape, words, "b", wide=False),
        *[f"const i64 c{a} = b{k};" for k, a in enumerate(batch)],
        f"const i64 t0 = (i64)b{len(batch)} * {tile}, l0 = (i64)b{len(batch) + 1} * {tile};",
        *fill,
        *[f"Vec<{frame.storage(i)}, {width}> in{i}_[{runs}];" for i in straight],
        *each,
        *[line for i in straight for line in (kernel.place(i), f"auto& in{i} = in{i}_[u];", *kernel.move(i, whole=False))],
        "}}",
        "__syncthreads();",
        *each,
        *[f"auto& in{i} = in{i}_[u];" for i in straight],
        *[kernel.place(i) for i in kernel.scattered],
        *[line for i in outputs for line in (kernel.place(i), kernel.declare(i))],
        *compute,
        *[line for i in outputs for line in kernel.move(i, whole=False)],
        "}}",
    ]
    source = frame.kernel(body, threads, kernel.definitions(functions))
    return Lowered(
        (Launch(KernelSource(source), (prod(shape), 1, 1), threads),), tuple(words.values), 0, f"pointwise tile{tile} v{width}"
    )
