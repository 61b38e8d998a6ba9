"""Creation functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

import baracuda
from baracuda.array_api.operands import DEFAULTS, DType, Number, device_or, extents_of, kind_of, kind_or
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import tensor_ref
from baracuda.frontends.array import Array, of, to_device
from baracuda.frontends.array import empty as _empty
from baracuda.ops.declaration.promotion import common


def _where(device: Device | None) -> dict[str, Any]:
    """Where the library's functions are to make an array of our own."""
    return {"device": device_or(device), "like": Array}


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """`baracuda.arange`."""
    start, stop = (0, start) if stop is None else (start, stop)
    whole = all(isinstance(n, int) for n in (start, stop, step))
    return baracuda.arange(start, stop, step, dtype=kind_or(dtype, DEFAULTS[int if whole else float]), **_where(device))


def asarray(obj: Any, /, *, dtype: DType | None = None, device: Device | None = None, copy: bool | None = None) -> Array:
    """`baracuda.to_device` of a NumPy array, of what exports DLPack or a buffer, and of numbers in nested lists, in which arrays
    may stand as well. Memory is shared where that takes no conversion, unless `copy` is true. Without a `device` arrays of other
    libraries stay where they are, but NumPy's and buffers are put on the default one."""
    kind = None if dtype is None else kind_of(dtype)
    shared = isinstance(obj, Array) or hasattr(obj, "__dlpack__") or _has_buffer(obj)
    if isinstance(obj, Array):
        array = obj
    elif isinstance(obj, (np.ndarray, np.generic)):
        array, device = to_device(np.asarray(obj), Device.cpu()), device_or(device)
    elif hasattr(obj, "__dlpack__"):
        array = of(tensor_ref(obj))
    elif shared:
        array, device = to_device(np.asarray(obj), Device.cpu()), device_or(device)
    else:
        array, device, kind = *_of_numbers(obj, kind, device), None
    if copy is False and (not shared or kind not in (None, array.kind) or device not in (None, array.device)):
        raise InvalidProblemError("copy: False; expected an array of that dtype and device, or a buffer")
    moved = array.astype(kind or array.kind, copy=False).to_device(device_or(device, array.device))
    return moved.copy() if copy and shared and moved.pointer == array.pointer else moved


def _has_buffer(obj: Any) -> bool:
    if isinstance(obj, (bool, int, float, complex, list, tuple)):
        return False
    try:
        memoryview(obj)
    except TypeError:
        return hasattr(obj, "__array__") or hasattr(obj, "__array_interface__")
    return True


def _of_numbers(obj: Any, kind: ElementKind | None, device: Device | None) -> tuple[Array, Device]:
    """Numbers and arrays in nested lists, in their common element, and where they are to be."""
    leaves = list(_leaves(obj))
    arrays = [x for x in leaves if isinstance(x, Array)]
    here = device_or(device, arrays[0].device if arrays else None)
    if kind is None:
        numbers = {t: t() for t in (bool, int, float, complex) if any(type(x) is t for x in leaves)}
        kinds = [x.kind for x in arrays] + [
            ElementKind.from_numpy(x.dtype) for x in leaves if isinstance(x, np.generic | np.ndarray)
        ]
        kind = common(kinds, numbers.values()) if kinds else DEFAULTS[max(numbers, key=list(DEFAULTS).index, default=float)]
        if kind is ElementKind.S64 and not kinds and any(x >= 1 << 63 for x in leaves):
            kind = ElementKind.U64
    values = np.asarray(_on_host(obj) if arrays else obj, kind.numpy)
    return to_device(values, here), here


def _leaves(obj: Any) -> Iterator[Any]:
    if isinstance(obj, (list, tuple)):
        for member in obj:
            yield from _leaves(member)
    else:
        yield obj


def _on_host(obj: Any) -> Any:
    """Nested lists with NumPy's arrays in the place of ours."""
    if isinstance(obj, (list, tuple)):
        return [_on_host(member) for member in obj]
    return obj.numpy() if isinstance(obj, Array) else obj


def empty(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.empty`."""
    return _empty(extents_of(shape), kind_or(dtype, DEFAULTS[float]), device_or(device))


def empty_like(x: Array, /, *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.empty_like`."""
    return _empty(x.shape, kind_or(dtype, x.kind), device_or(device, x.device))


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """`baracuda.eye`."""
    k = max(-n_rows, min(k, n_rows if n_cols is None else n_cols))  # of any size: a diagonal outside is none
    return baracuda.eye(n_rows, n_cols, k, dtype=kind_or(dtype, DEFAULTS[float]), **_where(device))


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Array:
    """`baracuda.from_dlpack`: an array of the memory of whatever exports it, of a copy on another device."""
    if not hasattr(x, "__dlpack__"):
        raise AttributeError(f"{type(x).__module__}.{type(x).__qualname__} has no __dlpack__")
    array = x if isinstance(x, Array) else of(tensor_ref(x, name="x"))
    if copy is False and device not in (None, array.device):
        raise BufferError(f"device: {device} of an array on {array.device}, and copy=False")
    moved = array.to_device(device_or(device, array.device))
    if moved.pointer != array.pointer:
        return moved
    return array.copy() if copy else array._view(0, array.shape, array.strides)


def full(shape: int | tuple[int, ...], fill_value: Number, *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.full`."""
    if isinstance(fill_value, (Array, np.generic)):
        fill_value = fill_value.item()
    kind = kind_or(dtype, DEFAULTS[type(fill_value)])
    return baracuda.full(extents_of(shape), fill_value, dtype=kind, **_where(device))


def full_like(x: Array, /, fill_value: Number, *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.full`, as x is."""
    return full(x.shape, fill_value, dtype=kind_or(dtype, x.kind), device=device_or(device, x.device))


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> Array:
    """`baracuda.linspace`."""
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    kind = kind_or(dtype, DEFAULTS[complex if is_complex else float])
    return baracuda.linspace(start, stop, num, endpoint=endpoint, dtype=kind, **_where(device))


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """`baracuda.meshgrid`."""
    return tuple(baracuda.meshgrid(*arrays, indexing=indexing))


def ones(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.full` of 1."""
    return full(shape, 1.0, dtype=dtype, device=device)


def ones_like(x: Array, /, *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.full` of 1, as x is."""
    return full_like(x, 1, dtype=dtype, device=device)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """`baracuda.tril`."""
    return baracuda.tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """`baracuda.triu`."""
    return baracuda.triu(x, k)


def zeros(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.full` of 0."""
    return full(shape, 0.0, dtype=dtype, device=device)


def zeros_like(x: Array, /, *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.full` of 0, as x is."""
    return full_like(x, 0, dtype=dtype, device=device)
