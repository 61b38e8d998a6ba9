"""Stable orders on CUDA: short rows by counting, a few of many elements by selection, rows that fit a block in shared memory,
longer ones by radix in tiles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words
from baracuda.lowering.sort.cuda.long import LongRows
from baracuda.lowering.sort.cuda.select import Selection, selects
from baracuda.lowering.sort.cuda.short import COUNTED, block, block_of, counting
from baracuda.lowering.sort.problem import OPERANDS, Sort
from baracuda.runtime.program import Lowered


def ways(sort: Sort, target: Target) -> Iterator[Lowered]:
    """The launches of a normalised problem, the most promising first."""
    yield lower(sort, target)
    if block_of(sort, target) is not None:
        yield lower(sort, target, "block")
    yield lower(sort, target, "long")


@lru_cache(maxsize=1024)
def lower(sort: Sort, target: Target, schedule: str = "") -> Lowered:
    """The launches of a normalised problem, in one of its ways if that is named."""
    if sort.rows >= INDEX_LIMIT:
        raise UnsupportedError(f"{sort.rows} rows; expected fewer than {INDEX_LIMIT}")
    words = Words(OPERANDS, ())
    fits = block_of(sort, target)
    if not schedule:
        schedule = "count" if sort.length <= COUNTED else "select" if selects(sort) else "long" if fits is None else "block"
    if schedule == "count":
        launches = (counting(sort, words).launch(words),)
        return Lowered(launches, tuple(words.values), 0, "count smaller")
    if schedule == "block":
        assert fits is not None
        launches = (block(sort, words, *fits).launch(words),)
        return Lowered(launches, tuple(words.values), 0, f"radix block {fits[0]}x{fits[1]}")
    if schedule == "select":
        selection = Selection(sort, words)
        if sort.rows * selection.passes[0][1] >= INDEX_LIMIT:
            raise UnsupportedError(f"{sort.rows} rows of {sort.length}; expected fewer than {INDEX_LIMIT} parts")
        launched = tuple(u.launch(words) for u in selection.units())
        return Lowered(launched, tuple(words.values), selection.nbytes, f"select {len(launched)} passes")
    rows = LongRows(sort, words)
    if sort.rows * rows.tiles >= INDEX_LIMIT:
        raise UnsupportedError(f"{sort.rows} rows of {sort.length}; expected fewer than {INDEX_LIMIT} tiles")
    units = rows.units()
    launched = tuple(u.launch(words) for u in units)
    return Lowered(launched, tuple(words.values), rows.nbytes, f"radix {len(rows.digits)} digits")
