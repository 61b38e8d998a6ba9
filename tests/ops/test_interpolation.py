"""Linear interpolation against NumPy, and its gradients against autograd of the formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.ops.composed import FLOATS, called, check, close, drawn, same_bits


def _reference(
    x: torch.Tensor, xp: torch.Tensor, fp: torch.Tensor, left: float | None = None, right: float | None = None
) -> torch.Tensor:
    last = len(xp) - 1
    high = torch.searchsorted(xp.detach(), x.detach(), right=True).clamp(min(1, last), last)
    low = (high - 1).clamp(min=0)
    width = xp[high] - xp[low]
    share = torch.where(width == 0, 0.0, (x - xp[low]) / torch.where(width == 0, 1.0, width))
    y = fp[low] + share * (fp[high] - fp[low])
    y = torch.where(x < xp[0], fp[0] if left is None else torch.full_like(x, left), y)
    return torch.where(x > xp[-1], fp[-1] if right is None else torch.full_like(x, right), y)


def _samples(n: int, shape: tuple[int, ...], dtype: Any) -> list[np.ndarray]:
    """x on both sides of the places and, where there are several, at some of them; and places that are well apart."""
    xp = (np.arange(n) + 0.4 * np.abs(np.tanh(drawn(n)))).astype(dtype)
    x = np.asarray(drawn(shape, seed=1) * n * 0.6 + n / 2, dtype)
    if x.size > 8:
        x.reshape(-1)[:8] = xp[np.linspace(0, n - 1, 8).astype(int)]
    return [x, xp, drawn(n, dtype, seed=2)]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("n", "shape"), [(1, (9,)), (2, (3, 5)), (7, (300,)), (8, (4, 1, 33)), (100, ()), (100, (2000,))])
def test_interp(n: int, shape: tuple[int, ...], dtype: Any, device: str) -> None:
    for words in ({}, {"left": -7.0, "right": 2.5}):

        def forward(x: Any, xp: Any, fp: Any, words: Any = words) -> Any:
            return baracuda.interp(x, xp, fp, **words)

        def backward(dy: Any, x: Any, xp: Any, fp: Any, words: Any = words) -> Any:
            return baracuda.interp_backward(dy, x, xp, fp, **words)

        def reference(x: Any, xp: Any, fp: Any, words: Any = words) -> torch.Tensor:
            return _reference(x, xp, fp, **words)

        tensors = _samples(n, shape, dtype)
        check(forward, backward, reference, tensors, device, wrt=(0, 1, 2), units=64.0)
        (y,) = called(forward, tensors, device)
        want = np.interp(*(t.astype(np.float64) for t in tensors), **words)
        close(y, np.asarray(want), dtype, 64.0)


def test_all_counts_of_places(device: str) -> None:
    """Bisection over counts beside powers of two, at, between and beyond the places."""
    for n in range(1, 18):
        xp, fp = np.arange(n, dtype=np.float32), drawn(n, np.float32)
        x = np.arange(-2, 2 * n + 2, dtype=np.float32) / 2
        (y,) = called(baracuda.interp, [x, xp, fp], device)
        np.testing.assert_allclose(y, np.interp(x, xp, fp), rtol=1e-6, atol=1e-6)
        assert (y[2 : 2 + 2 * n : 2] == fp).all()  # a sample itself at its place


def test_special_values_and_equal_places(device: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0, 1, 1.5, 2, 2.5])
    xp, fp = np.array([0.0, 1, 1, 2, 2]), np.array([0.0, 1, 5, 7, 9])
    (y,) = called(baracuda.interp, [x, xp, fp], device)
    np.testing.assert_array_equal(y, np.interp(x, xp, fp))
    gradients = called(baracuda.interp_backward, [np.ones(5), x[3:], xp, fp], device)
    assert all(np.isfinite(g).all() for g in gradients)
    endless = np.array([np.inf, 1.0, np.inf])
    (y,) = called(baracuda.interp, [np.array([0.0, 1.0, 2.0]), np.arange(3.0), endless], device)
    assert y.tolist() == [np.inf, 1.0, np.inf]
    (y,) = called(baracuda.interp, [np.array([np.nan, 0.0, 3.0]), np.zeros(1), np.ones(1)], device)
    np.testing.assert_array_equal(y, [np.nan, 1.0, 1.0])


def test_nothing_to_find(device: str) -> None:
    x, xp = np.zeros((0, 3), np.float32), np.arange(4, dtype=np.float32)
    (y,) = called(baracuda.interp, [x, xp, xp], device)
    assert y.shape == (0, 3)
    dx, dxp, dfp = called(baracuda.interp_backward, [x, x, xp, xp], device)
    assert dx.shape == (0, 3)
    assert not dxp.any()
    assert not dfp.any()


def test_elements_promote_and_gradients_keep_theirs(device: str) -> None:
    x, xp, fp = _samples(9, (40,), np.float32)
    (want,) = called(baracuda.interp, [x.astype(np.float16).astype(np.float32), xp, fp], device)
    (got,) = called(baracuda.interp, [x.astype(np.float16), xp, fp], device)
    same_bits(got, want)
    gradients = called(baracuda.interp_backward, [want, x.astype(np.float16), xp, fp], device)
    assert [g.dtype.name for g in gradients] == ["float16", "float32", "float32"]
    (alone,) = called(lambda *t: baracuda.interp_backward(*t, wrt=("fp",)), [want, x.astype(np.float16), xp, fp], device)
    same_bits(alone, gradients[2])


def test_bits_do_not_depend_on_neighbours(device: str) -> None:
    x, xp, fp = _samples(33, (64, 20), np.float32)
    (whole,) = called(baracuda.interp, [x, xp, fp], device)
    (part,) = called(lambda x, xp, fp: baracuda.interp(x.T[3:9, ::3], xp, fp), [x, xp, fp], device)
    same_bits(part, np.ascontiguousarray(whole.T[3:9, ::3]))


def test_bad_input_is_refused() -> None:
    x, xp = np.zeros(3, np.float32), np.arange(4, dtype=np.float32)
    with pytest.raises(baracuda.InvalidProblemError, match=r"xp: shape is \(0,\); expected one axis of at least one place"):
        baracuda.interp(x, xp[:0], xp[:0])
    with pytest.raises(baracuda.InvalidProblemError, match=r"fp: shape is \(3,\); expected \(4,\)"):
        baracuda.interp(x, xp, xp[:3])
    with pytest.raises(baracuda.InvalidProblemError, match="left: 'a'; expected a number"):
        baracuda.interp(x, xp, xp, left="a")  # type: ignore[arg-type]
    with pytest.raises(baracuda.UnsupportedError, match="s64; expected one of"):
        baracuda.interp(np.zeros(3, np.int64), np.arange(4), np.arange(4))
    with pytest.raises(baracuda.InvalidProblemError, match=r"dy: shape is \(4,\); expected \(3,\)"):
        baracuda.interp_backward(xp, x, xp, xp)
    with pytest.raises(baracuda.InvalidProblemError, match="wrt: 'y'; expected some of x, xp, fp"):
        baracuda.interp_backward(x, x, xp, xp, wrt=("y",))
