"""Element kinds: sizes, categories, compute kinds and their NumPy dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import Error, UnsupportedError

PACKED = {ElementKind.S4, ElementKind.U4, ElementKind.F4E2M1}


@pytest.mark.parametrize(
    ("kind", "dtype", "itemsize"),
    [
        (ElementKind.F16, np.float16, 2),
        (ElementKind.BF16, ml_dtypes.bfloat16, 2),
        (ElementKind.F32, np.float32, 4),
        (ElementKind.F64, np.float64, 8),
        (ElementKind.S8, np.int8, 1),
        (ElementKind.U8, np.uint8, 1),
        (ElementKind.S16, np.int16, 2),
        (ElementKind.U16, np.uint16, 2),
        (ElementKind.S32, np.int32, 4),
        (ElementKind.U32, np.uint32, 4),
        (ElementKind.S64, np.int64, 8),
        (ElementKind.U64, np.uint64, 8),
        (ElementKind.BOOL, np.bool_, 1),
        (ElementKind.C64, np.complex64, 8),
        (ElementKind.C128, np.complex128, 16),
        (ElementKind.F8E4M3, ml_dtypes.float8_e4m3fn, 1),
        (ElementKind.F8E5M2, ml_dtypes.float8_e5m2, 1),
    ],
)
def test_numpy_dtype(kind: ElementKind, dtype: type, itemsize: int) -> None:
    assert kind.numpy == np.dtype(dtype)
    assert ElementKind.from_numpy(dtype) is kind
    assert kind.itemsize == itemsize == np.dtype(dtype).itemsize


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(ElementKind.S4, ml_dtypes.int4), (ElementKind.U4, ml_dtypes.uint4), (ElementKind.F4E2M1, ml_dtypes.float4_e2m1fn)],
)
def test_packed_kinds_have_a_dtype_but_no_item_size(kind: ElementKind, dtype: type) -> None:
    assert kind.numpy == np.dtype(dtype)
    assert ElementKind.from_numpy(dtype) is kind
    with pytest.raises(UnsupportedError, match="packed, 2 to a byte"):
        _ = kind.itemsize


def test_every_kind_is_covered_and_distinct() -> None:
    assert {k for k in ElementKind if k.bits < 8} == PACKED
    assert len({k.dlpack for k in ElementKind}) == len(ElementKind)
    assert len({k.label for k in ElementKind}) == len(ElementKind)
    assert len({k.numpy for k in ElementKind}) == len(ElementKind)


def test_categories_agree_with_numpy() -> None:
    letters = {"f": Category.FLOAT, "i": Category.SIGNED, "u": Category.UNSIGNED, "b": Category.BOOL, "c": Category.COMPLEX}
    for kind in set(ElementKind) - PACKED:
        if kind.numpy.kind in letters and kind.numpy.isbuiltin == 1:
            assert kind.category is letters[kind.numpy.kind], kind
    assert not ElementKind.C64.is_float
    assert not ElementKind.BOOL.is_integer


def test_compute_kind_is_exact_and_idempotent() -> None:
    for kind in ElementKind:
        assert kind.compute.compute is kind.compute
        assert kind.compute.bits >= kind.bits
        assert kind.compute.category is kind.category or kind.category is Category.UNSIGNED
    assert ElementKind.BF16.compute is ElementKind.F32
    assert ElementKind.U8.compute is ElementKind.S32
    assert ElementKind.U32.compute is ElementKind.U32


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "S3", "O", np.dtype([("x", "f4")])])
def test_unknown_dtype_is_refused_by_name(dtype: object) -> None:
    with pytest.raises(UnsupportedError, match="has no element kind") as info:
        ElementKind.from_numpy(dtype)
    assert np.dtype(dtype).name in str(info.value)  # type: ignore[call-overload]


def test_swapped_bytes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="byte-swapped"):
        ElementKind.from_numpy(np.dtype(np.float32).newbyteorder())


def test_errors_are_the_builtins_a_caller_expects() -> None:
    assert issubclass(UnsupportedError, NotImplementedError)
    assert issubclass(UnsupportedError, Error)
