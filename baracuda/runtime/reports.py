"""What kernels find wrong and the host is told of later: an index out of range, without waiting for the device.

A kernel that has looked through a tensor leaves the position of the first wrong element. A launch after it writes that position,
if there is one, to a word of the host's memory that stands for the check, and sets a flag beside it. Whoever waits for the device
looks at the flag afterwards, and so does every call that is made from C; the error is raised there, by the name that the check
has. Such launches can be part of a CUDA graph.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.errors import Error
from baracuda.runtime import device_memory
from baracuda.runtime.cuda import check
from baracuda.runtime.offline import is_offline
from baracuda.runtime.program import KernelSource, Launch, Lowered
from baracuda.runtime.toolchain import Call, toolchain_of

#: Where a check finds nothing wrong, the position it leaves.
NOWHERE = (1 << 63) - 1
#: Checks that have a word of their own; the one made longest ago gives its word up.
MOST = 4095
_SOURCE = """
struct Words { unsigned long long w[4]; };
extern "C" __global__ void kernel(const __grid_constant__ Words W) {
  long long first = *(const long long*)W.w[0];
  if (first == 0x7fffffffffffffffll) return;
  *(volatile long long*)W.w[2] = first + 1;
  __threadfence_system();
  *(volatile long long*)W.w[3] = 1;
}
"""

#: What makes the error of a check, given the position of the first wrong element.
Say = Callable[[int], Error]

_lock = locks.reentrant_lock()
_checks: dict[Any, tuple[int, Say]] = {}


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


@cache
def _launch(slot: int, index: int) -> Call:
    lowered = Lowered((Launch(KernelSource(_SOURCE)),), (flag() + 8 * slot, flag()), 0, "report")
    return toolchain_of(Device.cuda(index)).load(lowered, 1, ())


def report(key: Any, say: Say, position: int, device: Device, stream: int) -> None:
    """Have the error of a check raised later if its kernel, launched before on the stream, leaves a position.

    Parameters
    ----------
    key
        What stands for the check.
    say
        Makes its error.
    position
        The address of the s64 that the kernel writes.
    """
    if is_offline(device):  # nothing is ever wrong there
        return
    with _lock:
        if key not in _checks:
            slot = len(_checks) + 1
            if slot > MOST:
                slot, _ = _checks.pop(next(iter(_checks)))
            _checks[key] = slot, say
        slot, _ = _checks[key]
    _launch(slot, device.index).call((position,), 0, stream)


def raise_pending() -> None:
    """Raise the error of a check that has found something wrong, if there is one; the others are forgotten."""
    words = _words()
    if not words[0]:
        return
    with _lock:
        found = [(words[slot] - 1, say) for slot, say in _checks.values() if words[slot]]
        ctypes.memset(ctypes.addressof(words), 0, ctypes.sizeof(words))
    if found:
        position, say = found[0]
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
