"""What the kernels of attention in integers share: the digits on their way to shared memory, the rows of a warp, and how results
are written.

A block has 64 rows (queries, or keys), a warp 16 of them. Tiles of 64 columns follow one another, and in each some phases: digits
by rows for dot products, a block of the depth at a time, and turned ones for sums. All go through a ring of slots in shared
memory, as they lie in the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.lowering.attention.cuda.fragments import FragmentPlace
from baracuda.lowering.attention.cuda.integers.digits import ROWS, SCALES, RowFactor
from baracuda.lowering.attention.cuda.integers.prelude import FRAGMENTS
from baracuda.lowering.attention.cuda.integers.score import TURN, FragmentScore
from baracuda.lowering.attention.cuda.integers.warpgroups import WARPGROUP_PRODUCTS
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, SCALE, WARP_INSTRUCTIONS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, translation_unit
from baracuda.runtime.program import KernelSource, Launch

#: Threads of a block.
THREADS = 128
#: Registers of a thread that may hold digits of the warp's rows.
_HELD = 48
#: Slots at most, and at least.
_SLOTS = (4, 2)


@dataclass(frozen=True)
class Phase:
    """Digits of a tile's columns: by rows, for dot products with the block's rows of `left`, or turned (None)."""

    right: RowFactor
    left: RowFactor | None = None

    @property
    def chunks(self) -> int:
        return self.right.blocks if self.left else 1

    @property
    def nbytes(self) -> int:
        return self.right.block_bytes if self.left else self.right.part_bytes

    @property
    def fits_warpgroups(self) -> bool:
        """Whether warpgroup instructions multiply two digits of 32 columns at a time."""
        f = self.right
        return f.count == 2 and (f.blocks == 1 if self.left else f.width % 32 == 0)


@dataclass(frozen=True)
class Room:
    """What blocks may take: bytes of shared memory of a multiprocessor, which should hold so many. `warpgroups`: there are
    warpgroup instructions, to be used where they fit."""

    limit: int
    blocks: int
    warpgroups: bool = False


class IntegerKernel(FragmentPlace):
    """Writes one kernel, whose rows are keys (`by_keys`) or queries.

    Names in the generated code, beside those of `Place`: first and row the warp's and the thread's first row; tile the number of
    a tile; part the part of the result's depth that the block adds up; slot where the digits at hand are, and their scales.
    """

    def __init__(self, a: Attention, words: Words, factors: Mapping[str, RowFactor], *, by_keys: bool) -> None:
        super().__init__(a, words, by_keys=by_keys)
        self.factors = factors
        self.blocks = -(-self.row_extent // ROWS)
        self.score = FragmentScore(a, words, self.operands, by_keys=by_keys)
        self.phases: list[Phase] = []
        self.parts = 1

    def __str__(self) -> str:
        return f"{'warpgroups' if self.group else 'warps'} rows{self.rows} blocks{self.resident} slots{self.slots}"

    # --- the ring of slots --------------------------------------------------------------------------------------------

    def plan(self, phases: Sequence[Phase], room: Room) -> None:
        """Settle what happens in a tile, and the memory that it takes: digits of the block's rows lie in registers, or in shared
        memory where they fit, or are read when they are needed."""
        self.phases = list(phases)
        self.group = room.warpgroups and all(p.fits_warpgroups for p in phases)
        unit = 1024 if self.group else 128  # of swizzled lines
        self.digits = round_up(max(p.nbytes for p in phases), 128)
        self.slot = round_up(self.digits + SCALES, unit)
        self.parts = max([p.right.parts for p in phases if p.left is None], default=1)
        lefts = [p.left for p in phases if p.left is not None]
        resident = sum(f.blocks * f.block_bytes for f in lefts)
        most, least = _SLOTS
        held = sum(f.count * f.steps * 4 if f.blocks == 1 else _HELD + 1 for f in lefts)
        if self.group:
            self.rows = "Group"
        elif held <= _HELD and room.blocks < 3:
            self.rows, resident = "Held", 0
        elif resident + least * self.slot <= room.limit:
            self.rows = "Shared"
        else:
            self.rows, resident = "Read", 0
        self.slots = max(least, min(most, (room.limit // room.blocks - 1024 - resident) // self.slot))
        self.shared = self.slots * self.slot + resident
        #: Blocks that a multiprocessor should hold.
        self.resident = max(1, min(room.limit // (self.shared + 1024), room.blocks))

    def _head(self, f: RowFactor, head: str) -> str:
        return "g" if f.name in ("k", "v") else head

    def define(self) -> list[str]:
        """Sends the digits of the rows, then the first ones of columns, on their way: `feed` sends the next."""
        words, lines, pointers, next_head, before, rows = self.words, list[str](), list[str](), list[str](), 0, self.rows_of()
        for i, p in enumerate(self.phases):
            f, last = p.right, i + 1 == len(self.phases)
            head = self._head(f, "first_head" if self.by_keys else "c1")
            start = f.at(words, f.start if p.left else f.turned_start)
            part = f" + part * {p.nbytes}" if not p.left and f.parts > 1 else ""
            record_bytes = p.nbytes * (f.blocks if p.left else f.parts)
            pointers += [
                f"const i64 record{i} = {f.record(words, head, '0')};",
                f"const unsigned char* from{i} = {start} + record{i} * {record_bytes}{part};",
                f"const unsigned char* scales{i} = {f.at(words, f.scales_start)} + record{i} * {SCALES};",
            ]
            if self.by_keys:
                tiles = words.signed(f.tiles)
                next_head.append(f"from{i} += {tiles} * {record_bytes}; scales{i} += {tiles} * {SCALES};")
            chunk = f" + (fed_step - {before}) * {p.nbytes}" if p.chunks > 1 else ""
            before += p.chunks
            lines += [
                *([] if last else [f"if (fed_step < {before}) {{"]),
                f"copy_bytes<{p.nbytes}, {THREADS}>(to, from{i} + (i64)fed_tile * {record_bytes}{chunk});",
                f"copy_bytes<{SCALES}, {THREADS}>(to + {self.digits}, scales{i} + fed_tile * {SCALES});",
                *([] if last else ["} else {"]),
            ]
        again = f"if (++fed_tile == stop) {{ fed_tile = start; {' '.join(next_head)} }}" if self.by_keys else "++fed_tile;"
        return [
            *rows,
            *pointers,
            "int fed_tile = start, fed_step = 0, fed_slot = 0, slot_read = 0;",
            f"int fed_left = most(stop - start, 0){' * group' if self.by_keys else ''};",
            "const auto feed = [&] {",
            "if (fed_left > 0) {",
            f"unsigned char* const to = shared + fed_slot * {self.slot};",
            *lines,
            *["}"] * (len(self.phases) - 1),
            f"if (++fed_step == {before}) {{ fed_step = 0; --fed_left; {again} }}",
            "}",
            "commit_copies();",
            f"fed_slot = fed_slot + 1 == {self.slots} ? 0 : fed_slot + 1;",
            "};",
            *["feed();"] * (self.slots - 1),
        ]

    def step(self) -> list[str]:
        """Waits for the next digits, declares where they and their scales are, and sends others on their way."""
        return [
            f"unsigned char* const slot = shared + slot_read * {self.slot};",
            f"const float* const scales = (const float*)(slot + {self.digits});",
            f"wait_copies<{self.slots - 2}>();",
            *(["order_copies();"] if self.group else []),
            "__syncthreads();",
            "feed();",
            f"slot_read = slot_read + 1 == {self.slots} ? 0 : slot_read + 1;",
        ]

    # --- rows and products --------------------------------------------------------------------------------------------

    def where(self) -> list[str]:
        """The block's place in the problem, and the warp's and the thread's."""
        number = "blockIdx.x" if self.parts == 1 else "number"
        return [
            f"extern __shared__ __align__({1024 if self.group else 128}) unsigned char shared[];",
            *([f"const unsigned number = blockIdx.x / {self.parts}u;"] if self.parts > 1 else []),
            *([f"const int part = (int)(blockIdx.x - number * {self.parts}u);"] if self.parts > 1 else []),
            *self.of_block(number, self.blocks, ROWS),
            "const int lane = threadIdx.x % 32, first = first_row + threadIdx.x / 32 * 16, row = first + lane / 4;",
        ]

    def rows_of(self) -> list[str]:
        """Declares the digits of the block's rows, and their scales."""
        words, lines, at = self.words, list[str](), self.slots * self.slot
        vote = "__syncthreads_or(" if self.group else "__any_sync(~0u, "  # those that multiply together go the same way
        for f in [p.left for p in self.phases if p.left is not None]:
            n = f.name
            record, nbytes = f.record(words, self._head(f, "c1"), f"first_row / {ROWS}"), f.blocks * f.block_bytes
            lines += [
                f"const i64 {n}_record = {record};",
                f"const unsigned char* const {n}_digits = {f.at(words, f.start)} + {n}_record * {nbytes};",
                f"const float* const {n}_scales = (const float*)({f.at(words, f.scales_start)} + {n}_record * {SCALES});",
                f"const float {n}_scale[2] = {{{n}_scales[row - first_row], {n}_scales[row - first_row + 8]}};",
                f"const bool {n}_large = {vote}{n}_scale[0] > 0x1p64f || {n}_scale[1] > 0x1p64f);",
            ]
            numbers, source = f"{f.count}, {f.line}", f"{n}_digits"
            if self.rows == "Held":
                numbers = f"{f.count}, {f.steps}, {f.line}"
            elif self.rows != "Read":
                source = f"shared + {at}"
                lines.append(f"copy_bytes<{nbytes}, {THREADS}>({source}, {n}_digits);")
                at += nbytes
            if self.group:
                lines.append(f"const unsigned {n}_rows = shared_address({source});")
            else:
                lines.append(f"{self.rows}Rows<{numbers}> {n}_rows({source}, first - first_row);")
        return lines

    def dots(self, p: Phase, into: str) -> list[str]:
        """Declares the dot products of a phase."""
        f = p.right
        assert p.left is not None
        n = p.left.name
        if self.group:
            numbers, rest = f"{f.steps}, {f.line}", f"({into}, {n}_rows, shared_address(slot), scales, {n}_scale);"
            calls = [f"if ({n}_large) add_group_dots<{numbers}, true>{rest}", f"else add_group_dots<{numbers}, false>{rest}"]
            return [f"float {into}[8][4] = {{}};", "{", *self.step(), *calls, "}"]
        block = "0" if f.blocks == 1 else "block"
        numbers, rest = (
            f"{f.count}, {f.steps}, {f.line}",
            f"({into}, {n}_rows, {block}, shared_address(slot), scales, {n}_scale);",
        )
        calls = [f"if ({n}_large) add_dots<{numbers}, true>{rest}", f"else add_dots<{numbers}, false>{rest}"]
        loop = [] if f.blocks == 1 else ["#pragma unroll 1", f"for (int block = 0; block < {f.blocks}; ++block)"]
        return [f"float {into}[8][4] = {{}};", *loop, "{", *self.step(), *calls, "}"]

    def sums(self, name: str, p: Phase) -> list[str]:
        """Declares the sums of a phase."""
        return [f"float {name}[{p.right.width // 8}][4] = {{}};"]

    def add_rows(self, p: Phase, weights: str, into: str, *between: str) -> list[str]:
        """`into` goes on with weights, of which each is multiplied by the scale of its row, times the rows of a phase. `between`
        stands before the sums grow."""
        f = p.right
        return [
            "{",
            *self.step(),
            "scale_columns(" + weights + ", scales);",
            f"Weights<{f.count}> digits;",
            "float scale[2];",
            f"digits.set({weights}, scale);",
            *between,
            f"add_group_rows<{f.width // 8}>({into}, digits.x, shared_address(slot), scale);"
            if self.group
            else f"digits.add_rows<{f.width // 8}>({into}, shared_address(slot), scale);",
            "}",
        ]

    # --- results ------------------------------------------------------------------------------------------------------

    def write(self, name: str, p: Phase, head: str, value: str) -> list[str]:
        """Writes the thread's part of a result; `value` is that of element i = 2 * h + e of its columns n."""
        w = p.right.width
        return self.write_rows(name, p.right.depth, w, f"part * {w} + " if p.right.parts > 1 else "", head, value)

    def launch(self, body: Sequence[str], functions: str) -> Launch:
        common = PRODUCTS + ATTENTION + COMBINE + SCALE + WARP_INSTRUCTIONS
        tables = common + functions + FRAGMENTS + (WARPGROUP_PRODUCTS if self.group else "") + TURN + self.score.definitions()
        source = translation_unit(self.words, body, THREADS, tables, blocks=self.resident)
        return Launch(KernelSource(source), (self.a.batch * self.heads * self.blocks * self.parts, 1, 1), THREADS, self.shared)
