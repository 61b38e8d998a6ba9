"""Generates baracuda/formula/elementary/coefficients_special.py: what tools/coefficients.py is for, for the special functions.

python -m tools.coefficients_special
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mpmath import mp, mpf

from tools.coefficients import BITS, emit, emit_scalar, lines, parts, polynomial, preamble
from tools.remez import Function, minimax, rounded

FOLDER = Path(__file__).parent.parent / "baracuda" / "formula" / "elementary" / "tables"
mp.prec = 400


def centred(
    name: str, comment: str, f: Function, bounds: Callable[[str], tuple[mpf, mpf]], count: dict[str, int], weight: Function
) -> None:
    """Fit f by a polynomial whose constant coefficient, f(0), is a pair: NAME and NAME_REST; and its derivative roughly."""
    by_kind, rests, slopes, errors = {}, {}, {}, []
    for kind, n in count.items():
        first = rounded(f(mpf(0)), BITS[kind])
        rests[kind] = rounded(f(mpf(0)) - first, BITS[kind])
        low, high = bounds(kind)
        c, error = minimax(lambda t, rest=rests[kind]: f(t) - rest, low, high, range(n), BITS[kind], weight, [first])
        by_kind[kind] = c
        errors.append(f"{kind} 2**{float(mp.log(error, 2)):.1f}")
        slope = [i * a for i, a in enumerate(c)][1:]
        slopes[kind], _ = minimax(lambda t, slope=slope: mp.polyval(slope[::-1], t), low, high, range(6), 16)
    emit(name, f"{comment} ({', '.join(errors)})", by_kind)
    emit(f"{name}_REST", "what rounding took from the constant coefficient", rests)
    emit(f"{name}_SLOPE", "the derivative, to some percent", slopes)


def from_centre(t: mpf, centre: mpf) -> mpf:
    """The x of t = (x - c) / (x + c)."""
    return centre * (1 + t) / (1 - t)


def to_centre(x: mpf, centre: mpf) -> mpf:
    return (x - centre) / (x + centre)


def scaled_erfc(x: mpf) -> mpf:
    """e**(x**2) erfc(x), by its asymptotic series where the product would be out of range."""
    if x < 30:
        return mp.exp(x * x) * mp.erfc(x)
    total, term, k = mpf(0), mpf(1), 0
    while abs(term) > mpf(2) ** -420 and k < x * x:
        total, k = total + term, k + 1
        term *= -(2 * k - 1) / (2 * x * x)
    return total / (x * mp.sqrt(mp.pi))


def largest_finite_lgamma(kind: str) -> mpf:
    """The largest x whose lgamma does not round to infinity; lgamma' is close to ln x there."""
    limit = (2 - mpf(2) ** -BITS[kind]) * mpf(2) ** {"F32": 127, "F64": 1023}[kind]
    x = limit / mp.log(limit)
    for _ in range(100):
        x -= (mp.loggamma(x) - limit) / mp.log(x)
    largest = rounded(x, BITS[kind])
    return largest if largest <= x else rounded(x * (1 - mpf(2) ** -BITS[kind]), BITS[kind])


def emit_centre(name: str, comment: str, value: mpf) -> None:
    emit_scalar(name, f"the c of (x - c) / (x + c), {comment}", value)


