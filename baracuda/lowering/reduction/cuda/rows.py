"""Row schedules: reductions along the innermost axis in memory, each row in the hands of neighbouring threads.

A *group* of 128/V threads takes a segment: thread t holds lanes t*V ... t*V+V-1 and their chains, so that the canonical
order (`baracuda.formula.order`) is a chain in registers, a tree over V in the thread, shuffles over the group, and a tree
over the segments in shared memory. Ways to hold a row:

* resident: a group for each segment, the row in registers, every operand read once;
* looped: groups walk over the segments, and each phase reads the row again (from L2 where it fits);
* split: as looped, but a row is spread over blocks, one launch a phase, partial results in the workspace;
* kept over blocks (`row_clusters`): in the shared memory of a cluster, every operand read once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.emit import Emitter, number, rare_values
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula import order
from baracuda.formula.expr import READS, Axes, Expr
from baracuda.formula.order import CHAIN, LANES, SEGMENT, segments
from baracuda.lowering.nest.costs import RECOMPUTE
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame, offset, piece, unravel
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cuda.row_iterator import RowIterator

#: The structures of the prelude that combine two values.
OPERATION = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min", "and": "And", "or": "Or", "xor": "Xor"}


def identity(n: Expr) -> str:
    """What changes no value that a reduction combines it with, in C++."""
    return number(order.identity(n.attr[0], n.kind), n.kind)


@dataclass(frozen=True)
class RowShape:
    """How threads are laid over rows: V elements a thread, `group` threads a segment, `chains` elements a lane, `groups`
    segments of a row at once, `rows` rows a block."""

    vector: int
    group: int
    chains: int
    groups: int
    rows: int

    @property
    def threads(self) -> int:
        return self.group * self.groups * self.rows

    @property
    def leaves(self) -> int:
        """Results of a warp that one segment has."""
        return max(1, self.group // 32)


def group_shape(length: int, vector: int) -> tuple[int, int]:
    """Threads to a group and chain length for rows of `length` elements."""
    if length >= LANES:
        return LANES // vector, min(CHAIN, -(-length // LANES))
    threads = 1
    while threads * vector < length:
        threads *= 2
    return threads, 1


def row_shape(nest: Nest, vector: int, threads: int, short_row_threads: int) -> RowShape:
    """Rows over threads, each of which has runs of so many elements, in blocks of about `threads`; of `short` where a row takes
    no more than a warp."""
    group, chains = group_shape(nest.row_length, vector)
    groups = segments(nest.row_length)
    if groups > 1:  # whole warps to a row
        groups = -(-groups * group // 32) * 32 // group
    per_row = group * groups
    return RowShape(vector, group, chains, groups, max(1, (short_row_threads if per_row <= 32 else threads) // per_row))


def along_row(n: Expr, nest: Nest, *, runs_whole: bool) -> str:
    """The position in the row, or the coordinate of an inner axis, of element v of the run at `e`; y0, y1, ... are the run's
    inner coordinates, or with `runs_whole` unset the element's."""
    if n.op == "position":
        return f"({COMPUTE_TYPE[n.kind]})(e + v)"
    if len(nest.inner) == 1:
        return "(int)(e + v)"
    axis = n.attr - len(nest.outer)
    return f"(int)y{axis}" + (" + v" if axis == len(nest.inner) - 1 and runs_whole else "")


