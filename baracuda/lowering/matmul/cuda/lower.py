"""Matrix products on a CUDA device: the choice of a tile, and the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from math import prod

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import coord, rebuild
from baracuda.lowering.matmul.cuda.batches import is_small, lower_batches
from baracuda.lowering.matmul.cuda.integers.lower import integer_variants
from baracuda.lowering.matmul.cuda.kernel import lower_tile
from baracuda.lowering.matmul.cuda.tensor_core_chain import lower_chain
from baracuda.lowering.matmul.cuda.tensor_core_tiles import FEW_ROWS, tensor_core_tiles
from baracuda.lowering.matmul.cuda.tensor_cores.lower import by_warpgroups, fills, takes_integers
from baracuda.lowering.matmul.cuda.tensor_cores.lower import integer_variants as small_integer_variants
from baracuda.lowering.matmul.cuda.thin import lower_thin
from baracuda.lowering.matmul.cuda.tiles import THIN, ThinTile, Tile, thin_tile, tiles
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH, MatmulProblem, merged
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import Lowered

#: Tiles that autotuning tries.
TRIED = 4


def transposed(c: MatmulProblem) -> MatmulProblem:
    """The same product with m and n called by each other's name."""
    rank = len(c.batch)
    swap = {rank: rank + 1, rank + 1: rank}
    graph = c.epilogue
    if any(n.op == "coord" for n in graph.nodes):
        graph = graph.map(lambda n, args: coord(swap.get(n.attr % (rank + 2), n.attr)) if n.op == "coord" else rebuild(n, args))

    def flip(o: Operand) -> Operand:
        return replace(o, strides=(*o.strides[:rank], o.strides[rank + 1], o.strides[rank]))

    return replace(
        c,
        m=c.n,
        n=c.m,
        a=tuple(map(flip, c.b)),
        b=tuple(map(flip, c.a)),
        epilogue=graph,
        operands=tuple(map(flip, c.operands)),
    )


def _checked(c: MatmulProblem) -> MatmulProblem:
    """The product with as few axes as possible; raises `UnsupportedError` for one that no kernel takes."""
    if len(c.a) != len(c.b):
        raise UnsupportedError(f"a factor in {len(c.a)} parts with one in {len(c.b)}; expected both complex, or both real")
    if not any(n.op == "coord" for n in c.epilogue.nodes):
        c = merged(c)
    if max(prod(c.batch), c.m, c.n, c.k) >= INDEX_LIMIT:
        raise UnsupportedError(f"a product of batch {c.batch}, m {c.m}, n {c.n}, k {c.k}; expected each below {INDEX_LIMIT}")
    return c


def _is_turned(c: MatmulProblem) -> bool:
    """Whether the neighbours of the first result lie along m."""
    first, rank = c.operands[-len(c.epilogue.outputs)], len(c.batch)
    return first.steps(rank) == 1 != first.steps(rank + 1)


