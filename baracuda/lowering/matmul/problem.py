"""Matrix products with an epilogue: the problem that both devices lower.

    y[b, m, n] = epilogue(sum over k of a[b, m, k] * b[b, k, n], ...)

**Order** (contract rules 6 and 7). Without `math`, a product's element is one chain in rising k that starts from +0.0:
s = fma(a, b, s), rounded once for each k, in the accumulator's kind; 16-bit and 8-bit floats are widened to f32 first, which is
exact. Integers multiply and add in the accumulator, wrapping. INT23 and INT15 are the order of integer products
(`baracuda/formula/integer_products.py`). BF16 and F16 are the order of a GPU's tensor cores: a chain, too, but of steps of 16,
each added in the way of the hardware (`lowering/matmul/cuda/tensor_core_chain.py`). A complex element is two chains, for each k

    re = fma(a.re, b.re, re); re = fma(-a.im, b.im, re); im = fma(a.re, b.im, im); im = fma(a.im, b.re, im).

The order depends on nothing but k: not on tiles, threads, layouts or the batch. The accumulators may be stored and loaded
again between blocks of k, which is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.elements import ElementKind
from baracuda.core.sku import MathPrecision
from baracuda.formula.graph import Graph
from baracuda.formula.integer_products import bits_of
from baracuda.lowering.nest.problem import Operand

#: What a product is said to be in that tensor cores take as it is, by the element of both factors.
TENSOR_CORE_MATH = {ElementKind.BF16: MathPrecision.BF16, ElementKind.F16: MathPrecision.F16}
#: Names of the epilogue's inputs that are the product: not tensors, but the accumulators.
PRODUCT, PRODUCT_PARTS = "product", ("product.re", "product.im")


@dataclass(frozen=True)
class MatmulProblem:
    """A matrix product over batches.

    Attributes
    ----------
    batch, m, n, k
        Extents. None is zero but perhaps k, where every sum is +0.0.
    a, b
        The factors: one operand, or the real and the imaginary part of a complex one. Strides run over (*batch, m, k) and
        (*batch, k, n); 0 broadcasts.
    accumulator
        The kind that the sum is taken in.
    epilogue
        A graph of primitives over (*batch, m, n), every axis outer. Its inputs `product`, or `product.re` and `product.im`,
        are the accumulators; the others are tensors.
    operands
        Those tensors, then the outputs of the epilogue: strides over (*batch, m, n).
    math
        What the sums are taken in; None: chains in the accumulator's kind.
    """

    batch: tuple[int, ...]
    m: int
    n: int
    k: int
    a: tuple[Operand, ...]
    b: tuple[Operand, ...]
    accumulator: ElementKind
    epilogue: Graph
    operands: tuple[Operand, ...]
    math: MathPrecision | None = None

    @property
    def bits(self) -> int:
        """The bits of the integers that the factors are taken as; 0: they are not."""
        return bits_of(self.math)

    @property
    def tensors(self) -> tuple[Operand, ...]:
        """Every operand in the order of a program's addresses: the parts of a, those of b, the epilogue's."""
        return (*self.a, *self.b, *self.operands)


def merged(c: MatmulProblem) -> MatmulProblem:
    """The same product with fewer axes: batch axes of extent 1 gone, neighbours that every operand walks as one merged, and
    batches that share one b (or one a) taken as more rows (or columns) of a single product."""
    c = _merge_batch(c)
    if len(c.batch) == 1:
        for shared, other, at in ((c.b, c.a, 0), (c.a, c.b, 1)):
            extent = (c.m, c.n)[at]
            axis = 1 if at == 0 else 2
            follows = all(o.strides[0] == o.strides[axis] * extent for o in (*other, *c.operands))
            if follows and all(o.strides[0] == 0 for o in shared) and not any(o.general for o in c.tensors):
                total = c.batch[0] * extent
                dropped = _map(c, lambda o: replace(o, strides=o.strides[1:]))
                return replace(dropped, batch=(), m=total if at == 0 else c.m, n=total if at == 1 else c.n)
    return c


def _merge_batch(c: MatmulProblem) -> MatmulProblem:
    groups: list[list[int]] = []
    for axis, extent in enumerate(c.batch):
        if extent == 1:
            continue
        last = groups[-1][-1] if groups else None
        if last is not None and all(o.strides[last] == o.strides[axis] * extent for o in c.tensors):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    rank = len(c.batch)
    last_axes = [g[-1] for g in groups]
    mapped = _map(c, lambda o: replace(o, strides=tuple(o.strides[a] for a in (*last_axes, rank, rank + 1))))
    return replace(mapped, batch=tuple(prod(c.batch[a] for a in g) for g in groups))


def _map(c: MatmulProblem, change: Callable[[Operand], Operand]) -> MatmulProblem:
    return replace(
        c,
        a=tuple(change(o) for o in c.a),
        b=tuple(change(o) for o in c.b),
        operands=tuple(change(o) for o in c.operands),
    )
