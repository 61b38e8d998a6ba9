"""The kernel of a matrix product: a block takes a tile of the result and walks k in tiles of both factors.

While a tile is multiplied, the ones behind it are on their way to shared memory, and each thread has its elements of the
next step of k in registers already; one barrier a tile keeps the two sides apart. Each sum is one chain in rising k, and a
last tile that is not whole is walked only as far as k goes: adding a product of zeros would turn a sum of -0 into +0.

Bytes: each element of the factors once for every column (row) of tiles that it meets, most of that from L2, since blocks that
run together lie in a square.
"""

from __future__ import annotations

from math import gcd, prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.matmul.cuda.epilogue import direct_epilogue, epilogue, epilogue_frame, is_direct, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import Factor, factors, small_float_definitions
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.matmul.cuda.tiles import BlockTile, Tile
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, offset
from baracuda.runtime.program import KernelSource, Launch, Lowered


def place_of_block(c: MatmulProblem, t: BlockTile, words: Words) -> list[str]:
    """Declares a block's place in the result, m0 and n0, and how many `rows` and `columns` of its tile there are."""
    tiles_m, tiles_n = -(-c.m // t.bm), -(-c.n // t.bn)
    return [
        *tile_place(c, words, tiles_m, tiles_n, t.group, "blockIdx.x"),
        f"const i64 m0 = (i64)tile_m * {t.bm}, n0 = (i64)tile_n * {t.bn};",
        *tile_extents(c, words, t.bm, t.bn),
    ]


def declared_loader(c: MatmulProblem, f: Factor, words: Words, threads: int, start: int, *, left: bool) -> list[str]:
    """Declares a factor's loader and its stages, which begin at byte `start` of shared memory."""
    strides = [None if f.operand.steps(i) == 0 else words.signed(f.operand.strides[i]) for i in range(len(c.batch))]
    along_rows, along_k = f.stride(f.row_axis, words), f.stride(f.k_axis, words)
    first, extent = ("m0", "rows") if left else ("n0", "columns")
    origin = f"(const {f.storage}*)W.w[{f.number}] + ({offset(strides, 'c')} + {first} * {along_rows})"
    return [
        f"{f.staging_path.loader(threads)} {f.name}({origin}, {along_rows}, {along_k}, {extent}, threadIdx.x);",
        f"{f.shared}* const stages_{f.name} = ({f.shared}*)(shared + {start});",
    ]


class ProductKernel:
    """Writes one kernel. Names in the generated code: a0, a1, b0, b1 the loaders, `tile` the number of a tile along k, `read`
    and `write` the stages that are multiplied and filled next, `row` and `column` the thread's first ones."""

    def __init__(
        self, c: MatmulProblem, a: list[Factor], b: list[Factor], tile: Tile, words: Words, *, exchanged: bool, link: str
    ) -> None:
        self.c, self.a, self.b, self.tile, self.words, self.exchanged, self.link = c, a, b, tile, words, exchanged, link
        self.type = COMPUTE_TYPE[c.accumulator]
        self.parts = len(a)
        self.asynchronous = [f for f in (*a, *b) if f.staging_path.asynchronous]
        self.through_registers = [f for f in (*a, *b) if not f.staging_path.asynchronous]
        self.stages = tile.stages if self.asynchronous else 2
        self.groups = tile.bk // tile.depth
        #: Neighbouring rows, and columns, that a thread has before the next one's begin: one where they are in different lines.
        self.chunk_a, self.chunk_b = (self._chunk(f, t) for f, t in ((a[0], tile.tm), (b[0], tile.tn)))
        #: Threads of a warp that lie side by side along the rows before the next chunk of rows begins, and so for columns.
        self.lanes_a, self.lanes_b = 32 // tile.lanes, tile.lanes
        self.starts: dict[str, int] = {}
        self.shared = 0
        for f in (*a, *b):
            self.starts[f.name] = self.shared
            self.shared += self.stages * f.staging_path.nbytes
        self.direct = is_direct(c, self.chunk_b)
        self.shared = self.shared if self.direct else max(self.shared, sums_bytes(c, tile))

    def _chunk(self, f: Factor, own: int) -> int:
        return gcd(16 // self.c.accumulator.itemsize, own) if f.staging_path.by_k else 1

    def where(self) -> list[str]:
        """The block's place in the result and the thread's place in the block."""
        return [*place_of_block(self.c, self.tile, self.words), *self._thread()]

    def _thread(self) -> list[str]:
        """Declares `row` and `column`."""
        t = self.tile
        # Lanes that differ in bit 0 read the same rows, in bit 1 the same columns: pairs like that let a quarter of a warp's
        # 16-byte loads from shared memory be answered together with another quarter's.
        few, many = "(lane >> 1 & 1 | lane >> 3 & 2)", "(lane & 1 | lane >> 1 & 6)"
        lane_a, lane_b = {8: (few, many), 4: (many, few)}[t.lanes]
        warps_a = t.bm // (t.tm * self.lanes_a)
        return [
            "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
            f"const int row = warp % {warps_a} * {self.lanes_a * t.tm} + {lane_a} * {self.chunk_a};",
            f"const int column = warp / {warps_a} * {self.lanes_b * t.tn} + {lane_b} * {self.chunk_b};",
        ]

    def declare(self, f: Factor) -> list[str]:
        """A factor's loader and its stages in shared memory."""
        return declared_loader(self.c, f, self.words, self.tile.threads, self.starts[f.name], left=f in self.a)

    def copy_tile(self, f: Factor, stage: str, tile: str) -> str:
        whole = "rows" if f in self.a else "columns"
        extent = self.tile.bm if f in self.a else self.tile.bn
        target = f"stages_{f.name} + {stage} * {f.staging_path.elements}"
        return f"copy_tile<{self.tile.bk}>({f.name}, {target}, {tile}, k, {whole} == {extent});"

    def store_shared(self, f: Factor, stage: str) -> str:
        return f"{f.name}.store_shared(stages_{f.name} + {stage} * {f.staging_path.elements});"

    def fragments(self, suffix: str, k: str, depth: int) -> list[str]:
        """Loads the thread's elements of `depth` steps from step k of stage `read` on, into registers named by the suffix."""
        lines = []
        for f in (*self.a, *self.b):
            left = f in self.a
            chunk, lanes = (self.chunk_a, self.lanes_a) if left else (self.chunk_b, self.lanes_b)
            own = f"{'row' if left else 'column'}{'' if f.staging_path.by_k else f' * {f.staging_path.pitch}'}"
            by_k = str(f.staging_path.by_k).lower()
            lines.append(
                f"fragment<{lanes * chunk}, {chunk}, {f.staging_path.pitch}, {by_k}>"
                f"(own_{f.name}{suffix}, stages_{f.name} + (read * {f.staging_path.elements} + {own}), {k});"
            )
        return lines

    def multiply(self, suffix: str, depth: int) -> list[str]:
        """One link, or the links of a complex product, for each of the thread's sums and each step of k."""
        t = self.tile
        loop = [
            "#pragma unroll",
            f"for (int d = 0; d < {depth}; ++d)",
            "#pragma unroll",
            f"for (int i = 0; i < {t.tm}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.tn}; ++j) {{",
        ]
        a = [f"own_{f.name}{suffix}[d][i]" for f in self.a]
        b = [f"own_{f.name}{suffix}[d][j]" for f in self.b]
        if self.parts == 1:
            links = [(0, a[0], b[0])]
        else:
            middle = [(1, a[0], b[1]), (1, a[1], b[0])]
            links = [(0, a[0], b[0]), (0, f"-{a[1]}", b[1]), *(reversed(middle) if self.exchanged else middle)]
        return [*loop, *[f"sum{p}[i][j] = {self.link}({x}, {y}, sum{p}[i][j]);" for p, x, y in links], "}"]

    def registers(self, names: str, depth: int, copies: str) -> list[str]:
        t = self.tile
        widths = [(f, t.tm) for f in self.a] + [(f, t.tn) for f in self.b]
        return [f"{self.type} {names}{f.name}{copies}[{depth}][{width}];" for f, width in widths]

    def depth(self) -> str:
        """How many steps of k the block takes."""
        return self.words.word(self.c.k)

    def main(self) -> list[str]:
        """The sums."""
        t, wait = self.tile, f"wait_copies<{self.stages - 2}>();" if self.asynchronous else ""
        commit = "commit_copies();" if self.asynchronous else ""
        next_ = f"(read + 1 == {self.stages} ? 0 : read + 1)"
        ahead = self.stages - 1
        sums = [f"sum{p}[i][j] = 0;" for p in range(self.parts)]
        lines = [
            f"const int k = {self.depth()}, whole_tiles = k / {t.bk}, tiles = (k + {t.bk - 1}) / {t.bk};",
            *[line for f in (*self.a, *self.b) for line in self.declare(f)],
            *[f"{self.type} sum{p}[{t.tm}][{t.tn}];" for p in range(self.parts)],
            "#pragma unroll",
            f"for (int i = 0; i < {t.tm}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.tn}; ++j) {{",
            *sums,
            "}",
            *self.registers("own_", t.depth, "[2]"),
            f"int read = 0, write = {ahead};",
        ]
        if self.asynchronous:
            lines += ["#pragma unroll", f"for (int stage = 0; stage < {ahead}; ++stage) {{"]
            lines += [*[self.copy_tile(f, "stage", "stage") for f in self.asynchronous], commit, "}"]
        if self.through_registers:
            first_tile = [self.copy_tile(f, "0", "0") for f in self.through_registers]
            lines += ["if (tiles > 0) {", *first_tile, *[self.store_shared(f, "0") for f in self.through_registers], "}"]
        lines += [wait, "__syncthreads();", *self.fragments("[0]", "0", t.depth)]
        landing = ["if (tile + 1 < tiles) {", *[self.store_shared(f, next_) for f in self.through_registers], "}"]
        fetching = [self.copy_tile(f, "write", f"tile + {ahead}") for f in self.asynchronous]
        fetching += [commit, f"write = write + 1 == {self.stages} ? 0 : write + 1;"] if self.asynchronous else []
        fetching += [self.copy_tile(f, "0", "tile + 1") for f in self.through_registers]
        lines += [
            "#pragma unroll 1",
            "for (int tile = 0; tile < whole_tiles; ++tile) {",
            "#pragma unroll",
            f"for (int g = 0; g < {self.groups}; ++g) {{",
            f"if (g == {self.groups - 1}) {{",
            *(landing if self.through_registers else ()),
            wait,
            "__syncthreads();",
            f"read = {next_};",
            "}",
            *self.fragments("[(g + 1) % 2]", f"(g + 1) % {self.groups} * {t.depth}", t.depth),
            "if (g == 0) {",
            *fetching,
            "}",
            *self.multiply("[g % 2]", t.depth),
            "}}",
            "if (whole_tiles < tiles) {",
            f"int step = 0; const int left = k - whole_tiles * {t.bk};",
            *self.tail(),
            "}",
        ]
        return [line for line in lines if line]

    def tail(self) -> list[str]:
        """The last tile, where k ends before it does."""
        lines = []
        for depth in sorted({self.tile.depth, 1}, reverse=True):
            lines += [
                "#pragma unroll 1",
                f"for (; step + {depth} <= left; step += {depth}) {{",
                *self.registers("own_", depth, ""),
            ]
            lines += [*self.fragments("", "step", depth), *self.multiply("", depth), "}"]
        return lines

    @property
    def place(self) -> tuple[str, str]:
        """The row and the column in the block of a thread's sum [i][j]."""
        a, b = self.chunk_a, self.chunk_b
        return f"row + i / {a} * {self.lanes_a * a} + i % {a}", f"column + j / {b} * {self.lanes_b * b}"

    def sums_to_shared(self) -> list[str]:
        """Puts the sums into shared memory, in the place of the tiles."""
        t, pitch = self.tile, sums_pitch(self.c, self.tile)
        lines = ["wait_copies<0>();", "__syncthreads();"]
        each = []
        for p in range(self.parts):
            start = p * t.bm * pitch * self.c.accumulator.itemsize
            lines.append(f"{self.type}* const sums{p} = ({self.type}*)(shared + {start});")
            each += [
                f"Vec<{self.type}, {self.chunk_b}> piece{p};",
                "#pragma unroll",
                f"for (int v = 0; v < {self.chunk_b}; ++v) piece{p}.v[v] = sum{p}[i][j + v];",
                f"*reinterpret_cast<Vec<{self.type}, {self.chunk_b}>*>(sums{p} + r * {pitch} + s) = piece{p};",
            ]
        loops = [
            "#pragma unroll",
            f"for (int i = 0; i < {t.tm}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.tn}; j += {self.chunk_b}) {{",
            f"const int r = {self.place[0]}, s = {self.place[1]};",
            *each,
            "}",
        ]
        return [*lines, *loops, "__syncthreads();"]


def lower_tile(c: MatmulProblem, tile: Tile, *, exchanged: bool, link: str = "chain") -> Lowered | None:
    """The kernel of a product under a tile; None where the tile does not fit the factors.

    `exchanged` says that the factors have changed places; `link` is the function that continues a sum.
    """
    ways = factors(c, tile, exchanged=exchanged)
    if ways is None:
        return None
    words = Words(len(c.tensors), c.epilogue.params)
    kernel = ProductKernel(c, *ways, tile, words, exchanged=exchanged, link=link)
    frame = epilogue_frame(c, words)
    if kernel.direct:
        finish, definitions = direct_epilogue(c, frame, kernel.chunk_b, *kernel.place)
    else:
        finish, definitions = epilogue(c, frame, tile)
        finish = kernel.sums_to_shared() + finish
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        *kernel.where(),
        *kernel.main(),
        *finish,
    ]
    tables = PRODUCTS + small_float_definitions(c) + definitions
    source = frame.kernel(body, tile.threads, tables, blocks=tile.resident)
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    return Lowered(
        (Launch(KernelSource(source), (blocks, 1, 1), tile.threads, kernel.shared),), tuple(words.values), 0, f"product {tile}"
    )
