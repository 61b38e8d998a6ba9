"""Matrix products on CUDA: every kernel compiles for sm_80, sm_90 and sm_100; on a device each has the bits of a NumPy chain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expand import expand
from baracuda.formula.functions import erf
from baracuda.lowering.matmul.cuda.lower import lower, variants
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from tests.lowering.product_cases import LAYOUTS, Product
from tests.lowering.product_harness import check_bits
from tests.lowering.shares import compiled_for
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))
#: How many tiles of a product are run.
TILES = 3

CASES = (
    *[Product(40, 36, 41, a=layout) for layout in LAYOUTS],
    *[Product(36, 40, 41, K.BF16, b=layout) for layout in LAYOUTS],
    *[Product(16, 96, 300, K.BF16, b=layout, batch=(2,)) for layout in ("rows", "columns", "strided", "misaligned")],
    *[Product(m, 100, 260, a="columns", b="columns") for m in (1, 2, 3, 8)],
    Product(4, 3200, 300, K.BF16, b="columns"),
    Product(16, 3200, 270),
    Product(11, 3200, 140, K.F16, a="columns", b="columns", epilogue="bias"),
    Product(300, 4, 200, b="columns", epilogue="two results"),
    Product(140, 100, 68, b="columns"),
    Product(140, 100, 72, K.BF16, stored=K.BF16, b="columns", epilogue="bias"),
    Product(300, 1, 64, K.F16, stored=K.F16),
    Product(1, 1, 1),
    Product(3, 5, 0, epilogue="bias"),
    Product(130, 70, 1, epilogue="bias"),
    Product(260, 132, 48),
    Product(260, 132, 40, a="columns", b="columns", y="columns"),
    Product(300, 280, 64, K.BF16, stored=K.BF16),
    Product(300, 280, 72, K.F16, a="columns", b="columns"),
    Product(65, 63, 130, batch=(2, 3), a="shared", epilogue="bias of rows"),
    Product(65, 63, 30, batch=(2, 3), b="shared", epilogue="alpha, beta"),
    Product(64, 64, 32, batch=(384,)),
    Product(33, 40, 20, batch=(2,), epilogue="causal"),
    Product(33, 40, 20, batch=(2,), epilogue="causal", y="columns"),
    Product(40, 36, 21, K.BF16, stored=K.BF16, epilogue="two results", y="padded"),
    Product(40, 36, 21, y="strided", epilogue="alpha, beta", general=True),
    Product(24, 33, 19, epilogue="complex"),
    Product(24, 33, 19, epilogue="complex", a="columns", y="columns", batch=(2,)),
    Product(12, 20, 30, K.F64, K.F64, epilogue="complex"),
    Product(70, 33, 50, K.F64, K.F64, b="columns"),
    Product(2, 33, 50, K.F64, K.F64),
    Product(40, 36, 33, K.S8, K.S32, b="columns"),
    Product(5, 64, 200, K.U8, K.S32, epilogue="bias"),
    Product(40, 36, 36, K.S8, K.S32, b="columns"),
    Product(5, 64, 200, K.U8, K.S32, b="columns"),
    Product(40, 36, 33, K.S32, K.S32, a="columns"),
    Product(40, 36, 33, K.S64, K.S64),
    Product(40, 36, 33, K.F8E4M3, a="columns"),
    Product(4, 64, 200, K.F8E5M2, b="columns"),
)

#: Products whose last tiles are partial in both directions: an element, its accumulator, what is stored, the epilogue.
PARTIAL = [
    Product(300, 392, 80, kind, accumulator, a=a, b=b, epilogue=epilogue, stored=stored)
    for kind, accumulator, stored, epilogue in (
        (K.F32, K.F32, None, "bias"), (K.BF16, K.F32, K.BF16, "bias"), (K.F16, K.F32, K.F16, "bias"),
        (K.S8, K.S32, None, "plain"), (K.F8E4M3, K.F32, None, "plain"),
    )
    for a in ("rows", "columns")
    for b in ("rows", "columns")
]  # fmt: skip


def found(product: Product, target: Target) -> list[Lowered]:
    """The kernels of a product that the test runs: the most promising ones, and those whose tiles have lines of k."""
    every = list(variants(product.matmul_problem, target))
    return every[:TILES] + [lowered for lowered in every[TILES:] if "lines" in lowered.schedule]


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "product"), list(enumerate(CASES)), ids=str)
def test_compiles(number: int, product: Product, full: bool) -> None:
    """A case's kernels compile, without --full a share of them."""
    for target in compiled_for(number, 7, TARGETS, full):
        for lowered in found(product, target) if full else [lower(product.matmul_problem, target)]:
            (launch,) = lowered.launches
            assert launch.shared <= {"sm_80": 163, "sm_90": 227, "sm_100": 227}[target.arch] * 1024
            assert len(cubin(launch.source, target.arch)) > 1000, lowered.schedule


@pytest.mark.cpu_only
def test_function_in_epilogue_compiles() -> None:
    c = Product(300, 300, 64, K.BF16, stored=K.BF16).matmul_problem
    ((port, value),) = c.epilogue.outputs
    gelu = value.args[0] if value.op == "cast" else value
    graph = expand(replace(c.epilogue, outputs=((port, gelu * 0.5 * (1.0 + erf(gelu * 0.7071067690849304))),)))
    assert cubin(lower(replace(c, epilogue=graph), TARGETS[0]).launches[0].source, "sm_90")


@pytest.mark.cpu_only
def test_the_source_does_not_depend_on_extents() -> None:
    """Extents and strides are read at run time: one kernel serves every shape of a kind."""
    sources = {lower(Product(m, 512, 64).matmul_problem, TARGETS[0]).launches[0].source for m in (4000, 4100)}
    assert len(sources) == 1


@pytest.mark.cpu_only
def test_refused() -> None:
    c = Product(24, 33, 19, epilogue="complex").matmul_problem
    with pytest.raises(UnsupportedError, match="both complex"):
        lower(replace(c, b=c.b[:1]), TARGETS[0])
    with pytest.raises(UnsupportedError, match="below 2147483648"):
        lower(replace(Product(4, 4, 4).matmul_problem, k=1 << 31), TARGETS[0])


@pytest.fixture
def target(machine: Machine) -> Target:
    """The GPU's; skips the test where there is none."""
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    return target_of(Device.cuda(0))


@pytest.mark.parametrize("product", CASES, ids=str)
def test_bits(target: Target, product: Product) -> None:
    check_bits(product, found(product, target))


@pytest.mark.parametrize("product", PARTIAL, ids=str)
def test_partial_tiles(target: Target, product: Product) -> None:
    """Under every tile, not the most promising ones alone."""
    kernels = list(variants(product.matmul_problem, target))
    assert len(kernels) > TILES
    check_bits(product, kernels)
