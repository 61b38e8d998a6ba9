"""Averages, and moments of two samples together."""

from __future__ import annotations

from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, select
from baracuda.ops.declaration.op import map_parts, op
from baracuda.ops.declaration.traced import Value


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
