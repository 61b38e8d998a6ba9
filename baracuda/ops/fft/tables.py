"""Rows of numbers that transforms are multiplied by, computed in float64 and rounded once."""

from __future__ import annotations

import math
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.views import as_bits
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, part
from baracuda.ops.declaration.traced import Result, Scalar, Stored, Value

_F64, _S32 = ElementKind.F64, ElementKind.S32
INTERNAL: dict[str, Any] = {"family": "fft", "takes": "any", "differentiable": False}


def _place() -> Expr:
    return cast(coord(0), _F64)


def _turns(
    x: Value, *, start: Scalar = 0.0, over: Scalar = 1.0, scale: Scalar = 1.0, first: Scalar = 1.0, element: ElementKind | None
) -> Result:
    """scale * exp(pi i (start + k) / over), the first one times `first`; a negative `over` turns backwards."""
    assert element is not None
    angle = ((as_expr(start, _F64) + _place()) / as_expr(over, _F64)) * const(math.pi, _F64)
    size = as_expr(scale, _F64) * select(f.equal(coord(0), 0), as_expr(first, _F64), const(1.0, _F64))
    half = part(element)
    return Stored(Complex(cast(f.cos(angle) * size, half), cast(f.sin(angle) * size, half)), half)


def _ends(
    x: Expr, *, length: Scalar = 1.0, scale: Scalar = 1.0, first: Scalar = 1.0, last: Scalar = 1.0, element: ElementKind | None
) -> Result:
    """scale, the first one times `first`, and the last of `length` times `last`."""
    assert element is not None
    at = _place()
    size = select(f.equal(at, 0.0), as_expr(first, _F64), const(1.0, _F64))
    size = size * select(f.equal(at, as_expr(length, _F64) - 1.0), as_expr(last, _F64), const(1.0, _F64))
    return Stored(cast(as_expr(scale, _F64) * size, element), element)


_turns_op = Op(_turns, Rule.EACH, name="turns", element_option=True, **INTERNAL)
_ends_op = Op(_ends, Rule.EACH, name="ends", element_option=True, **INTERNAL)


def turns(
    do: Steps, n: int, kind: ElementKind, over: float, *, start: float = 0.0, scale: float = 1.0, first: float = 1.0
) -> Any:
    """scale * exp(pi i (start + k) / over) for each k below n, the first one times `first`."""
    y = do.rows((n,), kind)
    numbers = {"start": float(start), "over": float(over), "scale": float(scale), "first": float(first)}
    do.run(_turns_op, {"x": as_bits(y)}, y, dtype=kind, **numbers)
    return y


def ends(do: Steps, n: int, kind: ElementKind, scale: float, first: float, last: float) -> Any:
    """n times a number, but for the first and the last."""
    y = do.rows((n,), kind)
    numbers = {"length": float(n), "scale": float(scale), "first": float(first), "last": float(last)}
    do.run(_ends_op, {"x": as_bits(y)}, y, dtype=kind, **numbers)
    return y


def _frequencies(x: Expr, *, n: Scalar = 1.0, width: Scalar = 1.0, both: bool = True, element: ElementKind | None) -> Result:
    """k / width, with `both` k - n from the middle of n on."""
    assert element is not None
    k, count = _place(), as_expr(n, _F64)
    if both:
        k = select(k + k >= count, k - count, k)
    value = k / as_expr(width, _F64)
    return Stored(cast(value, element.compute), element)


frequencies_op = Op(_frequencies, Rule.EACH, name="frequencies", element_option=True, **INTERNAL)
