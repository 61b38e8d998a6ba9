"""The special functions as words of formulas: `erfinv(x)`, `lgamma(x)`, `xlogy(x, y)`, ...

Those of `SPECIAL_FUNCTIONS` stay whole in the DAG, as in `baracuda.formula.functions`; the rest are formulas over other words.
The errors that their definitions reach are in docs/ulp_special.md.
"""

from __future__ import annotations

import math

from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Expr, Operand, as_expr, compare, const, node, pair, select
from baracuda.formula.functions import exp, expm1, log, log1p, maximum, minimum

#: Functions of one float argument that `baracuda.formula.elementary` defines by primitives.
SPECIAL_FUNCTIONS = (
    "erfinv", "erfcx", "ndtr", "log_ndtr", "ndtri", "lgamma", "gamma", "digamma", "trigamma", "i0", "i0e", "i1", "i1e", "sinc",
    "bessel_j0", "bessel_j1", "logit", "softplus",
)  # fmt: skip
#: The same: integrals, and Bessel functions of the second kind.
FURTHER_FUNCTIONS = (
    "bessel_y0", "bessel_y1", "bessel_k0", "bessel_k1", "bessel_k0e", "bessel_k1e", "airy_ai", "exp1", "expi", "dawsn", "spence",
    "sine_integral", "cosine_integral", "fresnel_s", "fresnel_c",
)  # fmt: skip
#: The same, some of them on a part of the numbers: what other functions and derivatives are made of.
PARTIAL_FUNCTIONS = ("zeta_reflection", "exp_moderate", "inverse_mills", "i0e_slope")
#: The same of two float arguments of one kind.
SPECIAL_FUNCTIONS_OF_TWO = ("binomial", "pochhammer", "power_of_positive")
#: The incomplete gamma functions, of two, and their derivatives.
INCOMPLETE_GAMMA_FUNCTIONS = ("igamma", "igammac", "igamma_by_a", "igamma_by_x")
#: The incomplete beta function, of three, and its derivatives.
INCOMPLETE_BETA_FUNCTIONS = ("betainc", "betainc_by_a", "betainc_by_b", "betainc_by_x")


def _function(op: str, x: Expr) -> Expr:
    if not x.kind.is_float:
        raise InvalidProblemError(f"{op} is defined on f32 and f64, got {x.kind}")
    return node(op, (x,), x.kind)


def erfinv(x: Expr) -> Expr:
    """The inverse of erf; infinite at -1 and 1, NaN beyond."""
    return _function("erfinv", x)


def erfcx(x: Expr) -> Expr:
    """e**(x**2) erfc(x), which does not underflow in the tail."""
    return _function("erfcx", x)


def ndtr(x: Expr) -> Expr:
    """The distribution function of the standard normal distribution, erfc(-x / sqrt(2)) / 2."""
    return _function("ndtr", x)


def log_ndtr(x: Expr) -> Expr:
    """ln(ndtr(x)), accurate in both tails."""
    return _function("log_ndtr", x)


def inverse_mills(x: Expr) -> Expr:
    """The density of the standard normal distribution by ndtr, which is the derivative of log_ndtr."""
    return _function("inverse_mills", x)


def ndtri(p: Expr) -> Expr:
    """The inverse of ndtr; infinite at 0 and 1, NaN outside."""
    return _function("ndtri", p)


def lgamma(x: Expr) -> Expr:
    """ln|gamma(x)|; inf at zero, at the negative integers, and at both infinities."""
    return _function("lgamma", x)


def gamma(x: Expr) -> Expr:
    """The gamma function; infinite with the sign of x at zero, NaN at the negative integers and at -inf."""
    return _function("gamma", x)


def digamma(x: Expr) -> Expr:
    """The derivative of lgamma; -inf at 0, inf at -0, NaN at the negative integers and at -inf."""
    return _function("digamma", x)


def trigamma(x: Expr) -> Expr:
    """The derivative of digamma; inf at zero and the negative integers, NaN at -inf."""
    return _function("trigamma", x)


def i0(x: Expr) -> Expr:
    """The modified Bessel function of the first kind, order 0."""
    return _function("i0", x)


def i0e(x: Expr) -> Expr:
    """e**-|x| i0(x)."""
    return _function("i0e", x)


def i0e_slope(x: Expr) -> Expr:
    """The derivative of i0e; 0 at 0."""
    return _function("i0e_slope", x)


def i1(x: Expr) -> Expr:
    """The modified Bessel function of the first kind, order 1."""
    return _function("i1", x)


def i1e(x: Expr) -> Expr:
    """e**-|x| i1(x)."""
    return _function("i1e", x)


def bessel_j0(x: Expr) -> Expr:
    """The Bessel function of the first kind, order 0; 0 at infinity."""
    return _function("bessel_j0", x)


