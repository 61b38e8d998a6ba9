"""Distances of the pairs of one set of points, and the square matrix that numbers of pairs stand in.

The pairs i < j of n points are numbered by i, then j. `baracuda.frontends.pairs` runs these ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Shape, Space
from baracuda.ops.reductions.reductions import ORDERS, Order
from baracuda.ops.statistics.statistics import distances

#: The most points: their pairs have numbers below 2**31.
MOST_POINTS = 1 << 16

_F64, _S32 = ElementKind.F64, ElementKind.S32


def pairs_of(points: int) -> int:
    """How many pairs there are."""
    return points * (points - 1) // 2


def _first(i: Expr, points: Expr) -> Expr:
    """The number of the first pair of point i. Exact: the product is below 2**34."""
    return i * (2.0 * points - 1.0 - i) * 0.5


def _pair(number: Expr, points: Expr) -> tuple[Expr, Expr]:
    """The two points of a pair.

    With b = 2n - 1, the first is floor((b - sqrt(b*b - 8 * number)) / 2). The radicand is exact; it is a perfect square for the
    first pair of a point, and a root that is not whole is further from the next whole number than its rounding.
    """
    b = 2.0 * points - 1.0
    i = f.floor((b - f.sqrt(b * b - 8.0 * number)) * 0.5)
    return i, number - _first(i, points) + i + 1.0


def _distances_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"x": (None, 1)}, {0: pairs_of(shapes["x"][0])})


def _distances(x: Table, *, p: Order = 2) -> Expr:
    i, j = _pair(cast(coord(0), _F64), table_extent(x, 0, _F64))
    a, b = (take(x, cast(k, _S32)) for k in (i, j))
    made: Expr = distances(a, b, p=p)
    return made


def _square_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"pairs": (None,)}, {0: options["points"], 1: options["points"]})


def _square(pairs: Table, *, points: int = 0) -> Expr:
    """The symmetric matrix of some numbers of pairs, 0 on its diagonal."""
    row, column = (cast(coord(a), _F64) for a in (0, 1))
    i, j = f.minimum(row, column), f.maximum(row, column)
    number = _first(i, f.extent(0, _F64)) + (j - i - 1.0)
    found = take(pairs, cast(number, _S32))
    assert isinstance(found, Expr)
    return select(f.equal(i, j), const(0.0, found.kind), found)


_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "float"}
pair_distances = Op(
    _distances,
    Rule.COMMON,
    name="pdist",
    rows=True,
    axis=1,
    keepdims=False,
    space=_distances_space,
    literals={"p": ORDERS},
    **_STATISTICS,
)
square = Op(_square, Rule.COMMON, name="square_of_pairs", space=_square_space, differentiable=False, **_STATISTICS)
