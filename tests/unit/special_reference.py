"""The special functions by mpmath, and arguments on which their definitions are hard."""

from __future__ import annotations

import numpy as np
from mpmath import mp, mpf

from baracuda.core.elements import ElementKind
from baracuda.formula import ulp

PRECISION = 200


def _series(x: mpf, ratio) -> mpf:
    """The sum of an asymptotic series whose terms have the given ratios."""
    total, term, k = mpf(0), mpf(1), 0
    while abs(term) > mpf(2) ** -PRECISION and k < 200:
        total, k = total + term, k + 1
        term *= ratio(k) / x
    return total


def _erfcx(x: mpf) -> mpf:
    if x > 30:
        return _series(x * x, lambda k: -(2 * k - 1) / mpf(2)) / (x * mp.sqrt(mp.pi))
    with mp.workprec(PRECISION + 1400 if x > 5 else PRECISION):
        return mp.exp(x * x) * mp.erfc(x)


def _ndtr(x: mpf) -> mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _log_ndtr(x: mpf) -> mpf:
    if x > 0:
        return mp.log1p(-_ndtr(-x)) if x < 1000 else mpf(0)
    return mp.log(_erfcx(-x / mp.sqrt(2)) / 2) - x * x / 2


def _ndtri(p: mpf) -> mpf:
    if p > mpf("0.01"):
        with mp.workprec(2 * PRECISION):
            return mp.sqrt(2) * mp.erfinv(2 * p - 1)
    w = -mp.log(p)
    y = mp.sqrt(2 * w)
    y -= mp.log(2 * mp.pi * y * y) / (2 * y)
    for _ in range(40):  # Newton's iteration on the logarithm
        step = (mp.log(_ndtr(-y)) + w) * _ndtr(-y) * mp.sqrt(2 * mp.pi) * mp.exp(y * y / 2)
        y += step
        if abs(step) < y * mpf(2) ** -100:
            break
    return -y


def _erfinv(x: mpf) -> mpf:
    with mp.workprec(2 * PRECISION):
        return mp.erfinv(x)


def _pole(x: mpf) -> bool:
    return x <= 0 and x == mp.floor(x)


def _lgamma(x: mpf) -> mpf:
    if _pole(x):
        return mp.inf
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(x * mp.sinpi(x))) - mp.loggamma(-x)


def _gamma(x: mpf) -> mpf:
    if _pole(x):
        return mp.nan
    return mp.gamma(min(max(x, mpf(-500) - x % 2), mpf(500)))


def _digamma(x: mpf) -> mpf:
    return mp.nan if _pole(x) else mp.digamma(x)


def _trigamma(x: mpf) -> mpf:
    if _pole(x):
        return mp.inf
    if x < 0:
        return (mp.pi / mp.sinpi(x)) ** 2 - _trigamma(1 - x)
    total = mpf(0)
    while x < 60:  # up to where the asymptotic series has enough terms
        total, x = total + 1 / (x * x), x + 1
    return total + 1 / x + 1 / (2 * x * x) + mp.fsum(mp.bernoulli(2 * k) / x ** (2 * k + 1) for k in range(1, 40))


def _bessel(order: int, scaled: bool):
    def value(x: mpf) -> mpf:
        a = min(abs(x), mpf(2000)) if not scaled else abs(x)
        if a > 200:
            bessel = _series(8 * a, lambda k: -(4 * mpf(order) ** 2 - (2 * k - 1) ** 2) / k) / mp.sqrt(2 * mp.pi * a)
            bessel *= 1 if scaled else mp.exp(a)
        else:
            bessel = mp.besseli(order, a) * (mp.exp(-a) if scaled else 1)
        return -bessel if order and x < 0 else bessel

    return value


def _bessel_j(order: int):
    def value(x: mpf) -> mpf:
        if abs(x) < 1000:
            return mp.besselj(order, x)
        # Beyond, Hankel's expansion: mpmath's own is slow for huge arguments.
        with mp.workprec(PRECISION + 1100):
            a = abs(x)
            phase = a - mp.pi / 4 - order * mp.pi / 2
            cosine, sine = mp.cos(phase), mp.sin(phase)
        p, q, term = mpf(0), mpf(0), mpf(1)
        for k in range(40):
            sign = -1 if k % 4 >= 2 else 1
            p, q = (p + sign * term, q) if k % 2 == 0 else (p, q + sign * term)
            term *= (4 * mpf(order) ** 2 - (2 * k + 1) ** 2) / ((k + 1) * 8 * a)
        bessel = mp.sqrt(2 / (mp.pi * a)) * (p * cosine - q * sine)
        return -bessel if order and x < 0 else bessel

    return value


