"""Marks of what is not zero, and what is done with them: numbers of elements, elements packed, and back. Every function whose
result is as long as a mask says is made of these plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Implementation, Layout, OperandLayout
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_shape
from baracuda.lowering.backend import candidates
from baracuda.lowering.compaction.implementation import CompactionImplementation
from baracuda.lowering.compaction.problem import (
    MARKS_OPERANDS,
    OPERANDS,
    Compaction,
    Marks,
    Mode,
    blocks_of,
    marks,
    normalise,
    words_of,
)
from baracuda.lowering.put.problem import moved_as

_Found = tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]
_S64 = ElementKind.S64


class _OfMarks:
    """The tensors that say which elements are marked, of so many."""

    count: Any  # an int, of a field or a property

    @property
    def bits_shape(self) -> tuple[int, ...]:
        """A word of 64 bits for each 64 elements."""
        return (words_of(self.count),)

    @property
    def offsets_shape(self) -> tuple[int, ...]:
        """How many are set before each block, and in all."""
        return (blocks_of(self.count) + 1,)

    @property
    def words(self) -> ElementKind:
        """The element of bits and offsets."""
        return _S64


@dataclass(frozen=True)
class MarksDescriptor(_OfMarks, Descriptor):
    """Which elements of a contiguous tensor are not zero.

    Attributes
    ----------
    count
        How many elements it has, 1 or more; they are one axis.
    element
        Its element, any of 8 bits or more that is not complex.
    """

    count: int
    element: ElementKind

    def validate(self) -> None:
        check_shape("count", (self.count,))
        if self.element.category is Category.COMPLEX or self.element.bits < 8:
            raise UnsupportedError(f"element: {self.element}; expected one of 8 bits or more that is not complex")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x."""
        return (self.count,)

    def problem(self, layout: Layout) -> Marks:
        """The problem for a layout."""
        x, bits, offsets = layout
        assert x is not None
        _check_words(self, bits, offsets)
        (stride,) = x.strides
        return marks(self.element, self.count, x.alignment, None if stride == 1 and not x.general else stride)


def _check_words(
    descriptor: MarksDescriptor | CompactionDescriptor, bits: OperandLayout | None, offsets: OperandLayout | None
) -> None:
    """Raise unless bits and offsets are contiguous."""
    rows = (("bits", descriptor.bits_shape, bits), ("offsets", descriptor.offsets_shape, offsets))
    for name, (extent,), lies in rows:
        if extent > 1 and lies is not None and lies.strides != (1,):
            raise UnsupportedError(f"{name}: strides are {lies.strides}; expected contiguous ones")


@dataclass
class MarksArgs(Args):
    """x: what is looked at; bits, offsets: the results."""

    x: Any
    bits: Any = None
    offsets: Any = None


class MarksPlan(Plan[MarksDescriptor, MarksArgs]):
    """A bit for each element that is not zero, and how many of them are before each block of elements, and in all."""

    category, op, args = OpCategory.INDEXING, "nonzero", MarksArgs
    tensors = (
        TensorSpec("x", "what is looked at", "shape", varies=Axes.OUTER),
        TensorSpec("bits", "a bit for each element", "bits_shape", "words", written=True, varies=Axes.OUTER),
        TensorSpec("offsets", "how many are set before each block, and in all", "offsets_shape", "words", written=True,
                   varies=Axes.OUTER),
    )  # fmt: skip

    @classmethod
    def implementations(cls, device: Device, descriptor: MarksDescriptor) -> _Found:
        return candidates(device, partial(CompactionImplementation, device, descriptor.problem, MARKS_OPERANDS))


@dataclass(frozen=True)
class CompactionDescriptor(_OfMarks, Descriptor):
    """What is done with the elements that are marked.

    Attributes
    ----------
    mode
        NUMBERS, PACKED or SPREAD, as `baracuda.lowering.compaction.problem` says.
    shape
        Of the tensor whose elements are marked, 1 or more of them.
    size
        How many marked elements there is room for; of SPREAD, how many elements x has, 1 or more.
    element
        Of x, base and y; of NUMBERS s64.
    has_base
        Whether there is a base.
    cyclic
        Whether x begins anew behind its last element.
    """

    mode: Mode
    shape: tuple[int, ...]
    size: int
    element: ElementKind = _S64
    has_base: bool = False
    cyclic: bool = False

    def validate(self) -> None:
        check_shape("shape", self.shape)
        check_shape("size", (self.size,))
        if self.element.bits < 8:
            raise UnsupportedError(f"element: {self.element}; expected one of 8 bits or more")
        if not self.count or (self.mode is Mode.SPREAD and not self.size):
            raise InvalidProblemError(f"shape, size: {self.shape}, {self.size}; expected an element at least")
        if self.mode is Mode.NUMBERS and self.element is not _S64:
            raise UnsupportedError(f"element: {self.element}; numbers are {_S64}")

    @property
    def count(self) -> int:
        """How many elements may be marked."""
        return prod(self.shape)

    @property
    def has_x(self) -> bool:
        """Whether there is an x."""
        return self.mode is not Mode.NUMBERS

    @property
    def x_shape(self) -> tuple[int, ...]:
        """The shape of x."""
        return (self.size,) if self.mode is Mode.SPREAD else self.shape

    @property
    def y_shape(self) -> tuple[int, ...]:
        """The shape of y."""
        if self.mode is Mode.SPREAD:
            return self.shape
        return (self.size,) if self.mode is Mode.PACKED else (self.size, len(self.shape))

    def problem(self, layout: Layout) -> Compaction | None:
        """The problem for a layout; None where there is nothing to write."""
        if not prod(self.y_shape):
            return None
        bits, offsets, x, base, y = layout
        _check_words(self, bits, offsets)
        general = any(o is not None and o.general for o in (x, base, y))

        def strides(given: OperandLayout | None) -> tuple[int, ...] | None:
            return None if given is None else given.strides or (0,)

        of_y = strides(y)
        assert of_y is not None
        made = Compaction(
            self.mode,
            moved_as(self.element),
            self.shape or (1,),
            self.size,
            strides(x),
            strides(base),
            of_y,
            self.cyclic,
            general,
        )
        return normalise(made)


@dataclass
class CompactionArgs(Args):
    """bits, offsets: the marks; x, base, y: as the descriptor says."""

    bits: Any
    offsets: Any
    x: Any = None
    base: Any = None
    y: Any = None


class CompactionPlan(Plan[CompactionDescriptor, CompactionArgs]):
    """The marked elements' numbers, the elements packed, or packed ones spread to where they are marked."""

    category, op, args = OpCategory.INDEXING, "masked_select", CompactionArgs
    tensors = (
        TensorSpec("bits", "a bit for each element", "bits_shape", "words", varies=Axes.OUTER),
        TensorSpec("offsets", "how many are set before each block", "offsets_shape", "words", varies=Axes.OUTER),
        TensorSpec("x", "what is packed or spread", "x_shape", when="has_x", varies=Axes.OUTER),
        TensorSpec("base", "what is elsewhere", "y_shape", when="has_base"),
        TensorSpec("y", "the result", "y_shape", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: CompactionDescriptor) -> _Found:
        return candidates(device, partial(CompactionImplementation, device, descriptor.problem, OPERANDS))
