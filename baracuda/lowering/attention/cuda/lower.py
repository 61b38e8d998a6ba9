"""Attention on a CUDA device: the choice of tiles, and the kernels.

Products are f32 FMA (f64 for f64): tensor cores have an order of their own, unless products are those of integers (integers/).
The forward is one kernel; the backward a kernel for delta, one for dq, and one for dk and dv.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.attention.cuda.backward import KeyGradient, QueryGradient
from baracuda.lowering.attention.cuda.delta import delta_bytes, lower_delta
from baracuda.lowering.attention.cuda.forward import Forward
from baracuda.lowering.attention.cuda.integers.lower import integer_ways
from baracuda.lowering.attention.cuda.kernel import AttentionKernel
from baracuda.lowering.attention.cuda.operands import Operands
from baracuda.lowering.attention.cuda.place import LONGEST
from baracuda.lowering.attention.cuda.tensor_cores.lower import tensor_core_ways
from baracuda.lowering.attention.cuda.tiles import Tile, cost, tiles
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.cuda import GRID_LIMIT
from baracuda.runtime.program import Launch, Lowered

#: Tiles that autotuning tries.
TRIED = 3

_Writer = Callable[[Attention, Words, Tile], Forward | QueryGradient | KeyGradient]


def _writers(a: Attention) -> list[tuple[_Writer, int, bool]]:
    """The kernels that a problem takes, beside delta's: how each is written, how wide its results are, and whether its rows are
    keys."""
    if a.slope is None:
        return [(Forward, a.value_depth, False)] if a.batch * a.heads * a.queries else []
    writers: list[tuple[_Writer, int, bool]] = []
    if (a.dq is not None or a.dbias is not None) and a.batch * a.heads * a.queries:
        writers.append((QueryGradient, a.depth, False))
    if (a.dk is not None or a.dv is not None) and a.batch * a.key_heads * a.keys:
        widths = [w for w, o in ((a.depth, a.dk), (a.value_depth, a.dv)) if o is not None]
        writers.append((KeyGradient, max(widths), True))
    return writers


def _ranked(a: Attention, writer: _Writer, width: int, by_keys: bool, target: Target) -> list[Tile]:
    """The tiles that a kernel may have, the most promising first."""
    rows, columns = (a.keys, a.queries) if by_keys else (a.queries, a.keys)
    limit, ranked = target.shared_bytes, []
    for tile in tiles(width, a.compute.itemsize, max(1, -(-columns // KEYS)), rows):
        kernel: AttentionKernel = writer(a, Words(len(a.operands), a.params), tile)
        if kernel.shared <= limit:
            blocks = a.batch * kernel.heads * kernel.blocks
            ranked.append((cost(tile, kernel.resident(limit), rows, blocks, target.multiprocessors), tile))
    if not ranked:
        raise UnsupportedError(f"vectors of {a.depth} and {a.value_depth} elements; expected no more than {limit} bytes can hold")
    return [tile for _, tile in sorted(ranked, key=lambda f: f[0])]


def ways(a: Attention, target: Target) -> Iterator[Lowered]:
    """The kernels of an attention that autotuning tries."""
    if a.math is not None:
        yield from integer_ways(a, target) if a.bits else tensor_core_ways(a, target)
        return
    for choice in range(TRIED):
        yield lower(a, target, choice)


@lru_cache(maxsize=4096)
def lower(a: Attention, target: Target, choice: int = 0) -> Lowered:
    """Choose tiles for an attention and write its kernels; `choice` counts from the most promising tiles. Needs no GPU.

    The choice depends on shapes, strides and the target, never on data, and changes no bit of the result.

    Raises
    ------
    UnsupportedError
        There are more than 2**29 queries or keys, more blocks than a launch may have, or vectors too long for shared memory.
    """
    if max(a.queries, a.keys) > LONGEST:
        raise UnsupportedError(f"{a.queries} queries and {a.keys} keys; expected at most {LONGEST} of each")
    words = Words(len(a.operands), a.params)
    launches: list[Launch] = []
    names: list[str] = []
    if a.slope is not None and a.batch * a.heads * a.queries:
        launches.append(lower_delta(a, words))
    for writer, width, by_keys in _writers(a):
        ranked = _ranked(a, writer, width, by_keys, target)
        tile = ranked[min(choice, len(ranked) - 1)]
        launches.append(writer(a, words, tile).lower(target.shared_bytes))
        names.append(str(tile))
    if any(launch.grid[0] > GRID_LIMIT[0] for launch in launches):
        raise UnsupportedError(f"{a.batch} x {a.heads} heads of {a.queries} queries and {a.keys} keys; expected fewer blocks")
    workspace = delta_bytes(a) if a.slope is not None else 0
    return Lowered(tuple(launches), tuple(words.values), workspace, "attention " + " + ".join(names))


def extents(a: Attention) -> list[tuple[tuple[int, ...], Operand]]:
    """Each operand with the extents of the tensor behind it."""
    names, pair = Operands(a, Words(0, ())).names, (a.batch, a.heads, a.queries, a.keys)
    known: dict[str, tuple[int, ...]] = dict.fromkeys(("q", "dq"), (a.batch, a.heads, a.queries, a.depth))
    known |= dict.fromkeys(("k", "dk"), (a.batch, a.key_heads, a.keys, a.depth))
    known |= dict.fromkeys(("v", "dv"), (a.batch, a.key_heads, a.keys, a.value_depth))
    known |= dict.fromkeys(("y", "dy"), (a.batch, a.heads, a.queries, a.value_depth))
    known |= {"lse": pair[:3], "query_lengths": pair[:1], "key_lengths": pair[:1]}
    return [(known.get(n, pair), o) for n, o in zip(names, a.operands, strict=True)]
