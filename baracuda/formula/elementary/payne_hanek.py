"""Reduction of huge arguments modulo pi/2 in integers (Payne & Hanek, Radian reduction for trigonometric functions, 1983).

x = m 2**e with an integer m. Bits of 2/pi whose weight makes them multiples of 4 after the product cannot matter, and bits
far below the point cannot either; so a window of 2/pi, chosen by e, times m gives x * 2/pi modulo 4 in fixed point.
Numbers are lists of 32-bit limbs in u64, most significant first.
"""

from __future__ import annotations

from itertools import pairwise

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import Format, fast_two_sum, format_of, two_product, two_sum
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expr import Expr, binary, bitcast, cast, const, fma, lookup

U64, S64, F64 = ElementKind.U64, ElementKind.S64, ElementKind.F64

#: Limbs of the window: with it x * 2/pi modulo 4 is off by less than 2**-68 (f32) and 2**-136 (f64).
_LIMBS = {ElementKind.F32: 3, ElementKind.F64: 6}


def _significand(a: Expr, f: Format) -> list[Expr]:
    """The limbs of m."""
    bits = cast(bitcast(a, f.unsigned), U64)
    m = (bits & ((1 << f.mantissa) - 1)) | (1 << f.mantissa)
    return [m] if f.bits == 32 else [m >> 32, m & 0xFFFFFFFF]


def _window(a: Expr, f: Format) -> list[Expr]:
    """The limbs of floor(2/pi * 2**(e - 2 + bits of the window)), its higher bits left out; e is the exponent of m's unit."""
    biased = cast(bitcast(a, f.signed) >> f.mantissa, ElementKind.S32)
    position = biased - (f.bias + f.mantissa + 2) + c.TWO_OVER_PI_ZEROS
    position = binary("max", position, 0)  # a vector that takes this path has lanes of any size
    word, offset = position >> 5, cast(position & 31, U64)
    words = [cast(lookup(word + i, c.TWO_OVER_PI_WORDS, ElementKind.U32), U64) for i in range(_LIMBS[f.kind] + 1)]
    return [(((high << 32) | low) << offset) >> 32 for high, low in pairwise(words)]


def _product(m: list[Expr], w: list[Expr]) -> list[Expr]:
    """m * w modulo 2**(32 * len(w)); the lowest len(m) - 1 limbs of w only lend their carries to what is kept."""
    columns: list[list[Expr]] = [[] for _ in w]
    for i, a in enumerate(reversed(m)):
        for j, b in enumerate(reversed(w)):
            if i + j < len(w):
                p = a * b
                columns[i + j].append(p & 0xFFFFFFFF)
                if i + j + 1 < len(w):
                    columns[i + j + 1].append(p >> 32)
    limbs: list[Expr] = []
    carry = const(0, U64)
    for column in columns:
        total = carry
        for term in column:
            total = total + term
        limbs.append(total & 0xFFFFFFFF)
        carry = total >> 32
    return limbs[::-1]


def reduce_huge(a: Expr) -> tuple[Expr, Expr, Expr]:
    """a = n pi/2 + high + low for finite a >= 1: high, low, and n modulo 4."""
    f = format_of(a)
    top, *rest = _product(_significand(a, f), _window(a, f))
    n = (top + (1 << 29)) >> 30  # the top two bits are the integer part
    fraction = bitcast(top, S64) - bitcast(n << 30, S64)
    high, low = cast(fraction, F64) * 2.0**-30, const(0.0, F64)
    for i, limb in enumerate(rest[:4]):
        high, error = two_sum(high, cast(limb, F64) * 2.0 ** (-62 - 32 * i))
        low = low + error
    high, low = fast_two_sum(high, low)
    product, error = two_product(high, const(c.HALF_PI_HIGH[F64], F64))
    error = fma(low, c.HALF_PI_HIGH[F64], fma(high, c.HALF_PI_MIDDLE[F64], error))
    high, low = fast_two_sum(product, error)
    if f.kind is F64:
        return high, low, bitcast(n, S64)
    rounded = cast(high, f.kind)
    return rounded, cast(high - cast(rounded, F64), f.kind), cast(n, f.signed)
