"""Puts: the last position of a destination stays, in every element, layout and number of axes; their gradients; CUDA compiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.plan import Plan
from baracuda.core.workspace import Workspace
from baracuda.lowering.put.cuda.lower import lower
from baracuda.ops.indexing.put import PutBackwardPlan, PutCombinedPlan, PutDescriptor, PutPlan

SHAPES = [
    ((50,), (20,), ()), ((50,), (20,), (7,)), ((5, 9), (4, 5), (33,)), ((5, 9), (4, 5), (3, 16)), ((100000,), (3000,), ()),
    ((1000,), (70000,), (2,)), ((3000,), (100,), (64,)), ((0,), (5,), (2,)), ((30,), (5,), (1,)), ((), (3,), (2,)),
]  # fmt: skip
DTYPES = [np.float32, np.uint8, np.complex128, np.complex64, np.float16, np.bool_, ml_dtypes.float8_e5m2]
pytestmark = pytest.mark.cpu_only


def ran(plan: type[Plan[Any, Any]], descriptor: PutDescriptor, *tensors: Any) -> None:
    stream = Stream(Device.cpu())
    selected = plan.select(stream, descriptor)
    size = selected.workspace_size()
    selected.run(stream, Workspace(np.full(size, 0xFF, np.uint8)) if size else None, plan.args(*tensors))


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.asarray(rng.integers(0, 60, shape)).astype(dtype)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_last_stays(shape: Any, dtype: Any) -> None:
    positions, destinations, inner = shape
    rng, count = np.random.default_rng(1), int(np.prod(destinations))
    index = rng.integers(0, count, positions)
    x, y = drawn(rng, positions + inner, dtype), drawn(rng, destinations + inner, dtype)
    flat_y, flat_x = y.copy().reshape((count, *inner)), x.reshape((-1, *inner))
    last = {d: p for p, d in enumerate(index.ravel())}
    for d, p in last.items():
        flat_y[d] = flat_x[p]
    descriptor = PutDescriptor(positions, destinations, inner, K.from_numpy(np.dtype(dtype)))
    wide = np.zeros(tuple(2 * n for n in y.shape), dtype, order="F")
    strided = wide[tuple(slice(None, None, -2) for _ in y.shape)]
    for target, source in ((y.copy(), x), (strided, np.array(x, order="F"))):
        target[...] = y
        ran(PutPlan, descriptor, np.array(index, order="F"), source, target)
        assert target.reshape(flat_y.shape).tobytes() == flat_y.tobytes()
    dx, want = np.full(x.shape, 3, dtype), np.zeros(flat_x.shape, dtype)
    for d, p in last.items():
        want[p] = y.reshape(flat_y.shape)[d]
    ran(PutBackwardPlan, descriptor, index, y, dx)
    assert dx.tobytes() == want.tobytes()


def test_along_an_axis() -> None:
    rng = np.random.default_rng(1)
    index, x, y = rng.integers(-7, 7, (5, 9, 4)).astype(np.int32), rng.standard_normal((5, 9, 4)), rng.standard_normal((5, 7, 4))
    want = y.copy()
    for (a, b, c), i in np.ndenumerate(index):
        if i % 7 != 3:
            want[a, i, c] = x[a, b, c]
    ran(PutPlan, PutDescriptor((5, 9, 4), (5, 7, 4), (), K.F64, K.S32, axis=1, wrap=True, skip=3), index, x, y)
    np.testing.assert_array_equal(y, want)


def test_combined_in_place() -> None:
    rng = np.random.default_rng(1)
    index, x, y = rng.integers(0, 20, (5, 9)), rng.standard_normal((5, 9, 3)), rng.standard_normal((4, 5, 3))
    want = y.copy().reshape(20, 3)
    np.add.at(want, index.ravel(), x.reshape(-1, 3))
    ran(PutCombinedPlan, PutDescriptor((5, 9), (4, 5), (3,), K.F64, combination="sum"), index, x, y, y)
    np.testing.assert_allclose(y.reshape(20, 3), want)


def test_refusals() -> None:
    descriptor = PutDescriptor((5,), (3,), (), K.F32)
    for wrong, error in (
        ({"element": K.S4}, UnsupportedError),
        ({"index_element": K.S8}, UnsupportedError),
        ({"axis": 1}, InvalidProblemError),
        ({"destinations": (0,)}, InvalidProblemError),
        ({"combination": "prod", "element": K.C64}, UnsupportedError),
        ({"combination": "sum", "element": K.F8E4M3}, UnsupportedError),
    ):
        with pytest.raises(error):
            replace(descriptor, **wrong)
    x = np.zeros(5, np.float32)
    with pytest.raises(InvalidProblemError, match="overlaps"):
        ran(PutPlan, replace(descriptor, destinations=(5,)), np.zeros(5, np.int64), x, x)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    nvrtc = pytest.importorskip("baracuda.runtime.nvrtc")
    pytest.importorskip("cuda.bindings.nvrtc")
    for descriptor in (
        PutDescriptor((50,), (20,), (8,), K.F16),
        PutDescriptor((5, 6), (20, 7), (), K.C128, K.S32, axis=1, wrap=True, skip=3),
        PutDescriptor((500,), (20,), (3, 5), K.BOOL, once=True),
    ):
        for plan, reading in ((PutPlan, False), (PutBackwardPlan, True)):
            for layout in plan.layouts(descriptor):
                for launch in lower(descriptor.put(layout, reading=reading)).launches:
                    assert nvrtc.cubin(launch.source, arch)
