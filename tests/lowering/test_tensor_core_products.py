"""Products by tensor cores: every kernel compiles for sm_80, sm_90 and sm_100; on a device sums that are exact are NumPy's, and
every tile gives the same bits, for a product and for its transpose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.core.sku import MathPrecision
from baracuda.lowering.matmul.cuda.lower import lower, transposed, variants
from baracuda.lowering.matmul.cuda.tensor_cores.warpgroups import TILES, lower_warpgroups
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH, MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.runtime.device_memory import download, upload
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.toolchain import toolchain_of
from tests.lowering.product_cases import Array, Product
from tests.lowering.product_harness import run
from tests.lowering.shares import compiled_for
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))


@dataclass(frozen=True)
class ByTensorCores(Product):
    """A product of 16-bit floats by tensor cores."""

    kind: K = K.BF16

    @property
    def matmul_problem(self) -> MatmulProblem:
        return replace(super().matmul_problem, math=TENSOR_CORE_MATH[self.kind])

    def whole_blocks(self) -> list[Array]:
        """The bytes of each tensor, of small whole numbers: no sum of theirs is rounded, in whatever order it is taken."""
        blocks = self.blocks()
        rng = np.random.default_rng(self.m)
        for p, block in list(zip(self.placements, blocks, strict=True))[: -self.written]:
            p.view(block)[...] = rng.integers(-8, 9, p.shape).astype(np.float32).astype(p.kind.numpy)
        return blocks


CASES = (
    *[ByTensorCores(m, 200, 300, b=b) for m in (1, 7, 16, 17, 32, 33, 64, 65) for b in ("rows", "columns")],
    *[
        ByTensorCores(40, 72, 136, a=a, b=b)
        for a in ("rows", "columns", "strided", "backwards", "padded", "misaligned", "one row")
        for b in ("rows", "columns", "strided", "padded", "misaligned")
    ],
    ByTensorCores(40, 72, 136, general=True),
    ByTensorCores(3, 300, 1, b="columns"),
    ByTensorCores(3, 300, 0, epilogue="bias"),
    ByTensorCores(5, 8, 15, K.F16),
    ByTensorCores(1, 1, 1),
    ByTensorCores(300, 3, 72, b="columns"),
    ByTensorCores(300, 1, 64, K.F16, stored=K.F16),
    ByTensorCores(300, 280, 264, stored=K.BF16, epilogue="bias", b="columns"),
    ByTensorCores(300, 280, 264, K.F16, a="columns", y="columns"),
    ByTensorCores(16, 136, 270, K.F16, batch=(3,), epilogue="two results", b="columns"),
    ByTensorCores(20, 40, 72, batch=(2, 3), a="shared", epilogue="bias of rows"),
    ByTensorCores(20, 40, 72, batch=(2, 3), b="shared", epilogue="alpha, beta", y="padded"),
    ByTensorCores(33, 40, 20, batch=(2,), epilogue="causal"),
    ByTensorCores(64, 128, 2048, batch=(140,), b="columns", stored=K.BF16),
    ByTensorCores(130, 4100, 64, stored=K.BF16),
)  # fmt: skip


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "product"), list(enumerate(CASES)), ids=str)
def test_compiles(number: int, product: ByTensorCores, full: bool) -> None:
    """Every tile, without --full the first one of a share of the cases."""
    for target in compiled_for(number, 8, TARGETS, full):
        for lowered in variants(product.matmul_problem, target) if full else [lower(product.matmul_problem, target)]:
            (launch,) = lowered.launches
            assert launch.shared <= {"sm_80": 163, "sm_90": 227, "sm_100": 227}[target.arch] * 1024
            assert b"mma" in launch.source.encode()
            assert cubin(launch.source, target.arch)[:4] == b"\x7fELF", lowered.schedule


@pytest.mark.cpu_only
def test_every_tile_is_lowered_for_every_number_of_rows() -> None:
    """Four tiles of few rows, three of many; a product and its transpose take the same."""
    for m in (1, 16, 17, 64, 65, 5000):
        c = ByTensorCores(m, 8192, 512).matmul_problem
        both = [[lowered.schedule for lowered in variants(p, TARGETS[0])] for p in (c, transposed(c))]
        assert len(set(both[0])) == (4 if m <= 64 else 3)
        assert sorted(both[0]) == sorted(both[1]) or m > 64


@pytest.mark.cpu_only
def test_refused() -> None:
    c = ByTensorCores(24, 33, 19).matmul_problem
    with pytest.raises(UnsupportedError, match="a product of bf16 and bf16 in f16; expected two factors of f16"):
        lower(replace(c, math=MathPrecision.F16), TARGETS[0])
    mixed = replace(c, b=(replace(c.b[0], kind=K.F32),))
    with pytest.raises(UnsupportedError, match="a product of bf16 and f32 in bf16"):
        lower(mixed, TARGETS[0])


@pytest.fixture
def target(machine: Machine) -> Target:
    """The GPU's; skips the test where there is none."""
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    return target_of(Device.cuda(0))


