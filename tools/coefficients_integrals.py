"""Generates the coefficients of the integrals among the special functions, and of the Bessel functions of the second kind, as
tools/coefficients_special.py does for the others.

python -m tools.coefficients_integrals [FILE ...]
"""

from __future__ import annotations

import sys

from mpmath import mp, mpf

from tools.coefficients import BITS, emit, lines, parts
from tools.coefficients_special import write
from tools.piecewise import pieces
from tools.remez import rounded

mp.prec = 400
root = mp.sqrt

#: Below this the functions of 1/x take their limit at 0: the polynomials do not see the difference.
LEAST = mpf("1e-18")


def both(*edges: float) -> dict[str, tuple[float, ...]]:
    return dict.fromkeys(BITS, edges)


def least(u: mpf) -> mpf:
    return max(u, mpf("1e-40"))


def exponential_integrals() -> None:
    def small(x: mpf) -> mpf:
        return mp.e1(least(x)) + mp.log(least(x))

    pieces("E1_NEAR", "E1(x) + ln x; error of E1", small, both(0.0, 1.0), lambda x: 1 / mp.e1(least(x)))

    def far(v: mpf) -> mpf:
        v = max(v, LEAST)
        return mp.exp(1 / v) * mp.e1(1 / v) / v

    pieces("E1_FAR", "x e**x E1(x) in 1/x", far, {"F32": (0.0, 0.5, 1.0), "F64": (0.0, 0.125, 0.375, 1.0)}, lambda v: 1 / far(v))
    zero = mp.findroot(mp.ei, mpf("0.3725"))
    parts("EI_ZERO", "the zero of Ei", zero)
    emit("EI_ZERO_INVERSE", "its reciprocal", {kind: rounded(1 / zero, bits) for kind, bits in BITS.items()})

    def around_zero(x: mpf) -> mpf:
        if abs(x - zero) < mpf("1e-30"):
            x = zero + mpf("1e-30")
        return (mp.ei(least(x)) - mp.log(least(x) / zero)) / (x - zero)

    pieces(
        "EI_NEAR", "(Ei(x) - ln(x / zero)) / (x - zero)", around_zero, {"F32": (0.0, 2.0, 6.0), "F64": (0.0, 2.0, 6.0)},
        lambda x: 1 / around_zero(x),
    )  # fmt: skip

    def ei_far(v: mpf) -> mpf:
        v = max(v, LEAST)
        return mp.exp(-1 / v) * mp.ei(1 / v) / v

    pieces(
        "EI_FAR", "x e**-x Ei(x) in 1/x, x from 6", ei_far,
        {"F32": (0.0, 0.0625, 0.125, 0.1875), "F64": (0.0, 0.015625, 0.03125, 0.0546875, 0.0859375, 0.1171875, 0.1875)},
        lambda v: 1 / ei_far(v),
    )  # fmt: skip


def dawson() -> None:
    def near(u: mpf) -> mpf:
        x = root(least(u))
        return mp.exp(-u) * mp.erfi(x) * root(mp.pi) / 2 / x

    def middle(x: mpf) -> mpf:
        return near(x * x) * x

    def far(w: mpf) -> mpf:
        w = max(w, mpf("1e-14"))
        return near(1 / w) / w

    pieces("DAWSN_NEAR", "D(x) / x in x**2, x to 1", near, both(0.0, 1.0), lambda u: 1 / near(u))
    pieces(
        "DAWSN_MIDDLE", "D(x), x from 1 to 6", middle, {"F32": (1.0, 2.0, 3.5, 6.0), "F64": (1.0, 2.0, 3.0, 4.0, 6.0)},
        lambda x: 1 / middle(x),
    )  # fmt: skip
    pieces(
        "DAWSN_FAR", "x D(x) in 1/x**2, x from 6", far, {"F32": (0.0, 0.02783203125), "F64": (0.0, 0.015625, 0.02783203125)},
        lambda w: 1 / far(w),
    )  # fmt: skip


def dilogarithm() -> None:
    def odd(w: mpf) -> mpf:
        u = root(max(w, mpf("1e-14")))
        return (mp.polylog(2, 1 - mp.exp(-u)).real - u + u * u / 4) / u**3

    pieces("SPENCE", "(Li2(1 - e**-u) - u + u**2/4) / u**3 in u**2, |u| to 2", odd, both(0.0, 4.25))
    parts("ZETA_2", "pi**2 / 6", mp.pi**2 / 6)


