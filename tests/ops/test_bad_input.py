"""Bad input: each check raises its named error, which quotes what was wrong and what was expected, and writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda import (
    BufferTooSmallError,
    InvalidProblemError,
    MisalignedOperandError,
    Workspace,
    WorkspaceTooSmallError,
)
from baracuda.cli.verify.placement import TensorPlacement, dense_strides, placed
from baracuda.cli.verify.plans import SUBJECTS, Subject, SubjectCase, subject
from baracuda.cli.verify.session import PlacedTensors
from baracuda.core.elements import ElementKind as K
from tests.machine import Machine
from tests.unit.fake_dlpack import FakeTensor

SHAPE = {None: (6, 40), 2: (6, 40), 4: (2, 3, 4, 10)}


def refused(
    machine: Machine, place: PlacedTensors, error: type[Exception], *quotes: str, workspace: Workspace | None = None
) -> None:
    """Assert that can_implement, run and bind raise an error that quotes these, and that no byte is written."""
    plan = place.case.subject.plan.select(machine.stream, place.case.descriptor)
    scratch = workspace or machine.workspace(plan.workspace_size())
    calls: list[Callable[[], Any]] = [
        lambda: plan.run(machine.stream, scratch, place.args),
        lambda: plan.bind(machine.stream, scratch, place.args),
    ]
    if workspace is None:
        calls.append(lambda: plan.can_implement(place.args))
    for call in calls:
        with pytest.raises(error) as caught:
            call()
        assert isinstance(caught.value, baracuda.Error)
        for quote in quotes:
            assert quote in str(caught.value), str(caught.value)
    assert place.unchanged()


def case_of(tried: Subject | str, element: K = K.F32) -> SubjectCase:
    tried = subject(tried) if isinstance(tried, str) else tried
    return SubjectCase(tried, SHAPE[tried.rank], element)


def each(names: tuple[str, ...] = ("given", "written")) -> list[Any]:
    """(subject, tensor) for every tensor of every plan."""
    params = []
    for tried in SUBJECTS:
        for spec in case_of(tried).tensors():
            if ("written" if spec.written else "given") in names:
                params.append(pytest.param(tried, spec.name, id=f"{tried.label}-{spec.name}"))
    return params


def replaced(machine: Machine, tried: Subject, name: str, change: Callable[[TensorPlacement], TensorPlacement]) -> PlacedTensors:
    """The tensors of a case with one of them placed otherwise."""
    case = case_of(tried)
    changed = change(case.placements()[name])
    values = case.inputs()
    if name in values and values[name].shape != changed.shape:
        values[name] = np.zeros(changed.shape, values[name].dtype)
    return PlacedTensors(machine, SubjectCase(case.subject, case.shape, case.element, chosen={name: changed}), values=values)


# --- tensors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tried", "name"), each())
def test_another_element(machine: Machine, tried: Subject, name: str) -> None:
    def change(p: TensorPlacement) -> TensorPlacement:
        return placed(p.shape, p.strides, K.F64 if p.kind is not K.F64 else K.F32)

    place = replaced(machine, tried, name, change)
    refused(machine, place, InvalidProblemError, name, "element is f64", f"expected {case_of(tried).placements()[name].kind}")


@pytest.mark.parametrize(("tried", "name"), each())
def test_another_shape(machine: Machine, tried: Subject, name: str) -> None:
    def change(p: TensorPlacement) -> TensorPlacement:
        shape = (*p.shape[:-1], p.shape[-1] + 1)
        return placed(shape, dense_strides(shape, range(len(shape))), p.kind)

    place = replaced(machine, tried, name, change)
    expected = case_of(tried).placements()[name].shape
    refused(machine, place, InvalidProblemError, name, f"shape is {place.placements[name].shape}", f"expected {expected}")


@pytest.mark.parametrize(("tried", "name"), each())
def test_a_tensor_left_out(machine: Machine, tried: Subject, name: str) -> None:
    place = PlacedTensors(machine, case_of(tried))
    spec = next(s for s in tried.plan.tensors if s.name == name)
    setattr(place.args, name, None)
    if spec.optional and not tried.omitted:
        place.case.subject.plan.select(machine.stream, place.case.descriptor).can_implement(place.args)
        return
    quotes = (name, "None", "expected") if not spec.optional else ("dscores, dslopes", "all are None", "at least one output")
    refused(machine, place, InvalidProblemError, *quotes)


@pytest.mark.parametrize(("tried", "name"), each(("written",)))
def test_an_output_that_overlaps_itself(machine: Machine, tried: Subject, name: str) -> None:
    if max(case_of(tried).placements()[name].shape) == 1:
        pytest.skip("one element")

    def change(p: TensorPlacement) -> TensorPlacement:
        longest = p.shape.index(max(p.shape))
        return placed(p.shape, [0 if a == longest else s for a, s in enumerate(p.strides)], p.kind)

    place = replaced(machine, tried, name, change)
    refused(machine, place, InvalidProblemError, name, f"strides {place.placements[name].strides}", "twice")


@pytest.mark.parametrize(("tried", "name"), each(("written",)))
def test_an_output_that_overlaps_an_input_in_part(machine: Machine, tried: Subject, name: str) -> None:
    """One element further on in the same memory, for every input of the same kind."""
    case = case_of(tried)
    own = case.placements()[name]
    for source, theirs in case.placements().items():
        spec = next(s for s in tried.plan.tensors if s.name == source)
        if spec.written or theirs.kind is not own.kind:
            continue
        place = PlacedTensors(machine, case)
        nbytes = theirs.nbytes + own.nbytes
        block = np.full(nbytes, 0xFF, np.uint8)
        held = machine.upload(block)
        overlapped = TensorPlacement(theirs.shape, theirs.strides, theirs.kind, 256, nbytes)
        overlapping = TensorPlacement(own.shape, own.strides, own.kind, 256 + own.kind.itemsize, nbytes)
        if theirs.shape == (1,) or max(theirs.shape) == 1:
            overlapping = TensorPlacement(own.shape, own.strides, own.kind, 256, nbytes)
        setattr(place.args, source, held.tensor(overlapped, writable=False))
        setattr(place.args, name, held.tensor(overlapping, writable=True))
        refused(machine, place, InvalidProblemError, name, "overlaps", source)
        assert np.array_equal(held.download(), block)


@pytest.mark.parametrize("label", ["rms_norm", "rms_norm_backward", "alibi_backward", "lerp_backward"])
def test_two_outputs_in_the_same_memory(machine: Machine, label: str) -> None:
    place = PlacedTensors(machine, case_of(label))
    first, second = (s.name for s in place.case.tensors() if s.written)
    p = place.placements[second]
    shared = TensorPlacement(p.shape, p.strides, p.kind, place.placements[first].offset, place.placements[first].nbytes)
    setattr(place.args, second, place.held[first].tensor(shared, writable=True))
    refused(machine, place, InvalidProblemError, second, first, "overlaps", "both are written")


def test_in_place_needs_the_same_view(machine: Machine) -> None:
    """The transpose of the input's memory is the same bytes in another order."""
    case = SubjectCase(subject("softmax"), (20, 20), K.F32)
    place = PlacedTensors(machine, case)
    p = place.placements["x"]
    place.args.y = place.held["x"].tensor(TensorPlacement(p.shape, p.strides[::-1], p.kind, p.offset, p.nbytes), writable=True)
    refused(machine, place, InvalidProblemError, "y: its memory overlaps that of x", "same address, shape, strides")


