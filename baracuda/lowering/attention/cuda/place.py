"""Where a block of a kernel of attention is, and which pairs it may see."""

from __future__ import annotations

from math import inf

from baracuda.codegen.cuda.emit import number
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
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

    def head_of(self, name: str, head: str) -> str:
        """The head of an operand that goes with a query head."""
        return "g" if name in ("k", "v") else head

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

    def is_seen(self) -> str:
        """Whether an element may be seen."""
        tests = ["at_row < rows", "at_column < columns"]
        if self.low is not None:
            tests.append("at_column >= at_row + low")
        if self.high is not None:
            tests.append("at_column <= at_row + high")
        return " && ".join(tests)

    # --- what the backward kernels of either arithmetic share ---------------------------------------------------------

    def statistics(self, query: str, guard: str, lse: str, delta: str) -> list[str]:
        """Sets lse and delta to those of a query: lse +inf in place of -inf, and where there is none, so that no key has a
        probability. Delta is at the beginning of the workspace, `heads` how many heads there are."""
        of_head = self.operands.of_head("lse", "c1")
        row = f"((i64)c0 * heads + c1) * {self.words.signed(self.a.queries)}"
        infinity = number(inf, self.a.compute)
        return [
            f"{lse} = {infinity}; {delta} = 0;",
            f"if ({guard}) {{",
            f"{lse} = {of_head}[({query}) * {self.operands.stride('lse', 2)}];",
            f"if ({lse} == -{infinity}) {lse} = {infinity};",
            f"{delta} = ((const {COMPUTE_TYPE[self.a.compute]}*)W.w[{self.words.operands}])[{row} + {query}];",
            "}",
        ]

    def bias_row(self) -> list[str]:
        """Declares where a row of the pairs' gradient begins, and how many keys there are."""
        storage = self.operands.storage("dbias")
        to = f"{self.operands.of_head('dbias', 'c1', writable=True)} + at_row * {self.operands.stride('dbias', 2)}"
        return [f"{storage}* const to = {to};", f"const int keys = (int){self.words.word(self.a.keys)};"]

    def store_bias(self) -> list[str]:
        """Stores an element's `dbias`, which is at at_row and at_column."""
        assert self.a.slope is not None
        kind = self.a.slope.outputs[1][1].kind
        value = f"Narrow<{self.operands.storage('dbias')}, {COMPUTE_TYPE[kind]}>::to(dbias)"
        test = f"if (at_row < (int){self.words.word(self.a.queries)}) {{"
        return [
            test,
            *self.bias_row(),
            f"if (at_column < keys) to[at_column * {self.operands.stride('dbias', 3)}] = {value};",
            "}",
        ]

    def clear_bias(self, block_rows: int, threads: int) -> list[str]:
        """Zeros for the pairs of tiles that are skipped."""
        return [
            f"for (int r = 0; r < {block_rows}; ++r) {{",
            "const int at_row = first_row + r;",
            f"if (at_row < (int){self.words.word(self.a.queries)}) {{",
            *self.bias_row(),
            f"for (int c = threadIdx.x; c < keys; c += {threads})",
            f"if (c < start * {KEYS} || c >= stop * {KEYS}) to[c * {self.operands.stride('dbias', 3)}] = {{}};",
            "}}",
        ]


def _negated(bound: int | None) -> int | None:
    return None if bound is None else -bound
