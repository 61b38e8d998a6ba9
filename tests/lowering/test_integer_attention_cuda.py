"""Attention in integers on CUDA: every kernel compiles for sm_80, sm_90 and sm_100; on a device each has the bits of the CPU's
kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from baracuda.core.elements import ElementKind as K
from baracuda.core.sku import MathPrecision
from baracuda.lowering.attention.cuda.lower import ways
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from tests.lowering.attention_cases import AttentionCase
from tests.lowering.attention_inputs import CASES, CAUSAL, Inputs
from tests.lowering.shares import compiled_for
from tests.lowering.test_attention_cuda import LAYOUTS, QKV, TARGETS, gradients, hold_to_the_cpu
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

INT15, INT23 = MathPrecision.INT15, MathPrecision.INT23

_SIXTEEN = [replace(case, element=(K.BF16, K.F16)[i % 2]) for i, case in enumerate(CASES)]
_SMALL = Inputs((2, 4, 2, 70, 130, 24, 40), K.BF16, CAUSAL)
_WITH_BIAS = Inputs((1, 2, 2, 66, 70, 16, 24), K.F16, CAUSAL, bias=(1, 2, 66, 70))
_LARGE = Inputs((2, 2, 1, 300, 280, 128, 128), K.BF16, CAUSAL)
#: Few queries, whose tiles lie side by side: heads that share keys, more than sixteen rows, long vectors, and options.
_FEW = (
    Inputs((2, 8, 2, 1, 700, 128, 128), K.BF16),
    Inputs((1, 4, 1, 4, 300, 128, 64), K.F16, CAUSAL | {"offset": 296}),
    Inputs((1, 2, 1, 9, 2500, 40, 33), K.BF16, {"window": (200, 0), "offset": 2491}),
    Inputs((2, 6, 2, 7, 200, 192, 130), K.F16, bias=(2, 6, 7, 200), mask=(1, 6, 1, 200), slopes=1),
    Inputs((3, 2, 1, 3, 140, 576, 512), K.BF16, {"softcap": 3.0}, query_lengths=(3, 0, 2), key_lengths=(140, 70, 0)),
)
PROBLEMS = (
    *[AttentionCase(case, math=math, lse=i != 0) for i, case in enumerate(_FEW) for math in (INT15, INT23)],
    *[AttentionCase(_FEW[3], layouts={"all": layout}, math=INT15) for layout in LAYOUTS],
    *[AttentionCase(case, math=math) for case in _SIXTEEN for math in (INT15, INT23)],
    *[AttentionCase(case, gradients(case), math=math) for case in _SIXTEEN for math in (INT15, INT23)],
    *[AttentionCase(_SMALL, layouts={"all": layout}, math=INT15) for layout in LAYOUTS],
    *[AttentionCase(_WITH_BIAS, (*QKV, "bias"), {"all": layout}, math=INT23) for layout in LAYOUTS],
    AttentionCase(_WITH_BIAS, (*QKV, "bias"), general=True, math=INT15),
    *[AttentionCase(_WITH_BIAS, wrt, math=INT15) for wrt in (("q",), ("k",), ("v",), ("bias",), ("k", "bias"))],
    AttentionCase(Inputs((1, 2, 2, 70, 66, 16, 16), K.BF16, {"softcap": 2.0}), ("k", "v"), math=INT15),
    *[AttentionCase(_LARGE, wrt, math=math) for wrt in ((), QKV) for math in (INT15, INT23)],
    AttentionCase(Inputs((1, 1, 1, 130, 200, 256, 256), K.BF16), QKV, math=INT15),
    AttentionCase(Inputs((1, 1, 1, 70, 70, 576, 512), K.BF16), QKV, math=INT23),
    AttentionCase(Inputs((1, 2, 2, 130, 140, 100, 80), K.F16, {"window": (70, 10)}), QKV, math=INT23),
    AttentionCase(Inputs((2, 2, 2, 3, 0, 16, 16), K.BF16), math=INT15),
    AttentionCase(Inputs((2, 2, 2, 0, 5, 16, 16), K.BF16), QKV, math=INT15),
)  # fmt: skip


@pytest.mark.cpu_only
@pytest.mark.parametrize(("number", "problem"), list(enumerate(PROBLEMS)), ids=str)
def test_compiles(number: int, problem: AttentionCase, full: bool) -> None:
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
            case = AttentionCase(Inputs((1, 1, 1, 64, 64, *depths), K.BF16), wrt, math=INT23)
            for lowered in ways(case.problem, Target("sm_89", 128)):
                assert all(launch.shared <= 99 * 1024 for launch in lowered.launches)


@pytest.mark.cpu_only
def test_the_source_does_not_depend_on_extents() -> None:
    """Heads, queries and keys are read at run time: one kernel serves every shape of a kind."""
    sources = set()
    for extents in ((4, 32, 32, 4096, 4096, 64, 64), (5, 32, 8, 4000, 4100, 64, 64)):
        case = AttentionCase(Inputs(extents, K.BF16), QKV, math=INT15)
        sources.add(tuple(launch.source for lowered in ways(case.problem, TARGETS[0]) for launch in lowered.launches))
    assert len(sources) == 1


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_bits(machine: Machine, problem: AttentionCase) -> None:
    """Every way gives the bits of the CPU's kernels, writes nothing else, and reads nothing (NaN) that is not there: those of
    devices without warpgroup instructions, too."""

    def tried(target: Target) -> Iterator[Lowered]:
        return (lowered for arch in (target.arch, "sm_80") for lowered in ways(problem.problem, replace(target, arch=arch)))

    hold_to_the_cpu(machine, problem, tried)