def normal_distribution() -> None:
    centre, shift = mpf(2), mpf(1) / 2
    emit_centre("ERFCX_CENTRE", "the variable of the scaled erfc", centre)
    emit_scalar("ERFCX_SHIFT", "makes the function below nearly constant", shift)

    def tail(t: mpf) -> mpf:
        if t >= 1:
            return 1 / mp.sqrt(mp.pi)
        x = from_centre(t, centre)
        return scaled_erfc(x) * (x + shift)

    centred(
        "ERFCX", "exp(x**2) erfc(x) (x + SHIFT) in that variable, x from 0", tail, lambda _: (mpf(-1), mpf(1)),
        {"F32": 14, "F64": 29}, lambda t: 1 / tail(t),
    )  # fmt: skip
    emit("ERFCX_LARGE", "from here on erfcx is 1 / (x sqrt(pi))", {"F32": mpf(2) ** 60, "F64": mpf(2) ** 500})
    parts("ERFCX_ASYMPTOTE", "1 / sqrt(pi)", 1 / mp.sqrt(mp.pi))
    emit(
        "ERFCX_SMALLEST",
        "from -x on erfcx is infinite, and exp(x**2) is in range",
        {"F32": rounded(mpf("9.39"), 24), "F64": rounded(mpf("26.632"), 53)},
    )
    parts("SQRT_HALF", "sqrt(1/2)", mp.sqrt(mpf(1) / 2))
    emit("NDTR_ZERO", "from -x on ndtr rounds to 0", {"F32": mpf("14.25"), "F64": mpf("38.5625")})

    emit_scalar("ERFINV_SMALL", "where erfinv goes over from its own polynomial to the tail", mpf("0.5625"))
    root = mp.sqrt

    def inverse(x: mpf) -> mpf:
        return mp.erfinv(x) / x

    polynomial(
        "ERFINV", "erfinv(x) / x - 1 in x**2, x to ERFINV_SMALL; error of erfinv", lambda u: inverse(root(u)) - 1,
        mpf("1e-12"), mpf("0.5626") ** 2, {"F64": 17}, lambda u: 1 / inverse(root(u)),
    )  # fmt: skip
    polynomial(
        "NDTRI", "ndtri(1/2 + d) / d - 5/2 in d**2, d to 1/4; error of ndtri",
        lambda u: 2 * root(mpf(2)) * inverse(2 * root(u)) - 2.5, mpf("1e-12"), mpf("0.06251"), {"F32": 7, "F64": 15},
        lambda u: 1 / (2 * root(mpf(2)) * inverse(2 * root(u))),
    )  # fmt: skip
    erfinv_centre, ndtri_centre, far_centre = mpf(2), mpf(4), mpf(16)
    emit_centre("ERFINV_CENTRE", "the variable of the tail of erfinv", erfinv_centre)

    def erfinv_tail(t: mpf) -> tuple[mpf, mpf]:
        s = from_centre(t, erfinv_centre)
        y = quantile(s * s + mp.log(2)) / root(mpf(2))
        return y - s, y

    centred(
        "ERFINV_TAIL", "erfinv(1 - exp(-s**2)) - s in that variable; error of erfinv", lambda t: erfinv_tail(t)[0],
        lambda _: (to_centre(mpf("0.909"), erfinv_centre), to_centre(mpf("6.0613"), erfinv_centre)), {"F64": 24},
        lambda t: 1 / erfinv_tail(t)[1],
    )  # fmt: skip
    emit_scalar("NDTRI_FAR_FROM", "where the far tail of ndtri begins, in s", mpf("8.5625"))
    emit_centre("NDTRI_CENTRE", "the variable of the tail of ndtri", ndtri_centre)
    emit_centre("NDTRI_FAR_CENTRE", "the variable of the far tail", far_centre)
    for name, which, c, low, high, count in (
        ("NDTRI_TAIL", "tail", ndtri_centre, "1.665", {"F32": mpf("14.3735"), "F64": mpf("8.57")}, {"F32": 12, "F64": 23}),
        ("NDTRI_FAR", "far tail", far_centre, "8.56", {"F64": mpf("38.6")}, {"F64": 22}),
    ):

        def ndtri_tail(t: mpf, c: mpf = c) -> tuple[mpf, mpf]:
            s = from_centre(t, c)
            y = quantile(s * s / 2)
            return s - y, y

        centred(
            name, f"s + ndtri(exp(-s**2/2)), {which}; error of ndtri", lambda t, of=ndtri_tail: of(t)[0],
            lambda kind, c=c, low=low, high=high: (to_centre(mpf(low), c), to_centre(high[kind], c)), count,
            lambda t, of=ndtri_tail: 1 / of(t)[1],
        )  # fmt: skip


