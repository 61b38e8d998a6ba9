"""CUDA execution: the driver, and launching with the least host work.

Launches go to the driver's `cuLaunchKernel` from a small native function that makes every launch of a program, and switches the
current context where the caller's is another device's: one call from Python whatever the number of launches (measured on an H200
host, 2026-11-21: 2.8 us, against 3.2 us for cuda.core's `launch` and 3.9 us for `cuLaunchKernel` through ctypes).
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NoReturn

from baracuda.core.call_recorder import Launcher
from baracuda.core.elements import ElementKind
from baracuda.core.errors import BackendError, UnsupportedError
from baracuda.core.implementation import Scalars
from baracuda.native import load as load_native
from baracuda.runtime import offline
from baracuda.runtime.program import Program, Template

#: Blocks that the hardware takes along each axis of a launch.
GRID_LIMIT = ((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1)

_WORD = 8
_HEADER, _STEP = 9, 6
_LAUNCH_IR = """
define i32 @baracuda_cuda_launch(ptr %block) nounwind {
entry:
  %steps = load i64, ptr %block
  %stream.at = getelementptr i64, ptr %block, i64 1
  %stream.word = load ptr, ptr %stream.at
  %stream = load ptr, ptr %stream.word
  %context.at = getelementptr i64, ptr %block, i64 2
  %context = load ptr, ptr %context.at
  %params.at = getelementptr i64, ptr %block, i64 3
  %params = load ptr, ptr %params.at
  %launch.at = getelementptr i64, ptr %block, i64 4
  %launch = load ptr, ptr %launch.at
  %get.at = getelementptr i64, ptr %block, i64 5
  %get = load ptr, ptr %get.at
  %push.at = getelementptr i64, ptr %block, i64 6
  %push = load ptr, ptr %push.at
  %pop.at = getelementptr i64, ptr %block, i64 7
  %pop = load ptr, ptr %pop.at
  %current.at = alloca ptr
  %got = call i32 %get(ptr %current.at)
  %current = load ptr, ptr %current.at
  %same = icmp eq ptr %current, %context
  br i1 %same, label %loop, label %switch
switch:
  %pushed = call i32 %push(ptr %context)
  %push.ok = icmp eq i32 %pushed, 0
  br i1 %push.ok, label %loop, label %failed
failed:
  ret i32 %pushed
loop:
  %i = phi i64 [0, %entry], [0, %switch], [%i.next, %next]
  %more = icmp ult i64 %i, %steps
  br i1 %more, label %body, label %done
body:
  %offset = mul i64 %i, 6
  %first = add i64 %offset, 9
  %step = getelementptr i64, ptr %block, i64 %first
  %kernel = load ptr, ptr %step
  %gx.at = getelementptr i64, ptr %step, i64 1
  %gx = load i32, ptr %gx.at
  %gy.at = getelementptr i64, ptr %step, i64 2
  %gy = load i32, ptr %gy.at
  %gz.at = getelementptr i64, ptr %step, i64 3
  %gz = load i32, ptr %gz.at
  %bx.at = getelementptr i64, ptr %step, i64 4
  %bx = load i32, ptr %bx.at
  %shared.at = getelementptr i64, ptr %step, i64 5
  %shared = load i32, ptr %shared.at
  %status = call i32 %launch(ptr %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 1, i32 1, i32 %shared,
    ptr %stream, ptr %params, ptr null)
  %ok = icmp eq i32 %status, 0
  br i1 %ok, label %next, label %done
next:
  %i.next = add i64 %i, 1
  br label %loop
done:
  %result = phi i32 [0, %loop], [%status, %body]
  br i1 %same, label %return, label %restore
restore:
  %popped = call i32 %pop(ptr %current.at)
  br label %return
return:
  ret i32 %result
}
"""


def check(answer: tuple[Any, ...], what: str) -> Any:
    """What a call of `cuda.bindings.driver` returned beside its status; raises `BackendError` unless that is success."""
    status, *rest = answer
    if int(status):
        raise BackendError(what, status.name)
    return rest[0] if len(rest) == 1 else rest


@cache
def _addresses(*names: str) -> tuple[int, ...]:
    """The addresses of some of the driver's functions."""
    try:
        library = ctypes.CDLL("nvcuda.dll" if hasattr(ctypes, "WinDLL") else "libcuda.so.1")
    except OSError as error:
        raise UnsupportedError(f"no NVIDIA driver: {error}") from error
    return tuple(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names)


def _driver() -> tuple[int, ...]:
    """Addresses of cuLaunchKernel, cuCtxGetCurrent, cuCtxPushCurrent, cuCtxPopCurrent and cuLaunchCooperativeKernel."""
    return _addresses(
        "cuLaunchKernel", "cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuLaunchCooperativeKernel"
    )


def graph_functions() -> tuple[int, ...]:
    """Addresses of cuGraphLaunch and cuStreamIsCapturing."""
    return _addresses("cuGraphLaunch", "cuStreamIsCapturing")


