"""Convolutions of single channels that lie side by side, on the CPU: vectors of channels, some neighbouring outputs at a time.

The weights are turned so that those of a tap lie side by side, too. Outputs all of whose taps are inside x along the last axis
are computed together, the others one by one, with a test for each tap.
"""

from __future__ import annotations

from math import prod

from baracuda.codegen.llvm.ir import Value, Variable, i64, vector
from baracuda.codegen.llvm.lanes import first_lanes, load_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.layout import round_up
from baracuda.lowering.convolution.cpu.code import Source, nest_of, unsigned_less
from baracuda.lowering.convolution.problem import ConvolutionProblem, W, X
from baracuda.lowering.matmul.cpu.tile import Epilogue, chain
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

#: Outputs at a time, and vectors of channels of a unit of work at most.
_TOGETHER, _VECTORS = 4, 16


def takes(p: ConvolutionProblem) -> bool:
    """Whether a problem is one of single channels side by side."""
    place = list(p.extents()).index("g")
    single = p.channels == 1 and p.columns == 1 and p.is_plain and not p.bits and not p.segment and not p.general
    return single and p.rank > 0 and p.x.steps(1) == 1 and p.operands[-1].steps(place) == 1 and min(p.stride) > 0


def depthwise(p: ConvolutionProblem, target: CpuTarget) -> Lowered:
    """The program."""
    last = f"o{p.rank - 1}"
    outer = ["b", *(f"o{a}" for a in range(p.rank - 1))]
    nest = nest_of(p, outer, "g", last)
    words = Words(nest)
    lanes = target.vector_bits // p.accumulator.bits
    line = round_up(p.groups, lanes)
    steps = [_turn(p, line, Kernel(nest, words, target)), _Single(p, outer, line, Kernel(nest, words, target)).step()]
    nbytes = line * prod(p.taps) * p.accumulator.itemsize
    return Lowered(tuple(steps), tuple(words.integers), nbytes, "single channels")


def _turn(p: ConvolutionProblem, line: int, kernel: Kernel) -> Launch:
    """A unit for each tap."""
    b, w, size = kernel.b, p.w_strides(), p.accumulator.itemsize
    lanes = kernel.target.vector_bits // p.accumulator.bits
    source = Source.of(kernel, p.w.kind, kernel.operand(W), w)
    extents, groups = kernel.integers(p.taps), kernel.integer(p.groups)
    along = source.strides.get("g", i64(0))
    to, pitch = kernel.workspace, kernel.integer(line * size)
    with b.loop(kernel.begin, kernel.end) as tap:
        rest, at = tap, {}
        for a in reversed(p.spatial):
            at[f"t{a}"] = b.rem(rest, extents[a])
            rest = b.div(rest, extents[a])
        from_, into = source.at(b, source.base, at), b.at(to, b.mul(tap, pitch))
        with b.loop(0, groups, lanes) as g:
            value = load_lanes(b, p.w.kind, b.at(from_, b.mul(along, g)), lanes, along, b.sub(groups, g))
            b.store(value, b.at(into, b.mul(g, size)), size)
    return kernel.step(prod(p.taps), p.groups * 1.0 + 10)