def quantile(w: mpf) -> mpf:
    """-ndtri(exp(-w)) by Newton's iteration on the logarithm, w > ln 2."""
    y = mp.sqrt(2 * w)
    y = y - mp.log(2 * mp.pi * y * y) / (2 * y) if w > 3 else y * mpf("0.6")
    for _ in range(12):
        p = mp.erfc(y / mp.sqrt(2)) / 2
        step = (mp.log(p) + w) * p * mp.sqrt(2 * mp.pi) * mp.exp(y * y / 2)
        y += step
        if abs(step) < abs(y) * mpf(2) ** -200:
            break
    return y


def modified_bessel() -> None:
    split, centre = mpf(8), mpf(4)
    emit_scalar("BESSEL_LARGE", "where the modified Bessel functions go over to their asymptotic form", split)
    emit_centre("BESSEL_CENTRE", "the variable of the modified Bessel functions below that", centre)
    for order, shift in ((0, mpf("1.328125")), (1, mpf("1.796875"))):
        emit_scalar(f"I{order}_SHIFT", "makes the function below nearly constant", shift)

        def near(t: mpf, order: int = order, shift: mpf = shift) -> mpf:
            x = from_centre(t, centre)
            value = mp.besseli(order, x) * mp.exp(-x) / x**order if x else mpf(1) / 2**order
            return value * (x + shift) ** (1 + order)

        centred(
            f"I{order}E", f"exp(-x) I{order}(x) {('(x + SHIFT)', '/ x (x + SHIFT)**2')[order]} in that variable, x to 8", near,
            lambda _: (mpf(-1), to_centre(split, centre)), {"F64": 32 - order}, lambda t, of=near: 1 / of(t),
        )  # fmt: skip

        def far(t: mpf, order: int = order) -> mpf:
            if t <= -1:
                return 1 / mp.sqrt(2 * mp.pi)
            x = 2 * split / (1 + t)
            if x < 500:
                return mp.besseli(order, x) * mp.exp(-x) * mp.sqrt(x)
            total, term, k = mpf(0), mpf(1), 0
            while abs(term) > mpf(2) ** -420:
                total, k = total + term, k + 1
                term *= -(4 * mpf(order) ** 2 - (2 * k - 1) ** 2) / (8 * k * x)
            return total / mp.sqrt(2 * mp.pi)

        centred(
            f"I{order}E_LARGE", f"exp(-x) I{order}(x) sqrt(x), x from 8, in 16/x - 1", far, lambda _: (mpf(-1), mpf(1)),
            {"F32": 7, "F64": 25}, lambda t, of=far: 1 / of(t),
        )  # fmt: skip
    emit("BESSEL_INFINITE", "from here on i0 and i1 are infinite", {"F32": mpf(93), "F64": mpf(715)})


