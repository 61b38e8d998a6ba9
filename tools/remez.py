"""Minimax polynomials with coefficients rounded to a floating-point format.

The exchange is Remez's second algorithm on a dense grid of Chebyshev-spaced points. Rounding is progressive: the
coefficient of the lowest power is rounded to the format and held, and the rest are fitted again, so that the later
coefficients absorb the rounding of the earlier ones (Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., 10.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mpmath import mp, mpf

Function = Callable[[mpf], mpf]


def rounded(x: mpf, bits: int) -> mpf:
    """x to `bits` bits of significand, nearest even."""
    with mp.workprec(bits):
        return +mpf(x)


class _Grid:
    def __init__(self, f: Function, weight: Function, low: mpf, high: mpf, powers: Sequence[int], size: int) -> None:
        centre, half = (low + high) / 2, (high - low) / 2
        xs = [centre - half * mp.cos(mp.pi * (i + mpf(1) / 2) / size) for i in range(size)]
        self.powers = powers
        self.x = [x for x in xs if x != 0]
        self.weight = [weight(x) for x in self.x]
        self.target = [f(x) * w for x, w in zip(self.x, self.weight, strict=True)]
        self.basis = [[w * x**p for p in powers] for x, w in zip(self.x, self.weight, strict=True)]


def _least_squares(basis: list[list[mpf]], target: list[mpf], first: int) -> list[mpf]:
    """The least-squares fit, which on Chebyshev-spaced points is close to minimax."""
    rows = [row[first:] for row in basis[::2]]
    free = len(rows[0])
    matrix, right = mp.matrix(free, free), mp.matrix(free, 1)
    for i in range(free):
        right[i] = mp.fdot((row[i], t) for row, t in zip(rows, target[::2], strict=True))
        for j in range(i, free):
            matrix[i, j] = matrix[j, i] = mp.fdot((row[i], row[j]) for row in rows)
    solution = mp.lu_solve(matrix, right)
    return [solution[j] for j in range(free)]


def _exchange(grid: _Grid, held: list[mpf], count: int) -> tuple[list[mpf], mpf]:
    """The coefficients after the `held` ones, and the largest weighted error."""
    first = len(held)
    # An odd first free power changes sign at 0, where no combination of the free powers can alternate; so turn it there.
    turn = [-1 if x < 0 and grid.powers[min(first, count - 1)] % 2 else 1 for x in grid.x]
    basis = [[s * b for b in row] for s, row in zip(turn, grid.basis, strict=True)]
    target = [
        s * t - sum(c * b for c, b in zip(held, row, strict=False)) for s, t, row in zip(turn, grid.target, basis, strict=True)
    ]
    free, last = count - first, len(grid.x) - 1
    if not free:
        return [], max(abs(t) for t in target)
    chosen = [round(last * i / free) for i in range(free + 1)]
    best: tuple[list[mpf], mpf] | None = None

    def errors(c: list[mpf]) -> list[mpf]:
        return [t - mp.fdot(zip(c, row[first:], strict=True)) for t, row in zip(target, basis, strict=True)]

    for _ in range(12):
        matrix, right = mp.matrix(free + 1, free + 1), mp.matrix(free + 1, 1)
        for i, point in enumerate(chosen):
            for j in range(free):
                matrix[i, j] = basis[point][first + j]
            matrix[i, free] = (-1) ** i
            right[i] = target[point]
        solution = mp.lu_solve(matrix, right)
        c = [solution[j] for j in range(free)]
        error = errors(c)
        worst = max(abs(e) for e in error)
        if best is None or worst < best[1]:
            best = (c, worst)
        if worst <= abs(solution[free]) * mpf("1.001"):
            return best
        peaks: list[int] = []
        for i, e in enumerate(error):
            if peaks and (error[peaks[-1]] > 0) == (e > 0):
                if abs(e) > abs(error[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > free + 1:
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        if len(peaks) < free + 1:
            break
        chosen = peaks
    # The rounding of the held coefficients can leave an error at 0 that no free one reaches, and then nothing alternates.
    c = _least_squares(basis, target, first)
    worst = max(abs(e) for e in errors(c))
    return best if best is not None and best[1] < worst else (c, worst)


def minimax(
    f: Function,
    low: float | mpf,
    high: float | mpf,
    powers: Sequence[int],
    bits: int,
    weight: Function = lambda x: mpf(1),
    held: Sequence[mpf] = (),
) -> tuple[list[mpf], mpf]:
    """Coefficients of the given rising powers, each of `bits` bits, that nearly minimise max |weight (p - f)|.

    `held` are coefficients of the first powers that are already chosen. Returns the coefficients and the error reached.
    """
    with mp.workprec(max(160, 6 * bits, 10 * len(powers))):
        grid = _Grid(f, weight, mpf(low), mpf(high), powers, 40 * len(powers))
        chosen = [mpf(c) for c in held]
        while len(chosen) < len(powers):
            rest, _ = _exchange(grid, chosen, len(powers))
            chosen.append(rounded(rest[0], bits))
        return chosen, _exchange(grid, chosen, len(powers))[1]
