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
from baracuda.formula.integer_products import integer_product
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrence.pipeline import Pipeline
from baracuda.lowering.recurrence.problem import BATCH as BATCH_NUMBER
from baracuda.lowering.recurrence.problem import LANE, STEP, ArrayLayout, Component, Store, in_primitives, read, state, tensors_of
from baracuda.lowering.recurrent.cpu import lower as cpu
from baracuda.lowering.recurrent.cuda import lower as cuda
from baracuda.lowering.recurrent.problem import Phase, Recurrent, Trace, fold, product
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


def summing(lanes: int = LANES, bits: int = 0) -> Recurrent:
    """h[j] = x[j] + sum over k of w[j, k] h[k], and what it is at every step."""
    h = fold(K.F32) + read("x", K.F32, LANE)
    start = read("start", K.F32, BATCH_NUMBER, LANE)
    phase = Phase(
        lanes, "w", lanes, 1, folds=(product(K.F32, bits),), state=(Component(start, h),), message=(h,),
        traces=(Trace("y", STEP, h),), lasts=(Store("end", state(0, K.F32)),),
    )  # fmt: skip
    return Recurrent(BATCH, STEPS, const(STEPS, K.S32), (phase,), K.F32, (start,))


def arrays_of(shapes: dict[str, tuple[int, ...]]) -> dict[str, ArrayLayout]:
    return {n: ArrayLayout(K.F32, s, contiguous_strides(s)) for n, s in shapes.items()}


def run(problem: Recurrent, tensors: dict[str, np.ndarray[Any, Any]], target: CpuTarget) -> None:
    """Run it on the CPU, with a workspace full of NaN."""
    problem = in_primitives(problem)
    lowered = cpu.lower(problem, arrays_of({n: t.shape for n, t in tensors.items()}), target)
    names = tensors_of(problem)
    program = CpuToolchain(target).load(lowered, len(names), [])
    workspace = np.full(lowered.workspace_bytes + 64, 0xFF, np.uint8)
    program.call([tensors[n].ctypes.data for n in names], workspace.ctypes.data + -workspace.ctypes.data % 64, 0)


def given(lanes: int) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return {
        "w": rng.standard_normal((1, lanes, lanes)).astype(np.float32) * np.float32(0.3),
        "x": rng.standard_normal(lanes).astype(np.float32),
        "start": np.ones((BATCH, lanes), np.float32),
        "y": np.full((STEPS, BATCH, lanes), np.nan, np.float32),
        "end": np.full((BATCH, lanes), np.nan, np.float32),
    }


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.cpu}-{t.vector_bits}")
def test_the_order_of_sums(target: CpuTarget) -> None:
    tensors = given(LANES)
    w, x = tensors["w"], tensors["x"]
    run(summing(), tensors, target)
    h = np.ones(LANES, np.float32)
    for step in range(STEPS):
        total = np.zeros(LANES, np.float32)
        for k in range(LANES):  # a fused multiply-add of two f32 is exact in f64 until it is added
            total = np.array([_fma(w[0, j, k], h[k], total[j]) for j in range(LANES)], np.float32)
        h = total + x
        assert (tensors["y"][step] == h).all()
    assert (tensors["end"] == h).all()


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.cpu}-{t.vector_bits}")
@pytest.mark.parametrize("bits", [15, 23])
@pytest.mark.parametrize("infinite", [False, True])
def test_integer_products(infinite: bool, bits: int, target: CpuTarget) -> None:
    lanes = 300
    tensors = given(lanes)
    w, x, start = tensors["w"], tensors["x"], tensors["start"]
    w *= np.exp2(np.arange(lanes) % 61 - 60).astype(np.float32)[:, None]
    w[0, 7] = 0
    w[0, 150:, 9] = 2.0**-140
    start *= np.exp2(-np.arange(BATCH) * 17 % 120).astype(np.float32)[:, None]
    start[1, 200:], start[2, 5] = 0, np.inf
    start[3, 130] = np.nan
    if infinite:
        w[0, 20, 131] = -np.inf
    run(summing(lanes, bits), tensors, target)
    h = start
    for step in range(STEPS):
        h = integer_product(h, w[0].T, bits) + x
        assert ((tensors["y"][step].view(np.uint32) == h.view(np.uint32)) | np.isnan(h) & np.isnan(tensors["y"][step])).all()
    assert np.isnan(h).any()
    assert np.isfinite(h).any() != infinite
    assert np.array_equal(tensors["end"], h, equal_nan=True)


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
    compile_case(*CASES[name], arch)


@pytest.mark.parametrize(
    ("name", "bits", "batch", "units", "arch"),
    [
        ("lstm", 23, 64, 1024, "sm_90"),  # weights stay in shared memory
        ("gru", 15, 40, 4096, "sm_80"),  # they do not
        ("lstm backward", 15, 16, 200, "sm_100"),
        ("gru before backward", 23, 300, 40, "sm_90"),
        ("long projected", 23, 3, 3000, "sm_80"),
    ],
)
def test_integers_compile(name: str, bits: int, batch: int, units: int, arch: str) -> None:
    d, plan, pipeline = CASES[name]
    compile_case(replace(d, batch=batch, units=units, element=K.BF16), plan, lambda d: pipeline(d, bits), arch)  # type: ignore[call-arg]


def compile_case(d: Any, plan: type[Plan[Any, Any]], pipeline: Callable[[Any], Pipeline], arch: str) -> None:
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
