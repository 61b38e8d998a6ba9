"""Recurrences with sums over all lanes: one order whatever vectors and tiles, and code for every GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind as K
from baracuda.core.layout import contiguous_strides
from baracuda.core.plan import Plan
from baracuda.formula.expr import const
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrence.pipeline import Pipeline
from baracuda.lowering.recurrence.problem import LANE, STEP, ArrayLayout, Component, Store, in_primitives, read, state, tensors_of
from baracuda.lowering.recurrent.cpu import lower as cpu
from baracuda.lowering.recurrent.cuda import lower as cuda
from baracuda.lowering.recurrent.problem import Phase, Recurrent, Trace, chain, fold
from baracuda.ops.rnn import plan as networks
from baracuda.ops.rnn import stages
from baracuda.ops.rnn import tag_plans as tags
from baracuda.ops.rnn.cells import Cell, activation
from baracuda.ops.rnn.descriptor import RecurrentDescriptor
from baracuda.runtime import nvrtc
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget, host

TARGETS = [replace(host(), vector_bits=bits) for bits in (128, 256, 512) if bits <= host().vector_bits]
if host().triple.startswith("x86_64"):
    TARGETS.append(CpuTarget(host().triple, "x86-64-v3", "", 256))
STEPS, BATCH, LANES = 3, 9, 21


def summing() -> Recurrent:
    """h[j] = x[j] + sum over k of w[j, k] h[k], and what it is at every step."""
    h = fold(K.F32) + read("x", K.F32, LANE)
    start = const(1.0, K.F32)
    phase = Phase(
        LANES, "w", LANES, 1, folds=(chain(K.F32),), state=(Component(start, h),), message=(h,), traces=(Trace("y", STEP, h),),
        lasts=(Store("end", state(0, K.F32)),),
    )  # fmt: skip
    return Recurrent(BATCH, STEPS, const(STEPS, K.S32), (phase,), K.F32, (start,))


def arrays_of(shapes: dict[str, tuple[int, ...]]) -> dict[str, ArrayLayout]:
    return {n: ArrayLayout(K.F32, s, contiguous_strides(s)) for n, s in shapes.items()}


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.cpu}-{t.vector_bits}")
def test_the_order_of_sums(target: CpuTarget) -> None:
    rng = np.random.default_rng(0)
    w, x = rng.standard_normal((1, LANES, LANES)).astype(np.float32) * 0.3, rng.standard_normal(LANES).astype(np.float32)
    y, end = np.full((STEPS, BATCH, LANES), np.nan, np.float32), np.full((BATCH, LANES), np.nan, np.float32)
    problem = in_primitives(summing())
    tensors = {"w": w, "x": x, "y": y, "end": end}
    lowered = cpu.lower(problem, arrays_of({n: t.shape for n, t in tensors.items()}), target)
    names = tensors_of(problem)
    program = CpuToolchain(target).load(lowered, len(names), [])
    workspace = np.full(lowered.workspace_bytes + 64, 0xFF, np.uint8)
    program.call([tensors[n].ctypes.data for n in names], workspace.ctypes.data + -workspace.ctypes.data % 64, 0)
    h = np.ones(LANES, np.float32)
    for step in range(STEPS):
        total = np.zeros(LANES, np.float32)
        for k in range(LANES):  # a fused multiply-add of two f32 is exact in f64 until it is added
            total = np.array([_fma(w[0, j, k], h[k], total[j]) for j in range(LANES)], np.float32)
        h = total + x
        assert (y[step] == h).all()
    assert (end == h).all()


def _fma(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    """a * b + c, rounded once."""
    from fractions import Fraction

    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    near = np.float32(float(exact))  # rounded twice; a neighbour may be nearer
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))


SIGMOID, TANH = activation("sigmoid"), activation("tanh")
CELLS = {
    "lstm": Cell("lstm", (SIGMOID, TANH, TANH), peepholes=True),
    "gru": Cell("gru", (SIGMOID, TANH)),
    "gru before": Cell("gru", (SIGMOID, TANH), clip=1.0, reset_after=False),
    "rnn": Cell("rnn", (TANH,)),
    "slstm": Cell("slstm", ()),
}
Case = tuple[Any, type[Plan[Any, Any]], Callable[[Any], Pipeline]]


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for i, (name, cell) in enumerate(CELLS.items()):
        element = (K.F32, K.F16, K.BF16, K.F64)[i % 4]
        d = RecurrentDescriptor(cell, 9, 40, 100, element, 0, i % 2 == 1, K.S64, True, True, True)
        found[name] = d, networks.RecurrentPlan, stages.forward
        found[f"{name} backward"] = replace(d, saves=False), networks.RecurrentBackwardPlan, stages.backward
    d = RecurrentDescriptor(Cell("lstm", (SIGMOID, TANH, TANH)), 9, 3, 3000, K.F32, 40)
    found["long projected"] = d, networks.RecurrentPlan, stages.forward
    t = tags.TagsDescriptor(9, 40, 30, K.BF16, True, True, K.S32, True)
    found["sums of paths"] = t, tags.TagSumsPlan, tags._sums
    found["shares of paths"] = replace(t, saves=False), tags.TagSharesPlan, tags._shares
    found["best path"] = replace(t, saves=False), tags.BestTagsPlan, tags._best
    found["path"] = replace(t, saves=False), tags.TagPathPlan, tags._path
    return found


CASES = cases()


@pytest.mark.one_of(3)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("name", CASES)
def test_compiles(name: str, arch: str) -> None:
    d, plan, pipeline = CASES[name]
    specs = [s for s in plan.tensors if s.presence(d)]
    arrays = {
        s.name: ArrayLayout(s.expected_kind(d), s.expected_shape(d), contiguous_strides(s.expected_shape(d))) for s in specs
    }
    stage = pipeline(d).stages[0]
    assert isinstance(stage, Recurrent)
    lowered = cuda.lower(in_primitives(stage), arrays, Target(arch))
    assert lowered.launches[-1].grid[0] <= 132  # all blocks are there at once
    assert lowered.launches[-1].shared <= Target(arch).shared_bytes - 1024
    for launch in lowered.launches:
        nvrtc.cubin(launch.source, arch)
