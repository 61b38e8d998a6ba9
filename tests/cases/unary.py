"""Cases of the functions of one number."""

from __future__ import annotations

import torch

from tests.cases.case import OpCases

F = torch.float64


def _exact(x: torch.Tensor) -> bool:
    return not (x.is_floating_point() or x.is_complex())


def _spacing(x: torch.Tensor) -> torch.Tensor:
    above = torch.nextafter(x.abs(), torch.full_like(x, torch.inf)) - x.abs()
    return torch.copysign(above, x)


def _popcount(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor([v.bit_count() for v in x.flatten().tolist()], dtype=x.dtype).reshape(x.shape)


def _clz(bits: int) -> OpCases:
    def reference(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([bits - v.bit_length() for v in x.flatten().tolist()], dtype=x.dtype).reshape(x.shape)

    return OpCases(reference, domains=("positive",), elements=(f"s{bits}",))


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
    "abs": OpCases(lambda x: x if x.dtype is torch.bool else torch.abs(x)),
    "neg": OpCases(torch.neg),
    "positive": OpCases(lambda x: x * 1),
    "sign": OpCases(lambda x: torch.where(x.isnan(), x, torch.sign(x))),
    "sgn": OpCases(lambda x: torch.sgn(x) if x.is_complex() else torch.where(x.isnan(), x, torch.sgn(x))),
    "signbit": OpCases(torch.signbit),
    "reciprocal": OpCases(torch.reciprocal, domains=("nonzero",)),
    "square": OpCases(torch.square, absolute=4.0),
    "sqrt": OpCases(torch.sqrt, domains=("positive",)),
    "rsqrt": OpCases(torch.rsqrt, domains=("positive",), tolerance=6.0),
    "cbrt": OpCases(lambda x: torch.copysign(x.abs() ** (1 / 3), x), domains=("nonzero",), specials=False),
    "exp": OpCases(torch.exp),
    "exp2": OpCases(torch.exp2, tolerance=16.0, absolute=1.0),
    "expm1": OpCases(torch.expm1, absolute=1.0),
    "log": OpCases(torch.log, domains=("positive",)),
    "log2": OpCases(torch.log2, domains=("positive",)),
    "log10": OpCases(torch.log10, domains=("positive",)),
    "log1p": OpCases(torch.log1p, domains=("positive",)),
    "sin": OpCases(torch.sin),
    "cos": OpCases(torch.cos),
    "tan": OpCases(torch.tan, tolerance=6.0),
    "asin": OpCases(torch.asin, domains=("unit",)),
    "acos": OpCases(torch.acos, domains=("unit",)),
    "atan": OpCases(torch.atan),
    "sinh": OpCases(torch.sinh),
    "cosh": OpCases(torch.cosh),
    "tanh": OpCases(torch.tanh, tolerance=6.0),
    "asinh": OpCases(torch.asinh),
    "acosh": OpCases(torch.acosh, domains=("above one",)),
    "atanh": OpCases(torch.atanh, domains=("unit",)),
    "sigmoid": OpCases(torch.sigmoid, domains=("small",), tolerance=6.0, absolute=1.0),  # between the poles at +-pi i
    "ceil": OpCases(torch.ceil),
    "floor": OpCases(torch.floor),
    "round": OpCases(
        lambda x, decimals=0: torch.round(x, decimals=decimals) if x.is_floating_point() else x, keywords=({}, {"decimals": 2})
    ),
    "trunc": OpCases(torch.trunc),
    "frac": OpCases(torch.frac),
    "modf": OpCases(_modf),
    "deg2rad": OpCases(torch.deg2rad),
    "rad2deg": OpCases(torch.rad2deg),
    "nan_to_num": OpCases(
        _nan_to_num,
        keywords=({"posinf": 2.0, "neginf": -3.0}, {"nan": 1.5, "posinf": 4.0, "neginf": 0.5}),
        elements=("f16", "bf16", "f32", "f64"),
    ),
    "bitwise_not": OpCases(torch.bitwise_not),
    "spacing": OpCases(_spacing, elements=("f64",)),
    "straight_through_round": OpCases(_StraightThrough.apply),
    "popcount": OpCases(_popcount, domains=("positive",)),
    "clz": _clz(16),
}
