"""Histograms: how many elements lie in each bin, or what they weigh.

A bin lies between two edges, and has its lower one; the last bin has both. What lies outside, and NaN, is in none. Edges that are
not given lie at low + i * (high - low) / bins, by a fused multiply-add, and the last is high itself; an element's bin is found
among the edges themselves. Counts are exact, and weights are summed in the order of the elements (`lowering/scatter/problem.py`):
the same bits on every device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, coord, fma, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, Value, WholeScalar
from baracuda.ops.declaration.words import Positive
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.reductions import reductions
from baracuda.ops.sorting.rows import flat
from baracuda.ops.sorting.searches import position_in

_S32, _S64, _F32 = ElementKind.S32, ElementKind.S64, ElementKind.F32
#: The lowest and the highest edge.
Range = tuple[float, float] | None


def _edges(low: Expr, high: Expr, like: Expr, *, bins: WholeScalar = 1) -> Expr:
    """Edges from low to high, each a tensor of one element; half a step on both sides of it where they are one number."""
    same = f.equal(low, high)
    low, high = select(same, low - 0.5, low), select(same, high + 0.5, high)
    number = cast(coord(0), _S64)
    count = cast(bins, low.kind) if isinstance(bins, Expr) else const(bins, low.kind)
    step = (high - low) / count
    return select(f.equal(number, bins), high, fma(cast(number, low.kind), step, low))


def _bin(x: Value, edges: Table, before: Own | None = None, *, steps: int = 0) -> Stored:
    """The number of an element's bin, after those of the axes before; -1 where it is in none."""
    assert isinstance(x, Expr)
    at = position_in(edges, x, None, steps, True, _S32)
    count = table_extent(edges, 0, _S32) - 1
    last = take(edges, count)
    assert isinstance(last, Expr)
    own = select(f.equal(x, last), count, at) - 1
    inside = (own >= 0) & (own < count) & f.equal(x, x)
    number = cast(own, _S64)
    if before is not None:
        assert isinstance(before, Expr)
        inside = inside & (before >= 0)
        number = before * cast(count, _S64) + number
    return Stored(select(inside, number, const(-1, _S64)), _S64)


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({n: (None,) if n == "edges" else (0,) for n in shapes})


def _density(hist: Expr, total: Expr, edges: Table, *, axis: int = 0) -> Expr:
    width = take(edges, cast(coord(axis), _S32) + 1), take(edges, cast(coord(axis), _S32))
    assert isinstance(width[0], Expr)
    assert isinstance(width[1], Expr)
    return hist / total / (width[0] - width[1])


def _density_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    rank = len(shapes["hist"])
    return Space({"hist": tuple(range(rank)), "total": tuple(range(rank)), "edges": (None,)})


_STATISTICS: dict[str, Any] = {"family": "statistics", "takes": "any", "differentiable": False}
_edges_op = Op(_edges, Rule.COMMON, name="edges_of_bins", **_STATISTICS)
_bin_op = Op(_bin, Rule.COMMON, name="bin_of", space=_space, **_STATISTICS)
_density_op = Op(_density, Rule.COMMON, name="density_of_bins", space=_density_space, **_STATISTICS)


def _edge_kind(x: TensorRef) -> ElementKind:
    """The element of edges: that of x, f32 of integers and bool."""
    if x.kind.is_float:
        return x.kind
    return _F32


def edges_of(do: Steps, x: TensorRef, bins: Any, limits: Range) -> TensorRef:
    """The edges of bins, which are given, or whose number is."""
    if isinstance(bins, TensorRef):
        if bins.shape[0] < 2:
            raise InvalidProblemError(f"bins: shape is {bins.shape}; expected two edges or more")
        return bins
    if isinstance(bins, (list, tuple)):
        if len(bins) < 2:
            raise InvalidProblemError(f"bins: {bins!r}; expected two edges or more")
        edges = do.new((len(bins),), _edge_kind(x))
        for i, edge in enumerate(bins):
            do.copy(do.filled((1,), edges.kind, float(edge)), view(edges, i * edges.strides[0], (1,), edges.strides))
        return edges
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise InvalidProblemError(f"bins: {bins!r}; expected a whole number of 1 or more, or edges")
    kind = _edge_kind(x)
    low: TensorRef
    high: TensorRef
    if limits is not None:
        if not limits[0] <= limits[1]:
            raise InvalidProblemError(f"range: {limits}; expected a lower end that is not above the upper one")
        low, high = (do.filled((1,), kind, float(end)) for end in limits)
    elif not prod(x.shape):
        low, high = do.filled((1,), kind, 0.0), do.filled((1,), kind, 1.0)
    else:
        row = flat(do, x)
        found = (do.run(op, {"x": row}, axis=0, keepdims=True) for op in (reductions.min_, reductions.max_))
        low, high = (in_element(do, end, kind) for end in found)
    edges = do.new((bins + 1,), kind)
    do.run(_edges_op, {"low": low, "high": high, "like": edges}, edges, bins=bins)
    return edges


