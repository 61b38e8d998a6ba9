"""The gradients of scatters and segments with any combination, by what is combined and by what it is combined with.

A product gives each factor the product of the others, also where factors are zero; a maximum or a minimum shares its gradient
evenly among the elements that it is. Everything that destinations are asked for, sums and products and how many come, is a
combination by destination again, in the canonical order, so that gradients have the same bits on every device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.lazy import cached_property
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, view
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.scatter import (
    INTO_ELEMENTS,
    INTO_SLICES,
    SEGMENTS,
    IndexReduction,
    ScatterReduction,
    axis_of,
    check_bounds,
    combined,
    kind_of,
)
from baracuda.frontends.views import copy, merged, output, run
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.words import Bounds, Wrt
from baracuda.ops.indexing import scatter_slopes as s
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind


@dataclass(frozen=True)
class _Problem:
    """Elements and where they go.

    Attributes
    ----------
    dy
        The gradient of the destinations' results.
    x
        What the destinations have of their own, None where that is nothing; counted with the elements where `joined`.
    source, index
        The elements and their destinations along the axis: with `aligned` each element's own, else those of slices, of one axis.
    wrap
        Whether a negative index counts from the end.
    """

    dy: Any
    x: Any
    source: Any
    index: Any
    axis: int
    reduce: ScatterKind
    aligned: bool
    joined: bool
    wrap: bool

    @property
    def kind(self) -> ElementKind:
        return describe(self.dy, "dy").kind

    @property
    def rank(self) -> int:
        return len(describe(self.dy, "dy").shape)

    def combined(self, reduce: ScatterKind, source: Any, own: Any, element: ElementKind) -> Any:
        """The combination of some elements and the destinations' own, for each destination."""
        shape, at = describe(self.dy, "dy").shape, describe(self.index, "index")
        if reduce is ScatterKind.COUNT and not self.aligned:
            shape, axis = (shape[self.axis],), 0
        else:
            axis = self.axis
        descriptor = ScatterDescriptor(
            reduce, shape, axis, at.shape, element, at.kind,
            aligned=self.aligned, has_base=own is not None, joined=self.joined, wrap=self.wrap,
        )  # fmt: skip
        return combined(descriptor, self.dy, index=self.index, x=source, base=own)

    @cached_property
    def count(self) -> Any:
        """How many elements go to each destination, or place along the axis."""
        return self.combined(ScatterKind.COUNT, None, None, ElementKind.S64)

    @cached_property
    def known(self) -> dict[str, Any]:
        """What a slope reads of the destinations beside their gradient."""
        if self.reduce is ScatterKind.MEAN:
            return {"count": self.count}
        if self.reduce is ScatterKind.PROD:
            factors = run(s.factors, {"v": self.source}, self.dy)
            own_factors = {} if self.x is None else run(s.factors, {"v": self.x}, self.dy)
            rows = (("others", ScatterKind.PROD, self.kind.compute), ("zeros", ScatterKind.SUM, ElementKind.S32))
            return {n: self.combined(reduce, factors[n], own_factors.get(n), element) for n, reduce, element in rows}
        if self.reduce in (ScatterKind.MAX, ScatterKind.MIN):
            best = self.combined(self.reduce, self.source, self.x, self.kind)
            (factors,) = self._read(s.is_best_at, {"best": best}).values()
            own = None if self.x is None else run(s.is_best, {"v": self.x, "best": best}, self.dy)["y"]
            return {"best": best, "ties": self.combined(ScatterKind.SUM, factors, own, ElementKind.S32)}
        return {}

    def _read(self, op: Op, tables: Mapping[str, Any], out: Any = None, **words: Any) -> dict[str, Any]:
        """An op of elements and of what their destinations have."""
        limits, rank = describe(self.index, "index").shape, self.rank
        if self.aligned:  # of destinations beside the axis no more than the index reaches
            limits = (*limits[: self.axis], describe(self.dy, "dy").shape[self.axis], *limits[self.axis + 1 :])
            refs = {n: describe(t, n) for n, t in tables.items()}
            tables = {n: view(ref, 0, limits, ref.strides) if len(ref.shape) == rank else ref for n, ref in refs.items()}
        tensors = {**tables, "v": self.source, "index": self.index}
        return run(op, tensors, self.dy, out, axis=self.axis, wrap=self.wrap, **words)

    def of_source(self, out: Any = None) -> Any:
        """The gradient of the elements."""
        words = {"joined": self.joined and self.x is not None} if self.reduce is ScatterKind.MEAN else {}
        return self._read(_SLOPES[self.reduce][0], {"dy": self.dy, **self.known}, out, **words)["y"]

    def of_x(self) -> Any:
        """The gradient of what the destinations have of their own."""
        if not self.joined:
            return run(s.alone, {"dy": self.dy, "count": self._spread(self.count)}, self.dy)["y"]
        op = _SLOPES[self.reduce][1]
        if op is None:
            cotangent = describe(self.dy, "dy")
            result, target = output(self.dy, cotangent.shape, cotangent.kind)
            copy(cotangent, target, self.dy)
            return result
        words = {"joined": True} if self.reduce is ScatterKind.MEAN else {}
        known = {n: self._spread(t) for n, t in self.known.items()}
        return run(op, {"dy": self.dy, "v": self.x, **known}, self.dy, **words)["y"]

    def _spread(self, table: Any) -> Any:
        """What destinations, or places along the axis, have, in the space of the destinations."""
        ref = describe(table, "a number for each place")
        return ref if len(ref.shape) == self.rank else expanded_dims(ref, (self.axis,), self.rank)


