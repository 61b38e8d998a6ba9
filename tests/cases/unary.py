"""Cases of the functions of one number."""

from __future__ import annotations

import torch

from tests.cases.case import Case

F = torch.float64


def _exact(x: torch.Tensor) -> bool:
    return not (x.is_floating_point() or x.is_complex())


def _spacing(x: torch.Tensor) -> torch.Tensor:
    above = torch.nextafter(x.abs(), torch.full_like(x, torch.inf)) - x.abs()
    return torch.copysign(above, x)


def _popcount(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor([v.bit_count() for v in x.flatten().tolist()], dtype=x.dtype).reshape(x.shape)


def _clz(bits: int) -> Case:
    def reference(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([bits - v.bit_length() for v in x.flatten().tolist()], dtype=x.dtype).reshape(x.shape)

    return Case(reference, domains=("positive",), elements=(f"s{bits}",))


def _nan_to_num(x: torch.Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> torch.Tensor:
    return torch.nan_to_num(x, nan, posinf, neginf)


def _modf(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.where(x.isinf(), torch.copysign(torch.zeros_like(x), x), torch.frac(x)), torch.trunc(x)


class _StraightThrough(torch.autograd.Function):
    """round, with the gradient of the identity."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return torch.round(x)

    @staticmethod
    def backward(ctx: object, dy: torch.Tensor) -> torch.Tensor:
        return dy


CASES = {
    "abs": Case(lambda x: x if x.dtype is torch.bool else torch.abs(x)),
    "neg": Case(torch.neg),
    "positive": Case(lambda x: x * 1),
    "sign": Case(lambda x: torch.where(x.isnan(), x, torch.sign(x))),
    "sgn": Case(lambda x: torch.sgn(x) if x.is_complex() else torch.where(x.isnan(), x, torch.sgn(x))),
    "signbit": Case(torch.signbit),
    "reciprocal": Case(torch.reciprocal, domains=("nonzero",)),
    "square": Case(torch.square, absolute=4.0),
    "sqrt": Case(torch.sqrt, domains=("positive",)),
    "rsqrt": Case(torch.rsqrt, domains=("positive",), tolerance=6.0),
    "cbrt": Case(lambda x: torch.copysign(x.abs() ** (1 / 3), x), domains=("nonzero",), specials=False),
    "exp": Case(torch.exp),
    "exp2": Case(torch.exp2, tolerance=16.0, absolute=1.0),
    "expm1": Case(torch.expm1, absolute=1.0),
    "log": Case(torch.log, domains=("positive",)),
    "log2": Case(torch.log2, domains=("positive",)),
    "log10": Case(torch.log10, domains=("positive",)),
    "log1p": Case(torch.log1p, domains=("positive",)),
    "sin": Case(torch.sin),
    "cos": Case(torch.cos),
    "tan": Case(torch.tan, tolerance=6.0),
    "asin": Case(torch.asin, domains=("unit",)),
    "acos": Case(torch.acos, domains=("unit",)),
    "atan": Case(torch.atan),
    "sinh": Case(torch.sinh),
    "cosh": Case(torch.cosh),
    "tanh": Case(torch.tanh, tolerance=6.0),
    "asinh": Case(torch.asinh),
    "acosh": Case(torch.acosh, domains=("above one",)),
    "atanh": Case(torch.atanh, domains=("unit",)),
    "sigmoid": Case(torch.sigmoid, domains=("small",), tolerance=6.0, absolute=1.0),  # between the poles at +-pi i
    "ceil": Case(torch.ceil),
    "floor": Case(torch.floor),
    "round": Case(
        lambda x, decimals=0: torch.round(x, decimals=decimals) if x.is_floating_point() else x, keywords=({}, {"decimals": 2})
    ),
    "trunc": Case(torch.trunc),
    "frac": Case(torch.frac),
    "modf": Case(_modf),
    "deg2rad": Case(torch.deg2rad),
    "rad2deg": Case(torch.rad2deg),
    "nan_to_num": Case(
        _nan_to_num,
        keywords=({"posinf": 2.0, "neginf": -3.0}, {"nan": 1.5, "posinf": 4.0, "neginf": 0.5}),
        elements=("f16", "bf16", "f32", "f64"),
    ),
    "bitwise_not": Case(torch.bitwise_not),
    "spacing": Case(_spacing, elements=("f64",)),
    "straight_through_round": Case(_StraightThrough.apply),
    "popcount": Case(_popcount, domains=("positive",)),
    "clz": _clz(16),
}
