"""Values against the float64 oracle, within what rounding may make of them.

How far that is depends on the formula and on the numbers: next to a pole or after a cancellation it is far. So the oracle
carries a bound of the error beside every value (`formula/oracle_errors.py`). A result may be off by `MARGIN` times its bound,
before it is rounded to its own element; a complex one by a part of its absolute value besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from baracuda.cli.verify import values as data
from baracuda.cli.verify.bits import Difference, shown
from baracuda.cli.verify.case import Array, Case
from baracuda.core.elements import ElementKind
from baracuda.formula.gathers import TENSOR_EXTENT
from baracuda.formula.oracle_errors import LEAST, UNIT, evaluate_with_errors
from baracuda.lowering.nest.implementation import FormulaProblem
from baracuda.ops.declaration.formula_plan import FormulaPlan

#: By how much more than its bound a result may be off: the bounds hold to first order.
MARGIN = 2.0


def compare(case: Case, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> Difference | None:
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


def _by_formula(case: Case, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> dict[str, list[tuple[Array, Array]]]:
    """The least and the greatest value of every output, for both parts of a complex one, by the oracle."""
    plan: Any = case.plan
    problem: FormulaProblem = plan.problem(case.descriptor)
    tensors = arguments(case, problem, inputs)
    bounded_ports = evaluate_with_errors(problem.graph, tensors, problem.shape, problem.inner, parameters(problem, inputs))
    intervals: dict[str, list[tuple[Array, Array]]] = {}
    for name in outputs:
        ports = [(p.name, e.kind) for p, e in problem.graph.outputs if p.name.partition(".")[0] == name]
        size = (
            np.hypot(*(bounded_ports[port][0] for port, _ in ports)) if len(ports) == 2 else np.abs(bounded_ports[ports[0][0]][0])
        )
        intervals[name] = [_interval(*bounded_ports[port], size, kind) for port, kind in ports]
    return intervals


def parameters(problem: FormulaProblem, inputs: Mapping[str, Array]) -> dict[str, float]:
    """The scalars of a formula, with the extents of tensors that it asks for."""
    values = dict(problem.parameters)
    for n in problem.graph.params:
        if n.attr.startswith(TENSOR_EXTENT):
            tensor, axis = n.attr.removeprefix(TENSOR_EXTENT).split(" ")
            values[n.attr] = float(inputs[tensor].shape[int(axis)])
    return values


def arguments(case: Case, problem: FormulaProblem, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs as the oracle takes them: of the rank of the iteration space, with the axes that are read at indices
    behind, complex ones in two parts."""
    descriptor, rank = case.descriptor, len(problem.shape)
    specs = {s.name: s for s in case.plan.tensors}
    operands = {}
    for port in problem.graph.inputs:
        name, _, part = port.name.partition(".")
        spec = specs[name]
        array = inputs[name].reshape(spec.formula_shape(descriptor))
        axes = range(rank - array.ndim, rank) if spec.axes is None else getattr(descriptor, spec.axes)
        behind = [i for i, axis in enumerate(axes) if axis is None]  # axes that are read at indices
        shape = [1] * rank + [array.shape[i] for i in behind]
        for axis, n in zip(axes, array.shape, strict=True):
            if axis is not None:
                shape[axis] = n
        values = {"re": array.real, "im": array.imag}[part] if part else array
        order = [i for i in range(array.ndim) if i not in behind] + behind
        operands[port.name] = np.asarray(values).transpose(order).reshape(shape)
    return operands


def _halves(array: Array) -> list[Array]:
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def _interval(exact: Array, error: Array, size: Array, compute: ElementKind) -> tuple[Array, Array]:
    """The least and the greatest value that rounding may leave: NaN where only NaN will do, and -inf to inf where a number and
    none are equally right."""
    with np.errstate(all="ignore"):
        if not compute.is_float:
            off = np.nan_to_num(np.ceil(error), posinf=2.0**62).astype(np.int64)
            value = exact.astype(np.int64) if exact.dtype != np.uint64 else exact
            return (value, value) if not off.any() else (value - off.astype(value.dtype), value + off.astype(value.dtype))
        bound = np.where(np.isfinite(exact), MARGIN * error + 4 * UNIT[compute] * size + 4 * LEAST[compute], 0.0)
        bounded = np.isfinite(error)
        return np.where(bounded, exact - bound, -np.inf), np.where(bounded, exact + bound, np.inf)


def _inside(got: Array, low: Array, high: Array) -> Array:
    """Whether values lie in an interval whose ends are rounded to their element: rounding is monotone, so that overflow and
    subnormals need no care."""
    kind = ElementKind.from_numpy(got.dtype)
    with np.errstate(all="ignore"):
        if kind is ElementKind.BOOL:
            value = got.astype(np.uint8)
            return np.asarray((value >= (low != 0)) & (value <= (high != 0)))
        if not kind.is_float:
            if low.dtype.kind == "f":  # a conversion truncates and saturates
                limits = np.iinfo(got.dtype)
                low, high = (np.clip(np.trunc(end), limits.min, limits.max) for end in (low, high))
            small, large = low.astype(got.dtype), high.astype(got.dtype)  # integers wrap: then the ends may change places
            everything = high.astype(np.float64) - low.astype(np.float64) >= 2.0 ** (8 * got.dtype.itemsize)
            return np.asarray(everything | (small > large) | ((got >= small) & (got <= large)))
        ends = [data.rounded(end, kind).astype(np.float64) for end in (low, high)]
        value = got.astype(np.float64)
        anything = np.isneginf(low) & np.isposinf(high)
        both_nan = np.isnan(low) & np.isnan(value)
        return np.asarray(anything | both_nan | ((value >= ends[0]) & (value <= ends[1])))