#: The ops that give the gradient of the elements, and of the destinations' own.
_SLOPES: dict[ScatterKind, tuple[Op, Op | None]] = {
    ScatterKind.SUM: (s.sum_at, None),
    ScatterKind.MEAN: (s.mean_at, s.mean),
    ScatterKind.PROD: (s.product_at, s.product),
    ScatterKind.MAX: (s.best_at, s.best),
    ScatterKind.MIN: (s.best_at, s.best),
}


def _check(name: str, ref: TensorRef, shape: Sequence[int], kind: ElementKind) -> None:
    if ref.shape != tuple(shape) or ref.kind is not kind:
        raise InvalidProblemError(f"{name}: {ref.kind} of shape {ref.shape}; expected {kind} of {tuple(shape)}")


def _wanted(problem: _Problem, wrt: Wrt, source: Any) -> Any:
    """The gradients of x and source, those named in `wrt` or both."""
    gradients = {n: source() if n == "source" else problem.of_x() for n in chosen(wrt, ("x", "source"))}
    return one_or_all(tuple(gradients.values()))


def _of_numbers(backward: Callable[..., Any], dy: Any, x: Any, index: Any, source: Any, wrt: Any, **words: Any) -> Any:
    """The gradients of a number and of what is combined with it: those of a row of one."""
    rows = (t if describe(t, "a tensor beside x").shape else t.reshape(1) for t in (dy, x, index, source))
    names, shapes = chosen(wrt, ("x", "source")), {"x": (), "source": describe(source, "source").shape}
    results = backward(*rows, wrt=names, **words)
    each = results if isinstance(results, tuple) else (results,)
    return one_or_all(tuple(g.reshape(shapes[n]) for n, g in zip(names, each, strict=True)))


# --- element by element -----------------------------------------------------------------------------------------------


_DY = "*before extent *after : T"


