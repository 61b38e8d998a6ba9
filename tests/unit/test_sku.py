"""Guarantees, preferences and kernel identities."""

from __future__ import annotations

import itertools
import platform

import pytest

from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import (
    PROMISES,
    ArchSku,
    BackendKind,
    Candidate,
    KernelSku,
    MathPrecision,
    OpCategory,
    PlanPreference,
    PrecisionGuarantee,
)

CANONICAL = PrecisionGuarantee.canonical(MathPrecision.F32, ElementKind.F32)
VENDOR = PrecisionGuarantee(MathPrecision.TF32, ElementKind.F32, True, False, False, False)


def sku(**changes: object) -> KernelSku:
    fields: dict[str, object] = {
        "category": OpCategory.SOFTMAX,
        "op": "softmax_backward",
        "element": ElementKind.BF16,
        "layout": "contiguous",
        "arch": ArchSku.cuda(9, 0),
        "backend": BackendKind.FORMULA_CUDA,
        "guarantee": CANONICAL,
    }
    return KernelSku(**(fields | changes))  # type: ignore[arg-type]


def test_sku_string_is_stable() -> None:
    assert str(sku()) == "softmax.softmax_backward:bf16:contiguous:none:sm_90:formula-cuda:f32+f32/dbsx:v3"
    assert str(sku(aux_element=ElementKind.S32, epilogue="bias", guarantee=VENDOR)) == (
        "softmax.softmax_backward:bf16+s32:contiguous:bias:sm_90:formula-cuda:tf32+f32/d:v3"
    )


def test_every_field_is_part_of_the_identity() -> None:
    changes: list[dict[str, object]] = [
        {},
        {"category": OpCategory.LOSS},
        {"op": "softmax"},
        {"element": ElementKind.F16},
        {"layout": "strided"},
        {"arch": ArchSku.cuda(10, 0)},
        {"backend": BackendKind.CUDNN},
        {"guarantee": VENDOR},
        {"aux_element": ElementKind.F32},
        {"epilogue": "bias"},
        {"arithmetic_version": 4},
    ]
    skus = [sku(**c) for c in changes]
    assert len(set(skus)) == len({str(s) for s in skus}) == len(changes)
    assert sku() == sku()
    assert hash(sku()) == hash(sku())


def test_missing_promises() -> None:
    assert CANONICAL.missing(PROMISES) == ()
    assert VENDOR.missing(["deterministic"]) == ()
    assert VENDOR.missing(["deterministic", "batch_invariant"]) == ("batch_invariant",)


def test_promise_letters_tell_all_sixteen_apart() -> None:
    every = [PrecisionGuarantee(MathPrecision.F32, ElementKind.F32, *b) for b in itertools.product([True, False], repeat=4)]
    assert len({str(g) for g in every}) == 16


def test_preference_is_hashable_whatever_iterable_it_was_made_from() -> None:
    a = PlanPreference(require=["batch_invariant", "deterministic"])  # type: ignore[arg-type]
    b = PlanPreference(require=frozenset({"deterministic", "batch_invariant"}))
    assert a == b
    assert hash(a) == hash(b)
    assert PlanPreference(require="deterministic").require == {"deterministic"}  # type: ignore[arg-type]


def test_unknown_promise_is_refused() -> None:
    with pytest.raises(InvalidProblemError, match=r"'reproducible'; expected some of deterministic, batch_invariant"):
        PlanPreference(require=frozenset({"reproducible"}))
    with pytest.raises(InvalidProblemError, match="max_workspace: -1"):
        PlanPreference(max_workspace=-1)


@pytest.mark.parametrize(
    ("preference", "objection"),
    [
        (PlanPreference(), "it computes in TF32, and allow_tf32 is not set"),
        (PlanPreference(allow_tf32=True), None),
        (PlanPreference(backend=BackendKind.FORMULA_CUDA, allow_tf32=True), "the preference asks for formula-cuda"),
        (PlanPreference(require=frozenset({"batch_invariant"}), allow_tf32=True), "it is not batch_invariant"),
        (PlanPreference(max_workspace=511, allow_tf32=True), "it needs 512 bytes of workspace, and max_workspace is 511"),
        (PlanPreference(max_workspace=512, allow_tf32=True), None),
    ],
)
def test_objection(preference: PlanPreference, objection: str | None) -> None:
    assert preference.objection(BackendKind.CUBLASLT, VENDOR, 512) == objection


def test_candidate_says_why() -> None:
    assert str(Candidate(BackendKind.CUDNN, VENDOR, 0, "no f64")) == "cudnn (tf32+f32/d): no f64"
    assert str(Candidate(BackendKind.BLAS)) == "blas: accepted"


def test_architectures() -> None:
    assert str(ArchSku.cuda(9, 0)) == "sm_90"
    assert str(ArchSku.cuda(12, 0)) == "sm_120"
    host = ArchSku.host()
    assert host.kind is DeviceKind.CPU
    if platform.machine() == "x86_64":
        assert host.name.startswith("x86-64")


def test_host_level_agrees_with_the_kernel() -> None:
    try:
        with open("/proc/cpuinfo") as f:
            flags = set(next(line for line in f if line.startswith("flags")).split())
    except (OSError, StopIteration):
        pytest.skip("no /proc/cpuinfo with flags here")
    v4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags
    v3 = {"avx2", "fma", "f16c", "bmi1", "bmi2", "movbe"} <= flags
    expected = "x86-64-v4" if v4 else "x86-64-v3" if v3 else None
    if expected is not None:
        assert ArchSku.host().name == expected
