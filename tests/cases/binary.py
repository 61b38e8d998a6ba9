"""Cases of the operations of two and of three tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tests.cases.case import OpCases, Shapes

Tensor = torch.Tensor
Reference = Callable[..., Any]
REAL = ("f16", "bf16", "f32", "f64")
INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64")
LIMITS: list[Shapes] = [((3, 67), (3, 67), (67,)), ((5, 33), None, (5, 1)), ((4, 1, 33), (5, 1), None), ((0, 4), (1,), ())]
THREE: list[Shapes] = [((3, 67), (3, 67), (3, 67)), ((4, 1, 33), (5, 1), (33,)), ((1,), (7,), ()), ((0, 4), (1, 4), (4,))]


def _guarded(function: Reference) -> Reference:
    """A quotient of integers that is 0 where the divisor is."""

    def reference(a: Tensor, b: Tensor) -> Tensor:
        if b.is_floating_point():
            return function(a, b)
        none = b == 0
        return torch.where(none, torch.zeros_like(a), function(a, torch.where(none, torch.ones_like(b), b)))

    return reference


floor_divide, remainder, fmod = _guarded(torch.floor_divide), _guarded(torch.remainder), _guarded(torch.fmod)
truncated = _guarded(lambda a, b: torch.div(a, b, rounding_mode="trunc"))


def _div(a: Tensor, b: Tensor, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is None:
        return torch.div(a, b) if a.is_floating_point() or a.is_complex() else torch.div(a.double(), b.double())
    return (floor_divide if rounding_mode == "floor" else truncated)(a, b)


def _clamp(x: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    return torch.clamp(x, min, max)


def _logaddexp(a: Tensor, b: Tensor) -> Tensor:
    if not a.is_complex():
        return torch.logaddexp(a, b)
    first = a.real >= b.real
    high, low = torch.where(first, a, b), torch.where(first, b, a)
    return high + torch.log1p(torch.exp(low - high))


def _heaviside(x: Tensor, values: Tensor) -> Tensor:
    step = torch.heaviside(x, values)
    return torch.where(x.isnan(), x, step) if x.is_floating_point() else step


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.complex128 if x.is_complex() else torch.float64)


def _flat(a: Tensor, b: Tensor) -> tuple[list[int], list[int]]:
    wide = torch.broadcast_tensors(a, b)
    return wide[0].flatten().tolist(), wide[1].flatten().tolist()


def _shape(a: Tensor, b: Tensor) -> torch.Size:
    return torch.broadcast_shapes(a.shape, b.shape)


def _by_integers(function: Callable[[int, int], int]) -> Reference:
    def reference(a: Tensor, b: Tensor) -> Tensor:
        return torch.tensor([function(x, y) for x, y in zip(*_flat(a, b), strict=True)], dtype=torch.int64).reshape(_shape(a, b))

    return reference


def _left(x: int, count: int) -> int:
    return (x << count) % 2**64 - (2**64 if (x << count) % 2**64 >= 2**63 else 0) if 0 <= count < 64 else 0


def _right(x: int, count: int) -> int:
    return x >> count if 0 <= count < 64 else (-1 if x < 0 else 0)


ALPHA = ({}, {"alpha": 3})
VALUE = ({}, {"value": 3})

CASES = {
    "add": OpCases(lambda a, b, alpha=1: a + b * alpha, keywords=ALPHA, absolute=4.0),
    "sub": OpCases(lambda a, b, alpha=1: a - b * alpha, keywords=ALPHA, absolute=4.0),
    "rsub": OpCases(lambda a, b, alpha=1: b - a * alpha, keywords=ALPHA, absolute=4.0),
    "mul": OpCases(torch.mul, absolute=4.0),
    "div": OpCases(
        _div, domains=("any", "nonzero"), elements=(*REAL, "s8", "s32", "u8", "bool", "complex64", "complex128"), absolute=1.0
    ),
    "floor_divide": OpCases(floor_divide, domains=("any", "nonzero"), specials=False, elements=("f64", *INTEGERS)),
    "remainder": OpCases(remainder, domains=("any", "nonzero"), specials=False),
    "fmod": OpCases(fmod, domains=("any", "nonzero"), specials=False),
    "divmod": OpCases(
        lambda a, b: (floor_divide(a, b), remainder(a, b)),
        domains=("any", "nonzero"),
        specials=False,
        elements=("f64", *INTEGERS),
    ),
    "pow": OpCases(torch.pow, domains=("positive", "any"), elements=(*REAL, *INTEGERS), absolute=0.5, tolerance=6.0),
    "float_power": OpCases(
        lambda a, b: torch.pow(_wide(a), _wide(b)), domains=("positive", "any"), elements=(*REAL, *INTEGERS), tolerance=8.0
    ),
    "maximum": OpCases(torch.maximum, domains=("any", "any")),
    "minimum": OpCases(torch.minimum, domains=("any", "any")),
    "fmax": OpCases(torch.fmax, domains=("grid", "any")),
    "fmin": OpCases(torch.fmin, domains=("grid", "any")),
    "clamp_min": OpCases(lambda x, m: torch.clamp(x, min=m)),
    "clamp_max": OpCases(lambda x, m: torch.clamp(x, max=m)),
    "atan2": OpCases(lambda a, b: torch.atan2(_wide(a), _wide(b)), domains=("nonzero",)),
    "hypot": OpCases(lambda a, b: torch.hypot(_wide(a), _wide(b)), domains=("nonzero",)),
    "copysign": OpCases(lambda a, b: torch.copysign(_wide(a), _wide(b)), domains=("nonzero",)),
    "nextafter": OpCases(torch.nextafter, elements=("f64",), specials=False),
    "ldexp": OpCases(lambda x, n: x * 2.0**n, domains=("any", "shift"), specials=False),
    "logaddexp": OpCases(_logaddexp, absolute=1.0),
    "logaddexp2": OpCases(torch.logaddexp2, absolute=1.0),
    "heaviside": OpCases(_heaviside, domains=("grid", "any")),
    "gcd": OpCases(torch.gcd),
    "lcm": OpCases(_by_integers(math.lcm), domains=("any", "nonzero")),
    "mulhi": OpCases(_by_integers(lambda a, b: a * b >> 16), elements=("s16", "u16")),
    "bitwise_and": OpCases(torch.bitwise_and),
    "bitwise_or": OpCases(torch.bitwise_or),
    "bitwise_xor": OpCases(torch.bitwise_xor),
    "bitwise_left_shift": OpCases(_by_integers(_left), domains=("any", "any")),
    "bitwise_right_shift": OpCases(_by_integers(_right), domains=("any", "any")),
    "logical_right_shift": OpCases(_by_integers(lambda x, n: x % 2**16 >> n), domains=("any", "shift"), elements=("s16", "u16")),
    "where": OpCases(lambda c, a, b: torch.where(c, a, b), domains=("mask", "any")),
    "clamp": OpCases(_clamp, domains=("any", "small", "positive"), shapes=LIMITS),
    "lerp": OpCases(lambda a, b, w: a + w * (b - a), absolute=12.0),
    "addcmul": OpCases(lambda x, a, b, value=1: x + value * a * b, keywords=VALUE, absolute=24.0),
    "addcdiv": OpCases(
        lambda x, a, b, value=1: x + value * a / b, domains=("any", "any", "nonzero"), keywords=VALUE, absolute=12.0
    ),
    "fma": OpCases(lambda a, b, c: a * b + c, absolute=4.0),
}
