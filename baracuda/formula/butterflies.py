"""Butterflies: the Fourier transforms of 2 to 16 numbers, each a fixed list of operations.

X_k = sum over j of x_j w**(j k) with w = exp(-2 pi i / r). Both devices carry the list out as it is written here, so that a
transform's bits depend on its radix alone.

- r = 2 is a sum and a difference; 4 are two rounds of them.
- An odd prime r takes the sums t_j = x_j + x_(r-j) and the differences u_j = x_j - x_(r-j): X_0 = x_0 + t_1 + t_2 + ... in rising
  j, and for 0 < k < r/2, with the chains A_k = x_0 + sum cos(2 pi j k / r) t_j of fused multiply-adds and
  B_k = sum sin(2 pi j k / r) u_j of a product and fused multiply-adds, both in rising j, X_k = A_k - i B_k and
  X_(r-k) = A_k + i B_k.
- The other radices are r1 * r2 as in `_FACTORS`: transforms of r1 of every r2-th element, products with powers of w, transforms
  of r2. A product with (1 - i) / sqrt(2) adds before it multiplies; others are a product and a fused multiply-add for each part.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Protocol, TypeVar

#: The radices that there are butterflies for.
RADICES = tuple(range(2, 17))
_FACTORS = {6: (3, 2), 8: (4, 2), 9: (3, 3), 10: (5, 2), 12: (3, 4), 14: (7, 2), 15: (5, 3), 16: (4, 4)}

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """The operations of one kind of float on a device, each rounded once."""

    def add(self, a: V, b: V) -> V: ...

    def sub(self, a: V, b: V) -> V: ...

    def mul(self, a: V, b: V) -> V: ...

    def fma(self, a: V, b: V, c: V) -> V:
        """a * b + c."""

    def neg_fma(self, a: V, b: V, c: V) -> V:
        """c - a * b."""

    def neg(self, a: V) -> V: ...

    def cosine(self, turns: Fraction) -> V:
        """The cosine of a part of a full turn, correctly rounded."""


def product(m: Arithmetic[V], z: tuple[V, V], w: tuple[V, V]) -> tuple[V, V]:
    """z * w."""
    return m.neg_fma(z[1], w[1], m.mul(z[0], w[0])), m.fma(z[0], w[1], m.mul(z[1], w[0]))


def conjugate_product(m: Arithmetic[V], z: tuple[V, V], w: tuple[V, V]) -> tuple[V, V]:
    """z times the conjugate of w."""
    return m.fma(z[1], w[1], m.mul(z[0], w[0])), m.neg_fma(z[0], w[1], m.mul(z[1], w[0]))


def _turned(m: Arithmetic[V], z: tuple[V, V], turns: Fraction) -> tuple[V, V]:
    """z * exp(-2 pi i turns)."""
    turns %= 1
    re, im = z
    if turns == 0:
        return z
    if turns == Fraction(1, 4):
        return im, m.neg(re)
    if turns == Fraction(1, 2):
        return m.neg(re), m.neg(im)
    if turns == Fraction(3, 4):
        return m.neg(im), re
    half = m.cosine(Fraction(1, 8))
    if turns == Fraction(1, 8):
        return m.mul(m.add(re, im), half), m.mul(m.sub(im, re), half)
    if turns == Fraction(3, 8):
        return m.mul(m.sub(im, re), half), m.neg(m.mul(m.add(re, im), half))
    cosine, sine = m.cosine(turns), m.cosine(turns - Fraction(1, 4))
    return m.fma(im, sine, m.mul(re, cosine)), m.neg_fma(re, sine, m.mul(im, cosine))


def butterfly(m: Arithmetic[V], x: list[tuple[V, V]]) -> list[tuple[V, V]]:
    """The transform of some numbers, in order."""
    r = len(x)
    if r == 1:
        return x
    if r == 2:
        return [_sum(m, *x), _difference(m, *x)]
    if r == 4:
        return _four(m, x)
    if r in _FACTORS:
        first, second = _FACTORS[r]
        inner = [butterfly(m, x[n::second]) for n in range(second)]
        turned = [[_turned(m, z, Fraction(n * k, r)) for k, z in enumerate(row)] for n, row in enumerate(inner)]
        found: list[tuple[V, V]] = list(x)
        for k in range(first):
            found[k::first] = butterfly(m, [row[k] for row in turned])
        return found
    return _odd(m, x)


def _sum(m: Arithmetic[V], a: tuple[V, V], b: tuple[V, V]) -> tuple[V, V]:
    return m.add(a[0], b[0]), m.add(a[1], b[1])


def _difference(m: Arithmetic[V], a: tuple[V, V], b: tuple[V, V]) -> tuple[V, V]:
    return m.sub(a[0], b[0]), m.sub(a[1], b[1])


def _four(m: Arithmetic[V], x: list[tuple[V, V]]) -> list[tuple[V, V]]:
    a, b = _sum(m, x[0], x[2]), _difference(m, x[0], x[2])
    c, d = _sum(m, x[1], x[3]), _difference(m, x[1], x[3])
    second = m.add(b[0], d[1]), m.sub(b[1], d[0])
    fourth = m.sub(b[0], d[1]), m.add(b[1], d[0])
    return [_sum(m, a, c), second, _difference(m, a, c), fourth]


def _odd(m: Arithmetic[V], x: list[tuple[V, V]]) -> list[tuple[V, V]]:
    r = len(x)
    half = range(1, r // 2 + 1)
    sums = {j: _sum(m, x[j], x[r - j]) for j in half}
    differences = {j: _difference(m, x[j], x[r - j]) for j in half}
    found: list[tuple[V, V]] = list(x)
    total = x[0]
    for j in half:
        total = _sum(m, total, sums[j])
    found[0] = total
    for k in half:
        re, im = x[0]
        b: tuple[V, V] | None = None
        for j in half:
            turns = Fraction(j * k % r, r)
            cosine, sine = m.cosine(turns), m.cosine(turns - Fraction(1, 4))
            t, u = sums[j], differences[j]
            re, im = m.fma(cosine, t[0], re), m.fma(cosine, t[1], im)
            b = (m.mul(sine, u[0]), m.mul(sine, u[1])) if b is None else (m.fma(sine, u[0], b[0]), m.fma(sine, u[1], b[1]))
        assert b is not None
        found[k] = m.add(re, b[1]), m.sub(im, b[0])
        found[r - k] = m.sub(re, b[1]), m.add(im, b[0])
    return found


@lru_cache(maxsize=1024)
def radices(n: int) -> tuple[int, ...] | None:
    """n as a product of radices, falling: as few as there can be, of these with the least sum, of these with the largest first;
    () of 1, None where n has a prime above 13."""
    if n == 1:
        return ()
    best: tuple[int, ...] | None = None
    for r in RADICES[::-1]:
        rest = radices(n // r) if n % r == 0 else None
        if rest is not None:
            found = tuple(sorted((r, *rest), reverse=True))
            if best is None or (len(found), sum(found), [-f for f in found]) < (len(best), sum(best), [-f for f in best]):
                best = found
    return best


def is_smooth(n: int) -> bool:
    """Whether n is a product of radices."""
    for p in (2, 3, 5, 7, 11, 13):
        while n % p == 0:
            n //= p
    return n == 1
