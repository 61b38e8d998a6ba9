"""Matrix products on the CPU: a contraction in, a program out.

Every schedule takes each sum as the contract says, one step of k after the other; they differ in what is packed, what is
read where it lies, and what the threads share out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from baracuda.lowering.matmul.cpu.blocked import blocked
from baracuda.lowering.matmul.cpu.plan import Product, Steps
from baracuda.lowering.matmul.cpu.strips import MOST_ROWS, strips
from baracuda.lowering.matmul.problem import Contraction, merged
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered


def ways(contraction: Contraction, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a product."""
    yield lower(contraction, target)


def lower(contraction: Contraction, target: CpuTarget | None = None) -> Lowered:
    """The program, whose workspace holds packed factors and, where k is long, sums."""
    c = contraction if any(o.general for o in contraction.tensors) else merged(contraction)
    swap = _swaps(c)
    product = Product.of(c, swap)
    own = Words(product.nest)
    made = _schedule(c.n if swap else c.m)(product, own, target or host())
    return Lowered(made.steps, tuple(own.integers), made.nbytes, made.schedule)


def _schedule(rows: int) -> Callable[[Product, Words, CpuTarget], Steps]:
    return strips if rows <= MOST_ROWS else blocked


def _swaps(c: Contraction) -> bool:
    """Whether vectors run along m: where n is small, or results have their neighbours there."""
    if min(c.m, c.n) <= MOST_ROWS:
        return c.n < c.m
    first = len(c.epilogue.inputs) - len(c.a)
    results = c.operands[first:]
    return all(o.steps(-2) == 1 and o.steps(-1) != 1 for o in results)
