"""Cases of the comparisons, of the tests of one number, and of logic."""

from __future__ import annotations

import torch

from tests.families.case import Case


def _isclose(a: torch.Tensor, b: torch.Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> torch.Tensor:
    wide = torch.complex128 if a.is_complex() else torch.float64
    return torch.isclose(a.to(wide), b.to(wide), rtol, atol, equal_nan)


CLOSE = ({"rtol": 0.3, "atol": 0.7}, {}, {"equal_nan": True})

CASES = {
    "eq": Case(torch.eq, domains=("grid",)),
    "ne": Case(torch.ne, domains=("grid",)),
    "lt": Case(torch.lt, domains=("grid",)),
    "le": Case(torch.le, domains=("grid",)),
    "gt": Case(torch.gt, domains=("grid",)),
    "ge": Case(torch.ge, domains=("grid",)),
    "isclose": Case(_isclose, domains=("grid", "any"), keywords=CLOSE),
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
