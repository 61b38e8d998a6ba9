"""Views of tensors of any library, and ops run on views: what functions are built of that read a tensor at several places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import reach
from baracuda.core.spec import check_axis
from baracuda.core.tensor import TensorMut, TensorRef, tensor_mut, tensor_ref
from baracuda.formula.expr import const
from baracuda.frontends.arrays import empty_like, writable
from baracuda.frontends.backward import Backward
from baracuda.frontends.function import Call, describe_call
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Placing, Value

Shape = Sequence[int]


def view(tensor: TensorRef, offset: int, shape: Shape, strides: Shape) -> Any:
    """Another view of a tensor's memory, `offset` elements on; a `TensorMut` of one.

    Raises `InvalidProblemError` where an element of it lies before the tensor's lowest or after its highest. A view without
    elements lies where the tensor does.
    """
    shape, strides = tuple(shape), tuple(strides)
    if len(shape) != len(strides) or min(shape, default=0) < 0:
        raise InvalidProblemError(
            f"a view of shape {shape} with strides {strides}; expected a stride for each extent of 0 or more"
        )
    if 0 in shape:
        offset = 0
    else:
        (low, high), (first, last) = reach(shape, strides), reach(tensor.shape, tensor.strides)
        if not first <= low + offset <= high + offset <= last:
            raise InvalidProblemError(
                f"a view of elements {low + offset} to {high + offset} of a tensor of shape {tensor.shape} with strides "
                f"{tensor.strides}; expected some of its elements, {first} to {last}"
            )
    step = offset * tensor.kind.itemsize
    return replace(
        tensor,
        pointer=tensor.pointer + step,
        shape=shape,
        strides=strides,
        nbytes_available=None if tensor.nbytes_available is None else tensor.nbytes_available - step,
        nbytes_before=None if tensor.nbytes_before is None else tensor.nbytes_before + step,
    )


def slab(tensor: TensorRef, axis: int, start: int, stop: int) -> Any:
    """The elements from `start` to before `stop` along an axis, both within it."""
    if not 0 <= axis < len(tensor.shape) or not 0 <= start <= stop <= tensor.shape[axis]:
        raise InvalidProblemError(
            f"elements {start} to {stop} along axis {axis} of shape {tensor.shape}; expected some that it has"
        )
    shape = (*tensor.shape[:axis], stop - start, *tensor.shape[axis + 1 :])
    return view(tensor, start * tensor.strides[axis], shape, tensor.strides)


def placed(tensor: TensorRef, axes: Placing, rank: int) -> Any:
    """A tensor with its axes at the given ones of `rank`, each at its own, and extents of 1 elsewhere."""
    places = tuple(axes)
    if len(places) != len(tensor.shape) or len({*places} & {*range(rank)}) != len(places):
        raise InvalidProblemError(
            f"axes {places} of {rank} for a tensor of shape {tensor.shape}; expected a different one, 0 to {rank - 1}, for each"
        )
    shape, strides = [1] * rank, [0] * rank
    for a, n, s in zip(places, tensor.shape, tensor.strides, strict=True):
        assert a is not None  # told by the check above
        shape[a], strides[a] = n, s
    return view(tensor, 0, shape, strides)


def windows(tensor: TensorRef, axis: int, start: int, count: int, size: int) -> Any:
    """`count` windows of `size` neighbours along an axis, the first one at `start`: along the axis their number, along a new
    last one the elements of each."""
    shape = (*tensor.shape[:axis], count, *tensor.shape[axis + 1 :], size)
    return view(tensor, start * tensor.strides[axis], shape, (*tensor.strides, tensor.strides[axis]))


def output(like: Any, shape: Shape, kind: ElementKind) -> tuple[Any, TensorMut]:
    """A new tensor of the library of `like`, and what views of it are written through."""
    made = empty_like(like, shape, kind)
    return made, tensor_mut(writable(made))


def axis_of(axis: int, rank: int) -> int:
    """An axis of a tensor that has one at least, counted from 0."""
    if not rank:
        raise InvalidProblemError(f"axis: {axis!r} of a scalar; expected a tensor of one axis or more")
    check_axis("axis", axis, rank)
    return axis % rank


def run(op: Op, tensors: Mapping[str, Any], like: Any, out: Any = None, **keywords: Any) -> dict[str, Any]:
    """An op on views; the results by name, those not given in `out` (one, or a tuple) new, of the library of `like`."""
    descriptor, named, _ = describe_call(op, [tensors.get(n) for n in op.signature.tensors], keywords)
    return Call(descriptor, named, like).run(out if isinstance(out, tuple) else () if out is None else (out,))


def gradients(op: Op, tensors: Mapping[str, Any], dy: Any, like: Any, wrt: Sequence[str], **keywords: Any) -> dict[str, Any]:
    """The gradients of an op's tensors, which are views, given that of its result; only of those that the op reads."""
    descriptor, named, _ = describe_call(op, [tensors.get(n) for n in op.signature.tensors], keywords)
    read = {p.name.partition(".")[0] for p in descriptor.graph.inputs}
    wanted = [n for n in wrt if n in read]
    if not wanted:
        return {}
    return Backward(op).of(descriptor.forward, (dy,), named, like, wrt=wanted)


# --- pieces of a tensor -----------------------------------------------------------------------------------------------


def _sum(a: Value, b: Value | None = None, c: Value | None = None, d: Value | None = None, e: Value | None = None) -> Value:
    total = a
    for term in (b, c, d, e):
        total = total if term is None else total + term
    return total


def _zero(x: Value) -> Value:
    return map_parts(lambda part: const(0, part.kind), x)


_INTERNAL: dict[str, Any] = {"family": "binary", "takes": "any"}
sum_op = Op(_sum, Rule.COMMON, name="sum_of_pieces", **_INTERNAL)
zero_op = Op(_zero, Rule.COMMON, name="zeros_of_pieces", **_INTERNAL)


def copy(source: Any, target: TensorMut, like: Any) -> None:
    """The elements of one view into another, in the element of the target."""
    run(sum_op, {"a": source}, like, target)


def merged(pieces: Sequence[tuple[int, Any]], axis: int, into: TensorMut, like: Any) -> None:
    """Write the sum of some pieces, each of which begins at a place along an axis; zero where there is none.

    An element's pieces are added in the order they are given in, up to five of them in the kind they compute in.
    """
    spans = [(start, start + tuple(piece.shape)[axis], piece) for start, piece in pieces]
    length = into.shape[axis]
    ends = sorted({0, length, *(e for s in spans for e in s[:2])})
    for low, high in pairwise(ends):
        found = [
            slab(tensor_ref(p), axis, low - start, high - start) for start, stop, p in spans if start <= low and high <= stop
        ]
        if len(found) > len(sum_op.signature.tensors):
            raise InvalidProblemError(f"{len(found)} pieces of one element; expected at most {len(sum_op.signature.tensors)}")
        target = slab(into, axis, low, high)
        if found:
            run(sum_op, dict(zip(sum_op.signature.tensors, found, strict=False)), like, target)
        else:
            run(zero_op, {"x": target}, like, target)


def filled(like: Any, shape: Shape, kind: ElementKind, value: complex) -> Any:
    """A new tensor of the library of `like` with one number everywhere."""
    made, target = output(like, shape, kind)
    run(zero_op, {"x": target}, like, target)
    run(sum_op, {"a": target, "b": value}, like, target)
    return made
