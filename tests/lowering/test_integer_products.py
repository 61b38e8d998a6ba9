"""Integer products held to the contract's order, bit by bit: by its reference, and by exact arithmetic in Python."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.core.sku import MathPrecision, PlanPreference
from baracuda.formula.integer_products import integer_product
from baracuda.lowering.matmul.cpu.lower import lower
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.runtime import jit, toolchain
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget, host
from tests.lowering.product_cases import Product
from tests.lowering.product_reference import run, same_bits, values
from tests.machine import Machine, threads

BITS = (23, 15)
KINDS = ((K.F32, K.F32), (K.BF16, K.BF16), (K.F16, K.BF16), (K.F8E4M3, K.F8E5M2), (K.F32, K.F16), (K.F8E5M2, K.F32))
#: m, n, k: part of a tile each way, few rows, few columns, one sum, several blocks of k and part of one, one step.
SHAPES = ((19, 70, 35), (3, 37, 140), (150, 1, 33), (1, 1, 70), (40, 100, 300), (33, 20, 1), (70, 150, 128))


def preference(bits: int) -> PlanPreference:
    return PlanPreference(math=MathPrecision[f"INT{bits}"])


def descriptor(a: np.ndarray, b: np.ndarray, **fields: Any) -> MatmulDescriptor:
    kinds = {"a_element": K.from_numpy(a.dtype), "b_element": K.from_numpy(b.dtype)}
    return MatmulDescriptor.matmul(a.shape, b.shape, K.F32, **kinds, **fields)


def products(machine: Machine, bits: int, a: np.ndarray, b: np.ndarray, layout: str = "contiguous", **how: Any) -> np.ndarray:
    y: np.ndarray = run(machine, descriptor(a, b), {"a": a, "b": b}, layout, preference=preference(bits), **how)["y"]
    return y


def reference(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    with np.errstate(all="ignore"):
        return integer_product(a, b, bits)


# --- kinds, layouts, shapes -------------------------------------------------------------------------------------------


@pytest.mark.one_of(2)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("kinds", KINDS, ids=lambda kinds: f"{kinds[0]}-{kinds[1]}")
def test_kinds_and_shapes(machine: Machine, kinds: tuple[K, K], bits: int) -> None:
    rng = np.random.default_rng(7)
    for m, n, k in SHAPES:
        a, b = values(rng, (m, k), kinds[0]), values(rng, (k, n), kinds[1])
        expected = reference(a, b, bits)
        assert same_bits(products(machine, bits, a, b), expected), (m, n, k)
        at, bt = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
        d = descriptor(at, bt, a_transposed=True, b_transposed=True)
        y = run(machine, d, {"a": at, "b": bt}, preference=preference(bits))["y"]
        assert same_bits(y, expected), (m, n, k)


@pytest.mark.one_of(5)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("layout", ["transposed", "mixed", "sliced", "negative", "padded", "misaligned"])
@pytest.mark.parametrize("kind", [K.F32, K.BF16, K.F8E4M3], ids=str)
@pytest.mark.parametrize("bind", [True, False], ids=["bound", "run"])
def test_layouts(machine: Machine, layout: str, kind: K, bind: bool, bits: int) -> None:
    rng = np.random.default_rng(9)
    for batch, (m, n, k) in (((), (40, 53, 137)), ((), (3, 37, 130)), ((3, 2), (18, 20, 5))):
        a, b = values(rng, (*batch, m, k), kind), values(rng, (*batch, k, n), kind)
        assert same_bits(products(machine, bits, a, b, layout, bind=bind), reference(a, b, bits)), (batch, m, n, k)


@pytest.mark.parametrize("bits", BITS)
def test_broadcast(machine: Machine, bits: int) -> None:
    """Axes of stride 0 of a factor, and batches that share one."""
    rng = np.random.default_rng(10)
    for m in (40, 4):
        a, b = values(rng, (m, 140), K.F32), values(rng, (140, 50), K.F32)
        a[...], b[...] = a[:1], b[:, :1]
        assert same_bits(products(machine, bits, a, b, "broadcast"), reference(a, b, bits)), m
        for left, right in (((), (3,)), ((2, 1), (1, 3)), ((3,), ()), ((2, 3), (3,))):
            a, b = values(rng, (*left, m, 140), K.BF16), values(rng, (*right, 140, 50), K.BF16)
            assert same_bits(products(machine, bits, a, b), reference(a, b, bits)), (m, left, right)


@pytest.mark.parametrize("bits", BITS)
def test_long_sums(machine: Machine, bits: int) -> None:
    rng = np.random.default_rng(11)
    for m, n, k in ((50, 60, 2500), (2, 60, 2500)):
        a, b = values(rng, (m, k), K.F32), values(rng, (k, n), K.F32)
        assert same_bits(products(machine, bits, a, b), reference(a, b, bits))


@pytest.mark.parametrize("bits", BITS)
def test_nothing_to_sum_is_positive_zero(machine: Machine, bits: int) -> None:
    for m in (40, 3):
        a, b = np.empty((m, 0), np.float32), np.empty((0, 30), np.float32)
        assert same_bits(products(machine, bits, a, b), np.zeros((m, 30), np.float32))
        assert products(machine, bits, np.empty((m, 5), np.float32), np.empty((5, 0), np.float32)).shape == (m, 0)


@pytest.mark.one_of(16)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("m", [1, 2, 5, 8, 17, 31, 32, 33, 64, 129, 257])
@pytest.mark.parametrize("n", [1, 3, 16, 25, 49, 130, 300])
@pytest.mark.parametrize("k", [1, 2, 63, 64, 65, 127, 128, 129, 256, 700])
def test_sizes(machine: Machine, m: int, n: int, k: int, bits: int) -> None:
    rng = np.random.default_rng(m + 1000 * n + k)
    a, b = values(rng, (m, k), K.BF16), values(rng, (k, n), K.BF16)
    assert same_bits(products(machine, bits, a, b), reference(a, b, bits))


@pytest.mark.one_of(13)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("kind", [K.BF16, K.F16, K.F32, K.F8E4M3], ids=str)
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 300])
@pytest.mark.parametrize("k", [1, 127, 128, 129, 700])
def test_few_rows_with_a_factor_along_k(machine: Machine, m: int, n: int, k: int, kind: K, bits: int) -> None:
    rng = np.random.default_rng(m + 1000 * n + k)
    a, b = values(rng, (m, k), kind), values(rng, (n, k), kind)
    y = run(machine, descriptor(a, b, b_transposed=True), {"a": a, "b": b}, preference=preference(bits))["y"]
    assert same_bits(y, reference(a, np.swapaxes(b, 0, 1), bits))


@pytest.mark.parametrize("bits", BITS)
def test_a_row_does_not_know_its_neighbours(machine: Machine, bits: int) -> None:
    rng = np.random.default_rng(12)
    a, b = values(rng, (200, 300), K.F32), values(rng, (300, 75), K.F32)
    whole = products(machine, bits, a, b)
    for count in (1, 2, 5, 16, 17, 32, 33, 64, 150):
        assert same_bits(products(machine, bits, a[50 : 50 + count], b), whole[50 : 50 + count]), count
    assert same_bits(products(machine, bits, a, np.ascontiguousarray(b[:, 10:11])), whole[:, 10:11])
    assert same_bits(products(machine, bits, np.stack([a[:7], a[7:14]]), b), whole[:14].reshape(2, 7, 75))
    assert same_bits(products(machine, bits, a[:40], np.stack([b, b, b]))[2], whole[:40])


@pytest.mark.cpu_only
@pytest.mark.parametrize("bits", BITS)
def test_threads_change_no_bit(machine: Machine, bits: int) -> None:
    rng = np.random.default_rng(13)
    for m, n, k in ((200, 300, 200), (4, 3000, 200)):
        a, b = values(rng, (m, k), K.F32), values(rng, (k, n), K.F32)
        for count in (1, 2, 3, 7):
            with threads(count):
                assert same_bits(products(machine, bits, a, b), reference(a, b, bits)), count


def instruction_sets() -> Iterator[Any]:
    """This processor as it is, and without what makes each way possible that is not the last."""
    yield pytest.param(host(), id="host")
    if "x86_64" not in host().triple:
        return
    features = host().features
    for name, without in (("no-amx", ("+amx",)), ("no-vnni", ("+amx", "+avx512vnni", "+avxvnni"))):
        for feature in without:
            features = features.replace(feature, f"-{feature[1:]}")
        yield pytest.param(replace(host(), features=features), id=name)
    for vector_bits in (256, 128):
        yield pytest.param(CpuTarget(host().triple, "haswell", "", vector_bits), id=f"avx2-{vector_bits}")
    if "+avxvnni" in host().features.split(","):
        yield pytest.param(CpuTarget(host().triple, "haswell", "+avxvnni", 256), id="avx2-vnni")


@pytest.mark.cpu_only
@pytest.mark.one_of(2)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("target", list(instruction_sets()))
def test_every_instruction_set_has_the_same_bits(
    machine: Machine, target: CpuTarget, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(toolchain._toolchains, Device.cpu(), CpuToolchain(target))
    rng = np.random.default_rng(14)
    for m, n, k in ((70, 90, 300), (3, 90, 300), (40, 50, 60)):
        for kind in (K.F32, K.BF16):
            a, b = values(rng, (m, k), kind), values(rng, (n, k), kind)
            d = descriptor(a, b, b_transposed=True)
            y = run(machine, d, {"a": a, "b": b}, preference=preference(bits))["y"]
            assert same_bits(y, reference(a, np.swapaxes(b, 0, 1), bits)), (kind, m)
    for a, b in adversaries(40, 60):
        for rows in (40, 4):
            expected = reference(a[:rows], b, bits)
            assert same_bits(products(machine, bits, a[:rows], b), expected), rows
            along_k = np.ascontiguousarray(b.T)
            d = descriptor(a[:rows], along_k, b_transposed=True)
            assert same_bits(run(machine, d, {"a": a[:rows], "b": along_k}, preference=preference(bits))["y"], expected), rows


@pytest.mark.cpu_only
def test_matrix_registers_are_used_where_the_system_grants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_grants_matrix_registers", lambda: False)
    assert "+amx" not in host.__wrapped__().features
    monkeypatch.setattr(jit, "_grants_matrix_registers", lambda: True)
    assert ("+amx-int8" in host.__wrapped__().features) == jit.llvm.get_host_cpu_features().get("amx-int8", False)


@pytest.mark.parametrize("bits", BITS)
def test_code_for_arm(bits: int) -> None:
    target = CpuTarget("aarch64-unknown-linux-gnu", "generic", "+neon", 128)
    for m in (3, 300):
        problem = replace(Product(m, 300, 200).matmul_problem, math=MathPrecision[f"INT{bits}"])
        *_, last = lower(problem, target).launches
        assert re.search(r"fmla\tv\d+\.2d", jit.assembly(last.source, target))


# --- adversarial values -----------------------------------------------------------------------------------------------


def wide(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Exponents over all of f32's range, subnormal ones included."""
    bits = rng.integers(0, 0x7F800000, shape, dtype=np.uint32) | rng.integers(0, 2, shape, dtype=np.uint32) << np.uint32(31)
    return bits.view(np.float32)


