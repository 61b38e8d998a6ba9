"""Deterministic test data: the same bits on every machine, from Philox's raw words and exact operations only."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import prod

import numpy as np

from baracuda.core.elements import ElementKind

#: A large finite value of each kind that squares and cubes in the compute kind without overflow.
LARGE = {ElementKind.F16: 1e3, ElementKind.BF16: 1e8, ElementKind.F32: 1e8, ElementKind.F64: 1e60}
#: The smallest subnormal and the smallest normal number of each kind.
TINY = {
    ElementKind.F16: (2.0**-24, 2.0**-14),
    ElementKind.BF16: (2.0**-133, 2.0**-126),
    ElementKind.F32: (2.0**-149, 2.0**-126),
    ElementKind.F64: (2.0**-1074, 2.0**-1022),
}
#: What values are mixed into normal ones.
VARIANTS = ("normal", "extreme", "special")


def raw(seed: str, count: int) -> np.ndarray:
    """`count` random 64-bit words that depend on the seed alone."""
    words: np.ndarray = np.random.Philox(key=zlib.crc32(seed.encode())).random_raw(count)
    return words


def uniform(seed: str, shape: Sequence[int]) -> np.ndarray:
    """Multiples of 2**-53 in [0, 1)."""
    return ((raw(seed, prod(shape)) >> np.uint64(11)) * 2.0**-53).reshape(tuple(shape))


def normal(seed: str, shape: Sequence[int]) -> np.ndarray:
    """Sums of four uniform values, of mean 0 and variance 1: close to normal, and made without any library function."""
    words = raw(seed, 2 * prod(shape)).reshape(2, *shape)
    pieces = [(words[0] >> np.uint64(16 * k)) & np.uint64(0xFFFF) for k in range(4)]
    total = (pieces[0] + pieces[1] + pieces[2] + pieces[3]).astype(np.float64) + (words[1] >> np.uint64(11)) * 2.0**-53
    scaled: np.ndarray = (total / 65536.0 - 2.0) * 1.7320508075688772
    return scaled


def integers(seed: str, shape: Sequence[int], low: int, high: int) -> np.ndarray:
    """Whole numbers in low ... high."""
    return (raw(seed, prod(shape)) % np.uint64(high - low + 1)).astype(np.int64).reshape(tuple(shape)) + low


def rounded(values: np.ndarray, kind: ElementKind) -> np.ndarray:
    """float64 values in `kind`; bf16 by way of f32, so that every version of ml_dtypes gives the same."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return np.asarray(values, np.float32 if kind is ElementKind.BF16 else values.dtype).astype(kind.numpy)


def salted(values: np.ndarray, seed: str, kind: ElementKind, variant: str) -> np.ndarray:
    """Values with zeros of both signs, subnormal, tiny and large ones among them ("extreme"), and NaN and infinities
    besides ("special"): in one element of eight, and only in about half the slices along the first axis, so that whole rows
    stay clean either way."""
    if variant == "normal" or not values.size:
        return values
    subnormal, smallest = TINY[kind]
    large = LARGE[kind]
    salt = [0.0, -0.0, subnormal, -3 * subnormal, smallest, -smallest, large, -large]
    if variant == "special":
        salt += [np.nan, np.inf, -np.inf, np.nan]
    words = raw(seed + "/salt", values.size)
    chosen = np.array(salt)[(words >> np.uint64(32)) % np.uint64(len(salt))]
    flat = values.reshape(-1).copy()
    mask = words % np.uint64(8) == 0
    if values.ndim > 1:
        per = values.size // values.shape[0]
        mask &= np.repeat(raw(seed + "/slices", values.shape[0]) % np.uint64(2) == 0, per)
    flat[mask] = chosen[mask]
    return flat.reshape(values.shape)
