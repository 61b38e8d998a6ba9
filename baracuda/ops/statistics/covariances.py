"""Covariances and correlation coefficients of variables: deviations from the mean, then their matrix product, then scales.

Variables are rows, observations run along them. What is handed on to the product is stored in the kind it is computed in, so that
a result is rounded once.
"""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, view
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule, common, result_element
from baracuda.ops.declaration.traced import Own, Scalar, Value
from baracuda.ops.declaration.words import FiniteFloat, Wrt
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.reductions.reductions import norm_of

Weights = dict[str, TensorRef]


def _conjugate(x: Value) -> Value:
    return x.conjugate() if isinstance(x, Complex) else x


def _real(x: Value) -> Expr:
    return x.re if isinstance(x, Complex) else x


def _weights(kind: Any, fweights: Expr | None, aweights: Value | None) -> Expr:
    """The weight of each observation; at least one of the two is given."""
    weights = [cast(_real(w), kind) for w in (fweights, aweights) if w is not None]
    return weights[0] if len(weights) == 1 else weights[0] * weights[1]


def _norm(weights: Expr, aweights: Value | None, correction: Scalar) -> Expr:
    """What a weighted sum of products of deviations is divided by: never below 0, so that too few observations give NaN."""
    total = f.sum_(weights)
    freedom_used = correction if aweights is None else correction * f.sum_(weights * cast(_real(aweights), weights.kind)) / total
    return f.maximum(total - freedom_used, 0.0)


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


# --- covariances ------------------------------------------------------------------------------------------------------


def _variables(x: TensorRef) -> Any:
    """x as (variables, observations)."""
    return expanded_dims(x, range(2 - len(x.shape), 2), 2)


def _given(x: TensorRef, **weights: TensorRef | None) -> Weights:
    """The weights that are given, by name."""
    found = {name: w for name, w in weights.items() if w is not None}
    for name, w in found.items():
        if w.shape != x.shape[1:]:
            raise InvalidProblemError(f"{name}: shape is {w.shape}; expected {x.shape[1:]}, one for each observation")
    return found


def _element(x: TensorRef, weights: Weights) -> ElementKind:
    """The element of the result: that of x and aweights together, f32 for integers."""
    kinds = [x.kind, *(w.kind for name, w in weights.items() if name == "aweights")]
    return result_element(Rule.FLOATING, common(kinds))


def _scale(x: TensorRef, correction: float) -> float:
    """What the sums of products are multiplied by where observations have no weights."""
    freedom = max(x.shape[1] - correction, 0.0)
    return 1.0 / freedom if freedom else float("inf")


def _gram(do: Steps, a: TensorRef, b: TensorRef, element: ElementKind, scale: float = 1.0) -> Any:
    """scale * the sums over k of a[m, k] * conj(b[n, k])."""
    d = MatmulDescriptor(
        b.shape, a.shape, "nk", "mk", "mn", b.kind, a.kind, element,
        alpha=scale, conjugate_a=b.kind.category is Category.COMPLEX,
    )  # fmt: skip
    return do.plan(MatmulPlan, d, {"a": b, "b": a})


def _times(do: Steps, matrix: TensorRef, rows: TensorRef, element: ElementKind, scale: float = 1.0) -> Any:
    """scale * (matrix @ rows)."""
    d = MatmulDescriptor.matmul(matrix.shape, rows.shape, element, a_element=matrix.kind, b_element=rows.kind, alpha=scale)
    return do.plan(MatmulPlan, d, {"a": matrix, "b": rows})


def _squeezed(do: Steps, y: TensorRef) -> TensorRef:
    """A matrix; of one variable a number."""
    return do.reshaped(y, ()) if y.shape == (1, 1) else y


def _both_ways_of(do: Steps, dy: TensorRef, x: TensorRef, *, diagonal: bool) -> Any:
    """dy plus its conjugate transpose, in the kind that is computed in."""
    n = x.shape[0]
    expected = () if n == 1 else (n, n)
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    square = expanded_dims(dy, range(len(expected)), 2)
    turned = view(square, 0, square.shape[::-1], square.strides[::-1])
    return do.run(both_ways, {"dy": square, "turned": turned}, diagonal=diagonal)


_X = "variables observations or observations or ()"
_WEIGHTED: dict[str, Any] = {"x": _X, "fweights": "observations : int", "aweights": "observations : float"}


