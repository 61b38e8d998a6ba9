"""From a nest to something that can be launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import round_up
from baracuda.lowering.nest.cuda.lower import TUNINGS, Launch, Lowered, Target, Tuning, lower
from baracuda.lowering.nest.cuda.tune import Variant, fastest
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.cuda import CudaCall, architecture, is_loaded, load_kernel
from baracuda.runtime.device_memory import DeviceMemory
from baracuda.runtime.program import Parameter, Program, Step, Template
from baracuda.runtime.streams import CudaStream, beside_captures

#: Launches that the hardware takes in one dimension.
GRID_LIMIT = (1 << 31) - 1


@cache
def target_of(index: int) -> Target:
    """What to compile for on a device."""
    major, minor, multiprocessors = architecture(index)
    return Target(f"sm_{major}{minor}", multiprocessors)


@lru_cache(maxsize=4096)
def _lowered(nest: Nest, target: Target) -> Lowered:
    return lower(nest, target)


def build(
    nest: Nest,
    params: Sequence[Parameter],
    index: int,
    *,
    compiled_only: bool = False,
    autotune: bool = False,
    tuning: Tuning | None = None,
) -> tuple[Program, CudaCall] | None:
    """The program of a nest on a device; None where it would have to be compiled and `compiled_only` is set.

    `autotune` measures every tuning on scratch memory and takes the fastest; none of them changes a bit.
    """
    target = target_of(index)
    tunings = TUNINGS if autotune else (tuning or target.tuning,)
    found: dict[tuple[str, ...], Lowered] = {}
    for t in tunings:
        lowered = _lowered(nest, replace(target, tuning=t))
        found.setdefault(tuple(launch.source for launch in lowered.launches), lowered)
    if compiled_only and not all(is_loaded(source, target.arch, index) for sources in found for source in sources):
        return None
    made = [program_of(lowered, len(nest.operands), params, target, index) for lowered in found.values()]
    if len(made) == 1:
        return made[0]
    return made[fastest(nest, [Variant(call, program.workspace_bytes) for program, call in made], index)]


def program_of(
    lowered: Lowered, operands: int, params: Sequence[Parameter], target: Target, index: int
) -> tuple[Program, CudaCall]:
    """The program of what was lowered for a number of operands, with its kernels on the device."""
    integers = list(lowered.integers)
    for launch in lowered.launches:
        if launch.kept:
            integers[launch.kept.integer] = _kept(launch, target, index)
    steps = tuple(_step(launch, target, index) for launch in lowered.launches if not launch.kept)
    program = Program(steps, tuple(integers), lowered.workspace_bytes, lowered.schedule)
    return program, CudaCall(program, Template(program, operands, params), index)


#: What launches have computed for good, by source, architecture and device.
_results: dict[tuple[str, str, int], DeviceMemory] = {}
_results_lock = locks.lock()


def _kept(launch: Launch, target: Target, index: int) -> int:
    """The address of what a launch computes once."""
    assert launch.kept
    key = launch.source, target.arch, index
    with _results_lock:
        if key not in _results:
            program = Program((_step(launch, target, index),), (), 0, "")
            call = CudaCall(program, Template(program, 0, ()), index)
            device = Device.cuda(index)
            with beside_captures(device):
                _results[key] = _computed(call, launch.kept.nbytes, device)
        return _results[key].pointer


def _computed(call: CudaCall, nbytes: int, device: Device) -> DeviceMemory:
    """What a call writes, once it is there."""
    memory, queue = DeviceMemory(nbytes, device), CudaStream(device)
    call.call((), memory.pointer, queue.stream.handle)
    queue.synchronize()
    return memory


def _step(launch: Launch, target: Target, index: int) -> Step:
    if max(launch.grid) > GRID_LIMIT:
        raise UnsupportedError(f"a launch of {launch.grid} blocks; expected at most {GRID_LIMIT} along an axis")
    # Compilers join the loads of neighbours in shared memory, also where the second is not asked for: up to 16 bytes are there.
    shared = round_up(launch.shared, 16)
    function = load_kernel(launch.source, target.arch, index, shared, launch.cluster)
    return Step(function=function, grid=launch.grid, block=launch.block, shared=shared)
