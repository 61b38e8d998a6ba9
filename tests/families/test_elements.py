"""Integers and bool where PyTorch takes them: the element of the result and its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import Error
from tests.families.trial import to_device, to_host

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
