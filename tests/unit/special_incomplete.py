"""The incomplete gamma and beta functions by mpmath, from their series and fractions, and arguments on which they are hard."""

from __future__ import annotations

import numpy as np
from mpmath import mp, mpf

from baracuda.formula import ulp

PRECISION = 160


def _guard(*sizes: mpf) -> int:
    """Bits that the logarithm of a density loses."""
    return int(mp.log(max(1, *(abs(s) for s in sizes)), 2)) * 2 + 30


def _series(a: mpf, x: mpf) -> mpf:
    """The sum of x**n / ((a+1) ... (a+n))."""
    term = total = mpf(1)
    n = 0
    while term > total * mpf(2) ** -(mp.prec + 10):
        n += 1
        term = term * x / (a + n)
        total += term
    return total


def _fraction(a: mpf, x: mpf) -> mpf:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by Lentz's method."""
    b, c = x + 1 - a, mpf(10) ** 300
    d = value = 1 / b
    n = 0
    change = mpf(0)
    while abs(change - 1) > mpf(2) ** -(mp.prec - 10):
        n += 1
        lifted = -n * (n - a)
        b += 2
        d = 1 / (lifted * d + b)
        c = b + lifted / c
        change = c * d
        value *= change
    return value


def igamma(a: mpf, x: mpf, *, upper: bool = False) -> mpf:
    """P(a, x), or Q(a, x), for positive a and x, to about `PRECISION` bits."""
    below = x < a + 1 or x < 40
    with mp.workprec(PRECISION + _guard(a, x, mp.log(x)) + (int(3 * x) if a < x < 40 else 0)):
        density = mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
        value = density * (_series(a, x) if below else a * _fraction(a, x))
        return value if below != upper else 1 - value


def by_difference(function, x: mpf, scale: mpf) -> mpf:
    """The derivative of a function, by a central difference."""
    with mp.workprec(PRECISION):
        h = scale * mpf(2) ** -40
        return (function(x + h) - function(x - h)) / (2 * h)


def igamma_by_a(a: mpf, x: mpf) -> mpf:
    """The derivative of P, from the smaller one of P and Q; good to 70 bits."""
    upper = x > a
    value = by_difference(lambda at: igamma(at, x, upper=upper), a, min(a, mp.sqrt(a)))
    return -value if upper else value


def igamma_by_x(a: mpf, x: mpf) -> mpf:
    with mp.workprec(PRECISION + _guard(a, x)):
        return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


EXACT_GAMMA = {
    "igamma": igamma, "igammac": lambda a, x: igamma(a, x, upper=True), "igamma_by_a": igamma_by_a, "igamma_by_x": igamma_by_x,
}  # fmt: skip


