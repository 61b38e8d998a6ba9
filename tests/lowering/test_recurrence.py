"""Recurrences and sums along chains: the machine under the alignment losses, on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.layout import contiguous_strides
from baracuda.core.plan import Plan
from baracuda.formula import functions as f
from baracuda.formula.expr import cast, const, param, select
from baracuda.lowering.recurrence.cpu import lower as cpu
from baracuda.lowering.recurrence.cuda import lower as cuda
from baracuda.lowering.recurrence.pipeline import Formula, PipelineImplementation
from baracuda.lowering.recurrence.problem import (
    BATCH,
    LANE,
    STEP,
    ArrayLayout,
    Chains,
    Component,
    Recurrence,
    Store,
    Trace,
    in_primitives,
    read,
    state,
    state_at,
    tensors_of,
    total,
)
from baracuda.ops.losses.ctc import CtcLossBackwardPlan, CtcLossDescriptor, CtcLossPlan
from baracuda.ops.losses.rnnt import RnntLossBackwardPlan, RnntLossDescriptor, RnntLossPlan
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.device_memory import DeviceMemory
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.toolchain import toolchain_of

TARGETS = [replace(host(), vector_bits=bits) for bits in (128, 256, 512) if bits <= host().vector_bits]
if host().triple.startswith("x86_64"):
    TARGETS.append(CpuTarget(host().triple, "x86-64-v3", "", 256))
WEIGHT = np.float32(0.375)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`way` is what a problem's code is made for: on the CPU a target, on a GPU a tuning."""
    if "way" not in metafunc.fixturenames:
        return
    if metafunc.config.getoption("--device") == "cpu":
        metafunc.parametrize("way", TARGETS, ids=lambda t: f"{t.cpu}-{t.vector_bits}")
    else:
        metafunc.parametrize("way", cuda.TUNINGS, ids=lambda t: f"{t.lanes}-{t.ahead}")


