"""Programs as graphs, on a driver that only takes notes."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from baracuda.native import load

CONTEXT, CAPTURED, WORDS_AT, PARAMETERS_AT = 0x80, 0x1234, 10, 8
ONE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
TWO = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
GRAPH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Driver:
    """What a program calls. Launches are noted with their stream and the address that they were given."""

    def __init__(self) -> None:
        self.notes: list[tuple[Any, ...]] = []
        self.context, self.capturing, self.fails, self.made = CONTEXT, 0, False, 0
        self.functions = ONE(self.launch), ONE(self.get), GRAPH(self.replay), TWO(self.is_capturing)
        self.addresses = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in self.functions]
        _, _, replay, is_capturing = self.addresses
        load().use_graphs(self.make, replay, is_capturing)

    def launch(self, block: int) -> int:
        words = (ctypes.c_uint64 * (WORDS_AT + 2)).from_address(block)
        assert words[3] == block + 8 * PARAMETERS_AT
        assert words[PARAMETERS_AT] == block + 8 * WORDS_AT
        self.notes.append(("launch", ctypes.c_uint64.from_address(words[1]).value, words[WORDS_AT]))
        return 0

    def get(self, into: int) -> int:
        ctypes.c_uint64.from_address(into).value = self.context
        return 0

    def read(self, pointer: int, stream: int) -> bool:
        self.notes.append(("read", pointer))
        return True

    def replay(self, instance: int, stream: int | None) -> int:
        self.notes.append(("graph", instance))
        return 0

    def is_capturing(self, stream: int | None, status: Any) -> int:
        status[0] = self.capturing
        return 0

    def make(self, device: int, launch: Callable[[int], None]) -> tuple[int, Any] | None:
        if self.fails:
            return None
        launch(CAPTURED)
        self.made += 1
        return 0x5000 + self.made, self

    def take(self) -> list[tuple[Any, ...]]:
        """What was done since the last time."""
        notes, self.notes = self.notes, []
        return notes

    def program(self, launches: int = 4, reads: bool = False) -> Any:
        """A function of one array that launches so many kernels on it."""
        native = load()
        launch, get, _, _ = self.addresses
        block = struct.pack("<12Q", 1, 0, CONTEXT, 0, 0, get, 0, 0, 0, 0, 0, 0)
        step = (None, ("cuda", block, WORDS_AT, PARAMETERS_AT, launch), ((1, 0), (0, 0)), None)
        read = (self.read, ("expect", 0, 1), ((1, 0), (0, 0)), None)
        steps = [*[step, read] * reads, *[step] * launches]
        call = native.Call(
            launches=tuple(steps), results=(), returned=(1,), like=0, scratch=0, scratch_on=None, cuda=True, renumber=None,
            rebuild=None, program=True,
        )  # fmt: skip
        return native.Function(
            function=lambda x: x, record=lambda function, given, words, tensors: (given[0], call, ()), positions=(), numbers=(),
            specials={}, writes=False, most=64,
        )  # fmt: skip


def main() -> None:
    """All of the test, in an interpreter of its own: how programs are launched holds for the whole process."""
    driver = Driver()
    x, y = np.zeros(4), np.ones(4)
    at = {id(a): a.ctypes.data for a in (x, y)}
    one_by_one = {i: [("launch", 0, p)] * 4 for i, p in at.items()}
    captured = {i: [("launch", CAPTURED, p)] * 4 for i, p in at.items()}
    program = driver.program()
    program(x)
    assert driver.take() == []  # recorded
    for _ in range(2):
        assert program(x) is x
        assert driver.take() == one_by_one[id(x)]
    program(x)
    assert driver.take() == [*captured[id(x)], ("graph", 0x5001)]
    for _ in range(3):
        program(x)
        assert driver.take() == [("graph", 0x5001)]
    program(y)
    program(y)
    assert driver.take() == one_by_one[id(y)] * 2
    program(y)
    assert driver.take() == [*captured[id(y)], ("graph", 0x5002)]
    program(x)
    assert driver.take() == [("graph", 0x5001)]
    driver.capturing = 1  # by somebody else: a graph within would be a part of theirs
    program(x)
    assert driver.take() == one_by_one[id(x)]
    driver.capturing, driver.context = 0, CONTEXT + 1  # another device's
    program(x)
    assert driver.take() == one_by_one[id(x)]
    driver.context = CONTEXT

    others = [np.zeros(4) for _ in range(8)]  # more than there is room for: the ones used longest ago go
    for other in others:
        for _ in range(4):
            program(other)
    driver.take()
    program(x)
    assert driver.take() == one_by_one[id(x)]

    short = driver.program(3)
    for _ in range(6):
        short(x)
    assert driver.take() == [("launch", 0, at[id(x)])] * 15
    reading = driver.program(reads=True)
    for _ in range(4):
        reading(x)
    driver.take()
    reading(x)
    assert driver.take() == [("launch", 0, at[id(x)]), ("read", at[id(x)]), ("graph", 0x5000 + driver.made)]
    driver.fails = True
    program = driver.program()
    for _ in range(6):
        program(x)
    assert driver.take() == one_by_one[id(x)] * 5


def test_graphs() -> None:
    if load() is None:
        pytest.skip("baracuda.native.calls was not compiled")
    code = "import baracuda.frontends.call_cache; from tests.unit.test_native_graphs import main; main()"
    subprocess.run([sys.executable, "-c", code], check=True)
