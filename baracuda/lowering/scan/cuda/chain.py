"""Scans of few long rows that read memory once: tiles go to whichever block is free, and each hands the next what is before it.

A tile leaves its total first, and then, once it knows what is before it, what is carried on to the next tile. So a tile looks
back only as far as the nearest one that has left its carry, and adds the totals since, one after another: the order in which
a block that walked along the row would have added them. Tiles are taken in order from a counter, those of all rows in turn, so
that most of what a tile looks for is there (Merrill & Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).
Of rows side by side a thread block takes several, and a warp looks back for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.order import SCAN_CHUNK, SCAN_SPAN, SCAN_TILE
from baracuda.lowering.nest.cuda.block_handoff import BLOCK_HANDOFF, clearing, published_bytes
from baracuda.lowering.nest.cuda.clusters import STREAMS
from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.lowering.scan.cuda.columns import ColumnKernel, RegisterTile
from baracuda.lowering.scan.cuda.rows import WARP, ScanKernel
from baracuda.lowering.scan.cuda.state import StateCode
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Tiles at most, so that 32 bits count them.
MOST_TILES = 1 << 30
#: Threads that a multiprocessor takes.
_THREADS = 2048
#: Registers of a thread that its elements may take where a multiprocessor holds two blocks of 512.
_REGISTERS = 48


class _Chain(ABC):
    """The launches of one nest whose rows have so many tiles. A thread block takes an item: a tile of `across` rows."""

    name: str
    #: Blocks that a multiprocessor takes at most.
    most: int
    #: Bytes of shared memory for elements on their way.
    staged = 0

    def __init__(self, frame: Frame, kernel: ScanKernel, tiles: int, threads: int, across: int) -> None:
        self.frame, self.kernel, self.tiles, self.threads, self.across = frame, kernel, tiles, threads, across
        self.sets = -(-frame.nest.rows // across)
        self.items = tiles * self.sets
        #: Where the words of each state begin among those of a tile's total, and of the two parts of its carry; the last is the
        #: end.
        self.starts = [0]
        for state in kernel.states:
            self.starts.append(self.starts[-1] + sum(published_bytes(kind) for kind in state.group.kinds))

    @abstractmethod
    def held(self) -> int:
        """Blocks that a multiprocessor should hold."""

    @abstractmethod
    def declare(self) -> list[str]:
        """Declares shared memory, this thread's coordinates and what holds its elements on their way from memory."""

    @abstractmethod
    def load(self) -> list[str]:
        """Begins to load the first tile."""

    @abstractmethod
    def tile(self) -> list[str]:
        """The outputs of a tile that is on its way, while the next is loaded."""

    def lower(self, target: Target) -> Lowered:
        frame = self.frame
        nbytes = 8 + 3 * self.starts[-1] * self.tiles * frame.nest.rows
        first, body = clearing(frame, nbytes), self._body()
        definitions = (STREAMS if self.staged else "") + BLOCK_HANDOFF + self.kernel.scan_definitions()
        source = frame.kernel(body, self.threads, definitions, blocks=self.held())
        blocks = min(self.items, target.multiprocessors * self.most)
        launches = (first, Launch(KernelSource(source), (blocks, 1, 1), self.threads, self.staged))
        return Lowered(launches, tuple(frame.words.values), nbytes, f"scan {self.name} chained t{self.threads} c{self.tiles}")

    def _body(self) -> list[str]:
        kernel, frame = self.kernel, self.frame
        return [
            "__shared__ unsigned tickets[2];",
            f"const int t = threadIdx.x, lane = t % {WARP}, warp = t / {WARP};",
            *self.declare(),
            *frame.pointers(),
            f"unsigned* const counter = (unsigned*){frame.workspace()};",
            f"const unsigned sets = {frame.words.unsigned(self.sets)}, items = {frame.words.unsigned(self.items)};",
            f"const u64 by_sets = {frame.words.divisor(self.sets)}, states = {frame.workspace(8)};",
            f"const i64 rows = {frame.words.signed(frame.nest.rows)}, tiles = {frame.words.signed(self.tiles)};",
            "if (t == 0) { tickets[0] = atomicAdd(counter, 1u); tickets[1] = atomicAdd(counter, 1u); }",
            "__syncthreads();",
            "unsigned item = 0, next = tickets[0];",
            *self.load(),
            "item = next; next = tickets[1];",
            "__syncthreads();",
            "for (int parity = 0; item < items; parity ^= 1) {",
            *self._enter_tile("item"),
            *kernel.uniform(apply=True),
            "unsigned after = 0;",
            "if (t == 0) after = atomicAdd(counter, 1u);",
            *self.tile(),
            "if (t == 0) tickets[parity] = after;",
            "__syncthreads();",
            "item = next;",
            "next = tickets[parity];",
            "}",
        ]

    def _enter_tile(self, item: str) -> list[str]:
        """The tile and the rows of an item, if there is one, and of them this thread's."""
        return [
            f"const {self.kernel.index} tile = divide({item}, by_sets);",
            f"const i64 first = (i64)({item} - (unsigned)tile * sets) * {self.across}, row = first + x;",
            f"const bool live = {item} < items && row < rows;",
            *self.kernel.enter_row(),
        ]

    def ahead(self, load: Sequence[str]) -> list[str]:
        """Loads of the next tile."""
        return ["{", *self._enter_tile("next"), *load, "}"]

    def look_back(self) -> list[str]:
        """c{s}, all before the tile in `row`, for a warp whose n{s} is the tile's total."""
        states, names = self.kernel.states, [state.name for state in self.kernel.states]
        lines = ["if (lane == 0) {", *self._publish(0, [f"n{s}.s" for s in range(len(states))]), "}"]
        lines += [f"{j}::State seen{s} = {{}}; Carry<{j}> carry{s}; carry{s}.start();" for s, j in enumerate(names)]
        lines += [
            f"const {self.kernel.index} its = tile - 1 - lane;",  # the tile that this lane looks at
            "int nearest;",
            "for (;;) {",
            "bool total = true, carry = true;",
            "if (its >= 0) {",
            *self._find(0, "total", [f"seen{s}" for s in range(len(states))]),
            *self._find(1, "carry", [f"carry{s}.spans.s" for s in range(len(states))]),
            *self._find(2, "carry", [f"carry{s}.tiles.s" for s in range(len(states))]),
            "}",
            "const unsigned carried = __ballot_sync(0xffffffffu, carry), known = __ballot_sync(0xffffffffu, total);",
            "nearest = __ffs(carried) - 1;",
            "if (carried && !(~known & ((1u << nearest) - 1))) break;",
            "backoff();",
            "}",
        ]
        for s, state in enumerate(states):
            j = state.name
            lines += [
                f"carry{s}.spans = {{{_of_lane(state, f'carry{s}.spans.s', 'nearest')}, tile - nearest >= {SCAN_SPAN}}};",
                f"carry{s}.tiles = {{{_of_lane(state, f'carry{s}.tiles.s', 'nearest')}, (tile - nearest) % {SCAN_SPAN} > 0}};",
                f"carry{s}.before = then<{j}>(carry{s}.spans, carry{s}.tiles);",
                "for (int from = nearest - 1; from >= 0; --from)",
                f"  carry{s}.add(some<{j}>({_of_lane(state, f'seen{s}', 'from')}), tile - 1 - from);",
                f"const Some<{j}> c{s} = carry{s}.before;",
                f"carry{s}.add(n{s}, tile);",
            ]
        lines += ["if (lane == 0) {", *self._publish(1, [f"carry{s}.spans.s" for s in range(len(states))])]
        return [*lines, *self._publish(2, [f"carry{s}.tiles.s" for s in range(len(states))]), "}"]

    def _components(self, which: int, tile: str, values: Sequence[str]) -> list[tuple[str, str]]:
        """Where a tile leaves each component of its total (0), or of what it carries on: of whole spans (1) and of the tiles
        since (2); and the component of the states given."""
        components = []
        for value, state, start in zip(values, self.kernel.states, self.starts, strict=False):
            at = which * self.starts[-1] + start
            for c, kind in enumerate(state.group.kinds):
                components.append((f"states + {3 * self.starts[-1]} * (row * tiles + {tile}) + {at}", f"{value}.c{c}"))
                at += published_bytes(kind)
        return components

    def _publish(self, which: int, values: Sequence[str]) -> list[str]:
        return [f"publish({at}, {value});" for at, value in self._components(which, "tile", values)]

    def _find(self, which: int, known: str, values: Sequence[str]) -> list[str]:
        return [f"{known} &= poll({at}, {value});" for at, value in self._components(which, "its", values)]


