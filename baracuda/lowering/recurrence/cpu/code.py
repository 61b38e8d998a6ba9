"""What the CPU kernels of recurrences and of chains share: words, elements at indices, and evaluators that know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Builder, Module, Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.codegen.llvm.memory import load, stored_type, widen
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.elements import Category, ElementKind
from baracuda.formula.expr import Expr
from baracuda.lowering.nest.cpu.kernel import launch
from baracuda.lowering.recurrence.problem import BATCH, LANE, STEP, Addressed, ArrayLayout, Varies, tensors_of
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch


class RecurrenceOperands:
    """One kernel under construction. Its words are addresses, that of the workspace, parameters, and integers."""

    def __init__(self, problem: Addressed, arrays: Mapping[str, ArrayLayout], target: CpuTarget) -> None:
        self.problem, self.arrays, self.target = problem, arrays, target
        self.names = tensors_of(problem)
        self.facts = problem.facts
        self.b = Builder(Module())
        self.begin, self.end = Value("i64", "%begin"), Value("i64", "%end")
        widths = [n.kind.bits for n in self.facts.nodes if self.facts.varies[n] & Varies.LANE]
        self.lanes = target.vector_bits // max([32, *widths])
        self.integers: list[int] = []
        self._words: dict[tuple[str, int], Value] = {}
        self._sure = {BATCH: problem.batch, STEP: problem.steps, LANE: problem.lanes}

    # --- words --------------------------------------------------------------------------------------------------------

    def _word(self, type_: str, index: int) -> Value:
        if (type_, index) not in self._words:
            with self.b.at_entry():
                self._words[type_, index] = self.b.load(type_, self.b.at(Value("ptr", "%words"), 8 * index), 8)
        return self._words[type_, index]

    def integer(self, value: int) -> Value:
        """A number that the code does not depend on."""
        self.integers.append(value)
        return self._word("i64", len(self.names) + len(self.facts.params) + len(self.integers))

    def operand(self, name: str) -> Value:
        """The address of a tensor's first element."""
        return self._word("ptr", self.names.index(name))

    @property
    def workspace(self) -> Value:
        return self._word("ptr", len(self.names))

    def _param(self, n: Expr) -> Value:
        return self._word(compute_type(n.kind), len(self.names) + 1 + self.facts.params.index(n))

    def byte_stride(self, name: str, axis: int) -> Value:
        array = self.arrays[name]
        return self.integer(array.strides[axis] * array.kind.itemsize)

    # --- values -------------------------------------------------------------------------------------------------------

    def evaluator(self, coordinates: Mapping[Expr, Value], outer: Evaluator | None = None) -> Evaluator:
        """An evaluator of scalars that knows some of `BATCH`, `STEP` and `LANE` (i64)."""

        def leaf(n: Expr) -> Group:
            return [self._param(n) if n.op == "param" else self.b.convert("trunc", coordinates[n], "i32")]

        return Evaluator(self.b, 1, 1, leaf, outer)

    def lane_evaluator(self, lane: Value, remaining: Value | None, outer: Evaluator) -> Evaluator:
        """An evaluator of a vector of lanes from `lane` on, of which only the first `left` exist (None: all)."""
        b, count = self.b, self.lanes

        def leaf(n: Expr) -> Group:
            assert n is LANE, n
            return [b.add(b.splat(b.convert("trunc", lane, "i32"), count), b.iota(count))]

        active = None if remaining is None else [first_lanes(b, count, remaining)]
        return Evaluator(b, count, 1, leaf, outer, active)

    def values(self, evaluator: Evaluator, roots: Iterable[Expr], lane: Value | None = None) -> list[Value]:
        """The values of expressions, with what they read; `lane` is the first of an evaluator of lanes."""
        roots = list(roots)
        for n in self.facts.reads(roots):
            if evaluator.known(n) is None:
                evaluator.memo[n] = [self._read(evaluator, n, lane)]
        return [group[0] for group in evaluator.values(roots)]

    def prepare(self, evaluator: Evaluator, roots: Sequence[Expr], free: Varies) -> None:
        """Compute what is the same whatever is `free`, here rather than where it is needed."""
        self.values(evaluator, self.facts.fixed(roots, free))

    # --- memory -------------------------------------------------------------------------------------------------------

    def _read(self, evaluator: Evaluator, n: Expr, lane: Value | None) -> Value:
        b, name = self.b, n.attr.name
        array = self.arrays[name]
        pointer, size = self.operand(name), array.kind.itemsize
        across = [a for a, i in enumerate(n.args) if lane is not None and self.facts.varies[i] & Varies.LANE]
        for axis in range(len(n.args)):
            if axis not in across:
                index = self._scalar(evaluator, n.args[axis])
                at = self.clamped(index, n.args[axis], array.shape[axis])
                pointer = b.at(pointer, b.mul(at, self.byte_stride(name, axis)))
        if not across:
            return widen(b, array.kind, b.load(stored_type(array.kind), pointer, size))
        assert lane is not None
        mask = None if evaluator.active is None else evaluator.active[0]
        if len(across) == 1 and n.args[across[0]] is LANE and array.is_unit(across[0]) and self._in_range(LANE, array, across[0]):
            return load(b, array.kind, b.at(pointer, b.mul(lane, size)), self.lanes, mask)
        offsets = Value(vector("i64", self.lanes), "zeroinitializer")
        for axis in across:
            at = self.clamped(evaluator.value(n.args[axis])[0], n.args[axis], array.shape[axis])
            offsets = b.add(offsets, b.mul(at, b.splat(self.byte_stride(name, axis), self.lanes)))
        pointers = b.emit(vector("ptr", self.lanes), f"getelementptr i8, ptr {pointer.name}, {offsets.type} {offsets.name}")
        type_ = vector(stored_type(array.kind), self.lanes)
        mask = mask or constant("i1", 1, self.lanes)
        gather = intrinsic("masked.gather", type_, pointers.type)
        raw = b.call(type_, gather, pointers, Value("i32", str(size)), mask, Value(type_, "zeroinitializer"))
        return widen(b, array.kind, raw)

    def _scalar(self, evaluator: Evaluator, index: Expr) -> Value:
        """An index that is the same for all lanes."""
        while evaluator.lanes > 1:
            assert evaluator.outer is not None
            evaluator = evaluator.outer
        return evaluator.value(index)[0]

    def _in_range(self, index: Expr, array: ArrayLayout, axis: int) -> bool:
        return index in self._sure and self._sure[index] <= array.shape[axis]

    def clamped(self, index: Value, expr: Expr, extent: int) -> Value:
        """An index brought into range, in 64 bits."""
        b, lanes = self.b, index.lanes
        extend = "sext" if expr.kind.category is Category.SIGNED else "zext"
        wide = vector("i64", lanes)
        if self._sure.get(expr, extent + 1) <= extent:
            return b.convert(extend, index, wide)
        if index.element == "i32" and expr.kind is ElementKind.S32 and extent < 1 << 31:
            last, zero = b.convert("trunc", self.integer(extent - 1), "i32"), constant("i32", 0, lanes)
        else:
            index = b.convert(extend, index, wide)
            last, zero = self.integer(extent - 1), constant("i64", 0, lanes)
        low = b.call(index.type, intrinsic("smax", index.type), index, zero)
        return b.convert("sext", b.call(index.type, intrinsic("smin", index.type), low, b.splat(last, lanes)), wide)

    def count(self, evaluator: Evaluator, expr: Expr, most: int) -> Value:
        """How many steps or lanes count."""
        b = self.b
        wide = b.convert("sext", self.values(evaluator, [expr])[0], "i64")
        return b.call("i64", "llvm.smax.i64", b.call("i64", "llvm.smin.i64", wide, self.integer(most)), i64(0))

    def launch(self, units: int, unit_ns: float) -> Launch:
        """The finished kernel; `unit_ns` estimates one unit on one thread."""
        return launch(self.b, self.target, units, unit_ns)
