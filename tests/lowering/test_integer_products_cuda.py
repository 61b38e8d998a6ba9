"""Integer products on CUDA: every kernel compiles for sm_80, sm_90 and sm_100; on a device each has the bits of the contract."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.sku import MathPrecision
from baracuda.formula.integer_products import integer_product
from baracuda.lowering.matmul.cuda.lower import ways
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.runtime.nvrtc import cubin
from tests.lowering.product_cases import LAYOUTS, Product
from tests.lowering.product_harness import check_bits, run
from tests.lowering.shares import compiled_for
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))
INT23, INT15 = MathPrecision.INT23, MathPrecision.INT15

#: Thin products: each number of tiles of 8 rows, whole and not, by both layouts of the wide factor, whole blocks of k and not.
THIN = (
    *[Product(m, 200, 304, K.BF16, b=b, math=INT23) for m in (1, 2, 7, 8, 9, 16, 17, 33, 64) for b in ("columns", "rows")],
    *[Product(5, 72, k, K.BF16, b="columns", math=INT23) for k in (1, 127, 128, 136, 8192)],
    *[Product(72, 5, k, K.F16, a="columns", stored=K.F16, math=INT15) for k in (1, 127, 128, 136, 8192)],
    *[Product(9, 80, 264, K.F16, b=b, math=INT15) for b in ("columns", "rows", "backwards", "padded", "misaligned", "strided")],
    *[Product(80, 17, 264, a=a, epilogue="alpha, beta", math=INT23) for a in ("rows", "columns", "backwards", "one row")],
    Product(16, 72, 136, K.BF16, batch=(2, 3), b="columns", stored=K.BF16, epilogue="bias", math=INT23),
    Product(12, 104, 640, K.F16, batch=(5,), a="shared", epilogue="bias of rows", y="columns", math=INT23),
    Product(104, 12, 640, K.BF16, batch=(5,), b="shared", a="columns", epilogue="two results", math=INT15),
    Product(40, 72, 392, K.F8E4M3, b="columns", epilogue="causal", math=INT23),
    Product(3, 136, 200, K.F8E5M2, b="columns", general=True, math=INT15),
    Product(3, 8300, 600, K.BF16, b="columns", math=INT23),
    Product(24, 4096, 512, K.BF16, math=INT15),
)  # fmt: skip

CASES = (
    *THIN,
    *[Product(140, 72, 300, a=layout, math=INT23) for layout in LAYOUTS],
    *[Product(72, 140, 300, K.BF16, b=layout, math=INT23) for layout in LAYOUTS],
    *[Product(150, 70, 260, K.F16, b=layout, math=INT15) for layout in LAYOUTS],
    Product(64, 64, 128, K.BF16, math=INT23),
    Product(1, 1, 1, math=INT23),
    Product(1, 300, 129, K.BF16, b="columns", math=INT23),
    Product(300, 1, 127, K.BF16, stored=K.BF16, math=INT15),
    Product(3, 5, 0, epilogue="bias", math=INT23),
    Product(300, 260, 384, K.BF16, stored=K.BF16, b="columns", epilogue="bias", math=INT23),
    Product(65, 63, 130, batch=(2, 3), a="shared", epilogue="bias of rows", math=INT23),
    Product(65, 63, 130, K.F16, batch=(2, 3), b="shared", epilogue="alpha, beta", math=INT15),
    Product(64, 64, 200, batch=(150,), math=INT23),
    Product(33, 40, 20, batch=(2,), epilogue="causal", y="columns", math=INT23),
    Product(40, 36, 21, K.BF16, stored=K.BF16, epilogue="two results", y="padded", math=INT15),
    Product(40, 36, 21, y="strided", epilogue="alpha, beta", general=True, math=INT23),
    Product(140, 136, 200, K.F8E4M3, a="columns", math=INT23),
    Product(140, 136, 200, K.F8E5M2, b="columns", math=INT15),
    Product(1100, 1000, 500, K.BF16, stored=K.BF16, math=INT23),
)  # fmt: skip


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "product"), list(enumerate(CASES)), ids=str)
def test_compiles(number: int, product: Product, full: bool) -> None:
    """A case's kernels compile, without --full a share of them."""
    for target in compiled_for(number, 7, TARGETS, full):
        for lowered in ways(product.matmul_problem, target):
            for launch in lowered.launches:
                assert launch.shared <= target.shared_bytes
                assert len(cubin(launch.source, target.arch)) > 1000, lowered.schedule


