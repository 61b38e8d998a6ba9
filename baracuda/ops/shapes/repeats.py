"""Tensors several times over."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.spec import MAX_RANK
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_of, reshaped, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxisOrFlat, Count, Extents
from baracuda.ops.indexing.indexing import index_select
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.reductions.reductions import sum_
from baracuda.ops.scans.scans import cumsum

_S64 = ElementKind.S64


def _times(x: TensorRef, reps: Extents) -> tuple[Any, tuple[int, ...]]:
    """x with as many axes as it takes, and how often it is repeated along each."""
    counts = (reps,) if isinstance(reps, int) else reps
    if min(counts, default=0) < 0:
        raise InvalidProblemError(f"reps: {reps}; expected numbers of 0 or more")
    rank = max(len(counts), len(x.shape))
    if rank > MAX_RANK:
        raise InvalidProblemError(f"reps: {reps}; expected at most {MAX_RANK}")
    wide = reshaped(x, (*(1,) * (rank - len(x.shape)), *x.shape))
    return wide, (*(1,) * (rank - len(counts)), *counts)


def _pairs(shape: tuple[int, ...], strides: tuple[int, ...], counts: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Of a tiled tensor's axes: the times and the tile of each that has more than one of either, and its stride."""
    return [(r, n, s) for r, n, s in zip(counts, shape, strides, strict=True) if r * n != 1]


def _tile_into(do: Steps, x: TensorRef, y: TensorMut, counts: tuple[int, ...]) -> None:
    if 0 in y.shape:
        return
    axes = [(r, n, s, t) for r, n, s, t in zip(counts, x.shape, x.strides, y.strides, strict=True) if r * n != 1]
    shape, source, target = [], [], []
    for r, n, s, t in axes:
        for extent, step, to in ((r, 0, n * t), (n, s, t)):
            if extent > 1:
                shape.append(extent)
                source.append(step)
                target.append(to)
    if len(shape) > MAX_RANK:  # the last axis that is repeated first
        at = max(a for a, r in enumerate(counts) if r > 1)
        part = do.rows((*x.shape[:at], x.shape[at] * counts[at], *x.shape[at + 1 :]), x.kind)
        _tile_into(do, x, part, (*(1,) * at, counts[at], *(1,) * (len(counts) - at - 1)))
        _tile_into(do, part, y, (*counts[:at], 1, *counts[at + 1 :]))
        return
    do.copy(view(x, 0, shape, source), view(y, 0, shape, target))


