"""A tensor's layout as a dictionary key: what `Plan.run` looks at in every call.

A layout key gives `(key, pointer)`. Tensors with equal keys become `TensorRef`s that differ at most in pointer, owner and bytes
available, so what was once worked out from a `TensorRef` can be looked up. A key does not tell whether the pointer is
aligned. It holds the library's own objects, as they come, because making anything out of them takes longer than the rest.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

import numpy as np

#: The key, and the address of the first element.
KeyedPointer: TypeAlias = "tuple[Hashable, int]"
LayoutKeyFunction: TypeAlias = Callable[[Any], "KeyedPointer | None"]


def _unknown(obj: Any) -> None:
    """The layout key of every type without one: take the long way, `tensor_ref`."""


def _absent(obj: None) -> KeyedPointer:
    """The layout key of a tensor that is left out."""
    return None, 0


def _numpy_keys() -> tuple[LayoutKeyFunction, LayoutKeyFunction, Callable[[Any], int]]:
    """Probes of arrays that are read and of arrays that are written, and the address of an array's first element.

    `array.ctypes.data` takes four times as long as all the rest of a layout key together. The address is the first field of
    PyArrayObject after the object header, by NumPy's published C ABI, so it is read from there, through a view of memory
    as 64-bit words that is made once. Where an experiment does not bear this out, `array.ctypes.data` it is.
    """
    field = object.__basicsize__ // 8
    sample = np.empty((3, 5), np.float32)[1:, ::2]
    try:
        memory: Any = (ctypes.c_uint64 * (1 << 59)).from_address(0)
        readable = ctypes.sizeof(ctypes.c_void_p) == 8 and memory[(id(sample) >> 3) + field] == sample.ctypes.data
    except (OverflowError, ValueError, MemoryError):
        readable = False
    if not readable:

        def slow(array: Any) -> KeyedPointer:
            return (array.dtype, array.shape, array.strides), array.ctypes.data

        def slow_mut(array: Any) -> KeyedPointer:
            return (array.dtype, array.shape, array.strides, array.flags.writeable), array.ctypes.data

        return slow, slow_mut, lambda array: int(array.ctypes.data)

    def pointer(array: Any) -> int:
        address: int = memory[(id(array) >> 3) + field]
        return address

    def fast(array: Any) -> KeyedPointer:
        return (array.dtype, array.shape, array.strides), memory[(id(array) >> 3) + field]

    def fast_mut(array: Any) -> KeyedPointer:
        return (array.dtype, array.shape, array.strides, array.flags.writeable), memory[(id(array) >> 3) + field]

    return fast, fast_mut, pointer


_numpy, _numpy_mut, numpy_pointer = _numpy_keys()

#: The layout key of each exact type, for a tensor that is read and for one that is written. Other libraries' types may be added.
LAYOUT_KEYS: dict[type, LayoutKeyFunction] = {np.ndarray: _numpy, type(None): _absent}
LAYOUT_KEYS_MUT: dict[type, LayoutKeyFunction] = {np.ndarray: _numpy_mut, type(None): _absent}


#: What wants to know of PyTorch once it is there.
ON_TORCH: list[Callable[[Any], None]] = []


def register_torch(torch: Any) -> None:
    """Add the layout keys of torch tensors, once torch is known to be there."""
    if torch.Tensor in LAYOUT_KEYS:
        return
    is_grad_enabled = torch.is_grad_enabled

    # The lazy conjugation and negation bits are in the key because nothing else tells such a view from its base. Tensors
    # without memory (meta, sparse, functorch's wrappers) raise or have address 0: the long way has the error for them.
    def torch_key(tensor: Any) -> KeyedPointer | None:
        try:
            dtype = tensor.dtype
            strides = True if tensor.is_contiguous() else tensor.stride()  # in half the time, mostly
            key = dtype, tensor.get_device(), tensor.shape, strides, tensor.is_neg(), dtype.is_complex and tensor.is_conj()
            pointer = tensor.data_ptr()
        except (RuntimeError, NotImplementedError):
            return None
        return (key, pointer) if pointer else None

    def torch_key_mut(tensor: Any) -> KeyedPointer | None:
        if tensor.requires_grad and is_grad_enabled():
            return None
        return torch_key(tensor)

    for kind in (torch.Tensor, torch.nn.Parameter):
        LAYOUT_KEYS[kind], LAYOUT_KEYS_MUT[kind] = torch_key, torch_key_mut
    for tell in ON_TORCH:
        tell(torch)


def layout_key(obj: Any) -> KeyedPointer | None:
    """Key and address of a tensor to read, or None where only `tensor_ref` can tell."""
    return LAYOUT_KEYS.get(type(obj), _unknown)(obj)


def layout_key_mut(obj: Any) -> KeyedPointer | None:
    """Key and address of a tensor to write, or None where only `tensor_mut` can tell.

    A key that says the tensor may not be written is a key all the same; `tensor_mut` raises for it.
    """
    return LAYOUT_KEYS_MUT.get(type(obj), _unknown)(obj)
