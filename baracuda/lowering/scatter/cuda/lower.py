"""Combinations by destination on CUDA: the sort by key, then sums over the sorted entries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import param
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words
from baracuda.lowering.scatter.cuda.sums import SHORT, Sums
from baracuda.lowering.scatter.problem import INDEX, OPERANDS, Scatter, arrays, partial_slots
from baracuda.lowering.sort.cuda.order import RadixSort, digits, tiles
from baracuda.runtime.program import Lowered


def ways(scatter: Scatter, target: Target) -> Iterator[Lowered]:
    """The launches of a normalised problem."""
    yield lower(scatter, target)


@lru_cache(maxsize=1024)
def lower(scatter: Scatter, target: Target) -> Lowered:
    """The launches of a normalised problem, the same for every target."""
    if scatter.columns >= INDEX_LIMIT:
        raise UnsupportedError(f"{scatter.columns} columns of one destination; expected fewer than {INDEX_LIMIT}")
    words = Words(OPERANDS, (param("alpha", scatter.compute),) if scatter.scaled else ())
    keys = scatter.keys
    summed = scatter.x is not None
    slots = partial_slots(keys.positions) if summed else 0
    places = arrays(keys, digits(keys), tiles(keys), slots * scatter.columns * scatter.compute.itemsize)
    ordering = RadixSort(keys, INDEX, places, words)
    units = ordering.units()
    sums = Sums(scatter, ordering)
    if summed and keys.positions > SHORT:
        units.append(sums.segments())
    if slots:
        units.append(sums.joined())
    units.append(sums.destinations())
    schedule = f"order {len(digits(keys))} digits, sum runs x{sums.width}"
    return Lowered(tuple(u.launch(words) for u in units), tuple(words.values), places.nbytes, schedule)
