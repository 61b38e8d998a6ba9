"""A plan's result that is only copied to another arrangement, written there at once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from baracuda.core.call_recorder import PlanCall
from baracuda.core.layout import may_share
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Axes
from baracuda.frontends.fusing.formula_step import FormulaStep, Operand, retyped
from baracuda.frontends.fusing.refusal import Refusal
from baracuda.frontends.fusing.spaces import matched, over_digits
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.movement.implementation import MovementImplementation


def relaid(call: PlanCall, number: int, copy: FormulaStep) -> PlanCall | Refusal:
    """The run of a plan whose tensor of this number is written where a step copies it to."""
    if not isinstance(call.implementation, GeneratedImplementation):
        return Refusal("it is a library's, which takes the layouts that it takes")
    if isinstance(call.implementation, MovementImplementation):
        return Refusal("it puts pieces at places of their own, and others beside them are put there by others")
    tensor = call.tensors[number]
    assert tensor is not None
    if tensor.kind.bits != copy.inputs[0].kind.bits:
        return Refusal("it is copied as elements of another size")
    copy = retyped(copy, tensor.kind)
    strides = tuple(s if n != 1 else 0 for s, n in zip(tensor.strides, tensor.shape, strict=True))
    own = Operand("", tensor.kind, Axes.FULL, tensor.pointer, strides)
    plain = (False,) * len(strides)
    whole = FormulaStep(copy.device, copy.graph, tensor.shape, plain, (), (own,), {})
    (source,), (target,) = copy.inputs, copy.outputs
    digits = matched(whole, own, copy, source)
    if isinstance(digits, Refusal):
        return digits
    if any(n != 1 and d not in digits.of_both() for d, n in enumerate(digits.extents)):
        return Refusal("only some of its elements are copied")
    order = range(len(digits.extents))
    steps = over_digits(copy, digits.second, digits, order).outputs[0].strides
    arranged = [_stride(axis, steps, digits.extents, old) for axis, old in zip(digits.first, tensor.strides, strict=True)]
    if None in arranged:
        return Refusal("no strides arrange its axes as they are copied")
    moved = replace(tensor, pointer=target.pointer, strides=tuple(s for s in arranged if s is not None))
    others = [t for i, t in enumerate(call.tensors) if i != number and t is not None]
    if any(may_share(moved, t) for t in others):
        return Refusal("the copy lies in the memory of what it is made of")
    tensors: list[TensorRef | None] = list(call.tensors)
    tensors[number] = moved
    return replace(call, tensors=tensors)


def _stride(axis: Sequence[int], steps: Sequence[int], extents: Sequence[int], old: int) -> int | None:
    """The stride of an axis whose digits have these; None where they make no axis."""
    long = [d for d in axis if extents[d] != 1]
    if any(steps[a] != steps[b] * extents[b] for a, b in itertools.pairwise(long)):
        return None
    return steps[long[-1]] if long else old
