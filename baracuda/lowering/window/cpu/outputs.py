"""Some outputs of a row, which are computed together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.window.cpu.rules import Taps


@dataclass
class Lanes:
    """Some outputs side by side: `count` vectors of `lanes`, from `first` on (the coordinate of the first), `apart` from each
    other.

    start, advance
        The element of the input along the vectors' axis at tap 0 of the first, and how far on that of the next lane is.
    masked
        Whether a tap may be absent for some.
    remaining
        How many exist; None: all.
    places
        Where each result goes instead, neighbours side by side.
    """

    lanes: int
    count: int
    first: Value
    apart: Value | None
    taps: Taps | None
    advance: Value | None
    masked: bool = False
    remaining: Value | None = None
    places: Mapping[int, Value] | None = None
