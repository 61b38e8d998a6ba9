"""Elements where a mask holds: put there in order, taken from there, and the steps that functions of such elements are made of.

A mask holds where it is not zero; a NaN is not. Which element is the how-manieth is counted in integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import broadcast_shape, broadcasted, view
from baracuda.lowering.compaction.problem import Mode
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Bounds, Wrt
from baracuda.ops.elementwise.conversions import cast
from baracuda.ops.indexing.compaction import CompactionDescriptor, CompactionPlan, MarksDescriptor, MarksPlan
from baracuda.ops.indexing.moves import apart, contiguous, move, zeros
from baracuda.ops.reductions.reductions import sum_

Shape = tuple[int, ...]


class Marked(NamedTuple):
    """The marks of a mask: a bit for each element, and how many are set before each block, and in all."""

    bits: TensorRef
    offsets: TensorRef
    shape: Shape

    @property
    def total(self) -> Any:
        """How many are set, as a tensor of one element."""
        last = self.offsets.shape[0] - 1
        return view(self.offsets, last, (1,), (1,))

    def tensors(self, **others: TensorRef | None) -> dict[str, TensorRef | None]:
        """What a compaction takes."""
        return {"bits": self.bits, "offsets": self.offsets, **others}


def marked(do: Steps, mask: TensorRef, shape: Sequence[int]) -> Marked:
    """The marks of a mask, of one element or more, that is repeated to a shape."""
    if mask.kind.category is Category.COMPLEX:
        mask = do.run(cast, {"x": mask}, dtype=ElementKind.BOOL)
    count = prod(shape)
    flat = contiguous(do, broadcasted(mask, shape, "mask"), (count,))
    bits, offsets = do.plan(MarksPlan, MarksDescriptor(count, mask.kind), {"x": flat})
    return Marked(bits, offsets, tuple(shape))


def packed(do: Steps, marks: Marked, x: TensorRef, into: TensorMut) -> None:
    """The marked elements of x, in order, as far as there is room; all else of `into`, which has one axis, stays."""
    if into.shape[0]:
        descriptor = CompactionDescriptor(Mode.PACKED, marks.shape, into.shape[0], x.kind)
        do.plan(CompactionPlan, descriptor, marks.tensors(x=broadcasted(x, marks.shape)), into=into)


def spread(do: Steps, marks: Marked, x: TensorRef, base: TensorRef | None, into: TensorMut, *, cyclic: bool = False) -> None:
    """Elements of x, which has one axis and one element or more, in order where marks are, elsewhere those of base, or 0."""
    descriptor = CompactionDescriptor(Mode.SPREAD, marks.shape, x.shape[0], x.kind, base is not None, cyclic)
    do.plan(CompactionPlan, descriptor, marks.tensors(x=x, base=base), into=into)


def summed_to(do: Steps, x: TensorRef, shape: Sequence[int]) -> Any:
    """A gradient summed over the axes along which a tensor of this shape was repeated."""
    lead = len(x.shape) - len(shape)
    axes = (*range(lead), *(lead + a for a, n in enumerate(shape) if n == 1 and x.shape[lead + a] != 1))
    if not axes:
        return x
    return do.reshaped(do.run(sum_, {"x": x}, axis=axes, keepdims=True), tuple(shape))


# --- into where a mask holds ------------------------------------------------------------------------------------------


def _filled(do: Steps, x: TensorRef, mask: TensorRef, source: TensorRef, cyclic: bool, bounds: str, name: str) -> TensorMut:
    shape = broadcast_shape([x.shape, mask.shape])
    if do.out is not None or shape == x.shape:
        y = do.result_like(broadcasted(x, shape) if shape != x.shape else x)
    else:
        y = do.new(shape, x.kind)
    count = prod(source.shape)
    base: TensorRef = broadcasted(x, shape)
    if not prod(shape):
        return y
    marks = marked(do, mask, shape)
    if bounds == "check" and (not cyclic or not count):
        do.check_range(marks.total, f"{name}, {count} elements, for so many places", 0, (1 << 62) if cyclic and count else count)
    if not count:
        move(do, base, y)
        return y
    flat = contiguous(do, apart(do, source, y), (count,))
    spread(do, marks, flat, base, y, cyclic=cyclic)
    return y


@composed(x="... : T", mask="...", source="... : T", out=True)
def masked_scatter(do: Steps, x: TensorRef, mask: TensorRef, source: TensorRef, *, bounds: Bounds = "check") -> TensorRef:
    """x with the elements of source, in order, where the mask holds.

    x and mask broadcast; source has as many elements as the mask holds at, or more. bounds="check" raises
    `InvalidProblemError` where it has fewer (on a GPU when values are next read on the host, or by `baracuda.synchronize()`),
    bounds="clamp" then repeats its last one. `out` may be `x`. Source: torch.masked_scatter.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.masked_scatter(np.float32([1, 2, 3]), np.array([True, False, True]), np.float32([7, 8, 9])).tolist()
    [7.0, 2.0, 8.0]
    """
    return _filled(do, x, mask, source, False, bounds, "source")


@composed(dy="... : T", x="... : T", mask="...", source="... : T")
def masked_scatter_backward(
    do: Steps, dy: TensorRef, x: TensorRef, mask: TensorRef, source: TensorRef, *, wrt: Wrt = None
) -> Any:
    """The gradients of `masked_scatter`'s x, dy where the mask does not hold, and source, dy where it does and 0 behind that;
    those named in `wrt` or both."""
    return _filled_backward(do, dy, x, mask, source, wrt, ("x", "source"), cyclic=False)


def _filled_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    mask: TensorRef,
    source: TensorRef,
    wrt: Wrt,
    names: tuple[str, str],
    *,
    cyclic: bool,
) -> Any:
    shape = broadcast_shape([x.shape, mask.shape])
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    if not prod(shape):
        made = {names[0]: zeros(do, x.shape, x.kind), names[1]: zeros(do, source.shape, source.kind)}
        return one_or_all(tuple(made[n] for n in chosen(wrt, names)))
    marks = marked(do, mask, shape)
    found: dict[str, Any] = {}
    for name in chosen(wrt, names):
        if name == names[0]:
            dx = do.new_like(dy)
            spread(do, marks, zeros(do, (1,), dy.kind), dy, dx)
            found[name] = summed_to(do, dx, x.shape)
        elif not cyclic:
            made_source = zeros(do, source.shape, source.kind)
            count = prod(source.shape)
            whole = zeros(do, (count,), source.kind)
            packed(do, marks, dy, whole)
            flat: TensorMut = view(made_source, 0, source.shape, made_source.strides)
            move(do, view(whole, 0, source.shape, contiguous_strides(source.shape)), flat)
            found[name] = made_source
        else:
            found[name] = _of_cycles(do, marks, dy, source)
    return one_or_all(tuple(found.values()))


def _of_cycles(do: Steps, marks: Marked, dy: TensorRef, source: TensorRef) -> Any:
    """What elements get that are used again and again: dy by rank, in rows of as many as there are, summed down the rows."""
    count = prod(source.shape)
    if not count:
        return zeros(do, source.shape, source.kind)
    rows = -(-prod(marks.shape) // count)
    ranks = zeros(do, (rows * count,), dy.kind)
    packed(do, marks, dy, ranks)
    total = do.run(sum_, {"x": view(ranks, 0, (rows, count), (count, 1))}, axis=0)
    return do.reshaped(total, source.shape)


@composed(x="... : T", mask="...", values="... : T", out=True)
def place(do: Steps, x: TensorRef, mask: TensorRef, values: TensorRef, *, bounds: Bounds = "check") -> TensorRef:
    """x with the elements of values, in order and again from the first when they are used up, where the mask holds.

    `out` may be `x`. Source: numpy.place, jax.numpy.place.

    Differs from NumPy: x stays as it is unless it is `out`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.place(np.float32([1, 2, 3, 4]), np.array([True, False, True, True]), np.float32([7, 8])).tolist()
    [7.0, 2.0, 8.0, 7.0]
    """
    return _filled(do, x, mask, values, True, bounds, "values")


@composed(dy="... : T", x="... : T", mask="...", values="... : T")
def place_backward(do: Steps, dy: TensorRef, x: TensorRef, mask: TensorRef, values: TensorRef, *, wrt: Wrt = None) -> Any:
    """The gradients of `place`'s x, dy where the mask does not hold, and values, for each the sum of dy where it went; those
    named in `wrt` or both."""
    return _filled_backward(do, dy, x, mask, values, wrt, ("x", "values"), cyclic=True)
