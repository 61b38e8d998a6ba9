"""Draws of vectors whose elements depend on each other: shares of a whole, points of a ball, correlated normal numbers."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import Above
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_at, broadcast_shape, shape_of, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, coord, fma, select
from baracuda.formula.functions import equal
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Host, Own, WholeScalar
from baracuda.ops.declaration.words import Count, Extents, FloatElement, PositiveFloat, Wrt
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.random.continuous import normal_op as shifted_normal_op
from baracuda.ops.random.draws import KEY, Bits, Draw, distribution, draw_into, drawn, in_full, kind_for
from baracuda.ops.random.gamma_gradients import drawn_again, slope_op, summed
from baracuda.ops.random.gammas import generalized_op, log_gamma_op
from baracuda.ops.random.uniforms import normal_op
from baracuda.ops.softmax.softmaxes import softmax

#: Labels of the axes of draws of vectors.
_LABELS = "BCDEFGH"
_INTERNAL: dict[str, Any] = {"family": "random", "takes": "float", "differentiable": False}


# --- shares of a whole ------------------------------------------------------------------------------------------------


def _through_shares(dy: Expr, shares: Expr) -> Expr:
    return shares * (dy - f.sum_(shares * dy))


_shares_slope_op = Op(_through_shares, Rule.COMMON, name="through_shares", rows=True, **_INTERNAL)


@composed(key=KEY, alpha="*batch classes : float")
def dirichlet_sample(
    do: Steps, key: TensorRef, alpha: TensorRef, shape: Extents | None = None, dtype: FloatElement = None, *,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Draws of the Dirichlet distribution of shapes alpha along the last axis: gamma draws over their sum, as the softmax of
    their logarithms, so that tiny shapes give whole shares and not NaN.

    `shape` is that of all but the last axis, by default alpha's.

    Source: torch._sample_dirichlet and jax.random.dirichlet.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dirichlet_sample(baracuda.rng_key(7), np.ones(3, np.float32), shape=(2, 4)).shape
    (2, 4, 3)
    """
    kind = dtype or alpha.kind
    extents = alpha.shape if shape is None else (*shape_of(shape), alpha.shape[-1])
    logs = drawn(do, log_gamma_op, key, extents, kind.compute, bits, {"a": alpha})
    return in_element(do, do.run(softmax, {"x": logs}, axis=-1), kind)


@composed(dy="... classes : float", key=KEY, alpha="... classes : float")
def dirichlet_sample_backward(
    do: Steps, dy: TensorRef, key: TensorRef, alpha: TensorRef, *, bits: Bits = "philox", wrt: Wrt = None
) -> Any:
    """The gradient of `dirichlet_sample`'s alpha, through the gamma draws, which are made again: the sum over what alpha was
    broadcast along of y (dy - sum y dy) d ln x / d alpha.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy = np.ones((2, 3), np.float32)
    >>> baracuda.dirichlet_sample_backward(dy, baracuda.rng_key(7), np.ones(3, np.float32)).shape
    (3,)
    """
    chosen(wrt, ["alpha"])
    logs = drawn_again(do, log_gamma_op, key, dy, alpha, bits)
    shares = do.run(softmax, {"x": logs}, axis=-1)
    through = do.run(_shares_slope_op, {"dy": in_element(do, dy, shares.kind), "shares": shares}, axis=-1)
    slopes = do.run(slope_op, {"dy": through, "a": alpha, "log_x": logs}, dtype=shares.kind)
    return summed(do, slopes, alpha)


# --- points of a ball -------------------------------------------------------------------------------------------------


def _beside(draw: Draw) -> Expr:
    """An exponential draw of another stream than an element's sign has."""
    return draw.exponential(1)


def _in_ball(x: Expr, beside: Expr, *, p: Annotated[Host, Above(0)] = 2.0) -> Expr:
    return x / f.pow_(f.sum_(f.pow_(abs(x), p)) + beside, 1.0 / p)


_beside_op = distribution(_beside)
_ball_op = Op(_in_ball, Rule.COMMON, name="in_ball", rows=True, **_INTERNAL)


