"""Attention on CUDA: every kernel compiles for sm_80, sm_90 and sm_100; on a device each has the bits of the CPU's kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.lowering.attention.cuda.lower import lower
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from tests.lowering.attention_cases import POISON, AttentionCase, different
from tests.lowering.attention_inputs import CASES, CAUSAL, Inputs
from tests.lowering.shares import compiled_for
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))
#: Which of a problem's tiles are run, counted from the most promising ones: with few multiprocessors large ones are.
CHOICES = (0, 1, 2, 5)
QKV = ("q", "k", "v")


def gradients(case: Inputs) -> tuple[str, ...]:
    """What the backward of a case is asked for."""
    return (*QKV, *[n for n in ("bias", "slopes") if getattr(case, n)][:1])


_SMALL = Inputs((2, 4, 2, 70, 130, 24, 40))
_BF16 = Inputs((2, 4, 2, 70, 130, 24, 40), K.BF16, CAUSAL)
_WITH_BIAS = Inputs((1, 2, 2, 66, 70, 16, 24), options=CAUSAL, bias=(1, 2, 66, 70))
LAYOUTS = ("heads last", "transposed", "sliced", "negative", "padded", "misaligned", "broadcast")
PROBLEMS = (
    *[AttentionCase(case) for case in CASES],
    *[AttentionCase(case, gradients(case)) for case in CASES],
    *[AttentionCase(_SMALL, layouts={"all": layout}) for layout in LAYOUTS],
    *[AttentionCase(_BF16, layouts={"all": layout}) for layout in LAYOUTS],
    *[AttentionCase(_WITH_BIAS, (*QKV, "bias"), {"all": layout}) for layout in LAYOUTS],
    *[AttentionCase(_BF16, QKV, {"all": layout}) for layout in ("heads last", "sliced", "misaligned")],
    AttentionCase(_WITH_BIAS, (*QKV, "bias"), general=True),
    AttentionCase(_SMALL, general=True, lse=False),
    *[AttentionCase(_WITH_BIAS, wrt) for wrt in (("q",), ("k",), ("v",), ("bias",), ("k", "bias"))],
    AttentionCase(Inputs((1, 2, 2, 70, 66, 16, 16), options={"softcap": 2.0}), ("k", "v")),
    AttentionCase(Inputs((2, 2, 1, 300, 280, 128, 128), options=CAUSAL)),
    AttentionCase(Inputs((2, 2, 1, 300, 280, 128, 128), K.F16, {"window": (70, 10)}), QKV),
    AttentionCase(Inputs((1, 1, 1, 130, 200, 256, 256), K.BF16)),
    AttentionCase(Inputs((1, 2, 2, 130, 140, 100, 80)), QKV),
    AttentionCase(Inputs((2, 2, 2, 3, 0, 16, 16)), lse=True),
    AttentionCase(Inputs((2, 2, 2, 0, 5, 16, 16)), QKV),
)


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "problem"), list(enumerate(PROBLEMS)), ids=str)
def test_compiles(number: int, problem: AttentionCase, full: bool) -> None:
    """A problem's kernels compile, without --full a share of them."""
    for target in compiled_for(number, 12, TARGETS, full):
        for launch in lower(problem.problem, target).launches:
            assert launch.shared <= target.shared_bytes
            assert len(cubin(launch.source, target.arch)) > 1000


@pytest.mark.cpu_only
def test_tiles_fit_everywhere() -> None:
    """There is a tile for the longest usual vectors on the devices with the least shared memory."""
    for case in (
        Inputs((1, 1, 1, 64, 64, 256, 256)),
        Inputs((1, 1, 1, 64, 64, 192, 128), K.F64),
        Inputs((1, 1, 1, 64, 64, 576, 512)),
    ):
        for problem in (AttentionCase(case), AttentionCase(case, QKV)):
            for launch in lower(problem.problem, Target("sm_89", 128)).launches:
                assert launch.shared <= 99 * 1024


@pytest.mark.cpu_only
def test_the_source_does_not_depend_on_extents() -> None:
    """Heads, queries and keys are read at run time: one kernel serves every shape of a kind."""
    cases = (Inputs((4, 32, 32, 4096, 4096, 64, 64)), Inputs((5, 32, 8, 4000, 4100, 64, 64)))
    sources = {tuple(launch.source for launch in lower(AttentionCase(case, QKV).problem, TARGETS[0]).launches) for case in cases}
    assert len(sources) == 1


@pytest.mark.cpu_only
def test_refused() -> None:
    a = AttentionCase(_SMALL).problem
    with pytest.raises(UnsupportedError, match="expected at most 536870912 of each"):
        lower(replace(a, keys=(1 << 29) + 1), TARGETS[0])
    with pytest.raises(UnsupportedError, match="expected no more than"):
        lower(replace(a, depth=70000, value_depth=70000), TARGETS[0])


def hold_to_the_cpu(machine: Machine, problem: AttentionCase, lowered_for: Callable[[Target], Iterable[Lowered]]) -> None:
    """Runs what a problem is lowered to, and compares with the CPU's kernels."""
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    from baracuda.lowering.nest.cuda.targets import target_of
    from baracuda.runtime.device_memory import download, upload
    from baracuda.runtime.toolchain import toolchain_of

    device, blocks = Device.cuda(0), problem.blocks()
    expected = {name: block.copy() for name, block in blocks.items()}
    problem.run_on_cpu(expected)
    for lowered in dict.fromkeys(lowered_for(target_of(device))):
        held = {name: upload(block, device) for name, block in blocks.items()}
        workspace = upload(np.full(lowered.workspace_bytes + 64, POISON, np.uint8), device)
        call = toolchain_of(device).load(lowered, len(held), problem.parameters)
        call.call([held[n].pointer + problem.placements[n].offset for n in problem.names], workspace.pointer, 0)
        results = {name: download(held[name]) for name in problem.written}
        assert different(problem, results, expected) == {}, lowered.schedule


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_bits(machine: Machine, problem: AttentionCase) -> None:
    """Every tile gives the bits of the CPU's kernels, writes nothing else, and reads nothing (NaN) that is not there."""

    def tried(target: Target) -> Iterator[Lowered]:
        return (lower(problem.problem, t, c) for t in (target, replace(target, multiprocessors=1)) for c in CHOICES)

    hold_to_the_cpu(machine, problem, tried)
