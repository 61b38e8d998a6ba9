"""What x[...] means: a view by integers, slices and new axes, some axes of which are read or written at indices.

An expression comes as *tokens*, one for each axis that it speaks of, in order: `(SLICE, first, count, step)`, `(NEW,)`,
`(INTEGER, i)`, `(INDEX, k)` for an axis read at the index number k, and `(NEW_INDEX, k)` for a new axis of extent 1 that is. The
indices broadcast; their axes stand in the result at `place`, NumPy's rules for which the caller has applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import broadcast_shape, broadcasted, permuted, view
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.indexing import indexing
from baracuda.ops.indexing.masks import summed_to
from baracuda.ops.indexing.moves import apart
from baracuda.ops.indexing.places import Places, numbered

SLICE, NEW, INTEGER, INDEX, NEW_INDEX = range(5)
Token = tuple[int, ...]
Tokens = tuple[Token, ...]


@dataclass(frozen=True)
class Meaning:
    """What an expression is for a tensor.

    Attributes
    ----------
    start, shape, strides
        The view by integers, slices and new axes, in which axes that are read at indices are whole.
    indexed
        The view's axes that are read at indices, and the number of the index of each.
    place
        Where the axes of the indices stand among those of the result.
    """

    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    indexed: tuple[tuple[int, int], ...]
    place: int

    def view(self, x: TensorRef) -> Any:
        """The view of a tensor, the axes that are read at indices in front."""
        whole = view(x, self.start, self.shape, self.strides)
        first = [axis for axis, _ in self.indexed]
        return permuted(whole, (*first, *(a for a in range(len(self.shape)) if a not in first)))

    @property
    def rest(self) -> tuple[int, ...]:
        """The extents of the axes that are not read at indices."""
        first = {axis for axis, _ in self.indexed}
        return tuple(n for a, n in enumerate(self.shape) if a not in first)

    def result_shape(self, positions: Sequence[int]) -> tuple[int, ...]:
        """The shape of what is read, where the indices broadcast to some shape."""
        rest = self.rest
        return (*rest[: self.place], *positions, *rest[self.place :])

    def positions_first(self, result: TensorRef, rank: int) -> Any:
        """A tensor of the result's shape with the axes of the indices, so many, in front."""
        axes = range(self.place, self.place + rank)
        return permuted(result, (*axes, *(a for a in range(len(result.shape)) if a not in axes)))


def meaning(tensor: TensorRef, tokens: Tokens, place: int) -> Meaning:
    """What tokens mean for a tensor."""
    start, axis = 0, 0
    shape: list[int] = []
    strides: list[int] = []
    indexed: list[tuple[int, int]] = []
    for kind, *numbers in tokens:
        if kind == NEW:
            shape.append(1)
            strides.append(0)
            continue
        if kind == NEW_INDEX:
            indexed.append((len(shape), numbers[0]))
            shape.append(1)
            strides.append(0)
            continue
        step = tensor.strides[axis]
        if kind == INTEGER:
            start += numbers[0] * step
        elif kind == SLICE:
            first, count, by = numbers
            start += first * step if count else 0
            shape.append(count)
            strides.append(by * step)
        else:
            indexed.append((len(shape), numbers[0]))
            shape.append(tensor.shape[axis])
            strides.append(step)
        axis += 1
    return Meaning(start, tuple(shape), tuple(strides), tuple(indexed), place)


class Indexed:
    """An expression with indices, for a tensor of one shape."""

    def __init__(self, do: Steps, x: TensorRef, indices: Sequence[TensorRef], tokens: Tokens, place: int, bounds: str) -> None:
        self.do, self.meaning = do, meaning(x, tokens, place)
        self.indices = [indices[number] for _, number in self.meaning.indexed]
        self.extents = [self.meaning.shape[axis] for axis, _ in self.meaning.indexed]
        self.positions = broadcast_shape(i.shape for i in self.indices)
        if bounds == "check" and 0 not in self.positions:
            for k, (index, extent) in enumerate(zip(self.indices, self.extents, strict=True)):
                do.check_indices(index, f"index {k}" if len(self.indices) > 1 else "index", IndexBound(extent, wrap=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is read or written."""
        return self.meaning.result_shape(self.positions)

    def places(self) -> Places:
        """Where positions go, among the first axes of the view."""
        if len(self.indices) == 1:
            return Places(self.indices[0], (0,), wrap=True)
        return Places(numbered(self.do, self.indices, self.extents), range(len(self.indices)), wrap=False)

    def read(self, x: TensorRef, out: TensorMut | None) -> TensorMut:
        """The elements at the indices."""
        do = self.do
        y = do.new(self.shape, x.kind) if out is None else out
        if not prod(self.shape):
            return y
        tensors = {f"index{k}": i for k, i in enumerate(self.indices)}
        into = self.meaning.positions_first(y, len(self.positions))
        do.run(indexing.index_get, {"x": self.meaning.view(x), **tensors}, into=into)
        return y

    def write(self, y: TensorMut, values: TensorRef, *, accumulate: bool) -> None:
        """Put values, which broadcast to the shape, into y; or add them to it."""
        if not prod(self.shape):
            broadcasted(values, self.shape, "values")
            return
        whole = broadcasted(apart(self.do, values, y), self.shape, "values")
        source = self.meaning.positions_first(whole, len(self.positions))
        self.places().write(self.do, self.meaning.view(y), source, "sum" if accumulate else None)

    def clear(self, y: TensorMut) -> None:
        """Zeros at the indices."""
        if prod(self.shape):
            self.places().clear(self.do, self.meaning.view(y))

    def gradient(self, dy: TensorRef, values: TensorRef, *, accumulate: bool) -> Any:
        """The gradient by values: dy of what stayed, or of all; summed over the axes along which values was repeated."""
        do = self.do
        whole = do.new(self.shape, dy.kind)
        broadcasted(values, self.shape, "values")
        if prod(self.shape):
            into = self.meaning.positions_first(whole, len(self.positions))
            self.places().read(do, self.meaning.view(dy), into, all_of_them=accumulate)
        return summed_to(do, whole, values.shape)


def seen(x: TensorRef, tokens: Tokens) -> Any:
    """The view of a tensor by an expression without indices."""
    found = meaning(x, tokens, 0)
    return view(x, found.start, found.shape, found.strides)
