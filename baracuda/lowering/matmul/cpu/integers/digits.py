"""Integer products on Intel's matrix registers (AMX): balanced digits of 8 bits, whose products are added in s32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Builder, Value, Variable, constant, intrinsic, vector
from baracuda.codegen.llvm.transpose import transposed
from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.matmul.cpu.integers.blocks import Integers
from baracuda.lowering.matmul.cpu.integers.tile import IntegerTile, add_scaled, horner

#: A matrix register: rows of bytes, its size, the steps of k in one, and how many there are.
_ROWS, _PITCH, _BYTES, _STEPS, _REGISTERS = 16, 64, 1024, 64, 8
_LANES = 16


class DigitTile(IntegerTile):
    """Digits in matrix registers. The sum of the products of digits i and j counts 256**(i + j): those of one weight share an
    accumulator, in which a block's sum stays below 2**23.

    A tile's accumulators go through memory, where they wait while the next tile is multiplied: `multiply` makes f32 of the
    sums of the tile before, between its own matrix products.
    """

    name = "8-bit digits"

    def __init__(self, bits: int, depth: int) -> None:
        super().__init__(bits)
        self.digits = digits(bits)
        self.weights = 2 * self.digits - 1
        self.vectors = 1 if self.digits == 3 else 2
        self.rows, self.columns = _ROWS, self.vectors * _LANES
        self.step = _STEPS if depth <= _STEPS else BLOCK
        self.step_ns = 0.004 * self.digits

    def lanes(self, right: bool) -> int:
        return _LANES

    def data_bytes(self, right: bool) -> int:
        return self.step // _STEPS * self.width(right) // _LANES * self.digits * _BYTES

    def _register(self, right: bool, half: int, v: int, digit: int) -> int:
        """Where in a block a register's content is."""
        return ((half * (self.vectors if right else 1) + v) * self.digits + digit) * _BYTES

    # --- digits -------------------------------------------------------------------------------------------------------

    def write(self, b: Builder, integers: Integers, right: bool, group: int, until: Value, block: Value) -> None:
        for half in range(self.step // _STEPS):
            to = b.at(block, self._register(right, half, group, 0))
            with b.loop(0, _STEPS, 4) as k:
                words = self._words(b, [integers.at(b.add(k, half * _STEPS + i)) for i in range(4)])
                for digit, word in enumerate(words):
                    b.store(word, b.at(to, b.add(b.mul(k, _PITCH // 4), digit * _BYTES)), _PITCH)
            if right:
                continue
            for digit in range(self.digits):  # its rows have k side by side: words of four steps, transposed
                places = [b.at(to, digit * _BYTES + row * _PITCH) for row in range(_ROWS)]
                square = [b.load(vector("i32", _LANES), at, _PITCH) for at in places]
                for row, at in zip(transposed(b, square), places, strict=True):
                    b.store(row, at, _PITCH)

    def _words(self, b: Builder, steps: list[Value]) -> list[Value]:
        """For each digit, lowest first, those of four steps side by side in 32 bits."""
        type_, balance = vector("i32", _LANES), constant("i32", 0x80 * (256**self.digits - 1) // 255, _LANES)
        whole = [b.op("xor", b.add(b.convert("fptosi", q, type_), balance), balance) for q in steps]
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
        shape = [1, *[0] * 15, *[_PITCH, 0] * _REGISTERS, *[0] * 16, *[_ROWS] * _REGISTERS, *[0] * 8]
        _do(b, "ldtilecfg", b.module.table("i8", shape))
        self._sums = b.array("i8", self.vectors * self.weights * _BYTES)
        nothing = b.array("i8", max(self.nbytes, self.block_bytes(True), self.block_bytes(False)))
        with b.loop(0, self.block_bytes(True), _PITCH) as i:
            b.store(Value("<64 x i8>", "zeroinitializer"), b.at(nothing, i), _PITCH)
        with b.loop(0, self.vectors * self.weights * _BYTES, _PITCH) as i:
            b.store(Value("<64 x i8>", "zeroinitializer"), b.at(self._sums, i), _PITCH)
        self._nothing = nothing
        self._waiting = [b.variable(nothing) for _ in range(3)]
        yield
        _do(b, "tilerelease")

    _sums: Value
    _nothing: Value
    _waiting: list[Variable]

    def multiply(self, b: Builder, left: Value, right: Value, until: Value, sums: Value) -> None:
        for register in range(self.vectors * self.weights):
            _do(b, "tilezero", _number(register))
        products, scaled = list(self._products(b, left, right)), list(self._scaled(b))
        done = 0
        for i, product in enumerate(products):
            product()
            due = (i + 1) * len(scaled) // len(products)
            for row in scaled[done:due]:
                row()
            done = due
        for register in range(self.vectors * self.weights):
            _do(b, "tilestored64", _number(register), b.at(self._sums, register * _BYTES), Value("i64", str(_PITCH)))
        for variable, value in zip(self._waiting, (left, right, sums), strict=True):
            variable.set(value)

    def finish(self, b: Builder) -> None:
        for row in self._scaled(b):
            row()
        for variable in self._waiting:
            variable.set(self._nothing)

    def _products(self, b: Builder, left: Value, right: Value) -> Iterator[Callable[[], None]]:
        """The matrix products, each with the loads it needs: one register of the left factor, what are left of the right."""
        free = list(range(self.vectors * self.weights, _REGISTERS))
        of_left, of_right = free[0], free[1:]
        held: dict[tuple[int, int, int], int] = {}
        pairs = [(v, j) for v in range(self.vectors) for j in range(self.digits)]

        def product(half: int, i: int, v: int, j: int, first: bool) -> None:
            if first:
                _load(b, of_left, b.at(left, self._register(False, half, 0, i)))
            if (half, v, j) in held:
                register = held.pop((half, v, j))
            else:
                register = of_right[len(held)] if len(held) < len(of_right) else held.pop(next(iter(held)))
                _load(b, register, b.at(right, self._register(True, half, v, j)))
            held[half, v, j] = register
            _do(b, "tdpbssd", _number(v * self.weights + i + j), _number(of_left), _number(register))

        for half in range(self.step // _STEPS):
            for i in range(self.digits):
                for number, (v, j) in enumerate(pairs):
                    yield lambda half=half, i=i, v=v, j=j, first=number == 0: product(half, i, v, j, first)  # type: ignore[misc]
                pairs.reverse()  # what was used last is there still

    def _scaled(self, b: Builder) -> Iterator[Callable[[], None]]:
        """Vectors of the sums that wait: from digits to f32, and added to the tile's."""
        left, right, sums = (variable.get() for variable in self._waiting)
        of_columns = [self.scales(b, right, True, v * _LANES, _LANES) for v in range(self.vectors)]

        def row(r: int, v: int) -> None:
            at = b.at(self._sums, v * self.weights * _BYTES + r * _PITCH)
            pieces = [b.load(vector("i32", _LANES), b.at(at, w * _BYTES), _PITCH) for w in range(self.weights)]
            of_row = self.scales(b, left, False, r, _LANES)
            add_scaled(b, self._rounded(b, pieces), of_row, of_columns[v], b.at(sums, 4 * (r * self.columns + v * _LANES)))

        for r in range(_ROWS):
            for v in range(self.vectors):
                yield lambda r=r, v=v: row(r, v)  # type: ignore[misc]

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


def _number(register: int) -> Value:
    return Value("i8", str(register))


def _do(b: Builder, name: str, *args: Value) -> None:
    b.call("void", f"llvm.x86.{name}", *args)


def _load(b: Builder, register: int, at: Value) -> None:
    _do(b, "tileloadd64", _number(register), at, Value("i64", str(_PITCH)))
