"""Integers and bool where PyTorch takes them: the element of the result and its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import Error
from tests.cases.trial import to_device, to_host

F = torch.nn.functional
INTEGERS = np.array([[-3, 0, 2], [7, 1, -1]], np.int64)
BOOLS = np.array([[True, False, True], [False, False, True]])
OTHERS = {"int64": np.array([[2, -5, 2], [1, 3, -1]], np.int64), "bool": np.array([[True, True, False], [False, True, True]])}

NUMBERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"softsign": F.softsign, "tanhshrink": F.tanhshrink}
ONE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "angle": torch.angle,
    "deg2rad": torch.deg2rad,
    "rad2deg": torch.rad2deg,
    "square": torch.square,
    "sign": torch.sign,
    "signbit": torch.signbit,
    "isnan": torch.isnan,
    "real": torch.real,
    "nan_to_num": torch.nan_to_num,
}
TWO: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "mul": torch.mul,
    "div": torch.div,
    "maximum": torch.maximum,
    "fmin": torch.fmin,
    "lt": torch.lt,
    "ge": torch.ge,
    "eq": torch.eq,
    "float_power": torch.float_power,
    "isclose": torch.isclose,
}
INTEGERS_ONLY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "pairwise_distance": F.pairwise_distance,
    "trapezoid": torch.trapezoid,
    "cumulative_trapezoid": torch.cumulative_trapezoid,
}


def check(name: str, tensors: list[np.ndarray], want: torch.Tensor, device: str) -> None:
    got = to_host(getattr(baracuda, name)(*(to_device(t, device) for t in tensors)))
    assert got.dtype == want.numpy().dtype
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-6)


@pytest.mark.parametrize("element", ["int64", "bool"])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_results_are_pytorchs(name: str, element: str, device: str) -> None:
    x = INTEGERS if element == "int64" else BOOLS
    tensors = [x] if name in ONE else [x, OTHERS[element]]
    reference: Any = ONE.get(name) or TWO[name]
    check(name, tensors, reference(*map(torch.from_numpy, tensors)), device)


@pytest.mark.parametrize("name", [*NUMBERS, *INTEGERS_ONLY])
def test_of_integers(name: str, device: str) -> None:
    tensors = [INTEGERS] if name in NUMBERS else [INTEGERS, OTHERS["int64"]]
    reference: Any = NUMBERS.get(name) or INTEGERS_ONLY[name]
    check(name, tensors, reference(*map(torch.from_numpy, tensors)), device)


@pytest.mark.parametrize("name", ["sub", "rsub", "neg"])
def test_there_is_no_difference_of_bool(name: str, device: str) -> None:
    tensors = [to_device(t, device) for t in ([BOOLS] if name == "neg" else [BOOLS, OTHERS["bool"]])]
    with pytest.raises(Error, match=f"{name}: bool"):
        getattr(baracuda, name)(*tensors)


def test_round_to_tens_and_to_digits(device: str) -> None:
    x = np.float32([1.25, -1234.5678, 25, 35, np.inf, np.nan, 3e38])
    for decimals in (-1, 0, 3):
        got = to_host(baracuda.round(to_device(x, device), decimals=decimals))
        want = torch.round(torch.from_numpy(x), decimals=decimals).numpy()
        want[-1] = got[-1] if decimals < 0 else x[-1]  # whose product with 1000 is infinite in PyTorch
        np.testing.assert_allclose(got, want, rtol=1e-6)
    with pytest.raises(Error, match="decimals: -1 of s64"):
        baracuda.round(to_device(INTEGERS, device), decimals=-1)


@pytest.mark.parametrize("alpha", [2.5, 1 - 2j])
def test_complex_index_add_with_alpha(alpha: complex, device: str) -> None:
    x, index = np.complex64([1 + 1j, 2, 3j]), np.array([2, 0, 2])
    source = np.complex64([1j, 4, 2 - 1j])
    got = to_host(baracuda.index_add(*(to_device(t, device) for t in (x, index, source)), alpha=alpha))
    want = torch.from_numpy(x).index_add(0, torch.from_numpy(index), torch.from_numpy(source), alpha=alpha)
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-6)


@pytest.mark.parametrize("p", [-1.0, -np.inf])
def test_distances_of_negative_order(p: float, device: str) -> None:
    a, b = np.float32([[3, -4, 1], [2, 0, 0.5]]), np.float32([[1, 1, 0], [0, 5, 3]])
    got = to_host(baracuda.pairwise_distance(to_device(a, device), to_device(b, device), p=p))
    np.testing.assert_allclose(got, F.pairwise_distance(torch.from_numpy(a), torch.from_numpy(b), p=p).numpy(), rtol=1e-5)


def test_tensors_of_different_shapes_are_not_equal(device: str) -> None:
    x = to_device(np.ones(3, np.float32), device)
    for other in (np.ones(4, np.float32), np.ones((1, 3), np.float32), np.float32([1, 2, 1])):
        assert not to_host(baracuda.array_equal(x, to_device(other, device)))
    assert to_host(baracuda.array_equal(x, x))
    with pytest.raises(Error, match="shapes"):
        baracuda.array_equal(x, to_device(np.ones(4, np.float32), device), axis=0)


def test_no_difference_is_x_alone(device: str) -> None:
    x, end = to_device(np.float32([1, 2]), device), to_device(np.float32([7]), device)
    assert to_host(baracuda.diff(x, n=0, append=end)).tolist() == [1, 2]
    dx, dend = baracuda.diff_backward(x, x, n=0, append=end)
    assert (to_host(dx).tolist(), to_host(dend).tolist()) == ([1, 2], [0])


@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin"])
def test_bool_goes_to_its_places(reduce: str, device: str) -> None:
    x, index, source = BOOLS, np.array([[0, 0, 2], [1, 1, 1]]), OTHERS["bool"]
    got = baracuda.scatter_reduce(*(to_device(t, device) for t in (x, index, source)), reduce=reduce)
    want = torch.from_numpy(x).scatter_reduce(1, torch.from_numpy(index), torch.from_numpy(source), reduce)
    np.testing.assert_array_equal(to_host(got), want.numpy())


@pytest.mark.parametrize("alpha", [1, 0])
def test_bool_index_add(alpha: int, device: str) -> None:
    x, index, source = BOOLS[0], np.array([1, 1]), BOOLS[1, 1:]
    got = baracuda.index_add(*(to_device(t, device) for t in (x, index, source)), alpha=alpha)
    want = torch.from_numpy(x).index_add(0, torch.from_numpy(index), torch.from_numpy(source), alpha=alpha)
    np.testing.assert_array_equal(to_host(got), want.numpy())


@pytest.mark.parametrize("exponent", [np.array([3, -2, 0]), np.array([True, False, True]), np.float32([0.5, -1.5, 2])])
def test_ldexp_of_any_exponent(exponent: np.ndarray, device: str) -> None:
    integers = np.array([4, 5, -6])
    for x in (integers,) if exponent.dtype == bool else (integers, np.float32([1, -3, 0.5])):
        got = to_host(baracuda.ldexp(to_device(x, device), to_device(exponent, device)))
        want = torch.ldexp(torch.from_numpy(x), torch.from_numpy(exponent)).numpy()
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_products_of_no_complex_number(device: str) -> None:
    x = to_device(np.zeros((2, 0), np.complex64), device)
    assert to_host(baracuda.prod(x, axis=1)).tolist() == [1, 1]
    assert to_host(baracuda.cumprod(x, axis=1)).shape == (2, 0)


def test_vecdot_along_any_axis(device: str) -> None:
    a, b = np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[2, 0, 1], [-1, 3, 2]])
    for axis in (0, 1, -1, -2):
        got = to_host(baracuda.vecdot(to_device(a, device), to_device(b, device), axis=axis))
        np.testing.assert_array_equal(got, torch.linalg.vecdot(torch.from_numpy(a), torch.from_numpy(b), dim=axis).numpy())


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_rows_of_a_bag_of_limited_norm(mode: Any, device: str) -> None:
    indices, weight = np.array([[0, 2, 1], [3, 1, 1]]), np.float32([[3, 4], [0.1, 0.2], [-5, 12], [1, -1]])
    words: dict[str, Any] = {"mode": mode, "padding_idx": 1, "max_norm": 2.0}
    operands = to_device(indices, device), to_device(weight, device)
    got = to_host(baracuda.embedding_bag(*operands, **words))
    want = F.embedding_bag(torch.from_numpy(indices), torch.from_numpy(weight.copy()), **words)
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-6)
    np.testing.assert_array_equal(to_host(operands[1]), weight)  # which torch changes