def run(
    problem: Recurrence | Chains,
    tensors: Mapping[str, np.ndarray[Any, Any]],
    device: str,
    way: CpuTarget | cuda.Tuning | None = None,
    *,
    general: bool = False,
    parameters: Mapping[str, float] | None = None,
) -> None:
    """Carry out a problem on a device, on NumPy arrays without gaps."""
    primitive = in_primitives(problem)
    tensors_in_order = [tensors[n] for n in tensors_of(primitive)]
    arrays = {
        n: ArrayLayout(K.from_numpy(t.dtype), t.shape, tuple(s // t.itemsize for s in t.strides), general)
        for n, t in tensors.items()
    }
    values = [(n.kind, (parameters or {})[n.attr]) for n in primitive.facts.params]
    if device != "cpu":
        assert not isinstance(way, CpuTarget)
        on_gpu(primitive, arrays, values, tensors_in_order, way)
        return
    assert not isinstance(way, cuda.Tuning)
    lowered = cpu.lower(primitive, arrays, way)
    workspace = np.full(lowered.workspace_bytes + 64, 0xFF, np.uint8)
    call = CpuToolchain(way).load(lowered, len(tensors_in_order), values)
    call.call([t.ctypes.data for t in tensors_in_order], workspace.ctypes.data)


def on_gpu(
    primitive: Recurrence | Chains,
    arrays: Mapping[str, ArrayLayout],
    values: Sequence[tuple[K, float]],
    tensors: Sequence[np.ndarray[Any, Any]],
    tuning: cuda.Tuning | None,
) -> None:
    """Carry out a problem in primitives on copies in a GPU's memory, and copy these back."""
    lowered = cuda.lower(primitive, arrays, tuning)
    call = toolchain_of(Device.cuda(0)).load(lowered, len(tensors), values)
    *held, workspace = (DeviceMemory(n, Device.cuda(0)) for n in (*(t.nbytes for t in tensors), lowered.workspace_bytes))
    for memory, t in zip(held, tensors, strict=True):
        memory.fill(t.ravel("K"))
    workspace.fill(np.full(workspace.nbytes, 0xFF, np.uint8))
    call.call([memory.pointer for memory in held], workspace.pointer, 0)
    for memory, t in zip(held, tensors, strict=True):
        t[...] = np.ndarray(t.shape, t.dtype, memory.read().data, strides=t.strides)


def smoothing(batch: int, steps: int, lanes: int, element: K) -> Recurrence:
    """s'[l] = (s[l-2] + s[l]) + weight * s[l+1] + x[batch, step, at[batch, l]], with as many steps and lanes as are told."""
    kind = element.compute
    x = read("x", element, BATCH, STEP, read("at", K.S64, BATCH, LANE))
    after = state(0, kind, -2) + state(0, kind) + param("weight", kind) * state(0, kind, 1) + x
    count = state(1, K.S32)
    step, count_of_steps = cast(STEP, K.S64), read("steps", K.S64, BATCH)
    return Recurrence(
        batch,
        steps,
        lanes,
        read("steps", K.S64, BATCH),
        read("lanes", K.S32, BATCH),
        state=(
            Component(cast(LANE, kind), after, edge=2.0),
            Component(const(7, K.S32), count + select(LANE > 3, const(1, K.S32), 2)),
        ),
        traces=(Trace("trace", select(step < count_of_steps, count_of_steps - 1 - step, step), after, fill=-5.0),),
        lasts=(Store("last", state(0, kind)), Store("count", count)),
        results=(Store("result", state_at(0, kind, read("lanes", K.S32, BATCH) - 1) * 2.0),),
    )


def smoothed(x: Any, at: Any, steps: Any, lanes: Any, dtype: Any) -> dict[str, Any]:
    """The same in NumPy, in the kind it is computed in."""
    batch, most, every = x.shape[0], x.shape[1], at.shape[1]
    results = {"trace": np.full((batch, most, every), -5.0, dtype), "last": np.zeros((batch, every), dtype)}
    results |= {"count": np.zeros((batch, every), np.int32), "result": np.zeros(batch, dtype)}
    for b in range(batch):
        t, n = int(np.clip(steps[b], 0, most)), int(np.clip(lanes[b], 0, every))
        s, count = np.arange(every).astype(dtype), np.full(every, 7, np.int32)
        for step in range(t):
            padded = np.concatenate([np.full(2, 2.0, dtype), s, np.full(1, 2.0, dtype)])
            picked = x[b, step, np.clip(at[b], 0, x.shape[2] - 1)].astype(dtype)
            new = ((padded[:-3] + padded[2:-1]) + dtype(WEIGHT) * padded[3:]) + picked
            s, count = s.copy(), count.copy()
            s[:n] = new[:n]
            count[:n] += np.where(np.arange(n) > 3, 1, 2).astype(np.int32)
            results["trace"][b, steps[b] - 1 - step, :n] = new[:n]
        results["last"][b], results["count"][b] = s, count
        results["result"][b] = s[np.clip(lanes[b] - 1, 0, every - 1)] * dtype(2.0)
    return results


@pytest.mark.parametrize("element", [K.F32, K.F64, K.F16, K.BF16], ids=str)
def test_recurrence(element: K, way: CpuTarget | cuda.Tuning, device: str) -> None:
    """Bit for bit, with neighbours on both sides, ragged lengths, indices out of range, and traces in another layout."""
    rng = np.random.default_rng(1)
    dtype = element.compute.numpy.type
    for batch, most, every in ((3, 5, 1), (4, 6, 7), (2, 9, 16), (3, 4, 37), (1, 3, 64), (2, 3, 5000)):
        x = (rng.standard_normal((batch, most, 6)) * 0.5).astype(element.numpy)
        at = rng.integers(-2, 9, (batch, every))
        steps, lanes = np.full(batch, most), np.full(batch, every, np.int32)
        steps[1:], lanes[1:] = rng.integers(0, most + 1, batch - 1), rng.integers(0, every + 2, batch - 1)
        wanted = smoothed(x, at, steps, lanes, dtype)
        for general, order in ((False, "C"), (True, "C"), (False, "F")):
            outputs = {n: np.full(w.shape, 99, w.dtype, order) for n, w in wanted.items()}
            inputs = {"x": np.asarray(x, order=order), "at": np.asarray(at, order=order), "steps": steps, "lanes": lanes}
            problem = smoothing(batch, most, every, element)
            run(problem, inputs | outputs, device, way, general=general, parameters={"weight": WEIGHT})
            for name, w in wanted.items():
                assert np.array_equal(outputs[name], w), f"{name} of {(batch, most, every)}, general {general}, order {order}"


def linked(batch: int, steps: int, lanes: int, kind: K) -> Chains:
    """y[batch, step, key] = scale - the sum of x over a chain, where the key is in range."""
    return Chains(
        batch,
        steps,
        lanes,
        read("steps", K.S32, BATCH),
        const(lanes, K.S32),
        head=read("head", K.BOOL, BATCH, LANE),
        link=read("link", K.S32, BATCH, LANE),
        value=read("x", kind, BATCH, STEP, LANE),
        result=f.exp(read("scale", kind, STEP)) - total(kind),
        tensor="y",
        index=(BATCH, STEP, read("key", K.S32, BATCH, LANE)),
    )


@pytest.mark.parametrize("kind", [K.F32, K.F64], ids=str)
def test_chains(kind: K, device: str) -> None:
    """Sums in rising order of lanes from the first; elements of no chain, of steps that do not count and of keys out of range
    are left alone."""
    rng = np.random.default_rng(2)
    batch, steps, lanes, classes = 3, 5, 40, 8
    dtype = kind.numpy.type
    key = rng.integers(-1, classes + 2, (batch, lanes)).astype(np.int32)
    head, link = np.zeros((batch, lanes), bool), np.full((batch, lanes), -1, np.int32)
    for b in range(batch):
        for k in range(-1, classes + 2):
            (members,) = np.nonzero(key[b] == k)
            head[b, members[:1]] = True
            link[b, members[:-1]] = members[1:]
            link[b, members[-1:]] = lanes + 3 * (k % 2)
    x, scale = rng.standard_normal((batch, steps, lanes)).astype(dtype), np.zeros(steps, dtype)
    count = np.array([5, 0, 2], np.int32)
    wanted = np.full((batch, steps, classes), 99, dtype)
    for b in range(batch):
        for t in range(count[b]):
            for k in {*key[b]} & {*range(classes)}:
                partial_sum = dtype(0)
                for number, lane in enumerate(np.nonzero(key[b] == k)[0]):
                    partial_sum = x[b, t, lane] if number == 0 else partial_sum + x[b, t, lane]
                wanted[b, t, k] = dtype(1) - partial_sum
    y = np.full_like(wanted, 99)
    tensors = {"head": head, "link": link, "x": x, "scale": scale, "key": key, "steps": count, "y": y}
    run(linked(batch, steps, lanes, kind), tensors, device)
    assert np.array_equal(y, wanted)


def test_without_state_or_steps(device: str) -> None:
    """What is written once needs neither."""
    none = const(0, K.S32)
    y = np.full((2, 21), 99, np.int32)
    run(Recurrence(2, 0, 21, none, none, lasts=(Store("y", LANE * 10 + BATCH),)), {"y": y}, device)
    assert np.array_equal(y, np.arange(21) * 10 + np.arange(2)[:, None])


# --- NVRTC ------------------------------------------------------------------------------------------------------------


def compiled(
    problem: Recurrence | Chains, arrays: Mapping[str, ArrayLayout], arch: str, tuning: cuda.Tuning | None = None
) -> str:
    """The name of the schedule of a problem whose source NVRTC takes."""
    from baracuda.runtime.nvrtc import cubin

    lowered = cuda.lower(in_primitives(problem), arrays, tuning)
    for launch in lowered.launches:
        assert cubin(launch.source, arch)[:4] == b"\x7fELF"
        assert launch.shared <= 96 * 1024
    return lowered.schedule


@pytest.mark.cpu_only
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_kernels_compile(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    schedules = []
    for lanes, element, tuning in (
        (20, K.F32, None), (1000, K.BF16, None), (4000, K.F16, None), (9000, K.F64, None), (40000, K.F32, None),
        (300, K.F64, cuda.Tuning(4, 8)),
    ):  # fmt: skip
        shapes = {
            "x": (element, (2, 5, 6)), "at": (K.S64, (2, lanes)), "steps": (K.S64, (2,)), "lanes": (K.S32, (2,)),
            "trace": (element, (2, 5, lanes)), "last": (element, (2, lanes)), "count": (K.S32, (2, lanes)),
            "result": (K.F32, (2,)),
        }  # fmt: skip
        arrays = {n: ArrayLayout(k, s, contiguous_strides(s)) for n, (k, s) in shapes.items()}
        if element is K.F64:
            arrays["result"] = replace(arrays["result"], kind=K.F64)
        schedules.append(compiled(smoothing(2, 5, lanes, element), arrays, arch, tuning))
    assert schedules == [
        "recurrence 32x1", "recurrence 1024x1", "recurrence 1024x4", "recurrence 1024xn in memory", "recurrence 1024xn in memory",
        "recurrence 96x4",
    ]  # fmt: skip


PLANS: list[tuple[type[Plan[Any, Any]], Any]] = [
    (plan, CtcLossDescriptor(50, 3, 20, most, element, index, index, total, reduction=reduction, saved=True))
    for plan in (CtcLossPlan, CtcLossBackwardPlan)
    for most, element, index, total, reduction in (
        (7, K.F32, K.S64, None, "mean"), (600, K.BF16, K.S32, 900, "none"), (0, K.F64, K.S64, None, "sum"),
    )
]  # fmt: skip
PLANS += [
    (plan, RnntLossDescriptor(3, 20, most, 7, element, index, index, reduction=reduction, fused_log_softmax=fused, saved=True))
    for plan in (RnntLossPlan, RnntLossBackwardPlan)
    for most, element, index, fused, reduction in ((40, K.F16, K.S32, True, "mean"), (0, K.F64, K.S64, False, "none"))
]


@pytest.mark.cpu_only
@pytest.mark.parametrize("number", range(len(PLANS)))
def test_kernels_of_losses_compile(number: int, full: bool) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    plan, descriptor = PLANS[number]
    offline = PipelineImplementation.__new__(PipelineImplementation)
    offline.pipeline, offline.specs, offline.descriptor = plan.pipeline(descriptor), plan.tensors, descriptor  # type: ignore[attr-defined]
    layout = plan.layouts(descriptor)[0]
    for arch in ("sm_80", "sm_90", "sm_100") if full else (("sm_80", "sm_90", "sm_100")[number % 3],):
        for stage in offline.pipeline.stages:
            if not isinstance(stage, Formula):
                compiled(stage, offline.arrays(layout), arch)
