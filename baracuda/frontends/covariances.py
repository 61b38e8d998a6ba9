"""Covariances and correlation coefficients of variables: deviations from the mean, then their matrix product."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import placed, view
from baracuda.frontends.backward import chosen
from baracuda.frontends.call import describe, one_or_all
from baracuda.frontends.declared import declared
from baracuda.frontends.product_function import run as product
from baracuda.frontends.views import run
from baracuda.ops.declaration.promotion import Rule, common, result_element
from baracuda.ops.declaration.words import FiniteFloat, Wrt
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.statistics import covariances as c

Weights = dict[str, TensorRef]


def _variables(x: Any) -> TensorRef:
    """x as (variables, observations)."""
    ref = describe(x, "x")
    found: TensorRef = placed(ref, range(2 - len(ref.shape), 2), 2)
    return found


def _weights(x: TensorRef, fweights: Any, aweights: Any) -> Weights:
    """The weights that are given, by name."""
    found: Weights = {}
    for name, value in {"fweights": fweights, "aweights": aweights}.items():
        if value is None:
            continue
        ref = describe(value, name)
        if ref.shape != x.shape[1:]:
            raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected {x.shape[1:]}, one for each observation")
        found[name] = ref
    return found


def _element(x: TensorRef, weights: Weights) -> ElementKind:
    """The element of the result: that of x and aweights together, f32 for integers."""
    kinds = [x.kind, *(w.kind for name, w in weights.items() if name == "aweights")]
    return result_element(Rule.FLOATING, common(kinds))


def _scale(x: TensorRef, correction: float) -> float:
    """What the sums of products are multiplied by where observations have no weights."""
    left = max(x.shape[1] - correction, 0.0)
    return 1.0 / left if left else float("inf")


def _gram(a: Any, b: Any, element: ElementKind, scale: float = 1.0) -> Any:
    """scale * the sums over k of a[m, k] * conj(b[n, k])."""
    first, second = describe(a, "a"), describe(b, "b")
    d = MatmulDescriptor(
        second.shape, first.shape, "nk", "mk", "mn", second.kind, first.kind, element,
        alpha=scale, conjugate_a=second.kind.category is Category.COMPLEX,
    )  # fmt: skip
    return product(d, {"a": b, "b": a})


def _times(matrix: Any, rows: Any, element: ElementKind, scale: float = 1.0) -> Any:
    """scale * (matrix @ rows)."""
    first, second = describe(matrix, "matrix"), describe(rows, "rows")
    d = MatmulDescriptor.matmul(first.shape, second.shape, element, a_element=first.kind, b_element=second.kind, alpha=scale)
    return product(d, {"a": matrix, "b": rows})


def _squeezed(y: Any) -> Any:
    """A matrix; of one variable a number."""
    return y.reshape(()) if tuple(y.shape) == (1, 1) else y


def _both_ways(dy: Any, x: TensorRef, like: Any, *, diagonal: bool) -> Any:
    """dy plus its conjugate transpose, in the kind that is computed in."""
    given, n = describe(dy, "dy"), x.shape[0]
    expected = () if n == 1 else (n, n)
    if given.shape != expected:
        raise InvalidProblemError(f"dy: shape is {given.shape}; expected {expected}")
    square = placed(given, range(len(expected)), 2)
    turned = view(square, 0, square.shape[::-1], square.strides[::-1])
    return run(c.both_ways, {"dy": square, "turned": turned}, like, diagonal=diagonal)["y"]


_X = "variables observations or observations or ()"
_WEIGHTED: dict[str, str] = {"x": _X, "fweights": "observations : int", "aweights": "observations : float"}


@declared(**_WEIGHTED)
def cov(x: Any, *, correction: FiniteFloat = 1, fweights: Any = None, aweights: Any = None) -> Any:
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
    weights = _weights(rows, fweights, aweights)
    if weights:
        made = run(c.weighted_deviations, {"x": rows, **weights}, x, correction=float(correction))
        return _squeezed(_gram(made["scaled"], made["deviation"], _element(rows, weights)))
    (deviation,) = run(c.deviations, {"x": rows}, x).values()
    return _squeezed(_gram(deviation, deviation, _element(rows, weights), _scale(rows, correction)))


@declared(**_WEIGHTED, dy="variables variables or ()")
def cov_backward(
    dy: Any,
    x: Any,
    *,
    correction: FiniteFloat = 1,
    fweights: Any = None,
    aweights: Any = None,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `cov`'s x and aweights, those named in `wrt` or all that are given.

    With D the deviations it is (dy + dy^H) D by w / norm: the mean takes no part, since weighted deviations sum to 0.
    """
    rows = _variables(x)
    weights = _weights(rows, fweights, aweights)
    names = chosen(wrt, ("x",) if aweights is None else ("x", "aweights"))
    both = _both_ways(dy, rows, x, diagonal=True)
    if not weights:
        (deviation,) = run(c.deviations, {"x": rows}, x).values()
        return _times(both, deviation, rows.kind, _scale(rows, correction)).reshape(x.shape)
    words = {"correction": float(correction)}
    deviation = run(c.weighted_deviations, {"x": rows, **weights}, x, **words)["deviation"]
    slope = _times(both, deviation, describe(deviation, "deviation").kind)
    made = {}
    if "x" in names:
        made["x"] = run(c.by_weights, {"slope": slope, **weights}, x, dtype=rows.kind, **words)["y"].reshape(x.shape)
    if "aweights" in names:
        (share,) = run(c.shares, {"slope": slope, "deviation": deviation}, x).values()
        dtype = weights["aweights"].kind
        made["aweights"] = run(c.weight_slopes, {"share": share, **weights}, x, dtype=dtype, **words)["y"]
    return one_or_all([made[n] for n in names])


@declared(x=_X)
def corrcoef(x: Any) -> Any:
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
    (deviation,) = run(c.deviations, {"x": rows}, x).values()
    made = _gram(deviation, deviation, describe(deviation, "deviation").kind)
    products, n = describe(made, "products"), rows.shape[0]
    squares = view(products, 0, (n,), (sum(products.strides),))
    tensors = {"products": products, "row": placed(squares, (0,), 2), "column": placed(squares, (1,), 2)}
    return _squeezed(run(c.correlations, tensors, x, dtype=_element(rows, {}))["y"])


@declared(x=_X, dy="variables variables or ()")
def corrcoef_backward(dy: Any, x: Any) -> Any:
    """The gradient of `corrcoef`'s x.

    With U the deviations over their norms it is (dy + dy^H) U, without its part along U, over those norms. The diagonal, which
    is constant, has no part in it, and that coefficients are held to [-1, 1] is not differentiated: it undoes rounding.
    """
    rows = _variables(x)
    both = _both_ways(dy, rows, x, diagonal=False)
    made = run(c.directions, {"x": rows}, x)
    slope = _times(both, made["direction"], describe(made["direction"], "direction").kind)
    tensors = {"slope": slope, **made}
    return run(c.correlation_slopes, tensors, x, dtype=rows.kind)["y"].reshape(x.shape)
