"""What kernels that walk along rows have in common, whether their threads lie along a row or beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from baracuda.codegen.cuda.emit import Emitter, table_definitions
from baracuda.formula.expr import Axes, Expr
from baracuda.formula.gathers import gathers
from baracuda.formula.order import SEGMENT, segments
from baracuda.lowering.nest.costs import RECOMPUTE
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame
from baracuda.lowering.nest.phases import Phases


class RowIterator(ABC):
    """The words of a kernel over rows, and its operands. Names in the generated code: in{i} what operand i has for the row,
    o{i} its offset of the row.

    Attributes
    ----------
    index, rows, length, segments : str
        The type of a number within a row; how many rows there are, elements of a row, and segments of one.
    scattered : set of int
        The operands read at indices that have an address for each element.
    followed : dict
        By operand read at indices that has one address a row: the statements that add it to its offset.
    """

    def __init__(self, frame: Frame, recompute: int = RECOMPUTE) -> None:
        nest, words = frame.nest, frame.words
        self.frame, self.nest = frame, nest
        self.phases = Phases(nest.graph, recompute)
        self.rank = len(nest.outer)
        self.wide = nest.row_length + SEGMENT * 1024 >= INDEX_LIMIT
        self.index = "i64" if self.wide else "int"
        self.rows = words.signed(nest.rows)
        self.length = f"(({self.index}){words.word(nest.row_length)})"
        self.segments = f"((int){words.word(segments(nest.row_length))})"
        self.emitter = Emitter(self._row_leaf, read=self._read)
        self.functions = ""
        offsets = {frame.input_index[n.attr.name]: n.args[0] for n in gathers(nest.graph)}
        self.scattered = {i for i, at in offsets.items() if self.phases.varies(at)}
        self.followed = {i: self._offset(i, at) for i, at in offsets.items() if i not in self.scattered}
        outer, inner = range(self.rank), range(self.rank, self.rank + len(nest.inner))
        self.outer_strides = [frame.strides(i, outer) for i in range(len(frame.ports))]
        self.inner_strides = [frame.strides(i, inner) for i in range(len(frame.ports))]

    @abstractmethod
    def _row_leaf(self, n: Expr) -> str | None:
        """The C++ expression of a leaf that is the same all along the row."""

    def definitions(self) -> str:
        """What must stand before the kernel: constant tables and outlined functions."""
        return table_definitions(self.emitter.tables) + self.functions

    def varies(self, i: int) -> bool:
        """Whether an operand is walked along the row, with an element for each of the row's."""
        return bool(self.frame.ports[i].axes & Axes.INNER) and i not in self.scattered

    def _offset(self, i: int, at: Expr) -> list[str]:
        start = len(self.emitter.lines)
        value = self.emitter.value(at)
        return [*self.emitter.lines[start:], f"o{i} += {value};"]

    def _read(self, n: Expr, at: str) -> str:
        i = self.frame.input_index[n.attr.name]
        return f"widen(p{i}[o{i} + {at}])"
