"""Convolutions on the CPU in tiles of registers: some neighbouring outputs by some vectors of columns.

x is brought into lines of channels with its padding, unless it lies so, the weights into panels; then every tile is a product
without a test. What is not there counts as 0, which changes no sum of finite weights that is not a zero; a sum that came out as a
NaN is computed again without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from baracuda.codegen.llvm.ir import Value, Variable, i64, vector
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.transpose import transpose_tile
from baracuda.core.layout import round_up
from baracuda.lowering.convolution.cpu.code import nest_of
from baracuda.lowering.convolution.cpu.direct import Direct
from baracuda.lowering.convolution.cpu.packing import Padded, pack_input, pack_weights, padded
from baracuda.lowering.convolution.problem import ConvolutionProblem, W
from baracuda.lowering.matmul.cpu.tile import Epilogue, chain
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered, Prepared

_LINE = 64
#: Outputs of a unit of work at most, and terms that the inner loop takes at a time.
_OUTPUTS, _UNROLLED = 64, 4
#: Columns and terms from which on tiles are worth packing for.
_FEWEST_COLUMNS, _FEWEST_TERMS = 8, 8
#: Terms from which on lines of channels are long, and bytes of x that stay in a cache while panels pass.
_LONG, _CACHED = 128, 4 << 20
#: How many times as large as x what is made of it may be (far taps meet padding alone), and how large it may be in any case.
_MOST_PADDED, _SMALL = 8, 1 << 22


@dataclass(frozen=True)
class Shape:
    """A tile: `rows` outputs along the last axis by `vectors` of `lanes` columns."""

    rows: int
    vectors: int
    lanes: int


def shape_of(p: ConvolutionProblem, target: CpuTarget) -> Shape:
    """The tile that wastes least."""
    lanes = target.vector_bits // p.accumulator.bits
    many = target.vector_bits == 512 or target.triple.startswith(("aarch64", "arm64"))
    # (vectors, rows at most, how well the units of arithmetic are used)
    known = [(4, 6, 1.0), (3, 8, 1.0), (2, 12, 0.95), (1, 16, 0.7)] if many else [(3, 4, 1.0), (2, 6, 1.0), (1, 8, 0.7)]
    width = p.outputs[-1]

    def cost(choice: tuple[int, int, float]) -> float:
        vectors, most, use = choice
        rows = _rows(width, most)
        tiles = -(-width // rows) * rows * -(-p.columns // (vectors * lanes)) * vectors
        return tiles / (use * (1.0 if rows * vectors >= 8 else rows * vectors / 8))

    vectors, most, _ = min(known, key=cost)
    rows = _rows(width, most)
    rest = width % _chunk(width, rows)
    return Shape(1 if 0 < rest < rows else rows, vectors, lanes)


def _rows(width: int, most: int) -> int:
    """How many outputs a tile has: the most that leave the least over."""
    return min(range(1, min(most, width) + 1), key=lambda rows: (-(-width // rows) * (rows + 1), -rows))


def _chunk(outputs: int, rows: int) -> int:
    """How many outputs a unit of work has, so that none has fewer than a tile."""
    if outputs <= _OUTPUTS:
        return outputs
    return next((n for n in range(_OUTPUTS, rows, -1) if outputs % n == 0 or outputs % n >= rows), rows)


def takes(p: ConvolutionProblem) -> bool:
    """Whether tiles serve a problem."""
    enough = p.columns >= _FEWEST_COLUMNS and p.terms >= _FEWEST_TERMS
    if not enough or p.rank == 0 or not p.is_plain or p.bits or p.segment or p.general:
        return False
    own = p.batch * p.groups * prod(p.inputs) * p.channels * p.accumulator.itemsize
    return padded(p).nbytes <= _MOST_PADDED * own + _SMALL


def in_lines(p: ConvolutionProblem) -> bool:
    """Whether a convolution of one tap reads long lines of channels where they lie: nothing of x need be packed."""
    small = prod(p.inputs) * p.groups * p.channels * p.accumulator.itemsize <= _CACHED
    return small and p.terms >= _LONG and p.x.steps(-1) == 1 and p.operands[-1].steps(-1) == 1 and padded(p).itself


def tiled(p: ConvolutionProblem, target: CpuTarget) -> Lowered:
    """The program."""
    shape, to = shape_of(p, target), padded(p)
    last = p.rank - 1
    outer = ["g", "b", *(f"o{a}" for a in range(last))]
    nest = nest_of(p, outer, "n", f"o{last}")
    words = Words(nest)
    width = shape.vectors * shape.lanes
    panels = -(-p.columns // width)
    weights = round_up(p.groups * panels * p.terms * width * p.accumulator.itemsize, _LINE)
    steps: list[Launch] = []

    def part(kernel: Kernel, start: int) -> Value:
        b = kernel.b
        pointer, begin = kernel.workspace, kernel.integer(start)
        with b.at_entry():
            address = b.emit("i64", f"ptrtoint ptr {pointer.name} to i64")
            return b.at(b.at(pointer, b.and_(b.sub(0, address), _LINE - 1)), begin)

    held = words.add(0)
    kernel = Kernel(nest, words, target)
    packing = pack_weights(p, shape.vectors, kernel, kernel.prepared(held, part(kernel, 0)))
    steps.append(replace(packing, prepared=Prepared(W, weights, held - words.first)))
    if not to.itself:
        kernel = Kernel(nest, words, target)
        steps.append(pack_input(p, to, kernel, part(kernel, weights)))
    kernel = Kernel(nest, words, target)
    source = kernel.operand(0) if to.itself else part(kernel, weights)
    steps.append(_Tiles(p, shape, to, kernel, outer).step(source, kernel.prepared(held, part(kernel, 0)), panels))
    name = f"tiles {shape.rows}x{width}{'' if to.itself else ', padded'}"
    return Lowered(tuple(steps), tuple(words.integers), weights + round_up(to.nbytes, _LINE) + _LINE, name)


class _Tiles:
    def __init__(self, p: ConvolutionProblem, shape: Shape, to: Padded, kernel: Kernel, outer: list[str]) -> None:
        self.p, self.shape, self.to, self.kernel, self.b, self.outer = p, shape, to, kernel, kernel.b, outer
        self.size, self.type = p.accumulator.itemsize, vector(compute_type(p.accumulator), shape.lanes)
        last = p.rank - 1
        x = to.strides
        bytes_ = {name: s * self.size for name, s in x.items()}
        self.x = {name: kernel.integer(s) for name, s in bytes_.items()}
        self.stride, self.dilation, self.taps = (kernel.integers(v) for v in (p.stride, p.dilation, p.taps))
        # the place that output 0 and tap 0 meet
        begin = [-p.low[a] - to.first[a] + (to.first[a] if to.itself else 0) for a in p.spatial]
        if to.itself:
            begin = [-p.low[a] for a in p.spatial]
        self.corner = kernel.integer(sum(begin[a] * bytes_[f"i{a}"] for a in p.spatial))
        self.merged = (x["c"] == 1 or p.channels == 1) and (
            p.taps[last] == 1 or (p.dilation[last] == 1 and x[f"i{last}"] == p.channels)
        )
        self.channels = kernel.integer(p.channels * (p.taps[last] if self.merged else 1))
        self.row = kernel.integer(p.stride[last] * bytes_[f"i{last}"])
        self.tap_steps = kernel.integers([p.dilation[a] * bytes_[f"i{a}"] for a in p.spatial])
        self.output_steps = kernel.integers([p.stride[a] * bytes_[f"i{a}"] for a in p.spatial])

    def step(self, source: Value, weights: Value, panels: int) -> Launch:
        p, b, kernel, shape, size = self.p, self.b, self.kernel, self.shape, self.size
        last, width = p.rank - 1, shape.vectors * shape.lanes
        outputs = p.outputs[last]
        chunk = _chunk(outputs, shape.rows)
        chunks = -(-outputs // chunk)
        names = ["g", "panel", "b", *(f"o{a}" for a in range(last)), "chunk"]
        extents = p.extents() | {"panel": panels, "chunk": chunks}
        others = range(2, 2 + len(p.operands))
        row_axis, column_axis = len(self.outer), len(self.outer) + 1
        y = p.operands[-1]
        turned = y.steps(-1) != 1 and y.strides[1 + 1 + last] == 1
        axes = (column_axis, row_axis) if turned else (row_axis, column_axis)
        epilogue = Epilogue(kernel, p.accumulator, tuple(others), axes)
        strides = {}
        for i in others:
            own = dict(zip(self.outer, kernel.byte_strides(i, range(len(self.outer))), strict=True))
            rows, columns = kernel.byte_strides(i, (row_axis, column_axis))
            with b.at_entry():
                own |= {"panel": b.mul(columns, width), "chunk": b.mul(rows, chunk)}
            strides[i] = [own[name] for name in names]
        panel_bytes = kernel.integer(p.terms * width * size)
        with b.at_entry():
            strides[0] = [b.mul(panel_bytes, kernel.integer(panels)), panel_bytes, *[i64(0)] * (len(names) - 2)]
            moves = {"g": self.x["g"], "b": self.x["b"], **{f"o{a}": self.output_steps[a] for a in range(last)}}
            moves["chunk"] = b.mul(self.row, chunk)
            strides[1] = [moves.get(name, i64(0)) for name in names]
            begin = b.at(source, self.corner)
        bases = {0: weights, 1: begin} | {i: kernel.operand(i) for i in others}
        iterator = StridedIterator(b, kernel.integers([extents[name] for name in names]), strides, bases)
        columns_, outputs_, chunk_ = kernel.integers([p.columns, outputs, chunk])
        sums = b.array(compute_type(p.accumulator), chunk * width)
        across = b.array(compute_type(p.accumulator), chunk * width) if turned else None
        again = Direct(p, "n", [], kernel) if p.accumulator.is_float and not self.to.itself else None
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            pointers, indices = iterator.pointers(), dict(zip(names, iterator.indices(), strict=True))
            count = b.min(chunk_, b.sub(outputs_, b.mul(indices["chunk"], chunk)))
            columns = b.min(width, b.sub(columns_, b.mul(indices["panel"], width)))
            with b.loop(0, count, shape.rows) as done:
                first = b.min(done, b.sub(count, shape.rows))  # the last tile begins earlier, and computes some outputs again
                self._tile(b.at(pointers[1], b.mul(first, self.row)), pointers[0], b.at(sums, b.mul(first, width * size)))
            if again is not None:
                self._again(again, sums, count, columns, indices, chunk)
            at = {i: pointers[i] for i in others}
            if across is not None:
                transpose_tile(
                    b,
                    p.accumulator,
                    kernel.target.vector_bits,
                    (count, columns),
                    sums,
                    i64(width * size),
                    across,
                    i64(chunk * size),
                )
                epilogue.rows([across], chunk * size, chunk, columns, count, at)
            else:
                epilogue.rows([sums], width * size, width, count, columns, at)
            iterator.advance()
        units = 1
        for name in names:
            units *= extents[name]
        return kernel.step(units, chunk * width * p.terms * 0.2 / shape.lanes + 50)

    def _tile(self, x: Value, w: Value, into: Value) -> None:
        """The sums of a tile: x where its first output and the first tap meet, w its panel."""
        b, p, shape, size = self.b, self.p, self.shape, self.size
        places = [(r, v) for r in range(shape.rows) for v in range(shape.vectors)]
        zero = Value(self.type, "zeroinitializer")
        held: dict[tuple[int, int], Variable] = {place: b.variable(zero) for place in places}
        at_w = b.variable(w)
        last = p.rank - 1

        def terms(x: Value, n: int) -> None:
            """n neighbouring channels."""
            right = at_w.get()
            values = {place: variable.get() for place, variable in held.items()}
            for i in range(n):
                offset = i * shape.vectors * shape.lanes * size
                ys = [b.load(self.type, b.at(right, offset + v * shape.lanes * size), size) for v in range(shape.vectors)]
                for r in range(shape.rows):
                    own = b.at(b.at(x, b.mul(self.row, r)) if r else x, i * size)
                    value = b.splat(b.load(compute_type(p.accumulator), own, size), shape.lanes)
                    for v in range(shape.vectors):
                        (values[r, v],) = chain(b, p.accumulator, [values[r, v]], [value], [ys[v]], False)
            for place, variable in held.items():
                variable.set(values[place])
            at_w.set(b.at(right, n * shape.vectors * shape.lanes * size))

        def level(a: int, x: Value) -> None:
            if a == p.rank or (a == last and self.merged):
                many = b.and_(self.channels, -_UNROLLED)
                with b.loop(0, many, _UNROLLED) as c:
                    terms(b.at(x, b.mul(c, size)), _UNROLLED)
                with b.loop(many, self.channels) as c:
                    terms(b.at(x, b.mul(c, size)), 1)
                return
            with b.loop(0, self.taps[a]) as t:
                level(a + 1, b.at(x, b.mul(self.tap_steps[a], t)))

        level(0, x)
        width = shape.vectors * shape.lanes
        for (r, v), variable in held.items():
            b.store(variable.get(), b.at(into, (r * width + v * shape.lanes) * size), size)

    def _again(self, direct: Direct, sums: Value, count: Value, columns: Value, indices: dict[str, Value], chunk: int) -> None:
        """Compute the sums that are NaN again."""
        b, p, shape, size = self.b, self.p, self.shape, self.size
        width, type_ = shape.vectors * shape.lanes, compute_type(p.accumulator)
        strange = b.variable(Value(vector("i1", shape.lanes), "zeroinitializer"))
        with b.loop(0, count) as r:
            for v in range(shape.vectors):
                value = b.load(self.type, b.at(sums, b.add(b.mul(r, width * size), v * shape.lanes * size)), size)
                strange.set(b.op("or", strange.get(), b.compare("fcmp uno", value, value)))
        with b.if_(b.any(strange.get()), seldom=True), b.loop(0, count) as r, b.loop(0, columns) as n:
            place = b.at(sums, b.mul(b.add(b.mul(r, width), n), size))
            value = b.load(type_, place, size)
            with b.if_(b.compare("fcmp uno", value, value)):
                at = {name: index for name, index in indices.items() if name not in ("panel", "chunk")}
                at[f"o{p.rank - 1}"] = b.add(b.mul(indices["chunk"], chunk), r)
                at["n"] = b.add(b.mul(indices["panel"], width), n)
                b.store(direct.alone(at), place, size)
