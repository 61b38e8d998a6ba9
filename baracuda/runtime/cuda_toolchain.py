"""From lowered code to a program on a CUDA device: NVRTC for the kernels, the driver to load them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.errors import UnsupportedError
from baracuda.core.kernel_info import KernelInfo, Resources
from baracuda.core.layout import round_up
from baracuda.runtime import constants
from baracuda.runtime.cubins import disassembled, resources
from baracuda.runtime.cuda import GRID_LIMIT, CudaCall, architecture, check, primary_context
from baracuda.runtime.device_memory import DeviceMemory
from baracuda.runtime.nvrtc import cubin, cubins, ptx
from baracuda.runtime.offline import OfflineProgram
from baracuda.runtime.program import Launch, Lowered, Once, Parameter, Program, Step, Template
from baracuda.runtime.streams import CudaStream, beside_captures
from baracuda.runtime.toolchain import LoadedProgram, Toolchain


@dataclass(frozen=True)
class _Tools:
    """NVRTC and NVIDIA's disassemblers for one architecture."""

    arch: str

    def ptx(self, source: str) -> str:
        return ptx(source, self.arch)

    def sass(self, source: str) -> str | None:
        return disassembled(cubin(source, self.arch))

    def assembly(self, source: str) -> None:
        """None: it is no processor."""

    def resources(self, source: str) -> Resources:
        return resources(cubin(source, self.arch))


#: Compilers join the loads of neighbours in shared memory, also where the second is not asked for: up to so many bytes of them.
_JOINED = 16


class CudaToolchain(Toolchain):
    """NVRTC and the driver, for one device."""

    def __init__(self, device: Device) -> None:
        major, minor, _ = architecture(device.index)
        self.device, self.arch = device, f"sm_{major}{minor}"

    def describe(self, lowered: Lowered) -> tuple[KernelInfo, ...]:
        def info(launch: Launch) -> KernelInfo:
            return KernelInfo(
                launch.kernel.name,
                lowered.schedule,
                self.arch,
                launch.source,
                launch.grid,
                launch.block,
                round_up(launch.shared, _JOINED),
                launch.cluster,
                once=launch.once is not None,
                tools=_Tools(self.arch),
            )

        return tuple(map(info, lowered.launches))

    def is_loaded(self, launch: Launch) -> bool:
        return (launch.source, self.arch, self.device.index) in _functions

    def compile(self, launches: Sequence[Launch]) -> None:
        for launch in launches:
            if any(blocks > most for blocks, most in zip(launch.grid, GRID_LIMIT, strict=True)):
                raise UnsupportedError(f"a launch of {launch.grid} blocks; expected at most {GRID_LIMIT}")
        wanted = dict.fromkeys(launch.source for launch in launches if (launch.source, self.arch) not in _kernels)
        if wanted:
            codes = cubins(list(wanted), self.arch)
            _codes.update({(source, self.arch): code for source, code in zip(wanted, codes, strict=True)})

    def load(self, lowered: Lowered, operands: int, params: Sequence[Parameter]) -> LoadedProgram:
        integers, _ = constants.integers(lowered, self.device)
        for launch in lowered.launches:
            if launch.once:
                integers[launch.once.integer] = self._computed(launch, launch.once)
        steps = tuple(self._step(launch) for launch in lowered.launches if not launch.once)
        together = any(launch.together for launch in lowered.launches)
        program = Program(steps, tuple(integers), together)
        return CudaCall(program, Template(program, operands, params), self.device.index)

    def _step(self, launch: Launch) -> Step:
        shared = round_up(launch.shared, _JOINED)
        function = load_kernel(launch.source, self.arch, self.device.index, shared, launch.cluster)
        return Step(function=function, grid=launch.grid, block=launch.block, shared=shared)

    def _computed(self, launch: Launch, once: Once) -> int:
        """The address of what a launch computes once."""
        key = launch.source, self.arch, self.device.index
        with _results_lock:
            if key not in _results:
                program = Program((self._step(launch),))
                call = CudaCall(program, Template(program, 0, ()), self.device.index)
                with beside_captures(self.device):
                    memory, queue = DeviceMemory(once.nbytes, self.device), CudaStream(self.device)
                    call.call((), memory.pointer, queue.stream.handle)
                    queue.synchronize()
                    _results[key] = memory
            return _results[key].pointer


class OfflineToolchain(CudaToolchain):
    """The toolchain of a device that is not there: it remembers what would be compiled."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.sources: dict[str, None] = {}

    def compile(self, launches: Sequence[Launch]) -> None:
        self.sources |= dict.fromkeys(launch.source for launch in launches)

    def load(self, lowered: Lowered, operands: int, params: Sequence[Parameter]) -> LoadedProgram:
        return OfflineProgram(self.arch)


#: What launches have computed for good, by source, architecture and device.
_results: dict[tuple[str, str, int], DeviceMemory] = {}
_results_lock = locks.lock()

#: Machine code on its way from `compile` to a device; kernels by source and architecture; their functions on each device, with
#: the dynamic shared memory asked for so far.
_codes: dict[tuple[str, str], bytes] = {}
_kernels: dict[tuple[str, str], Any] = {}
_functions: dict[tuple[str, str, int], tuple[int, int]] = {}
_kernels_lock = locks.lock()


def used_devices() -> list[int]:
    """The ordinals of devices that kernels were loaded on."""
    return sorted({index for _, _, index in _functions})


def load_kernel(source: str, arch: str, index: int, shared: int, cluster: int = 1) -> int:
    """The driver's handle of a source's kernel on a device, compiled and loaded at most once and never unloaded.

    The code is on the device when this returns: by itself the driver would put it there, and allocate, at the first launch.
    """
    from cuda.bindings import driver

    with _kernels_lock:
        function, allowed = _functions.get((source, arch, index), (0, 0))
        if function and shared <= allowed:
            return function
        check(driver.cuCtxPushCurrent(primary_context(index)), "cuCtxPushCurrent")
        try:
            kernel = _kernels.get((source, arch))
            if kernel is None:
                code = _codes.pop((source, arch), None) or cubin(source, arch)
                library = check(driver.cuLibraryLoadData(code, [], [], 0, [], [], 0), "cuLibraryLoadData")
                kernel = _kernels[source, arch] = check(driver.cuLibraryGetKernel(library, b"kernel"), "cuLibraryGetKernel")
            handle = check(driver.cuKernelGetFunction(kernel), "cuKernelGetFunction")
            if shared > 32 * 1024:  # with what a kernel declares itself, more than the 48 KiB that need no asking
                attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                check(driver.cuFuncSetAttribute(handle, attribute, shared), "cuFuncSetAttribute")
            if cluster > 8:  # more than every device with clusters takes
                attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
                check(driver.cuFuncSetAttribute(handle, attribute, 1), "cuFuncSetAttribute")
            check(driver.cuFuncLoad(handle), "cuFuncLoad")
        finally:
            check(driver.cuCtxPopCurrent(), "cuCtxPopCurrent")
        _functions[source, arch, index] = int(handle), max(shared, 32 * 1024)
        return int(handle)
