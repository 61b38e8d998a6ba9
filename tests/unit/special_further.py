"""The integrals and the Bessel functions of the second kind by mpmath, and arguments on which their definitions are hard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mpmath import mp, mpf

from baracuda.core.elements import ElementKind
from baracuda.formula import ulp

PRECISION = 200


def _dawsn(x: mpf) -> mpf:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def _spence(x: mpf) -> mpf:
    """By polylog inside the circle, and by inversion outside, where mpmath is slow."""
    if x == 1:
        return mpf(0)
    if x > 2:
        return -(mp.log(x) ** 2) / 2 - _spence(1 / x)
    return mp.polylog(2, 1 - x).real


EXACT: dict[str, Callable[[mpf], mpf]] = {
    "bessel_y0": lambda x: mp.bessely(0, x),
    "bessel_y1": lambda x: mp.bessely(1, x),
    "bessel_k0": lambda x: mp.besselk(0, x),
    "bessel_k1": lambda x: mp.besselk(1, x),
    "bessel_k0e": lambda x: mp.besselk(0, x) * mp.exp(x),
    "bessel_k1e": lambda x: mp.besselk(1, x) * mp.exp(x),
    "airy_ai": mp.airyai,
    "exp1": mp.e1,
    "expi": mp.ei,
    "dawsn": _dawsn,
    "spence": _spence,
    "sine_integral": mp.si,
    "cosine_integral": lambda x: mp.ci(abs(x)),
    "fresnel_s": mp.fresnels,
    "fresnel_c": mp.fresnelc,
}


def envelope(op: str, x: mpf) -> mpf:
    """The size of an oscillating function around x, where a zero does not make it small; 0 for the others."""
    if op.startswith("bessel_y"):
        return mp.sqrt(2 / (mp.pi * x))
    if op == "airy_ai" and x < -1:
        return 1 / mp.sqrt(mp.pi * mp.sqrt(-x))
    return 1 / x if op == "cosine_integral" and x > 0.25 else mpf(0)


def errors(op: str, kind: ElementKind, computed: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The errors in ULP of the exact value, or of the envelope where that is larger."""
    in_ulps = []
    with mp.workprec(PRECISION):
        for c, v in zip(computed.tolist(), x.tolist(), strict=True):
            wanted = mp.re(EXACT[op](mpf(v)))
            larger = max(envelope(op, mpf(v)), abs(wanted)) if mp.isfinite(wanted) else wanted
            in_ulps.append(ulp.error(c, wanted, kind) * float(ulp.unit(wanted, kind) / ulp.unit(larger, kind)))
    return np.array(in_ulps)


def samples(op: str, kind: ElementKind, n: int, rng: np.random.Generator) -> np.ndarray:
    """Some multiple of n arguments inside the domain: where the pieces of the definition meet, small and large ones."""
    highest = 80.0 if kind is ElementKind.F32 else 700.0

    def between(low: float, high: float) -> np.ndarray:
        return rng.uniform(low, high, n)

    if op == "airy_ai":
        parts = [between(-1, 2), between(-6, 6), between(0, highest / 7), between(-100, 0), -(2.0 ** between(2, 20))]
    else:
        parts = [between(0, 1), between(0, 8), between(0, 30), 2.0 ** between(-100, 6), between(0, highest)]
    if op.startswith("bessel_y") or op in ("cosine_integral", "sine_integral", "fresnel_s", "fresnel_c"):
        parts.append(2.0 ** between(5, 19))
    if op == "spence":
        parts += [1 + between(-1, 1) * 2.0 ** -between(1, 20), 2.0 ** between(0, 100)]
    if op == "expi":
        parts += [-parts[0], -parts[2], 0.3725 + between(-0.1, 0.1) * 2.0 ** -between(0, 20)]
    if op in ("dawsn", "sine_integral", "fresnel_s", "fresnel_c"):
        parts += [-parts[1], between(0.9, 1.6), between(5.9, 6.1)]
    x = np.concatenate(parts).astype(kind.numpy)
    return x[x != 0]
