"""Continuous distributions by the inverse of their distribution functions.

u is a draw of (0, 1), E = -ln(u) one of the standard exponential distribution, z one of the standard normal distribution; a
distribution with two sides takes its side from one bit and how far out it is from the others, so that both tails are as fine.
Their parameters are numbers or tensors, which broadcast; a draw's element is `dtype`, by default that of the tensors, or f32.
"""

from __future__ import annotations

import math
from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, const, fma, select
from baracuda.formula.special_functions import ndtr, ndtri
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.traced import Own
from baracuda.ops.declaration.words import Extents, FloatElement, Wrt
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.random.draws import KEY, Bits, Draw, distribution, draw_into, drawn, kind_for
from baracuda.ops.shapes.broadcasting import sum_over

_ANY = "... or number : float"


def _normal(draw: Draw, mean: Own, std: Own) -> Expr:
    return fma(draw.of(std), draw.normal(), draw.of(mean))


def _log_normal(draw: Draw, mean: Own, std: Own) -> Expr:
    return f.exp(_normal(draw, mean, std))


def _exponential(draw: Draw, rate: Own) -> Expr:
    return draw.exponential() / draw.of(rate)


def _cauchy(draw: Draw, loc: Own, scale: Own) -> Expr:
    upper, tail = draw.sides()
    x = const(1, draw.kind) / f.tan(tail * const(math.pi, draw.kind))
    return fma(draw.of(scale), select(upper, x, -x), draw.of(loc))


def _gumbel(draw: Draw, loc: Own, scale: Own) -> Expr:
    return fma(draw.of(scale), -f.log(draw.minus_log()), draw.of(loc))


def _laplace(draw: Draw, loc: Own, scale: Own) -> Expr:
    upper, tail = draw.sides()
    x = -f.log(tail * 2.0)
    return fma(draw.of(scale), select(upper, x, -x), draw.of(loc))


def _logistic(draw: Draw, loc: Own, scale: Own) -> Expr:
    return fma(draw.of(scale), draw.log_odds(), draw.of(loc))


def _maxwell(draw: Draw, scale: Own) -> Expr:
    x, y, z = (draw.normal(stream) for stream in range(3))
    return draw.of(scale) * f.sqrt(fma(z, z, fma(y, y, x * x)))


def _pareto(draw: Draw, scale: Own, alpha: Own) -> Expr:
    return draw.of(scale) * f.exp(draw.exponential() / draw.of(alpha))


def _rayleigh(draw: Draw, scale: Own) -> Expr:
    return draw.of(scale) * f.sqrt(draw.exponential() * 2.0)


def _weibull(draw: Draw, scale: Own, concentration: Own) -> Expr:
    return draw.of(scale) * f.pow_(draw.exponential(), const(1, draw.kind) / draw.of(concentration))


def _wald(draw: Draw, mean: Own, scale: Own) -> Expr:
    """Michael, Schucany, Haas (1976): of the two roots that one normal draw leaves, one by a uniform draw."""
    mu, shape = draw.of(mean), draw.of(scale)
    z = draw.normal()
    y = mu * (z * z)
    small = mu + mu * (y - f.sqrt(fma(y, y, y * shape * 4.0))) / (shape * 2.0)
    return select(draw.above_zero(1) * (mu + small) <= mu, small, mu * mu / small)


def _triangular(draw: Draw, left: Own, mode: Own, right: Own) -> Expr:
    a, c, b = draw.of(left), draw.of(mode), draw.of(right)
    u, width = draw.uniform(), b - a
    rising = a + f.sqrt(u * width * (c - a))
    falling = b - f.sqrt((const(1, draw.kind) - u) * width * (b - c))
    return select(u * width < c - a, rising, falling)


def _truncated_normal(draw: Draw, mean: Own, std: Own, a: Own, b: Own) -> Expr:
    """The part of the normal distribution from a to b, by the tail that holds less of it."""
    mu, sigma = draw.of(mean), draw.of(std)
    low, high = (draw.of(a) - mu) / sigma, (draw.of(b) - mu) / sigma
    flip = low > 0.0
    first, last = ndtr(select(flip, -high, low)), ndtr(select(flip, -low, high))
    x = ndtri(fma(draw.above_zero(), last - first, first))
    return f.clamp(fma(sigma, select(flip, -x, x), mu), draw.of(a), draw.of(b))


normal_op = distribution(_normal)
_log_normal_op = distribution(_log_normal)
exponential_op = distribution(_exponential, literals={"rate": (1,)})  # nothing to divide by
_cauchy_op = distribution(_cauchy)
_gumbel_op = distribution(_gumbel)
_laplace_op = distribution(_laplace)
_logistic_op = distribution(_logistic)
_maxwell_op = distribution(_maxwell)
_pareto_op = distribution(_pareto)
_rayleigh_op = distribution(_rayleigh)
_weibull_op = distribution(_weibull)
_wald_op = distribution(_wald)
_triangular_op = distribution(_triangular)
_truncated_op = distribution(_truncated_normal)


def draws(do: Steps, op: Any, key: TensorRef, shape: Any, dtype: Any, bits: Bits, **given: Any) -> Any:
    return drawn(do, op, key, shape, kind_for(dtype, given), bits, given)


