"""The pieces of covariances and correlations around the matrix product: deviations before it, scales behind it.

`baracuda.frontends.covariances` runs them. Variables are rows, observations run along them. What they hand on to the product is
stored in the kind they compute in, so that a result is rounded once.
"""

from __future__ import annotations

from typing import Any

from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Value
from baracuda.ops.reductions.reductions import norm_of


def _conjugate(x: Value) -> Value:
    return x.conjugate() if isinstance(x, Complex) else x


def _real(x: Value) -> Expr:
    return x.re if isinstance(x, Complex) else x


def _weights(kind: Any, fweights: Expr | None, aweights: Value | None) -> Expr:
    """The weight of each observation; at least one of the two is given."""
    given = [cast(_real(w), kind) for w in (fweights, aweights) if w is not None]
    return given[0] if len(given) == 1 else given[0] * given[1]


def _norm(weights: Expr, aweights: Value | None, correction: Scalar) -> Expr:
    """What a weighted sum of products of deviations is divided by: never below 0, so that too few observations give NaN."""
    total = f.sum_(weights)
    taken = correction if aweights is None else correction * f.sum_(weights * cast(_real(aweights), weights.kind)) / total
    return f.maximum(total - taken, 0.0)


# --- before the product -----------------------------------------------------------------------------------------------


def _deviations(x: Value) -> Value:
    return x - map_parts(f.sum_, x) / f.row_length(x.kind)


def _weighted_deviations(
    x: Value, fweights: Own | None = None, aweights: Value | None = None, *, correction: Scalar = 1.0
) -> dict[str, Value]:
    """The deviations from the weighted mean, and the same by weight / norm; in the common element of x and aweights."""
    w = _weights(x.kind, fweights, aweights)
    deviation = x - map_parts(f.sum_, x * w) / f.sum_(w)
    return {"deviation": deviation, "scaled": deviation * (w / _norm(w, aweights, correction))}


def _directions(x: Value) -> dict[str, Value]:
    """The deviations over their norm, and that norm."""
    deviation = _deviations(x)
    norm = norm_of(deviation, 2)
    return {"direction": deviation / norm, "norm": norm}


# --- behind the product -----------------------------------------------------------------------------------------------


def _correlations(products: Value, row: Value, column: Value) -> Value:
    """Sums of products over the roots of the sums of squares of both variables, held to what rounding may have left; x / x of
    one variable with itself."""
    scaled = products / f.sqrt(_real(row)) / f.sqrt(_real(column))
    held = map_parts(lambda part: f.clamp(part, -1.0, 1.0), scaled)
    itself = f.equal(f.index(-1), f.index(-2))
    square = _real(products)
    unity = square / square
    if isinstance(held, Complex):
        return Complex(select(itself, unity, held.re), select(itself, unity - unity, held.im))
    return select(itself, unity, held)


# --- gradients --------------------------------------------------------------------------------------------------------


def _both_ways(dy: Value, turned: Value, *, diagonal: bool = True) -> Value:
    """dy plus its conjugate transpose, which is `turned`: the gradient of a product of a factor with itself."""
    total = dy + _conjugate(turned)
    if diagonal:
        return total
    itself = f.equal(f.index(-1), f.index(-2))
    return map_parts(lambda part: select(itself, 0.0, part), total)


def _by_weights(slope: Value, fweights: Own | None = None, aweights: Own | None = None, *, correction: Scalar = 1.0) -> Value:
    w = _weights(slope.kind, fweights, aweights)
    return slope * (w / _norm(w, aweights, correction))


def _shares(slope: Value, deviation: Value) -> Expr:
    """Of each observation, the sum over the variables of the gradient of its product of deviations."""
    return f.sum_(_real(slope * _conjugate(deviation))) * 0.5


def _weight_slopes(share: Expr, aweights: Own, fweights: Own | None = None, *, correction: Scalar = 1.0) -> Expr:
    """The gradient of the weights a of c = S / f with f = W - correction * A / W, W = sum w, A = sum w a, w = a * fweights."""
    a = cast(aweights, share.kind)
    counts = None if fweights is None else cast(fweights, share.kind)
    w = a if counts is None else a * counts
    total, squares = f.sum_(w), f.sum_(w * a)
    norm = _norm(w, a, correction)
    of_norm = 1.0 - correction * (2.0 * a * total - squares) / (total * total)
    slope = (share - f.sum_(w * share) / norm * of_norm) / norm
    return slope if counts is None else slope * counts


def _correlation_slopes(slope: Value, direction: Value, norm: Expr) -> Value:
    """The gradient of deviations given that of their direction, which has no part along it."""
    along = f.sum_(_real(slope * _conjugate(direction)))
    return (slope - direction * along) / norm


_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "float,complex"}
_ROWS: dict[str, Any] = {"rows": True, **_STATISTICS}
_SCALED: dict[str, Any] = {"results": ("deviation", "scaled"), "wide": ("deviation", "scaled")}
_DIRECTED: dict[str, Any] = {"results": ("direction", "norm"), "wide": ("direction", "norm")}
deviations = Op(_deviations, Rule.FLOATING, name="deviations", wide=("y",), **_ROWS)
weighted_deviations = Op(_weighted_deviations, Rule.FLOATING, name="weighted_deviations", **_SCALED, **_ROWS)
directions = Op(_directions, Rule.COMMON, name="directions", **_DIRECTED, **_ROWS)
correlations = Op(_correlations, Rule.COMMON, name="corrcoef", element_option=True, **_STATISTICS)
both_ways = Op(_both_ways, Rule.COMMON, name="both_ways", wide=("y",), **_STATISTICS)
by_weights = Op(_by_weights, Rule.COMMON, name="by_weights", element_option=True, **_ROWS)
shares = Op(_shares, Rule.COMMON, name="shares", axis=0, keepdims=False, wide=("y",), **_ROWS)
weight_slopes = Op(_weight_slopes, Rule.COMMON, name="weight_slopes", element_option=True, **_ROWS)
correlation_slopes = Op(_correlation_slopes, Rule.COMMON, name="corrcoef_backward", element_option=True, **_ROWS)
