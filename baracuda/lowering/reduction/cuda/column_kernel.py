"""The parts of a kernel over rows that lie side by side: the unit stride runs from row to row, not along a row.

A thread holds V neighbouring rows, so that a load moves up to 16 bytes and what the elements of a run share is worked out once
for all of them: addresses, bounds, loops. `across` threads side by side make the rows of a block; `teams` of them divide the
lanes of each segment, L neighbouring lanes a team.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.emit import Emitter, rare_values
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import READS, Axes, Expr
from baracuda.formula.gathers import gathers
from baracuda.formula.order import LANES, SEGMENT
from baracuda.lowering.nest.costs import usual_cost
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame, offset, piece, unravel
from baracuda.lowering.nest.phases import Phases
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cuda.row_iterator import RowIterator
from baracuda.lowering.reduction.cuda.rows import OPERATION, group_shape, identity

#: Bytes of a load, and the registers that the loads in flight of a thread may take.
_LOAD, _IN_FLIGHT = 16, 64
#: Additions an element's work may cost for a thread to hold 8 rows; more take more registers than there are.
_MUCH = 16
#: Loads that a thread should have in flight.
_LOADS = 8


@dataclass(frozen=True)
class ColumnShape:
    """How threads are laid over rows: V rows a thread, `across` threads side by side, `teams` of them, L = `lanes` lanes a
    team, `chains` elements a lane."""

    vector: int
    across: int
    teams: int
    lanes: int
    chains: int

    @property
    def rows(self) -> int:
        return self.vector * self.across

    @property
    def threads(self) -> int:
        return self.across * self.teams

    @property
    def leaves(self) -> int:
        """Results of a segment that meet in shared memory: of a warp each, or of a team where that has whole warps."""
        return self.teams if self.across >= 32 else self.threads // 32

    @property
    def held(self) -> int:
        """Runs of a segment that a thread has."""
        return self.lanes * self.chains


def run_length(nest: Nest) -> int:
    """Neighbouring rows to a thread: what one load moves, as far as the rows and the registers allow."""
    if gathers(nest.graph):
        return 1
    ports = (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))
    sizes = [o.kind.itemsize for o, p in zip(nest.operands, ports, strict=True) if p.axes == Axes.FULL]
    read_bytes = sum(o.kind.itemsize for o, p in zip(nest.operands, nest.graph.inputs, strict=False) if p.axes == Axes.FULL)
    phases = Phases(nest.graph)
    widest = 4 if phases.last or sum(usual_cost(r) for r in phases.roots(0)) > _MUCH else 8
    width = min(widest, max(1, _LOAD // max(sizes, default=4)))
    while width > 1 and (nest.outer[-1] % width or width * _LOADS * read_bytes > 4 * _IN_FLIGHT):
        width //= 2
    return width


def column_shape(nest: Nest, width: int, most_threads: int) -> ColumnShape:
    """The layout of a block that takes at least `width` rows (more where they are short), with at most `most_threads`."""
    vector = run_length(nest)
    lanes, chains = group_shape(nest.row_length, 1)
    several = 1 << (_LOADS // chains).bit_length() - 1  # lanes, for a thread that has enough loads in flight
    teams = max(1, lanes // several)
    across = max(1, width // vector)
    while across * teams < most_threads // 2 and across * vector < nest.rows:
        across *= 2
    while across > 1 and across // 2 * vector >= nest.rows:
        across //= 2
    while across * teams < 32:  # a whole warp, whose last threads may be without rows
        across *= 2
    teams = min(teams, max(1, most_threads // across))
    return ColumnShape(vector, across, teams, lanes // teams, chains)


class ColumnKernel(RowIterator):
    """Writes the parts of a kernel over rows side by side. Names in the generated code: `x` the thread's place across, `y` its
    team, `row` its first row, v the row in the run; `e` the number of an element in its row, in{i}[j] run j of operand i."""

    def __init__(self, frame: Frame, shape: ColumnShape) -> None:
        self.shape = shape
        super().__init__(frame)
        length = self.nest.row_length
        self.checked = length % (shape.teams * shape.held if length <= SEGMENT else SEGMENT) != 0

    def reductions(self, phase: int) -> list[Expr]:
        by_phase = self.phases.reductions
        return by_phase[phase] if phase < len(by_phase) else []

    # --- operands -----------------------------------------------------------------------------------------------------

    def row_stride(self, i: int) -> int | None:
        """An operand's stride from row to row of a run."""
        return self.nest.operands[i].steps(self.rank - 1)

    def run_width(self, i: int) -> int:
        """Elements of a run of operand i: one for each row, or one for them all."""
        return 1 if self.row_stride(i) == 0 else self.shape.vector

    def run_bytes(self, i: int) -> int:
        return self.run_width(i) * self.frame.operands[i].kind.itemsize

    def run_type(self, i: int) -> str:
        return f"Vec<{self.frame.storage(i)}, {self.run_width(i)}>"

    def _element(self, i: int, run: str) -> str:
        return f"{run}.v[{'0' if self.run_width(i) == 1 else 'v'}]"

    def _move(self, i: int, run: str, at: str) -> list[str]:
        """Loads (or stores) the run of operand i whose first element lies at the pointer `at`."""
        width, loading = self.run_width(i), i < self.frame.inputs
        if width == 1:
            return [f"{run}.v[0] = *({at});" if loading else f"*({at}) = {run}.v[0];"]
        if self.row_stride(i) == 1:
            piece_type = piece(self.nest.operands[i], width, self.rank - 1, (*self.nest.outer, *self.nest.inner))
            return [f"load<{piece_type}>({run}, {at});" if loading else f"store<{piece_type}>({at}, {run});"]
        each = f"({at})[v * {self.outer_strides[i][-1]}]"
        one = f"{run}.v[v] = {each};" if loading else f"{each} = {run}.v[v];"
        return ["#pragma unroll", f"for (int v = 0; v < {width}; ++v) {one}"]

    def copied(self, i: int) -> bool:
        """Whether the runs of operand i can be copied to shared memory without passing registers."""
        if i in self.scattered or i in self.followed or self.run_bytes(i) not in (4, 8, 16):
            return False
        width, nest = self.run_width(i), self.nest
        return width == 1 or (
            self.row_stride(i) == 1 and piece(nest.operands[i], width, self.rank - 1, (*nest.outer, *nest.inner)) == width
        )

    # --- rows ---------------------------------------------------------------------------------------------------------

    def enter(self, block: str) -> list[str]:
        """Declares what the threads of a block work on. Threads without rows repeat the last ones, and store nothing."""
        s = self.shape
        lines = [
            "extern __shared__ __align__(128) unsigned char dynamic[];",
            *self.frame.pointers(),
            f"const int x = threadIdx.x % {s.across}, y = threadIdx.x / {s.across};",
            *self._place(block),
        ]
        for i in range(len(self.frame.ports)):
            const = "" if i in self.followed else "const "
            lines.append(f"{const}i64 o{i} = {offset(self.outer_strides[i], 'r')};")
        plain = [i for i in range(self.frame.inputs) if i not in self.followed and i not in self.scattered]
        for i in (*plain, *self.followed):
            lines += self.followed.get(i, [])
            if not self.varies(i):
                lines += [f"{self.run_type(i)} in{i};", *self._move(i, f"in{i}", f"p{i} + o{i}")]
        return lines

    def _place(self, block: str) -> list[str]:
        """Declares a thread's rows in a block, and their coordinates."""
        s, wide = self.shape, self.nest.rows >= INDEX_LIMIT
        return [
            f"const i64 mine = (i64)({block}) * {s.rows} + x * {s.vector};",
            f"const bool live = mine < {self.rows};",
            f"const i64 row = live ? mine : {self.rows} - {s.vector};",
            *unravel("row" if wide else "(unsigned)row", self.nest.outer, self.frame.words, "r", wide=wide),
        ]

    def elsewhere(self, block: str, operands: Sequence[int]) -> list[str]:
        """Declares, in a scope of its own, where operands lie for another block than this."""
        return [*self._place(block), *(f"const i64 o{i} = {offset(self.outer_strides[i], 'r')};" for i in operands)]

    def _row_leaf(self, n: Expr) -> str | None:
        if n.op == "param":
            return self.frame.words.param(n)
        if n.op == "coord":
            return f"(int)r{n.attr}" + (" + v" if n.attr == self.rank - 1 and self.shape.vector > 1 else "")
        if n.op in READS:
            i = self.frame.input_index[n.attr[0]]
            return None if i in self.scattered else f"widen({self._element(i, f'in{i}')})"
        assert n.op != "reduce", "a reduction is named before it is used"
        return None

    def for_rows(self, statements: Sequence[str]) -> list[str]:
        return ["#pragma unroll", f"for (int v = 0; v < {self.shape.vector}; ++v) {{", *statements, "}"]

    def scalars(self, phase: int) -> list[str]:
        """Computes, once a row, what a phase's elements need of it."""
        known = self.emitter.names
        wanted = [n for n in self.phases.scalars(phase) if not (self.phases.varies(n) or n in known)]
        if not wanted:
            return []
        emitter = self.emitter.child()
        names = {n: f"row{phase}_{j}" for j, n in enumerate(wanted)}
        lines = [f"{COMPUTE_TYPE[n.kind]} {name}[{self.shape.vector}];" for n, name in names.items()]
        stores = [f"{name}[v] = {emitter.value(n)};" for n, name in names.items()]
        known |= {n: f"{name}[v]" for n, name in names.items()}
        return [*lines, *self.for_rows([*emitter.lines, *stores])]

    def name_results(self, reductions: Sequence[Expr], names: Sequence[str]) -> None:
        """Makes reductions known to everything emitted from here on; `names` are arrays over the run."""
        for n, name in zip(reductions, names, strict=True):
            self.emitter.names[n] = f"{name}[v]"

    def store_row_outputs(self, condition: str) -> list[str]:
        if not self.phases.row_outputs:
            return []
        emitter, values, stores, lines = self.emitter.child(), [], [], []
        for k, _, expr in self.phases.row_outputs:
            i = self.frame.inputs + k
            narrow = f"Narrow<{self.frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({emitter.value(expr)})"
            lines.append(f"{self.run_type(i)} out{i};")
            values.append(f"{self._element(i, f'out{i}')} = {narrow};")
            stores += self._move(i, f"out{i}", f"p{i} + o{i}")
        return [f"if ({condition}) {{", *lines, *self.for_rows([*emitter.lines, *values]), *stores, "}"]

    # --- elements -----------------------------------------------------------------------------------------------------

    def valid(self) -> str:
        """The condition under which the row has element `e`."""
        return f"e < {self.length}" if self.checked else "true"

    def _at(self, segment: str) -> str:
        return f"const {self.index} e = ({self.index}){segment} * {SEGMENT} + k * {LANES} + lane;"

    def _decode(self) -> list[str]:
        if len(self.nest.inner) <= 1:
            return []
        return unravel("e" if self.wide else "(unsigned)e", self.nest.inner, self.frame.words, "y", wide=self.wide)

    def first_runs(self, operands: Sequence[int], segment: str) -> list[str]:
        """b{i}: the address of a lane's first run in a segment."""
        if len(self.nest.inner) != 1:
            return []
        start = f"((i64){segment} * {SEGMENT} + lane)"
        const = ["" if i >= self.frame.inputs else "const " for i in operands]
        return [
            f"{c}{self.frame.storage(i)}* const b{i} = p{i} + o{i} + {start} * {self.inner_strides[i][0] or 0};"
            for c, i in zip(const, operands, strict=True)
        ]

    def _pointer(self, i: int) -> str:
        if len(self.nest.inner) == 1:
            return f"b{i} + k * ({self.inner_strides[i][0] or 0} * {LANES})"
        return f"p{i} + o{i} + ({offset(self.inner_strides[i], 'y')})"

    def load_runs(self, operands: Sequence[int], segment: str, first: str, to: str = "") -> list[str]:
        """Loads a lane's runs of a segment into in{i}[`first`], in{i}[`first` + 1], ...; or begins to copy them to where
        those begin that `to` names, with a place for an operand's number, a thread's neighbours between its runs."""
        if not operands:
            return []
        lines = ["{", *self.first_runs(operands, segment), "#pragma unroll", f"for (int k = 0; k < {self.shape.chains}; ++k) {{"]
        lines += [self._at(segment), f"if ({self.valid()}) {{", *self._decode()]
        for i in operands:
            if to:
                at = f"{to.format(i)} + ({first} + k) * {self.shape.threads}"
                lines.append(f"copy_async<{self.run_bytes(i)}>({at}, {self._pointer(i)});")
            else:
                lines += self._move(i, f"in{i}[{first} + k]", self._pointer(i))
        return [*lines, "}", "}", "}"]

    def element(self, phase: int, carried: Mapping[Expr, str], run: str, rare: Mapping[Expr, str]) -> Emitter:
        """An emitter for row v of a run; `carried` are values that an earlier phase has left behind."""

        def leaf(n: Expr) -> str | None:
            if n in rare:
                return rare[n]
            if n in carried and self.phases.carried[n] < phase:
                return carried[n]
            if n.op == "position":
                return f"({COMPUTE_TYPE[n.kind]})e"
            if n.op == "coord":
                if n.attr < self.rank:
                    return self._row_leaf(n)
                return "(int)e" if len(self.nest.inner) == 1 else f"(int)y{n.attr - self.rank}"
            if n.op in READS:
                i = self.frame.input_index[n.attr[0]]
                if i in self.scattered:
                    return None
                return f"widen({self._element(i, f'in{i}[{run}]' if self.varies(i) else f'in{i}')})"
            return self.frame.words.param(n) if n.op == "param" else None

        return self.emitter.child(leaf)

    def lane_loop(
        self, phase: int, first: str, carried: Mapping[Expr, str], prefix: str, before: Sequence[str], after: Sequence[str]
    ) -> list[str]:
        """One lane of `segment`: accumulates a phase's reductions into acc0, acc1, ..., writes the full outputs, and what of
        the `carried` values this phase computes. `before` and `after` are statements around what is done with a run; outlined
        functions have names that begin with `prefix`."""
        nest, s = self.nest, self.shape
        run = f"{first} + k"
        reads_inner = len(nest.inner) > 1 and any(n.op == "coord" for n in self.phases.elements(phase))
        rare = rare_values(
            self.phases.roots(phase), lambda names: self.element(phase, carried, run, names), s.vector, prefix, [], ""
        )
        self.functions += rare.functions
        emitter = self.element(phase, carried, run, rare.names)
        inner = []
        for r, n in enumerate(self.reductions(phase)):
            inner.append(f"acc{r}[v] = {OPERATION[n.attr[0]]}::of(acc{r}[v], {emitter.value(n.args[0])});")
        outputs = list(self._written(phase))
        for i, expr in outputs:
            narrow = f"Narrow<{self.frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({emitter.value(expr)})"
            inner.append(f"out{i}.v[v] = {narrow};")
        inner += [f"{carried[n]} = {emitter.value(n)};" for n, p in self.phases.carried.items() if n in carried and p == phase]
        places = [i for i, _ in outputs]
        lines = ["{", *self.first_runs(places, "segment"), "#pragma unroll", f"for (int k = 0; k < {s.chains}; ++k) {{"]
        lines += [self._at("segment"), f"if ({self.valid()}) {{"]
        lines += [*before, *(self._decode() if reads_inner or (places and len(nest.inner) > 1) else [])]
        lines += [f"Vec<{self.frame.storage(i)}, {s.vector}> out{i};" for i in places]
        lines += [*rare.lines, *self.for_rows([*emitter.lines, *inner]), *after]
        if places:
            lines += ["if (live) {", *(line for i in places for line in self._move(i, f"out{i}", self._pointer(i))), "}"]
        return [*lines, "}", "}", "}"]

    def _written(self, phase: int) -> Iterator[tuple[int, Expr]]:
        if phase == self.phases.last:
            for k, _, expr in self.phases.full_outputs:
                yield self.frame.inputs + k, expr

    def declare_accumulators(self, phase: int) -> list[str]:
        lines = []
        for r, n in enumerate(self.reductions(phase)):
            lines.append(f"{COMPUTE_TYPE[n.kind]} acc{r}[{self.shape.vector}];")
            lines += self.for_rows([f"acc{r}[v] = {identity(n)};"])
        return lines
