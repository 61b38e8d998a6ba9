"""What `baracuda verify`, `baracuda bench` and the tests call a case: a plan with a descriptor, and args made of tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from baracuda.core.plan import Plan
from baracuda.core.spec import TensorSpec


class PlanCase(ABC):
    """A plan and a problem for it.

    Attributes
    ----------
    omitted
        Outputs that are left out.
    """

    omitted: frozenset[str] = frozenset()

    @property
    @abstractmethod
    def plan(self) -> type[Plan[Any, Any]]:
        """The plan class."""

    @property
    @abstractmethod
    def descriptor(self) -> Any:
        """The descriptor."""

    @abstractmethod
    def args(self, tensors: Mapping[str, Any]) -> Any:
        """The args with these tensors."""

    @property
    def family(self) -> str:
        """The family of the catalogue."""
        return self.plan.category.value

    def tensors(self) -> list[TensorSpec]:
        """The tensors that are given, in the order of the args."""
        descriptor = self.descriptor
        return [s for s in self.plan.tensors if s.presence(descriptor) is not False and s.name not in self.omitted]
