"""Codes of numbers by a scale and a zero point."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.operators.elements import to_element
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Tensor, element, float_of, near, positive

_F32 = np.dtype(np.float32)


def _spread(words: Tensor, x: Tensor, axis: int, block_size: int) -> Tensor:
    """A scale or zero point beside each element: one number, one a channel, or one a block along the axis."""
    if words is None or not words.shape or (words.shape == (1,) and not block_size):
        return words if words is None else baracuda.reshape(words, ())
    at = positive(axis, len(x.shape))
    if block_size:
        wide = baracuda.repeat_interleave(words, block_size, axis=at)
        return baracuda.slice(wide, 0, x.shape[at], at)
    if len(words.shape) != 1:
        raise InvalidProblemError(f"scale of shape {tuple(words.shape)}; expected one number, or one for each of axis {axis}")
    return baracuda.reshape(words, tuple(-1 if i == at else 1 for i in range(len(x.shape))))


def _range(kind: np.dtype[Any]) -> tuple[int, int]:
    info = np.iinfo(kind) if kind.kind in "iu" else ml_dtypes.iinfo(kind)
    return int(info.min), int(info.max)


@operator("QuantizeLinear", since=10)
def quantize_linear(
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: bool = True,
) -> Tensor:
    """x / scale, rounded to nearest even, plus the zero point, within the element's range."""
    kind = np.dtype(zero_point.dtype) if zero_point is not None else element(output_dtype) if output_dtype else np.dtype(np.uint8)
    wide = element(precision) if precision else np.dtype(x.dtype) if float_of(np.dtype(x.dtype)) else _F32
    by = to_element(_spread(to_element(scale, wide), x, axis, block_size), wide)
    y = baracuda.div(to_element(x, wide), by)
    if float_of(kind):
        if zero_point is not None:
            y = baracuda.add(y, _spread(to_element(zero_point, wide), x, axis, block_size))
        return to_element(y, kind, saturate=saturate)
    least, most = _range(kind)
    y = baracuda.cast(baracuda.round(y), dtype=ElementKind.F32)
    if zero_point is not None:
        y = baracuda.add(y, _spread(to_element(zero_point, _F32), x, axis, block_size))
    return to_element(baracuda.clamp(y, near(least, y), near(most, y)), kind)


@operator("DequantizeLinear", since=10)
def dequantize_linear(
    x: Tensor, scale: Tensor, zero_point: Tensor = None, *, axis: int = 1, block_size: int = 0, output_dtype: int = 0
) -> Tensor:
    """(x - zero_point) * scale."""
    kind = element(output_dtype) if output_dtype else np.dtype(scale.dtype)
    exact = _F32 if float_of(np.dtype(x.dtype)) else np.dtype(np.int32)
    y = to_element(x, exact)
    if zero_point is not None:
        y = baracuda.sub(y, _spread(to_element(zero_point, exact), x, axis, block_size))
    y = baracuda.mul(to_element(y, _F32), _spread(to_element(scale, _F32), x, axis, block_size))
    return to_element(y, kind)


@operator("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(x: Tensor) -> tuple[Tensor, ...]:
    """`baracuda.quantize_dynamic` into u8."""
    y, scale, zero_point = baracuda.quantize_dynamic(x, dtype=ElementKind.U8, symmetric=False)
    return y, scale, baracuda.cast(zero_point, dtype=ElementKind.U8)
