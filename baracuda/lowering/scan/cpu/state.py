"""Running states of scans in vectors: combining them, the steps within a block, and what is carried from block to block.

A state is a list of components; each is a `Group`, the values of one or more vectors side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Builder, Value, Variable, i64, vector
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.formula.expr import Expr
from baracuda.formula.order import SCAN_BLOCK, SCAN_CHUNK, SCAN_SPAN, SCAN_TILE
from baracuda.formula.scans import Combine
from baracuda.lowering.nest.costs import vector_cost
from baracuda.lowering.scan.problem import ScanGroup

State = list[Group]
#: Chunks of a block, and blocks of a tile.
CHUNKS, BLOCKS = SCAN_BLOCK // SCAN_CHUNK, SCAN_TILE // SCAN_BLOCK


def combined(b: Builder, combine: Combine, left: State, right: State) -> State:
    """The operation on two states, earlier elements left."""
    values = left[0]

    def leaf(n: Expr) -> Group:
        raise AssertionError(f"{n} in the operation of a scan")

    evaluator = Evaluator(b, values[0].lanes, len(values), leaf)
    evaluator.memo |= dict(zip(combine.left, left, strict=True)) | dict(zip(combine.right, right, strict=True))
    return evaluator.values(combine.results)


def combine_cost(group: ScanGroup) -> int:
    """About how many vector instructions one combination takes."""
    return sum(map(vector_cost, group.combine.nodes))


def chosen(b: Builder, condition: Value, yes: State, no: State) -> State:
    """One of two states, by a scalar condition or a mask."""
    return [[b.select(condition, x, y) for x, y in zip(p, q, strict=True)] for p, q in zip(yes, no, strict=True)]


def set_all(variables: list[list[Variable]], state: State) -> None:
    for group, values in zip(variables, state, strict=True):
        for variable, value in zip(group, values, strict=True):
            variable.set(value)


def get_all(variables: list[list[Variable]]) -> State:
    return [[variable.get() for variable in group] for group in variables]


def state_variables(b: Builder, group: ScanGroup, lanes: int, count: int) -> list[list[Variable]]:
    """Variables for a state; zero until they are set."""

    def zero(type_: str) -> Variable:
        return b.variable(Value(vector(type_, lanes), "zeroinitializer"))

    return [[zero(compute_type(kind)) for _ in range(count)] for kind in group.kinds]


class Carry:
    """What has been combined before the block at hand: of its tile, and of everything before its tile."""

    def __init__(self, b: Builder, group: ScanGroup, lanes: int, count: int) -> None:
        self.b = b
        self.combine = group.combine
        self.blocks, self.tiles, self.spans, self.before_tile = (state_variables(b, group, lanes, count) for _ in range(4))

    def before(self, number: Value) -> tuple[State, Value]:
        """All before block `number` of the row, and whether that is anything."""
        b = self.b
        tile, inside = get_all(self.before_tile), get_all(self.blocks)
        both = combined(b, self.combine, tile, inside)
        follows = b.compare("icmp ne", b.and_(number, BLOCKS - 1), 0)
        later = b.compare("icmp sge", number, BLOCKS)
        return chosen(b, follows, chosen(b, later, both, inside), tile), b.compare("icmp sgt", number, 0)

    def add_block(self, number: Value, total: State) -> Value:
        """Count block `number`; whether it was the last one of a whole tile."""
        b = self.b
        follows = b.compare("icmp ne", b.and_(number, BLOCKS - 1), 0)
        set_all(self.blocks, chosen(b, follows, combined(b, self.combine, get_all(self.blocks), total), total))
        return b.equal(b.and_(number, BLOCKS - 1), BLOCKS - 1)

    def add_tile(self, tile: Value) -> None:
        """Count tile number `tile` of the row, whose blocks have all been counted."""
        b = self.b
        total, span = get_all(self.blocks), SCAN_SPAN - 1
        follows = b.compare("icmp ne", b.and_(tile, span), 0)
        set_all(self.tiles, chosen(b, follows, combined(b, self.combine, get_all(self.tiles), total), total))
        tiles = get_all(self.tiles)
        with b.if_(b.equal(b.and_(tile, span), span)):
            first = b.equal(tile, span)
            set_all(self.spans, chosen(b, first, tiles, combined(b, self.combine, get_all(self.spans), tiles)))
        spans = get_all(self.spans)
        both = combined(b, self.combine, spans, tiles)
        later, within = b.compare("icmp sge", tile, span), b.compare("icmp ne", b.and_(b.add(tile, i64(1)), span), 0)
        set_all(self.before_tile, chosen(b, within, chosen(b, later, both, tiles), spans))


# --- one vector's lanes are chunks ------------------------------------------------------------------------------------


def lane_mask(lanes: int, held: Sequence[bool]) -> Value:
    bits = ", ".join(f"i1 {'true' if h else 'false'}" for h in held)
    return Value(vector("i1", lanes), f"<{bits}>")


def unzip(b: Builder, vectors: Group) -> Group:
    """Vector k gets element k of every chunk: the elements' numbers turned by three bits."""
    lanes = vectors[0].lanes
    for _ in range(3):
        pairs = list(zip(vectors[0::2], vectors[1::2], strict=True))
        vectors = [b.shuffle(x, y, range(odd, 2 * lanes, 2)) for odd in (0, 1) for x, y in pairs]
    return vectors


