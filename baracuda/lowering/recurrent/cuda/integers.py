"""Recurrent networks whose products are integers, on a GPU's tensor cores: as in steps.py, but for the folds.

The weights' digits are made before the first step; those of a block's lanes stay in its shared memory where there is room. In a
step a block makes the digits of its rows of the message, all of k or a chunk of its blocks; then each of its warps takes the
exact sums of some blocks of k, with tensor cores, and leaves them, rounded, in shared memory; then each thread adds up those of
its row and lane, block after block. Messages lie row by row.

Operations: nine products of digits (at 15 bits four) for each; the digits of a message are made by every block that has its rows,
about as many operations for an element as 16 lanes take in tensor cores. Bytes: of messages 4 for each element, row and block of
threads, from the second cache.
"""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.core.layout import round_up
from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrence.cuda.code import source
from baracuda.lowering.recurrence.problem import ArrayLayout
from baracuda.lowering.recurrent.cuda.digits import NEIGHBOURS, ROW_DIGITS, STEP_PRODUCTS
from baracuda.lowering.recurrent.cuda.folds import Operands, braced
from baracuda.lowering.recurrent.cuda.integer_tiling import blocks_of, eights_together, tiling
from baracuda.lowering.recurrent.cuda.steps import Steps
from baracuda.lowering.recurrent.problem import Phase, Recurrent
from baracuda.runtime.program import KernelSource, Launch

#: Those of a block that makes weights' digits.
_PACKERS = 8
#: Tiles of eight columns that a warp multiplies side by side, by digits.
_TOGETHER = {2: 2, 3: 2}