def bessel_of_the_first_kind() -> None:
    """Order 0 and 1: from 0, around the first zero, and from BESSEL_J_LARGE as modulus times cosine of the phase."""
    small, large, root = mpf("1.1875"), mpf(5), mp.sqrt
    emit_scalar("BESSEL_J_SMALL", "where J0 and J1 go over to the product with the distance from their first zero", small)
    emit_scalar("BESSEL_J_LARGE", "where they go over to modulus and phase", large)
    middle = mpf(13)
    emit_scalar("BESSEL_J_MIDDLE", "the centre of the polynomials in between, in x**2", middle)
    parts("QUARTER_PI", "pi / 4", mp.pi / 4)
    parts("HALF_PI", "pi / 2", mp.pi / 2)
    for order in (0, 1):

        def value(u: mpf, order: int = order) -> mpf:
            return mp.besselj(order, root(u)) / root(u) ** order

        zero = mp.besseljzero(order, 1)
        parts(f"J{order}_ZERO", "the first zero", zero)
        start = mpf(1) if order == 0 else mpf(1) / 2
        name = f"J{order}(x){' / x' * order}"
        polynomial(
            f"J{order}_SMALL", f"({name} - {float(start)}) / x**2 in x**2", lambda u, v=value, s=start: (v(u) - s) / u,
            mpf("1e-12"), small**2 * mpf("1.001"), {"F32": 4, "F64": 8}, lambda u, v=value: u / v(u),
        )  # fmt: skip
        polynomial(
            f"J{order}_MIDDLE", f"{name} / (x**2 - zero**2) in x**2 - {float(middle)}",
            lambda d, v=value, z=zero: v(d + middle) / (d + middle - z * z), small**2 * mpf("0.999") - middle, large**2 - middle,
            {"F32": 8, "F64": 15}, lambda d, v=value, z=zero: (d + middle - z * z) / v(d + middle),
        )  # fmt: skip

        def modulus(t: mpf, order: int = order) -> mpf:
            x = large * root(2 / (1 + t))
            return root(x * (mp.besselj(order, x) ** 2 + mp.bessely(order, x) ** 2))

        def phase(t: mpf, order: int = order) -> mpf:
            x = large * root(2 / (1 + t))
            turned = x - mp.pi / 4 - order * mp.pi / 2
            j, y = mp.besselj(order, x), mp.bessely(order, x)
            return x * mp.atan2(y * mp.cos(turned) - j * mp.sin(turned), j * mp.cos(turned) + y * mp.sin(turned))

        least = mpf("-0.99999")  # x up to 3000; beyond, the polynomials do not change any more
        polynomial(
            f"J{order}_MODULUS", f"sqrt(x (J{order}(x)**2 + Y{order}(x)**2)) in 50 / x**2 - 1, x from 5", modulus, least, 1,
            {"F32": 7, "F64": 21}, lambda t, m=modulus: 1 / m(t),
        )  # fmt: skip
        polynomial(
            f"J{order}_PHASE", f"x (phase - x + {2 * order + 1} pi/4) in the same; absolute error by 5", phase, least, 1,
            {"F32": 7, "F64": 23}, lambda t: mpf(1) / 5,
        )  # fmt: skip


