"""Values before times: every output is written, and what is written is what an independent computation says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from baracuda.cli.bench.benchmark import Benchmark, PlanBenchmark, Prepared, relative_error
from baracuda.cli.bench.place import OTHER_POISON, POISON, Place, Tensor, Values
from baracuda.cli.verify.batches import batch_axis, mixes_rows
from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.case import Batch
from baracuda.cli.verify.case import Case as Verified
from baracuda.cli.verify.placement import TensorPlacement
from baracuda.cli.verify.value import arguments, compare, parameters
from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error, UnsupportedError
from baracuda.core.plan import Plan
from baracuda.formula.oracle import evaluate
from baracuda.frontends.array import to_host
from baracuda.ops.declaration.formula_plan import FormulaPlan

#: Points that the oracle is asked for, and beyond which it is not asked at all, because one row is too many.
POINTS, MOST_POINTS = 1 << 15, 1 << 18
#: ||ours - expected|| / ||expected|| that rounding explains, by element; and of other elements the share that may differ.
TOLERANCE = {ElementKind.BF16: 4e-3, ElementKind.F16: 1e-3, ElementKind.F32: 1e-5, ElementKind.F64: 1e-12}
TOLERANCE |= {ElementKind.C64: 1e-5, ElementKind.C128: 1e-12, ElementKind.F8E4M3: 0.06, ElementKind.F8E5M2: 0.12}
DIFFERING = 1e-3


class WrongResultError(Error):
    """A result is not what it must be, or an output was not written."""


def check(problem: Benchmark, place: Place, prepared: Prepared) -> str:
    """Run once into poisoned outputs, and compare. What with, in words; raises `WrongResultError`."""
    first = _run(problem, place, prepared, POISON)
    again = _run(problem, place, prepared, OTHER_POISON)
    for name in prepared.outputs:
        if not np.array_equal(_bits(first[name]), _bits(again[name])):
            raise WrongResultError(f"{problem}: {name} holds elements that were not written, or differ from run to run")
    deviation = problem.expected(place, prepared)
    if deviation is not None:
        what, error = deviation
        if not error <= 1.0:  # NaN is wrong too
            raise WrongResultError(f"{problem}: {error:.3g} times the allowed error, against {what}")
        return what
    return by_oracle(problem, prepared) if isinstance(problem, PlanBenchmark) else ""


def _run(problem: Benchmark, place: Place, prepared: Prepared, byte: int) -> dict[str, Values]:
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
    chosen: Mapping[str, TensorPlacement] = field(default_factory=dict)

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


def by_oracle(problem: PlanBenchmark, prepared: Prepared) -> str:
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
        if not _close(case, outputs):  # next to a pole or after a cancellation rounding explains more: by how much, it says
            difference = compare(case, case.inputs(), outputs)
            if difference is not None:
                raise WrongResultError(f"{problem}: {difference}")
    except UnsupportedError:
        return ""
    return f"float64 oracle, {rows} rows" if rows else "float64 oracle"


def _close(case: Rows, outputs: Mapping[str, Values]) -> bool:
    """Whether every output is the oracle's, but for its rounding."""
    problem = case.of.problem(case.fewer)
    operands = arguments(case, problem, case.held)
    ports = evaluate(problem.graph, operands, problem.shape, problem.inner, parameters(problem, case.held))
    for name, got in outputs.items():
        parts = [ports[p.name].reshape(got.shape) for p, _ in problem.graph.outputs if p.name.partition(".")[0] == name]
        if disagreement(got, parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]) > 1.0:
            return False
    return True


def disagreement(actual: Values, expected: Values, slack: float = 1.0) -> float:
    """How far values of an element are from expected ones, as a multiple of what rounding explains, times `slack`."""
    kind = ElementKind.from_numpy(actual.dtype)
    if kind not in TOLERANCE:
        with np.errstate(invalid="ignore"):
            same = actual.reshape(-1) == expected.reshape(-1).astype(actual.dtype)
        return float(1.0 - same.mean()) / (DIFFERING * slack) if same.size else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = np.asarray(expected).astype(kind.numpy).reshape(-1)
    got = actual.reshape(-1)
    overflowed = np.isfinite(got) != np.isfinite(wanted)
    if slack > 1.0 and overflowed.any() and overflowed.mean() <= DIFFERING:  # where one overflows a step before the other
        got, wanted = got[~overflowed], wanted[~overflowed]
    return relative_error(got, wanted) / (TOLERANCE[kind] * slack)


def _first(tensor: Tensor, shape: tuple[int, ...]) -> Values:
    part = tensor if tuple(tensor.shape) == shape else tensor[tuple(slice(n) for n in shape)]
    return np.array(to_host(part))
