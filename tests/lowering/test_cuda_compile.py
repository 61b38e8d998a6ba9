"""Every CUDA kernel of plans and of ops compiles, for sm_80, sm_90 and sm_100; needs NVRTC, but neither a GPU nor a driver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.cli.verify.plans import FLOATS, SHAPES, SUBJECTS, Subject, SubjectCase
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import BackendError
from baracuda.core.implementation import Layout, OperandLayout
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.lowering.nest.cuda.lower import Target, lower
from baracuda.lowering.nest.implementation import FormulaImplementation
from baracuda.ops.declaration.formula_plan import FormulaPlan
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.op_plan import plan_of
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from tests.cases import trial as t

pytest.importorskip("cuda.bindings.nvrtc")

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))
#: Rows and row lengths that lead to each schedule.
SIZES = (
    (5, 1), (5, 7), (5, 64), (3000, 3), (3000, 64), (3000, 1000), (5, 1000), (5, 5000), (3, 70001),
    (5, 70000), (64, 40000), (8192, 8192),
)  # fmt: skip
LAYOUTS = ("contiguous", "transposed", "permuted", "sliced", "broadcast", "misaligned")

pytestmark = pytest.mark.cpu_only


class Offline(FormulaImplementation):
    """What lowers a problem, without the device that it would run on."""

    def __init__(self, plan: type[FormulaPlan[Any, Any]], descriptor: Any) -> None:
        self.problem, self.specs, self.descriptor = plan.problem(descriptor), plan.tensors, descriptor


def kernels(case: SubjectCase, target: Target, *, general: bool) -> tuple[str, list[str]]:
    """The schedule of a case and the sources of its launches."""
    offline, places = Offline(case.subject.plan, case.descriptor), case.placements()

    def lies(name: str) -> OperandLayout | None:
        place = places.get(name)
        if place is None:
            return None
        return OperandLayout(place.strides, 1 if general else min(16, place.offset & -place.offset), general)

    nest, _ = offline.nest(tuple(lies(s.name) for s in offline.specs))
    lowered = lower(nest, target)
    return lowered.schedule, [launch.source for launch in lowered.launches]


def cases(tried: Subject, full: bool) -> Iterator[tuple[SubjectCase, bool]]:
    """Sizes and layouts that between them take every schedule; element kinds in turn, or all of them."""
    ranks = tried.shapes if full else tried.shapes[:: len(SHAPES) // 4]
    shapes = [*(tried.shape(rows, n) for rows, n in SIZES), *ranks]
    turn = SUBJECTS.index(tried)
    for shape in shapes:
        for layout in LAYOUTS:
            turn += 1
            for element in FLOATS if full else (FLOATS[turn % len(FLOATS)],):
                yield SubjectCase(tried, shape, element, layout), layout == "transposed"


def sources(tried: Subject, target: Target, full: bool) -> dict[str, str]:
    """Sources by what they are: one for each schedule, or with `full` each that differs."""
    by_key: dict[str, str] = {}
    for case, general_too in cases(tried, full):
        for general in (False, True) if general_too else (False,):
            schedule, texts = kernels(case, target, general=general)
            for number, source in enumerate(texts):
                key = f"{case} {schedule}" if full else f"{_shape_of(schedule)} {number} {general}"
                by_key.setdefault(key, source)
    return {key: source for source, key in {s: k for k, s in by_key.items()}.items()}


def _shape_of(schedule: str) -> str:
    """A schedule's name without its numbers."""
    return "".join(c for c in schedule if not c.isdigit())


@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_kernels_of_plans_compile(tried: Subject, full: bool) -> None:
    """With --full every source for every architecture; else one of four for one, which takes turns."""
    turn = SUBJECTS.index(tried)
    for target in TARGETS if full else TARGETS[turn % len(TARGETS) :][:1]:
        every = list(sources(tried, target, full).items())
        for key, source in every if full else every[turn % 4 :: 4]:
            code = cubin(source, target.arch)
            assert code[:4] == b"\x7fELF", f"{tried.label}: {key}"


@pytest.mark.parametrize("shape", [(3000, 5, 8), (5, 20, 50), (3, 70, 1001)], ids=str)
def test_other_shapes_and_elements_of_tensors_compile(shape: tuple[int, ...]) -> None:
    """A weight that is a vector over several axes, and statistics in the element."""
    options: dict[str, Any] = {"rms_element": K.BF16, "flat_gamma": True}
    backward = baracuda.RMSNormBackwardDescriptor(shape, 0b110, True, K.BF16, **options)
    forward = baracuda.RMSNormDescriptor(shape, 0b110, True, K.BF16, **options)
    for plan, descriptor in ((baracuda.RMSNormBackwardPlan, backward), (baracuda.RMSNormPlan, forward)):
        for layout in plan.layouts(descriptor):
            nest, _ = Offline(plan, descriptor).nest(layout)
            for launch in lower(nest, TARGETS[0]).launches:
                assert cubin(launch.source, TARGETS[0].arch)[:4] == b"\x7fELF"


# --- declared ops -----------------------------------------------------------------------------------------------------


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
    offline = Offline(plan_of(descriptor), descriptor)
    layout: Layout = plan_of(descriptor).layouts(descriptor)[0]
    return [lower(nest, target) for nest in offline.nests(layout) if nest.graph.outputs]


@pytest.mark.parametrize("name", [name for name, op in ops().items() if not op.library])
def test_kernels_of_ops_compile(name: str, full: bool) -> None:
    """With --full for every architecture; else forward or backward for one, in turn."""
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
        programs = lowered(descriptor, target)
        assert any(schedule in part.schedule for part in programs), [part.schedule for part in programs]
        for launch in (launch for part in programs for launch in part.launches if full or target is TARGETS[turn]):
            assert cubin(launch.source, target.arch)


# --- the compiler -----------------------------------------------------------------------------------------------------


def test_bad_source_is_an_error() -> None:
    """The compiler's complaint reaches the caller."""
    with pytest.raises(BackendError, match="error: expected a declaration"):
        cubin("this is no CUDA", "sm_90")


def test_compiling_is_deterministic(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same problem gives the same source and the same machine code, so that the cache on disk may serve it."""
    case = SubjectCase(SUBJECTS[0], (5, 1000), K.F32)
    _, (source, *_) = kernels(case, TARGETS[0], general=False)
    assert kernels(case, TARGETS[0], general=False)[1][0] == source
    codes = []
    for name in ("a", "b"):
        monkeypatch.setenv("BARACUDA_CACHE_DIR", f"{tmp_path}/{name}")
        codes.append(cubin(source, "sm_90"))
    assert codes[0] == codes[1]
