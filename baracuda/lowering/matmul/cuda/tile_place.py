"""Where a tile of the result lies, in the code of every kernel whose tiles are numbered.

Tiles are numbered so that those which run together lie in a square: `group` row tiles side by side, then the next columns. The
rows and columns that they read stay in L2.
"""

from __future__ import annotations

from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, unravel


def tile_place(c: MatmulProblem, words: Words, tiles_m: int, tiles_n: int, group: int, number: str) -> list[str]:
    """Splits the number of a tile into `product`, the batch's coordinates c0, c1, ..., and `tile_m` and `tile_n`."""
    across = words.unsigned(tiles_n)
    return [
        f"const unsigned product = divide({number}, {words.divisor(tiles_m * tiles_n)});",
        f"const unsigned inside = {number} - product * {words.unsigned(tiles_m * tiles_n)};",
        f"const unsigned square = inside / ({group} * {across}), turn = inside - square * ({group} * {across});",
        f"const unsigned first = square * {group}, rest = {words.unsigned(tiles_m)} - first;",
        f"const unsigned high = rest < {group} ? rest : {group};",
        "const unsigned tile_m = first + turn % high, tile_n = turn / high;",
        *(unravel("product", c.batch, words, "c", wide=False) if c.batch else ()),
    ]


def tile_extents(c: MatmulProblem, words: Words, bm: int, bn: int) -> list[str]:
    """How many `rows` and `columns` of a tile exist, which begins at m0 and n0."""
    return [
        f"const i64 rows_left = {words.signed(c.m)} - m0, columns_left = {words.signed(c.n)} - n0;",
        f"const int rows = rows_left < {bm} ? (int)rows_left : {bm};",
        f"const int columns = columns_left < {bn} ? (int)columns_left : {bn};",
    ]
