"""Layout arithmetic against enumeration of every index tuple."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baracuda.core import layout
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.layout import byte_range, contiguous_strides, has_internal_overlap, may_share, reach, same_view
from baracuda.core.tensor import TensorRef, tensor_ref

Layout = tuple[tuple[int, ...], tuple[int, ...]]


def offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in itertools.product(*map(range, shape))]


def ref(pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: ElementKind = ElementKind.F32) -> TensorRef:
    return TensorRef(pointer, shape, strides, kind, Device.cpu())


def addresses(t: TensorRef) -> set[int]:
    size = t.kind.itemsize
    return {t.pointer + o * size + b for o in offsets(t.shape, t.strides) for b in range(size)}


def layouts(max_rank: int, max_extent: int, max_stride: int) -> st.SearchStrategy[Layout]:
    axis = st.tuples(st.integers(0, max_extent) | st.integers(2, max_extent), st.integers(-max_stride, max_stride))
    return st.lists(axis, max_size=max_rank).map(lambda axes: (tuple(n for n, _ in axes), tuple(s for _, s in axes)))


@given(st.lists(st.integers(0, 5), max_size=5).map(tuple))
def test_contiguous_strides(shape: tuple[int, ...]) -> None:
    itemless = np.empty(tuple(max(n, 1) for n in shape), np.int8)
    assert contiguous_strides(shape) == itemless.strides
    assert contiguous_strides(list(shape)) == contiguous_strides(shape)


@given(layouts(4, 4, 20))
def test_reach(case: Layout) -> None:
    every = offsets(*case)
    assert reach(*case) == ((min(every), max(every)) if every else (0, -1))


@settings(max_examples=1500)
@given(layouts(4, 6, 12) | layouts(3, 9, 60) | layouts(5, 4, 100))
def test_internal_overlap(case: Layout) -> None:
    every = offsets(*case)
    assert has_internal_overlap(*case) == (len(set(every)) < len(every))


@pytest.mark.parametrize(
    ("shape", "strides", "overlap"),
    [
        ((1 << 20, 1 << 20), (1 << 20, 1), False),
        ((1 << 20, 1 << 20), (1, 1 << 20), False),
        ((1 << 20, 1 << 20), ((1 << 20) - 1, 1), True),
        ((1 << 30, 3), (1, 0), True),
        ((1 << 30, 1), (1, 0), False),
        ((1 << 30, 2), (3, 1), False),
        ((1 << 30, 4), (3, 1), True),
        ((1000, 999), (999, 1000), False),  # 999a = 1000b needs a = 1000
        ((1001, 1000), (999, 1000), True),
        ((10**6, 10**6, 2), (10**6 + 3, 10**12 + 39, 1), False),
        ((8, 1024, 1024), (1, 1, 1024), True),
        ((4, 8, 16, 16), (-2048, 256, 16, -1), False),
        ((0, 5), (0, 0), False),
        ((), (), False),
    ],
)
def test_internal_overlap_of_large_layouts(shape: tuple[int, ...], strides: tuple[int, ...], overlap: bool) -> None:
    assert has_internal_overlap(shape, strides) is overlap


def test_an_exhausted_search_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    shape, strides = (3, 3, 3, 3), (100, 141, 173, 199)
    assert not has_internal_overlap(shape, strides)
    monkeypatch.setattr(layout, "SEARCH_LIMIT", 1)
    assert has_internal_overlap(shape, strides)


@settings(max_examples=1000)
@given(
    layouts(3, 5, 9),
    layouts(3, 5, 9),
    st.integers(-40, 40),
    st.sampled_from([ElementKind.U8, ElementKind.S16, ElementKind.F32]),
    st.sampled_from([ElementKind.U8, ElementKind.F64]),
)
def test_may_share(one: Layout, two: Layout, distance: int, kind_a: ElementKind, kind_b: ElementKind) -> None:
    a = ref(1 << 20, *one, kind_a)
    b = ref((1 << 20) + distance, *two, kind_b)
    expected = bool(addresses(a) & addresses(b))
    assert may_share(a, b) == expected
    assert may_share(b, a) == expected


def test_may_share_of_views() -> None:
    x = np.zeros((8, 12), np.float32)
    r = tensor_ref
    assert not may_share(r(x[:, ::2]), r(x[:, 1::2]))
    assert not may_share(r(x[:4]), r(x[4:]))
    assert may_share(r(x[:5]), r(x[4:]))
    assert may_share(r(x), r(x.T))
    assert may_share(r(x), r(x[::-1]))
    assert not may_share(r(x), r(x.copy()))
    assert not may_share(r(x[:0]), r(x))


def test_other_devices_never_share() -> None:
    a = ref(4096, (4,), (1,))
    b = TensorRef(4096, (4,), (1,), ElementKind.F32, Device.cuda(0))
    assert not may_share(a, b)
    assert may_share(b, TensorRef(4104, (4,), (1,), ElementKind.F32, Device.cuda(0)))


def test_packed_elements_share_by_byte() -> None:
    a = ref(64, (4,), (1,), ElementKind.S4)
    assert byte_range(a) == (64, 66)
    assert byte_range(ref(64, (5,), (1,), ElementKind.S4)) == (64, 67)
    assert byte_range(ref(64, (5,), (-1,), ElementKind.U4)) == (62, 65)
    assert may_share(a, ref(65, (1,), (1,), ElementKind.S4))
    assert not may_share(a, ref(66, (1,), (1,), ElementKind.S4))


def test_byte_range_of_negative_strides() -> None:
    x = np.zeros((3, 4), np.float64)
    low = x.ctypes.data
    assert byte_range(tensor_ref(x[::-1, ::-1])) == (low, low + x.nbytes)
    assert byte_range(ref(128, (2, 0), (1, 1))) == (128, 128)


def test_same_view() -> None:
    x = np.zeros((4, 4), np.float32)
    assert same_view(tensor_ref(x), tensor_ref(x[:]))
    assert not same_view(tensor_ref(x), tensor_ref(x.T))
    assert not same_view(tensor_ref(x), tensor_ref(x[:2]))
    assert not same_view(tensor_ref(x), tensor_ref(x.view(np.int32)))
    assert not same_view(tensor_ref(x), tensor_ref(x.copy()))
