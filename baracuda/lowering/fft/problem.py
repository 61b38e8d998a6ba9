"""Fourier transforms of rows as a problem.

    y_k = scale * sum over j of x_j exp(-2 pi i j k / n)         (with `inverse` exp(+2 pi i j k / n))

*Order.* Everything is a function of n and of the kind that is computed in, f32 or f64. w_N(m) is exp(-2 pi i m / N).

1. A complex transform whose length c is at most `most(kind)` and has no prime above 13 goes through the radices r_1, r_2, ... of
   c (`baracuda.formula.butterflies.radices`). With m = c / r_1, for each p below m: the butterfly of x_p, x_(p+m), ..., the
   results of which, k from 1 on, are multiplied by w_c(p k) (a product and a fused multiply-add for each part; by 1 where p = 0,
   too); then each of the r_1 rows of m is transformed in the same way, with the radices that are left, and result k' of row k is
   result k + r_1 k'. The last butterflies are not followed by products.
2. A longer one without such a prime has c = n1 * n2, n1 the largest divisor that is neither above the square root of c nor above
   `most(kind)`: the columns of the matrix of n1 rows are transformed, result k of column j is multiplied by w_c(j k), then the
   rows are transformed, each in the order of its own length.
3. Any other is a convolution (Bluestein): with u_j = w_2c(j * j), M the least length above 2c - 2 without a prime above 7 and
   F = DFT_M(conj(u_|j|)) / M computed in f64, a_j = z_j u_j, b = DFT_M(a) * F, d = the transform of b with real and imaginary
   parts exchanged, exchanged back, and result k is d_k u_k.
4. w_N(m) is correctly rounded for N up to `EXACT`, and beyond that the product of two correctly rounded roots in f64 (see
   `baracuda.formula.roots.products_of_roots`), rounded to the kind. u is always correctly rounded.
5. An inverse transform is the forward one of x with real and imaginary parts exchanged, exchanged back.
6. Real rows of even n are complex ones of n/2, z_j = x_2j + i x_(2j+1): with E = Z_k + conj(Z_(n/2-k)) and
   D = Z_k - conj(Z_(n/2-k)), y_k = (scale / 2) * (E - i w_n(k) D); those of odd n are complex rows. Back, Z_k = E + i
   conj(w_n(k)) D with E = x_k + conj(x_(n/2-k)) and D = x_k - conj(x_(n/2-k)); of odd n the other half is the conjugate of the
   first. The imaginary parts of x_0, and of x_(n/2) for even n, count as 0.
7. What is read beyond the end of x is 0. The result is multiplied by the scale where that is not 1, and rounded when stored.
   `weighted` doubles the results of a real row, or halves the elements of a half row, that stand for two, the inner ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import isqrt, prod

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.butterflies import is_smooth

#: The order of the operands.
X, Y = range(2)
OPERANDS = 2
#: The longest transform whose roots are correctly rounded.
EXACT = 1 << 15
#: The longest rows there are.
LIMIT = 1 << 30


def most(kind: ElementKind) -> int:
    """The longest transform that is not divided into columns and rows."""
    return 8192 if kind is ElementKind.F32 else 4096


class Mode(Enum):
    """What goes in and what comes out.

    COMPLEX: n numbers, real or complex, and n numbers, of which with a real y only the real parts are kept.
    REAL: n real numbers, and the first n // 2 + 1 of the results.
    HALF: the first n // 2 + 1 of n numbers whose other half is their conjugate, and n real results.
    """

    COMPLEX = "complex"
    REAL = "real"
    HALF = "half"

    __hash__ = object.__hash__


@dataclass(frozen=True)
class Rows:
    """How a tensor lies in memory: strides in elements over the rows' axes and along a row, and how many elements a row has."""

    kind: ElementKind
    outer: tuple[int, ...]
    along: int
    extent: int
    alignment: int

    @property
    def complex(self) -> bool:
        return self.kind.category is Category.COMPLEX

    def pairs(self, *, general: bool) -> bool:
        """Whether two neighbours of a real row can be moved as one complex number."""
        size = 2 * self.kind.itemsize
        even = not any(s % 2 for s in self.outer) and self.alignment % size == 0
        return not general and self.along == 1 and self.kind in (ElementKind.F32, ElementKind.F64) and even


@dataclass(frozen=True)
class Fourier:
    """The problem.

    Attributes
    ----------
    n
        How many terms the sums have; x has any number of elements along a row.
    outer
        The extents of the rows' axes.
    general
        Whether code may not depend on strides and alignment.
    """

    mode: Mode
    inverse: bool
    n: int
    scale: float
    weighted: bool
    outer: tuple[int, ...]
    x: Rows
    y: Rows
    general: bool = False

    @property
    def kind(self) -> ElementKind:
        """What is computed in."""
        wide = (ElementKind.F64, ElementKind.C128)
        return ElementKind.F64 if self.y.kind in wide or self.x.kind in wide else ElementKind.F32

    @property
    def count(self) -> int:
        """How many rows there are."""
        return prod(self.outer)

    @property
    def packed(self) -> bool:
        """Whether two real numbers are one complex one of a transform of half the length."""
        return self.mode is not Mode.COMPLEX and self.n % 2 == 0

    @property
    def length(self) -> int:
        """The length of the complex transform."""
        return self.n // 2 if self.packed else self.n


def normalise(problem: Fourier) -> Fourier:
    """The same problem with as few axes of rows as its layouts allow, but one at least."""
    if problem.n > LIMIT:
        raise UnsupportedError(f"n: {problem.n}; expected at most {LIMIT}")
    groups: list[tuple[int, int]] = []
    strides = problem.x.outer, problem.y.outer
    for a, n in enumerate(problem.outer):
        if problem.general:
            groups.append((n, a))
        elif n != 1:
            if groups and all(s[groups[-1][1]] == s[a] * n for s in strides):
                groups[-1] = groups[-1][0] * n, a
            else:
                groups.append((n, a))
    groups = groups or [(1, -1)]

    def merged(rows: Rows) -> Rows:
        return replace(rows, outer=tuple(rows.outer[a] if a >= 0 else 0 for _, a in groups))

    return replace(problem, outer=tuple(n for n, _ in groups), x=merged(problem.x), y=merged(problem.y))


@lru_cache(maxsize=1024)
def divided(c: int, kind: ElementKind) -> tuple[int, int]:
    """Columns and rows of a long transform: n1 and n2 with n1 * n2 = c."""
    limit = min(isqrt(c), most(kind))
    first = next(d for d in range(limit, 0, -1) if c % d == 0)
    return first, c // first


@lru_cache(maxsize=1024)
def convolution_length(c: int) -> int:
    """The length of the transforms that a transform of length c is made with, where it has a large prime."""
    least, best = 2 * c - 1, 1 << (2 * c - 2).bit_length()
    for odd in _odd_products(best):
        length = odd
        while length < least:
            length *= 2
        best = min(best, length)
    return best


def _odd_products(limit: int) -> list[int]:
    """The products of 3, 5 and 7 up to a limit."""
    found = [1]
    for p in (3, 5, 7):
        for length in list(found):
            power = length * p
            while power <= limit:
                found.append(power)
                power *= p
    return found


def is_direct(c: int) -> bool:
    """Whether a length has no large prime."""
    return is_smooth(c)
