"""Sparse relatives of softmax: sparsemax and entmax, by the threshold that their sums determine.

With z = (alpha - 1) (x - max x) and q = 1 / (alpha - 1), alpha-entmax is y = max(z - t, 0)**q, where t makes the row sum to
one; t lies between -1 and 0. h(t), the q-norm of max(z - t, 0), is convex and falls, so Newton's method for h(t) = 1 rises
towards the solution from below and never passes it, and falls below it in one step from above. For alpha = 2 and 1.5 it
settles which elements count, and these determine t in closed form; no order of the elements is needed.
"""

from __future__ import annotations

from typing import Annotated

from baracuda.core.bounds import Above, AtMost
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, const, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Scalar

#: Steps of Newton's method from t = -1 that settled t to 1e-7 for alpha = 2, where it is then exact, and for alpha = 1.5, in
#: rows of up to 100,000 even, normal, geometric, harmonic and other elements.
_STEPS, _STEPS_15 = 12, 7
#: Steps for other alpha from the t of alpha = 2: 5 did for all but harmonic rows with alpha around 1.7, which took 8.
_STEPS_OTHER = 6


def _above(z: Expr, t: Expr) -> Expr:
    """max(z - t, 0), NaN where there is one."""
    return select(z <= t, 0.0, z - t)


def _linear_threshold(z: Expr) -> Expr:
    """The t for which max(z - t, 0) sums to 1."""
    t = const(-1.0, z.kind)
    for _ in range(_STEPS):
        t = t + (f.sum_(_above(z, t)) - 1.0) / f.sum_(select(z <= t, 0.0, const(1.0, z.kind)))
    return t


@op(rows=True, saves=("y",))
def sparsemax(x: Expr) -> Expr:
    """The point of the probability simplex that is nearest to the row (Martins and Astudillo 2016)."""
    z = x - f.max_(x)
    return _above(z, _linear_threshold(z))


@sparsemax.backward
def _sparsemax_backward(dy: Expr, y: Expr) -> dict[str, Expr]:
    inside = select(y > 0.0, const(1.0, y.kind), 0.0)
    return {"dx": inside * (dy - f.sum_(inside * dy) / f.sum_(inside))}


@op(family="softmax", takes="float", rows=True, saves=("y",), once=True)
def entmax15(x: Expr) -> Expr:
    """1.5-entmax of the row (Peters et al. 2019): max(x / 2 - t, 0)**2 with the t that makes the sum 1."""
    z = (x - f.max_(x)) * 0.5
    t = const(-1.0, z.kind)
    for _ in range(_STEPS_15):
        d = _above(z, t)
        square = f.sum_(d * d)
        t = t + (square - f.sqrt(square)) / f.sum_(d)
    d = _above(z, t)
    count, first, second = f.sum_(select(z <= t, 0.0, const(1.0, z.kind))), f.sum_(d), f.sum_(d * d) - 1.0
    y = _above(z, t + second / (first + f.sqrt(f.maximum(first * first - count * second, 0.0))))
    return y * y


@entmax15.backward
def _entmax15_backward(dy: Expr, y: Expr) -> dict[str, Expr]:
    root = f.sqrt(y)
    return {"dx": root * (dy - f.sum_(root * dy) / f.sum_(root))}


@op(rows=True, saves=("y",), once=True)
def entmax(x: Expr, *, alpha: Annotated[Scalar, Above(1), AtMost(2)] = 1.5) -> Expr:
    """alpha-entmax of the row for 1 < alpha <= 2 (Peters et al. 2019): max((alpha - 1) x - t, 0)**(1 / (alpha - 1)) with the t
    that makes the sum 1; `sparsemax` and `entmax15` are quicker for 2 and 1.5, and exact to rounding."""
    z = (x - f.max_(x)) * (alpha - 1.0)
    q = 1.0 / (alpha - 1.0)
    t = _linear_threshold(z)
    for _ in range(_STEPS_OTHER):
        d = _above(z, t)
        power = f.exp(q * f.log(d))
        total = f.sum_(power)
        step = (total - f.exp((2.0 - alpha) * f.log(total))) / f.sum_(select(d > 0.0, power / d, d))
        t = f.maximum(t + step, -1.0)
    return f.exp(q * f.log(_above(z, t)))


@entmax.backward
def _entmax_backward(dy: Expr, y: Expr, *, alpha: Scalar = 1.5) -> dict[str, Expr]:
    s = select(y > 0.0, f.pow_(y, 2.0 - alpha), 0.0)
    return {"dx": s * (dy - f.sum_(s * dy) / f.sum_(s))}
