"""Many small products: the kernels of whole matrices have the bits of the chain in every layout, on the CPU and on CUDA, where
they compile for sm_80, sm_90 and sm_100; and bytes on a CPU's matrix registers those of wrapping integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.lowering.matmul.cpu.integers.bytes import takes_bytes
from baracuda.lowering.matmul.cpu.lower import lower as lower_on_cpu
from baracuda.lowering.matmul.cuda.lower import lower
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from baracuda.runtime.toolchain import toolchain_of
from tests.lowering.cpu_harness import address
from tests.lowering.product_cases import LAYOUTS, Array, Product
from tests.lowering.product_harness import check_bits
from tests.lowering.shares import compiled_for
from tests.machine import Machine

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))
F64, S32 = K.F64, K.S32

CASES = (
    *[Product(20, 28, 24, a=layout, b="columns", batch=(21,)) for layout in LAYOUTS],
    *[Product(9, 12, 11, b=layout, batch=(5, 4), epilogue="bias") for layout in LAYOUTS if layout != "shared"],
    Product(9, 12, 11, a="one row", b="one row", batch=(5, 4)),
    *[Product(n, n, n, kind, batch=(40,), stored=kind) for n in (1, 2, 4, 8, 16, 17, 31, 32) for kind in (K.BF16, K.F16)],
    *[Product(m, n, k, batch=(16,), epilogue="alpha, beta") for m, n, k in ((32, 1, 32), (1, 32, 5), (3, 18, 32), (24, 24, 24))],
    *[Product(32, n, 30, F64, F64, batch=(17,), y=y) for n in (7, 32) for y in ("rows", "columns", "strided")],
    Product(19, 32, 32, S32, S32, batch=(33,), y="padded"),
    Product(32, 20, 8, K.F8E4M3, batch=(33,), b="columns", epilogue="two results"),
    Product(32, 32, 32, batch=(300,), y="columns"),
    Product(4, 4, 4, batch=(700,)),
)
BYTES = (
    *[Product(140, 72, 200, K.S8, S32, a=layout, b="columns") for layout in LAYOUTS],
    *[Product(33, 47, 65, K.U8, S32, b=layout, kind_b=K.S8, batch=(3,)) for layout in LAYOUTS],
    *[Product(m, 272, 320, K.S8, S32, b="columns", kind_b=K.U8, epilogue="bias") for m in (1, 2, 16, 17, 32, 33)],
    *[Product(272, n, 320, K.U8, S32, y="columns", epilogue="two results") for n in (1, 31, 300)],
    Product(70, 66, 140000, K.U8, S32, b="columns"),
    Product(300, 260, 384, K.S8, S32, b="columns", stored=K.F32),
)


def _targets() -> Iterator[CpuTarget]:
    """Processors without matrix registers: with and without instructions that add to sums, and with narrower vectors."""
    features = [f for f in host().features.split(",") if "amx" not in f]
    yield replace(host(), features=",".join(features))
    yield replace(host(), features=",".join(f.replace("+avx512vnni", "-avx512vnni") for f in features))
    if "+avxvnni" in features:
        yield replace(host(), features=",".join(features), vector_bits=256)
    yield CpuTarget(host().triple, "haswell", "", 256)


def _check_on_cpu(product: Product, lowered: Lowered, target: CpuTarget | None = None) -> None:
    def aligned(block: Array) -> Array:
        memory = np.empty(block.nbytes + 64, np.uint8)
        start = -address(memory) % 64
        memory[start : start + block.nbytes] = block.view(np.uint8).reshape(-1)
        return memory[start : start + block.nbytes]

    blocks = product.blocks()
    wanted = product.expected(blocks)
    held = [aligned(block) for block in blocks]
    workspace = np.full(max(lowered.workspace_bytes, 1), 0xFF, np.uint8)
    toolchain = toolchain_of(Device.cpu()) if target is None else CpuToolchain(target)
    call = toolchain.load(lowered, len(held), product.parameters)  # type: ignore[arg-type]
    call.call([address(h) + p.offset for h, p in zip(held, product.placements, strict=True)], address(workspace), 0)
    for got, want in zip(held[-product.written :], wanted, strict=True):
        different = np.flatnonzero(got != want.view(np.uint8).reshape(-1))
        assert not different.size, f"{lowered.schedule}: {different.size} bytes, the first at {different[0]}"


@pytest.mark.cpu_only
@pytest.mark.parametrize("product", CASES, ids=str)
def test_bits_on_a_cpu(product: Product) -> None:
    lowered = lower_on_cpu(product.matmul_problem)
    assert lowered.schedule == "small"
    _check_on_cpu(product, lowered)


@pytest.mark.cpu_only
@pytest.mark.parametrize("product", BYTES, ids=str)
def test_bytes_on_a_cpu(product: Product) -> None:
    if not takes_bytes(product.matmul_problem, host()):
        pytest.skip("no matrix registers")
    _check_on_cpu(product, lower_on_cpu(product.matmul_problem))


@pytest.mark.cpu_only
@pytest.mark.parametrize("target", list(_targets()), ids=lambda t: f"{t.cpu}-{t.vector_bits}-{'vnni' in t.features}")
def test_pairs_on_a_cpu(target: CpuTarget, full: bool) -> None:
    if not target.triple.startswith("x86_64"):
        pytest.skip("instructions of another processor")
    for product in BYTES if full else BYTES[:6:2] + BYTES[9:16:3] + BYTES[-5:-2]:
        lowered = lower_on_cpu(product.matmul_problem, target)
        few = min(product.m, product.n) < 17
        assert lowered.schedule == ("strips" if few else "pairs")
        _check_on_cpu(product, lowered, target)


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "product"), list(enumerate(CASES)), ids=str)
def test_compiles(number: int, product: Product, full: bool) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    for target in compiled_for(number, 12, TARGETS, full):
        lowered = lower(product.matmul_problem, target)
        (launch,) = lowered.launches
        assert lowered.schedule.startswith("batches")
        assert launch.shared <= target.shared_bytes
        assert len(cubin(launch.source, target.arch)) > 1000


@pytest.mark.parametrize("product", CASES, ids=str)
def test_bits_on_cuda(machine: Machine, product: Product) -> None:
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    lowered = lower(product.matmul_problem, target_of(Device.cuda(0)))
    assert lowered.schedule.startswith("batches")
    check_bits(product, [lowered])
