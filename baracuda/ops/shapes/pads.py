"""Elements added before and after along axes.

Axes are padded one after another, the first one first; what a later axis adds repeats what an earlier one has added. Along an
axis every element of the result is one of the slice that it lies in (or their mean or median, or a number between its edge and
an end value), so that the result is a copy of x and copies of parts of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axes_of, flipped, slab, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.elementwise.binary_ops import add, sub
from baracuda.ops.reductions.reductions import sum_
from baracuda.ops.shapes.pad_values import ramp_into, statistic

Mode = Literal[
    "constant", "edge", "replicate", "reflect", "symmetric", "wrap", "circular", "empty", "linear_ramp", "maximum", "mean",
    "median", "minimum",
]  # fmt: skip
#: A number for all, one before and one after, or such a pair for each axis.
Widths = int | tuple[int | tuple[int, ...], ...]
Numbers = float | complex | tuple[float | complex | tuple[float | complex, ...], ...]
Lengths = int | tuple[int | tuple[int, ...], ...] | None
Pair = tuple[Any, Any]
#: PyTorch's words for NumPy's modes.
_WORDS = {"replicate": "edge", "circular": "wrap"}
_STATISTICS = ("maximum", "mean", "median", "minimum")
#: Modes whose gradient is a sum of pieces of dy.
_COPIES = ("constant", "edge", "reflect", "symmetric", "wrap", "empty")


def _pairs(given: Any, count: int, name: str) -> tuple[Pair, ...]:
    """A pair for each of some axes, as NumPy reads one number, one pair, and a pair for each."""
    if not isinstance(given, tuple):
        return ((given, given),) * count
    if not any(isinstance(p, tuple) for p in given):
        if len(given) == 1:
            return ((given[0], given[0]),) * count
        if len(given) == 2:
            return ((given[0], given[1]),) * count
        raise InvalidProblemError(f"{name}: {given}; expected a number, a pair, or a pair for each of {count} axes")
    pairs = [p if isinstance(p, tuple) else (p,) for p in given]
    if len(pairs) == 1:
        pairs = pairs * count
    if len(pairs) != count or any(len(p) not in (1, 2) for p in pairs):
        raise InvalidProblemError(f"{name}: {given}; expected a number, a pair, or a pair for each of {count} axes")
    return tuple((p[0], p[-1]) for p in pairs)


def _widths(rank: int, pad_width: Any, pad: Any, axes: Any) -> dict[int, tuple[int, int]]:
    """How much is added before and after each axis that is padded."""
    if (pad_width is None) == (pad is None):
        raise InvalidProblemError(f"pad_width, pad: {pad_width!r}, {pad!r}; expected one of them")
    if pad is not None:
        if len(pad) % 2 or len(pad) > 2 * rank or axes is not None:
            raise InvalidProblemError(f"pad: {pad}; expected a pair for each of the last axes, the last one first, and no axes")
        return {rank - 1 - i: (pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)[::-1]} if pad else {}
    over = axes_of(axes, rank, "axes")
    return dict(zip(over, _pairs(pad_width, len(over), "pad_width"), strict=True))


def trimmed(x: TensorRef, widths: Mapping[int, tuple[int, int]]) -> tuple[Any, dict[int, tuple[int, int]]]:
    """x without what negative widths take away, and the others."""
    left = {}
    for axis, (before, after) in widths.items():
        n = x.shape[axis]
        start, stop = max(-before, 0), n - max(-after, 0)
        if stop < start:
            raise InvalidProblemError(
                f"pad_width: {(before, after)} along axis {axis} of extent {n}; expected to leave 0 or more"
            )
        x = slab(x, axis, start, stop)
        left[axis] = max(before, 0), max(after, 0)
    return x, left


def sources(n: int, before: int, after: int, mode: str, odd: bool = False) -> list[tuple[int, int, int, bool]]:
    """What is copied along an axis whose own n elements are already at `before`: (place, first element there that is copied,
    how many, whether in reverse), in an order in which each copies only what is there. Places and sources count in the result."""
    if mode == "edge":
        raise AssertionError(mode)  # one element many times over
    steps: list[tuple[int, int, int, bool]] = []
    low, high = before, before + n  # what is there so far
    if mode == "wrap":
        while low > 0:
            count = min(low, n)
            steps.append((low - count, low - count + n, count, False))
            low -= count
        end = before + n + after
        while high < end:
            count = min(end - high, n)
            steps.append((high, high - n, count, False))
            high += count
        return steps
    skip = 1 if mode == "reflect" else 0
    period = n - skip
    left, right = before, after
    while left or right:  # each turn mirrors what was there at its beginning, as NumPy does
        if left:
            count = min(left, period)
            steps.append((low - count, low + skip, count, True))
        if right:
            count_right = min(right, period)
            steps.append((high, high - skip - count_right, count_right, True))
        if left:
            low, left = low - count, left - count
        if right:
            high, right = high + count_right, right - count_right
    return steps


def _check_room(n: int, before: int, after: int, mode: str, axis: int) -> None:
    if n == 0 and (before or after) and mode not in ("constant", "empty"):
        raise InvalidProblemError(f"mode: {mode!r} of axis {axis} of extent 0; expected constant or empty")


def _copied_along(do: Steps, y: TensorMut, axis: int, n: int, before: int, after: int, mode: str) -> None:
    """Write what stands before and after the n elements along an axis that are there."""
    if mode == "edge" or (mode == "reflect" and n == 1):
        for start, stop, edge in ((0, before, before), (before + n, before + n + after, before + n - 1)):
            if stop > start:
                target = slab(y, axis, start, stop)
                source = slab(y, axis, edge, edge + 1)
                strides = [0 if a == axis else s for a, s in enumerate(y.strides)]
                do.copy(view(source, 0, target.shape, strides), target)
        return
    for place, first, count, turned in sources(n, before, after, mode):
        source = slab(y, axis, first, first + count)
        do.copy(flipped(source, (axis,)) if turned else source, slab(y, axis, place, place + count))


def window_of(y: TensorRef, widths: Mapping[int, tuple[int, int]]) -> Any:
    """What of the result is x."""
    for axis, (before, after) in widths.items():
        y = slab(y, axis, before, y.shape[axis] - after)
    return y


@composed(x="...", out=True, numbers={"constant_values": ()})
def pad(
    do: Steps,
    x: TensorRef,
    pad_width: Widths | None = None,
    mode: Mode = "constant",
    constant_values: Numbers = 0,
    *,
    axes: int | tuple[int, ...] | None = None,
    end_values: Numbers = 0,
    stat_length: Lengths = None,
    reflect_type: Literal["even", "odd"] = "even",
    pad: tuple[int, ...] | None = None,
) -> Any:
    """x with elements added before and after along its axes.

    pad_width is a number, a pair (before, after) for every axis, or a pair for each of `axes` (by default all), as in NumPy; or
    `pad` has the pairs in one row, those of the last axis first, as in PyTorch. A negative width takes elements away. Modes are
    "constant" (with constant_values, read as pad_width is), "edge" ("replicate"), "reflect" (without the edge itself),
    "symmetric" (with it), "wrap" ("circular"), "empty" (what is added may be anything), "linear_ramp" (towards end_values), and
    "maximum", "minimum", "mean", "median" of the stat_length elements nearest the edge, by default of all. reflect_type "odd"
    reflects 2 * edge - x. Means, medians and ramps are computed in float64 and rounded once, means and medians of integers to
    nearest even, their ramps down.

    Differs from PyTorch: the second parameter is NumPy's pad_width, where a pair is that of every axis; PyTorch's list is `pad`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pad(np.array([1, 2, 3]), 2, "reflect").tolist()
    [3, 2, 1, 2, 3, 2, 1]
    """
    widths = _widths(len(x.shape), pad_width, pad, axes)
    mode_, own = _WORDS.get(mode, mode), x
    x, widths = trimmed(x, widths)
    shape = tuple(n + sum(widths.get(a, (0, 0))) for a, n in enumerate(x.shape))
    y = do.result(shape, x.kind)
    if mode_ == "constant":
        _constant(do, own, x, y, widths, constant_values)
        return y
    do.copy(x, window_of(y, widths))
    if reflect_type == "odd" and mode_ in ("reflect", "symmetric") and x.kind.category is Category.BOOL:
        raise UnsupportedError(f"reflect_type: 'odd' of {x.kind}; expected numbers")
    ends = _pairs(end_values, len(widths), "end_values")
    lengths = _pairs(stat_length, len(widths), "stat_length")
    done: dict[int, tuple[int, int]] = dict(widths)
    for (axis, (before, after)), end, length in zip(widths.items(), ends, lengths, strict=True):
        del done[axis]
        n = x.shape[axis]
        _check_room(n, before, after, mode_, axis)
        part = window_of(y, done)  # axes that are not padded yet are as long as x is
        if mode_ == "linear_ramp":
            ramp_into(do, part, axis, n, before, after, end)
        elif mode_ in _STATISTICS:
            _statistics(do, part, axis, n, before, after, mode_, length)
        elif reflect_type == "odd" and mode_ in ("reflect", "symmetric"):
            _odd(do, part, axis, n, before, after, mode_)
        elif mode_ != "empty":
            _copied_along(do, part, axis, n, before, after, mode_)
    return y


def _constant(do: Steps, own: TensorRef, x: TensorRef, y: TensorMut, widths: Mapping[int, tuple[int, int]], values: Any) -> None:
    if not isinstance(values, tuple):
        do.move([(x, window_of(y, widths))], y, values, "constant_values")
        return
    do.copy(x, window_of(y, widths))
    done = dict(widths)
    for (axis, (before, _)), (low, high) in zip(widths.items(), _pairs(values, len(widths), "constant_values"), strict=True):
        del done[axis]
        part, n = window_of(y, done), x.shape[axis]
        for start, stop, value in ((0, before, low), (before + n, part.shape[axis], high)):
            if stop > start:
                do.fill(slab(part, axis, start, stop), value, "constant_values")


def _statistics(do: Steps, y: TensorMut, axis: int, n: int, before: int, after: int, mode: str, lengths: tuple[Any, Any]) -> None:
    for start, stop, length, left in ((0, before, lengths[0], True), (before + n, before + n + after, lengths[1], False)):
        if length is not None and length < 1:
            raise InvalidProblemError(f"stat_length: {length}; expected 1 or more")
        count = n if length is None else min(length, n)
        if stop == start:
            continue
        first = before if left else before + n - count
        found = statistic(do, slab(y, axis, first, first + count), axis, mode)
        target = slab(y, axis, start, stop)
        do.copy(view(found, 0, target.shape, [0 if a == axis else s for a, s in enumerate(found.strides)]), target)


def _odd(do: Steps, y: TensorMut, axis: int, n: int, before: int, after: int, mode: str) -> None:
    if n == 1 and mode == "reflect":
        _copied_along(do, y, axis, n, before, after, "edge")
        return
    for place, first, count, _ in sources(n, before, after, mode):
        edge = place + count if place < before else place - 1
        source, target = flipped(slab(y, axis, first, first + count), (axis,)), slab(y, axis, place, place + count)
        strides = [0 if a == axis else s for a, s in enumerate(y.strides)]
        doubled = view(slab(y, axis, edge, edge + 1), 0, target.shape, strides)
        do.run(sub, {"a": doubled, "b": source}, temporary := do.rows(target.shape, y.kind))
        do.run(add, {"a": temporary, "b": doubled}, target)


# --- gradients --------------------------------------------------------------------------------------------------------


def _gathered(do: Steps, dy: TensorRef, axis: int, n: int, before: int, after: int, mode: str) -> Any:
    """dy along one axis summed to the n elements that it came from: the pieces in the order in which they stand."""
    shape = (*dy.shape[:axis], n, *dy.shape[axis + 1 :])
    if before == after == 0 or mode in ("constant", "empty"):
        return slab(dy, axis, before, before + n)
    if mode == "edge" or (mode == "reflect" and n == 1):
        dx = do.rows(shape, dy.kind)
        pieces: list[tuple[int, TensorRef]] = []
        middle = slab(dy, axis, before, before + n)
        if before:
            pieces.append((0, do.run(sum_, {"x": slab(dy, axis, 0, before)}, axis=axis, keepdims=True, dtype=dy.kind)))
        pieces.append((0, middle))
        if after:
            last = slab(dy, axis, before + n, before + n + after)
            pieces.append((n - 1, do.run(sum_, {"x": last}, axis=axis, keepdims=True, dtype=dy.kind)))
        do.merge(pieces, axis, dx)
        return dx
    return _added(do, dy, axis, n, _images(n, before, after, mode), shape)


def _images(n: int, before: int, after: int, mode: str) -> list[tuple[int, int, int, bool]]:
    """The pieces of the result along an axis, in order: (its place, the element of x that it begins with, how many, whether in
    reverse)."""
    pieces = []
    if mode == "wrap":
        at = 0
        while at < before + n + after:
            first = (at - before) % n
            count = min(n - first, before + n + after - at)
            pieces.append((at, first, count, False))
            at += count
        return pieces
    skip = 1 if mode == "reflect" else 0
    period = 2 * (n - skip)
    at, end = 0, before + n + after
    while at < end:
        phase = (at - before) % period
        if phase < n:
            count = min(n - phase, end - at)
            pieces.append((at, phase, count, False))
        else:
            first = period - phase - (0 if skip else 1)
            count = min(period - phase, end - at)
            pieces.append((at, first - count + 1, count, True))
        at += count
    return pieces


def _added(
    do: Steps, dy: TensorRef, axis: int, n: int, images: Sequence[tuple[int, int, int, bool]], shape: tuple[int, ...]
) -> Any:
    """The sum of pieces of dy, each at its place among n elements, in order; four at a time beside what was summed before."""
    total: TensorRef | None = None
    rest = list(images)
    while rest:
        taken, rest = rest[: 5 if total is None else 4], rest[5 if total is None else 4 :]
        pieces: list[tuple[int, TensorRef]] = [] if total is None else [(0, total)]
        for place, first, count, turned in taken:
            part = slab(dy, axis, place, place + count)
            pieces.append((first, flipped(part, (axis,)) if turned else part))
        do.merge(pieces, axis, into := do.rows(shape, dy.kind))
        total = into
    return total if total is not None else do.filled(shape, dy.kind, 0)


@composed(dy="...", x="...", out=True)
def pad_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    pad_width: Widths | None = None,
    mode: Mode = "constant",
    *,
    axes: int | tuple[int, ...] | None = None,
    pad: tuple[int, ...] | None = None,
) -> Any:
    """The gradient of `pad`'s x: of each element the sum of dy over the places that it was copied to, along the last axis first,
    in the order in which they stand. 16-bit floats are rounded after each five.

    Raises `UnsupportedError` for the modes that compute what they add ("linear_ramp", "maximum", "mean", "median", "minimum").

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pad_backward(np.array([1.0, 2, 3, 4]), np.zeros(2), 1, "edge").tolist()
    [3.0, 7.0]
    """
    mode_ = _WORDS.get(mode, mode)
    if mode_ not in _COPIES:
        raise UnsupportedError(f"mode: {mode!r}; expected one of {', '.join(_COPIES)}")
    widths = _widths(len(x.shape), pad_width, pad, axes)
    dx = do.result(x.shape, x.kind)
    part, widths = trimmed(dx, widths)
    expected = tuple(n + sum(widths.get(a, (0, 0))) for a, n in enumerate(part.shape))
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    for axis in list(widths)[::-1]:
        _check_room(part.shape[axis], *widths[axis], mode_, axis)
        dy = _gathered(do, dy, axis, part.shape[axis], *widths[axis], mode_)
    do.move([(dy, part)], None if part.shape == dx.shape else dx, 0)
    return dx
