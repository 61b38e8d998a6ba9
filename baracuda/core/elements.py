"""Element kinds: what one element of a tensor is, and what arithmetic it computes in."""

from __future__ import annotations

import enum
from functools import cache
from typing import Any

import numpy as np

from baracuda.core.errors import UnsupportedError


class Category(enum.Enum):
    """The number system an element belongs to."""

    FLOAT = "float"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    BOOL = "bool"
    COMPLEX = "complex"


class ElementKind(enum.Enum):
    """The kind of one tensor element.

    Attributes
    ----------
    bits : int
        Storage size of one element. Packed kinds (`S4`, `U4`, `F4E2M1`) have 4.
    category : Category
        The number system.
    dlpack : tuple[int, int]
        DLPack type code and bits (lanes are always 1; packed kinds have 2 lanes of 4 bits).
    """

    #        name          bits  category           DLPack code, bits
    F16 = ("f16", 16, Category.FLOAT, (2, 16))
    BF16 = ("bf16", 16, Category.FLOAT, (4, 16))
    F32 = ("f32", 32, Category.FLOAT, (2, 32))
    F64 = ("f64", 64, Category.FLOAT, (2, 64))
    S8 = ("s8", 8, Category.SIGNED, (0, 8))
    U8 = ("u8", 8, Category.UNSIGNED, (1, 8))
    S16 = ("s16", 16, Category.SIGNED, (0, 16))
    U16 = ("u16", 16, Category.UNSIGNED, (1, 16))
    S32 = ("s32", 32, Category.SIGNED, (0, 32))
    U32 = ("u32", 32, Category.UNSIGNED, (1, 32))
    S64 = ("s64", 64, Category.SIGNED, (0, 64))
    U64 = ("u64", 64, Category.UNSIGNED, (1, 64))
    BOOL = ("bool", 8, Category.BOOL, (6, 8))
    C64 = ("complex64", 64, Category.COMPLEX, (5, 64))
    C128 = ("complex128", 128, Category.COMPLEX, (5, 128))
    F8E4M3 = ("f8e4m3", 8, Category.FLOAT, (10, 8))
    F8E5M2 = ("f8e5m2", 8, Category.FLOAT, (12, 8))
    S4 = ("s4", 4, Category.SIGNED, (0, 4))
    U4 = ("u4", 4, Category.UNSIGNED, (1, 4))
    F4E2M1 = ("f4e2m1", 4, Category.FLOAT, (17, 4))

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is several times slower

    def __init__(self, label: str, bits: int, category: Category, dlpack: tuple[int, int]) -> None:
        self.label = label
        self.bits = bits
        self.category = category
        self.dlpack = dlpack

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"ElementKind.{self.name}"

    @property
    def itemsize(self) -> int:
        """Bytes of one element; raises for packed kinds, which have no whole byte each."""
        if self.bits < 8:
            raise UnsupportedError(f"{self} is packed, {8 // self.bits} to a byte: it has no item size")
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.category is Category.FLOAT

    @property
    def is_integer(self) -> bool:
        return self.category in (Category.SIGNED, Category.UNSIGNED)

    @property
    def compute(self) -> ElementKind:
        """The kind that arithmetic on this element is done in (contract rule 3)."""
        return _COMPUTE[self]

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype (from ml_dtypes where NumPy has none)."""
        return _numpy_dtype(self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The same, as `np.dtype(kind)` looks for it."""
        return _numpy_dtype(self)

    @staticmethod
    def from_numpy(dtype: Any) -> ElementKind:
        """The kind of a NumPy dtype; raises `UnsupportedError` for one that has none."""
        return _from_numpy(np.dtype(dtype))


_COMPUTE = {
    kind: {
        ElementKind.F16: ElementKind.F32,
        ElementKind.BF16: ElementKind.F32,
        ElementKind.F8E4M3: ElementKind.F32,
        ElementKind.F8E5M2: ElementKind.F32,
        ElementKind.F4E2M1: ElementKind.F32,
        ElementKind.S8: ElementKind.S32,
        ElementKind.U8: ElementKind.S32,
        ElementKind.S16: ElementKind.S32,
        ElementKind.U16: ElementKind.S32,
        ElementKind.S4: ElementKind.S32,
        ElementKind.U4: ElementKind.S32,
    }.get(kind, kind)
    for kind in ElementKind
}

_NUMPY_NAMES = {
    ElementKind.F16: "float16",
    ElementKind.F32: "float32",
    ElementKind.F64: "float64",
    ElementKind.S8: "int8",
    ElementKind.U8: "uint8",
    ElementKind.S16: "int16",
    ElementKind.U16: "uint16",
    ElementKind.S32: "int32",
    ElementKind.U32: "uint32",
    ElementKind.S64: "int64",
    ElementKind.U64: "uint64",
    ElementKind.BOOL: "bool",
    ElementKind.C64: "complex64",
    ElementKind.C128: "complex128",
}

_ML_DTYPES_NAMES = {
    ElementKind.BF16: "bfloat16",
    ElementKind.F8E4M3: "float8_e4m3fn",
    ElementKind.F8E5M2: "float8_e5m2",
    ElementKind.S4: "int4",
    ElementKind.U4: "uint4",
    ElementKind.F4E2M1: "float4_e2m1fn",
}


@cache
def _numpy_dtype(kind: ElementKind) -> np.dtype[Any]:
    if kind in _NUMPY_NAMES:
        return np.dtype(_NUMPY_NAMES[kind])
    import ml_dtypes  # a NumPy extension; only the kinds NumPy lacks need it

    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES_NAMES[kind]))
    return dtype


@cache
def _from_numpy(dtype: np.dtype[Any]) -> ElementKind:
    for kind in ElementKind:
        if dtype.name in (_NUMPY_NAMES.get(kind), _ML_DTYPES_NAMES.get(kind)):
            if not dtype.isnative:
                raise UnsupportedError(f"dtype {dtype!r} is byte-swapped; expected native byte order")
            return kind
    raise UnsupportedError(f"dtype {dtype.name!r} has no element kind; expected one of {', '.join(map(str, ElementKind))}")
