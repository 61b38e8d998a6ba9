"""Cases of the activation functions, of one tensor and gated."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.cases.case import Case, Shapes

#: A parameter for each channel, and one for all.
WITH_CHANNELS: list[Shapes] = [((3, 67), (67,)), ((2, 5, 33), (5, 1)), ((1,), ()), ((0, 4), (4,))]
DYT: list[Shapes] = [((3, 67), (), (67,), (67,)), ((2, 5, 33), (1,), (33,), (33,)), ((0, 4), (), (4,), (4,))]


def _gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return F.gelu(x, approximate=approximate)


def _silu(x: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(x)


def _softplus(x: torch.Tensor, beta: float = 1.0, threshold: float = 20.0) -> torch.Tensor:
    return torch.where(x * beta > threshold, x, torch.log1p(torch.exp((x * beta).clamp(max=threshold))) / beta)


def _swiglu_clamped(a: torch.Tensor, b: torch.Tensor, alpha: float = 1.702, limit: float = 7.0) -> torch.Tensor:
    gate, up = a.clamp(max=limit), b.clamp(-limit, limit)
    return gate * torch.sigmoid(alpha * gate) * (up + 1)


def _sparse_plus(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x <= -1, 0.0, torch.where(x >= 1, x, (x + 1) ** 2 / 4))


def _relu(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x <= 0, torch.zeros_like(x), x)


def _squareplus(x: torch.Tensor, b: float = 4.0) -> torch.Tensor:
    root = torch.sqrt(x * x + b)
    return torch.where(x < 0, b / (root - x), x + root) / 2


GELU = ({}, {"approximate": "tanh"})

CASES = {
    "relu": Case(torch.relu),
    "relu6": Case(F.relu6),
    "leaky_relu": Case(lambda x, negative_slope=0.01: F.leaky_relu(x, negative_slope), keywords=({}, {"negative_slope": 0.25})),
    "threshold": Case(
        lambda x, threshold=0, value=0: torch.where(x <= threshold, torch.full_like(x, value), x),
        keywords=({}, {"threshold": 1, "value": 7}),
    ),
    "hardtanh": Case(
        lambda x, min_val=-1, max_val=1: F.hardtanh(x, min_val, max_val),
        keywords=({"min_val": 0, "max_val": 2}, {"max_val": 3}),
        elements=("f16", "bf16", "f32", "f64", "s8", "s16", "s32", "s64"),
    ),
    "hardshrink": Case(lambda x, lambd=0.5: torch.where(x.abs() <= lambd, 0.0, x), keywords=({}, {"lambd": 1.25})),
    "softshrink": Case(F.softshrink, keywords=({}, {"lambd": 1.25})),
    "relu_squared": Case(lambda x: _relu(x) ** 2),
    "hardsigmoid": Case(lambda x: torch.where(x <= -3, 0.0, torch.where(x >= 3, 1.0, (x + 3) / 6)), absolute=0.5),
    "hardswish": Case(lambda x: torch.where(x <= -3, x * 0, torch.where(x >= 3, x, x * (x + 3) / 6)), absolute=1.0),
    "elu": Case(F.elu, keywords=({}, {"alpha": 0.5})),
    "selu": Case(F.selu),
    "celu": Case(F.celu, keywords=({}, {"alpha": 0.5})),
    "gelu": Case(_gelu, keywords=GELU, absolute=1.0),
    "quick_gelu": Case(lambda x: x * torch.sigmoid(1.702 * x), absolute=0.5, tolerance=6.0),
    "silu": Case(_silu, domains=("small",), tolerance=8.0, absolute=1.0),  # between the poles at +-pi i
    "mish": Case(F.mish, tolerance=8.0, absolute=0.2),
    "softplus": Case(_softplus, keywords=({}, {"beta": 2.0, "threshold": 3.0}), absolute=0.5),
    "softsign": Case(lambda x: x / (1 + x.abs())),
    "tanhshrink": Case(F.tanhshrink, absolute=2.0),
    "logsigmoid": Case(lambda x: torch.clamp(x, max=0) - torch.log1p(torch.exp(-x.abs())), absolute=1.0),
    "squareplus": Case(_squareplus, keywords=({}, {"b": 1.0})),
    "sparse_plus": Case(_sparse_plus, absolute=0.5),
    "sparse_sigmoid": Case(lambda x: torch.where(x <= -1, 0.0, torch.where(x >= 1, 1.0, (x + 1) / 2)), absolute=0.5),
    "log1mexp": Case(lambda x: torch.log(-torch.expm1(-x)), domains=("positive",), absolute=0.1),
    "softcap": Case(lambda x, cap=30.0: cap * torch.tanh(x / cap), keywords=({}, {"cap": 2.0}), specials=False),
    "snake": Case(
        lambda x, a: x + torch.sin(a * x) ** 2 / a, domains=("any", "nonzero"), shapes=WITH_CHANNELS, absolute=2.0, specials=False
    ),
    "dyt": Case(lambda x, alpha, w, b: w * torch.tanh(alpha * x) + b, shapes=DYT, absolute=4.0),
    "rrelu": Case(lambda x, slope: torch.where(x >= 0, x, x * slope), domains=("any", "probability")),
    "prelu": Case(lambda x, w: torch.where(x > 0, x, w * x), shapes=WITH_CHANNELS),
    "bias_gelu": Case(
        lambda x, b, approximate="none": _gelu(x + b, approximate), shapes=WITH_CHANNELS, keywords=GELU, absolute=16.0
    ),
    "bias_silu": Case(lambda x, b: _silu(x + b), shapes=WITH_CHANNELS, absolute=8.0),
    "glu": Case(lambda a, b: a * torch.sigmoid(b), tolerance=6.0),
    "swiglu": Case(lambda a, b: _silu(a) * b, tolerance=6.0, absolute=0.5),
    "geglu": Case(lambda a, b, approximate="none": _gelu(a, approximate) * b, keywords=GELU, absolute=2.0, specials=False),
    "reglu": Case(lambda a, b: _relu(a) * b),
    "bilinear_glu": Case(lambda a, b: a * b),
    "swiglu_clamped": Case(_swiglu_clamped, keywords=({}, {"alpha": 1.0, "limit": 1.5}), absolute=2.0, specials=False),
}
