"""Matrix products held to the contract's chains, bit by bit: kinds, shapes, layouts, epilogues, batches and threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import baracuda
from baracuda.core.device import Device
from baracuda.core.elements import Category
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.sku import BackendKind, PlanPreference
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.runtime import toolchain
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget, host
from tests.lowering.product_reference import product, run, same_bits, values
from tests.machine import Machine, threads

KINDS = (K.F32, K.F64, K.F16, K.BF16, K.F8E4M3, K.F8E5M2, K.C64, K.C128, K.S8, K.U8, K.S16, K.S32, K.U32, K.S64)
#: m, n, k: one tile and part of another each way, few rows, few columns, long sums, one step.
SHAPES = ((19, 70, 35), (3, 37, 40), (50, 1, 33), (1, 1, 70), (40, 100, 150), (33, 20, 1))


def descriptor(a: np.ndarray, b: np.ndarray, **fields: Any) -> MatmulDescriptor:
    kind = K.from_numpy(a.dtype)
    return MatmulDescriptor.matmul(a.shape, b.shape, kind.compute, a_element=kind, b_element=kind, **fields)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_chains(machine: Machine, kind: K) -> None:
    rng = np.random.default_rng(7)
    for m, n, k in SHAPES:
        a, b = values(rng, (m, k), kind), values(rng, (k, n), kind)
        assert same_bits(run(machine, descriptor(a, b), {"a": a, "b": b})["y"], product(a, b)), (m, n, k)
        b = np.ascontiguousarray(b.T)
        assert same_bits(run(machine, descriptor(a, b, b_transposed=True), {"a": a, "b": b})["y"], product(a, b.T)), (m, n, k)
        a = np.ascontiguousarray(a.T)
        fields = {"a_transposed": True, "b_transposed": True}
        assert same_bits(run(machine, descriptor(a, b, **fields), {"a": a, "b": b})["y"], product(a.T, b.T)), (m, n, k)


@pytest.mark.parametrize("kind", [K.F16, K.BF16, K.F8E4M3, K.F8E5M2, K.S8, K.U16], ids=str)
def test_results_are_rounded_once(machine: Machine, kind: K) -> None:
    rng = np.random.default_rng(8)
    for m, n, k in ((20, 50, 40), (3, 50, 40)):
        a, b = values(rng, (m, k), kind), values(rng, (k, n), kind)
        y = run(machine, descriptor(a, b) if kind.is_integer else replace(descriptor(a, b), element=kind), {"a": a, "b": b})["y"]
        with np.errstate(all="ignore"):
            assert same_bits(y, product(a, b).astype(y.dtype))


@pytest.mark.one_of(2)
@pytest.mark.parametrize("layout", ["transposed", "mixed", "sliced", "negative", "broadcast", "padded", "misaligned"])
@pytest.mark.parametrize("kind", [K.F32, K.BF16, K.C64], ids=str)
@pytest.mark.parametrize("bind", [True, False], ids=["bound", "run"])
def test_layouts(machine: Machine, layout: str, kind: K, bind: bool) -> None:
    rng = np.random.default_rng(9)
    for batch, (m, n, k) in (((), (20, 53, 37)), ((), (3, 37, 20)), ((3, 2), (18, 20, 5))):
        a, b = values(rng, (*batch, m, k), kind), values(rng, (*batch, k, n), kind)
        if layout == "broadcast":  # one axis of each repeats one element
            a, b = a.copy(), b.copy()
            a[...] = a.take([0], axis=0)
            b[...] = b.take([0], axis=1)
        assert same_bits(run(machine, descriptor(a, b), {"a": a, "b": b}, layout, bind=bind)["y"], product(a, b)), (
            batch,
            m,
            n,
            k,
        )


def test_long_sums(machine: Machine) -> None:
    rng = np.random.default_rng(10)
    for m, n, k in ((30, 60, 2500), (2, 60, 2500)):
        a, b = values(rng, (m, k), K.F32), values(rng, (k, n), K.F32)
        assert same_bits(run(machine, descriptor(a, b), {"a": a, "b": b})["y"], product(a, b))


def test_nothing_to_sum_is_positive_zero(machine: Machine) -> None:
    for kind in (K.F32, K.C64, K.S32):
        for m, n in ((20, 30), (3, 30)):
            a, b = np.empty((m, 0), kind.numpy), np.empty((0, n), kind.numpy)
            assert same_bits(run(machine, descriptor(a, b), {"a": a, "b": b})["y"], np.zeros((m, n), kind.numpy))


@pytest.mark.parametrize("shape", [(0, 5, 3), (4, 0, 3), (0, 0, 0)])
def test_empty_results(machine: Machine, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = np.empty((m, k), np.float32), np.empty((k, n), np.float32)
    assert run(machine, descriptor(a, b), {"a": a, "b": b})["y"].shape == (m, n)


def test_a_row_does_not_know_its_batch(machine: Machine) -> None:
    """Few rows, many rows and many batches take different schedules, and the same bits."""
    rng = np.random.default_rng(11)
    a, b = values(rng, (130, 90), K.F32), values(rng, (90, 75), K.F32)
    whole = run(machine, descriptor(a, b), {"a": a, "b": b})["y"]
    for count in (1, 2, 5, 16, 17, 64):
        part = a[50 : 50 + count]
        assert same_bits(run(machine, descriptor(part, b), {"a": part, "b": b})["y"], whole[50 : 50 + count]), count
    column = np.ascontiguousarray(b[:, 10:11])
    assert same_bits(run(machine, descriptor(a, column), {"a": a, "b": column})["y"], whole[:, 10:11])
    stacked = np.stack([a[:7], a[7:14]])
    assert same_bits(run(machine, descriptor(stacked, b), {"a": stacked, "b": b})["y"], whole[:14].reshape(2, 7, 75))
    batch = np.stack([b, b, b])
    assert same_bits(run(machine, descriptor(a[:40], batch), {"a": a[:40], "b": batch})["y"][2], whole[:40])


@pytest.mark.cpu_only
def test_threads_change_no_bit(machine: Machine) -> None:
    rng = np.random.default_rng(12)
    for m, n, k in ((200, 300, 120), (4, 3000, 120)):
        a, b = values(rng, (m, k), K.F32), values(rng, (k, n), K.F32)
        products = []
        for count in (1, 2, 3, 7):
            with threads(count):
                products.append(run(machine, descriptor(a, b), {"a": a, "b": b})["y"])
        assert all(same_bits(f, products[0]) for f in products)


@pytest.mark.cpu_only
@pytest.mark.parametrize("bits", [128, 256])
def test_narrower_vectors_have_the_same_bits(machine: Machine, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles follow from the width of vectors and the number of registers; the chains do not."""
    if "x86_64" not in host().triple:
        pytest.skip("x86-64 only")
    narrow = CpuToolchain(CpuTarget(host().triple, "haswell", "", bits))
    monkeypatch.setitem(toolchain._toolchains, Device.cpu(), narrow)
    rng = np.random.default_rng(19)
    for kind in (K.F32, K.BF16, K.C64, K.S8):
        for m, n, k in ((19, 70, 35), (3, 37, 40)):
            a, b = values(rng, (m, k), kind), values(rng, (n, k), kind)
            y = run(machine, descriptor(a, b, b_transposed=True), {"a": a, "b": b})["y"]
            assert same_bits(y, product(a, b.T)), (kind, m)


