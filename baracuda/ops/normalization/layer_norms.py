"""Layer and root-mean-square normalization, and the pieces that every normalization of rows is made of."""

from __future__ import annotations

from typing import Annotated

from baracuda.core.bounds import Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.formula.pooling import pooled_squares
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import NonNegative, Own, Result, Scalar, Stored


def statistics(x: Expr, eps: Scalar) -> tuple[Expr, Expr]:
    """Mean and reciprocal standard deviation of a row, the variance from the deviations."""
    mean = f.mean(x)
    d = x - mean
    n = f.row_length(x.kind)
    return mean, f.rsqrt(pooled_squares(d * d, n, mean) / n + eps)


def root_mean_square(x: Expr, eps: Scalar) -> Expr:
    """sqrt(mean(x**2) + eps) of a row, as `rms_norm` computes it."""
    return f.sqrt(f.mean(x * x) + eps)


def scaled(y: Expr, weight: Expr | None) -> Expr:
    """y * weight; a weight that is left out is 1."""
    return y if weight is None else y * cast(weight, y.kind)


def affine(y: Expr, weight: Expr | None, bias: Expr | None) -> Expr:
    """y * weight + bias; a weight that is left out is 1, a bias 0."""
    y = scaled(y, weight)
    return y if bias is None else y + cast(bias, y.kind)


def through_standardization(g: Expr, n: Expr, rstd: Expr) -> Expr:
    """The gradient of x, where g is that of n = (x - mean) * rstd."""
    return rstd * (g - (f.mean(g) + n * f.mean(g * n)))


def through_root_mean_square(g: Expr, n: Expr, inverse: Expr) -> Expr:
    """The gradient of x, where g is that of n = x * inverse, with the inverse of x's root mean square."""
    return inverse * (g - n * f.mean(g * n))


@op(
    rows=True,
    results=("y", "rms"),
    saves=("rms",),
    extra=("rms",),
    stored={"rms": "rms_element"},
    vectors=("weight",),
    positions=(),
)
def rms_norm(
    x: Expr, weight: Own | None = None, *, eps: Annotated[NonNegative, Finite()] = 1e-6, rms_element: ElementKind | None = None
) -> dict[str, Result]:
    """x / sqrt(mean(x**2) + eps) * weight over the row (Zhang and Sennrich 2019); over several axes the weight may be a vector.

    rms is the root, stored in `rms_element`: by default the kind it is computed in, f32 for 16-bit floats. y is computed with
    the root before that rounding.

    Differs from PyTorch: which axes are normalized `axis` says, by default the last; PyTorch's normalized_shape comes second, and
    its eps is by default the element's.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.array([[3.0, 4.0]])
    >>> y, rms = baracuda.rms_norm(x, eps=0.0, saved=True)
    >>> y.round(4).tolist()
    [[0.8485, 1.1314]]
    >>> bool(np.abs(baracuda.rms_norm_backward(x, x, None, rms)).max() < 1e-15)
    True
    """
    rms = root_mean_square(x, eps)
    if rms_element is not None and rms_element.compute is not rms.kind:
        kinds = [k for k in ElementKind if k.is_float and k.bits >= 16 and k.compute is rms.kind]
        raise UnsupportedError(f"rms_element: {rms_element}; expected one of {', '.join(map(str, kinds))}")
    return {"y": scaled(x * (1.0 / rms), weight), "rms": rms if rms_element is None else Stored(rms, rms_element)}


@rms_norm.backward
def _rms_norm_backward(
    dy: Expr, x: Expr, weight: Own | None, rms: Expr, *, eps: Scalar, rms_element: ElementKind | None
) -> dict[str, Expr]:
    inverse = 1.0 / rms
    n = x * inverse
    return {"dx": through_root_mean_square(scaled(dy, weight), n, inverse), "dweight": dy * n}


@op(rows=True, results=("y", "mean", "rstd"), saves=("mean", "rstd"), extra=("mean", "rstd"), positions=())
def layer_norm(x: Expr, weight: Own | None = None, bias: Own | None = None, *, eps: NonNegative = 1e-5) -> dict[str, Expr]:
    """(x - mean) / sqrt(var + eps) * weight + bias over the row (Ba et al. 2016).

    Differs from PyTorch: which axes are normalized `axis` says, by default the last; PyTorch's normalized_shape comes second.
    """
    mean, rstd = statistics(x, eps)
    return {"y": affine((x - mean) * rstd, weight, bias), "mean": mean, "rstd": rstd}


@layer_norm.backward
def normalized_backward(
    dy: Expr, x: Expr, mean: Expr, rstd: Expr, weight: Own | None = None, *, eps: Scalar = 1e-5
) -> dict[str, Expr]:
    """The gradients of affine((x - mean) * rstd, weight, bias), with mean and rstd those of the row."""
    n = (x - mean) * rstd
    return {"dx": through_standardization(scaled(dy, weight), n, rstd), "dweight": dy * n, "dbias": dy}


@op(rows=True, results=("y", "mean", "rstd"), saves=("mean", "rstd"), extra=("mean", "rstd"))
def ada_layer_norm(x: Expr, scale: Own, shift: Own, *, eps: NonNegative = 1e-6) -> dict[str, Expr]:
    """(x - mean) / sqrt(var + eps) * (1 + scale) + shift over the row (Peebles and Xie 2023, DiT).

    scale and shift broadcast to x, for example with shape (samples, 1, features) to (samples, tokens, features).
    """
    mean, rstd = statistics(x, eps)
    n = (x - mean) * rstd
    return {"y": affine(n, 1.0 + cast(scale, x.kind), shift), "mean": mean, "rstd": rstd}


@ada_layer_norm.backward
def _ada_layer_norm_backward(dy: Expr, x: Expr, scale: Own, mean: Expr, rstd: Expr, *, eps: Scalar = 1e-6) -> dict[str, Expr]:
    n = (x - mean) * rstd
    g = dy * (1.0 + cast(scale, x.kind))
    return {"dx": through_standardization(g, n, rstd), "dscale": dy * n, "dshift": dy}


@op(rows=True, results=("y", "mean", "rstd"), saves=("mean", "rstd"), extra=("mean", "rstd"))
def standardize(x: Expr, *, eps: NonNegative = 1e-5) -> dict[str, Expr]:
    """(x - mean) / sqrt(var + eps) over the row, as jax.nn.standardize; over several axes ONNX's MeanVarianceNormalization."""
    mean, rstd = statistics(x, eps)
    return {"y": (x - mean) * rstd, "mean": mean, "rstd": rstd}


@standardize.backward
def _standardize_backward(dy: Expr, x: Expr, mean: Expr, rstd: Expr, *, eps: Scalar = 1e-5) -> dict[str, Expr]:
    return {"dx": through_standardization(dy, (x - mean) * rstd, rstd)}
