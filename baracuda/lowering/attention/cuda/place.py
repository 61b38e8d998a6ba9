"""Where a block of a kernel of attention is, and which pairs it may see."""

from __future__ import annotations

from baracuda.lowering.attention.cuda.operands import Operands
from baracuda.lowering.attention.problem import KEYS, QUERIES, Attention
from baracuda.lowering.nest.cuda.kernel import Words

#: Queries and keys up to which positions, also those beyond a band's ends, are s32.
LONGEST = 1 << 29
#: Bounds of a band beyond this are none.
_FAR = 1 << 30


class Place:
    """The place of a block whose rows are keys (`by_keys`) or queries.

    Names in the generated code: c0, c1, g the batch element, the query head and the key head; rows and columns how many there
    are; first_row the block's first row; start and stop the tiles that the rows from first_of_tile on meet.
    """

    def __init__(self, a: Attention, words: Words, *, by_keys: bool) -> None:
        self.a, self.words, self.by_keys = a, words, by_keys
        self.operands = Operands(a, words)
        self.row_extent = a.keys if by_keys else a.queries
        self.heads = a.key_heads if by_keys else a.heads
        band = a.band
        low = None if band.before is None else band.offset - band.before
        high = None if band.after is None else band.offset + band.after
        #: Which columns a row may see, relative to its own number; None: no bound on that side.
        self.low, self.high = (_negated(high), _negated(low)) if by_keys else (low, high)

    def of_block(self, number: str, blocks: int, block_rows: int) -> list[str]:
        """Declares the place of a block, given its number, of so many to a head."""
        words = self.words
        count, heads = words.unsigned(blocks), words.unsigned(self.heads)
        # Blocks with the most columns to meet come first, so that none of them begins when the others end.
        place = f"{count} - 1 - ({number} - pair * {count})" if self.high is not None else f"{number} - pair * {count}"
        names = ("key", "query") if self.by_keys else ("query", "key")
        head = ("g", "const int first_head = g * group;") if self.by_keys else ("c1", "const int g = c1 / group;")
        return [
            f"const unsigned pair = divide({number}, {words.divisor(blocks)});",
            f"const int first_row = (int)({place}) * {block_rows}, first_of_tile = first_row & ~{QUERIES - 1};",
            f"const int c0 = (int)divide(pair, {words.divisor(self.heads)}), {head[0]} = (int)pair - c0 * (int){heads};",
            f"const int group = (int){words.unsigned(self.a.heads // max(1, self.a.key_heads))};",
            head[1],
            *self.length("query", self.a.queries),
            *self.length("key", self.a.keys),
            f"const int rows = {names[0]}_length, columns = {names[1]}_length;",
            *self._bounds(),
        ]

    def length(self, name: str, extent: int) -> list[str]:
        """Declares query_length or key_length."""
        whole, lengths = f"(int){self.words.word(extent)}", f"{name}_lengths"
        if lengths not in self.operands:
            return [f"const int {name}_length = {whole};"]
        at = f"((const int*){self.operands.pointer(lengths)})[c0 * {self.words.signed(self.operands[lengths].strides[0])}]"
        return [f"const int {name}_length = least(most({at}, 0), {whole});"]

    def _bounds(self) -> list[str]:
        """Declares the first tile and the one after the last, and low and high where the band has such bounds."""
        start, stop, lines = "0", f"(columns + {KEYS - 1}) / {KEYS}", []
        if self.low is not None:
            lines.append(f"const int low = (int){self.words.word(max(-_FAR, min(self.low, _FAR)))};")
            start = f"most(first_of_tile + low, 0) / {KEYS}"
        if self.high is not None:
            lines.append(f"const int high = (int){self.words.word(max(-_FAR, min(self.high, _FAR)))};")
            stop = f"least({stop}, most(first_of_tile + high + {QUERIES - 1 + KEYS}, 0) / {KEYS})"
        return [*lines, f"const int start = {start}, stop = first_of_tile < rows ? {stop} : 0;"]


def _negated(bound: int | None) -> int | None:
    return None if bound is None else -bound
