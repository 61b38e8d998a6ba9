"""Dropout in all forms. The mask is never stored: the backward draws it again from the key.

An element, or with the forms for channels a whole channel, is kept where a uniform draw is not below p; which one depends on the
key and on its number in logical order alone.
"""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, const, fma, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.traced import Own, Scalar
from baracuda.ops.random.discrete import happens
from baracuda.ops.random.draws import KEY, Bits, Draw, distribution, draw_into

_Share = Annotated[float, AtLeast(0), AtMost(1)]
#: What SELU of minus infinity is, negated: the value that alpha dropout puts in an element's place.
_SATURATED = 1.7580993408473766


def _dropped(draw: Draw, x: Own, *, p: Scalar = 0.5) -> Expr:
    share = as_expr(p, draw.kind)
    scale = const(1, draw.kind) / (const(1, draw.kind) - share)
    return select(happens(draw, share), const(0, draw.kind), draw.of(x) * scale)


def _slope(draw: Draw, p: Expr) -> Expr:
    """What alpha dropout multiplies by, so that the variance stays."""
    one, square = const(1, draw.kind), const(_SATURATED**2, draw.kind)
    return f.rsqrt((one - p) * fma(p, square, one))


def _alpha_dropped(draw: Draw, x: Own, *, p: Scalar = 0.5) -> Expr:
    share = as_expr(p, draw.kind)
    low, a = const(-_SATURATED, draw.kind), _slope(draw, share)
    kept = fma(a, select(happens(draw, share), low, draw.of(x)), -(a * low * share))
    return select(f.equal(share, 1.0), const(0, draw.kind), kept)


def _alpha_slope(draw: Draw, x: Own, *, p: Scalar = 0.5) -> Expr:
    share = as_expr(p, draw.kind)
    return select(happens(draw, share), const(0, draw.kind), draw.of(x) * _slope(draw, share))


_dropped_op, _alpha_op, _alpha_slope_op = map(distribution, (_dropped, _alpha_dropped, _alpha_slope))


def _apply(do: Steps, op: Any, x: TensorRef, key: TensorRef, p: float, bits: Bits, channels: int | None = None) -> Any:
    """The op over x; with `channels` one draw for each channel of a sample, whose axes number so many at the end."""
    rank, over = len(x.shape), None
    if channels is not None:
        if rank not in (channels + 1, channels + 2):
            raise InvalidProblemError(
                f"x: shape {x.shape}; expected {channels} axes behind the channels', and one before or none"
            )
        over = (*x.shape[: rank - channels], *(1,) * channels)
    return draw_into(do, op, key, do.rows(x.shape, x.kind), {"x": x}, bits, over, p=p)


@composed(x="... : float", key=KEY, numbers={"p": ()})
def dropout(do: Steps, x: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """x / (1 - p) with probability 1 - p, else 0, element by element.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dropout(np.ones((2, 3), np.float32), baracuda.rng_key(7), 0.5).shape
    (2, 3)
    """
    return _apply(do, _dropped_op, x, key, p, bits)


@composed(dy="... : float", key=KEY, numbers={"p": ()})
def dropout_backward(do: Steps, dy: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """The gradient of `dropout`'s x: dy where x was kept, times the same number, 0 elsewhere; the draws are made again."""
    return _apply(do, _dropped_op, dy, key, p, bits)


@composed(x="... : float", key=KEY, numbers={"p": ()})
def dropout1d(do: Steps, x: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """`dropout` of whole channels of x, of shape (N, C, L) or (C, L).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dropout1d(np.ones((2, 3, 4), np.float32), baracuda.rng_key(7), 0.5).shape
    (2, 3, 4)
    """
    return _apply(do, _dropped_op, x, key, p, bits, 1)


@composed(dy="... : float", key=KEY, numbers={"p": ()})
def dropout1d_backward(do: Steps, dy: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """The gradient of `dropout1d`'s x: dy where x was kept, times the same number, 0 elsewhere; the draws are made again."""
    return _apply(do, _dropped_op, dy, key, p, bits, 1)


@composed(x="... : float", key=KEY, numbers={"p": ()})
def dropout2d(do: Steps, x: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """`dropout` of whole channels of x, of shape (N, C, H, W) or (C, H, W).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dropout2d(np.ones((2, 3, 4, 4), np.float32), baracuda.rng_key(7), 0.5).shape
    (2, 3, 4, 4)
    """
    return _apply(do, _dropped_op, x, key, p, bits, 2)


@composed(dy="... : float", key=KEY, numbers={"p": ()})
def dropout2d_backward(do: Steps, dy: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """The gradient of `dropout2d`'s x: dy where x was kept, times the same number, 0 elsewhere; the draws are made again."""
    return _apply(do, _dropped_op, dy, key, p, bits, 2)


@composed(x="... : float", key=KEY, numbers={"p": ()})
def dropout3d(do: Steps, x: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """`dropout` of whole channels of x, of shape (N, C, D, H, W) or (C, D, H, W).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dropout3d(np.ones((2, 3, 4, 4, 4), np.float32), baracuda.rng_key(7), 0.5).shape
    (2, 3, 4, 4, 4)
    """
    return _apply(do, _dropped_op, x, key, p, bits, 3)


@composed(dy="... : float", key=KEY, numbers={"p": ()})
def dropout3d_backward(do: Steps, dy: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """The gradient of `dropout3d`'s x: dy where x was kept, times the same number, 0 elsewhere; the draws are made again."""
    return _apply(do, _dropped_op, dy, key, p, bits, 3)


@composed(x="... : float", key=KEY, numbers={"p": ()})
def alpha_dropout(do: Steps, x: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """Dropout that keeps the mean 0 and the variance 1 of what `selu` gives: a x + b with probability 1 - p, else a s + b,
    where s is -1.7580993408473766, a = 1 / sqrt((1 - p) (1 + p s**2)) and b = -a s p.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.alpha_dropout(np.ones((2, 3), np.float32), baracuda.rng_key(7), 0.5).shape
    (2, 3)
    """
    return _apply(do, _alpha_op, x, key, p, bits)


@composed(dy="... : float", key=KEY, numbers={"p": ()})
def alpha_dropout_backward(do: Steps, dy: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """The gradient of `alpha_dropout`'s x: dy where x was kept, times the same number, 0 elsewhere; the draws are made again."""
    return _apply(do, _alpha_slope_op, dy, key, p, bits)


@composed(x="... : float", key=KEY, numbers={"p": ()})
def feature_alpha_dropout(do: Steps, x: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """`alpha_dropout` of whole channels of x, of shape (N, C, ...).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.feature_alpha_dropout(np.ones((2, 3, 4), np.float32), baracuda.rng_key(7), 0.5).shape
    (2, 3, 4)
    """
    return _apply(do, _alpha_op, x, key, p, bits, max(len(x.shape) - 2, 0))


@composed(dy="... : float", key=KEY, numbers={"p": ()})
def feature_alpha_dropout_backward(do: Steps, dy: TensorRef, key: TensorRef, p: _Share = 0.5, *, bits: Bits = "philox") -> Any:
    """The gradient of `feature_alpha_dropout`'s x: dy where x was kept, times the same number, else 0; draws are made again."""
    return _apply(do, _alpha_slope_op, dy, key, p, bits, max(len(dy.shape) - 2, 0))
