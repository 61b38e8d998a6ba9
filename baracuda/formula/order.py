"""The canonical order of a reduction: contract rule 4, and the constants it is made of.

A sum of n elements, numbered 0 to n-1 along the reduced axes in logical order (last axis fastest), is taken so:

1. the elements are cut into contiguous *segments* of `SEGMENT`;
2. in a segment, element j goes to *lane* j mod `LANES`; a lane adds its elements in rising order, starting from its first;
3. lanes are combined in adjacent pairs (0 with 1, 2 with 3, ...), the results again in adjacent pairs, until one is left;
4. the segments' results are combined in adjacent pairs in the same way; one without a partner goes up unchanged.

Missing elements are the operation's identity, and the identity of addition is -0.0 (x + -0.0 is x for every x), so padding
a row changes no bit. The order depends only on n: not on which axes are reduced, on strides, or on the device. So a
softmax over axis 0 has the bits of the softmax over the last axis of the transpose.

A product is taken in the same order. Maximum and minimum (IEEE 754-2019: NaN wins, +0 is above -0) do not depend on order.
"""

from __future__ import annotations

#: Elements to a segment.
SEGMENT = 1024
#: Lanes to a segment; each adds SEGMENT / LANES elements one after another.
LANES = 128
#: Elements one lane adds in a full segment.
CHAIN = SEGMENT // LANES

#: What a missing element counts as.
IDENTITY = {"sum": -0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}
#: The primitive that combines two values.
COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}
#: The result over no elements at all.
EMPTY = {"sum": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}


def segments(n: int) -> int:
    """How many segments a row of n elements has."""
    return -(-n // SEGMENT)
