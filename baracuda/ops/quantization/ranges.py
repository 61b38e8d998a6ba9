"""The ranges of codes."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import OneOf

S8, U8, S4, U4 = ElementKind.S8, ElementKind.U8, ElementKind.S4, ElementKind.U4
#: The elements of codes; s4 and u4 are packed, two to a byte.
CodeElement = Annotated[Any, OneOf((S8, U8, S4, U4))]
#: What the bytes of packed codes hold.
#: Codes that are a tensor's elements.
Quantized8 = Annotated[Any, OneOf((S8, U8))]
PackedElement = Annotated[Any, OneOf((S4, U4))]


class Codes(NamedTuple):
    """What codes are: the element of the tensor that holds them, how many are one element of it, and their range."""

    stored: ElementKind
    packed: int
    low: int
    high: int

    @property
    def middle(self) -> int:
        """The zero point of a symmetric scheme: 0 of a signed range, half of an unsigned one."""
        return (self.low + self.high + 1) // 2


def codes_of(kind: ElementKind, quant_min: int | None, quant_max: int | None, *, symmetric: bool = True) -> Codes:
    """The codes of an element, in the range that is given or else all of it."""
    signed = kind.category is Category.SIGNED
    least, most = (-(1 << kind.bits - 1), (1 << kind.bits - 1) - 1) if signed else (0, (1 << kind.bits) - 1)
    low, high = least if quant_min is None else quant_min, most if quant_max is None else quant_max
    if not least <= low <= high <= most:
        raise InvalidProblemError(f"quant_min, quant_max: {low}, {high}; expected a range within {least} to {most} of {kind}")
    check_range(low, high, symmetric)
    return Codes(U8 if kind.bits == 4 else kind, 8 // kind.bits, low, high)


#: What a zero point, and a code before it is limited, is exact in as a float.
_LARGEST = 1 << 20


def check_range(low: int, high: int, symmetric: bool) -> None:
    """Raise where a range has too few codes, or more than any float has exactly."""
    least = 2 if symmetric else 1
    if not (high - low >= least and low >= -_LARGEST and high <= _LARGEST):
        raise InvalidProblemError(
            f"quant_min, quant_max: {low}, {high}; expected {least + 1} codes or more, within {-_LARGEST} to {_LARGEST}"
        )
