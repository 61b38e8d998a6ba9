"""How the operands of attention come to shared memory: a round's phases, cut into chunks that follow one another.

While a chunk is multiplied, the next is on its way, whatever phase or round it belongs to; one barrier a chunk keeps the two
sides apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.layout import round_up
from baracuda.core.lazy import cached_property
from baracuda.lowering.attention.cuda.operands import Operands
from baracuda.lowering.attention.cuda.tiles import PIECE, Depth, Tile, Width, odd_pitch
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.nest.cuda.kernel import piece

#: Bytes that an asynchronous copy moves at least.
_LEAST_COPY = 4


@dataclass(frozen=True)
class Dots:
    """x[m][n] of a tile: rows of `left` times columns of `right`, along `depth`."""

    left: str
    right: str
    depth: Depth

    @property
    def operands(self) -> tuple[str, ...]:
        return self.left, self.right


@dataclass(frozen=True)
class Sums:
    """Sums as wide as `width`: the weights of a round times rows of `right`, `lines` of them in a chunk."""

    right: str
    width: Width
    lines: int

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.right,)


Phase = Dots | Sums


def sums(right: str, extent: int, tile: Tile, size: int) -> Sums:
    """A phase of sums whose chunks are no larger than those of products may be."""
    width = Width.of(extent, tile.across, size)
    line = width.of_warp * tile.across * size
    most = (tile.columns + tile.block_rows) * (tile.step + PIECE)
    return Sums(right, width, next((n for n in (64, 32, 16) if n * line <= most), 8))


def ahead(bounds: Sequence[tuple[int, int]], at: int, rest: tuple[int, int], distance: int) -> tuple[set[int], bool]:
    """The phases that the chunk so far ahead may be of, and whether it may be one of the next round.

    A round's phases have numbers of chunks within `bounds`, and one at least. It is seen from a chunk of phase `at`, behind which
    the phase has as many more as `rest` bounds.
    """
    least, most = rest
    found = {at} if most >= distance else set()
    wraps = False
    while least < distance:
        at += 1
        low, high = bounds[at % len(bounds)]
        if most + high >= distance:
            found.add(at % len(bounds))
            wraps |= at >= len(bounds)
        least, most = least + low, most + high
    return found, wraps


class Streams:
    """The chunks of a kernel's phases.

    `define` begins with them; each `step` of the generated code waits for the next chunk and sends another on its way.
    """

    def __init__(
        self, a: Attention, operands: Operands, tile: Tile, phases: Sequence[Phase], start: int, *, by_keys: bool
    ) -> None:
        self.a, self.operands, self.tile, self.phases, self.by_keys = a, operands, tile, phases, by_keys
        self.type, self.size = COMPUTE_TYPE[a.compute], a.compute.itemsize
        self.storage = STORAGE_TYPE[a.q.kind]
        self.vector = self._vector()
        access = self.vector * a.q.kind.itemsize
        self.way = "DIRECT" if a.q.kind is a.compute else "STAGED" if access >= _LEAST_COPY else "HELD"
        self.stages = tile.stages if self.way == "DIRECT" else 2
        self.slot = max(sum(self._lines(p)) * self.pitch(p) for p in phases)
        self.start = start
        self.staged = start + self.stages * self.slot * self.size
        self.nbytes = self.staged - start + (self._held() * tile.threads * access if self.way == "STAGED" else 0)

    def _vector(self) -> int:
        """Elements of one access."""
        extents = (self.a.batch, self.a.heads, max(self.a.queries, self.a.keys), 1)
        widest = PIECE // self.a.q.kind.itemsize
        for name in {n for p in self.phases for n in p.operands}:
            operand = self.operands[name]
            widest = min(widest, piece(operand, widest, 3, extents) if operand.steps(3) == 1 else 1)
        while any(isinstance(p, Dots) and p.depth.step % widest for p in self.phases):
            widest //= 2
        return widest

    def pitch(self, p: Phase) -> int:
        """Elements from line to line of a chunk."""
        if isinstance(p, Dots):
            return odd_pitch(p.depth.step, self.size)
        pieces = -(-p.width.of_warp * self.tile.across * self.size // PIECE)
        return max(pieces * PIECE // self.size, self._columns(p))

    def _columns(self, p: Phase) -> int:
        """Columns of a chunk."""
        if isinstance(p, Dots):
            return p.depth.step
        return round_up(max(1, p.width.extent), self.vector)

    def _lines(self, p: Phase) -> tuple[int, ...]:
        """Lines of each part of a chunk."""
        return (self.tile.block_rows, self.tile.columns) if isinstance(p, Dots) else (p.lines,)

    def right(self, p: Dots) -> int:
        """Where the columns of a chunk of products begin."""
        return self.tile.block_rows * self.pitch(p)

    def _parts(self, p: Phase) -> list[tuple[str, int, int]]:
        """Of each part of a chunk: its C++ type, where it begins in the slot, and where among what is under way."""
        chunks, place, register = [], 0, 0
        for i, lines in enumerate(self._lines(p)):
            spread = str(isinstance(p, Dots) and i == 1).lower()
            numbers = (lines, self._columns(p), self.pitch(p), self.tile.threads, self.vector, self.way, spread)
            chunks.append((f"Chunk<{self.storage}, {self.type}, {', '.join(map(str, numbers))}>", place, register))
            place += lines * self.pitch(p)
            register += self._count(lines, p) * (self.tile.threads if self.way == "STAGED" else 1)
        return chunks

    def _count(self, lines: int, p: Phase) -> int:
        """Accesses that a thread makes for some lines of a chunk."""
        return -(-lines * (self._columns(p) // self.vector) // self.tile.threads)

    def _held(self) -> int:
        """Accesses that a thread has under way."""
        return max(sum(self._count(n, p) for n in self._lines(p)) for p in self.phases)

    def _counts(self) -> list[str]:
        """The number of each phase's chunks; `present` is how many columns a round has."""
        return [str(p.depth.chunks) if isinstance(p, Dots) else f"present / {p.lines}" for p in self.phases]

    def _bounds(self, p: Phase) -> tuple[int, int]:
        """The least and the greatest number of a phase's chunks in a round."""
        if isinstance(p, Dots):
            return p.depth.chunks, p.depth.chunks
        return KEYS // p.lines, self.tile.columns // p.lines

    @cached_property
    def _fetches(self) -> list[list[str]]:
        """Of each phase, what sends its chunk `at` on its way."""
        return [self._fetch(p) for p in self.phases]

    def _fetch(self, p: Phase) -> list[str]:
        if isinstance(p, Dots):
            column = f"at * {p.depth.step}"
            sources = [(p.left, "first_row", "rows"), (p.right, f"fed_unit * {KEYS}", "columns")]
        else:
            column = "0"
            sources = [(p.right, f"fed_unit * {KEYS} + at * {p.lines}", "columns")]
        lines = []
        for (chunk, place, register), (name, first, guard) in zip(self._parts(p), sources, strict=True):
            held = "nullptr" if self.way == "DIRECT" else f"held + {register}"
            head = "g" if name in ("k", "v") else "fed_head" if self.by_keys else "c1"
            matrix = self.operands.matrix(name, head)
            lines.append(f"{chunk}::fetch({held}, slot + {place}, {matrix}, {first}, {guard}, {column});")
        return lines

    def _chosen(self, among: set[int], i: int = 0) -> list[str]:
        """The fetch of the phase, of some, that chunk `at` of a round belongs to, with `at` counted from its beginning."""
        if i == max(among):
            return self._fetches[i]
        count = self._counts()[i]
        rest = [f"at -= {count};", *self._chosen(among, i + 1)]
        return [f"if (at < {count}) {{", *self._fetches[i], "} else {", *rest, "}"] if i in among else rest

    def _feed(self, among: set[int], wraps: bool) -> list[str]:
        """Sends the next chunk on its way, which is of one of some phases, and may be one of a round that is not there."""
        direct, across = self.way == "DIRECT", self.tile.across
        last = [
            f"if (++fed_step == {' + '.join(self._counts())}) {{",
            f"fed_step = 0; --fed_rounds; fed_unit += {across};",
            *(["if (fed_unit >= stop) { fed_unit = start; ++fed_head; }"] if self.by_keys else []),
            "}",
        ]
        return [
            "if (fed_rounds > 0) {" if wraps else "{",
            f"{self.type}* const slot = slots{f' + fed_slot * {self.slot}' if direct else ''};",
            f"const int present = least({across}, stop - fed_unit) * {KEYS};",
            "int at = fed_step;",
            *self._chosen(among),
            *(last if len(self.phases) - 1 in among else ["++fed_step;"]),
            *([f"fed_slot = fed_slot + 1 == {self.stages} ? 0 : fed_slot + 1;"] if direct else []),
            "}",
            *(["commit_copies();"] if self.way != "HELD" else []),
        ]

    def define(self) -> list[str]:
        """Sends the first chunks on their way."""
        access = f"Vec<{self.storage}, {self.vector}>"
        under_way = {
            "DIRECT": ["int fed_slot = 0;"],
            "STAGED": [f"{access}* const held = ({access}*)(shared + {self.staged}) + threadIdx.x;"],
            "HELD": [f"{access} held[{self._held()}];"],
        }
        lines = [
            f"{self.type}* const slots = ({self.type}*)(shared + {self.start});",
            "int fed_unit = start, fed_step = 0, slot_read = 0;",
            f"int fed_rounds = rounds{' * group' if self.by_keys else ''};",
            *(["int fed_head = first_head;"] if self.by_keys else []),
            *under_way[self.way],
        ]
        bounds = [self._bounds(p) for p in self.phases]
        for distance in range(1, self.stages):
            among, _ = ahead(bounds, -1, (0, 0), distance)
            lines += self._feed(among, wraps=True)
        return lines

    def step(self, p: Phase, rest: tuple[int, int] | None = None) -> list[str]:
        """Waits for the next chunk, which is one of phase `p`, declares `slot`, where it is, and sends another on its way.
        `rest` bounds how many more the phase has then; by default there may be any number of them.

        What is sent can only be of the same phase or of the next ones. Code for these alone stands here, as each copy of a
        fetch takes the compiler's time.
        """
        rest = rest or (0, self._bounds(p)[1] - 1)
        among, wraps = ahead([self._bounds(q) for q in self.phases], self.phases.index(p), rest, self.stages - 1)
        return [
            f"{self.type}* const slot = slots + slot_read * {self.slot};",
            *([f"wait_copies<{self.stages - 2}>();"] if self.way != "HELD" else []),
            *([] if self.way == "DIRECT" else self._store_shared(p)),
            "__syncthreads();",
            *self._feed(among, wraps),
            f"slot_read = slot_read + 1 == {self.stages} ? 0 : slot_read + 1;",
        ]

    def _store_shared(self, p: Phase) -> list[str]:
        """Puts what has arrived of a phase into its slot."""
        return [f"{chunk}::store_shared(held + {register}, slot + {place});" for chunk, place, register in self._parts(p)]
