"""The CUDA kernels of every op compile, forward and backward, for sm_80, sm_90 and sm_100; no GPU or driver is needed.

With --full each for all three; else each op's forward or its backward for one of them, in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind as K
from baracuda.core.plan import Layout
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.lowering.nest.cuda.lower import Target, lower
from baracuda.lowering.nest.implementation import FormulaImplementation
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.op_plan import plan_of
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from tests.families import trial as t

pytest.importorskip("cuda.core")
pytest.importorskip("cuda.bindings.nvrtc")
pytestmark = pytest.mark.cpu_only

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))


class Offline(FormulaImplementation):
    """What lowers a problem, without the device that it would run on."""

    def __init__(self, descriptor: OpDescriptor) -> None:
        plan = plan_of(descriptor)
        self.problem, self.specs, self.descriptor = plan.problem(descriptor), plan.tensors, descriptor


def descriptors(op: Op) -> Iterator[OpDescriptor]:
    """An op's first trial, forward and backward, in an element that takes turns."""
    case = t.cases()[op.name]
    elements = t.elements_of(op, case)
    turn = list(ops()).index(op.name)
    element = elements[turn % len(elements)]
    trial = next(x for x in t.trials_of(op.name) if x.element is element)
    forward, _, _ = describe_call(op, trial.tensors, dict(trial.keywords))
    yield forward
    if op.differentiable and trial.gradient and (element.is_float or element in (K.C64, K.C128)):
        wrt = tuple(t.differentiated(op, trial.tensors))
        yield replace(forward.forward, wrt=wrt, axes=forward.axes)


def lowered(descriptor: OpDescriptor, target: Target) -> list[Lowered]:
    """The kernels of a contiguous layout."""
    offline = Offline(descriptor)
    layout: Layout = plan_of(descriptor).layouts(descriptor)[0]
    return [lower(nest, target) for nest in offline.nests(layout) if nest.graph.outputs]


@pytest.mark.parametrize("name", [name for name, op in ops().items() if not op.library])
def test_kernels_compile(name: str, full: bool) -> None:
    turn = list(ops()).index(name)
    both = list(descriptors(ops()[name]))
    for descriptor in both if full else [both[turn % len(both)]]:
        for target in TARGETS if full else [TARGETS[turn % len(TARGETS)]]:
            for launch in (launch for found in lowered(descriptor, target) for launch in found.launches):
                assert cubin(launch.source, target.arch)


#: Schedules that only large tensors take, with an op, an element, a shape and keywords that lead there.
LARGE: tuple[tuple[str, str, K, tuple[int, ...], dict[str, Any]], ...] = (
    ("looked up", "tanh", K.BF16, (4096, 2048), {}),
    ("looked up", "erfinv", K.F16, (8400001,), {}),
    ("tables 1", "i0_backward", K.BF16, (4096, 2048), {}),
    ("tables 2", "gelu_backward", K.BF16, (8192, 4097), {}),
    ("tables 3", "log1mexp_backward", K.BF16, (33000001,), {}),
    ("pointwise v2", "complex", K.F32, (512, 512), {}),
    ("rows resident v1", "entmax", K.BF16, (64, 8192), {}),
    ("rows resident v4", "layer_norm", K.BF16, (64, 8192), {}),
    ("rows resident", "var", K.F32, (40, 300007), {"axis": -1}),
    ("rows split", "softmin", K.F32, (40, 3000000), {"axis": -1}),
    ("columns kept registers", "logsumexp", K.F64, (300000, 40), {"axis": 0}),
    ("scan rows chained", "cumsum", K.BF16, (7, 100000), {}),
    ("scan rows chained", "cummax", K.F32, (7, 100001), {}),
    ("scan rows chained", "logcumsumexp", K.F64, (200, 300000), {}),
    ("scan columns x8 chained", "cumsum", K.F32, (100000, 16), {"axis": 0}),
    ("scan columns x4 chained", "cumsum", K.F64, (2, 100001, 9), {"axis": 1}),
    ("scan columns x16 split", "cummax", K.F32, (100001, 16), {"axis": 0}),
    ("scan columns staged x32", "cummax", K.F32, (3, 5000, 4096), {"axis": 1}),
    ("scan columns staged x32", "cumsum", K.BF16, (2, 5003, 4098), {"axis": 1}),
    ("scan columns x16", "cumsum", K.F32, (3, 5000, 800), {"axis": 1}),
)


@pytest.mark.parametrize(("schedule", "name", "element", "shape", "keywords"), LARGE, ids=str)
def test_kernels_of_large_tensors_compile(
    schedule: str, name: str, element: K, shape: tuple[int, ...], keywords: dict[str, Any], full: bool
) -> None:
    """The schedule is chosen for all three; without --full one of them, which takes turns, is compiled for."""
    turn = [(row[0], row[1]) for row in LARGE].index((schedule, name)) % len(TARGETS)
    op = ops()[name.removesuffix("_backward")]
    tensors = [np.broadcast_to(np.zeros((), element.numpy), shape)] * len(op.signature.tensors)
    descriptor = describe_call(op, tensors, keywords)[0].forward
    if name != op.name:
        descriptor = replace(descriptor, wrt=tuple(descriptor.tensors), given=tuple(descriptor.results))
    for target in TARGETS:
        found = lowered(descriptor, target)
        assert any(schedule in part.schedule for part in found), [part.schedule for part in found]
        for launch in (launch for part in found for launch in part.launches if full or target is TARGETS[turn]):
            assert cubin(launch.source, target.arch)
