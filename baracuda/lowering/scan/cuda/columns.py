"""Scans of rows side by side.

A thread block takes a few neighbouring rows, so that neighbouring threads read neighbours in memory; 32 teams of threads hold
the chunks of a block of 256 elements of each row, and the chunks' totals are turned around in shared memory to meet in shuffles.
Thread blocks walk along their rows from block to block, and load the next while they scan one, or have several on their way
through shared memory (`scan_staging`).

Where rows are too few for that, thread blocks take whole tiles, of which every thread holds several chunks (`RegisterTile`). It
scans them twice: for their totals, and again when it knows what is before the tile. Its next tile is copied to shared memory
meanwhile; where that has no room, a chunk of the next tile is loaded into the registers of one that is done. Each tile hands the
next what is before it (`scan_chain`). Where neither suffices, there are three launches: the totals of all tiles, what is before
each, and the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.formula.order import SCAN_BLOCK, SCAN_CHUNK, SCAN_TILE
from baracuda.lowering.nest.cuda.kernel import Frame
from baracuda.lowering.scan.cuda.rows import BLOCKS, WARP, ScanKernel
from baracuda.lowering.scan.cuda.staging import Staging, piece_width
from baracuda.lowering.scan.problem import ScanGroup

#: Bytes of elements that a thread holds of a tile, where each takes at least a register, and threads of a block.
_TILE_BYTES, _TILE_THREADS = 128, 1024
#: Rows side by side that a thread block takes at least where it holds whole tiles, so that it fills half of a sector.
_LEAST_ACROSS = 4
#: Bytes of shared memory that need not be asked for. What states take is less.
SHARED_BYTES = 48 * 1024


@dataclass(frozen=True)
class RegisterTile:
    """Tiles of `across` rows in the registers of a thread block: every thread has chunks of `held` of their blocks."""

    across: int
    held: int

    @property
    def threads(self) -> int:
        return self.across * WARP * self.at_once

    @property
    def at_once(self) -> int:
        """Blocks of a row that the threads hold with one chunk each."""
        return BLOCKS // self.held

    @property
    def block(self) -> str:
        """The number in its tile of the block that a thread's chunk q is in."""
        return f"(q * {self.at_once} + team)"

    def position(self, index: str) -> str:
        """Where a thread's chunk q of a tile begins, as a position in the scan."""
        return f"({index})tile * {SCAN_TILE} + {self.block} * {SCAN_BLOCK} + y * {SCAN_CHUNK}"


