"""Compactions: marks, numbers, elements packed and spread, over lengths around words and blocks, layouts and elements; CUDA
compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.plan import Plan
from baracuda.lowering.compaction.cuda.lower import lower, lower_marks
from baracuda.lowering.compaction.problem import BLOCK, Compaction, Marks, Mode
from baracuda.ops.indexing.compaction import CompactionDescriptor, CompactionPlan, MarksDescriptor, MarksPlan

SHAPES = [(5,), (63,), (64,), (65,), (BLOCK,), (2 * BLOCK + 77,), (3, 4, 5), (70, 300), (300, 70, 1), (1, 1), ()]
pytestmark = pytest.mark.cpu_only


def ran(plan: type[Plan[Any, Any]], descriptor: Any, *tensors: Any) -> None:
    stream = Stream(Device.cpu())
    plan.select(stream, descriptor).run(stream, None, plan.args(*tensors))


def marked(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    descriptor = MarksDescriptor(x.size, K.from_numpy(x.dtype))
    bits, offsets = np.full(descriptor.bits_shape, -1, np.int64), np.full(descriptor.offsets_shape, -1, np.int64)
    ran(MarksPlan, descriptor, x.reshape(-1) if x.ndim != 1 else x, bits, offsets)
    return bits, offsets


@pytest.mark.one_of(4)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.bool_, np.float16, np.int64, np.float64])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_of_every_length(shape: tuple[int, ...], density: float, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    x = np.asarray((rng.random(shape) < density) * rng.integers(1, 120, shape)).astype(dtype)
    want = np.flatnonzero(x)
    apart = np.zeros(2 * x.size, dtype)[::-2]
    apart[...] = x.reshape(-1)
    for given in (x, apart):
        bits, offsets = marked(given)
        assert offsets[0] == 0
        assert offsets[-1] == len(want)
        np.testing.assert_array_equal(np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")), want)
    for size in (len(want), 3, x.size + 5):
        fits = min(size, len(want))
        if shape:
            y = np.full((size, len(shape)), -1, np.int64)
            ran(CompactionPlan, CompactionDescriptor(Mode.NUMBERS, shape, size), bits, offsets, None, None, y)
            np.testing.assert_array_equal(y[:fits], np.argwhere(x)[:fits])
            assert (y[fits:] == -1).all()
        for kind in (np.float32, np.complex128, np.uint8):
            values = np.asarray(rng.random(shape) * 99).astype(kind)
            element = K.from_numpy(np.dtype(kind))
            for lies in (
                values,
                np.array(values, order="F"),
                np.broadcast_to(values.ravel()[:1].reshape((1,) * len(shape)), shape),
            ):
                y = np.full((size,), 77, kind)
                ran(CompactionPlan, CompactionDescriptor(Mode.PACKED, shape, size, element), bits, offsets, lies, None, y)
                np.testing.assert_array_equal(y[:fits], lies[x != 0][:fits])
                assert (y[fits:] == 77).all()
            for cyclic in (False, True):
                if not size or (not cyclic and size < len(want)):
                    continue
                source = (rng.random(size) * 99).astype(kind)
                for base in (values, None):
                    y = np.empty(shape, kind)
                    descriptor = CompactionDescriptor(Mode.SPREAD, shape, size, element, base is not None, cyclic)
                    ran(CompactionPlan, descriptor, bits, offsets, source, base, y)
                    expected = np.zeros(shape, kind) if base is None else base.copy()
                    expected[x != 0] = np.resize(source, len(want))
                    np.testing.assert_array_equal(y, expected)


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match="complex"):
        MarksDescriptor(5, K.C64)
    with pytest.raises(UnsupportedError, match="numbers are s64"):
        CompactionDescriptor(Mode.NUMBERS, (5,), 3, K.F32)
    with pytest.raises(InvalidProblemError, match="expected an element at least"):
        CompactionDescriptor(Mode.SPREAD, (5,), 0, K.F32)
    bits, offsets = marked(np.ones(200, np.uint8))
    wide = np.zeros((len(bits), 2), np.int64)[:, 0]
    with pytest.raises(UnsupportedError, match="bits: strides"):
        ran(CompactionPlan, CompactionDescriptor(Mode.NUMBERS, (200,), 3), wide, offsets, None, None, np.zeros((3, 1), np.int64))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    nvrtc = pytest.importorskip("baracuda.runtime.nvrtc")
    pytest.importorskip("cuda.bindings.nvrtc")
    problems: list[Marks | Compaction | None] = []
    for kind in (K.F32, K.BOOL, K.F64, K.F16, K.F8E4M3):
        marks = MarksDescriptor(50, kind)
        problems += [marks.problem(layout) for layout in MarksPlan.layouts(marks)]
    for shape, size in (((50,), 7), ((5, 6, 7), 9), ((1 << 32, 2), 5)):
        for mode, kind, base, cyclic in (
            (Mode.NUMBERS, K.S64, False, False),
            (Mode.PACKED, K.F16, False, False),
            (Mode.PACKED, K.C128, False, False),
            (Mode.SPREAD, K.F32, True, False),
            (Mode.SPREAD, K.C64, False, True),
        ):
            descriptor = CompactionDescriptor(mode, shape, size, kind, base, cyclic)
            problems += [descriptor.problem(layout) for layout in CompactionPlan.layouts(descriptor)]
    sources = set()
    for problem in problems:
        assert problem is not None
        lowered = lower_marks(problem) if isinstance(problem, Marks) else lower(problem)
        sources |= {launch.source for launch in lowered.launches}
    for source in sources:
        assert nvrtc.cubin(source, arch)
