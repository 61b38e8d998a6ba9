"""Plans of declared ops whose descriptors and args have names of their own: no formula and no lifecycle, only names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypeVar

from baracuda.core.descriptor import Args
from baracuda.formula.graph import Graph, renamed
from baracuda.ops.declaration.formula_plan import FormulaDescriptor, FormulaPlan
from baracuda.ops.declaration.op_descriptor import OpDescriptor


class TranslatedDescriptor(FormulaDescriptor):
    """A descriptor that says a problem of a declared op in fields of its own."""

    @property
    @abstractmethod
    def problem(self) -> OpDescriptor:
        """The problem, forward."""

    @property
    def iteration_shape(self) -> tuple[int, ...]:
        return self.problem.space

    @property
    def inner_axes(self) -> tuple[bool, ...]:
        return self.problem.inner

    @property
    def parameters(self) -> Mapping[str, float]:
        return dict(self.problem.scalars)


D = TypeVar("D", bound=TranslatedDescriptor)
A = TypeVar("A", bound=Args)


class TranslatedPlan(FormulaPlan[D, A]):
    """A plan of a declared op on such descriptors.

    Attributes
    ----------
    wrt
        For a backward plan: the op's tensors whose gradients it computes, where they are given.
    names
        What the args call tensors that the op calls otherwise, by the op's names.
    """

    wrt: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def graph(cls, descriptor: D) -> Graph:
        problem = descriptor.problem
        wrt = tuple(n for n in cls.wrt if n in problem.tensors)
        return renamed((replace(problem, wrt=wrt) if wrt else problem).graph, cls.names)
