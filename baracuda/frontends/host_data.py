"""Tensors of data on the host, and indices where a caller's own function says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import tensor_ref
from baracuda.frontends import array
from baracuda.frontends.arrays import adopted, library_of, torch_dtype
from baracuda.frontends.binding import domain
from baracuda.frontends.creating import device_of_name, example_of
from baracuda.ops.declaration.words import Count, Dtype


def _is_tensor(obj: Any) -> bool:
    return isinstance(obj, (np.ndarray, array.Array)) or hasattr(obj, "__dlpack__")


def _placed(values: np.ndarray[Any, Any], example: Any) -> Any:
    """Values of the host in the library and on the device of another tensor; NumPy's are left as they are."""
    library, device = library_of(example), tensor_ref(example).device
    if library == "numpy":
        return values
    if library == "torch":
        torch = sys.modules["torch"]
        kind = ElementKind.from_numpy(values.dtype)
        raw = np.ascontiguousarray(values).view(f"u{kind.itemsize}") if values.dtype.isbuiltin != 1 else values
        if raw is not values or not raw.flags.writeable:
            return torch.from_numpy(raw.copy()).view(torch_dtype(torch, kind)).reshape(values.shape).to(example.device)
        return torch.from_numpy(raw).to(example.device)
    if library in ("cupy", "jax"):
        made = sys.modules["cupy" if library == "cupy" else "jax"]
        return made.asarray(values) if library == "cupy" else made.numpy.asarray(values, device=example.device)
    return array.to_device(values, device)


def asarray(obj: Any, dtype: Any = None, *, copy: bool | None = None, device: Any = None, like: Any = None) -> Any:
    """A tensor of what is given: numbers in nested lists, a NumPy array, or a tensor of any library.

    A tensor stays in its library and on its device, and in its memory unless `copy` is true or `dtype` another element; all else
    becomes NumPy's on the CPU and our `Array` on a CUDA device, which `device` says, or is of the library and on the device of
    `like`, a tensor or the type `Array`. With copy=False a copy is an error.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.asarray([[1, 2], [3, 4]], "f32").tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    kind: ElementKind | None = domain(Dtype).check("dtype", dtype)
    if _is_tensor(obj) and like is None:
        tensor = adopted(obj, "obj")
        ref = tensor_ref(tensor, name="obj")
        moved = device is not None and device_of_name(device) != ref.device
        if copy is False and (moved or kind not in (None, ref.kind)):
            raise InvalidProblemError(
                f"copy: False; {ref.kind} on {ref.device} becomes {kind or ref.kind} on {device or ref.device}"
            )
        if moved:
            tensor = _moved(tensor, device_of_name(device))
        baracuda = import_module("baracuda")
        if kind not in (None, ref.kind):
            return baracuda.cast(tensor, dtype=kind)
        return baracuda.contiguous_copy(tensor) if copy and not moved else tensor
    if copy is False:
        raise InvalidProblemError("copy: False; expected a tensor, whose memory the result has")
    example = example_of(device, like)
    values = np.asarray(_on_host(obj) if _is_tensor(obj) else obj, None if kind is None else kind.numpy)
    if values.dtype == object:
        raise InvalidProblemError(f"obj: {type(obj).__qualname__} of shape {values.shape} of objects; expected numbers")
    return _placed(np.array(values) if values is obj else values, example)


def _on_host(tensor: Any) -> np.ndarray[Any, Any]:
    """A tensor's values as a NumPy array."""
    if isinstance(tensor, array.Array):
        return tensor.numpy()
    if tensor_ref(tensor).device.kind is DeviceKind.CUDA:
        from baracuda.runtime import device_memory

        dense = import_module("baracuda").contiguous_copy(tensor)
        return device_memory.download(tensor_ref(dense))
    return np.asarray(adopted(tensor)) if library_of(tensor) != "torch" else np.from_dlpack(tensor.detach())


def _moved(tensor: Any, device: Device) -> Any:
    """A tensor on another device, in its library where that has tensors there."""
    library = library_of(tensor)
    if library == "torch":
        return tensor.to("cpu" if device.kind is DeviceKind.CPU else f"cuda:{device.index}")
    if library in ("numpy", "baracuda"):
        return array.to_device(tensor, device)
    raise UnsupportedError(f"device: {device} for {type(tensor).__module__}.{type(tensor).__qualname__}; expected its own")


def mask_indices(n: int, mask_func: Callable[..., Any], k: int = 0, *, device: Any = None, like: Any = None) -> Any:
    """The rows and columns at which mask_func(a, k) of a matrix `a` of n by n ones is not 0, such as `tril` or `triu`: two
    tensors of s64, row by row. How many there are is read back.

    The matrix is NumPy's on the CPU and our `Array` on a CUDA device, which `device` says; or of the library and on the device of
    `like`, a tensor or the type `Array`.

    Examples
    --------
    >>> import baracuda
    >>> [i.tolist() for i in baracuda.mask_indices(2, baracuda.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    size, offset = domain(Count).check("n", n), domain(int).check("k", k)
    baracuda = import_module("baracuda")
    mask = baracuda.ravel(mask_func(baracuda.ones((size, size), "s64", device=device, like=like), offset))
    kept = baracuda.cast(baracuda.ne(mask, 0), dtype="s64")
    place = baracuda.repeat_interleave(baracuda.arange(size * size, like=kept), kept)
    return baracuda.floor_divide(place, max(size, 1)), baracuda.remainder(place, max(size, 1))