def launch_by_llvm() -> int:
    """The address of the function that `native/launch.c` has; a process that has that one need not load LLVM."""
    from baracuda.runtime import jit

    return jit.load(_LAUNCH_IR, ("baracuda_cuda_launch",))["baracuda_cuda_launch"]


@cache
def _native_launch() -> Any:
    compiled = load_native("launch")
    address = compiled.ADDRESS if compiled else launch_by_llvm()
    launch: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)
    launch.address = address  # the code is there as long as the function
    return launch


@cache
def device_count() -> int:
    """How many CUDA devices there are; 0 where the driver or the Python packages are missing."""
    try:
        from cuda.bindings import driver

        _driver()
        if int(driver.cuInit(0)[0]):
            return 0
        return int(check(driver.cuDeviceGetCount(), "cuDeviceGetCount"))
    except (ImportError, UnsupportedError, RuntimeError):
        return 0


@cache
def architecture(index: int) -> tuple[int, int, int]:
    """Compute capability (major, minor) and number of multiprocessors of a device, which need not be there (`offline`)."""
    if index >= offline.FIRST:
        return offline.architecture(index)
    if index >= device_count():
        raise UnsupportedError(f"cuda:{index} does not exist; there are {device_count()} CUDA devices")
    from cuda.bindings import driver

    attribute = driver.CUdevice_attribute
    wanted = (
        attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    )
    major, minor, count = (int(check(driver.cuDeviceGetAttribute(a, index), "cuDeviceGetAttribute")) for a in wanted)
    return major, minor, count


@cache
def primary_context(index: int) -> int:
    """The device's primary context, the one that every framework uses; retained for the life of the process."""
    from cuda.bindings import driver

    return int(check(driver.cuDevicePrimaryCtxRetain(index), "cuDevicePrimaryCtxRetain"))


class CudaCall(Launcher):
    """A program ready to be launched on one device: `call` with addresses, or `bind` them once."""

    def __init__(self, program: Program, template: Template, index: int) -> None:
        start, *context, start_together = _driver()  # the second takes the same arguments but the last, a null pointer
        start = start_together if program.together else start
        header = [len(program.steps), 0, primary_context(index), 0, start, *context, 0]
        steps = [w for s in program.steps for w in (s.function, *s.grid, s.block, s.shared)]
        self._parameters, self._operands = template.parameters, template.operands
        self._template = [*header, *steps, 0, *template.words]
        self._params_at = 8
        self._words_at = _HEADER + _STEP * len(program.steps) + 1
        self._at = _WORD * (self._words_at - 1)  # the stream is the word before the operands' addresses
        self._whole, self._named = template.whole_numbers, template.named
        self._count = template.variable - template.operands - 1
        self._pack = struct.Struct(f"{1 + template.variable}Q").pack_into
        self._local = threading.local()
        self._launch = _native_launch()

    def _block(self) -> tuple[Any, int]:
        """A copy of the words that one thread, or one bound launch, owns."""
        block = (ctypes.c_uint64 * len(self._template))(*self._template)
        address = ctypes.addressof(block)
        block[self._params_at] = address + _WORD * self._words_at  # kernelParams: one pointer, to the words
        block[3] = address + _WORD * self._params_at
        block[1] = address + self._at
        return block, address

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        local = self._local
        try:
            block, address, packed = local.block
        except AttributeError:
            (block, address), packed = self._block(), None
        parameters = self._parameters(scalars)
        arguments = pointers, workspace, stream, parameters
        if packed != arguments:  # a loop over the same tensors packs once: 0.1 us to compare, 0.3 us to pack
            self._pack(block, self._at, stream, *pointers, workspace, *parameters)
            local.block = block, address, arguments
        status = self._launch(address)
        if status:
            self.failed(status)

    def failed(self, status: int) -> NoReturn:
        """Raise the error of a launch that the driver refused."""
        raise BackendError("cuLaunchKernel", status)

    def native(self, scalars: Scalars) -> tuple[Any, ...]:
        at, words = self._words_at + self._operands + 1, list(self._template)
        words[at : at + self._count] = self._parameters(scalars)
        block = struct.pack(f"<{len(words)}Q", *words)
        return "cuda", block, self._words_at, self._params_at, _native_launch().address

    def whole_numbers(self) -> Iterable[tuple[str, ElementKind]]:
        return self._whole

    def named_parameters(self) -> Sequence[tuple[int, str, ElementKind]]:
        return self._named

    def parameters(self, scalars: Scalars) -> bytes:
        return struct.pack(f"<{self._count}Q", *self._parameters(scalars))

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        """A function of no arguments that launches with these addresses."""
        block, address = self._block()
        self._pack(block, self._at, stream, *pointers, workspace, *self._parameters(None))
        launch = self._launch

        def bound(_keep: Any = block) -> None:
            status = launch(address)
            if status:
                raise BackendError("cuLaunchKernel", status)

        return bound
