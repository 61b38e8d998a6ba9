"""Generates baracuda/formula/elementary/tables/elementary.py: the constants and minimax polynomials of the elementary functions.

    python -m tools.coefficients

Every polynomial is printed with the largest error of its exact evaluation, relative to the function unless said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from mpmath import mp, mpf

from tools.remez import Function, minimax, rounded

TARGET = Path(__file__).parent.parent / "baracuda" / "formula" / "elementary" / "tables" / "elementary.py"
BITS = {"F32": 24, "F64": 53}
mp.prec = 400
LN2 = mp.log(2)

lines: list[str] = []


def preamble(first: str, *rest: str) -> list[str]:
    """The lines that a file of coefficients begins with, its docstring given."""
    return [
        f'"""{first}',
        *rest,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from baracuda.core.elements import ElementKind",
        "",
        "F32, F64 = ElementKind.F32, ElementKind.F64",
        "",
        "# fmt: off",
        "",
    ]


def rows(values: Sequence[mpf], indent: int) -> Iterator[str]:
    """Four coefficients to a line."""
    for i in range(0, len(values), 4):
        yield " " * indent + " ".join(f"{float(v)!r}," for v in values[i : i + 4])


def emit(name: str, comment: str, values: dict[str, Sequence[mpf] | mpf]) -> None:
    lines.append(f"#: {comment}")
    lines.append(f"{name} = {{")
    for kind, value in values.items():
        body = repr(float(value)) if isinstance(value, mpf) else f"({', '.join(repr(float(v)) for v in value)})"
        one_line = f"    {kind}: {body},"
        if len(one_line) <= 130 or isinstance(value, mpf):
            lines.append(one_line)
        else:
            lines.append(f"    {kind}: (")
            lines.extend(rows(value, 8))
            lines.append("    ),")
    lines.append("}")


def emit_scalar(name: str, comment: str, value: mpf) -> None:
    lines.extend((f"#: {comment}", f"{name} = {float(value)!r}"))


def polynomial(
    name: str,
    comment: str,
    f: Function,
    low: float | mpf,
    high: float | mpf,
    count: dict[str, int],
    weight: Function = lambda x: mpf(1),
    held: Sequence[mpf] = (),
    variable: Callable[[mpf], mpf] | None = None,
) -> None:
    """Fit f on [low, high] by polynomials of count[kind] coefficients; held ones come first and are exact."""
    by_kind, errors = {}, []
    for kind, n in count.items():
        c, error = minimax(f, low, high, range(n), BITS[kind], weight, [rounded(h, BITS[kind]) for h in held])
        by_kind[kind] = c
        errors.append(f"{kind} 2**{float(mp.log(error, 2)):.1f}")
    emit(name, f"{comment} ({', '.join(errors)})", by_kind)


def parts(
    name: str, comment: str, value: mpf, names: Iterable[str] = ("HIGH", "LOW"), kinds: Iterable[str] = tuple(BITS)
) -> None:
    """A constant as a sum of floats, each the rest rounded to nearest."""
    rest = dict.fromkeys(kinds, value)
    for part in names:
        now = {kind: rounded(rest[kind], BITS[kind]) for kind in rest}
        emit(f"{name}_{part}", f"{comment}, {part.lower()} part", now)
        rest = {kind: rest[kind] - now[kind] for kind in rest}


def exponentials() -> None:
    emit("LOG2_E", "1 / ln 2", {kind: rounded(1 / LN2, bits) for kind, bits in BITS.items()})
    parts("LN2", "ln 2", LN2)
    edge = LN2 / 2 * mpf("1.001")
    one = mpf(1)
    polynomial("EXP", "e**r, |r| <= ln(2)/2", mp.exp, -edge, edge, {"F32": 7, "F64": 12}, lambda r: mp.exp(-r), (one, one))
    polynomial(
        "EXPM1", "(e**r - 1 - r) / r**2, |r| <= ln(2)/2; absolute error of the exponential",
        lambda r: (mp.expm1(r) - r) / r**2, -edge, edge, {"F32": 6, "F64": 11}, lambda r: r**2,
    )  # fmt: skip
    polynomial(
        "EXP2", "2**r, |r| <= 1/2", lambda r: mpf(2) ** r, -0.5, 0.5, {"F32": 7, "F64": 12}, lambda r: mpf(2) ** -r, (one,)
    )


