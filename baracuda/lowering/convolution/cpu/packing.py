"""What the CPU's tiles of a convolution read: x with its padding, channels side by side, and weights in panels of columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.codegen.llvm.lanes import load_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.transpose import transpose_tile, transposed
from baracuda.core.layout import contiguous_strides
from baracuda.lowering.convolution.problem import ConvolutionProblem, W, X
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.program import Launch

#: Terms of the weights that a unit of packing turns.
_TERMS = 512


@dataclass(frozen=True)
class Padded:
    """x as tiles read it: over (b, g, *places, c), where place p along an axis is element p + `first` of x; of the accumulator's
    kind and dense, or x itself, which has every element that is met."""

    first: tuple[int, ...]
    places: tuple[int, ...]
    strides: dict[str, int]
    itself: bool
    nbytes: int


def padded(p: ConvolutionProblem) -> Padded:
    """The elements that outputs and taps meet."""
    first, places = [], []
    for a in p.spatial:
        ends = [o * p.stride[a] + t * p.dilation[a] - p.low[a] for o in (0, p.outputs[a] - 1) for t in (0, p.taps[a] - 1)]
        first.append(min(ends))
        places.append(max(ends) - min(ends) + 1)
    inside = all(f >= 0 and f + n <= m for f, n, m in zip(first, places, p.inputs, strict=True))
    x = p.x_strides()
    if inside and p.x.kind is p.accumulator and (x["c"] == 1 or p.channels == 1):
        return Padded(tuple(first), tuple(places), x, True, 0)
    shape = (p.batch, p.groups, *places, p.channels)
    names = ["b", "g", *(f"i{a}" for a in p.spatial), "c"]
    strides = contiguous_strides(shape)
    return Padded(
        tuple(first), tuple(places), dict(zip(names, strides, strict=True)), False, strides[0] * p.batch * p.accumulator.itemsize
    )


def pack_input(p: ConvolutionProblem, to: Padded, kernel: Kernel, target: Value) -> Launch:
    """A unit for each line of places along the last axis."""
    b, kind, own = kernel.b, p.x.kind, p.x_strides()
    type_, size, last = compute_type(p.accumulator), p.accumulator.itemsize, p.rank - 1
    lanes = kernel.target.vector_bits // p.accumulator.bits
    names = ["b", "g", *(f"i{a}" for a in range(last))]
    extents = {"b": p.batch, "g": p.groups, **{f"i{a}": to.places[a] for a in p.spatial}}
    iterator = StridedIterator(
        b,
        kernel.integers([extents[name] for name in names]),
        {
            0: kernel.integers([own[name] * kind.itemsize for name in names]),
            1: kernel.integers([to.strides[name] * size for name in names]),
        },
        {0: kernel.operand(X), 1: target},
    )
    first, inputs = kernel.integers(to.first), kernel.integers(p.inputs)
    steps = kernel.integers([own[f"i{a}"] * kind.itemsize for a in p.spatial])
    channel = kernel.integer(own["c"] * kind.itemsize)
    count, channels, pitch = kernel.integers([to.places[last], p.channels, p.channels * size])
    with b.at_entry():
        corner = i64(0)
        for a in p.spatial:
            corner = b.add(corner, b.mul(first[a], steps[a]))
        negative = b.sub(0, first[last])
        begin = b.min(b.select(b.less(negative, 0), i64(0), negative), count)
        stop = b.min(b.sub(inputs[last], first[last]), count)
        stop = b.select(b.less(stop, begin), begin, stop)
    iterator.start(kernel.begin)

    def zeros(from_: Value, to_: Value, line: Value) -> None:
        with b.loop(b.mul(from_, channels), b.mul(to_, channels)) as e:
            b.store(Value(type_, "0.0" if p.accumulator.is_float else "0"), b.at(line, b.mul(e, size)), size)

    with b.loop(kernel.begin, kernel.end):
        pointers, indices = iterator.pointers(), iterator.indices()
        line = pointers[1]
        inside = Value("i1", "true")
        for a in range(last):
            inside = b.op("and", inside, b.compare("icmp ult", b.add(indices[2 + a], first[a]), inputs[a]))
        low, high = b.select(inside, begin, count), b.select(inside, stop, count)
        zeros(i64(0), low, line)
        zeros(high, count, line)
        source = b.at(b.at(pointers[0], corner), b.mul(low, steps[last]))
        goal = b.at(line, b.mul(low, pitch))
        many = b.sub(high, low)
        if p.x.steps(-1) != 1 and own[f"i{last}"] == 1 and kind is p.accumulator and not p.x.general:
            transpose_tile(b, kind, kernel.target.vector_bits, (channels, many), source, channel, goal, pitch)
        else:
            stride = None if p.x.steps(-1) == 1 else channel
            whole = b.and_(channels, -lanes)
            with b.loop(0, many) as i:
                from_, into = b.at(source, b.mul(i, steps[last])), b.at(goal, b.mul(i, pitch))
                with b.loop(0, whole, lanes) as c:
                    b.store(
                        load_lanes(b, kind, b.at(from_, b.mul(channel, c)), lanes, stride, None), b.at(into, b.mul(c, size)), size
                    )
                with b.loop(whole, channels) as c:
                    b.store(load(b, kind, b.at(from_, b.mul(channel, c)), 1), b.at(into, b.mul(c, size)), size)
        iterator.advance()
    units = p.batch * p.groups
    for a in range(last):
        units *= to.places[a]
    return kernel.step(units, to.places[last] * p.channels * 0.5 + 20)


def pack_weights(p: ConvolutionProblem, vectors: int, kernel: Kernel, target: Value) -> Launch:
    """The panels, (g, panel, k, vectors * lanes): a unit for each vector of columns and each few terms."""
    b, kind, w = kernel.b, p.w.kind, p.w_strides()
    lanes, size = kernel.target.vector_bits // p.accumulator.bits, p.accumulator.itemsize
    width = vectors * lanes
    panels = -(-p.columns // width)
    taps = [w[f"t{a}"] for a in p.spatial]
    total = prod(p.taps)
    tap_strides = contiguous_strides(p.taps)
    held = [a for a in p.spatial if p.taps[a] > 1]
    # terms that lie side by side: (tap, channel) as they are counted, or (channel, tap)
    by_channel = (w["c"] == 1 or p.channels == 1) and all(taps[a] == tap_strides[a] * p.channels for a in held)
    by_tap = (w["c"] == total or p.channels == 1) and all(taps[a] == tap_strides[a] for a in held)
    chunks = max(1, -(-p.terms // _TERMS))
    sizes = kernel.integers([p.groups, panels, vectors, chunks])
    pitch = width * size
    group, panel, vector_ = kernel.integers([p.terms * panels * pitch, p.terms * pitch, lanes * size])
    along_g, along_n = kernel.integers([w["g"] * kind.itemsize, w["n"] * kind.itemsize])
    with b.at_entry():
        from_strides = [along_g, b.mul(along_n, width), b.mul(along_n, lanes), i64(0)]
    iterator = StridedIterator(b, sizes, {0: from_strides, 1: [group, panel, vector_, i64(0)]}, {0: kernel.operand(W), 1: target})
    columns, terms, channels, tap_count = kernel.integers([p.columns, p.terms, p.channels, total])
    channel = kernel.integer(w["c"] * kind.itemsize)
    extents, tap_bytes = kernel.integers(p.taps), kernel.integers([s * kind.itemsize for s in taps])

    def place(q: Value) -> Value:
        """Which term the q-th in memory is."""
        if by_channel:
            return q
        return b.add(b.mul(b.rem(q, tap_count), channels), b.div(q, tap_count))

    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        pointers, indices = iterator.pointers(), iterator.indices()
        left = b.sub(columns, b.mul(b.add(b.mul(indices[1], vectors), indices[2]), lanes))
        first = b.mul(indices[3], _TERMS)
        stop = b.min(terms, b.add(first, _TERMS))
        whole = b.compare("icmp sge", left, lanes)

        def line(k: Value, pointers: dict[int, Value] = pointers) -> Value:
            return b.at(pointers[1], b.mul(k, pitch))

        def column(q_bytes: Value, k: Value, pointers: dict[int, Value] = pointers, left: Value = left) -> None:
            """The columns of one term."""
            with b.if_(b.compare("icmp sgt", left, 0)):
                stride = None if p.w.steps(-1) == 1 else along_n
                with b.if_(whole):
                    b.store(load_lanes(b, kind, b.at(pointers[0], q_bytes), lanes, stride, None), line(k), size)
                with b.else_(whole):
                    b.store(load_lanes(b, kind, b.at(pointers[0], q_bytes), lanes, stride, left), line(k), size)

        if by_channel or by_tap:
            squares = b.select(whole, b.add(first, b.and_(b.sub(stop, first), -lanes)), first)
            with b.loop(first, squares, lanes) as q:
                at = b.at(pointers[0], b.mul(q, kind.itemsize))
                rows = [load(b, kind, b.at(at, b.mul(along_n, r)), lanes) for r in range(lanes)]
                turned = transposed(b, rows)
                if by_channel:
                    for r, row in enumerate(turned):
                        b.store(row, b.at(line(q), r * pitch), size)
                else:
                    t, c = b.rem(q, tap_count), b.div(q, tap_count)
                    for row in turned:
                        b.store(row, line(b.add(b.mul(t, channels), c)), size)
                        following = b.add(t, 1)
                        over = b.equal(following, tap_count)
                        t, c = b.select(over, i64(0), following), b.select(over, b.add(c, 1), c)
            with b.loop(squares, stop) as q:
                column(b.mul(q, kind.itemsize), place(q))
        else:
            with b.loop(first, stop) as k:
                tap, offset = b.div(k, channels), b.mul(b.rem(k, channels), channel)
                for a in reversed(p.spatial):
                    offset = b.add(offset, b.mul(b.rem(tap, extents[a]), tap_bytes[a]))
                    tap = b.div(tap, extents[a])
                column(offset, k)
        iterator.advance()
    return kernel.step(p.groups * panels * vectors * chunks, min(_TERMS, p.terms) * lanes * 0.4 + 10)
