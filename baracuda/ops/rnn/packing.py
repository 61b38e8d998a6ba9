"""Packed sequences: rows of different lengths step by step, as PyTorch packs them, and back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, permuted, slab
from baracuda.ops.creation.ranges import arange
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Count
from baracuda.ops.elementwise.comparisons import gt
from baracuda.ops.indexing.indexing import index_select
from baracuda.ops.reductions.reductions import count_nonzero
from baracuda.ops.scans.scans import cumsum
from baracuda.ops.shapes.nested import nested_to_padded, padded_to_nested
from baracuda.ops.sorting.orders import argsort

_S64 = ElementKind.S64


def _timed(tensor: TensorRef, *, batch_first: bool) -> Any:
    """A padded tensor with the steps in front."""
    return permuted(tensor, (1, 0, *range(2, len(tensor.shape)))) if batch_first else tensor


def _counts(do: Steps, numbers: TensorRef, count: int) -> Any:
    """For 0, 1, ... to before a count, how many of some numbers are larger."""
    places = arange(do, numbers, count)
    larger = do.run(gt, {"a": expanded_dims(numbers, (1,), 2), "b": expanded_dims(places, (0,), 2)})
    return do.run(count_nonzero, {"x": larger}, axis=1)


def _offsets(do: Steps, batch_sizes: TensorRef) -> Any:
    """Where each step begins in the packed data, and where the last one ends."""
    offsets = do.rows((batch_sizes.shape[0] + 1,), _S64)
    do.zero(slab(offsets, 0, 0, 1))
    if batch_sizes.shape[0]:
        do.run(cumsum, {"x": batch_sizes}, slab(offsets, 0, 1, offsets.shape[0]), axis=0, dtype=_S64)
    return offsets


@composed(x="... : T", lengths="rows : s32 s64")
def pack_padded_sequence(
    do: Steps, x: TensorRef, lengths: TensorRef, *, batch_first: bool = False, enforce_sorted: bool = True
) -> tuple[Any, ...]:
    """The first lengths[b] steps of each row, step by step: (data, batch_sizes, sorted_indices, unsorted_indices), as
    `torch.nn.utils.rnn.pack_padded_sequence` has them.

    x is (steps, batch, ...), with batch_first (batch, steps, ...). data holds of step 0 those of all rows, of step 1 those of
    the rows that have one, and so on, the longest row first; batch_sizes says how many each step has. Unless rows must be sorted
    already (enforce_sorted), they are put in order, a stable one, and the indices, None else, say how: sorted_indices[i] is the
    row that comes i-th, unsorted_indices[b] where row b comes. The lengths are read on the host.

    Raises `InvalidProblemError` for a length that is below 1 or above the steps, and for rows that are not sorted but have to be.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> data, sizes, _, _ = baracuda.pack_padded_sequence(np.array([[1, 4], [2, 5], [3, 0]]), np.array([3, 2]))
    >>> data.tolist(), sizes.tolist()
    ([1, 4, 2, 5, 3], [2, 2, 1])
    """
    if len(x.shape) < 2:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected (steps, batch, ...)")
    padded = _timed(x, batch_first=batch_first)
    steps, batch = padded.shape[:2]
    if lengths.shape != (batch,):
        raise InvalidProblemError(f"lengths: shape is {lengths.shape}; expected ({batch},), a number for each row")
    values = [int(n) for n in do.on_host(lengths)]
    wrong = [n for n in values if not 1 <= n <= steps]
    if wrong or not values:
        raise InvalidProblemError(f"lengths: {wrong[0] if wrong else 'none'}; expected numbers from 1 to the {steps} steps")
    if enforce_sorted and any(a < b for a, b in pairwise(values)):
        raise InvalidProblemError(f"lengths: {values[:8]}; expected falling ones, or enforce_sorted=False")
    ordered: Any = None
    back: Any = None
    if not enforce_sorted:
        ordered = argsort(do, lengths, descending=True)
        back = argsort(do, ordered)
        padded = do.run(index_select, {"x": padded, "index": ordered}, axis=1)
    sizes = _counts(do, lengths, max(values))
    data = padded_to_nested(do, padded, _offsets(do, sizes), total=sum(values))
    return data, sizes, ordered, back


@composed(dy="total ... : T", x="... : T", lengths="rows : s32 s64")
def pack_padded_sequence_backward(
    do: Steps, dy: TensorRef, x: TensorRef, lengths: TensorRef, *, batch_first: bool = False, enforce_sorted: bool = True
) -> Any:
    """The gradient of `pack_padded_sequence`'s x, given that of its data: dy where each step was, 0 beyond the lengths.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x = np.float32([1, 4, 2, 5, 3]), np.zeros((3, 2), np.float32)
    >>> baracuda.pack_padded_sequence_backward(dy, x, np.array([3, 2])).tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 0.0]]
    """
    data, sizes, ordered, back = pack_padded_sequence(do, x, lengths, batch_first=batch_first, enforce_sorted=enforce_sorted)
    if dy.shape != data.shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {data.shape}, that of the data")
    steps = x.shape[1 if batch_first else 0]
    padded, _ = pad_packed_sequence(do, dy, sizes, ordered, back, batch_first=batch_first, total_length=steps)
    return padded


@composed(x="total ... : T", batch_sizes="steps : s32 s64", sorted_indices="rows : s32 s64", unsorted_indices="rows : s32 s64")
def pad_packed_sequence(
    do: Steps,
    x: TensorRef,
    batch_sizes: TensorRef,
    sorted_indices: Given = None,
    unsorted_indices: Given = None,
    *,
    batch_first: bool = False,
    padding_value: complex = 0,
    total_length: Count | None = None,
) -> tuple[Any, Any]:
    """The rows that `pack_padded_sequence` packed, and their lengths: (padded, lengths), padded as x was there, with
    padding_value beyond the lengths, and as many steps as the longest row has, or total_length.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pad_packed_sequence(np.array([1, 4, 2, 5, 3]), np.array([2, 2, 1]))[0].tolist()
    [[1, 4], [2, 5], [3, 0]]
    """
    steps = batch_sizes.shape[0]
    if steps == 0:
        raise InvalidProblemError("batch_sizes: none; expected one for each step, 1 or more")
    if total_length is not None and total_length < steps:
        raise InvalidProblemError(f"total_length: {total_length}; expected {steps} or more, the steps there are")
    batch = int(do.on_host(slab(batch_sizes, 0, 0, 1))[0]) if unsorted_indices is None else unsorted_indices.shape[0]
    if batch < 0:
        raise InvalidProblemError(f"batch_sizes: {batch}; expected 0 or more")
    lengths = _counts(do, batch_sizes, batch)
    total = steps if total_length is None else total_length
    shape = (batch, total, *x.shape[1:]) if batch_first else (total, batch, *x.shape[1:])
    y = do.rows(shape, x.kind)
    timed = _timed(y, batch_first=batch_first)
    made = nested_to_padded(do, x, _offsets(do, batch_sizes), padding_value=padding_value, max_length=batch)
    if unsorted_indices is not None:
        made = do.run(index_select, {"x": made, "index": unsorted_indices}, axis=1)
        lengths = do.run(index_select, {"x": lengths, "index": unsorted_indices}, axis=0)
    do.copy(made, slab(timed, 0, 0, steps))
    if total > steps:
        do.fill(slab(timed, 0, steps, total), padding_value, "padding_value")
    return y, lengths