def gamma_functions() -> None:
    half = mpf(1) / 2
    parts("LGAMMA_SLOPE", "lgamma'(2)", 1 - mp.euler)
    edge = mpf("0.5001")
    polynomial(
        "LGAMMA", "(lgamma(2 + y) - LGAMMA_SLOPE y) / y**2, |y| <= 1/2; error of lgamma",
        lambda y: (mp.loggamma(2 + y) / y - (1 - mp.euler)) / y, -edge, edge, {"F32": 9, "F64": 19},
        lambda y: abs(y * y / mp.loggamma(2 + y)),
    )  # fmt: skip

    def stirling(x: mpf) -> mpf:
        return mp.loggamma(x) - ((x - half) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)

    def from_inverse_square(f: Function, limit: mpf, factor: Callable[[mpf], mpf]) -> Function:
        return lambda w: f(1 / mp.sqrt(w)) * factor(1 / mp.sqrt(w)) if w > mpf(2) ** -30 else limit

    mu = from_inverse_square(stirling, mpf(1) / 12, lambda x: x)
    polynomial(
        "STIRLING", "x (lgamma(x) - (x - 1/2) ln x + x - ln(2 pi)/2) in 1/x**2, x from 5/2; error of lgamma", mu, mpf("1e-8"),
        mpf("0.1601"), {"F32": 4, "F64": 13}, lambda w: mp.sqrt(w) / mp.loggamma(1 / mp.sqrt(w)),
    )  # fmt: skip
    parts("STIRLING_CONSTANT", "(ln(2 pi) - 1) / 2", (mp.log(2 * mp.pi) - 1) / 2)
    parts("LN_2PI", "ln(2 pi)", mp.log(2 * mp.pi))
    root = mp.sqrt
    polynomial(
        "SINPI", "(sin(pi r) / pi - r) / r**3 in r**2, |r| <= 1/2; error of the sine",
        lambda u: (mp.sin(mp.pi * root(u)) / mp.pi - root(u)) / (u * root(u)), mpf("1e-10"), mpf("0.2501"),
        {"F32": 5, "F64": 10}, lambda u: u * root(u) * mp.pi / mp.sin(mp.pi * root(u)),
    )  # fmt: skip
    emit("LGAMMA_LARGEST", "beyond this x lgamma is infinite", {kind: largest_finite_lgamma(kind) for kind in BITS})
    emit("GAMMA_BOUND", "from here on gamma is infinite, and rounds to zero from -x on", {"F32": mpf(44), "F64": mpf(186)})

    zero = mp.findroot(mp.digamma, mpf("1.4616"))
    parts("DIGAMMA_ZERO", "the positive zero of digamma, less 1", zero - 1)
    polynomial(
        "DIGAMMA", "digamma(3/2 + d) / (3/2 + d - its zero) - 1, |d| <= 1/2; error of digamma",
        lambda d: mp.digamma(1.5 + d) / (1.5 + d - zero) - 1, -edge, edge, {"F32": 11, "F64": 23},
        lambda d: (1.5 + d - zero) / mp.digamma(1.5 + d),
    )  # fmt: skip
    delta = from_inverse_square(lambda x: mp.log(x) - 1 / (2 * x) - mp.digamma(x), mpf(1) / 12, lambda x: x * x)
    polynomial(
        "DIGAMMA_LARGE", "x**2 (ln x - 1/(2x) - digamma(x)) in 1/x**2, x from 2; error of digamma", delta, mpf("1e-8"),
        mpf("0.2501"), {"F32": 5, "F64": 17}, lambda w: w / mp.digamma(1 / mp.sqrt(w)),
    )  # fmt: skip
    polynomial(
        "COTPI", "(1/r - pi cot(pi r)) / r in r**2, |r| <= 1/2",
        lambda u: (1 / root(u) - mp.pi * mp.cot(mp.pi * root(u))) / root(u), mpf("1e-10"), mpf("0.2501"),
        {"F32": 8, "F64": 15}, lambda u: root(u) / (1 / root(u) - mp.pi * mp.cot(mp.pi * root(u))),
    )  # fmt: skip
    polynomial(
        "TRIGAMMA", "trigamma(3/2 + d), |d| <= 1/2", lambda d: mp.psi(1, 1.5 + d), -edge, edge, {"F32": 12, "F64": 25},
        lambda d: 1 / mp.psi(1, 1.5 + d),
    )  # fmt: skip
    tri = from_inverse_square(lambda x: mp.psi(1, x) - 1 / x - 1 / (2 * x * x), mpf(1) / 6, lambda x: x**3)
    polynomial(
        "TRIGAMMA_LARGE", "x**3 (trigamma(x) - 1/x - 1/(2 x**2)) in 1/x**2, x from 2; error of trigamma", tri, mpf("1e-8"),
        mpf("0.2501"), {"F32": 6, "F64": 20}, lambda w: w * mp.sqrt(w) / mp.psi(1, 1 / mp.sqrt(w)),
    )  # fmt: skip
    polynomial(
        "CSCPI", "pi**2 / sin(pi r)**2 - 1/r**2 in r**2, |r| <= 1/2",
        lambda u: (mp.pi / mp.sin(mp.pi * root(u))) ** 2 - 1 / u, mpf("1e-10"), mpf("0.2501"), {"F32": 9, "F64": 16},
        lambda u: 1 / ((mp.pi / mp.sin(mp.pi * root(u))) ** 2 - 1 / u),
    )  # fmt: skip


def write(name: str, subject: str, makers: Sequence[Callable[[], None]], tool: str = "coefficients_special") -> None:
    lines.clear()
    for make in makers:
        make()
    head = preamble(
        f"Constants and minimax polynomials of {subject}, made by tools/{tool}.py.",
        "",
        "They are written as in baracuda/formula/elementary/tables/elementary.py.",
    )
    (FOLDER / name).write_text("\n".join(head + lines) + "\n")


def main() -> None:
    write("normal.py", "the normal distribution's functions", [normal_distribution])
    write("gamma.py", "the gamma functions", [gamma_functions])
    write("bessel.py", "the Bessel functions", [modified_bessel, bessel_of_the_first_kind])


if __name__ == "__main__":
    main()
