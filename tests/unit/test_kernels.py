"""What a plan says of its kernels, on devices that are there and on targets that are not."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import baracuda
from baracuda.core.device import Device, Stream
from baracuda.core.errors import UnsupportedError
from baracuda.core.kernel_info import KernelInfo
from baracuda.core.run_hooks import run_hook
from baracuda.frontends.array import empty
from baracuda.runtime.cubins import resources
from baracuda.runtime.nvrtc import cubin, ptx
from baracuda.runtime.offline import offline_device
from baracuda.runtime.toolchain import toolchain_of

pytestmark = pytest.mark.cpu_only

SOFTMAX = baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, (64, 1000), 1, baracuda.ElementKind.F32)
STATIC = """
extern "C" __global__ void kernel(float* x, int n) {
  __shared__ float held[1000];
  for (int i = threadIdx.x; i < 1000; i += 128) held[i] = x[i];
  __syncthreads();
  float own[64];
  for (int i = 0; i < 64; ++i) own[i] = held[i * n % 1000];
  for (int i = 0; i < n; ++i) own[i * n % 64] += own[i];
  x[threadIdx.x] = own[n];
}
"""


def on(target: str) -> tuple[KernelInfo, ...]:
    kernels: tuple[KernelInfo, ...] = baracuda.SoftmaxPlan.select(Stream(offline_device(target)), SOFTMAX).kernels()
    return kernels


def test_on_the_cpu() -> None:
    plan = baracuda.SoftmaxPlan.select(None, SOFTMAX)
    (kernel,) = plan.kernels()
    assert kernel.schedule == plan.schedule
    assert f"define void @{kernel.name}(" in kernel.source
    assert kernel.units == 64
    assert kernel.geometry == f"64 units of work, {kernel.grain} at a time"
    assert kernel.assembly is not None
    assert kernel.name in kernel.assembly
    assert (kernel.ptx, kernel.sass, kernel.resources, kernel.grid) == (None,) * 4


def test_of_args() -> None:
    """A layout that the plan was not selected for runs on the kernels for any strides, until it has some of its own."""
    x = np.ones((300, 40), np.float32).T
    args = baracuda.SumArgs(x=x, y=np.zeros(40, np.float32))
    descriptor = baracuda.sum.__wrapped__.describe(x, axis=1)
    plan = baracuda.SumPlan.select(None, descriptor)
    assert [k.source for k in plan.kernels(args)] != [k.source for k in plan.kernels()]
    plan.bind(None, None, args)
    own = baracuda.SumPlan.select(None, descriptor, like=args)
    assert [k.source for k in plan.kernels(args)] == [k.source for k in own.kernels()]


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_for_a_target_that_is_not_there(target: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    (kernel,) = on(target)
    assert (kernel.target, kernel.name, kernel.assembly) == (target, "kernel", None)
    assert kernel.grid is not None
    assert f"{kernel.grid[0]} blocks of {kernel.block} threads" in repr(kernel)
    assert kernel.ptx is not None
    assert f".target {target}" in kernel.ptx
    used = kernel.resources
    assert used is not None
    assert 16 <= used.registers <= 255
    assert used.local_bytes == 0


def test_multiprocessors_of_a_target() -> None:
    assert offline_device("sm_90:78") is not offline_device("sm_90") is offline_device("sm_90")
    for target in ("sm_90a", "gfx90a", "90", "sm_9", "sm_35"):
        with pytest.raises(UnsupportedError, match="expected"):
            on(target)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_resources(arch: str) -> None:
    """What a cubin says is what `ptxas` says; where there is no such tool, what the source asks for."""
    pytest.importorskip("cuda.bindings.nvrtc")
    used = resources(cubin(STATIC, arch))
    assert used.shared_bytes == 4000
    assert used.local_bytes == 256


def test_resources_are_those_of_ptxas(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    tool = shutil.which("ptxas")
    if tool is None:
        pytest.skip("no ptxas")
    (kernel,) = on("sm_90")
    text = re.sub(r"\.version \S+", ".version 8.0", ptx(kernel.source, "sm_90"))  # an older one may do
    (tmp_path / "kernel.ptx").write_text(text)
    command = [tool, "-v", "-arch=sm_90", "--fmad=false", str(tmp_path / "kernel.ptx"), "-o", str(tmp_path / "out")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    match = re.search(r"Used (\d+) registers", said)
    assert match is not None
    assert kernel.resources is not None
    assert abs(kernel.resources.registers - int(match[1])) <= 8  # of another version


def test_nothing_runs_on_a_device_that_is_not_there() -> None:
    x = empty((4, 5), baracuda.ElementKind.F32, offline_device("sm_90"))
    with pytest.raises(UnsupportedError, match="sm_90 without a device"):
        baracuda.softmax(x)
    with pytest.raises(UnsupportedError, match="no memory"):
        baracuda.to_device(np.zeros(3), offline_device("sm_90"))


def test_several_kernels() -> None:
    """A sort and sums of its runs: each kernel is there, in the order in which they run; so are those of a copy made first."""
    device, plans = offline_device("sm_90"), []
    index, x = empty((300,), baracuda.ElementKind.S64, device), empty((300, 7), baracuda.ElementKind.F32, device)
    with run_hook(lambda plan, stream, run: plans.append(plan)):
        baracuda.segment_sum(x, index, num_segments=5)
        baracuda.einsum("abc,acd->bd", empty((4, 5, 6), x.kind, device), empty((4, 6, 7), x.kind, device))
    sorted_sums, product = plans[-2:]
    assert sorted_sums.schedule.startswith("order")
    assert len({kernel.source for kernel in sorted_sums.kernels()}) >= 4
    assert [kernel.schedule.split()[0] for kernel in product.kernels()] == ["pointwise", "product"]


def test_a_toolchain_is_made_once() -> None:
    assert toolchain_of(Device.cpu()) is toolchain_of(Device.cpu())
