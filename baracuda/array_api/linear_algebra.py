"""Linear algebra functions of the main namespace."""

from __future__ import annotations

from collections.abc import Sequence

import baracuda
from baracuda.array_api.operands import together
from baracuda.frontends.array import Array


def matmul(x1: Array, x2: Array, /) -> Array:
    """`baracuda.matmul`."""
    return baracuda.matmul(*together(x1, x2))


def matrix_transpose(x: Array, /) -> Array:
    """`baracuda.matrix_transpose`: a view."""
    return x.mT


def tensordot(x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """`baracuda.tensordot`."""
    return baracuda.tensordot(*together(x1, x2), axes if isinstance(axes, int) else (tuple(axes[0]), tuple(axes[1])))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """`baracuda.vecdot`."""
    return baracuda.vecdot(*together(x1, x2), axis=axis)
