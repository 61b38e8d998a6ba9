"""Gradients of combinations by destination: what an element gets of the gradient of its destination's result.

Each is a formula of the destination's gradient, of the element, and of what is known of the destination. It is used twice: by
elements that lie at their destination already, and by those that an index leads there, for which everything but the element is
read at that index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, Value
from baracuda.ops.reductions.reductions import slope_of_factor

#: A tensor that keeps its own element, read at indices.
OwnTable: TypeAlias = Table
_S32 = ElementKind.S32


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    """What destinations have is read at an index along their axis. An index of the destinations' rank is each element's own;
    one of a single axis is that of slices. So is a number for each place of the axis one for slices."""
    rank, axis = len(shapes["v"] if "v" in shapes else shapes["dy"]), options["axis"]
    whole = tuple(range(rank))
    read_axes = tuple(None if a == axis else a for a in whole)
    places = {n: read_axes if len(s) == rank else (None,) for n, s in shapes.items()}
    places["index"] = whole if len(shapes["index"]) == rank else (axis,)
    return Space(places | ({"v": whole} if "v" in shapes else {}))


def _at(index: Expr, wrap: bool, table: Table) -> Expr:
    value = take(table, index, wrap=wrap)
    assert isinstance(value, Expr)
    return value


# --- means ------------------------------------------------------------------------------------------------------------


def _share(dy: Expr, count: Expr, joined: bool) -> Expr:
    """dy over the number of elements, of which the destination's own is one where it counts."""
    return dy / cast(count + 1 if joined else f.maximum(count, 1), dy.kind)


def _mean(dy: Expr, count: Own, *, joined: bool = False) -> Expr:
    return _share(dy, count, joined)


def _mean_at(dy: Table, count: OwnTable, index: Own, *, axis: int = 0, wrap: bool = False, joined: bool = False) -> Expr:
    return _share(_at(index, wrap, dy), _at(index, wrap, count), joined)


# --- products ---------------------------------------------------------------------------------------------------------


def _factors(v: Expr) -> dict[str, Stored]:
    """Whether a factor is zero, as a number, and the factor with 1 for zero."""
    zero = f.equal(v, 0.0)
    return {"zeros": Stored(cast(zero, _S32), _S32), "others": Stored(select(zero, 1.0, v), v.kind)}


def _product(dy: Expr, v: Expr, others: Own, zeros: Own) -> Expr:
    return dy * slope_of_factor(v, others, cast(zeros, v.kind))


def _product_at(dy: Table, v: Expr, others: OwnTable, zeros: OwnTable, index: Own, *, axis: int = 0, wrap: bool = False) -> Expr:
    return _product(_at(index, wrap, dy), v, _at(index, wrap, others), _at(index, wrap, zeros))


# --- maxima and minima ------------------------------------------------------------------------------------------------


def _is_best(v: Expr, best: Expr) -> Stored:
    """Whether an element is its destination's result, as a number."""
    return Stored(cast(f.equal(v, best), _S32), _S32)


def _is_best_at(v: Expr, best: Table, index: Own, *, axis: int = 0, wrap: bool = False) -> Stored:
    return _is_best(v, _at(index, wrap, best))


def _best(dy: Expr, v: Expr, best: Expr, ties: Own) -> Expr:
    """An equal share for each of the elements that are the result; NaN where NaN is it, which is equal to none."""
    return cast(f.equal(v, best), dy.kind) * (dy / cast(ties, dy.kind))


def _best_at(dy: Table, v: Expr, best: Table, ties: OwnTable, index: Own, *, axis: int = 0, wrap: bool = False) -> Expr:
    return _best(_at(index, wrap, dy), v, _at(index, wrap, best), _at(index, wrap, ties))


# --- sums, and what counts only where nothing goes ---------------------------------------------------------------------


def _sum_at(dy: Table, index: Own, *, axis: int = 0, wrap: bool = False) -> Value:
    return take(dy, index, wrap=wrap)


def _alone(dy: Value, count: Own) -> Value:
    """dy where nothing goes."""
    return map_parts(lambda part: select(f.equal(count, 0), part, 0.0), dy)


_KEPT: dict[str, Any] = {"family": "indexing", "takes": "float", "differentiable": False}
_READ: dict[str, Any] = {"space": _space, **_KEPT}
mean = Op(_mean, Rule.COMMON, name="scatter_mean_slopes", **_KEPT)
mean_at = Op(_mean_at, Rule.COMMON, name="scatter_mean_slopes_at", **_READ)
factors = Op(_factors, Rule.COMMON, name="scatter_factors", results=("zeros", "others"), **_KEPT)
product = Op(_product, Rule.COMMON, name="scatter_prod_slopes", **_KEPT)
product_at = Op(_product_at, Rule.COMMON, name="scatter_prod_slopes_at", **_READ)
is_best = Op(_is_best, Rule.COMMON, name="scatter_is_best", **_KEPT)
is_best_at = Op(_is_best_at, Rule.COMMON, name="scatter_is_best_at", **_READ)
best = Op(_best, Rule.COMMON, name="scatter_best_slopes", **_KEPT)
best_at = Op(_best_at, Rule.COMMON, name="scatter_best_slopes_at", **_READ)
sum_at = Op(_sum_at, Rule.COMMON, name="scatter_sum_slopes_at", **_READ | {"takes": "any"})
alone = Op(_alone, Rule.COMMON, name="scatter_alone", **_KEPT | {"takes": "float,complex"})