@dataclass(frozen=True)
class _Axis:
    """The elements along one axis of a histogram, as a row, and its edges."""

    x: TensorRef
    edges: TensorRef


def _counted(do: Steps, axes: Sequence[_Axis], weights: Given, density: bool) -> TensorRef:
    """The histogram of some rows together."""
    number: TensorRef | None = None
    for axis in axes:
        tensors = {"x": axis.x, "edges": axis.edges, **({} if number is None else {"before": number})}
        number = do.run(_bin_op, tensors, steps=axis.edges.shape[0].bit_length())
    assert number is not None
    bins = tuple(a.edges.shape[0] - 1 for a in axes)
    kind = _S64 if weights is None else weights.kind
    if kind is ElementKind.BOOL:
        assert weights is not None
        weights, kind = in_element(do, weights, _S64), _S64
    reduce = ScatterKind.COUNT if weights is None else ScatterKind.SUM
    d = ScatterDescriptor(reduce, (prod(bins),), 0, number.shape, kind, skip=-1)
    tensors = {"index": number} if weights is None else {"index": number, "x": flat(do, weights)}
    hist: TensorRef = do.reshaped(do.plan(ScatterPlan, d, tensors), bins)
    if not density:
        return hist
    if not kind.is_float:
        hist = in_element(do, hist, axes[0].edges.kind if axes[0].edges.kind.is_float else _F32)
    every = tuple(range(len(bins)))
    total = do.run(reductions.sum_, {"x": hist}, axis=every, keepdims=True)
    for i, axis in enumerate(axes):
        ones = total if not i else do.filled((1,) * len(bins), hist.kind, 1.0)
        hist = do.run(_density_op, {"hist": hist, "total": ones, "edges": axis.edges}, axis=i)
    return hist


@composed(x="... : float")
def histc(do: Steps, x: TensorRef, bins: Positive = 100, min: float = 0.0, max: float = 0.0) -> TensorRef:
    """How many elements of x lie in each of `bins` bins of one width between min and max, in x's element; between the smallest
    and the largest element where min and max are equal. Source: torch.histc.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.histc(np.float32([1, 2, 1]), bins=4, min=0, max=3).tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    edges = edges_of(do, x, bins, None if min == max == 0 else (min, max))
    return in_element(do, _counted(do, [_Axis(flat(do, x), edges)], None, density=False), x.kind)


_BINS = "edges or number or numbers"


@composed(x="... : real", bins=_BINS)
def histogram_bin_edges(do: Steps, x: TensorRef, bins: Any = 10, range: Range = None) -> TensorRef:
    """The edges that `histogram` takes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.histogram_bin_edges(np.float32([1, 5]), bins=4).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    edges = edges_of(do, x, bins, range)
    if edges is bins:
        do.copy(bins, edges := do.new_like(bins))
    return edges


