"""The tiles of a kernel by instructions of warps: digits go through a ring of slots in shared memory, copied by all threads."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.core.layout import round_up
from baracuda.lowering.attention.cuda.integers.digits import ROWS, SCALES
from baracuda.lowering.attention.cuda.integers.phases import THREADS, Phase, Phases, Room, Tiles
from baracuda.lowering.attention.cuda.place import Place

#: Registers of a thread that may hold digits of the warp's rows.
_HELD = 48
#: Slots at most, and at least.
_SLOTS = (4, 2)


class WarpTiles(Tiles):
    """Digits of the block's rows lie in registers, or in shared memory where they fit, or are read when they are needed.

    Names in the generated code: slot where the digits at hand are, and their scales; `feed` sends the next on their way.
    """

    alignment, tables = 128, ""

    def __init__(self, place: Place, phases: Phases, room: Room) -> None:
        super().__init__(place, phases)
        self.digits = round_up(max(p.nbytes for p in phases.all), 128)
        self.slot = round_up(self.digits + SCALES, 128)
        lefts = phases.lefts
        resident = sum(f.blocks * f.block_bytes for f in lefts)
        most, least = _SLOTS
        held = sum(f.count * f.steps * 4 if f.blocks == 1 else _HELD + 1 for f in lefts)
        if held <= _HELD and room.blocks < 3:
            self.rows, resident = "Held", 0
        elif resident + least * self.slot <= room.limit:
            self.rows = "Shared"
        else:
            self.rows, resident = "Read", 0
        self.slots = max(least, min(most, (room.limit // room.blocks - 1024 - resident) // self.slot))
        self.shared = self.slots * self.slot + resident
        self.resident = max(1, min(room.limit // (self.shared + 1024), room.blocks))

    def __str__(self) -> str:
        return f"warps rows{self.rows} blocks{self.resident} slots{self.slots}"

    def define(self) -> list[str]:
        words, lines, pointers, next_head, before, rows = self.words, list[str](), list[str](), list[str](), 0, self.rows_of()
        for i, p in enumerate(self.phases.all):
            f, last = p.right, i + 1 == len(self.phases.all)
            head = self.place.head_of(f.name, "first_head" if self.by_keys else "c1")
            start = f.at(words, p.start)
            part = f" + part * {p.nbytes}" if not p.left and f.parts > 1 else ""
            pointers += [
                f"const i64 record{i} = {f.record(words, head, '0')};",
                f"const unsigned char* from{i} = {start} + record{i} * {p.record_bytes}{part};",
                f"const unsigned char* scales{i} = {f.at(words, f.scales_start)} + record{i} * {SCALES};",
            ]
            if self.by_keys:
                tiles = words.signed(f.tiles)
                next_head.append(f"from{i} += {tiles} * {p.record_bytes}; scales{i} += {tiles} * {SCALES};")
            chunk = f" + (fed_step - {before}) * {p.nbytes}" if p.chunks > 1 else ""
            before += p.chunks
            lines += [
                *([] if last else [f"if (fed_step < {before}) {{"]),
                f"copy_bytes<{p.nbytes}, {THREADS}>(to, from{i} + (i64)fed_tile * {p.record_bytes}{chunk});",
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
            *["}"] * (len(self.phases.all) - 1),
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
            "__syncthreads();",
            "feed();",
            f"slot_read = slot_read + 1 == {self.slots} ? 0 : slot_read + 1;",
        ]

    def rows_of(self) -> list[str]:
        """Declares the digits of the block's rows, and their scales."""
        words, lines, at = self.words, list[str](), self.slots * self.slot
        for f in self.phases.lefts:
            n = f.name
            record, nbytes = f.record(words, self.place.head_of(f.name, "c1"), f"first_row / {ROWS}"), f.blocks * f.block_bytes
            lines += [
                f"const i64 {n}_record = {record};",
                f"const unsigned char* const {n}_digits = {f.at(words, f.start)} + {n}_record * {nbytes};",
                f"const float* const {n}_scales = (const float*)({f.at(words, f.scales_start)} + {n}_record * {SCALES});",
                f"const float {n}_scale[2] = {{{n}_scales[row - first_row], {n}_scales[row - first_row + 8]}};",
                f"const bool {n}_large = __any_sync(~0u, {n}_scale[0] > 0x1p64f || {n}_scale[1] > 0x1p64f);",
            ]
            numbers, source = f"{f.count}, {f.line}", f"{n}_digits"
            if self.rows == "Held":
                numbers = f"{f.count}, {f.steps}, {f.line}"
            elif self.rows != "Read":
                source = f"shared + {at}"
                lines.append(f"copy_bytes<{nbytes}, {THREADS}>({source}, {n}_digits);")
                at += nbytes
            lines.append(f"{self.rows}Rows<{numbers}> {n}_rows({source}, first - first_row);")
        return lines

    def dots(self, p: Phase, into: str, work: Sequence[str] = ()) -> list[str]:
        f = p.right
        assert p.left is not None
        n = p.left.name
        block = "0" if f.blocks == 1 else "block"
        numbers, rest = (
            f"{f.count}, {f.steps}, {f.line}",
            f"({into}, {n}_rows, {block}, shared_address(slot), scales, {n}_scale);",
        )
        calls = [f"if ({n}_large) add_dots<{numbers}, true>{rest}", f"else add_dots<{numbers}, false>{rest}"]
        loop = [] if f.blocks == 1 else ["#pragma unroll 1", f"for (int block = 0; block < {f.blocks}; ++block)"]
        return [*work, f"float {into}[8][4] = {{}};", *loop, "{", *self.step(), *calls, "}"]

    def add_rows(self, p: Phase, between: Sequence[str]) -> list[str]:
        f = p.right
        return [
            "{",
            *self.step(),
            "scale_columns(x, scales);",
            f"Weights<{f.count}> digits;",
            "float scale[2];",
            "digits.set(x, scale);",
            *between,
            f"digits.add_rows<{f.width // 8}>(sum, shared_address(slot), scale);",
            "}",
        ]
