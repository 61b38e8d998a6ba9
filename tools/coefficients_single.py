"""Generates baracuda/formula/elementary/tables/single.py: the polynomials of the special functions that f32 alone uses.

python -m tools.coefficients_single
"""

from __future__ import annotations

from mpmath import mp, mpf

from tools.coefficients import BITS, emit_scalar, parts, polynomial
from tools.coefficients_special import quantile, scaled_erfc, write
from tools.remez import Function, rounded


def about(
    name: str,
    comment: str,
    f: Function,
    low: mpf,
    high: mpf,
    count: int,
    weight: Function | None = None,
    middle: mpf | None = None,
) -> None:
    """Fit f from low to high in x - NAME_CENTRE.

    The centre is near the middle or what is given for it, where f is nearly a float: rounding the constant coefficient then
    costs nothing.
    """
    middle = rounded((low + high) / 2, 8) if middle is None else middle
    step = mp.ldexp(mpf(1), mp.frexp(high - low)[1] - 9)
    centres = [middle + k * step for k in range(-24, 25)]
    centre = min(centres, key=lambda c: abs(rounded(f(c), BITS["F32"]) / f(c) - 1))

    def shifted(of: Function) -> Function:
        return lambda t: of(centre + t)

    emit_scalar(f"{name}_CENTRE", "the centre of the polynomial below", centre)
    polynomial(
        name, f"{comment}, in x - CENTRE", shifted(f), low - centre, high - centre, {"F32": count},
        shifted(weight or (lambda x: 1 / f(x))),
    )  # fmt: skip


def bessel_functions() -> None:
    split, end = mpf(4), mpf(10)
    emit_scalar("BESSEL_SPLIT", "where the two polynomials of the modified Bessel functions meet", split)
    emit_scalar("BESSEL_END", "where the second ends", end)
    for order in (0, 1):

        def ratio(x: mpf, order: int = order) -> mpf:
            return mp.besseli(order, x) * mp.exp(-x) / x**order

        def scaled(x: mpf, order: int = order) -> mpf:
            return mp.besseli(order, x) * mp.exp(-x)

        about(f"I{order}E", f"exp(-x) I{order}(x){' / x' * order}, x to SPLIT", ratio, mpf("1e-12"), split, 14)
        about(f"I{order}E_FAR", f"exp(-x) I{order}(x), x from SPLIT to END", scaled, split, end, 13)

    def slope(x: mpf) -> mpf:
        return (mp.besseli(1, x) - mp.besseli(0, x)) * mp.exp(-x)

    about("I0E_SLOPE", "the derivative of exp(-x) I0(x), x to SPLIT", slope, mpf("1e-12"), split, 15)
    about("I0E_SLOPE_FAR", "the same from SPLIT to END", slope, split, end, 14)


def oscillating_bessel_functions() -> None:
    """J0, J1, Y0 and Y1: by x**2 to BESSEL_FAR, then modulus and phase by 1 / x**2."""
    far, root = mpf(4), mp.sqrt
    middle = mpf("7.87109375")  # where the four polynomials' constant coefficients are nearly floats
    emit_scalar("BESSEL_FAR", "where the Bessel functions go over to modulus and phase", far)
    emit_scalar("BESSEL_MIDDLE", "the centre of the polynomials below it, in x**2", middle)
    edge = mp.pi / 2 + mpf(3) / 8 / far
    polynomial(
        "BESSEL_SINE", "(sin r - r) / r**3 in r**2, r to pi/2 and the phase more; absolute error of the sine",
        lambda u: (mp.sin(root(u)) / root(u) - 1) / u, mpf("1e-6"), edge**2, {"F32": 4}, lambda u: u * root(u),
    )  # fmt: skip
    for order in (0, 1):
        zero = mp.besseljzero(order, 1) ** 2
        parts(f"J{order}_SQUARED_ZERO", f"the square of the first zero of J{order}", zero, kinds=("F32",))

        def scaled(d: mpf, order: int = order) -> mpf:
            x = root(max(d + middle, mpf("1e-20")))
            return mp.besselj(order, x) / x**order

        def rest(d: mpf, order: int = order) -> mpf:
            x = root(max(d + middle, mpf("1e-20")))
            infinite = 2 / (mp.pi * x) if order else mpf(0)
            return (mp.bessely(order, x) - 2 / mp.pi * mp.log(x) * mp.besselj(order, x) + infinite) / x**order

        def waves(w: mpf, order: int = order) -> tuple[mpf, mpf]:
            x = 1 / root(max(w, mpf("1e-7")))  # beyond x = 3000 neither changes any more
            turned = x - mp.pi / 4 - order * mp.pi / 2
            j, y = mp.besselj(order, x), mp.bessely(order, x)
            phase = mp.atan2(y * mp.cos(turned) - j * mp.sin(turned), j * mp.cos(turned) + y * mp.sin(turned))
            return root(x * (j * j + y * y)), x * phase

        name, pole = f"J{order}(x){' / x' * order}", " + 2/(pi x)) / x" if order else ")"
        polynomial(
            f"J{order}_NEAR", f"{name} / (x**2 - zero**2) in x**2 - MIDDLE, x to FAR",
            lambda d, of=scaled, z=zero: of(d) / (d + middle - z), -middle, far * far - middle, {"F32": 8},
            lambda d, of=scaled, z=zero: (d + middle - z) / of(d),
        )  # fmt: skip
        polynomial(
            f"Y{order}_NEAR", f"(Y{order}(x) - 2/pi ln x J{order}(x){pole} in the same; error by 4",
            rest, -middle, far * far - middle, {"F32": 8}, lambda d, order=order: (4 if order else 1) * mpf(4),
        )  # fmt: skip
        last = 1 / far**2
        polynomial(
            f"BESSEL{order}_MODULUS", f"sqrt(x (J{order}(x)**2 + Y{order}(x)**2)) in 1 / x**2, x from FAR",
            lambda w, of=waves: of(w)[0], 0, last, {"F32": 6 - order}, lambda w, of=waves: 1 / of(w)[0],
        )  # fmt: skip
        polynomial(
            f"BESSEL{order}_PHASE", f"x (phase - x + {2 * order + 1} pi/4) in the same; absolute error by 4",
            lambda w, of=waves: of(w)[1], 0, last, {"F32": 5}, lambda w: 1 / far,
        )  # fmt: skip
    parts("PI", "pi", mp.pi, kinds=("F32",))
    emit_scalar("ONE_OVER_PI", "1 / pi", rounded(1 / mp.pi, BITS["F32"]))