@composed(x="... : real", bins=_BINS, weights="...")
def histogram(
    do: Steps, x: TensorRef, bins: Any = 10, range: Range = None, weights: Given = None, *, density: bool = False
) -> tuple[TensorRef, TensorRef]:
    """How many elements of x, or with weights of its shape how much of these, lie in each bin, and the edges of the bins.

    bins is their number, or their rising edges. A number of bins have one width, from the lower to the upper end of `range`, by
    default from the smallest to the largest element; ends that are equal are moved apart by a half each. Counts are s64, sums of
    weights of the weights' element. With density each is divided by their sum and by the width of its bin, and is a float.

    Source: numpy.histogram; torch.histogram has 100 bins, counts in x's element, and weights as `weight`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.histogram(np.float32([1, 2, 1, 5]), bins=2)]
    [[3, 1], [1.0, 3.0, 5.0]]
    """
    if weights is not None and weights.shape != x.shape:
        raise InvalidProblemError(f"weights: shape is {weights.shape}; expected that of x, {x.shape}")
    edges = edges_of(do, x, bins, range)
    hist = _counted(do, [_Axis(flat(do, x), edges)], weights, density)
    if edges is bins:
        do.copy(bins, edges := do.new_like(bins))
    return hist, edges


def _of_each(value: Any, count: int, name: str) -> list[Any]:
    """An option for each axis: one of each, or the same for all."""
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise InvalidProblemError(f"{name}: {len(value)} of them; expected {count}, one for each axis")
        return list(value)
    return [value] * count


def _limits(value: Any, count: int) -> list[Any]:
    """The range of each axis: pairs, or numbers one after another as PyTorch has them."""
    if value is None:
        return [None] * count
    if all(not isinstance(v, (list, tuple)) and v is not None for v in value):
        if len(value) != 2 * count:
            raise InvalidProblemError(f"range: {value!r}; expected two ends for each of {count} axes")
        return [(value[2 * i], value[2 * i + 1]) for i in range(count)]
    return _of_each(list(value), count, "range")


def _columns(x: TensorRef) -> list[TensorRef]:
    n, count = x.shape
    return [view(x, i * x.strides[1], (n,), x.strides[:1]) for i in range(count)]


#: The ends of each axis, None for those of its elements.
Ranges = tuple[Range, ...] | tuple[float, ...] | None


def _several(
    do: Steps, rows: Sequence[TensorRef], bins: Any, limits: Any, weights: Given, density: bool
) -> tuple[TensorRef, list[TensorRef]]:
    count = len(rows)
    edges = [edges_of(do, x, b, r) for x, b, r in zip(rows, _of_each(bins, count, "bins"), _limits(limits, count), strict=True)]
    hist = _counted(do, [_Axis(x, e) for x, e in zip(rows, edges, strict=True)], weights, density)
    own: list[TensorRef] = []
    for edge in edges:
        do.copy(edge, copied := do.new(edge.shape, edge.kind))
        own.append(copied)
    return hist, own


@composed(x="count : real", y="count : real", bins="edges or number or list edges or number", weights="count")
def histogram2d(
    do: Steps,
    x: TensorRef,
    y: TensorRef,
    bins: Any = 10,
    range: Ranges = None,
    weights: Given = None,
    *,
    density: bool = False,
) -> tuple[TensorRef, TensorRef, TensorRef]:
    """The `histogram` of points (x, y) in bins of a plane, and the edges along x and along y.

    bins is the number of bins, or their edges, along both, or a pair of these. Source: numpy.histogram2d.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.histogram2d(np.float32([0, 1, 1]), np.float32([0, 1, 0]), bins=2)[0].tolist()
    [[1, 0], [1, 1]]
    """
    hist, (first, second) = _several(do, (x, y), bins, range, weights, density)
    return hist, first, second


@composed(x="count axes : real", bins="edges or number or list edges or number", weights="count")
def histogramdd(
    do: Steps, x: TensorRef, bins: Any = 10, range: Ranges = None, weights: Given = None, *, density: bool = False
) -> tuple[TensorRef, ...]:
    """The `histogram` of points, which are the rows of x, in bins of their space, and the edges along each axis in turn.

    bins is the number of bins, or their edges, along every axis, or a list of these; `range` a pair of ends for each axis, or all
    ends one after another. Source: numpy.histogramdd, torch.histogramdd, which have the edges in a list.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> hist, first, second = baracuda.histogramdd(np.float32([[0, 0], [1, 1], [1, 0]]), bins=[2, 2])
    >>> hist.tolist(), first.tolist()
    ([[1, 0], [1, 1]], [0.0, 0.5, 1.0])
    """
    hist, edges = _several(do, _columns(x), bins, range, weights, density)
    return hist, *edges
