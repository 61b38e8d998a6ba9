"""Integer products on Intel's matrix registers (AMX): balanced digits of 8 bits, whose products are added in s32."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from baracuda.codegen.llvm.ir import Builder, Value, Variable, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.transpose import transposed
from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.matmul.cpu.integers.blocks import Integers, larger, magnitude, rounded, scaled, scales
from baracuda.lowering.matmul.cpu.integers.tile import AHEAD, IntegerTile, add_scaled, horner
from baracuda.lowering.matmul.cpu.read import Reader

#: A matrix register: rows of bytes, its size, the steps of k in one, and how many there are.
_ROWS, _PITCH, _BYTES, _STEPS, _REGISTERS = 16, 64, 1024, 64, 8
_LANES = 16


class DigitTile(IntegerTile):
    """Digits in matrix registers. The sum of the products of digits i and j counts 256**(i + j): those of one weight share an
    accumulator, in which a block's sum stays below 2**23.

    A matrix product wants the digits of one factor row by row and those of the other in words of four steps; which is which is
    the caller's choice: where the right factor gives the rows, the tile is `flipped`, and its sums are transposed in the end.

    A tile's accumulators go through memory, where they wait while the next tile is multiplied: `multiply` makes f32 of the
    sums of the tile before, between its own matrix products.
    """

    name, together = "8-bit digits", 4

    def __init__(self, bits: int, depth: int, rows: int, flipped: bool) -> None:
        super().__init__(bits)
        self.flipped = flipped
        # Where there is but one tile of rows, those beyond the last are read by nobody.
        self.filled = _ROWS if flipped or rows > _ROWS else 1 << (rows - 1).bit_length()
        self.digits = digits(bits)
        self.weights = 2 * self.digits - 1
        self.rows, self.columns = _ROWS, _LANES
        self.step = _STEPS if depth <= _STEPS else BLOCK
        self.step_ns = 0.0018 * self.digits

    def lanes(self, right: bool) -> int:
        return _LANES

    def data_bytes(self, right: bool) -> int:
        return self.step // _STEPS * self.digits * _BYTES

    def register(self, half: int, digit: int) -> int:
        """Where in a block a register's content is."""
        return (half * self.digits + digit) * _BYTES

    # --- digits -------------------------------------------------------------------------------------------------------
    # Four steps of k that are 16 apart are neighbours in a word: a register has 16 words of each row or column. Of the factor
    # that gives the rows, words of one row are neighbours; of the other, one word of each column.

    def write(self, b: Builder, integers: Integers, right: bool, group: int, until: Value, block: Value) -> None:
        for half in range(self.step // _STEPS):
            to = b.at(block, self.register(half, 0))
            with b.loop(0, _LANES) as k:
                words = self.words(b, [integers.whole(b.add(k, half * _STEPS + i * _LANES)) for i in range(4)])
                for digit, word in enumerate(words):
                    b.store(word, b.at(to, b.add(b.mul(k, _PITCH), digit * _BYTES)), _PITCH)
        if right == self.flipped:
            self._transpose(b, block)

    def write_along_k(
        self, b: Builder, reader: Reader, right: bool, source: Value, extents: tuple[Value, Value], block: Value
    ) -> None:
        """The same of a factor whose neighbours in memory follow one another in k, which are the reader's lanes."""
        largest, (first, second) = b.array("i32", _LANES), (b.array("float", _LANES) for _ in range(2))
        lefts = [b.sub(extents[1], start) for start in range(0, self.step, _LANES)]

        def vectors(row: Value, starts: range) -> list[Value]:
            exists = b.select(b.compare("icmp slt", row, extents[0]), row, i64(0))
            return [reader.one(reader.at(source, s, exists), _LANES, lefts[s // _LANES]) for s in starts]

        with b.loop(0, _LANES) as row:
            most, *others = [magnitude(b, x) for x in vectors(row, range(0, self.step, _LANES))]
            for other in others:
                most = larger(b, most, other)
            one = b.call("i32", intrinsic("vector.reduce.umax", most.type), most)
            b.store(one, b.at(largest, b.mul(row, 4)), 4)
        made = scales(b, b.load(vector("i32", _LANES), largest, _PITCH), self.bits)
        b.store(made.scale, b.at(block, self.data_bytes(right)), 4)
        for factor, at in zip(made.factors, (first, second), strict=True):
            b.store(factor, at, _PITCH)
        with b.loop(0, _LANES) as row:
            up, more = (b.splat(b.load("float", b.at(at, b.mul(row, 4)), 4), _LANES) for at in (first, second))
            for half in range(self.step // _STEPS):
                starts = range(half * _STEPS, (half + 1) * _STEPS, _LANES)
                words = self.words(b, [rounded(b, scaled(b, x, (up, more))) for x in vectors(row, starts)])
                for digit, word in enumerate(words):
                    b.store(word, b.at(block, b.add(b.mul(row, _PITCH), self.register(half, digit))), _PITCH)
        if right != self.flipped:
            self._transpose(b, block)

    def _transpose(self, b: Builder, block: Value) -> None:
        """The words of each register of a block, in place."""
        with b.loop(0, self.data_bytes(False), _BYTES) as register:
            transpose(b, b.at(block, register))

    def words(self, b: Builder, steps: list[Value]) -> list[Value]:
        """For each digit, lowest first, those of four steps side by side in 32 bits."""
        balance = constant("i32", 0x80 * (256**self.digits - 1) // 255, _LANES)
        whole = [b.op("xor", b.add(q, balance), balance) for q in steps]
        words = []
        for digit in range(self.digits):
            word = None
            for place, q in enumerate(whole):
                left = 8 * (place - digit)
                moved = b.shl(q, constant("i32", left, _LANES)) if left > 0 else q
                moved = b.shr(q, constant("i32", -left, _LANES)) if left < 0 else moved
                byte = b.and_(moved, constant("i32", 0xFF << 8 * place, _LANES))
                word = byte if word is None else b.or_(word, byte)
            assert word is not None
            words.append(word)
        return words

    # --- products -----------------------------------------------------------------------------------------------------

    @contextmanager
    def ready(self, b: Builder) -> Iterator[None]:
        size = self.weights * _BYTES
        places = [(b.array("i8", n), n) for n in (size, size, max(self.nbytes, self.block_bytes(True)))]
        for place, nbytes in places:
            with b.loop(0, nbytes, _PITCH) as i:
                b.store(Value("<64 x i8>", "zeroinitializer"), b.at(place, i), _PITCH)
        (first, _), (second, _), (self._nothing, _) = places
        self._waiting = [b.variable(self._nothing) for _ in range(3)]
        self._sums = [b.variable(first), b.variable(second)]
        with ready(b):
            yield

    _nothing: Value
    _waiting: list[Variable]
    _sums: list[Variable]

    def multiply(self, b: Builder, left: Value, right: Value, until: Value, sums: Value, ahead: Sequence[Value]) -> None:
        products, scaled = list(self._products(b, left, right)), list(self._scaled(b))
        sizes = self.data_bytes(False), self.data_bytes(True) // AHEAD
        lines = [partial(self._fetch, b, at, i) for at, n in zip(ahead, sizes, strict=True) for i in range(0, n, _PITCH)]
        for i, product in enumerate(products):
            product()
            for beside in (scaled, lines):
                for do in beside[i * len(beside) // len(products) : (i + 1) * len(beside) // len(products)]:
                    do()
        before, after = (variable.get() for variable in self._sums)
        for variable, value in zip((*self._waiting, *self._sums), (left, right, sums, after, before), strict=True):
            variable.set(value)

    def share(self, other: DigitTile) -> None:
        """Use the accumulators of another tile, which is ready."""
        self._sums = other._sums

    def exact(self, b: Builder, left: Value, right: Value) -> Iterator[Value]:
        """The exact sums of two panels of a block, rounded to f32, row by row; here the left one gives the rows."""
        for product in self._products(b, left, right):
            product()
        before, after = (variable.get() for variable in self._sums)
        self._sums[0].set(after)
        self._sums[1].set(before)
        for r in range(_ROWS):
            yield self._row(b, after, r)

    def _row(self, b: Builder, weights: Value, r: int) -> Value:
        """A row of the sums in accumulators that were stored, rounded to f32."""
        places = [b.at(weights, w * _BYTES + r * _PITCH) for w in range(self.weights)]
        return self._rounded(b, [b.load(vector("i32", _LANES), at, _PITCH) for at in places])

    def _fetch(self, b: Builder, at: Value, offset: int) -> None:
        b.prefetch(b.at(at, offset))

    def finish(self, b: Builder) -> None:
        for row in self._scaled(b):
            row()
        for variable in self._waiting:
            variable.set(self._nothing)

    def arrange(self, b: Builder, sums: Value) -> None:
        if self.flipped:
            transpose(b, sums)

    def _products(self, b: Builder, left: Value, right: Value) -> Iterator[Callable[[], None]]:
        """The matrix products, each with the loads it needs.

        Those of one accumulator follow one another, which it forwards itself to; it begins as zeros that are loaded, as
        one that is zeroed in its register makes the product wait; and it is stored while the next one is at work.
        """
        to = self._sums[1].get()
        zeros = b.module.table("i8", [0] * _PITCH)
        factors = (right, left) if self.flipped else (left, right)
        order, accumulators = list(self._order()), 2
        needs = [((0, half, i), (1, half, j)) for half, i, j in order]
        held: dict[tuple[int, int, int], int] = {}
        free = list(range(accumulators, _REGISTERS))

        def register(n: int, key: tuple[int, int, int]) -> Value:
            if key not in held:
                later = [k for pair in needs[n:] for k in pair]
                oldest = max(held, key=lambda k: later.index(k) if k in later else len(later), default=key)
                held[key] = free.pop() if free else held.pop(oldest)
                at = b.at(factors[key[0]], self.register(*key[1:]))
                do(b, "tileloadd64", number(held[key]), at, Value("i64", str(_PITCH)))
            return number(held[key])

        def product(n: int) -> None:
            weight = sum(order[n][1:])
            accumulator = number(weight % accumulators)
            if n == 0 or sum(order[n - 1][1:]) != weight:
                do(b, "tileloadd64", accumulator, zeros, Value("i64", "0"))
            x, y = (register(n, key) for key in needs[n])
            do(b, "tdpbssd", accumulator, x, y)
            if n == len(order) - 1 or sum(order[n + 1][1:]) != weight:
                do(b, "tilestored64", accumulator, b.at(to, weight * _BYTES), Value("i64", str(_PITCH)))

        return (partial(product, n) for n in range(len(order)))

    def _order(self) -> Iterator[tuple[int, int, int]]:
        """The half of a block, the left digit and the right one of each product, accumulator by accumulator, such that what is
        used is soon used again."""
        halves = list(range(self.step // _STEPS))
        for weight in range(self.weights):
            for half in halves:
                for i in range(max(0, weight - self.digits + 1), min(weight, self.digits - 1) + 1):
                    yield half, i, weight - i
            halves.reverse()

    def _scaled(self, b: Builder) -> Iterator[Callable[[], None]]:
        """The rows of the sums that wait: from digits to f32, and added to the tile's."""
        left, right, sums = (variable.get() for variable in self._waiting)
        of_rows, of_columns = (right, left) if self.flipped else (left, right)
        weights = self._sums[0].get()
        scales = b.load(vector("float", _LANES), b.at(of_columns, self.data_bytes(True)), 4)

        def row(r: int) -> None:
            nearest = self._row(b, weights, r)
            scale = b.splat(b.load("float", b.at(of_rows, self.data_bytes(False) + 4 * r), 4), _LANES)
            add_scaled(b, nearest, scale, scales, b.at(sums, r * _PITCH))

        return (partial(row, r) for r in range(self.filled))

    def _rounded(self, b: Builder, weights: list[Value]) -> Value:
        """The f32 nearest to the sum of s32, each 256 times as heavy as that before it."""
        eight, sixteen = constant("i32", 8, _LANES), constant("i32", 16, _LANES)
        low = b.add(b.shl(weights[1], eight), weights[0])  # below 2**31
        if self.digits == 3:
            return horner(b, [weights[4], b.add(b.shl(weights[3], eight), weights[2]), low], 16)
        # Two numbers that are f32, of which the first counts 2**16: one FMA rounds their sum.
        type_ = vector("float", _LANES)
        high = b.add(weights[2], b.op("ashr", low, sixteen))
        high, low = b.convert("sitofp", high, type_), b.convert("uitofp", b.and_(low, constant("i32", 0xFFFF, _LANES)), type_)
        return b.call(type_, intrinsic("fma", type_), high, constant("float", 0x47800000, _LANES), low)


def transpose(b: Builder, square: Value) -> None:
    """16 rows of 16 words, in place."""
    places = [b.at(square, row * _PITCH) for row in range(_ROWS)]
    words = [b.load(vector("i32", _LANES), at, _PITCH) for at in places]
    for row, at in zip(transposed(b, words), places, strict=True):
        b.store(row, at, _PITCH)


@contextmanager
def ready(b: Builder) -> Iterator[None]:
    """The registers are there inside, each of 16 rows of 64 bytes."""
    shape = [1, *[0] * 15, *[_PITCH, 0] * _REGISTERS, *[0] * 16, *[_ROWS] * _REGISTERS, *[0] * 8]
    do(b, "ldtilecfg", b.module.table("i8", shape))
    yield
    do(b, "tilerelease")


def number(register: int) -> Value:
    return Value("i8", str(register))


def do(b: Builder, name: str, *args: Value) -> None:
    b.call("void", f"llvm.x86.{name}", *args)
