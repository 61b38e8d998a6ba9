"""Generates baracuda/formula/elementary/tables/incomplete.py, for the incomplete gamma and beta functions.

python -m tools.coefficients_incomplete
"""

from __future__ import annotations

from fractions import Fraction

from mpmath import mp, mpf

from tools.coefficients import lines, polynomial
from tools.coefficients_special import write

#: A polynomial in d, the lowest power first.
Polynomial = list[Fraction]


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    value = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            value[i + j] += x * y
    return value


def _total(*terms: Polynomial) -> Polynomial:
    return [sum((t[i] for t in terms if i < len(t)), Fraction(0)) for i in range(max(map(len, terms)))]


def _scaled(a: Polynomial, by: Fraction) -> Polynomial:
    return [x * by for x in a]


def near_the_mean(count: int) -> list[Polynomial]:
    """The power series of f(v) = v / g(v), where g(v) = v + ... solves g g' = v (1 + d g - (1 - d**2) g**2 / 4).

    With the mean p = a / (a + b), d = 1 - 2 p and x = p + p (1 - p) g, the density of the beta distribution in v is
    e**(-ab/(a+b) v**2 / 2) f(v) but for a factor (Temme 1996, Special Functions, 11.3.3); d = 1 gives the gamma distribution's.
    """
    one, d, variance = [Fraction(1)], [Fraction(0), Fraction(1)], [Fraction(1, 4), Fraction(0), Fraction(-1, 4)]
    g: list[Polynomial] = [[Fraction(0)], one]

    def square(n: int, known: int) -> Polynomial:
        """The coefficient of v**n in g**2, without the terms of g from `known` on."""
        return _total([Fraction(0)], *(_product(g[i], g[n - i]) for i in range(1, n) if max(i, n - i) < known))

    for n in range(2, count + 2):
        right = _total(_product(d, g[n - 1]), _scaled(_product(variance, square(n - 1, n)), Fraction(-1)))
        g.append(_scaled(_total(_scaled(right, Fraction(2, n + 1)), _scaled(square(n + 1, n), Fraction(-1))), Fraction(1, 2)))
    f = [one]
    for n in range(1, count + 1):
        f.append(_scaled(_total(*(_product(g[n - i + 1], f[i]) for i in range(n))), Fraction(-1)))
    return f


def expansions() -> None:
    """The coefficients of v**m for m >= 1; of each, those of d**m, d**(m-2), ... in rising order."""
    lines.extend((
        "#: the power series of Temme's f(v) for the beta distribution from v**1 on: of each coefficient, a polynomial in",
        "#: d = (b - a) / (a + b), those of d**0 or d**1 and every second power",
        "BETA_NEAR_MEAN = (",
    ))  # fmt: skip
    for m, c in enumerate(near_the_mean(18)[1:], 1):
        every = [float(x) for x in c[m % 2 : m + 1 : 2]]
        body = ", ".join(map(repr, every))
        if len(body) < 120:
            lines.append(f"    ({body},),")
        else:
            lines.append("    (")
            lines.extend("        " + " ".join(f"{x!r}," for x in every[i : i + 4]) for i in range(0, len(every), 4))
            lines.append("    ),")
    lines.append(")")
    lines.extend(("#: the same for the gamma distribution, d = 1", "GAMMA_NEAR_MEAN = ("))
    values = [float(sum(c)) for c in near_the_mean(34)[1:]]
    lines.extend("    " + " ".join(f"{x!r}," for x in values[i : i + 4]) for i in range(0, len(values), 4))
    lines.append(")")


def reciprocal_gamma() -> None:
    def rest(a: mpf) -> mpf:
        if abs(a) < mpf("1e-30"):
            return mp.euler
        return (mp.rgamma(1 + a) - 1) / a

    polynomial(
        "RECIPROCAL_GAMMA", "(1 / gamma(1 + a) - 1) / a, 0 <= a <= 5/2; error of 1 / gamma(1 + a)", rest, 0.0, 2.5, {"F64": 21},
        lambda a: a * mp.gamma(1 + a) if a else mpf("0.001"),
    )  # fmt: skip


FILES = {"incomplete.py": ("the incomplete gamma and beta functions", [expansions, reciprocal_gamma])}


def main() -> None:
    for name, (subject, makers) in FILES.items():
        write(name, subject, makers, "coefficients_incomplete")


if __name__ == "__main__":
    main()