class _Single:
    def __init__(self, p: ConvolutionProblem, outer: list[str], line: int, kernel: Kernel) -> None:
        self.p, self.outer, self.kernel, self.b = p, outer, kernel, kernel.b
        self.size = p.accumulator.itemsize
        self.lanes = kernel.target.vector_bits // p.accumulator.bits
        self.type = vector(compute_type(p.accumulator), self.lanes)
        self.x = Source.of(kernel, p.x.kind, kernel.operand(X), p.x_strides())
        self.taps, self.inputs = kernel.integers(p.taps), kernel.integers(p.inputs)
        self.stride, self.dilation, self.low = (kernel.integers(v) for v in (p.stride, p.dilation, p.low))
        self.pitch = kernel.integer(line * self.size)
        b, last = self.b, p.rank - 1
        none = i64(0)
        self.apart = self.x.strides.get(f"i{last}", none)
        with b.at_entry():
            self.output_step = b.mul(self.apart, self.stride[last])
            self.tap_step = b.mul(self.apart, self.dilation[last])

    def step(self) -> Launch:
        p, b, kernel, size = self.p, self.b, self.kernel, self.size
        last, extents = p.rank - 1, p.extents()
        most = _VECTORS * self.lanes
        chunks = -(-p.groups // most)
        others = range(2, 2 + len(p.operands))
        row, column = len(self.outer), len(self.outer) + 1
        epilogue = Epilogue(kernel, p.accumulator, tuple(others), (row, column))
        strides = {}
        for i in others:
            own = kernel.byte_strides(i, range(len(self.outer)))
            with b.at_entry():
                strides[i] = [*own, b.mul(epilogue.strides[i][1], most)]
        sizes = kernel.integers([*(extents[name] for name in self.outer), chunks])
        iterator = StridedIterator(b, sizes, strides, {i: kernel.operand(i) for i in others})
        # outputs from which on, and before which, every tap along the last axis is inside
        reach = (p.taps[last] - 1) * p.dilation[last]
        first = max(0, -(-(p.low[last] - min(reach, 0)) // p.stride[last]))
        stop = (p.inputs[last] - 1 + p.low[last] - max(reach, 0)) // p.stride[last] + 1
        stop = max(0, min(stop, p.outputs[last]))
        first = min(first, stop)
        begin, end, outputs = kernel.integers([first, first + (stop - first) // _TOGETHER * _TOGETHER, p.outputs[last]])
        groups = kernel.integer(p.groups)
        sums = b.array(compute_type(p.accumulator), _TOGETHER * most)
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            pointers, indices = iterator.pointers(), iterator.indices()
            channel = b.mul(indices[-1], most)
            count = b.min(most, b.sub(groups, channel))
            at = dict(zip(self.outer, indices[:-1], strict=True)) | {"g": channel}

            def outputs_from(
                o: Value, many: int, at: dict[str, Value] = at, count: Value = count, pointers: dict[int, Value] = pointers
            ) -> None:
                with b.loop(0, count, self.lanes) as g:
                    values = self._sums(at, o, g, b.sub(count, g), many)
                    for r, value in enumerate(values):
                        b.store(value, b.at(sums, b.mul(b.add(g, r * most), size)), size)
                here = {i: b.at(pointers[i], b.mul(epilogue.strides[i][0], o)) for i in others}
                epilogue.rows([sums], most * size, most, i64(many), count, here)

            with b.loop(0, begin) as o:
                outputs_from(o, 1)
            with b.loop(begin, end, _TOGETHER) as o:
                outputs_from(o, _TOGETHER)
            with b.loop(end, outputs) as o:
                outputs_from(o, 1)
            iterator.advance()
        units = chunks
        for name in self.outer:
            units *= extents[name]
        cost = p.outputs[last] * min(most, p.groups) * (prod(p.taps) + 4) * 0.5 / self.lanes
        return kernel.step(units, cost + 50)

    def _sums(self, at: dict[str, Value], o: Value, g: Value, remaining: Value, many: int) -> list[Value]:
        """The sums of a vector of channels of so many outputs, whose taps are all inside where they are several."""
        b, p, last = self.b, self.p, self.p.rank - 1
        zero = Value(self.type, "zeroinitializer")
        held: list[Variable] = [b.variable(zero) for _ in range(many)]
        mask = first_lanes(b, self.lanes, remaining)
        channel = b.add(at["g"], g)
        begin = self.x.at(b, self.x.base, {name: at[name] for name in ("b",)} | {"g": channel})
        weights = b.at(self.kernel.workspace, b.mul(channel, self.size))

        def level(a: int, pointer: Value, tap: Value) -> None:
            if a < last:
                start = b.sub(b.mul(at[f"o{a}"], self.stride[a]), self.low[a])
                with b.loop(0, self.taps[a]) as t:
                    i = b.add(start, b.mul(t, self.dilation[a]))
                    with b.if_(unsigned_less(b, i, self.inputs[a])):
                        level(a + 1, self.x.at(b, pointer, {f"i{a}": i}), b.add(b.mul(tap, self.taps[a]), t))
                return
            start = b.sub(b.mul(o, self.stride[last]), self.low[last])
            line = b.at(pointer, b.mul(start, self.apart))
            own = b.at(weights, b.mul(b.mul(tap, self.taps[last]), self.pitch))
            with b.loop(0, self.taps[last]) as t:
                place = b.at(line, b.mul(t, self.tap_step))

                def terms(place: Value = place, t: Value = t) -> None:
                    weight = b.load(self.type, b.at(own, b.mul(t, self.pitch)), self.size)
                    for r in range(many):
                        there = b.at(place, b.mul(self.output_step, r)) if r else place
                        value = load(b, p.x.kind, there, self.lanes, mask)
                        (new,) = chain(b, p.accumulator, [held[r].get()], [value], [weight], False)
                        held[r].set(new)

                if many > 1:
                    terms()
                else:
                    i = b.add(start, b.mul(t, self.dilation[last]))
                    with b.if_(unsigned_less(b, i, self.inputs[last])):
                        terms()

        level(0, begin, i64(0))
        return [variable.get() for variable in held]
