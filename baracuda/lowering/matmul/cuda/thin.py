"""The kernel of a thin product, of at most `THIN` rows: what counts is how fast the wide factor arrives.

The warps of a block share the work. Some bring the wide factor, straight to shared memory and as stored; some bring the thin
one, widened, each every few tiles, since it passes registers; at most one for each scheduler multiplies and does nothing
else, because 4 cycles for each step of k, the latency of an FMA, is all the time that there is. Barriers in shared memory say
when a stage is full and when it is empty again.

Bytes: the wide factor once, the thin one once for each block, from L2.
"""

from __future__ import annotations

from math import prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import Factor, small_float_definitions, thin_factors
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tiles import ThinTile
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, offset, unravel
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Bytes of a barrier.
_BARRIER = 8


class _Kernel:
    """Writes one kernel. Names in the generated code: a the thin factor, b the wide one, `full` and `empty` the barriers of the
    stages, `read` the stage that is multiplied and `parity` that of its barrier's phase."""

    def __init__(self, c: MatmulProblem, a: Factor, b: Factor, tile: ThinTile, words: Words, link: str) -> None:
        self.c, self.a, self.b, self.tile, self.words, self.link = c, a, b, tile, words, link
        self.type = COMPUTE_TYPE[c.accumulator]
        self.start_a = -(-2 * _BARRIER * tile.stages // 128) * 128
        self.start_b = self.start_a + tile.stages * a.staging_path.nbytes
        self.sums = self.start_a
        self.shared = max(self.start_b + tile.stages * b.staging_path.nbytes, self.sums + sums_bytes(c, tile))

    def where(self) -> list[str]:
        """The block's place in the result, the thread's place in the block, and the barriers."""
        t, words, c = self.tile, self.words, self.c
        across = -(-c.n // t.bn)
        return [
            f"const unsigned product = divide(blockIdx.x, {words.divisor(across)});",
            f"const i64 m0 = 0, n0 = (i64)(blockIdx.x - product * {words.unsigned(across)}) * {t.bn};",
            *(unravel("product", c.batch, words, "c", wide=False) if c.batch else ()),
            f"const i64 columns_left = {words.signed(c.n)} - n0;",
            f"const int rows = {words.word(c.m)}, columns = columns_left < {t.bn} ? (int)columns_left : {t.bn};",
            f"const int k = {words.word(c.k)}, whole_tiles = k / {t.bk}, tiles = (k + {t.bk - 1}) / {t.bk};",
            f"u64* const full = (u64*)shared; u64* const empty = full + {t.stages};",
            f"{self.a.shared}* const stages_a = ({self.a.shared}*)(shared + {self.start_a});",
            f"{self.b.shared}* const stages_b = ({self.b.shared}*)(shared + {self.start_b});",
            "const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;",
            f"const bool works = threadIdx.x < {t.workers};",
            f"const int row = works ? threadIdx.x / {t.bn} * {t.tm} : 0, column = threadIdx.x % {t.bn};",
            "if (threadIdx.x == 0) {",
            f"for (int s = 0; s < {t.stages}; ++s) {{ start_barrier(full + s, {t.wide_threads + 1}); "
            f"start_barrier(empty + s, {t.warps}); }}",
            "}",
            "__syncthreads();",
        ]

    def loader(self, f: Factor, threads: int, every: int, thread: str, first: str) -> str:
        """Declares a factor's loader, whose first tile is number `first`."""
        words, rank = self.words, len(self.c.batch)
        strides = [None if f.operand.steps(i) == 0 else words.signed(f.operand.strides[i]) for i in range(rank)]
        along_rows, along_k = f.stride(f.row_axis, words), f.stride(f.k_axis, words)
        origin, extent = ("m0", "rows") if f is self.a else ("n0", "columns")
        place = f"{origin} * {along_rows} + (i64)({first}) * {self.tile.bk} * {along_k}"
        start = f"(const {f.storage}*)W.w[{f.number}] + ({offset(strides, 'c')} + {place})"
        return f"{f.staging_path.loader(threads, every)} {f.name}({start}, {along_rows}, {along_k}, {extent}, {thread});"

    def copy_tile(self) -> list[str]:
        """What the warps do that bring the factors."""
        t = self.tile
        b, a = self.b, self.a
        thin = f"copy_tile<{t.bk}>({a.name}, stages_a, tile, k, rows == {t.bm});"
        return [
            f"else if (warp < {t.warps + t.wide_threads // 32}) {{",
            self.loader(b, t.wide_threads, 1, f"threadIdx.x - {32 * t.warps}", "0"),
            "int write = 0; unsigned parity = 1;",
            "#pragma unroll 1",
            "for (int tile = 0; tile < tiles; ++tile) {",
            "await_phase(empty + write, parity);",
            f"copy_tile<{t.bk}>({b.name}, stages_b + write * {b.staging_path.elements}, tile, k, columns == {t.bn});",
            "arrive_copied(full + write);",
            f"if (++write == {t.stages}) {{ write = 0; parity ^= 1; }}",
            "}}",
            "else {",
            f"int tile = warp - {t.warps + t.wide_threads // 32};",
            self.loader(a, 32, t.feeders, "lane", "tile"),
            thin,
            "#pragma unroll 1",
            "while (tile < tiles) {",
            f"const int turn = tile / {t.stages}, write = tile - turn * {t.stages};",
            "await_phase(empty + write, turn % 2 == 0);",
            f"{a.name}.store_shared(stages_a + write * {a.staging_path.elements});",
            "__syncwarp();",
            "if (lane == 0) arrive(full + write);",
            f"tile += {t.feeders};",
            thin,
            "}}",
        ]

    def fragments(self, suffix: str, k: str) -> list[str]:
        """Loads the thread's elements of some steps, from step k behind `from_a` and `from_b` on, into registers."""
        lines = []
        for f in (self.a, self.b):
            side = "a" if f is self.a else "b"
            by_k = str(f.staging_path.by_k).lower()
            count = self.tile.tm if f is self.a else 1
            lines.append(f"fragment<{count}, {count}, {f.staging_path.pitch}, {by_k}>(own_{side}{suffix}, from_{side}, {k});")
        return lines

    def multiply(self, suffix: str, depth: int) -> list[str]:
        return [
            "#pragma unroll",
            f"for (int d = 0; d < {depth}; ++d)",
            "#pragma unroll",
            f"for (int i = 0; i < {self.tile.tm}; ++i) sum[i] = {self.link}(own_a{suffix}[d][i], own_b{suffix}[d][0], sum[i]);",
        ]

    def registers(self, depth: int, copies: str) -> str:
        return f"{self.type} own_a{copies}[{depth}][{self.tile.tm}], own_b{copies}[{depth}][1];"

    def chains(self) -> list[str]:
        """What the warps do that multiply. Elements are in registers one turn before their FMA."""
        t = self.tile
        turns, step_b = t.span // t.depth, self.b.staging_path.pitch if self.b.staging_path.by_k else 1
        own_a, own_b = (
            f"row * {self.a.staging_path.pitch}",
            f"column * {1 if self.b.staging_path.by_k else self.b.staging_path.pitch}",
        )
        to_stage = [
            f"from_a = stages_a + (read * {self.a.staging_path.elements} + {own_a});",
            f"from_b = stages_b + (read * {self.b.staging_path.elements} + {own_b});",
        ]
        lines = [
            f"if (warp < {t.warps}) {{",
            f"const {self.a.shared}* from_a; const {self.b.shared}* from_b;",
            "int read = 0; unsigned parity = 0;",
            *to_stage,
            "if (tiles > 0) await_phase(full, 0);",
            "{",
            self.registers(t.depth, "[2]"),
            *self.fragments("[0]", "0"),
            "#pragma unroll 1",
            "for (int tile = 0; tile < whole_tiles; ++tile) {",
            "#pragma unroll 1",
            f"for (int step = 0; step < {t.bk}; step += {t.span}) {{",
            "#pragma unroll",
            f"for (int g = 0; g < {turns}; ++g) {{",
            f"if (g == {turns - 1}) {{",
            f"from_a += {t.span}; from_b += {t.span * step_b};",
            f"if (step == {t.bk - t.span}) {{",
            "__syncwarp();",
            "if (lane == 0) arrive(empty + read);",
            f"if (++read == {t.stages}) {{ read = 0; parity ^= 1; }}",
            *to_stage,
            "if (tile + 1 < tiles) await_phase(full + read, parity);",
            "}}",
            *self.fragments("[(g + 1) % 2]", f"(g + 1) % {turns} * {t.depth}"),
            *self.multiply("[g % 2]", t.depth),
            "}}}}",
            f"int step = 0; const int left = k - whole_tiles * {t.bk};",
        ]
        for depth in (t.depth, 1):
            lines += [
                "#pragma unroll 1",
                f"for (; step + {depth} <= left; step += {depth}) {{",
                self.registers(depth, ""),
                *self.fragments("", "step"),
                *self.multiply("", depth),
                "}",
            ]
        return [*lines, "}"]

    def sums_to_shared(self) -> list[str]:
        """Puts the sums into shared memory, in the place of the stages."""
        pitch = sums_pitch(self.c, self.tile)
        return [
            "__syncthreads();",
            f"{self.type}* const sums0 = ({self.type}*)(shared + {self.sums});",
            "if (works) {",
            "#pragma unroll",
            f"for (int i = 0; i < {self.tile.tm}; ++i) sums0[(row + i) * {pitch} + column] = sum[i];",
            "}",
            "__syncthreads();",
        ]


def lower_thin(c: MatmulProblem, tile: ThinTile, *, exchanged: bool, link: str = "chain") -> Lowered | None:
    """The kernel of a thin product; None where the wide factor has no neighbours that a copy could move, or where feeders could
    be two phases ahead of a barrier.

    `exchanged` says that the factors have changed places; `link` is the function that continues a sum.
    """
    factors = thin_factors(c, tile, exchanged=exchanged)
    if factors is None or tile.feeders > tile.stages:
        return None
    words = Words(len(c.tensors), c.epilogue.params)
    kernel = _Kernel(c, *factors, tile, words, link)
    frame = epilogue_frame(c, words)
    finish, definitions = epilogue(c, frame, tile)
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        *kernel.where(),
        f"{kernel.type} sum[{tile.tm}];",
        "#pragma unroll",
        f"for (int i = 0; i < {tile.tm}; ++i) sum[i] = 0;",
        *kernel.chains(),
        *kernel.copy_tile(),
        *kernel.sums_to_shared(),
        *finish,
    ]
    source = frame.kernel(body, tile.threads, PRODUCTS + small_float_definitions(c) + definitions, blocks=1)
    blocks = prod(c.batch) * -(-c.n // tile.bn)
    return Lowered(
        (Launch(KernelSource(source), (blocks, 1, 1), tile.threads, kernel.shared),), tuple(words.values), 0, f"product {tile}"
    )
