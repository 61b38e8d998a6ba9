"""Scans along one axis: running sums, products, extremes, and recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.formula import complex_scans as c
from baracuda.formula import functions as f
from baracuda.formula import scan_gradients
from baracuda.formula import scans as s
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.op import map_parts, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import UnitInterval, Value

_SCAN: dict[str, Any] = {"rows": True, "axis": -1}


@op(Rule.ACCUMULATING, element_option=True, **_SCAN)
def cumsum(x: Value, *, reverse: bool = False, exclusive: bool = False) -> Value:
    """The running sum. Integers and bool are summed in s64 (u64) unless dtype says otherwise."""
    return map_parts(lambda v: s.cumsum(v, reverse=reverse, exclusive=exclusive), x)


@op(Rule.ACCUMULATING, element_option=True, **_SCAN)
def cumprod(x: Value, *, reverse: bool = False, exclusive: bool = False) -> Value:
    """The running product; its gradient is right where elements are zero."""
    if isinstance(x, Complex):
        return c.cumprod(x, reverse=reverse, exclusive=exclusive)
    return s.cumprod(x, reverse=reverse, exclusive=exclusive)


@cumprod.backward
def _cumprod_backward(dy: Value, x: Value, *, reverse: bool, exclusive: bool) -> dict[str, Value]:
    if isinstance(x, Complex):
        assert isinstance(dy, Complex)
        return {"dx": c.cumprod_backward(dy, x, reverse=reverse, exclusive=exclusive)}
    assert isinstance(dy, Expr)
    return {"dx": scan_gradients.prod(s.cumprod(x, reverse=reverse, exclusive=exclusive), dy, 0)}


def _located(word: Callable[..., tuple[Expr, Expr]], x: Expr, reverse: bool) -> tuple[Expr, Expr]:
    number = cast(x, ElementKind.S32) if x.kind is ElementKind.BOOL else x
    values, indices = word(number, reverse=reverse)
    return cast(values, x.kind), cast(indices, ElementKind.S64)


@op(results=("values", "indices"), once=True, **_SCAN)
def cummax(x: Expr, *, reverse: bool = False) -> tuple[Expr, Expr]:
    """The running maximum and, as s64, the last place it was found at; from the first NaN on NaN."""
    return _located(s.cummax_with_index, x, reverse)


@op(results=("values", "indices"), once=True, **_SCAN)
def cummin(x: Expr, *, reverse: bool = False) -> tuple[Expr, Expr]:
    """The running minimum and, as s64, the last place it was found at; from the first NaN on NaN."""
    return _located(s.cummin_with_index, x, reverse)


@op(once=True, **_SCAN)
def logcumsumexp(x: Value, *, reverse: bool = False, exclusive: bool = False) -> Value:
    """log of the running sum of e**x, each sum scaled by its largest element, of complex numbers by the largest real part."""
    if isinstance(x, Complex):
        return c.logcumsumexp(x, reverse=reverse, exclusive=exclusive)
    return s.logcumsumexp(x, reverse=reverse, exclusive=exclusive)


@logcumsumexp.backward
def _logcumsumexp_backward(dy: Value, x: Value, *, reverse: bool, exclusive: bool) -> dict[str, Value]:
    if isinstance(x, Complex):
        assert isinstance(dy, Complex)
        return {"dx": c.logcumsumexp_backward(dy, x, reverse=reverse, exclusive=exclusive)}
    assert isinstance(dy, Expr)
    y = s.logcumsumexp(x, reverse=reverse, exclusive=exclusive)
    return {"dx": _slope_of_logcumsumexp(dy, y)}


def _slope_of_logcumsumexp(dy: Expr, y: Expr) -> Expr:
    """As differentiation has it, of m + log(s): dy / s to the sum s, and nothing to the largest element m."""
    _, logarithm = y.args
    (total,) = logarithm.args
    slope = scan_gradients.scaled_sum(total, dy / total, 0)
    assert slope is not None
    return slope


@op(**_SCAN)
def nancumsum(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """The running sum of what is not NaN."""
    return s.cumsum(select(f.not_equal(x, x), 0.0, x), reverse=reverse, exclusive=exclusive)


@op(**_SCAN)
def nancumprod(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """The running product of what is not NaN."""
    return s.cumprod(select(f.not_equal(x, x), 1.0, x), reverse=reverse, exclusive=exclusive)


@op(**_SCAN)
def ema_scan(x: Expr, *, decay: UnitInterval = 0.9) -> Expr:
    """h_t = decay * h_(t-1) + (1 - decay) * x_t with h before the first element 0: the exponential moving average."""
    return s.linear_recurrence(decay, (1.0 - decay) * x)


@op(family="scan", takes="float", **_SCAN)
def linear_recurrence(a: Expr, b: Expr, *, reverse: bool = False) -> Expr:
    """h_t = a_t * h_(t-1) + b_t with h before the first element 0."""
    return s.linear_recurrence(a, b, reverse=reverse)
