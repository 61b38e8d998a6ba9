"""The formulas of attention as C++: functions of one value, and the score with its derivative over the elements of a row.

Names in the generated code: c0 and c1 the batch element and the query head, `at_row` and `at_column` where the thread's 8
neighbouring elements begin, `rows` and `columns` how many of both there are, v the element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.codegen.cuda.emit import Emitter, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.attention.cuda.operands import Operands
from baracuda.lowering.attention.cuda.tiles import COLUMNS
from baracuda.lowering.attention.problem import DOT, GRADIENT, Attention
from baracuda.lowering.nest.cuda.kernel import Words, piece
from baracuda.lowering.nest.problem import Operand

#: Primitives up to which a formula is written out for all elements of a thread; a longer one is looped over their rows.
_LIGHT = 24


def function(name: str, kind: ElementKind, formula: Expr) -> str:
    """A device function of x."""
    x = input_("x", kind)
    value = expand(Graph((Port("x", kind),), ((Port("y", kind), formula),))).outputs[0][1]
    emitter = Emitter(lambda n: "x" if n is x else None)
    result = emitter.value(value)
    body = "\n".join(f"  {line}" for line in [*emitter.lines, f"return {result};"])
    type_ = COMPUTE_TYPE[kind]
    tables = table_definitions(emitter.tables)
    return f"{tables}__device__ __forceinline__ {type_} {name}({type_} x) {{\n{body}\n}}\n"


class Score:
    """Writes the score of a problem, and the score's derivative where it has one, over tiles whose rows are keys (`by_keys`) or
    queries."""

    def __init__(self, a: Attention, words: Words, operands: Operands, *, by_keys: bool) -> None:
        self.a, self.words, self.operands = a, words, operands
        self.row_axis, self.column_axis = (3, 2) if by_keys else (2, 3)
        self.tensors = {p.name: operands[p.name] for p in a.score.inputs if p.name != DOT}
        graphs = [a.score] if a.slope is None else [a.score, a.slope]
        nodes = {n for g in graphs for n in g.nodes if n.op not in ("input", "const", "param", "coord")}
        #: Whether the formula is so long that the code of a row must serve all rows.
        self.heavy = len(nodes) > _LIGHT or any(n.op in ("rare", "lookup") for n in nodes)
        self.tables: dict[Expr, str] = {}

    def _varies(self, operand: Operand, axis: int) -> bool:
        return operand.steps(axis) != 0

    def _name(self, name: str) -> str:
        return f"in_{name}"

    def _load(self, name: str) -> list[str]:
        """Declares what a thread reads of a tensor at once: one element, or 8."""
        operand, storage = self.tensors[name], self.operands.storage(name)
        place, guards = [f"p_{name}"], []
        if self._varies(operand, self.row_axis):
            place.append(f"at_row * {self.words.signed(operand.strides[self.row_axis])}")
            guards.append("at_row < rows")
        if not self._varies(operand, self.column_axis):
            test = f"{guards[0]} ? " if guards else ""
            return [f"const {storage} {self._name(name)} = {test}*({' + '.join(place)}){f' : {storage}{{}}' if guards else ''};"]
        stride = operand.steps(self.column_axis)
        step = "" if stride == 1 else f" * {self.words.signed(operand.strides[self.column_axis])}"
        place.append(f"at_column{step}")
        lines = [f"Vec<{storage}, {COLUMNS}> {self._name(name)};", f"{{ const {storage}* const from = {' + '.join(place)};"]
        test = "".join(f" && {t}" for t in guards)
        single = [
            "#pragma unroll",
            f"for (int v = 0; v < {COLUMNS}; ++v)",
            f"{self._name(name)}.v[v] = at_column + v < columns{test} ? from[v{step}] : {storage}{{}};",
        ]
        if stride == 1:
            extents = (self.a.batch, self.a.heads, self.a.queries, self.a.keys)
            wide = piece(operand, COLUMNS, self.column_axis, extents)
            whole = f"if (at_column + {COLUMNS} <= columns{test}) load<{wide}>({self._name(name)}, from);"
            return [*lines, whole, "else {", *single, "}}"]
        return [*lines, *single, "}"]

    def of_tile(self) -> list[str]:
        """What is read once for a tile."""
        lines = []
        for name, operand in self.tensors.items():
            lines.append(f"const {self.operands.storage(name)}* const p_{name} = {self.operands.of_head(name, 'c1')};")
            if not self._varies(operand, self.row_axis):
                lines += self._load(name)
        return lines

    def of_row(self) -> list[str]:
        """What is read for each row."""
        return [line for name, o in self.tensors.items() if self._varies(o, self.row_axis) for line in self._load(name)]

    def column(self) -> str:
        """The column of element v."""
        return "at_column + v"

    def of_column(self, name: str) -> str:
        """What element v has of a tensor."""
        return f"widen({self._name(name)}{'.v[v]' if self._varies(self.tensors[name], self.column_axis) else ''})"

    def emitter(self, leaves: Mapping[str, str]) -> Emitter:
        """An emitter for element v; `given` has the C++ expressions of the inputs that are no tensors."""

        def leaf(n: Expr) -> str | None:
            if n.op == "param":
                return self.words.param(n)
            if n.op == "coord":
                axis = n.attr % 4
                return {self.row_axis: "at_row", self.column_axis: self.column()}.get(axis, f"c{axis}")
            if n.op != "input":
                return None
            name = n.attr[0]
            if name in leaves:
                return leaves[name]
            return self.of_column(name)

        emitter = Emitter(leaf)
        emitter.tables = self.tables
        return emitter

    def scores(self, row: str) -> list[str]:
        """Statements that turn the dot products row[0], ..., row[7] into scores."""
        emitter = self.emitter({DOT: f"{row}[v]"})
        value = emitter.value(self.a.score.outputs[0][1])
        loop = ["#pragma unroll", f"for (int v = 0; v < {COLUMNS}; ++v) {{"]
        return [*loop, *emitter.lines, f"{row}[v] = {value};", "}"]

    def slopes(self, dot: str, slope: str, finish: Sequence[str]) -> list[str]:
        """Statements for an element: from its dot product and the gradient of its probability, which two expressions give, to p
        and dt (and `dbias`), +0 where a pair is not seen; `finish` is what becomes of them. They need `lse` and `delta`, and say
        with `seen` whether the pair counts."""
        assert self.a.slope is not None
        type_ = COMPUTE_TYPE[self.a.compute]
        emitter = self.emitter({DOT: dot, GRADIENT: "ds"})
        score = emitter.value(self.a.score.outputs[0][1])
        emitter.lines += [
            f"const {type_} e = {self.exponential(score)};",
            f"const {type_} p = seen ? e : 0;",
            f"const {type_} ds = p * ({slope} - delta);",
        ]
        names = ("dt", "dbias")
        for name, (_, root) in zip(names, self.a.slope.outputs, strict=False):
            value = emitter.value(root)
            emitter.lines.append(f"const {COMPUTE_TYPE[root.kind]} {name} = seen ? {value} : 0;")
        return [*emitter.lines, *finish]

    def exponential(self, score: str) -> str:
        """The exponential of a score less its row's log-sum-exp."""
        return f"exp_({score} - lse)"

    def definitions(self) -> str:
        """The constant tables that the formulas read; known when they are written."""
        return table_definitions(self.tables)
