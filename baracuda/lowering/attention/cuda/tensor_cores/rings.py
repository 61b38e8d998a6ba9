"""Tiles of attention by tensor cores on their way to shared memory, and the rows of a block.

A block has 64 rows (queries, or keys) for each of its groups of four warps. Tiles of 64 columns follow one another, 128 elements
of the depth at a time, through rings of slots in shared memory. Either all threads bring them (warps), or those of a group of
their own do (`Room.groups`), and Hopper's warpgroup instructions multiply them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.lowering.attention.cuda.fragments import FragmentPlace
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.nest.cuda.kernel import Words, piece

#: Rows of a group of four warps, and its threads.
ROWS, GROUP = KEYS, 128
#: Elements of the depth that a tile has at most: 64 f32 a thread where they are added up.
WIDEST = 128
#: Bytes of 64 lines of 64 elements, and of a tile's log-sum-exps and deltas.
_BYTES, STATISTICS = 8192, 512
#: Tiles in shared memory at most; registers of a thread that multiplies and of one that brings tiles, beside two groups of the
#: former: 3 * 168 together, which is what 384 threads start with.
_MOST_SLOTS, _REGISTERS = 4, (232, 40)


@dataclass(frozen=True)
class Factor:
    """An operand whose rows are multiplied, cut into tiles of `width` elements along the depth."""

    name: str
    depth: int

    @property
    def chunks(self) -> int:
        return max(1, -(-self.depth // WIDEST))

    @property
    def width(self) -> int:
        return WIDEST if self.chunks > 1 else max(16, round_up(self.depth, 16))

    @property
    def nbytes(self) -> int:
        """Of a tile."""
        return -(-self.width // 64) * _BYTES


@dataclass(frozen=True)
class Room:
    """What a block has: bytes of shared memory, and how many groups that multiply by warpgroup instructions (0: warps do). Where
    there is work for more than `persistent` blocks, so many take one piece after another (0: each has its own)."""

    limit: int
    groups: int = 0
    persistent: int = 0


@dataclass
class Ring:
    """Tiles of an operand on their way: all of the depth, for dot products with the block's rows of `left`, or, without that, the
    block's part. `statistics`: log-sum-exps and deltas of the columns come along. `slots` are at `start` of shared memory."""

    name: str
    factor: Factor
    left: Factor | None = None
    statistics: bool = False
    slots: int = 0
    start: int = 0
    streamed: bool = False

    @property
    def items(self) -> int:
        return self.factor.chunks if self.left else 1

    @property
    def left_start(self) -> int:
        """Where in a slot the rows are, if they come along."""
        return self.factor.nbytes

    @property
    def statistics_start(self) -> int:
        return self.factor.nbytes * (2 if self.streamed else 1)

    @property
    def pitch(self) -> int:
        return round_up(self.statistics_start + STATISTICS * self.statistics, 1024)


