"""Products with packed weights on the CPU: the integers of x, then strips of weights."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.core.layout import round_up
from baracuda.lowering.matmul.cpu.plan import LINE
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.packed_product.cpu.codes import Codes
from baracuda.lowering.packed_product.cpu.rows import Records, write_rows
from baracuda.lowering.packed_product.cpu.strips import strips
from baracuda.lowering.packed_product.problem import PackedProduct
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered


def ways(problem: PackedProduct, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a product."""
    yield lower(problem, target)


def lower(problem: PackedProduct, target: CpuTarget | None = None) -> Lowered:
    """The program, whose workspace holds the integers of x."""
    target = target or host()
    c = problem.product
    nest = Nest(c.epilogue, (c.m, c.n), (), c.tensors)
    words = Words(nest)
    codes = Codes.of(problem, target)
    records = Records(codes, c.m)
    steps = (write_rows(records, Kernel(nest, words, target)), strips(records, Kernel(nest, words, target)))
    return Lowered(steps, tuple(words.integers), round_up(records.nbytes, LINE) + LINE, f"packed {problem.coding.value}")
