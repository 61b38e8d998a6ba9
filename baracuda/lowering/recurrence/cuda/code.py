"""What the CUDA kernels of recurrences and of chains share: words, elements at indices, and scopes that know them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from baracuda.codegen.cuda.emit import Emitter, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr
from baracuda.lowering.nest.cuda.kernel import Words, translation_unit
from baracuda.lowering.recurrence.problem import BATCH, LANE, STEP, Addressed, ArrayLayout, Varies, tensors_of

#: Threads of a block at most.
BLOCK_LIMIT = 1024

_INDEX = r"""
// An index brought into range.
__device__ __forceinline__ i64 bounded(i64 i, i64 n) { return i < 0 ? 0 : i < n ? i : n - 1; }
__device__ __forceinline__ i64 bounded(int i, i64 n) { const int m = (int)n - 1; return max(min(i, m), 0); }
"""


class ScopedEmitter(Emitter):
    """An emitter that knows coordinates, parameters, values that lie in variables already, and how tensors are read."""

    def __init__(
        self,
        code: RecurrenceOperands,
        coordinates: Mapping[Expr, str],
        outer: Emitter | None,
        known_values: Mapping[Expr, str],
        state: Callable[[Expr], str] | None,
    ) -> None:
        super().__init__(self._known, outer)
        self.code, self.coordinates, self.given, self.state = code, coordinates, known_values, state

    def _known(self, n: Expr) -> str | None:
        if n in self.given:
            return self.given[n]
        if n.op == "coord":
            return self.coordinates[n]
        if n.op == "param":
            return self.code.words.param(n)
        if n.op == "state":
            assert self.state is not None
            return self.state(n)
        return f"widen({self.element(n)})" if n.op == "gather" else None

    def element(self, n: Expr) -> str:
        """The C++ expression of an element in memory."""
        code, name = self.code, n.attr.name
        shape = code.arrays[name].shape
        at = [code.bounded(self.value(i), i, extent) for i, extent in zip(n.args, shape, strict=True)]
        offset = " + ".join(f"{i} * {code.stride(name, axis)}" for axis, i in enumerate(at))
        return f"{code.pointer(name)}[{offset or 0}]"


class RecurrenceOperands:
    """The operands of one kernel and its words."""

    def __init__(self, problem: Addressed, arrays: Mapping[str, ArrayLayout]) -> None:
        self.problem, self.arrays = problem, arrays
        self.names = tensors_of(problem)
        self.facts = problem.facts
        self.words = Words(len(self.names), self.facts.params)
        self.tables: dict[Expr, str] = {}
        self._sure = {BATCH: problem.batch, STEP: problem.steps, LANE: problem.lanes}

    def scope(
        self,
        coordinates: Mapping[Expr, str],
        outer: ScopedEmitter | None = None,
        known_values: Mapping[Expr, str] | None = None,
        state: Callable[[Expr], str] | None = None,
    ) -> ScopedEmitter:
        """An emitter for a C++ scope inside that of `outer`."""
        known = {**(outer.coordinates if outer else {}), **coordinates}
        scope = ScopedEmitter(self, known, outer, known_values or {}, state)
        scope.tables = self.tables
        return scope

    def prepare(self, scope: ScopedEmitter, roots: Sequence[Expr], free: Varies) -> None:
        """Compute what is the same whatever is `free`, here rather than where it is needed."""
        for n in self.facts.fixed(roots, free):
            scope.value(n)

    def pointers(self) -> list[str]:
        """Declares p0, p1, ...: the tensors' first elements."""
        outputs = self.problem.written
        lines = []
        for i, name in enumerate(self.names):
            type_ = f"{'' if name in outputs else 'const '}{STORAGE_TYPE[self.arrays[name].kind]}"
            lines.append(f"{type_}* const __restrict__ p{i} = ({type_}*)W.w[{i}];")
        return lines

    def pointer(self, name: str) -> str:
        return f"p{self.names.index(name)}"

    def storage(self, n: Expr) -> str:
        """The C++ type of an element that a node reads."""
        kind: ElementKind = self.arrays[n.attr.name].kind
        return STORAGE_TYPE[kind]

    def stride(self, name: str, axis: int) -> str:
        return self.words.signed(self.arrays[name].strides[axis])

    def bounded(self, value: str, index: Expr, extent: int) -> str:
        """An index brought into range, as i64."""
        if self._sure.get(index, extent + 1) <= extent:
            return f"(i64){value}"
        wide = value if index.kind is ElementKind.S32 and extent < 1 << 31 else f"(i64){value}"
        return f"bounded({wide}, {self.words.signed(extent)})"

    def count(self, scope: ScopedEmitter, expr: Expr, most: int) -> str:
        """How many steps or lanes count, as int."""
        return f"(int)max(min((i64){scope.value(expr)}, {self.words.signed(most)}), 0ll)"

    def narrow(self, tensor: str, expr: Expr, value: str) -> str:
        """A value as an element of a tensor."""
        return f"Narrow<{STORAGE_TYPE[self.arrays[tensor].kind]}, {COMPUTE_TYPE[expr.kind]}>::to({value})"


def source(
    code: RecurrenceOperands,
    body: Sequence[str],
    threads: int,
    tables: str = "",
    *,
    shared: bool = False,
    blocks: int = 0,
    cluster: int = 1,
) -> str:
    """The whole translation unit around the body of a kernel; `tables` is what it uses beside the prelude, `blocks` how many a
    multiprocessor should hold, `cluster` how many make a cluster."""
    memory = "extern __shared__ __align__(16) unsigned char shared_state[];\n" if shared else ""
    definitions = f"{_INDEX}{table_definitions(code.tables)}{memory}{tables}"
    return translation_unit(code.words, body, threads, definitions, blocks=blocks, cluster=cluster)
