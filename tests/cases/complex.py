"""Cases of complex numbers made and taken apart, and of the conversions."""

from __future__ import annotations

from typing import Any

import torch

from tests.cases.case import OpCases

Tensor = torch.Tensor


def _frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    mantissa, exponent = torch.frexp(x)
    return mantissa, torch.where(x.isfinite(), exponent, torch.zeros_like(exponent))


def _cast(x: Tensor, dtype: str) -> Tensor:
    x = x.real if x.is_complex() else x
    return x.to(torch.float32 if dtype == "f32" else torch.int64)


def _cast_fp8(x: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scaled = x.float() if scale is None else x.float() * scale.float()
    return scaled.clamp(-448, 448).to(torch.float8_e4m3fn).double(), x.abs().max()


def _wide(x: Tensor) -> Tensor:
    """torch makes no complex numbers of bf16."""
    return x.float() if x.dtype == torch.bfloat16 else x


class _Bf16(torch.autograd.Function):
    """Rounded to bf16, the gradient too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.to(torch.bfloat16).double()

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Tensor:
        return dy.to(torch.bfloat16).double()


CASES = {
    "complex": OpCases(torch.complex, rival=lambda re, im: torch.complex(_wide(re), _wide(im))),
    "polar": OpCases(
        torch.polar,
        domains=("positive", "any"),
        absolute=1.0,
        specials=False,
        rival=lambda abs, angle: torch.polar(_wide(abs), _wide(angle)),
    ),
    "real": OpCases(lambda x: torch.real(x) * 1),
    "imag": OpCases(lambda x: torch.imag(x) * 1),
    "conj": OpCases(lambda x: torch.conj(x) * 1),
    "resolve_conj": OpCases(lambda x: x * 1),
    "resolve_neg": OpCases(lambda x: x * 1),
    "angle": OpCases(torch.angle, domains=("nonzero",)),
    "cast": OpCases(_cast, keywords=({"dtype": "f32"}, {"dtype": "s64"}), gradient=False, specials=False),
    "cast_fp8": OpCases(
        _cast_fp8,
        domains=("any", "positive"),
        shapes=[((3, 67), ()), ((5, 33), None), ((1,), ())],
        gradient=False,
        specials=False,
    ),
    "cast_stochastic_rounding": OpCases(
        lambda x, bits: x + bits * 0,
        domains=("any", "bits"),
        elements=("f32", "bf16", "f16"),
        tolerance=2.0,
        gradient=False,
        specials=False,
    ),
    "frexp": OpCases(_frexp),
    "reduce_precision": OpCases(
        lambda x, exponent_bits, mantissa_bits: _Bf16.apply(x),
        keywords=({"exponent_bits": 8, "mantissa_bits": 7},),
        elements=("bf16", "f32", "f64"),
        specials=False,
    ),
}
