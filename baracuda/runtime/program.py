"""Programs, before and after they are compiled. Lowering writes a `Lowered`: kernels as text, the geometry each is launched with,
and the words they read. A toolchain makes a `Program` of it, which `CpuCall` and `CudaCall` run.

All steps of a program share one array of 64-bit *words*, laid out as

    [address of each operand] [workspace address] [parameters, as bits] [integers: extents, strides, ...]

so that a call is made by writing addresses into a copy of the template and handing it to one native function.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.host import HostName
from baracuda.core.implementation import Scalars
from baracuda.core.parameters import quoted


class Language(Enum):
    """What a kernel is written in; the value is how a file of it ends."""

    CUDA = "cu"
    LLVM = "ll"


@dataclass(frozen=True)
class KernelSource:
    """The text of one kernel, and what the function to launch is called in it."""

    text: str
    name: str = "kernel"
    language: Language = Language.CUDA


@dataclass(frozen=True)
class Once:
    """What a launch computes once for the life of the process, from nothing: so many bytes, whose address is its workspace and
    goes into the program's integer of this number."""

    nbytes: int
    integer: int


@dataclass(frozen=True)
class Prepared:
    """What a launch on the CPU makes of one operand alone, as packed weights are: so many bytes at the workspace's first cache
    line, or at the address in the program's integer of this number, where that is not 0. Calls whose operand never changes find
    it there, and leave the launch out."""

    operand: int
    nbytes: int
    integer: int


@dataclass(frozen=True)
class Launch:
    """A kernel and its geometry.

    On CUDA that is the launch's `grid`, `block` and dynamic `shared` memory; `cluster` neighbouring blocks see each other's
    shared memory, as the source says too. On the CPU, `units` is how many units of work there are and `grain` how many a thread
    takes at a time. With `once` it is no part of a call: it runs when the program is made, unless it has already. `together` says
    that its blocks wait for each other, so that none may begin unless all can: then every launch of the program is made so, and
    none has more blocks than the device holds at once. `prepared` says what it makes of an operand that may never change.
    """

    kernel: KernelSource
    grid: tuple[int, int, int] = (1, 1, 1)
    block: int = 1
    shared: int = 0
    cluster: int = 1
    units: int = 0
    grain: int = 1
    once: Once | None = None
    together: bool = False
    prepared: Prepared | None = None

    @property
    def source(self) -> str:
        """The kernel's text."""
        return self.kernel.text


@dataclass(frozen=True)
class Constant:
    """What the host computes once for the life of the process, from its name alone, and kernels of any number of programs read:
    its address goes into the program's integer of this number."""

    integer: int
    name: tuple[Hashable, ...]
    make: Callable[[tuple[Hashable, ...]], np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Lowered:
    """A lowered problem, of which nothing is compiled yet. `integers` are the words behind the parameters; `schedule` names the
    choices made, for people."""

    launches: tuple[Launch, ...]
    integers: tuple[int, ...]
    workspace_bytes: int
    schedule: str
    constants: tuple[Constant, ...] = ()


@dataclass(frozen=True)
class Step:
    """A launch whose kernel is compiled: `function` is a machine address (CPU) or a driver handle (CUDA), the rest as in
    `Launch`."""

    function: int
    units: int = 0
    grain: int = 1
    grid: tuple[int, int, int] = (1, 1, 1)
    block: int = 1
    shared: int = 0
    prepared: Prepared | None = None


@dataclass(frozen=True)
class Program:
    """The steps of a lowered problem, its integers, and whether the blocks of a step are all there at once."""

    steps: tuple[Step, ...]
    integers: tuple[int, ...] = ()
    together: bool = False


class Parameter(NamedTuple):
    """A number that a program reads: rounded to `kind`, `value` unless a call brings another one under `name`, or what a
    `HostName` is computed from. One without a name follows from the shapes and is the same in each call."""

    kind: ElementKind
    value: float
    name: str | None = None


_F32, _U32, _F64, _U64 = (struct.Struct(f"<{letter}") for letter in "fIdQ")


def pack_param(value: float, kind: ElementKind, name: str | None = None) -> int:
    """The bits of a parameter's value, rounded once to `kind`, in the low end of a word."""
    if type(value) is float:
        if kind is ElementKind.F64:
            return int(_U64.unpack(_F64.pack(value))[0])
        if kind is ElementKind.F32:
            try:
                return int(_U32.unpack(_F32.pack(value))[0])
            except OverflowError:  # beyond the range: NumPy rounds it to infinity
                pass
    try:
        with np.errstate(over="ignore"):
            raw = kind.numpy.type(value).tobytes()
    except OverflowError:  # of an int beyond every float
        raise InvalidProblemError(f"{name}: {quoted(value)}; expected a number in the range of {kind}") from None
    return int.from_bytes(raw.ljust(8, b"\0"), "little")


class Template:
    """The words of a call before it is made: zeros for the addresses, then parameters and integers.

    Attributes
    ----------
    words
        All of them.
    operands
        How many addresses there are, besides that of the workspace.
    named
        The parameters that calls bring: which, by what name, in which element.
    """

    def __init__(self, program: Program, operands: int, parameters: Sequence[Parameter | tuple[ElementKind, float]]) -> None:
        rows = [Parameter(*p) for p in parameters]
        self.operands = operands
        self._parameters = tuple(pack_param(p.value, p.kind, p.name) for p in rows)
        self.named = tuple((i, p.name, p.kind) for i, p in enumerate(rows) if p.name is not None)
        self.integers = [struct.unpack("<Q", struct.pack("<q", i))[0] for i in program.integers]

    @property
    def words(self) -> list[int]:
        return [*[0] * (self.operands + 1), *self._parameters, *self.integers]

    @property
    def variable(self) -> int:
        """How many words at the beginning a call may bring: addresses, that of the workspace, and parameters."""
        return self.operands + 1 + len(self._parameters)

    @property
    def whole_numbers(self) -> list[tuple[str, ElementKind]]:
        """The numbers of a call that an integer kind must hold, with that kind."""
        return [(name, kind) for _, name, kind in self.named if type(name) is str and kind.is_integer]

    def parameters(self, scalars: Scalars) -> Sequence[int]:
        """The parameters' words in a call that brings these numbers."""
        if scalars is None or not self.named:
            return self._parameters
        packed = list(self._parameters)
        for i, name, kind in self.named:
            if name in scalars:
                packed[i] = pack_param(scalars[name], kind, name)
            elif isinstance(name, HostName):
                packed[i] = pack_param(name.of(scalars), kind, name)
        return packed