@composed(x="...", out=True)
def tile(do: Steps, x: TensorRef, reps: Extents) -> Any:
    """x as often as `reps` says along each axis, the last of these along the last axis; new axes come first.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.tile(np.array([1, 2]), (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    wide, counts = _times(x, reps)
    y = do.result(tuple(r * n for r, n in zip(counts, wide.shape, strict=True)), x.kind)
    _tile_into(do, wide, y, counts)
    return y


@composed(dy="...", x="...")
def tile_backward(do: Steps, dy: TensorRef, x: TensorRef, reps: Extents) -> Any:
    """The gradient of `tile`'s x: the sum of dy over its repetitions, the first axis slowest.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.tile_backward(np.array([1.0, 2, 3, 4]), np.zeros(2), 2).tolist()
    [4.0, 6.0]
    """
    wide, counts = _times(x, reps)
    expected = tuple(r * n for r, n in zip(counts, wide.shape, strict=True))
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    if 0 in expected:
        return do.filled(x.shape, x.kind, 0)
    repeated = [a for a, r in enumerate(counts) if r > 1]
    if not repeated:
        return do.reshaped(dy, x.shape)
    if len(dy.shape) + len(repeated) > MAX_RANK:
        for at in repeated:
            dy = _summed(do, dy, wide.shape, (at,), counts)
        return do.reshaped(dy, x.shape)
    return do.reshaped(_summed(do, dy, wide.shape, tuple(repeated), counts), x.shape)


def _summed(do: Steps, dy: TensorRef, tiles: tuple[int, ...], axes: tuple[int, ...], counts: tuple[int, ...]) -> Any:
    """dy summed over its repetitions along some axes."""
    shape: list[int] = []
    strides: list[int] = []
    over: list[int] = []
    for a, (extent, stride) in enumerate(zip(dy.shape, dy.strides, strict=True)):
        if a in axes:
            over.append(len(shape))
            shape += (counts[a], tiles[a])
            strides += (tiles[a] * stride, stride)
        else:
            shape.append(extent)
            strides.append(stride)
    return do.run(sum_, {"x": view(dy, 0, shape, strides)}, axis=tuple(over), dtype=dy.kind)


def _index(do: Steps, repeats: TensorRef, n: int, size: int) -> Any:
    """The number of the element that each place of the result has: 0 repeats[0] times, and so on."""
    if repeats.shape in ((), (1,)):
        repeats = view(repeats, 0, (n,), (0,))
    if repeats.shape != (n,):
        raise InvalidProblemError(f"repeats: shape is {repeats.shape}; expected ({n},) or one number")
    ends = do.run(cumsum, {"x": repeats}, axis=0, dtype=_S64)
    counted = ScatterDescriptor(ScatterKind.COUNT, (size + 1,), 0, (n,), _S64, _S64)
    began = do.plan(ScatterPlan, counted, {"index": ends})  # how many elements end before each place
    return do.run(cumsum, {"x": view(began, 0, (size,), began.strides)}, axis=0, dtype=_S64)


def _size(do: Steps, repeats: TensorRef, n: int, size: int | None) -> int:
    if size is not None:
        return size
    counts = do.on_host(repeats)
    if (counts < 0).any():
        raise InvalidProblemError(f"repeats: {counts.min()}; expected numbers of 0 or more")
    return int(counts.sum()) * (n if counts.size == 1 and repeats.shape in ((), (1,)) else 1)


_REPEATS = "... or number : s32 s64"


@composed(x="...", repeats=_REPEATS, out=True)
def repeat_interleave(do: Steps, x: TensorRef, repeats: Any, axis: AxisOrFlat = None, *, output_size: Count | None = None) -> Any:
    """Each element of x along an axis as often as `repeats` says, a number or one for each; without an axis x counts as one row.

    With numbers in a tensor the size of the result is read back, unless output_size says it: then nothing is read, the call can
    be captured, and what would be beyond it is left out; elements of the last one fill what is missing.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.repeat_interleave(np.array([1, 2]), np.array([2, 1])).tolist()
    [1, 1, 2]
    """
    at = 0 if axis is None else axis_of(axis, len(x.shape))
    x = do.reshaped(x, (-1,)) if axis is None else x
    n = x.shape[at]
    before, after = x.shape[:at], x.shape[at + 1 :]
    if isinstance(repeats, TensorRef):
        size = _size(do, repeats, n, output_size)
        if n == 0 or size == 0:
            return do.result((*before, 0, *after), x.kind)
        index = _index(do, repeats, n, size)
        return do.run(index_select, {"x": x, "index": index}, do.out, axis=at)
    if repeats < 0:
        raise InvalidProblemError(f"repeats: {repeats}; expected 0 or more")
    if output_size is not None and output_size != n * repeats:
        raise InvalidProblemError(f"output_size: {output_size}; expected {n * repeats}")
    y = do.result((*before, n * repeats, *after), x.kind)
    step = y.strides[at]
    target = view(y, 0, (*before, n, repeats, *after), (*y.strides[:at], step * repeats, step, *y.strides[at + 1 :]))
    source = view(
        x,
        0,
        target.shape if prod(target.shape) else (*before, n, repeats, *after),
        (*x.strides[: at + 1], 0, *x.strides[at + 1 :]),
    )
    do.copy(source, target)
    return y


@composed(dy="...", x="...", repeats=_REPEATS)
def repeat_interleave_backward(do: Steps, dy: TensorRef, x: TensorRef, repeats: Any, axis: AxisOrFlat = None) -> Any:
    """The gradient of `repeat_interleave`'s x: of each element the sum over what it became, in order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.repeat_interleave_backward(np.array([1.0, 2, 3]), np.zeros(2), np.array([2, 1])).tolist()
    [3.0, 3.0]
    """
    at = 0 if axis is None else axis_of(axis, len(x.shape))
    shape = (prod(x.shape),) if axis is None else x.shape
    before, n, after = shape[:at], shape[at], shape[at + 1 :]
    size = dy.shape[at] if dy.shape else 0
    expected = n * repeats if not isinstance(repeats, TensorRef) else size
    if dy.shape != (*before, expected, *after):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {(*before, expected, *after)}")
    if 0 in dy.shape:
        return do.filled(x.shape, x.kind, 0)
    if isinstance(repeats, TensorRef):
        index = _index(do, repeats, n, size)
        scatter = ScatterDescriptor(ScatterKind.SUM, shape, at, (size,), x.kind, _S64)
        return do.reshaped(do.plan(ScatterPlan, scatter, {"index": index, "x": dy}), x.shape)
    step = dy.strides[at]
    parts = view(dy, 0, (*before, n, repeats, *after), (*dy.strides[:at], step * repeats, step, *dy.strides[at + 1 :]))
    return do.reshaped(do.run(sum_, {"x": parts}, axis=at + 1, dtype=dy.kind), x.shape)
