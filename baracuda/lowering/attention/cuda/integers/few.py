"""Attention in integers for few queries, as a step of decoding has: the tiles of keys lie side by side, and the order stays.

Three kernels. The first writes the scores of every tile, and their maxima. The second has a tile to a block, too: the running
maximum that its probabilities need is that of the tiles before, and F, S_w and the sum of its probabilities depend on nothing
else. The third takes the tiles in order: acc = fma(F, S_w, acc * r). Together they have the bits of the one kernel that goes
from tile to tile.

Queries of all heads that share a key head are rows of the same product; digits are made where they are needed, so that keys and
values are read once, as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from baracuda.core.layout import round_up
from baracuda.formula import functions as f
from baracuda.formula.elementary.softened import exp_of_nonpositive
from baracuda.formula.expr import input_
from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.attention.cuda.integers.few_prelude import FEW
from baracuda.lowering.attention.cuda.integers.prelude import FRAGMENTS
from baracuda.lowering.attention.cuda.integers.score import FragmentScore
from baracuda.lowering.attention.cuda.place import LONGEST, Place
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.cuda.score import function
from baracuda.lowering.attention.problem import KEYS, QUERIES, Attention
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, SCALE, WARP_INSTRUCTIONS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, piece, translation_unit
from baracuda.runtime.program import KernelSource, Launch

#: Threads of a block, and its warps.
_THREADS, _WARPS = 128, 4
#: Rows of a block, and rows that a key head may have at most.
_ROWS, _MOST_ROWS = 16, 64
_INFINITY = "__int_as_float(0x7f800000)"


def rows_of_key_head(a: Attention) -> int:
    """The queries of all heads that share a key head."""
    return a.heads // max(1, a.key_heads) * a.queries


def is_for_few(a: Attention, multiprocessors: int) -> bool:
    """Whether tiles side by side are likely to be faster: where rows fill one product, or other blocks would be too few."""
    rows, tiles = rows_of_key_head(a), -(-a.keys // KEYS)
    if a.slope is not None or not 0 < rows <= _MOST_ROWS or tiles < 2 or a.queries > QUERIES:
        return False
    return rows <= _ROWS or a.batch * a.heads < 2 * multiprocessors


class PackedScore(FragmentScore):
    """The score over rows of several heads: row `at` of a key head belongs to head c1 and query at_row."""

    def _load(self, name: str) -> list[str]:
        pointer = f"const {self.operands.storage(name)}* const p_{name} = {self.operands.of_head(name, 'c1')};"
        return [pointer, *super()._load(name)]


class Few(Place):
    """Writes the three kernels.

    Names in the generated code, beside those of `Place`: tile the block's tile, row_block its sixteen rows of the `packed` ones
    of a key head, of `tiles` tiles each; warp and lane the thread's.
    """

    def __init__(self, a: Attention, words: Words) -> None:
        super().__init__(a, words, by_keys=False)
        self.count = digits(a.bits)
        self.tiles, self.rows = -(-a.keys // KEYS), rows_of_key_head(a)
        self.row_blocks, self.pairs = -(-self.rows // _ROWS), a.batch * a.key_heads
        self.line = 128 if a.depth > 64 else 64 if a.depth > 32 else 32
        self.blocks = max(1, -(-a.depth // BLOCK))
        self.steps = 4 if self.blocks > 1 else max(1, -(-a.depth // 32))
        self.width = round_up(max(a.value_depth, 1), 8 * _WARPS)
        self.record = self.count * self.blocks * KEYS * self.line
        self.turned = self.count * self.width * KEYS
        self.score = PackedScore(a, words, self.operands, by_keys=False)
        sizes = {
            "scores": (self.pairs, self.tiles, self.rows, KEYS),
            "sums": (self.pairs, self.tiles, self.rows, self.width),
            **dict.fromkeys(("maxima", "scales", "totals"), (self.pairs, self.rows, self.tiles)),
        }
        self.places, at = dict[str, int](), 0
        for name, extents in sizes.items():
            self.places[name], at = at, at + round_up(4 * prod(extents), 128)
        self.workspace = at

    # --- places -------------------------------------------------------------------------------------------------------

    def _scratch(self, name: str) -> str:
        return f"float* const {name} = (float*)(W.w[{self.words.operands}] + {self.words.word(self.places[name])});"

    def _pair(self, number: str) -> list[str]:
        """Declares the place of a pair of a batch element and a key head."""
        words = self.words
        return [
            f"const int c0 = (int)divide({number}, {words.divisor(self.a.key_heads)});",
            f"const int g = (int)({number}) - c0 * (int){words.word(self.a.key_heads)};",
            f"const int group = (int){words.word(self.a.heads // max(1, self.a.key_heads))};",
            f"const int packed = (int){words.word(self.rows)}, tiles = (int){words.word(self.tiles)}, first_of_tile = 0;",
            *self.length("query", self.a.queries),
            *self.length("key", self.a.keys),
            "const int rows = query_length, columns = key_length;",
            *self._bounds(),
        ]

    def _tile(self) -> list[str]:
        """Declares the place of a block that has one tile, and leaves where that is skipped."""
        words = self.words
        return [
            "extern __shared__ __align__(128) unsigned char shared[];",
            f"const unsigned number = divide(blockIdx.x, {words.divisor(self.row_blocks)});",
            f"const int row_block = (int)(blockIdx.x - number * {words.unsigned(self.row_blocks)});",
            f"const unsigned pair = divide(number, {words.divisor(self.tiles)});",
            f"const int tile = (int)(number - pair * {words.unsigned(self.tiles)});",
            *self._pair("pair"),
            "if (tile < start || tile >= stop) return;",
            "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
        ]

    def _head_and_query(self, at: str) -> list[str]:
        """Declares the head c1 and the query at_row of a packed row; of one that is not there some head, and a query far off."""
        return [
            f"const int of_group = least((int)divide((unsigned)({at}), {self.words.divisor(self.a.queries)}), group - 1);",
            f"const int c1 = g * group + of_group, "
            f"at_row = {at} < packed ? {at} - of_group * (int){self.words.word(self.a.queries)} : {LONGEST};",
        ]

    def _vector(self, name: str) -> int:
        """How many neighbours of an operand's row one load may move."""
        operand, heads = self.operands[name], self.a.heads if name == "q" else self.a.key_heads
        if operand.steps(3) != 1:
            return 1
        return piece(operand, 16 // operand.kind.itemsize, 3, (self.a.batch, heads, max(self.a.queries, self.a.keys), 1))

    def _digits_by_rows(self, name: str, count: int, to: str, scales: str, where: Sequence[str]) -> list[str]:
        storage = self.operands.storage(name)
        numbers = f"{self._vector(name)}, {self.count}, {self.a.depth}, {self.line}, {count}, {storage}"
        return [
            f"digits_by_rows<{numbers}>([&](int r) -> const {storage}* {{",
            *where,
            f"}}, {self.operands.stride(name, 3)}, {to}, {scales});",
        ]

    # --- kernels ------------------------------------------------------------------------------------------------------

    def scores(self) -> Launch:
        """The scores of a block's rows and tile, of which a warp has 16 columns, and the maximum of each row."""
        ops, record = self.operands, self.record
        of_key = [
            f"const int at_key = tile * {KEYS} + r;",
            f"return at_key < columns ? {ops.of_head('k', 'g')} + at_key * {ops.stride('k', 2)} : nullptr;",
        ]
        of_query = [
            f"const int at = row_block * {_ROWS} + r;",
            *self._head_and_query("at"),
            f"return at_row < rows ? {ops.of_head('q', 'c1')} + at_row * {ops.stride('q', 2)} : nullptr;",
        ]
        numbers = f"{self.count}, {self.steps}, {self.line}"
        rest = (
            f"(x, rows_of_q, block, shared_address(shared) + block * {self.count * KEYS * self.line} + warp * {16 * self.line}, "
            "key_scales + warp * 16, scale);"
        )
        body = [
            *self._tile(),
            self._scratch("scores"),
            self._scratch("maxima"),
            f"float* const key_scales = (float*)(shared + {2 * record});",
            f"float* const query_scales = key_scales + {KEYS};",
            f"float* const largest = query_scales + {_ROWS};",
            *self._digits_by_rows("k", KEYS, "shared", "key_scales", of_key),
            *self._digits_by_rows("q", _ROWS, f"shared + {record}", "query_scales", of_query),
            "__syncthreads();",
            "const float scale[2] = {query_scales[lane / 4], query_scales[lane / 4 + 8]};",
            "const bool large = __any_sync(~0u, scale[0] > 0x1p64f || scale[1] > 0x1p64f);",
            f"SharedRows<{self.count}, {self.line}> rows_of_q(shared + {record}, 0);",
            "float x[2][4] = {};",
            "#pragma unroll 1",
            f"for (int block = 0; block < {self.blocks}; ++block)",
            f"if (large) add_dots<{numbers}, true>{rest}",
            f"else add_dots<{numbers}, false>{rest}",
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h) {",
            f"const int at = row_block * {_ROWS} + lane / 4 + 8 * h;",
            *self._head_and_query("at"),
            "#pragma unroll",
            "for (int m = 0; m < 2; ++m)",
            "#pragma unroll",
            "for (int i = 2 * h; i < 2 * h + 2; ++i) {",
            f"const int at_column = tile * {KEYS} + warp * 16 + m * 8 + lane % 4 * 2 + i % 2;",
            *[line for name in self.score.tensors for line in self.score._load(name)],
            *[line.replace("CURRENT_", "m") for line in self.score.element()],
            f"if (!({self.is_seen()})) x[m][i] = -{_INFINITY};",
            "}",
            "float most_of_row = maximum(maximum(x[0][2 * h], x[0][2 * h + 1]), maximum(x[1][2 * h], x[1][2 * h + 1]));",
            "most_of_row = of_four<Max>(most_of_row);",
            f"if (lane % 4 == 0) largest[warp * {_ROWS} + lane / 4 + 8 * h] = most_of_row;",
            "if (at < packed)",
            "#pragma unroll",
            "for (int m = 0; m < 2; ++m)",
            f"*reinterpret_cast<float2*>(scores + ((i64)number * packed + at) * {KEYS} + warp * 16 + m * 8 + lane % 4 * 2) = "
            "make_float2(x[m][2 * h], x[m][2 * h + 1]);",
            "}",
            "__syncthreads();",
            f"const int at = row_block * {_ROWS} + (int)threadIdx.x;",
            f"if (threadIdx.x < {_ROWS} && at < packed) {{",
            "float m = largest[threadIdx.x];",
            "#pragma unroll",
            f"for (int w = 1; w < {_WARPS}; ++w) m = maximum(m, largest[w * {_ROWS} + threadIdx.x]);",
            "maxima[((i64)pair * packed + at) * tiles + tile] = m;",
            "}",
        ]
        shared = 2 * record + 4 * (KEYS + _ROWS + _WARPS * _ROWS)
        return self._launch(body, self.pairs * self.tiles * self.row_blocks, "", shared)

    def tile_sums(self) -> Launch:
        """From a tile's scores to the sum of its probabilities, and those of its values as F and S_w."""
        ops, store = self.operands, "(at < packed && warp == 0 && lane % 4 == 0)"
        numbers = f"{self._vector('v')}, {self.count}, {self.a.value_depth}, {self.width}"
        first_row = f"{ops.of_head('v', 'g')} + (i64)tile * {KEYS} * {ops.stride('v', 2)}"
        mine = "for (int h = 0; h < 2; ++h) {", f"const int at = row_block * {_ROWS} + lane / 4 + 8 * h;"
        body = [
            *self._tile(),
            *[self._scratch(n) for n in ("scores", "maxima", "sums", "scales", "totals")],
            f"float* const value_scales = (float*)(shared + {self.turned});",
            f"turned_digits<{numbers}>({first_row}, {ops.stride('v', 2)}, {ops.stride('v', 3)}, columns - tile * {KEYS}, shared, "
            "value_scales);",
            "__syncthreads();",
            "float x[8][4], scale[2];",
            "#pragma unroll",
            *mine,
            f"float now = -{_INFINITY};",
            "if (at < packed)",
            "for (int t = start + lane % 4; t <= tile; t += 4)",
            "now = maximum(now, maxima[((i64)pair * packed + at) * tiles + t]);",
            "now = of_four<Max>(now);",
            f"const float origin = now == -{_INFINITY} ? 0 : now;",
            "#pragma unroll",
            "for (int n = 0; n < 8; ++n) {",
            f"float2 s = make_float2(-{_INFINITY}, -{_INFINITY});",
            f"if (at < packed) s = *reinterpret_cast<const float2*>(scores + ((i64)number * packed + at) * {KEYS} + n * 8 + "
            "lane % 4 * 2);",
            "x[n][2 * h] = exp_(s.x - origin); x[n][2 * h + 1] = exp_(s.y - origin);",
            "}}",
            "const float total[2] = {sum_of_row<0>(x), sum_of_row<1>(x)};",
            "scale_columns(x, value_scales);",
            f"Weights<{self.count}> weights;",
            "weights.set(x, scale);",
            "#pragma unroll",
            *mine,
            f"if {store} {{",
            "scales[((i64)pair * packed + at) * tiles + tile] = scale[h];",
            "totals[((i64)pair * packed + at) * tiles + tile] = total[h];",
            "}}",
            "#pragma unroll 2",
            f"for (int n = warp * {self.width // 8 // _WARPS}; n < (warp + 1) * {self.width // 8 // _WARPS}; ++n) {{",
            f"const auto parts = sums_of_eight<{self.count}, {self.width}>(weights, shared_address(shared), n);",
            "#pragma unroll",
            *mine,
            "if (at < packed)",
            f"*reinterpret_cast<float2*>(sums + ((i64)number * packed + at) * {self.width} + n * 8 + lane % 4 * 2) = "
            "make_float2(parts.rounded(2 * h), parts.rounded(2 * h + 1));",
            "}}",
        ]
        shared = self.turned + 4 * (KEYS + 4)
        return self._launch(body, self.pairs * self.tiles * self.row_blocks, self._exp(), shared)

    def results(self) -> Launch:
        """From the tiles' sums to y and the log-sum-exp; a block has a row, and each of its warps the row's statistics."""
        columns = -(-self.a.value_depth // _THREADS)
        at_tile = "((i64)pair * packed + at) * tiles + first + lane"
        each = ["#pragma unroll", f"for (int j = 0; j < {columns}; ++j)"]
        y, storage = self.operands["y"], self.operands.storage("y")
        to = f"{self.operands.of_head('y', 'c1', writable=True)} + at_row * {self.operands.stride('y', 2)}"
        step = "" if y.steps(3) == 1 else f" * {self.operands.stride('y', 3)}"
        body = [
            f"const unsigned pair = divide(blockIdx.x, {self.words.divisor(self.rows)});",
            f"const int at = (int)(blockIdx.x - pair * {self.words.unsigned(self.rows)}), lane = threadIdx.x % 32;",
            *self._pair("pair"),
            *[self._scratch(n) for n in ("maxima", "sums", "scales", "totals")],
            *self._head_and_query("at"),
            f"float largest = -{_INFINITY}, total = 0, sum[{columns}] = {{}};",
            "#pragma unroll 1",
            "for (int first = start; first < stop; first += 32) {",
            "const int count = least(stop - first, 32);",
            "const bool there = lane < count;",
            f"float m = there ? maxima[{at_tile}] : -{_INFINITY};",
            f"const float scale = there ? scales[{at_tile}] : 0, of_tile = there ? totals[{at_tile}] : 0;",
            "#pragma unroll",
            "for (int lanes = 1; lanes < 32; lanes *= 2) {",
            "const float before = __shfl_up_sync(~0u, m, lanes);",
            "if (lane >= lanes) m = maximum(m, before);",
            "}",
            "m = maximum(m, largest);",
            "float before = __shfl_up_sync(~0u, m, 1);",
            "if (lane == 0) before = largest;",
            f"const bool nothing = m == -{_INFINITY};",
            "const float factor = exp_(nothing ? 0 : before - m);",
            "#pragma unroll 8",
            "for (int i = 0; i < count; ++i) {",
            "const float r = __shfl_sync(~0u, factor, i), s = __shfl_sync(~0u, scale, i);",
            "total = chain(total, r, __shfl_sync(~0u, of_tile, i));",
            f"const float* const of_row = sums + (((i64)pair * tiles + first + i) * packed + at) * {self.width} + threadIdx.x;",
            *each,
            f"if (j * {_THREADS} + (int)threadIdx.x < {self.a.value_depth}) "
            f"sum[j] = __fmaf_rn(__ldg(of_row + j * {_THREADS}), s, sum[j] * r);",
            "}",
            "largest = __shfl_sync(~0u, m, count - 1);",
            "}",
            f"{storage}* const to = {to};",
            *each,
            "{",
            f"const int c = j * {_THREADS} + (int)threadIdx.x;",
            f"if (c < {self.a.value_depth}) to[c{step}] = "
            f"Narrow<{storage}, float>::to(largest == -{_INFINITY} ? 0 : sum[j] / total);",
            "}",
        ]
        if "lse" in self.operands:
            place = f"{self.operands.of_head('lse', 'c1', writable=True)}[at_row * {self.operands.stride('lse', 2)}]"
            body.append(f"if (threadIdx.x == 0) {place} = largest + log_(total);")
        functions = self._exp() + function("log_", self.a.compute, f.log(input_("x", self.a.compute)))
        return self._launch(body, self.pairs * self.rows, functions, 0)

    def _exp(self) -> str:
        return function("exp_", self.a.compute, exp_of_nonpositive(input_("x", self.a.compute)))

    def _launch(self, body: Sequence[str], blocks: int, functions: str, shared: int) -> Launch:
        common = PRODUCTS + ATTENTION + COMBINE + SCALE + WARP_INSTRUCTIONS + FRAGMENTS + FEW
        source = translation_unit(self.words, body, _THREADS, common + functions + self.score.definitions())
        return Launch(KernelSource(source), (blocks, 1, 1), _THREADS, shared)

    @property
    def shared(self) -> int:
        """Bytes of shared memory that a block takes at most."""
        return max(2 * self.record, self.turned) + 1024