def gamma_functions() -> None:
    low, high = mpf("0.75"), mpf("2.5")
    emit_scalar("LGAMMA_SMALL", "below this lgamma takes the logarithm off that of x + 1", low)
    emit_scalar("LGAMMA_LARGE", "from here on lgamma is Stirling's formula", high)
    emit_scalar("LGAMMA_END", "beyond this some more digits are needed, so that lgamma overflows where it should", mpf(2) ** 100)

    def quotient(x: mpf) -> mpf:
        if min(abs(x - 1), abs(x - 2)) < mpf(10) ** -60:
            x += mpf(10) ** -60
        return mp.loggamma(x) / ((x - 1) * (x - 2))

    margin = mpf("1e-4")
    about("LGAMMA", "lgamma(x) / ((x - 1) (x - 2)), x from SMALL to LARGE", quotient, low - margin, high + margin, 15)


def normal_distribution() -> None:
    split, end = mpf(5), mpf("16.2")
    emit_scalar("ERFINV_SPLIT", "where the two polynomials of erfinv meet, in w = -ln(1 - x**2)", split)

    def inverse(w: mpf) -> mpf:
        """erfinv(x) / x at w; for the tail from the probability of what is beyond x."""
        x = mp.sqrt(-mp.expm1(-w))
        if w < 1:
            return mp.erfinv(x) / x
        return quantile(w + mp.log(1 + x) + mp.log(2)) / mp.sqrt(mpf(2)) / x

    margin = mpf("0.001")
    about("ERFINV", "erfinv(x) / x by w for x, w to SPLIT", inverse, mpf("1e-12"), split + margin, 12)
    about("ERFINV_TAIL", "the same beyond", inverse, split - margin, end, 11)

    split, end = mpf("2.5"), mpf("9.1875")
    emit_scalar("ERFC_SPLIT", "where the two polynomials of erfc meet", split)
    emit_scalar("ERFC_END", "beyond this erfc is not a normal number", end)

    def log(x: mpf) -> mpf:
        return mp.log(scaled_erfc(x))

    about("ERFC_LOG", "ln erfc(x) / x + x, x to SPLIT", lambda x: log(x) / x, mpf("1e-12"), split, 11)
    about("ERFC_LOG_FAR", "ln erfc(x) + x**2, x from SPLIT to END; absolute error", log, split, end, 12, lambda x: mpf(1), mpf(6))


def logarithm_of_normal_distribution() -> None:
    root, end, constant = mp.sqrt(mpf(2)), mpf(12), lambda x: mpf(1)
    emit_scalar("NDTR_END", "beyond this log_ndtr and its derivative take longer formulas", end)

    def log(x: mpf) -> mpf:
        return mp.log(scaled_erfc(x / root) / 2)

    turn, split = mpf("0.265625"), mpf("3.25")
    emit_scalar("NDTR_LOG_TURN", "from here on log_ndtr comes from ndtr(-x)", turn)
    emit_scalar("NDTR_LOG_SPLIT", "where the two polynomials of log_ndtr meet", split)
    about("NDTR_LOG", "ln ndtr(-x) + x**2/2, x from -TURN to SPLIT; absolute error", log, -turn, split, 11, constant, mpf("1"))
    about("NDTR_LOG_FAR", "the same from SPLIT to NDTR_END", log, split, end, 12, constant, mpf("6.75"))
    polynomial(
        "NDTR_LOG1P", "(-ln(1 - q) - q) / q**2 in q, q to ndtr(-TURN); error of the logarithm",
        lambda q: (-mp.log1p(-q) - q) / q**2, mpf("1e-12"), mpf("0.396"), {"F32": 8}, lambda q: -(q**2) / mp.log1p(-q),
    )  # fmt: skip

    def mills(x: mpf) -> mpf:
        return mp.sqrt(2 / mp.pi) / scaled_erfc(x / root)

    split = mpf("4.5")
    emit_scalar("MILLS_SPLIT", "where the two polynomials of the inverse of Mills' ratio meet", split)
    comment = "density(x) / ndtr(-x) - x, x to SPLIT; error of the quotient"
    about("MILLS", comment, lambda x: mills(x) - x, mpf("1e-12"), split, 11, lambda x: 1 / mills(x))
    about("MILLS_FAR", "the same from SPLIT to NDTR_END", lambda x: mills(x) - x, split, end, 9, lambda x: 1 / mills(x))


def main() -> None:
    makers = [
        bessel_functions, oscillating_bessel_functions, gamma_functions, normal_distribution, logarithm_of_normal_distribution,
    ]  # fmt: skip
    write("single.py", "the special functions in f32", makers, "coefficients_single")


if __name__ == "__main__":
    main()
