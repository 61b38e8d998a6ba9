"""Exact sums as chains of FMA in f64: for every instruction set."""

from __future__ import annotations

from math import inf

from baracuda.codegen.llvm.ir import Int, Value, i64, intrinsic, vector
from baracuda.lowering.attention.cpu.integers.products import IntegerProducts, Use
from baracuda.lowering.attention.cpu.integers.quantizer import Reading
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.runtime.jit import CpuTarget

_UNROLLED = 4


class FloatProducts(IntegerProducts):
    """Integers as f64, row after row. A register tile has `rows` by `vectors` of `lanes`."""

    name, vectors = "f64", 2

    def __init__(self, work: AttentionKernel, bits: int, target: CpuTarget) -> None:
        super().__init__(work, bits)
        many = target.vector_bits == 512 or target.triple.startswith(("aarch64", "arm64"))
        self.rows, self.lanes = 8 if many else 4, target.vector_bits // 64

    def nbytes(self, rows: int, depth: int) -> int:
        return 8 * self.work.padded(rows) * self.work.padded(depth)

    def keep_left(self, read: Reading, rows: Int, depth: int, to: Value) -> None:
        w, b = self.work, self.b
        with b.loop(0, rows) as row, b.loop(0, depth, w.lanes) as column:
            self._keep(read(row, column), b.at(to, b.add(b.mul(row, 8 * w.padded(depth)), b.mul(column, 8))))

    def keep_right(self, read: Reading, depth: int, columns: Int, to: Value, there: Value | None = None) -> None:
        w, b = self.work, self.b
        with b.loop(0, columns, w.lanes) as column, b.loop(0, depth if there is None else there) as row:
            place = b.add(b.mul(b.mul(column, w.padded(depth)), 8), b.mul(row, 8 * w.lanes))
            self._keep(read(row, column), b.at(to, place))

    def _keep(self, x: Value, at: Value) -> None:
        b, w = self.b, self.work
        size = b.call(x.type, intrinsic("fabs", x.type), x)  # what is not finite has a scale of NaN, and may have a weight of 0
        x = b.select(b.compare("fcmp olt", size, w.number(inf)), x, w.number(0.0))
        wide = b.convert("fpext", b.call(x.type, intrinsic("roundeven", x.type), x), vector("double", x.lanes))
        b.store(wide, at, min(64, 8 * x.lanes))

    def sums(self, left: Value, right: Value, depth: int, block: tuple[Int, Int], extents: tuple[Int, Int], use: Use) -> None:
        """Of whole tiles of rows and columns."""
        b, w, (first, count), (rows, columns) = self.b, self.work, block, extents
        assert self.vectors * self.lanes == w.lanes
        pitch = 8 * w.padded(depth)
        left, right = b.at(left, b.mul(i64(first), 8)), b.at(right, b.mul(i64(first), 8 * w.lanes))
        with b.loop(0, columns, w.lanes) as column, b.loop(0, rows, self.rows) as row:
            tile = self._tile(b.at(left, b.mul(row, pitch)), pitch, b.at(right, b.mul(column, pitch)), count)
            for (r, v), value in tile.items():
                narrow = b.convert("fptrunc", value, vector("float", self.lanes))
                use(b.add(row, r), b.add(column, v * self.lanes), narrow)

    def _tile(self, left: Value, pitch: int, right: Value, count: Int) -> dict[tuple[int, int], Value]:
        b, type_, nbytes = self.b, vector("double", self.lanes), 8 * self.lanes
        places = [(r, v) for r in range(self.rows) for v in range(self.vectors)]
        held = {place: b.variable(Value(type_, "zeroinitializer")) for place in places}
        at_left, at_right = b.variable(left), b.variable(right)

        def steps(n: int) -> None:
            x, y = at_left.get(), at_right.get()
            for i in range(n):
                ys = [b.load(type_, b.at(y, (i * self.vectors + v) * nbytes), nbytes) for v in range(self.vectors)]
                for r in range(self.rows):
                    q = b.splat(b.load("double", b.at(x, r * pitch + 8 * i), 8), self.lanes)
                    for v in range(self.vectors):
                        held[r, v].set(b.call(type_, intrinsic("fma", type_), q, ys[v], held[r, v].get()))
            at_left.set(b.at(x, 8 * n))
            at_right.set(b.at(y, n * self.vectors * nbytes))

        whole = b.and_(i64(count), -_UNROLLED)
        with b.loop(0, whole, _UNROLLED):
            steps(_UNROLLED)
        with b.loop(whole, count):
            steps(1)
        return {place: variable.get() for place, variable in held.items()}
