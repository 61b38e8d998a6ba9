"""The gradients of scatters and segments that are linear: reads at the same indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef, tensor_mut
from baracuda.frontends.backward import chosen
from baracuda.frontends.call import describe, one_or_all
from baracuda.frontends.families import function
from baracuda.frontends.scatter import axis_of, bincount, check_bounds
from baracuda.frontends.views import copy, filled


def _wanted(made: dict[str, Any], wrt: Sequence[str] | None) -> Any:
    return one_or_all([made[n] for n in chosen(wrt, tuple(made))])


def _expect(name: str, ref: TensorRef, shape: Sequence[int]) -> None:
    if ref.shape != tuple(shape):
        raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected {tuple(shape)}")


def index_add_backward(
    dy: Any,
    x: Any,
    index: Any,
    source: Any,
    *,
    axis: int = 0,
    alpha: float = 1.0,
    wrt: Sequence[str] | None = None,
    bounds: str = "check",
) -> Any:
    """The gradients of `index_add`'s x, which is dy itself, and source, alpha * dy at index; those named in `wrt` or both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, index, source = np.float32([1, 2, 3]), np.array([2, 0]), np.zeros(2, np.float32)
    >>> baracuda.index_add_backward(dy, dy, index, source, alpha=2.0, wrt=("source",)).tolist()
    [6.0, 2.0]
    """
    given, at = describe(dy, "dy"), describe(index, "index")
    _expect("dy", given, describe(x, "x").shape)
    axis = axis_of(axis, given.shape, "x")
    shape = (*given.shape[:axis], *at.shape, *given.shape[axis + 1 :])
    _expect("source", describe(source, "source"), shape)
    made = {"x": dy}
    if wrt is None or "source" in wrt:
        flat = index if len(at.shape) == 1 else index.reshape(-1)
        read = function("index_select")(dy, flat, axis=axis, bounds=bounds).reshape(shape)
        made["source"] = read if alpha == 1 else function("mul")(read, alpha)
    return _wanted(made, wrt or ("x", "source"))


def scatter_add_backward(
    dy: Any,
    x: Any,
    index: Any,
    source: Any,
    *,
    axis: int = -1,
    wrt: Sequence[str] | None = None,
    bounds: str = "check",
) -> Any:
    """The gradients of `scatter_add`'s x, which is dy itself, and source, dy at index and 0 where index does not reach; those
    named in `wrt` or both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, index, source = np.float32([[1, 2, 3]]), np.array([[2, 2]]), np.zeros((1, 3), np.float32)
    >>> baracuda.scatter_add_backward(dy, dy, index, source, wrt=("source",)).tolist()
    [[3.0, 3.0, 0.0]]
    """
    given, at, brought = describe(dy, "dy"), describe(index, "index"), describe(source, "source")
    _expect("dy", given, describe(x, "x").shape)
    axis = axis_of(axis, given.shape, "x")
    made = {"x": dy}
    if wrt is None or "source" in wrt:
        limits = (*at.shape[:axis], given.shape[axis], *at.shape[axis + 1 :])
        part = dy if limits == given.shape else dy[tuple(slice(n) for n in limits)]
        found = function("gather")(part, index, axis=axis, bounds=bounds)
        if brought.shape != at.shape:
            whole = filled(dy, brought.shape, given.kind, 0)
            copy(found, tensor_mut(whole[tuple(slice(n) for n in at.shape)]), dy)
            found = whole
        made["source"] = found
    return _wanted(made, wrt or ("x", "source"))


def _segments(dy: Any, x: Any, ids: Any, bounds: str) -> Any:
    """dy at the segment of each row of x."""
    given, at, ref = describe(dy, "dy"), describe(ids, "segment_ids"), describe(x, "x")
    _expect("segment_ids", at, ref.shape[: len(at.shape)])
    _expect("dy", given, (*given.shape[:1], *ref.shape[len(at.shape) :]))
    check_bounds(bounds, ids, "segment_ids", given.shape[0], wrap=False)
    return function("index_select")(dy, ids.reshape(-1), axis=0, bounds="clamp").reshape(ref.shape)


def segment_sum_backward(dy: Any, x: Any, segment_ids: Any, *, bounds: str = "check") -> Any:
    """The gradient of `segment_sum`'s x: dy of the row's segment.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_sum_backward(np.float32([5, 6]), np.zeros(3, np.float32), np.array([1, 0, 1])).tolist()
    [6.0, 5.0, 6.0]
    """
    return _segments(dy, x, segment_ids, bounds)


def segment_mean_backward(dy: Any, x: Any, segment_ids: Any, *, bounds: str = "check") -> Any:
    """The gradient of `segment_mean`'s x: dy of the row's segment over the segment's number of rows.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_mean_backward(np.float32([5, 6]), np.zeros(3, np.float32), np.array([1, 0, 1])).tolist()
    [3.0, 5.0, 3.0]
    """
    given = describe(dy, "dy")
    if not given.shape:
        raise InvalidProblemError("dy: it is a scalar; expected segments along its first axis")
    check_bounds(bounds, segment_ids, "segment_ids", given.shape[0], wrap=False)
    count = bincount(segment_ids, length=given.shape[0], bounds="clamp").reshape((-1,) + (1,) * (len(given.shape) - 1))
    number = function("cast")(function("maximum")(count, 1), dtype=given.kind.compute)
    share = function("div")(dy, number)  # in f32 for 16-bit floats, which cannot hold every count
    if given.kind.compute is not given.kind:
        share = function("cast")(share, dtype=given.kind)
    return _segments(share, x, segment_ids, "clamp")
