"""Distances of the pairs of one set of points, and the square matrix that numbers of pairs stand in.

The pairs i < j of n points are numbered by i, then j.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Shape, Space
from baracuda.ops.declaration.words import Order
from baracuda.ops.reductions import reductions as r
from baracuda.ops.statistics.distances import cdist_backward, distances

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


def _distances(x: Table, *, p: r.Order = 2) -> Expr:
    i, j = _pair(cast(coord(0), _F64), table_extent(x, 0, _F64))
    a, b = (take(x, cast(k, _S32)) for k in (i, j))
    result: Expr = distances(a, b, p=p)
    return result


def _square_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"pairs": (None,)}, {0: options["points"], 1: options["points"]})


def _square(pairs: Table, *, points: int = 0) -> Expr:
    """The symmetric matrix of some numbers of pairs, 0 on its diagonal."""
    row, column = (cast(coord(a), _F64) for a in (0, 1))
    i, j = f.minimum(row, column), f.maximum(row, column)
    number = _first(i, f.extent(0, _F64)) + (j - i - 1.0)
    distance = take(pairs, cast(number, _S32))
    assert isinstance(distance, Expr)
    return select(f.equal(i, j), const(0.0, distance.kind), distance)


_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "float"}
pair_distances = Op(
    _distances,
    Rule.COMMON,
    name="pdist",
    rows=True,
    axis=1,
    keepdims=False,
    space=_distances_space,
    literals={"p": r.ORDERS},
    **_STATISTICS,
)
square = Op(_square, Rule.COMMON, name="square_of_pairs", space=_square_space, differentiable=False, **_STATISTICS)


def _check(x: TensorRef) -> None:
    if x.shape[0] > MOST_POINTS:
        raise UnsupportedError(f"x: {x.shape[0]} points; expected at most {MOST_POINTS}")


@composed(x="points coordinates", out=True)
def pdist(do: Steps, x: TensorRef, p: Order = 2.0) -> Any:
    """The distances (sum |x[i] - x[j]|**p)**(1/p) of the pairs i < j of points, those of i = 0 first.

    x is (points, coordinates) of a float element; the result has points * (points - 1) / 2 elements and is the upper triangle of
    `cdist` of x with itself, row by row and bit by bit. p = 0 counts the coordinates that differ, inf takes
    the largest difference. Nothing of size points**2 is stored. Raises `InvalidProblemError` for another rank or a negative
    p, `UnsupportedError` for more than 65536 points. Source: torch.pdist.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pdist(np.float32([[0, 0], [3, 4], [0, 1]])).tolist()
    [5.0, 1.0, 4.242640495300293]
    """
    _check(x)
    return do.run(pair_distances, {"x": x}, do.out, p=float(p))


def _pairs(points: int) -> tuple[int]:
    return (pairs_of(points),)


@composed(x="points coordinates", dy=_pairs, y=_pairs)
def pdist_backward(do: Steps, dy: TensorRef, x: TensorRef, y: Given = None, *, p: Order = 2.0) -> Any:
    """The gradient of `pdist`'s x; y is its result, computed again where it is not given.

    It is that of `cdist`, with dy at the place of both (i, j) and (j, i). Points that are one have no gradient (torch's
    convention); for p = 0 nothing has.
    """
    _check(x)
    points = x.shape[0]
    if points < 2:
        return do.filled(x.shape, x.kind, 0.0)
    slopes, distance = (None if v is None else do.run(square, {"pairs": v}, points=points) for v in (dy, y))
    return cdist_backward(do, slopes, x, x, distance, p=p, wrt=("a",))
