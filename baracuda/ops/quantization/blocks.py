"""Tensors as blocks along their last axis: views for formulas that run over the elements of a block."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.core.views import reshaped, view
from baracuda.ops.declaration.composition import Steps

#: Views in blocks have two axes more than the tensor, and no plan takes more than eight.
_MOST_AXES = 6


def parts(tensor: TensorRef, count: int, size: int, start: int, width: int, step: int = 1) -> Any:
    """Of each of `count` blocks of `size` elements along the last axis, `width` elements, each `step` on, from number `start` on:
    along a new last axis."""
    *lead, stride = tensor.strides
    return view(tensor, start * stride, (*tensor.shape[:-1], count, width), (*lead, size * stride, step * stride))


def few_axes(do: Steps, tensor: TensorRef) -> TensorRef:
    """A tensor to read, its axes before the last as one where they are many."""
    if len(tensor.shape) <= _MOST_AXES:
        return tensor
    found: TensorRef = do.reshaped(tensor, (prod(tensor.shape[:-1]), tensor.shape[-1]))
    return found


def written(do: Steps, tensors: Any, write: Callable[..., None]) -> None:
    """Have `write` write tensors, given them with their axes before the last as one where they are many."""
    targets, copies = [], []
    for tensor in tensors:
        target = tensor
        if len(tensor.shape) > _MOST_AXES:
            flat = (prod(tensor.shape[:-1]), tensor.shape[-1])
            target = reshaped(tensor, flat)
            if target is None:
                target = do.rows(flat, tensor.kind)
                copies.append((reshaped(target, tensor.shape), tensor))
        targets.append(target)
    write(*targets)
    for source, tensor in copies:
        do.copy(source, tensor)
