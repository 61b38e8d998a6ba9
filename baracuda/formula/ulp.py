"""Errors in ULP: how far a computed value is from the exact one, in units of the last place of the exact one.

The unit is the distance of floats in the binade of the exact value; below the normal range it is the spacing of the
subnormals, and above the largest finite value that of the last binade, where an infinite result counts as 2**(emax + 1).
A result is correctly rounded if its error is at most 1/2, and faithful (one of the two neighbours) if it is below 1.
"""

from __future__ import annotations

from collections.abc import Callable
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
        in_ulps = np.ldexp(distance, np.minimum(24 - exponent, 149))
    both = np.isnan(result) & np.isnan(reference)
    return np.where(both, 0.0, np.where(np.isnan(in_ulps), np.inf, in_ulps))


def _sigmoid(x: mpf) -> mpf:
    return 1 / (1 + mp.exp(-x))


def _within_one(function: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """The function where it is real."""
    return lambda x: function(x) if abs(x) <= 1 else mp.nan


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
    "exp10": lambda x: mp.exp(x * mp.ln10),
    "log10": mp.log10,
    "asin": _within_one(mp.asin),
    "acos": _within_one(mp.acos),
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "asinh": lambda x: mp.sign(x) * mp.asinh(abs(x)),
    "acosh": lambda x: mp.acosh(x) if x >= 1 else mp.nan,
    "atanh": _within_one(mp.atanh),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "pow": _power,
    "atan2": mp.atan2,
    "hypot": mp.hypot,
}

#: Beyond these |x| the function is constant in f64, or over- or underflows; the exact value at the bound stands for it.
_BOUNDS = {
    "exp": 1100.0, "exp2": 1600.0, "exp10": 500.0, "expm1": 1100.0, "sinh": 1100.0, "cosh": 1100.0, "tanh": 400.0,
    "sigmoid": 1100.0, "erf": 30.0, "erfc": 40.0,
}  # fmt: skip


def exact(op: str, *args: float) -> mpf:
    """The value of an elementary function at finite arguments inside its domain, to about `PRECISION` bits."""
    with mp.workprec(PRECISION):
        bound = _BOUNDS.get(op)
        if bound is not None:
            args = tuple(min(max(float(x), -bound), bound) for x in args)
        value = _EXACT[op](*(mpf(float(x)) for x in args))
        return +value


#: Where each function is neither trivial nor out of range in f64; f32 results end at an eighth of the exponentials' ranges.
RANGES = {
    "exp": (-745.2, 709.8), "exp2": (-1075.0, 1024.0), "expm1": (-38.0, 709.8), "log": (0.3, 3.0), "log2": (0.3, 3.0),
    "log1p": (-0.9, 3.0), "sin": (-100.0, 100.0), "cos": (-100.0, 100.0), "tan": (-100.0, 100.0), "tanh": (-20.0, 20.0),
    "sigmoid": (-745.2, 38.0), "erf": (-6.0, 6.0), "erfc": (-6.0, 27.3), "rsqrt": (0.5, 4.0), "exp10": (-323.7, 308.3),
    "log10": (0.3, 3.0), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "atan": (-4.0, 4.0), "sinh": (-38.0, 38.0),
    "cosh": (-38.0, 38.0), "asinh": (-4.0, 4.0), "acosh": (1.0, 4.0), "atanh": (-1.0, 1.0), "cbrt": (-8.0, 8.0),
}  # fmt: skip

#: Open intervals outside of which samples of a function are left out.
_DOMAIN = {
    **dict.fromkeys(("log", "log2", "log10", "rsqrt"), (0.0, np.inf)), "log1p": (-1.0, np.inf),
    "acosh": (0.0, np.inf), "atanh": (-1.0, 1.0),
}  # fmt: skip


