"""The choice among scan schedules, and their launches (see `baracuda.lowering.scan.cuda.rows`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from baracuda.core.layout import round_up
from baracuda.formula.order import SCAN_BLOCK, SCAN_CHUNK, SCAN_SPAN, SCAN_TILE
from baracuda.lowering.nest.cuda.clusters import ABREAST, STREAMS, has_clusters
from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.lowering.nest.sequence import side_by_side
from baracuda.lowering.scan.cuda.chain import MOST_TILES, ChainedColumns, ChainedRows
from baracuda.lowering.scan.cuda.columns import SHARED_BYTES, ColumnKernel
from baracuda.lowering.scan.cuda.rows import BLOCKS, WARP, ScanKernel
from baracuda.lowering.scan.cuda.staging import Staging
from baracuda.lowering.scan.problem import ScanGroup, scan_groups
from baracuda.runtime.program import KernelSource, Launch, Lowered

K = TypeVar("K", bound=ScanKernel)

#: Threads of a block that takes several short rows.
_SHORT_THREADS = 256
#: Threads of rows side by side that a multiprocessor should hold where they load ahead: 64 registers for each.
_HELD_THREADS = 1024
#: Threads of the launch that combines the totals of tiles.
_FOLD_THREADS = 128
#: Blocks of rows side by side on their way through shared memory at a time, at most.
_STAGES = 4
#: Thread blocks that keep abreast where elements pass through shared memory: rows side by side are then read together, so that
#: what memory has at hand is used (H200, 2026-11-22, cumsum of f32, against blocks on their own: 16384 x 16384 along the first
#: axis 608 us and 632, 256 x 1024 x 1024 along the second 534 and 536; four abreast 608 and 543).
_BESIDE = 2
#: Rows are cut where they have at least so many tiles.
_LEAST_TILES = 4


def lower_scans(frame: Frame, target: Target) -> Lowered:
    """Lower a nest whose only way along its rows are scans in one direction."""
    nest = frame.nest
    groups = scan_groups(nest.graph)
    tiles = -(-nest.row_length // SCAN_TILE)
    if side_by_side(nest):
        return _lower_columns(frame, groups, tiles, target)
    rows = _Rows(frame, groups, tiles)
    few = nest.rows < 2 * target.multiprocessors and tiles >= _LEAST_TILES
    if few and nest.rows * tiles < MOST_TILES:
        return ChainedRows(frame, rows.kernel(), tiles, rows.warps).lower(target)
    return rows.lower()


def _lower_columns(frame: Frame, groups: list[ScanGroup], tiles: int, target: Target) -> Lowered:
    """Whole rows to a thread block where they keep the device busy; else tiles, held if that is possible."""
    nest, columns = frame.nest, _Columns(frame, groups, _across(frame, groups), tiles)
    blocks, enough = -(-nest.rows // columns.per_block), target.multiprocessors * 3 // 4
    room = target.shared_bytes - SHARED_BYTES
    if tiles >= _LEAST_TILES and blocks * columns.threads < enough * _HELD_THREADS:
        held = ColumnKernel(frame.trial(), groups, columns.per_block).held_tile()
        if held is not None and nest.rows * tiles < MOST_TILES:
            return ChainedColumns(frame, ColumnKernel(frame, groups, held.across), tiles, held, room).lower(target)
        if blocks < enough:
            return columns.lower_split()
    if nest.rows >= WARP * enough:
        pipelined = _Columns(frame, groups, WARP, tiles, room, _BESIDE if has_clusters(target) else 1)
        if pipelined.stages > 1:
            return pipelined.lower()
    return columns.lower()


def _across(frame: Frame, groups: list[ScanGroup]) -> int:
    """Rows side by side that a thread block takes: as few as fill 64 bytes of memory, so that a multiprocessor holds several
    blocks and one loads and stores while another waits for its threads; more where it stores several results of each element
    (H200, 2026-11-22, 16384 x 16384 f32: cumsum 694 us by 16 and 700 by 32, cummax 1,480 and 1,360)."""
    narrow, state = (
        min(operand.kind.itemsize for operand in frame.operands) <= 2,
        sum(k.itemsize for g in groups for k in g.kinds),
    )
    several = len(frame.operands) > frame.inputs + 1
    across = 32 if frame.nest.rows >= 32 and (several or (narrow and state <= 4)) else 16
    while across > 1 and 2 * state * (WARP * (across + 1) + across) > SHARED_BYTES:  # as `ColumnKernel.shared` declares
        across //= 2
    return across


class _Schedule(ABC, Generic[K]):
    """The launches of one nest. `threads` and `per_block` are the threads of a thread block and the rows it takes."""

    name: str
    threads: int
    per_block: int
    #: Bytes of shared memory for elements on their way, and blocks that keep abreast.
    shared, abreast = 0, 1

    def __init__(self, frame: Frame, groups: list[ScanGroup], tiles: int) -> None:
        self.frame, self.groups, self.tiles = frame, groups, tiles
        self.nest = frame.nest
        self.spans = -(-tiles // SCAN_SPAN)

    @abstractmethod
    def kernel(self) -> K:
        """A kernel to write into."""

    @abstractmethod
    def place(self, block: str) -> list[str]:
        """Declares this thread's coordinates, for a number of the thread block."""

    @abstractmethod
    def whole(self, kernel: K) -> list[str]:
        """Whole rows, from beginning to end."""

    def held(self, kernel: K) -> int:
        """Blocks that a multiprocessor should hold, or 0 for what turns out."""
        return 0

    def lower(self) -> Lowered:
        """One launch, whose blocks have whole rows."""
        kernel = self.kernel()
        body = [*kernel.frame.pointers(), *self.place("blockIdx.x"), *kernel.enter_row(), *kernel.uniform(apply=True)]
        body += self.whole(kernel)
        definitions = (ABREAST if self.abreast > 1 else "") + (STREAMS if self.shared else "") + kernel.scan_definitions()
        source = self.frame.kernel(body, self.threads, definitions, blocks=self.held(kernel), cluster=self.abreast)
        blocks = round_up(-(-self.nest.rows // self.per_block), self.abreast)
        launch = Launch(KernelSource(source), (blocks, 1, 1), self.threads, self.shared, self.abreast)
        return Lowered((launch,), tuple(self.frame.words.values), 0, f"scan {self.name}")


class _Rows(_Schedule[ScanKernel]):
    """Rows along the unit stride, or along none."""

    def __init__(self, frame: Frame, groups: list[ScanGroup], tiles: int) -> None:
        super().__init__(frame, groups, tiles)
        chunks = -(-min(self.nest.row_length, SCAN_TILE) // SCAN_CHUNK)
        self.per_row = 1
        while self.per_row < min(chunks, WARP):
            self.per_row *= 2
        if chunks > WARP:
            self.per_row = -(-chunks // WARP) * WARP
        self.warps = -(-self.per_row // WARP)
        self.per_block = max(1, _SHORT_THREADS // self.per_row)
        self.threads = self.per_row * self.per_block
        self.name = f"rows t{self.threads} r{self.per_block}"

    def kernel(self) -> ScanKernel:
        return ScanKernel(self.frame, self.groups, self.per_row, self.per_block)

    def place(self, block: str) -> list[str]:
        if self.per_block == 1:
            number = ["const int t = threadIdx.x, slot = 0;", f"const i64 row = {block};", "const bool live = true;"]
        else:
            number = [
                f"const int t = threadIdx.x % {self.per_row}, slot = threadIdx.x / {self.per_row};",
                f"const i64 row = (i64){block} * {self.per_block} + slot;",
                f"const bool live = row < {self.frame.words.signed(self.nest.rows)};",
            ]
        return [*number, f"const int lane = t % {WARP}, warp = t / {WARP};"]

    def whole(self, kernel: ScanKernel) -> list[str]:
        lines = kernel.rows_shared(self.per_block, self.warps)
        names = [state.name for state in kernel.states]
        if self.tiles == 1:
            lines.append("const int tile = 0;")
            lines += [f"const Some<{j}> c{s} = none<{j}>();" for s, j in enumerate(names)]
            return lines + kernel.rows_tile(self.warps)
        lines += [f"Carry<{j}> carry{s}; carry{s}.start();" for s, j in enumerate(names)]
        ahead = kernel.load_at(kernel.tile_start("tile + 1")) if kernel.looks_ahead else []
        if ahead:
            lines += [*kernel.raw(apply=True), *kernel.load_at(kernel.tile_start("0"))]
        lines.append(f"for ({kernel.index} tile = 0; tile * {SCAN_TILE} < {kernel.length}; ++tile) {{")
        lines += [f"const Some<{j}> c{s} = carry{s}.before;" for s, j in enumerate(names)]
        carried = [f"carry{s}.add(n{s}, tile);" for s in range(len(names))]
        return [*lines, *kernel.rows_tile(self.warps, ahead=ahead, total=carried), "}"]


class _Columns(_Schedule[ColumnKernel]):
    """Rows side by side."""

    def __init__(self, frame: Frame, groups: list[ScanGroup], across: int, tiles: int, room: int = 0, abreast: int = 1) -> None:
        super().__init__(frame, groups, tiles)
        self.per_block, self.threads = across, across * WARP
        self.name = f"columns{' staged' if room else ''} x{across}"
        self.room, self.abreast = room, abreast
        staging = self._staging(ColumnKernel(frame.trial(), groups, across)) if room else None
        self.shared, self.stages = (staging.nbytes, staging.stages) if staging else (0, 0)

    def _staging(self, kernel: ColumnKernel) -> Staging | None:
        return kernel.staged(self.threads, SCAN_BLOCK, _STAGES, self.room) if self.nest.row_length > SCAN_BLOCK else None

    def kernel(self) -> ColumnKernel:
        return ColumnKernel(self.frame, self.groups, self.per_block)

    def place(self, block: str) -> list[str]:
        return [
            f"const int x = threadIdx.x % {self.per_block}, y = threadIdx.x / {self.per_block};",
            f"const i64 first = (i64){block} * {self.per_block}, row = first + x;",
            f"const bool live = row < {self.frame.words.signed(self.nest.rows)};",
        ]

    def held(self, kernel: ColumnKernel) -> int:
        return _HELD_THREADS // self.threads if self.shared or kernel.looks_ahead else 0

    def _block_loop(self, kernel: ColumnKernel, first: str, more: str, *, apply: bool, carry: bool) -> list[str]:
        """Blocks from the first on, while there are more; i{s} is what of its tile is before each. Of a row's threads the first
        keeps count of it, and leaves it for the others with what is before the tile."""
        names = [state.name for state in kernel.states]
        lines = kernel.shared(apply=apply)
        lines += [f"Some<{j}> i{s} = none<{j}>();" for s, j in enumerate(names)]
        if apply and not carry:
            lines += [f"if (y == 0) begun{s}[0][x] = d{s}.s;" for s in range(len(names))]
        staging = self._staging(kernel) if carry and self.shared else None
        ahead, together = [], staging is not None and self.abreast > 1
        if staging:
            lines += [*staging.declare(), *staging.enter()]
            for s in range(staging.stages):
                lines += staging.copy(f"{s * SCAN_BLOCK}", f"{s}")
            at = f"({kernel.index})(block + {staging.stages}) * {SCAN_BLOCK}"
            ahead = [*staging.copy(at, f"block % {staging.stages}"), *(["cluster_arrive();"] if together else [])]
        elif carry and kernel.looks_ahead:
            ahead = kernel.load_at(kernel.block_start("block + 1"))
            lines += [*kernel.raw(apply=apply), *kernel.load_at(kernel.block_start(first))]
        lines.append(f"for (i64 block = {first}; block * {SCAN_BLOCK} < {kernel.length}{more}; ++block) {{")
        lines += ["const int parity = block & 1;", *kernel.block(apply=apply, ahead=ahead, staging=staging), "if (y == 0) {"]
        for s, j in enumerate(names):
            lines.append(f"i{s} = then<{j}>(i{s}, some<{j}>(totals{s}[parity][{WARP - 1}][x]));")
            if carry:
                close = f"carry{s}.add(i{s}, block / {BLOCKS}); i{s} = none<{j}>();"
                lines.append(f"if (block % {BLOCKS} == {BLOCKS - 1}) {{ {close} }}")
            if apply:
                before = f"carry{s}.before" if carry else f"d{s}"
                lines.append(f"begun{s}[parity ^ 1][x] = then<{j}>({before}, i{s}).s;")
        return [*lines, "}", *(["cluster_wait();"] if together else []), "}"]

    def whole(self, kernel: ColumnKernel) -> list[str]:
        carries = [f"Carry<{state.name}> carry{s}; carry{s}.start();" for s, state in enumerate(kernel.states)]
        return carries + self._block_loop(kernel, "0", "", apply=True, carry=True)

    def _tile(self, kernel: ColumnKernel, *, apply: bool) -> list[str]:
        """One tile: its total m{s} and whether this thread leaves it (`leaves`), or the outputs, given c{s}."""
        lines = [f"const Some<{state.name}> d{s} = c{s};" for s, state in enumerate(kernel.states)] if apply else []
        lines += self._block_loop(kernel, f"tile * {BLOCKS}", f" && block < (tile + 1) * {BLOCKS}", apply=apply, carry=False)
        if not apply:
            lines.append("const bool leaves = live && y == 0;")
            lines += [f"const Some<{state.name}> m{s} = i{s};" for s, state in enumerate(kernel.states)]
        return lines

    def lower_split(self) -> Lowered:
        """Three launches: the totals of the tiles, what is before each, and the results."""
        launches = (self._tiles(apply=False), self._fold(), self._tiles(apply=True))
        workspace = sum(8 * len(g.operands) for g in self.groups) * self.nest.rows * (self.tiles + self.spans)
        return Lowered(launches, tuple(self.frame.words.values), workspace, f"scan {self.name} split c{self.tiles}")

    def _workspace(self, kernel: ColumnKernel) -> list[str]:
        """Declares tiles{s} and spans{s}: the states of this row's tiles and of its spans in the workspace."""
        lines, at = [], 0
        tiles, spans = (f"((i64){self.frame.words.word(n)})" for n in (self.tiles, self.spans))
        for s, state in enumerate(kernel.states):
            for name, count, each in (("tiles", self.tiles, tiles), ("spans", self.spans, spans)):
                start = self.frame.workspace(at)
                lines.append(f"{state.name}::State* const {name}{s} = ({state.name}::State*)({start}) + row * {each};")
                at += state.nbytes * self.nest.rows * count
        return lines

    def _tiles(self, *, apply: bool) -> Launch:
        kernel = self.kernel()
        tiles = f"((i64){self.frame.words.word(self.tiles)})"
        body = [
            *kernel.frame.pointers(),
            f"const i64 tile = blockIdx.x % {tiles};",
            *self.place(f"(blockIdx.x / {tiles})"),
            *kernel.enter_row(),
            *self._workspace(kernel),
            *kernel.uniform(apply=apply),
        ]
        for s, state in enumerate(kernel.states):
            if apply:
                body += [f"Some<{state.name}> c{s} = none<{state.name}>();", "if (live) {"]
                body += [f"if (tile % {SCAN_SPAN}) c{s} = some<{state.name}>(tiles{s}[tile]);"]
                earlier = f"some<{state.name}>(spans{s}[tile / {SCAN_SPAN}])"
                body += [f"if (tile / {SCAN_SPAN}) c{s} = then<{state.name}>({earlier}, c{s});", "}"]
        body += self._tile(kernel, apply=apply)
        if not apply:
            body += [f"if (leaves) tiles{s}[tile] = m{s}.s;" for s in range(len(kernel.states))]
        source = self.frame.kernel(body, self.threads, kernel.scan_definitions())
        return Launch(KernelSource(source), (-(-self.nest.rows // self.per_block) * self.tiles, 1, 1), self.threads)

    def _fold(self) -> Launch:
        """For each row: a thread to a span, tile after tile; then span after span. Totals give way to what is before them."""
        kernel = self.kernel()
        tiles, spans = (f"((i64){self.frame.words.word(n)})" for n in (self.tiles, self.spans))
        body = ["const i64 row = blockIdx.x;", *self._workspace(kernel)]
        for s, state in enumerate(kernel.states):
            j = state.name
            body += [
                "{",
                f"__shared__ {j}::State totals[{_FOLD_THREADS}];",
                f"Some<{j}> row_before = none<{j}>();",
                f"for (i64 base = 0; base < {spans}; base += {_FOLD_THREADS}) {{",
                "const i64 span = base + threadIdx.x;",
                f"if (span < {spans}) {{",
                f"Some<{j}> sum = none<{j}>();",
                f"for (i64 tile = span * {SCAN_SPAN}; tile < (span + 1) * {SCAN_SPAN} && tile < {tiles}; ++tile) {{",
                f"const {j}::State own = tiles{s}[tile];",
                f"tiles{s}[tile] = sum.s;",
                f"sum = then<{j}>(sum, some<{j}>(own));",
                "}",
                "totals[threadIdx.x] = sum.s;",
                "}",
                "__syncthreads();",
                "if (threadIdx.x == 0)",
                f"for (int i = 0; i < {_FOLD_THREADS} && base + i < {spans}; ++i) {{",
                f"spans{s}[base + i] = row_before.s;",
                f"row_before = then<{j}>(row_before, some<{j}>(totals[i]));",
                "}",
                "__syncthreads();",
                "}}",
            ]
        source = self.frame.kernel(body, _FOLD_THREADS, kernel.scan_definitions())
        return Launch(KernelSource(source), (self.nest.rows, 1, 1), _FOLD_THREADS)
