"""Where recurrent networks keep things on the CPU, and the step that packs their weights.

Weights and messages of integer products are kept as whole numbers beside their scales: weights in f32, messages, which each
thread makes of its own rows, in f64.
"""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.llvm.ir import Builder, Value, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import load_lanes
from baracuda.core.layout import round_up
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.blocks import larger, magnitude, scaled, scales
from baracuda.lowering.recurrence.cpu.code import RecurrenceOperands
from baracuda.lowering.recurrence.problem import LANE, ArrayLayout
from baracuda.lowering.recurrent.problem import Phase, Recurrent
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Vectors of running values that a row has about.
VECTORS = 4


class WorkspacePlan:
    """Where everything is in the workspace, in bytes."""

    def __init__(self, problem: Recurrent, width: int) -> None:
        self.problem, self.width = problem, width
        self.size = problem.math.itemsize
        self.nbytes = 0
        self.group = [max(1, VECTORS // max(1, (1 if p.paired else p.products) * len(p.folds))) for p in problem.phases]
        self.blocks = [round_up(-(-p.lanes // width), g) for p, g in zip(problem.phases, self.group, strict=True)]
        self.packed = [
            self._room(blocks * width * p.products * p.depth * self.size)
            for blocks, p in zip(self.blocks, problem.phases, strict=True)
        ]
        #: Bytes of a message of one row, and where those of every row are, twice.
        lanes = BLOCK if problem.bits else width
        self.pitch = [round_up(p.lanes, lanes) * self.size for p in problem.phases]
        self.row = [len(p.message or problem.first) * pitch for p, pitch in zip(problem.phases, self.pitch, strict=True)]
        self.messages = [self._room(2 * problem.batch * row) for row in self.row]
        #: Of integer products, of each phase: the scales of its weights, its message's whole numbers, and the scales of these.
        self.blocks_of_k = [-(-p.depth // BLOCK) if problem.bits else 0 for p in problem.phases]
        self.weight_scales = [
            self._room(blocks * width * p.products * of_k * 4)
            for blocks, p, of_k in zip(self.blocks, problem.phases, self.blocks_of_k, strict=True)
        ]
        parts = [self.parts(p) * of_k * problem.batch for p, of_k in zip(problem.phases, self.blocks_of_k, strict=True)]
        self.integers = [self._room(n * BLOCK * 8) for n in parts]
        self.integer_scales = [self._room(n * 4) for n in parts]
        self.state_pitch = [round_up(lanes, width) * c.kind.itemsize for lanes, c in problem.components]
        self.states = [self._room(problem.batch * pitch) for pitch in self.state_pitch]

    @staticmethod
    def parts(phase: Phase) -> int:
        """Components of the message that a phase reads."""
        return phase.products if phase.paired else 1

    def k_pitch(self, number: int) -> int:
        """From one k of a packed weight to the next: of paired products each has its k one behind the other, else each k has all
        products."""
        phase = self.problem.phases[number]
        return self.width * self.size * (1 if phase.paired else phase.products)

    def lanes_at(self, b: Builder, number: int, block: Value, product: int, depth: Value) -> Value:
        """Where in a packed weight a block has a product's lanes of the first k."""
        phase, lanes = self.problem.phases[number], self.width * self.size
        start = b.mul(b.mul(block, depth), phase.products * lanes)
        return b.add(start, b.mul(depth, product * lanes) if phase.paired else i64(product * lanes))

    @staticmethod
    def lane_axis(phase: Phase) -> int:
        """The axis of a weight along which the lanes lie."""
        return 2 if phase.transposed else 1

    def _room(self, nbytes: int) -> int:
        start = self.nbytes
        self.nbytes += round_up(nbytes, 64)
        return start


class RecurrentOperands(RecurrenceOperands):
    """Operands of one of the kernels that share their integers."""

    def __init__(self, plan: WorkspacePlan, arrays: Mapping[str, ArrayLayout], target: CpuTarget, integers: list[int]) -> None:
        super().__init__(plan.problem, arrays, target)
        self.integers = integers
        self._numbers: dict[object, Value] = {}

    def number(self, name: object, value: int) -> Value:
        """A number that the code does not depend on, once for each name."""
        if name not in self._numbers:
            self._numbers[name] = self.integer(value)
        return self._numbers[name]

    def byte_stride(self, name: str, axis: int) -> Value:
        array = self.arrays[name]
        return self.number((name, axis), array.strides[axis] * array.kind.itemsize)

    def among(self, lanes: int) -> None:
        """Formulas that follow are over so many lanes."""
        self._sure[LANE] = lanes


class Packing:
    """The step that packs a phase's weight: a block of lanes is a unit of work."""

    def __init__(
        self, plan: WorkspacePlan, number: int, arrays: Mapping[str, ArrayLayout], target: CpuTarget, integers: list[int]
    ) -> None:
        self.plan, self.number = plan, number
        self.code = RecurrentOperands(plan, arrays, target, integers)

    def launch(self) -> Launch:
        code, b, plan = self.code, self.code.b, self.plan
        phase = plan.problem.phases[self.number]
        assert phase.weight is not None
        array, width, size = code.arrays[phase.weight], plan.width, plan.size
        axis = plan.lane_axis(phase)
        across, down, along = (code.byte_stride(phase.weight, a) for a in (0, axis, 3 - axis))
        step = None if array.is_unit(axis) else down
        lanes, depth = code.number("lanes", phase.lanes), code.number("depth", phase.depth)
        start = b.at(code.workspace, code.number("packed", plan.packed[self.number]))
        with b.loop(code.begin, code.end) as block:
            first = b.mul(block, width)
            remaining = b.sub(lanes, first)
            with b.if_(b.less(0, remaining)):
                for g in range(phase.products):
                    source = b.at(code.operand(phase.weight), b.add(b.mul(across, phase.at + g), b.mul(first, down)))
                    target = b.at(start, plan.lanes_at(b, self.number, block, g, depth))
                    if plan.problem.bits:
                        self._integers(source, target, b.add(b.mul(block, phase.products), g), (along, step, remaining, depth))
                        continue
                    with b.loop(0, depth) as k:
                        value = load_lanes(b, array.kind, b.at(source, b.mul(k, along)), width, step, remaining)
                        b.store(value, b.at(target, b.mul(k, plan.k_pitch(self.number))), size)
        return code.launch(plan.blocks[self.number], phase.depth * phase.products * width * 1.0)

    def _integers(self, source: Value, target: Value, number: Value, how: tuple[Value, Value | None, Value, Value]) -> None:
        """The whole numbers of some lanes of a product, all of k, and their scales."""
        code, b, plan = self.code, self.code.b, self.plan
        along, step, remaining, depth = how
        tensor = plan.problem.phases[self.number].weight
        assert tensor is not None
        array, width, pitch = code.arrays[tensor], plan.width, plan.k_pitch(self.number)
        type_ = vector("float", width)
        start = b.at(code.workspace, code.number("scales", plan.weight_scales[self.number]))
        to = b.at(start, b.mul(b.mul(number, code.number("blocks of k", plan.blocks_of_k[self.number])), 4 * width))
        with b.loop(0, depth, BLOCK) as first:
            end = b.min(b.add(first, BLOCK), depth)
            most = b.variable(Value(vector("i32", width), "zeroinitializer"))
            with b.loop(first, end) as k:
                x = load_lanes(b, array.kind, b.at(source, b.mul(k, along)), width, step, remaining)
                b.store(x, b.at(target, b.mul(k, pitch)), 4)
                most.set(larger(b, most.get(), magnitude(b, x)))
            made = scales(b, most.get(), plan.problem.bits)
            with b.loop(first, end) as k:
                at = b.at(target, b.mul(k, pitch))
                whole = b.call(type_, intrinsic("roundeven", type_), scaled(b, b.load(type_, at, 4), made.factors))
                b.store(whole, at, 4)
            b.store(made.scale, b.at(to, b.mul(b.div(first, BLOCK), 4 * width)), 4)