def oscillating_integrals() -> None:
    def auxiliary(w: mpf) -> tuple[mpf, mpf]:
        x = 4 / root(max(w, mpf("1e-14")))
        s, c = mp.si(x) - mp.pi / 2, mp.ci(x)
        return x * (c * mp.sin(x) - s * mp.cos(x)), -x * x * (c * mp.cos(x) + s * mp.sin(x))

    pieces(
        "SI_NEAR", "Si(x) / x in x**2, x to 4", lambda u: mp.si(root(least(u))) / root(least(u)), both(0.0, 16.0),
        lambda u: root(least(u)) / mp.si(root(least(u))),
    )  # fmt: skip
    pieces(
        "CI_NEAR", "Ci(x) - ln x in x**2, x to 4; absolute error", lambda u: mp.ci(root(least(u))) - mp.log(root(least(u))),
        both(0.0, 16.0),
    )  # fmt: skip
    edges: dict[str, tuple[float, ...]] = {"F32": (0.0, 0.25, 1.0), "F64": (0.0, 0.125, 0.375, 1.0)}
    pieces("SICI_F", "x f(x) in 16/x**2, x from 4", lambda w: auxiliary(w)[0], edges, lambda w: 1 / auxiliary(w)[0])
    pieces("SICI_G", "x**2 g(x) in the same", lambda w: auxiliary(w)[1], edges, lambda w: 1 / auxiliary(w)[1])

    def fresnel(w: mpf) -> tuple[mpf, mpf]:
        x = root(2 / root(max(w, mpf("1e-14"))))
        s, c, angle = mpf(1) / 2 - mp.fresnels(x), mpf(1) / 2 - mp.fresnelc(x), mp.pi * x * x / 2
        f = s * mp.cos(angle) - c * mp.sin(angle)
        g = c * mp.cos(angle) + s * mp.sin(angle)
        return mp.pi * x * f, mp.pi**2 * x**3 * g

    def start(kind: int, u: mpf) -> mpf:
        x = root(root(least(u)))
        return mp.fresnelc(x) / x if kind else mp.fresnels(x) / x**3

    for kind, name in enumerate("SC"):
        pieces(
            f"FRESNEL_{name}", f"{name}(x) / x{'**3' if not kind else ''} in x**4, x to 3/2", lambda u, k=kind: start(k, u),
            both(0.0, 5.0625), lambda u, k=kind: 1 / start(k, u),
        )  # fmt: skip
    edges = {"F32": (0.0, 0.25, 0.796875), "F64": (0.0, 0.125, 0.375, 0.796875)}
    pieces("FRESNEL_F", "pi x f(x) in 4/x**4, x from 3/2", lambda w: fresnel(w)[0], edges, lambda w: 1 / fresnel(w)[0])
    pieces("FRESNEL_G", "pi**2 x**3 g(x) in the same", lambda w: fresnel(w)[1], edges, lambda w: 1 / fresnel(w)[1])


def modified_second_kind() -> None:
    pieces("K_I0", "I0(x) in x**2, x to 1", lambda u: mp.besseli(0, root(u)), both(0.0, 1.0))
    pieces("K_I1", "I1(x) / x in x**2, x to 1", lambda u: mp.besseli(1, root(least(u))) / root(least(u)), both(0.0, 1.0))
    pieces(
        "K0_NEAR", "K0(x) + ln x I0(x) in x**2, x to 1",
        lambda u: mp.besselk(0, root(least(u))) + mp.log(root(least(u))) * mp.besseli(0, root(least(u))), both(0.0, 1.0),
        lambda u: 1 / mp.besselk(0, root(least(u))),
    )  # fmt: skip

    def near(u: mpf) -> mpf:
        x = root(max(u, mpf("1e-20")))
        return (mp.besselk(1, x) - 1 / x - mp.log(x) * mp.besseli(1, x)) / x

    pieces("K1_NEAR", "(K1(x) - 1/x - ln x I1(x)) / x in x**2, x to 1", near, both(0.0, 1.0))
    for order in (0, 1):

        def far(v: mpf, order: int = order) -> mpf:
            x = 1 / max(v, LEAST)
            return mp.besselk(order, x) * mp.exp(x) * root(x)

        pieces(
            f"K{order}_FAR", f"e**x sqrt(x) K{order}(x) in 1/x, x from 1", far,
            {"F32": (0.0, 0.5, 1.0), "F64": (0.0, 0.125, 0.375, 1.0)}, lambda v, of=far: 1 / of(v),
        )  # fmt: skip


