"""Ops run on views of tensors of any library: what functions are built of that read a tensor at several places."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, tensor_mut, tensor_ref
from baracuda.core.views import as_bits, slab
from baracuda.formula.expr import const
from baracuda.frontends.arrays import empty_like, writable
from baracuda.frontends.backward import Backward
from baracuda.frontends.function import OpCall, describe_call
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Value
from baracuda.ops.elementwise import conversions

Shape = Sequence[int]


def output(like: Any, shape: Shape, kind: ElementKind, order: Shape | None = None) -> tuple[Any, TensorMut]:
    """A new tensor of the library of `like`, its axes in this order in memory, and what views of it are written through."""
    array = empty_like(like, shape, kind, order)
    return array, tensor_mut(writable(array))


def run(op: Op, tensors: Mapping[str, Any], like: Any, out: Any = None, **keywords: Any) -> dict[str, Any]:
    """An op on views; the results by name, those not given in `out` (one, or a tuple) new, of the library of `like`."""
    descriptor, named, _ = describe_call(op, [tensors.get(n) for n in op.signature.tensors], keywords)
    return OpCall(descriptor, named, like).run(out if isinstance(out, tuple) else () if out is None else (out,))


def gradients(
    op: Op, tensors: Mapping[str, Any], dy: Any, like: Any, wrt: Sequence[str], saved: Any = None, **keywords: Any
) -> dict[str, Any]:
    """The gradients of an op's tensors, which are views, given that of its result; only of those that the op reads."""
    descriptor, named, _ = describe_call(op, [tensors.get(n) for n in op.signature.tensors], keywords)
    read_names = {p.name.partition(".")[0] for p in descriptor.graph.inputs}
    wanted = [n for n in wrt if n in read_names]
    backward = Backward(op)
    return backward.of(descriptor.forward, {backward.cotangents[0][1:]: dy}, named, like, saved, wanted) if wanted else {}


# --- pieces of a tensor -----------------------------------------------------------------------------------------------


def _sum(a: Value, b: Value | None = None, c: Value | None = None, d: Value | None = None, e: Value | None = None) -> Value:
    total = a
    for term in (b, c, d, e):
        total = total if term is None else total + term
    return total


def _zero(x: Value) -> Value:
    return map_parts(lambda part: const(0, part.kind), x)


def _copy(x: Value) -> Value:
    return x


_INTERNAL: dict[str, Any] = {"family": "binary", "takes": "any", "byte_floats": True}
sum_op = Op(_sum, Rule.COMMON, name="sum_of_pieces", **_INTERNAL)
zero_op = Op(_zero, Rule.COMMON, name="zeros_of_pieces", **_INTERNAL)
copy_op = Op(_copy, Rule.COMMON, name="copy_of_pieces", **_INTERNAL)


@cache
def fill_op(name: str) -> Op:
    """What makes every element a number of this name."""

    def filled(x: Value, value: Value) -> Value:
        return value

    places = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("x", name)]
    filled.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]
    return Op(filled, Rule.COMMON, name=f"filled_with_{name}", **_INTERNAL)


def copy(source: Any, target: TensorMut, like: Any) -> None:
    """The elements of one view into another, in the element of the target; where that is theirs, bit by bit."""
    source = tensor_ref(source)
    if source.kind is target.kind:
        run(copy_op, {"x": as_bits(source)}, like, as_bits(target))
    else:
        run(conversions.cast, {"x": source}, like, target, dtype=target.kind)


def merged(pieces: Sequence[tuple[int, Any]], axis: int, into: TensorMut, like: Any) -> None:
    """Write the sum of some pieces, each of which begins at a place along an axis; zero where there is none.

    An element's pieces are added in the order they are given in, up to five of them in the kind they compute in.
    """
    spans = [(start, start + tuple(piece.shape)[axis], piece) for start, piece in pieces]
    length = into.shape[axis]
    ends = sorted({0, length, *(e for s in spans for e in s[:2])})
    for low, high in pairwise(ends):
        present = [
            slab(tensor_ref(p), axis, low - start, high - start) for start, stop, p in spans if start <= low and high <= stop
        ]
        if len(present) > len(sum_op.signature.tensors):
            raise InvalidProblemError(f"{len(present)} pieces of one element; expected at most {len(sum_op.signature.tensors)}")
        target = slab(into, axis, low, high)
        if present:
            run(sum_op, dict(zip(sum_op.signature.tensors, present, strict=False)), like, target)
        else:
            zero(target, like)


def zero(target: TensorMut, like: Any) -> None:
    """Make every element 0."""
    bits = as_bits(target)
    run(zero_op, {"x": bits}, like, bits)


def fill(target: TensorMut, value: complex, like: Any, name: str = "value") -> None:
    """Make every element one number, which kernels are given by this name."""
    kind = target.kind
    if (kind.is_integer and isinstance(value, (bool, float))) or kind is ElementKind.BOOL:
        whole = bool(value) if kind is ElementKind.BOOL or isinstance(value, complex) else int(value)
        if whole != value:
            raise InvalidProblemError(f"{name}: {value!r}; expected a number that {kind} holds")
        value = whole
    run(fill_op(name), {"x": target, name: value}, like, target)


def filled(like: Any, shape: Shape, kind: ElementKind, value: complex) -> Any:
    """A new tensor of the library of `like` with one number everywhere."""
    array, target = output(like, shape, kind)
    fill(target, value, like)
    return array