def test_a_small_operand_cannot_be_written_over(machine: Machine) -> None:
    """gamma and dgamma: one element for each cell is not one for each point, so in place would read what is written."""
    place = PlacedTensors(machine, case_of("rms_norm_backward"))
    place.args.dgamma = place.args.gamma
    refused(machine, place, InvalidProblemError, "dgamma: its memory overlaps that of gamma")


@pytest.mark.parametrize("label", ["rms_norm_plain", "rms_norm_backward_plain", "quantize_per_token_s8_symmetric"])
def test_a_tensor_too_many(machine: Machine, label: str) -> None:
    place = PlacedTensors(machine, case_of(label))
    spec = next(s for s in place.case.subject.plan.tensors if s.when is not None)
    setattr(place.args, spec.name, next(iter(place.held.values())).tensor(next(iter(place.placements.values())), writable=False))
    refused(machine, place, InvalidProblemError, f"{spec.name}: got a tensor; expected None because {spec.when}=False")


def test_what_is_not_a_tensor(machine: Machine) -> None:
    place = PlacedTensors(machine, case_of("softmax"))
    place.args.x = [[1.0] * 40] * 6
    refused(machine, place, InvalidProblemError, "x: got a builtins.list", "__dlpack__")


@pytest.mark.cpu_only
@pytest.mark.parametrize(("tried", "name"), each(("written",)))
def test_a_read_only_output(machine: Machine, tried: Subject, name: str) -> None:
    place = PlacedTensors(machine, case_of(tried))
    getattr(place.args, name).flags.writeable = False
    refused(machine, place, InvalidProblemError, f"{name}: it is read-only; expected a tensor that can be written")


