"""Integrals of sampled functions by the trapezoidal rule: sums over views of neighbours along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, expanded_dims, slab
from baracuda.formula import functions as f
from baracuda.formula import scans as s
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Value
from baracuda.ops.declaration.words import FiniteFloat, Wrt


def _areas(lower: Value, upper: Value, x_lower: Expr | None, x_upper: Expr | None, dx: Scalar) -> Value:
    """Areas of trapezoids between neighbours."""
    k = lower.kind
    width = dx if x_lower is None or x_upper is None else cast(x_upper, k) - cast(x_lower, k)
    return (lower + upper) * (width * 0.5)


def _area(lower: Value, upper: Value, x_lower: Own | None = None, x_upper: Own | None = None, *, dx: Scalar = 1.0) -> Value:
    return map_parts(f.sum_, _areas(lower, upper, x_lower, x_upper, dx))


def _running_area(
    lower: Value, upper: Value, x_lower: Own | None = None, x_upper: Own | None = None, *, dx: Scalar = 1.0
) -> Value:
    return map_parts(s.cumsum, _areas(lower, upper, x_lower, x_upper, dx))


_AREAS: dict[str, Any] = {"family": "statistics", "takes": "float,complex", "rows": True}
_whole = Op(_area, Rule.FLOATING, name="trapezoid", keepdims=False, **_AREAS)
_running = Op(_running_area, Rule.FLOATING, name="cumulative_trapezoid", **_AREAS)


def places_of(x: TensorRef | None, shape: Sequence[int], axis: int, name: str = "x") -> TensorRef | None:
    """x in the space of y: one number for each point of the axis, or for each element."""
    if x is None:
        return None
    if x.kind.category is Category.COMPLEX:
        raise InvalidProblemError(f"{name}: element is {x.kind}; expected real places")
    if len(x.shape) <= len(shape):
        found: TensorRef = _placed(x, axis, len(shape))
        if all(m in (1, n) for m, n in zip(found.shape, shape, strict=True)) and found.shape[axis] == shape[axis]:
            return found
    raise InvalidProblemError(f"{name}: shape is {x.shape}; expected ({shape[axis]},) or {tuple(shape)}")


def _placed(x: TensorRef, axis: int, rank: int) -> Any:
    """A tensor along the axes of y's space that those of x lie along."""
    return expanded_dims(x, (axis,) if len(x.shape) == 1 else range(rank - len(x.shape), rank), rank)


def _neighbours(y: TensorRef, x: TensorRef | None, axis: int) -> dict[str, TensorRef]:
    n = y.shape[axis]
    lower, upper = (0, max(n - 1, 0)), (min(n, 1), n)
    operands = {"lower": slab(y, axis, *lower), "upper": slab(y, axis, *upper)}
    if x is not None:
        operands |= {"x_lower": slab(x, axis, *lower), "x_upper": slab(x, axis, *upper)}
    return operands


def _integral(do: Steps, op: Op, y: TensorRef, x: TensorRef | None, dx: float, axis: int) -> Any:
    axis = axis_of(axis, len(y.shape))
    return do.run(op, _neighbours(y, places_of(x, y.shape, axis), axis), axis=axis, dx=dx)


def _slopes(do: Steps, op: Op, dy: TensorRef, y: TensorRef, x: TensorRef | None, dx: float, axis: int, wrt: Wrt) -> Any:
    rank = len(y.shape)
    axis = axis_of(axis, rank)
    parts = {"y": ("lower", "upper"), "x": ("x_lower", "x_upper")}
    tensors = _neighbours(y, places_of(x, y.shape, axis), axis)
    names = chosen(wrt, ("y",) if x is None else ("y", "x"))
    found = do.gradients(op, tensors, dy, [p for n in names for p in parts[n]], axis=axis, dx=dx)
    made = []
    for name in names:
        tensor = y if name == "y" or x is None else x
        made.append(gradient := do.new_like(tensor))
        pieces = [(i, found[p]) for i, p in enumerate(parts[name])] if y.shape[axis] else []
        do.merge(pieces, axis, _placed(gradient, axis, rank) if name == "x" else gradient)
    return one_or_all(made)


_SAMPLES: dict[str, Any] = {"y": "*before extent@axis *after", "x": "..."}


@composed(**_SAMPLES)
def trapezoid(do: Steps, y: TensorRef, x: Given = None, *, dx: FiniteFloat = 1.0, axis: int = -1) -> Any:
    """The integral of samples y by the trapezoidal rule: sum (x[i+1] - x[i]) * (y[i] + y[i+1]) / 2 along an axis.

    x are the places of the samples, one number for each point of the axis or one for each of y; without it they are dx apart.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.trapezoid(np.float32([0, 1, 4]), np.float32([0, 1, 2])))
    3.0
    """
    return _integral(do, _whole, y, x, dx, axis)


@composed(**_SAMPLES, dy="*before *after")
def trapezoid_backward(
    do: Steps, dy: TensorRef, y: TensorRef, x: Given = None, *, dx: FiniteFloat = 1.0, axis: int = -1, wrt: Wrt = None
) -> Any:
    """The gradients of `trapezoid`'s y and x, those named in `wrt` or all that are given; dy is that of the integral."""
    return _slopes(do, _whole, dy, y, x, dx, axis, wrt)


@composed(**_SAMPLES)
def cumulative_trapezoid(do: Steps, y: TensorRef, x: Given = None, *, dx: FiniteFloat = 1.0, axis: int = -1) -> Any:
    """The integral up to each sample but the first by the trapezoidal rule; parameters as for `trapezoid`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.cumulative_trapezoid(np.float32([0, 1, 4])).tolist()
    [0.5, 3.0]
    """
    return _integral(do, _running, y, x, dx, axis)


@composed(**_SAMPLES, dy="*before extent-1 *after")
def cumulative_trapezoid_backward(
    do: Steps, dy: TensorRef, y: TensorRef, x: Given = None, *, dx: FiniteFloat = 1.0, axis: int = -1, wrt: Wrt = None
) -> Any:
    """The gradients of `cumulative_trapezoid`'s y and x, those named in `wrt` or all that are given."""
    return _slopes(do, _running, dy, y, x, dx, axis, wrt)
