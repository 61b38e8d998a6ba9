"""Polynomials: the orthogonal ones by their three-term recurrences, and those with given coefficients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, compare, const, fma, select
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Value

#: The highest degree: the recurrence is written out in the kernel, one step for each.
MOST = 256

#: From x, the polynomials of degree k and k - 1, and k: that of degree k + 1.
Step = Callable[[Expr, Expr, Expr, int], Expr]


def _chebyshev(x: Expr, p: Expr, before: Expr, k: int) -> Expr:
    return fma(x + x, p, -before)


def _hermite(x: Expr, p: Expr, before: Expr, k: int) -> Expr:
    return fma(x + x, p, before * (-2.0 * k))


def _hermite_e(x: Expr, p: Expr, before: Expr, k: int) -> Expr:
    return fma(x, p, before * -float(k))


def _laguerre(x: Expr, p: Expr, before: Expr, k: int) -> Expr:
    return fma((2.0 * k + 1.0 - x) * (1.0 / (k + 1)), p, before * (-k / (k + 1)))


def _legendre(x: Expr, p: Expr, before: Expr, k: int) -> Expr:
    return fma(x * ((2 * k + 1) / (k + 1)), p, before * (-k / (k + 1)))


def _everywhere(x: Expr, value: float) -> Expr:
    """A constant polynomial: NaN where x is."""
    return select(compare("ne", x, x), x, value)


def _declare(name: str, symbol: str, first: Callable[[Expr], Expr], step: Step, recurrence: str, shifted: bool = False) -> Op:
    def formula(x: Expr, *, n: Annotated[int, AtLeast(0), AtMost(MOST)] = 1) -> Expr:
        v = fma(x, 2.0, const(-1.0, x.kind)) if shifted else x
        before, p = const(1.0, x.kind), first(v)
        for k in range(1, n):
            before, p = p, step(v, p, before, k)
        return p if n else _everywhere(x, 1.0)

    argument = "2x - 1" if shifted else "x"
    formula.__doc__ = f"""{symbol}_n({argument}) for a degree n from 0 to {MOST}, by {recurrence}.

    The degree is an option: the kernel has one step for each. The error is at most about n + 1
    roundings of the largest of the polynomials up to degree n at x. x: any shape, float. Raises `InvalidProblemError` for another
    degree and for a tensor of degrees.

    Differs from PyTorch: there the degree may be a tensor, and of a negative one the polynomial is 0.
    """
    return op(Rule.FLOATING, name=name)(formula)


_CHEBYSHEV: dict[str, tuple[Callable[[Expr], Expr], str]] = {
    "t": (lambda x: x, "T_1 = x"),
    "u": (lambda x: x + x, "U_1 = 2x"),
    "v": (lambda x: fma(x, 2.0, const(-1.0, x.kind)), "V_1 = 2x - 1"),
    "w": (lambda x: fma(x, 2.0, const(1.0, x.kind)), "W_1 = 2x + 1"),
}
for _letter, (_first, _start) in _CHEBYSHEV.items():
    _words = f"{_start}, {_letter.upper()}_(k+1) = 2x {_letter.upper()}_k - {_letter.upper()}_(k-1)"
    _declare(f"chebyshev_polynomial_{_letter}", _letter.upper(), _first, _chebyshev, _words)
    _declare(f"shifted_chebyshev_polynomial_{_letter}", _letter.upper(), _first, _chebyshev, _words, shifted=True)
_declare("hermite_polynomial_h", "H", lambda x: x + x, _hermite, "H_1 = 2x, H_(k+1) = 2x H_k - 2k H_(k-1)")
_declare("hermite_polynomial_he", "He", lambda x: x, _hermite_e, "He_1 = x, He_(k+1) = x He_k - k He_(k-1)")
_declare(
    "laguerre_polynomial_l", "L", lambda x: 1.0 - x, _laguerre, "L_1 = 1 - x, L_(k+1) = (2k + 1 - x)/(k+1) L_k - k/(k+1) L_(k-1)"
)
_declare("legendre_polynomial_p", "P", lambda x: x, _legendre, "P_1 = x, P_(k+1) = (2k + 1)/(k+1) x P_k - k/(k+1) P_(k-1)")


@op(Rule.FLOATING)
def polyval(x: Value, *, p: tuple[complex, ...] = ()) -> Value:
    """p[0] x**(N-1) + ... + p[N-2] x + p[N-1] by Horner's rule, with a fused multiply-add in each step of real numbers.

    x: any shape, float or complex. p: the coefficients, highest power first, as in NumPy; real ones for a real x. They are an
    option, constants of the kernel. Raises `InvalidProblemError` where there is none and for a tensor of them.
    """
    if not p:
        raise InvalidProblemError("p: no coefficients; expected at least one")
    if isinstance(x, Complex):
        value = Complex(_everywhere(x.re, complex(p[0]).real), _everywhere(x.im, complex(p[0]).imag))
        for c in p[1:]:
            value = value * x + c
        return value
    total = _everywhere(x, _real(p[0])) if len(p) == 1 else const(_real(p[0]), x.kind)
    for c in p[1:]:
        total = fma(total, x, const(_real(c), x.kind))
    return total


def _real(c: complex) -> float:
    if isinstance(c, complex):
        raise InvalidProblemError(f"p: {c!r} for a real x; expected real coefficients")
    return float(c)
