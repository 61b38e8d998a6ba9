"""Casts between elements."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import baracuda
from baracuda.onnx.coded import Coded, computed, encode, values_of
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Tensor, element, host

_BYTE_FLOATS = ("float8_e4m3fn", "float8_e5m2")


def to_element(x: Tensor, kind: np.dtype[Any], *, saturate: bool = True, round_mode: str = "up") -> Tensor:
    """x in another element, as ONNX's Cast has it."""
    kind = np.dtype(kind)
    source = np.dtype(x.dtype)
    if source == kind:
        return x
    if object in (source, kind):
        return _text(host(x), kind)
    if isinstance(x, Coded):
        x = values_of(x)
    if kind.name in _BYTE_FLOATS or not computed(kind):
        return encode(x, kind, saturate, round_mode)
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
    made = baracuda.bitcast(x.codes if isinstance(x, Coded) else x, kind if computed(kind) else np.dtype(np.uint8))
    return made if computed(kind) else Coded(made, kind)