@pytest.mark.cpu_only
def test_the_source_does_not_depend_on_extents() -> None:
    large = [Product(m, 512, 640, math=INT23) for m in (4000, 4100)]
    thin = [Product(5, 8192, k, K.BF16, b="columns", math=INT23) for k in (640, 1032)]
    for target in TARGETS:
        for pair in (large, thin):
            sources = [[tuple(x.source for x in way.launches) for way in ways(p.matmul_problem, target)] for p in pair]
            assert sources[0] == sources[1]


@pytest.fixture
def target(machine: Machine) -> Target:
    """The GPU's; skips the test where there is none."""
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    return target_of(Device.cuda(0))


@pytest.mark.parametrize("product", CASES, ids=str)
def test_bits(target: Target, product: Product) -> None:
    check_bits(product, ways(product.matmul_problem, target))


def unusual_values(rng: np.random.Generator, shape: tuple[int, int], name: str) -> np.ndarray:
    """f32 elements of which the name says something."""
    x = rng.standard_normal(shape).astype(np.float32)
    with np.errstate(over="ignore"):
        if name == "wide":
            x *= np.exp2(rng.integers(-140, 120, shape)).astype(np.float32)
        elif name == "rows":
            x *= np.exp2(rng.integers(-149, 127, (shape[0], 1))).astype(np.float32)
        elif name == "subnormal":
            x *= np.float32(2.0**-130)
        elif name == "large":
            x *= np.float32(2.0**124)
        elif name == "outliers":
            x[:, ::37] *= 3000
        elif name == "edge":  # at the significand where the exponent goes up
            x = np.where(x > 0, np.float32(127 / 64), np.float32(-1.984375 - 2.0**-22)).astype(np.float32)
        elif name == "zeros":
            x[:, : shape[1] // 2] = 0
            x[::3] = -0.0
        elif name in ("nan", "infinite"):
            at = rng.random(shape) < 0.002
            x[at] = np.nan if name == "nan" else np.where(rng.random(shape) < 0.5, np.inf, -np.inf)[at]
            x[rng.random(shape) < 0.1] = 0
    return x


@pytest.mark.parametrize("right", ["plain", "wide", "rows", "subnormal", "large", "infinite", "nan"])
@pytest.mark.parametrize("left", ["outliers", "wide", "rows", "subnormal", "large", "edge", "zeros", "nan", "infinite"])
def test_unusual_values(target: Target, left: str, right: str) -> None:
    rng = np.random.default_rng(5)
    for m, kind in ((130, K.F32), (12, K.F32), (12, K.BF16), (12, K.F16)):
        product = Product(m, 70, 304, kind, b="columns")
        with np.errstate(over="ignore"):
            a, b = (unusual_values(rng, (n, 304), name).astype(kind.numpy) for n, name in ((m, left), (70, right)))
        for math, bits in ((INT23, 23), (INT15, 15)):
            blocks = product.blocks()
            for block, placement, value in zip(blocks[:2], product.placements[:2], (a, b.T), strict=True):
                placement.view(block)[...] = value
            want = integer_product(a, b.T, bits)
            for lowered in ways(replace(product, math=math).matmul_problem, target):
                got = product.placements[-1].view(run(product, blocks, lowered)[0])
                same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
                assert same.all(), (lowered.schedule, m, kind, int((~same).sum()))


@pytest.mark.parametrize("math", [INT23, INT15], ids=str)
def test_rows_do_not_depend_on_their_number(target: Target, math: MathPrecision) -> None:
    whole = Product(700, 200, 400, K.BF16, b="columns", math=math)
    blocks = whole.blocks()
    rows = None
    for m in (700, 300, 129, 128, 65, 64, 33, 17, 16, 8, 3, 1):
        product = replace(whole, m=m)
        own = [p.block(0xFF) for p in product.placements]
        for source, to, p, q in zip(blocks, own, whole.placements, product.placements, strict=True):
            if p.shape[0] != 200:
                q.view(to)[...] = p.view(source)[: q.shape[0]]
            else:
                q.view(to)[...] = p.view(source)
        for lowered in ways(product.matmul_problem, target):
            got = product.placements[-1].view(run(product, own, lowered)[0])
            rows = got if rows is None else rows
            assert np.array_equal(got, rows[:m]), lowered.schedule
