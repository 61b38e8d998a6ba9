"""Convolutions on the CPU, each vector of results by itself: any layout, any element, any arithmetic.

Vectors run along the axis of y that lies densest. Every tap is tested for being inside x, whole or lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable

from baracuda.codegen.llvm.ir import Value, Variable, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.elements import ElementKind
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.convolution.cpu.code import ZERO, Source, index_lanes, lanes_at, nest_of, unsigned_less
from baracuda.lowering.convolution.cpu.integers import quantize
from baracuda.lowering.convolution.problem import ConvolutionProblem, W, X
from baracuda.lowering.convolution.quantized import integer_strides, quantized
from baracuda.lowering.matmul.cpu.tile import Epilogue, chain
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

#: Vectors of a unit of work at most.
_VECTORS = 16

Coordinates = dict[str, Value]
#: What is done at a tap that is there: the addresses in x and w, in those of their scales, the mask of lanes, the tap's number.
Body = Callable[[list[Value], Value | None, Value], None]


def direct(p: ConvolutionProblem, target: CpuTarget) -> Lowered:
    """The program: of integers, both factors are turned into them first."""
    column = column_of(p)
    outer = [name for name in p.extents() if name != column]
    nest = nest_of(p, outer, column)
    words = Words(nest)
    steps: list[Launch] = []
    nbytes = 0
    if p.bits:
        *factors, nbytes = quantized(p)
        steps = [quantize(f, p, Kernel(nest, words, target)) for f in factors]
    steps.append(Direct(p, column, outer, Kernel(nest, words, target)).step())
    return Lowered(tuple(steps), tuple(words.integers), nbytes, f"direct along {column}")


def column_of(p: ConvolutionProblem) -> str:
    """The axis that vectors run along."""
    extents, place = p.extents(), {name: i for i, name in enumerate(p.extents())}
    names = [name for name in ("n", f"o{p.rank - 1}", "g") if name in extents]
    y = p.operands[-1]
    dense = [name for name in names if extents[name] > 1 and y.steps(place[name]) == 1]
    return dense[0] if dense else max(names, key=lambda name: extents[name])


class Direct:
    def __init__(self, p: ConvolutionProblem, column: str, outer: list[str], kernel: Kernel) -> None:
        self.p, self.column, self.outer, self.kernel, self.b = p, column, outer, kernel, kernel.b
        self.work = ElementKind.F64 if p.bits else p.accumulator
        self.lanes = kernel.target.vector_bits // self.work.bits
        self.type = vector(compute_type(p.accumulator), self.lanes)
        general = p.x.general or p.w.general
        raw = [
            Source.of(kernel, p.x.kind, kernel.operand(X), p.x_strides(), general=general),
            Source.of(kernel, p.w.kind, kernel.operand(W), p.w_strides(), general=general),
        ]
        self.raw = self.factors = raw
        if p.bits:
            x, w, _ = quantized(p)
            places = (x.integers, w.integers, x.scales, w.scales)
            xq, xs, wq, ws = integer_strides(p)
            start = kernel.workspace
            with self.b.at_entry():
                bases = [self.b.at(start, kernel.integer(place)) for place in places]
            self.factors = [
                Source.of(kernel, ElementKind.F32, base, strides) for base, strides in zip(bases, (xq, wq, xs, ws), strict=True)
            ]
        self.taps, self.inputs = kernel.integers(p.taps), kernel.integers(p.inputs)
        self.stride, self.dilation, self.low = (kernel.integers(v) for v in (p.stride, p.dilation, p.low))
        self.channels = kernel.integer(p.channels)

    def step(self) -> Launch:
        p, b, kernel = self.p, self.b, self.kernel
        extents = p.extents()
        size, most = p.accumulator.itemsize, _VECTORS * self.lanes
        chunks = -(-extents[self.column] // most)
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
        columns = kernel.integer(extents[self.column])
        sums = b.array(compute_type(p.accumulator), most)
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            pointers, indices = iterator.pointers(), iterator.indices()
            first = b.mul(indices[-1], most)
            count = b.min(most, b.sub(columns, first))
            place = dict(zip(self.outer, indices[:-1], strict=True))
            with b.loop(0, count, self.lanes) as done:
                at = place | {self.column: b.add(first, done)}
                b.store(self.sums(at, b.sub(count, done)), b.at(sums, b.mul(done, size)), size)
            epilogue.rows([sums], 0, most, i64(1), count, pointers)
            iterator.advance()
        units = chunks
        for name in self.outer:
            units *= extents[name]
        cost = min(most, extents[self.column]) * (p.terms + 4) * (0.5 if p.bits else 0.25)
        return kernel.step(units, cost)

    # --- one vector ---------------------------------------------------------------------------------------------------

    def sums(self, at: Coordinates, remaining: Value) -> Value:
        """The sums of some neighbours along the columns, of which only the first `remaining` exist."""
        b, zero = self.b, Value(self.type, "zeroinitializer")
        s = b.variable(zero)
        active = first_lanes(b, self.lanes, remaining)
        part = self._integers(s, active) if self.p.bits else self._chain(s, active)
        if self.p.segment:
            total, length = b.variable(zero), self.kernel.integer(self.p.segment)
            last = b.variable(i64(0))

            def body(pointers: list[Value], mask: Value | None, number: Value) -> None:
                segment = b.div(number, length)
                with b.if_(b.compare("icmp ne", segment, last.get())):
                    last.set(segment)
                    total.set(self._add(total.get(), s.get()))
                    s.set(zero)
                part(pointers, mask, number)

            self.walk(self.factors, at, self.lanes, body)
            s.set(self._add(total.get(), s.get()))
        else:
            self.walk(self.factors, at, self.lanes, part)
        if self.p.bits:
            self._unusual(s, at, active)
        return s.get()

    def _add(self, x: Value, y: Value) -> Value:
        return self.b.op("fadd" if self.p.accumulator.is_float else "add", x, y)

    def walk(self, sources: list[Source], at: Coordinates, lanes: int, body: Body) -> None:
        """Go through the taps that are there; `at` says where the first lane is."""
        b, p = self.b, self.p
        begin = [source.at(b, source.base, at) for source in sources]

        def level(a: int, pointers: list[Value], mask: Value | None, number: Value) -> None:
            if a == p.rank:
                body(pointers, mask, number)
                return
            start = b.sub(b.mul(at[f"o{a}"], self.stride[a]), self.low[a])
            with b.loop(0, self.taps[a]) as t:
                i = b.add(start, b.mul(t, self.dilation[a]))
                step = {f"i{a}": i, f"t{a}": t}
                moved = [source.at(b, pointer, step) for source, pointer in zip(sources, pointers, strict=True)]
                at_tap = b.add(b.mul(number, self.taps[a]), t) if p.segment else number
                if lanes > 1 and self.column == f"o{a}":
                    places = index_lanes(b, i, self.stride[a], lanes)
                    level(a + 1, moved, unsigned_less(b, places, b.splat(self.inputs[a], lanes)), at_tap)
                else:
                    with b.if_(unsigned_less(b, i, self.inputs[a])):
                        level(a + 1, moved, mask, at_tap)

        level(0, begin, None, ZERO)

    def _read(self, source: Source, pointer: Value, lanes: int, mask: Value | None) -> Value:
        """A vector of a factor along the columns."""
        b, column = self.b, self.column
        if not column.startswith("o"):
            step, stride = source.steps.get(column, 0), source.strides.get(column)
            return lanes_at(b, source.kind, pointer, lanes, step, stride, mask)
        axis = int(column[1:])
        moving, other = source.steps.get(f"i{axis}", 0), source.steps.get(column, 0)
        if moving == 0 and other == 0:
            return lanes_at(b, source.kind, pointer, lanes, 0, None, mask)
        known = None
        if moving is not None and other is not None and not self.p.general:
            known = moving * self.p.stride[axis] + other
        with b.at_entry():
            stride = ZERO
            if f"i{axis}" in source.strides:
                stride = b.add(stride, b.mul(source.strides[f"i{axis}"], self.stride[axis]))
            if column in source.strides:
                stride = b.add(stride, source.strides[column])
        return lanes_at(b, source.kind, pointer, lanes, 1 if known == 1 else None, stride, mask)

    def _masked(self, active: Value, mask: Value | None) -> Value:
        return active if mask is None else self.b.op("and", active, mask)

    def _chain(self, s: Variable, active: Value) -> Body:
        b = self.b
        x, w = self.factors

        def body(pointers: list[Value], mask: Value | None, number: Value) -> None:
            there = self._masked(active, mask)
            with b.loop(0, self.channels) as c:
                values = [
                    self._read(f, f.at(b, pointer, {"c": c}), self.lanes, there)
                    for f, pointer in zip((x, w), pointers, strict=True)
                ]
                (new,) = chain(b, self.p.accumulator, [s.get()], [values[0]], [values[1]], False)
                s.set(new if mask is None else b.select(mask, new, s.get()))

        return body

    def _integers(self, s: Variable, active: Value) -> Body:
        b, lanes = self.b, self.lanes
        wide = vector("double", lanes)

        def body(pointers: list[Value], mask: Value | None, number: Value) -> None:
            there = self._masked(active, mask)
            with b.loop(0, self.channels, BLOCK) as first:
                product = b.variable(Value(wide, "zeroinitializer"))
                with b.loop(first, b.min(self.channels, b.add(first, BLOCK))) as c:
                    x, w = (
                        b.convert("fpext", self._read(f, f.at(b, at, {"c": c}), lanes, there), wide)
                        for f, at in zip(self.factors[:2], pointers[:2], strict=True)
                    )
                    product.set(b.call(wide, intrinsic("fma", wide), x, w, product.get()))
                block = b.div(first, BLOCK)
                scales = [
                    self._read(f, f.at(b, at, {"c": block}), lanes, there)
                    for f, at in zip(self.factors[2:], pointers[2:], strict=True)
                ]
                order = b.compare("fcmp olt", scales[0], scales[1])
                low, high = b.select(order, scales[0], scales[1]), b.select(order, scales[1], scales[0])
                rounded = b.convert("fptrunc", product.get(), self.type)
                new = b.call(self.type, intrinsic("fma", self.type), b.op("fmul", rounded, low), high, s.get())
                s.set(new if mask is None else b.select(mask, new, s.get()))

        return body

    def alone(self, at: Coordinates) -> Value:
        """One sum of a chain, by itself."""
        b = self.b
        s = b.variable(Value(compute_type(self.p.accumulator), "0.0"))

        def body(pointers: list[Value], mask: Value | None, number: Value) -> None:
            with b.loop(0, self.channels) as c:
                x, w = (
                    lanes_at(b, f.kind, f.at(b, pointer, {"c": c}), 1, None, None, None)
                    for f, pointer in zip(self.raw, pointers, strict=True)
                )
                s.set(chain(b, self.p.accumulator, [s.get()], [x], [w], False)[0])

        self.walk(self.raw, at, 1, body)
        return s.get()

    def _unusual(self, s: Variable, at: Coordinates, active: Value) -> None:
        """Put the sums of products with a factor that is not finite in the place of sums that have some."""
        b, lanes = self.b, self.lanes
        nan = b.op("and", b.compare("fcmp uno", s.get(), s.get()), active)
        with b.if_(b.any(nan), seldom=True):
            for lane in range(lanes):
                with b.if_(b.extract(nan, lane)):
                    total, found = b.variable(Value("float", "0.0")), b.variable(ZERO)

                    def body(
                        pointers: list[Value],
                        mask: Value | None,
                        number: Value,
                        total: Variable = total,
                        found: Variable = found,
                    ) -> None:
                        with b.loop(0, self.channels) as c:
                            x, w = (
                                lanes_at(b, f.kind, f.at(b, pointer, {"c": c}), 1, None, None, None)
                                for f, pointer in zip(self.raw, pointers, strict=True)
                            )
                            usual = b.op("and", *(_finite(self, v) for v in (x, w)))
                            with b.else_(usual):
                                total.set(b.op("fadd", total.get(), b.op("fmul", x, w)))
                                found.set(i64(1))

                    self.walk(self.raw, at | {self.column: b.add(at[self.column], lane)}, 1, body)
                    old = b.extract(s.get(), lane)
                    value = b.select(b.equal(found.get(), 1), total.get(), old)
                    s.set(b.emit(self.type, f"insertelement {self.type} {s.get().name}, float {value.name}, i64 {lane}"))


def _finite(code: Direct, x: Value) -> Value:
    b = code.b
    magnitude = b.and_(b.convert("bitcast", x, "i32"), 0x7FFFFFFF)
    return b.compare("icmp ult", magnitude, constant("i32", 0x7F800000))
