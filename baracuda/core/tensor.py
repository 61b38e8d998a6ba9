"""Tensors as kernels see them, and how those of other libraries become so.

NumPy arrays and PyTorch tensors are read directly; every other tensor through DLPack. No library is imported for it: a
tensor can only belong to one that is in `sys.modules` already.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from baracuda.core import layout_key
from baracuda.core.device import Device, Stream
from baracuda.core.dlpack import expand_lanes, import_dlpack
from baracuda.core.elements import ElementKind
from baracuda.core.errors import BufferTooSmallError, InvalidProblemError, MisalignedOperandError, UnsupportedError
from baracuda.core.layout import reach


@dataclass(frozen=True, slots=True, eq=False)
class TensorRef:
    """A tensor that is read.

    Attributes
    ----------
    pointer : int
        Address of the element at index (0, ..., 0).
    shape, strides : tuple[int, ...]
        Extents, and steps in elements (of `kind.bits` bits each), which may be 0 or negative.
    kind : ElementKind
        What an element is.
    device : Device
        Where the memory is. Pinned host memory is the CPU's, managed memory is CUDA's.
    nbytes_available, nbytes_before : int | None
        Bytes of the buffer from `pointer` to its end, and before `pointer`; None where not known.
    readonly : bool
        Whether the memory must not be written.
    owner : Any
        Keeps the memory alive.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: ElementKind
    device: Device
    nbytes_available: int | None = None
    nbytes_before: int | None = None
    readonly: bool = False
    owner: Any = field(default=None, repr=False)

    @property
    def alignment(self) -> int:
        """The largest power of two, at most 64, that divides the address."""
        return min(self.pointer & -self.pointer, 64) or 64


@dataclass(frozen=True, slots=True, eq=False)
class TensorMut(TensorRef):
    """A tensor that is written, and possibly read."""