def _columns(c: MatmulProblem, target: Target) -> int:
    """Columns that a block of a thin product takes: few enough that every multiprocessor has a block. Where a thread then has
    several rows, 64 are better than 32 (H200, 8192x8192 in bf16: 16 rows in 102 us instead of 119, 4 in 47 instead of 54)."""
    columns = 64 if c.m > 2 else 32
    while columns > 8 and prod(c.batch) * -(-c.n // columns) < target.multiprocessors * 3 // 4:
        columns //= 2
    return columns


def packed(c: MatmulProblem) -> tuple[MatmulProblem, str]:
    """The product and the function of a link: where both factors are 8-bit integers that lie along k in whole words, the
    product of those words, of which a link takes the four products at once. Integers wrap, so the order does not matter."""
    signs = {ElementKind.S8: "s", ElementKind.U8: "u"}
    rank, factors = len(c.batch), (*c.a, *c.b)
    if c.accumulator is not ElementKind.S32 or c.k % 4 or len(factors) > 2 or not all(f.kind in signs for f in factors):
        return c, "chain"
    for f, k_axis, extents in zip(factors, (rank + 1, rank), ((*c.batch, c.m, 1), (*c.batch, 1, c.n)), strict=True):
        whole = all(s % 4 == 0 for s, extent in zip(f.strides, extents, strict=True) if extent > 1)
        if f.steps(k_axis) != 1 or f.alignment % 4 or not whole:
            return c, "chain"

    def words(f: Operand, k_axis: int) -> Operand:
        return replace(f, kind=ElementKind.S32, strides=tuple(1 if i == k_axis else s // 4 for i, s in enumerate(f.strides)))

    link = f"dot_{signs[c.a[0].kind]}{signs[c.b[0].kind]}"
    return replace(c, k=c.k // 4, a=(words(c.a[0], rank + 1),), b=(words(c.b[0], rank),)), link


def candidates(c: MatmulProblem, target: Target) -> Iterator[tuple[MatmulProblem, Tile | ThinTile, bool]]:
    """The ways to take a product, the most promising first: the product as it is walked, the tile, and whether the factors
    have changed places."""
    c = _checked(c)
    flipped = transposed(c)
    real = len(c.a) == 1
    for way, exchanged in ((c, False), (flipped, True)) if c.m <= c.n else ((flipped, True), (c, False)):
        if real and way.m <= THIN:
            yield way, thin_tile(packed(way)[0], _columns(way, target), target.shared_bytes), exchanged
    exchanged = _is_turned(c)
    way = flipped if exchanged else c
    for tile in tiles(way, target.multiprocessors):
        yield way, tile, exchanged


def lowered_under(c: MatmulProblem, tile: Tile | ThinTile, *, exchanged: bool) -> Lowered | None:
    """The kernel of a product under a tile; None where the tile does not fit it."""
    way, link = packed(c)
    if isinstance(tile, ThinTile):
        return lower_thin(way, tile, exchanged=exchanged, link=link)
    return lower_tile(way, tile, exchanged=exchanged, link=link)


def _by_tensor_cores(c: MatmulProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of a product that is a chain of the tensor cores, the most promising first."""
    c = _checked(c)
    kinds = [o.kind for o in (*c.a, *c.b)]
    if len(kinds) > 2 or any(TENSOR_CORE_MATH.get(kind) is not c.math for kind in kinds):
        raise UnsupportedError(f"a product of {' and '.join(map(str, kinds))} in {c.math}; expected two factors of {c.math}")
    by_groups = by_warpgroups(c, transposed(c), target) if c.k else iter(())
    if min(c.m, c.n) > THIN or fills(c, target):  # warps have smaller tiles (H200, 1 row by 4096x4096: 14 us instead of 16)
        yield from by_groups
    exchanged = _is_turned(c)
    if min(c.m, c.n) <= FEW_ROWS:
        exchanged = c.n < c.m
    way = transposed(c) if exchanged else c
    for tile in tensor_core_tiles(way, target):
        yield lower_chain(way, tile, exchanged=exchanged)
    yield from by_groups


def variants(c: MatmulProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of a product that the target can run, the most promising first. They differ in no bit."""
    if c.math in TENSOR_CORE_MATH.values():
        yield from _by_tensor_cores(c, target)
        return
    few_axes = _checked(c)
    if is_small(few_axes):
        exchanged = _is_turned(few_axes)
        yield lower_batches(transposed(few_axes) if exchanged else few_axes, target, exchanged=exchanged)
    for way, tile, exchanged in candidates(c, target):
        lowered = lowered_under(way, tile, exchanged=exchanged)
        if lowered is not None and lowered.launches[0].shared <= target.shared_bytes:
            yield lowered


def ways(c: MatmulProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of a product that autotuning tries."""
    if c.bits and c.k:  # a sum of nothing is +0 in every arithmetic
        c = _checked(c)
        yield from integer_variants(c, transposed(c), target)
        return
    if takes_integers(c):
        checked = _checked(c)
        yield from small_integer_variants(checked, transposed(checked), target)
    yield lower(c, target)
    yield from islice(variants(c, target), 1, TRIED)


@lru_cache(maxsize=4096)
def lower(c: MatmulProblem, target: Target) -> Lowered:
    """Choose a tile for a matrix product and write its kernel. Needs no GPU.

    The choice depends on shapes, strides and the target, never on data, and changes no bit of the result.

    Raises
    ------
    UnsupportedError
        An extent is 2**31 or more, only one of the factors is complex, or they are not of the element that `math` says.
    """
    return next(variants(c, target))
