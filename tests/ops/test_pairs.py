"""Distances of the pairs of one set of points against PyTorch, and against `cdist` bit by bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from tests.ops.composed import FLOATS, called, check, drawn, same_bits

ORDERS = [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")]


@pytest.mark.one_of(3)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("shape", [(7, 5), (33, 130), (2, 1)])
def test_pdist(shape: tuple[int, int], p: float, dtype: Any, device: str) -> None:
    def forward(x: Any) -> Any:
        return baracuda.pdist(x, p=p)

    def backward(dy: Any, x: Any) -> Any:
        return baracuda.pdist_backward(dy, x, p=p)

    check(forward, backward, lambda x: torch.pdist(x, p), [drawn(shape, dtype)], device, units=64.0)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("p", ORDERS)
def test_a_saved_result_gives_the_same_gradient(p: float, dtype: Any, device: str) -> None:
    x, dy = drawn((20, 9), dtype), drawn(190, dtype, seed=1)
    (y,) = called(lambda x: baracuda.pdist(x, p=p), [x], device)
    (want,) = called(lambda dy, x: baracuda.pdist_backward(dy, x, p=p), [dy, x], device)
    (got,) = called(lambda dy, x, y: baracuda.pdist_backward(dy, x, y, p=p), [dy, x, y], device)
    if dtype is np.float32 or p == float("inf"):
        same_bits(got, want)
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=0.05, atol=0.05)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [1.0, 2.0, float("inf")])
def test_it_is_the_upper_triangle_of_cdist(p: float, dtype: Any, device: str) -> None:
    x = drawn((50, 70), dtype)
    (pairs,) = called(lambda x: baracuda.pdist(x, p=p), [x], device)
    (whole,) = called(lambda x: baracuda.cdist(x, x, p=p), [x], device)
    same_bits(pairs, whole[np.triu_indices(50, 1)])


def test_every_pair_of_many_points_is_found(device: str) -> None:
    n = 3001
    x = np.arange(n, dtype=np.float32)[:, None]
    (y,) = called(lambda x: baracuda.pdist(x, p=1), [x], device)
    i, j = np.triu_indices(n, 1)
    same_bits(y, (j - i).astype(np.float32))


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize(("shape", "pairs"), [((0, 3), 0), ((1, 3), 0), ((6, 0), 15)])
def test_nothing_to_measure(shape: tuple[int, int], pairs: int, p: float, device: str) -> None:
    x = np.zeros(shape, np.float32)
    (y,) = called(lambda x: baracuda.pdist(x, p=p), [x], device)
    same_bits(y, np.zeros(pairs, np.float32))
    (dx,) = called(lambda dy, x: baracuda.pdist_backward(dy, x, p=p), [y, x], device)
    same_bits(dx, x)


@pytest.mark.parametrize("p", ORDERS)
def test_equal_points_and_nan(p: float, device: str) -> None:
    x = drawn((5, 4), np.float32)
    x[3] = x[1]
    (y,) = called(lambda x: baracuda.pdist(x, p=p), [x], device)
    assert y[5] == 0  # of points 1 and 3
    dy = np.zeros(10, np.float32)
    dy[5] = 2.0
    (dx,) = called(lambda dy, x: baracuda.pdist_backward(dy, x, p=p), [dy, x], device)
    assert not dx.any()
    x[0, 2] = np.nan
    (y,) = called(lambda x: baracuda.pdist(x, p=p), [x], device)
    assert np.isnan(y).tolist() == [p != 0] * 4 + [False] * 6


def test_bits_do_not_depend_on_the_layout(device: str) -> None:
    x = drawn((60, 18), np.float32)
    (want,) = called(baracuda.pdist, [np.ascontiguousarray(x.T[:, ::2])], device)
    (got,) = called(lambda x: baracuda.pdist(x.T[:, ::2]), [x], device)
    same_bits(got, want)


def test_bad_input_is_refused() -> None:
    x = np.zeros((4, 3), np.float32)
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: shape is \(4, 3, 1\); expected \(points, coordinates\)"):
        baracuda.pdist(x[..., None])
    with pytest.raises(baracuda.InvalidProblemError, match="p: -1; expected a number at least 0"):
        baracuda.pdist(x, p=-1)
    with pytest.raises(baracuda.UnsupportedError, match="x: 65537 points; expected at most 65536"):
        baracuda.pdist(np.zeros((65537, 1), np.float32))
    with pytest.raises(baracuda.UnsupportedError, match="s64; expected one of"):
        baracuda.pdist(np.zeros((4, 3), np.int64))
    with pytest.raises(baracuda.InvalidProblemError, match=r"dy: shape is \(5,\); expected \(6,\)"):
        baracuda.pdist_backward(np.zeros(5, np.float32), x)
