"""Attention by tensor cores: every kernel compiles for sm_80, sm_90 and sm_100; on a device every way gives the same bits, near
those of the chain, and a query's are the same in every company."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.core.sku import MathPrecision
from baracuda.lowering.attention.cpu.lower import lower as lower_for_cpu
from baracuda.lowering.attention.cuda.lower import ways
from baracuda.lowering.attention.cuda.tensor_cores.lower import lower_tensor_cores
from baracuda.lowering.attention.cuda.tensor_cores.rings import Room
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.runtime.device_memory import download, upload
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from baracuda.runtime.toolchain import toolchain_of
from tests.lowering.attention_cases import POISON, Array, AttentionCase, different
from tests.lowering.attention_inputs import CASES, CAUSAL, Inputs
from tests.lowering.shares import compiled_for
from tests.lowering.test_attention_cuda import LAYOUTS, QKV, TARGETS, gradients
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")


@dataclass(frozen=True)
class ByTensorCores(AttentionCase):
    """An attention of 16-bit floats by tensor cores; what the backward reads of the forward is the chain's."""

    @property
    def problem(self) -> Any:  # type: ignore[override]
        return replace(super().problem, math=TENSOR_CORE_MATH[self.case.element])

    @property
    def chain(self) -> AttentionCase:
        return AttentionCase(self.case, self.wrt, self.layouts, self.general, self.lse)


_SIXTEEN = [replace(case, element=(K.BF16, K.F16)[i % 2]) for i, case in enumerate(CASES)]
_SMALL = Inputs((2, 4, 2, 70, 130, 24, 40), K.BF16, CAUSAL)
_WITH_BIAS = Inputs((1, 2, 2, 66, 70, 16, 24), K.F16, CAUSAL, bias=(1, 2, 66, 70))
_LARGE = Inputs((2, 2, 1, 300, 280, 128, 128), K.BF16, CAUSAL)
PROBLEMS = (
    *[ByTensorCores(case) for case in _SIXTEEN],
    *[ByTensorCores(case, gradients(case)) for case in _SIXTEEN],
    *[ByTensorCores(_SMALL, layouts={"all": layout}) for layout in LAYOUTS],
    *[ByTensorCores(_WITH_BIAS, (*QKV, "bias"), {"all": layout}) for layout in LAYOUTS],
    ByTensorCores(_WITH_BIAS, (*QKV, "bias"), general=True),
    *[ByTensorCores(_WITH_BIAS, wrt) for wrt in (("q",), ("k",), ("v",), ("bias",), ("k", "bias"))],
    ByTensorCores(Inputs((1, 2, 2, 70, 66, 16, 16), K.BF16, {"softcap": 2.0}), ("k", "v")),
    *[ByTensorCores(_LARGE, wrt) for wrt in ((), QKV)],
    *[ByTensorCores(Inputs((2, 4, 2, 300, 400, 128, 64), K.F16, {"window": (100, 70), "offset": 30}), wrt) for wrt in ((), QKV)],
    *[ByTensorCores(Inputs((1, 1, 1, 130, 200, 256, 256), K.BF16), wrt) for wrt in ((), QKV)],
    *[ByTensorCores(Inputs((1, 1, 1, 70, 70, 576, 512), K.BF16), wrt) for wrt in ((), QKV)],
    ByTensorCores(Inputs((1, 2, 2, 130, 140, 100, 80), K.F16, {"window": (70, 10)}), QKV),
    ByTensorCores(Inputs((2, 2, 2, 3, 0, 16, 16), K.BF16)),
    ByTensorCores(Inputs((2, 2, 2, 0, 5, 16, 16), K.BF16), QKV),
)  # fmt: skip


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "problem"), list(enumerate(PROBLEMS)), ids=str)
def test_compiles(number: int, problem: ByTensorCores, full: bool) -> None:
    """A problem's kernels compile, without --full a share of them."""
    for target in compiled_for(number, 14, TARGETS, full):
        for lowered in ways(problem.problem, target):
            for launch in lowered.launches:
                assert launch.shared <= target.shared_bytes
                assert len(cubin(launch.source, target.arch)) > 1000


