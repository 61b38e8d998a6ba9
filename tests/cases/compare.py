"""Cases of the comparisons, of the tests of one number, and of logic."""

from __future__ import annotations

import torch

from tests.cases.case import Case, Shapes
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
    "eq": Case(torch.eq, domains=("grid",)),
    "ne": Case(torch.ne, domains=("grid",)),
    "lt": Case(torch.lt, domains=("grid",)),
    "le": Case(torch.le, domains=("grid",)),
    "gt": Case(torch.gt, domains=("grid",)),
    "ge": Case(torch.ge, domains=("grid",)),
    "isclose": Case(_isclose, domains=("grid", "any"), keywords=CLOSE),
    "allclose": Case(
        over(_allclose), domains=("grid", "any"), shapes=PAIRS, keywords=(*CLOSE, {"rtol": 9.0, "atol": 99.0, "axis": 0})
    ),
    "array_equiv": Case(over(_all_equal), domains=("sign",), shapes=PAIRS, keywords=({}, {"axis": -1}, {"axis": 0})),
    "array_equal": Case(
        over(_all_equal), domains=("sign",), shapes=[((1, 3), (1, 3)), ((4, 3), (4, 3))], keywords=({}, {"axis": -1})
    ),
    "isnan": Case(torch.isnan),
    "isinf": Case(torch.isinf),
    "isfinite": Case(torch.isfinite),
    "isposinf": Case(torch.isposinf),
    "isneginf": Case(torch.isneginf),
    "isreal": Case(torch.isreal, domains=("grid",)),
    "iscomplex": Case(lambda x: ~torch.isreal(x), domains=("grid",)),
    "logical_and": Case(torch.logical_and, domains=("grid",)),
    "logical_or": Case(torch.logical_or, domains=("grid",)),
    "logical_xor": Case(torch.logical_xor, domains=("grid",)),
    "logical_not": Case(torch.logical_not, domains=("grid",)),
}
