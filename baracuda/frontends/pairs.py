"""Distances of the pairs of one set of points."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.statistics import cdist_backward
from baracuda.frontends.views import filled, run
from baracuda.ops.declaration.words import Order
from baracuda.ops.statistics import pairs as s


def _points(x: Any) -> TensorRef:
    ref = describe(x, "x")
    if ref.shape[0] > s.MOST_POINTS:
        raise UnsupportedError(f"x: {ref.shape[0]} points; expected at most {s.MOST_POINTS}")
    return ref


@declared(x="points coordinates")
def pdist(x: Any, p: Order = 2.0, *, out: Any = None) -> Any:
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
    return run(s.pair_distances, {"x": _points(x)}, x, out, p=float(p))["y"]


def _pairs(points: int) -> tuple[int]:
    return (s.pairs_of(points),)


@declared(x="points coordinates", dy=_pairs, y=_pairs)
def pdist_backward(dy: Any, x: Any, y: Any = None, *, p: Order = 2.0) -> Any:
    """The gradient of `pdist`'s x; y is its result, computed again where it is not given.

    It is that of `cdist`, with dy at the place of both (i, j) and (j, i). Points that are one have no gradient (torch's
    convention); for p = 0 nothing has.
    """
    ref = _points(x)
    points = ref.shape[0]
    if points < 2:
        return filled(x, ref.shape, ref.kind, 0.0)
    dy, y = (None if v is None else run(s.square, {"pairs": v}, x, points=points)["y"] for v in (dy, y))
    return cdist_backward(dy, x, x, y, p=p, wrt=("a",))
