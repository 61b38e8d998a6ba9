"""Which elements of x, outputs and taps of a convolution meet, with holes between the elements of x: as convolutions without.

Along one axis an output o and a tap t meet the element i of x where

    i * base = o * stride + t * dilation - low.

With base = 1 that is a convolution. For another base (`lhs_dilation`, transposed convolutions, gradients), outputs and taps that
meet anything at all fall into classes: outputs o = r + q * outputs' step meet the taps t = t0 + u * taps' step and no others, and
of a class i = q * stride' + u * dilation' - low'. So it is a convolution for each class of outputs, on views.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True)
class Relation:
    """The numbers of one axis, and how many inputs, outputs and taps it has."""

    inputs: int
    outputs: int
    taps: int
    stride: int
    dilation: int
    low: int
    base: int = 1

    def for_input(self) -> Relation:
        """That of the gradient by x: an element of x is an output, the outputs are elements."""
        return Relation(self.outputs, self.inputs, self.taps, self.base, -self.dilation, -self.low, self.stride)

    def for_weight(self) -> Relation:
        """That of the gradient by the weight: a tap is an output, the outputs are taps."""
        return Relation(self.inputs, self.taps, self.outputs, self.dilation, self.stride, self.low, self.base)


@dataclass(frozen=True)
class Part:
    """One class: from where on, and how far apart, outputs and taps of it are, and the convolution of those."""

    first_output: int
    output_step: int
    first_tap: int
    tap_step: int
    relation: Relation


def parts(r: Relation) -> list[Part]:
    """The classes of one axis that have outputs and taps, by their first output; other outputs meet nothing."""
    base = r.base
    if base == 1:
        return [Part(0, 1, 0, 1, r)]
    common = gcd(base, r.stride)
    output_step, tap_step = base // common, base // gcd(base, r.dilation)
    found = []
    for tap in range(min(tap_step, r.taps)):
        wanted = r.low - tap * r.dilation
        if wanted % common:
            continue
        first = wanted // common * pow(r.stride // common, -1, output_step) % output_step if output_step > 1 else 0
        if first >= r.outputs:
            continue
        outputs, taps = -(-(r.outputs - first) // output_step), -(-(r.taps - tap) // tap_step)
        low = (wanted - first * r.stride) // base
        inner = Relation(r.inputs, outputs, taps, r.stride * output_step // base, r.dilation * tap_step // base, low)
        found.append(Part(first, output_step, tap, tap_step, inner))
    return sorted(found, key=lambda part: part.first_output)


def is_covered(r: Relation, classes: list[Part]) -> bool:
    """Whether every output of an axis is in one of its classes."""
    return r.base == 1 or len(classes) == min(r.base // gcd(r.base, r.stride), r.outputs)