@pytest.mark.cpu_only
def test_fits_everywhere() -> None:
    """The longest usual vectors fit the devices with the least shared memory."""
    for depths in ((256, 256), (576, 512), (4000, 4000)):
        for wrt in ((), QKV):
            case = ByTensorCores(Inputs((1, 1, 1, 64, 64, *depths), K.BF16), wrt)
            for lowered in ways(case.problem, Target("sm_89", 128)):
                assert all(launch.shared <= 99 * 1024 for launch in lowered.launches)


@pytest.mark.cpu_only
def test_the_source_does_not_depend_on_extents() -> None:
    """Heads, queries and keys are read at run time: one kernel serves every shape of a kind."""
    sources = set()
    for extents in ((4, 32, 32, 4096, 4096, 64, 64), (5, 32, 8, 4000, 4100, 64, 64)):
        case = ByTensorCores(Inputs(extents, K.BF16), QKV)
        sources.add(tuple(launch.source for lowered in ways(case.problem, TARGETS[0]) for launch in lowered.launches))
    assert len(sources) == 1


@pytest.mark.cpu_only
def test_refused() -> None:
    a = ByTensorCores(_SMALL).problem
    with pytest.raises(UnsupportedError, match="expected at most 536870912 of each"):
        list(ways(replace(a, keys=(1 << 29) + 1), TARGETS[0]))
    with pytest.raises(UnsupportedError, match="attention of bf16 in f16; expected operands of f16"):
        list(ways(replace(a, math=MathPrecision.F16), TARGETS[0]))
    with pytest.raises(UnsupportedError, match="attention in bf16 is of tensor cores"):
        lower_for_cpu(a)


def run(problem: ByTensorCores, lowered: Lowered, blocks: dict[str, Array]) -> dict[str, Array]:
    """What a device makes of a problem, in poisoned memory."""
    device = Device.cuda(0)
    held = {name: upload(block, device) for name, block in blocks.items()}
    workspace = upload(np.full(lowered.workspace_bytes + 64, POISON, np.uint8), device)
    call = toolchain_of(device).load(lowered, len(held), problem.parameters)
    call.call([held[n].pointer + problem.placements[n].offset for n in problem.names], workspace.pointer, 0)
    return {name: download(held[name]) for name in problem.written}


def every_way(problem: ByTensorCores) -> list[Lowered]:
    """The ways of a problem on this device, that in little room, and that of two blocks which take all there is."""
    target = target_of(Device.cuda(0))
    found = list(ways(problem.problem, target))
    rooms = [Room(99 * 1024, 1), Room(target.shared_bytes, 2, 2)] if target.arch == "sm_90" else [Room(99 * 1024)]
    return list(dict.fromkeys([*found, *(lower_tensor_cores(problem.problem, target, room) for room in rooms)]))


def near(problem: ByTensorCores, found: dict[str, Array], chain: dict[str, Array]) -> None:
    """Holds results to the chain's."""
    for name in problem.written:
        p = problem.placements[name]
        x, y = (np.array(p.view(blocks[name])).astype(np.float64) for blocks in (found, chain))
        assert np.array_equal(np.isfinite(x), np.isfinite(y)), name
        finite = np.isfinite(y)
        if not finite.any():
            continue
        scale = max(1e-3, float(np.sqrt((y[finite] ** 2).mean())))
        limit = 1e-4 if name == "lse" else 0.05 if problem.case.element is K.BF16 else 0.01
        assert np.abs(x - y)[finite].max() <= limit * max(scale, 1.0 if name == "lse" else 4 * scale), name


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_values_and_bits(machine: Machine, problem: ByTensorCores) -> None:
    """Every way gives the bits of the first, near the chain's values, writes nothing else, and reads nothing (NaN) that is not
    there."""
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    blocks = problem.chain.blocks()
    chain = {name: block.copy() for name, block in blocks.items()}
    problem.chain.run_on_cpu(chain)
    first: dict[str, Array] = {}
    for lowered in every_way(problem):
        found = run(problem, lowered, blocks)
        near(problem, found, chain)
        first = first or found
        assert different(problem, found, first) == {}, lowered.schedule
        beside = {n: np.array(chain[n]) for n in problem.written}
        for n in problem.written:  # what lies beside the results is as it was
            p = problem.placements[n]
            p.view(beside[n])[...] = p.view(found[n])
        assert different(problem, found, beside) == {}, lowered.schedule
