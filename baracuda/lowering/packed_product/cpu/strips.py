"""Products of strips of packed weights with rows of x, whose integers are in the workspace."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Builder, Value, Variable, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import load_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.transpose import transposed
from baracuda.core.elements import ElementKind
from baracuda.core.layout import round_up
from baracuda.lowering.matmul.cpu.plan import aligned_workspace
from baracuda.lowering.matmul.cpu.tile import Epilogue
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.packed_product.cpu.rows import Records
from baracuda.lowering.packed_product.problem import NF4_UNIT
from baracuda.runtime.program import Launch

#: Rows of x of a unit of work at most, and those that are multiplied side by side.
_ROWS, _TOGETHER = 128, 8
#: About how long the product of a vector of pairs takes.
_NS = 0.5
#: Steps of k that are asked for ahead of those that are read.
_AHEAD = 8
_X, _WEIGHT, _SCALE, _ZERO = range(4)


def strips(records: Records, kernel: Kernel) -> Launch:
    """A unit is a strip of weights with up to `_ROWS` rows of x."""
    codes = records.codes
    c, lanes = codes.problem.product, codes.lanes
    rows = -(-c.m // -(-c.m // _ROWS))
    across = -(-c.n // lanes)
    _Strips(records, kernel, rows).emit()
    pairs = codes.steps * codes.words * codes.shifts
    return kernel.step(across * -(-c.m // rows), (pairs * (rows * codes.sums + 3)) * _NS + rows * 20)


class _Strips:
    def __init__(self, records: Records, kernel: Kernel, rows: int) -> None:
        self.records, self.kernel, self.codes, self.b = records, kernel, records.codes, kernel.b
        self.problem = self.codes.problem
        self.most, self.lanes = rows, self.codes.lanes
        self.together = min(_TOGETHER, 1 << (rows - 1).bit_length())
        self.whole, self.real = vector("i32", self.lanes), vector("float", self.lanes)
        self.workspace = aligned_workspace(kernel)

    def emit(self) -> None:
        b, kernel, c, codes, lanes = self.b, self.kernel, self.problem.product, self.codes, self.lanes
        first = len(c.a) + len(c.b)
        epilogue = Epilogue(kernel, ElementKind.F32, range(first, first + len(c.operands)), (0, 1))
        m, n, self.k, self.steps = kernel.integers([c.m, c.n, c.k, codes.steps])
        self.blocks, self.group_blocks, row_bytes, across, unit_rows, flags = kernel.integers(
            [
                self.problem.blocks, self.problem.blocks_per_group, codes.coding.row_bytes(c.k), -(-c.n // lanes), self.most,
                self.records.flags_at,
            ]
        )  # fmt: skip
        last = 2 if codes.coding.chunk else 1
        row, apart, along = kernel.byte_strides(_WEIGHT, (0, 1, last))
        self.row_stride, self.strides = row, (apart, along)
        self.along_k = c.b[0].steps(last) == 1
        self.others = {i: kernel.byte_strides(i, (0, 1)) for i in range(_SCALE, first)}
        self.row_bytes = row_bytes
        sums = b.array("float", round_up(self.most, self.together) * lanes)
        words, raw = b.array("i32", codes.words * lanes), b.array("i8", codes.step_bytes * lanes)
        pairs = b.array("i32", codes.words * codes.shifts * lanes) if self.most > self.together else words
        with b.loop(kernel.begin, kernel.end) as unit:
            strip, row = b.rem(unit, across), b.mul(b.div(unit, across), unit_rows)
            start = b.mul(strip, lanes)
            columns, rows = b.min(lanes, b.sub(n, start)), b.min(unit_rows, b.sub(m, row))
            weights = b.at(kernel.operand(_WEIGHT), b.mul(start, self.row_stride))
            of_group = {i: b.at(kernel.operand(i), b.mul(start, s[0])) for i, s in self.others.items()}
            of_rows = b.at(self.workspace, b.mul(b.mul(row, self.steps), self.records.record_bytes))
            with b.loop(0, b.mul(rows, 4 * lanes), 4 * lanes) as i:
                b.store(Value(self.real, "zeroinitializer"), b.at(sums, i), 4 * lanes)
            with b.loop(0, self.steps) as step:
                self._read(weights, step, columns, raw, words)
                record = b.at(of_rows, b.mul(step, self.records.record_bytes))
                if pairs is words:
                    self._blocks(step, record, rows, columns, of_group, words, sums, packed=True)
                else:
                    self._unpack(words, pairs)
                    with b.loop(0, rows, self.together) as top:
                        held = b.at(record, b.mul(b.mul(top, self.steps), self.records.record_bytes))
                        here = b.at(sums, b.mul(top, 4 * lanes))
                        self._blocks(step, held, b.sub(rows, top), columns, of_group, pairs, here, packed=False)
            self._unusual(row, rows, columns, weights, of_group, sums, b.at(self.workspace, flags))
            operands = {
                i: b.at(b.at(kernel.operand(i), b.mul(r, row)), b.mul(s, start)) for i, (r, s) in epilogue.strides.items()
            }
            epilogue.rows([sums], 4 * lanes, lanes, rows, columns, operands)

    def _read(self, weights: Value, step: Value, columns: Value, raw: Value, words: Value) -> None:
        """The words of a step of all rows, those at one place side by side."""
        b, codes, lanes, size = self.b, self.codes, self.lanes, self.codes.step_bytes
        row, unit = self.row_stride, self.along_k
        begin = b.mul(step, size)
        left = b.sub(self.row_bytes, begin)
        here = b.at(weights, codes.offset(b, self.strides, begin))
        from_, pitch, apart = b.variable(raw), b.variable(i64(size)), b.variable(i64(codes.coding.chunk))
        whole = b.and_(b.compare("icmp sge", left, size), b.compare("icmp eq", columns, lanes)) if unit else Value("i1", "false")
        with b.if_(whole):
            from_.set(here)
            pitch.set(row)
            apart.set(self.strides[0])
        with b.else_(whole), b.loop(0, columns) as r, b.loop(0, size) as i:
            exists = b.less(i, left)
            at = b.at(b.at(here, b.mul(r, row)), codes.offset(b, self.strides, b.select(exists, i, i64(0))))
            b.store(b.load("i8", at, 1), b.at(raw, b.add(b.mul(r, size), i)), 1)
        source, by, step_apart = from_.get(), pitch.get(), apart.get()
        for start in range(0, size, 4 * lanes):
            starts = [b.at(source, b.mul(by, lane)) for lane in range(lanes)]
            loaded = [self._vector(at, start, step_apart) for at in starts]
            for at in starts if unit else ():
                b.prefetch(b.at(at, start + _AHEAD * size))
            for number, column in enumerate(transposed(b, loaded)):
                b.store(column, b.at(words, (start // 4 + number) * 4 * lanes), 4 * lanes)

    def _vector(self, row: Value, start: int, apart: Value) -> Value:
        """A vector of neighbouring bytes of a row, `start` bytes on, whose chunks are so far apart."""
        b, chunk, size = self.b, self.codes.coding.chunk, 4 * self.lanes
        if not chunk:
            return b.load(self.whole, b.at(row, start), 1)
        width = min(chunk, size)
        parts = [
            b.load(vector("i32", width // 4), b.at(b.at(row, b.mul(apart, at // chunk)), at % chunk), 1)
            for at in range(start, start + size, width)
        ]
        while len(parts) > 1:
            n = parts[0].lanes
            parts = [b.shuffle(x, y, range(2 * n)) for x, y in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    def _unpack(self, words: Value, pairs: Value) -> None:
        """The pairs of all words of a step, for more rows than are multiplied side by side."""
        b, codes, size = self.b, self.codes, 4 * self.lanes
        with b.loop(0, codes.words) as i:
            x = b.load(self.whole, b.at(words, b.mul(i, size)), size)
            for s, pair in enumerate(codes.pairs(b, x)):
                b.store(pair, b.at(pairs, b.mul(b.add(b.mul(i, codes.shifts), s), size)), size)

    def _blocks(
        self, step: Value, record: Value, rows: Value, columns: Value, of_group: dict[int, Value], source: Value, sums: Value,
        *, packed: bool,
    ) -> None:  # fmt: skip
        """The blocks of a step for up to `together` rows: `source` has words of codes (`packed`), or their pairs."""
        b, codes, lanes, records = self.b, self.codes, self.lanes, self.records
        words = self.problem.block // codes.per_word
        pitch = b.mul(self.steps, records.record_bytes)
        # rows that do not exist are the last one again
        at = [b.at(record, b.mul(pitch, b.min(r, b.sub(rows, 1)))) for r in range(self.together)]
        zero = Value(self.whole, "zeroinitializer")
        with b.loop(0, records.blocks) as number:
            block = b.add(b.mul(step, records.blocks), number)
            held = [[b.variable(zero) for _ in range(codes.sums)] for _ in at]
            with b.loop(0, words) as w:
                word = b.add(b.mul(number, words), w)
                for s, pair in enumerate(self._pairs(source, word, packed=packed)):
                    place = b.add(b.mul(word, 4 * codes.shifts), 4 * s)
                    for r, own in enumerate(held):
                        for plane, variable in enumerate(own):
                            x = b.load("i32", b.at(at[r], b.add(place, plane * records.plane_bytes)), 4)
                            variable.set(codes.add_products(b, variable.get(), b.splat(x, lanes), pair))
            with b.if_(b.less(block, self.blocks)):
                self._add(block, number, [[v.get() for v in own] for own in held], at, columns, of_group, sums)

    def _pairs(self, source: Value, word: Value, *, packed: bool) -> Sequence[Value]:
        b, codes, size = self.b, self.codes, 4 * self.lanes
        if packed:
            return list(codes.pairs(b, b.load(self.whole, b.at(source, b.mul(word, size)), size)))
        start = b.mul(word, size * codes.shifts)
        return [b.load(self.whole, b.at(source, b.add(start, s * size)), size) for s in range(codes.shifts)]

    def _add(
        self, block: Value, number: Value, exact: list[list[Value]], at: list[Value], columns: Value, of_group: dict[int, Value],
        sums: Value,
    ) -> None:  # fmt: skip
        """s = fma(F * S, scale, s) for a block."""
        b, lanes, records = self.b, self.lanes, self.records
        scale, zero = self._of_block(block, columns, of_group)
        for r, own in enumerate(exact):
            if len(own) == 2:
                wide = [b.convert("sext", v, vector("i64", lanes)) for v in own]
                total = b.add(b.shl(wide[0], constant("i64", 8, lanes)), wide[1])
            else:
                (total,) = own
                if zero is not None:
                    q = b.load("i32", b.at(b.at(at[r], records.sums_at), b.mul(number, 4)), 4)
                    total = b.sub(total, b.op("mul", b.splat(q, lanes), zero))
            factor = b.splat(b.load("float", b.at(b.at(at[r], records.scales_at), b.mul(number, 4)), 4), lanes)
            value = b.op("fmul", b.convert("sitofp", total, self.real), factor)
            to = b.at(sums, 4 * lanes * r)
            s = b.load(self.real, to, 4 * lanes)
            b.store(b.call(self.real, intrinsic("fma", self.real), value, scale, s), to, 4 * lanes)

    def _of_block(self, block: Value, columns: Value, of_group: dict[int, Value]) -> tuple[Value, Value | None]:
        """The scales of a strip's rows in a block, and what is subtracted from their codes; None: nothing."""
        b, problem, lanes = self.b, self.problem, self.lanes
        group = b.div(block, self.group_blocks)

        def read(i: int) -> Value:
            row, step = self.others[i]
            return load_lanes(b, problem.product.b[i - _WEIGHT].kind, b.at(of_group[i], b.mul(group, step)), lanes, row, columns)

        scale, offset = read(_SCALE), problem.coding.offset
        if problem.coding.levels:
            scale = b.op("fmul", scale, constant("float", _bits(NF4_UNIT), lanes))
        if not problem.shifts:
            return scale, None
        if not problem.has_zero_point:
            return scale, constant("i32", offset & 0xFFFFFFFF, lanes)
        zero = _as_s32(b, read(_ZERO))
        return scale, b.add(zero, constant("i32", offset & 0xFFFFFFFF, lanes)) if offset else zero

    # --- elements that are not finite -----------------------------------------------------------------------------------

    def _unusual(
        self, row: Value, rows: Value, columns: Value, weights: Value, of_group: dict[int, Value], sums: Value, flags: Value
    ) -> None:
        """The sums of rows that have such elements: one of these alone, term by term."""
        b, kernel, lanes = self.b, self.kernel, self.lanes
        (x,) = self.problem.product.a
        row_stride, k_stride = kernel.byte_strides(_X, (0, 1))
        block = kernel.integer(self.problem.block)
        with b.loop(0, rows) as r:
            flag = b.load("i32", b.at(flags, b.mul(b.add(row, r), 4)), 4)
            with b.if_(b.compare("icmp ne", flag, 0), seldom=True):
                from_ = b.at(kernel.operand(_X), b.mul(b.add(row, r), row_stride))
                to = b.at(sums, b.mul(r, 4 * lanes))
                total: Variable = b.variable(Value(self.real, "zeroinitializer"))
                with b.loop(0, self.k) as k:
                    value = load(b, x.kind, b.at(from_, b.mul(k, k_stride)), 1)
                    size = b.call("float", "llvm.fabs.f32", value)
                    with b.if_(b.compare("fcmp ueq", size, constant("float", 0x7F800000)), seldom=True):
                        term = b.op("fmul", b.splat(value, lanes), self._weights(b.div(k, block), k, columns, weights, of_group))
                        total.set(b.op("fadd", total.get(), term))
                b.store(total.get(), to, 4 * lanes)

    def _weights(self, block: Value, k: Value, columns: Value, weights: Value, of_group: dict[int, Value]) -> Value:
        """The weights of a strip's rows at one step of k."""
        b, lanes = self.b, self.lanes
        scale, zero = self._of_block(block, columns, of_group)
        code = Value(self.whole, "zeroinitializer")
        for lane in range(lanes):
            at = b.at(weights, b.mul(self.row_stride, b.min(lane, b.sub(columns, 1))))
            one = self.codes.one(b, at, self.strides, k)
            code = b.emit(self.whole, f"insertelement {self.whole} {code.name}, i32 {one.name}, i64 {lane}")
        code = code if zero is None else b.sub(code, zero)
        return b.op("fmul", b.convert("sitofp", code, self.real), scale)


def _as_s32(b: Builder, x: Value) -> Value:
    """The low 32 bits of an integer."""
    target = vector("i32", x.lanes)
    return x if x.type == target else b.convert("trunc", x, target)


def _bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])