def bessel_j1(x: Expr) -> Expr:
    """The Bessel function of the first kind, order 1; 0 at infinity."""
    return _function("bessel_j1", x)


def bessel_y0(x: Expr) -> Expr:
    """The Bessel function of the second kind, order 0; -inf at zero, NaN below, 0 at infinity."""
    return _function("bessel_y0", x)


def bessel_y1(x: Expr) -> Expr:
    """The Bessel function of the second kind, order 1; -inf at zero, NaN below, 0 at infinity."""
    return _function("bessel_y1", x)


def bessel_k0(x: Expr) -> Expr:
    """The modified Bessel function of the second kind, order 0; inf at zero, NaN below."""
    return _function("bessel_k0", x)


def bessel_k1(x: Expr) -> Expr:
    """The modified Bessel function of the second kind, order 1; inf at zero, NaN below."""
    return _function("bessel_k1", x)


def bessel_k0e(x: Expr) -> Expr:
    """e**x bessel_k0(x)."""
    return _function("bessel_k0e", x)


def bessel_k1e(x: Expr) -> Expr:
    """e**x bessel_k1(x)."""
    return _function("bessel_k1e", x)


def airy_ai(x: Expr) -> Expr:
    """Airy's function Ai; NaN below -2**32."""
    return _function("airy_ai", x)


def exp1(x: Expr) -> Expr:
    """The exponential integral E1, the integral of e**-t / t from x; inf at zero, NaN below."""
    return _function("exp1", x)


def expi(x: Expr) -> Expr:
    """The exponential integral Ei, -E1(-x) below zero; -inf at zero."""
    return _function("expi", x)


def dawsn(x: Expr) -> Expr:
    """Dawson's integral, e**(-x**2) times the integral of e**(t**2) from 0 to x."""
    return _function("dawsn", x)


def spence(x: Expr) -> Expr:
    """The dilogarithm Li2(1 - x), the integral of ln t / (1 - t) from 1 to x; NaN below zero."""
    return _function("spence", x)


def sine_integral(x: Expr) -> Expr:
    """Si(x), the integral of sin t / t from 0 to x."""
    return _function("sine_integral", x)


def cosine_integral(x: Expr) -> Expr:
    """Ci(|x|) = -(the integral of cos t / t from |x|); -inf at zero."""
    return _function("cosine_integral", x)


def fresnel_s(x: Expr) -> Expr:
    """The integral of sin(pi t**2 / 2) from 0 to x."""
    return _function("fresnel_s", x)


def fresnel_c(x: Expr) -> Expr:
    """The integral of cos(pi t**2 / 2) from 0 to x."""
    return _function("fresnel_c", x)


def sinc(x: Expr) -> Expr:
    """sin(pi x) / (pi x); 1 at zero and 0 at every other integer, exactly."""
    return _function("sinc", x)


def _function_of_two(op: str, x: Operand, y: Operand) -> Expr:
    a, b = pair(x, y)
    if not a.kind.is_float:
        raise InvalidProblemError(f"{op} is defined on f32 and f64, got {a.kind}")
    return node(op, (a, b), a.kind)


def binomial(n: Operand, k: Operand) -> Expr:
    """gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)) for 0 <= k <= n; 0 elsewhere."""
    return _function_of_two("binomial", n, k)


def pochhammer(x: Operand, m: Operand) -> Expr:
    """gamma(x + m) / gamma(x)."""
    return _function_of_two("pochhammer", x, m)


def power_of_positive(x: Operand, y: Operand) -> Expr:
    """x**y for x positive, normal and finite and y finite."""
    return _function_of_two("power_of_positive", x, y)


def igamma(a: Operand, x: Operand) -> Expr:
    """The regularised lower incomplete gamma function P(a, x); NaN for a or x below zero."""
    return _function_of_two("igamma", a, x)


