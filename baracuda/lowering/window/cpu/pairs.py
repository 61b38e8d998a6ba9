"""Rows of two classes of outputs, which take turns: each is computed into a buffer, and then both are written as neighbours."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.llvm.ir import Builder, Value, vector
from baracuda.codegen.llvm.memory import stored_type
from baracuda.core.elements import ElementKind

#: Outputs of a class at a time.
PAIRED = 512


class Pairs:
    """The buffers of the operands that are written."""

    def __init__(self, b: Builder, kinds: Mapping[int, ElementKind], lanes: int) -> None:
        self.b, self.kinds, self.lanes = b, kinds, lanes
        self.buffers = {i: b.array(stored_type(kind), 2 * (PAIRED + lanes)) for i, kind in kinds.items()}

    def places(self, r: Value, at: Value) -> dict[int, Value]:
        """Where outputs of class r go, from the at-th of them on."""
        b, pitch = self.b, PAIRED + self.lanes
        index = b.add(b.mul(r, pitch), at)
        return {i: b.at(buffer, b.mul(index, self.kinds[i].itemsize)) for i, buffer in self.buffers.items()}

    def write(self, pointers: Mapping[int, Value], begin: Value, end: Value, extent: Value) -> None:
        """Outputs 2 * begin ... 2 * end - 1 of a row, as far as it has them."""
        b, lanes = self.b, self.lanes
        first = b.mul(begin, 2)
        count = b.sub(b.min(b.mul(end, 2), extent), first)
        whole = b.and_(count, -2 * lanes)
        for i, kind in self.kinds.items():
            type_, size = stored_type(kind), kind.itemsize
            buffer, second = self.buffers[i], b.at(self.buffers[i], (PAIRED + lanes) * size)
            to = b.at(pointers[i], b.mul(first, size))

            def both(
                q: Value, type_: str = type_, size: int = size, buffer: Value = buffer, second: Value = second
            ) -> tuple[Value, Value]:
                offset = b.mul(q, size)
                even = b.load(vector(type_, lanes), b.at(buffer, offset), size)
                return even, b.load(vector(type_, lanes), b.at(second, offset), size)

            half = lanes // 2
            with b.loop(0, whole, 2 * lanes) as o:
                even, odd = both(b.shr(o, 1))
                for part in range(2):
                    order = [lane for k in range(half) for lane in (part * half + k, lanes + part * half + k)]
                    b.store(b.shuffle(even, odd, order), b.at(to, b.mul(b.add(o, part * lanes), size)), size)
            with b.loop(whole, count) as o:
                odd_ = b.compare("icmp ne", b.and_(o, 1), 0)
                from_ = b.at(b.select(odd_, second, buffer), b.mul(b.shr(o, 1), size))
                b.store(b.load(type_, from_, size), b.at(to, b.mul(o, size)), size)