def logarithms() -> None:
    parts("LOG2_E", "1 / ln 2", 1 / LN2)
    low, high = mp.sqrt(0.5) - 1 - mpf("1e-7"), mp.sqrt(2) - 1 + mpf("1e-7")
    polynomial(
        "LOG", "(ln(1 + f) - f) / f**2, 1 + f in [sqrt(1/2), sqrt(2)]; error of the logarithm",
        lambda x: (mp.log1p(x) - x) / x**2, low, high, {"F32": 9, "F64": 21}, lambda x: x**2 / abs(mp.log1p(x)),
    )  # fmt: skip
    polynomial(
        "LOG2", "(log2(1 + f) - f / ln 2) / f**2 on the same interval; error of the logarithm",
        lambda x: (mp.log1p(x) - x) / x**2 / LN2, low, high, {"F32": 9, "F64": 21},
        lambda x: x**2 * LN2 / abs(mp.log1p(x)),
    )  # fmt: skip
    c, error = minimax(
        lambda x: (mp.log1p(x) - x) / x**2, mpf("1e-9"), mpf(1), range(9), 24, lambda x: x**2 / mp.log1p(x)
    )  # fmt: skip
    lines.append(f"#: (ln(1 + x) - x) / x**2, x in [0, 1], for f32 (error of the logarithm 2**{float(mp.log(error, 2)):.1f})")
    lines.append("LOG1P = (")
    lines.extend(rows(c, 4))
    lines.append(")")
    first = rounded(mpf("0.695"), 24)
    emit_scalar("LOG_OF_SUM_FIRST", "the least 1 + f of the logarithm of a sum", first)
    polynomial(
        "LOG_OF_SUM", "(ln(1 + f) - f) / f**2, 1 + f from there to twice that; error of the logarithm, ln 2 larger where f < 0",
        lambda x: (mp.log1p(x) - x) / x**2, first - 1 - mpf("1e-7"), 2 * first - 1 + mpf("1e-7"), {"F32": 9},
        lambda x: x**2 / (mp.log1p(x) + (LN2 if x < 0 else 0)),
    )  # fmt: skip


def hyperbolics() -> None:
    emit_scalar("TANH_SMALL", "where tanh goes over from its own polynomial to the exponential", rounded(mpf("0.85"), 24))
    emit("TANH_ONE", "from here on tanh rounds to 1", {k: rounded((b + 2) * LN2 / 2 + mpf("0.05"), 24) for k, b in BITS.items()})
    polynomial(
        "TANH", "(tanh(x) - x) / x**3 in x**2, x to 0.85; error of tanh",
        lambda u: (mp.tanh(mp.sqrt(u)) / mp.sqrt(u) - 1) / u, 0, mpf("0.851") ** 2, {"F32": 6, "F64": 14},
        lambda u: u * mp.sqrt(u) / mp.tanh(mp.sqrt(u)),
    )  # fmt: skip
    edge = mp.exp(mpf("-1.7")) + mpf("1e-6")
    polynomial(
        "TANH_RECIPROCAL", "1 / (1 + e), e to exp(-1.7); absolute error of 2 e / (1 + e)",
        lambda e: 1 / (1 + e), 0, edge, {"F32": 6, "F64": 13}, lambda e: 2 * e + mpf(2) ** -30,
    )  # fmt: skip
    # Beyond 1, so that the polynomial is above the function (hence at least 1/2) near 1.
    polynomial("RECIPROCAL", "1 / (1 + e), e to 1.045", lambda e: 1 / (1 + e), 0, 1.045, {"F32": 4, "F64": 4}, lambda e: 1 + e)


