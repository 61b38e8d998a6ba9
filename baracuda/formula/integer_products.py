"""Integer products: the order of a matrix product whose terms are integers, which every machine adds without an error.

    y[m, n] = sum over k of a[m, k] * b[k, n]

k is cut into blocks of `BLOCK` from 0. In a block, for each row of a and for each column of b, from the block's own elements x,
widened to f32 (those that are not finite count as 0 here):

1. E is the smallest whole number with |x| <= 127/128 * 2**E for all of them, and not below bits - 149;
2. q = x * 2**(bits - E), rounded to the nearest integer, ties to even: |q| <= 127 * 2**(bits - 7).

The block's P = sum of q_a * q_b is an integer below 2**53, and exact. Then, blocks in rising order, from s = +0:

3. s = fma(F * low, high, s), where F is P rounded to f32, nearest even, and low and high are the smaller and the larger of the
   scales 2**(E_a - bits) and 2**(E_b - bits). F * low is exact: it is a whole multiple of 2**-149, and where it overflows, so
   does the whole product. So the sum is all that is rounded here. (fma(F, low * high, s) is the same where low * high is an f32.)

Where the row of a or the column of b has an element that is not finite, anywhere in k, y is not s but the sum of the products
that have such a factor: NaN if one of them is NaN (a NaN, or an infinity times 0) or if infinities of both signs are among them,
else that infinity.

A last block that is not whole is one with zeros behind its elements. So the bits of an element depend on its row, its column and
the number `bits`, and on nothing else: not on how P is computed, on tiles, threads, the batch or the layout. Digits of 8 bits on
tensor cores, dot products of 16-bit halves, and chains of FMA in f64 all give the same P.

The lower bound of E makes 2**(E - bits) an f32, and loses nothing of f32 elements at 23 bits: subnormal ones are integers then.

**Error.** With M_a and M_b the largest magnitudes of a block's row and column, an element is off by at most 1.01 * 2**-bits * M
after rounding to q, so that

    |y - exact| <= sum over blocks of 1.01 * 2**-bits * (M_a * sum|b| + M_b * sum|a| + 2**-bits * BLOCK * M_a * M_b)
                   + (blocks + 1) * 2**-24 * sum|a * b|

where a chain of k FMAs has k * 2**-24 * sum|a * b|: less where a row's elements are of similar size (of 16-bit floats, those
within 2**(bits - significand) of the largest are exact), more for what is made of elements much smaller than their neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baracuda.core.sku import MathPrecision
from baracuda.formula.exact_fma import fma32

#: Steps of k in a block.
BLOCK = 128
#: The bits of an element's integer by the precision that asks for them: three and two digits of 8 bits.
INTEGER_BITS = {MathPrecision.INT23: 23, MathPrecision.INT15: 15}

Array = np.ndarray[Any, Any]


def bits_of(math: MathPrecision | None) -> int:
    """The bits of the integers that factors are taken as under a precision; 0: they are not."""
    return INTEGER_BITS.get(math, 0) if math is not None else 0


def digits(bits: int) -> int:
    """How many balanced digits of base 256, each in [-128, 127], an integer of so many bits has."""
    return (bits + 1) // 8


def scaled(x: Array, bits: int) -> tuple[Array, Array]:
    """The integers of f32 elements over (..., n), s64, by one E for all n of them, and E over (...)."""
    finite = np.where(np.isfinite(x), x, np.float32(0)).astype(np.float64)
    significand, exponent = np.frexp(np.abs(finite).max(-1, initial=0))
    exponent = np.where(significand == 0, bits - 149, np.maximum(exponent + (significand > 127 / 128), bits - 149))
    return np.rint(np.ldexp(finite, bits - exponent[..., None])).astype(np.int64), exponent.astype(np.int32)


def integers(x: Array, bits: int) -> tuple[Array, Array]:
    """The integers of f32 elements over (..., rows, k), s64 over (..., rows, blocks, BLOCK), and E over (..., rows, blocks)."""
    blocks = -(-x.shape[-1] // BLOCK)
    padded = np.zeros((*x.shape[:-1], blocks * BLOCK), np.float32)
    padded[..., : x.shape[-1]] = x
    return scaled(padded.reshape(*x.shape[:-1], blocks, BLOCK), bits)


def integer_product(a: Array, b: Array, bits: int) -> Array:
    """The sums, f32 over (..., m, n), of a over (..., m, k) and b over (..., k, n): the contract, step by step."""
    a, b = a.astype(np.float32), b.astype(np.float32)
    left, e_left = integers(a, bits)
    right, e_right = integers(np.swapaxes(b, -1, -2), bits)
    m, n = a.shape[-2], b.shape[-1]
    s = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n), np.float32)
    for t in range(left.shape[-2]):
        exact = left[..., t, :] @ np.swapaxes(right[..., t, :], -1, -2)
        rounded = exact.astype(np.float32)
        scales = (np.ldexp(np.float32(1), e[..., t] - bits) for e in (e_left, e_right))
        of_row, of_column = (np.expand_dims(scale, axis) for scale, axis in zip(scales, (-1, -2), strict=True))
        with np.errstate(over="ignore"):
            s = fma32(rounded * np.minimum(of_row, of_column), np.maximum(of_row, of_column), s)
    return _with_unusual(s, a, b)


def _with_unusual(s: Array, a: Array, b: Array) -> Array:
    """The sums with those of rows and columns that have an element that is not finite."""
    rows, columns = np.isfinite(a).all(-1, keepdims=True), np.isfinite(b).all(-2, keepdims=True)
    unusual = ~(rows & columns)
    if not unusual.any():
        return s
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.zeros(s.shape, np.float32)
        for k in range(a.shape[-1]):
            x, y = a[..., :, k, None], b[..., None, k, :]
            total = total + np.where(np.isfinite(x) & np.isfinite(y), np.float32(0), x * y)
    return np.where(unusual, total, s)
