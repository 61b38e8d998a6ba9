"""Cases of the rarer special functions, of polynomials, and of what SciPy computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp
import torch

from baracuda.formula.oracle_special import SPECIAL
from tests.cases.case import OpCases, Shapes
from tests.cases.special import LOOSE

T = torch.special
Function = Callable[..., Any]


def given(function: Function, *slopes: Function | None) -> Function:
    """A function of NumPy arrays with its derivatives by each argument, as autograd takes it; None for one that has none."""

    class Given(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *xs: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(*xs)
            return torch.from_numpy(np.asarray(function(*(x.detach().numpy() for x in xs))))

        @staticmethod
        def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
            xs = [x.detach().numpy() for x in ctx.saved_tensors]
            return tuple(None if s is None else dy * torch.from_numpy(np.asarray(np.conj(s(*xs)))) for s in slopes)

    return lambda *xs: Given.apply(*torch.broadcast_tensors(*xs))


def _zeta(x: torch.Tensor, q: torch.Tensor | None = None) -> torch.Tensor:
    """By the sum of 60 terms and the first terms of Euler and Maclaurin's formula."""
    q = torch.ones_like(x) if q is None else q
    k = torch.arange(60.0, dtype=x.dtype)
    x, q = torch.broadcast_tensors(x, q)
    a = q + 60.0
    total = ((q[..., None] + k) ** -x[..., None]).sum(-1)
    return total + a**-x * (a / (x - 1) + 0.5 + x / a / 12 - x * (x + 1) * (x + 2) / a**3 / 720)


def _polyval(x: torch.Tensor, p: tuple[complex, ...]) -> torch.Tensor:
    y = torch.zeros_like(x)
    for c in p:
        y = y * x + c
    return y


def _factorial(x: Any) -> Any:
    return np.where(np.isnan(x), np.nan, sp.factorial(x))


def _bernoulli(n: torch.Tensor) -> torch.Tensor:
    table = torch.from_numpy(sp.bernoulli(12))
    return torch.where(n < 0, math.nan, table[n.clamp(min=0).long()])


def _harmonic(theta: torch.Tensor, phi: torch.Tensor, n: int, m: int) -> torch.Tensor:
    """The harmonics of small degree, written out."""
    x, s = theta.cos(), theta.sin().abs()
    size = {
        (0, 0): 0.5 * math.sqrt(1 / math.pi) + 0.0 * x,
        (2, 1): -0.5 * math.sqrt(7.5 / math.pi) * s * x,
        (3, -2): 0.25 * math.sqrt(52.5 / math.pi) * s * s * x,
        (3, 0): 0.25 * math.sqrt(7 / math.pi) * (5 * x**3 - 3 * x),
    }[n, m]
    return torch.complex(size * (m * phi).cos(), size * (m * phi).sin())


def _log_by_distance(x: Any) -> Any:
    """ln x / (1 - x)."""
    with np.errstate(all="ignore"):
        return np.where(x == 1, -1.0, np.log(x) / (1 - x))


def _density(x: Any) -> Any:
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def _sici(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    si = given(lambda v: sp.sici(v)[0], lambda v: np.sinc(v / np.pi))
    ci = given(lambda v: sp.sici(np.abs(v))[1], lambda v: np.cos(v) / v)
    return si(x), ci(x)


def _fresnel(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    s = given(lambda v: sp.fresnel(v)[0], lambda v: np.sin(np.pi / 2 * v * v))
    c = given(lambda v: sp.fresnel(v)[1], lambda v: np.cos(np.pi / 2 * v * v))
    return s(x), c(x)


def _polygamma(x: torch.Tensor, n: int) -> torch.Tensor:
    result: torch.Tensor = given(lambda v: sp.polygamma(n, v), lambda v: sp.polygamma(n + 1, v))(x)
    return result


def _expn(x: torch.Tensor, n: int) -> torch.Tensor:
    result: torch.Tensor = given(lambda v: sp.expn(n, v), lambda v: -_lower(n, v))(x)
    return result


def _lower(n: int, x: Any) -> Any:
    return sp.expn(n - 1, x) if n else np.exp(-x) * (1 + 1 / x) / x


PAIR: list[Shapes] = [((3, 67), (3, 67)), ((4, 1, 33), (5, 1)), ((1,), (7,))]
ORDERS = ({"n": 0}, {"n": 1}, {"n": 2}, {"n": 7})
CLOSE: dict[str, Any] = {"tolerance": 16.0, "absolute": 1.0, "specials": False}
#: A composition rounds more often, and its gradient twice as often.
FAR: dict[str, Any] = {"tolerance": 100.0, "absolute": 1.0, "specials": False}


def _polynomial(name: str) -> OpCases:
    function = getattr(T, name)
    return OpCases(lambda x, n: function(x, n), ("unit",), keywords=ORDERS, tolerance=16.0, absolute=100.0, specials=False)


def _of_torch(name: str) -> OpCases:
    return OpCases(getattr(T, name), ("positive",), **CLOSE)


_POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{letter}" for shifted in ("", "shifted_") for letter in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip
_COMB = (lambda n, k: sp.binom(n, k), lambda n, k: sp.binom(n, k) * (sp.psi(n + 1) - sp.psi(n - k + 1)),
         lambda n, k: sp.binom(n, k) * (sp.psi(n - k + 1) - sp.psi(k + 1)))  # fmt: skip
_POCH = (sp.poch, lambda x, m: sp.poch(x, m) * (sp.psi(x + m) - sp.psi(x)), lambda x, m: sp.poch(x, m) * sp.psi(x + m))
_OWEN = (
    sp.owens_t, lambda h, a: -0.5 * _density(h) * sp.erf(a * h / np.sqrt(2)),
    lambda h, a: np.exp(-0.5 * h * h * (1 + a * a)) / (2 * np.pi * (1 + a * a)),
)  # fmt: skip
_IGAMMA = (sp.gammainc, SPECIAL["igamma_by_a"], lambda a, x: np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a)))
_IGAMMAC = (sp.gammaincc, lambda a, x: -_IGAMMA[1](a, x), lambda a, x: -_IGAMMA[2](a, x))
_BETAINC = (
    sp.betainc, SPECIAL["betainc_by_a"], SPECIAL["betainc_by_b"],
    lambda a, b, x: np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b)),
)  # fmt: skip

