"""Slopes of sampled functions, and angles without jumps: formulas over views of neighbours along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, slab
from baracuda.formula import functions as f
from baracuda.formula import scans as s
from baracuda.formula.expr import Expr, cast, select
from baracuda.formula.integer_functions import remainder
from baracuda.ops.declaration.composition import Steps, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, result_element
from baracuda.ops.declaration.traced import Own, Scalar, Value
from baracuda.ops.declaration.words import FiniteFloat, PositiveFloat
from baracuda.ops.statistics.integrals import places_of

# --- slopes -----------------------------------------------------------------------------------------------------------


def _slope(f0: Value, f1: Value, x0: Own | None = None, x1: Own | None = None, *, spacing: Scalar = 1.0) -> Value:
    """The slope of a line through two points."""
    return (f1 - f0) / (spacing if x0 is None or x1 is None else cast(x1, f0.kind) - cast(x0, f0.kind))


def _slope_of_three(
    f0: Value,
    f1: Value,
    f2: Value,
    x0: Own | None = None,
    x1: Own | None = None,
    x2: Own | None = None,
    *,
    spacing: Scalar = 1.0,
    at: int = 1,
) -> Value:
    """The slope of the parabola through three points at one of them."""
    if x0 is None or x1 is None or x2 is None:
        if at == 1:
            return (f2 - f0) / (spacing * 2.0)
        near, far = (f0, f2) if at == 0 else (f2, f0)
        rise = f1 * 4.0 - near * 3.0 - far
        return (rise if at == 0 else -rise) / (spacing * 2.0)
    k = f0.kind
    before, after = cast(x1, k) - cast(x0, k), cast(x2, k) - cast(x1, k)
    whole = before + after
    weights = {
        0: (-(before + whole) / (before * whole), whole / (before * after), -before / (after * whole)),
        1: (-after / (before * whole), (after - before) / (before * after), before / (after * whole)),
        2: (after / (before * whole), -whole / (before * after), (after + whole) / (after * whole)),
    }[at]
    return f0 * weights[0] + f1 * weights[1] + f2 * weights[2]


_SLOPES: dict[str, Any] = {"family": "statistics", "takes": "float,complex"}
_of_two = Op(_slope, Rule.FLOATING, name="gradient", **_SLOPES)
_of_three = Op(_slope_of_three, Rule.FLOATING, name="gradient_of_three", **_SLOPES)


@dataclass(frozen=True)
class _Stencil:
    """Slopes at the points from `start` to before `stop` of an axis, of points that begin at each of `reads`."""

    op: Op
    start: int
    stop: int
    reads: tuple[int, ...]
    options: dict[str, Any]

    def tensors(self, x: TensorRef, places: TensorRef | None, axis: int) -> dict[str, TensorRef]:
        count = self.stop - self.start
        operands = {f"f{i}": slab(x, axis, at, at + count) for i, at in enumerate(self.reads)}
        if places is not None:
            operands |= {f"x{i}": slab(places, axis, at, at + count) for i, at in enumerate(self.reads)}
        return operands


def _stencils(n: int, edge_order: int) -> list[_Stencil]:
    if n <= edge_order:
        raise InvalidProblemError(f"x: {n} points along an axis; expected at least {edge_order + 1}")
    inside = [_Stencil(_of_three, 1, n - 1, (0, 1, 2), {"at": 1})] if n > 2 else []
    if edge_order == 1:
        return [_Stencil(_of_two, 0, 1, (0, 1), {}), *inside, _Stencil(_of_two, n - 1, n, (n - 2, n - 1), {})]
    ends = [
        _Stencil(_of_three, at, at + 1, (first, first + 1, first + 2), {"at": which})
        for at, first, which in ((0, 0, 0), (n - 1, n - 3, 2))
    ]
    return [ends[0], *inside, ends[1]]


def _axes_and_spacings(x: TensorRef, spacing: Any, axis: int | Sequence[int] | None) -> list[tuple[int, float, TensorRef | None]]:
    shape, rank = x.shape, len(x.shape)
    axes = list(range(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    if not axes or len({a % rank for a in axes if -rank <= a < rank}) != len(axes):
        raise InvalidProblemError(f"axis: {axis!r} of shape {shape}; expected different axes that it has, one at least")
    each = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(axes)
    if len(each) != len(axes):
        raise InvalidProblemError(f"spacing: {len(each)} for {len(axes)} axes; expected as many")
    steps: list[tuple[int, float, TensorRef | None]] = []
    for a, step in zip((a % rank for a in axes), each, strict=True):
        number = isinstance(step, (int, float))
        steps.append((a, float(step) if number else 1.0, None if number else places_of(step, shape, a, "spacing")))
    return steps


_SPACING = "... or number or numbers or list ..."


@composed(x="...", spacing=_SPACING)
def gradient(
    do: Steps, x: TensorRef, spacing: Any = 1.0, *, axis: int | Sequence[int] | None = None, edge_order: Literal[1, 2] = 1
) -> Any:
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
    made = []
    for a, step, places in _axes_and_spacings(x, spacing, axis):
        made.append(slopes := do.new(x.shape, result_element(Rule.FLOATING, x.kind)))
        for part in _stencils(x.shape[a], edge_order):
            into = slab(slopes, a, part.start, part.stop)
            do.run(part.op, part.tensors(x, places, a), into, spacing=step, **part.options)
    return one_or_all(made)


@composed(x="*shape", spacing=_SPACING, dy="*shape or list *shape")
def gradient_backward(
    do: Steps,
    dy: TensorRef | Sequence[TensorRef],
    x: TensorRef,
    spacing: Any = 1.0,
    *,
    axis: int | Sequence[int] | None = None,
    edge_order: Literal[1, 2] = 1,
) -> TensorRef:
    """The gradient of `gradient`'s x, given that of each of its results (a tuple where there are several)."""
    lines = _axes_and_spacings(x, spacing, axis)
    cotangents = [dy] if isinstance(dy, TensorRef) else dy
    if len(cotangents) != len(lines):
        raise InvalidProblemError(f"dy: {len(cotangents)} of them; expected {len(lines)}, one for each axis")
    totals = []
    for (a, step, places), slopes in zip(lines, cotangents, strict=True):
        pieces: list[tuple[int, TensorRef]] = []
        for part in _stencils(x.shape[a], edge_order):
            wrt = [f"f{i}" for i in range(len(part.reads))]
            own = slab(slopes, a, part.start, part.stop)
            operand_slopes = do.gradients(part.op, part.tensors(x, places, a), own, wrt, spacing=step, **part.options)
            pieces += [(part.reads[int(name[1:])], piece) for name, piece in operand_slopes.items()]
        totals.append(target := do.new_like(x))
        do.merge(pieces, a, target)
    for target in totals[1:]:
        do.merge([(0, totals[0]), (0, target)], 0, totals[0])
    return totals[0]


