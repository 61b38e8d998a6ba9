"""What kernels find wrong and the host is told of later: an index out of range, without waiting for the device.

The position of the first wrong element goes to a word of the host's memory that stands for the check, and a flag beside it is
set. One small kernel looks through up to `FEW` indices that lie in a row; of others a generated kernel leaves the position on the
device, and a launch after it tells. Whoever waits for the device looks at the flag afterwards, and so does every call that is
made from C; the error is raised there, by the name that the check has. Such launches can be part of a CUDA graph.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error
from baracuda.core.implementation import Scalars
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorRef
from baracuda.runtime import device_memory
from baracuda.runtime.cuda import check
from baracuda.runtime.offline import is_offline
from baracuda.runtime.program import KernelSource, Launch, Lowered, Parameter
from baracuda.runtime.toolchain import LoadedProgram, toolchain_of

#: Where a check finds nothing wrong, the position it leaves.
NOWHERE = (1 << 63) - 1
#: Checks that have a word of their own; the one made longest ago gives its word up.
MOST = 4095
#: Indices that one block looks through: a launch less, where launches are what a call costs.
FEW = 8192
_BLOCK = 1024
_TELL = """
__device__ void tell(unsigned long long first, unsigned long long word, unsigned long long flag) {
  *(volatile long long*)word = first + 1;
  __threadfence_system();
  *(volatile long long*)flag = 1;
}
"""
#: Words: the address of a position, no workspace, word, flag.
_TELL_POSITION = f"""{_TELL}
struct Words {{ unsigned long long w[4]; }};
extern "C" __global__ void kernel(const __grid_constant__ Words W) {{
  long long first = *(const long long*)W.w[0];
  if (first != {NOWHERE}ll) tell(first, W.w[2], W.w[3]);
}}
"""
#: Kinds of indices that `look` takes.
_C_TYPES = {ElementKind.S32: "int", ElementKind.S64: "long long"}


def _look_source(kind: ElementKind) -> str:
    """A kernel that looks through indices. Words: their address, no workspace, low, last, ignore_index, word, flag, how many."""
    index = _C_TYPES[kind]
    return f"""{_TELL}
struct Words {{ unsigned long long w[8]; }};
extern "C" __global__ void __launch_bounds__({_BLOCK}) kernel(const __grid_constant__ Words W) {{
  __shared__ unsigned long long least;
  const {index}* indices = (const {index}*)W.w[0];
  const long long low = W.w[2], last = W.w[3], ignored = W.w[4], count = W.w[7];
  unsigned long long first = {NOWHERE}ull;
  if (threadIdx.x == 0) least = first;
  #pragma unroll
  for (int i = {FEW // _BLOCK - 1}; i >= 0; --i) {{
    const long long at = i * {_BLOCK} + threadIdx.x;
    if (at >= count) continue;
    const long long index = (long long)indices[at];
    if ((index < low || index > last) && index != ignored) first = at;
  }}
  if (!__syncthreads_or(first != {NOWHERE}ull)) return;
  atomicMin(&least, first);
  __syncthreads();
  if (threadIdx.x == 0) tell(least, W.w[5], W.w[6]);
}}
"""


#: What makes the error of a check, given the position of the first wrong element.
Say = Callable[[int], Error]


class _Check(NamedTuple):
    slot: int
    say: Say
    call: LoadedProgram


_lock = locks.reentrant_lock()
_checks: dict[Any, _Check] = {}


@cache
def _words() -> Any:
    """The host's words, which every device writes: first the flag."""
    from cuda.bindings import driver

    with device_memory.current(Device.cuda(0)):
        flags = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP
        address = int(check(driver.cuMemHostAlloc(8 * (MOST + 1), flags), "cuMemHostAlloc"))
    ctypes.memset(address, 0, 8 * (MOST + 1))
    return (ctypes.c_int64 * (MOST + 1)).from_address(address)


def flag() -> int:
    """The address of the word that is not 0 once something was found wrong."""
    return ctypes.addressof(_words())


def tell(key: Any, say: Say, position: TensorRef, stream: int) -> None:
    """Have the error of a check raised later if its kernel, launched before on the stream, leaves a position.

    Parameters
    ----------
    key
        What stands for the check.
    say
        Makes its error.
    position
        The s64 that the kernel writes.
    """
    _launch(key, say, position, stream, Launch(KernelSource(_TELL_POSITION)), (), None)


def look(key: Any, say: Say, indices: TensorRef, stream: int, bounds: Mapping[str, int]) -> None:
    """Have the error of a check raised later if one of the indices is out of range: at most `FEW`, in a row.

    Parameters
    ----------
    key
        What stands for the check.
    say
        Makes its error.
    bounds
        The least index (low), the greatest (last), and one beyond them that is no error (ignore_index).
    """
    launch = Launch(KernelSource(_look_source(indices.kind)), block=_BLOCK)
    numbers = [Parameter(ElementKind.S64, 0, name) for name in ("low", "last", "ignore_index")]
    _launch(key, say, indices, stream, launch, numbers, bounds, prod(indices.shape))


def can_look(indices: TensorRef) -> bool:
    """Whether `look` takes them."""
    return indices.kind in _C_TYPES and prod(indices.shape) <= FEW and indices.strides == contiguous_strides(indices.shape)


def _launch(
    key: Any, say: Say, tensor: TensorRef, stream: int, launch: Launch, numbers: Sequence[Parameter], scalars: Scalars, *more: int
) -> None:
    device = tensor.device
    if is_offline(device):  # nothing is ever wrong there
        return
    key = launch, more, device, key
    with _lock:
        check = _checks.get(key)
        if check is None:
            slot = len(_checks) + 1 if len(_checks) < MOST else _checks.pop(next(iter(_checks))).slot
            lowered = Lowered((launch,), (flag() + 8 * slot, flag(), *more), 0, "report")
            check = _checks[key] = _Check(slot, say, toolchain_of(device).load(lowered, 1, numbers))
    check.call.call((tensor.pointer,), 0, stream, scalars)


def raise_pending() -> None:
    """Raise the error of a check that has found something wrong, if there is one; the others are forgotten."""
    words = _words()
    if not words[0]:
        return
    with _lock:
        wrong = [(words[c.slot] - 1, c.say) for c in _checks.values() if words[c.slot]]
        ctypes.memset(ctypes.addressof(words), 0, ctypes.sizeof(words))
    if wrong:
        position, say = wrong[0]
        raise say(position)


def synchronize(device: Device | None = None) -> None:
    """Wait until everything launched on a CUDA device, by default on each that was used, is done.

    Raises the error of what was checked on the device without waiting for it: an index out of range, a target that is no class.
    On the CPU, where every call has ended when it returns, there is nothing to wait for.

    Parameters
    ----------
    device : the device to wait for; None: every CUDA device in use.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.synchronize()
    """
    from baracuda.runtime.cuda_toolchain import used_devices

    for index in used_devices() if device is None else [device.index] if device.kind.value == "cuda" else []:
        device_memory.synchronize(Device.cuda(index))


device_memory.AFTER_WAITING.append(raise_pending)