def zipped(b: Builder, vectors: Group) -> Group:
    """The opposite of `unzip`."""
    lanes = vectors[0].lanes
    for _ in range(3):
        pairs = zip(vectors[:4], vectors[4:], strict=True)
        halves = [[k // 2 + k % 2 * lanes for k in range(start, start + lanes)] for start in (0, lanes)]
        vectors = [b.shuffle(x, y, half) for x, y in pairs for half in halves]
    return vectors


class BlockSteps:
    """The five steps over a block's 32 chunk totals, which lie in vectors in the order of memory."""

    def __init__(self, b: Builder, group: ScanGroup, lanes: int) -> None:
        self.b, self.group, self.lanes = b, group, lanes
        self.count = CHUNKS // lanes

    def first(self, distance: int) -> list[list[bool]]:
        """For each vector, the lanes of the first `distance` chunks."""
        chunks = range(CHUNKS - 1, -1, -1) if self.group.reverse else range(CHUNKS)
        held = [c < distance for c in chunks]
        return [held[g * self.lanes : (g + 1) * self.lanes] for g in range(self.count)]

    def moved(self, vectors: Group, distance: int) -> Group:
        """For each chunk what the one `distance` before it has; anything for the first ones."""
        lanes, last = self.lanes, self.count - 1
        step = -distance if self.group.reverse else distance
        shifted = []
        for g, v in enumerate(vectors):
            if abs(step) >= lanes:
                shifted.append(vectors[min(max(g - step // lanes, 0), last)])
            elif step > 0:
                shifted.append(self.b.shuffle(vectors[max(g - 1, 0)], v, range(lanes - step, 2 * lanes - step)))
            else:
                shifted.append(self.b.shuffle(v, vectors[min(g + 1, last)], range(-step, lanes - step)))
        return shifted

    def run(self, totals: State) -> State:
        """Each chunk's total becomes that of the block up to and including it."""
        distance = 1
        while distance < CHUNKS:
            first = self.first(distance)
            some = [g for g in range(self.count) if not all(first[g])]
            earlier = [self.moved(c, distance) for c in totals]
            left, right = ([[c[g] for g in some] for c in state] for state in (earlier, totals))
            result = combined(self.b, self.group.combine, left, right)
            totals = [list(c) for c in totals]
            for c, values in enumerate(result):
                for g, value in zip(some, values, strict=True):
                    mask = lane_mask(self.lanes, first[g])
                    totals[c][g] = self.b.select(mask, totals[c][g], value) if any(first[g]) else value
            distance *= 2
        return totals

    def last(self, totals: State) -> State:
        """The total of the block, in every lane of one vector."""
        g, lane = (0, 0) if self.group.reverse else (self.count - 1, self.lanes - 1)
        return [[self.b.shuffle(c[g], None, [lane] * self.lanes)] for c in totals]