def error_functions() -> None:
    # A bound near 7/8 at which ln erfc is nearly a float: its polynomial's constant then loses nothing to rounding.
    bounds = (mpf(i) / 1024 for i in range(880, 920))
    small = min(bounds, key=lambda b: abs(mp.log(mp.erfc(b)) - rounded(mp.log(mp.erfc(b)), 24)))
    one = mpf("3.9296875")
    emit_scalar("ERF_SMALL", "where erf goes over from its own polynomial to 1 - erfc", small)
    emit_scalar("ERF_ONE", "from here on erf rounds to 1 in f32", one)
    polynomial(
        "ERF", "erf(x) / x - 1 in x**2, x to ERF_SMALL; error of erf",
        lambda u: mp.erf(mp.sqrt(u)) / mp.sqrt(u) - 1, mpf("1e-12"), small**2, {"F32": 7, "F64": 13},
        lambda u: mp.sqrt(u) / mp.erf(mp.sqrt(u)),
    )  # fmt: skip
    log, weight = (lambda t: mp.log(mp.erfc(t + small))), (lambda t: mp.erfc(t + small))
    c, error = minimax(log, mpf(0), one - small, range(7), 24, weight)
    lines.append(f"#: ln erfc(ERF_SMALL + t) up to ERF_ONE, for f32 (absolute error of erfc 2**{float(mp.log(error, 2)):.1f})")
    lines.append("ERF_LOG = (")
    lines.extend(rows(c, 4))
    lines.append(")")
    centre = mpf(4)
    emit_scalar("ERFC_CENTRE", "the c of (x - c) / (x + c), the variable of the tail of erfc", centre)
    zero = {"F32": mpf("10.078125"), "F64": mpf("27.296875")}
    emit("ERFC_ZERO", "from here on erfc rounds to 0", zero)

    def tail(t: mpf) -> mpf:
        x = centre * (1 + t) / (1 - t)
        return mp.exp(x * x) * mp.erfc(x) * (x + centre)

    by_kind, lows, errors = {}, {}, []
    for kind, n in (("F32", 11), ("F64", 23)):
        low, high = ((x - centre) / (x + centre) for x in (mpf("0.6249"), zero[kind]))
        at_zero = tail(mpf(0))
        first = rounded(at_zero, BITS[kind])
        lows[kind] = rounded(at_zero - first, BITS[kind])
        c, error = minimax(
            lambda t, rest=lows[kind]: tail(t) - rest, low, high, range(n), BITS[kind], lambda t: 1 / tail(t), [first]
        )  # fmt: skip
        by_kind[kind] = c
        errors.append(f"{kind} 2**{float(mp.log(error, 2)):.1f}")
    emit("ERFC", f"exp(x**2) erfc(x) (x + c) in that variable, x from 5/8 ({', '.join(errors)})", by_kind)
    emit("ERFC_REST", "what rounding took from the constant coefficient", lows)


def powers() -> None:
    for i in (0, 1):
        parts(f"POW_C{i}", f"2 / ({2 * i + 1} ln 2)", 2 / LN2 / (2 * i + 1))
    edge = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")

    def series(z: mpf) -> mpf:
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) / s - 2 - 2 * z / 3) / LN2 / z**2

    polynomial(
        "POW_LOG2", "(log2(m) / s - C0 - C1 z) / z**2 in z = s**2, s = (m - 1) / (m + 1); error of the logarithm",
        series, mpf("1e-9"), edge, {"F32": 4, "F64": 9}, lambda z: z**2 * LN2 / 2,
    )  # fmt: skip


