"""Integer products of recurrent networks on the CPU: chains in f64, which are exact over a block of k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from baracuda.codegen.llvm.ir import Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes, load_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.blocks import larger, magnitude, scaled, scales
from baracuda.lowering.matmul.cpu.integers.tile import scaled_sum
from baracuda.lowering.recurrent.cpu.packing import RecurrentOperands, WorkspacePlan


class IntegerFolds:
    """The integer products of one phase."""

    def __init__(self, plan: WorkspacePlan, code: RecurrentOperands, number: int) -> None:
        self.plan, self.code, self.number = plan, code, number
        self.b, self.phase = code.b, plan.problem.phases[number]
        self.depth = code.number(("depth", number), self.phase.depth)
        self.blocks = code.number(("blocks of k", number), plan.blocks_of_k[number])

    def _place(self, row: Value, part: int, block: Value) -> Value:
        """The number of a row's block of a part of the message."""
        b = self.b
        return b.add(b.mul(b.add(b.mul(row, WorkspacePlan.parts(self.phase)), part), self.blocks), block)

    def _start(self, name: str, at: int) -> Value:
        return self.b.at(self.code.workspace, self.code.number((name, self.number), at))

    def prepare(self, row: Value, parts: Sequence[Value]) -> None:
        """A row's message as whole numbers: `parts` are where its components are."""
        b, n = self.b, self.plan.width
        type_ = vector("float", n)
        integers = self._start("integers", self.plan.integers[self.number])
        to_scales = self._start("integer scales", self.plan.integer_scales[self.number])
        for part, at in enumerate(parts):
            with b.loop(0, self.blocks) as block:
                first, place = b.mul(block, BLOCK), self._place(row, part, block)
                most = b.variable(Value(vector("i32", n), "zeroinitializer"))
                held = b.array("float", BLOCK)
                with b.loop(0, BLOCK, n) as k:
                    own = b.add(first, k)
                    mask = first_lanes(b, n, b.sub(self.depth, own))
                    x = b.select(mask, b.load(type_, b.at(at, b.mul(own, 4)), 4), Value(type_, "zeroinitializer"))
                    b.store(x, b.at(held, b.mul(k, 4)), 4)
                    most.set(larger(b, most.get(), magnitude(b, x)))
                largest = b.call("i32", intrinsic("vector.reduce.umax", most.get().type), most.get())
                made = scales(b, b.splat(largest, n), self.plan.problem.bits)
                to = b.at(integers, b.mul(place, 8 * BLOCK))
                with b.loop(0, BLOCK, n) as k:
                    x = scaled(b, b.load(type_, b.at(held, b.mul(k, 4)), 4), made.factors)
                    whole = b.convert("fpext", b.call(type_, intrinsic("roundeven", type_), x), vector("double", n))
                    b.store(whole, b.at(to, b.mul(k, 8)), 8)
                b.store(b.extract(made.scale, 0), b.at(to_scales, b.mul(place, 4)), 4)

    def sums(self, tile: Value, rows: int, first: Value, results: Mapping[tuple[int, int], Value]) -> None:
        """The sums of a tile of rows and a group of blocks of lanes, into `results`."""
        b, plan, phase = self.b, self.plan, self.phase
        width, group = plan.width, plan.group[self.number]
        narrow, wide = vector("float", width), vector("double", width)
        weights = self._start("packed", plan.packed[self.number])
        integers = self._start("integers", plan.integers[self.number])
        of_weights = self._start("weight scales", plan.weight_scales[self.number])
        of_messages = self._start("integer scales", plan.integer_scales[self.number])
        number = b.op("udiv", first, i64(width))
        each = [[g] for g in range(phase.products)] if phase.paired else [list(range(phase.products))]
        pitch = plan.k_pitch(self.number)
        for together in each:
            part = together[0] if phase.paired else 0
            places = list(product(range(rows), range(group), together))
            sums = {place: b.variable(Value(narrow, "zeroinitializer")) for place in places}
            at = [b.at(weights, plan.lanes_at(b, self.number, b.add(number, j), together[0], self.depth)) for j in range(group)]
            with b.loop(0, self.blocks) as block:
                start = b.mul(block, BLOCK)
                of_row = [self._place(b.add(tile, r), part, block) for r in range(rows)]
                whole = [b.at(integers, b.mul(place, 8 * BLOCK)) for place in of_row]
                exact = {place: b.variable(Value(wide, "zeroinitializer")) for place in places}
                with b.loop(0, b.min(i64(BLOCK), b.sub(self.depth, start))) as k:
                    here = b.mul(b.add(start, k), pitch)
                    ws = {
                        (j, g): b.convert("fpext", b.load(narrow, b.at(b.at(at[j], here), i * width * 4), 4), wide)
                        for j in range(group)
                        for i, g in enumerate(together)
                    }
                    ms = [b.splat(b.load("double", b.at(m, b.mul(k, 8)), 8), width) for m in whole]
                    for r, j, g in places:
                        held = exact[r, j, g]
                        held.set(b.call(wide, intrinsic("fma", wide), ms[r], ws[j, g], held.get()))
                for r, j, g in places:
                    column = b.add(b.mul(b.add(b.mul(b.add(number, j), phase.products), g), self.blocks), block)
                    by_row = b.splat(b.load("float", b.at(of_messages, b.mul(of_row[r], 4)), 4), width)
                    by_column = b.load(narrow, b.at(of_weights, b.mul(column, 4 * width)), 4)
                    rounded = b.convert("fptrunc", exact[r, j, g].get(), narrow)
                    sums[r, j, g].set(scaled_sum(b, rounded, by_row, by_column, sums[r, j, g].get()))
            for (r, j, g), variable in sums.items():
                b.store(variable.get(), b.at(results[0, g], (r * group + j) * width * 4), 4)

    def settle(self, parts: Sequence[Value], r: Value, first: Value, results: Mapping[tuple[int, int], Value]) -> None:
        """Put right those sums of row r of a tile that are NaN, by the rule of factors that are not finite; `parts` are where the
        components of its message are."""
        b, width, group = self.b, self.plan.width, self.plan.group[self.number]
        for (_, g), at in results.items():
            with b.loop(0, group) as j:
                to = b.at(at, b.mul(b.add(b.mul(r, group), j), 4 * width))
                self._settle(to, b.add(first, b.mul(j, width)), g, parts[g if self.phase.paired else 0])

    def _settle(self, to: Value, lane: Value, g: int, message: Value) -> None:
        code, b, phase, width = self.code, self.b, self.phase, self.plan.width
        s = b.load(vector("float", width), to, 4)
        tensor = phase.weight
        assert tensor is not None
        array, axis = code.arrays[tensor], self.plan.lane_axis(phase)
        remaining = b.sub(code.number(("lanes", self.number), phase.lanes), lane)
        zero = constant("float", 0, width)
        unsettled = b.compare("fcmp uno", s, s)
        with b.if_(b.op("and", b.any(unsettled), b.less(0, remaining)), seldom=True):
            across, down, along = (code.byte_stride(tensor, a) for a in (0, axis, 3 - axis))
            source = b.at(code.operand(tensor), b.add(b.mul(across, phase.at + g), b.mul(lane, down)))
            step = None if array.is_unit(axis) else down
            total, met = b.variable(zero), b.variable(constant("i32", 0, width))
            with b.loop(0, self.depth) as k:
                x = load_lanes(b, array.kind, b.at(source, b.mul(k, along)), width, step, remaining)
                y = b.splat(load(b, self.plan.problem.math, b.at(message, b.mul(k, 4)), 1), width)
                odd = b.op("or", self._not_finite(x), self._not_finite(y))
                total.set(b.op("fadd", total.get(), b.select(odd, b.op("fmul", x, y), zero)))
                met.set(b.or_(met.get(), b.convert("sext", odd, vector("i32", width))))
            ruled = b.op("and", unsettled, b.compare("icmp ne", met.get(), constant("i32", 0, width)))
            b.store(b.select(ruled, total.get(), s), to, 4)

    def _not_finite(self, x: Value) -> Value:
        size = self.b.call(x.type, intrinsic("fabs", x.type), x)
        return self.b.compare("fcmp ueq", size, constant("float", 0x7F800000, x.lanes))
