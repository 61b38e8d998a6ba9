"""Lowered problems as executables, and the kernels of a nest for either device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from baracuda.core.device import Device, DeviceKind
from baracuda.core.host import value_of
from baracuda.core.plan import Scalars
from baracuda.formula.expr import Expr
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.program import Parameter, Program

if TYPE_CHECKING:
    from baracuda.lowering.nest.cuda.lower import Tuning


class Call(Protocol):
    """A lowered program, ready to be called."""

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None: ...

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]: ...


class FormulaExecutable:
    """A lowered problem for one layout, taking addresses in the order of the plan's tensors."""

    def __init__(self, program: Program, target: Call, pick: Callable[[Sequence[int]], Sequence[int]] | None) -> None:
        self.workspace_bytes, self.schedule = program.workspace_bytes, program.schedule
        self.target, self.pick = target, pick
        if pick is None:  # nothing to rearrange: a call goes straight to the kernel
            self.call, self.bind = target.call, target.bind  # type: ignore[method-assign]

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        assert self.pick is not None
        self.target.call(self.pick(pointers), workspace, stream, scalars)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        assert self.pick is not None
        return self.target.bind(self.pick(pointers), workspace, stream)


class NothingToDo:
    """The executable of a problem without elements."""

    workspace_bytes, schedule = 0, "empty"

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        """Return at once."""

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        return lambda: None


def build(
    device: Device,
    nest: Nest,
    params: Sequence[Parameter],
    *,
    compiled_only: bool = False,
    autotune: bool = False,
    tuning: Tuning | None = None,
) -> tuple[Program, Call] | None:
    """The program of a nest on a device; None where it would have to be compiled and `compiled_only` is set. Autotuning and
    tunings are of GPUs."""
    if device.kind is DeviceKind.CUDA:
        from baracuda.lowering.nest.cuda.build import build as build_cuda

        return build_cuda(nest, params, device.index, compiled_only=compiled_only, autotune=autotune, tuning=tuning)
    from baracuda.lowering.nest.cpu.build import build as build_cpu

    return build_cpu(nest, params, compiled_only=compiled_only)


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