@pytest.mark.cpu_only
@pytest.mark.parametrize(("tried", "name"), each())
def test_a_tensor_of_another_device(machine: Machine, tried: Subject, name: str) -> None:
    place = PlacedTensors(machine, case_of(tried))
    p = place.placements[name]
    setattr(place.args, name, FakeTensor(0x1000, p.shape, p.strides, (*p.kind.dlpack, 1), device=(2, 1)))
    refused_once(machine, place, InvalidProblemError, name, "cuda:1", "cpu")


def refused_once(machine: Machine, place: PlacedTensors, error: type[Exception], *quotes: str) -> None:
    """As `refused`, for producers whose capsule can be taken only once."""
    plan = place.case.subject.plan.select(machine.stream, place.case.descriptor)
    with pytest.raises(error) as caught:
        plan.run(machine.stream, machine.workspace(plan.workspace_size()), place.args)
    for quote in quotes:
        assert quote in str(caught.value), str(caught.value)
    assert place.unchanged()


def test_a_buffer_that_ends_too_soon(machine: Machine) -> None:
    torch = pytest.importorskip("torch")
    for name in ("x", "y"):
        place = PlacedTensors(machine, case_of("softmax"))
        tensor = torch.zeros(6, 40, device=machine.name)
        tensor.untyped_storage().resize_(6 * 40 * 4 - 4)
        setattr(place.args, name, tensor)
        refused(machine, place, BufferTooSmallError, f"{name}: its shape and strides reach 960 bytes, its buffer has 956")


@pytest.mark.cpu_only
def test_a_misaligned_pointer(machine: Machine) -> None:
    for name in ("x", "y"):
        place = PlacedTensors(machine, case_of("softmax"))
        raw = np.full(6 * 40 * 4 + 64, 0xFF, np.uint8)
        setattr(place.args, name, np.ndarray((6, 40), np.float32, raw.data, 2))
        refused(machine, place, MisalignedOperandError, name, "expected a multiple of 4")
        assert (raw == 0xFF).all()


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", [np.complex64, np.int64, np.bool_, "float8_e4m3fn"], ids=str)
def test_elements_that_no_plan_takes(machine: Machine, dtype: Any) -> None:
    import ml_dtypes

    place = PlacedTensors(machine, case_of("softmax"))
    place.args.x = np.zeros((6, 40), getattr(ml_dtypes, dtype) if isinstance(dtype, str) else dtype)
    refused(machine, place, InvalidProblemError, "x: element is", "expected f32")


# --- workspaces and streams --------------------------------------------------------------------------------------------


def needs_workspace(machine: Machine) -> tuple[Any, PlacedTensors]:
    """A plan that needs scratch memory, and its tensors."""
    for tried, shape in (("rms_norm_backward", (3000, 40)), ("rms_norm_backward", (9000, 2000)), ("softmax", (2, 1 << 20))):
        case = SubjectCase(subject(tried), shape, K.F32)
        plan = case.subject.plan.select(machine.stream, case.descriptor)
        if plan.workspace_size():
            return plan, PlacedTensors(machine, case)
    pytest.skip("no plan here needs a workspace")


def test_a_workspace_that_is_too_small(machine: Machine) -> None:
    plan, place = needs_workspace(machine)
    needed = plan.workspace_size()
    for scratch in (None, machine.workspace(needed - 1)):
        for call in (plan.run, plan.bind):
            with pytest.raises(WorkspaceTooSmallError) as caught:
                call(machine.stream, scratch, place.args)
            assert (caught.value.needed, caught.value.got) == (needed, needed - 1 if scratch else 0)
            assert str(needed) in str(caught.value)
    assert place.unchanged()


def test_a_workspace_of_another_device(machine: Machine) -> None:
    plan, place = needs_workspace(machine)
    elsewhere = baracuda.Device.cuda(1) if machine.name == "cpu" else baracuda.Device.cpu()
    with pytest.raises(InvalidProblemError, match=f"workspace: it is on {elsewhere}; expected {machine.stream.device}"):
        plan.run(machine.stream, Workspace((4096, plan.workspace_size(), elsewhere)), place.args)
    assert place.unchanged()


def test_a_stream_of_another_device(machine: Machine) -> None:
    place = PlacedTensors(machine, case_of("softmax"))
    plan = place.case.subject.plan.select(machine.stream, place.case.descriptor)
    other = baracuda.Stream(baracuda.Device.cuda(1) if machine.name == "cpu" else baracuda.Device.cpu())
    for call in (plan.run, plan.bind):
        with pytest.raises(InvalidProblemError, match=f"expected one on {machine.stream.device}"):
            call(other, None, place.args)
    assert place.unchanged()