@composed(key=KEY, numbers={"p": ()})
def ball_sample(
    do: Steps, key: TensorRef, d: Count, p: PositiveFloat = 2.0, shape: Extents = (), dtype: FloatElement = None, *,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Points of the unit ball of dimension d, sum |x|**p <= 1, all places alike: x / (sum |x|**p + E)**(1/p) for x of the
    generalised normal distribution of p and a draw E of the exponential one (Barthe, Guedon, Mendelson, Naor 2005).

    The result has the shape (*shape, d). The element is `dtype`, by default f32.

    Source: jax.random.ball.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.ball_sample(baracuda.rng_key(7), 3, shape=(2, 4)).shape
    (2, 4, 3)
    """
    kind, rows = dtype or ElementKind.F32, shape_of(shape)
    x = drawn(do, generalized_op, key, (*rows, d), kind.compute, bits, in_full(do, {"p": p}, kind))
    beside = drawn(do, _beside_op, key, (*rows, 1), kind.compute, bits)
    return in_element(do, do.run(_ball_op, {"x": x, "beside": beside}, axis=-1, p=p), kind)


# --- correlated normal numbers ----------------------------------------------------------------------------------------


def _scaled_column(column: Expr, pivot: Expr) -> Expr:
    return column / f.sqrt(pivot)


def _eliminated(x: Expr, down: Own, across: Own, *, j: WholeScalar = 0) -> Expr:
    """A step of a Cholesky factor: column j is there, and what is left of the columns behind it; 0 above the diagonal."""
    row, column = (cast(coord(axis), ElementKind.S64) for axis in (-2, -1))
    value = select(equal(column, j), down, select(column > j, fma(-down, across, x), x))
    return select(row >= column, value, 0.0)


_column_op = Op(_scaled_column, Rule.COMMON, name="scaled_column", **_INTERNAL)
_eliminated_op = Op(_eliminated, Rule.COMMON, name="eliminated", **_INTERNAL)


def factor_of(do: Steps, covariance: TensorRef, kind: ElementKind) -> TensorMut:
    """The lower-triangular factor L of L L^T, column after column: l = a_j / sqrt(a_jj), then a_rc = fma(-l_r, l_c, a_rc) for all
    columns behind. Only the lower triangle is read; NaN where the matrix is not positive definite."""
    *batch, n, _ = covariance.shape
    a = do.rows(covariance.shape, kind)
    do.copy(covariance, a)
    held = do.rows((*batch, n), kind)
    for j in range(n):
        column = axis_at(a, len(batch) + 1, j)
        pivot = view(column, j * a.strides[-2], (*batch, 1), (*column.strides[:-1], 1))
        do.run(_column_op, {"column": column, "pivot": pivot}, held)
        down, across = (view(held, 0, a.shape, (*held.strides[:-1], *steps)) for steps in ((1, 0), (0, 1)))
        do.run(_eliminated_op, {"x": a, "down": down, "across": across}, a, j=j)
    return a


@composed(
    key=KEY, mean="*batch n : float", covariance="*any n n : float", scale_tril="*any n n : float", scale_diag="*any n : float"
)
def multivariate_normal_sample(
    do: Steps, key: TensorRef, mean: TensorRef, covariance: Given = None, shape: Extents | None = None,
    dtype: FloatElement = None, *, scale_tril: Given = None, scale_diag: Given = None, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Draws of the normal distribution of vectors, mean + L z for standard normal z.

    One of three says what L is: `scale_tril`, L itself, as a lower-triangular matrix (all of it is read); `scale_diag`, its
    diagonal; or the covariance L L^T, whose lower triangle is factored (Cholesky). `shape` is that of all but the last axis, by
    default that which the parameters' broadcast to. A covariance that is not positive definite gives NaN.

    Source: torch.distributions.MultivariateNormal and jax.random.multivariate_normal.

    Raises
    ------
    InvalidProblemError
        Where not exactly one of the three is given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> mean, factor = np.zeros(2, np.float32), np.float32([[1, 0], [0.5, 2]])
    >>> baracuda.multivariate_normal_sample(baracuda.rng_key(7), mean, scale_tril=factor, shape=5).shape
    (5, 2)
    """
    ways = {"covariance": covariance, "scale_tril": scale_tril, "scale_diag": scale_diag}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        raise InvalidProblemError(f"{', '.join(given) or 'nothing'} is given; expected one of {', '.join(ways)}")
    by = ways[given[0]]
    assert by is not None
    kind = kind_for(dtype, {"mean": mean, "by": by})
    rows = by.shape[:-1] if given == ["scale_diag"] else by.shape[:-2]
    extents = broadcast_shape([mean.shape[:-1], rows]) if shape is None else shape_of(shape)
    if broadcast_shape([extents, mean.shape[:-1], rows]) != tuple(extents):
        raise InvalidProblemError(f"shape: {extents}; expected one that {mean.shape[:-1]} and {rows} broadcast to")
    full = (*extents, mean.shape[-1])
    if given == ["scale_diag"]:
        return drawn(do, shifted_normal_op, key, full, kind, bits, {"mean": mean, "std": by})
    factor = factor_of(do, by, kind.compute) if given == ["covariance"] else in_element(do, by, kind.compute)
    z = draw_into(do, normal_op, key, do.rows(full, kind.compute), {}, bits)
    labels = _LABELS[: len(extents)]
    own = labels[len(labels) - len(rows) :]
    descriptor = labelled(z, factor, labels + "k", own + "nk", labels + "n", c_shape=mean.shape)
    wide = in_element(do, mean, kind.compute)
    return in_element(do, do.plan(MatmulPlan, descriptor, {"a": z, "b": factor, "c": wide}), kind)
