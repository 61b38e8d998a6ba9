"""Elements of 2, 4 and 8 bits that no kernel computes in, held as their codes, one a byte, on any device.

They are read by a table of their values. A float is written by another: the magnitudes, as bits of f32, from which on each code
holds; both are made once from what ml_dtypes computes, so that every device has the same codes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import ml_dtypes
import numpy as np

import baracuda
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.frontends.array import Array

_U8, _S32, _S64, _F32 = (np.dtype(k) for k in (np.uint8, np.int32, np.int64, np.float32))
_INFINITY = 0x7F800000


class Coded:
    """A tensor of small elements.

    Attributes
    ----------
    codes
        u8, a NumPy array or one of ours, each the bits of one element in its lowest places.
    dtype : numpy.dtype
        The element, as ml_dtypes has it.
    """

    __slots__ = ("codes", "dtype")

    def __init__(self, codes: Any, dtype: np.dtype[Any]) -> None:
        self.codes = codes
        self.dtype = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return tuple(self.codes.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the codes."""
        return int(self.codes.nbytes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.codes.size)

    def numpy(self) -> np.ndarray:
        """The elements on the host."""
        codes = baracuda.to_host(self.codes) if isinstance(self.codes, Array) else self.codes
        return np.asarray(codes, order="C").view(self.dtype)

    def __repr__(self) -> str:
        return f"Coded({self.dtype}{self.shape})"


@cache
def computed(kind: np.dtype[Any]) -> bool:
    """Whether kernels compute in the element."""
    try:
        return ElementKind.from_numpy(kind).bits >= 8
    except UnsupportedError:
        return False


def coded(value: Any) -> Any:
    """A NumPy array of small elements as their codes; anything else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "V" or value.dtype.itemsize != 1 or computed(value.dtype):
        return value
    codes = np.asarray(value, order="C").view(np.uint8)
    bits = _bits(value.dtype)
    return Coded(codes if bits == 8 else codes & np.uint8((1 << bits) - 1), value.dtype)


def moving(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function that moves elements, or repeats and leaves out some, of codes as well."""

    @wraps(call)
    def run(*given: Any, **words: Any) -> Any:
        kind = next((x.dtype for x in given if type(x) is Coded), None)
        if kind is None:
            return call(*given, **words)
        found = call(*(x.codes if type(x) is Coded else x for x in given), **words)
        return tuple(Coded(y, kind) for y in found) if isinstance(found, tuple) else Coded(found, kind)

    return run


def stack(values: tuple[Any, ...], axis: int) -> Any:
    """`baracuda.stack`, of codes as well."""
    if values and type(values[0]) is Coded:
        return Coded(baracuda.stack(tuple(v.codes for v in values), axis=axis), values[0].dtype)
    return baracuda.stack(values, axis=axis)


def values_of(x: Coded) -> Any:
    """The elements in f32, exactly."""
    return _looked_up(_values(x.dtype.name), x.codes)


def encode(x: Any, kind: np.dtype[Any], saturate: bool = True, round_mode: str = "up") -> Any:
    """A tensor in an element of 8 bits or fewer: an integer's lowest bits, the float that Cast has."""
    if "int" in kind.name:
        whole = baracuda.cast(x, dtype=_S64)
        mask = baracuda.full((), (1 << _bits(kind)) - 1, _S64, like=whole)
        return Coded(baracuda.cast(baracuda.bitwise_and(whole, mask), dtype=_U8), kind)
    bounds, codes = _bounds(kind.name, saturate, round_mode)
    bits = baracuda.bitcast(baracuda.cast(x, dtype=_F32), _S32)
    found = _looked_up(codes, baracuda.searchsorted(_beside(bounds, bits), bits, right=True))
    return baracuda.bitcast(found, kind) if computed(kind) else Coded(found, kind)


def _looked_up(table: np.ndarray, index: Any) -> Any:
    flat = baracuda.reshape(baracuda.cast(index, dtype=_S32), (math.prod(index.shape),))
    return baracuda.reshape(baracuda.index_select(_beside(table, index), flat, axis=0), tuple(index.shape))


def _beside(table: np.ndarray, x: Any) -> Any:
    """A table where x lies."""
    return _placed(id(table), x.device) if isinstance(x, Array) else table


@cache
def _placed(table: int, device: Device) -> Any:
    return baracuda.to_device(_TABLES[table], device)


#: Every table by its identity: none is ever given up.
_TABLES: dict[int, np.ndarray] = {}


def _kept(table: np.ndarray) -> np.ndarray:
    _TABLES[id(table)] = table
    return table


def _bits(kind: np.dtype[Any]) -> int:
    return 4 if "4" in kind.name.partition("_")[0] else 2 if kind.name.endswith("t2") else 8


@cache
def _values(name: str) -> np.ndarray:
    """What each byte stands for."""
    kind = np.dtype(getattr(ml_dtypes, name))
    count = 1 << _bits(kind)
    return _kept(np.tile(np.arange(count, dtype=np.uint8).view(kind).astype(np.float32), 256 // count))


@cache
def _bounds(name: str, saturate: bool, round_mode: str) -> tuple[np.ndarray, np.ndarray]:
    """The bit patterns of f32, as s32 in rising order, from which on another code holds, and the codes.

    Patterns rise with the magnitude, negative ones first, and codes with it: between two patterns of one code there is no other.
    """
    kind = np.dtype(getattr(ml_dtypes, name))

    def code(patterns: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return _nearest(patterns.astype(np.int32).view(np.float32), kind, saturate, round_mode).view(np.uint8)

    bounds: list[int] = []
    for first in (-(1 << 31), 0):
        edges = np.linspace(first, first + _INFINITY, 4096, dtype=np.int64)
        edges = np.append(edges, (first + _INFINITY + 1, first + (1 << 31) - 1))
        low, high = edges[:-1], edges[1:]
        while len(low):
            differ = code(low) != code(high)
            low, high = low[differ], high[differ]
            near = high - low == 1
            bounds += high[near].tolist()
            low, high = low[~near], high[~near]
            middle = (low + high) // 2
            low, high = np.concatenate((low, middle)), np.concatenate((middle, high))
        bounds += [0] * (first < 0)
    starts = np.array([-(1 << 31), *sorted(bounds)], np.int64)
    return _kept(starts[1:].astype(np.int32)), _kept(code(starts))


def _nearest(x: np.ndarray, kind: np.dtype[Any], saturate: bool, round_mode: str) -> np.ndarray:
    """f32 in a float of 8 bits or fewer, on the host."""
    if kind.name == "float8_e8m0fnu":
        return _power_of_two(x, saturate, round_mode)
    made = x.astype(kind)
    if not saturate or _bits(kind) < 8:
        return made
    limit = np.float32(ml_dtypes.finfo(kind).max)
    return np.where(np.isnan(x), made, np.clip(x, -limit, limit).astype(kind))


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
