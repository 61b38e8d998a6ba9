"""Where quantiles lie in rows that are in order, and what they are: formulas of a row in order and of q."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, fma, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Host, Own, Shape, Space, Stored

_F64, _S64 = ElementKind.F64, ElementKind.S64

#: NumPy's names of the ways to take a quantile between elements; PyTorch has the last five.
Interpolation = Literal[
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "median_unbiased", "normal_unbiased", "linear", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip

#: alpha and beta of those that lie at q * n + alpha + q * (1 - alpha - beta) - 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


@dataclass(frozen=True)
class _Place:
    """A quantile between two places of a row in order; `share` says how far above the lower one."""

    low: Expr
    high: Expr
    share: Expr


def _read(table: Table, at: Expr) -> Expr:
    value = take(table, at)
    assert isinstance(value, Expr)
    return value


def _is_nan(x: Expr) -> Expr:
    return f.not_equal(x, x)


def _numbers(ordered: Table, steps: int) -> Expr:
    """How many elements of a row are numbers: those before the first NaN."""
    extent = table_extent(ordered, 0, _S64)
    position = const(0, _S64)
    for step in reversed(range(steps)):
        ahead = position + (1 << step)
        found = _read(ordered, ahead - 1)
        position = select((ahead <= extent) & f.equal(found, found), ahead, position)
    return position


def _place(ordered: Table, q: Expr, interpolation: str, steps: int, skip_nan: bool) -> _Place:
    floats = ordered.kind.is_float
    extent = table_extent(ordered, 0, _S64)
    count = _numbers(ordered, steps) if skip_nan and floats else extent
    n = cast(count, _F64)
    last = n - 1.0
    q = select(_is_nan(q), 0.0, q)
    zero, one = const(0.0, _F64), const(1.0, _F64)
    if interpolation in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[interpolation]
        at = n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0
    elif interpolation in ("inverted_cdf", "averaged_inverted_cdf"):
        at = n * q - 1.0
    elif interpolation == "closest_observation":
        at = n * q - 1.5
    else:
        at = last * q
    below = f.floor(at)
    whole = f.equal(at, below)
    if interpolation == "lower":
        at = below
    elif interpolation == "higher":
        at = select(whole, below, below + 1.0)
    elif interpolation == "nearest":
        at = f.rint(at)
    elif interpolation == "midpoint":
        at = select(whole, below, below + 0.5)
    elif interpolation == "inverted_cdf":
        at = select(whole, below, below + 1.0)
    elif interpolation == "averaged_inverted_cdf":
        at = select(whole, below + 0.5, below + 1.0)
    elif interpolation == "closest_observation":
        odd = f.not_equal(f.floor(below * 0.5) * 2.0, below)
        at = select(whole & odd, below, below + 1.0)
    at = f.maximum(f.minimum(at, last), zero)
    low = f.floor(at)
    place, share = cast(low, _S64), at - low
    if floats and not skip_nan:  # a NaN is the last of its row, and the result
        end = extent - 1
        poisoned = _is_nan(_read(ordered, end))
        place, share = select(poisoned, end, place), select(poisoned, zero, share)
    high = f.minimum(place + 1, f.maximum(count - 1, 0))
    share = select(high < place, zero, f.minimum(share, one))
    return _Place(place, f.maximum(high, place), share)


def _kinds(kind: ElementKind) -> tuple[ElementKind, ElementKind]:
    """What is computed in, and what a result is stored in, of rows of an element."""
    if kind.is_float:
        return kind.compute, kind
    return (_F64 if kind.bits >= 32 else ElementKind.F32), ElementKind.F32


def _value(ordered: Table, q: Expr, interpolation: str, steps: int, skip_nan: bool) -> Stored:
    """low + share * (high - low) by a fused multiply-add, from the nearer of the two; halfway the half of each, added."""
    compute, stored = _kinds(ordered.parts[0][1])
    at = _place(ordered, q, interpolation, steps, skip_nan)
    a, b = (cast(_read(ordered, i), compute) for i in (at.low, at.high))
    width, share, rest = b - a, cast(at.share, compute), cast(at.share - 1.0, compute)
    between = select((at.share < 0.5) | f.equal(abs(width), float("inf")), fma(share, width, a), fma(rest, width, b))
    between = select(f.equal(at.share, 0.5), fma(const(0.5, compute), a, b * 0.5), between)
    y = select(f.equal(share, 0.0) | f.equal(a, b), a, select(f.equal(rest, 0.0), b, between))
    return Stored(cast(select(_is_nan(q), float("nan"), y), stored.compute), stored)


def _slopes(dy: Expr, order: Table, ordered: Table, q: Expr, interpolation: str, steps: int, skip_nan: bool) -> dict[str, Any]:
    at = _place(ordered, q, interpolation, steps, skip_nan)
    share = cast(at.share, dy.kind)
    return {
        "low": Stored(_read(order, at.low), _S64),
        "high": Stored(_read(order, at.high), _S64),
        "low_share": dy * (1.0 - share),
        "high_share": dy * share,
    }


def _at_number(
    ordered: Own, *, q: Host = 0.5, interpolation: Interpolation = "linear", steps: int = 0, skip_nan: bool = False, axis: int = 0
) -> Stored:
    assert isinstance(ordered, Table)
    return _value(ordered, as_expr(q, _F64), interpolation, steps, skip_nan)


def _at_tensor(
    ordered: Own, q: Own, *, interpolation: Interpolation = "linear", steps: int = 0, skip_nan: bool = False, axis: int = 0
) -> Stored:
    assert isinstance(ordered, Table)
    assert isinstance(q, Expr)
    return _value(ordered, cast(q, _F64), interpolation, steps, skip_nan)


def _place_at_half(
    ordered: Own, *, interpolation: Interpolation = "lower", steps: int = 0, skip_nan: bool = False, axis: int = 0
) -> Stored:
    """The place of a median that is one of the elements."""
    assert isinstance(ordered, Table)
    return Stored(_place(ordered, const(0.5, _F64), interpolation, steps, skip_nan).low, _S64)


def _slopes_at_number(
    dy: Expr,
    ordered: Own,
    order: Own,
    *,
    q: Host = 0.5,
    interpolation: Interpolation = "linear",
    steps: int = 0,
    skip_nan: bool = False,
    axis: int = 0,
) -> dict[str, Any]:
    assert isinstance(ordered, Table)
    assert isinstance(order, Table)
    return _slopes(dy, order, ordered, as_expr(q, _F64), interpolation, steps, skip_nan)


def _slopes_at_tensor(
    dy: Expr,
    ordered: Own,
    order: Own,
    q: Own,
    *,
    interpolation: Interpolation = "linear",
    steps: int = 0,
    skip_nan: bool = False,
    axis: int = 0,
) -> dict[str, Any]:
    assert isinstance(ordered, Table)
    assert isinstance(order, Table)
    assert isinstance(q, Expr)
    return _slopes(dy, order, ordered, cast(q, _F64), interpolation, steps, skip_nan)


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    """Rows lie along the axis of their tensors; the other axes are the space's, after one of q where that is a tensor."""
    axis, lead = options["axis"], int("q" in shapes)
    rank = len(shapes["ordered"])
    read = tuple(None if a == axis else lead + a - (a > axis) for a in range(rank))
    places: dict[str, Any] = {n: read for n in ("ordered", "order") if n in shapes}
    if lead:
        places["q"] = (0,)
    if "dy" in shapes:
        places["dy"] = tuple(range(len(shapes["dy"])))
    return Space(places)


_SLOPES = ("low", "high", "low_share", "high_share")
_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "float,int,bool", "space": _space, "differentiable": False}
at_number = Op(_at_number, Rule.EACH, name="quantile_at_number", **_STATISTICS)
at_tensor = Op(_at_tensor, Rule.EACH, name="quantile_at_tensor", **_STATISTICS)
place_at_half = Op(_place_at_half, Rule.EACH, name="place_at_half", **_STATISTICS)
slopes_at_number = Op(
    _slopes_at_number, Rule.COMMON, name="quantile_slopes_at_number", results=_SLOPES, wide=_SLOPES, **_STATISTICS
)
slopes_at_tensor = Op(
    _slopes_at_tensor, Rule.COMMON, name="quantile_slopes_at_tensor", results=_SLOPES, wide=_SLOPES, **_STATISTICS
)