def adversaries(m: int, n: int, k: int = 300) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Factors whose blocks are hard."""
    rng = np.random.default_rng(15)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    yield wide(rng, (m, k)), wide(rng, (k, n))
    yield normal(m, k) * np.float32(1e-42), normal(k, n)  # subnormal
    yield normal(m, k) * np.float32(1e-40), normal(k, n) * np.float32(1e-38)  # sums that underflow
    yield normal(m, k) * np.float32(5e37), normal(k, n) * np.float32(1e37)  # sums that overflow
    yield normal(m, k) * np.float32(1e30), normal(k, n) * np.float32(1e-30)
    yield np.exp2(rng.integers(-149, 128, (m, 1))).astype(np.float32) * np.sign(normal(m, k)), wide(rng, (k, n))
    a, b = normal(m, k), normal(k, n)  # outliers
    a[:, 5] *= 3000
    b[7] *= 3000
    yield a, b
    a, b = normal(m, k), normal(k, n)  # blocks of zeros of both signs, largest elements on either side of 127/128
    a[:, :128], b[128:256] = 0.0, -0.0
    a[:3] *= np.float32(0.1)
    a[0, 270], a[1, 270], a[2, 270] = 127 / 128, np.nextafter(np.float32(127 / 128), np.float32(1)), 1.0
    yield a, b
    a, b = np.full((m, k), 127 / 128, np.float32), np.full((k, n), -127 / 64, np.float32)  # the largest integers of all
    b[:, ::2] *= -1
    yield a, b
    quiet, infinity = np.float32(np.nan), np.float32(np.inf)
    a, b = normal(m, k), normal(k, n)
    a[1, 3], a[2, 280] = quiet, infinity
    b[130, 5], b[131, 6], b[280, 7] = quiet, -infinity, 0.0
    a[3, 1], a[3, 279] = infinity, -infinity
    yield a, b
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -3e38, 1.0])
    yield rng.choice(special, (m, k), p=[0.2, 0.2, 1e-3, 1e-3, 1e-3, 0.1, 0.1, 0.1, 0.1, 0.197]), rng.choice(special, (k, n))
    a, b = normal(m, k) * np.float32(5e37), normal(k, n) * np.float32(5e37)  # inf - inf of sums, not of elements
    b[128:] *= np.sign(b[128:]) * np.sign(a[0, 128:])[:, None]
    b[:128] *= -np.sign(b[:128]) * np.sign(a[0, :128])[:, None]
    yield a, b


@pytest.mark.parametrize("bits", BITS)
def test_adversaries(machine: Machine, bits: int) -> None:
    for number, (a, b) in enumerate(adversaries(40, 70)):
        expected = reference(a, b, bits)
        along_k = np.ascontiguousarray(b.T)
        for rows in (40, 3, 1):
            assert same_bits(products(machine, bits, a[:rows], b), expected[:rows]), (number, rows)
            d = descriptor(a[:rows], along_k, b_transposed=True)
            y = run(machine, d, {"a": a[:rows], "b": along_k}, preference=preference(bits))["y"]
            assert same_bits(y, expected[:rows]), (number, rows)
        y = products(machine, bits, np.ascontiguousarray(b.T), np.ascontiguousarray(a.T))
        assert same_bits(y, expected.T), number


def test_adversaries_are_what_they_say() -> None:
    sums = [reference(a, b, 23) for a, b in adversaries(40, 70)]
    assert np.isinf(sums[3]).any()
    assert np.isnan(sums[9][1]).all()
    assert np.isinf(sums[9][2]).any()
    assert np.isnan(sums[9][2, 7])
    assert np.isnan(sums[-1][0]).any()


# --- exact arithmetic -------------------------------------------------------------------------------------------------


def nearest(x: Fraction) -> float:
    """The f32 nearest to a rational number, ties to even, subnormals kept."""
    if x == 0:
        return 0.0
    exponent = max(abs(x).numerator.bit_length() - abs(x).denominator.bit_length(), -126)
    exponent += abs(x) >= Fraction(2) ** (exponent + 1)
    exponent = max(exponent - (exponent > -126 and abs(x) < Fraction(2) ** exponent), -126)
    unit = Fraction(2) ** (exponent - 23)
    rounded = round(abs(x) / unit) * unit  # Python rounds ties of fractions to even
    return math.copysign(math.inf if rounded >= Fraction(2) ** 128 else float(rounded), x)


def block_integers(row: list[float], bits: int) -> tuple[list[int], Fraction]:
    largest = max((abs(Fraction(x)) for x in row if math.isfinite(x)), default=Fraction(0))
    exponent = bits - 149
    while largest > Fraction(127, 128) * Fraction(2) ** exponent:
        exponent += 1
    scale = Fraction(2) ** (exponent - bits)
    return [round(Fraction(x) / scale) if math.isfinite(x) else 0 for x in row], scale


def exact_product(row: list[float], column: list[float], bits: int) -> float:
    """One sum, in integers and fractions."""
    odd = [(x, y) for x, y in zip(row, column, strict=True) if not (math.isfinite(x) and math.isfinite(y))]
    if odd:
        terms = {x * y for x, y in odd}
        return sum(terms) if not any(map(math.isnan, terms)) else math.nan
    s = 0.0
    for start in range(0, len(row), 128):
        q, of_row = block_integers(row[start : start + 128], bits)
        r, of_column = block_integers(column[start : start + 128], bits)
        total = Fraction(nearest(Fraction(sum(x * y for x, y in zip(q, r, strict=True)))))
        if abs(total) * min(of_row, of_column) >= 2**128:
            s += math.copysign(math.inf, total)
        elif math.isfinite(s):
            s = nearest(total * of_row * of_column + Fraction(s))
    return s


@pytest.mark.parametrize("bits", BITS)
def test_exact_arithmetic(machine: Machine, bits: int) -> None:
    """Against a computation that shares nothing with the reference, whose own sums are held to it too."""
    rng = np.random.default_rng(16)
    cases = [*adversaries(4, 8, 290), (values(rng, (3, 140), K.BF16).astype(np.float32), values(rng, (140, 4), K.F32))]
    for number, (a, b) in enumerate(cases):
        expected = [[exact_product(row, column, bits) for column in b.T.tolist()] for row in a.tolist()]
        assert same_bits(reference(a, b, bits), np.float32(expected)), number
        assert same_bits(products(machine, bits, a, b), np.float32(expected)), number


# --- epilogues and plans ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("shape", [(40, 75, 140), (3, 75, 140), (40, 2, 33)])
def test_epilogues(machine: Machine, shape: tuple[int, int, int], bits: int) -> None:
    m, n, k = shape
    rng = np.random.default_rng(17)
    a, b, c, bias = (values(rng, s, K.F32) for s in ((m, k), (k, n), (m, n), (n,)))
    d = descriptor(a, b, c_shape=(m, n), alpha=0.3, beta=-1.7, bias_axis=-1, activation="relu", saves=True)
    tensors, layouts = {"a": a, "b": b, "c": c, "bias": bias}, {"z_saved": "transposed", "c": "sliced"}
    results = run(machine, d, tensors, layouts, preference=preference(bits))
    z = reference(a, b, bits) * np.float32(0.3) + c * np.float32(-1.7) + bias
    assert same_bits(results["z_saved"], z)
    assert same_bits(results["y"], np.where(z > 0, z, np.float32(0)))
    d = descriptor(a, b, activation="gelu", gradient=True)
    dz = run(machine, d, {"a": a, "b": b, "z": z}, preference=preference(bits))["y"]
    assert np.allclose(dz, baracuda.gelu_backward(reference(a, b, bits), z), rtol=1e-6, atol=1e-6)
    y = run(machine, replace(descriptor(a, b), element=K.BF16), {"a": a, "b": b}, preference=preference(bits))["y"]
    assert same_bits(y, reference(a, b, bits).astype(K.BF16.numpy))
    row_bias = values(rng, (m,), K.F32)
    y = run(machine, descriptor(a, b, bias_axis=-2), {"a": a, "b": b, "bias": row_bias}, preference=preference(bits))["y"]
    assert same_bits(y, reference(a, b, bits) + row_bias[:, None])


def test_scales_of_quantized_factors(machine: Machine) -> None:
    rng = np.random.default_rng(18)
    a, b = values(rng, (40, 140), K.F8E4M3), values(rng, (140, 50), K.F8E5M2)
    sa, sb = rng.random((40, 1), np.float32), rng.random((1, 50), np.float32)
    fields = {"a_element": K.F8E4M3, "b_element": K.F8E5M2, "a_scale": sa.shape, "b_scale": sb.shape}
    d = MatmulDescriptor.matmul(a.shape, b.shape, K.F32, **fields)
    y = run(machine, d, {"a": a, "b": b, "a_scale": sa, "b_scale": sb}, preference=preference(15))["y"]
    assert same_bits(y, reference(a, b, 15) * sa * sb)


def test_selection(machine: Machine) -> None:
    d = MatmulDescriptor.matmul((40, 50), (50, 60), K.F32)
    assert MatmulPlan.select(machine.stream, d).precision_guarantee().math is MathPrecision.F32
    for bits in BITS:
        promise = MatmulPlan.select(machine.stream, d, preference(bits)).precision_guarantee()
        assert promise.math is preference(bits).math
        assert promise.batch_invariant
        assert promise.bit_stable_across_hardware
    for kind in (K.F64, K.C64, K.S8):
        with pytest.raises(UnsupportedError, match="int23"):
            MatmulPlan.select(machine.stream, MatmulDescriptor.matmul((40, 50), (50, 60), kind), preference(23))
