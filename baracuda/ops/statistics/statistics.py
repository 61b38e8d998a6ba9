"""Averages and merged moments; and the pieces of distances, integrals and differences along an axis, which
`baracuda.frontends.statistics` runs on views of their tensors."""

from __future__ import annotations

from typing import Any

from baracuda.formula import functions as f
from baracuda.formula import scans as s
from baracuda.formula.expr import Expr, cast, select
from baracuda.formula.integer_functions import remainder
from baracuda.ops.declaration.op import Op, map_parts, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Value


def _row_axes(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(axes))


@op(rows=True, axis=None, keepdims=False, rowless=True, places={"weights": _row_axes}, takes="float,complex")
def average(x: Value, weights: Value | None = None) -> Value:
    """sum(x * weights) / sum(weights), or the mean without weights.

    weights broadcast to x or have one element for each point of the averaged axes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.average(np.float32([1, 2, 6]), np.float32([1, 1, 2])))
    3.75
    """
    if weights is None:
        return map_parts(f.sum_, x) / f.row_length(x.kind)
    return map_parts(f.sum_, x * weights) / map_parts(f.sum_, weights)


@op(results=("count", "mean", "m2"))
def welford_merge(count_a: Expr, mean_a: Expr, m2_a: Expr, count_b: Expr, mean_b: Expr, m2_b: Expr) -> tuple[Expr, Expr, Expr]:
    """The count, the mean and the sum of squared deviations of two samples together, from those of each (Chan et al. 1979).

    With n = a + b and d = mean_b - mean_a the mean is mean_a + d * b / n, and m2 is m2_a + m2_b + d * d * a * b / n. Two empty
    samples have the mean and m2 of the first.
    """
    count = count_a + count_b
    share = select(f.equal(count, 0.0), 0.0, count_b / count)
    d = mean_b - mean_a
    return count, mean_a + d * share, m2_a + m2_b + d * d * (count_a * share)


# --- along an axis ----------------------------------------------------------------------------------------------------


def _areas(lower: Value, upper: Value, x_lower: Expr | None, x_upper: Expr | None, dx: Scalar) -> Value:
    """Areas of trapezoids between neighbours."""
    k = lower.kind
    width = dx if x_lower is None or x_upper is None else cast(x_upper, k) - cast(x_lower, k)
    return (lower + upper) * (width * 0.5)


def _area(lower: Value, upper: Value, x_lower: Own | None = None, x_upper: Own | None = None, *, dx: Scalar = 1.0) -> Value:
    return map_parts(f.sum_, _areas(lower, upper, x_lower, x_upper, dx))


def _running_area(
    lower: Value, upper: Value, x_lower: Own | None = None, x_upper: Own | None = None, *, dx: Scalar = 1.0
) -> Value:
    return map_parts(s.cumsum, _areas(lower, upper, x_lower, x_upper, dx))


def _slope(f0: Value, f1: Value, x0: Own | None = None, x1: Own | None = None, *, spacing: Scalar = 1.0) -> Value:
    """The slope of a line through two points."""
    return (f1 - f0) / (spacing if x0 is None or x1 is None else cast(x1, f0.kind) - cast(x0, f0.kind))


def _slope_of_three(
    f0: Value,
    f1: Value,
    f2: Value,
    x0: Own | None = None,
    x1: Own | None = None,
    x2: Own | None = None,
    *,
    spacing: Scalar = 1.0,
    at: int = 1,
) -> Value:
    """The slope of the parabola through three points at one of them."""
    if x0 is None or x1 is None or x2 is None:
        if at == 1:
            return (f2 - f0) / (spacing * 2.0)
        near, far = (f0, f2) if at == 0 else (f2, f0)
        rise = f1 * 4.0 - near * 3.0 - far
        return (rise if at == 0 else -rise) / (spacing * 2.0)
    k = f0.kind
    before, after = cast(x1, k) - cast(x0, k), cast(x2, k) - cast(x1, k)
    whole = before + after
    weights = {
        0: (-(before + whole) / (before * whole), whole / (before * after), -before / (after * whole)),
        1: (-after / (before * whole), (after - before) / (before * after), before / (after * whole)),
        2: (after / (before * whole), -whole / (before * after), (after + whole) / (after * whole)),
    }[at]
    return f0 * weights[0] + f1 * weights[1] + f2 * weights[2]


def _unwrapped(lower: Expr, upper: Expr, *, period: Scalar = 1.0, discont: Scalar = 0.0) -> Expr:
    """All but the first of a row of angles, moved by whole periods so that no step is longer than half of one."""
    step, half = upper - lower, period * 0.5
    turned = remainder(step + half, period) - half
    turned = select(f.equal(turned, -half) & (step > 0.0), half, turned)
    return upper + s.cumsum(select(abs(step) < discont, 0.0, turned - step))


_AREAS: dict[str, Any] = {"family": "statistics", "takes": "float,complex", "rows": True}
_SLOPES: dict[str, Any] = {"family": "statistics", "takes": "float,complex"}
area = Op(_area, Rule.FLOATING, name="trapezoid", keepdims=False, **_AREAS)
running_area = Op(_running_area, Rule.FLOATING, name="cumulative_trapezoid", **_AREAS)
slope_of_two = Op(_slope, Rule.FLOATING, name="gradient", **_SLOPES)
slope_of_three = Op(_slope_of_three, Rule.FLOATING, name="gradient_of_three", **_SLOPES)
_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "float"}
unwrapped = Op(_unwrapped, Rule.COMMON, name="unwrap", rows=True, **_STATISTICS)
