"""Reads at indices that are the same for every plane: the bits of planes together are those of planes alone; CUDA compiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.lowering.nest.cuda.lower import Target, lower
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.op_plan import plan_of
from baracuda.ops.image.samples import sampled
from tests.lowering.test_cuda_compile import Offline

pytestmark = pytest.mark.cpu_only
DTYPES = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [12, 33, 64])
@pytest.mark.one_of(2)
def test_bits_of_planes_alone(dtype: Any, columns: int) -> None:
    """37 planes take chunks of 16 and a rest, rows of 33 a vector and a rest; layouts apart and single planes take other code."""
    rng = np.random.default_rng(columns)
    x = rng.standard_normal((2, 37, 9, 11)).astype(dtype)
    grid = (rng.standard_normal((2, 5, columns, 2)) * 0.7).astype(np.float32)
    wide = np.zeros((2, 74, 9, 22), dtype)[:, ::-2, :, ::2]
    wide[...] = x
    every = baracuda.grid_sample(x, grid)
    assert baracuda.grid_sample(wide, grid).tobytes() == every.tobytes()
    turned = np.ascontiguousarray(grid[:, :, ::-1])[:, :, ::-1]
    assert baracuda.grid_sample(x, turned).tobytes() == every.tobytes()
    for k in (0, 15, 16, 36):
        one = baracuda.grid_sample(np.ascontiguousarray(x[:, k : k + 1]), grid)
        assert one.tobytes() == np.ascontiguousarray(every[:, k : k + 1]).tobytes()


def test_reads_beside_others() -> None:
    """An index along the last axis beside one that is the same for a row, which a plane follows."""
    x = np.random.default_rng(0).standard_normal((40, 7, 50)).astype(np.float32)
    index = np.array([3, 49, 0, 7] * 5)
    np.testing.assert_array_equal(baracuda.index_select(x, index, axis=2), x[:, :, index])


def _descriptors() -> Iterator[OpDescriptor]:
    for kind in (K.F32, K.BF16, K.F64):
        for mode in ("bilinear", "bicubic", "nearest"):
            shapes = ((2, 64, 30, 30), (2, 50, 70), (2, 50, 70), None)
            yield OpDescriptor(sampled, shapes, (kind, K.F32, K.F32, None), options=(("mode", mode),))


def test_cuda_compiles(full: bool) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.runtime.nvrtc import cubin

    for turn, descriptor in enumerate(_descriptors()):
        plan = plan_of(descriptor)
        offline = Offline(plan, descriptor)
        for nest in offline.nests(plan.layouts(descriptor)[0]):
            targets = (Target("sm_80", 108), Target("sm_90", 132), Target("sm_100", 148))
            for target in targets if full else targets[turn % 3 :][:1]:
                found = lower(nest, target)
                assert found.schedule.startswith("planes x")
                assert all(cubin(launch.source, target.arch)[:4] == b"\x7fELF" for launch in found.launches)
