"""Pointwise schedules: each thread computes runs of V neighbouring elements of the innermost axis.

Bytes: each operand once. A run is loaded in pieces of at most 16 bytes; several runs a thread keep enough loads in flight.
Where an input has its unit stride along another axis than the first output, tiles of 64 x 64 go through shared memory, so
that both sides are read and written in full lines.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from baracuda.formula.expr import Expr
from baracuda.lowering.cuda.emit import Emitter, table_definitions
from baracuda.lowering.cuda.kernel import INDEX_LIMIT, Frame, Launch, Lowered, offset, piece, unravel
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.problem import Nest

THREADS = 256
TILE = 64


def _width(nest: Nest) -> int:
    """Elements to a run: 16 bytes of the widest operand, at least 2 and at most 8."""
    return min(8, max(2, 16 // max(o.kind.itemsize for o in nest.operands)))


def lower_pointwise(frame: Frame) -> Lowered:
    """Lower a nest without reductions."""
    nest = frame.nest
    if not nest.outer:  # one element
        frame.nest = nest = replace(nest, outer=(1,), operands=tuple(replace(o, strides=(0,)) for o in nest.operands))
        frame.operands = nest.operands
    axis = _transposed_axis(nest)
    return _lower_runs(frame) if axis is None else _lower_tiles(frame, axis)


def _transposed_axis(nest: Nest) -> int | None:
    """The axis along which some inputs have unit stride while the first output has it along the last; None if no tile
    would pay."""
    last = len(nest.outer) - 1
    inputs = nest.operands[: len(nest.graph.inputs)]
    axes = {o.strides.index(1) for o in inputs if o.steps(last) not in (0, 1, None) and 1 in o.strides}
    if len(axes) != 1 or nest.operands[len(inputs)].steps(last) != 1:
        return None
    (axis,) = axes
    return axis if nest.outer[axis] >= 16 and nest.outer[last] >= 16 else None


def _emit_run(frame: Frame, width: int, transposed: dict[int, str], last: int, run: str) -> tuple[list[str], str]:
    """The statements that compute element v of a run from in{i} and leave out{i}; and the tables they need."""
    graph = frame.nest.graph

    def leaf(n: Expr) -> str | None:
        if n.op == "param":
            return frame.words.param(n)
        if n.op == "coord":
            return f"(int)({run} + v)" if n.attr == last else f"(int)c{n.attr}"
        if n.op == "input":
            i = frame.input_index[n.attr[0]]
            if i in transposed:
                return f"widen({transposed[i]})"
            return f"widen(in{i}{'.v[v]' if frame.operands[i].steps(last) != 0 else '.v[0]'})"
        return None

    emitter = Emitter(leaf)
    stores = []
    for k, (port, expr) in enumerate(graph.outputs):
        i = frame.inputs + k
        value = emitter.value(expr)
        stores.append(f"out{i}.v[v] = Narrow<{frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({value});")
    return emitter.lines + stores, table_definitions(emitter.tables)


def _indent(lines: list[str]) -> list[str]:
    return ["  " + line for line in lines]


def _move(frame: Frame, i: int, width: int, last: int, base: str, left: str) -> list[str]:
    """Loads in{i} (or stores out{i}): a run of `width` elements at `base`, of which `left` exist."""
    operand, stride = frame.operands[i], frame.operands[i].steps(last)
    loading = i < frame.inputs
    step = "" if stride == 1 else f" * {frame.words.signed(operand.strides[last])}"
    single = f"in{i}.v[v] = {base}[v{step}];" if loading else f"{base}[v{step}] = out{i}.v[v];"
    by_element = [f"for (int v = 0; v < {width}; ++v) if (v < {left}) {single}"]
    if loading and stride == 0:
        return [f"in{i}.v[0] = *({base});"]
    if stride != 1:
        return ["#pragma unroll", *by_element]
    p = piece(operand, width, last, frame.nest.outer)
    whole = f"load<{p}>(in{i}, {base});" if loading else f"store<{p}>({base}, out{i});"
    return [f"if ({left} >= {width}) {whole}", "else {", "#pragma unroll", *by_element, "}"]


def _lower_runs(frame: Frame) -> Lowered:
    nest = frame.nest
    width, extents = _width(nest), nest.outer
    last = len(extents) - 1
    runs_in_row = -(-extents[last] // width)
    shape = (*extents[:last], runs_in_row)
    runs = prod(shape)
    unroll = 4 if len(nest.operands) <= 3 else 2
    wide = runs + unroll * THREADS >= INDEX_LIMIT
    index = "i64" if wide else "unsigned"
    count = frame.words.signed(runs) if wide else frame.words.unsigned(runs)
    decode = unravel("i", shape, frame.words, "c", wide=wide)
    extent = frame.words.signed(extents[last])
    compute, tables = _emit_run(frame, width, {}, last, "at")
    places: list[str] = []
    loads: list[str] = []
    stores: list[str] = []
    for i in range(len(frame.ports)):
        strides = frame.strides(i, range(last))
        along = "0" if nest.operands[i].steps(last) == 0 else f"at * {frame.words.signed(nest.operands[i].strides[last])}"
        places.append(f"const i64 o{i} = {offset(strides, 'c')} + {along};")
        (loads if i < frame.inputs else stores).extend(_move(frame, i, width, last, f"(p{i} + o{i})", "left"))
    where = [*decode, f"const i64 at = (i64)c{last} * {width};", f"const i64 left = {extent} - at;"]
    inputs = [f"Vec<{frame.storage(i)}, {width}> in{i}_[{unroll}];" for i in range(frame.inputs)]
    name_in = [f"auto& in{i} = in{i}_[u];" for i in range(frame.inputs)]
    name_out = [f"Vec<{frame.storage(i)}, {width}> out{i};" for i in range(frame.inputs, len(frame.ports))]
    loop = ["#pragma unroll", f"for (int u = 0; u < {unroll}; ++u) {{", f"  const {index} i = first + u * {THREADS};"]
    body = [
        *frame.pointers(),
        *inputs,
        f"const {index} first = ({index})blockIdx.x * {unroll * THREADS} + threadIdx.x;",
        *loop,
        f"  if (i < {count}) {{",
        *_indent(_indent([*where, *places[: frame.inputs], *name_in, *loads])),
        "  }",
        "}",
        *loop,
        f"  if (i < {count}) {{",
        *_indent(_indent([*where, *places[frame.inputs :], *name_in, *name_out])),
        "#pragma unroll",
        f"    for (int v = 0; v < {width}; ++v) {{",
        *_indent(_indent(_indent(compute))),
        "    }",
        *_indent(_indent(stores)),
        "  }",
        "}",
    ]
    source = frame.kernel(body, THREADS, tables)
    blocks = -(-runs // (unroll * THREADS))
    return Lowered((Launch(source, (blocks, 1, 1), THREADS),), tuple(frame.words.values), 0, f"pointwise v{width}")


def _lower_tiles(frame: Frame, axis: int) -> Lowered:
    """Tiles of TILE x TILE over (axis, last); `axis` is the one that the transposed inputs run along."""
    nest = frame.nest
    width, extents = _width(nest), nest.outer
    last = len(extents) - 1
    transposed = [
        i for i, o in enumerate(nest.operands[: frame.inputs]) if o.strides[last] not in (0, 1) and o.strides[axis] == 1
    ]
    blocks_axis, blocks_last = -(-extents[axis] // TILE), -(-extents[last] // TILE)
    batch = [a for a in range(len(extents)) if a not in (axis, last)]
    shape = [extents[a] for a in batch] + [blocks_axis, blocks_last]
    blocks = prod(shape)
    decode = unravel("(i64)blockIdx.x", shape, frame.words, "b", wide=True)
    where = [f"const i64 c{a} = b{k};" for k, a in enumerate(batch)]
    where += [f"const i64 t0 = b{len(batch)} * {TILE}, l0 = b{len(batch) + 1} * {TILE};"]
    extent_axis, extent_last = frame.words.signed(extents[axis]), frame.words.signed(extents[last])

    fill: list[str] = []
    shared: list[str] = []
    elements: dict[int, str] = {}
    for i in transposed:
        size = nest.operands[i].kind.itemsize
        step = piece(nest.operands[i], max(1, 4 // size), axis, extents)  # one 32-bit word a thread: no bank conflict
        pitch = TILE + max(1, 4 // size)
        shared.append(f"__shared__ alignas(16) {frame.storage(i)} s{i}[{TILE * pitch}];")
        strides = frame.strides(i, batch)
        base = " + ".join(f"c{a} * {s}" for a, s in zip(batch, strides, strict=True) if s) or "0"
        stride_last = frame.words.signed(nest.operands[i].strides[last])
        per_line = TILE // step
        fill += [
            "#pragma unroll 8",
            f"for (int i = threadIdx.x; i < {TILE * per_line}; i += {THREADS}) {{",
            f"  const int l = i / {per_line}, t = i % {per_line} * {step};",
            f"  const {frame.storage(i)}* from = p{i} + ({base} + (l0 + l) * {stride_last} + t0 + t);",
            f"  if (l0 + l < {extent_last}) {{",
            f"    if (t0 + t + {step} <= {extent_axis}) *reinterpret_cast<Vec<{frame.storage(i)}, {step}>*>(&s{i}[l * {pitch} + t])"
            f" = *reinterpret_cast<const Vec<{frame.storage(i)}, {step}>*>(from);",
            f"    else for (int j = 0; t0 + t + j < {extent_axis}; ++j) s{i}[l * {pitch} + t + j] = from[j];",
            "  }",
            "}",
        ]
        elements[i] = f"s{i}[(l + v) * {pitch} + t]"

    compute, tables = _emit_run(frame, width, elements, last, "at")
    loads: list[str] = []
    stores: list[str] = []
    for i in range(len(frame.ports)):
        if i in transposed:
            continue
        strides = frame.strides(i, range(last))
        along = "0" if nest.operands[i].steps(last) == 0 else f"at * {frame.words.signed(nest.operands[i].strides[last])}"
        kind, name = ("in", frame.storage(i)) if i < frame.inputs else ("out", frame.storage(i))
        place = [f"Vec<{name}, {width}> {kind}{i};", f"const i64 o{i} = {offset(strides, 'c')} + {along};"]
        moved = _move(frame, i, width, last, f"(p{i} + o{i})", "left")
        if i < frame.inputs:
            loads += place + moved
        else:
            loads += place
            stores += moved
    # A warp covers 32 bytes or more along `last` in each of its rows, and rows follow each other along `axis`.
    across = min(8, TILE // width)
    body = [
        *frame.pointers(),
        *shared,
        *decode,
        *where,
        *fill,
        "__syncthreads();",
        "#pragma unroll 2",
        f"for (int i = threadIdx.x; i < {TILE * TILE // width}; i += {THREADS}) {{",
        f"  const int part = i / ({across} * {TILE}), inside = i % ({across} * {TILE});",
        f"  const int l = (part * {across} + inside % {across}) * {width}, t = inside / {across};",
        f"  const i64 c{axis} = t0 + t, at = l0 + l, left = {extent_last} - at;",
        f"  if (c{axis} < {extent_axis} && left > 0) {{",
        *_indent(_indent(loads)),
        "#pragma unroll",
        f"    for (int v = 0; v < {width}; ++v) if (v < left) {{",
        *_indent(_indent(_indent(compute))),
        "    }",
        *_indent(_indent(stores)),
        "  }",
        "}",
    ]
    source = frame.kernel(body, THREADS, tables)
    return Lowered((Launch(source, (blocks, 1, 1), THREADS),), tuple(frame.words.values), 0, f"pointwise tile{TILE} v{width}")
