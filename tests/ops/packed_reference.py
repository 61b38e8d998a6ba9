"""Products with packed weights in NumPy, step by step as `baracuda/lowering/packed_product/problem.py` has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from baracuda.formula.exact_fma import fma32
from baracuda.formula.integer_products import scaled

Array = np.ndarray[Any, Any]
#: What codes of a kind may be.
RANGES = {"u4": (0, 16), "s4": (-8, 8), "u8": (0, 256), "s8": (-128, 128), "ternary": (0, 4), "nf4": (0, 16)}
#: NF4 of bitsandbytes, times 2**14.
LEVELS = np.rint(
    2.0**14
    * np.array(
        [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
         -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
    )
).astype(np.int64)  # fmt: skip


def packed(codes: Array, bits: int, *, high_first: bool = False) -> Array:
    """Codes over (n, k) as bytes."""
    per_byte = 8 // bits
    n, k = codes.shape
    padded = np.zeros((n, -(-k // per_byte) * per_byte), np.uint8)
    padded[:, :k] = codes & ((1 << bits) - 1)
    places = bits * np.arange(per_byte, dtype=np.uint8)[:: -1 if high_first else 1]
    return np.bitwise_or.reduce(padded.reshape(n, -1, per_byte) << places, -1)


def whole_weights(kind: str, codes: Array, zero: Array | None, group: int) -> Array:
    """What x's integers are multiplied by."""
    if kind == "nf4":
        return LEVELS[codes]
    whole = codes.astype(np.int64) - (1 if kind == "ternary" else 0)
    return whole if zero is None else whole - _spread(zero, group, codes.shape[1])


def _spread(by_group: Array, group: int, k: int) -> Array:
    return np.repeat(by_group, min(group, max(k, 1)), 1)[:, :k]


def product(kind: str, x: Array, codes: Array, scale: Array, zero: Array | None, group: int) -> Array:
    """The sums, f32: x over (m, k), codes (n, k), scale and zero (n, groups)."""
    x, scale = x.astype(np.float32), scale.astype(np.float32) * np.float32(2.0**-14 if kind == "nf4" else 1)
    k = x.shape[1]
    whole = whole_weights(kind, codes, zero, group)
    block = group if group in (32, 64) and group < k else 128
    s = np.zeros((x.shape[0], codes.shape[0]), np.float32)
    for start in range(0, k, block):
        q, e = scaled(x[:, start : start + block], 15)
        exact = (q @ whole[:, start : start + block].T).astype(np.float32)
        of_rows = np.ldexp(np.float32(1), e - 15)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            s = fma32(exact * of_rows, scale[None, :, start // group if group < k else 0], s)
    return _with_unusual(s, x, whole, _spread(scale, group, k) if k else whole)


def _with_unusual(s: Array, x: Array, whole: Array, scale: Array) -> Array:
    for row in np.flatnonzero(~np.isfinite(x).all(1)):
        total = np.zeros_like(s[row])
        with np.errstate(invalid="ignore", over="ignore"):
            for i in np.flatnonzero(~np.isfinite(x[row])):
                total = total + x[row, i] * (whole[:, i].astype(np.float32) * scale[:, i])
        s[row] = total
    return s
