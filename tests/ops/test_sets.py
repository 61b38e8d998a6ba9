"""Sets: values against NumPy's and PyTorch's, and what a given size leaves and fills."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from tests.ops.composed import called, same_bits

DTYPES = [np.float32, np.float16, np.float64, np.int64, np.uint8, np.uint64, bool, np.complex64]
SETS = ["union1d", "intersect1d", "setdiff1d", "setxor1d"]
ALL: dict[str, Any] = {"return_index": True, "return_inverse": True, "return_counts": True}


def few(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    """Few different values, in floats NaN among them."""
    rng = np.random.default_rng([seed, *shape])
    x = np.asarray(rng.integers(0, 7, shape)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x = np.asarray(x + 1j * rng.integers(0, 2, shape)).astype(dtype)
    if np.dtype(dtype).kind == "f" and x.size > 3:
        x.flat[1:3] = np.nan
    return x


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(60,), (5, 6), (), (1,), (0,), (2000,)])
@pytest.mark.one_of(2)
def test_unique(shape: tuple[int, ...], dtype: Any, equal_nan: bool, device: str) -> None:
    x = few(shape, dtype)
    want = np.unique(x, equal_nan=equal_nan, **ALL)
    for got, w in zip(called(lambda x: baracuda.unique(x, equal_nan=equal_nan, **ALL), [x], device), want, strict=True):
        same_bits(got, w)
    (alone,) = called(lambda x: baracuda.unique(x, equal_nan=equal_nan), [x], device)
    same_bits(alone, want[0])


@pytest.mark.parametrize(("shape", "axis"), [((6, 3), 0), ((3, 6), 1), ((4, 3, 2), -2), ((7,), 0), ((0, 3), 0), ((9, 1), 0)])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_unique_slices(shape: tuple[int, ...], axis: int, dtype: Any, device: str) -> None:
    x = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    want = np.unique(x, axis=axis, **ALL)
    for got, w in zip(called(lambda x: baracuda.unique(x, axis=axis, **ALL), [x], device), want, strict=True):
        same_bits(got, w.reshape(got.shape))


def test_unique_as_they_occur(device: str) -> None:
    x = np.array([5, 1, 5, 3, 1, 9])
    got = called(lambda x: baracuda.unique(x, sorted=False, **ALL), [x], device)
    assert [g.tolist() for g in got] == [[5, 1, 3, 9], [0, 1, 3, 5], [0, 1, 0, 2, 1, 3], [2, 2, 1, 1]]


@pytest.mark.parametrize("size", [0, 2, 3, 6])
@pytest.mark.parametrize("fill", [None, 7])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.complex64, ml_dtypes.float8_e4m3fn])
def test_a_given_size(size: int, fill: int | None, dtype: Any, device: str) -> None:
    x = np.array([3, 1, 3, 5]).astype(dtype)
    values, index, inverse, counts = called(lambda x: baracuda.unique(x, size=size, fill_value=fill, **ALL), [x], device)
    beyond = max(size - 3, 0)
    assert values.dtype == x.dtype
    assert values.astype(complex).tolist() == ([1, 3, 5] + [fill or 1] * beyond)[:size]
    assert index.tolist() == ([1, 0, 3] + [1] * beyond)[:size]
    assert inverse.tolist() == [1, 0, 1, 2]
    assert counts.tolist() == ([1, 2, 1] + [0] * beyond)[:size]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(50,), (4, 5), (0,)])
def test_sets(name: str, dtype: Any, shape: tuple[int, ...], device: str) -> None:
    a, b = few(shape, dtype), np.asarray(np.random.default_rng(1).integers(0, 9, 20)).astype(dtype)
    function, want = getattr(baracuda, name), getattr(np, name)(a, b)
    (got,) = called(function, [a, b], device)
    same_bits(got, want)
    (sized,) = called(lambda a, b: function(a, b, size=15, fill_value=3), [a, b], device)
    filled = np.full(15, 3, dtype)
    filled[: want.size] = want[:15]
    same_bits(sized, filled)


def test_where_what_is_in_both_lies(device: str) -> None:
    a, b = few((50,), np.int64), few((30,), np.int64, seed=1) + 3
    for got, w in zip(
        called(lambda a, b: baracuda.intersect1d(a, b, return_indices=True), [a, b], device),
        np.intersect1d(a, b, return_indices=True), strict=True,
    ):  # fmt: skip
        same_bits(got, w)
    sized = called(lambda a, b: baracuda.intersect1d(a, b, return_indices=True, size=8), [a, b], device)
    assert [s[-1] for s in sized] == [0, 50, 30]


def test_of_unique_elements_the_order_stays(device: str) -> None:
    a, b = np.array([5, 1, 4]), np.array([1, 9])
    (got,) = called(lambda a, b: baracuda.setdiff1d(a, b, assume_unique=True), [a, b], device)
    assert got.tolist() == [5, 4]


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_isin(dtype: Any, invert: bool, device: str) -> None:
    x, tests = few((4, 40), dtype), few((3, 2), dtype, seed=1)
    (got,) = called(lambda x, t: baracuda.isin(x, t, invert=invert), [x, tests], device)
    same_bits(got, np.isin(x, tests, invert=invert))
    (got,) = called(lambda x, t: baracuda.isin(x, t, invert=invert), [x, tests[:0]], device)
    assert (got == invert).all()
    number = True if dtype is bool else 3
    (got,) = called(lambda x: baracuda.isin(x, number, invert=invert), [x], device)
    same_bits(got, np.isin(x, number, invert=invert))


@pytest.mark.parametrize(("shape", "axis"), [((40,), None), ((5, 8), None), ((3, 9), 1), ((9, 3), 0), ((0,), None)])
def test_unique_consecutive(shape: tuple[int, ...], axis: int | None, device: str) -> None:
    x = np.random.default_rng(0).integers(0, 2, shape)
    words: dict[str, Any] = {"return_inverse": True, "return_counts": True}
    want = torch.unique_consecutive(torch.from_numpy(x), dim=axis, **words)
    for got, w in zip(called(lambda x: baracuda.unique_consecutive(x, axis=axis, **words), [x], device), want, strict=True):
        same_bits(got, w.numpy())