@composed(key=KEY, mean=_ANY, std=_ANY, numbers={"mean": (), "std": ()})
def normal(
    do: Steps, key: TensorRef, mean: Any = 0.0, std: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """mean + std z, by one fused multiply-add.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.normal(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, normal_op, key, shape, dtype, bits, mean=mean, std=std)


def _deviations(draw: Draw, dy: Own) -> Expr:
    return draw.of(dy) * draw.normal()


_deviations_op = distribution(_deviations)


@composed(dy="... : float", key=KEY, mean=_ANY, std=_ANY)
def normal_backward(
    do: Steps, dy: TensorRef, key: TensorRef, mean: Any = 0.0, std: Any = 1.0, *, bits: Bits = "philox", wrt: Wrt = None
) -> Any:
    """The gradients of `normal`'s mean and std where they are tensors, those named in `wrt` or both: the sums of dy and of dy z
    over what they were broadcast along, z the draws, which are made again.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.normal_backward(np.ones((2, 3), np.float32), baracuda.rng_key(7), np.zeros(3, np.float32)).tolist()
    [2.0, 2.0, 2.0]
    """
    given = {"mean": mean, "std": std}
    known = [name for name, value in given.items() if isinstance(value, TensorRef)]
    made = []
    for name in chosen(wrt, known):
        slope = dy if name == "mean" else draw_into(do, _deviations_op, key, do.rows(dy.shape, dy.kind), {"dy": dy}, bits)
        made.append(in_element(do, sum_over(do, slope, given[name].shape), given[name].kind))
    return one_or_all(made)


@composed(key=KEY, mean=_ANY, std=_ANY, numbers={"mean": (), "std": ()})
def log_normal(
    do: Steps, key: TensorRef, mean: Any = 0.0, std: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """e ** (mean + std z).

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.log_normal(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _log_normal_op, key, shape, dtype, bits, mean=mean, std=std)


@composed(key=KEY, rate=_ANY, numbers={"rate": ()})
def exponential(
    do: Steps, key: TensorRef, rate: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """E / rate.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.exponential(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, exponential_op, key, shape, dtype, bits, rate=rate)


@composed(key=KEY, loc=_ANY, scale=_ANY, numbers={"loc": (), "scale": ()})
def cauchy(
    do: Steps, key: TensorRef, loc: Any = 0.0, scale: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """loc + scale / tan(pi t), to the side and as far out as a draw says.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.cauchy(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _cauchy_op, key, shape, dtype, bits, loc=loc, scale=scale)


@composed(key=KEY, loc=_ANY, scale=_ANY, numbers={"loc": (), "scale": ()})
def gumbel_sample(
    do: Steps, key: TensorRef, loc: Any = 0.0, scale: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """loc - scale ln(E), the distribution of maxima.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.gumbel_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _gumbel_op, key, shape, dtype, bits, loc=loc, scale=scale)


@composed(key=KEY, loc=_ANY, scale=_ANY, numbers={"loc": (), "scale": ()})
def laplace_sample(
    do: Steps, key: TensorRef, loc: Any = 0.0, scale: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """loc - scale ln(2 t) on either side.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.laplace_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _laplace_op, key, shape, dtype, bits, loc=loc, scale=scale)


@composed(key=KEY, loc=_ANY, scale=_ANY, numbers={"loc": (), "scale": ()})
def logistic_sample(
    do: Steps, key: TensorRef, loc: Any = 0.0, scale: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """loc + scale ln(u / (1 - u)).

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.logistic_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _logistic_op, key, shape, dtype, bits, loc=loc, scale=scale)


@composed(key=KEY, scale=_ANY, numbers={"scale": ()})
def maxwell_sample(
    do: Steps, key: TensorRef, scale: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """scale times the length of a vector of three standard normal draws.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.maxwell_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _maxwell_op, key, shape, dtype, bits, scale=scale)


@composed(key=KEY, scale=_ANY, alpha=_ANY, numbers={"scale": (), "alpha": ()})
def pareto_sample(
    do: Steps, key: TensorRef, scale: Any = 1.0, alpha: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """scale e ** (E / alpha).

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.pareto_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _pareto_op, key, shape, dtype, bits, scale=scale, alpha=alpha)


@composed(key=KEY, scale=_ANY, numbers={"scale": ()})
def rayleigh_sample(
    do: Steps, key: TensorRef, scale: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """scale sqrt(2 E).

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.rayleigh_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _rayleigh_op, key, shape, dtype, bits, scale=scale)


@composed(key=KEY, scale=_ANY, concentration=_ANY, numbers={"scale": (), "concentration": ()})
def weibull_sample(
    do: Steps, key: TensorRef, scale: Any = 1.0, concentration: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """scale E ** (1 / concentration).

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.weibull_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _weibull_op, key, shape, dtype, bits, scale=scale, concentration=concentration)


@composed(key=KEY, mean=_ANY, scale=_ANY, numbers={"mean": (), "scale": ()})
def wald_sample(
    do: Steps, key: TensorRef, mean: Any = 1.0, scale: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """The inverse Gaussian distribution of a mean and a shape `scale`, by the method of Michael, Schucany and Haas.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.wald_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _wald_op, key, shape, dtype, bits, mean=mean, scale=scale)


@composed(key=KEY, left=_ANY, mode=_ANY, right=_ANY, numbers={"left": (), "mode": (), "right": ()})
def triangular_sample(
    do: Steps, key: TensorRef, left: Any = -1.0, mode: Any = 0.0, right: Any = 1.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """The triangular distribution from left to right with its peak at mode.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.triangular_sample(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _triangular_op, key, shape, dtype, bits, left=left, mode=mode, right=right)


@composed(key=KEY, mean=_ANY, std=_ANY, a=_ANY, b=_ANY, numbers={"mean": (), "std": (), "a": (), "b": ()})
def truncated_normal(
    do: Steps, key: TensorRef, mean: Any = 0.0, std: Any = 1.0, a: Any = -2.0, b: Any = 2.0,
    shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """The normal distribution between a and b, as `torch.nn.init.trunc_normal_` has them.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.truncated_normal(baracuda.rng_key(7), shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _truncated_op, key, shape, dtype, bits, mean=mean, std=std, a=a, b=b)