def _logit(x: mpf) -> mpf:
    return mp.log(x / (1 - x)) if 0 < x < 1 else mp.nan


def _softplus(x: mpf) -> mpf:
    return max(x, mpf(0)) + mp.log1p(mp.exp(-min(abs(x), mpf(1100))))


EXACT = {
    "erfinv": _erfinv, "erfcx": _erfcx, "ndtr": _ndtr, "log_ndtr": _log_ndtr, "ndtri": _ndtri, "lgamma": _lgamma,
    "gamma": _gamma, "digamma": _digamma, "trigamma": _trigamma, "i0": _bessel(0, False), "i0e": _bessel(0, True),
    "i1": _bessel(1, False), "i1e": _bessel(1, True), "sinc": lambda x: mp.sincpi(x) if x else mpf(1),
    "bessel_j0": _bessel_j(0), "bessel_j1": _bessel_j(1), "logit": _logit,
    "softplus": _softplus,
}  # fmt: skip


def exact(op: str, x: float) -> mpf:
    with mp.workprec(PRECISION):
        return +EXACT[op](mpf(float(x)))


def envelope(op: str, x: float) -> mpf:
    """The size of an oscillating function around x, where a zero does not make it small; 0 for the others."""
    if op.startswith("bessel") and abs(x) > 2:
        return mp.sqrt(2 / (mp.pi * abs(x)))
    return mpf(op in ("lgamma", "digamma") and x < 0)


def errors(op: str, kind: ElementKind, computed: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The errors in ULP of the exact value, or of the envelope where that is larger."""
    in_ulps = []
    for c, v in zip(computed.tolist(), x.tolist(), strict=True):
        wanted = exact(op, v)
        larger = max(envelope(op, v), abs(wanted)) if mp.isfinite(wanted) else wanted
        in_ulps.append(ulp.error(c, wanted, kind) * float(ulp.unit(wanted, kind) / ulp.unit(larger, kind)))
    return np.array(in_ulps)


def samples(op: str, kind: ElementKind, n: int, rng: np.random.Generator) -> np.ndarray:
    """Some multiple of n arguments inside the domain: where the function varies, near its zeros and poles, and anywhere."""
    narrow = kind is ElementKind.F32
    bits, deepest, highest = (24, 149, 126) if narrow else (53, 1074, 1000)
    sign = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    small = sign * 2.0 ** rng.uniform(-40, 3, n)
    wide = sign * 2.0 ** rng.uniform(-highest, highest, n)

    def between(low: float, high: float) -> np.ndarray:
        return rng.uniform(low, high, n)

    def one_minus() -> np.ndarray:
        return 1.0 - 2.0 ** -rng.uniform(1, bits, n)

    if op == "logit":
        parts = [between(0, 1), 2.0 ** -rng.uniform(1, deepest, n), one_minus(), 0.5 + small / 64, between(0.3, 0.7)]
    elif op == "softplus":
        parts = [between(-1, 1), small, between(-20, 20), between(-104, 90) if narrow else between(-745, 720), wide]
    elif op == "erfinv":
        parts = [between(-1, 1), one_minus(), -one_minus(), small / 8, between(0.5, 0.62)]
    elif op == "ndtri":
        deep = 2.0 ** -rng.uniform(1, deepest, n)
        parts = [between(0, 1), deep, one_minus(), 0.5 + small / 64, between(0.2, 0.3), between(0.7, 0.8), deep**0.2]
    elif op in ("erfcx", "ndtr", "log_ndtr"):
        end = between(-14.2, -12.0) if narrow else between(-38.5, -37.0)
        parts = [between(-1, 1), small, between(-10, 10), between(-40, 40), end if op == "ndtr" else wide]
    elif op[0] == "i":
        parts = [between(-1, 1), small, between(-12, 12), between(-100, 100), between(-720, 720), wide]
    elif op.startswith("bessel"):
        parts = [between(-1.2, 1.2), small, between(-5, 5), between(-12, 12), between(-1000, 1000), wide]
    elif op == "sinc":
        parts = [between(-1, 1), small, between(-12, 12), between(-1000, 1000)]
    else:
        parts = [between(0, 3), abs(small), 1 + small / 256, 2 + small / 256, between(2, 172), between(0, 36)]
        parts += [between(-1, 0), between(-10, 0), -abs(small), between(-185, 0), between(-36, 0) if op == "gamma" else abs(wide)]
    x = np.concatenate(parts).astype(kind.numpy)
    if op == "erfinv":
        return x[abs(x) < 1]
    if op in ("ndtri", "logit"):
        return x[(x > 0) & (x < 1)]
    return x[np.isfinite(x)]
