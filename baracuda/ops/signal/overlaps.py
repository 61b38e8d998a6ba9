"""Frames that overlap, added up."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.core.views import slab, view
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.shapes.slices import unfold_dim_backward

#: Frames that may show one element for their sum to be taken one after another.
FEW = 5


def overlapped(do: Steps, frames: TensorRef, hop: int, length: int) -> Any:
    """Rows of `length` elements that are sums of frames, [..., frames, elements], one every `hop`: in the order of the frames,
    one after another where at most `FEW` show an element, else by rule 4 of the contract."""
    *lead, count, n = frames.shape
    shown, last = -(-n // hop), len(lead)
    if shown > FEW:
        return unfold_dim_backward(do, frames, do.rows((*lead, length), frames.kind), last, n, hop)
    blocks = count + shown - 1
    y = do.rows((*lead, max(blocks * hop, length)), frames.kind)
    rows = view(y, 0, (*lead, blocks, hop), (*y.strides[:-1], hop, 1))
    whole = n - (shown - 1) * hop  # columns of a block that the last piece of a frame has, too
    for start, stop, pieces in ((0, whole, shown), (whole, hop, shown - 1)):
        if start < stop:
            parts = [(k, slab(frames, last + 1, k * hop + start, k * hop + stop)) for k in range(pieces - 1, -1, -1)]
            do.merge(parts, last, slab(rows, last + 1, start, stop))
    if length > blocks * hop:
        do.zero(slab(y, last, blocks * hop, length))
    return slab(y, last, 0, length)
