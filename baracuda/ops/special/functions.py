"""Special functions: error functions, gamma functions, Bessel functions, entropies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.formula import complex_functions
from baracuda.formula import functions as f
from baracuda.formula import special_functions as s
from baracuda.formula.complex import Complex
from baracuda.formula.elementary.complex_pieces import is_zero
from baracuda.formula.expr import Expr, select
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, Value


def _declared(function: Callable[..., Expr]) -> Op:
    """The op of a function of the formula language, with its documentation."""
    return op(Rule.FLOATING, name=function.__name__, takes="float", family="special")(function)


for _function in (
    f.erf, f.erfc, s.erfinv, s.erfcx, s.ndtr, s.log_ndtr, s.ndtri, s.lgamma, s.gamma, s.digamma, s.i0, s.i0e, s.i1, s.i1e,
    s.bessel_j0, s.bessel_j1, s.entr, s.xlogy, s.xlog1py, s.betaln, s.rel_entr, s.kl_div_elementwise,
):  # fmt: skip
    _declared(_function)


@op(Rule.FLOATING, takes="float,complex")
def sinc(x: Value) -> Value:
    """sin(pi x) / (pi x); 1 at zero and, of real numbers, 0 at every other integer, exactly.

    x: any shape, float or complex. The gradient at zero is 0.
    """
    if not isinstance(x, Complex):
        return s.sinc(x)
    zero = is_zero(x.re) & is_zero(x.im)
    w = Complex(*(select(zero, 1.0, part * math.pi) for part in (x.re, x.im)))
    y = complex_functions.sin(w) / w
    return Complex(select(zero, 1.0, y.re), select(zero, 0.0, y.im))


#: Ops whose names are not those of the words of formulas.
for _name, _function in {
    "bessel_y0": s.bessel_y0, "bessel_y1": s.bessel_y1, "modified_bessel_k0": s.bessel_k0, "modified_bessel_k1": s.bessel_k1,
    "scaled_modified_bessel_k0": s.bessel_k0e, "scaled_modified_bessel_k1": s.bessel_k1e, "airy_ai": s.airy_ai, "exp1": s.exp1,
    "expi": s.expi, "dawsn": s.dawsn, "spence": s.spence,
}.items():  # fmt: skip
    op(Rule.FLOATING, name=_name, takes="float")(_function)


@op(Rule.FLOATING, takes="float", results=("si", "ci"))
def sici(x: Expr) -> tuple[Expr, Expr]:
    """Si(x), the integral of sin t / t from 0 to x, and Ci(|x|), minus the integral of cos t / t from |x|.

    x: any shape, float. Returns si and ci in x's shape; ci is -inf at zero and 0 at both infinities.
    """
    return s.sine_integral(x), s.cosine_integral(x)


@op(Rule.FLOATING, takes="float", results=("s", "c"))
def fresnel(x: Expr) -> tuple[Expr, Expr]:
    """The integrals of sin(pi t**2 / 2) and of cos(pi t**2 / 2) from 0 to x.

    x: any shape, float. Returns both in x's shape; they are 1/2 at infinity.
    """
    return s.fresnel_s(x), s.fresnel_c(x)


@op(Rule.FLOATING, takes="float")
def logit(x: Expr, *, eps: Annotated[Scalar, AtLeast(0), AtMost(0.5)] | None = None) -> Expr:
    """log(x / (1 - x)), with x limited to eps ... 1 - eps where eps is given."""
    return s.logit(x if eps is None else select(x < eps, eps, select(x > 1.0 - eps, 1.0 - eps, x)))


@op(Rule.FLOATING, takes="float")
def beta(a: Expr, b: Expr) -> Expr:
    """Gamma(a) Gamma(b) / Gamma(a + b) for positive a and b, by the logarithms."""
    return f.exp(s.betaln(a, b))


@op(Rule.FLOATING, takes="float")
def boxcox(x: Expr, lmbda: Expr) -> Expr:
    """(x**lmbda - 1) / lmbda, and log(x) where lmbda is 0 (Box and Cox 1964)."""
    zero = f.equal(lmbda, 0.0)
    return select(zero, f.log(x), f.expm1(lmbda * f.log(x)) / select(zero, 1.0, lmbda))


@op(Rule.FLOATING, takes="float")
def boxcox1p(x: Expr, lmbda: Expr) -> Expr:
    """((1 + x)**lmbda - 1) / lmbda, and log(1 + x) where lmbda is 0."""
    zero = f.equal(lmbda, 0.0)
    return select(zero, f.log1p(x), f.expm1(lmbda * f.log1p(x)) / select(zero, 1.0, lmbda))


@op(Rule.FLOATING, takes="float", differentiable=False)
def spherical_bessel_j0(x: Expr) -> Expr:
    """sin(x) / x, and 1 at 0."""
    return select(f.equal(x, 0.0), 1.0, select(f.equal(abs(x), float("inf")), 0.0, f.sin(x) / x))
