"""Running a lowered program on the CPU."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from baracuda.core.call_recorder import Launcher
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Scalars
from baracuda.runtime import pool
from baracuda.runtime.pool import get_num_threads, set_num_threads
from baracuda.runtime.program import Program, Step, Template

__all__ = ["CpuCall", "get_num_threads", "set_num_threads"]


_LINE = 64


@cache
def _execute() -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(pool.native()["baracuda_execute"])


class CpuCall(Launcher):
    """A program with its parameters and integers in place; only addresses are missing.

    Calls may be made from any number of threads at once: each has its own copy of the words. A call returns when it is
    done; `stream` is there for the sake of devices that have streams, and unused. `held` is what its words are addresses of.
    """

    def __init__(self, program: Program, template: Template, held: tuple[Any, ...] = ()) -> None:
        self.program, self._held = program, held
        self._first, self._parameters, self._operands = template.variable, template.parameters, template.operands
        self._whole, self._named = template.whole_numbers, template.named
        words = template.words
        self._template = struct.pack(f"<{len(words)}Q", *words)
        self._words = ctypes.c_uint64 * len(words)
        self._execute = _execute()
        self._plan_steps()

    def _plan_steps(self) -> None:
        """What the scheduler reads of the steps."""
        steps = [s for s in self.program.steps if s.units > 0]
        self._alone = all(s.units <= s.grain for s in steps)
        packed = [len(steps), int(self._alone)]
        for s in steps:
            packed += (s.function, s.units, s.grain)
        self._plan = (ctypes.c_uint64 * len(packed))(*packed)
        self._fixed = (ctypes.c_void_p(pool.control_address()), ctypes.c_void_p(ctypes.addressof(self._plan)))
        if not self._alone:
            pool.start()

    def prepared(self, pointers: Sequence[int], constant: Callable[[int], bool]) -> Launcher:
        ready = [s for s in self.program.steps if s.prepared is not None and constant(pointers[s.prepared.operand])]
        if not ready:
            return self
        words, held = bytearray(self._template), list(self._held)
        for s in ready:
            assert s.prepared is not None
            memory = np.empty(s.prepared.nbytes + _LINE, np.uint8)
            address = -(-memory.ctypes.data // _LINE) * _LINE
            struct.pack_into("<Q", words, 8 * (self._first + s.prepared.integer), address)
            held.append(memory)
        self._with(ready, words, held).launch(pointers, 0, 0, None)
        return self._with([s for s in self.program.steps if s not in ready], words, held)

    def _with(self, steps: Sequence[Step], words: bytes | bytearray, held: Sequence[Any]) -> CpuCall:
        """Some of the steps, with other words."""
        made = copy(self)
        made.program, made._held, made._template = replace(self.program, steps=tuple(steps)), tuple(held), bytes(words)
        made._plan_steps()
        return made

    def _pack(self, pointers: Sequence[int], workspace: int, scalars: Scalars) -> ctypes.Array[ctypes.c_uint64]:
        words = self._words.from_buffer_copy(self._template)
        words[: self._first] = [*pointers, workspace, *self._parameters(scalars)]
        return words

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        """Run all steps on operands at these addresses, in the order of the graph's inputs and outputs."""
        words = self._pack(pointers, workspace, scalars)
        if not self._alone:
            pool.start()
        self._execute(self._fixed[0], ctypes.addressof(words), self._fixed[1])

    def native(self, scalars: Scalars) -> tuple[Any, ...]:
        count, at = self._first - self._operands - 1, 8 * (self._operands + 1)
        words = self._template[:at] + self.parameters(scalars) + self._template[at + 8 * count :]
        plan, control = ctypes.addressof(self._plan), pool.control_address()
        return "cpu", words, pool.native()["baracuda_execute"], plan, control, int(self._alone)

    def whole_numbers(self) -> Iterable[tuple[str, ElementKind]]:
        return self._whole

    def named_parameters(self) -> Sequence[tuple[int, str, ElementKind]]:
        return self._named

    def parameters(self, scalars: Scalars) -> bytes:
        return struct.pack(f"<{self._first - self._operands - 1}Q", *self._parameters(scalars))

    def bind(self, pointers: Sequence[int], workspace: int = 0, stream: int = 0) -> Callable[[], None]:
        """The same call with everything in place: what is returned makes one native call and nothing else."""
        words = self._pack(pointers, workspace, None)
        bound = partial(self._execute, self._fixed[0], ctypes.c_void_p(ctypes.addressof(words)), self._fixed[1])
        bound.keep = (words, self)  # type: ignore[attr-defined]
        return bound
