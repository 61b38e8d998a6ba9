"""Sequences, which are lists, and optionals, which are None where they are empty."""

from __future__ import annotations

from typing import Any

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError, OutOfRangeError
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Host, Tensor, ints, positive, scalar


def _place(sequence: list[Any], position: Host, most: int) -> int:
    at = int(scalar(position))
    if not -len(sequence) <= at < most:
        raise OutOfRangeError(f"position: {at}; expected {-len(sequence)} to {most - 1}")
    return at + len(sequence) if at < 0 else at


@operator("SequenceEmpty", since=11)
def sequence_empty(*, dtype: int = 1) -> list[Any]:
    """No tensors."""
    return []


@operator("SequenceConstruct", since=11)
def sequence_construct(*x: Tensor) -> list[Any]:
    """The tensors in order."""
    return list(x)


@operator("SequenceInsert", since=11)
def sequence_insert(sequence: list[Any], x: Tensor, position: Host = None) -> list[Any]:
    """The sequence with a tensor before a position, or at the end."""
    at = len(sequence) if position is None else _place(sequence, position, len(sequence) + 1)
    return [*sequence[:at], x, *sequence[at:]]


@operator("SequenceErase", since=11)
def sequence_erase(sequence: list[Any], position: Host = None) -> list[Any]:
    """The sequence without one tensor, by default the last."""
    at = len(sequence) - 1 if position is None else _place(sequence, position, len(sequence))
    return [*sequence[:at], *sequence[at + 1 :]]


@operator("SequenceAt", since=11)
def sequence_at(sequence: list[Any], position: Host) -> Tensor:
    """One tensor."""
    return sequence[_place(sequence, position, len(sequence))]


@operator("SequenceLength", since=11)
def sequence_length(sequence: list[Any]) -> Tensor:
    """How many tensors there are."""
    return np.asarray(len(sequence), np.int64)


@operator("ConcatFromSequence", since=11)
def concat_from_sequence(sequence: list[Any], *, axis: int, new_axis: bool = False) -> Tensor:
    """The tensors side by side, or along a new axis."""
    return (baracuda.stack if new_axis else baracuda.concat)(tuple(sequence), axis=axis)


@operator("SplitToSequence", since=11)
def split_to_sequence(x: Tensor, split: Host = None, *, axis: int = 0, keepdims: bool = True) -> list[Any]:
    """Pieces of x along an axis: of extent 1, of one extent, or of the extents given."""
    extent = x.shape[positive(axis, len(x.shape))]
    if split is None:
        pieces = baracuda.split(x, 1, axis) if extent else ()
        return list(pieces) if keepdims else [baracuda.squeeze(p, axis) for p in pieces]
    sizes = ints(split)
    if not split.shape:
        if sizes[0] < 1:
            raise InvalidProblemError(f"split: {sizes[0]}; expected 1 or more")
        return list(baracuda.split(x, sizes[0], axis))
    return list(baracuda.split(x, sizes, axis))


@operator("Optional", since=15)
def optional(x: Any = None, *, type: Any = None) -> Any:
    """x, or nothing."""
    return x


@operator("OptionalHasElement", since=15)
def optional_has_element(x: Any = None) -> Tensor:
    """Whether there is something."""
    return np.asarray(x is not None)


@operator("OptionalGetElement", since=15)
def optional_get_element(x: Any) -> Any:
    """What there is."""
    if x is None:
        raise InvalidProblemError("OptionalGetElement of an optional that is empty")
    return x
