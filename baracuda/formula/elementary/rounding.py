"""Rounding to a small integer."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import F32
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, bitcast, cast, unary


@elementary("nearest_integer", ElementKind.S32)
def nearest_integer(x: Expr) -> Expr:
    """In f32 by two additions, where rint and a conversion would keep a GPU's slow unit busy."""
    if x.kind is not ElementKind.F32:
        return cast(unary("rint", x), ElementKind.S32)
    shifter = F32.constant(F32.shifter)
    return bitcast(x + shifter, ElementKind.S32) - bitcast(shifter, ElementKind.S32)
