"""Cases of affine quantization."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from tests.cases.case import OpCases

Tensor = torch.Tensor
FLOATS = ("f16", "bf16", "f32", "f64")


def _placed(v: Tensor | None, x: Tensor, axis: int | None) -> Tensor | None:
    if v is None or axis is None or v.ndim == 0:
        return v
    return v.reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])


def _quantize(x: Tensor, scale: Tensor, zero: Tensor | None = None, dtype: str = "s8", axis: int | None = None) -> Tensor:
    scale, zero = _placed(scale, x, axis), _placed(zero, x, axis)
    low, high = {"s8": (-128, 127), "u8": (0, 255)}[dtype]
    return ((x / scale).round() + (0 if zero is None else zero)).clamp(low, high).to(torch.int64)


def _dequantize(q: Tensor, scale: Tensor, zero: Tensor | None = None, dtype: str = "f32", axis: int | None = None) -> Tensor:
    scale, zero = _placed(scale, q, axis), _placed(zero, q, axis)
    return (q - (0 if zero is None else zero)) * scale.double()


def _fake(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, quant_min: float = -128, quant_max: float = 127, axis: int | None = None
) -> Tensor:
    scale, zero = _placed(scale, x, axis).detach(), _placed(zero, x, axis)
    zero = torch.zeros((), dtype=x.dtype) if zero is None else zero
    code = (x / scale).round() + zero
    y = (code.clamp(quant_min, quant_max) - zero) * scale
    return torch.where((code >= quant_min) & (code <= quant_max), x + (y - x).detach(), y.detach())


def _rows(x: Tensor, quant_max: float = 127.0, axis: int = -1) -> Tensor:
    scale = x.abs().amax(axis, keepdim=True).clamp(min=1e-12) / quant_max
    return x + ((x / scale).round() * scale - x).detach()


class _Learnable(torch.autograd.Function):
    """By the formulas of the papers."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, s: Tensor, z: Tensor, low: float, high: float, factor: float) -> Tensor:
        whole = z.round().clamp(low, high)
        code = (x / s).round() + whole
        ctx.save_for_backward(x, s, whole, code)
        ctx.words = low, high, factor
        return (code.clamp(low, high) - whole) * s

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Any:
        x, s, z, code = ctx.saved_tensors
        low, high, factor = ctx.words
        inside = (code >= low) & (code <= high)
        ds = torch.where(inside, ((code - z) * s - x) / s, torch.where(code < low, low - z, high - z)) * dy * factor
        dz = torch.where(inside, 0.0, -dy * s) * factor
        return torch.where(inside, dy, 0.0), ds.sum_to_size(s.shape), dz.sum_to_size(z.shape), None, None, None


def _learnable(
    x: Tensor, s: Tensor, z: Tensor, quant_min: float = -128, quant_max: float = 127, grad_factor: float = 1.0
) -> Tensor:
    result: Tensor = _Learnable.apply(x, s, z, quant_min, quant_max, grad_factor)
    return result


_SHAPES = [((3, 67), (), ()), ((2, 5, 33), (5, 1), None), ((7,), (), None)]
_CHANNELS = [((3, 67), (67,), (67,)), ((2, 33), (33,), None)]
_TOKENS = [((3, 67), (3,), (3,)), ((5, 1030), (5,), None)]
_WORDS: dict[str, Any] = {"gradient": False, "specials": False, "elements": FLOATS}
_AXES = ({"axis": -1}, {"axis": 1, "dtype": "u8"})
_NARROW = ({}, {"quant_min": -3.0, "quant_max": 2.0})
CASES = {
    "quantize_per_tensor": OpCases(_quantize, ("any", "positive", "index:5"), _SHAPES, ({}, {"dtype": "u8"}), **_WORDS),
    "quantize_per_channel": OpCases(_quantize, ("any", "positive", "index:5"), _CHANNELS, _AXES, **_WORDS),
    "dequantize": OpCases(
        _dequantize, ("shift", "positive", "index:5"), _SHAPES, gradient=False, specials=False,
        elements=("s8", "u8", "s16", "s32"),
    ),
    "dequantize_per_channel": OpCases(
        _dequantize, ("shift", "positive", "index:5"), _CHANNELS, ({"axis": -1},), gradient=False, specials=False,
        elements=("s8", "u8"),
    ),
    "quantize_per_token": OpCases(
        partial(_quantize, axis=0), ("any", "positive", "index:5"), _TOKENS, ({}, {"dtype": "u8"}), **_WORDS
    ),
    "dequantize_per_token": OpCases(
        partial(_dequantize, axis=0), ("shift", "positive", "index:5"), _TOKENS, gradient=False, specials=False,
        elements=("s8", "u8"),
    ),
    "fake_quantize_per_tensor": OpCases(
        _fake, ("any", "positive", "index:5"), _SHAPES, _NARROW, elements=FLOATS, specials=False, tolerance=8.0, absolute=4.0
    ),
    "fake_quantize_per_channel": OpCases(
        _fake, ("any", "positive", "index:5"), _CHANNELS, ({"axis": -1}, {"axis": 1, "quant_max": 2.0}), elements=FLOATS,
        specials=False, tolerance=8.0, absolute=4.0,
    ),
    "fake_quantize_per_token": OpCases(
        _rows, elements=("f32", "f64"), keywords=({}, {"quant_max": 7.0}), specials=False, tolerance=8.0
    ),
    "fake_quantize_learnable": OpCases(
        _learnable, ("any", "positive", "small"), [((3, 67), (), ()), ((2, 5, 33), (5, 1), (5, 1))],
        ({}, {"quant_min": -2.0, "quant_max": 1.0, "grad_factor": 0.5}), elements=("f32", "f64"), specials=False, tolerance=64.0,
        absolute=4.0,
    ),
}  # fmt: skip
