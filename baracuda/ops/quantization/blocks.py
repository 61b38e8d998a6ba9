"""Tensors as blocks along their last axes: views for formulas that run over the elements of a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_words, reshaped, view
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.quantization.groups import groups_of
from baracuda.ops.quantization.groups import parts as pieces

#: Views in blocks have two axes more than the tensor, and no plan takes more than eight.
_MOST_AXES = 6


def parts(tensor: TensorRef, count: int, size: int, start: int, width: int) -> Any:
    """Of each of `count` blocks of `size` elements along the last axis, `width` elements from number `start` on: along a new last
    axis."""
    *lead, step = tensor.strides
    return view(tensor, start * step, (*tensor.shape[:-1], count, width), (*lead, size * step, step))


def few_axes(do: Steps, tensor: TensorRef) -> TensorRef:
    """A tensor to read, its axes before the last as one where they are many."""
    if len(tensor.shape) <= _MOST_AXES:
        return tensor
    found: TensorRef = do.reshaped(tensor, _few(tensor.shape))
    return found


def _few(shape: Sequence[int]) -> tuple[int, int]:
    return prod(shape[:-1]), shape[-1]


def written(do: Steps, tensor: TensorMut, write: Callable[[Any], None]) -> None:
    """Have `write` write a tensor, given it with its axes before the last as one where they are many."""
    if len(tensor.shape) <= _MOST_AXES:
        write(tensor)
    elif (found := reshaped(tensor, _few(tensor.shape))) is not None:
        write(found)
    else:
        write(dense := do.rows(_few(tensor.shape), tensor.kind))
        do.copy(view(dense, 0, tensor.shape, contiguous_strides(tensor.shape)), tensor)


def in_words(do: Steps, tensor: TensorRef, count: int) -> Any:
    """Each `count` neighbours along the last axis, of which there is a multiple, as one unsigned integer: of a copy where they do
    not lie so."""
    found = as_words(tensor, count)
    if found is None:
        dense = do.rows(tensor.shape, tensor.kind)
        do.copy(tensor, dense)
        found = as_words(dense, count)
    return found


# --- codes and scales -------------------------------------------------------------------------------------------------


def over_blocks(
    do: Steps, op: Op, block: int, unit: int, x: TensorRef, q: TensorMut, scale: TensorMut, more: Any, **options: Any
) -> None:
    """Codes and scales of the blocks of x, of which `unit` neighbours are a word and a byte of q."""
    if 0 in x.shape:
        return
    words = x if unit == 1 else in_words(do, x, unit)
    groups, name = groups_of(words.shape, block // unit, -1), op.signature.tensors[0]
    for (piece, codes), (own,), _ in pieces(do, groups, (words, q), (scale,)):
        do.run(op, {name: piece, **more}, (codes, own), **options)


def values_over_blocks(
    do: Steps, op: Op, block: int, unit: int, q: TensorRef, scale: TensorRef, y: TensorMut, more: Any, **options: Any
) -> None:
    """The values of codes in blocks, of which one byte is `unit` neighbours, a word of y."""
    if 0 in y.shape:
        return
    words = y if unit == 1 else in_words(do, y, unit)
    for (codes, values), (own,), _ in pieces(do, groups_of(q.shape, block // unit, -1), (q, words), (scale,)):
        do.run(op, {"q": codes, "scale": own, **more}, values, **options)


def scales_of(do: Steps, x: TensorRef, block: int, kind: ElementKind) -> TensorMut:
    return do.rows((*x.shape[:-1], -(-x.shape[-1] // block)), kind)


def packed(do: Steps, x: TensorRef) -> TensorMut:
    """For the codes of x, two a byte."""
    if x.shape[-1] % 2:
        raise InvalidProblemError(f"x: shape {x.shape}; expected an even number of elements along the last axis, two a byte")
    return do.rows((*x.shape[:-1], x.shape[-1] // 2), ElementKind.U8)


def single(do: Steps, scale: TensorRef | float, name: str) -> TensorRef:
    """A scale of a whole tensor, which may be given as a number, of this name, as a tensor without axes."""
    if isinstance(scale, TensorRef):
        found: TensorRef = view(scale, 0, (), ())
        return found
    tensor = do.rows((), ElementKind.F32)
    do.fill(tensor, scale, name)
    return tensor


def blocks_of(extent: int, block: int) -> int:
    return -(-extent // block)
