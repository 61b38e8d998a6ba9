"""The tiles of a kernel by Hopper's warpgroup instructions, which read digits where they lie in shared memory. One thread has a
record copied, and a barrier counts its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.core.layout import round_up
from baracuda.lowering.attention.cuda.integers.digits import ROWS, SCALES
from baracuda.lowering.attention.cuda.integers.phases import Phase, Phases, Room, Tiles
from baracuda.lowering.attention.cuda.integers.warpgroups import WARPGROUP_PRODUCTS
from baracuda.lowering.attention.cuda.place import Place


class GroupTiles(Tiles):
    """Names in the generated code: u the number of a tile among all that the block meets, `tiles`; full the barriers of the
    slots, and of the rows."""

    alignment, tables = 1024, WARPGROUP_PRODUCTS  # (swizzled lines)
    #: Where the log-sum-exps of a tile's columns are, then their deltas: in the records of dy.
    STATISTICS = f"scales1 + {SCALES // 4}"

    def __init__(self, place: Place, phases: Phases, room: Room) -> None:
        super().__init__(place, phases)
        self.digits = round_up(max(p.nbytes for p in phases.all), 128)
        self.slot = round_up(self.digits + max(p.right.side for p in phases.all), self.alignment)
        #: The slots of each phase, and its first. Where there are two, digits are sent for one tile ahead.
        few = 1 if phases.slopes or room.blocks > 2 else 2
        self.slots = [2 if p is phases.scores else 1 if p is phases.slopes else few for p in phases.all]
        self.first_slot = [sum(self.slots[:i]) for i in range(len(self.slots))]
        self.rows = sum(self.slots) * self.slot
        self.barriers = self.rows + sum(f.block_bytes for f in phases.lefts)
        self.shared = self.barriers + (sum(self.slots) + 1) * 8
        self.resident = max(1, min(room.limit // (self.shared + 1024), room.blocks))
        #: Three blocks have registers for the sums of products of 32 columns, two for those of 64.
        self.pieces = 2 if self.resident > 2 else 1

    def __str__(self) -> str:
        return f"warpgroups blocks{self.resident}"

    def define(self) -> list[str]:
        words, at, rows = self.words, self.rows, f"full + {sum(self.slots)}"
        lefts = self.phases.lefts
        lines = [
            f"u64* const full = (u64*)(shared + {self.barriers});",
            f"const int tiles = most(stop - start, 0){' * group' if self.by_keys else ''};",
            "int u = 0;",
            "if (threadIdx.x == 0) {",
            f"for (int i = 0; i < {sum(self.slots) + 1}; ++i) start_barrier(full + i, 1);",
            "order_copies();",
            f"expect_bytes({rows}, {sum(f.block_bytes for f in lefts)});",
            "}",
            "__syncthreads();",
        ]
        for f in lefts:
            n, nbytes = f.name, f.block_bytes
            record = f.record(words, self.place.head_of(n, "c1"), f"first_row / {ROWS}")
            lines += [
                f"const i64 {n}_record = {record};",
                f"const float* const {n}_scales = (const float*)({f.at(words, f.scales_start)} + {n}_record * {f.side});",
                f"const float {n}_scale[2] = {{{n}_scales[row - first_row], {n}_scales[row - first_row + 8]}};",
                # Those that multiply together go the same way.
                f"const bool {n}_large = __syncthreads_or({n}_scale[0] > 0x1p64f || {n}_scale[1] > 0x1p64f);",
                f"const unsigned {n}_rows = shared_address(shared + {at});",
                "if (threadIdx.x == 0)",
                f"copy_record(shared + {at}, {f.at(words, f.start)} + {n}_record * {nbytes}, {nbytes}, {rows});",
            ]
            at += nbytes
        first = [line for i, n in enumerate(self.slots) if n > 1 for line in self._fetch(i, "0")]
        return [*lines, *first, f"await_phase({rows}, 0);"]

    def begin(self) -> list[str]:
        fetches = [line for i, n in enumerate(self.slots) for line in self._fetch(i, "u + 1" if n > 1 else "u")]
        waits = [line for i, n in enumerate(self.slots) for line in self._place_of(i)]
        return ["__syncthreads();", *fetches, *waits, "++u;"]

    def _fetch(self, i: int, u: str) -> list[str]:
        """Sends for the digits of a phase in a tile, each phase by another warp."""
        p, words = self.phases.all[i], self.words
        f, slots = p.right, self.slots[i]
        head, tile, turn = self.place.head_of(f.name, "c1"), "start + next", list[str]()
        if self.by_keys:
            head, tile = "first_head + turn", "start + (next - turn * (stop - start))"
            turn = ["const int turn = next / (stop - start);"]
        slot = f"{self.first_slot[i]}" + (" + (next & 1)" if slots > 1 else "")
        part = f" + part * {p.nbytes}" if not p.left and f.parts > 1 else ""
        return [
            f"if (threadIdx.x == {32 * i} && {u} < tiles) {{",
            f"const int next = {u};",
            *turn,
            f"const i64 record = {f.record(words, head, tile)};",
            f"unsigned char* const to = shared + ({slot}) * {self.slot};",
            f"u64* const barrier = full + {slot};",
            f"expect_bytes(barrier, {p.nbytes + f.side});",
            f"copy_record(to, {f.at(words, p.start)} + record * {p.record_bytes}{part}, {p.nbytes}, barrier);",
            f"copy_record(to + {self.digits}, {f.at(words, f.scales_start)} + record * {f.side}, {f.side}, barrier);",
            "}",
        ]

    def _place_of(self, i: int) -> list[str]:
        """Declares where the digits of a phase and their scales are."""
        slot = f"{self.first_slot[i]}" + (" + (u & 1)" if self.slots[i] > 1 else "")
        return [
            f"unsigned char* const slot{i} = shared + ({slot}) * {self.slot};",
            f"const float* const scales{i} = (const float*)(slot{i} + {self.digits});",
            f"u64* const full{i} = full + {slot};",
            f"const unsigned parity{i} = u >> {self.slots[i] - 1} & 1;",
        ]

    def _await(self, i: int) -> str:
        return f"await_phase(full{i}, parity{i});"

    def dots(self, p: Phase, into: str, work: Sequence[str] = ()) -> list[str]:
        assert p.left is not None
        i, f, n = self.phases.all.index(p), p.right, p.left.name
        late = [self._await(1)] if self.by_keys and i == 0 else []  # whose statistics are needed from here on
        numbers, right = f"{self.pieces}, {f.steps}, {f.line}", f"shared_address(slot{i}), scales{i}"
        product = f"multiply_dots<{numbers}>({into}, {n}_rows, {right}, {n}_scale, {n}_large, [&] {{"
        return [f"float {into}[8][4];", self._await(i), product, *work, "});", *late]

    def add_rows(self, p: Phase, between: Sequence[str]) -> list[str]:
        i = self.phases.all.index(p)
        return [
            "{",
            self._await(i),
            f"scale_columns(x, scales{i});",
            "Weights<2> digits;",
            "float scale[2];",
            "digits.set(x, scale);",
            f"multiply_rows<{3 - self.pieces}, {p.right.width // 8}>(sum, digits.x, shared_address(slot{i}), scale, [&] {{",
            *between,
            "});",
            "}",
        ]