def test_special_values(machine: Machine) -> None:
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -3e38, 1.0])
    rng = np.random.default_rng(13)
    for m, n, k in ((20, 50, 9), (2, 50, 9)):
        a, b = rng.choice(special, (m, k)), rng.choice(special, (k, n))
        assert same_bits(run(machine, descriptor(a, b), {"a": a, "b": b})["y"], product(a, b))


@settings(max_examples=25)
@given(
    batch=st.lists(st.integers(1, 3), max_size=2),
    m=st.integers(1, 40),
    n=st.integers(1, 120),
    k=st.integers(0, 60),
    kind=st.sampled_from([K.F32, K.BF16, K.F64]),
    broadcast=st.sampled_from(["", "a", "b", "ones"]),
)
def test_shapes(machine: Machine, batch: list[int], m: int, n: int, k: int, kind: K, broadcast: str) -> None:
    rng = np.random.default_rng(m + 7 * n + 31 * k)
    lead = tuple(batch)
    left = () if broadcast == "a" else (1,) * len(lead) if broadcast == "ones" else lead
    right = () if broadcast == "b" else lead
    a, b = values(rng, (*left, m, k), kind), values(rng, (*right, k, n), kind)
    assert same_bits(run(machine, descriptor(a, b), {"a": a, "b": b})["y"], product(a, b))


