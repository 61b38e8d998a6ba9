"""`baracuda.Array`: a tensor in the memory of the CPU or of a CUDA device, with the methods of the array API standard."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core import layout_key
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import is_contiguous, reach
from baracuda.core.parameters import element_of
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import extents_of, strides_in
from baracuda.frontends.array.exchange import Exchange
from baracuda.frontends.array.indexing import Indexing
from baracuda.frontends.array.operators import Operators, public
from baracuda.frontends.array.shapes import integers, transposed
from baracuda.native import load

_native = load()


class Array(Operators, Indexing, Exchange, TensorMut):
    """A tensor in a device's memory, with NumPy's views and operators and the methods of the array API standard (2025.12). Every
    function of the library takes and returns it.

    On a CUDA device all its work is on the default stream, and nothing waits for it but what looks at values: `numpy()`,
    `item()`, `bool()` and their like, and `repr`. On the CPU `numpy()` and `np.asarray` are views of the same memory. Arrays are
    made by `baracuda.to_device`, `baracuda.from_dlpack` and the functions of `baracuda.array_api`.

    An array is written by `x[index] = values`, in-place operators and `out=`; arrays that share its memory see it. Several
    threads may use an array at once, as long as none of them writes it.

    Example
    -------
    >>> import numpy as np, baracuda
    >>> x = baracuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3), baracuda.Device.cpu())
    >>> baracuda.sum(x[:, 1:].T * 2, axis=0)
    Array([ 6., 18.], dtype=float32)
    """

    __slots__ = ("_layout",)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def dtype(self) -> ElementKind:
        """The element, `kind`, by its name in other libraries; `np.dtype(x.dtype)` is NumPy's."""
        return self.kind

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.kind.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.kind.itemsize

    @property
    def T(self) -> Array:
        """The view with the axes in reverse."""
        return self.transpose()

    @property
    def mT(self) -> Array:
        """The view with the last two axes exchanged."""
        if self.ndim < 2:
            raise InvalidProblemError(f"mT: shape is {self.shape}; expected two axes or more")
        return self.transpose(*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)

    @property
    def real(self) -> Array:
        """The real part."""
        answer: Array = public("real")(self)
        return answer

    @property
    def imag(self) -> Array:
        """The imaginary part."""
        answer: Array = public("imag")(self)
        return answer

    def transpose(self, *axes: Any) -> Array:
        """The view with the axes, integers or a tuple of them, in another order, by default in reverse."""
        return self._view(0, *transposed(self.shape, self.strides, integers(axes)))

    def swapaxes(self, first: int, second: int) -> Array:
        """The view with two axes exchanged."""
        axes = list(range(self.ndim))
        if not (-self.ndim <= first < self.ndim and -self.ndim <= second < self.ndim):
            raise InvalidProblemError(f"axes: {first}, {second}; expected two of the {self.ndim} axes of shape {self.shape}")
        axes[first], axes[second] = axes[second], axes[first]
        return self.transpose(*axes)

    def reshape(self, *shape: Any) -> Array:
        """The elements in another shape, integers or a tuple of them, one of which may be -1: a view where the strides allow
        one, else a copy."""
        extents = extents_of(self.shape, integers(shape))
        strides = strides_in(self.shape, self.strides, extents)
        return self._view(0, extents, strides) if strides is not None else self.copy().reshape(*extents)

    def broadcast_to(self, shape: tuple[int, ...]) -> Array:
        """The view in which extents of 1, and axes before the first, are repeated; it cannot be written."""
        shape = integers(shape)
        lead = len(shape) - len(self.shape)
        fits = lead >= 0 and all(n in (1, wanted) for n, wanted in zip(self.shape, shape[lead:], strict=True))
        if not fits:
            raise InvalidProblemError(f"shape: {shape}; expected one that shape {self.shape} broadcasts to")
        strides = (*(0,) * lead, *(s if n == w else 0 for n, s, w in zip(self.shape, self.strides, shape[lead:], strict=True)))
        return self._view(0, shape, strides, readonly=True)

    def view(self, kind: ElementKind) -> Array:
        """The same memory read as another element. To one of another size the last axis, which is to be contiguous, gets longer
        or shorter."""
        old, new = self.kind.itemsize, kind.itemsize
        last, rest = self.shape[-1] * old if self.shape else old, [s * old for s in self.strides[:-1]]
        dense = bool(self.shape) and (self.strides[-1] == 1 or self.shape[-1] == 1)
        if old != new and (not dense or last % new or any(s % new for s in rest)):
            raise InvalidProblemError(f"{self.kind} of shape {self.shape} with strides {self.strides} cannot be read as {kind}")
        shape, strides = self.shape, self.strides
        if old != new:
            shape, strides = (*shape[:-1], last // new), (*(s // new for s in rest), 1)
        available, before = self.nbytes_available, self.nbytes_before
        return new_array(self.pointer, shape, strides, kind, self.device, available, before, self.owner, self.readonly)

    def copy(self) -> Array:
        """A contiguous copy."""
        return self.astype(self.kind)

    def astype(self, dtype: Any, *, copy: bool = True) -> Array:
        """The elements converted to a dtype (an `ElementKind`, a NumPy dtype or the name of one); the array itself where it has
        that and no copy is wanted. The conversion is that of `baracuda.cast`."""
        kind = element_of(dtype) or self.kind
        if kind is self.kind and not copy:
            return self
        from baracuda.frontends.array.memory import empty

        result = empty(self.shape, kind, self.device)
        if result.size:
            public("cast")(self, dtype=kind, out=result)
        return result

    def to_device(self, device: Device, /, *, stream: Any = None) -> Array:
        """The array on a device: itself where it lies there, else a copy, once what computes it is done."""
        from baracuda.frontends.array.placing import to_device

        if stream is not None:
            raise InvalidProblemError(f"stream: {stream!r}; expected None: arrays work on the default stream")
        return to_device(self, device)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """`baracuda.array_api`."""
        from importlib import import_module

        namespace = import_module("baracuda.array_api")
        if api_version not in (None, *namespace.VERSIONS):
            raise InvalidProblemError(f"api_version: {api_version!r}; expected one of {', '.join(namespace.VERSIONS)}")
        return namespace

    @staticmethod
    def of(ref: TensorRef) -> Array:
        """The array of a tensor's memory."""
        return of(ref)

    def _view(self, start: int, shape: tuple[int, ...], strides: tuple[int, ...], readonly: bool = False) -> Array:
        if _native is not None:
            view: Array = _native.view(self, start, shape, strides, readonly)
            return view
        offset = start * self.kind.itemsize
        available, before = self.nbytes_available, self.nbytes_before
        return new_array(
            self.pointer + offset,
            shape,
            strides,
            self.kind,
            self.device,
            None if available is None else available - offset,
            None if before is None else before + offset,
            self.owner,
            self.readonly or readonly,
        )

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in their order without gaps."""
        return is_contiguous(self.shape, self.strides)


#: The slots of an array, in the order of `enum Field` in native/key.h.
FIELDS = (*(vars(TensorRef)[name] for name in TensorRef.__dataclass_fields__), vars(Array)["_layout"])
#: Their setters: a dataclass that is frozen takes twice as long to make in the ordinary way.
_POINTER, _SHAPE, _STRIDES, _KIND, _DEVICE, _AVAILABLE, _BEFORE, _READONLY, _OWNER, _LAYOUT = (f.__set__ for f in FIELDS)


def new_array(
    pointer: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    kind: ElementKind,
    device: Device,
    available: int | None,
    before: int | None,
    owner: Any,
    readonly: bool = False,
) -> Array:
    """The array of these fields."""
    array = object.__new__(Array)
    _POINTER(array, pointer)
    _SHAPE(array, shape)
    _STRIDES(array, strides)
    _KIND(array, kind)
    _DEVICE(array, device)
    _AVAILABLE(array, available)
    _BEFORE(array, before)
    _READONLY(array, readonly)
    _OWNER(array, owner)
    return array


def of(ref: TensorRef) -> Array:
    """The array of a tensor's memory."""
    if ref.kind.bits < 8:
        raise InvalidProblemError(f"{ref.kind} is packed; expected an element of a byte or more")
    available, before = ref.nbytes_available, ref.nbytes_before
    return new_array(ref.pointer, ref.shape, ref.strides, ref.kind, ref.device, available, before, ref.owner, ref.readonly)


# --- layouts ------------------------------------------------------------------------------------------------------------

#: One object for each layout of arrays: where, from its first element, such an array's memory begins and ends, its device's kind
#: (as in DLPack) and number, whether it may not be written, and bytes of an element. The latest ones, and those before them,
#: which are let go when there are `MOST_LAYOUTS` new ones. An array keeps its own, calls those whose addresses are in their keys.
_layouts: dict[Any, tuple[int, int, int, int, bool, int]] = {}
_older_layouts: dict[Any, tuple[int, int, int, int, bool, int]] = {}
MOST_LAYOUTS = 4096


def layout_of(array: Array) -> tuple[int, int, int, int, bool, int]:
    """An object that stands for all that matters of an array but its address; the array keeps it."""
    global _layouts, _older_layouts
    layout: tuple[int, int, int, int, bool, int] | None = getattr(array, "_layout", None)
    if layout is not None:
        return layout
    key = array.kind, array.device, array.shape, array.strides, array.readonly
    layout = _layouts.get(key)
    if layout is None:
        layout = _older_layouts.get(key)
        if layout is None:
            lowest, highest = reach(array.shape, array.strides)
            bits, on_cpu = array.kind.bits, array.device.kind is DeviceKind.CPU
            low, high = lowest * bits // 8, -(-(highest + 1) * bits // 8)
            layout = (low, high, 1 if on_cpu else 2, array.device.index, array.readonly, max(bits // 8, 1))
        if len(_layouts) >= MOST_LAYOUTS:
            _older_layouts, _layouts = _layouts, {}
        _layouts[key] = layout
    _LAYOUT(array, layout)
    return layout


def _layout_key(array: Any) -> layout_key.KeyedPointer:
    return (Array, array.kind, array.device, array.shape, array.strides), array.pointer


def _layout_key_mut(array: Any) -> layout_key.KeyedPointer | None:
    return None if array.readonly else _layout_key(array)


layout_key.LAYOUT_KEYS[Array], layout_key.LAYOUT_KEYS_MUT[Array] = _layout_key, _layout_key_mut

if _native is not None:
    _native.use_arrays(Array, FIELDS, layout_of)
