"""The incomplete gamma and beta functions, and the confluent hypergeometric function."""

from __future__ import annotations

from baracuda.formula import special_functions as s
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule


@op(Rule.FLOATING, takes="float")
def igamma(a: Expr, x: Expr) -> Expr:
    """The regularised lower incomplete gamma function P(a, x): the integral of t**(a-1) e**-t from 0 to x, by gamma(a).

    a, x: broadcast, float. NaN for a or x below zero and where both are 0 or both infinite; P(0, x) = 1. The gradient is that by
    a and by x (the second derivative by a is refused); JAX's `igamma_grad_a` is `igamma_backward(1, a, x, wrt=["a"])`. By Temme's
    expansion about the mean, a series of positive terms, and Legendre's continued fraction, each with a fixed count of terms, in
    f64 (see `baracuda.formula.elementary.special_incomplete_gamma`). Within 1 ULP in f32 and 64 ULP (1.5e-14) in f64 where P is a
    normal number, and so its derivatives, for a up to 1e8.
    """
    return s.igamma(a, x)


@op(Rule.FLOATING, takes="float")
def igammac(a: Expr, x: Expr) -> Expr:
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x), which keeps its digits where P is near 1.

    a, x, domain, gradient and errors are those of `igamma`; Q(0, x) = 0.
    """
    return s.igammac(a, x)


@op(Rule.FLOATING, takes="float")
def betainc(a: Expr, b: Expr, x: Expr) -> Expr:
    """The regularised incomplete beta function I_x(a, b): the integral of t**(a-1) (1-t)**(b-1) from 0 to x, by beta(a, b).

    a, b, x: broadcast, float. NaN for a or b below zero, for x outside [0, 1], and where a and b are both 0 or both infinite;
    I_x(0, b) = 1 and I_x(a, 0) = 0. The gradient is that by a, b and x (second derivatives by a and b are refused). By Temme's
    expansion about the mean and the continued fraction of DiDonato and Morris, with a fixed count of terms, in f64 (see
    `baracuda.formula.elementary.special_incomplete_beta`). For a and b from 0.1 to 1e4 within 1 ULP in f32 and 128 ULP (3e-14) in
    f64 where I is a normal number, and so its derivatives. For smaller ones, in f64, where x is beyond (a + 2) / (a + b + 4), I
    is 1 less what is within a few ULP of 1, and its derivatives by a and b are within some 100 ULP of 1 / a and 1 / b.
    """
    return s.betainc(a, b, x)


@op(Rule.FLOATING, takes="float", constants=("a", "b"))
def hyp1f1(a: Expr, b: Expr, x: Expr) -> Expr:
    """Kummer's function M(a, b, x), the confluent hypergeometric function: the sum of (a)_n x**n / ((b)_n n!).

    a, b, x: broadcast, float. inf where b is 0 or a negative integer, unless a is one too and not below b: then the polynomial
    that the sum is, for |x| up to 120 (in f32 90). The gradient is that by x; those by a and b are refused.
    By its series, for negative x that of e**x M(b - a, b, -x), and for large |x| both asymptotic expansions, with a fixed count
    of terms in f64 (see `baracuda.formula.elementary.special_confluent`). Where all terms have one sign (b > 0, and a >= 0 for
    x >= 0 or a <= b for x < 0) and a and b are at most 20, within 1 ULP in f32 and 64 ULP (1.5e-14) in f64. Elsewhere within that
    part of the sum of the terms' sizes, which in f32 is 1 ULP for |a| and |b| up to 10 and |x| up to 60; for parameters beyond
    some 50 the value may have few digits.
    """
    return s.hyp1f1(a, b, x)
