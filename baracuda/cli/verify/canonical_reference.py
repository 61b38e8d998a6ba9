"""What the bits of a case must be, by the canonical arithmetic in NumPy: the word on who is right where two differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from baracuda.cli.verify.case import Array, Case
from baracuda.cli.verify.value import arguments, parameters
from baracuda.core.errors import UnsupportedError
from baracuda.formula.canonical import run
from baracuda.formula.expand import expand
from baracuda.formula.small_floats import stored_as_integers
from baracuda.ops.declaration.formula_plan import FormulaPlan

#: Elements of the largest tensor that are interpreted; beyond it that takes minutes.
LIMIT = 1 << 17


def canonical_outputs(case: Case, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a case.

    Raises `UnsupportedError` for a plan without a formula, for a case that is too large, and for what the interpreter does
    not have.
    """
    plan, descriptor = case.plan, case.descriptor
    if not issubclass(plan, FormulaPlan):
        return case.canonical_outputs(inputs)
    if max((a.size for a in inputs.values()), default=0) > LIMIT:
        raise UnsupportedError(f"{case} has more than {LIMIT} elements")
    problem = plan.problem(descriptor)
    wanted = frozenset(s.name for s in case.tensors() if s.written)
    graph = problem.graph
    if case.omitted:
        graph = graph.select_outputs(wanted)
    graph = stored_as_integers(expand(graph))
    tensors = arguments(case, problem, inputs)
    for port in graph.inputs:
        if tensors[port.name].dtype.itemsize == port.kind.itemsize == 1:
            tensors[port.name] = tensors[port.name].view(port.kind.numpy)
    ports = run(graph, tensors, problem.shape, problem.inner, parameters(problem, inputs))
    values: dict[str, Array] = {}
    for spec in (s for s in case.tensors() if s.written):
        shape, dtype = spec.expected_shape(descriptor), spec.expected_kind(descriptor).numpy
        if spec.name in ports:
            values[spec.name] = np.ascontiguousarray(ports[spec.name]).view(dtype).reshape(shape)
        else:
            values[spec.name] = np.empty(shape, dtype)
            values[spec.name].real = ports[f"{spec.name}.re"].reshape(shape)
            values[spec.name].imag = ports[f"{spec.name}.im"].reshape(shape)
    return values
