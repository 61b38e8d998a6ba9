"""Combinations by destination on the CPU: the sort by key, then sums over the sorted entries."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.formula.order import SEGMENT
from baracuda.lowering.scatter.cpu.sums import Sums
from baracuda.lowering.scatter.problem import INDEX, OPERANDS, Scatter, arrays, partial_slots
from baracuda.lowering.sort.cpu.code import Integers
from baracuda.lowering.sort.cpu.order import RadixSort, digits, tiles
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered


def ways(scatter: Scatter, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a normalised problem."""
    yield lower(scatter, target)


def lower(scatter: Scatter, target: CpuTarget | None = None) -> Lowered:
    """The program of a normalised problem."""
    target = target or host()
    integers = Integers(OPERANDS, int(scatter.scaled))
    keys = scatter.keys
    long = scatter.x is not None and keys.positions > SEGMENT
    partial = partial_slots(keys.positions) * scatter.columns * scatter.compute.itemsize if long else 0
    places = arrays(keys, digits(keys), tiles(keys), partial)
    steps = RadixSort(keys, INDEX, places, integers, target).steps()
    sums = Sums(scatter, places, integers, target)
    steps += [*([sums.segments()] if long else []), sums.destinations(long)]
    return Lowered(tuple(steps), tuple(integers.values), places.nbytes, f"order {len(digits(keys))} digits, sum runs")
