"""The score of attention and its derivative over a thread's elements of a tile: two rows, eight pairs of neighbouring columns.

Names in the generated code: row the thread's first row and tile the tile's number; at_row and at_column where an element is.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.attention.cuda.score import Score
from baracuda.lowering.attention.problem import DOT, GRADIENT, KEYS


class FragmentScore(Score):
    """Writes formulas for one element at a time."""

    def _load(self, name: str) -> list[str]:
        """Declares what an element reads of a tensor."""
        operand, storage = self.tensors[name], self.operands.storage(name)
        place, guards = [f"p_{name}"], []
        for axis, at, limit in ((self.row_axis, "at_row", "rows"), (self.column_axis, "at_column", "columns")):
            if self._varies(operand, axis):
                place.append(f"{at} * {self.operands.stride(name, axis)}")
                guards.append(f"{at} < {limit}")
        test = f"{' && '.join(guards)} ? " if guards else ""
        rest = f" : {storage}{{}}" if guards else ""
        return [f"const {storage} {self._name(name)} = {test}*({' + '.join(place)}){rest};"]

    def of_tile(self) -> list[str]:
        """What is read once for a tile: where the head's tensors are."""
        return [
            f"const {self.operands.storage(name)}* const p_{name} = {self.operands.of_head(name, 'c1')};" for name in self.tensors
        ]

    def each(self, body: Sequence[str], others: Sequence[str] = (), before: Sequence[str] = ()) -> list[str]:
        """Runs `body` for each element, x[CURRENT_][i] of columns m and the same of the other arrays, and `before` for each four.
        The code of a heavy formula stands there for four elements: in a loop that turns the arrays round."""
        at_column = f"tile * {KEYS} + m * 8 + lane % 4 * 2 + i % 2"
        head = f"const int at_row = row + i / 2 * 8, at_column = {at_column};"
        loads = [line for name in self.tensors for line in self._load(name)]
        inner = [*before, "#pragma unroll", "for (int i = 0; i < 4; ++i) {", head, *loads, *body, "}"]
        turn = [f"turn({x});" for x in ("x", *others)] if self.heavy else []
        text = [f"#pragma unroll{' 1' * self.heavy}", "for (int m = 0; m < 8; ++m) {", *inner, *turn, "}"]
        return [line.replace("CURRENT_", "0" if self.heavy else "m") for line in text]

    def element(self, *rest: str) -> list[str]:
        """Statements that turn the dot product x[..][i] of an element into its score."""
        emitter = self.emitter({DOT: "x[CURRENT_][i]"})
        value = emitter.value(self.a.score.outputs[0][1])
        return [*emitter.lines, f"x[CURRENT_][i] = {value};", *rest]

    def slopes_of(self, p: str, slope: str, finish: Sequence[str], seen: str) -> list[str]:
        """As `slopes`, from a probability, where the derivative depends on nothing else; for pairs that are not seen dt is not
        +0 yet."""
        assert self.a.slope is not None
        emitter = self.emitter({GRADIENT: "ds"})
        lines = [f"const float ds = {p} * ({slope} - delta);"]
        names = ("dt", "dbias")
        for name, (_, root) in zip(names, self.a.slope.outputs, strict=False):
            value = emitter.value(root)
            unseen = name == "dbias"
            emitter.lines += [seen] * unseen
            emitter.lines.append(f"const {COMPUTE_TYPE[root.kind]} {name} = {f'seen ? {value} : 0' if unseen else value};")
        return [*lines, *emitter.lines, *finish]

    def column(self) -> str:
        return "at_column"

    def of_column(self, name: str) -> str:
        return f"widen({self._name(name)})"


#: Brings the next columns of a tile to the front.
TURN = r"""
__device__ __forceinline__ void turn(float (&x)[8][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float first = x[0][i];
#pragma unroll
    for (int n = 0; n < 7; ++n) x[n][i] = x[n + 1][i];
    x[7][i] = first;
  }
}
"""