class ColumnKernel(ScanKernel):
    """Writes the parts of a kernel that scans X rows side by side. A thread has chunk y of a block of row x."""

    def __init__(self, frame: Frame, groups: Sequence[ScanGroup], across: int) -> None:
        super().__init__(frame, groups, WARP, across)
        self.across = across

    def shared(self, *, apply: bool) -> list[str]:
        """Declares the arrays in which totals of blocks meet, and what is before a block if `apply` is set, twice: for blocks in
        turn."""
        lines = []
        for s, state in enumerate(self.states):
            initial = f", begun{s}[2][{self.across}]" if apply else ""
            lines.append(f"__shared__ {state.name}::State totals{s}[2][{WARP}][{self.across + 1}]{initial};")
        return lines

    def block_start(self, block: str) -> str:
        """Where this thread's chunk of a block begins, as a position in the scan."""
        return f"({self.index})({block}) * {SCAN_BLOCK} + y * {SCAN_CHUNK}"

    def block(self, *, apply: bool, ahead: Sequence[str] = (), staging: Staging | None = None) -> list[str]:
        """Block number `block`: the chunks' totals, and if `apply` is set the outputs, given begun{s}, what is before the block.
        With `ahead`, what loads the next block into raw{i}, or with `staging` begins to copy a later one, this one is there
        already."""
        lines = self.chunk(self.block_start("block"))
        if staging:
            lines += [*staging.arrive(), *self.take_staged(staging, "y", f"block % {staging.stages}")]
        elif ahead:
            lines += [*self.take(apply=apply), *ahead]
        else:
            lines += [*self.raw(apply=apply), *self.load(apply=apply), *self.take(apply=apply)]
        lines += [*self.serial(), *(f"totals{s}[parity][y][x] = s{s};" for s in range(len(self.states)))]
        lines.append("__syncthreads();")
        lines += ahead if staging else []  # everyone has taken this block, whose place the copies take
        for s, state in enumerate(self.states):
            at = f"totals{s}[parity][threadIdx.x % {WARP}][threadIdx.x / {WARP}]"
            lines.append(f"{at} = steps<{state.name}, {WARP}>({at}, threadIdx.x % {WARP});")
        lines.append("__syncthreads();")
        if not apply:
            return lines
        for s, state in enumerate(self.states):
            j = state.name
            earlier = f"Some<{j}>{{begun{s}[parity][x], block > 0}}"
            lines += [*self._before_chunk(s, "parity"), f"b{s} = then<{j}>({earlier}, b{s});"]
        return [*lines, *self.results(), *self.write()]

    def staged(self, threads: int, positions: int, most: int, room: int) -> Staging | None:
        """Regions of so many positions on their way through shared memory, at most `most` at a time and no more than have room in
        so many bytes; None where the inputs do not lie so, or none fits."""
        inputs = self._read_along(apply=True)
        width = 0 if any(self._unit(i) for i in inputs) else piece_width(self.frame, inputs, self.across)
        for stages in range(most, 0, -1) if width else ():
            staging = Staging(self, inputs, width, self.across, threads, positions, stages)
            if staging.nbytes <= room:
                return staging
        return None

    def take_staged(self, staging: Staging, chunk: str, stage: str) -> list[str]:
        """Declares in{i}, a chunk of a region that has arrived."""
        lines = []
        for i in staging.inputs:
            lines.append(f"Vec<{self.frame.storage(i)}, {SCAN_CHUNK}> in{i};")
            lines += staging.take(i, chunk, stage, f"in{i}")
        return lines

    def _before_chunk(self, s: int, block: str) -> list[str]:
        """b{s}: all of a block of totals before this thread's chunk."""
        j = self.states[s].name
        return [f"Some<{j}> b{s} = none<{j}>();", f"if (y > 0) b{s} = some<{j}>(totals{s}[{block}][y - 1][x]);"]

    # --- whole tiles --------------------------------------------------------------------------------------------------

    def held_tile(self) -> RegisterTile | None:
        """How thread blocks hold whole tiles, where registers and shared memory suffice for enough rows. States that are larger
        than the elements they are made of leave no registers for those on their way (H200, 2026-11-22, 10,000,000 x 16 f32:
        cumsum 541 us and 813 by three launches, cummax 1,206 and 908, logcumsumexp 1,218 and 982)."""
        elements = sum(self.nest.operands[i].kind.itemsize for i in self.raw_types(apply=True))
        if sum(kind.itemsize for g in self.groups for kind in g.kinds) > elements:
            return None
        registers = sum(-(-self.nest.operands[i].kind.itemsize // 4) for i in self.raw_types(apply=True))
        held = 1
        while 2 * held * SCAN_CHUNK * 4 * registers <= _TILE_BYTES and held < BLOCKS:
            held *= 2
        tile = RegisterTile(_TILE_THREADS // WARP * held // BLOCKS, held)
        state = sum(len(g.kinds) * max(kind.itemsize for kind in g.kinds) for g in self.groups)
        shared = state * (BLOCKS * WARP * (tile.across + 1) + tile.across * BLOCKS)
        fits = held * SCAN_CHUNK * 4 * registers <= _TILE_BYTES and shared < SHARED_BYTES and len(self.nest.inner) == 1
        return tile if fits and tile.across >= _LEAST_ACROSS else None

    def tile_shared(self, tile: RegisterTile) -> list[str]:
        """Declares the arrays in which totals of a tile meet."""
        lines = []
        for s, state in enumerate(self.states):
            totals, before = f"[{BLOCKS}][{WARP}][{tile.across + 1}]", f"[{tile.across}][{BLOCKS}]"
            lines.append(f"__shared__ {state.name}::State totals{s}{totals}, before{s}{before};")
        return lines

    def hold(self, tile: RegisterTile) -> list[str]:
        """Declares held{i}: this thread's chunks of a tile, on their way from memory."""
        return [f"{kind} held{i}[{tile.held}];" for i, kind in self.raw_types(apply=True).items()]

    def with_chunk(self, q: int, body: Sequence[str]) -> list[str]:
        """Does something with chunk q of a tile, whose elements are raw{i}."""
        chunk = [f"{kind}& raw{i} = held{i}[q];" for i, kind in self.raw_types(apply=True).items()]
        return ["{", f"const int q = {q};", *chunk, *body, "}"]

    def each_chunk(self, tile: RegisterTile, body: Sequence[str]) -> list[str]:
        """Does something with every chunk of a tile."""
        return [line for q in range(tile.held) for line in self.with_chunk(q, body)]

    def load_chunk(self, tile: RegisterTile) -> list[str]:
        """Begins to load chunk q of `tile`."""
        return self.load_at(tile.position(self.index))

    def tile(self, tile: RegisterTile, ahead: Sequence[str], before: Sequence[str], staging: Staging | None = None) -> list[str]:
        """The outputs of a tile, given `tile`, which is held. `before` makes c{s}, what is before it, of n{s}, its total, for the
        first warps, each of which has a row. `ahead` loads chunk q of the next tile, or with `staging` begins to copy all of it;
        the tile is then what has been copied."""
        chunk = [*self.chunk(tile.position(self.index)), *self.take(apply=True)]
        publish = [f"totals{s}[{tile.block}][y][x] = s{s};" for s in range(len(self.states))]
        lines, arrived = [], []
        if staging:
            lines = staging.arrive()
            for i in staging.inputs:
                arrived += staging.take(i, f"{tile.block} * {WARP} + y", "0", f"raw{i}")
        lines += [*self.each_chunk(tile, [*arrived, *chunk, *self.serial(), *publish]), "__syncthreads();"]
        lines += ahead if staging else []
        lines.append(f"for (int i = warp; i < {BLOCKS * tile.across}; i += {tile.threads // WARP}) {{")
        for s, state in enumerate(self.states):
            at = f"totals{s}[i / {tile.across}][lane][i % {tile.across}]"
            lines.append(f"{at} = steps<{state.name}, {WARP}>({at}, lane);")
        lines.append("}")
        scanned = f"[{{w}}][{WARP - 1}][warp]"
        lines += self.join_blocks(BLOCKS, f"warp < {tile.across} && first + warp < rows", scanned, "warp", before)
        again = [*chunk, *self.serial()]
        for s, state in enumerate(self.states):
            j = state.name
            earlier = f"Some<{j}>{{before{s}[x][{tile.block}], tile > 0 || {tile.block} > 0}}"
            again += [*self._before_chunk(s, tile.block), f"b{s} = then<{j}>({earlier}, b{s});"]
        again += [*self.results(), *self.write()]
        after = [] if staging else ahead
        return lines + [line for q in range(tile.held) for line in (*self.with_chunk(q, again), *self.with_chunk(q, after))]