def trigonometry() -> None:
    emit("TWO_OVER_PI", "2 / pi", {kind: rounded(2 / mp.pi, bits) for kind, bits in BITS.items()})
    parts("HALF_PI", "pi / 2", mp.pi / 2, ("HIGH", "MIDDLE", "LOW"))
    emit("TRIG_LIMIT", "from here on arguments are reduced in integers", {"F32": mpf(2) ** 17, "F64": mpf(2) ** 20})
    zeros, words = 64, 42
    lines.extend(("#: bits of zeros before the point of TWO_OVER_PI_WORDS", f"TWO_OVER_PI_ZEROS = {zeros}"))
    lines.extend(("#: 2 / pi in 32-bit words, most significant first", "TWO_OVER_PI_WORDS = ("))
    with mp.workprec(32 * words + 64):
        digits = int(mp.floor(2 / mp.pi * mpf(2) ** (32 * words - zeros)))
    table = [f"0x{digits >> 32 * (words - 1 - i) & 0xFFFFFFFF:08X}," for i in range(words)]
    lines.extend("    " + " ".join(table[i : i + 8]) for i in range(0, words, 8))
    lines.append(")")
    edge = (mp.pi / 4 * mpf("1.003")) ** 2
    root = mp.sqrt
    polynomial(
        "SIN", "(sin(r) - r) / r**3 in r**2, |r| <= pi/4; error of the sine",
        lambda u: (mp.sin(root(u)) / root(u) - 1) / u, 0, edge, {"F32": 3, "F64": 7}, lambda u: u * root(u) / mp.sin(root(u)),
    )  # fmt: skip
    polynomial(
        "COS", "(cos(r) - 1) / r**2 in r**2, |r| <= pi/4; error of the cosine",
        lambda u: (mp.cos(root(u)) - 1) / u, 0, edge, {"F32": 4, "F64": 8}, lambda u: u / mp.cos(root(u)),
    )  # fmt: skip
    polynomial(
        "TAN", "(tan(r) - r) / r**3 in r**2, |r| <= pi/4; error of the tangent",
        lambda u: (mp.tan(root(u)) / root(u) - 1) / u, 0, edge, {"F64": 15}, lambda u: u * root(u) / mp.tan(root(u)),
    )  # fmt: skip
    polynomial(
        "COT", "(1 - r cot(r)) / r**2 in r**2, |r| <= pi/4; error of the tangent",
        lambda u: (1 - root(u) / mp.tan(root(u))) / u, mpf("1e-12"), edge, {"F32": 5}, lambda u: u * mp.tan(root(u)) / root(u),
    )  # fmt: skip


def roots() -> None:
    lines.append("#: bits minus half the bits of x are a first value of 1 / sqrt(x), 3.5% off at most")
    lines.append("RSQRT_MAGIC = {")
    lines.append("    F32: 0x5F375A86,")
    lines.append("    F64: 0x5FE6EB50C7B537A9,")
    lines.append("}")
    lines.append("#: third-order Newton steps before the last")
    lines.append("RSQRT_STEPS = {F32: 1, F64: 2}")


def inverse_trigonometry() -> None:
    half = mp.pi / 2
    emit("HALF_PI_RATIO", "what rounding took from pi / 2, by what it left", {
        kind: rounded((half - rounded(half, bits)) / rounded(half, bits), bits) for kind, bits in BITS.items()
    })  # fmt: skip
    root = mp.sqrt
    # A little beyond 1: with these coefficients atan(1) is correctly rounded in both formats.
    polynomial(
        "ATAN", "(atan(x) - x) / x**3 in x**2, x to 1.01; error of the arctangent",
        lambda u: (mp.atan(root(u)) / root(u) - 1) / u, 0, mpf("1.02"), {"F32": 9, "F64": 20},
        lambda u: u * root(u) / mp.atan(root(u)),
    )  # fmt: skip
    polynomial(
        "ASIN", "(asin(x) - x) / x**3 in x**2, x to 1/2; error of the arcsine",
        lambda u: (mp.asin(root(u)) / root(u) - 1) / u, 0, 0.25, {"F32": 5, "F64": 13},
        lambda u: u * root(u) / mp.asin(root(u)),
    )  # fmt: skip


