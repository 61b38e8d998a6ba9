"""The tables that transforms read, each a function of its name: complex numbers, the two parts along the last axis."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.formula.butterflies import radices
from baracuda.formula.roots import products_of_roots, roots, split_tables
from baracuda.lowering.fft.problem import EXACT, Fourier, Mode, Rows, convolution_length, normalise

Table = np.ndarray[Any, Any]


def name_of(kind: ElementKind, *name: Hashable) -> tuple[Hashable, ...]:
    """What a table is called among all constants of a process."""
    return ("fft", kind.label, *name)


def table(name: tuple[Hashable, ...]) -> Table:
    """The table of a name.

    "stages", n: for each radix of a transform of n but the last, for each result k from 1 on, its root for each p.
    "roots", n: w_n(m) for each m below n.
    "split", n: the two tables of roots whose products are those of n, in f64.
    "grid", n, rows, columns: w_n(row * column).
    "row", n, count: w_n(m) for each m below count.
    "chirp", c: u_j for each j below c.
    "filter", c: F.
    "places", n: where each result k, and then result 0, lies after transforms in place, as whole numbers.
    """
    _, label, what, *numbers = name
    dtype = np.float32 if label == ElementKind.F32.label else np.float64
    return _MAKERS[str(what)](dtype, *numbers)


def _any(m: Table, n: int, dtype: Any) -> Table:
    return roots(m, n, dtype) if n <= EXACT else products_of_roots(m, n, dtype)


def _stages(dtype: Any, n: Any) -> Table:
    found, rest = [np.zeros((0, 2), dtype)], n
    factors = radices(n)
    assert factors is not None
    for r in factors[:-1]:
        m = rest // r
        found.append(roots(np.arange(1, r)[:, None] * np.arange(m), rest, dtype).reshape(-1, 2))
        rest = m
    return np.concatenate(found)


def stage_offsets(n: int) -> list[int]:
    """Where the entries of each radix begin in the table of stages."""
    offsets, rest, at = [], n, 0
    for r in radices(n) or ():
        offsets.append(at)
        rest //= r
        at += (r - 1) * rest
    return offsets


def _roots(dtype: Any, n: Any) -> Table:
    return roots(np.arange(n), n, dtype)


def _grid(dtype: Any, n: Any, rows: Any, columns: Any) -> Table:
    if n <= EXACT:
        every: Table = _roots(dtype, n)[np.arange(rows)[:, None] * np.arange(columns)]
        return every
    found = np.empty((rows, columns, 2), dtype)
    for row in range(rows):
        found[row] = products_of_roots(row * np.arange(columns), n, dtype)
    return found


def _row(dtype: Any, n: Any, count: Any) -> Table:
    return _any(np.arange(count), n, dtype)


def _squares(c: int) -> Table:
    """j * j modulo 2 c, without products beyond 63 bits."""
    j = np.arange(c, dtype=np.int64)
    return j * j % (2 * c)


def _chirp(dtype: Any, c: Any) -> Table:
    return roots(_squares(c), 2 * c, dtype)


def _filter(dtype: Any, c: Any) -> Table:
    m = convolution_length(c)
    u = roots(_squares(c), 2 * c, np.float64)
    x = np.zeros((m, 2))
    x[:c] = u
    x[m - c + 1 :] = u[:0:-1]
    x[:, 1] *= -1
    return (_transformed(x) / m).astype(dtype)


def _transformed(x: Table) -> Table:
    """The forward transform of a row in f64, by the library's own kernels."""
    from baracuda.core.workspace import LEAST_ALIGNMENT
    from baracuda.lowering.executables import executable, load

    n, y = len(x), np.empty_like(x)
    rows = Rows(ElementKind.C128, (), 1, n, 16)
    problem = normalise(Fourier(Mode.COMPLEX, False, n, 1.0, False, (), rows, rows))
    program = executable(Device.cpu(), problem, [], 2)
    assert program is not None
    load([program])
    scratch = np.empty(program.workspace_bytes + LEAST_ALIGNMENT, np.uint8)
    start = -scratch.ctypes.data % LEAST_ALIGNMENT
    program.call((x.ctypes.data, y.ctypes.data), scratch.ctypes.data + start, 0)
    return y


def _places(dtype: Any, n: int) -> Table:
    k: Table = np.arange(n + 1, dtype=np.int64) % n
    places: Table = np.zeros_like(k)
    rest, left = k, n
    for r in radices(n) or ():
        left //= r
        places, rest = places + rest % r * left, rest // r
    return places


def _split(dtype: Any, n: Any) -> Table:
    both: Table = np.concatenate(split_tables(n))
    return both


_MAKERS: dict[str, Callable[..., Table]] = {
    "stages": _stages,
    "roots": _roots,
    "split": _split,
    "grid": _grid,
    "row": _row,
    "chirp": _chirp,
    "filter": _filter,
    "places": _places,
}