class ChainedRows(_Chain):
    """Rows along the unit stride: a tile takes `warps` full warps."""

    def __init__(self, frame: Frame, kernel: ScanKernel, tiles: int, warps: int) -> None:
        super().__init__(frame, kernel, tiles, warps * WARP, 1)
        self.warps, self.name, self.most = warps, "rows", _THREADS // (warps * WARP)

    def held(self) -> int:
        """Two, where a thread's states and two chunks of inputs leave registers."""
        nest, kernel = self.frame.nest, self.kernel
        inputs = sum(nest.operands[i].kind.itemsize for i in range(self.frame.inputs) if kernel.varies(i))
        elements = 2 * inputs + sum(kind.itemsize for g in kernel.groups for kind in g.kinds)
        return 2 if elements * SCAN_CHUNK // 4 <= _REGISTERS else 1

    def declare(self) -> list[str]:
        return [*self.kernel.rows_shared(1, self.warps), "const int slot = 0, x = 0;", *self.kernel.raw(apply=True)]

    def load(self) -> list[str]:
        return self.ahead(self.kernel.load_at(self.kernel.tile_start("tile")))

    def tile(self) -> list[str]:
        return self.kernel.rows_tile(self.warps, ahead=self.load(), before=self.look_back())


class ChainedColumns(_Chain):
    """Rows side by side."""

    def __init__(self, frame: Frame, kernel: ColumnKernel, tiles: int, held: RegisterTile, room: int) -> None:
        super().__init__(frame, kernel, tiles, held.threads, held.across)
        self.columns, self.held_tile, self.name, self.most = kernel, held, f"columns x{held.across}", 1
        self.staging = kernel.staged(held.threads, SCAN_TILE, 1, room)
        self.staged = self.staging.nbytes if self.staging else 0

    def held(self) -> int:
        return self.most

    def declare(self) -> list[str]:
        across = self.across
        return [
            *self.columns.tile_shared(self.held_tile),
            f"const int x = t % {across}, y = t / {across} % {WARP}, team = t / {across * WARP};",
            *self.columns.hold(self.held_tile),
            *(self.staging.declare() if self.staging else []),
        ]

    def load(self) -> list[str]:
        if self.staging:
            return self.ahead([*self.staging.enter(), *self.staging.copy(f"({self.kernel.index})tile * {SCAN_TILE}", "0")])
        return self.ahead(self.columns.each_chunk(self.held_tile, self.columns.load_chunk(self.held_tile)))

    def tile(self) -> list[str]:
        ahead = self.load() if self.staging else self.ahead(self.columns.load_chunk(self.held_tile))
        row = "const i64 row = first + warp;"  # the warp's, which is another than the thread's
        return self.columns.tile(self.held_tile, ahead, [row, *self.look_back()], self.staging)


def _of_lane(state: StateCode, value: str, lane: str) -> str:
    """The state that a lane of the warp has."""
    shuffled = []
    for c, kind in enumerate(state.group.kinds):
        lane_value = f"__shfl_sync(0xffffffffu, {value}.c{c}, {lane})"
        shuffled.append(f"(bool){lane_value}" if COMPUTE_TYPE[kind] == "bool" else lane_value)
    return f"{state.name}::State{{{', '.join(shuffled)}}}"
