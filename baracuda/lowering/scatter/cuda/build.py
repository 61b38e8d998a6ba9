"""From a combination by destination to something that can be launched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.nest.cuda.build import GRID_LIMIT, target_of
from baracuda.lowering.nest.cuda.kernel import Lowered
from baracuda.lowering.scatter.cpu.sums import OPERANDS
from baracuda.lowering.scatter.cuda.sums import lower_cuda
from baracuda.lowering.scatter.problem import Scatter
from baracuda.runtime.cuda import CudaCall, is_loaded, load_kernel
from baracuda.runtime.program import Parameter, Program, Step, Template


@lru_cache(maxsize=1024)
def _lowered(scatter: Scatter) -> Lowered:
    return lower_cuda(scatter)


def build(
    scatter: Scatter, params: Sequence[Parameter], index: int, *, compiled_only: bool = False
) -> tuple[Program, CudaCall] | None:
    """The program of a normalised problem on a device; None where `compiled_only` is set and a kernel is not there yet."""
    arch, lowered = target_of(index).arch, _lowered(scatter)
    if compiled_only and not all(is_loaded(launch.source, arch, index) for launch in lowered.launches):
        return None
    steps = []
    for launch in lowered.launches:
        if launch.grid[0] > GRID_LIMIT or launch.grid[1] > 0xFFFF:
            raise UnsupportedError(f"a launch of {launch.grid} blocks; expected at most {GRID_LIMIT} and 65535")
        function = load_kernel(launch.source, arch, index, launch.shared)
        steps.append(Step(function=function, grid=launch.grid, block=launch.block, shared=launch.shared))
    program = Program(tuple(steps), lowered.integers, lowered.workspace_bytes, lowered.schedule)
    return program, CudaCall(program, Template(program, OPERANDS, params), index)
