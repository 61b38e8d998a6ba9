"""Convolutions on tensor cores by lines of channels: the kernels compile; on a device integers are exact, and a sum of floats has
the same bits in every tile, layout and batch, near the exact one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.core.sku import MathPrecision as M
from baracuda.formula.expand import expand
from baracuda.formula.expr import cast, input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.convolution.cuda.lines.lower import line_ways, takes_lines
from baracuda.lowering.convolution.cuda.lines.warpgroups import lower_warpgroups
from baracuda.lowering.convolution.cuda.lower import ways
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.tensor_cores.warpgroups import TILES
from baracuda.lowering.matmul.problem import PRODUCT
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.runtime.nvrtc import cubin
from tests.lowering.test_convolution_digits_cuda import Case, drawn, extents_of, factors_of, run, viewed
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

Array = np.ndarray[Any, Any]
HOPPER = Target("sm_90", 132)
_THREE = ((3, 3), (1, 1), (1, 1), (1, 1))
FLOATS = (
    Case((9, 10), 64, 70, *_THREE, (9, 10), math=M.BF16),
    Case((9, 10), 16, 33, (3, 3), (2, 2), (1, 2), (0, 3), (4, 6), groups=2, kind=K.F16, math=M.F16),
    Case((7, 7), 200, 264, *_THREE, (7, 7), batch=3, math=M.BF16, bias=True),
    Case((50,), 33, 65, (5,), (2,), (1,), (1,), (24,), math=M.BF16),
    Case((9, 10), 64, 70, *_THREE, (9, 10), math=M.BF16, apart=2),
    Case((9, 10), 40, 70, (8, 9), (1, 1), (1, 1), (1, 1), (4, 4), batch=9, math=M.BF16, segment=7, bias=True),
    Case((9, 10), 40, 70, (8, 9), (1, 1), (1, 1), (1, 1), (4, 4), batch=70, math=M.BF16, segment=7, beside=True),
    Case((5, 6, 7), 40, 16, (3, 2, 3), (1, 1, 1), (-1, 1, 1), (-1, 0, 1), (5, 6, 7), groups=2, kind=K.F16, math=M.F16),
)
INTEGERS = (
    Case((9, 10), 64, 70, *_THREE, (9, 10)),
    Case((9, 10), 20, 33, (3, 3), (2, 2), (1, 2), (0, 3), (4, 6), groups=2),
    Case((7, 7), 130, 200, *_THREE, (7, 7), batch=3),
)


def whole(case: Case, kinds: tuple[K, K] = (K.S8, K.S8)) -> ConvolutionProblem:
    """A case in integers, whose results are the sums."""
    p = case.problem()
    graph = expand(Graph((Port(PRODUCT, K.S32),), ((Port("y", K.S32), cast(input_(PRODUCT, K.S32), K.S32)),)))
    return replace(
        p, x=replace(p.x, kind=kinds[0]), w=replace(p.w, kind=kinds[1]), accumulator=K.S32, epilogue=graph, math=None,
        operands=(replace(p.operands[-1], kind=K.S32),),
    )  # fmt: skip


@pytest.mark.cpu_only
def test_compiles(full: bool) -> None:
    """Some cases' kernels, with --full all of them in every tile."""
    problems = [*(c.problem() for c in FLOATS), *(replace(c, last=False).problem() for c in FLOATS), *map(whole, INTEGERS)]
    for i, p in enumerate(problems if full else problems[1::5]):
        for tile in TILES if full else (TILES[i % 4],):
            for launch in lower_warpgroups(p, tile, HOPPER).launches:
                assert launch.shared <= HOPPER.shared_bytes
                assert len(cubin(launch.source, "sm_90")) > 1000


@pytest.mark.cpu_only
def test_what_takes_lines() -> None:
    p = FLOATS[0].problem()
    assert takes_lines(p)
    assert takes_lines(whole(INTEGERS[0], (K.U8, K.S8)))
    assert not takes_lines(replace(p, math=M.F16))
    assert not takes_lines(whole(replace(INTEGERS[0], general=True)))
    with pytest.raises(
        UnsupportedError, match="a convolution of bf16 and bf16 in bf16 on sm_80; expected elements of bf16, and sm_90"
    ):
        list(ways(p, Target("sm_80", 108)))
    with pytest.raises(UnsupportedError, match="0 terms over 2 axes; expected a plain convolution"):
        list(line_ways(replace(p, channels=0), HOPPER))


