"""From a nest to something that can be launched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.lowering.cuda import Launch, Lowered, Target, lower
from baracuda.lowering.problem import Nest
from baracuda.runtime.cuda import CudaCall, architecture, is_loaded, load_kernel
from baracuda.runtime.program import Program, Step, words

#: Launches that the hardware takes in one dimension.
GRID_LIMIT = (1 << 31) - 1


@cache
def target_of(index: int) -> Target:
    """What to compile for on a device."""
    major, minor, multiprocessors = architecture(index)
    return Target(f"sm_{major}{minor}", multiprocessors)


@cache
def _lowered(nest: Nest, target: Target) -> Lowered:
    return lower(nest, target)


def build(
    nest: Nest, params: Sequence[tuple[ElementKind, float]], index: int, *, compiled_only: bool = False
) -> tuple[Program, CudaCall] | None:
    """The program of a nest on a device; None where it would have to be compiled and `compiled_only` is set."""
    target = target_of(index)
    lowered = _lowered(nest, target)
    if compiled_only and not all(is_loaded(launch.source, target.arch) for launch in lowered.launches):
        return None
    program = Program(
        tuple(_step(launch, target, index) for launch in lowered.launches),
        lowered.integers,
        lowered.workspace_bytes,
        lowered.schedule,
    )
    operands = len(nest.operands)
    return program, CudaCall(program, words(program, operands, params), operands, index)


def _step(launch: Launch, target: Target, index: int) -> Step:
    if max(launch.grid) > GRID_LIMIT:
        raise UnsupportedError(f"a launch of {launch.grid} blocks; expected at most {GRID_LIMIT} along an axis")
    function = load_kernel(launch.source, target.arch, index, launch.shared)
    return Step(function=function, grid=launch.grid, block=launch.block, shared=launch.shared)
