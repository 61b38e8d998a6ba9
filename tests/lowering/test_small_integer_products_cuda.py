"""Products of 8-bit integers on CUDA: every kernel on tensor cores compiles for sm_80, sm_90 and sm_100; on a device each has the
bits of wrapping integers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.lowering.matmul.cuda.lower import lower, transposed, ways
from baracuda.lowering.matmul.cuda.tensor_cores.warpgroups import TILES, lower_warpgroups
from baracuda.lowering.matmul.cuda.tensor_cores.warps import lower_warps, warp_tiles
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from tests.lowering.product_cases import LAYOUTS, Product
from tests.lowering.product_harness import check_bits, run
from tests.lowering.shares import compiled_for
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))
S8, U8, S32 = K.S8, K.U8, K.S32

CASES = (
    *[Product(140, 72, 304, S8, S32, a=layout, b="columns") for layout in LAYOUTS],
    *[Product(72, 140, 304, S8, S32, b=layout) for layout in LAYOUTS],
    *[Product(m, 200, 320, S8, S32, b=b) for m in (1, 2, 8, 9, 16, 17, 32, 33, 64, 65) for b in ("columns", "rows")],
    *[Product(7, 72, k, S8, S32, b="columns") for k in (1, 15, 16, 63, 64, 65, 4096)],
    *[Product(72, 7, k, U8, S32, a="columns") for k in (1, 15, 16, 63, 64, 65, 4096)],
    *[Product(200, 150, k, S8, S32, b="columns") for k in (1, 16, 127, 128, 129, 144, 1040)],
    *[Product(m, 88, 144, a, S32, b="columns", kind_b=b) for m in (6, 150) for a in (S8, U8) for b in (S8, U8)],
    Product(6, 88, 144, S8, S32, kind_b=U8),
    Product(16, 72, 144, S8, S32, batch=(2, 3), b="columns", epilogue="bias"),
    Product(16, 72, 300, S8, S32, batch=(2, 3), epilogue="bias"),
    Product(12, 104, 640, U8, S32, batch=(5,), a="shared", b="columns", epilogue="bias of rows", y="columns"),
    Product(104, 12, 640, S8, S32, batch=(5,), b="shared", a="columns", epilogue="two results"),
    Product(65, 63, 160, S8, S32, batch=(2, 3), a="shared", b="columns", epilogue="bias of rows"),
    Product(65, 63, 130, U8, S32, batch=(2, 3), b="shared", epilogue="bias"),
    Product(64, 64, 256, S8, S32, batch=(150,), b="columns"),
    Product(40, 36, 21, S8, S32, epilogue="two results", y="padded"),
    Product(40, 36, 48, S8, S32, y="strided", b="columns", epilogue="bias"),
    Product(300, 260, 384, S8, S32, b="columns", stored=K.F32),
    Product(300, 260, 384, S8, S32, b="columns", y="columns"),
    Product(1100, 1000, 528, S8, S32, b="columns"),
    # sums that wrap
    Product(3, 20, 140000, U8, S32, b="columns"),
    Product(70, 66, 140000, U8, S32, b="columns"),
)  # fmt: skip


#: Those that every tile of warpgroups takes.
EVERY_TILE = (
    Product(140, 200, 304, S8, S32, b="columns"),
    Product(200, 600, 2100, U8, S32, epilogue="bias"),
    Product(129, 257, 144, S8, S32, batch=(3,), b="columns", y="columns", kind_b=U8),
)


def on_tensor_cores(product: Product, target: Target) -> list[Lowered]:
    """The kernels of a product on tensor cores."""
    return [lowered for lowered in ways(product.matmul_problem, target) if lowered.schedule.startswith(("s8.", "u8."))]


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "product"), list(enumerate(CASES)), ids=str)
def test_compiles(number: int, product: Product, full: bool) -> None:
    """A case's kernels compile, without --full a share of them."""
    for target in compiled_for(number, 8, TARGETS, full):
        found = list(ways(product.matmul_problem, target))
        assert found[0].schedule.startswith(("s8.", "u8.")) or found[0].schedule.endswith("thin")
        for lowered in found:
            for launch in lowered.launches:
                assert launch.shared <= target.shared_bytes
                assert len(cubin(launch.source, target.arch)) > 1000, lowered.schedule


@pytest.mark.cpu_only
def test_the_source_does_not_depend_on_extents() -> None:
    for target in TARGETS:
        for few in (4000, 5):
            pair = [Product(few, n, k, S8, S32, b="columns") for n, k in ((4096, 4096), (4080, 4080))]
            sources = [[[x.source for x in way.launches] for way in ways(p.matmul_problem, target)] for p in pair]
            assert sources[0][0] == sources[1][0]


@pytest.mark.cpu_only
def test_workspace() -> None:
    """Only the lines of factors that do not lie so are written, and none by kernels for any strides."""
    for target in TARGETS:
        for product, nbytes in (
            (Product(400, 512, 768, S8, S32, b="columns"), 0),
            (Product(400, 512, 768, S8, S32), 512 * 768),
            (Product(400, 512, 768, S8, S32, general=True), 0),
        ):
            assert next(ways(product.matmul_problem, target)).workspace_bytes == nbytes


@pytest.fixture
def target(machine: Machine) -> Target:
    """The GPU's; skips the test where there is none."""
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    return target_of(Device.cuda(0))


@pytest.mark.parametrize("product", CASES, ids=str)
def test_bits(target: Target, product: Product) -> None:
    check_bits(product, on_tensor_cores(product, target))


@pytest.mark.parametrize("product", EVERY_TILE, ids=str)
def test_every_tile(target: Target, product: Product) -> None:
    c = product.matmul_problem
    check_bits(product, [lower_warps(c, tile, exchanged=False) for tile in warp_tiles(c, target)])
    if target.arch == "sm_90":
        check_bits(product, [lower_warpgroups(c, tile, target, exchanged=False) for tile in TILES])
        check_bits(product, [lower_warpgroups(transposed(c), tile, target, exchanged=True) for tile in TILES])


@pytest.mark.parametrize("value", [-128, 127])
def test_extreme_values(target: Target, value: int) -> None:
    """Sums of 2**17 largest products, the first that do not fit, are those of the chain."""
    product = Product(70, 66, 1 << 17, S8, S32, b="columns")
    blocks = product.blocks()
    for block, placement in zip(blocks[:2], product.placements[:2], strict=True):
        placement.view(block)[...] = value
    (want,) = run(product, blocks, lower(product.matmul_problem, target))
    wrapped = ((value * value << 17) + (1 << 31)) % (1 << 32) - (1 << 31)
    assert (product.placements[-1].view(want) == wrapped).all()
    for lowered in on_tensor_cores(product, target):
        assert np.array_equal(run(product, blocks, lowered)[0], want), lowered.schedule


def test_rows_do_not_depend_on_their_number(target: Target) -> None:
    """A sum is that of its row and column alone, whatever kernel a number of rows takes."""
    whole = Product(300, 200, 400, S8, S32, b="columns")
    blocks = whole.blocks()
    want = whole.placements[-1].view(whole.expected(blocks)[0])
    for m in (300, 129, 65, 33, 32, 16, 8, 3, 1):
        product = replace(whole, m=m)
        own = [p.block(0xFF) for p in product.placements]
        product.placements[0].view(own[0])[...] = whole.placements[0].view(blocks[0])[:m]
        product.placements[1].view(own[1])[...] = whole.placements[1].view(blocks[1])
        for lowered in ways(product.matmul_problem, target):
            assert np.array_equal(product.placements[-1].view(run(product, own, lowered)[0]), want[:m]), lowered.schedule
