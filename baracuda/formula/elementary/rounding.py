"""Rounding to a small integer and to a small float."""

from __future__ import annotations

from functools import partial

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import F32
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, bitcast, cast, compare, select, unary
from baracuda.formula.small_floats import FORMATS, IN_BYTES, narrow_saturated, round_to


@elementary("nearest_integer", ElementKind.S32)
def nearest_integer(x: Expr) -> Expr:
    """In f32 by two additions, where rint and a conversion would keep a GPU's slow unit busy."""
    if x.kind is not ElementKind.F32:
        return cast(unary("rint", x), ElementKind.S32)
    shifter = F32.constant(F32.shifter)
    return bitcast(x + shifter, ElementKind.S32) - bitcast(shifter, ElementKind.S32)


def _to_odd(x: Expr) -> Expr:
    """The f64 `x` as an f32 that rounds to fewer bits as x does: the one of its two neighbours whose last bit is set, where
    x is not an f32 itself (Boldo & Melquiond, Emulation of FMA and correctly rounded sums, 2008)."""
    nearest = cast(x, ElementKind.F32)
    back, bits = cast(nearest, ElementKind.F64), bitcast(nearest, ElementKind.S32)
    inexact = compare("ne", back, x) & compare("eq", bits & 1, 0)
    towards = select(abs(back) > abs(x), bits - 1, bits + 1)
    return bitcast(select(inexact, towards, bits), ElementKind.F32)


def _round_to(kind: ElementKind, x: Expr) -> Expr:
    return round_to(_to_odd(x) if x.kind is ElementKind.F64 else x, kind)


def _code(kind: ElementKind, x: Expr) -> Expr:
    return narrow_saturated(x, kind)


for _kind in IN_BYTES:
    elementary(f"code_{_kind.label}", ElementKind.S32)(partial(_code, _kind))
for _kind in (ElementKind.BF16, ElementKind.F16):  # an f32 as a store and a load leave it, which devices have instructions for
    elementary(f"stored_{_kind.label}", ElementKind.F32)(partial(_round_to, _kind))
for _kind in FORMATS:
    elementary(f"round_to_{_kind.label}", ElementKind.F32)(partial(_round_to, _kind))
