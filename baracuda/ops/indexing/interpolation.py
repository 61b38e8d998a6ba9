"""Linear interpolation between samples of a function of one variable, and its slopes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, const, fma, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, Shape, Space
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan

_S32 = ElementKind.S32


def _read(table: Table, index: Expr) -> Expr:
    value = take(table, index)
    assert isinstance(value, Expr)
    return value


@dataclass(frozen=True)
class _Segment:
    """Where x lies among the places xp of the samples fp.

    Attributes
    ----------
    index
        The number of the sample at the lower end of its segment; of the last but one beyond them.
    low, high, f_low, f_high
        The places and the samples at its ends.
    share
        Which part of the segment lies below x: exactly 0 and 1 at its ends.
    below, above
        Whether x is below all places, and above.
    """

    index: Expr
    low: Expr
    high: Expr
    f_low: Expr
    f_high: Expr
    share: Expr
    below: Expr
    above: Expr


def _count(x: Expr, xp: Table, steps: int) -> Expr:
    """How many of xp, which rise and are fewer than 2**steps, are at most x: bisection without a branch."""
    extent = table_extent(xp, 0, _S32)
    position = const(0, _S32)
    for step in reversed(range(steps)):
        ahead = position + (1 << step)
        position = select((ahead <= extent) & (_read(xp, ahead - 1) <= x), ahead, position)
    return position


def _segment(x: Expr, xp: Table, fp: Table, steps: int) -> _Segment:
    last = table_extent(xp, 0, _S32) - 1
    count = _count(x, xp, steps)
    index = f.maximum(f.minimum(count, last) - 1, 0)
    after = f.minimum(index + 1, last)
    low, high = _read(xp, index), _read(xp, after)
    inside = select(f.equal(x, low), 0.0, (x - low) / (high - low))
    above = x > high
    share = select(above | f.equal(x, high), 1.0, inside)
    return _Segment(index, low, high, _read(fp, index), _read(fp, after), share, x < low, above)


def _interp(x: Expr, xp: Table, fp: Table, *, steps: int = 0, left: Scalar | None = None, right: Scalar | None = None) -> Expr:
    at = _segment(x, xp, fp, steps)
    y = fma(at.share, at.f_high - at.f_low, at.f_low)
    y = select(f.equal(at.share, 1.0), at.f_high, select(f.equal(at.share, 0.0), at.f_low, y))
    y = select(at.above, at.f_high if right is None else right, y)
    return select(at.below, at.f_low if left is None else left, y)


def _interp_slopes(
    dy: Expr, x: Expr, xp: Table, fp: Table, *, steps: int = 0, left: bool = False, right: bool = False
) -> dict[str, Expr]:
    """The slope by x, and what x adds to the gradients of the two samples beside it and of their places; and which they are.

    `left` and `right`: whether the value beyond the samples is given, and not the sample at that end.
    """
    at = _segment(x, xp, fp, steps)
    outside = at.below | at.above
    width = at.high - at.low
    slope = select(outside | f.equal(width, 0.0), 0.0, (at.f_high - at.f_low) / width * dy)
    share = select(at.below, 0.0, at.share)
    if left:
        dy = select(at.below, 0.0, dy)
    if right:
        dy = select(at.above, 0.0, dy)
    return {
        "dx": slope,
        "df_low": dy * (1.0 - share),
        "df_high": dy * share,
        "dx_low": slope * (share - 1.0),
        "dx_high": -slope * share,
        "low": at.index,
        "high": f.minimum(at.index + 1, table_extent(xp, 0, _S32) - 1),
    }


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"x": tuple(range(len(shapes["x"]))), "xp": (None,), "fp": (None,)})


def _slopes_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    space = _space(shapes, options)
    return Space({"dy": space.axes["x"], **space.axes})


_SLOPES = ("dx", "df_low", "df_high", "dx_low", "dx_high", "low", "high")
_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "float"}
_interpolated = Op(_interp, Rule.COMMON, name="interp", space=_space, **_STATISTICS)
_slopes = Op(
    _interp_slopes, Rule.COMMON, name="interp_backward", results=_SLOPES, wide=_SLOPES, space=_slopes_space,
    differentiable=False, **_STATISTICS,
)  # fmt: skip


def _steps(xp: TensorRef) -> int:
    """Steps of bisection that tell how many of the places are at most x."""
    if xp.shape == (0,):
        raise InvalidProblemError("xp: shape is (0,); expected one axis of at least one place")
    return xp.shape[0].bit_length()


_SAMPLES: dict[str, Any] = {"x": "*shape : float", "xp": "places : float", "fp": "places : float"}


@composed(**_SAMPLES, out=True)
def interp(do: Steps, x: TensorRef, xp: TensorRef, fp: TensorRef, left: float | None = None, right: float | None = None) -> Any:
    """The piecewise linear function through the samples fp at the places xp, at each x: f0 + (x - x0) / (x1 - x0) * (f1 - f0)
    between the places x0 and x1 beside x, rounded with a fused multiply-add; exactly f0 at x0.

    x has any shape, xp and fp are (places), all of a float element; they promote to the result's. xp must rise; that is not
    checked, since it would wait for the device. Of places that are equal the last one counts. Below all places the result is
    `left`, by default fp[0], and above them `right`, by default fp[-1]; NaN where x is. The place is found by bisection, and all
    of it is one kernel with the same bits on every device. Raises `InvalidProblemError` for other shapes and where there is no
    place. Source: jax.numpy.interp, without `period`, which sorts xp.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.interp(np.float32([-1, 0.5, 1, 2.5]), np.float32([0, 1, 3]), np.float32([0, 10, 20])).tolist()
    [0.0, 5.0, 10.0, 17.5]
    """
    beyond = {n: v for n, v in {"left": left, "right": right}.items() if v is not None}
    return do.run(_interpolated, {"x": x, "xp": xp, "fp": fp}, do.out, steps=_steps(xp), **beyond)


@composed(**_SAMPLES, dy="*shape : float")
def interp_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    xp: TensorRef,
    fp: TensorRef,
    left: float | None = None,
    right: float | None = None,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `interp`'s x, xp and fp, those named in `wrt` or all.

    That of x is the slope of its segment, at a place that of the segment above it (of the last one at the last place), and 0
    beyond the places. Those of fp and xp are sums by destination in the canonical order, of a place's shares from the segments
    above it, then of those from the segments below it, each in the order of x.
    """
    tensors = {"x": x, "xp": xp, "fp": fp}
    steps, names = _steps(xp), chosen(wrt, tuple(tensors))
    computed = max((t.kind.compute for t in (dy, *tensors.values())), key=lambda kind: kind.bits)
    # what goes to the lower and to the upper end of each segment, and which ends these are
    of_places, of_samples, ends = (do.new((2, *x.shape), kind) for kind in (computed, computed, _S32))
    halves = [view(t, i * t.strides[0], x.shape, t.strides[1:]) for t in (of_samples, of_places, ends) for i in (0, 1)]
    options = {"steps": steps, "left": left is not None, "right": right is not None}
    dx, *_ = do.run(_slopes, {"dy": dy, **tensors}, (None, *halves), **options)
    results = {"x": dx}
    for name, shares in (("xp", of_places), ("fp", of_samples)):
        if name in names:
            d = ScatterDescriptor(ScatterKind.SUM, tensors[name].shape, 0, (2, *x.shape), computed, _S32)
            results[name] = do.plan(ScatterPlan, d, {"index": ends, "x": shares})
    return one_or_all([in_element(do, results[n], tensors[n].kind) for n in names])