def exact(p: ConvolutionProblem, x: Array, w: Array) -> Array:
    """The sums of x over (b, g, *i, c) and w over (g, *t, c, n), in the elements of these."""
    s = np.zeros((p.batch, p.groups, *p.outputs, p.columns), x.dtype)
    for tap in np.ndindex(*p.taps):
        at = [
            np.arange(o) * st + t * d - low for o, st, t, d, low in zip(p.outputs, p.stride, tap, p.dilation, p.low, strict=True)
        ]
        inside = [(i >= 0) & (i < n) for i, n in zip(at, p.inputs, strict=True)]
        seen = x[(slice(None), slice(None), *np.ix_(*(np.clip(i, 0, n - 1) for i, n in zip(at, p.inputs, strict=True))))]
        there = np.logical_and.reduce(np.meshgrid(*inside, indexing="ij"))[None, None, ..., None]
        s += np.einsum("bg...c,gcn->bg...n", np.where(there, seen, 0), w[(slice(None), *tap)])
    return s


@pytest.mark.parametrize("last", [True, False], ids=["last", "first"])
@pytest.mark.parametrize("case", FLOATS, ids=str)
def test_floats(machine: Machine, case: Case, last: bool) -> None:
    """Near the exact sums, with the same bits in every tile, and of the last batch element alone."""
    if machine.name != "cuda" or target_of(Device.cuda(0)).arch != "sm_90":
        pytest.skip("no Hopper")
    device, rng = Device.cuda(0), np.random.default_rng(1)
    p = replace(case, last=last).problem()
    _, _, extents = extents_of(p)
    memory = [
        drawn(rng, o, e, False) for o, e in zip(p.tensors, (*extents_of(p)[:2], *(extents,) * len(p.operands)), strict=True)
    ]
    wanted = exact(p, *factors_of(p, memory, np.float64))
    if case.bias:
        wanted = wanted + viewed(memory[2], p.operands[0], extents).astype(np.float64)
    general = replace(case, last=last, general=True).problem()
    alone = replace(case, last=last, batch=1).problem()
    first: Array | None = None
    for q, tile in [(p, t) for t in TILES] + [(general, TILES[3]), (alone, TILES[2])]:
        blocks = [block.copy() for block in memory]
        one = q.batch != p.batch
        if one and case.beside:
            continue
        if one:
            blocks[0], blocks[-1] = (
                b[(p.batch - 1) * o.strides[0] :].copy() for b, o in ((blocks[0], p.x), (blocks[-1], p.operands[-1]))
            )
        lowered = lower_warpgroups(q, tile, target_of(device))
        run(lowered, blocks, np.full(lowered.workspace_bytes + 64, 0xFF, np.uint8), device)
        found = viewed(blocks[-1], q.operands[-1], (q.batch, *extents[1:]))
        if first is None:
            first = found.copy()
            limit = {K.BF16: 0.02, K.F16: 0.003}[case.kind] * float(np.sqrt((wanted**2).mean())) * 4
            assert np.abs(found.astype(np.float64) - wanted).max() <= limit
        assert np.array_equal(found.view(np.uint16), (first[-1:] if one else first).view(np.uint16)), lowered.schedule


@pytest.mark.parametrize("kinds", [(K.S8, K.S8), (K.U8, K.S8)], ids=str)
@pytest.mark.parametrize("last", [True, False], ids=["last", "first"])
@pytest.mark.parametrize("case", INTEGERS, ids=str)
def test_integers(machine: Machine, case: Case, last: bool, kinds: tuple[K, K]) -> None:
    """The exact sums."""
    if machine.name != "cuda":
        pytest.skip("no CUDA device")
    device, rng = Device.cuda(0), np.random.default_rng(1)
    p = whole(replace(case, last=last), kinds)
    x_extents, w_extents, extents = extents_of(p)
    counts = [
        1 + sum(s * (n - 1) for s, n in zip(o.strides, e, strict=True))
        for o, e in zip(p.tensors, (x_extents, w_extents, extents), strict=True)
    ]
    memory = [
        rng.integers(-128 if o.kind is K.S8 else 0, 128 if o.kind is K.S8 else 256, n).astype(o.kind.numpy)
        for o, n in zip((p.x, p.w), counts, strict=False)
    ]
    memory.append(np.zeros(counts[-1], np.int32))
    wanted = exact(p, *factors_of(p, memory, np.int64))
    for lowered in line_ways(p, target_of(device)):
        blocks = [block.copy() for block in memory]
        run(lowered, blocks, np.full(lowered.workspace_bytes + 64, 0xFF, np.uint8), device)
        assert np.array_equal(viewed(blocks[-1], p.operands[-1], extents), wanted), lowered.schedule
