"""Compiled code stays loaded as long as something holds its address, and no longer than the cache remembers it."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys

import pytest

from baracuda.runtime import jit


def _source(i: int) -> str:
    return f"define i64 @unloading(i64 %x) {{\n  %y = add i64 %x, {i}\n  ret i64 %y\n}}\n"


def _call(address: int, x: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(x))


def test_the_oldest_are_unloaded_unless_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "MOST_LIBRARIES", 4)
    held = jit.load(_source(0), ("unloading",))["unloading"]
    for i in range(1, 12):
        assert _call(jit.load(_source(i), ("unloading",))["unloading"], 5) == 5 + i
    gc.collect()
    assert not jit.is_loaded(_source(1), jit.host())
    assert jit.is_loaded(_source(0), jit.host())
    assert _call(held, 7) == 7
    assert int(jit.load(_source(0), ("unloading",))["unloading"]) == int(held)
    del held
    for i in range(20, 26):
        jit.load(_source(i), ("unloading",))
    gc.collect()
    assert not jit.is_loaded(_source(0), jit.host())
    assert _call(jit.load(_source(0), ("unloading",))["unloading"], 9) == 9  # and comes back


class _Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "a b c d e f g in_use i j".split()]  # noqa: SIM905


@pytest.mark.cpu_only
def test_compiling_keeps_no_memory() -> None:
    """llvmlite gives the passes' memory back only if it is told to: 50 KB for so little code, 200 KB for a kernel's."""
    try:
        heap = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        pytest.skip("no mallinfo2")
    heap.restype = _Heap

    def compiled(first: int, count: int) -> int:
        for i in range(first, first + count):
            jit.object_code(_source(i), jit.host())
        gc.collect()
        return int(heap().in_use)

    before = compiled(1000, 5)
    assert compiled(1005, 40) - before < 40 * 20_000


_AT_EXIT = """
import threading, time
import numpy as np
import baracuda
from baracuda.runtime import jit
jit.MOST_LIBRARIES = 2
x = np.ones((2048, 2048), np.float32)

def work():
    while True:
        baracuda.gelu(x); baracuda.tanh(x); baracuda.exp(x); baracuda.sin(x)

baracuda.gelu(x)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
"""


@pytest.mark.cpu_only
def test_a_process_may_end_while_threads_compute() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", _AT_EXIT], capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")
