"""Stable orders on the CPU: short rows by counting, longer ones by radix, a thread for each; few long ones in tiles that threads
share."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.lowering.sort.cpu.buckets import Buckets
from baracuda.lowering.sort.cpu.code import Integers
from baracuda.lowering.sort.cpu.counting import COUNTED, counting
from baracuda.lowering.sort.cpu.rows import Rows
from baracuda.lowering.sort.cpu.tiled import Tiled
from baracuda.lowering.sort.cpu.vectors import VectorRows
from baracuda.lowering.sort.cpu.words import suits
from baracuda.lowering.sort.problem import OPERANDS, Sort
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered

#: Rows from which on each is a thread's own, and elements up to which one is whatever their number.
_MANY, _SHORT = 16, 1 << 15
#: The longest row of elements of 8 bits that is not better ordered by one pass of radix.
_BYTES = 256


def ways(sort: Sort, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a normalised problem, the most promising first."""
    first = lower(sort, target)
    yield first
    for schedule in ("rows", "tiles"):
        yield lower(sort, target, schedule)


def lower(sort: Sort, target: CpuTarget | None = None, schedule: str = "") -> Lowered:
    """The program of a normalised problem, in one of its ways if that is named."""
    target = target or host()
    integers = Integers(OPERANDS, 0)
    if not schedule and suits(sort, target) and not (sort.key_bits <= 8 and sort.length > _BYTES):
        schedule = "vectors" if sort.length <= _SHORT or sort.rows >= _MANY else "buckets"
    if not schedule:
        short = "count" if sort.length <= COUNTED else "rows"
        schedule = short if sort.length <= _SHORT or sort.rows >= _MANY else "tiles"
    if schedule == "count":
        return Lowered((counting(sort, integers, target),), tuple(integers.values), 0, "count smaller")
    if schedule == "vectors":
        vectors = VectorRows(sort, integers, target)
        return Lowered((vectors.step(),), tuple(integers.values), vectors.nbytes, f"quicksort rows x{vectors.slots}")
    if schedule == "buckets":
        buckets = Buckets(sort, integers, target)
        return Lowered(tuple(buckets.steps()), tuple(integers.values), buckets.nbytes, f"quicksort buckets x{buckets.tiles}")
    if schedule == "rows":
        rows = Rows(sort, integers, target)
        return Lowered((rows.step(),), tuple(integers.values), rows.nbytes, f"radix rows x{rows.slots}")
    tiled = Tiled(sort, integers, target)
    return Lowered(tuple(tiled.steps()), tuple(integers.values), tiled.nbytes, f"radix tiles x{tiled.tiles}")
