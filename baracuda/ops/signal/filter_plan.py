"""Recursive filters: descriptor, args and plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.implementation import Implementation, Layout, OperandLayout
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_shape
from baracuda.lowering.backend import candidates
from baracuda.lowering.filter.implementation import FilterImplementation
from baracuda.lowering.filter.problem import Filter, Rows


@dataclass(frozen=True)
class FilterDescriptor(Descriptor):
    """A recursive filter over the rows along the last axis of x.

    Attributes
    ----------
    shape
        That of x and y.
    order
        How many coefficients each row has: a is of the shape of x with these in place of the last axis, and may repeat them.
    element
        f32 or f64.
    """

    shape: tuple[int, ...]
    order: int
    element: ElementKind

    def validate(self) -> None:
        check_shape("shape", self.shape, least=1)
        check_element("element", self.element, (ElementKind.F32, ElementKind.F64))
        if self.order < 1:
            raise InvalidProblemError(f"order: {self.order}; expected 1 or more")

    @property
    def a_shape(self) -> tuple[int, ...]:
        """The shape of a."""
        return (*self.shape[:-1], self.order)

    def problem(self, layout: Layout) -> Filter:
        """The problem for a layout of x, a and y."""

        def rows(at: OperandLayout | None) -> Rows:
            assert at is not None
            return Rows(at.strides[:-1], at.strides[-1])

        x, a, y = map(rows, layout)
        return Filter(self.element, self.shape[:-1], self.shape[-1], self.order, x, a, y)


@dataclass
class FilterArgs(Args):
    """x: the rows; a: coefficients of each; y: the result."""

    x: Any
    a: Any
    y: Any = None


class FilterPlan(Plan[FilterDescriptor, FilterArgs]):
    """y_t = x_t - a_1 y_(t-1) - ... - a_p y_(t-p), each a chain of fused multiply-adds from the oldest element on."""

    category, op, args = OpCategory.SIGNAL, "lfilter", FilterArgs
    tensors = (
        TensorSpec("x", "the rows", "shape", varies=Axes.OUTER),
        TensorSpec("a", "coefficients", "a_shape", varies=Axes.OUTER),
        TensorSpec("y", "the filtered rows", "shape", varies=Axes.OUTER, written=True),
    )

    @classmethod
    def implementations(
        cls, device: Device, descriptor: FilterDescriptor
    ) -> tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]:
        return candidates(device, partial(FilterImplementation, device, descriptor.problem, descriptor.element))