@composed(**_WEIGHTED)
def cov(do: Steps, x: TensorRef, *, correction: FiniteFloat = 1, fweights: Given = None, aweights: Given = None) -> TensorRef:
    """The covariances of variables: sum_k w[k] * (x[i,k] - mean_i) * conj(x[j,k] - mean_j) / norm.

    x is (variables, observations); the result is (variables, variables), or a number for one variable, for which x may be
    (observations), in the common element of x and aweights, f32 for integers. w is fweights * aweights, of which each, if
    given, has one element for each observation: fweights an integer, how often it was observed; aweights a float, its
    importance. Weights should not be negative; that is not checked, since it would wait for the device. The mean is weighted by
    w. With W = sum w, norm is W - correction, with aweights W - correction * sum(w * aweights) / W, and 0 where that is below: of
    too few observations the result is NaN or infinite.

    Deviations are taken in the kind that is computed in (f32 for 16-bit floats) and their products summed in one chain of fused
    multiply-adds in rising k: the same bits on every device, and without weights a matrix that is symmetric to the bit. Raises
    `InvalidProblemError` for other shapes, `UnsupportedError` for other elements of the weights. Source: torch.cov.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.cov(np.float32([[0, 1, 2], [2, 1, 0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    rows = _variables(x)
    weights = _given(rows, fweights=fweights, aweights=aweights)
    if weights:
        deviation, scaled = do.run(weighted_deviations, {"x": rows, **weights}, correction=float(correction))
        return _squeezed(do, _gram(do, scaled, deviation, _element(rows, weights)))
    deviation = do.run(deviations, {"x": rows})
    return _squeezed(do, _gram(do, deviation, deviation, _element(rows, weights), _scale(rows, correction)))


@composed(**_WEIGHTED, dy="variables variables or ()")
def cov_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    *,
    correction: FiniteFloat = 1,
    fweights: Given = None,
    aweights: Given = None,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `cov`'s x and aweights, those named in `wrt` or all that are given.

    With D the deviations it is (dy + dy^H) D by w / norm: the mean takes no part, since weighted deviations sum to 0.
    """
    rows = _variables(x)
    weights = _given(rows, fweights=fweights, aweights=aweights)
    names = chosen(wrt, ("x",) if aweights is None else ("x", "aweights"))
    both = _both_ways_of(do, dy, rows, diagonal=True)
    if not weights:
        deviation = do.run(deviations, {"x": rows})
        return do.reshaped(_times(do, both, deviation, rows.kind, _scale(rows, correction)), x.shape)
    words: dict[str, Any] = {"correction": float(correction)}
    deviation, _ = do.run(weighted_deviations, {"x": rows, **weights}, **words)
    slope = _times(do, both, deviation, deviation.kind)
    results = {}
    if "x" in names:
        results["x"] = do.reshaped(do.run(by_weights, {"slope": slope, **weights}, dtype=rows.kind, **words), x.shape)
    if "aweights" in names:
        share = do.run(shares, {"slope": slope, "deviation": deviation})
        results["aweights"] = do.run(weight_slopes, {"share": share, **weights}, dtype=weights["aweights"].kind, **words)
    return one_or_all([results[n] for n in names])


@composed(x=_X)
def corrcoef(do: Steps, x: TensorRef) -> TensorRef:
    """Pearson's correlation coefficients of variables: cov[i, j] / sqrt(cov[i, i] * cov[j, j]), held to [-1, 1].

    x is (variables, observations); the result is (variables, variables), or a number for one variable, for which x may be
    (observations); of integers in f32. Both parts of a complex coefficient are held to [-1, 1]. The correlation of a
    variable with itself is exactly 1, and NaN with any where it does not vary. The sums of products are those of `cov`: the same
    bits on every device. Raises `InvalidProblemError` for more than two axes. Source: torch.corrcoef.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.corrcoef(np.float32([[0, 1, 2], [4, 2, 0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    rows = _variables(x)
    deviation = do.run(deviations, {"x": rows})
    products = _gram(do, deviation, deviation, deviation.kind)
    squares = view(products, 0, rows.shape[:1], (sum(products.strides),))
    tensors = {"products": products, "row": expanded_dims(squares, (0,), 2), "column": expanded_dims(squares, (1,), 2)}
    return _squeezed(do, do.run(correlations, tensors, dtype=_element(rows, {})))


@composed(x=_X, dy="variables variables or ()")
def corrcoef_backward(do: Steps, dy: TensorRef, x: TensorRef) -> Any:
    """The gradient of `corrcoef`'s x.

    With U the deviations over their norms it is (dy + dy^H) U, without its part along U, over those norms. The diagonal, which
    is constant, has no part in it, and that coefficients are held to [-1, 1] is not differentiated: it undoes rounding.
    """
    rows = _variables(x)
    both = _both_ways_of(do, dy, rows, diagonal=False)
    direction, norm = do.run(directions, {"x": rows})
    slope = _times(do, both, direction, direction.kind)
    tensors = {"slope": slope, "direction": direction, "norm": norm}
    return do.reshaped(do.run(correlation_slopes, tensors, dtype=rows.kind), x.shape)
