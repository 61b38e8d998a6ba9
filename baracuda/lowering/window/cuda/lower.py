"""Folds over windows on CUDA: neighbours in memory are neighbouring threads, and each thread folds the windows of a few outputs
along an axis that has none (channels), which share all that is known of taps.

Neighbouring windows overlap, and what they share comes from the first-level cache. Where a window has few taps along an axis,
they are written out one by one, each with a test, so that their loads are under way together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

from baracuda.codegen.cuda.emit import Emitter, literal, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.formula.expr import Expr, topological
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, piece, translation_unit
from baracuda.lowering.window.cuda.taps import COUNTED, TapRules
from baracuda.lowering.window.problem import Window
from baracuda.runtime.program import KernelSource, Launch, Lowered

_THREADS = 256
#: Outputs of a thread at most, bytes of one operand that it takes side by side, and threads that there must be at least.
_MANY, _BYTES, _ENOUGH = 8, 16, 1 << 16
#: Outputs of a thread that are not neighbours.
_APART = 4


def ways(problem: Window, target: Target) -> Iterator[Lowered]:
    """The kernel of a normalised problem."""
    yield lower(problem)


@lru_cache(maxsize=1024)
def lower(problem: Window) -> Lowered:
    """The kernel of a normalised problem, the same for every target."""
    return _Code(problem).lowered()


class _Code:
    def __init__(self, problem: Window) -> None:
        self.problem = problem
        self.words = Words(len(problem.operands), problem.graph.params)
        self.rank, self.inputs = len(problem.axes), len(problem.graph.inputs)
        self.folds = problem.folds
        self.tables: dict[Expr, str] = {}
        #: The axis along which a thread has several outputs, how many, and whether these are neighbours in memory.
        self.axis, self.many, self.unit = self._several()
        self.extents = [a.extent // self.many if i == self.axis else a.extent for i, a in enumerate(problem.axes)]
        self.total = prod(self.extents)
        self.wide = self.total + _THREADS >= INDEX_LIMIT
        self.rules = TapRules(problem, self.words)
        in_taps = {n.attr[0] for fold in self.folds for n in topological(fold.args) if n.op == "input"}
        self.early = [i for i in self._points_read() if problem.graph.inputs[i].name in in_taps]

    def _points_read(self) -> list[int]:
        taps = self.problem.taps
        starts = self.problem.starts
        return [i for i in range(self.inputs) if i not in taps and i not in starts]

    def _several(self) -> tuple[int | None, int, bool]:
        problem = self.problem
        fixed = {a for i in problem.starts for a in range(self.rank) if problem.operands[i].steps(a) != 0}
        plain = [a for a, of in enumerate(problem.axes) if of.rule is None and of.extent > 1 and a not in fixed]
        if not plain or any(o.general for o in problem.operands):
            return None, 1, False
        total = prod(problem.shape)
        size = max(o.kind.itemsize for o in problem.operands)
        written = problem.operands[self.inputs :]
        for a in plain:
            unit = all(problem.operands[i].steps(a) in (0, 1) for i in range(len(problem.operands)))
            if unit and any(o.steps(a) == 1 for o in written):
                return self._dividing(a, min(_MANY, max(2, _BYTES // size)), total, unit=True)
        if self.folds and problem.windowed and problem.tap_count < COUNTED:
            return self._dividing(max(plain, key=lambda a: problem.axes[a].extent), _APART, total, unit=False)
        return None, 1, False

    def _dividing(self, axis: int, most: int, total: int, *, unit: bool) -> tuple[int | None, int, bool]:
        """As many outputs as an axis is a multiple of, where threads enough are left."""
        while most > 1 and (self.problem.axes[axis].extent % most or (total // most < _ENOUGH and not unit)):
            most //= 2
        return (axis, most, unit) if most > 1 else (None, 1, False)

    # --- the whole ------------------------------------------------------------------------------------------------------

    def lowered(self) -> Lowered:
        lines = [*self._pointers(), *self._coordinates(), *self.rules.lines()]
        for i in self.early:
            lines += self._loaded(i, f"p{i} + at{i}")
        for f, fold in enumerate(self.folds):
            for c, neutral in enumerate(fold.combine.identity):
                value = literal(neutral.attr, neutral.kind)
                lines.append(f"{COMPUTE_TYPE[neutral.kind]} s{f}_{c}[{self.many}];")
                lines.append(f"{self._each()} s{f}_{c}[v] = {value};")
        if self.folds:
            lines += self._nested(0)
        lines += self._results()
        source = translation_unit(self.words, lines, _THREADS, table_definitions(self.tables))
        launch = Launch(KernelSource(source), (-(-self.total // _THREADS), 1, 1), _THREADS)
        return Lowered((launch,), tuple(self.words.values), 0, f"windows x{self.many}")

    def _each(self) -> str:
        return f'_Pragma("unroll") for (int v = 0; v < {self.many}; ++v)'

    def _pointers(self) -> list[str]:
        lines = []
        for i, operand in enumerate(self.problem.operands):
            type_ = f"{'const ' if i < self.inputs else ''}{STORAGE_TYPE[operand.kind]}"
            lines.append(f"{type_}* const p{i} = ({type_}*)W.w[{i}];")
        return lines

    def _coordinates(self) -> list[str]:
        """o0, o1, ...: of the thread's first output, the nearest in memory fastest; and at{i}: where each operand's elements
        for it are."""
        problem, words = self.problem, self.words
        kind = "i64" if self.wide else "unsigned"
        every = words.signed(self.total) if self.wide else words.unsigned(self.total)
        lines = [f"const {kind} t = ({kind})blockIdx.x * {_THREADS} + threadIdx.x;", f"if (t >= {every}) return;"]
        rest, walk = "t", problem.walk
        for axis in walk[::-1]:
            extent, times = self.extents[axis], f" * {self.many}" if axis == self.axis else ""
            if axis == walk[0]:
                lines.append(f"const i64 o{axis} = (i64){rest}{times};" if problem.axes[axis].rule is None
                             else f"const int o{axis} = (int){rest};")  # fmt: skip
                break
            n = words.signed(extent) if self.wide else words.unsigned(extent)
            quotient = f"{rest} / {n}" if self.wide else f"divide({rest}, {words.divisor(extent)})"
            of = "i64" if self.wide and problem.axes[axis].rule is None else "int"
            lines += [f"const {kind} q{axis} = {quotient};", f"const {of} o{axis} = ({of})({rest} - q{axis} * {n}){times};"]
            rest = f"q{axis}"
        for i in range(len(problem.operands)):
            along = [a for a in range(self.rank) if i in problem.points or problem.axes[a].rule is None]
            terms = [t for a in along if (t := self.rules.scaled(i, a, f"(i64)o{a}")) is not None]
            lines.append(f"const i64 at{i} = {' + '.join(terms) or '0'};")
        return lines

    # --- elements -------------------------------------------------------------------------------------------------------

    def _loaded(self, i: int, address: str) -> list[str]:
        """in{i}: the thread's elements of an operand, the first of which is at an address."""
        operand, many, axis = self.problem.operands[i], self.many, self.axis
        type_ = STORAGE_TYPE[operand.kind]
        if axis is None or operand.steps(axis) == 0:
            return [f"Vec<{type_}, 1> in{i}; in{i}.v[0] = *({address});"]
        if self.unit:
            return [f"Vec<{type_}, {many}> in{i};", f"load<{self._piece(i)}>(in{i}, {address});"]
        return [f"Vec<{type_}, {many}> in{i};", f"{self._each()} in{i}.v[v] = *({address} + v * step{i});"]

    def _piece(self, i: int) -> int:
        assert self.axis is not None
        problem = self.problem
        sources = [max(a.extent, a.source) for a in problem.axes]
        return piece(problem.operands[i], self.many, self.axis, sources)

    def _element(self, i: int) -> str:
        axis = self.axis
        same = axis is None or self.problem.operands[i].steps(axis) == 0
        return f"widen(in{i}.v[{'0' if same else 'v'}])"

    def _steps(self) -> list[str]:
        """step{i}: from one of the thread's elements of an operand to the next, where these are no neighbours."""
        if self.axis is None or self.unit:
            return []
        every = [(i, self.rules.stride(i, self.axis)) for i in range(len(self.problem.operands))]
        return [f"const i64 step{i} = {s};" for i, s in every if s is not None]

    # --- taps -----------------------------------------------------------------------------------------------------------

    def _nested(self, level: int) -> list[str]:
        if level == 0:
            first = [*self._steps()]
            types = [(i, f"const {STORAGE_TYPE[self.problem.operands[i].kind]}") for i in self.problem.taps]
            first += [f"{type_}* const x{i} = p{i} + at{i};" for i, type_ in types]
            return [*first, *self._level(0)]
        return self._level(level)

    def _level(self, level: int) -> list[str]:
        problem = self.problem
        if level == len(problem.windowed):
            return self._tap()
        a = problem.windowed[level]
        moved = []
        for i in problem.taps:
            kind = self.rules.offset_type(i)
            before = f"x{i}_{problem.windowed[level - 1]}" if level else None
            here = self.rules.scaled(i, a, f"({kind})i{a}")
            terms = [t for t in (before, here) if t is not None]
            moved.append(f"const {kind} x{i}_{a} = {' + '.join(terms) or '0'};")
        return self.rules.loop(a, [*moved, *self._level(level + 1)])

    def _tap(self) -> list[str]:
        problem = self.problem
        last = problem.windowed[-1:]
        used = {n.attr[0] for fold in self.folds for n in topological(fold.args) if n.op == "input"}
        lines = []
        for i in problem.taps:
            if problem.graph.inputs[i].name in used:
                lines += self._loaded(i, f"x{i} + x{i}_{last[0]}" if last else f"x{i}")
        emitter = self._emitter()
        body: list[str] = []
        for f, fold in enumerate(self.folds):
            values = [emitter.value(arg) for arg in fold.args]
            inside = emitter.child(lambda n: None)
            for c, (left, right) in enumerate(zip(fold.combine.left, fold.combine.right, strict=True)):
                inside.names[left], inside.names[right] = f"s{f}_{c}[v]", values[c]
            results = [inside.value(r) for r in fold.combine.results]
            pairs = list(zip(fold.combine.results, results, strict=True))
            new = [f"const {COMPUTE_TYPE[r.kind]} r{f}_{c} = {name};" for c, (r, name) in enumerate(pairs)]
            body += [*emitter.lines, *inside.lines, *new, *(f"s{f}_{c}[v] = r{f}_{c};" for c in range(len(results)))]
            emitter.lines = []
        return [*lines, f"{self._each()} {{", *(f"  {line}" for line in body), "}"]

    # --- formulas -------------------------------------------------------------------------------------------------------

    def _emitter(self) -> Emitter:
        emitter = Emitter(self._leaf)
        emitter.tables = self.tables
        return emitter

    def _leaf(self, n: Expr) -> str | None:
        if n.op == "param":
            return self.words.param(n)
        if n.op == "coord":
            which, a = divmod(n.attr, self.rank)
            tap = which and self.problem.axes[a].rule is not None
            return f"(int){'i' if tap else 'o'}{a}" if tap or a != self.axis else f"(int)(o{a} + v)"
        return self._element(self.problem.number(n.attr[0])) if n.op == "input" else None

    def _results(self) -> list[str]:
        emitter, problem = self._emitter(), self.problem
        for f, fold in enumerate(self.folds):
            for component, n in fold.nodes.items():
                emitter.names[n] = f"s{f}_{component}[v]"
        lines = [] if self.folds else self._steps()
        nodes = {n.attr[0] for n in problem.graph.nodes if n.op == "input"}
        plain_taps = [i for i in problem.taps if not self.folds]
        for i in [*(i for i in self._points_read() if i not in self.early), *plain_taps]:
            if problem.graph.inputs[i].name in nodes:
                lines += self._loaded(i, f"p{i} + at{i}")
        narrowed, stores = [], []
        for k, (port, expr) in enumerate(problem.graph.outputs):
            value, i, type_ = emitter.value(expr), self.inputs + k, STORAGE_TYPE[port.kind]
            lines.append(f"Vec<{type_}, {self.many}> out{i};")
            narrowed.append(f"out{i}.v[v] = Narrow<{type_}, {COMPUTE_TYPE[expr.kind]}>::to({value});")
            if self.unit:
                stores.append(f"store<{self._piece(i)}>(p{i} + at{i}, out{i});")
            else:
                step = f" + v * step{i}" if self.axis is not None else ""
                stores.append(f"{self._each()} p{i}[at{i}{step}] = out{i}.v[v];")
        inside = (f"  {line}" for line in (*emitter.lines, *narrowed))
        return [*lines, f"{self._each()} {{", *inside, "}", *stores]
