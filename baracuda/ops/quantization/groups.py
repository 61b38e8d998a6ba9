"""Tensors cut into groups along one axis or several, as views: whole groups, and what is left at the end of an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.spec import MAX_RANK
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of, view
from baracuda.ops.declaration.composition import Given, Steps

#: One axis or several; how many elements a group has along each, a number for all.
GroupAxes = int | tuple[int, ...]
GroupSizes = int | tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """Groups of one size along an axis: the first element, the first group, how many there are, their size."""

    start: int
    first: int
    count: int
    size: int


@dataclass(frozen=True)
class Groups:
    """Groups of a tensor of some shape: along each axis of `sizes` so many neighbours are of one group, the last of an axis with
    what is left."""

    shape: tuple[int, ...]
    sizes: tuple[tuple[int, int], ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The shape of a tensor with one element for each group."""
        sizes = dict(self.sizes)
        return tuple(-(-n // sizes[a]) if a in sizes else n for a, n in enumerate(self.shape))

    @property
    def inner(self) -> tuple[int, ...]:
        """The axes of a group's elements in the views of `parts`."""
        return tuple(a + i + 1 for i, (a, _) in enumerate(sorted(self.folded.sizes)))

    @property
    def folded(self) -> Groups:
        """The same groups of a tensor with as few axes as a plan takes, of which neighbours that are not cut are one."""
        shape, sizes = list(self.shape), dict(self.sizes)
        at = 0
        while len(shape) + len(sizes) > MAX_RANK and at + 1 < len(shape):
            if at in sizes or at + 1 in sizes:
                at += 1
                continue
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
            sizes = {a - (a > at): n for a, n in sizes.items()}
        if len(shape) + len(sizes) > MAX_RANK:
            raise UnsupportedError(f"groups along {len(sizes)} axes of {len(self.shape)}; expected fewer")
        return Groups(tuple(shape), tuple(sizes.items()))

    def pieces(self) -> Iterator[Piece]:
        """Parts of the tensor in which all groups have one shape; none of a tensor without elements."""
        if 0 in self.shape:
            return
        axes = []
        for axis, size in sorted(self.sizes):
            n = self.shape[axis]
            whole, rest = divmod(n, size)
            runs = [Run(0, 0, whole, size)] if whole else []
            axes.append([*runs, *([Run(whole * size, whole, 1, rest)] if rest else [])])
        for chosen in product(*axes):
            yield Piece(tuple(zip((a for a, _ in sorted(self.sizes)), chosen, strict=True)))


@dataclass(frozen=True)
class Piece:
    """A part of a tensor: for each axis that is cut the groups in it."""

    runs: tuple[tuple[int, Run], ...]

    def elements(self, tensor: TensorRef, packed: int = 1) -> Any:
        """A tensor's elements with the groups' number and the place in a group in place of each axis; `packed` of those of the
        last axis are one of the tensor."""
        return self._view(tensor, packed)

    def each(self, tensor: TensorRef) -> Any:
        """A tensor of one element for each group, as one that broadcasts to `elements`."""
        return self._view(tensor, None)

    def _view(self, tensor: TensorRef, packed: int | None) -> Any:
        runs, offset = dict(self.runs), 0
        shape: list[int] = []
        strides: list[int] = []
        last = len(tensor.shape) - 1
        for axis, (n, step) in enumerate(zip(tensor.shape, tensor.strides, strict=True)):
            if axis not in runs:
                shape.append(n)
                strides.append(step)
                continue
            run = runs[axis]
            by = packed if packed is not None and axis == last else 1
            start, size = (run.first, 1) if packed is None else (run.start // by, run.size // by)
            offset += start * step
            shape += [run.count, size]
            strides += [size * step, step]
        return view(tensor, offset, shape, strides)


def groups_of(shape: Sequence[int], size: GroupSizes, axis: GroupAxes, name: str = "group_size") -> Groups:
    """Groups of `size` neighbours along an axis, or along each of several; -1 for all of an axis."""
    axes = axes_of(axis, len(shape))
    sizes = (size,) * len(axes) if isinstance(size, int) else tuple(size)
    if len(sizes) != len(axes) or any(n < 1 and n != -1 for n in sizes):
        raise InvalidProblemError(f"{name}: {size}; expected 1 or more, or -1, for each axis of {axis}")
    return Groups(tuple(shape), tuple((a, max(shape[a], 1) if n == -1 else n) for a, n in zip(axes, sizes, strict=True)))


def new_like(do: Steps, x: TensorRef, kind: ElementKind, groups: Groups) -> Any:
    """A new tensor of x's shape that `folded` can show, in x's memory order where that takes no folding."""
    return do.new(x.shape, kind, x) if groups.folded == groups else do.rows(x.shape, kind)


def _fold(do: Steps, groups: Groups, t: Given) -> Given:
    """A tensor of the groups' shape, the last axis of which may be packed, or of their number, in the axes of `groups.folded`; a
    copy where strides do not allow that."""
    target = groups.folded
    if t is None or target == groups:
        return t
    found: TensorRef = do.reshaped(t, target.counts if t.shape == groups.counts else (*target.shape[:-1], t.shape[-1]))
    return found


Views = tuple[Any, ...]


def parts(
    do: Steps, groups: Groups, full: Sequence[Given], each: Sequence[Given] = (), pairs: Sequence[TensorRef] = ()
) -> Iterator[tuple[Views, Views, Views]]:
    """Views of a tensor's parts in which all groups have one shape: of tensors with all elements, of those with one for each
    group, which broadcast to them, and of those with one for two neighbours of the last axis."""
    whole, ones, halves = ([_fold(do, groups, t) for t in kind] for kind in (full, each, pairs))
    for piece in groups.folded.pieces():
        yield (
            tuple(None if t is None else piece.elements(t) for t in whole),
            tuple(None if t is None else piece.each(t) for t in ones),
            tuple(piece.elements(t, 2) for t in halves if t is not None),
        )


def check_groups(groups: Groups, tensor: TensorRef, name: str) -> None:
    """Raise unless a tensor has an element for each group."""
    if tensor.shape != groups.counts:
        raise InvalidProblemError(f"{name}: shape is {tensor.shape}; expected {groups.counts}, one for each group")
