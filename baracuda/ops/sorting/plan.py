"""Rows in order: descriptor, args and plan of everything that sorts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Implementation, Layout, OperandLayout
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_axis, check_element, check_shape
from baracuda.lowering.backend import candidates
from baracuda.lowering.sort.implementation import SortImplementation
from baracuda.lowering.sort.problem import RowLayout, Sort


@dataclass(frozen=True)
class SortDescriptor(Descriptor):
    """The stable order of the rows of x along an axis.

    Attributes
    ----------
    shape, axis
        The shape of x, and the axis along which its rows lie.
    element
        That of x: any of 8 bits or more.
    index_element
        That of indices and ranks: s32 or s64.
    first, count
        Which places of each ordered row are wanted: `count` of them from `first` on.
    descending
        Whether larger elements come first; equal ones keep their order.
    nan_first
        Whether NaN come before all numbers, not after them.
    has_values, has_indices, has_ranks
        Which results are wanted.
    """

    shape: tuple[int, ...]
    axis: int
    element: ElementKind
    first: int
    count: int
    index_element: ElementKind = ElementKind.S64
    descending: bool = False
    nan_first: bool = False
    has_values: bool = True
    has_indices: bool = True
    has_ranks: bool = False

    def validate(self) -> None:
        check_shape("shape", self.shape, least=1)
        check_axis("axis", self.axis, len(self.shape))
        object.__setattr__(self, "axis", self.axis % len(self.shape))
        check_element("index_element", self.index_element, (ElementKind.S32, ElementKind.S64))
        if self.element.bits < 8:
            raise UnsupportedError(f"element: {self.element}; expected one of 8 bits or more")
        n = self.shape[self.axis]
        if min(self.first, self.count) < 0 or self.first + self.count > n:
            raise InvalidProblemError(f"first, count: {self.first}, {self.count}; expected places of a row of {n}")

    @property
    def wanted_shape(self) -> tuple[int, ...]:
        """The shape of values and indices."""
        return (*self.shape[: self.axis], self.count, *self.shape[self.axis + 1 :])

    def sort(self, layout: Layout) -> Sort:
        """The problem for a layout of the plan's tensors."""
        axis = self.axis

        def rows(at: OperandLayout | None, kind: ElementKind) -> RowLayout | None:
            return None if at is None else RowLayout(kind, at.strides[:axis] + at.strides[axis + 1 :], at.strides[axis])

        x, *others = layout
        source = rows(x, self.element)
        assert source is not None
        kinds = (self.element, self.index_element, self.index_element)
        outer = self.shape[:axis] + self.shape[axis + 1 :]
        general = any(t is not None and t.general for t in layout)
        values, indices, ranks = (rows(t, kind) for t, kind in zip(others, kinds, strict=True))
        return Sort(
            outer,
            self.shape[axis],
            self.first,
            self.count,
            self.descending,
            self.nan_first,
            source,
            values,
            indices,
            ranks,
            general,
        )


@dataclass
class SortArgs(Args):
    """x: the rows; values, indices, ranks: the results."""

    x: Any
    values: Any = None
    indices: Any = None
    ranks: Any = None


class SortPlan(Plan[SortDescriptor, SortArgs]):
    """values[i] = x[indices[i]], the elements of each row from place `first` of their stable order on, and ranks[indices[i]] =
    first + i, the place of every element.

    -0 equals +0, and all NaN are equal and come last unless `nan_first` says otherwise. Complex numbers compare by their real
    parts, then by their imaginary ones. Elements are moved, never changed. The result is determined by the order alone, so that
    its bits are the same however it is found.

    The workspace is up to 2 * (itemsize + 4) bytes for each element.
    """

    category, op, args = OpCategory.SORTING, "sort", SortArgs
    tensors = (
        TensorSpec("x", "the rows", "shape", varies=Axes.OUTER),
        TensorSpec("values", "elements in order", "wanted_shape", varies=Axes.OUTER, written=True, when="has_values"),
        TensorSpec(
            "indices", "where in the row they lie", "wanted_shape", "index_element", varies=Axes.OUTER, written=True,
            when="has_indices",
        ),
        TensorSpec(
            "ranks", "the place of each element in the order", "shape", "index_element", varies=Axes.OUTER, written=True,
            when="has_ranks",
        ),
    )  # fmt: skip

    @classmethod
    def implementations(
        cls, device: Device, descriptor: SortDescriptor
    ) -> tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]:
        return candidates(device, partial(SortImplementation, device, descriptor.sort))
