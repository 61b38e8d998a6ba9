"""Codebooks: the values that the codes of a table of 256 stand for, in f32, in rising order.

The dynamic map is that of Dettmers, "8-Bit Approximations for Parallelism in Deep Learning" (2015), with the constants of
bitsandbytes: each code is a sign (of a signed map), an exponent in unary, and what bits are left are a fraction. With 7 bits of
exponent there are for each i from 0 to 6 the 2**i values (2**(i + 1) of an unsigned map)

    10**(i - 6) * m_j,   m_j the middle of the j-th of as many equal parts of [0.1, 1]

of a signed map their negatives too, and 0 and 1: 256 in all. Middles and products are computed in f32, every operation rounded;
edges are 0.1 + j * step in the lower half and 1 - (n - j) * step from there on, rounded once, with step = (1 - 0.1) / n.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

#: How many powers of ten a dynamic map spans.
EXPONENTS = 7

Floats = np.ndarray[Any, np.dtype[np.float32]]


def _edges(parts: int) -> Floats:
    """The edges of equal parts of [0.1, 1], from both ends."""
    first, last = np.float32(0.1), np.float32(1)
    step = np.float64((last - first) / np.float32(parts))
    j = np.arange(parts + 1)
    rising = (j * step + np.float64(first)).astype(np.float32)  # exact in f64 but for one rounding far below f32's
    falling = (np.float64(last) - (parts - j) * step).astype(np.float32)
    return np.where(j < (parts + 1) // 2, rising, falling).astype(np.float32)


@cache
def dynamic_map(signed: bool = True) -> Floats:
    """The 256 values of bitsandbytes' dynamic map, in rising order; the signed one for a first moment, the unsigned one for a
    second moment."""
    values = [np.zeros(1, np.float32), np.ones(1, np.float32)]
    for i in range(EXPONENTS):
        edges = _edges(2**i if signed else 2 ** (i + 1))
        middles = (edges[:-1] + edges[1:]) / np.float32(2)
        scaled = np.float32(10.0 ** (i - EXPONENTS + 1)) * middles
        values += [scaled, -scaled] if signed else [scaled]
    found = np.sort(np.concatenate(values))
    found.flags.writeable = False
    return found


@cache
def midpoints(signed: bool = True) -> Floats:
    """The 255 numbers between neighbours of the dynamic map: code i is the nearest of what lies above midpoint i - 1 and not
    above midpoint i, each (a + b) / 2 rounded once, so that a tie takes the lower code."""
    table = dynamic_map(signed).astype(np.float64)
    found = ((table[:-1] + table[1:]) / 2).astype(np.float32)
    found.flags.writeable = False
    return found