def _checked(tensor: TensorRef, name: str) -> TensorRef:
    """The tensor, if its address is aligned and its elements lie in its buffer, as far as that is known."""
    if 0 in tensor.shape:
        return tensor
    if tensor.pointer == 0:
        raise InvalidProblemError(f"{name}: null pointer for shape {tensor.shape}; expected memory")
    itemsize = max(tensor.kind.bits // 8, 1)
    if tensor.pointer % itemsize:
        raise MisalignedOperandError(f"{name}: address {tensor.pointer:#x}; expected a multiple of {itemsize} ({tensor.kind})")
    lowest, highest = reach(tensor.shape, tensor.strides)
    above, below = -(-(highest + 1) * tensor.kind.bits // 8), -(lowest * tensor.kind.bits // 8)
    if tensor.nbytes_available is not None and above > tensor.nbytes_available:
        raise BufferTooSmallError(name, above, tensor.nbytes_available)
    if tensor.nbytes_before is not None and below > tensor.nbytes_before:
        raise BufferTooSmallError(f"{name}, below its first element", below, tensor.nbytes_before)
    return tensor


def _numpy_buffer(array: np.ndarray[Any, Any]) -> tuple[int | None, int | None]:
    """Bytes from the array's first element to the end of the allocation it views, and bytes before it."""
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not root.flags.forc:
        return None, None
    offset = layout_key.numpy_pointer(array) - layout_key.numpy_pointer(root)
    if not 0 <= offset <= root.nbytes:
        return None, None
    return root.nbytes - offset, offset


def _from_numpy(array: np.ndarray[Any, Any], name: str) -> TensorRef:
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(array, masked.MaskedArray):
        raise InvalidProblemError(f"{name}: a masked array's mask would be lost; pass .filled(value)")
    kind = ElementKind.from_numpy(array.dtype)
    itemsize = array.dtype.itemsize
    for axis, (extent, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        if extent > 1 and stride % itemsize:
            raise MisalignedOperandError(f"{name}: axis {axis} steps {stride} bytes; expected a multiple of {itemsize} ({kind})")
    units = 8 * itemsize // kind.bits  # NumPy keeps a packed kind's element in a byte of its own: every second one
    available, before = _numpy_buffer(array)
    return TensorRef(
        pointer=layout_key.numpy_pointer(array),
        shape=array.shape,
        strides=tuple(s // itemsize * units for s in array.strides),
        kind=kind,
        device=Device.cpu(),
        nbytes_available=available,
        nbytes_before=before,
        readonly=not array.flags.writeable or units > 1,
        owner=array,
    )


@cache
def _torch_kinds(torch: Any) -> dict[Any, tuple[ElementKind, int]]:
    """Element kind and lanes of every torch dtype that has them."""
    names = {
        "float16": ElementKind.F16,
        "bfloat16": ElementKind.BF16,
        "float32": ElementKind.F32,
        "float64": ElementKind.F64,
        "int8": ElementKind.S8,
        "uint8": ElementKind.U8,
        "int16": ElementKind.S16,
        "uint16": ElementKind.U16,
        "int32": ElementKind.S32,
        "uint32": ElementKind.U32,
        "int64": ElementKind.S64,
        "uint64": ElementKind.U64,
        "bool": ElementKind.BOOL,
        "complex64": ElementKind.C64,
        "complex128": ElementKind.C128,
        "float8_e4m3fn": ElementKind.F8E4M3,
        "float8_e5m2": ElementKind.F8E5M2,
        "float8_e8m0fnu": ElementKind.U8,  # powers of two, which formulas take as their exponents' bytes
        "float4_e2m1fn_x2": ElementKind.F4E2M1,
    }
    return {
        getattr(torch, name): (kind, 2 if name.endswith("_x2") else 1) for name, kind in names.items() if hasattr(torch, name)
    }


def _from_torch(torch: Any, tensor: Any, name: str) -> TensorRef:
    if tensor.layout is not torch.strided:
        raise UnsupportedError(f"{name}: torch layout {tensor.layout}; expected torch.strided")
    if tensor.is_conj() or tensor.is_neg():
        method = "resolve_conj" if tensor.is_conj() else "resolve_neg"
        raise InvalidProblemError(f"{name}: its memory holds the {method[8:]} of its values; pass .{method}()")
    device = tensor.device
    if device.type not in ("cpu", "cuda"):
        raise UnsupportedError(f"{name}: torch device {device}; expected cpu or cuda")
    try:
        kind, lanes = _torch_kinds(torch)[tensor.dtype]
    except KeyError:
        known = ", ".join(map(str, ElementKind))
        raise UnsupportedError(f"{name}: {tensor.dtype} has no element kind; expected one of {known}") from None
    try:
        pointer, total = tensor.data_ptr(), tensor.untyped_storage().nbytes()
    except (RuntimeError, NotImplementedError) as error:
        raise InvalidProblemError(f"{name}: this {type(tensor).__name__} has no memory of its own: {error}") from error
    offset = tensor.storage_offset() * tensor.itemsize
    shape, strides = expand_lanes(tuple(tensor.shape), tensor.stride(), lanes, name)
    return TensorRef(
        pointer=pointer,
        shape=shape,
        strides=strides,
        kind=kind,
        device=Device.cpu() if device.type == "cpu" else Device.cuda(device.index),
        nbytes_available=max(total - offset, 0),
        nbytes_before=offset,
        owner=tensor,
    )


def _from_dlpack(obj: Any, stream: Stream | None, name: str) -> TensorRef:
    tensor = import_dlpack(obj, stream, name)
    immutable = type(obj).__module__.partition(".")[0] in ("jax", "jaxlib")  # and old capsules have no flag to say so
    return TensorRef(
        pointer=tensor.pointer,
        shape=tensor.shape,
        strides=tensor.strides,
        kind=tensor.kind,
        device=tensor.device,
        readonly=tensor.readonly or immutable,
        owner=tensor.owner,
    )


def tensor_ref(obj: Any, *, stream: Stream | None = None, name: str = "tensor") -> TensorRef:
    """`obj` as a tensor to read.

    Parameters
    ----------
    obj
        A NumPy array, a `torch.Tensor`, any DLPack producer, or a `TensorRef`, which is only checked. A packed kind
        in NumPy has one element to a byte and so strides of 2; it can be read but not written.
    stream
        The stream that the tensor will be used on. DLPack producers make it wait for their pending work; NumPy arrays and
        torch tensors are taken as they are, so torch work on another stream is the caller's to order.
    name
        What errors call the tensor.

    Raises
    ------
    InvalidProblemError
        `obj` is not a tensor, its values are not what its memory holds (lazy conjugation, a mask), or it has no memory.
    UnsupportedError
        Its device, layout or element type is not one that baracuda knows.
    MisalignedOperandError
        Its address or a stride is not a multiple of the element size.
    BufferTooSmallError
        Its shape and strides leave its buffer.
    """
    if isinstance(obj, TensorRef):
        return _checked(obj, name)
    if isinstance(obj, np.ndarray):
        return _checked(_from_numpy(obj, name), name)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(obj, torch.Tensor):
        layout_key.register_torch(torch)
        return _checked(_from_torch(torch, obj, name), name)
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        return _checked(_from_dlpack(obj, stream, name), name)
    got = f"{type(obj).__module__}.{type(obj).__qualname__}"
    raise InvalidProblemError(f"{name}: got a {got}; expected a NumPy array, a torch.Tensor or an object with __dlpack__")


def tensor_mut(obj: Any, *, stream: Stream | None = None, name: str = "tensor") -> TensorMut:
    """`obj` as a tensor to write; parameters and errors are those of `tensor_ref`.

    Raises
    ------
    InvalidProblemError
        Also where the tensor is read-only, and where it is a torch tensor that requires grad while gradients are being
        recorded, because autograd would not see the write.
    """
    tensor = tensor_ref(obj, stream=stream, name=name)
    if tensor.readonly:
        raise InvalidProblemError(f"{name}: it is read-only; expected a tensor that can be written")
    if isinstance(tensor, TensorMut):
        return tensor
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(obj, torch.Tensor) and obj.requires_grad and torch.is_grad_enabled():
        raise InvalidProblemError(f"{name}: it requires grad, and no write is recorded; pass .detach() or use torch.no_grad()")
    return TensorMut(**{slot: getattr(tensor, slot) for slot in TensorRef.__slots__})
