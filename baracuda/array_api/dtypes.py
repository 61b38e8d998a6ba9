"""Dtypes, which are the library's `ElementKind`s, and what is known of them: the standard's data type functions.

Where a dtype is asked for, NumPy's, or the name of one, does as well; `np.dtype` takes ours. The 16-bit and 8-bit floats of the
library (`float16`, `bfloat16`, `float8_e4m3fn`, `float8_e5m2`) are an addition to the standard's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.array_api.operands import DType, device_or, kind_of
from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.array import Array
from baracuda.ops.declaration.promotion import common, part, promote

bool = ElementKind.BOOL
int8, int16, int32, int64 = ElementKind.S8, ElementKind.S16, ElementKind.S32, ElementKind.S64
uint8, uint16, uint32, uint64 = ElementKind.U8, ElementKind.U16, ElementKind.U32, ElementKind.U64
float32, float64 = ElementKind.F32, ElementKind.F64
complex64, complex128 = ElementKind.C64, ElementKind.C128
float16, bfloat16 = ElementKind.F16, ElementKind.BF16
float8_e4m3fn, float8_e5m2 = ElementKind.F8E4M3, ElementKind.F8E5M2

_KINDS = {
    "bool": (Category.BOOL,),
    "signed integer": (Category.SIGNED,),
    "unsigned integer": (Category.UNSIGNED,),
    "integral": (Category.SIGNED, Category.UNSIGNED),
    "real floating": (Category.FLOAT,),
    "complex floating": (Category.COMPLEX,),
    "numeric": (Category.SIGNED, Category.UNSIGNED, Category.FLOAT, Category.COMPLEX),
}


def _element(x: Array | DType) -> ElementKind:
    return x.kind if isinstance(x, Array) else kind_of(x)


def astype(x: Array, dtype: DType, /, *, copy: Any = True, device: Device | None = None) -> Array:
    """`baracuda.cast`. A complex number becomes its real part, and a number out of an integer's range the nearest in it: the
    standard leaves both open."""
    converted = x.astype(dtype, copy=copy)
    return converted.to_device(device_or(device, x.device))


def can_cast(from_: DType | Array, to: DType, /) -> Any:
    """Whether the common element of both is the second: from bool to all, from integers to floats, from both to complex numbers
    among them."""
    target = _element(to)
    try:
        return promote(_element(from_), target) is target
    except InvalidProblemError:
        return False


def result_type(*arrays_and_dtypes: Any) -> ElementKind:
    """The common element of arrays, dtypes and Python's numbers, as `baracuda.ops.declaration.promotion` says."""
    numbers = [x for x in arrays_and_dtypes if type(x) in (np.bool_, int, float, complex) or x is True or x is False]
    kinds = [_element(x) for x in arrays_and_dtypes if not any(x is n for n in numbers)]
    return common(kinds, numbers)


def isdtype(dtype: DType, kind: Any) -> Any:
    """Whether a dtype is another, of a kind of them, or any of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return kind_of(dtype).category in _KINDS[kind]
    if isinstance(kind, str):
        raise InvalidProblemError(f"kind: {kind!r}; expected a dtype, one of {', '.join(_KINDS)}, or a tuple of them")
    return kind_of(dtype) is kind_of(kind)


@dataclass(frozen=True)
class finfo_object:
    """What `finfo` gives, in Python's numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: ElementKind


@dataclass(frozen=True)
class iinfo_object:
    """What `iinfo` gives."""

    bits: int
    max: int
    min: int
    dtype: ElementKind


def finfo(type: DType | Array, /) -> finfo_object:
    """Limits of a float, or of the parts of a complex number."""
    kind = _element(type)
    kind = part(kind) if kind.category is Category.COMPLEX else kind
    if not kind.is_float:
        raise InvalidProblemError(f"type: {kind}; expected a float or a complex number")
    import ml_dtypes

    found = ml_dtypes.finfo(kind.numpy)
    eps, highest, lowest, normal = (float(n) for n in (found.eps, found.max, found.min, found.smallest_normal))
    return finfo_object(kind.bits, eps, highest, lowest, normal, kind)


def iinfo(type: DType | Array, /) -> iinfo_object:
    """Limits of an integer."""
    kind = _element(type)
    if not kind.is_integer:
        raise InvalidProblemError(f"type: {kind}; expected an integer")
    signed = kind.category is Category.SIGNED
    low = -(1 << kind.bits - 1) if signed else 0
    return iinfo_object(kind.bits, low + (1 << kind.bits) - 1, low, kind)
