"""Indexed writes at tuples of indices; as `baracuda.ops.indexing.writes` otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import broadcasted, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.declaration.words import Bounds, Wrt
from baracuda.ops.indexing import indexing
from baracuda.ops.indexing.moves import apart, copied
from baracuda.ops.indexing.places import COMBINATIONS, Places, as_tensor, gradients, numbered
from baracuda.ops.indexing.put import Combination


def _tuples(do: Steps, x: TensorRef, index: TensorRef, bounds: str) -> Places:
    indexing.check_tuples({"x": x.shape, "index": index.shape}, {"batch_dims": 0})
    count, step = index.shape[-1], index.strides[-1]
    parts = [view(index, k * step, index.shape[:-1], index.strides[:-1]) for k in range(count)]
    if bounds == "check":
        for part, extent in zip(parts, x.shape, strict=False):
            do.check_indices(part, "index", IndexBound(extent, wrap=True))
    if count == 1:
        return Places(parts[0], (0,), wrap=True)
    return Places(numbered(do, parts, x.shape[:count]), range(count), wrap=False)


def _nd_shape(index: Sequence[int], x: Sequence[int]) -> tuple[int, ...]:
    return (*index[:-1], *x[index[-1] :])


@composed(x="... : T", index="... components : s32 s64", source="... or number : T", out=True)
def scatter_nd(do: Steps, x: TensorRef, index: TensorRef, source: Any, *, bounds: Bounds = "check") -> TensorRef:
    """x with elements or slices of source at the tuples of indices that lie along the last axis of index, for the first axes of
    x: y[tuple(index[p])] = source[p].

    source has the shape of index without its last axis, followed by the axes of x that are left, or broadcasts to it. Of several
    with one place the last in logical order stays. A negative index counts from the end. `out` may be `x`.

    Source: ONNX ScatterND, jax.lax.scatter.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.scatter_nd(np.zeros((2, 2), np.float32), np.array([[1, 0], [0, 1]]), np.float32([1, 2])).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    return _scatter_nd(do, x, index, source, None, bounds)


def _scatter_nd(
    do: Steps, x: TensorRef, index: TensorRef, source: Any, combination: Combination | None, bounds: str
) -> TensorRef:
    places = _tuples(do, x, index, bounds)
    source = broadcasted(as_tensor(do, source, x.kind), _nd_shape(index.shape, x.shape), "source")
    y = copied(do, x)
    places.write(do, y, apart(do, source, y), combination)
    return y


@composed(dy="*all : T", x="*all : T", index="... components : s32 s64", source="... : T")
def scatter_nd_backward(
    do: Steps, dy: TensorRef, x: TensorRef, index: TensorRef, source: TensorRef, *, wrt: Wrt = None, bounds: Bounds = "check"
) -> Any:
    """The gradients of `scatter_nd`'s x and source, those named in `wrt` or both."""
    places = _tuples(do, dy, index, bounds)
    shape = _nd_shape(index.shape, dy.shape)
    if source.shape != shape:
        raise InvalidProblemError(f"source: shape is {source.shape}; expected {shape}")

    def into() -> tuple[TensorMut, Any]:
        made = do.new(source.shape, source.kind)
        return made, made

    return gradients(do, dy, places, into, wrt)


@composed(x="... : T", index="... components : s32 s64", source="... or number : T", out=True)
def scatter_nd_reduce(
    do: Steps,
    x: TensorRef,
    index: TensorRef,
    source: Any,
    *,
    reduce: Literal["sum", "prod", "amax", "amin"] = "sum",
    bounds: Bounds = "check",
) -> TensorRef:
    """x combined with elements or slices of source at the tuples of indices that lie along the last axis of index: a sum, a
    product, a maximum or a minimum. As `scatter_nd`; elements of one place are combined in their order, and then with x.

    Source: jax.lax.scatter_add, scatter_mul, scatter_max, scatter_min; ONNX ScatterND with a reduction.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.scatter_nd_reduce(np.ones(2, np.float32), np.array([[1], [1]]), np.float32([1, 2])).tolist()
    [1.0, 4.0]
    """
    return _scatter_nd(do, x, index, source, COMBINATIONS[reduce], bounds)
