"""Views of our own arrays against NumPy's, as shapes, strides and offsets: no memory is touched."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import tensor_mut
from baracuda.core.views import strides_in
from baracuda.frontends.array import Array, indexing, to_device, to_host
from baracuda.frontends.array.array import layout_of

BASE = 1 << 20


def array(shape: tuple[int, ...], kind: ElementKind = ElementKind.F32) -> Array:
    return Array(BASE, shape, contiguous_strides(shape), kind, Device(Device.cuda(0).kind, 0), 1 << 20, 0)


def lies(x: np.ndarray[Any, Any], base: np.ndarray[Any, Any]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    return x.shape, tuple(s // 4 for s in x.strides), x.ctypes.data - base.ctypes.data


def same(ours: Array, theirs: np.ndarray[Any, Any], base: np.ndarray[Any, Any]) -> None:
    shape, strides, offset = lies(theirs, base)
    assert ours.shape == shape
    if theirs.size:
        assert ours.pointer - BASE == offset
        assert all(a == b for n, a, b in zip(shape, ours.strides, strides, strict=True) if n > 1)


INDICES = [
    (0,), (-1,), (slice(1, None),), (Ellipsis, 0), (slice(None), slice(None, None, 2)), (slice(None, None, -1), 1),
    (None, 0, None), (slice(3, 1), 0), (0, Ellipsis, slice(1, 3)), (slice(-2, None), slice(None), 2), (1, 2, Ellipsis),
    (slice(None, None, -2), Ellipsis),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices(index: tuple[Any, ...]) -> None:
    base = np.zeros((3, 4, 5), np.float32)
    same(array((3, 4, 5))[index], base[index], base)
    same(array((3, 4, 5)).T[index[::-1]], base.T[index[::-1]], base)


@pytest.mark.parametrize("index", [3, (0, 0, 0, 0), (Ellipsis, Ellipsis), "a", 1.0])
def test_wrong_indices(index: Any) -> None:
    with pytest.raises(InvalidProblemError):
        array((3, 4, 5))[index]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_reshape_and_transpose(shape: list[int], data: st.DataObject) -> None:
    base = np.zeros(shape, np.float32)
    axes = data.draw(st.permutations(range(len(shape))))
    ours, theirs = array(tuple(shape)).transpose(*axes), base.transpose(axes)
    same(ours, theirs, base)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(shape)), max_size=3)))
    merged = [int(np.prod(theirs.shape[a:b])) for a, b in pairwise([0, *cuts, len(shape)])]
    view = theirs.reshape(merged)
    if np.shares_memory(view, base):
        same(ours.reshape(*merged), view, base)
        same(ours.reshape(tuple(merged)), view, base)
    else:
        assert strides_in(ours.shape, ours.strides, tuple(merged)) is None  # it takes a copy


@given(array_shapes(max_dims=5, max_side=4), st.data())
def test_views_are_numpys_whether_made_in_c_or_in_python(shape: tuple[int, ...], data: st.DataObject) -> None:
    base = np.zeros(shape, np.float32)
    key = data.draw(basic_indices(shape, allow_newaxis=True))
    theirs, ours = base[key], array(shape)
    for view in (ours[key], indexing._getitem(ours, key)):
        same(view, np.asarray(theirs), base) if isinstance(theirs, np.ndarray) else None
        assert view.shape == np.shape(theirs)
        assert (view.nbytes_before, view.nbytes_available) == (view.pointer - BASE, (1 << 20) - (view.pointer - BASE))
        assert layout_of(view)[2:] == (2, 0, False, 4)


@pytest.mark.parametrize(
    "key", [1 << 70, -(1 << 70), (1 << 70, 0), slice(0, 1 << 70, 1 << 70), slice(1 << 70, None, -(1 << 70))], ids=str
)
def test_indices_beyond_any_integer(key: Any) -> None:
    x, base = array((3, 4)), np.zeros((3, 4), np.float32)
    if isinstance(key, slice):
        assert x[key].shape == base[key].shape
    else:
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(ValueError, match="zero"):
        x[::0]


def test_reshape_infers_an_extent() -> None:
    assert array((3, 4, 5)).reshape(2, -1).shape == (2, 30)
    assert array((0, 4)).reshape(4, 0).shape == (4, 0)
    for wrong in ((7,), (-1, -1), (7, -1)):
        with pytest.raises(InvalidProblemError, match="expected the 60 elements"):
            array((3, 4, 5)).reshape(*wrong)


def test_swapaxes_and_transpose_of_a_tuple() -> None:
    base = np.zeros((3, 4, 5), np.float32)
    same(array((3, 4, 5)).swapaxes(0, -1), base.swapaxes(0, -1), base)
    same(array((3, 4, 5)).transpose((1, 2, 0)), base.transpose((1, 2, 0)), base)
    for wrong in ((0, 3), (-4, 0)):
        with pytest.raises(InvalidProblemError, match="expected two of the 3 axes"):
            array((3, 4, 5)).swapaxes(*wrong)


def test_views_as_another_element() -> None:
    x = array((3, 4))
    assert (x.view(ElementKind.S32).shape, x.view(ElementKind.S32).kind) == ((3, 4), ElementKind.S32)
    assert (x.view(ElementKind.U8).shape, x.view(ElementKind.U8).strides) == ((3, 16), (16, 1))
    assert (x.view(ElementKind.C64).shape, x.view(ElementKind.C64).strides) == ((3, 2), (2, 1))
    column = array((2, 1), ElementKind.C64)[:, 0][:, None]
    assert column.strides[-1] == 0
    assert (column.view(ElementKind.F32).shape, column.view(ElementKind.F32).strides) == ((2, 2), (2, 1))
    for wrong in (x.T, x[:, :3], x[0, 0]):
        with pytest.raises(InvalidProblemError, match="cannot be read as f64"):
            wrong.view(ElementKind.F64)


def test_one_element_is_a_number() -> None:
    with pytest.raises(InvalidProblemError, match=r"shape is \(3, 4\); expected one element"):
        bool(array((3, 4)))
    with pytest.raises(TypeError, match="without axes"):
        len(array(()))


def test_an_array_is_a_tensor() -> None:
    x = array((3, 4))
    assert tensor_mut(x) is x
    assert (x.ndim, x.size, x.dtype, len(x)) == (2, 12, ElementKind.F32, 3)
    assert np.dtype(x.dtype) == np.float32
    assert x.mT.shape == (4, 3)
    assert x[1:].__cuda_array_interface__["data"] == (BASE + 16, False)
    with pytest.raises(UnsupportedError):
        _ = array((3,), ElementKind.BF16).__cuda_array_interface__


def test_an_array_on_the_cpu_shares_numpys_memory() -> None:
    x = np.arange(3.0)
    array = to_device(x, Device.cpu())
    assert array.pointer == x.ctypes.data
    assert to_host(array).ctypes.data == x.ctypes.data
    assert to_host(x) is x
