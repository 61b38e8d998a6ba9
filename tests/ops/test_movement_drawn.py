"""Functions that move elements on shapes, layouts and options drawn at random: bits against NumPy, gradients as the transposed
movement."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from random import Random

import numpy as np
import pytest

from tests.ops.movements import ELEMENTS, Movement, check, check_gradient

Shape = tuple[int, ...]


def _pad(r: Random, s: Shape) -> Movement:
    mode = r.choice(["constant", "edge", "reflect", "symmetric", "wrap"])
    width = tuple((r.randint(0, 9), r.randint(0, 9)) for _ in s)
    return Movement("pad", [s], lambda x: np.pad(x, width, mode), {"pad_width": width, "mode": mode})


def _roll(r: Random, s: Shape) -> Movement:
    axes = tuple(r.randrange(-len(s), len(s)) for _ in range(r.randint(1, 3)))
    shift = tuple(r.randint(-9, 9) for _ in axes)
    return Movement("roll", [s], lambda x: np.roll(x, shift, axes), {"shift": shift, "axis": axes}, like=False)


def _tile(r: Random, s: Shape) -> Movement:
    reps = tuple(r.randint(0, 3) for _ in range(r.randint(1, 4)))
    return Movement("tile", [s], lambda x: np.tile(x, reps), {"reps": reps})


def _slice(r: Random, s: Shape) -> Movement:
    places = (None, *range(-6, 7))
    bounds = [(r.choice(places), r.choice(places), r.choice([-3, -2, -1, 1, 2, 3])) for _ in s]
    starts, stops, steps = zip(*bounds, strict=True)
    words = {"starts": starts, "stops": stops, "steps": steps}
    return Movement("slice", [s], lambda x: x[tuple(slice(*b) for b in bounds)], words)


def _repeat(r: Random, s: Shape) -> Movement:
    axis, times = r.randrange(-len(s), len(s)), r.randint(0, 4)
    return Movement("repeat_interleave", [s], lambda x: np.repeat(x, times, axis), {"repeats": times, "axis": axis})


def _reshape(r: Random, s: Shape) -> Movement:
    size = prod(s)
    rows = r.choice([n for n in range(1, size + 1) if size % n == 0])
    return Movement("reshape", [s], lambda x: x.reshape(rows, -1), {"shape": (rows, -1)}, {"shape": ...})


def _split(r: Random, s: Shape) -> Movement:
    axis, parts = r.randrange(len(s)), r.randint(1, 6)
    words = {"sections": parts, "axis": axis}
    return Movement("tensor_split", [s], lambda x: np.array_split(x, parts, axis), words, {"sections": ...})


def _diagonal(r: Random, s: Shape) -> Movement:
    s = s if len(s) > 1 else (3, 4)
    (first, second), offset = r.sample(range(len(s)), 2), r.randint(-4, 4)
    words = {"offset": offset, "axis1": first, "axis2": second}
    return Movement("diagonal", [s], lambda x: np.diagonal(x, offset, first, second), words)


def _unfold(r: Random, s: Shape) -> Movement:
    axis = r.randrange(len(s))
    size, step = r.randint(1, s[axis]), r.randint(1, 3)
    index = np.arange(size) + step * np.arange((s[axis] - size) // step + 1)[:, None]
    words = {"axis": axis, "size": size, "step": step}
    return Movement("unfold_dim", [s], lambda x: np.moveaxis(np.take(x, index, axis), axis + 1, -1), words)


def _rotate(r: Random, s: Shape) -> Movement:
    s = s if len(s) > 1 else (3, 4)
    axes, k = tuple(r.sample(range(len(s)), 2)), r.randint(-5, 5)
    return Movement("rot90", [s], lambda x: np.rot90(x, k, axes), {"k": k, "axes": axes}, like=False)


DRAWN: list[Callable[[Random, Shape], Movement]] = [
    _pad, _roll, _tile, _slice, _repeat, _reshape, _split, _diagonal, _unfold, _rotate,
]  # fmt: skip


@pytest.mark.parametrize("draw", DRAWN, ids=lambda f: f.__name__.strip("_"))
def test_movements(draw: Callable[[Random, Shape], Movement], device: str, full: bool) -> None:
    r = Random(draw.__name__)
    for _ in range(60 if full else 6):
        movement = draw(r, tuple(r.randint(1, 5) for _ in range(r.randint(1, 3))))
        layout = r.choice(["contiguous", "strided", "turned", "reversed"])
        check(movement, r.choice(ELEMENTS), layout if device == "cpu" else "contiguous", device)
        check_gradient(movement, device)
