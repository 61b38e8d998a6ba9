"""Which copies are made together: small ones into one tensor, in one launch for many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod

from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits, slab
from baracuda.lowering.movement.problem import fits
from baracuda.ops.shapes.movement import MovementDescriptor

Copy = tuple[TensorRef, TensorMut]
#: Bytes of a copy up to which it is made with others, and how many there are at least.
SMALL, LEAST = 256 << 10, 3


def together(pieces: Iterable[Copy], whole_of: Callable[[TensorRef], TensorRef]) -> Iterator[list[Copy]]:
    """Copies in groups: of one that is made by itself, or of several that go into one tensor; `whole_of` tells which."""
    small: dict[int, list[Copy]] = {}
    for source, target in pieces:
        if 0 in target.shape:
            continue
        nbytes = prod(target.shape) * target.kind.itemsize
        alone = source.kind is not target.kind or nbytes > SMALL or source.owner is target.owner
        if alone or not fits(target.shape, source.strides, target.strides):
            yield [(source, target)]
        else:
            small.setdefault(id(whole_of(target)), []).append((source, target))
    for group in small.values():
        while group:
            room = min(fits(t.shape, s.strides, t.strides) for s, t in group[: fits((), (), ())])
            taken, group = group[:room], group[room:]
            yield from [taken] if len(taken) >= LEAST else [[one] for one in taken]


def around(window: TensorRef, whole: TensorMut) -> list[TensorMut] | None:
    """What of a tensor lies outside of a window, in parts that have nothing in common; None where the window is no range along
    each axis, or all is so small that it is as well written twice."""
    if prod(whole.shape) * whole.kind.itemsize <= SMALL or window.strides != whole.strides or 0 in window.shape:
        return None
    rest = (window.pointer - whole.pointer) // whole.kind.itemsize
    starts = [0] * len(whole.shape)
    for a in sorted(range(len(starts)), key=lambda a: whole.strides[a], reverse=True):
        if whole.shape[a] > 1 and whole.strides[a] > 0:
            starts[a] = min(rest // whole.strides[a], whole.shape[a] - window.shape[a])
            rest -= starts[a] * whole.strides[a]
    if rest or min(starts, default=0) < 0:
        return None
    parts: list[TensorMut] = []
    for a, start in enumerate(starts):
        stop = start + window.shape[a]
        for low, high in ((0, start), (stop, whole.shape[a])):
            if low < high:
                parts.append(slab(whole, a, low, high))
        whole = slab(whole, a, start, stop)
    return parts


def described(copies: Sequence[Copy], whole: TensorRef) -> MovementDescriptor:
    """Copies into one tensor as a problem."""
    size = whole.kind.itemsize
    return MovementDescriptor(
        as_bits(whole).kind,
        tuple(tuple(t.shape) for _, t in copies),
        tuple(tuple(t.strides) for _, t in copies),
        tuple((t.pointer - whole.pointer) // size for _, t in copies),
        tuple(whole.shape),
    )
