"""Attention by tensor cores: which kernels a problem takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import round_up
from baracuda.lowering.attention.cuda.delta import delta_bytes, lower_delta
from baracuda.lowering.attention.cuda.place import LONGEST
from baracuda.lowering.attention.cuda.tensor_cores.backward import KeyGradient, QueryGradient
from baracuda.lowering.attention.cuda.tensor_cores.forward import Forward
from baracuda.lowering.attention.cuda.tensor_cores.rings import Room
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH
from baracuda.lowering.nest.cuda.kernel import Target, Words, translation_unit
from baracuda.runtime.cuda import GRID_LIMIT
from baracuda.runtime.program import KernelSource, Launch, Lowered


def tensor_core_ways(a: Attention, target: Target) -> Iterator[Lowered]:
    """The kernels that autotuning tries. They differ in no bit."""
    most = target.shared_bytes
    if target.arch == "sm_90":
        rooms = [Room(most, 2, target.multiprocessors), Room(most, 2), Room(most, 1)]
    else:
        rooms = [Room(most)]
    for room in rooms:
        yield lower_tensor_cores(a, target, room)


@lru_cache(maxsize=4096)
def lower_tensor_cores(a: Attention, target: Target, room: Room) -> Lowered:
    """The kernels of an attention by tensor cores, whose blocks have so much room. Needs no GPU.

    Raises
    ------
    UnsupportedError
        Operands are not of the element that the tensor cores are to multiply, there are more than 2**29 queries or keys, or more
        blocks than a launch may have.
    """
    for operand in (a.q, a.k, a.v):
        if TENSOR_CORE_MATH.get(operand.kind) is not a.math:
            raise UnsupportedError(f"attention of {operand.kind} in {a.math}; expected operands of {a.math}")
    if max(a.queries, a.keys) > LONGEST:
        raise UnsupportedError(f"{a.queries} queries and {a.keys} keys; expected at most {LONGEST} of each")
    words = Words(len(a.operands), a.params)
    launches: list[Launch] = []
    kernels: list[Forward | QueryGradient | KeyGradient] = []
    workspace = 0
    own = replace(
        room, groups=min(room.groups, 2), persistent=0
    )  # gradients do not gain by it (H200, 2026-11-23: 3.96 ms for 3.63)
    queries, keys = a.batch * a.heads * a.queries, a.batch * a.key_heads * a.keys
    if a.slope is None:
        kernels += [Forward(a, words, room)] if queries else []
    else:
        if queries:
            launches.append(lower_delta(a, words))
            workspace = round_up(delta_bytes(a), 128)
        if queries and (a.dq is not None or a.dbias is not None):
            kernels.append(QueryGradient(a, words, own))
        wanted = [n for n, o in (("dk", a.dk), ("dv", a.dv)) if o is not None and keys]
        together = bool(room.groups) and KeyGradient.fit_together(a)
        for results in [wanted] if together and wanted else [[n] for n in wanted]:
            kernels.append(KeyGradient(a, words, own, results))
    counting = [kernel for kernel in kernels if kernel.persistent]
    if counting:
        for i, kernel in enumerate(counting):
            kernel.counter = workspace + 4 * i
        clear = (
            f"if (threadIdx.x < {len(counting)}) ((unsigned*)({words.word(workspace)} + W.w[{words.operands}]))[threadIdx.x] = 0;"
        )
        launches.append(Launch(KernelSource(translation_unit(words, [clear], 32)), (1, 1, 1), 32))
        workspace += 128
    launches += [kernel.lower() for kernel in kernels]
    if any(launch.grid[0] > GRID_LIMIT[0] for launch in launches):
        raise UnsupportedError(f"{a.batch} x {a.heads} heads of {a.queries} queries and {a.keys} keys; expected fewer blocks")
    names = " + ".join(map(str, kernels))
    return Lowered(tuple(launches), tuple(words.values), workspace, f"attention {a.math} {names}")
