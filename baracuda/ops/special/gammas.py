"""Functions around the gamma function: factorials, binomial coefficients, polygamma, zeta."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated

import numpy as np

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula import special_functions as s
from baracuda.formula import zeta as z
from baracuda.formula.expr import Expr, bitcast, cast, compare, const, lookup, select, unary
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule


@op(Rule.FLOATING, takes="float")
def gammasgn(x: Expr) -> Expr:
    """The sign of gamma(x): 1 or -1; that of x at zero, NaN at the negative integers and at -inf.

    x: any shape, float. Exact.
    """
    down = f.floor(x)
    half = down * 0.5
    even = compare("eq", unary("trunc", half), half)
    below = select(compare("eq", down, x), math.nan, select(even, const(1.0, x.kind), -1.0))
    integer = ElementKind.S32 if x.kind is ElementKind.F32 else ElementKind.S64
    at_zero = select(bitcast(x, integer) < const(0, integer), const(-1.0, x.kind), 1.0)
    return select(x > 0.0, 1.0, select(compare("eq", x, 0.0), at_zero, select(x < 0.0, below, x)))


@op(Rule.FLOATING, takes="float")
def factorial(x: Expr) -> Expr:
    """gamma(x + 1) for x >= 0, 0 below, as `scipy.special.factorial`.

    x: any shape, float. Exact at the integers whose factorial is a float of the computing kind; at most 2 ULP elsewhere, because
    x gamma(x) is taken where x + 1 would be rounded.
    """
    up = x + 1.0
    exact = compare("eq", up - 1.0, x) | (x < 1.0)
    value = s.gamma(select(exact, up, x)) * select(exact, const(1.0, x.kind), x)
    return select(x < 0.0, 0.0, value)


@op(Rule.FLOATING, takes="float", saves=("y",))
def comb(n: Expr, k: Expr) -> Expr:
    """The binomial coefficient gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)); 0 where k < 0 or k > n.

    n, k: broadcast, float. For an integer k (or n - k) up to 20 a product, within k ULP and exact while that product is;
    elsewhere by logarithms, within 2**-33 (f32) or 2**-65 of lgamma(n + 1).
    """
    return s.binomial(n, k)


@op(Rule.FLOATING, takes="float", saves=("y",))
def poch(x: Expr, m: Expr) -> Expr:
    """Pochhammer's symbol gamma(x + m) / gamma(x), with the limit where both are infinite.

    x, m: broadcast, float. For an integer m up to 20 in size a product, within 2m ULP; elsewhere by logarithms, within 2**-33
    (f32) or 2**-65 of the larger one.
    """
    return s.pochhammer(x, m)


@op(Rule.FLOATING, takes="float")
def multigammaln(a: Expr, *, d: Annotated[int, AtLeast(1), AtMost(64)] = 1) -> Expr:
    """ln of the multivariate gamma function: d (d-1)/4 ln pi + sum over j < d of lgamma(a - j/2); NaN for a <= (d-1)/2.

    a: any shape, float. d: the dimension, an option, 1 to 64. The error is a few roundings of the largest term. Raises
    `InvalidProblemError` for another d.
    """
    total = const(d * (d - 1) / 4.0 * math.log(math.pi), a.kind)
    for j in range(d):
        total = total + s.lgamma(a - 0.5 * j)
    return select(a <= 0.5 * (d - 1), math.nan, total)


@op(Rule.FLOATING, takes="float")
def polygamma(x: Expr, *, n: Annotated[int, AtLeast(0), AtMost(20)] = 0) -> Expr:
    """The derivative of order n of digamma: (-1)**(n+1) n! zeta(n + 1, x), below 0 by reflection; infinite at its poles.

    x: any shape, float. n: the order, an option from 0 to 20. Within n + 4 ULP for x > 0. Raises `InvalidProblemError` for
    another order. See `baracuda.formula.zeta`.

    Differs from PyTorch: there the order comes first.
    """
    return z.polygamma(n, x)


@polygamma.backward
def _(dy: Expr, x: Expr, *, n: int = 0) -> dict[str, Expr]:
    return {"dx": dy * z.polygamma(n + 1, x)}


@op(Rule.FLOATING, takes="float")
def zeta(x: Expr, q: Expr | None = None) -> Expr:
    """Riemann's zeta function, or with q Hurwitz's: the sum over k >= 0 of (q + k)**-x.

    x, q: broadcast, float. With q: inf at x = 1 and at q = 0, -1, -2, ... and -inf, NaN for x < 1 and for other q < 0.
    Without: every x, below 0 by reflection. By the Euler-Maclaurin formula with a fixed number of terms (see
    `baracuda.formula.zeta`), within 4 ULP for x > 0.
    """
    return z.riemann(x) if q is None else z.hurwitz(x, q)


@cache
def _numbers(kind: ElementKind) -> tuple[int, ...]:
    """The bits of B_0, B_1, ... up to the last that is finite."""
    values = [np.array(float(b)).astype(kind.numpy) for b in z.bernoulli_numbers(66 if kind is ElementKind.F32 else 260)]
    return tuple(int(v.view(f"u{v.dtype.itemsize}")) for v in values)


@op(Rule.FLOATING, takes="float")
def bernoulli_numbers(n: Expr) -> Expr:
    """B_n for each element n of a tensor, with B_1 = -1/2; NaN where n is negative or no integer.

    n: any shape, float or integers. The numbers are constants, correctly rounded; those beyond the range are infinite.
    """
    table = _numbers(n.kind)
    last = len(table) - 1
    inside = (n >= 0.0) & compare("eq", unary("trunc", n), n)
    bounded = select(inside & (n <= float(last)), n, 0.0)
    exact = lookup(cast(bounded, ElementKind.S32), table, n.kind)
    quarter = n * 0.25
    half = n * 0.5
    multiple = compare("eq", unary("trunc", quarter), quarter)  # B_4k is negative, B_(4k+2) positive
    beyond = select(compare("eq", unary("trunc", half), half), select(multiple, const(-math.inf, n.kind), math.inf), 0.0)
    beyond = select(compare("eq", n, math.inf), math.nan, beyond)
    return select(inside, select(n <= float(last), exact, beyond), math.nan)
