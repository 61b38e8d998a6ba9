"""Plans whose kernels are generated from a formula."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TypeVar

from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Found
from baracuda.core.plan import Plan
from baracuda.formula.graph import Graph
from baracuda.lowering.backend import candidates
from baracuda.lowering.nest.implementation import FormulaImplementation, FormulaProblem

#: Graphs kept; without one of them a plan that is selected again traces its formula again.
MOST_GRAPHS = 1024
#: The elements that float formulas are defined on.
FLOATS = (ElementKind.F16, ElementKind.BF16, ElementKind.F32, ElementKind.F64)


class FormulaDescriptor(Descriptor):
    """A descriptor that says over which space its formula runs."""

    @property
    @abstractmethod
    def iteration_shape(self) -> tuple[int, ...]:
        """The extents of the iteration space."""

    @property
    def inner_axes(self) -> tuple[bool, ...]:
        """For each axis of the space, whether a row runs along it; none for a pointwise formula."""
        return (False,) * len(self.iteration_shape)


D = TypeVar("D", bound=FormulaDescriptor)
A = TypeVar("A", bound=Args)


class FormulaPlan(Plan[D, A]):
    """A plan that is its tensors and its formula."""

    @classmethod
    @abstractmethod
    def graph(cls, descriptor: D) -> Graph:
        """The traced formula of a descriptor, with all the outputs it may have."""

    @classmethod
    def problem(cls, descriptor: D) -> FormulaProblem:
        return FormulaProblem(cls.graph(descriptor), descriptor.iteration_shape, descriptor.inner_axes, descriptor.parameters)

    @classmethod
    def implementations(cls, device: Device, descriptor: D) -> Found:
        make = partial(FormulaImplementation, device, cls.problem(descriptor), cls.tensors, descriptor)
        return candidates(device, make)