def samples(op: str, kind: ElementKind, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """About n arguments inside the domain: every exponent down to the subnormals, small values, the range where the function
    varies, and neighbourhoods of the points where it is hard (multiples of pi/4 and of ln(2)/2, 1, and binade edges)."""
    dtype = kind.numpy
    if op == "pow":
        return _power_samples(kind, n, rng)
    if op in ("atan2", "hypot"):
        return _plane_samples(kind, n, rng)
    integer = np.dtype(f"i{kind.itemsize}")
    m = n // 5
    sign = np.where(rng.random(m) < 0.5, -1.0, 1.0)
    low, high = (b / 8 if kind is ElementKind.F32 and abs(b) > 300 else b for b in RANGES[op])
    anywhere = rng.integers(1, int(np.array(np.inf, dtype).view(integer)), m, dtype=integer).view(dtype)
    hard = rng.choice([np.pi / 4, np.log(2.0) / 2, 0.25, 0.1], m) * rng.integers(0, 300, m)
    near_hard = hard * (1 + sign * 2.0 ** -rng.uniform(3, _format(kind)[0], m))
    parts = [
        anywhere * sign,
        sign * rng.uniform(0.5, 1.0, m) * 2.0 ** rng.integers(-14, 5, m),
        rng.uniform(low, high, m),
        1 + sign * rng.uniform(0, 0.6, m) * 2.0 ** -rng.integers(0, 24, m),
        np.where(rng.random(m) < 0.5, near_hard, -near_hard),
    ]
    x = np.concatenate([p.astype(dtype) for p in parts])
    least, most = _DOMAIN.get(op, (-np.inf, np.inf))
    with np.errstate(divide="ignore", over="ignore"):
        if op in ("asin", "acos", "atanh"):
            x = np.where(abs(x) > 1, 1 / x, x)
        x = np.maximum(abs(x), 1 / abs(x)) if op == "acosh" else abs(x) if least >= 0 else x
    return (x[(x > least) & (x < most)],)


def _power_samples(kind: ElementKind, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    bits, smallest, above = _format(kind)
    m = n // 4
    wide = 2.0 ** rng.uniform(2 - above, above - 1, m)
    near = (1 + rng.uniform(-0.4, 0.6, m) * 2.0 ** -rng.integers(0, bits - 1, m)).astype(kind.numpy).astype(np.float64)
    logs = np.log2(np.concatenate([wide, near]))
    logs[logs == 0] = 1.0
    x = np.concatenate([wide, near, rng.uniform(0.1, 10, m), -np.rint(rng.uniform(1, 50, m))])
    y = np.concatenate([rng.uniform(smallest, above, 2 * m) / logs, rng.uniform(-8, 8, m), np.rint(rng.uniform(-20, 20, m))])
    with np.errstate(over="ignore"):
        x, y = x.astype(kind.numpy), y.astype(kind.numpy)
    valid = np.isfinite(x) & np.isfinite(y) & (x != 0)
    return x[valid], y[valid]


def _plane_samples(kind: ElementKind, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Points of the plane other than the origin: near the unit circle, anywhere, and with legs of about one size."""
    m, dtype = n // 4, kind.numpy
    _, smallest, above = _format(kind)

    def signed(v: np.ndarray) -> np.ndarray:
        return np.where(rng.random(len(v)) < 0.5, -v, v)

    size = 2.0 ** rng.integers(smallest, above - 1, m) * rng.uniform(1, 2, m)
    ratio = 2.0 ** rng.uniform(-16, 0, m)
    x = [signed(rng.uniform(0, 1, m)), signed(2.0 ** rng.uniform(smallest, above, m)), signed(size), signed(1 + ratio)]
    y = [rng.uniform(-1, 1, m), 2.0 ** rng.uniform(smallest, above, m), size * ratio, signed(1 + ratio * rng.uniform(0, 1, m))]
    with np.errstate(over="ignore"):
        a, b = np.concatenate(x).astype(dtype), np.concatenate(y).astype(dtype)
    valid = np.isfinite(a) & np.isfinite(b) & ((a != 0) | (b != 0))
    return a[valid], b[valid]


def errors(op: str, kind: ElementKind, computed: np.ndarray, *args: np.ndarray) -> np.ndarray:
    """The error in ULP at each point, against mpmath."""
    points = zip(*(a.tolist() for a in args), strict=True)
    return np.array([error(c, exact(op, *p), kind) for c, p in zip(computed.tolist(), points, strict=True)])
