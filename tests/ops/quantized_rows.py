"""Quantization of groups as NumPy writes it out, one group after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def scale_of(x: Array, low: int, high: int, symmetric: bool) -> tuple[Any, int]:
    """The scale and the zero point of one group, in its own element."""
    kind = x.dtype.type
    middle = (low + high + 1) // 2
    if symmetric:
        scale = np.abs(x).max() / kind(high - middle)
        return scale if scale else kind(1), middle
    least, most = min(x.min(), kind(0)), max(x.max(), kind(0))
    scale = (most - least) / kind(high - low) or kind(1)
    return scale, int(np.clip(np.rint(kind(low) - least / scale), low, high))


def groups(shape: tuple[int, ...], sizes: Mapping[int, int]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """The number of each group along every axis, and where it lies."""
    cuts = []
    for axis, n in enumerate(shape):
        size = sizes.get(axis, 1)
        cuts.append([slice(at, min(at + size, n)) for at in range(0, n, size)])
    for number in product(*(range(len(c)) for c in cuts)):
        yield number, tuple(c[i] for c, i in zip(cuts, number, strict=True))


def quantized(x: Array, sizes: Mapping[int, int], low: int, high: int, symmetric: bool) -> tuple[Array, Array, Array]:
    """Codes, scales and zero points."""
    counts = tuple(-(-n // sizes.get(a, 1)) for a, n in enumerate(x.shape))
    scale, zero, q = np.zeros(counts, x.dtype), np.zeros(counts, np.int32), np.zeros(x.shape, np.int64)
    for number, place in groups(x.shape, sizes):
        scale[number], zero[number] = scale_of(x[place], low, high, symmetric)
        q[place] = np.clip(np.rint(x[place] / scale[number]) + x.dtype.type(zero[number]), low, high)
    return q, scale, zero


def spread(each: Array, sizes: Mapping[int, int], shape: tuple[int, ...]) -> Array:
    """What each group has, for each of its elements."""
    for axis, size in sizes.items():
        each = np.repeat(each, size, axis=axis).take(range(shape[axis]), axis=axis)
    return each


def packed(q: Array, bits: int, low_first: bool = True) -> Array:
    """Codes along the last axis in bytes."""
    count = 8 // bits
    size = -(-q.shape[-1] // count)
    padded = np.zeros((*q.shape[:-1], size * count), np.int64)
    padded[..., : q.shape[-1]] = q & (1 << bits) - 1
    parts = padded.reshape(*q.shape[:-1], size, count)
    shifts = bits * np.arange(count)
    return (parts << (shifts if low_first else 8 - bits - shifts)).sum(-1).astype(np.uint8)
