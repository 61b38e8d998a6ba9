"""Scatters with a reduction, segments and histograms: functions over the plan of combinations by destination.

An index is s32 or s64, and a negative one counts from the end of the axis, unless a function says otherwise. bounds="check" (the
default) raises `InvalidProblemError` with the first index that is out of range, and what was expected; on a GPU nothing waits for
that, and it is raised when values are next read on the host, or by `baracuda.synchronize()`. bounds="clamp" checks nothing and
takes the nearest destination that there is.

The elements of a destination are combined in the order in which they stand in the index, by the canonical order of reductions
over their number (docs/arithmetic.md, rule 6): the same bits on every device, however the index is distributed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import element_of
from baracuda.core.spec import check_axis
from baracuda.frontends.call import apply, describe, one
from baracuda.frontends.declared import at_run_time, declared
from baracuda.frontends.families import function
from baracuda.frontends.indexed import check_indices
from baracuda.frontends.ranges import checked
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.declaration.words import Bounds, Count
from baracuda.ops.indexing.scatter import ScatterArgs, ScatterDescriptor, ScatterKind, ScatterPlan

_KINDS = {"sum": "SUM", "mean": "MEAN", "prod": "PROD", "amax": "MAX", "amin": "MIN"}


IndexReduction = Literal["prod", "mean", "amax", "amin"]
ScatterReduction = Literal["sum", "prod", "mean", "amax", "amin"]


def kind_of(reduce: str) -> ScatterKind:
    """The combination that a name stands for."""
    return ScatterKind[_KINDS[reduce]]


def check_bounds(bounds: str, index: Any, name: str, extent: int, *, wrap: bool) -> None:
    """Raise where an index is out of range, if the caller has asked for that."""
    if checked(bounds):
        check_indices(index, name, IndexBound(extent, wrap=wrap))


def combined(descriptor: ScatterDescriptor, like: Any, out: Any = None, **tensors: Any) -> Any:
    """The result of a descriptor for tensors by name, allocated like `like`."""
    names = [s.name for s in ScatterPlan.tensors if not s.written]
    inputs = [tensors.get(n) for n in names]
    return one(apply(ScatterPlan, ScatterArgs, descriptor, like, inputs, [(descriptor.shape, descriptor.element)], [out]))


def axis_of(axis: int, shape: Sequence[int], name: str) -> int:
    """An axis counted from 0."""
    if not shape:
        raise InvalidProblemError(f"{name}: it is a scalar; expected one axis or more")
    check_axis("axis", axis, len(shape))
    return axis % len(shape)


def _as_rows(*tensors: Any) -> list[Any]:
    """The tensors, each that is a number as a row of one."""
    return [t if t is None or describe(t, "a tensor beside x").shape else t.reshape(1) for t in tensors]


# --- along one axis ---------------------------------------------------------------------------------------------------


def _index_reduce(
    x: Any, index: Any, source: Any, axis: int, reduce: ScatterKind, alpha: float | None, joined: bool, bounds: str, out: Any
) -> Any:
    if not describe(x, "x").shape:
        x, index, source, out = _as_rows(x, index, source, out)
        return _index_reduce(x, index, source, axis, reduce, alpha, joined, bounds, out).reshape(())
    base, at = describe(x, "x"), describe(index, "index")
    axis = axis_of(axis, base.shape, "x")
    descriptor = ScatterDescriptor(
        reduce, base.shape, axis, at.shape, base.kind, at.kind, has_base=True, joined=joined, alpha=alpha, wrap=True
    )
    check_bounds(bounds, index, "index", base.shape[axis], wrap=True)
    return combined(descriptor, x, out, index=index, x=source, base=x)


INTO_SLICES: dict[str, str] = {
    "x": "() or *before extent@axis *after : T",
    "index": "*places : s32 s64",
    "source": "*before *places *after : T",
}
INTO_ELEMENTS: dict[str, str] = {"x": "() or *before extent@axis *after : T", "index": "... : s32 s64", "source": "... : T"}
SEGMENTS: dict[str, str] = {"segment_ids": "*places : s32 s64", "x": "*places *row : T"}


@at_run_time(alpha=(0.0, 1.0))
@declared(**INTO_SLICES)
def index_add(
    x: Any, index: Any, source: Any, *, axis: int = 0, alpha: complex = 1.0, bounds: Bounds = "check", out: Any = None
) -> Any:
    """x with alpha * source added to its slices along an axis: y[index[p]] = x[index[p]] + alpha * the sum of source[p].

    x has any element but the 8-bit floats; of bool a sum is whether one is true. source has the shape of x with the axes of index
    in place of `axis`. The sum is taken before x is added, and rounded with it once; a complex alpha is multiplied to source
    before the sum. `out` may be `x`. Source: torch.index_add.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.index_add(np.zeros(3, np.float32), np.array([2, 0, 2]), np.float32([1, 2, 3])).tolist()
    [2.0, 0.0, 4.0]
    """
    if describe(x, "x").kind is ElementKind.BOOL:
        source, alpha = source if alpha else function("ne")(source, source), 1.0
    elif isinstance(alpha, complex):
        source, alpha = function("mul")(source, alpha), 1.0
    factor = None if alpha == 1 else alpha
    return _index_reduce(x, index, source, axis, ScatterKind.SUM, factor, True, bounds, out)


@declared(**INTO_SLICES)
def index_reduce(
    x: Any,
    index: Any,
    source: Any,
    *,
    reduce: IndexReduction,
    axis: int = 0,
    include_self: bool = True,
    bounds: Bounds = "check",
    out: Any = None,
) -> Any:
    """`index_add` with another combination: prod, mean, amax or amin.

    Unless include_self, x counts only where nothing goes. A mean is the sum over the number of elements, x among them; that of
    integers rounds down. Source: torch.index_reduce.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.index_reduce(np.float32([6, 5]), np.array([0, 0]), np.float32([2, 4]), reduce="mean").tolist()
    [4.0, 5.0]
    """
    kind = kind_of(reduce)
    return _index_reduce(x, index, source, axis, kind, None, include_self, bounds, out)


# --- element by element -----------------------------------------------------------------------------------------------


@declared(**INTO_ELEMENTS)
def scatter_reduce(
    x: Any,
    index: Any,
    source: Any,
    *,
    reduce: ScatterReduction,
    axis: int = -1,
    include_self: bool = True,
    bounds: Bounds = "check",
    out: Any = None,
) -> Any:
    """x combined with the elements of source, each of which goes to its own place along an axis: for axis 1, source[i, j] to
    y[i, index[i, j]].

    reduce is sum, prod, mean, amax or amin. index has the rank of x, and no axis but `axis` is longer than that of x; of source
    the part is taken that index covers. Unless include_self, x counts only where nothing goes. A mean is the sum over the number
    of elements, x among them; that of integers rounds down. Source: torch.scatter_reduce.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.scatter_reduce(np.float32([1, 2]), np.array([1, 1]), np.float32([5, 4]), reduce="amax").tolist()
    [1.0, 5.0]
    """
    if not describe(x, "x").shape:
        x, index, source, out = _as_rows(x, index, source, out)
        combined_x = scatter_reduce(x, index, source, reduce=reduce, axis=axis, include_self=include_self, bounds=bounds, out=out)
        return combined_x.reshape(())
    base, at, source_ref = describe(x, "x"), describe(index, "index"), describe(source, "source")
    axis = axis_of(axis, base.shape, "x")
    if not len(at.shape) == len(base.shape) == len(source_ref.shape):
        raise InvalidProblemError(
            f"index, source: shapes {at.shape} and {source_ref.shape}; expected the rank of x, {base.shape}"
        )
    if any(n > m for n, m in zip(at.shape, source_ref.shape, strict=True)):
        raise InvalidProblemError(f"index: shape is {at.shape}; expected at most {source_ref.shape}, that of source")
    if any(n > m for a, (n, m) in enumerate(zip(at.shape, base.shape, strict=True)) if a != axis):
        raise InvalidProblemError(f"index: shape is {at.shape}; expected at most {base.shape}, that of x, beside axis {axis}")
    kind = kind_of(reduce)
    descriptor = ScatterDescriptor(
        kind, base.shape, axis, at.shape, base.kind, at.kind, aligned=True, has_base=True, joined=include_self, wrap=True
    )
    check_bounds(bounds, index, "index", base.shape[axis], wrap=True)
    part = source if source_ref.shape == at.shape else source[tuple(slice(n) for n in at.shape)]
    return combined(descriptor, x, out, index=index, x=part, base=x)


@declared(**INTO_ELEMENTS)
def scatter_add(x: Any, index: Any, source: Any, *, axis: int = -1, bounds: Bounds = "check", out: Any = None) -> Any:
    """x plus the elements of source, each of which goes to its own place along an axis; as `scatter_reduce` with a sum, and for
    complex numbers too. Source: torch.scatter_add.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.scatter_add(np.zeros((1, 3), np.float32), np.array([[2, 2, 0]]), np.float32([[1, 2, 3]])).tolist()
    [[3.0, 0.0, 3.0]]
    """
    return scatter_reduce(x, index, source, reduce="sum", axis=axis, bounds=bounds, out=out)


# --- segments ---------------------------------------------------------------------------------------------------------


def _segments(x: Any, ids: Any, count: int, reduce: ScatterKind, bounds: str, out: Any) -> Any:
    ref, at = describe(x, "x"), describe(ids, "segment_ids")
    descriptor = ScatterDescriptor(reduce, (count, *ref.shape[len(at.shape) :]), 0, at.shape, ref.kind, at.kind)
    check_bounds(bounds, ids, "segment_ids", count, wrap=False)
    return combined(descriptor, x, out, index=ids, x=x)


@declared(**SEGMENTS)
def segment_sum(x: Any, segment_ids: Any, num_segments: Count, *, bounds: Bounds = "check", out: Any = None) -> Any:
    """The sums of the rows of x that have the same number in segment_ids, which need not be sorted; +0 where there is none.

    segment_ids has the first axes of x, from 0 to num_segments - 1; the result is (num_segments, ...).
    Source: jax.ops.segment_sum.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_sum(np.float32([1, 2, 4]), np.array([1, 0, 1]), num_segments=3).tolist()
    [2.0, 5.0, 0.0]
    """
    return _segments(x, segment_ids, num_segments, ScatterKind.SUM, bounds, out)


@declared(**SEGMENTS)
def segment_mean(x: Any, segment_ids: Any, num_segments: Count, *, bounds: Bounds = "check", out: Any = None) -> Any:
    """`segment_sum` over the number of rows; 0 where there is none.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_mean(np.float32([1, 2, 4]), np.array([1, 0, 1]), num_segments=3).tolist()
    [2.0, 2.5, 0.0]
    """
    return _segments(x, segment_ids, num_segments, ScatterKind.MEAN, bounds, out)


@declared(**SEGMENTS)
def segment_prod(x: Any, segment_ids: Any, num_segments: Count, *, bounds: Bounds = "check", out: Any = None) -> Any:
    """The products of the rows of x that have the same number in segment_ids; 1 where there is none. As `segment_sum`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_prod(np.float32([3, 2, 4]), np.array([1, 0, 1]), num_segments=3).tolist()
    [2.0, 12.0, 1.0]
    """
    return _segments(x, segment_ids, num_segments, ScatterKind.PROD, bounds, out)


@declared(**SEGMENTS)
def segment_max(x: Any, segment_ids: Any, num_segments: Count, *, bounds: Bounds = "check", out: Any = None) -> Any:
    """The largest of the rows of x that have the same number in segment_ids, element by element; -inf, or the least integer,
    where there is none. As `segment_sum`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_max(np.float32([3, 2, 4]), np.array([1, 0, 1]), num_segments=3).tolist()
    [2.0, 4.0, -inf]
    """
    return _segments(x, segment_ids, num_segments, ScatterKind.MAX, bounds, out)


@declared(**SEGMENTS)
def segment_min(x: Any, segment_ids: Any, num_segments: Count, *, bounds: Bounds = "check", out: Any = None) -> Any:
    """The smallest of the rows of x that have the same number in segment_ids, element by element; +inf, or the largest integer,
    where there is none. As `segment_sum`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_min(np.float32([3, 2, 4]), np.array([1, 0, 1]), num_segments=3).tolist()
    [2.0, 3.0, inf]
    """
    return _segments(x, segment_ids, num_segments, ScatterKind.MIN, bounds, out)


@declared(x="*shape : int", weights="*shape")
def bincount(
    x: Any, weights: Any = None, minlength: Count = 0, *, length: Count | None = None, bounds: Bounds = "check", out: Any = None
) -> Any:
    """How often each number from 0 occurs in x, in s64; or the sums of the weights of its occurrences, in their element.

    The result has max(minlength, largest + 1) elements, for which x is read (on a GPU this waits for the stream), or `length`,
    which no element of x may reach. Source: torch.bincount, and jax.numpy.bincount for length.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.bincount(np.array([1, 3, 1])).tolist()
    [0, 2, 0, 1]
    """
    ref = describe(x, "x")
    if length is None:
        largest = int(function("max")(x)) if all(ref.shape) else -1
        length = max(minlength, largest + 1)
    unweighted = weights is None
    element = ElementKind.S64 if unweighted else describe(weights, "weights").kind
    reduce = ScatterKind.COUNT if unweighted else ScatterKind.SUM
    if not length and all(ref.shape):  # only negative numbers
        check_indices(x, "x", IndexBound(length))
    descriptor = ScatterDescriptor(reduce, (length,), 0, ref.shape, element_of(element) or element, ref.kind)
    check_bounds(bounds, x, "x", length, wrap=False)
    return combined(descriptor, x, out, index=x, x=weights)
