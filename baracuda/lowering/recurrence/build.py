"""From a recurrence, or sums along chains, to something that can be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.nest.cuda.build import GRID_LIMIT, target_of
from baracuda.lowering.recurrence.cpu import kernel as cpu
from baracuda.lowering.recurrence.cuda import kernel as cuda
from baracuda.lowering.recurrence.problem import Array, Chains, Recurrence, tensors_of
from baracuda.runtime.cpu import CpuCall
from baracuda.runtime.cuda import CudaCall, is_loaded, load_kernel
from baracuda.runtime.program import Parameter, Program, Step, Template

Values = Sequence[Parameter]


def build_cpu(
    problem: Recurrence | Chains, arrays: Mapping[str, Array], params: Values, *, compiled_only: bool = False
) -> tuple[Program, CpuCall] | None:
    """The program of a problem in primitives; None where it would have to be compiled and `compiled_only` is set."""
    program = cpu.lower(problem, arrays, compiled_only=compiled_only)
    return None if program is None else (program, CpuCall(program, Template(program, len(tensors_of(problem)), params)))


def build_cuda(
    problem: Recurrence | Chains,
    arrays: Mapping[str, Array],
    params: Values,
    index: int,
    *,
    compiled_only: bool = False,
    tuning: cuda.Tuning | None = None,
) -> tuple[Program, CudaCall] | None:
    """The same for a device."""
    arch, operands = target_of(index).arch, len(tensors_of(problem))
    lowered = cuda.lower(problem, arrays, tuning)
    (launch,) = lowered.launches
    if compiled_only and not is_loaded(launch.source, arch, index):
        return None
    if max(launch.grid) > GRID_LIMIT:
        raise UnsupportedError(f"a launch of {launch.grid} blocks; expected at most {GRID_LIMIT} along an axis")
    function = load_kernel(launch.source, arch, index, launch.shared)
    step = Step(function=function, grid=launch.grid, block=launch.block, shared=launch.shared)
    program = Program((step,), lowered.integers, lowered.workspace_bytes, lowered.schedule)
    return program, CudaCall(program, Template(program, operands, params), index)
