"""The integers of x for a product with packed weights, which a step of its own writes: a record for each row and step of k."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes, load_lanes
from baracuda.core.layout import round_up
from baracuda.lowering.matmul.cpu.integers.blocks import larger, magnitude, rounded, scaled, scales
from baracuda.lowering.matmul.cpu.plan import aligned_workspace
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.packed_product.cpu.codes import Codes
from baracuda.lowering.packed_product.problem import BITS
from baracuda.runtime.program import Launch

#: About how long making an element an integer takes.
_NS = 1.5
_LOW = 0xFFFF


@dataclass(frozen=True)
class Records:
    """Records of `rows` rows, one behind the other, step of k by step. In each: pairs of integers in the order of the codes' (of
    a product with levels their high digits, then the low ones), then of each block S, and the sum of its integers."""

    codes: Codes
    rows: int

    @property
    def plane_bytes(self) -> int:
        return 2 * self.codes.step

    @property
    def scales_at(self) -> int:
        return self.codes.sums * self.plane_bytes

    @property
    def sums_at(self) -> int:
        return self.scales_at + 4 * self.blocks

    @property
    def blocks(self) -> int:
        """Blocks of a step."""
        return self.codes.step // self.codes.problem.block

    @property
    def record_bytes(self) -> int:
        return round_up(self.sums_at + 4 * self.blocks, 64)

    @property
    def nbytes(self) -> int:
        """Of all records, and a word for each row that says whether it has an element that is not finite."""
        return self.flags_at + 4 * self.rows

    @property
    def flags_at(self) -> int:
        return self.rows * self.codes.steps * self.record_bytes


def write_rows(records: Records, kernel: Kernel) -> Launch:
    """Makes the records; a unit is a row."""
    codes, b, problem = records.codes, kernel.b, records.codes.problem
    (x,) = problem.product.a
    block, n = problem.block, min(codes.lanes, problem.block)
    row_stride, k_stride = kernel.byte_strides(0, (0, 1))
    along = None if x.steps(1) == 1 else k_stride
    k, steps, flags = kernel.integers([problem.product.k, codes.steps, records.flags_at])
    workspace = aligned_workspace(kernel)
    held = b.array("i32", codes.step)
    zero = Value(vector("float", n), "zeroinitializer")
    with b.loop(kernel.begin, kernel.end) as row:
        from_ = b.at(kernel.operand(0), b.mul(row, row_stride))
        unusual = b.variable(Value("i32", "0"))
        with b.loop(0, steps) as step:
            record = b.at(workspace, b.mul(b.add(b.mul(row, steps), step), records.record_bytes))
            with b.loop(0, records.blocks) as number:
                start = b.add(b.mul(step, codes.step), b.mul(number, block))
                found = []
                for place in range(0, block, n):
                    first = b.add(start, place)
                    left = b.sub(k, first)
                    exists = b.less(0, left)
                    at = b.at(from_, b.mul(b.select(exists, first, i64(0)), k_stride))
                    value = load_lanes(b, x.kind, at, n, along, b.select(exists, left, i64(1)) if along is None else left)
                    found.append(b.select(first_lanes(b, n, left), value, zero))
                most = magnitude(b, found[0])
                for value in found[1:]:
                    most = larger(b, most, magnitude(b, value))
                largest = b.call("i32", intrinsic("vector.reduce.umax", most.type), most)
                odd = b.convert("zext", b.compare("icmp uge", largest, 0x7F800000), "i32")
                unusual.set(b.or_(unusual.get(), odd))
                made = scales(b, b.splat(largest, n), BITS)
                total = Value(vector("i32", n), "zeroinitializer")
                here = b.at(held, b.mul(number, 4 * block))
                for place, value in zip(range(0, block, n), found, strict=True):
                    q = rounded(b, scaled(b, value, made.factors))
                    q = b.select(b.splat(b.compare("icmp ne", odd, 0), n), constant("i32", 0, n), q)
                    total = b.add(total, q)
                    b.store(q, b.at(here, 4 * place), 4 * n)
                b.store(b.extract(made.scale, 0), b.at(b.at(record, records.scales_at), b.mul(number, 4)), 4)
                total = b.call("i32", intrinsic("vector.reduce.add", total.type), total)
                b.store(total, b.at(b.at(record, records.sums_at), b.mul(number, 4)), 4)
            with b.loop(0, codes.step // 2) as pair:
                first, second = (b.load("i32", b.at(held, b.mul(p, 4)), 4) for p in codes.place(b, pair))
                to = b.at(record, b.mul(pair, 4))
                whole = ((first, second),)
                digits = zip(*(_digits(kernel, q) for q in (first, second)), strict=True)
                for plane, (one, other) in enumerate(whole if codes.sums == 1 else digits):
                    b.store(b.or_(b.and_(one, _LOW), b.shl(other, 16)), b.at(to, plane * records.plane_bytes), 4)
        b.store(unusual.get(), b.at(b.at(workspace, flags), b.mul(row, 4)), 4)
    return kernel.step(problem.product.m, max(1, problem.product.k) * _NS)


def _digits(kernel: Kernel, q: Value) -> tuple[Value, Value]:
    """The balanced digits of base 256 of an integer of 15 bits."""
    b = kernel.b
    high = b.op("ashr", b.add(q, 128), Value("i32", "8"))
    return high, b.sub(q, b.shl(high, 8))
