"""Integrals and slopes of sampled functions, and angles without jumps: ops on views of neighbours along an axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, placed, slab
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.views import copy, gradients, merged, output, run
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, result_element
from baracuda.ops.declaration.words import FiniteFloat, PositiveFloat, Wrt
from baracuda.ops.statistics import statistics as s

# --- integrals --------------------------------------------------------------------------------------------------------


def _abscissae(x: Any, shape: Sequence[int], axis: int, name: str = "x") -> TensorRef | None:
    """x in the space of y: one number for each point of the axis, or for each element."""
    if x is None:
        return None
    ref, rank = describe(x, name), len(shape)
    if ref.kind.category is Category.COMPLEX:
        raise InvalidProblemError(f"{name}: element is {ref.kind}; expected real places")
    if len(ref.shape) <= rank:
        found: TensorRef = placed(ref, _places(ref, axis, rank), rank)
        if all(m in (1, n) for m, n in zip(found.shape, shape, strict=True)) and found.shape[axis] == shape[axis]:
            return found
    raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected ({shape[axis]},) or {tuple(shape)}")


def _places(x: TensorRef, axis: int, rank: int) -> Sequence[int]:
    """The axes of y's space that those of x lie along."""
    return (axis,) if len(x.shape) == 1 else range(rank - len(x.shape), rank)


def _neighbours(y: TensorRef, x: TensorRef | None, axis: int) -> dict[str, Any]:
    n = y.shape[axis]
    lower, upper = (0, max(n - 1, 0)), (min(n, 1), n)
    found = {"lower": slab(y, axis, *lower), "upper": slab(y, axis, *upper)}
    if x is not None:
        found |= {"x_lower": slab(x, axis, *lower), "x_upper": slab(x, axis, *upper)}
    return found


def _integral(op: Op, y: Any, x: Any, dx: float, axis: int) -> Any:
    ref = describe(y, "y")
    axis = axis_of(axis, len(ref.shape))
    (found,) = run(op, _neighbours(ref, _abscissae(x, ref.shape, axis), axis), y, axis=axis, dx=dx).values()
    return found


def _integral_slopes(op: Op, dy: Any, y: Any, x: Any, dx: float, axis: int, wrt: Wrt) -> Any:
    ref = describe(y, "y")
    axis = axis_of(axis, len(ref.shape))
    abscissae = _abscissae(x, ref.shape, axis)
    names = chosen(wrt, ("y",) if x is None else ("y", "x"))
    parts = {"y": ("lower", "upper"), "x": ("x_lower", "x_upper")}
    wanted = [p for n in names for p in parts[n]]
    found = gradients(op, _neighbours(ref, abscissae, axis), dy, y, wanted, axis=axis, dx=dx)
    made = []
    for name in names:
        own = y if name == "y" else x
        told = describe(own, name)
        result, target = output(own, told.shape, told.kind)
        into = placed(target, _places(told, axis, len(ref.shape)), len(ref.shape))
        merged([(i, found[p]) for i, p in enumerate(parts[name])] if ref.shape[axis] else [], axis, into, own)
        made.append(result)
    return one_or_all(made)


_SAMPLES: dict[str, str] = {"y": "*before extent@axis *after", "x": "..."}


@declared(**_SAMPLES)
def trapezoid(y: Any, x: Any = None, *, dx: FiniteFloat = 1.0, axis: int = -1) -> Any:
    """The integral of samples y by the trapezoidal rule: sum (x[i+1] - x[i]) * (y[i] + y[i+1]) / 2 along an axis.

    x are the places of the samples, one number for each point of the axis or one for each of y; without it they are dx apart.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.trapezoid(np.float32([0, 1, 4]), np.float32([0, 1, 2])))
    3.0
    """
    return _integral(s.area, y, x, dx, axis)


@declared(**_SAMPLES, dy="*before *after")
def trapezoid_backward(dy: Any, y: Any, x: Any = None, *, dx: FiniteFloat = 1.0, axis: int = -1, wrt: Wrt = None) -> Any:
    """The gradients of `trapezoid`'s y and x, those named in `wrt` or all that are given; dy is that of the integral."""
    return _integral_slopes(s.area, dy, y, x, dx, axis, wrt)


@declared(**_SAMPLES)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: FiniteFloat = 1.0, axis: int = -1) -> Any:
    """The integral up to each sample but the first by the trapezoidal rule; parameters as for `trapezoid`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.cumulative_trapezoid(np.float32([0, 1, 4])).tolist()
    [0.5, 3.0]
    """
    return _integral(s.running_area, y, x, dx, axis)


@declared(**_SAMPLES, dy="*before extent-1 *after")
def cumulative_trapezoid_backward(
    dy: Any, y: Any, x: Any = None, *, dx: FiniteFloat = 1.0, axis: int = -1, wrt: Wrt = None
) -> Any:
    """The gradients of `cumulative_trapezoid`'s y and x, those named in `wrt` or all that are given."""
    return _integral_slopes(s.running_area, dy, y, x, dx, axis, wrt)


# --- slopes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stencil:
    """Slopes at the points from `start` to before `stop` of an axis, of points that begin at each of `reads`."""

    op: Op
    start: int
    stop: int
    reads: tuple[int, ...]
    options: Mapping[str, int]

    def tensors(self, x: TensorRef, places: TensorRef | None, axis: int) -> dict[str, Any]:
        count = self.stop - self.start
        found = {f"f{i}": slab(x, axis, at, at + count) for i, at in enumerate(self.reads)}
        if places is not None:
            found |= {f"x{i}": slab(places, axis, at, at + count) for i, at in enumerate(self.reads)}
        return found