CASES = {
    **{name: _polynomial(name) for name in _POLYNOMIALS},
    "polyval": OpCases(_polyval, ("small",), keywords=({"p": (2.0,)}, {"p": (1.0, -2.0, 0.5, 3.0)}), **CLOSE),
    "gammasgn": OpCases(given(sp.gammasgn), ("nonzero",), specials=False),
    "factorial": OpCases(given(_factorial, lambda x: sp.gamma(x + 1) * sp.psi(x + 1)), ("positive",), **FAR),
    "comb": OpCases(given(*_COMB), ("above one", "probability"), shapes=PAIR[:2], **FAR),
    "poch": OpCases(given(*_POCH), ("positive",), shapes=PAIR[:2], **FAR),
    "multigammaln": OpCases(lambda x, d: x.mvlgamma(d), ("above one",), keywords=({"d": 1}, {"d": 3}), **FAR),
    "polygamma": OpCases(_polygamma, ("above one",), keywords=ORDERS, **FAR),
    "zeta": OpCases(
        _zeta, ("above one", "positive"), shapes=[((3, 67), (3, 67)), ((5, 1, 33), None), ((4, 1, 33), (5, 1))], **FAR
    ),
    "bernoulli_numbers": OpCases(_bernoulli, ("grid",), specials=False),
    "bessel_y0": OpCases(given(sp.y0), ("positive",), **CLOSE),
    "bessel_y1": OpCases(given(sp.y1), ("positive",), **CLOSE),
    "modified_bessel_k0": _of_torch("modified_bessel_k0"),
    "modified_bessel_k1": _of_torch("modified_bessel_k1"),
    "scaled_modified_bessel_k0": _of_torch("scaled_modified_bessel_k0"),
    "scaled_modified_bessel_k1": _of_torch("scaled_modified_bessel_k1"),
    "airy_ai": OpCases(given(lambda x: sp.airy(x)[0]), **CLOSE),
    "exp1": OpCases(given(sp.exp1, lambda x: -np.exp(-x) / x), ("positive",), **CLOSE),
    "expi": OpCases(given(sp.expi, lambda x: np.exp(x) / x), ("nonzero",), **CLOSE),
    "dawsn": OpCases(given(sp.dawsn, lambda x: 1 - 2 * x * sp.dawsn(x)), **CLOSE),
    "spence": OpCases(given(sp.spence, _log_by_distance), ("positive",), **CLOSE),
    "sici": OpCases(_sici, ("nonzero",), **CLOSE),
    "fresnel": OpCases(_fresnel, **CLOSE),
    "expn": OpCases(_expn, ("positive",), keywords=ORDERS, **FAR),
    "bessel_jn": OpCases(
        lambda x, n: given(lambda v: sp.jv(n, v), lambda v: sp.jvp(n, v))(x), keywords=(*ORDERS, {"n": -3}), **FAR
    ),
    "sph_harm_y": OpCases(
        _harmonic, shapes=PAIR, keywords=({"n": 0, "m": 0}, {"n": 2, "m": 1}, {"n": 3, "m": -2}, {"n": 3, "m": 0}), **CLOSE
    ),
    "owens_t": OpCases(given(*_OWEN), shapes=PAIR, **CLOSE),
    "igamma": OpCases(given(*_IGAMMA), ("positive",), shapes=PAIR, **LOOSE, specials=False),
    "igammac": OpCases(given(*_IGAMMAC), ("positive",), shapes=PAIR, **LOOSE, specials=False),
    "betainc": OpCases(given(*_BETAINC), ("positive", "positive", "probability"), **FAR),
    "hyp1f1": OpCases(
        given(sp.hyp1f1, None, None, lambda a, b, x: a / b * sp.hyp1f1(a + 1, b + 1, x)), ("unit", "above one", "any"), **FAR
    ),
    "hyp2f1": OpCases(
        given(sp.hyp2f1, None, None, None, lambda a, b, c, x: a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, x)),
        ("unit", "unit", "above one", "unit"), **FAR,
    ),
    "wofz": OpCases(given(sp.wofz, lambda z: 2j / np.sqrt(np.pi) - 2 * z * sp.wofz(z)), ("unit",), **FAR),
    "loggamma": OpCases(given(sp.loggamma, sp.psi), ("positive",), **FAR),
}  # fmt: skip
