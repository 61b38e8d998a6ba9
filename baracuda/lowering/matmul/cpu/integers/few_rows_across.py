"""Integer products of few rows, whose wide factor lies along its columns: as in few_rows.py, with vectors across columns.

A block of some columns is copied, while their largest magnitudes are found, to where it stays in the cache: its lines lie far
from one another. Then each vector of columns is multiplied by one integer of each row at a time. After as many steps as a vector
has lanes the constant's share is taken off a sum, so that it stays exact.
"""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.blocks import magnitude, scales
from baracuda.lowering.matmul.cpu.integers.few_rows import FewRows, interleaved
from baracuda.lowering.matmul.cpu.integers.tile import add_scaled
from baracuda.lowering.matmul.cpu.read import Reader

#: Bytes of a line of the columns that are copied together.
_LINE = 256


class FewRowsAcross(FewRows):
    """The same for a wide factor along its columns. Each vector of a row's integers has a share of its own."""

    @property
    def columns_together(self) -> int:
        return _LINE // self.kind.itemsize

    @property
    def _shares(self) -> int:
        return BLOCK // self.narrow

    def in_order(self, b: Builder, found: list[Value]) -> list[Value]:
        return found

    def write_shares(self, b: Builder, shares: list[Value], at: Value) -> None:
        for i in range(0, len(shares), 2):
            both = b.op("fadd", shares[i], shares[i + 1])
            name = intrinsic("vector.reduce.fadd", both.type)
            total = b.call("double", name, constant("double", 0), both)
            b.store(total, b.at(at, 4 * i), 8)

    def copied(
        self, b: Builder, reader: Reader, source: Value, remaining: Value, count: Value, block: Value, maxima: Value
    ) -> None:
        """Copies `count` steps of columns, of which `remaining` exist, with zeros around them, and writes the magnitudes of the
        largest elements."""
        bits, whole_bits = self.kind.bits, 32 * self.narrow
        lanes, size = whole_bits // bits, whole_bits // 8
        type_, kept = vector(f"i{bits}", lanes), constant(f"i{bits}", (1 << (bits - 1)) - 1, lanes)
        nothing = Value(type_, "zeroinitializer")
        held = [b.variable(nothing) for _ in range(_LINE // size)]
        for largest in held:
            largest.set(nothing)

        def lines(start: Value | int, stop: Value, exist: bool, masks: list[Value] | None) -> None:
            with b.loop(start, stop) as k:
                for i, largest in enumerate(held):
                    to = b.at(b.at(block, b.mul(k, _LINE)), i * size)
                    if not exist:
                        b.store(nothing, to, size)
                        continue
                    from_ = b.at(reader.at(source, 0, k), i * size)
                    if masks is None:
                        x = b.load(type_, from_, bits // 8)
                    else:
                        align = Value("i32", str(bits // 8))
                        x = b.call(type_, intrinsic("masked.load", type_, "ptr"), from_, align, masks[i], nothing)
                    b.store(x, to, size)
                    largest.set(b.call(type_, intrinsic("umax", type_), largest.get(), b.and_(x, kept)))

        whole = b.compare("icmp sge", remaining, self.columns_together)
        end = b.select(whole, count, i64(0))
        lines(0, end, True, None)
        lines(end, count, True, [first_lanes(b, lanes, b.sub(remaining, i * lanes)) for i in range(len(held))])
        lines(count, i64(BLOCK), False, None)
        for i, largest in enumerate(held):
            b.store(largest.get(), b.at(maxima, i * size), size)

    def across(
        self, b: Builder, reader: Reader, block: Value, maxima: Value, records: Value, sums: list[Value], ahead: Value
    ) -> None:
        """A block more for the sums of the columns that have been copied. What is copied next, from `ahead` on, is asked for."""
        group = self.narrow * (2 if self._pairs else 1)
        with b.loop(0, self.columns_together, group) as column:
            at, bytes_ = b.mul(column, self.kind.itemsize), b.mul(column, 4)
            made = [scales(b, magnitude(b, x), self.bits) for x in self._elements(b, reader, b.at(maxima, at), group)]
            one = constant("float", 0x3F800000, self.narrow)
            unusual = [b.compare("fcmp une", scale.factors[1], one) for scale in made]
            tiny = b.any(unusual[0] if len(unusual) == 1 else b.op("or", *unusual))
            totals = [
                [[b.variable(Value(self.wide, "zeroinitializer")) for _ in range(2)] for _ in made] for _ in range(self.rows)
            ]
            for total in (total for of_row in totals for parts in of_row for total in parts):
                total.set(Value(self.wide, "zeroinitializer"))
            for condition, seldom in ((tiny, True), (b.emit("i1", f"xor i1 {tiny.name}, true"), False)):
                with b.if_(condition, seldom=seldom), b.loop(0, BLOCK // self.narrow) as chunk:
                    up = [(s.factors[0], s.factors[1] if seldom else None) for s in made]
                    held = self._chunk(b, reader, b.at(block, at), chunk, group, up, records, b.at(ahead, at))
                    for r, sums_ in enumerate(held):
                        place = b.at(b.at(records, r * self.record_bytes + BLOCK * 8), b.mul(chunk, 8))
                        share = b.splat(b.load("double", place, 8), self.lanes)
                        for v, parts in enumerate(sums_):
                            for p, part in enumerate(parts):
                                total = totals[r][v][p]
                                total.set(b.op("fadd", total.get(), b.op("fsub", part, share)))
            narrow = vector("float", self.lanes)
            scale = self._side_by_side(b, [s.scale for s in made])
            for r, of_row in enumerate(totals):
                exact = [[b.convert("fptrunc", total.get(), narrow) for total in parts] for parts in of_row]
                joined = [b.shuffle(low, high, range(self.narrow)) for low, high in exact]
                rounded = self._side_by_side(b, joined)
                of_left = b.load("float", b.at(records, r * self.record_bytes + self._scale_at), 4)
                add_scaled(b, rounded, b.splat(of_left, rounded.lanes), scale, b.at(sums[r], bytes_))

    def _side_by_side(self, b: Builder, vectors: list[Value]) -> Value:
        """The vectors of a group in the order of its columns."""
        return interleaved(b, *vectors) if self._pairs else vectors[0]

    def _chunk(
        self,
        b: Builder,
        reader: Reader,
        block: Value,
        chunk: Value,
        group: int,
        up: list[tuple[Value, Value | None]],
        records: Value,
        ahead: Value,
    ) -> list[list[list[Value]]]:
        """The sums over some steps, as many as a vector has lanes, of each row, vector and half of it."""
        n, fma = self.narrow, intrinsic("fma", self.wide)
        held = [[[Value(self.wide, "zeroinitializer")] * 2 for _ in up] for _ in range(self.rows)]
        first = b.at(block, b.mul(chunk, n * _LINE))
        integers = b.at(records, b.mul(chunk, n * 8))
        for step in range(n):
            b.prefetch(reader.at(ahead, 0, b.add(b.mul(chunk, n), step)))
            found = self._elements(b, reader, b.at(first, step * _LINE), group)
            numbers = [self.halves(b, self._integers(b, x, *factors)) for x, factors in zip(found, up, strict=True)]
            for r in range(self.rows):
                of_row = b.splat(b.load("double", b.at(integers, r * self.record_bytes + 8 * step), 8), self.lanes)
                for v, parts in enumerate(numbers):
                    for half, q in enumerate(parts):
                        held[r][v][half] = b.call(self.wide, fma, of_row, q, held[r][v][half])
        return held
