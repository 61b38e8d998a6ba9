"""Covariances and correlation coefficients against PyTorch and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.ops.composed import FLOATS, NUMBERS, called, check, close, drawn, same_bits

SHAPES = [(5, 30), (1, 7), (9,), (0, 4), (70, 300)]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_cov(shape: tuple[int, ...], dtype: Any, device: str) -> None:
    check(baracuda.cov, baracuda.cov_backward, torch.cov, [drawn(shape, dtype)], device)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(5, 30), (0, 4), (70, 300)])
def test_corrcoef(shape: tuple[int, ...], dtype: Any, device: str) -> None:
    check(baracuda.corrcoef, baracuda.corrcoef_backward, torch.corrcoef, [drawn(shape, dtype)], device)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(1, 7), (9,)])
def test_correlation_of_one_variable_is_1(shape: tuple[int, ...], dtype: Any, device: str) -> None:
    x = drawn(shape, dtype)
    (y,) = called(baracuda.corrcoef, [x], device)
    same_bits(y, np.ones((), dtype))
    (dx,) = called(baracuda.corrcoef_backward, [np.full((), 3.0, dtype), x], device)
    assert dx.dtype == dtype
    assert not dx.any()


@pytest.mark.parametrize("function", ["cov", "corrcoef"])
@pytest.mark.parametrize("shape", [(3, 1), (3, 0), (1,), (0,)])
def test_too_few_observations_give_nan(function: str, shape: tuple[int, ...], device: str) -> None:
    x = drawn(shape, np.float32)
    (y,) = called(getattr(baracuda, function), [x], device)
    assert y.shape == (shape[0],) * 2 * (len(shape) == 2)
    assert np.isnan(y).all()


@pytest.mark.parametrize("correction", [0, 1, 2.5])
def test_correction(correction: float, device: str) -> None:
    x = drawn((4, 9))
    (y,) = called(lambda x: baracuda.cov(x, correction=correction), [x], device)
    close(y, np.cov(x, ddof=0) * 9 / (9 - correction), np.float64, 16.0)
    (y,) = called(lambda x: baracuda.cov(x, correction=9), [x], device)
    assert (np.isinf(y) | np.isnan(y)).all()


def _weighted(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
    """In the order of `_split`, without torch.cov, which changes its weights in place."""
    fweights, aweights = _split(weights)
    w = torch.ones(x.shape[-1], dtype=torch.float64) if fweights is None else fweights.double()
    w = w if aweights is None else w * aweights
    total = w.sum()
    norm = total - 1 if aweights is None else total - (w * aweights).sum() / total
    d = x - (x * w).sum(-1, keepdim=True) / total
    return (d * w) @ d.mH / norm


def _split(weights: Any) -> tuple[Any, Any]:
    """fweights and aweights: one that has integers is the former."""
    by_kind: list[Any] = [None, None]
    for w in weights:
        by_kind["float" in str(w.dtype)] = w
    return by_kind[0], by_kind[1]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("which", ["fweights", "aweights", "both"])
@pytest.mark.parametrize("shape", [(5, 30), (3, 1200)])
def test_weights(shape: tuple[int, ...], which: str, dtype: Any, device: str) -> None:
    x, rng = drawn(shape, dtype), np.random.default_rng(1)
    tensors = [x]
    if which != "aweights":
        tensors.append(rng.integers(0, 4, shape[1]))
    if which != "fweights":
        tensors.append(rng.random(shape[1]).astype(x.real.dtype))

    def words(weights: Any) -> dict[str, Any]:
        return dict(zip(("fweights", "aweights"), _split(weights), strict=True))

    def forward(x: Any, *weights: Any) -> Any:
        return baracuda.cov(x, **words(weights))

    def backward(dy: Any, x: Any, *weights: Any) -> Any:
        return baracuda.cov_backward(dy, x, wrt=("x",), **words(weights))

    check(forward, backward, _weighted, tensors, device)
    counts, importance = _split(tensors[1:])
    (y,) = called(forward, tensors, device)
    close(y, np.cov(x, fweights=counts, aweights=importance), dtype, 16.0)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_gradient_of_weights(dtype: Any, counted: bool, device: str) -> None:
    x, a, q = drawn((4, 25), dtype), np.random.default_rng(2).random(25), np.arange(25) % 3
    dy = drawn((4, 4), dtype, seed=3)
    leaf = torch.from_numpy(a).requires_grad_()
    want = _weighted(torch.from_numpy(x), leaf, *([torch.from_numpy(q)] if counted else []))
    (slope,) = torch.autograd.grad(want, leaf, torch.from_numpy(dy))

    def backward(dy: Any, x: Any, a: Any, *q: Any) -> Any:
        return baracuda.cov_backward(dy, x, aweights=a, fweights=q[0] if q else None)

    _, got = called(backward, [dy, x, a, *([q] if counted else [])], device)
    close(got, slope.numpy(), np.float64, 64.0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_stays_with_its_variable(dtype: Any, device: str) -> None:
    x = drawn((6, 40), dtype)
    x[2, 7] = np.nan
    for function in (baracuda.cov, baracuda.corrcoef):
        (y,) = called(function, [x], device)
        gone = np.isnan(y)
        assert gone[2].all()
        assert gone[:, 2].all()
        assert gone.sum() == 11


def test_symmetry_unity_and_bounds(device: str) -> None:
    x = drawn((65, 33), np.float32) * np.float32(1e3)
    x[1] = x[0] * 3
    x[2] = -x[0]
    (c,), (r,) = (called(f, [x], device) for f in (baracuda.cov, baracuda.corrcoef))
    same_bits(c, c.T)
    assert (np.diagonal(r) == 1).all()
    assert (np.abs(r) <= 1).all()
    np.testing.assert_allclose(r[0, 1:3], [1, -1], rtol=1e-6)
    x[3] = 5.0
    (r,) = called(baracuda.corrcoef, [x], device)
    assert np.isnan(r[3]).all()
    assert np.isfinite(np.delete(np.delete(r, 3, 0), 3, 1)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.complex64])
@pytest.mark.parametrize("importance", [None, torch.float32, torch.float64])
def test_the_element_is_that_of_x_and_aweights(dtype: torch.dtype, importance: torch.dtype | None) -> None:
    x = torch.from_numpy(drawn((3, 8)) * 5).to(dtype)
    counts, weights = torch.arange(1, 9), None if importance is None else torch.linspace(0.1, 2, 8, dtype=importance)
    want = torch.cov(x, fweights=counts.clone(), aweights=None if weights is None else weights.clone())
    got = baracuda.cov(x, fweights=counts, aweights=weights)
    assert got.dtype == want.dtype
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(baracuda.corrcoef(x), torch.corrcoef(x))


def test_bits_do_not_depend_on_the_layout(device: str) -> None:
    x = drawn((40, 24), np.float32)
    for function in (baracuda.cov, baracuda.corrcoef):
        (want,) = called(function, [np.ascontiguousarray(x[::2].T)], device)
        (got,) = called(lambda x, function=function: function(x[::2].T), [x], device)
        same_bits(got, want)


def test_bad_input_is_refused() -> None:
    x = np.ones((3, 4), np.float32)
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: shape is \(1, 3, 4\); expected \(variables, observations\)"):
        baracuda.cov(x[None])
    with pytest.raises(baracuda.InvalidProblemError, match=r"fweights: shape is \(3,\); expected \(4,\)"):
        baracuda.cov(x, fweights=np.ones(3, np.int64))
    with pytest.raises(baracuda.UnsupportedError, match="fweights: element is f32; expected one of s8, u8"):
        baracuda.cov(x, fweights=x[0])
    with pytest.raises(baracuda.UnsupportedError, match="aweights: element is s64; expected one of f16"):
        baracuda.cov(x, aweights=np.ones(4, np.int64))
    with pytest.raises(baracuda.InvalidProblemError, match=r"dy: shape is \(3,\); expected \(3, 3\)"):
        baracuda.cov_backward(np.ones(3, np.float32), x)
    with pytest.raises(baracuda.InvalidProblemError, match="wrt: 'aweights'; expected some of x"):
        baracuda.cov_backward(np.ones((3, 3), np.float32), x, wrt=("aweights",))
