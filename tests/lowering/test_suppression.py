"""Suppression in order: random conflicts over counts around words and rows, several groups; CUDA compiles."""

from __future__ import annotations

import numpy as np
import pytest

from baracuda.core.device import Device, Stream
from baracuda.core.errors import UnsupportedError
from baracuda.core.workspace import Workspace
from baracuda.lowering.suppression.cuda.lower import lower
from baracuda.lowering.suppression.problem import Suppression, words_of
from baracuda.ops.image.nms import SuppressionDescriptor, SuppressionPlan

pytestmark = pytest.mark.cpu_only


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 511, 512, 513, 1500])
@pytest.mark.parametrize("density", [0.0, 0.01, 0.3, 1.0])
def test_bits(count: int, density: float) -> None:
    groups = 3
    rng = np.random.default_rng(count)
    conflicts = np.triu(rng.random((groups, count, count)) < density, 1)
    padded = np.zeros((groups, count, 64 * words_of(count)), bool)
    padded[..., :count] = conflicts
    words = np.packbits(padded, -1, bitorder="little").view(np.uint64)
    kept = np.full((groups, count), 7, np.uint8)
    descriptor = SuppressionDescriptor(groups, count)
    stream = Stream(Device.cpu())
    plan = SuppressionPlan.select(stream, descriptor)
    scratch = Workspace(np.full(plan.workspace_size(), 0xFF, np.uint8))
    plan.run(stream, scratch, SuppressionPlan.args(words, kept))
    for g in range(groups):
        want: list[int] = []
        for i in range(count):
            if not conflicts[g, want, i].any():
                want.append(i)
        assert np.flatnonzero(kept[g]).tolist() == want


def test_cuda_compiles() -> None:
    nvrtc = pytest.importorskip("baracuda.runtime.nvrtc")
    pytest.importorskip("cuda.bindings.nvrtc")
    for arch in ("sm_80", "sm_90", "sm_100"):
        for launch in lower(Suppression(4, 1000)).launches:
            assert nvrtc.cubin(launch.source, arch)[:4] == b"\x7fELF"
    with pytest.raises(UnsupportedError, match="candidates"):
        lower(Suppression(1, 1 << 20))
