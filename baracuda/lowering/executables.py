"""Lowered problems as executables: the one way from code that is written to something that can be called, for any problem on
any device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import TypeAlias

from baracuda.core.device import Device
from baracuda.core.host import value_of
from baracuda.core.implementation import Executable, Scalars
from baracuda.core.kernel_info import KernelInfo
from baracuda.formula.expr import Expr
from baracuda.lowering.backend import backend_of
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import Lowered, Parameter
from baracuda.runtime.toolchain import LoadedProgram, Toolchain, toolchain_of

#: Takes a program's addresses out of those of a plan's tensors.
Pick: TypeAlias = "Callable[[Sequence[int]], Sequence[int]] | None"


class GeneratedExecutable:
    """A lowered problem for one layout, taking addresses in the order of the plan's tensors. It can be called once it is loaded,
    by `load`.

    Attributes
    ----------
    lowered
        Its kernels, before they are compiled.
    target
        What calls the program; there once it is loaded.
    pick
        Takes the program's addresses out of those of the plan's tensors; None where these are the same.
    """

    target: LoadedProgram | None = None

    def __init__(self, lowered: Lowered, operands: int, params: Sequence[Parameter], toolchain: Toolchain, pick: Pick) -> None:
        self.lowered, self.pick, self.toolchain = lowered, pick, toolchain
        self.workspace_bytes, self.schedule = lowered.workspace_bytes, lowered.schedule
        self._operands, self._params = operands, params

    def kernels(self) -> tuple[KernelInfo, ...]:
        """What can be known of its kernels."""
        return self.toolchain.describe(self.lowered)

    def load(self) -> None:
        """Put the kernels on the device."""
        self.target = self.toolchain.load(self.lowered, self._operands, self._params)
        if self.pick is None:  # nothing to rearrange: a call goes straight to the kernel
            self.call, self.bind = self.target.call, self.target.bind  # type: ignore[method-assign]

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        assert self.pick is not None
        assert self.target is not None
        self.target.call(self.pick(pointers), workspace, stream, scalars)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        assert self.pick is not None
        assert self.target is not None
        return self.target.bind(self.pick(pointers), workspace, stream)


class CompositeExecutable:
    """An executable made of others, which run in the order of `parts`."""

    parts: tuple[Executable, ...]


def generated(executable: Executable) -> Iterator[GeneratedExecutable]:
    """The generated programs that an executable is made of, in the order in which they run."""
    if isinstance(executable, GeneratedExecutable):
        yield executable
    elif isinstance(executable, CompositeExecutable):
        for part in executable.parts:
            yield from generated(part)


def load(executables: Iterable[Executable]) -> None:
    """Load every generated program of some executables, with all that must be compiled for them compiled at once."""
    waiting = [e for executable in executables for e in generated(executable) if e.target is None]
    for toolchain in {e.toolchain: None for e in waiting}:
        toolchain.compile([launch for e in waiting if e.toolchain is toolchain for launch in e.lowered.launches])
    for e in waiting:
        e.load()


class EmptyExecutable:
    """The executable of a problem without elements."""

    workspace_bytes, schedule = 0, "empty"

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        """Return at once."""

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        return lambda: None


#: Operands with the extents that each has, for scratch memory to measure on.
Extents = Sequence[tuple[tuple[int, ...], Operand]]


def executable(
    device: Device,
    problem: object,
    params: Sequence[Parameter],
    operands: int,
    *,
    way: int = 0,
    autotune: bool = False,
    pick: Pick = None,
    compiled_only: bool = False,
    extents: Callable[[], Extents] | None = None,
) -> GeneratedExecutable | None:
    """What runs a problem on a device, not loaded yet; None where `compiled_only` is set and a kernel of it is not there.

    problem
        A dataclass of `baracuda.lowering.<folder>.problem`.
    params
        Its parameters.
    operands
        How many it has.
    way
        Which of its ways to take (`baracuda.lowering.backend`), or the last where there are fewer; none changes a bit.
    autotune
        Take the fastest of all, by measuring on scratch memory for `extents`; it is loaded.
    """
    toolchain = toolchain_of(device)
    lowered_ways = backend_of(device).ways(problem, device)
    if autotune:
        ways = list({lowered.launches: lowered for lowered in lowered_ways}.values())
    else:
        ways = list(islice(lowered_ways, way + 1))[-1:]
    if compiled_only and not all(toolchain.is_loaded(launch) for lowered in ways for launch in lowered.launches):
        return None
    variants = [GeneratedExecutable(lowered, operands, params, toolchain, pick) for lowered in ways]
    if len(variants) == 1:
        return variants[0]
    from baracuda.lowering.nest.cuda.tune import fastest

    assert extents is not None
    load(variants)
    return variants[fastest(extents(), [(e.target, e.workspace_bytes) for e in variants if e.target is not None], device)]


def given_parameters(nodes: Iterable[Expr], values: Mapping[str, float]) -> list[Parameter]:
    """The parameters of a formula, in the order of their nodes, with the values that a descriptor has for their names."""
    return [Parameter(n.kind, value_of(n.attr, values), n.attr) for n in nodes]


def picker(order: Sequence[tuple[int, int]]) -> Callable[[Sequence[int]], Sequence[int]]:
    """Takes a program's addresses out of those of the plan's tensors: which of them, and how many bytes on."""
    if any(offset for _, offset in order):
        return lambda pointers: [pointers[i] + offset for i, offset in order]
    if len(order) > 1:
        return itemgetter(*(i for i, _ in order))
    ((only, _),) = order
    return lambda pointers: (pointers[only],)
