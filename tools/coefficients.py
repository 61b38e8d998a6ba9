"""Generates baracuda/formula/elementary/coefficients.py: the constants and minimax polynomials of the elementary functions.

    python tools/coefficients.py

Every polynomial is printed with the largest error of its exact evaluation, relative to the function unless said.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mpmath import mp, mpf

sys.path.insert(0, str(Path(__file__).parent))
from remez import Function, minimax, rounded

TARGET = Path(__file__).parent.parent / "baracuda" / "formula" / "elementary" / "coefficients.py"
BITS = {"F32": 24, "F64": 53}
mp.prec = 400
LN2 = mp.log(2)

lines: list[str] = []


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
            lines.extend(f"        {float(v)!r}," for v in value)
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
    found, errors = {}, []
    for kind, n in count.items():
        c, error = minimax(f, low, high, range(n), BITS[kind], weight, [rounded(h, BITS[kind]) for h in held])
        found[kind] = c
        errors.append(f"{kind} 2**{float(mp.log(error, 2)):.1f}")
    emit(name, f"{comment} ({', '.join(errors)})", found)


def parts(name: str, comment: str, value: mpf, names: Iterable[str] = ("HIGH", "LOW")) -> None:
    """A constant as a sum of floats, each the rest rounded to nearest."""
    rest = {kind: value for kind in BITS}
    for part in names:
        now = {kind: rounded(rest[kind], BITS[kind]) for kind in BITS}
        emit(f"{name}_{part}", f"{comment}, {part.lower()} part", now)
        rest = {kind: rest[kind] - now[kind] for kind in BITS}


def exponentials() -> None:
    emit("LOG2_E", "1 / ln 2", {kind: rounded(1 / LN2, bits) for kind, bits in BITS.items()})
    parts("LN2", "ln 2", LN2)
    edge = LN2 / 2 * mpf("1.001")
    one = mpf(1)
    polynomial("EXP", "e**r, |r| <= ln(2)/2", mp.exp, -edge, edge, {"F32": 7, "F64": 12}, lambda r: mp.exp(-r), (one, one))
    polynomial("EXP2", "2**r, |r| <= 1/2", lambda r: mpf(2) ** r, -0.5, 0.5, {"F32": 7, "F64": 12}, lambda r: mpf(2) ** -r, (one,))


def logarithms() -> None:
    parts("LOG2_E", "1 / ln 2", 1 / LN2)
    low, high = mp.sqrt(0.5) - 1 - mpf("1e-7"), mp.sqrt(2) - 1 + mpf("1e-7")
    polynomial(
        "LOG", "(ln(1 + f) - f) / f**2, 1 + f in [sqrt(1/2), sqrt(2)]; error of the logarithm",
        lambda x: (mp.log1p(x) - x) / x**2, low, high, {"F32": 9, "F64": 19}, lambda x: x**2 / abs(mp.log1p(x)),
    )  # fmt: skip
    polynomial(
        "LOG2", "(log2(1 + f) - f / ln 2) / f**2 on the same interval; error of the logarithm",
        lambda x: (mp.log1p(x) - x) / x**2 / LN2, low, high, {"F32": 9, "F64": 19},
        lambda x: x**2 * LN2 / abs(mp.log1p(x)),
    )  # fmt: skip


def hyperbolics() -> None:
    small = {"F32": mpf("0.7"), "F64": mpf("0.7")}
    emit("TANH_SMALL", "where tanh goes over from its own polynomial to the exponential", {k: rounded(v, 24) for k, v in small.items()})
    emit("TANH_ONE", "from here on tanh rounds to 1", {k: rounded((b + 1) * LN2 / 2 + mpf("0.1"), 24) for k, b in BITS.items()})
    polynomial(
        "TANH", "(tanh(x) - x) / x**3 in x**2, x to 0.7; error of tanh",
        lambda u: (mp.tanh(mp.sqrt(u)) / mp.sqrt(u) - 1) / u, 0, mpf("0.701") ** 2, {"F32": 6, "F64": 13},
        lambda u: u * mp.sqrt(u) / mp.tanh(mp.sqrt(u)),
    )  # fmt: skip
    edge = mp.exp(mpf("-1.4")) + mpf("1e-6")
    polynomial(
        "TANH_RECIPROCAL", "1 / (1 + e), e to exp(-1.4); absolute error of 2 e / (1 + e)",
        lambda e: 1 / (1 + e), 0, edge, {"F32": 6, "F64": 14}, lambda e: 2 * e + mpf(2) ** -30,
    )  # fmt: skip
    polynomial("RECIPROCAL", "1 / (1 + e), e to 1", lambda e: 1 / (1 + e), 0, 1, {"F32": 4, "F64": 4}, lambda e: 1 + e)


def error_functions() -> None:
    emit_scalar("ERF_SMALL", "where erf in f32 goes over to the polynomial about ERF_CENTRE", mpf(1))
    emit_scalar("ERF_ONE", "from here on erf rounds to 1 in f32", mpf(4))
    emit_scalar("ERF_CENTRE", "centre of the second polynomial of erf in f32", mpf(5) / 2)
    polynomial(
        "ERF", "erf(x) / x - 1 in x**2, x to 1; error of erf",
        lambda u: mp.erf(mp.sqrt(u)) / mp.sqrt(u) - 1, mpf("1e-12"), mpf("1.001"), {"F32": 7},
        lambda u: mp.sqrt(u) / mp.erf(mp.sqrt(u)),
    )  # fmt: skip
    polynomial("ERF_MIDDLE", "erf(2.5 + t), t in [-1.5, 1.5]", lambda t: mp.erf(t + mpf(5) / 2), -1.5, 1.5, {"F32": 14})


def roots() -> None:
    lines.append("#: bits minus half the bits of x are a first value of 1 / sqrt(x), 3.5% off at most")
    lines.append("RSQRT_MAGIC = {")
    lines.append("    F32: 0x5F375A86,")
    lines.append("    F64: 0x5FE6EB50C7B537A9,")
    lines.append("}")
    lines.append("#: third-order Newton steps before the last")
    lines.append("RSQRT_STEPS = {F32: 1, F64: 2}")


def main() -> None:
    logarithms()
    hyperbolics()
    error_functions()
    roots()
    exponentials()
    header = [
        '"""Constants and minimax polynomials of the elementary functions, made by tools/coefficients.py.',
        "",
        "Coefficients stand lowest power first. The comment on each polynomial gives what it approximates, where, and the largest",
        'error of its exact evaluation, relative to the function unless said otherwise.',
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from baracuda.core.elements import ElementKind",
        "",
        "F32, F64 = ElementKind.F32, ElementKind.F64",
        "",
    ]
    TARGET.write_text("\n".join(header + lines) + "\n")


if __name__ == "__main__":
    main()
