"""Matrix products on the CPU: a contraction in, a program out.

Every schedule takes each sum as the contract says, one step of k after the other or, of integers, one block of k; they differ
in what is packed, what is read where it lies, and what the threads share out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.matmul.cpu.blocked import blocked
from baracuda.lowering.matmul.cpu.integers.bytes import byte_product, takes_bytes
from baracuda.lowering.matmul.cpu.integers.pairs import pair_product, takes_pairs
from baracuda.lowering.matmul.cpu.integers.schedule import integer_product
from baracuda.lowering.matmul.cpu.lines import lines
from baracuda.lowering.matmul.cpu.plan import OrientedMatmul, Steps
from baracuda.lowering.matmul.cpu.small import is_small, small_products
from baracuda.lowering.matmul.cpu.strips import MOST_ROWS, strips
from baracuda.lowering.matmul.problem import MatmulProblem, merged
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered


def ways(matmul_problem: MatmulProblem, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a product."""
    if matmul_problem.math is not None and not matmul_problem.bits:
        raise UnsupportedError(f"a product in {matmul_problem.math} on a CPU; expected chains, or integers of 23 or 15 bits")
    yield lower(matmul_problem, target)


def lower(matmul_problem: MatmulProblem, target: CpuTarget | None = None) -> Lowered:
    """The program, whose workspace holds packed factors and, where k is long, sums."""
    c = matmul_problem if any(o.general for o in matmul_problem.tensors) else merged(matmul_problem)
    if takes_bytes(c, target or host()):
        kernel, own = byte_product(c, target or host())
        return Lowered(kernel.steps, tuple(own.integers), kernel.nbytes, kernel.schedule)
    swap = _swaps(c)
    if not c.bits and is_small(c):
        product = OrientedMatmul.of(c, c.b[0].steps(-1) != 1 == c.a[0].steps(-2))
        own = Words(product.nest)
        kernel = small_products(product, own, target or host())
        return Lowered(kernel.steps, tuple(own.integers), kernel.nbytes, kernel.schedule)
    if not swap and c.m > MOST_ROWS and (in_tiles := lines(c, target or host())):
        return in_tiles
    product = OrientedMatmul.of(c, swap)
    own = Words(product.nest)
    rows = c.n if swap else c.m
    schedule = pair_product if takes_pairs(c, target or host()) else _schedule(rows, c.bits)
    kernel = schedule(product, own, target or host())
    return Lowered(kernel.steps, tuple(own.integers), kernel.nbytes, kernel.schedule)


def _schedule(rows: int, bits: int) -> Callable[[OrientedMatmul, Words, CpuTarget], Steps]:
    if bits:
        return partial(integer_product, bits=bits)
    return strips if rows <= MOST_ROWS else blocked


def _swaps(c: MatmulProblem) -> bool:
    """Whether vectors run along m: where n is small, or results have their neighbours there."""
    if min(c.m, c.n) <= MOST_ROWS:
        return c.n < c.m
    first = len(c.epilogue.inputs) - len(c.a)
    results = c.operands[first:]
    return all(o.steps(-2) == 1 and o.steps(-1) != 1 for o in results)
