"""Non-temporal stores: outputs go past the cache where there is no room for them, which saves reading each line before it is
overwritten.

On an EPYC with 32 MiB of cache (2026-11-22, 2 threads, f32, tensors in turns that the cache does not hold): squares of 2048 x
2048, 32 MiB together, take 799 microseconds instead of 1,350, products of two such 1,235 instead of 1,927. What the cache does
hold takes longer past it: squares of 1448 x 1448, 16 MiB, again and again, 321 instead of 194.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.caches import last_level_cache

#: The narrowest store that is worth it.
_LEAST = 16
#: Bytes of cache that one program may count on: large ones have many users.
_MOST_CACHE = 64 << 20
#: Bytes of a cache line: streamed stores fill whole ones.
_LINE = 64


def leaves_cache(nest: Nest) -> bool:
    """Whether a nest's operands fill the cache, so that what it writes first is gone again when it is done."""
    axes = (*nest.outer, *nest.inner)
    operand_bytes = (o.kind.itemsize * prod(n for n, step in zip(axes, o.strides, strict=True) if step) for o in nest.operands)
    return sum(operand_bytes) >= min(last_level_cache(), _MOST_CACHE)


class Streaming:
    """Whether, and from which element of a row on, aligned stores to all outputs are possible."""

    def __init__(self, kernel: Kernel, analysis: RowAnalysis, outputs: Sequence[int]) -> None:
        nest = kernel.nest
        self.kernel = kernel
        self.sizes = {i: nest.operands[i].kind.itemsize for i in outputs}
        self.possible = bool(outputs) and all(analysis.access[i] == "unit" for i in outputs)
        self.possible &= all(kernel.lanes * size >= _LEAST for size in self.sizes.values())
        self.wanted = kernel.integer(int(leaves_cache(nest))) if self.possible else i64(0)

    def start(self, pointers: dict[int, Value], count: Value) -> tuple[Value, Value]:
        """Whether to stream the elements at `pointers`, and how many to store before the first aligned one."""
        b = self.kernel.b
        addresses = {i: b.emit("i64", f"ptrtoint ptr {pointers[i].name} to i64") for i in self.sizes}
        narrowest = min(self.sizes, key=lambda i: self.sizes[i])
        head = b.div(b.and_(b.sub(0, addresses[narrowest]), _LINE - 1), self.sizes[narrowest])
        go = b.compare("icmp ne", self.wanted, 0)
        for i, size in self.sizes.items():
            reached = b.add(addresses[i], b.mul(head, size))
            go = b.op("and", go, b.equal(b.and_(reached, _LINE - 1), 0))
        return go, b.select(go, b.min(head, count), i64(0))

    def fence(self) -> None:
        """Make streamed stores visible to other threads before this one says that it is done."""
        if self.possible:
            with self.kernel.b.if_(self.kernel.b.compare("icmp ne", self.wanted, 0)):
                self.kernel.b.line("fence seq_cst")