def hyperbolic_sines() -> None:
    edge, root = (LN2 / 2 * mpf("1.001")) ** 2, mp.sqrt
    polynomial(
        "SINH", "(sinh(r) - r) / r**3 in r**2, |r| <= ln(2)/2; error of the sine",
        lambda u: (mp.sinh(root(u)) / root(u) - 1) / u, 0, edge, {"F32": 3, "F64": 6}, lambda u: u * root(u) / mp.sinh(root(u)),
    )  # fmt: skip
    polynomial(
        "COSH", "(cosh(r) - 1) / r**2 in r**2, |r| <= ln(2)/2; error of the cosine",
        lambda u: (mp.cosh(root(u)) - 1) / u, 0, edge, {"F32": 3, "F64": 6}, lambda u: u / mp.cosh(root(u)),
    )  # fmt: skip


def inverse_hyperbolics() -> None:
    root = mp.sqrt
    polynomial(
        "ATANH", "(atanh(s) - s) / s**3 in s**2, s to 0.275; error of the inverse",
        lambda u: (mp.atanh(root(u)) / root(u) - 1) / u, mpf("1e-12"), mpf("0.275") ** 2, {"F32": 4},
        lambda u: u * root(u) / mp.atanh(root(u)),
    )  # fmt: skip


def decimal() -> None:
    ten = mp.log(10)
    emit("LOG2_10", "log2(10)", {kind: rounded(ten / LN2, bits) for kind, bits in BITS.items()})
    parts("LN10", "ln 10", ten)
    parts("LOG10_E", "1 / ln 10", 1 / ten)
    high = {"F32": rounded(LN2 / ten, 24 - 8), "F64": rounded(LN2 / ten, 53 - 11)}
    emit("LOG10_2_HIGH", "log10(2), with zeros at the end, so that its product with an exponent is exact", high)
    emit("LOG10_2_LOW", "the rest of log10(2)", {kind: rounded(LN2 / ten - h, BITS[kind]) for kind, h in high.items()})
    low, high_f = mp.sqrt(0.5) - 1 - mpf("1e-7"), mp.sqrt(2) - 1 + mpf("1e-7")
    polynomial(
        "LOG10", "(log10(1 + f) - f / ln 10) / f**2, 1 + f in [sqrt(1/2), sqrt(2)]; error of the logarithm",
        lambda x: (mp.log1p(x) - x) / x**2 / ten, low, high_f, {"F32": 9, "F64": 21},
        lambda x: x**2 * ten / abs(mp.log1p(x)),
    )  # fmt: skip


def cube_roots() -> None:
    lines.append("#: bits minus a third of the bits of x are a first value of x**(-1/3), 3.6% off at most")
    lines.append("CBRT_MAGIC = {")
    lines.append("    F32: 0x54A1A800,")
    lines.append("    F64: 0x553EE80000000000,")
    lines.append("}")
    lines.append("#: fourth-order Newton steps towards x**(-1/3)")
    lines.append("CBRT_STEPS = {F32: 1, F64: 2}")


def main() -> None:
    logarithms()
    hyperbolics()
    error_functions()
    powers()
    trigonometry()
    roots()
    exponentials()
    inverse_trigonometry()
    hyperbolic_sines()
    inverse_hyperbolics()
    decimal()
    cube_roots()
    head = preamble(
        "Constants and minimax polynomials of the elementary functions, made by tools/coefficients.py.",
        "",
        "Coefficients stand lowest power first. The comment on each polynomial gives what it approximates, where, and the",
        "largest error of its exact evaluation, relative to the function unless said otherwise.",
    )
    TARGET.write_text("\n".join(head + lines) + "\n")


if __name__ == "__main__":
    main()
