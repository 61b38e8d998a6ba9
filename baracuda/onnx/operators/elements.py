"""Casts between elements."""

from __future__ import annotations

from typing import Any, Literal

import ml_dtypes
import numpy as np

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Tensor, element, host

_BYTE_FLOATS = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def _ours(kind: np.dtype[Any]) -> bool:
    try:
        return ElementKind.from_numpy(kind).bits >= 8
    except UnsupportedError:
        return False


def to_element(x: Tensor, kind: np.dtype[Any], *, saturate: bool = True, round_mode: str = "up") -> Tensor:
    """x in another element, as ONNX's Cast has it."""
    kind = np.dtype(kind)
    source = np.dtype(x.dtype)
    if source == kind:
        return x
    if object in (source, kind):
        return _text(host(x), kind)
    if kind.name in _BYTE_FLOATS or "float8_e8m0" in kind.name or not (_ours(source) and _ours(kind)):
        return _rare(host(x), kind, saturate, round_mode)
    return baracuda.cast(x, dtype=kind)


def _text(x: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    if kind.kind != "O":
        flat = [v.decode() if isinstance(v, bytes) else str(v) for v in x.reshape(-1)]
        wide = np.array(flat, np.float64 if kind.kind not in "iub" else None)
        return wide.astype(kind).reshape(x.shape)
    words = [_number(v) for v in x.reshape(-1)] if x.dtype.kind == "f" else [str(v) for v in x.reshape(-1)]
    return np.array(words, object).reshape(x.shape)


def _number(value: Any) -> str:
    """A number as ONNX writes it."""
    if np.isfinite(value):
        return np.format_float_positional(value, trim="-")
    return str(value).replace("inf", "INF").replace("nan", "NaN")


def _rare(x: np.ndarray, kind: np.dtype[Any], saturate: bool, round_mode: str) -> np.ndarray:
    """Elements that kernels do not compute in: through float32, with ml_dtypes."""
    if x.dtype.name in ("int4", "uint4", "int2", "uint2"):
        return x.astype(np.int8).astype(kind)
    wide = x.astype(np.float32) if x.dtype.kind not in "iub" else x.astype(np.float64)
    name = kind.name
    if name == "float8_e8m0fnu":
        return _power_of_two(wide.astype(np.float32), saturate, round_mode)
    if name in _BYTE_FLOATS:
        made = wide.astype(np.float32).astype(kind)
        limit = np.float32(ml_dtypes.finfo(kind).max)
        with np.errstate(invalid="ignore"):
            if saturate:
                made = np.where(np.isnan(wide), made, np.clip(wide, -limit, limit).astype(np.float32).astype(kind))
        return made.astype(kind)
    if name in ("int4", "uint4", "int2", "uint2"):
        bits = int(name[-1])
        whole = np.trunc(wide).astype(np.int64) & ((1 << bits) - 1)
        if name[0] == "i":
            whole = np.where(whole >= 1 << (bits - 1), whole - (1 << bits), whole)
        return whole.astype(np.int8).astype(kind)
    if name == "float4_e2m1fn":
        return wide.astype(np.float32).astype(kind)
    if kind.kind in "iu" and x.dtype.name.startswith("float"):
        return np.trunc(wide).astype(kind)
    return wide.astype(kind)


def _power_of_two(x: np.ndarray, saturate: bool, round_mode: str) -> np.ndarray:
    """E8M0, a power of two: up, down, or to the nearest (ties up)."""
    bits = np.abs(x).view(np.uint32)
    exponent = (bits >> 23).astype(np.int64)
    fraction = bits & 0x7FFFFF
    if round_mode == "nearest":
        up = (fraction >= 0x400000) & ((exponent > 0) | (fraction > 0x400000))
    elif round_mode == "up":
        up = (fraction > 0) & ((exponent > 0) | (fraction > 0x400000))
    else:
        up = np.zeros_like(fraction, bool)
    result = np.where(exponent == 255, 255, exponent + up)
    result = np.where((exponent != 255) & (result >= 255), 254 if saturate else 255, result)
    if saturate:
        result = np.where(np.isinf(x), 254, result)
    return result.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)


@operator("Cast", since=6)
def cast(x: Tensor, *, to: int, saturate: bool = True, round_mode: Literal["up", "down", "nearest"] = "up") -> Tensor:
    """x in another element."""
    return to_element(x, element(to), saturate=saturate, round_mode=round_mode)


@operator("CastLike", since=15)
def cast_like(x: Tensor, like: Tensor, *, saturate: bool = True, round_mode: Literal["up", "down", "nearest"] = "up") -> Tensor:
    """x in the element of another tensor."""
    return to_element(x, like.dtype, saturate=saturate, round_mode=round_mode)


@operator("BitCast", since=26)
def bit_cast(x: Tensor, *, to: int) -> Tensor:
    """The same bits as another element of that size."""
    kind = element(to)
    return baracuda.bitcast(x, kind) if _ours(np.dtype(x.dtype)) and _ours(kind) else host(x).view(kind)
