"""What a run may not do: allocate, compile, or leave something behind; and what it must do: address large tensors."""

from __future__ import annotations

import gc
import math
import os
import time
from collections.abc import Sequence
from typing import Any

import pytest

import baracuda
from baracuda import BinaryKind, BinaryParamArgs, BinaryParamDescriptor, BinaryParamPlan, Device, ElementKind, Stream
from baracuda.cli.verify.placement import LAYOUTS
from baracuda.cli.verify.plans import SUBJECTS, Subject, SubjectCase
from baracuda.cli.verify.session import PlacedTensors
from baracuda.core.workspace import Workspace
from baracuda.runtime import cuda_toolchain
from tests.machine import machine_of

F32, BF16 = ElementKind.F32, ElementKind.BF16
#: How often the device's free memory is compared, which other processes change too.
ATTEMPTS = 10


@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_a_run_allocates_and_compiles_nothing(torch: Any, tried: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the strides: they run on kernels that were made when the plan was selected.

    In one attempt of several the device's free memory must be what it was: other processes do not change it in all of them, and
    what a run allocates it would allocate in each, because each loads its kernels anew.
    """
    machine = machine_of("cuda")
    shape = (2, 3, 16, 40) if tried.rank == 4 else (48, 40)
    places = [PlacedTensors(machine, SubjectCase(tried, shape, F32, layout)) for layout in LAYOUTS]
    changes: list[int] = []
    while 0 not in changes and len(changes) < ATTEMPTS:
        time.sleep(0.2 * bool(changes))
        with monkeypatch.context() as patch:
            patch.setattr(cuda_toolchain, "_kernels", {})
            patch.setattr(cuda_toolchain, "_functions", {})
            changes.append(_change_of_free_memory(torch, tried, SubjectCase(tried, shape, F32).descriptor, places, patch))
    assert 0 in changes, f"bytes of free memory, after less before: {changes}"


def _change_of_free_memory(
    torch: Any, tried: Subject, descriptor: Any, places: Sequence[PlacedTensors], patch: pytest.MonkeyPatch
) -> int:
    """Select a plan and run it on each of `places`: by how much the device's free memory changes, of all processes. The runs
    must neither compile nor allocate with torch."""
    machine = machine_of("cuda")
    plan = tried.plan.select(machine.stream, descriptor)
    workspace = machine.workspace(plan.workspace_size())

    def refuse(*_: Any, **__: Any) -> bytes:
        raise AssertionError("a run compiled a kernel")

    patch.setattr(cuda_toolchain, "cubin", refuse)
    patch.setattr(cuda_toolchain, "cubins", refuse)
    loaded = len(cuda_toolchain._kernels)
    assert loaded
    torch.cuda.synchronize()
    allocated, free = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
    for place in places:
        plan.run(machine.stream, workspace, place.args)
        plan.run(machine.stream, workspace, place.args)
    torch.cuda.synchronize()
    change: int = torch.cuda.mem_get_info()[0] - free
    assert len(cuda_toolchain._kernels) == loaded
    assert torch.cuda.memory_allocated() == allocated
    return change


def _resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_ten_thousand_runs_leave_nothing_behind(torch: Any) -> None:
    """New tensors each time, so that nothing is kept for one address."""
    x = torch.randn(64, 1000, device="cuda")
    baracuda.softmax(x)
    torch.cuda.synchronize()

    def runs(count: int) -> None:
        for _ in range(count):
            baracuda.softmax(x.clone())
        torch.cuda.synchronize()

    runs(2000)
    gc.collect()
    before = torch.cuda.memory_allocated(), _resident()
    runs(10_000)
    gc.collect()
    assert torch.cuda.memory_allocated() == before[0]
    assert _resident() - before[1] < 8 << 20


def test_ten_thousand_launches_leave_nothing_behind(torch: Any) -> None:
    x, y = torch.randn(8, 100, device="cuda"), torch.empty(8, 100, device="cuda")
    descriptor = baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, (8, 100), -1, F32)
    plan = baracuda.SoftmaxPlan.select(Stream(Device.cuda(0)), descriptor)
    args = baracuda.SoftmaxArgs(x, y)
    for _ in range(100):
        plan.bind(None, None, args)()
    gc.collect()
    before = _resident()
    for _ in range(10_000):
        plan.bind(None, None, args)()
    torch.cuda.synchronize()
    gc.collect()
    assert _resident() - before < 8 << 20


@pytest.mark.slow
def test_more_than_two_to_the_31_elements_pointwise(torch: Any) -> None:
    n = (1 << 31) + 4099
    if torch.cuda.mem_get_info()[0] < 7 * n:
        pytest.skip("not enough memory")
    a, b = torch.ones(n, device="cuda", dtype=torch.bfloat16), torch.zeros(n, device="cuda", dtype=torch.bfloat16)
    y = torch.full((n,), float("nan"), device="cuda", dtype=torch.bfloat16)
    b[-1], b[1 << 31] = 3.0, 5.0
    plan = BinaryParamPlan.select(Stream(Device.cuda(0)), BinaryParamDescriptor(BinaryKind.LERP, (n,), BF16, 0.5))
    plan.run(None, None, BinaryParamArgs(a, b, y))
    torch.cuda.synchronize()
    assert (y[-1].item(), y[1 << 31].item()) == (2.0, 3.0)
    for start in range(0, n, 1 << 28):
        part = y[start : start + (1 << 28)]
        assert int((part == 0.5).sum()) + 2 * (start == 1 << 31) == part.numel()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, (1 << 31) + 4099), ((1 << 20) + 3, 2049)], ids=["one row", "many rows"])
def test_more_than_two_to_the_31_elements_in_rows(torch: Any, shape: tuple[int, int]) -> None:
    rows, n = shape
    if torch.cuda.mem_get_info()[0] < 6 * rows * n:
        pytest.skip("not enough memory")
    x = torch.zeros(shape, device="cuda", dtype=torch.bfloat16)
    y = torch.full(shape, float("nan"), device="cuda", dtype=torch.bfloat16)
    x[-1, -1] = 40.0
    descriptor = baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, shape, -1, BF16)
    plan = baracuda.SoftmaxPlan.select(Stream(Device.cuda(0)), descriptor)
    size = plan.workspace_size()
    workspace = Workspace(torch.empty(size, device="cuda", dtype=torch.uint8)) if size else None
    plan.run(None, workspace, baracuda.SoftmaxArgs(x, y))
    torch.cuda.synchronize()
    assert y[-1, -1].item() == 1.0
    assert y[-1, 0].item() == pytest.approx(math.exp(-40), rel=1e-2)
    if rows > 1:
        assert y[0, 0].item() == pytest.approx(1 / n, rel=1e-2)
        assert bool((y[:-1] == y[0, 0]).all())


def test_each_device_has_its_own_kernels(torch: Any) -> None:
    """The same plan on every GPU, without touching the caller's current device, gives the same bits."""
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    x = torch.randn(64, 3000)
    results = []
    for index in range(torch.cuda.device_count()):
        torch.cuda.set_device(0)
        there = x.to(f"cuda:{index}")
        results.append(baracuda.softmax(there))
        assert results[-1].device.index == index
        assert torch.cuda.current_device() == 0
        rms = torch.ones(64, 1, device=there.device)
        dx, dgamma = baracuda.rms_norm_backward(there, there, rms, there[0].contiguous())
        results[-1] = results[-1].cpu(), dx.cpu(), dgamma.cpu()
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))
    wrong = torch.randn(64, 3000, device="cuda:1")
    plan = baracuda.SoftmaxPlan.select(
        Stream(Device.cuda(0)), baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, (64, 3000), -1, F32)
    )
    with pytest.raises(baracuda.InvalidProblemError, match="it is on cuda:1; expected cuda:0"):
        plan.run(None, None, baracuda.SoftmaxArgs(wrong, wrong))
