"""Folds over windows on CUDA: a thread for an output, neighbours in memory side by side, each of which folds its own window.

Neighbouring windows overlap, and what they share comes from the first-level cache. Where a window is short along an axis and its
size is known, its taps are written out one by one, each with a test, so that their loads are under way together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

from baracuda.codegen.cuda.emit import Emitter, literal, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Axes, Expr
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, translation_unit
from baracuda.lowering.window.problem import Placed, Shared, Strided, Window
from baracuda.runtime.program import KernelSource, Launch, Lowered

_THREADS = 256
#: Taps along an axis that are written out, and taps of a window in all.
_SHORT, _WRITTEN_OUT = 5, 27


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
        self.total = prod(problem.shape)
        self.wide = self.total + _THREADS >= INDEX_LIMIT
        self.folds = problem.folds
        self.tables: dict[Expr, str] = {}
        short = [a for a in problem.windowed if self._size(a) <= _SHORT]
        self.short = short if prod(self._size(a) for a in short) <= _WRITTEN_OUT else []

    def _size(self, axis: int) -> int:
        rule = self.problem.axes[axis].rule
        return rule.size if isinstance(rule, Strided) and rule.base * rule.dilation <= 16 else 1 << 30

    # --- the whole ------------------------------------------------------------------------------------------------------

    def lowered(self) -> Lowered:
        lines = [*self._pointers(), *self._coordinates(), *self._windows()]
        states = [[(f"s{f}_{i}", value) for i, value in enumerate(fold.combine.identity)] for f, fold in enumerate(self.folds)]
        for state in states:
            lines += [f"{COMPUTE_TYPE[v.kind]} {name} = {literal(v.attr, v.kind)};" for name, v in state]
        if self.folds:
            lines += self._nested(0)
        lines += self._results()
        source = translation_unit(self.words, lines, _THREADS, table_definitions(self.tables))
        launch = Launch(KernelSource(source), (-(-self.total // _THREADS), 1, 1), _THREADS)
        return Lowered((launch,), tuple(self.words.values), 0, "windows")

    def _pointers(self) -> list[str]:
        lines = []
        for i, operand in enumerate(self.problem.operands):
            type_ = STORAGE_TYPE[operand.kind]
            const = "const " if i < self.inputs else ""
            lines.append(f"{const}{type_}* const p{i} = ({const}{type_}*)W.w[{i}];")
        return lines

    def _coordinates(self) -> list[str]:
        """o0, o1, ...: of the thread's output, the nearest in memory fastest; and at{i}: where each operand's elements for it are."""
        problem, words = self.problem, self.words
        kind = "i64" if self.wide else "unsigned"
        every = words.signed(self.total) if self.wide else words.unsigned(self.total)
        lines = [f"const {kind} t = ({kind})blockIdx.x * {_THREADS} + threadIdx.x;", f"if (t >= {every}) return;"]
        rest = "t"
        for axis in problem.walk[:0:-1]:
            extent = problem.axes[axis].extent
            n = words.signed(extent) if self.wide else words.unsigned(extent)
            quotient = f"{rest} / {n}" if self.wide else f"divide({rest}, {words.divisor(extent)})"
            lines += [f"const {kind} q{axis} = {quotient};", f"const int o{axis} = (int)({rest} - q{axis} * {n});"]
            rest = f"q{axis}"
        if problem.walk:
            lines.append(f"const {'i64' if self.wide and problem.axes[problem.walk[0]].rule is None else 'int'} "
                         f"o{problem.walk[0]} = {'' if self.wide else '(int)'}{rest};")  # fmt: skip
        for i in range(len(problem.operands)):
            along = [a for a in range(self.rank) if i in problem.points or problem.axes[a].rule is None]
            lines.append(f"const i64 at{i} = {self._offset(i, {a: f'o{a}' for a in along})};")
        return lines

    def _offset(self, i: int, coordinates: dict[int, str]) -> str:
        operand = self.problem.operands[i]
        terms = []
        for a, c in coordinates.items():
            if operand.steps(a) == 0:
                continue
            unit = operand.steps(a) == 1
            terms.append(f"(i64){c}" if unit else f"(i64){c} * {self.words.signed(operand.strides[a])}")
        return " + ".join(terms) or "0"

    # --- windows --------------------------------------------------------------------------------------------------------

    def _windows(self) -> list[str]:
        """start{a}, count{a}: the taps along each axis whose taps are counted; back{a} where they are tested."""
        lines = []
        for a in self.problem.windowed:
            axis, words = self.problem.axes[a], self.words
            rule, source = axis.rule, words.unsigned(axis.source)
            lines.append(f"const int n{a} = (int){source};")
            if isinstance(rule, Strided):
                lines += self._strided(a, rule)
            elif isinstance(rule, Shared):
                extent = words.signed(axis.extent)
                if axis.source * (axis.extent + 1) < INDEX_LIMIT:
                    number = words.unsigned(axis.extent)
                    divisor = words.divisor(axis.extent)
                    lines.append(f"const int start{a} = (int)divide((unsigned)(o{a} * n{a}), {divisor});")
                    end = f"(int)divide((unsigned)((o{a} + 1) * n{a}) + {number} - 1u, {divisor})"
                    if axis.source * (axis.extent + 1) + axis.extent >= INDEX_LIMIT:
                        end = f"(int)(((i64)(o{a} + 1) * n{a} + {extent} - 1) / {extent})"
                else:
                    lines.append(f"const int start{a} = (int)((i64)o{a} * n{a} / {extent});")
                    end = f"(int)(((i64)(o{a} + 1) * n{a} + {extent} - 1) / {extent})"
                lines.append(f"const int count{a} = {end} - start{a};")
            else:
                assert isinstance(rule, Placed)
                i = self.problem.number(rule.starts)
                lines += [
                    f"const int count{a} = (int){words.unsigned(rule.size)};",
                    f"const i64 wanted{a} = (i64)p{i}[at{i}];",
                    f"const int start{a} = wanted{a} < 0 ? 0 : wanted{a} > n{a} - count{a} ? n{a} - count{a} : (int)wanted{a};",
                ]
        return lines

    def _strided(self, a: int, rule: Strided) -> list[str]:
        words = self.words
        pad, stride = words.signed(rule.pad), words.unsigned(rule.stride)
        lines = [f"const int back{a} = (int){pad} - o{a} * (int){stride};"]
        if rule.base > 1:
            lines.append(f"const int base{a} = (int){words.unsigned(rule.base)};")
        if a in self.short:
            return lines
        dilated = rule.dilation > 1
        dilation = f"dilation{a}" if dilated else "1"
        if dilated:
            lines.append(f"const int dilation{a} = (int){words.unsigned(rule.dilation)};")
        size = f"(int){words.unsigned(rule.size)}"
        rounded = f"(max(back{a}, 0) + {dilation} - 1) / {dilation}" if dilated else f"max(back{a}, 0)"
        extent = f"n{a}" if rule.base == 1 else f"((n{a} - 1) * base{a} + 1)"
        room = f"max({extent} + back{a}, 0)"
        end = f"({room} + {dilation} - 1) / {dilation}" if dilated else room
        if rule.base == 1:
            return [
                *lines,
                f"const int first{a} = {rounded};",
                f"const int count{a} = max(min({end}, {size}) - first{a}, 0), start{a} = first{a} * {dilation} - back{a};",
            ]
        step = f"(int){words.unsigned(rule.tap_step)}"
        return [
            *lines,
            f"int first{a} = {rounded};",
            f"const int turned{a} = base{a} * (max(back{a}, 0) / base{a} + 1) - back{a}, tries{a} = {step};",
            f"int tried{a} = 0;",
            f"while (tried{a} < tries{a} && (unsigned)(first{a} * {dilation} + turned{a}) % (unsigned)base{a} != 0u) "
            f"{{ ++first{a}; ++tried{a}; }}",
            f"const int count{a} = tried{a} < tries{a} ? (max(min({end}, {size}) - first{a}, 0) + tries{a} - 1) / tries{a} : 0;",
            f"const int start{a} = (first{a} * {dilation} - back{a}) / base{a};",
        ]

    def _nested(self, level: int) -> list[str]:
        problem = self.problem
        if level == len(problem.windowed):
            return self._tap()
        a = problem.windowed[level]
        rule = problem.axes[a].rule
        before = {i: f"x{i}_{problem.windowed[level - 1]}" if level else f"p{i} + at{i}" for i in problem.taps}
        moved = []
        for i in problem.taps:
            type_ = f"const {STORAGE_TYPE[problem.operands[i].kind]}"
            moved.append(f"{type_}* const x{i}_{a} = {before[i]} + {self._offset(i, {a: f'i{a}'})};")
        inner = self._nested(level + 1)
        if a in self.short:
            assert isinstance(rule, Strided)
            return self._written_out(a, rule, moved, inner)
        step = ""
        if isinstance(rule, Strided) and rule.step > 1:
            step = f" * (int){self.words.unsigned(rule.step)}"
        return [
            f"for (int j{a} = 0; j{a} < count{a}; ++j{a}) {{",
            *(f"  {line}" for line in (f"const int i{a} = start{a} + j{a}{step};", *moved, *inner)),
            "}",
        ]

    def _written_out(self, a: int, rule: Strided, moved: list[str], inner: list[str]) -> list[str]:
        """A loop that the compiler unrolls, with a test of each tap."""
        body = [f"const int u{a} = j{a} * {rule.dilation} - back{a};"]
        if rule.base == 1:
            body.append(f"const int i{a} = u{a};")
            there = f"(unsigned)i{a} < (unsigned)n{a}"
        else:
            power = rule.base & (rule.base - 1) == 0
            if power:
                shift = rule.base.bit_length() - 1
                body.append(f"const int i{a} = u{a} >> {shift};")
                there = f"(u{a} & {rule.base - 1}) == 0 && (unsigned)i{a} < (unsigned)n{a}"
            else:
                body.append(f"const int i{a} = u{a} / {rule.base};")
                there = f"u{a} >= 0 && i{a} * {rule.base} == u{a} && i{a} < n{a}"
        return [
            "#pragma unroll",
            f"for (int j{a} = 0; j{a} < {rule.size}; ++j{a}) {{",
            *(f"  {line}" for line in body),
            f"  if ({there}) {{",
            *(f"    {line}" for line in (*moved, *inner)),
            "  }",
            "}",
        ]

    # --- formulas -------------------------------------------------------------------------------------------------------

    def _leaf(self, n: Expr, *, tap: bool) -> str | None:
        if n.op == "param":
            return self.words.param(n)
        if n.op == "coord":
            which, a = divmod(n.attr, self.rank)
            return f"(int){'i' if which and self.problem.axes[a].rule is not None else 'o'}{a}"
        if n.op == "input":
            i = self.problem.number(n.attr[0])
            if n.attr[2] is Axes.FULL:
                last = self.problem.windowed[-1:]
                return f"widen(*(x{i}_{last[0]}))" if last else f"widen(p{i}[at{i}])"
            return f"widen(p{i}[at{i}])"
        return None

    def _tap(self) -> list[str]:
        emitter = Emitter(lambda n: self._leaf(n, tap=True))
        emitter.tables = self.tables
        lines: list[str] = []
        for f, fold in enumerate(self.folds):
            values = [emitter.value(arg) for arg in fold.args]
            inside = emitter.child(lambda n: None)
            for i, (left, right) in enumerate(zip(fold.combine.left, fold.combine.right, strict=True)):
                inside.names[left], inside.names[right] = f"s{f}_{i}", values[i]
            results = [inside.value(r) for r in fold.combine.results]
            new = [f"const {COMPUTE_TYPE[r.kind]} r{f}_{i} = {name};"
                   for i, (r, name) in enumerate(zip(fold.combine.results, results, strict=True))]  # fmt: skip
            lines += [*emitter.lines, *inside.lines, *new, *(f"s{f}_{i} = r{f}_{i};" for i in range(len(results)))]
            emitter.lines = []
        return lines

    def _results(self) -> list[str]:
        emitter = Emitter(lambda n: self._leaf(n, tap=False))
        emitter.tables = self.tables
        for f, fold in enumerate(self.folds):
            for component, n in fold.nodes.items():
                emitter.names[n] = f"s{f}_{component}"
        stores = []
        for k, (port, expr) in enumerate(self.problem.graph.outputs):
            value, i = emitter.value(expr), self.inputs + k
            stores.append(f"p{i}[at{i}] = Narrow<{STORAGE_TYPE[port.kind]}, {COMPUTE_TYPE[expr.kind]}>::to({value});")
        return [*emitter.lines, *stores]


__all__ = ["ElementKind", "lower", "ways"]
