"""Selecting a plan: descriptors that are wrong, candidates and their reasons, and preferences that nothing can meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import baracuda
from baracuda import (
    AlibiDescriptor,
    BackendKind,
    BinaryKind,
    BinaryParamDescriptor,
    DequantizePerTokenDescriptor,
    InvalidProblemError,
    PlanPreference,
    QuantizePerTokenDescriptor,
    RMSNormBackwardDescriptor,
    RMSNormDescriptor,
    SoftmaxDescriptor,
    SoftmaxKind,
    UnsupportedError,
)
from baracuda.cli.verify.plans import SUBJECTS, Subject, SubjectCase, subject
from baracuda.core.elements import ElementKind as K
from tests.machine import Machine

SOFTMAX, LERP = SoftmaxKind.SOFTMAX, BinaryKind.LERP
SHAPE = {None: (6, 40), 2: (6, 40), 4: (2, 3, 4, 10)}

Wrong = tuple[str, Callable[[], Any], type[Exception], tuple[str, ...]]


def case_of(tried: Subject) -> SubjectCase:
    return SubjectCase(tried, SHAPE[tried.rank], K.F32)


INVALID, UNSUPPORTED = InvalidProblemError, UnsupportedError

WRONG: list[Wrong] = [
    ("axis above", lambda: SoftmaxDescriptor(SOFTMAX, (2, 3), 2, K.F32), INVALID, ("softmax_axis: 2", "-2 to 1")),
    ("axis below", lambda: SoftmaxDescriptor(SOFTMAX, (2, 3), -3, K.F32), INVALID, ("softmax_axis: -3", "-2 to 1")),
    ("axis of another type", lambda: SoftmaxDescriptor(SOFTMAX, (2, 3), 0.5, K.F32), INVALID, ("softmax_axis: 0.5",)),
    ("negative extent", lambda: SoftmaxDescriptor(SOFTMAX, (2, -3), 0, K.F32), INVALID, ("(2, -3)", "negative extent")),
    ("axis of a scalar", lambda: SoftmaxDescriptor(SOFTMAX, (), 1, K.F32), INVALID, ("softmax_axis: 1", "-1 to 0")),
    ("rank 9", lambda: SoftmaxDescriptor(SOFTMAX, (1,) * 9, 0, K.F32), UNSUPPORTED, ("rank 9", "0 to 8")),
    ("kind", lambda: SoftmaxDescriptor("softmax", (2,), 0, K.F32), INVALID, ("kind: 'softmax'", "LOG_SOFTMAX")),
    ("element", lambda: SoftmaxDescriptor(SOFTMAX, (2,), 0, K.S32), UNSUPPORTED, ("element: s32", "f16, bf16, f32, f64")),
    ("element of another type", lambda: SoftmaxDescriptor(SOFTMAX, (2,), 0, "f32"), UNSUPPORTED, ("element: f32",)),
    ("shape of text", lambda: SoftmaxDescriptor(SOFTMAX, "23", 0, K.F32), INVALID, ("input_shape: '23'", "ints")),
    ("mask 0", lambda: RMSNormDescriptor((2, 3), 0, True, K.F32), INVALID, ("0b0", "suffix", "0b10", "0b11")),
    ("mask not a suffix", lambda: RMSNormDescriptor((2, 3), 0b01, True, K.F32), INVALID, ("0b1;", "suffix of 2 axes")),
    ("mask with a hole", lambda: RMSNormBackwardDescriptor((2, 3, 4), 0b101, True, K.F32), INVALID, ("0b101", "0b110")),
    ("mask beyond the rank", lambda: RMSNormDescriptor((2, 3), 0b110, True, K.F32), INVALID, ("0b110", "suffix")),
    ("mask of a scalar", lambda: RMSNormDescriptor((), 1, True, K.F32), INVALID, ("norm_axes_mask: 0b1", "0b0")),
    ("mask of another type", lambda: RMSNormDescriptor((2, 3), 2.0, True, K.F32), INVALID, ("norm_axes_mask: 2.0", "0b10")),
    ("gamma or not", lambda: RMSNormDescriptor((2, 3), 0b10, "yes", K.F32), INVALID, ("has_gamma: 'yes'", "True or False")),
    ("flat or not", lambda: RMSNormBackwardDescriptor((2,), 1, True, K.F32, flat_gamma=1), INVALID, ("flat_gamma: 1",)),
    ("rms element", lambda: RMSNormDescriptor((2,), 1, True, K.F32, rms_element=K.F16), UNSUPPORTED, ("rms_element: f16", "f32")),
    ("scale element", lambda: QuantizePerTokenDescriptor(1, 4, K.F16, K.S8, scale_element=K.BF16), UNSUPPORTED,
        ("scale_element: bf16", "f16, f32")),
    ("zero point or not", lambda: QuantizePerTokenDescriptor(1, 4, K.F32, K.S8, None), INVALID, ("has_zero_point: None",)),
    ("eps of True", lambda: RMSNormDescriptor((2,), 1, True, K.F32, True), INVALID, ("eps: True", "finite")),
    ("infinite eps", lambda: RMSNormDescriptor((2,), 1, True, K.F32, float("inf")), INVALID, ("eps: inf", "finite")),
    ("eps of text", lambda: RMSNormDescriptor((2,), 1, True, K.F32, "0"), INVALID, ("eps: '0'", "finite")),
    ("negative eps", lambda: RMSNormDescriptor((2,), 1, True, K.F32, -1e-6), INVALID, ("eps: -1e-06", "0 or above")),
    ("eps of NaN", lambda: RMSNormDescriptor((2,), 1, True, K.F32, float("nan")), INVALID, ("eps: nan", "finite")),
    ("norm of integers", lambda: RMSNormDescriptor((2,), 1, True, K.S8), UNSUPPORTED, ("element: s8",)),
    ("negative heads", lambda: AlibiDescriptor(1, -2, 3, 4, K.F32), INVALID, ("(1, -2, 3, 4)", "negative extent")),
    ("alibi of integers", lambda: AlibiDescriptor(1, 2, 3, 4, K.U8), UNSUPPORTED, ("element: u8",)),
    ("lerp of rank 9", lambda: BinaryParamDescriptor(LERP, (1,) * 9, K.F32, 0.5), UNSUPPORTED, ("rank 9", "0 to 8")),
    ("lerp kind", lambda: BinaryParamDescriptor("lerp", (1,), K.F32, 0.5), INVALID, ("kind: 'lerp'", "LERP")),
    ("lerp param", lambda: BinaryParamDescriptor(LERP, (1,), K.F32, "a"), INVALID, ("param: 'a'", "number")),
    ("lerp param of bool", lambda: BinaryParamDescriptor(LERP, (1,), K.F32, True), INVALID, ("param: True", "number")),
    ("lerp param beyond", lambda: BinaryParamDescriptor(LERP, (1,), K.F32, 10**400), INVALID, ("param: 1000", "number")),
    ("tokens", lambda: QuantizePerTokenDescriptor(-1, 4, K.F32, K.S8), INVALID, ("(-1, 4)", "negative extent")),
    ("codes", lambda: QuantizePerTokenDescriptor(1, 4, K.F32, K.S16), UNSUPPORTED, ("quantized: s16", "s8, u8")),
    ("values", lambda: DequantizePerTokenDescriptor(1, 4, K.S32, K.S8), UNSUPPORTED, ("element: s32", "f16")),
]  # fmt: skip


@pytest.mark.parametrize(("make", "error", "quotes"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_descriptors(make: Callable[[], Any], error: type[Exception], quotes: tuple[str, ...]) -> None:
    with pytest.raises(error) as caught:
        make()
    assert isinstance(caught.value, baracuda.Error)
    for quote in quotes:
        assert quote in str(caught.value), str(caught.value)


def test_descriptors_are_values() -> None:
    """Hashable, equal where their fields are, and lists become tuples."""
    a, b = SoftmaxDescriptor(SOFTMAX, (2, 3), 1, K.F32), SoftmaxDescriptor(SOFTMAX, [2, 3], 1, K.F32)
    assert a == b
    assert len({a, b, SoftmaxDescriptor(SOFTMAX, (2, 3), 0, K.F32)}) == 2
    with pytest.raises(AttributeError):
        a.softmax_axis = 0


@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_an_impossible_preference_lists_every_candidate(machine: Machine, tried: Subject) -> None:
    descriptor = case_of(tried).descriptor
    here, other = BackendKind.FORMULA_CPU, BackendKind.FORMULA_CUDA
    if machine.name == "cuda":
        here, other = other, here
    with pytest.raises(UnsupportedError) as caught:
        tried.plan.select(machine.stream, descriptor, PlanPreference(backend=other))
    text = str(caught.value)
    for quote in (tried.plan.op, f"{here}: the preference asks for {other}", f"{other}: the stream is on {machine.name}"):
        assert quote in text
    with pytest.raises(UnsupportedError, match=f"{BackendKind.CUDNN}"):
        tried.plan.select(machine.stream, descriptor, PlanPreference(backend=BackendKind.CUDNN))


def test_candidates(machine: Machine) -> None:
    """One is accepted and says what it promises and needs; the other says why not."""
    tried = subject("rms_norm_backward")
    case = case_of(tried)
    candidates = tried.plan.candidates(machine.stream, case.descriptor)
    accepted, rejected = sorted(candidates, key=lambda c: c.reason_refused or "")
    plan = tried.plan.select(machine.stream, case.descriptor)
    assert accepted.backend is (BackendKind.FORMULA_CPU if machine.name == "cpu" else BackendKind.FORMULA_CUDA)
    assert accepted.guarantee == plan.precision_guarantee()
    assert accepted.workspace == plan.workspace_size()
    assert accepted.reason_refused is None
    assert rejected.reason_refused == f"the stream is on {machine.stream.device}"
    assert plan.sku().backend is accepted.backend


def test_all_promises_can_be_required(machine: Machine) -> None:
    everything = ("deterministic", "batch_invariant", "bit_stable_on_same_hardware", "bit_stable_across_hardware")
    for tried in SUBJECTS:
        plan = tried.plan.select(machine.stream, case_of(tried).descriptor, PlanPreference(require=frozenset(everything)))
        assert not plan.precision_guarantee().missing(everything)


def test_the_largest_workspace(machine: Machine) -> None:
    tried, shapes = subject("rms_norm_backward"), ((3000, 40), (9000, 2000))
    descriptors = [tried.describe(shape, K.F32) for shape in shapes]
    needs = {d: tried.plan.select(machine.stream, d).workspace_size() for d in descriptors}
    for descriptor, needed in needs.items():
        tried.plan.select(machine.stream, descriptor, PlanPreference(max_workspace=needed))
        if needed:
            with pytest.raises(UnsupportedError) as caught:
                tried.plan.select(machine.stream, descriptor, PlanPreference(max_workspace=needed - 1))
            quote = f"it needs {needed} bytes of workspace, and max_workspace is {needed - 1}"
            assert quote in str(caught.value)
    assert any(needs.values())


def test_preferences_are_checked() -> None:
    with pytest.raises(InvalidProblemError, match="require: 'fast'"):
        PlanPreference(require=frozenset({"fast"}))
    with pytest.raises(InvalidProblemError, match="max_workspace: -1"):
        PlanPreference(max_workspace=-1)


def test_what_is_not_a_stream() -> None:
    with pytest.raises(InvalidProblemError, match="'fast' is not a stream"):
        subject("softmax").plan.select("fast", case_of(subject("softmax")).descriptor)
