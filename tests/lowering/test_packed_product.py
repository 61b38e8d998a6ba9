"""Products with packed weights: kernels compile for each architecture and fit its shared memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from baracuda.core.elements import ElementKind as K
from baracuda.core.implementation import OperandLayout
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.packed_product.cuda.lower import ways
from baracuda.lowering.packed_product.cuda.thin_tile import thin_tile
from baracuda.lowering.packed_product.problem import NF4_INTEGERS, NF4_LEVELS, NF4_UNIT, Coding, PackedProduct
from baracuda.ops.matmul.packed import PackedProductDescriptor


def problem(m: int, n: int, k: int, coding: Coding, group: int, *, zero: bool = False, general: bool = False) -> PackedProduct:
    """A product of contiguous bf16 tensors, or of such whose strides code may not know."""
    d = PackedProductDescriptor(m, n, k, coding, group, K.BF16, K.F16, K.BF16, K.S32 if zero else None, True, "silu")
    bytes_, chunk = coding.row_bytes(k), coding.chunk
    weight = (bytes_ // chunk * (chunk + 2), chunk + 2, 1) if chunk else (bytes_, 1)
    strides = ((k, 1), weight, (d.groups, 1), (d.groups, 1) if zero else None, (1,), (n, 1))
    return d.problem(tuple(None if s is None else OperandLayout(s, 2 if chunk else 16, general) for s in strides))


#: One of each kernel: few rows whose digits are made on the way, a single chunk, several, tiles, bytes one by one.
PROBLEMS = {
    "one row": problem(1, 8192, 8192, Coding.U4, 128, zero=True),
    "levels": problem(3, 64, 30000, Coding.NF4, 64),
    "more rows": problem(16, 8192, 8192, Coding.S4, 256),
    "short blocks": problem(9, 100, 1000, Coding.TERNARY, 32),
    "any strides": problem(2, 100, 777, Coding.U8, 64, zero=True, general=True),
    "beside scales": problem(4, 64, 512, Coding.Q4_0, 32),
    "tiles": problem(300, 500, 1024, Coding.Q8_0, 32),
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.one_of(3)
def test_kernels_compile_and_fit(name: str, arch: str) -> None:
    nvrtc = pytest.importorskip("baracuda.runtime.nvrtc")
    pytest.importorskip("cuda.bindings.nvrtc")
    target = Target(arch)
    for lowered in ways(PROBLEMS[name], target):
        for launch in lowered.launches:
            assert launch.shared <= target.shared_bytes
            assert nvrtc.cubin(launch.source, arch)


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_90"])
@pytest.mark.parametrize("m", [1, 2, 4, 8, 16, 32])
def test_tiles_fit_in_shared_memory(m: int, arch: str) -> None:
    target = Target(arch)
    for coding in Coding:
        for group in (32,) if coding.chunk else (32, 64, 128):
            for k in (256, 8192, 28672):
                tile = thin_tile(problem(m, 8192, k, coding, group, zero=coding is Coding.U4), target)
                assert tile.shared <= target.shared_bytes
                assert tile.bm >= min(m, 16)


def test_strides_are_no_part_of_code() -> None:
    target = Target("sm_90")
    first, second = (problem(1, 8192, k, Coding.U4, 128) for k in (8192, 8192 - 512))
    sources = [[launch.source for launch in next(iter(ways(p, target))).launches] for p in (first, second)]
    assert sources[0] == sources[1]
    apart = replace(first, product=replace(first.product, n=8000))
    assert [launch.source for launch in next(iter(ways(apart, target))).launches] == sources[0]


def test_levels_are_whole_numbers_of_a_unit() -> None:
    assert np.abs(np.array(NF4_INTEGERS) * NF4_UNIT - NF4_LEVELS).max() <= NF4_UNIT / 2
    assert NF4_INTEGERS[0] == -NF4_INTEGERS[15] == -(2**14)
    assert NF4_INTEGERS[7] == 0
