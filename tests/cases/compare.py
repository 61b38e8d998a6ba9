"""Cases of the comparisons, of the tests of one number, and of logic."""

from __future__ import annotations

import torch

from tests.cases.case import OpCases, Shapes
from tests.cases.reduction import over


def _isclose(a: torch.Tensor, b: torch.Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> torch.Tensor:
    wide = torch.complex128 if a.is_complex() else torch.float64
    return torch.isclose(a.to(wide), b.to(wide), rtol, atol, equal_nan)


def _allclose(
    a: torch.Tensor, b: torch.Tensor, axes: tuple[int, ...], keepdims: bool, rtol: float = 1e-5, atol: float = 1e-8,
    equal_nan: bool = False,
) -> torch.Tensor:  # fmt: skip
    return _all(_isclose(a, b, rtol, atol, equal_nan), axes, keepdims)


def _all_equal(a: torch.Tensor, b: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    return _all(a == b, axes, keepdims)


def _all(x: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    for axis in axes:
        x = x.all(axis, keepdim=True)
    return x if keepdims else x.squeeze(axes)


PAIRS: list[Shapes] = [((3, 7), (3, 7)), ((4, 1, 33), (5, 1)), ((2, 3), (1, 3))]
CLOSE = ({"rtol": 0.3, "atol": 0.7}, {}, {"equal_nan": True})

CASES = {
    "eq": OpCases(torch.eq, domains=("grid",)),
    "ne": OpCases(torch.ne, domains=("grid",)),
    "lt": OpCases(torch.lt, domains=("grid",)),
    "le": OpCases(torch.le, domains=("grid",)),
    "gt": OpCases(torch.gt, domains=("grid",)),
    "ge": OpCases(torch.ge, domains=("grid",)),
    "isclose": OpCases(_isclose, domains=("grid", "any"), keywords=CLOSE),
    "allclose": OpCases(
        over(_allclose), domains=("grid", "any"), shapes=PAIRS, keywords=(*CLOSE, {"rtol": 9.0, "atol": 99.0, "axis": 0})
    ),
    "array_equiv": OpCases(over(_all_equal), domains=("sign",), shapes=PAIRS, keywords=({}, {"axis": -1}, {"axis": 0})),
    "array_equal": OpCases(
        over(_all_equal), domains=("sign",), shapes=[((1, 3), (1, 3)), ((4, 3), (4, 3))], keywords=({}, {"axis": -1})
    ),
    "isnan": OpCases(torch.isnan),
    "isinf": OpCases(torch.isinf),
    "isfinite": OpCases(torch.isfinite),
    "isposinf": OpCases(torch.isposinf),
    "isneginf": OpCases(torch.isneginf),
    "isreal": OpCases(torch.isreal, domains=("grid",)),
    "iscomplex": OpCases(lambda x: ~torch.isreal(x), domains=("grid",)),
    "logical_and": OpCases(torch.logical_and, domains=("grid",)),
    "logical_or": OpCases(torch.logical_or, domains=("grid",)),
    "logical_xor": OpCases(torch.logical_xor, domains=("grid",)),
    "logical_not": OpCases(torch.logical_not, domains=("grid",)),
}
