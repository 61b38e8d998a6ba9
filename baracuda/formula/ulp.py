"""Errors in ULP: how far a computed value is from the exact one, in units of the last place of the exact one.

The unit is the distance of floats in the binade of the exact value; below the normal range it is the spacing of the
subnormals, and above the largest finite value that of the last binade, where an infinite result counts as 2**(emax + 1).
A result is correctly rounded if its error is at most 1/2, and faithful (one of the two neighbours) if it is below 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError

#: Significand bits, exponent of the smallest subnormal, and exponent just above the largest finite value.
_FORMATS = {ElementKind.F32: (24, -149, 128), ElementKind.F64: (53, -1074, 1024)}

#: Enough for every f64 argument: results near a multiple of pi/2 lose 62 bits, and mpmath reduces with its own guard bits.
PRECISION = 200


def _format(kind: ElementKind) -> tuple[int, int, int]:
    if kind not in _FORMATS:
        raise UnsupportedError(f"errors in ULP are measured in f32 and f64, got {kind}")
    return _FORMATS[kind]


def unit(exact: mpf, kind: ElementKind) -> mpf:
    """The ULP of `kind` at an exact value."""
    bits, smallest, above = _format(kind)
    exponent = mp.frexp(exact)[1] if exact and mp.isfinite(exact) else smallest if not exact else above
    return mp.ldexp(mpf(1), max(min(exponent, above) - bits, smallest))


def error(computed: float, exact: mpf, kind: ElementKind) -> float:
    """|computed - exact| in ULP; infinite where exactly one of them is NaN."""
    if np.isnan(computed) or mp.isnan(exact):
        return 0.0 if np.isnan(computed) and mp.isnan(exact) else float("inf")
    limit = mp.ldexp(mpf(1), _format(kind)[2])
    held = max(min(mpf(float(computed)), limit), -limit)
    return float(abs(held - max(min(exact, limit), -limit)) / unit(exact, kind))


def errors_against_f64(computed: Any, exact: Any) -> np.ndarray:
    """The errors of f32 values against references in f64, whose own error is some 2**-28 of these units."""
    result, reference = np.asarray(computed, np.float64), np.asarray(exact, np.float64)
    with np.errstate(all="ignore"):
        limit = 2.0**128
        exponent = np.frexp(np.clip(np.abs(reference), 2.0**-149, np.nextafter(limit, 0)))[1]
        distance = np.abs(np.clip(result, -limit, limit) - np.clip(reference, -limit, limit))
        found = np.ldexp(distance, np.minimum(24 - exponent, 149))
    both = np.isnan(result) & np.isnan(reference)
    return np.where(both, 0.0, np.where(np.isnan(found), np.inf, found))


def _sigmoid(x: mpf) -> mpf:
    return 1 / (1 + mp.exp(-x))


def _power(x: mpf, y: mpf) -> mpf:
    """x**y for finite arguments and x not 0: NaN where the power is not real."""
    if x > 0:
        return mp.exp(y * mp.log(x))
    if y != mp.floor(y):
        return mp.nan
    magnitude = mp.exp(y * mp.log(-x))
    return -magnitude if int(y) % 2 else magnitude


_EXACT = {
    "exp": mp.exp,
    "exp2": lambda x: mp.exp(x * mp.ln2),
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.ln2,
    "log1p": mp.log1p,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "tanh": mp.tanh,
    "sigmoid": _sigmoid,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "pow": _power,
}

#: Beyond these |x| the function is constant in f64, or over- or underflows; the exact value at the bound stands for it.
_BOUNDS = {"exp": 1100.0, "exp2": 1600.0, "expm1": 1100.0, "tanh": 400.0, "sigmoid": 1100.0, "erf": 30.0, "erfc": 40.0}


def exact(op: str, *args: float) -> mpf:
    """The value of an elementary function at finite arguments inside its domain, to about `PRECISION` bits."""
    with mp.workprec(PRECISION):
        bound = _BOUNDS.get(op)
        if bound is not None:
            args = tuple(min(max(float(x), -bound), bound) for x in args)
        value = _EXACT[op](*(mpf(float(x)) for x in args))
        return +value
