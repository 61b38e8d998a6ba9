"""Programs over lists of tensors, which are kept by how many elements each tensor has."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from baracuda.core import locks
from baracuda.core.call_recorder import unseen
from baracuda.core.device import Device
from baracuda.lowering.executables import GeneratedExecutable, executable, load
from baracuda.runtime.program import Parameter

#: Programs kept; of one that is not, only the host's part is made anew.
MOST_PROGRAMS = 192
_programs: OrderedDict[Hashable, GeneratedExecutable] = OrderedDict()
_lock = locks.lock()


def program_of(key: Hashable, device: Device, make: Callable[[], tuple[Any, list[Parameter], int]]) -> GeneratedExecutable:
    """The program of a key, which says all that it depends on; `make` gives its problem, its parameters and how many operands it
    has."""
    with _lock:
        program = _programs.get(key)
        if program is not None:
            _programs.move_to_end(key)
            return program
    problem, params, operands = make()
    with unseen():  # tables that are computed once
        program = executable(device, problem, params, operands)
        assert program is not None
        load([program])
    with _lock:
        _programs[key] = program
        while len(_programs) > MOST_PROGRAMS:
            _programs.popitem(last=False)
    return program
