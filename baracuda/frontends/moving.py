"""Which copies are made together: small ones into one tensor, in one launch for many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod

from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits
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
