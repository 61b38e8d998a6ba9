"""New tensors from the caller's own library, and the stream its work is on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from baracuda.core.call_recorder import Allocated
from baracuda.core.call_recorder import current as current_recorder
from baracuda.core.device import Device, DeviceKind, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import contiguous_strides, reach
from baracuda.core.tensor import TensorRef, tensor_ref
from baracuda.frontends import array
from baracuda.frontends.array.described import NoValuesError, described, is_described
from baracuda.runtime import memory
from baracuda.runtime.streams import own_stream


def library_of(obj: Any) -> str:
    """The package that a tensor's type comes from."""
    if isinstance(obj, np.ndarray):
        return "numpy"
    if isinstance(obj, TensorRef):  # PyTorch takes its time to say that something is no tensor of its
        return "baracuda"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(obj, torch.Tensor):
        return "torch"
    return type(obj).__module__.partition(".")[0].removesuffix("lib")


class MemoryExtent(NamedTuple):
    """Where a tensor's memory is."""

    pointer: int
    low: int
    high: int


def extent_of(ref: TensorRef) -> MemoryExtent:
    """The address of a tensor's first element, and where its memory begins and ends."""
    lowest, highest = reach(ref.shape, ref.strides)
    bits = ref.kind.bits
    return MemoryExtent(ref.pointer, ref.pointer + lowest * bits // 8, ref.pointer + -(-(highest + 1) * bits // 8))


#: Types of arguments that functions take as they are.
_PLAIN = frozenset([np.ndarray, array.Array, type(None), bool, int, float, complex, str])
#: Libraries whose tensors have views of their own, and can be allocated.
_LIBRARIES = frozenset(["numpy", "cupy", "jax"])


class _BorrowedMemory:
    """The memory of another library's tensor, as NumPy takes it."""

    def __init__(self, ref: TensorRef) -> None:
        self.owner, size = ref.owner, ref.kind.itemsize
        self.__array_interface__ = {
            "shape": ref.shape,
            "typestr": f"|V{size}",  # of any element; NumPy has no letters for some
            "data": (ref.pointer, ref.readonly),
            "strides": tuple(s * size for s in ref.strides),
            "version": 3,
        }


def adopted(obj: Any, name: str = "tensor") -> Any:
    """A caller's tensor as functions need it: with a shape, a device, views, and a library to allocate results with.

    Tensors of NumPy, PyTorch, CuPy and JAX, arrays of our own, and what is no tensor are returned as they are. Any other
    producer of DLPack, and a bare `TensorRef`, becomes a NumPy array or an `Array` of the same memory, or a `TensorRef` where
    its element is packed. A tensor that PyTorch conjugates or negates lazily becomes one that holds its values, which is a
    copy. Of a list or tuple each member is adopted. `name` is what errors call it; they are those of `tensor_ref`.
    """
    if type(obj) in _PLAIN:
        return obj
    if type(obj) in (list, tuple):
        return all_adopted(obj, name)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(obj, torch.Tensor):
        return obj.resolve_conj().resolve_neg() if obj.is_conj() or obj.is_neg() else obj
    foreign = hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__") and library_of(obj) not in _LIBRARIES
    if not (foreign or isinstance(obj, TensorRef)):
        return obj
    ref = tensor_ref(obj, name=name)
    if isinstance(ref, array.Array) or ref.kind.bits < 8:
        return ref
    if ref.device.kind is DeviceKind.CUDA:
        return array.of(ref)
    return borrowed(ref)


def borrowed(ref: TensorRef) -> np.ndarray[Any, Any]:
    """A tensor on the CPU as a NumPy array of the same memory."""
    if is_described(ref):
        raise NoValuesError(f"values of {ref.kind} of shape {ref.shape}; expected a question about shape or element alone")
    if 0 in ref.shape:
        return np.empty(ref.shape, ref.kind.numpy)
    return np.asarray(_BorrowedMemory(ref)).view(ref.kind.numpy)


def all_adopted(values: Any, name: str = "tensor") -> Any:
    """Each value of a list or tuple `adopted`; the very sequence where none of them changes."""
    adopted_values = None
    for i, value in enumerate(values):
        if type(value) not in _PLAIN and (own := adopted(value, name)) is not value:
            adopted_values = adopted_values or list(values)
            adopted_values[i] = own
    return values if adopted_values is None else type(values)(adopted_values)


def memory_order(like: TensorRef) -> list[int]:
    """The axes of a tensor from slowest to fastest; one of stride 0 stays where it is as far as others let it, as in PyTorch."""
    order = list(range(len(like.shape)))
    for a in reversed(range(len(order) - 1)):
        at = a
        for i in range(a + 1, len(order)):
            faster = _is_faster(like, order[at], order[i])
            if faster:
                order[at], order[i] = order[i], order[at]
                at = i
            elif faster is not None:
                break
    return order


def _is_faster(like: TensorRef, a: int, b: int) -> bool | None:
    """Whether axis a of a tensor goes after b; None where their strides do not say."""
    first, second = abs(like.strides[a]), abs(like.strides[b])
    if not first or not second:
        return None
    if first == second:
        return True if like.shape[a] < like.shape[b] else None
    return first < second


def empty_like(like: Any, shape: Sequence[int], kind: ElementKind, order: Sequence[int] | None = None) -> Any:
    """A new, uninitialised tensor on the device of `like`, from its library, dense, its axes from slowest to fastest in an order:
    by default that of `like`, where this has the same shape.

    Raises
    ------
    UnsupportedError
        The library is not one that baracuda can allocate with; pass `out` instead.
    """
    result = _empty_like(like, tuple(shape), kind, order)
    allocated(result, like)
    return result


def allocated(result: Any, like: Any) -> None:
    """Tell who records a call of a tensor that was made for it."""
    recorder = current_recorder()
    if recorder is not None:
        ref = tensor_ref(result)
        recorder.allocate(Allocated(result, ref.pointer, prod(ref.shape) * ref.kind.itemsize, like))


def _empty_like(like: Any, shape: tuple[int, ...], kind: ElementKind, given: Sequence[int] | None) -> Any:
    library, ref = library_of(like), tensor_ref(like)
    order = given or (memory_order(ref) if shape == ref.shape else range(len(shape)))
    if is_described(like):
        return described(shape, kind, ref.device, order)
    if library == "torch" and not _is_pooled(ref.device, shape, kind):
        torch = sys.modules["torch"]
        if list(order) != list(range(len(shape))):
            own = contiguous_strides([shape[a] for a in order])
            strides = [own[list(order).index(a)] for a in range(len(shape))]
            return torch.empty_strided(shape, strides, dtype=torch_dtype(torch, kind), device=like.device)
        return torch.empty(shape, dtype=torch_dtype(torch, kind), device=like.device)
    if library == "cupy":
        inverse = [order.index(a) for a in range(len(order))]
        return sys.modules["cupy"].empty(tuple(shape[a] for a in order), kind.numpy).transpose(inverse)
    if library == "jax":
        return sys.modules["jax"].numpy.empty(shape, kind.numpy, device=like.device).block_until_ready()
    if library != "baracuda" and ref.device.kind is not DeviceKind.CPU:
        raise UnsupportedError(f"no allocation for {type(like).__module__}.{type(like).__qualname__} on {ref.device}; pass out")
    return _laid_out(library, ref.device, shape, order, kind)(like)


def dense_allocator(
    library: str, device: Device, shape: Sequence[int], strides: Sequence[int], kind: ElementKind
) -> Callable[[Any], Any]:
    """What makes dense tensors of a library with these strides in elements, on the device of the tensor it is given."""
    if library == "torch" and not _is_pooled(device, shape, kind):
        torch = sys.modules["torch"]
        empty, dtype, extents, steps = torch.empty_strided, torch_dtype(torch, kind), tuple(shape), tuple(strides)
        return lambda like: empty(extents, steps, dtype=dtype, device=like.device)
    order = sorted(range(len(shape)), key=lambda a: (-strides[a], -shape[a], a))
    return _laid_out(library, device, shape, order, kind)


def _is_pooled(device: Device, shape: Sequence[int], kind: ElementKind) -> bool:
    """Whether tensors of PyTorch lie in our pool: its own allocator asks the system anew, which is a page fault every 4 KiB."""
    return device.kind is DeviceKind.CPU and prod(shape) * kind.itemsize >= memory.SMALLEST_POOLED


def _laid_out(
    library: str, device: Device, shape: Sequence[int], order: Sequence[int], kind: ElementKind
) -> Callable[[Any], Any]:
    """What makes dense tensors of our own memory, whose axes lie in this order from the slowest to the fastest."""
    ordered, inverse = tuple(shape[a] for a in order), [order.index(a) for a in range(len(order))]
    straight = inverse == sorted(inverse)
    if library == "torch":
        return _pooled_torch(sys.modules["torch"], ordered, inverse, kind)
    if device.kind is DeviceKind.CPU and library != "baracuda":
        return lambda like: memory.empty(ordered, kind) if straight else memory.empty(ordered, kind).transpose(inverse)
    extents, way = tuple(shape), None if straight else tuple(order)
    return lambda like: array.empty(extents, kind, device, way)


#: What NumPy calls the elements that it does not have, for memory alone.
_OF_NUMPY = {ElementKind.BF16: ElementKind.U16, ElementKind.F8E4M3: ElementKind.U8, ElementKind.F8E5M2: ElementKind.U8}


def _pooled_torch(torch: Any, shape: tuple[int, ...], inverse: Sequence[int], kind: ElementKind) -> Callable[[Any], Any]:
    """PyTorch tensors of memory from the pool."""
    of_numpy, dtype, straight = _OF_NUMPY.get(kind, kind), torch_dtype(torch, kind), list(inverse) == sorted(inverse)

    def allocate(like: Any) -> Any:
        tensor = torch.from_numpy(memory.empty(shape, of_numpy))
        if of_numpy is not kind:
            tensor = tensor.view(dtype)
        return tensor if straight else tensor.permute(inverse)

    return allocate


def writable(obj: Any) -> Any:
    """A tensor this module has just made, as something to write: JAX calls its arrays immutable, and nobody else has seen
    this one yet."""
    if library_of(obj) != "jax":
        return obj
    from baracuda.core.tensor import TensorMut

    ref = tensor_ref(obj)
    return TensorMut(ref.pointer, ref.shape, ref.strides, ref.kind, ref.device, owner=obj)


def torch_dtype(torch: Any, kind: ElementKind) -> Any:
    """The dtype of PyTorch for an element."""
    names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool", "s64": "int64"}
    names |= {"s8": "int8", "u8": "uint8", "s16": "int16", "s32": "int32", "u16": "uint16", "u32": "uint32", "u64": "uint64"}
    names |= {"f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
    return getattr(torch, names.get(kind.label, kind.label))


def current_stream(like: Any, device: Device) -> Stream:
    """The stream that the library of `like` is working on."""
    if device.kind is DeviceKind.CPU:
        return Stream(device)
    library = library_of(like)
    if library == "torch":
        return Stream(device, sys.modules["torch"].cuda.current_stream(device.index).cuda_stream)
    if library == "cupy":
        return Stream(device, sys.modules["cupy"].cuda.get_current_stream().ptr)
    return own_stream(device)


def finish(like: Any, stream: Stream) -> None:
    """Make results visible to a library whose own streams cannot be joined (JAX)."""
    if stream.device.kind is DeviceKind.CUDA and library_of(like) == "jax":
        from cuda.bindings import driver

        driver.cuStreamSynchronize(stream.handle)


def broadcast(obj: Any, shape: Sequence[int]) -> Any:
    """The tensor with its extents of 1 repeated to `shape`, without a copy."""
    library = library_of(obj)
    if tuple(obj.shape) == tuple(shape):
        return obj
    if library == "torch":
        return obj.expand(tuple(shape))
    if library == "cupy":
        return sys.modules["cupy"].broadcast_to(obj, tuple(shape))
    ref = tensor_ref(obj)
    if library == "numpy":
        return np.broadcast_to(obj, tuple(shape))
    lead = len(shape) - len(ref.shape)
    strides = [0] * lead + [s if n != 1 else 0 for s, n in zip(ref.strides, ref.shape, strict=True)]
    return TensorRef(ref.pointer, tuple(shape), tuple(strides), ref.kind, ref.device, readonly=True, owner=obj)