def results(
    product: ByTensorCores, problem: MatmulProblem, blocks: list[Array], target: Target, *, turned: bool = False
) -> dict[str, list[Any]]:
    """The bytes that each tile leaves in the results; `turned` says that the problem is the product's transpose."""
    device, by_tile = Device.cuda(0), {}
    placements = product.placements
    order = [1, 0, *range(2, len(placements))] if turned else range(len(placements))
    for lowered in variants(problem, target):
        held = [upload(block, device) for block in blocks]
        call = toolchain_of(device).load(lowered, len(held), product.parameters)
        call.call([held[i].pointer + placements[i].offset for i in order], 0, 0)
        by_tile[lowered.schedule] = [download(block) for block in held[-product.written :]]
    return by_tile


@pytest.mark.parametrize("product", CASES, ids=str)
def test_exact_sums(target: Target, product: ByTensorCores) -> None:
    """Where nothing is rounded a product has one value; nothing beside it is written, nothing read that is not there (NaN)."""
    blocks = product.whole_blocks()
    wanted = product.expected(blocks)
    for tile, found in results(product, product.matmul_problem, blocks, target).items():
        for block, want in zip(found, wanted, strict=True):
            different = np.flatnonzero(block != want)
            assert not different.size, f"{tile}: {different.size} bytes, the first at {different[0]}"


@pytest.mark.parametrize("product", [c for c in CASES if c.k > 100], ids=str)
def test_tiles_do_not_differ(target: Target, product: ByTensorCores) -> None:
    """Of numbers that are rounded, the same bits under every tile, and near to the chain in f32."""
    blocks = product.blocks()
    found = results(product, product.matmul_problem, blocks, target)
    first = next(iter(found.values()))
    for tile, other in found.items():
        for x, y in zip(first, other, strict=True):
            assert np.array_equal(x, y), tile
    for p, block, want in zip(product.placements[-product.written :], first, product.expected(blocks), strict=True):
        got, chain = (p.view(b).astype(np.float64) for b in (block, want))
        assert np.abs(got - chain).max() <= (2e-2 if p.kind.itemsize == 2 else 1e-3) * np.abs(chain).max()


@pytest.mark.parametrize(
    "product",
    [
        ByTensorCores(140, 200, 304, b="columns"),
        ByTensorCores(200, 600, 1048, K.F16, b="columns", y="columns"),
        ByTensorCores(3, 130, 8192, batch=(2,), b="columns", epilogue="bias"),
    ],
    ids=str,
)
def test_warpgroups_do_not_differ(target: Target, product: ByTensorCores) -> None:
    """Every tile of warpgroups, by either order of the factors, has the bits of warps."""
    if target.arch != "sm_90":
        pytest.skip("no warpgroup instructions")
    c, blocks = product.matmul_problem, product.blocks()
    by_warps = next(lowered for lowered in variants(c, target) if "warpgroups" not in lowered.schedule)
    want = run(product, blocks, by_warps)
    for tile in TILES:
        for way, exchanged in ((c, False), (transposed(c), True)):
            lowered = lower_warpgroups(way, tile, target, exchanged=exchanged)
            assert lowered is not None
            for x, y in zip(run(product, blocks, lowered), want, strict=True):
                assert np.array_equal(x, y), (tile, exchanged)


def test_a_transpose_has_the_same_bits(target: Target) -> None:
    """The factors of an instruction may change places: 40 rows by 200 columns, and 200 rows by 40 columns."""
    product = ByTensorCores(40, 200, 500, b="columns")
    c, blocks = product.matmul_problem, product.blocks()
    both = (results(product, c, blocks, target), results(product, transposed(c), blocks, target, turned=True))
    assert len({x[0].tobytes() for found in both for x in found.values()}) == 1