class IntegerSteps(Steps):
    """Writes the kernels."""

    @property
    def tables(self) -> str:  # type: ignore[override]
        return STEP_PRODUCTS + (NEIGHBOURS if self.tiles.cluster > 1 else "")

    def __init__(self, problem: Recurrent, arrays: Mapping[str, ArrayLayout], target: Target) -> None:
        self.problem = problem
        self.code = Operands(problem, arrays)
        self.tiles = tiling(problem, target)
        self.count = digits(problem.bits)
        self.shape = self.tiles  # type: ignore[assignment]
        self.size, self.type = problem.math.itemsize, "float"
        self.rows = round_up(problem.batch, self.tiles.rows)
        self.blocks_of_rows = self.rows // self.tiles.rows
        self.multiprocessors = target.multiprocessors
        self.grid = self.tiles.grid
        self.nbytes = self._counters()
        self.packed = [self._room(self._tile_bytes(p) * self.tiles_of(p)) if p.weight else 0 for p in problem.phases]
        self.sent = [
            len(p.message or (problem.first if i == len(problem.phases) - 1 else ())) for i, p in enumerate(problem.phases)
        ]
        self.messages = [
            self._room(2 * n * round_up(p.lanes, BLOCK) * self.rows * 4) for n, p in zip(self.sent, problem.phases, strict=True)
        ]
        self.states = [self._room(lanes * self.rows * c.kind.itemsize) for lanes, c in problem.components]

    @property
    def cluster(self) -> int:
        return self.tiles.cluster

    @property
    def name(self) -> str:
        t = self.tiles
        words = ["resident"] * t.resident + [f"clusters of {t.cluster}"] * (t.cluster > 1)
        return " ".join([f"recurrent integers {self.problem.bits} {t.grid} blocks of {t.rows}x{t.lanes}", *words])

    def tiles_of(self, phase: Phase) -> int:
        return -(-phase.lanes // self.tiles.lanes)

    # --- weights ------------------------------------------------------------------------------------------------------

    def _columns(self, phase: Phase) -> int:
        """Those of a tile, by eights: product by product the lanes."""
        return self.tiles.octets * phase.products

    def _block_bytes(self, phase: Phase) -> int:
        """Of a block of k of a tile: the digits of its columns and their scales."""
        return self._columns(phase) * (self.count * 1024 + 32)

    def _tile_bytes(self, phase: Phase) -> int:
        return blocks_of(phase) * self._block_bytes(phase)

    def _packing(self, number: int, phase: Phase) -> Launch:
        """Tiles of lanes, in each block by block of k the digits of the columns, eight by eight, and behind these their scales; a
        warp makes a block of a column."""
        code, tensor = self.code, phase.weight
        assert tensor is not None
        down, along = (2, 1) if phase.transposed else (1, 2)
        octets, columns = self.tiles.octets, self._columns(phase)
        all_columns = self.tiles_of(phase) * columns * 8 * blocks_of(phase)
        body = [
            *code.pointers(),
            self.begin_counters(),
            f"const i64 depth = {code.number(('depth', number), phase.depth)}, count = {code.words.signed(all_columns)};",
            f"const i64 lanes = {code.number(('lanes', number), phase.lanes)}, blocks = {code.words.signed(blocks_of(phase))};",
            f"unsigned char* const to = (unsigned char*){self.workspace(code.words.signed(self.packed[number]))};",
            f"const i64 down = {code.stride(tensor, down)}, along = {code.stride(tensor, along)};",
            *braced(
                f"for (i64 i = (i64)blockIdx.x * {_PACKERS} + threadIdx.x / 32; i < count; i += (i64)gridDim.x * {_PACKERS})",
                [
                    f"const int l = (int)(i % 8), column = (int)(i / 8 % {columns}), g = column / {octets};",
                    f"const i64 part = i / {8 * columns}, block = part % blocks;",
                    f"const i64 lane = part / blocks * {octets * 8} + column % {octets} * 8 + l;",
                    "const i64 k0 = block * 128 + threadIdx.x % 32 * 4;",
                    "float x[4];",
                    "#pragma unroll",
                    "for (int e = 0; e < 4; ++e)",
                    f"  x[e] = lane < lanes && k0 + e < depth ? widen({code.pointer(tensor)}"
                    f"[(i64)(g + {phase.at}) * {code.stride(tensor, 0)} + lane * down + (k0 + e) * along]) : 0.0f;",
                    f"unsigned char* const own = to + part * {self._block_bytes(phase)};",
                    f"const Factors f = factors_of<{self.count}>(largest(x));",
                    f"write_row<{self.count}>(x, f.once, f.twice, 1024, l % 2, [&](int at, unsigned word) {{",
                    f"  *(unsigned*)(own + (column * {self.count} * 8 + l) * 128 + at) = word;",
                    "});",
                    f"if (threadIdx.x % 32 == 0) ((float*)(own + {columns * self.count * 1024}))[column * 8 + l] = f.scale;",
                ],
            ),
        ]
        blocks, threads = min(-(-all_columns // _PACKERS), 8 * self.multiprocessors), 32 * _PACKERS
        return Launch(KernelSource(source(code, body, threads, ROW_DIGITS)), (blocks, 1, 1), threads)

    def _lay_out_shared(self) -> int:
        tiles, shared = self.tiles, 0
        self.held = {}
        folded = [(i, p) for i, p in enumerate(self.problem.phases) if p.weight]
        if tiles.resident:
            for i, p in folded:
                self.held[i] = shared
                shared += self._tile_bytes(p)
        self.digits_at = shared
        shared += tiles.chunk * self.count * tiles.part * 128
        self.scales_at = shared
        shared += 2 * tiles.chunk * tiles.part * 4
        self.sums_at = shared
        return shared + tiles.chunk * max(eights_together(p, tiles.octets) for _, p in folded) * tiles.part * 32

    def _keep(self) -> list[str]:
        lines = []
        for i, start in self.held.items():
            p = self.problem.phases[i]
            pieces = [
                f"const int tiles = (int){self.code.words.signed(self.tiles_of(p))};",
                f"const i64 pieces = {self.code.words.signed(self._tile_bytes(p) // 16)};",
                f"const uint4* const from = (const uint4*)w{i} + (i64)(blockIdx.x % tiles) * pieces;",
                f"for (i64 i = thread; i < pieces; i += {self.threads}) *((uint4*)(shared_state + {start}) + i) = from[i];",
            ]
            lines += braced("", pieces)
        return lines

    # --- places -------------------------------------------------------------------------------------------------------

    def _places(self) -> list[str]:
        octets = self.tiles.octets
        return [
            f"const int octet = thread / 128 % {octets}, l = octet * 8 + thread % 8;",
            f"const int group = thread / {128 * octets} * 16 + thread / 8 % 16;",
            "int side = 0;  // which of the two places of scales",
            *self._neighbours(),
        ]

    def _neighbours(self) -> list[str]:
        """Declares which shares of digits a warp makes, and what stores their words for all blocks of the cluster."""
        c = self.tiles.cluster
        if c == 1:
            return [
                "const int sharer = thread / 32;",
                "const auto put = [&](int at, unsigned word) { *(unsigned*)(shared_state + at) = word; };",
            ]
        return [
            f"const int sharer = thread / 32 * {c} + cluster_rank();",
            f"unsigned there[{c}];",
            "#pragma unroll",
            f"for (int i = 0; i < {c}; ++i) there[i] = neighbours(shared_address(shared_state), i);",
            *braced("const auto put = [&](int at, unsigned word)", [
                "#pragma unroll",
                f"for (int i = 0; i < {c}; ++i) store_there(there[i] + at, word);",
            ])[:-1], "};",
            "cluster_arrive();  // awaited before the first digits are written",
        ]  # fmt: skip

    def _end(self) -> list[str]:
        return ["cluster_wait();"] if self.tiles.cluster > 1 else []

    def _place_in_tile(self, number: int) -> list[str]:
        tiles = self.tiles
        return [
            f"const int lane_tile = tile % tiles{number}, lane = lane_tile * {tiles.lanes} + l;",
            f"const int row0 = tile / tiles{number} * {tiles.rows};",
            f"const int first = group < {tiles.part} ? row0 + group * {tiles.each} : batch;",
        ]

    def _kept(self, component: int, lane: str) -> str:
        return f"s{component}[(i64)b * lanes + {lane}]"

    def _pitch(self, number: int) -> str:
        return self.code.number(("pitch", number), round_up(self.problem.phases[number].lanes, BLOCK))

    def _message(self, number: int, component: int, parity: str) -> str:
        return f"m{number}[(({parity} * {self.sent[number]} + {component}) * all_rows + b) * {self._pitch(number)} + lane]"

    # --- folds --------------------------------------------------------------------------------------------------------

    def folds(self, number: int, phase: Phase) -> list[str]:
        """The sums of a phase, a piece at a time: of some rows, of the products of one component of the message, a chunk of k.
        While one piece is multiplied, the message of the next is on its way."""
        t, code, count = self.tiles, self.code, self.count
        source_ = self.problem.source(number)
        parity = "(i64)(step + 1 & 1)" if number == 0 else "(i64)(step & 1)"
        weights = f"(const unsigned char*)w{number} + (i64)lane_tile * blocks * {self._block_bytes(phase)}"
        if t.resident:
            weights = f"shared_state + {self.held[number]}"
        own, groups = eights_together(phase, t.octets), phase.products if phase.paired else 1
        sharers = t.warps * t.cluster
        load = (
            f"load_message<{t.part}, {t.each}, {sharers}, {t.share}>(x, sent + (part * all_rows + turn) * pitch, pitch, depth, "
            f"at, min({t.chunk}, blocks - at), batch - row0 - turn, sharer);"
        )
        lines = [
            f"float a0[{t.each}][{phase.products}] = {{}};",
            f"const int depth = (int){code.number(('depth', number), phase.depth)}, blocks = (depth + 127) / 128;",
            f"const i64 pitch = {self._pitch(source_)};",
            f"const unsigned char* const weights = {weights};",
            f"const unsigned char* const digits = shared_state + {self.digits_at};",
            f"float* const sums = (float*)(shared_state + {self.sums_at});",
            f"const float* const sent = m{source_} + ({parity} * {self.sent[source_]} * all_rows + row0) * pitch;",
            f"float x[{t.share}][4], s[{phase.products // groups}] = {{}};",
            "int turn = 0, part = 0, at = 0;",
            load,
        ]
        # Digits are written when all have multiplied those before, and multiplied when all have written theirs.
        written, arrive, arrived, multiplied = [], ["__syncthreads();"], [], []
        if t.cluster > 1:
            written, arrive, arrived, multiplied = (
                ["cluster_wait();"],
                ["cluster_arrive();"],
                ["cluster_wait();"],
                ["cluster_arrive();"],
            )
        pieces = [
            f"const int here = min({t.chunk}, blocks - at), now = turn, component = part, from = at;",
            f"const int scales_at = {self.scales_at} + side * {t.chunk * t.part * 4};",
            "const float* const scales = (const float*)(shared_state + scales_at);",
            "side ^= 1;",
            *written,
            f"write_message<{count}, {t.part}, {sharers}, {t.share}>(x, here, {self.digits_at}, scales_at, sharer, put);",
            *arrive,
            f"at += {t.chunk};",
            f"if (at >= blocks) {{ at = 0; if (++part == {groups}) {{ part = 0; ++turn; }} }}",
            f"if (turn < {t.each}) {load}",
            *arrived,
            *self._products(phase, own),
            *multiplied,
            "__syncthreads();",
            *self._adding(phase, own, groups),
        ]
        lines += ["#pragma unroll 1", *braced(f"while (turn < {t.each})", pieces)]
        return [*lines, *self._unusual(number, phase)]

    def _products(self, phase: Phase, own: int) -> list[str]:
        """A warp's products of a piece."""
        t, count = self.tiles, self.count
        rows, blocks = t.part // 16, min(t.chunk, blocks_of(phase))

        def enough(tiles: int) -> bool:
            """Whether all warps have something to do where each has so many tiles of columns."""
            return own % tiles == 0 and own // tiles * rows * blocks >= t.warps

        most = _TOGETHER[count]
        together = next((n for n in (most, 3, 2) if n <= max(most, 3) and enough(n)), 1)
        each = 2 if enough(2 * together) else 1
        shares = own // together // each
        first = f"component * {t.octets} + " if phase.paired else ""
        work = [
            f"const int share = i % {shares}, rows = i / {shares} % {rows}, c = i / {shares * rows};",
            f"block_product<{count}, {each}, {together}>(digits + (c * {count * t.part} + rows * 16) * 128, {t.part * 128},",
            f"    weights + (i64)(from + c) * {self._block_bytes(phase)} + ({first}share * {each * together}) * {count * 1024},",
            f"    sums + ((c * {own} + share * {each * together}) * {t.part} + rows * 16) * 8, {t.part * 8});",
        ]
        return ["#pragma unroll 1", *braced(f"for (int i = thread / 32; i < here * {shares * rows}; i += {t.warps})", work)]

    def _adding(self, phase: Phase, own: int, groups: int) -> list[str]:
        """The piece's sums to a thread's, which are all there after its last piece."""
        t = self.tiles
        columns = self._columns(phase) * self.count * 1024
        first = f"component * {t.octets} + " if phase.paired else ""
        adding = [
            f"const float by_row = scales[c * {t.part} + group];",
            f"const unsigned char* const block = weights + (i64)(from + c) * {self._block_bytes(phase)};",
            f"const float* const of_columns = (const float*)(block + {columns});",
        ]
        for g in range(phase.products // groups):
            column = g * t.octets
            sum_ = f"sums[((c * {own} + {column} + octet) * {t.part} + group) * 8 + thread % 8]"
            adding.append(f"s[{g}] = add_sum({sum_}, by_row, of_columns[({first}{column} + octet) * 8 + thread % 8], s[{g}]);")
        done = []
        for g in range(phase.products):
            mine = f"r == now && component == {g}" if phase.paired else "r == now"
            done.append(f"if ({mine}) a0[r][{g}] = s[{0 if phase.paired else g}];")
        kept = ["#pragma unroll", *braced(f"for (int r = 0; r < {t.each}; ++r)", done)]
        kept += [f"s[{g}] = 0.0f;" for g in range(phase.products // groups)]
        return [
            "#pragma unroll 4",
            *braced(f"for (int c = 0; c < here && group < {t.part}; ++c)", adding),
            *braced("if (at == 0)", kept),
        ]

    def _unusual(self, number: int, phase: Phase) -> list[str]:
        """What becomes of sums with factors that are not finite."""
        code, tensor = self.code, phase.weight
        assert tensor is not None
        down, along = (2, 1) if phase.transposed else (1, 2)
        t = self.tiles
        lines = ["bool odd = false;", "#pragma unroll"]
        lines.append(f"for (int r = 0; r < {t.each}; ++r)")
        lines += braced("", [f"odd |= a0[r][{g}] != a0[r][{g}];" for g in range(phase.products)])
        body = []
        for g in range(phase.products):
            part = g if phase.paired else 0
            at = f"{g + phase.at} * {code.stride(tensor, 0)} + (i64)lane * {code.stride(tensor, down)}"
            body += [
                f"if (a0[r][{g}] != a0[r][{g}] && first + r < batch && lane < lanes)",
                f"  a0[r][{g}] = not_finite(a0[r][{g}], sent + ({part} * all_rows + group * {t.each} + r) * pitch, 1, "
                f"{code.pointer(tensor)} + {at}, {code.stride(tensor, along)}, depth);",
            ]
        return [*lines, *braced("if (odd)", ["#pragma unroll", *braced(f"for (int r = 0; r < {t.each}; ++r)", body)])]
