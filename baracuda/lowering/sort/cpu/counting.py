"""Short rows in order on the CPU: an element's place is the number of those that come before it, counted in vectors."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Value, constant, vector
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.sort.cpu.keys import KeyCode
from baracuda.lowering.sort.cpu.rows import row_iterator
from baracuda.lowering.sort.problem import INDICES, RANKS, VALUES, Sort, X
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: The longest row that is ordered like this.
COUNTED = 96


def counting(sort: Sort, integers: Integers, target: CpuTarget) -> Launch:
    """The step that orders rows of up to COUNTED elements."""
    code = StepBuilder(integers, target)
    b, keys = code.b, KeyCode(code.b, sort)
    n, first, count = (code.integer(v) for v in (sort.length, sort.first, sort.count))
    iterator, along = row_iterator(code, sort)
    lanes = target.vector_bits // max(keys.bits, 32)
    type_ = f"i{max(keys.bits, 32)}"
    bytes_ = max(keys.bits, 32) // 8
    whole = vector(type_, lanes)
    room = -(-COUNTED // lanes) * lanes
    of = [b.array(type_, room) for _ in range(sort.keys)]
    places = b.array(type_, room)
    elements = b.array("i8", COUNTED * sort.kind.itemsize)
    at_place = b.array("i32", COUNTED)

    def slot(array: Value, i: Value, size: int) -> Value:
        return b.at(array, b.mul(i, size))

    iterator.start(code.begin)
    with b.loop(code.begin, code.end):
        pointers = iterator.pointers()
        with b.loop(0, n) as i:
            words = keys.load(b.at(pointers[X], b.mul(i, along[X])))
            for array, key in zip(of, keys.keys(words), strict=True):
                b.store(b.convert("zext", key, type_), slot(array, i, bytes_), bytes_)
        with b.loop(0, n, lanes) as i:
            mine = [b.load(whole, slot(array, i, bytes_), 64 if lanes * bytes_ == 64 else bytes_) for array in of]
            ahead = b.variable(constant(type_, 0, lanes))
            start = b.splat(b.convert("trunc", i, type_), lanes)
            numbers = b.add(b.iota(lanes, type_), start)
            with b.loop(0, n) as j:
                theirs = [b.splat(b.load(type_, slot(array, j, bytes_), bytes_), lanes) for array in of]
                # of equal elements the one that lies first comes before
                before = b.compare("icmp ult", b.splat(b.convert("trunc", j, type_), lanes), numbers)
                for a, c in zip(theirs, mine, strict=True):  # the key that counts most is last
                    less, equal = b.compare("icmp ult", a, c), b.compare("icmp eq", a, c)
                    before = b.or_(less, b.and_(equal, before))
                ahead.set(b.sub(ahead.get(), b.convert("sext", before, whole)))
            b.store(ahead.get(), slot(places, i, bytes_), bytes_)
        with b.loop(0, n) as i:
            place = b.convert("zext", b.load(type_, slot(places, i, bytes_), bytes_), "i64")
            if sort.values is not None:
                words = keys.load(b.at(pointers[X], b.mul(i, along[X])))
                keys.store(words, slot(elements, place, sort.kind.itemsize))
            if sort.indices is not None:
                code.set_u32(at_place, place, i)
            if sort.ranks is not None:
                b.store(b.convert("trunc", place, f"i{sort.ranks.kind.bits}"), b.at(pointers[RANKS], b.mul(i, along[RANKS])), 4)
        with b.loop(0, count) as i:
            place = b.add(first, i)
            if sort.values is not None:
                words = keys.load(slot(elements, place, sort.kind.itemsize))
                keys.store(words, b.at(pointers[VALUES], b.mul(i, along[VALUES])))
            if sort.indices is not None:
                at = b.at(pointers[INDICES], b.mul(i, along[INDICES]))
                b.store(b.convert("trunc", code.u32(at_place, place), f"i{sort.indices.kind.bits}"), at, 4)
        iterator.advance()
    step = sort.length * (2.0 + sort.length * 2.0 / lanes)
    return code.step("count", sort.rows, step)
