"""Sums of several chains on the CPU, as gradients by the weight are, in tiles: neighbours along the batch by vectors of columns.
some vectors of columns.

The weights are packed in panels; x is read where it lies. Of each line of taps those that are inside are walked, up to the end of
the segment, whose chains are then added to the sums.
"""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Value, Variable, i64, vector
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.layout import round_up
from baracuda.lowering.convolution.cpu.code import Source, nest_of, unsigned_less
from baracuda.lowering.convolution.cpu.packing import pack_weights
from baracuda.lowering.convolution.problem import ConvolutionProblem, X
from baracuda.lowering.matmul.cpu.tile import Epilogue, chain
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

_LINE = 64
#: Columns from which on panels are worth packing.
_FEWEST_COLUMNS = 8


def takes(p: ConvolutionProblem) -> bool:
    """Whether these tiles serve a problem."""
    wide = p.columns >= _FEWEST_COLUMNS and p.channels > 0 and 0 not in p.taps
    return wide and p.rank > 0 and p.is_plain and not p.bits and p.segment > 0 and not p.general and p.accumulator.is_float


def in_segments(p: ConvolutionProblem, target: CpuTarget) -> Lowered:
    """The program."""
    lanes = target.vector_bits // p.accumulator.bits
    many = target.vector_bits == 512 or target.triple.startswith(("aarch64", "arm64"))
    vectors = min(-(-p.columns // lanes), 4 if many else 3)
    most = {4: 6, 3: 8, 2: 8, 1: 8}[vectors] if many else {3: 4, 2: 4, 1: 4}[vectors]
    rows = min(most, p.batch)
    outer = ["g", *(f"o{a}" for a in p.spatial)]
    nest = nest_of(p, outer, "n", "b")
    words = Words(nest)
    width = vectors * lanes
    panels = -(-p.columns // width)
    nbytes = round_up(p.groups * panels * p.terms * width * p.accumulator.itemsize, _LINE)
    kernel = Kernel(nest, words, target)
    steps = [pack_weights(p, vectors, kernel, _aligned(kernel))]
    kernel = Kernel(nest, words, target)
    steps.append(_Segments(p, rows, vectors, lanes, outer, kernel).step(_aligned(kernel), panels))
    return Lowered(tuple(steps), tuple(words.integers), nbytes + _LINE, f"segments in tiles {rows}x{width}")


def _aligned(kernel: Kernel) -> Value:
    b, pointer = kernel.b, kernel.workspace
    with b.at_entry():
        address = b.emit("i64", f"ptrtoint ptr {pointer.name} to i64")
        return b.at(pointer, b.and_(b.sub(0, address), _LINE - 1))


class _Segments:
    def __init__(self, p: ConvolutionProblem, rows: int, vectors: int, lanes: int, outer: list[str], kernel: Kernel) -> None:
        self.p, self.rows, self.vectors, self.lanes, self.outer, self.kernel, self.b = (
            p,
            rows,
            vectors,
            lanes,
            outer,
            kernel,
            kernel.b,
        )
        self.size, self.type = p.accumulator.itemsize, vector(compute_type(p.accumulator), lanes)
        self.x = Source.of(kernel, p.x.kind, kernel.operand(X), p.x_strides())
        self.taps, self.inputs = kernel.integers(p.taps), kernel.integers(p.inputs)
        self.stride, self.dilation, self.low = (kernel.integers(v) for v in (p.stride, p.dilation, p.low))
        self.channels, self.segment, self.segments = kernel.integers([p.channels, p.segment, p.segments])
        total = 1
        for n in p.taps:
            total *= n
        self.total = kernel.integer(total)
        none = i64(0)
        self.row, self.channel = self.x.strides.get("b", none), self.x.strides.get("c", none)
        self.width = vectors * lanes

    def step(self, weights: Value, panels: int) -> Launch:
        p, b, kernel, size, width = self.p, self.b, self.kernel, self.size, self.width
        extents = p.extents() | {"panel": panels}
        names = ["g", "panel", *(f"o{a}" for a in p.spatial)]
        others = range(2, 2 + len(p.operands))
        row_axis, column_axis = len(self.outer), len(self.outer) + 1
        epilogue = Epilogue(kernel, p.accumulator, tuple(others), (row_axis, column_axis))
        strides = {}
        for i in others:
            own = dict(zip(self.outer, kernel.byte_strides(i, range(len(self.outer))), strict=True))
            (columns,) = kernel.byte_strides(i, (column_axis,))
            with b.at_entry():
                own["panel"] = b.mul(columns, width)
            strides[i] = [own[name] for name in names]
        panel_bytes = kernel.integer(p.terms * width * size)
        with b.at_entry():
            strides[0] = [b.mul(panel_bytes, kernel.integer(panels)), panel_bytes, *[i64(0)] * p.rank]
        bases = {0: weights} | {i: kernel.operand(i) for i in others}
        iterator = StridedIterator(b, kernel.integers([extents[name] for name in names]), strides, bases)
        columns_, batch = kernel.integers([p.columns, p.batch])
        sums = b.array(compute_type(p.accumulator), self.rows * width)
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            pointers, indices = iterator.pointers(), dict(zip(names, iterator.indices(), strict=True))
            columns = b.min(width, b.sub(columns_, b.mul(indices["panel"], width)))
            with b.loop(0, batch, self.rows) as done:
                first = b.min(done, b.sub(batch, self.rows))  # the last tile begins earlier, and computes some rows again
                self._tile(indices, first, pointers[0], sums)
                skipped = b.sub(done, first)
                at = {i: b.at(pointers[i], b.mul(epilogue.strides[i][0], done)) for i in others}
                count = b.sub(self.rows, skipped)
                epilogue.rows([b.at(sums, b.mul(skipped, width * size))], width * size, width, count, columns, at)
            iterator.advance()
        units = 1
        for name in names:
            units *= extents[name]
        return kernel.step(units, p.batch * width * p.terms * 0.2 / self.lanes + 50)

    def _tile(self, at: dict[str, Value], first: Value, panel: Value, into: Value) -> None:
        b, p, last = self.b, self.p, self.p.rank - 1
        zero = Value(self.type, "zeroinitializer")
        places = [(r, v) for r in range(self.rows) for v in range(self.vectors)]
        held: dict[tuple[int, int], Variable] = {place: b.variable(zero) for place in places}
        whole: dict[tuple[int, int], Variable] = {place: b.variable(zero) for place in places}
        base = self.x.at(b, self.x.base, {"b": first, "g": at["g"]})
        starts = [b.sub(b.mul(at[f"o{a}"], self.stride[a]), self.low[a]) for a in p.spatial]
        length = self.taps[last]
        with b.loop(0, self.segments) as segment:
            begin = b.mul(segment, self.segment)
            end = b.min(self.total, b.add(begin, self.segment))
            for variable in held.values():
                variable.set(zero)
            with b.loop(b.div(begin, length), b.div(b.add(end, b.sub(length, 1)), length)) as line:
                rest, pointer, inside = line, base, Value("i1", "true")
                for a in range(last - 1, -1, -1):
                    t = b.rem(rest, self.taps[a])
                    rest = b.div(rest, self.taps[a])
                    i = b.add(starts[a], b.mul(t, self.dilation[a]))
                    inside = b.op("and", inside, unsigned_less(b, i, self.inputs[a]))
                    pointer = self.x.at(b, pointer, {f"i{a}": i})
                here = b.mul(line, length)
                from_ = b.sub(begin, here)
                from_ = b.select(b.less(from_, 0), i64(0), from_)
                to = b.min(length, b.sub(end, here))
                with b.if_(inside), b.loop(from_, to) as t:
                    i = b.add(starts[last], b.mul(t, self.dilation[last]))
                    with b.if_(unsigned_less(b, i, self.inputs[last])):
                        term = b.mul(b.mul(b.add(here, t), self.channels), self.width * self.size)
                        self._channels(self.x.at(b, pointer, {f"i{last}": i}), b.at(panel, term), held)
            for place in places:
                whole[place].set(b.op("fadd", whole[place].get(), held[place].get()))
        for (r, v), variable in whole.items():
            b.store(variable.get(), b.at(into, (r * self.width + v * self.lanes) * self.size), self.size)

    def _channels(self, x: Value, w: Value, held: dict[tuple[int, int], Variable]) -> None:
        """The terms of one tap."""
        b, p = self.b, self.p
        with b.loop(0, self.channels) as c:
            source, right = b.at(x, b.mul(self.channel, c)), b.at(w, b.mul(c, self.width * self.size))
            ys = [b.load(self.type, b.at(right, v * self.lanes * self.size), self.size) for v in range(self.vectors)]
            for r in range(self.rows):
                value = b.splat(load(b, p.x.kind, b.at(source, b.mul(self.row, r)) if r else source, 1), self.lanes)
                for v in range(self.vectors):
                    (new,) = chain(b, p.accumulator, [held[r, v].get()], [value], [ys[v]], False)
                    held[r, v].set(new)
