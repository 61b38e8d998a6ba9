"""Linear interpolation between samples, forward and its slopes. `baracuda.frontends.interpolation` runs these ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, const, fma, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, Shape, Space

_S32 = ElementKind.S32


def _read(table: Table, index: Expr) -> Expr:
    found = take(table, index)
    assert isinstance(found, Expr)
    return found


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
    found = const(0, _S32)
    for step in reversed(range(steps)):
        ahead = found + (1 << step)
        found = select((ahead <= extent) & (_read(xp, ahead - 1) <= x), ahead, found)
    return found


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
    made = _space(shapes, options)
    return Space({"dy": made.axes["x"], **made.axes})


_SLOPES = ("dx", "df_low", "df_high", "dx_low", "dx_high", "low", "high")
_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "float"}
interp = Op(_interp, Rule.COMMON, name="interp", space=_space, **_STATISTICS)
interp_slopes = Op(
    _interp_slopes, Rule.COMMON, name="interp_backward", results=_SLOPES, wide=_SLOPES, space=_slopes_space,
    differentiable=False, **_STATISTICS,
)  # fmt: skip