def gamma_samples(n: int, kind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points of every formula and of the seams between them: tiny, small, half-integer and large a, x near a and far from it."""
    a = np.concatenate([
        10.0 ** rng.uniform(-8, 0, n), rng.uniform(0, 30, n), np.arange(1, n + 1) / 2, 10.0 ** rng.uniform(0, 4, n),
        np.full(n, 20.0) + rng.choice([-1e-9, 0, 1e-9], n), np.full(n, 2.5) + rng.choice([-1e-9, 0, 1e-9], n),
    ])  # fmt: skip
    near = a + rng.uniform(-9, 9, len(a)) * np.sqrt(a)
    far = np.maximum(a, 0.5) * 10.0 ** rng.uniform(-1.5, 1, len(a))
    seam = np.maximum(a, 2.0) * (1 + rng.choice([-1e-9, 0, 1e-9], len(a))) * rng.choice([1.0, 0.4, 2.0], len(a))
    x = np.choose(rng.integers(0, 3, len(a)), [np.where(near > 0, near, far), far, seam])
    x[:n] = 10.0 ** rng.uniform(-8, 1.5, n)
    return a.astype(kind.numpy), x.astype(kind.numpy)


def betainc(a: mpf, b: mpf, x: mpf, *, upper: bool = False) -> mpf:
    """I_x(a, b) or 1 - I, for positive a and b and 0 < x < 1, to about `PRECISION` bits."""
    with mp.workprec(PRECISION + _guard(a, b, mp.log(x), mp.log(1 - x))):
        swapped = x > (a + 1) / (a + b + 2)
        p, q, z = (b, a, 1 - x) if swapped else (a, b, x)
        logs = mp.loggamma(p + q) - mp.loggamma(p + 1) - mp.loggamma(q)
        term = total = mpf(1)
        n = 0
        while term > total * mpf(2) ** -(mp.prec + 10):
            n += 1
            term = term * z * (p + q + n - 1) / (p + n)
            total += term
        value = mp.exp(p * mp.log(z) + q * mp.log(1 - z) + logs) * total
        return value if swapped == upper else 1 - value


def _betainc_by(which: int):
    """The derivative by a or b, from the smaller one of I and 1 - I."""

    def slope(*at: mpf) -> mpf:
        a, b, x = at
        upper = x > a / (a + b)

        def along(moved: mpf) -> mpf:
            return betainc(*(moved if i == which else v for i, v in enumerate(at)), upper=upper)

        value = by_difference(along, at[which], min(at[which], mp.sqrt(at[which])))
        return -value if upper else value

    return slope


def betainc_by_x(a: mpf, b: mpf, x: mpf) -> mpf:
    with mp.workprec(PRECISION + _guard(a, b, mp.log(x), mp.log(1 - x))):
        logs = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)
        return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) + logs)


EXACT_BETA = {"betainc": betainc, "betainc_by_a": _betainc_by(0), "betainc_by_b": _betainc_by(1), "betainc_by_x": betainc_by_x}


def beta_samples(n: int, kind, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Points of every formula and of the seams between them: a and b of every size to 1e4, alike and apart, x near the mean and
    far from it."""
    a = np.concatenate([10.0 ** rng.uniform(-1, 4, 2 * n), rng.uniform(0.5, 30, n), np.arange(1, n + 1) / 2, np.full(n, 100.0)])
    b = np.concatenate([10.0 ** rng.uniform(-1, 4, n), a[n : 2 * n] * 2.0 ** rng.uniform(-3, 3, n), rng.uniform(0.5, 30, n),
                        np.arange(n, 0, -1) / 2, 100.0 * 10.0 ** rng.uniform(0, 2, n)])  # fmt: skip
    swapped = rng.random(len(a)) < 0.5
    a, b = np.where(swapped, a, b), np.where(swapped, b, a)
    mean = a / (a + b)
    near = mean + rng.uniform(-8, 8, len(a)) * np.sqrt(mean * (1 - mean) / (a + b))
    seam = (a + 3) / (a + b + 6) * (1 + rng.choice([-1e-9, 0, 1e-9], len(a)))
    x = np.choose(rng.integers(0, 3, len(a)), [near, rng.uniform(0, 1, len(a)), seam])
    x = np.where((x > 0) & (x < 1), x, mean).astype(kind.numpy)
    return a.astype(kind.numpy), b.astype(kind.numpy), np.minimum(x, np.nextafter(kind.numpy.type(1), kind.numpy.type(0)))


def ulp_errors(function, got: np.ndarray, kind, *args: np.ndarray) -> np.ndarray:
    """The errors in units in the last place, 0 where `relative_errors` are."""
    limits, in_ulps = np.finfo(got.dtype), []
    for value, *point in zip(got.tolist(), *(v.tolist() for v in args), strict=True):
        exact = function(*(mpf(p) for p in point))
        inside = 1e3 * float(limits.tiny) < abs(exact) < float(limits.max)
        in_ulps.append(ulp.error(value, exact, kind) if inside else 0.0)
    return np.array(in_ulps)


def relative_errors(function, got: np.ndarray, *args: np.ndarray) -> np.ndarray:
    """The relative errors of values; 0 where the exact one is near the end of the range of the kind."""
    limits = np.finfo(got.dtype)
    relative = []
    for value, *point in zip(got.tolist(), *(v.tolist() for v in args), strict=True):
        exact = function(*(mpf(p) for p in point))
        inside = 1e3 * float(limits.tiny) < abs(exact) < float(limits.max)
        relative.append((float(abs(mpf(value) - exact) / abs(exact)) if np.isfinite(value) else np.inf) if inside else 0.0)
    return np.array(relative)
