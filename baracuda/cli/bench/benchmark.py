"""What is measured at once: a plan on given shapes, its tensors, its floor, and how a framework would be called for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from baracuda.cli.bench.operations import operations
from baracuda.cli.bench.place import POISON, Place, Tensor, Values
from baracuda.cli.plan_case import PlanCase
from baracuda.cli.timing import Call
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.frontends.call import plan_for
from baracuda.ops.declaration.formula_plan import FormulaPlan

Shape = tuple[int, ...]

#: Elements that values are made for; larger tensors hold them again and again.
BLOCK = 1 << 16
#: Elements of the longest row that is made whole.
LONGEST = 1 << 20


@dataclass(frozen=True)
class Invocation:
    """An op as a user of a framework calls it.

    Attributes
    ----------
    op
        Its name in the catalogue, which has the frameworks' names for it.
    tensors
        The tensors of the forward call, in order; None for one that is left out.
    keywords
        What else it takes, by our names.
    results
        Its results, in order; those of a backward are the cotangents' names without their d.
    wrt
        For a backward: the tensors whose gradients are computed, as outputs `d` and their name.
    defaults
        Keywords that we have a default for, for functions that ask for them.
    """

    op: str
    tensors: tuple[str | None, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    results: tuple[str, ...] = ("y",)
    wrt: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Prepared:
    """A problem on a device, ready to run.

    Attributes
    ----------
    launch
        The bound launch.
    tensors, outputs
        Every tensor by name, those that only rivals read among them; and the names of those that are written.
    backend, guarantee, schedule
        Of the plan.
    fresh
        The function of daily use, whose results are made in each call; None where there is none of the same arguments.
    """

    launch: Call
    tensors: Mapping[str, Tensor]
    outputs: tuple[str, ...]
    backend: str = ""
    guarantee: str = ""
    schedule: str = ""
    fresh: Callable[[], object] | None = None


class Benchmark(ABC):
    """What is measured at once.

    Attributes
    ----------
    suite, op, element, shape_class, shape, variant
        As in `results.Row`.
    nbytes, operations
        The least that is moved and computed.
    """

    suite: str
    op: str
    element: ElementKind
    shape_class: str
    shape: Shape
    variant: str = ""

    def __str__(self) -> str:
        words = (self.op, self.element.label, self.shape_class, "x".join(map(str, self.shape)), self.variant)
        return " ".join(w for w in words if w)

    @property
    @abstractmethod
    def family(self) -> str:
        """The family of the catalogue."""

    @property
    @abstractmethod
    def nbytes(self) -> int: ...

    @property
    @abstractmethod
    def operations(self) -> float: ...

    @abstractmethod
    def prepare(self, place: Place, seed: int) -> Prepared:
        """Tensors on the device, outputs poisoned, and the launch. Raises a named error where no plan can do it."""

    @property
    def invocation(self) -> Invocation | None:
        """How frameworks are called for the same; None where their names are no help."""
        return None

    def expected(self, place: Place, prepared: Prepared) -> tuple[str, float] | None:
        """After a run: what the values were compared with, in words, and the largest error as a multiple of what is allowed;
        None where there is nothing to compare with but rivals."""
        return None


class PlanBenchmark(PlanCase, Benchmark):
    """The benchmark of one plan.

    Attributes
    ----------
    transposed
        The tensors whose last two axes are exchanged in memory.
    preference
        What is insisted on.
    """

    transposed: frozenset[str] = frozenset()
    preference: PlanPreference = PlanPreference()

    @abstractmethod
    def block(self, name: str, shape: Shape, kind: ElementKind, seed: int) -> Values:
        """An input's first elements, of its element."""

    def described(self) -> list[tuple[str, Shape, ElementKind, bool]]:
        """Name, shape and element of each tensor that there is, and whether it is written."""
        d = self.descriptor
        return [(s.name, s.expected_shape(d), s.expected_kind(d), s.written) for s in self.tensors()]

    @property
    def nbytes(self) -> int:
        return sum(prod(shape) * kind.itemsize for _, shape, kind, _ in self.described())

    @property
    def operations(self) -> float:
        d = self.descriptor
        if not issubclass(self.plan, FormulaPlan):
            raise NotImplementedError(f"{self.plan.__name__} has no formula to count")
        return operations(self.plan.graph(d), d.iteration_shape, d.inner_axes)

    def inputs(self, place: Place, seed: int) -> dict[str, Tensor]:
        """The tensors that are read."""
        return {
            name: place.put(self.block(name, shape, kind, seed), shape, transposed=name in self.transposed)
            for name, shape, kind, written in self.described()
            if not written
        }

    def prepare(self, place: Place, seed: int) -> Prepared:
        tensors = self.inputs(place, seed)
        written = [(name, shape, kind) for name, shape, kind, is_written in self.described() if is_written]
        for name, shape, kind in written:
            tensors[name] = place.empty(shape, kind, transposed=name in self.transposed)
            place.poison(tensors[name], POISON)
        plan, launch = bound(place, self.plan, self.descriptor, self.args(tensors), self.preference)
        sku = plan.sku()
        outputs = tuple(name for name, _, _ in written)
        fresh = self.fresh(tensors) if place.on_cpu else None
        return Prepared(launch, tensors, outputs, str(sku.backend), str(sku.guarantee), plan.schedule, fresh)

    def fresh(self, tensors: Mapping[str, Tensor]) -> Callable[[], object] | None:
        """A call of the function of daily use on these tensors."""
        return None


def bound(
    place: Place,
    cls: type[Plan[Any, Any]],
    descriptor: Any,
    args: Any,
    preference: PlanPreference = PlanPreference(),  # noqa: B008
) -> tuple[Plan[Any, Any], Call]:
    """The plan for these very tensors, and its launch."""
    plan = plan_for(cls, descriptor, place.stream, [getattr(args, s.name) for s in cls.tensors], preference)
    return plan, plan.bind(place.stream, place.workspace(plan.workspace_size()), args)


def block_shape(shape: Shape) -> Shape:
    """Whole rows of a shape, as many as a block holds: one at least, or the beginning of a very long one."""
    if not shape or not prod(shape):
        return shape
    return (max(min(BLOCK, prod(shape)) // shape[-1], 1), min(shape[-1], LONGEST))


def relative_error(actual: Values, expected: Values) -> float:
    """||found - expected|| / ||expected||, over the elements where the expected ones are finite; infinite where NaN or an
    infinity is on one side only."""
    got, want = (np.asarray(v, np.complex128 if v.dtype.kind == "c" else np.float64).reshape(-1) for v in (actual, expected))
    finite = np.isfinite(want)
    if not np.array_equal(finite, np.isfinite(got)):
        return float("inf")
    size = float(np.linalg.norm(want[finite]))
    distance = float(np.linalg.norm(got[finite] - want[finite]))
    return distance / size if size else distance
