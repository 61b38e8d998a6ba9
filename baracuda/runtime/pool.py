"""The CPU thread pool: worker threads that live in native code, and how many of them take part in a call.

Workers are Python daemon threads that enter the compiled worker loop once and stay there, without the interpreter's lock,
for the life of the process: they spin for some microseconds after each call and then sleep on a condition variable.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from functools import cache

from baracuda.core import locks
from baracuda.core.errors import InvalidProblemError
from baracuda.runtime import scheduler

_MUTEX_BYTES = 256  # larger than any platform's pthread_mutex_t or pthread_cond_t

_control = (ctypes.c_uint64 * (scheduler.CONTROL_WORDS + 8))()
_primitives = (ctypes.c_uint64 * (2 * _MUTEX_BYTES // 8))()
_lock = locks.lock()
_workers = 0
_ready = False


def available_cpus() -> int:
    """The processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_threads = available_cpus()


def control_address() -> int:
    """The control block, on a cache line; it stays where it is for the life of the process."""
    return (ctypes.addressof(_control) + 63) & -64


def _word(index: int) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(control_address() + 8 * index)


@cache
def native() -> Mapping[str, int]:
    """Addresses of the compiled scheduler, held for the life of the process."""
    from baracuda.runtime.jit import load  # a process that only uses a GPU need not load LLVM

    return load(scheduler.scheduler_ir(), ("baracuda_execute", "baracuda_worker"))


def _reset() -> None:
    """A control block without workers, as at the start of a process."""
    global _workers, _ready
    process = ctypes.CDLL(None)
    mutex = ctypes.addressof(_primitives)
    condition = mutex + _MUTEX_BYTES
    ctypes.memset(control_address(), 0, 8 * scheduler.CONTROL_WORDS)
    ctypes.memset(mutex, 0, 2 * _MUTEX_BYTES)
    process.pthread_mutex_init(ctypes.c_void_p(mutex), None)
    process.pthread_cond_init(ctypes.c_void_p(condition), None)
    values = {
        scheduler.MUTEX: mutex,
        scheduler.CONDITION: condition,
        scheduler.LOCK: _address(process.pthread_mutex_lock),
        scheduler.UNLOCK: _address(process.pthread_mutex_unlock),
        scheduler.WAIT: _address(process.pthread_cond_wait),
        scheduler.BROADCAST: _address(process.pthread_cond_broadcast),
        scheduler.YIELD: _address(process.sched_yield),
        scheduler.LIMIT: 1,
    }
    for index, value in values.items():
        _word(index).value = value
    _workers, _ready = 0, True


def _address(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def start() -> None:
    """Make sure that the workers for the present number of threads exist."""
    global _workers
    if _ready and _workers + 1 >= _threads:
        return
    with _lock:
        if not _ready:
            _reset()
        enter = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(native()["baracuda_worker"])
        while _workers + 1 < _threads:
            number = _workers + 1
            thread = threading.Thread(target=enter, args=(control_address(), number), name=f"baracuda-{number}", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is going down: this thread does all the work
                break
            _workers += 1
        _word(scheduler.LIMIT).value = min(_threads, _workers + 1)


def set_num_threads(count: int) -> None:
    """How many threads, the calling one included, work on one call. No result depends on it."""
    global _threads
    if count < 1:
        raise InvalidProblemError(f"the number of threads is {count}; expected 1 or more")
    _threads = count
    if _ready:
        start()
        _word(scheduler.LIMIT).value = min(_threads, _workers + 1)


def get_num_threads() -> int:
    """How many threads, the calling one included, work on one call; at first, the processors this process may use."""
    return _threads


def _after_fork() -> None:
    """The child has no workers and perhaps a call of a thread that is gone; the next call starts afresh."""
    global _ready
    if _ready:
        _reset()
        _ready = False


locks.in_child(_after_fork)
