"""Views of tensors of any library: the one place that makes them, from where their elements lie."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from baracuda.core import layout_key
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.frontends.arrays import library_of

Shape = tuple[int, ...]


class _Window:
    """Part of a NumPy array's memory, which it keeps alive."""

    def __init__(self, array: np.ndarray[Any, Any], start: int, shape: Shape, strides: Shape) -> None:
        self.array, size = array, array.itemsize
        repeats = any(s == 0 and n > 1 for n, s in zip(shape, strides, strict=True))
        self.__array_interface__ = {
            "shape": shape,
            "typestr": f"|V{size}",  # of any element; NumPy has no letters for some
            "data": (layout_key.numpy_pointer(array) + start * size, repeats or not array.flags.writeable),
            "strides": tuple(s * size for s in strides),
            "version": 3,
        }


def _of_numpy(array: np.ndarray[Any, Any], start: int, shape: Shape, strides: Shape) -> np.ndarray[Any, Any]:
    dtype = array.dtype
    size = dtype.itemsize
    if array.flags.c_contiguous and dtype.kind in "fiubc" and start >= 0:  # which other libraries may read: it takes less time
        made = np.ndarray(shape, dtype, array, start * size, tuple(s * size for s in strides))
        if 0 in strides and made.flags.writeable:
            made.flags.writeable = not any(s == 0 and n > 1 for n, s in zip(shape, strides, strict=True))
        return made
    return np.asarray(_Window(array, start, shape, strides)).view(dtype)


def strided(tensor: Any, start: int, shape: Shape, strides: Shape) -> Any | None:
    """The view of a tensor's memory from its element `start` on, of a shape with strides in elements; None where its library has
    no such view: JAX has none at all, PyTorch none with negative strides.

    A view in which an element stands at several places is read-only in NumPy; any other can be written where the tensor can.
    """
    library = library_of(tensor)
    if 0 in shape:
        start = 0
    if library == "numpy":
        return _of_numpy(tensor, start, shape, strides)
    if library == "torch":
        if min(strides, default=0) < 0:
            return None
        return tensor.as_strided(shape, strides, tensor.storage_offset() + start)
    if library == "cupy":
        size = tensor.dtype.itemsize
        steps = tuple(s * size for s in strides)
        return sys.modules["cupy"].ndarray(shape, tensor.dtype, memptr=tensor.data + start * size, strides=steps)
    if hasattr(tensor, "_view"):  # an array of our own
        return tensor._view(start, shape, strides)
    return view(tensor, start, shape, strides) if isinstance(tensor, TensorRef) else None