# --- epilogues --------------------------------------------------------------------------------------------------------

ACTIVATION_OPS = {"gelu": {}, "gelu_tanh": {"approximate": "tanh"}, "relu": {}, "silu": {}}


@pytest.mark.one_of(2)
@pytest.mark.cpu_only
@pytest.mark.parametrize("activation", ["none", *ACTIVATION_OPS])
@pytest.mark.parametrize("shape", [(20, 75, 40), (3, 75, 40), (40, 2, 33)])
def test_epilogue_has_the_bits_of_the_ops_one_by_one(machine: Machine, activation: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    rng = np.random.default_rng(14)
    a, b, c, bias = (values(rng, s, K.F32) for s in ((m, k), (k, n), (m, n), (n,)))
    d = descriptor(a, b, c_shape=(m, n), alpha=0.3, beta=-1.7, bias_axis=-1, activation=activation, saves=True)
    results = run(machine, d, {"a": a, "b": b, "c": c, "bias": bias}, {"z_saved": "transposed", "c": "sliced"})
    z = product(a, b) * np.float32(0.3) + c * np.float32(-1.7) + bias
    assert same_bits(results["z_saved"], z)
    name = "gelu" if activation == "gelu_tanh" else activation
    expected = z if activation == "none" else getattr(baracuda, name)(z, **ACTIVATION_OPS[activation])
    assert same_bits(results["y"], expected)
    if activation != "none":
        back = descriptor(a, b, activation=activation, gradient=True)
        dz = run(machine, back, {"a": a, "b": b, "z": z})["y"]
        derivative = getattr(baracuda, f"{name}_backward")(product(a, b), z, **ACTIVATION_OPS[activation])
        assert same_bits(dz, derivative)


def test_bias_of_rows_and_broadcast_addends(machine: Machine) -> None:
    rng = np.random.default_rng(15)
    for m, n, k in ((20, 75, 40), (3, 75, 40)):
        a, b, bias = values(rng, (m, k), K.F32), values(rng, (k, n), K.F32), values(rng, (m,), K.F32)
        y = run(machine, descriptor(a, b, bias_axis=-2), {"a": a, "b": b, "bias": bias})["y"]
        assert same_bits(y, product(a, b) + bias[:, None])
        for shape in ((), (1,), (n,), (m, 1), (1, n)):
            c = values(rng, shape, K.F32)
            y = run(machine, descriptor(a, b, c_shape=shape), {"a": a, "b": b, "c": c})["y"]
            assert same_bits(y, product(a, b) + c), shape


def test_an_addend_without_weight_is_not_read(machine: Machine) -> None:
    a, b = np.ones((20, 4), np.float32), np.ones((4, 30), np.float32)
    c = np.full((20, 30), np.nan, np.float32)
    assert same_bits(run(machine, descriptor(a, b, c_shape=c.shape, beta=0.0), {"a": a, "b": b, "c": c})["y"], product(a, b))


def test_scales_of_quantized_factors(machine: Machine) -> None:
    rng = np.random.default_rng(16)
    for kind in (K.F8E4M3, K.F8E5M2, K.S8):
        a, b = values(rng, (20, 40), kind), values(rng, (40, 50), kind)
        sa, sb = rng.random((20, 1), np.float32), rng.random((1, 50), np.float32)
        for element in (K.F32, K.BF16):
            fields = {"a_element": kind, "b_element": kind, "a_scale": sa.shape, "b_scale": sb.shape}
            d = MatmulDescriptor.matmul(a.shape, b.shape, element, **fields)
            y = run(machine, d, {"a": a, "b": b, "a_scale": sa, "b_scale": sb})["y"]
            assert same_bits(y, (product(a, b).astype(np.float32) * sa * sb).astype(element.numpy))


def test_conjugates(machine: Machine) -> None:
    rng = np.random.default_rng(17)
    for kind in (K.C64, K.C128):
        a, b = values(rng, (20, 30), kind), values(rng, (30, 40), kind)
        both = run(machine, descriptor(a, b, conjugate_a=True, conjugate_b=True), {"a": a, "b": b})["y"]
        assert same_bits(both, product(a, b).conj())
        y = run(machine, descriptor(a, b, conjugate_a=True), {"a": a, "b": b})["y"]
        assert np.allclose(y, a.conj() @ b, rtol=1e-4 if kind is K.C64 else 1e-12)


def test_result_may_be_the_addend(machine: Machine) -> None:
    """y may be c itself: the epilogue reads each element before it writes it."""
    if machine.name != "cpu":
        pytest.skip("host arrays")
    rng = np.random.default_rng(18)
    a, b, c = (values(rng, s, K.F32) for s in ((30, 40), (40, 50), (30, 50)))
    expected = product(a, b) + c
    baracuda.addmm(c, a, b, out=c)
    assert same_bits(c, expected)


# --- plans ------------------------------------------------------------------------------------------------------------


def test_guarantee_and_candidates(machine: Machine) -> None:
    d = MatmulDescriptor.matmul((4, 5), (5, 6), K.BF16)
    plan = MatmulPlan.select(machine.stream, d)
    promise = plan.precision_guarantee()
    assert promise.batch_invariant
    assert promise.bit_stable_across_hardware
    assert promise.accumulator is K.F32
    own = BackendKind.FORMULA_CPU if machine.name == "cpu" else BackendKind.FORMULA_CUDA
    assert plan.sku().backend is own
    assert {c.backend for c in MatmulPlan.candidates(machine.stream, d)} >= {own, BackendKind.CUBLASLT, BackendKind.BLAS}
    with pytest.raises(UnsupportedError, match="cufft"):
        MatmulPlan.select(machine.stream, d, PlanPreference(backend=BackendKind.CUFFT))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MatmulDescriptor.matmul((2, 3), (4, 5), K.F32), r"\(2, 3\) and \(4, 5\) do not contract"),
        (lambda: MatmulDescriptor.matmul((2, 2, 3), (5, 3, 4), K.F32), "do not broadcast"),
        (lambda: MatmulDescriptor.matmul((3,), (3, 4), K.F32), "rank 1"),
        (lambda: MatmulDescriptor.matmul((2, 3), (3, 4), K.F32, b_element=K.F64), "one kind of number"),
        (lambda: MatmulDescriptor.matmul((2, 3), (3, 4), K.F32, activation="swish"), "'swish'; expected one of none, gelu"),
        (lambda: MatmulDescriptor.matmul((2, 3), (3, 4), K.F32, c_shape=(3,)), r"c: shape \(3,\)"),
        (lambda: MatmulDescriptor.matmul((2, 3), (3, 4), K.S32, alpha=0.5), "whole number"),
        (lambda: MatmulDescriptor.matmul((2, 3), (3, 4), K.F32, alpha=1j), "real number"),
        (lambda: MatmulDescriptor.matmul((2, 3), (3, 4), K.F32, bias_axis=0), "bias_axis"),
        (lambda: MatmulDescriptor.matmul((2, 3), (3, 4), K.F32, gradient=True), "activation to differentiate"),
        (lambda: MatmulDescriptor((2, 3), (3, 4), "mk", "kn", "m", K.F32, K.F32, K.F32), "y_axes"),
        (lambda: MatmulDescriptor((2, 3), (3, 4), "mm", "mn", "mn", K.F32, K.F32, K.F32), "different labels"),
    ],
)
def test_bad_problems(make: Any, message: str) -> None:
    with pytest.raises(InvalidProblemError, match=message):
        make()


def test_bool_has_no_product() -> None:
    with pytest.raises(UnsupportedError, match="bool"):
        MatmulDescriptor.matmul((2, 3), (3, 4), K.BOOL)


def test_result_in_a_factor_is_refused(machine: Machine) -> None:
    if machine.name != "cpu":
        pytest.skip("host arrays")
    a = np.ones((4, 4), np.float32)
    with pytest.raises(InvalidProblemError, match="overlaps"):
        baracuda.mm(a, a, out=a)


@pytest.mark.parametrize("kind", [k for k in K if k.category is not Category.BOOL and k.bits >= 8], ids=str)
def test_every_element_compiles(machine: Machine, kind: K) -> None:
    a, b = np.ones((2, 3), kind.numpy), np.ones((3, 4), kind.numpy)
    assert same_bits(run(machine, descriptor(a, b), {"a": a, "b": b})["y"], product(a, b))
