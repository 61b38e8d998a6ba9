"""The extension `linalg` as far as products and reductions reach.

Differs from the standard: `cholesky`, `det`, `eig`, `eigh`, `eigvals`, `eigvalsh`, `inv`, `matrix_rank`, `pinv`, `qr`, `slogdet`,
`solve`, `svd`, `svdvals`, and the norms that need singular values, are not there yet.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal

import baracuda
from baracuda.array_api.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from baracuda.array_api.manipulation import broadcast_arrays
from baracuda.array_api.operands import Axes, DType, kind_of
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.frontends.array import Array

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """a1 b2 - a2 b1, a2 b0 - a0 b2, a0 b1 - a1 b0 along an axis of 3."""
    a, b = broadcast_arrays(x1, x2)
    along = axis % min(x1.ndim, x2.ndim) - min(x1.ndim, x2.ndim)
    if x1.shape[along] != 3 or x2.shape[along] != 3:
        raise InvalidProblemError(f"x1, x2: shapes {x1.shape}, {x2.shape}; expected 3 elements along axis {axis} of both")
    a0, a1, a2 = (_at(a, along, i) for i in range(3))
    b0, b1, b2 = (_at(b, along, i) for i in range(3))
    return baracuda.stack((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), axis=along)


def _at(x: Array, axis: int, i: int) -> Array:
    return x[(*(slice(None),) * (axis % x.ndim), i)]


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """`baracuda.diagonal` of the last two axes: a view."""
    return baracuda.diagonal(x, offset, -2, -1)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro") -> Array:
    """`baracuda.vector_norm` of both axes, or the largest or smallest of the sums of absolute values along one of them."""
    if ord in ("fro", None):
        return baracuda.vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in (1, -1, inf, -inf):
        raise UnsupportedError(f"ord: {ord!r}, of singular values; expected 'fro', 1, -1, inf or -inf")
    assert not isinstance(ord, str)
    first, second = (-2, -1) if abs(ord) == 1 else (-1, -2)
    sums = baracuda.sum(baracuda.abs(x), axis=first, keepdims=True)
    norm = (baracuda.max if ord > 0 else baracuda.min)(sums, axis=second, keepdims=True)
    return norm if keepdims else norm[..., 0, 0]


def matrix_power(x: Array, n: int, /) -> Array:
    """`baracuda.matmul`, as often as n has bits; of a power below 0 the inverse, which is not there yet."""
    if n < 0:
        raise UnsupportedError(f"n: {n}; expected 0 or more: there is no inverse yet")
    if n == 0:
        one = baracuda.eye(x.shape[-1], dtype=x.kind, device=x.device, like=Array)
        return one.broadcast_to(x.shape).copy()
    power: Any = None
    while n:
        if n & 1:
            power = x if power is None else matmul(power, x)
        n >>= 1
        x = matmul(x, x) if n else x
    return power


def outer(x1: Array, x2: Array, /) -> Array:
    """`baracuda.mul` of a column and a row."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise InvalidProblemError(f"x1, x2: shapes {x1.shape}, {x2.shape}; expected one axis each")
    return baracuda.mul(x1[:, None], x2)


def trace(x: Array, /, *, offset: int = 0, dtype: DType | None = None) -> Array:
    """`baracuda.trace` of the last two axes."""
    return baracuda.trace(x, offset=offset, axis1=-2, axis2=-1, dtype=None if dtype is None else kind_of(dtype))


def vector_norm(x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Array:
    """`baracuda.vector_norm`."""
    return baracuda.vector_norm(x, p=ord, axis=axis, keepdims=keepdims)
