"""Polynomials given by their coefficients, against NumPy, and their gradients against autograd of the formulas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import baracuda
from tests.ops.composed import NUMBERS, called, check, close, drawn, same_bits

SIZES = [(3, 5), (5, 3), (4, 4), (1, 1), (0, 3), (2, 0), (0, 0), (130, 300)]


def _sum(sign: int) -> Callable[..., torch.Tensor]:
    def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        size = max(len(a), len(b))
        return F.pad(a, (size - len(a), 0)) + sign * F.pad(b, (size - len(b), 0))

    return reference


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a, b = (v if len(v) else v.new_zeros(1) + v.sum() for v in (a, b))
    rows = [F.pad(a[k] * b, (k, len(a) - 1 - k)) for k in range(len(a))]
    return torch.stack(rows).sum(0)


def _derivative(p: torch.Tensor, m: int) -> torch.Tensor:
    for _ in range(m):
        p = p[:-1] * (torch.arange(max(len(p) - 1, 0)).flip(0) + 1)
    return p


def _integral(p: torch.Tensor, k: torch.Tensor, m: int) -> torch.Tensor:
    for i in range(m):
        p = torch.cat([p / torch.arange(len(p), 0, -1), k[i if len(k) > 1 else 0][None]])
    return p


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("name", "sign"), [("polyadd", 1), ("polysub", -1)])
def test_sums(name: str, sign: int, sizes: tuple[int, int], dtype: Any, device: str) -> None:
    tensors = [drawn(n, dtype, seed=i) for i, n in enumerate(sizes)]
    forward, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    check(forward, backward, _sum(sign), tensors, device, wrt=(0, 1), units=1.0)
    if all(sizes) and dtype in (np.float64, np.complex128):
        same_bits(called(forward, tensors, device)[0], getattr(np, name)(*tensors))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("sizes", SIZES)
def test_products(sizes: tuple[int, int], dtype: Any, device: str) -> None:
    tensors = [drawn(n, dtype, seed=i) for i, n in enumerate(sizes)]
    check(baracuda.polymul, baracuda.polymul_backward, _product, tensors, device, wrt=(0, 1))
    if all(sizes):
        (y,) = called(baracuda.polymul, tensors, device)
        wide = np.complex128 if y.dtype.kind == "c" else np.float64
        close(y, np.polymul(*(t.astype(wide) for t in tensors)), dtype, 16.0)


def test_infinities_and_nan_stay_with_their_terms(device: str) -> None:
    a, b = np.array([np.inf, 1.0, 2.0]), np.array([1.0, np.nan, 3.0, 4.0, 5.0])
    (y,) = called(baracuda.polymul, [a, b], device)
    np.testing.assert_array_equal(y, np.convolve(a, b))
    dy = np.ones(7)
    dy[6] = np.inf
    da, _ = called(baracuda.polymul_backward, [dy, a, np.array([1.0, -1.0, 3.0, 4.0, 5.0])], device)
    assert da.tolist() == [12.0, 12.0, np.inf]


def test_a_product_is_symmetric_where_the_sizes_differ(device: str) -> None:
    a, b = drawn(40, np.float32), drawn(700, np.float32)
    (first,), (second,) = called(baracuda.polymul, [a, b], device), called(baracuda.polymul, [b, a], device)
    same_bits(first, second)
    (view,) = called(lambda a, b: baracuda.polymul(a, b[::2]), [a, np.repeat(b, 2)], device)
    same_bits(view, first)


ORDERS = [(0, 0), (0, 1), (0, 3), (1, 1), (2, 3), (3, 2), (7, 4), (1, 0), (5, 5)]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("n", "m"), [*ORDERS, (7, 1)])
def test_derivatives(n: int, m: int, dtype: Any, device: str) -> None:
    p = drawn(n, dtype)

    def backward(dy: Any, p: Any) -> Any:
        return baracuda.polyder_backward(dy, p, m=m)

    check(partial(baracuda.polyder, m=m), backward, partial(_derivative, m=m), [p], device)
    if n > m and dtype is np.float64:
        np.testing.assert_allclose(called(partial(baracuda.polyder, m=m), [p], device)[0], np.polyder(p, m), rtol=1e-14)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("n", "m"), ORDERS)
@pytest.mark.parametrize("single", [False, True])
def test_integrals(single: bool, n: int, m: int, dtype: Any, device: str) -> None:
    p, k = drawn(n, dtype), drawn(1 if single else m, dtype, seed=1)

    def backward(dy: Any, p: Any, k: Any) -> Any:
        return baracuda.polyint_backward(dy, p, k, m=m)

    check(partial(baracuda.polyint, m=m), backward, partial(_integral, m=m), [p, k], device, wrt=(0, 1))
    if n and m and dtype is np.float64:
        (y,) = called(partial(baracuda.polyint, m=m), [p, k], device)
        np.testing.assert_allclose(y, np.polyint(p, m, k), rtol=1e-14)


def test_constants_of_integration(device: str) -> None:
    p = np.array([6.0, 2.0])
    for k, want in (
        (None, [1.0, 1.0, 0.0, 0.0]),
        (3.0, [1.0, 1.0, 3.0, 3.0]),
        ([3.0, 4.0], [1.0, 1.0, 3.0, 4.0]),
        ([3.0, 4j], [1.0, 1.0, 3.0, 4j]),
    ):
        (y,) = called(lambda p, k=k: baracuda.polyint(p, k, m=2), [p], device)
        assert y.tolist() == want
    (dp,) = called(lambda dy, p: baracuda.polyint_backward(dy, p, 3.0, m=2), [np.ones(4), p], device)
    np.testing.assert_allclose(dp, [1 / 6, 1 / 2])


def test_degrees_of_long_polynomials(device: str) -> None:
    p = drawn(500)
    np.testing.assert_allclose(called(partial(baracuda.polyder, m=6), [p], device)[0], np.polyder(p, 6), rtol=1e-14)
    np.testing.assert_allclose(called(partial(baracuda.polyint, m=6), [p], device)[0], np.polyint(p, 6), rtol=1e-14)


def test_elements_promote_and_gradients_keep_theirs(device: str) -> None:
    a, b = drawn(3, np.float16), drawn(5, np.complex64)
    for name in ("polyadd", "polysub", "polymul"):
        (got,) = called(getattr(baracuda, name), [a, b], device)
        close(got, getattr(np, name)(a.astype(np.complex128), b.astype(np.complex128)), np.complex64, 8.0)
        da, db = called(getattr(baracuda, f"{name}_backward"), [drawn(len(got), np.complex64), a, b], device)
        assert (da.dtype, db.dtype) == (np.float16, np.complex64)
    (y,) = called(lambda a, b: baracuda.polyint(a, b, m=5), [a, b], device)
    assert y.dtype == np.complex64
    da, db = called(lambda *t: baracuda.polyint_backward(*t, m=5), [y, a, b], device)
    assert (da.dtype, db.dtype) == (np.float16, np.complex64)


def test_bad_input_is_refused() -> None:
    row, grid = np.zeros(3, np.float32), np.zeros((2, 3), np.float32)
    for name in ("polyadd", "polysub", "polymul"):
        with pytest.raises(baracuda.InvalidProblemError, match=r"b: shape is \(2, 3\); expected \(n,\)"):
            getattr(baracuda, name)(row, grid)
        with pytest.raises(baracuda.UnsupportedError, match="a: element is s64; expected one of f16"):
            getattr(baracuda, name)(np.zeros(3, np.int64), row)
        with pytest.raises(baracuda.InvalidProblemError, match=r"dy: shape is \(2,\); expected"):
            getattr(baracuda, f"{name}_backward")(row[:2], row, row)
        with pytest.raises(baracuda.InvalidProblemError, match="wrt: 'c'; expected some of a, b"):
            getattr(baracuda, f"{name}_backward")(row, row, row[:1], wrt=("c",))
    for name in ("polyder", "polyint"):
        with pytest.raises(baracuda.InvalidProblemError, match="m: -1; expected a whole number at least 0 and at most 256"):
            getattr(baracuda, name)(row, m=-1)
        with pytest.raises(baracuda.InvalidProblemError, match=r"p: shape is \(2, 3\); expected \(n,\)"):
            getattr(baracuda, name)(grid)
    with pytest.raises(baracuda.InvalidProblemError, match=r"k: shape is \(3,\); expected \(2,\) or \(1,\)"):
        baracuda.polyint(row, row, m=2)
    with pytest.raises(baracuda.InvalidProblemError, match=r"k: \[1.0\]; expected 2 numbers"):
        baracuda.polyint(row, [1.0], m=2)
    with pytest.raises(baracuda.InvalidProblemError, match=r"dy: shape is \(3,\); expected \(4,\)"):
        baracuda.polyint_backward(row, row)