def second_kind() -> None:
    def rest(order: int, u: mpf) -> mpf:
        x = root(max(u, mpf("1e-20")))
        pole = 2 / (mp.pi * x) if order else mpf(0)
        return (mp.bessely(order, x) - 2 / mp.pi * mp.log(x) * mp.besselj(order, x) + pole) / x**order

    for order in (0, 1):
        pieces(
            f"Y{order}_NEAR",
            f"(Y{order}(x) - 2/pi ln x J{order}(x){' + 2/(pi x)) / x' if order else ')'} in x**2, x to 5; error by 4",
            lambda u, order=order: rest(order, u), both(0.0, 25.0), lambda u, order=order: (5 if order else 1) * mpf(4),
        )  # fmt: skip
    parts("TWO_OVER_PI", "2 / pi", 2 / mp.pi)


def airy() -> None:
    pieces("AIRY_NEAR", "Ai(x), x from -1 to 2", lambda x: mp.airyai(x), both(-1.0, 0.5, 2.0), lambda x: 1 / mp.airyai(x))
    pieces("AIRY_WAVE", "Ai(x), x from -5 to -1; error by 2", lambda x: mp.airyai(x), both(-5.0, -3.0, -1.0), lambda x: mpf(2))

    def positive(v: mpf) -> mpf:
        v = max(v, LEAST)
        x = (3 / (2 * v)) ** (mpf(2) / 3)
        return mp.airyai(x) * mp.exp(1 / v) * root(root(x))

    pieces(
        "AIRY_POSITIVE", "e**z x**(1/4) Ai(x) in 1/z, z = 2/3 x**(3/2), x from 2", positive,
        {"F32": (0.0, 0.5625), "F64": (0.0, 0.125, 0.5625)}, lambda v: 1 / positive(v),
    )  # fmt: skip

    def wave(w: mpf) -> tuple[mpf, mpf]:
        x = 1 / mp.cbrt(max(w, mpf("1e-14")))
        z = 2 * x * root(x) / 3
        a, b = mp.airyai(-x), mp.airybi(-x)
        modulus = root(a * a + b * b)
        turned = z - mp.pi / 4  # Ai(-x) = M cos(z - pi/4 - small), Bi(-x) = -M sin(z - pi/4 - small)
        c, s = a / modulus, -b / modulus
        small = mp.atan2(mp.sin(turned) * c - mp.cos(turned) * s, mp.cos(turned) * c + mp.sin(turned) * s)
        return root(root(x)) * modulus, small * z

    edges = both(0.0, 0.00800323486328125)
    pieces("AIRY_MODULUS", "x**(1/4) M(-x) in 1/x**3, x from 5", lambda w: wave(w)[0], edges, lambda w: 1 / wave(w)[0])
    pieces("AIRY_PHASE", "z (z - pi/4 - phase) in the same", lambda w: wave(w)[1], edges)
    parts("TWO_THIRDS", "2/3", mpf(2) / 3)


def quadrature() -> None:
    """Gauss and Legendre's points and weights on (0, 1), by Newton's iteration."""
    lines.extend(("#: points and weights on (0, 1)", "OWEN = {"))
    for kind, count in (("F32", 12), ("F64", 24)):
        lines.append(f"    {kind}: (")
        for i in range(count):
            x = mp.cos(mp.pi * (i + mpf(3) / 4) / (count + mpf(1) / 2))
            for _ in range(12):
                p, slope = mp.legendre(count, x), count * (x * mp.legendre(count, x) - mp.legendre(count - 1, x)) / (x * x - 1)
                x -= p / slope
            point, weight = rounded((x + 1) / 2, BITS[kind]), rounded(1 / ((1 - x * x) * slope**2), BITS[kind])
            lines.append(f"        ({float(point)!r}, {float(weight)!r}),")
        lines.append("    ),")
    lines.append("}")


FILES = {
    "exponential_integral.py": ("the exponential integrals", [exponential_integrals]),
    "integrals.py": ("Dawson's integral and the dilogarithm", [dawson, dilogarithm]),
    "waves.py": ("the sine, cosine and Fresnel integrals", [oscillating_integrals]),
    "owen.py": ("the quadrature of Owen's function", [quadrature]),
    "bessel_k.py": ("the modified Bessel functions of the second kind", [modified_second_kind]),
    "bessel_y.py": ("Y0, Y1 and Airy's function", [second_kind, airy]),
}


def main() -> None:
    for name in sys.argv[1:] or FILES:
        subject, makers = FILES[name]
        write(name, subject, makers, "coefficients_integrals")


if __name__ == "__main__":
    main()
