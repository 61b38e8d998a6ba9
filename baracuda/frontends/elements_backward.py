"""The gradients of elements that were read at an index for each of several axes, and of the rows of a table's shard: sums by
destination, as those of `baracuda.frontends.reads_backward`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.views import view
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.indexed import check_indices
from baracuda.frontends.ranges import checked
from baracuda.frontends.scatter import combined, kind_of
from baracuda.frontends.scatter_backward import _index_backward
from baracuda.frontends.views import run
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.traced import IndexBound, space_of
from baracuda.ops.declaration.words import Bounds, Count, Wrt
from baracuda.ops.indexing import indexing
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind


def _summed(dy: Any, x: Any, indices: Mapping[str, Any], extents: Sequence[int], positions: Sequence[int], batch: int) -> Any:
    """The sums of dy by the number, among the elements of the first axes, that the indices of a position lead to."""
    cotangent, shape = describe(dy, "dy"), describe(x, "x").shape
    rest = shape[len(extents) :]
    if cotangent.shape != (*positions, *rest):
        raise InvalidProblemError(f"dy: shape is {cotangent.shape}; expected {(*positions, *rest)}")
    words = {f"n{k}": n for k, n in enumerate(extents)}
    (at,) = run(indexing.number, indices, dy, dtype=ElementKind.S64, batch=batch, **words).values()
    descriptor = ScatterDescriptor(ScatterKind.SUM, (prod(extents), *rest), 0, tuple(positions), cotangent.kind, ElementKind.S64)
    return combined(descriptor, dy, index=at, x=dy).reshape(shape)


@declared(dy="...", x="...", **{f"index{k}": "... : s32 s64" for k in range(8)})
def index_get_backward(
    dy: Any,
    x: Any,
    index0: Any,
    index1: Any = None,
    index2: Any = None,
    index3: Any = None,
    index4: Any = None,
    index5: Any = None,
    index6: Any = None,
    index7: Any = None,
    *,
    bounds: Bounds = "check",
) -> Any:
    """The gradient of `index_get`'s x: for each element the sum of dy where it was read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, rows, columns = np.float32([1, 2, 4]), np.zeros((2, 2), np.float32), np.array([1, 0, 1]), np.array([0, 1, 0])
    >>> baracuda.index_get_backward(dy, x, rows, columns).tolist()
    [[0.0, 2.0], [5.0, 0.0]]
    """
    every = (index0, index1, index2, index3, index4, index5, index6, index7)
    indices = {f"index{k}": i for k, i in enumerate(every) if i is not None}
    refs = {n: describe(i, n) for n, i in indices.items()}
    shapes = {"x": describe(x, "x").shape, **{n: r.shape for n, r in refs.items()}}
    limits = indexing.in_axes(shapes, {})
    positions = space_of({n: r.shape for n, r in refs.items()}, {})
    if checked(bounds):
        for name, limit in limits:
            check_indices(indices[name], name, limit)
    return _summed(dy, x, indices, [limit.extent for _, limit in limits], positions, 0)


@declared(dy="...", x="...", index="... components : s32 s64")
def gather_nd_backward(dy: Any, x: Any, index: Any, *, batch_dims: Count = 0, bounds: Bounds = "check") -> Any:
    """The gradient of `gather_nd`'s x: for each element the sum of dy where it was read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, at = np.float32([1, 2, 4]), np.zeros((2, 2), np.float32), np.array([[1, 0], [0, 1], [1, 0]])
    >>> baracuda.gather_nd_backward(dy, x, at).tolist()
    [[0.0, 2.0], [5.0, 0.0]]
    """
    at, x_ref = describe(index, "index"), describe(x, "x")
    shapes, options = {"x": x_ref.shape, "index": at.shape}, {"batch_dims": batch_dims}
    indexing.check_tuples(shapes, options)
    positions, count = at.shape[:-1], batch_dims + at.shape[-1]
    if positions[:batch_dims] != x_ref.shape[:batch_dims]:
        raise InvalidProblemError(f"index: shape is {at.shape}; expected it to begin with {x_ref.shape[:batch_dims]}, as x does")
    if checked(bounds):
        for _, limit in indexing.in_components(shapes, options):
            check_indices(index[..., limit.component], "index", IndexBound(limit.extent, wrap=True))
    step = at.strides[-1]
    subscripts = {f"index{k}": view(at, k * step, positions, at.strides[:-1]) for k in range(at.shape[-1])}
    return _summed(dy, x, subscripts, x_ref.shape[:count], positions, batch_dims)


@declared(dy="*all : T", x="*all : T", index="... components : s32 s64", source="... : T float")
def scatter_nd_reduce_backward(
    dy: Any,
    x: Any,
    index: Any,
    source: Any,
    *,
    reduce: Literal["sum", "prod", "amax", "amin"] = "sum",
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `scatter_nd_reduce`'s x and source, those named in `wrt` or both, as `scatter_reduce_backward` gives them.

    source has the shape of index without its last axis, followed by the axes of x that are left.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, at, source = np.float32([1, 2]), np.float32([5, 3]), np.array([[0], [0]]), np.float32([2, 4])
    >>> [g.tolist() for g in baracuda.scatter_nd_reduce_backward(dy, x, at, source, reduce="prod")]
    [[8.0, 2.0], [20.0, 10.0]]
    """
    at, x_ref, source_ref = describe(index, "index"), describe(x, "x"), describe(source, "source")
    shapes: dict[str, Any] = {"x": x_ref.shape, "index": at.shape}
    options = {"batch_dims": 0}
    indexing.check_tuples(shapes, options)
    positions, extents, rest = at.shape[:-1], x_ref.shape[: at.shape[-1]], x_ref.shape[at.shape[-1] :]
    if source_ref.shape != (*positions, *rest):
        raise InvalidProblemError(f"source: shape is {source_ref.shape}; expected {(*positions, *rest)}")
    if checked(bounds):
        for _, limit in indexing.in_components(shapes, options):
            check_indices(index[..., limit.component], "index", IndexBound(limit.extent, wrap=True))
    names = chosen(wrt, ("x", "source"))
    if not prod(source_ref.shape) or not prod(x_ref.shape):
        empty = {"x": dy, "source": source}
        return one_or_all(tuple(function("mul")(empty[n], 1.0) for n in names))
    step, words = at.strides[-1], {f"n{k}": n for k, n in enumerate(extents)}
    parts = {f"index{k}": view(at, k * step, positions, at.strides[:-1]) for k in range(len(extents))}
    (places,) = run(indexing.number, parts, dy, dtype=ElementKind.S64, batch=0, **words).values()
    rows = (prod(extents), *rest)
    flat = (dy.reshape(rows), x.reshape(rows), places, source)
    results = _index_backward(*flat, 0, kind_of(reduce), True, names, "clamp")
    each = results if isinstance(results, tuple) else (results,)
    wanted = {"x": x_ref.shape, "source": source_ref.shape}
    return one_or_all(tuple(g.reshape(wanted[n]) for n, g in zip(names, each, strict=True)))


@declared(index="*places : s32 s64", weight="rows *row", dy="*places *row")
def vocab_parallel_embedding_backward(dy: Any, index: Any, weight: Any, *, offset: int = 0) -> Any:
    """The gradient of `vocab_parallel_embedding`'s weight: for each row of the shard the sum of dy where it was read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, weight = np.float32([[1], [2], [4]]), np.zeros((2, 1), np.float32)
    >>> baracuda.vocab_parallel_embedding_backward(dy, np.array([3, 0, 3]), weight, offset=2).tolist()
    [[0.0], [5.0]]
    """
    cotangent, at, table = describe(dy, "dy"), describe(index, "index"), describe(weight, "weight")
    (rows,) = run(indexing.row_of_shard, {"index": index}, dy, offset=offset, rows=table.shape[0]).values()
    descriptor = ScatterDescriptor(ScatterKind.SUM, table.shape, 0, at.shape, cotangent.kind, at.kind, skip=-1)
    return combined(descriptor, dy, index=rows, x=dy)