def igammac(a: Operand, x: Operand) -> Expr:
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x); NaN for a or x below zero."""
    return _function_of_two("igammac", a, x)


def igamma_by_a(a: Operand, x: Operand) -> Expr:
    """The derivative of igamma by a; at a = 0 that from above."""
    return _function_of_two("igamma_by_a", a, x)


def igamma_by_x(a: Operand, x: Operand) -> Expr:
    """The derivative of igamma by x, x**(a-1) e**-x / gamma(a)."""
    return _function_of_two("igamma_by_x", a, x)


def _function_of_three(op: str, a: Operand, b: Operand, x: Expr) -> Expr:
    args = (as_expr(a, x.kind), as_expr(b, x.kind), x)
    if len({v.kind for v in args}) != 1 or not x.kind.is_float:
        raise InvalidProblemError(f"{op} is defined on f32 or f64, got {', '.join(str(v.kind) for v in args)}")
    return node(op, args, x.kind)


def betainc(a: Operand, b: Operand, x: Expr) -> Expr:
    """The regularised incomplete beta function I_x(a, b); NaN for a or b below zero and for x outside [0, 1]."""
    return _function_of_three("betainc", a, b, x)


def betainc_by_a(a: Operand, b: Operand, x: Expr) -> Expr:
    """The derivative of betainc by a."""
    return _function_of_three("betainc_by_a", a, b, x)


def betainc_by_b(a: Operand, b: Operand, x: Expr) -> Expr:
    """The derivative of betainc by b."""
    return _function_of_three("betainc_by_b", a, b, x)


def betainc_by_x(a: Operand, b: Operand, x: Expr) -> Expr:
    """The derivative of betainc by x, x**(a-1) (1-x)**(b-1) / beta(a, b)."""
    return _function_of_three("betainc_by_x", a, b, x)


def hyp1f1(a: Operand, b: Operand, x: Expr) -> Expr:
    """Kummer's function M(a, b, x); inf where b is 0 or a negative integer."""
    return _function_of_three("hyp1f1", a, b, x)


def exp_moderate(x: Expr) -> Expr:
    """e**x for |x| up to 80."""
    return _function("exp_moderate", x)


def softplus(x: Expr) -> Expr:
    """ln(1 + e**x)."""
    return _function("softplus", x)


def zeta_reflection(s: Expr) -> Expr:
    """gamma(s) / (2 pi)**s for s >= 1."""
    return _function("zeta_reflection", s)


def logit(x: Expr, eps: float | None = None) -> Expr:
    """ln(x / (1 - x)); x is first brought into [eps, 1 - eps] if eps is given. NaN outside [0, 1].

    Raises `InvalidProblemError` if eps is not between 0 and 1/2.
    """
    if eps is not None:
        if not 0.0 <= eps <= 0.5:
            raise InvalidProblemError(f"logit: eps is {eps}; expected a number from 0 to 1/2")
        x = minimum(maximum(x, eps), const(1.0 - eps, x.kind))
    return _function("logit", x)


def entr(x: Expr) -> Expr:
    """-x ln x; 0 at 0, with a derivative of 0 there, and -inf below."""
    return select(x < 0.0, const(-math.inf, x.kind), select(compare("eq", x, 0.0), 0.0, -(x * log(x))))


def xlogy(a: Operand, b: Operand) -> Expr:
    """a ln b; 0 where a is 0, unless b is NaN. Its derivative by a is ln b, or 0 where a is 0 and that is not finite."""
    a, b = pair(a, b)
    zero_factor = compare("eq", a, 0.0) & ((b <= 0.0) | compare("eq", b, math.inf))
    return select(zero_factor, 0.0, a * log(b))


def xlog1py(a: Operand, b: Operand) -> Expr:
    """a ln(1 + b); 0 where a is 0, unless b is NaN. Its derivative by a is ln(1 + b), or 0 where a is 0 and that is not
    finite."""
    a, b = pair(a, b)
    zero_factor = compare("eq", a, 0.0) & ((b <= -1.0) | compare("eq", b, math.inf))
    return select(zero_factor, 0.0, a * log1p(b))


def log1mexp(x: Expr) -> Expr:
    """ln(1 - e**-x) for x >= 0, by expm1 or log1p, whichever keeps the digits; NaN below."""
    return select(x < math.log(2.0), log(-expm1(-x)), log1p(-exp(-x)))


def betaln(a: Operand, b: Operand) -> Expr:
    """ln|beta(a, b)| = lgamma(a) + lgamma(b) - lgamma(a + b)."""
    p, q = pair(a, b)
    small, large = minimum(p, q), maximum(p, q)
    return lgamma(small) + (lgamma(large) - lgamma(p + q))


def rel_entr(a: Operand, b: Operand) -> Expr:
    """a ln(a / b) for positive a and b; 0 where a is 0 and b is not negative, else inf."""
    a, b = pair(a, b)
    zero_factor = compare("eq", a, 0.0) & (b >= 0.0)
    inside = (a > 0.0) & (b > 0.0)
    outside = select(compare("eq", a, a) & compare("eq", b, b), const(math.inf, a.kind), math.nan)
    return select(inside, a * log(a / b), select(zero_factor, 0.0, outside))


def kl_div_elementwise(a: Operand, b: Operand) -> Expr:
    """a ln(a / b) - a + b for positive a and b; b where a is 0 and b is not negative, else inf."""
    a, b = pair(a, b)
    zero_factor = compare("eq", a, 0.0) & (b >= 0.0)
    inside = (a > 0.0) & (b > 0.0)
    outside = select(compare("eq", a, a) & compare("eq", b, b), const(math.inf, a.kind), math.nan)
    return select(inside, a * log(a / b) - a + b, select(zero_factor, b, outside))
