"""Indexing of arrays: integers and slices are views, arrays of integers and masks are gathered and scattered."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import EllipsisType
from typing import Any

from baracuda.core.errors import InvalidProblemError, OutOfRangeError
from baracuda.core.tensor import TensorRef
from baracuda.frontends.array.operators import public
from baracuda.native import load

Basic = int | slice | EllipsisType | None


def _getitem(self: Any, index: Any) -> Any:
    items = index if isinstance(index, tuple) else (index,)
    if _is_basic(items):
        return self._view(*_basic(self.shape, self.strides, items))
    return _expressions().getitem(self, index)


_native = load()


class Indexing:
    """x[index] and x[index] = values."""

    __slots__ = ()

    __getitem__ = _getitem if _native is None else _native.Operator(_getitem, indexing=True)

    def __setitem__(self: Any, index: Any, values: Any) -> None:
        items = index if isinstance(index, tuple) else (index,)
        if isinstance(values, TensorRef) and values.owner is not self.owner and _is_basic(items):
            write(self._view(*_basic(self.shape, self.strides, items)), values)
        elif self.readonly:
            raise InvalidProblemError("the array is read-only; expected one that can be written")
        else:
            _expressions().setitem(self, index, values)

    def __len__(self: Any) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return int(self.shape[0])

    def __iter__(self: Any) -> Any:
        if not self.shape:
            raise TypeError("iteration over an array without axes")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self: Any, value: Any) -> bool:
        return bool(public("any")(self == value))


def _is_basic(items: tuple[Any, ...]) -> bool:
    for item in items:
        kind = type(item)
        if kind is int or kind is slice or item is None or item is Ellipsis:
            continue
        if kind is bool or kind is list or (isinstance(item, TensorRef) and (item.shape or item.kind.category.value == "bool")):
            return False
        if not hasattr(item, "__index__"):
            return False
    return True


@cache
def _expressions() -> Any:
    """What reads and writes at indices and masks."""
    return import_module("baracuda.frontends.index_expression")


def _basic(
    shape: tuple[int, ...], strides: tuple[int, ...], items: tuple[Any, ...]
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The first element, shape and strides of a view."""
    used = sum(i is not None and i is not Ellipsis for i in items)
    ellipses = sum(i is Ellipsis for i in items)
    rank = len(shape)
    if used > rank or ellipses > 1:
        raise OutOfRangeError(f"index: {items!r}; expected at most {rank} integers and slices, and one ellipsis")
    extents: list[int] = []
    steps: list[int] = []
    start = axis = 0
    for item in items if ellipses or used == rank else (*items, Ellipsis):
        if item is None:
            extents.append(1)
            steps.append(0)
            continue
        if item is Ellipsis:
            extents += shape[axis : axis + rank - used]
            steps += strides[axis : axis + rank - used]
            axis += rank - used
            continue
        n, step = shape[axis], strides[axis]
        if isinstance(item, slice):
            first, stop, by = item.indices(n)
            count = len(range(first, stop, by))
            start += first * step if count else 0
            extents.append(count)
            steps.append(by * step)
        else:
            at = item.__index__()
            if not -n <= at < n:
                raise OutOfRangeError(f"index: {at!r} of axis {axis}; expected a slice, or an integer below {n}")
            start += (at + n if at < 0 else at) * step
        axis += 1
    return start if 0 not in extents else 0, tuple(extents), tuple(steps)


def write(target: Any, values: Any) -> None:
    """Put an array, broadcast and in the target's element, into a view of memory that is not its own."""
    if target.readonly:
        raise InvalidProblemError("the array is read-only; expected one that can be written")
    if not target.size:
        return
    public("cast")(values if values.shape == target.shape else values.broadcast_to(target.shape), dtype=target.kind, out=target)
