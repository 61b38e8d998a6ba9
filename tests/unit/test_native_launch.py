"""The two functions that launch a CUDA program, compiled from C and from LLVM IR, on a driver that only takes notes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from baracuda.native import load
from baracuda.runtime.cuda import launch_by_llvm

pytestmark = pytest.mark.cpu_only

KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3)
GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
PUSH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
STREAM, CONTEXT, PARAMETERS = 0x70, 0x80, 0x90
STEPS = ((0x10, 4, 3, 2, 128, 0), (0x20, 2**31 - 1, 1, 1, 1024, 232448))


def by_c() -> int:
    compiled = load("launch")
    if compiled is None:
        pytest.skip("baracuda.native.launch was not compiled")
    address: int = compiled.ADDRESS
    return address


class Driver:
    """What a program calls: notes of the calls, and the status that each answers with."""

    def __init__(self, current: int, **failing: int) -> None:
        self.notes: list[tuple[Any, ...]] = []
        self.current, self.failing = current, failing
        self.functions = KERNEL(self.launch), GET(self.get), PUSH(self.push), GET(self.pop)

    def launch(self, function: int, *rest: Any) -> int:
        self.notes.append(("launch", function, *rest))
        return self.failing.get(f"launch {function:#x}", 0)

    def get(self, into: Any) -> int:
        into[0] = self.current
        return 0

    def push(self, context: int) -> int:
        self.notes.append(("push", context))
        return self.failing.get("push", 0)

    def pop(self, into: Any) -> int:
        self.notes.append(("pop",))
        return 0

    def run(self, address: int) -> int:
        """The status of launching both steps."""
        stream = ctypes.c_uint64(STREAM)
        calls = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in self.functions]
        words = [len(STEPS), ctypes.addressof(stream), CONTEXT, PARAMETERS, *calls, 0, *(w for step in STEPS for w in step)]
        block = (ctypes.c_uint64 * len(words))(*words)
        status: int = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)(ctypes.addressof(block))
        return status


def note(step: tuple[int, ...]) -> tuple[Any, ...]:
    function, x, y, z, threads, shared = step
    return ("launch", function, x, y, z, threads, 1, 1, shared, STREAM, PARAMETERS, None)


@pytest.mark.parametrize("address", [by_c, launch_by_llvm])
def test_launches(address: Callable[[], int]) -> None:
    """Every step in order, with its geometry; in the program's context, which is put back."""
    driver = Driver(CONTEXT)
    assert driver.run(address()) == 0
    assert driver.notes == [*map(note, STEPS)]
    driver = Driver(0x99)
    assert driver.run(address()) == 0
    assert driver.notes == [("push", CONTEXT), *map(note, STEPS), ("pop",)]


@pytest.mark.parametrize("address", [by_c, launch_by_llvm])
def test_failures(address: Callable[[], int]) -> None:
    """Nothing follows a call that failed, but the context is put back."""
    driver = Driver(0x99, **{"launch 0x10": 701})
    assert driver.run(address()) == 701
    assert driver.notes == [("push", CONTEXT), note(STEPS[0]), ("pop",)]
    driver = Driver(0x99, push=201)
    assert driver.run(address()) == 201
    assert driver.notes == [("push", CONTEXT)]
