"""Values before times: every output is written, and what is written is what an independent computation says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from baracuda.cli.bench.place import OTHER_POISON, POISON, Place, Tensor, Values
from baracuda.cli.bench.problem import PlanProblem, Prepared, Problem
from baracuda.cli.verify.batches import batch_axis, mixes_rows
from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.placing import Placing
from baracuda.cli.verify.problem import Batch
from baracuda.cli.verify.problem import Problem as Verified
from baracuda.cli.verify.value import compare
from baracuda.core.errors import Error, UnsupportedError
from baracuda.core.plan import Args, Plan
from baracuda.frontends.array import to_host
from baracuda.ops.formula_plan import FormulaPlan

#: Points that the oracle is asked for, and beyond which it is not asked at all, because one row is too many.
POINTS, MOST_POINTS = 1 << 14, 1 << 18


class WrongResultError(Error):
    """A result is not what it must be, or an output was not written."""


def check(problem: Problem, place: Place, prepared: Prepared) -> str:
    """Run once into poisoned outputs, and compare. What with, in words; raises `WrongResultError`."""
    first = _run(problem, place, prepared, POISON)
    again = _run(problem, place, prepared, OTHER_POISON)
    for name in prepared.outputs:
        if not np.array_equal(_bits(first[name]), _bits(again[name])):
            raise WrongResultError(f"{problem}: {name} holds elements that were not written, or differ from run to run")
    found = problem.expected(place, prepared)
    if found is not None:
        what, error = found
        if not error <= 1.0:  # NaN is wrong too
            raise WrongResultError(f"{problem}: {error:.3g} times the allowed error, against {what}")
        return what
    return by_oracle(problem, prepared) if isinstance(problem, PlanProblem) else ""


def _run(problem: Problem, place: Place, prepared: Prepared, byte: int) -> dict[str, Values]:
    for name in prepared.outputs:
        place.poison(prepared.tensors[name], byte)
    place.clock.synchronise()
    prepared.launch()
    return {name: place.look(prepared.tensors[name]) for name in prepared.outputs}


def _bits(array: Values) -> Values:
    halves = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    return np.concatenate([canonical_bits(np.ascontiguousarray(half)).reshape(-1) for half in halves])


# --- a formula's rows, by the oracle ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows(Verified):
    """The first rows of a problem, as a problem of its own: no row's values depend on the others."""

    label: str
    of: type[FormulaPlan[Any, Any]]
    fewer: Any
    held: Mapping[str, Values]
    chosen: Mapping[str, Placing] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.label

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        return self.of

    @property
    def descriptor(self) -> Any:
        return self.fewer

    def args(self, tensors: Mapping[str, Any]) -> Args:
        raise UnsupportedError(f"{self.label}: it is compared, not run")

    def inputs(self) -> dict[str, Values]:
        return dict(self.held)

    def laid(self, layout: str) -> Rows:
        return self

    def batches(self) -> Iterator[Batch]:
        return iter(())


def by_oracle(problem: PlanProblem, prepared: Prepared) -> str:
    """Compare the first rows with the float64 oracle: in words, or "" where it has no say. Raises `WrongResultError`."""
    plan = problem.plan
    reduced: Callable[[int, int], Any] | None = getattr(problem, "with_extent", None)
    if not issubclass(plan, FormulaPlan):
        return ""
    d = problem.descriptor
    shape, rows, cut = d.iteration_shape, 0, d
    graph = plan.graph(d)
    if prod(shape) > POINTS:
        axis = batch_axis(graph, shape, d.inner_axes)
        if axis is None or reduced is None:
            return ""
        rows = max(POINTS * shape[axis] // prod(shape), 1)
        try:
            cut = reduced(axis, rows)
        except Error:  # the op asks for this very extent
            return ""
    if prod(cut.iteration_shape) > MOST_POINTS:
        return ""
    mixed = {port.name.partition(".")[0] for port, value in graph.outputs if rows and mixes_rows(value)}
    held: dict[str, Values] = {}
    for spec in plan.tensors:
        if spec.presence(cut) is not False:
            held[spec.name] = _first(prepared.tensors[spec.name], spec.expected_shape(cut))
    outputs = {n: held[n] for n in prepared.outputs if n not in mixed}
    if not outputs:
        return ""
    case = Rows(str(problem), plan, cut, {n: v for n, v in held.items() if n not in prepared.outputs})
    try:
        difference = compare(case, case.inputs(), outputs)
    except UnsupportedError:
        return ""
    if difference is not None:
        raise WrongResultError(f"{problem}: {difference}")
    return f"float64 oracle, {rows} rows" if rows else "float64 oracle"


def _first(tensor: Tensor, shape: tuple[int, ...]) -> Values:
    part = tensor if tuple(tensor.shape) == shape else tensor[tuple(slice(n) for n in shape)]
    return np.array(to_host(part))
