"""Values against the float64 oracle, within what rounding may make of them.

How far that is depends on the formula and on the numbers: next to a pole or after a cancellation it is far. So it is
measured. The oracle is run again with an error of one unit in the last place of the compute kind, of random sign, in every
result that a kernel rounds; how far that moves an output, times `MARGIN`, is what the output may be off, before it is rounded
to its own element. What overflows in the compute kind and not in float64 says nothing. A complex number may be off by a part
of its absolute value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from baracuda.cli.verify import values as data
from baracuda.cli.verify.bits import Difference, shown
from baracuda.cli.verify.problem import Array, Problem
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr
from baracuda.formula.oracle import evaluate
from baracuda.lowering.implementation import FormulaProblem
from baracuda.ops.formula_plan import FormulaPlan

#: Runs with errors, and by how much more than what they show a result may be off.
RUNS, MARGIN = 5, 16.0
#: A unit in the last place; of f64 eight, because the oracle's own functions are computed in it.
_UNIT = {ElementKind.F32: 2.0**-23, ElementKind.F64: 2.0**-49}
_LARGEST = {ElementKind.F32: (2.0 - 2.0**-23) * 2.0**127, ElementKind.F64: np.inf}
_LEAST = {ElementKind.F32: 2.0**-149, ElementKind.F64: 2.0**-1074}


def compare(case: Problem, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> Difference | None:
    """The first element of the outputs that is not what the formula says of the inputs; None where all are.

    Raises `UnsupportedError` for a plan that the oracle cannot interpret, or of which nobody knows the values.
    """
    limits = _by_formula(case, inputs, outputs) if issubclass(case.plan, FormulaPlan) else case.bounds(inputs)
    first: Difference | None = None
    differing = elements = 0
    for name, got in outputs.items():
        wrong = np.zeros(got.shape, bool)
        for part, (low, high) in zip(_halves(got), limits[name], strict=True):
            wrong |= ~_inside(part, low.reshape(got.shape), high.reshape(got.shape))
        differing, elements = differing + int(wrong.sum()), elements + got.size
        if first is None and wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            middle = [(low / 2 + high / 2).reshape(got.shape) for low, high in limits[name]]
            want = middle[0] + 1j * middle[1] if len(middle) == 2 else middle[0]
            first = Difference(name, index, *shown(got, index), *shown(want, index), 0, 0)
    return None if first is None else replace(first, differing=differing, elements=elements)


def _by_formula(case: Problem, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> dict[str, list[tuple[Array, Array]]]:
    """The least and the greatest value of every output, for both parts of a complex one, by the oracle."""
    plan: Any = case.plan
    problem: FormulaProblem = plan.problem(case.descriptor)
    given = arguments(case, problem, inputs)
    run = partial(evaluate, problem.graph, given, problem.shape, problem.inner, problem.parameters)
    exact = run()
    moved = [run(disturb=_errors(f"{case}/{i}")) for i in range(RUNS)]
    found: dict[str, list[tuple[Array, Array]]] = {}
    for name in outputs:
        ports = [(p.name, e.kind) for p, e in problem.graph.outputs if p.name.partition(".")[0] == name]
        size = np.hypot(*(exact[port] for port, _ in ports)) if len(ports) == 2 else np.abs(exact[ports[0][0]])
        found[name] = [_interval(exact[port], [m[port] for m in moved], size, kind) for port, kind in ports]
    return found


def arguments(case: Problem, problem: FormulaProblem, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs as the oracle takes them: of the rank of the iteration space, with the axes that are read at indices
    behind, complex ones in two parts."""
    descriptor, rank = case.descriptor, len(problem.shape)
    specs = {s.name: s for s in case.plan.tensors}
    found = {}
    for port in problem.graph.inputs:
        name, _, part = port.name.partition(".")
        array, spec = inputs[name], specs[name]
        axes = range(rank - array.ndim, rank) if spec.axes is None else getattr(descriptor, spec.axes)
        behind = [i for i, axis in enumerate(axes) if axis is None]  # axes that are read at indices
        shape = [1] * rank + [array.shape[i] for i in behind]
        for axis, n in zip(axes, array.shape, strict=True):
            if axis is not None:
                shape[axis] = n
        values = {"re": array.real, "im": array.imag}[part] if part else array
        order = [i for i in range(array.ndim) if i not in behind] + behind
        found[port.name] = np.asarray(values).transpose(order).reshape(shape)
    return found


def _errors(seed: str) -> Any:
    """Errors of one unit in the last place, of random sign; the same for the same seed."""
    count = 0

    def disturb(n: Expr, value: Array) -> Array:
        nonlocal count
        count += 1
        words = data.raw(f"{seed}/{count}", max(value.size, 1))[: value.size].reshape(value.shape)
        error = np.where(words & np.uint64(1), 1.0, -1.0)
        moved = value + error * (np.abs(value) * _UNIT[n.kind] + _LEAST[n.kind])
        settled = (value == 0) | np.isinf(value)
        return np.where(settled, value, np.where(np.abs(value) > _LARGEST[n.kind], np.nan, moved))

    return disturb


def _halves(array: Array) -> list[Array]:
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def _interval(exact: Array, moved: list[Array], size: Array, compute: ElementKind) -> tuple[Array, Array]:
    """The least and the greatest value that rounding may leave: NaN where only NaN will do, and -inf to inf where the errors
    make the difference between a number and none."""
    if not compute.is_float:
        whole = np.array([exact, *moved])
        return whole.min(0), whole.max(0)
    with np.errstate(all="ignore"):
        equal = [(m == exact) | (np.isnan(m) & np.isnan(exact)) for m in moved]
        off = np.max([np.where(e, 0.0, np.abs(m - exact)) for e, m in zip(equal, moved, strict=True)], axis=0)
        bound = np.where(np.isfinite(exact), MARGIN * off + 4 * _UNIT[compute] * size + 4 * _LEAST[compute], 0.0)
        settled = np.isfinite(off)
        return np.where(settled, exact - bound, -np.inf), np.where(settled, exact + bound, np.inf)


def _inside(got: Array, low: Array, high: Array) -> Array:
    """Whether values lie in an interval whose ends are rounded to their element: rounding is monotone, so that overflow and
    subnormals need no care."""
    kind = ElementKind.from_numpy(got.dtype)
    with np.errstate(all="ignore"):
        if kind is ElementKind.BOOL:
            value = got.astype(np.uint8)
            return np.asarray((value >= (low != 0)) & (value <= (high != 0)))
        if not kind.is_float:
            if low.dtype.kind == "f":
                low, high = np.trunc(low), np.trunc(high)
            small, large = low.astype(got.dtype), high.astype(got.dtype)  # integers wrap: then the ends may change places
            return np.asarray((small > large) | ((got >= small) & (got <= large)))
        ends = [data.rounded(end, kind).astype(np.float64) for end in (low, high)]
        value = got.astype(np.float64)
        anything = np.isneginf(low) & np.isposinf(high)
        both_nan = np.isnan(low) & np.isnan(value)
        return np.asarray(anything | both_nan | ((value >= ends[0]) & (value <= ends[1])))
