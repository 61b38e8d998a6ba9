"""Tensors of one number, or of none in particular."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import shape_of, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Dtype, Extents

_F64 = ElementKind.F64


@composed(like="?", creates=True)
def empty(do: Steps, like: TensorRef, shape: Extents, dtype: Dtype = None) -> Any:
    """A tensor whose elements may be anything. Its element is `dtype`, by default f64.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.empty((2, 3)).shape
    (2, 3)
    """
    return do.rows(shape_of(shape), dtype or _F64)


@composed(like="?", creates=True)
def zeros(do: Steps, like: TensorRef, shape: Extents, dtype: Dtype = None) -> Any:
    """A tensor of zeros. Its element is `dtype`, by default f64.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.zeros(3, "s32").tolist()
    [0, 0, 0]
    """
    y = do.rows(shape_of(shape), dtype or _F64)
    do.zero(y)
    return y


@composed(like="?", creates=True)
def ones(do: Steps, like: TensorRef, shape: Extents, dtype: Dtype = None) -> Any:
    """A tensor of ones. Its element is `dtype`, by default f64.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.ones(3, "s32").tolist()
    [1, 1, 1]
    """
    return do.filled(shape_of(shape), dtype or _F64, 1)


def kind_of(value: Any) -> ElementKind:
    """The element that a number becomes: bool, s64, f64 or complex128; a tensor's own."""
    if isinstance(value, TensorRef):
        return value.kind
    if isinstance(value, bool):
        return ElementKind.BOOL
    if isinstance(value, int):
        return ElementKind.S64
    return _F64 if isinstance(value, float) else ElementKind.C128


def _full(do: Steps, y: TensorMut, value: Any) -> TensorMut:
    if isinstance(value, TensorRef):
        do.copy(view(value, 0, y.shape, (0,) * len(y.shape)), y)
    else:
        do.fill(y, value, "fill_value")
    return y


@composed(like="?", fill_value="() or number", creates=True, numbers={"fill_value": ()})
def full(do: Steps, like: TensorRef, shape: Extents, fill_value: Any, dtype: Dtype = None) -> Any:
    """A tensor of one number, or of the one element of a tensor. Its element is `dtype`, by default that of the number: bool,
    s64, f64 or complex128.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.full(3, 7).tolist()
    [7, 7, 7]
    """
    return _full(do, do.rows(shape_of(shape), dtype or kind_of(fill_value)), fill_value)


def _like(do: Steps, x: TensorRef, dtype: Any, shape: Any) -> TensorMut:
    """A tensor of x's shape, in its memory order, unless another shape is given."""
    if shape is None:
        return do.new(x.shape, dtype or x.kind)
    return do.rows(shape_of(shape), dtype or x.kind)


@composed(x="...")
def empty_like(do: Steps, x: TensorRef, dtype: Dtype = None, *, shape: Extents | None = None) -> Any:
    """A tensor like x whose elements may be anything: of x's library, device and shape, in its memory order, unless `dtype` or
    `shape` say another thing.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.empty_like(np.zeros((2, 3)), "f32").dtype.name
    'float32'
    """
    return _like(do, x, dtype, shape)


@composed(x="...")
def zeros_like(do: Steps, x: TensorRef, dtype: Dtype = None, *, shape: Extents | None = None) -> Any:
    """A tensor like x, of zeros: of x's library, device and shape, in its memory order, unless `dtype` or `shape` say another
    thing.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.zeros_like(np.ones(2)).tolist()
    [0.0, 0.0]
    """
    y = _like(do, x, dtype, shape)
    do.zero(y)
    return y


@composed(x="...")
def ones_like(do: Steps, x: TensorRef, dtype: Dtype = None, *, shape: Extents | None = None) -> Any:
    """A tensor like x, of ones: of x's library, device and shape, in its memory order, unless `dtype` or `shape` say another
    thing.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ones_like(np.zeros(2)).tolist()
    [1.0, 1.0]
    """
    y = _like(do, x, dtype, shape)
    do.fill(y, 1)
    return y


@composed(x="...", fill_value="() or number", numbers={"fill_value": ()})
def full_like(do: Steps, x: TensorRef, fill_value: Any, dtype: Dtype = None, *, shape: Extents | None = None) -> Any:
    """A tensor like x, of one number or of the one element of a tensor: of x's library, device and shape, in its memory order,
    unless `dtype` or `shape` say another thing.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.full_like(np.zeros(2), 3).tolist()
    [3.0, 3.0]
    """
    return _full(do, _like(do, x, dtype, shape), fill_value)