# --- angles -----------------------------------------------------------------------------------------------------------


def _unwrapped(lower: Expr, upper: Expr, *, period: Scalar = 1.0, discont: Scalar = 0.0) -> Expr:
    """All but the first of a row of angles, moved by whole periods so that no step is longer than half of one."""
    step, half = upper - lower, period * 0.5
    turned = remainder(step + half, period) - half
    turned = select(f.equal(turned, -half) & (step > 0.0), half, turned)
    return upper + s.cumsum(select(abs(step) < discont, 0.0, turned - step))


_unwrapped_row = Op(_unwrapped, Rule.COMMON, name="unwrap", family="statistics", takes="float", rows=True)


@composed(x="*before extent@axis *after")
def unwrap(
    do: Steps, x: TensorRef, discont: FiniteFloat | None = None, axis: int = -1, *, period: PositiveFloat = 2.0 * math.pi
) -> TensorRef:
    """Angles along an axis, each moved by whole periods so that no step is longer than half of one: x + the running sum of
    what each step is short of its nearest one. Steps shorter than `discont` (default and least: half a period) stay.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unwrap(np.float32([0, 1, 2, -1, 0]), period=4).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    axis = axis_of(axis, len(x.shape))
    n, y = x.shape[axis], do.new_like(x)
    do.copy(slab(x, axis, 0, min(n, 1)), slab(y, axis, 0, min(n, 1)))
    if n > 1:
        tensors = {"lower": slab(x, axis, 0, n - 1), "upper": slab(x, axis, 1, n)}
        least = period / 2 if discont is None else float(discont)
        do.run(_unwrapped_row, tensors, slab(y, axis, 1, n), axis=axis, period=float(period), discont=least)
    return y


@composed(dy="...")
def unwrap_backward(do: Steps, dy: TensorRef) -> TensorRef:
    """The gradient of `unwrap`'s x, which is dy: the whole periods that are added do not depend on x."""
    do.copy(dy, dx := do.new_like(dy))
    return dx
