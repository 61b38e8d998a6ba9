"""Rotary position embedding: pairs of elements turned by an angle (Su et al., RoFormer, 2021)."""

from __future__ import annotations

from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own


def _rotated(first: Expr, second: Expr, cos: Own, sin: Own, *, inverse: bool = False) -> tuple[Expr, Expr]:
    """(first * cos - second * sin, second * cos + first * sin); inverse: turned back, which is the gradient."""
    c, s = cast(cos, first.kind), cast(sin, first.kind)
    s = -s if inverse else s
    return first * c - second * s, second * c + first * s


rotation = Op(
    _rotated, Rule.COMMON, name="rotation", family="attention", takes="float", results=("y", "z"), constants=("cos", "sin")
)