class RowKernel(RowIterator):
    """Writes the parts of a kernel over rows. Names in the generated code: `row` the row's number, `live` whether it
    exists, `e` the number of a run's first element in the row, o{i} and x{i} operand i's offsets of row and run."""

    def __init__(self, frame: Frame, shape: RowShape, *, resident: bool, keeps: bool = False, recompute: int = RECOMPUTE) -> None:
        self.shape = shape
        self.resident = resident
        #: Whether values stay with the threads from phase to phase, as arrays keep0, keep1, ...
        self.carried = resident or keeps
        super().__init__(frame, recompute)
        inner = self.nest.inner
        self.inner_last = self.rank + len(inner) - 1
        self.runs_whole = len(inner) <= 1 or inner[-1] % shape.vector == 0
        self.checks = self._checks()

    def _checks(self) -> str:
        """Which bounds tests elements need: none, one a run, or one an element."""
        n, s = self.nest.row_length, self.shape
        covered = s.groups * SEGMENT if s.groups > 1 else s.chains * s.group * s.vector
        if n == covered if self.resident else n % SEGMENT == 0:
            return "none"
        return "run" if n % s.vector == 0 else "element"

    # --- leaves -------------------------------------------------------------------------------------------------------

    def placed_by_row(self, i: int) -> bool:
        """Whether where an operand's elements are depends on the row."""
        return bool(self.frame.ports[i].axes & Axes.OUTER) or i in self.followed

    def _row_leaf(self, n: Expr) -> str | None:
        if n.op == "param":
            return self.frame.words.param(n)
        if n.op == "coord":
            return f"(int)r{n.attr}"
        if n.op in READS:
            i = self.frame.input_index[n.attr[0]]
            return None if i in self.scattered else f"widen(in{i})"
        assert n.op != "reduce", "a reduction is named before it is used"
        return None

    def _element(self, phase: int, carried: dict[Expr, str], rare: Mapping[Expr, str]) -> Emitter:
        def leaf(n: Expr) -> str | None:
            if n in rare:
                return rare[n]
            if n in carried and self.phases.carried[n] < phase:
                return carried[n]
            if n.op in ("position", "coord"):
                return along_row(n, self.nest, runs_whole=self.runs_whole)
            if n.op in READS:
                i = self.frame.input_index[n.attr[0]]
                return None if i in self.scattered else f"widen(in{i}[k].v[v])"
            return None

        return self.emitter.child(leaf)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def place(self) -> list[str]:
        """Thread coordinates: lane in the group, which group, which row slot of the block."""
        s = self.shape
        return [
            f"const int lane = threadIdx.x % {s.group}, group = threadIdx.x / {s.group} % {s.groups};",
            f"const int slot = threadIdx.x / {s.group * s.groups};",
        ]

    def enter_row(self) -> list[str]:
        """Decodes `row` and loads what is constant along it."""
        lines: list[str] = []
        if self.rank:
            wide = self.nest.rows >= INDEX_LIMIT
            lines += unravel("row" if wide else "(unsigned)row", self.nest.outer, self.frame.words, "r", wide=wide)
        for i in range(len(self.frame.ports)):
            const = "" if i in self.followed else "const "
            lines.append(f"{const}i64 o{i} = {offset(self.outer_strides[i], 'r')};")
        for i in (*(i for i in range(self.frame.inputs) if i not in (*self.followed, *self.scattered)), *self.followed):
            lines += self.followed.get(i, [])
            if not self.varies(i):
                lines += [f"{self.frame.storage(i)} in{i} = {{}};", f"if (live) in{i} = p{i}[o{i}];"]
        return lines

    def decode_run(self, at: str = "e") -> list[str]:
        """The inner coordinates y0, y1, ... of element `at`, where the inner axes did not merge into one."""
        if len(self.nest.inner) <= 1:
            return []
        return unravel(at if self.wide else f"(unsigned)({at})", self.nest.inner, self.frame.words, "y", wide=self.wide)

    def move_run(self, i: int, name: str, valid: str) -> list[str]:
        """Loads (or stores) the run at `e` of operand i, in the vector called `name`."""
        loading, operand, v = i < self.frame.inputs, self.nest.operands[i], self.shape.vector
        base = f"p{i} + o{i}" if self.placed_by_row(i) else f"p{i}"
        stride = operand.steps(self.inner_last) if self.nest.inner else 0
        if self.runs_whole and stride == 1:
            strides = self.inner_strides[i]
            # One address a thread, and constants from run to run, which the instructions take for free.
            at = f"b{i} + k * {LANES}" if len(self.nest.inner) == 1 else f"{base} + ({offset(strides, 'y')})"
            width = piece(operand, v, self.inner_last, (*self.nest.outer, *self.nest.inner))
            whole = f"load<{width}>({name}, {at});" if loading else f"store<{width}>({at}, {name});"
            decode = self.decode_run()
            if self.checks != "element":
                return [f"if ({valid}) {{", *decode, whole, "}"] if valid != "true" or decode else [whole]
            one = f"{name}.v[v] = (from)[v];" if loading else f"(from)[v] = {name}.v[v];"
            const = "const " if loading else ""
            partial = ["#pragma unroll", f"for (int v = 0; v < {v}; ++v) if (e + v < {self.length}) {one}"]
            pointer = f"{const}{self.frame.storage(i)}* const from = {at};"
            return [
                f"if ({valid}) {{",
                *decode,
                f"if (e + {v} <= {self.length}) {whole}",
                *["else {", pointer, *partial, "}"],
                "}",
            ]
        at = (
            offset(self.inner_strides[i], "y") if len(self.nest.inner) != 1 else f"(i64)(e + v) * {self.inner_strides[i][0] or 0}"
        )
        one = f"{name}.v[v] = ({base})[{at}];" if loading else f"({base})[{at}] = {name}.v[v];"
        bound = f"if (e + v < {self.length}) " if self.checks == "element" else ""
        return [
            f"if ({valid}) {{",
            "#pragma unroll",
            f"for (int v = 0; v < {v}; ++v) {bound}{{",
            *self.decode_run("e + v"),
            one,
            "}",
            "}",
        ]

    def first_run(self, operands: Sequence[int], segment: str) -> list[str]:
        """b{i}: the address of this thread's first run of a segment, for operands that one contiguous axis runs along."""
        if len(self.nest.inner) != 1:
            return []
        lines = []
        for i in operands:
            if self.varies(i) and self.nest.operands[i].steps(self.inner_last) == 1:
                const = "const " if i < self.frame.inputs else ""
                row = f" + o{i}" if self.placed_by_row(i) else ""
                start = f"((i64){segment} * {SEGMENT} + lane * {self.shape.vector})"
                lines.append(f"{const}{self.frame.storage(i)}* const b{i} = p{i}{row} + {start};")
        return lines

    def run_start(self, segment: str) -> str:
        """The number in the row of the first element of this thread's run k of a segment."""
        s = self.shape
        return f"const {self.index} e = ({self.index}){segment} * {SEGMENT} + k * {LANES} + lane * {s.vector};"

    def valid(self, live: str = "live") -> str:
        """The condition under which the run at `e` has elements."""
        tests = ([live] if live != "true" else []) + ([f"e < {self.length}"] if self.checks != "none" else [])
        return " && ".join(tests) or "true"

    def declare_runs(self, operands: Sequence[int]) -> list[str]:
        s = self.shape
        return [f"Vec<{self.frame.storage(i)}, {s.vector}> in{i}[{s.chains}];" for i in operands]

    def load_runs(self, operands: Sequence[int], segment: str, live: str = "live") -> list[str]:
        """Loads this thread's runs of a segment, for all the operands given."""
        if not operands:
            return []
        lines = ["{", *self.first_run(operands, segment), "#pragma unroll", f"for (int k = 0; k < {self.shape.chains}; ++k) {{"]
        lines.append(self.run_start(segment))
        for i in operands:
            lines += self.move_run(i, f"in{i}[k]", self.valid(live))
        return [*lines, "}", "}"]

    # --- elements -----------------------------------------------------------------------------------------------------

    def scalars(self, phase: int) -> list[str]:
        """Computes, once a row, what a phase's elements need of it."""
        start = len(self.emitter.lines)
        for n in self.phases.scalars(phase):
            if not self.phases.varies(n):
                self.emitter.value(n)
        return self.emitter.lines[start:]

    def carried_names(self) -> dict[Expr, str]:
        return {n: f"carried{j}[k][v]" for j, n in enumerate(self.phases.carried)} if self.carried else {}

    def declare_carried(self) -> list[str]:
        if not self.carried:
            return []
        size = f"[{self.shape.chains}][{self.shape.vector}]"
        return [f"{COMPUTE_TYPE[n.kind]} carried{j}{size};" for j, n in enumerate(self.phases.carried)]

    def declare_accumulators(self, reductions: Sequence[Expr]) -> list[str]:
        v, lines = self.shape.vector, []
        for r, n in enumerate(reductions):
            lines += [
                f"{COMPUTE_TYPE[n.kind]} acc{r}[{v}];",
                "#pragma unroll",
                f"for (int v = 0; v < {v}; ++v) acc{r}[v] = {identity(n)};",
            ]
        return lines

    def phase_loop(
        self, phase: int, segment: str, live: str = "live", columns: Sequence[str] = (), prefix: str = ""
    ) -> list[str]:
        """One segment of a phase: accumulates its reductions into acc0, acc1, ..., adds column terms where `columns` names
        their accumulators, and writes the full outputs. Outlined functions have names that begin with `prefix`."""
        s, carried = self.shape, self.carried_names()
        needs_inner = len(self.nest.inner) > 1 and any(n.op == "coord" for n in self.phases.elements(phase))
        decode_run = self.decode_run() if needs_inner and self.runs_whole else []
        decode_element = self.decode_run("e + v") if needs_inner and not self.runs_whole else []
        bound = f"if (e + v < {self.length}) " if self.checks == "element" else ""
        rare = rare_values(
            self.phases.roots(phase),
            lambda names: self._element(phase, carried, names),
            s.vector,
            prefix or f"p{phase}",
            decode_element,
            bound,
        )
        self.functions += rare.functions
        emitter = self._element(phase, carried, rare.names)
        inner: list[str] = []
        reductions = self.phases.reductions[phase] if phase < len(self.phases.reductions) else []
        for r, n in enumerate(reductions):
            value = emitter.value(n.args[0])
            inner.append(f"acc{r}[v] = {OPERATION[n.attr[0]]}::of(acc{r}[v], {value});")
        outputs = self.phases.full_outputs if phase == self.phases.last else []
        if phase == self.phases.last:
            for n, target in zip(self.phases.columns, columns, strict=True):
                inner.append(f"{target} = {OPERATION[n.attr[0]]}::of({target}, {emitter.value(n.args[0])});")
        for k, _, expr in outputs:
            i = self.frame.inputs + k
            narrow = f"Narrow<{self.frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({emitter.value(expr)})"
            inner.append(f"out{i}.v[v] = {narrow};")
        inner += [f"{carried[n]} = {emitter.value(n)};" for n, p in self.phases.carried.items() if n in carried and p == phase]
        if not inner:
            return []
        guard = self.valid(live)  # a value made of nothing could index a table out of its range
        targets = [self.frame.inputs + k for k, _, _ in outputs]
        lines = ["{", *self.first_run(targets, segment), "#pragma unroll", f"for (int k = 0; k < {s.chains}; ++k) {{"]
        lines.append(self.run_start(segment))
        lines += [
            f"Vec<{self.frame.storage(self.frame.inputs + k)}, {s.vector}> out{self.frame.inputs + k};" for k, _, _ in outputs
        ]
        lines += [
            f"if ({guard}) {{",
            *decode_run,
            *rare.lines,
            "#pragma unroll",
            f"for (int v = 0; v < {s.vector}; ++v) {bound}{{",
            *[f"  {line}" for line in (*decode_element, *emitter.lines, *inner)],
            "}",
            "}",
        ]
        for k, _, _ in outputs:
            i = self.frame.inputs + k
            lines += self.move_run(i, f"out{i}", self.valid(live))
        return [*lines, "}", "}"]

    # --- trees --------------------------------------------------------------------------------------------------------

    def leaf_values(self, reductions: Sequence[Expr]) -> list[str]:
        """leaf{r}: the results of this thread's group (or of its warp, where a group is several)."""
        width = min(32, self.shape.group)
        return [
            f"{COMPUTE_TYPE[n.kind]} leaf{r} = across<{o}, {width}>(pairs<{o}, {self.shape.vector}>(acc{r}));"
            for r, n in enumerate(reductions)
            for o in [OPERATION[n.attr[0]]]
        ]

    def name_results(self, reductions: Sequence[Expr], names: Sequence[str]) -> None:
        """Makes reductions known to everything emitted from here on."""
        for n, name in zip(reductions, names, strict=True):
            self.emitter.names[n] = name

    def store_row_outputs(self, condition: str) -> list[str]:
        lines = []
        start = len(self.emitter.lines)
        for k, _, expr in self.phases.row_outputs:
            i = self.frame.inputs + k
            value = self.emitter.value(expr)
            lines.append(
                f"if ({condition}) p{i}[o{i}] = Narrow<{self.frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({value});"
            )
        return self.emitter.lines[start:] + lines