@declared(**INTO_ELEMENTS, dy=_DY)
def scatter_reduce_backward(
    dy: Any,
    x: Any,
    index: Any,
    source: Any,
    *,
    reduce: ScatterReduction,
    axis: int = -1,
    include_self: bool = True,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `scatter_reduce`'s x and source, those named in `wrt` or both; 0 where index does not reach.

    Of a product each factor gets the product of the others, of a mean dy over the number of elements, of amax and amin an equal
    share each element that is the result. Unless include_self, x has a gradient only where nothing goes, and no share of a tie
    (torch's source has too small a share there where x is equal to the result).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, index, source = np.float32([1, 2]), np.float32([5, 3]), np.array([0, 0, 1]), np.float32([0, 4, 3])
    >>> [g.tolist() for g in baracuda.scatter_reduce_backward(dy, x, index, source, reduce="prod")]
    [[0.0, 6.0], [20.0, 0.0, 6.0]]
    >>> [g.tolist() for g in baracuda.scatter_reduce_backward(dy, x, index, source, reduce="amax")]
    [[1.0, 1.0], [0.0, 0.0, 1.0]]
    """
    if not describe(x, "x").shape:
        return _of_numbers(
            scatter_reduce_backward, dy, x, index, source, wrt, reduce=reduce, axis=axis, include_self=include_self, bounds=bounds
        )
    base, at, source_ref = describe(x, "x"), describe(index, "index"), describe(source, "source")
    axis = axis_of(axis, base.shape, "x")
    if not len(at.shape) == len(base.shape) == len(source_ref.shape):
        raise InvalidProblemError(
            f"index, source: shapes {at.shape} and {source_ref.shape}; expected the rank of x, {base.shape}"
        )
    limits = [m if a == axis else min(m, n) for a, (m, n) in enumerate(zip(source_ref.shape, base.shape, strict=True))]
    if any(n > m for n, m in zip(at.shape, limits, strict=True)):
        raise InvalidProblemError(f"index: shape is {at.shape}; expected at most {tuple(limits)}, of what source and x both have")
    kind = kind_of(reduce)
    check_bounds(bounds, index, "index", base.shape[axis], wrap=True)
    part = view(source_ref, 0, at.shape, source_ref.strides)
    problem = _Problem(dy, x, part, index, axis, kind, aligned=True, joined=include_self, wrap=True)

    def of_source() -> Any:
        if at.shape == source_ref.shape:
            return problem.of_source()
        result, target = output(source, source_ref.shape, source_ref.kind)
        merged([], 0, target, source)
        problem.of_source(view(target, 0, at.shape, target.strides))
        return result

    return _wanted(problem, wrt, of_source)


@declared(**INTO_ELEMENTS, dy=_DY)
def scatter_add_backward(
    dy: Any,
    x: Any,
    index: Any,
    source: Any,
    *,
    axis: int = -1,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `scatter_add`'s x, which is dy, and source, dy at index and 0 where index does not reach; those
    named in `wrt` or both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, index, source = np.float32([[1, 2, 3]]), np.array([[2, 2]]), np.zeros((1, 3), np.float32)
    >>> baracuda.scatter_add_backward(dy, dy, index, source, wrt=("source",)).tolist()
    [[3.0, 3.0, 0.0]]
    """
    return scatter_reduce_backward(dy, x, index, source, reduce="sum", axis=axis, wrt=wrt, bounds=bounds)


# --- along one axis ---------------------------------------------------------------------------------------------------


@declared(**INTO_SLICES, dy=_DY)
def index_reduce_backward(
    dy: Any,
    x: Any,
    index: Any,
    source: Any,
    *,
    reduce: IndexReduction,
    axis: int = 0,
    include_self: bool = True,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `index_reduce`'s x and source, those named in `wrt` or both, as `scatter_reduce_backward` gives them.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, index, source = np.float32([1, 2]), np.float32([5, 3]), np.array([0, 0]), np.float32([0, 4])
    >>> [g.tolist() for g in baracuda.index_reduce_backward(dy, x, index, source, reduce="mean", include_self=False)]
    [[0.0, 2.0], [0.5, 0.5]]
    """
    kind = kind_of(reduce)
    return _index_backward(dy, x, index, source, axis, kind, include_self, wrt, bounds)


def _index_backward(
    dy: Any, x: Any, index: Any, source: Any, axis: int, reduce: ScatterKind, joined: bool, wrt: Wrt, bounds: str
) -> Any:
    if not describe(x, "x").shape:
        words = {"axis": axis, "reduce": reduce, "joined": joined, "bounds": bounds}
        return _of_numbers(_index_backward, dy, x, index, source, wrt, **words)
    base, at, source_ref, cotangent = describe(x, "x"), describe(index, "index"), describe(source, "source"), describe(dy, "dy")
    axis = axis_of(axis, base.shape, "x")
    _check("dy", cotangent, base.shape, base.kind)
    _check("source", source_ref, (*base.shape[:axis], *at.shape, *base.shape[axis + 1 :]), base.kind)
    check_bounds(bounds, index, "index", base.shape[axis], wrap=True)
    problem = _slices(dy, x, source, index, axis, reduce, joined=joined, wrap=True)
    return _wanted(problem, wrt, lambda: problem.of_source().reshape(source_ref.shape))


@declared(**INTO_SLICES, dy=_DY)
def index_add_backward(
    dy: Any,
    x: Any,
    index: Any,
    source: Any,
    *,
    axis: int = 0,
    alpha: float = 1.0,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `index_add`'s x, which is dy, and source, alpha * dy at index; those named in `wrt` or both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, index, source = np.float32([1, 2, 3]), np.array([2, 0]), np.zeros(2, np.float32)
    >>> baracuda.index_add_backward(dy, dy, index, source, alpha=2.0, wrt=("source",)).tolist()
    [6.0, 2.0]
    """
    names = chosen(wrt, ("x", "source"))
    results = _index_backward(dy, x, index, source, axis, ScatterKind.SUM, True, names, bounds)
    each = dict(zip(names, results if isinstance(results, tuple) else (results,), strict=True))
    if alpha != 1 and "source" in each:
        each["source"] = function("mul")(each["source"], alpha)
    return one_or_all(tuple(each.values()))


def _slices(dy: Any, x: Any, source: Any, index: Any, axis: int, reduce: ScatterKind, *, joined: bool, wrap: bool) -> _Problem:
    """The problem of slices, whose index is taken as one axis."""
    shape, count = describe(dy, "dy").shape, prod(describe(index, "index").shape)
    slices = source.reshape((*shape[:axis], count, *shape[axis + 1 :]))
    return _Problem(dy, x, slices, index.reshape((count,)), axis, reduce, aligned=False, joined=joined, wrap=wrap)


# --- segments ---------------------------------------------------------------------------------------------------------


def _segments(dy: Any, x: Any, ids: Any, reduce: ScatterKind, bounds: str) -> Any:
    ref = describe(x, "x")
    check_bounds(bounds, ids, "segment_ids", describe(dy, "dy").shape[0], wrap=False)
    return _slices(dy, None, x, ids, 0, reduce, joined=True, wrap=False).of_source().reshape(ref.shape)


@declared(**SEGMENTS, dy="segments *row : T")
def segment_sum_backward(dy: Any, x: Any, segment_ids: Any, *, bounds: Bounds = "check") -> Any:
    """The gradient of `segment_sum`'s x: dy of the row's segment.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_sum_backward(np.float32([5, 6]), np.zeros(3, np.float32), np.array([1, 0, 1])).tolist()
    [6.0, 5.0, 6.0]
    """
    return _segments(dy, x, segment_ids, ScatterKind.SUM, bounds)


@declared(**SEGMENTS, dy="segments *row : T")
def segment_mean_backward(dy: Any, x: Any, segment_ids: Any, *, bounds: Bounds = "check") -> Any:
    """The gradient of `segment_mean`'s x: dy of the row's segment over the segment's number of rows.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_mean_backward(np.float32([5, 6]), np.zeros(3, np.float32), np.array([1, 0, 1])).tolist()
    [3.0, 5.0, 3.0]
    """
    return _segments(dy, x, segment_ids, ScatterKind.MEAN, bounds)


@declared(**SEGMENTS, dy="segments *row : T")
def segment_prod_backward(dy: Any, x: Any, segment_ids: Any, *, bounds: Bounds = "check") -> Any:
    """The gradient of `segment_prod`'s x: dy of the row's segment by the product of the segment's other rows.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x = np.float32([1, 2]), np.float32([3, 0, 4])
    >>> baracuda.segment_prod_backward(dy, x, np.array([1, 1, 0])).tolist()
    [0.0, 6.0, 1.0]
    """
    return _segments(dy, x, segment_ids, ScatterKind.PROD, bounds)


@declared(**SEGMENTS, dy="segments *row : T")
def segment_max_backward(dy: Any, x: Any, segment_ids: Any, *, bounds: Bounds = "check") -> Any:
    """The gradient of `segment_max`'s x: dy of the row's segment, in equal shares for the elements that are its largest.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_max_backward(np.float32([1, 2]), np.float32([3, 3, 4]), np.array([1, 1, 0])).tolist()
    [1.0, 1.0, 1.0]
    """
    return _segments(dy, x, segment_ids, ScatterKind.MAX, bounds)


@declared(**SEGMENTS, dy="segments *row : T")
def segment_min_backward(dy: Any, x: Any, segment_ids: Any, *, bounds: Bounds = "check") -> Any:
    """The gradient of `segment_min`'s x: dy of the row's segment, in equal shares for the elements that are its smallest.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_min_backward(np.float32([1, 2]), np.float32([3, 5, 4]), np.array([1, 1, 0])).tolist()
    [2.0, 0.0, 1.0]
    """
    return _segments(dy, x, segment_ids, ScatterKind.MIN, bounds)
