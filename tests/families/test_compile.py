"""The CUDA kernels of every op compile, forward and backward, for sm_80, sm_90 and sm_100; no GPU or driver is needed.

With --full each for all three; else for one of them, which takes turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from baracuda.core.elements import ElementKind
from baracuda.core.plan import Layout
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.lowering.cuda import Target, lower
from baracuda.lowering.implementation import FormulaImplementation
from baracuda.ops.op import Op
from baracuda.ops.op_descriptor import OpDescriptor
from baracuda.ops.op_plan import plan_of
from baracuda.runtime.cuda import cubin
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
    if op.differentiable and trial.gradient and (element.is_float or element in (ElementKind.C64, ElementKind.C128)):
        wrt = tuple(t.differentiated(op, trial.tensors))
        yield replace(forward.forward, wrt=wrt, axes=forward.axes)


def sources(descriptor: OpDescriptor, target: Target) -> list[str]:
    """The kernels of a contiguous layout."""
    offline = Offline(descriptor)
    layout: Layout = plan_of(descriptor).layouts(descriptor)[0]
    nests = offline.nests(layout)
    return [launch.source for nest in nests if nest.graph.outputs for launch in lower(nest, target).launches]


@pytest.mark.parametrize("name", [name for name, op in ops().items() if not op.library])
def test_kernels_compile(name: str, full: bool) -> None:
    turn = list(ops()).index(name) % len(TARGETS)
    for descriptor in descriptors(ops()[name]):
        for target in TARGETS if full else TARGETS[turn : turn + 1]:
            for source in sources(descriptor, target):
                assert cubin(source, target.arch)