def _stencils(n: int, edge_order: int) -> list[_Stencil]:
    if n <= edge_order:
        raise InvalidProblemError(f"x: {n} points along an axis; expected at least {edge_order + 1}")
    inside = [_Stencil(s.slope_of_three, 1, n - 1, (0, 1, 2), {"at": 1})] if n > 2 else []
    if edge_order == 1:
        return [_Stencil(s.slope_of_two, 0, 1, (0, 1), {}), *inside, _Stencil(s.slope_of_two, n - 1, n, (n - 2, n - 1), {})]
    ends = [
        _Stencil(s.slope_of_three, at, at + 1, (first, first + 1, first + 2), {"at": which})
        for at, first, which in ((0, 0, 0), (n - 1, n - 3, 2))
    ]
    return [ends[0], *inside, ends[1]]


def _axes_and_spacings(x: Any, spacing: Any, axis: int | Sequence[int] | None) -> list[tuple[int, float, TensorRef | None]]:
    shape = describe(x, "x").shape
    rank = len(shape)
    axes = list(range(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    if not axes or len({a % rank for a in axes if -rank <= a < rank}) != len(axes):
        raise InvalidProblemError(f"axis: {axis!r} of shape {shape}; expected different axes that it has, one at least")
    each = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(axes)
    if len(each) != len(axes):
        raise InvalidProblemError(f"spacing: {len(each)} for {len(axes)} axes; expected as many")
    found: list[tuple[int, float, TensorRef | None]] = []
    for a, step in zip((a % rank for a in axes), each, strict=True):
        number = isinstance(step, (int, float))
        found.append((a, float(step) if number else 1.0, None if number else _abscissae(step, shape, a, "spacing")))
    return found


_SPACING = "... or number or numbers or list ..."


@declared(x="...", spacing=_SPACING)
def gradient(x: Any, spacing: Any = 1.0, *, axis: int | Sequence[int] | None = None, edge_order: Literal[1, 2] = 1) -> Any:
    """The slopes of samples x along each of some axes (default: all): of the parabola through an element and its neighbours;
    at the ends of a line (edge_order 1) or of the parabola through the last three (2).

    spacing is the distance of neighbours, a number; the places of the samples along the axis, a tensor of one axis; or a
    sequence of these, one for each axis. One tensor for one axis, else a tuple of them. numpy.gradient and torch.gradient.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.gradient(np.float32([1, 2, 4, 7])).tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    ref, made = describe(x, "x"), []
    for a, step, places in _axes_and_spacings(x, spacing, axis):
        result, target = output(x, ref.shape, result_element(Rule.FLOATING, ref.kind))
        for part in _stencils(ref.shape[a], edge_order):
            into = slab(target, a, part.start, part.stop)
            run(part.op, part.tensors(ref, places, a), x, into, spacing=step, **part.options)
        made.append(result)
    return one_or_all(made)


@declared(x="*shape", spacing=_SPACING, dy="*shape or list *shape")
def gradient_backward(
    dy: Any, x: Any, spacing: Any = 1.0, *, axis: int | Sequence[int] | None = None, edge_order: Literal[1, 2] = 1
) -> Any:
    """The gradient of `gradient`'s x, given that of each of its results (a tuple where there are several)."""
    ref = describe(x, "x")
    lines = _axes_and_spacings(x, spacing, axis)
    given = [describe(v, "dy") for v in (dy if isinstance(dy, (tuple, list)) else (dy,))]
    if len(given) != len(lines):
        raise InvalidProblemError(f"dy: {len(given)} of them; expected {len(lines)}, one for each axis")
    totals = []
    for (a, step, places), slopes in zip(lines, given, strict=True):
        pieces: list[tuple[int, Any]] = []
        for part in _stencils(ref.shape[a], edge_order):
            wrt = [f"f{i}" for i in range(len(part.reads))]
            own = slab(slopes, a, part.start, part.stop)
            found = gradients(part.op, part.tensors(ref, places, a), own, x, wrt, spacing=step, **part.options)
            pieces += [(part.reads[int(name[1:])], piece) for name, piece in found.items()]
        result, target = output(x, ref.shape, ref.kind)
        merged(pieces, a, target, x)
        totals.append((result, target))
    for _, target in totals[1:]:
        merged([(0, totals[0][1]), (0, target)], 0, totals[0][1], x)
    return totals[0][0]


# --- angles -----------------------------------------------------------------------------------------------------------


@declared(x="*before extent@axis *after")
def unwrap(x: Any, discont: FiniteFloat | None = None, axis: int = -1, *, period: PositiveFloat = 2.0 * math.pi) -> Any:
    """Angles along an axis, each moved by whole periods so that no step is longer than half of one: x + the running sum of
    what each step is short of its nearest one. Steps shorter than `discont` (default and least: half a period) stay.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unwrap(np.float32([0, 1, 2, -1, 0]), period=4).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    ref = describe(x, "x")
    axis = axis_of(axis, len(ref.shape))
    n, result = ref.shape[axis], output(x, ref.shape, ref.kind)
    copy(slab(ref, axis, 0, min(n, 1)), slab(result[1], axis, 0, min(n, 1)), x)
    if n > 1:
        tensors = {"lower": slab(ref, axis, 0, n - 1), "upper": slab(ref, axis, 1, n)}
        least = period / 2 if discont is None else float(discont)
        run(s.unwrapped, tensors, x, slab(result[1], axis, 1, n), axis=axis, period=float(period), discont=least)
    return result[0]


@declared(dy="...")
def unwrap_backward(dy: Any) -> Any:
    """The gradient of `unwrap`'s x, which is dy: the whole periods that are added do not depend on x."""
    ref = describe(dy, "dy")
    result, target = output(dy, ref.shape, ref.kind)
    copy(ref, target, dy)
    return result