class TileRings(FragmentPlace):
    """Writes what brings the tiles of a kernel, whose rows are keys (`by_keys`) or queries, and what waits for them.

    Names in the generated code, beside those of `Place`: own the number of the thread's group; tile that of a tile; part the part
    of the result's depth that the block adds up; begin and end the tiles that the block's groups meet together; slot_NAME where
    the tile of a ring is.
    """

    def __init__(self, a: Attention, words: Words, *, by_keys: bool) -> None:
        super().__init__(a, words, by_keys=by_keys)
        self.parts = 1

    def factor(self, name: str) -> Factor:
        return Factor(name, self.a.value_depth if name in ("v", "dy") else self.a.depth)

    # --- shared memory ------------------------------------------------------------------------------------------------

    def plan(self, rings: Sequence[Ring], room: Room, sums: Factor | None) -> None:
        """Settle the memory that rings take: rows lie in shared memory as a whole where they fit, else they come along with the
        columns."""
        self.rings, self.groups = list(rings), room.groups
        self.parts = sums.chunks if sums is not None else 1
        lefts = [r.left for r in rings if r.left is not None]
        rows = sum(f.chunks * f.nbytes for f in lefts)
        single = sum(r.items == 1 for r in rings)
        #: Tiles that warps use at a time: of each ring one, or one after another.
        self.in_use = single + any(r.items > 1 for r in rings)
        least = 2 if self.groups else 1 + self.in_use
        limit = room.limit - 2048

        def needed(slots: int) -> int:
            each = slots * sum(r.pitch for r in rings) if self.groups else slots * max(r.pitch for r in rings)
            return rows * max(1, self.groups) + each

        while self.groups > 1 and needed(least) > limit:
            self.groups -= 1
        self.streamed = needed(least) > limit
        if self.streamed:
            rows = 0
            for r in self.rings:
                r.streamed = r.left is not None
        slots = next(
            (n for n in range(_MOST_SLOTS + (0 if self.groups else self.in_use), least, -1) if needed(n) <= limit), least
        )
        at = 0
        for r in self.rings:
            r.slots, r.start = slots, at
            at += slots * r.pitch * bool(self.groups)
        self.slot = max(r.pitch for r in rings)
        at += 0 if self.groups else slots * self.slot
        self.rows_start, self.row_bytes = at, rows
        at += rows * max(1, self.groups)
        self.barriers = at
        self.shared = at + (16 * slots * len(self.rings) + 8 * self.groups + 24 if self.groups else 0)
        self.threads = GROUP * (self.groups + 1) if self.groups else GROUP
        per_block = max(1, self.groups)
        self.blocks = round_up(-(-self.row_extent // ROWS), per_block)
        #: How many blocks there are, where they take one piece after another, else 0.
        self.persistent = room.persistent if self.groups and not self.streamed and self.count > room.persistent else 0

    # --- where --------------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Blocks in all."""
        return self.a.batch * self.heads * self.blocks // max(1, self.groups) * self.parts

    def _place(self, number: str, own: str = "own") -> list[str]:
        """Declares the place of a group's rows."""
        lines = []
        if self.parts > 1:
            lines = [
                f"const unsigned of_rows = {number} / {self.parts}u;",
                f"const int part = (int)({number} - of_rows * {self.parts}u);",
            ]
            number = "of_rows"
        if self.groups > 1:
            number = f"({number} * {self.groups} + {own})"
        return [*lines, *self.of_block(number, self.blocks, ROWS)]

    def _bounds_of_groups(self, number: str) -> list[str]:
        """Declares which tiles the groups meet together."""
        if self.groups == 1:
            return ["const int begin = start, end = stop;"]
        return [
            "int begin = 0, end = 0;",
            "#pragma unroll 1",
            f"for (int other = 0; other < {self.groups}; ++other) {{",
            *self._place(number, "other"),
            "if (start < stop) { begin = end ? least(begin, start) : start; end = most(end, stop); }",
            "}",
        ]

    def _barriers(self) -> list[str]:
        """Makes the barriers of the rings."""
        lines, at = [], self.barriers
        starts = []
        for r in self.rings:
            lines.append(f"u64* const full_{r.name} = (u64*)(shared + {at});")
            lines.append(f"u64* const empty_{r.name} = full_{r.name} + {r.slots};")
            at += 16 * r.slots
            each = f"start_barrier(full_{r.name} + i, {GROUP}); start_barrier(empty_{r.name} + i, {4 * self.groups});"
            starts.append(f"for (int i = 0; i < {r.slots}; ++i) {{ {each} }}")
        if self.persistent:
            lines.append(f"u64* const full_rows = (u64*)(shared + {at}), *const empty_rows = full_rows + 1;")
            lines.append("unsigned* const next = (unsigned*)(full_rows + 2);")
            starts.append(f"start_barrier(full_rows, {GROUP + 1}); start_barrier(empty_rows, {4 * self.groups});")
        return [*lines, "if (threadIdx.x == 0) {", *starts, "}", "__syncthreads();"]

    # --- tiles on their way -------------------------------------------------------------------------------------------

    def _head(self, f: Factor, head: str) -> str:
        return "g" if f.name in ("k", "v") else head

    def _vector(self, f: Factor) -> int:
        """Neighbours along the depth that travel together."""
        operand, whole = self.operands[f.name], (self.a.batch, self.a.heads, max(self.a.queries, self.a.keys), 1)
        return piece(operand, 8, 3, whole) if operand.steps(3) == 1 else 1

    def copy(self, f: Factor, to: str, head: str, row: str, rows: str, chunk: str, thread: str) -> str:
        """Sends 64 rows of an operand, from `row` on, on their way."""
        operands, vector = self.operands, self._vector(f)
        stride, step = operands.stride(f.name, 2), operands.stride(f.name, 3)
        column = "0" if f.chunks == 1 else f"({chunk}) * {WIDEST}"
        of_head = operands.of_head(f.name, self._head(f, head))
        start = f"{of_head} + ((i64)({row}) * {stride} + {column} * {step})"
        extents = f"{rows} - ({row}), {f.depth} - {column}"
        return f"copy_tile_of<{vector}, {f.width}, {GROUP}>({to}, {start}, {stride}, {step}, {extents}, {thread});"

    def _item(self, r: Ring, to: str, tile: str, chunk: str, head: str, thread: str) -> list[str]:
        """Sends a tile of a ring on its way."""
        chunk = chunk if r.left else "part"
        lines = [self.copy(r.factor, to, head, f"{tile} * {KEYS}", "columns", chunk, thread)]
        if r.streamed and r.left is not None:
            lines.append(self.copy(r.left, f"{to} + {r.left_start}", head, "first_row", "rows", chunk, thread))
        if r.statistics:
            queries = self.words.signed(self.a.queries)
            lines += [
                "{",
                f"const int at = {thread} % 64, query = {tile} * {KEYS} + at;",
                f"const float* const deltas = (const float*)W.w[{self.words.operands}] + ((i64)c0 * heads + {head}) * {queries};",
                f"const float* const lses = {self.operands.of_head('lse', head)};",
                f"const float* const from = {thread} < 64 ? lses + query * {self.operands.stride('lse', 2)} : deltas + query;",
                f"copy_statistic({to} + ({r.statistics_start} + {thread} * 4), query < columns ? from : lses, query < columns);",
                "}",
            ]
        return lines

    def _rows(self) -> list[str]:
        """Brings the block's rows, where they fit."""
        if self.streamed:
            return []
        lines, at = [], f"shared + ({self.rows_start}{f' + own * {self.row_bytes}' if self.groups > 1 else ''})"
        lines.append(f"unsigned char* const own_rows = {at};")
        offset = 0
        thread = f"(int)threadIdx.x % {GROUP}" if self.groups else "(int)threadIdx.x"
        for f in [r.left for r in self.rings if r.left is not None]:
            for chunk in range(f.chunks):
                to = f"own_rows + {offset + chunk * f.nbytes}"
                lines.append(self.copy(f, to, "c1", "first_row", "rows", str(chunk), thread))
            lines.append(f"const unsigned {f.name}_rows = shared_address(own_rows + {offset});")
            offset += f.chunks * f.nbytes
        lines.append("commit_copies();")
        if self.groups:
            lines += ["wait_copies<0>();", "order_copies();", "warpgroup_barrier(own);"]
        return lines

    def _own_rows(self) -> list[str]:
        """Declares where the rows are that a block's last threads have brought."""
        lines, offset = [f"unsigned char* const own_rows = shared + ({self.rows_start} + own * {self.row_bytes});"], 0
        for f in [r.left for r in self.rings if r.left is not None]:
            lines.append(f"const unsigned {f.name}_rows = shared_address(own_rows + {offset});")
            offset += f.chunks * f.nbytes
        return lines

    def release_rows(self) -> list[str]:
        """Gives back the rows."""
        return ["__syncwarp();", "if (lane == 0) arrive(empty_rows);"] if self.persistent else []

    def _order(self) -> list[tuple[Ring, int]]:
        return [(r, r.items) for r in self.rings]

    def _feed(self) -> list[str]:
        """Warps: `feed` sends the next tile on its way. All rings are one, whose slots are taken in turn."""
        lines, before = list[str](), 0
        total = sum(items for _, items in self._order())
        for i, (r, items) in enumerate(self._order()):
            last = i + 1 == len(self.rings)
            chunk = f"fed_step - {before}" if items > 1 else "0"
            before += items
            lines += [
                *([] if last else [f"if (fed_step < {before}) {{"]),
                *self._item(r, "to", "fed_tile", chunk, "fed_head" if self.by_keys else "c1", "(int)threadIdx.x"),
                *([] if last else ["} else {"]),
            ]
        again = "if (++fed_tile == stop) { fed_tile = start; ++fed_head; }" if self.by_keys else "++fed_tile;"
        slots = self.rings[0].slots
        return [
            "int fed_tile = start, fed_step = 0, fed_slot = 0, slot_read = 0;",
            *(["int fed_head = first_head;"] if self.by_keys else []),
            f"int fed_left = most(stop - start, 0){' * group' if self.by_keys else ''};",
            "const auto feed = [&] {",
            "if (fed_left > 0) {",
            f"unsigned char* const to = shared + fed_slot * {self.slot};",
            *lines,
            *["}"] * (len(self.rings) - 1),
            f"if (++fed_step == {total}) {{ fed_step = 0; --fed_left; {again} }}",
            "}",
            "commit_copies();",
            f"fed_slot = fed_slot + 1 == {slots} ? 0 : fed_slot + 1;",
            "};",
            *["feed();"] * self._ahead,
        ]

    @property
    def _ahead(self) -> int:
        """Tiles on their way beside those in use."""
        return self.rings[0].slots - self.in_use

    def _producer(self) -> list[str]:
        """Warpgroups: what the last group does."""
        most, few = _REGISTERS
        narrow = self.groups > 1
        body = []
        for r in self.rings:
            item = [
                f"await_phase(empty_{r.name} + write_{r.name}, phase_{r.name} ^ 1);",
                f"unsigned char* const to = shared + ({r.start} + write_{r.name} * {r.pitch});",
                *self._item(r, "to", "tile", "chunk", "c1", "thread"),
                *self._arrive([r.factor, r.left if r.streamed else None], f"full_{r.name} + write_{r.name}"),
                f"if (++write_{r.name} == {r.slots}) {{ write_{r.name} = 0; phase_{r.name} ^= 1; }}",
            ]
            loop = ["#pragma unroll 1", f"for (int chunk = 0; chunk < {r.items}; ++chunk)"] if r.items > 1 else []
            body += [*loop, "{", *item, "}"]
        tiles = ["#pragma unroll 1", "for (int tile = begin; tile < end; ++tile) {", *body, "}"]
        if self.by_keys:
            tiles = ["#pragma unroll 1", "for (int c1 = first_head; c1 < first_head + group; ++c1) {", *tiles, "}"]
        if self.persistent:
            tiles = self._items(tiles)
        return [
            f"if (threadIdx.x >= {self.groups * GROUP}) {{",
            *([f"give_registers<{few}>();"] if narrow else []),
            f"const int thread = (int)threadIdx.x - {self.groups * GROUP};",
            *(f"int write_{r.name} = 0; unsigned phase_{r.name} = 0;" for r in self.rings),
            *tiles,
            "commit_copies();",
            "wait_copies<0>();",
            "return;",
            "}",
            *([f"take_registers<{most}>();"] if narrow else []),
        ]

    def _arrive(self, factors: Sequence[Factor | None], barrier: str) -> list[str]:
        """Arrives at a barrier when what was sent on its way is there; single elements do not travel by themselves."""
        if all(self._vector(f) > 1 for f in factors if f is not None):
            return [f"arrive_copied({barrier});"]
        return ["commit_copies();", "wait_copies<0>();", f"arrive({barrier});"]

    def _items(self, tiles: Sequence[str]) -> list[str]:
        """Takes what comes next, brings its rows and its tiles."""
        rows, offset = list[str](), 0
        for f in [r.left for r in self.rings if r.left is not None]:
            for chunk in range(f.chunks):
                to = f"to + {offset}"
                rows.append(self.copy(f, to, "c1", "first_row", "rows", str(chunk), "thread"))
                offset += f.nbytes
        counter = f"(unsigned*)({self.words.word(self.counter)} + W.w[{self.words.operands}])"
        return [
            "unsigned parity = 0;",
            "#pragma unroll 1",
            "for (;; parity ^= 1) {",
            "await_phase(empty_rows, parity ^ 1);",
            f"if (thread == 0) *(volatile unsigned*)next = atomicAdd({counter}, 1u);",
            f"warpgroup_barrier({self.groups * 2 + 1});",
            "const unsigned taken = *(volatile unsigned*)next;",
            f"if (taken >= {self.words.unsigned(self.count)}) break;",
            "#pragma unroll 1",
            f"for (int own = 0; own < {self.groups}; ++own) {{",
            *self._place("taken"),
            f"unsigned char* const to = shared + ({self.rows_start} + own * {self.row_bytes});",
            *rows,
            "}",
            "if (thread == 0) arrive(full_rows);",
            *self._arrive([r.left for r in self.rings], "full_rows"),
            *self._place("taken"),
            *self._bounds_of_groups("taken"),
            *tiles,
            "}",
            "if (thread == 0) arrive(full_rows);",
            "arrive(full_rows);",
        ]

    #: Where in the workspace the number of the next block to be taken is.
    counter = 0

    def acquire(self, r: Ring) -> list[str]:
        """Waits for the next tile of a ring."""
        slot = f"unsigned char* const slot_{r.name} = shared + "
        if self.groups:
            return [
                f"await_phase(full_{r.name} + read_{r.name}, phase_{r.name});",
                "order_copies();",
                f"{slot}({r.start} + read_{r.name} * {r.pitch});",
            ]
        return [
            f"{slot}slot_read * {self.slot};",
            f"wait_copies<{self._ahead - 1}>();",
            "__syncthreads();",
            "feed();",
            f"slot_read = slot_read + 1 == {r.slots} ? 0 : slot_read + 1;",
        ]

    def release(self, r: Ring, test: str = "") -> list[str]:
        """Gives a tile's slot back."""
        if not self.groups:
            return []
        return [
            f"if (lane == 0{test}) arrive(empty_{r.name} + read_{r.name});",
            f"if (++read_{r.name} == {r.slots}) {{ read_{r.name} = 0; phase_{r.name} ^= 1; }}",
        ]

    def skip(self, count: str) -> list[str]:
        """Gives back tiles that only other groups meet."""
        if self.groups < 2:
            return []
        lines = ["#pragma unroll 1", f"for (int skipped = {count}; skipped > 0; --skipped) {{"]
        for r in self.rings:
            loop = [f"for (int chunk = 0; chunk < {r.items}; ++chunk)"] if r.items > 1 else []
            lines += [*loop, "{", f"await_phase(full_{r.name} + read_{r.name}, phase_{r.name});", *self.release(r), "}"]
        return [*lines, "}"]

    def before_tiles(self) -> list[str]:
        return self.skip("start < stop ? start - begin : end - begin")

    def after_tiles(self) -> list[str]:
        return self.skip("start < stop ? end - stop : 0")
