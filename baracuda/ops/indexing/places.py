"""Where the elements of indexed writes go, and the steps that such writes and their gradients are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import broadcasted, permuted
from baracuda.ops.declaration.composition import Steps, chosen, one_or_all
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.indexing import indexing
from baracuda.ops.indexing.moves import cleared, move, number, zeros
from baracuda.ops.indexing.put import Combination, PutBackwardPlan, PutCombinedPlan, PutDescriptor, PutPlan

Reduction = Literal["sum", "prod", "amax", "amin"] | None
COMBINATIONS: dict[str | None, Combination | None] = {None: None, "sum": "sum", "prod": "prod", "amax": "max", "amin": "min"}


class Places:
    """Where the elements of one write go: an index, and the axes of the tensor that it leads along.

    Parameters
    ----------
    index
        The index, of the positions' shape.
    axes
        The tensor's axes that it leads along, in the order in which it numbers their elements.
    aligned
        If given, the index has the rank of the tensor, and leads along this axis alone.
    """

    def __init__(
        self, index: TensorRef, axes: Sequence[int], *, wrap: bool, aligned: int | None = None, once: bool = False,
        skip: int | None = None,
    ) -> None:  # fmt: skip
        self.index, self.axes, self.aligned = index, tuple(axes), aligned
        self.wrap, self.once, self.skip = wrap, once, skip

    def seen(self, tensor: TensorRef) -> Any:
        """A tensor with the axes that the index leads along in front."""
        rest = [a for a in range(len(tensor.shape)) if a not in self.axes]
        return permuted(tensor, (*self.axes, *rest))

    def _descriptor(self, target: TensorRef, combination: Combination | None = None) -> PutDescriptor:
        count = len(self.axes)
        return PutDescriptor(
            self.index.shape, target.shape[:count], target.shape[count:], target.kind, self.index.kind,
            axis=self.aligned, wrap=self.wrap, skip=self.skip, once=self.once, combination=combination,
        )  # fmt: skip

    def write(self, do: Steps, y: TensorMut, source: TensorRef, combination: Combination | None = None) -> None:
        """Put elements, of the positions' axes and then those of y that are left, into y; or combine them with what it has."""
        if not prod(self.index.shape) or not prod(y.shape):
            return
        target = self.seen(y)
        if combination is not None:
            tensors = {"index": self.index, "x": source, "base": target}
            do.plan(PutCombinedPlan, self._descriptor(target, combination), tensors, into=target)
        else:
            descriptor = self._descriptor(target)
            if self._is_same_everywhere(source):
                descriptor = replace(descriptor, once=True)
            do.plan(PutPlan, descriptor, {"index": self.index, "x": source}, into=target)

    def _is_same_everywhere(self, source: TensorRef) -> bool:
        """Whether all that is put in one place is the same, so that it does not matter which of it stays."""
        axes = range(len(self.index.shape)) if self.aligned is None else (self.aligned,)
        return all(source.strides[a] == 0 or source.shape[a] == 1 for a in axes)

    def read(self, do: Steps, dy: TensorRef, into: TensorMut, *, all_of_them: bool = False) -> None:
        """The gradients of what was put: dy for what stayed, 0 for the others; or dy for all."""
        if not prod(into.shape):
            return
        target = self.seen(dy)
        if not prod(target.shape):
            cleared(do, into)
            return
        descriptor = self._descriptor(target)
        if all_of_them:
            descriptor = replace(descriptor, once=True)
        do.plan(PutBackwardPlan, descriptor, {"index": self.index, "dy": target}, into=into)

    def clear(self, do: Steps, y: TensorMut) -> None:
        """Zeros in all places."""
        kind = y.kind
        rest = self.seen(y).shape[len(self.axes) :]
        once = Places(self.index, self.axes, wrap=self.wrap, aligned=self.aligned, once=True, skip=self.skip)
        once.write(do, y, broadcasted(zeros(do, (), kind), (*self.index.shape, *rest)))  # whichever is last, it is 0


def as_tensor(do: Steps, source: Any, kind: ElementKind) -> TensorRef:
    """What is put, a number as a tensor without axes."""
    if isinstance(source, TensorRef):
        return source
    made: TensorRef = number(do, source, kind)
    return made


def gradients(
    do: Steps,
    dy: TensorRef,
    places: Places,
    into_source: Any,
    wrt: Wrt,
    *,
    accumulated: bool = False,
    names: Sequence[str] = ("x", "source"),
) -> Any:
    """The gradients of x and of what was put; `into_source` makes the tensor for the second, and the view of it that positions
    see."""
    found: dict[str, Any] = {}
    for name in chosen(wrt, names):
        if name == names[0]:
            found[name] = do.new_like(dy)
            move(do, dy, found[name])
            if not accumulated:
                places.clear(do, found[name])
        else:
            made, seen = into_source()
            places.read(do, dy, seen, all_of_them=accumulated)
            found[name] = made
    return one_or_all(tuple(found.values()))


def numbered(do: Steps, indices: Sequence[TensorRef], extents: Sequence[int]) -> TensorRef:
    """The numbers of elements among those of some axes, the last one fastest, given an index for each; they broadcast."""
    tensors = {f"index{k}": i for k, i in enumerate(indices)}
    words: dict[str, Any] = {f"n{k}": n for k, n in enumerate(extents)}
    found: TensorRef = do.run(indexing.number, tensors, dtype=ElementKind.S64, batch=0, **words)
    return found
