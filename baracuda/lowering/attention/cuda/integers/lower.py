"""Attention in integers on a CUDA device: the digits, then the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import round_up
from baracuda.lowering.attention.cuda.delta import delta_bytes, lower_delta
from baracuda.lowering.attention.cuda.integers.backward import KeyGradient, QueryGradient
from baracuda.lowering.attention.cuda.integers.digits import digits_launch, row_factors
from baracuda.lowering.attention.cuda.integers.few import Few, is_for_few
from baracuda.lowering.attention.cuda.integers.forward import Forward
from baracuda.lowering.attention.cuda.integers.phases import Room
from baracuda.lowering.attention.cuda.place import LONGEST
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.cuda import GRID_LIMIT
from baracuda.runtime.program import Launch, Lowered


def _results(a: Attention) -> list[str]:
    """The kernels that a problem takes, by what they write."""
    queries, keys = a.batch * a.heads * a.queries, a.batch * a.key_heads * a.keys
    if a.slope is None:
        return ["y"] if queries else []
    of_queries = ["dq"] if queries and (a.dq is not None or a.dbias is not None) else []
    return of_queries + [n for n, o in (("dk", a.dk), ("dv", a.dv)) if o is not None and keys]


def _forms(a: Attention, results: list[str]) -> dict[str, tuple[bool, bool]]:
    """The operands whose digits some kernels read: whether by rows, and turned."""
    rows, turned = {"q", "k"}, {"y": "v", "dq": "k" if a.dq is not None else "", "dk": "q", "dv": "dy"}
    if "dq" in results or "dk" in results:
        rows |= {"v", "dy"}
    needed = {turned[n] for n in results}
    return {n: (n in rows, n in needed) for n in ("q", "k", "v", "dy") if n in rows | needed}


#: Blocks that a multiprocessor should hold: what autotuning tries. (With warpgroup instructions only a deep forward is faster
#: with three, which have registers for fewer sums of products.)
RESIDENT = (3, 2)


def integer_ways(a: Attention, target: Target) -> Iterator[Lowered]:
    """The kernels of an attention in integers that autotuning tries."""
    if is_for_few(a, target.multiprocessors):
        few = lower_few(a)
        if max(launch.shared for launch in few.launches) <= target.shared_bytes:
            yield few
    factors = row_factors(a, _forms(a, _results(a)), 0)
    if target.arch == "sm_90" and all(f.fits_warpgroups for f in factors.values()):
        deep = a.slope is None and max(a.depth, a.value_depth) > 64
        for blocks in RESIDENT if deep else RESIDENT[::-1]:
            yield lower_integers(a, target, Room(target.shared_bytes, blocks, warpgroups=True))
        return
    for blocks in RESIDENT:
        yield lower_integers(a, target, Room(target.shared_bytes, blocks))


@lru_cache(maxsize=4096)
def lower_integers(a: Attention, target: Target, room: Room) -> Lowered:
    """The kernels of an attention in integers, whose blocks have so much room. Needs no GPU.

    Raises
    ------
    UnsupportedError
        There are more than 2**29 queries or keys, or more blocks than a launch may have.
    """
    _check_lengths(a)
    words = Words(len(a.operands), a.params)
    launches: list[Launch] = []
    results, workspace = _results(a), 0
    if a.slope is not None and a.batch * a.heads * a.queries:
        launches.append(lower_delta(a, words))
        workspace = round_up(delta_bytes(a), 128)
    if results:
        factors = row_factors(a, _forms(a, results), workspace, 32 if room.warpgroups else 0)
        workspace = max(f.end for f in factors.values())
        launches.append(digits_launch(a, tuple(factors.values()), words))
    names: list[str] = []
    for name in results:
        kernel: Forward | QueryGradient | KeyGradient
        if name == "y":
            kernel = Forward(a, words, factors, room)
        elif name == "dq":
            kernel = QueryGradient(a, words, factors, room)
        else:
            kernel = KeyGradient(a, words, factors, room, values=name == "dv")
        launches.append(kernel.lower())
        names.append(str(kernel))
    _check_blocks(a, launches)
    return Lowered(tuple(launches), tuple(words.values), workspace, f"attention integers {a.bits} " + " + ".join(names))


@lru_cache(maxsize=4096)
def lower_few(a: Attention) -> Lowered:
    """The kernels for few queries. Needs no GPU; raises `UnsupportedError` as `lower_integers` does."""
    _check_lengths(a)
    words = Words(len(a.operands), a.params)
    kernels = Few(a, words)
    launches = (kernels.scores(), kernels.tile_sums(), kernels.results())
    _check_blocks(a, launches)
    return Lowered(launches, tuple(words.values), kernels.workspace, f"attention integers {a.bits} few queries")


def _check_lengths(a: Attention) -> None:
    if max(a.queries, a.keys) > LONGEST:
        raise UnsupportedError(f"{a.queries} queries and {a.keys} keys; expected at most {LONGEST} of each")


def _check_blocks(a: Attention, launches: Sequence[Launch]) -> None:
    if any(launch.grid[0] > GRID_LIMIT[0] for launch in launches):
        raise UnsupportedError(f"{a.batch} x {a.heads} heads of {a.queries} queries and {a.keys} keys; expected fewer blocks")
