"""Cases of the special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
import torch

from tests.cases.case import OpCases, Shapes

T = torch.special


def _scipy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where torch's own float64 is good to 1e-7 only."""
    return lambda x: torch.from_numpy(np.asarray(function(x.numpy())))


def _ndtr(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * torch.erfc(-x * 0.5**0.5)


def _log_ndtr(x: torch.Tensor) -> torch.Tensor:
    scaled = x * 0.5**0.5
    return torch.where(x > -1, torch.log1p(-0.5 * torch.erfc(scaled)), (0.5 * T.erfcx(-scaled)).log() - scaled * scaled)


def _boxcox(x: torch.Tensor, lmbda: torch.Tensor) -> torch.Tensor:
    return torch.expm1(lmbda * x.log()) / lmbda


def _boxcox1p(x: torch.Tensor, lmbda: torch.Tensor) -> torch.Tensor:
    return torch.expm1(lmbda * x.log1p()) / lmbda


def _betaln(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def _j0(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x == 0, 1.0, torch.where(x.isinf(), 0.0, x.sin() / x))


SMALL: list[Shapes] = [((3, 67),), ((5, 1, 33),), ((1,),), ((0, 4),)]
LOOSE: dict[str, Any] = {"tolerance": 32.0, "absolute": 1.0}

CASES = {
    "erf": OpCases(torch.erf),
    "erfc": OpCases(torch.erfc, tolerance=24.0),
    "erfinv": OpCases(torch.erfinv, ("unit",), tolerance=24.0),
    "erfcx": OpCases(T.erfcx, specials=False, tolerance=24.0),
    "ndtr": OpCases(_ndtr, tolerance=64.0),
    "log_ndtr": OpCases(_log_ndtr, tolerance=64.0, specials=False),
    "ndtri": OpCases(T.ndtri, ("probability",), tolerance=24.0, absolute=1.0),
    "lgamma": OpCases(torch.lgamma, ("positive",), **LOOSE, specials=False),
    "gamma": OpCases(lambda x: x.lgamma().exp(), ("positive",), tolerance=64.0, absolute=1.0, specials=False),
    # torch's trigamma is good to 1e-10 only: tests/unit/test_special.py holds ours against mpmath
    "digamma": OpCases(torch.digamma, ("positive",), **LOOSE, specials=False, gradient=False),
    "i0": OpCases(T.i0, **LOOSE, specials=False),
    "i0e": OpCases(T.i0e, **LOOSE, specials=False),
    "i1": OpCases(T.i1, **LOOSE, specials=False),
    "i1e": OpCases(T.i1e, **LOOSE, specials=False),
    "bessel_j0": OpCases(_scipy(scipy.special.j0), **LOOSE, specials=False, gradient=False),
    "bessel_j1": OpCases(_scipy(scipy.special.j1), **LOOSE, specials=False, gradient=False),
    "sinc": OpCases(torch.sinc, **LOOSE, specials=False, modulus=True),
    "entr": OpCases(T.entr, ("positive",), specials=False, **LOOSE),
    "xlogy": OpCases(T.xlogy, ("any", "positive"), specials=False, **LOOSE),
    "xlog1py": OpCases(T.xlog1py, ("any", "positive"), specials=False, **LOOSE),
    "betaln": OpCases(_betaln, ("positive",), specials=False, tolerance=64.0, absolute=2.0),
    "beta": OpCases(lambda a, b: _betaln(a, b).exp(), ("positive",), specials=False, tolerance=64.0),
    "rel_entr": OpCases(lambda x, y: x * (x / y).log(), ("positive",), specials=False, **LOOSE),
    "kl_div_elementwise": OpCases(lambda x, y: x * (x / y).log() - x + y, ("positive",), specials=False, **LOOSE),
    "logit": OpCases(torch.logit, ("probability",), keywords=({}, {"eps": 0.1}), specials=False, **LOOSE),
    "boxcox": OpCases(_boxcox, ("positive", "nonzero"), specials=False, **LOOSE),
    "boxcox1p": OpCases(_boxcox1p, ("positive", "nonzero"), specials=False, **LOOSE),
    "spherical_bessel_j0": OpCases(_j0, specials=False, **LOOSE),
}
