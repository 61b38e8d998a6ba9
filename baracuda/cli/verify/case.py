"""One case to verify: a plan, a descriptor, the values and layouts of its tensors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.cli.plan_case import PlanCase
from baracuda.cli.verify.placement import TensorPlacement, place
from baracuda.core.errors import UnsupportedError
from baracuda.core.sku import PlanPreference

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Batch:
    """A case with more rows, some of which are those of another: `values` are its inputs, and `within` takes of an output
    (by name) the part that must be the other's, or None where the output is not one of rows."""

    label: str
    case: Case
    values: Mapping[str, Array]
    within: Callable[[str, Array], Array | None]


class Case(PlanCase):
    """What is verified at once. `str` of it names it in messages.

    Attributes
    ----------
    layout
        One of `placement.LAYOUTS`.
    chosen
        Where tensors lie that do not lie as `layout` says.
    ordinary
        Whether the inputs are free of NaN, infinities and extreme values, so that the oracle has a say.
    """

    layout: str = "contiguous"
    ordinary: bool = True
    chosen: Mapping[str, TensorPlacement]

    @abstractmethod
    def inputs(self) -> dict[str, Array]:
        """The values of the inputs."""

    @abstractmethod
    def laid(self, layout: str) -> Case:
        """The same case in another layout."""

    @property
    def preference(self) -> PlanPreference:
        """What its plan is selected with."""
        return PlanPreference()

    @property
    def op(self) -> str:
        """The op of the catalogue."""
        return self.plan.op

    @property
    def group(self) -> str:
        """What a quick verification takes one case of."""
        return self.op

    def bounds(self, inputs: Mapping[str, Array]) -> Mapping[str, Sequence[tuple[Array, Array]]]:
        """For a plan without a formula: the least and the greatest value of each output's elements, before they are rounded
        to its own element; of a complex one for both parts. Raises `UnsupportedError` where nobody knows."""
        raise UnsupportedError(f"{self.plan.__name__} has no formula")

    def canonical_outputs(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """For a plan without a formula: the outputs by its arithmetic in NumPy. Raises `UnsupportedError` where nobody knows."""
        raise UnsupportedError(f"{self.plan.__name__} has no formula")

    def batches(self) -> Iterator[Batch]:
        """Cases with more rows that contain this one's."""
        return iter(())

    def placements(self) -> dict[str, TensorPlacement]:
        """Where each tensor lies in its block."""
        descriptor = self.descriptor
        found = {
            s.name: place(
                s.expected_shape(descriptor), s.expected_kind(descriptor), self.layout, writable=s.written, number=number
            )
            for number, s in enumerate(self.tensors())
        }
        return {**found, **self.chosen}

    def aliases(self) -> dict[str, str]:
        """In place: the output that is written over each input that has its shape and element."""
        if self.layout != "in_place":
            return {}
        descriptor = self.descriptor
        full = [s for s in self.tensors() if s.covers(descriptor)]
        free = [s for s in full if s.written]
        found = {}
        for source in (s for s in full if not s.written):
            like = source.expected_kind(descriptor), source.expected_shape(descriptor)
            match = next((t for t in free if (t.expected_kind(descriptor), t.expected_shape(descriptor)) == like), None)
            if match is not None:
                free.remove(match)
                found[match.name] = source.name
        return found
