"""Functions as several polynomials, each on an interval of its own around a centre that both formats hold exactly."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mpmath import mp, mpf

from tools.coefficients import BITS, lines, rows
from tools.remez import Function, minimax, rounded

#: Points at which the length of a polynomial is estimated.
_POINTS = 72


def needed(f: Function, low: mpf, high: mpf, bits: int, weight: Function) -> int:
    """How many coefficients bring the weighted error to about 2**-(bits + 3), by the decay of the Chebyshev coefficients."""
    with mp.workprec(max(160, 6 * bits)):
        angles = [mp.pi * (i + mpf(1) / 2) / _POINTS for i in range(_POINTS)]
        xs = [(low + high) / 2 + (high - low) / 2 * mp.cos(a) for a in angles]
        values = [f(x) for x in xs]
        largest = max(abs(weight(x)) for x in xs)
        waves = [2 * mp.fsum(v * mp.cos(k * a) for v, a in zip(values, angles, strict=True)) / _POINTS for k in range(_POINTS)]
        tail = mpf(0)
        for k in range(_POINTS - 1, -1, -1):
            tail += abs(waves[k])
            if tail * largest > mpf(2) ** -(bits + 3):
                return k + 1
    return 1


def pieces(name: str, comment: str, f: Function, edges: dict[str, Sequence[float]], weight: Function = lambda x: mpf(1)) -> None:
    """Fit f between consecutive edges by polynomials in x - centre, and write (end, centre, coefficients) for each."""
    lines_of: list[str] = []
    errors: list[str] = []
    for kind, bounds in edges.items():
        lines_of.append(f"    {kind}: (")
        worst = mpf(0)
        for low, high in itertools.pairwise(bounds):
            centre = (low + high) / 2
            assert rounded(mpf(centre), BITS["F32"]) == centre, f"{name}: the centre {centre} is no f32"

            half = mpf(high - low) / 2
            unit = mp.ldexp(mpf(1), mp.frexp(half)[1] - 1)  # fitted in (x - centre) / unit, whose powers are not tiny

            def around(t: mpf, centre: float = centre, unit: mpf = unit) -> mpf:
                return f(centre + t * unit)

            def heavy(t: mpf, centre: float = centre, unit: mpf = unit) -> mpf:
                return weight(centre + t * unit)

            edge = half / unit * mpf("1.0001")
            left = -half / unit if low == 0 else -edge
            n = needed(around, left, edge, BITS[kind], heavy)
            coefficients, error = minimax(around, left, edge, range(n), BITS[kind], heavy)
            worst = max(worst, error)
            lines_of.append(f"        ({high!r}, {centre!r}, (")
            lines_of.extend(rows([c / unit**i for i, c in enumerate(coefficients)], 12))
            lines_of.append("        )),")
        lines_of.append("    ),")
        errors.append(f"{kind} 2**{float(mp.log(worst, 2)):.1f}")
    lines.append(f"#: {comment} ({', '.join(errors)})")
    lines.append(f"{name} = {{")
    lines.extend(lines_of)
    lines.append("}")
