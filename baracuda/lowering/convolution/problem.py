"""Convolutions with an epilogue: the problem that both devices lower.

    y[b, g, o.., n] = epilogue(sum over t.., c of x[b, g, i.., c] * w[g, t.., c, n], ...)      i = o * stride + t * dilation - low

along each spatial axis. Strides and dilations are whole numbers of either sign. Where i lies outside x the term is not there: it
is skipped, so that a weight that is not finite meets no padding.

**Order** (contract rules 6 and 7). The terms of a sum are counted as (tap, channel), taps in rising order with the last spatial
axis fastest, channels fastest of all. Without `math` a sum is one chain from +0.0, s = fma(x, w, s), in the accumulator's kind;
where `segment` is set, the chain begins anew at every tap whose number is a multiple of it, and the segments' chains are added in
rising order, total = total + s. Integers multiply and add in the accumulator, wrapping. INT23 and INT15 are the order of integer
products (`baracuda/formula/integer_products.py`) with blocks that begin anew at each tap: a block is at most 128 channels of one
tap. So an element of x has one scale whatever window it is seen in, the one of its pixel and block of channels, and a weight that
of its tap, block and n. Where one of the terms that are there has a factor that is not finite, the sum is that of such products.

A sum is never -0: where a negative one underflows to it, the epilogue begins with adding +0.

Transposed convolutions, gradients by the input and gradients by the weight are this problem with other strides; a gradient by the
weight has its outputs' positions for taps and the batch for channels. What has holes between the elements of x (`lhs_dilation`)
is several problems, one for each way of meeting them (`baracuda/ops/convolution/relation.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.elements import ElementKind
from baracuda.core.sku import MathPrecision
from baracuda.formula.graph import Graph
from baracuda.formula.integer_products import BLOCK, bits_of
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.problem import Operand

#: Elements that one run of axes may have.
MOST = 1 << 31
#: The positions of x and w among the operands.
X, W = 0, 1


@dataclass(frozen=True)
class ConvolutionProblem:
    """A convolution.

    Attributes
    ----------
    batch, groups, outputs, inputs, taps, channels, columns
        Extents of b, g, o.., i.., t.., c and n. Those of the outputs are not zero; taps and channels may be.
    stride, dilation, low
        For each spatial axis, the numbers that say which i an output and a tap meet.
    x
        Strides over (b, g, *i, *t, c): along taps they are 0 but for sums of what each tap has of its own (col2im).
    w
        Strides over (b, g, *o, *i, *t, c, n): along o and i they are 0 but for weights of each place (conv_local).
    accumulator
        The kind that sums are taken in.
    epilogue
        A graph of primitives over (b, g, *o, n), every axis outer; its input `product` is the sum.
    operands
        Its other inputs, then its outputs: strides over (b, g, *o, n).
    math
        What the sums are taken in; None: chains in the accumulator's kind.
    segment
        How many taps a chain takes; 0: all.
    """

    batch: int
    groups: int
    outputs: tuple[int, ...]
    inputs: tuple[int, ...]
    taps: tuple[int, ...]
    channels: int
    columns: int
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    low: tuple[int, ...]
    x: Operand
    w: Operand
    accumulator: ElementKind
    epilogue: Graph
    operands: tuple[Operand, ...]
    math: MathPrecision | None = None
    segment: int = 0

    @property
    def rank(self) -> int:
        """How many spatial axes there are."""
        return len(self.outputs)

    @property
    def bits(self) -> int:
        """The bits of the integers that the factors are taken as; 0: they are not."""
        return bits_of(self.math)

    @property
    def blocks(self) -> int:
        """Blocks of channels that have a scale each."""
        return -(-self.channels // BLOCK)

    @property
    def segments(self) -> int:
        """How many chains a sum is made of."""
        return max(1, -(-prod(self.taps) // self.segment)) if self.segment else 1

    @property
    def tensors(self) -> tuple[Operand, ...]:
        """Every operand in the order of a program's addresses."""
        return (self.x, self.w, *self.operands)

    @property
    def general(self) -> bool:
        """Whether code may not depend on strides."""
        return any(o.general for o in self.tensors)

    @property
    def spatial(self) -> range:
        return range(self.rank)

    def x_strides(self) -> dict[str, int]:
        """The strides of x by the name of an axis: b, g, i0, .., t0, .., c."""
        names = ["b", "g", *(f"i{a}" for a in self.spatial), *(f"t{a}" for a in self.spatial), "c"]
        return dict(zip(names, self.x.strides, strict=True))

    def w_strides(self) -> dict[str, int]:
        """The strides of w by the name of an axis: b, g, o0, .., i0, .., t0, .., c, n."""
        each = [f"{kind}{a}" for kind in "oit" for a in self.spatial]
        return dict(zip(["b", "g", *each, "c", "n"], self.w.strides, strict=True))

    def extents(self) -> dict[str, int]:
        """The extents of y by the name of an axis: b, g, o0, .., n."""
        names = ["b", "g", *(f"o{a}" for a in self.spatial), "n"]
        return dict(zip(names, (self.batch, self.groups, *self.outputs, self.columns), strict=True))

    @property
    def is_plain(self) -> bool:
        """Whether x and w have the strides of a convolution, and not those of its relatives."""
        x, w = self.x_strides(), self.w_strides()
        taps = [x[f"t{a}"] for a in self.spatial]
        return not any(taps) and not any(w[f"{kind}{a}"] for kind in "oi" for a in self.spatial) and not w["b"]

    @property
    def terms(self) -> int:
        """How many products a sum has at most."""
        return prod(self.taps) * self.channels


@dataclass(frozen=True)
class Matrix:
    """The outputs as batches of matrices: the names of the axes that count batches, rows and columns."""

    batch: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        return (*((name,) for name in self.batch), self.rows, self.columns)


def runs(p: ConvolutionProblem, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Some axes of y of more than one element in runs that every operand of the epilogue walks as one."""
    extents, place = p.extents(), {name: i for i, name in enumerate(p.extents())}
    run: list[str] = []
    for name in names:
        if extents[name] == 1:
            continue
        follows = all(o.strides[place[run[-1]]] == o.strides[place[name]] * extents[name] for o in p.operands) if run else False
        if follows and not p.general and prod(extents[r] for r in (*run, name)) < MOST:
            run.append(name)
            continue
        if run:
            yield tuple(run)
        run = [name]
    if run:
        yield tuple(run)


def matrix(p: ConvolutionProblem, *, groups: bool = True) -> Matrix:
    """Pixels by channels, or channels by pixels where pixels lie densest in y; channels of all groups, or of one."""
    extents, place = p.extents(), {name: i for i, name in enumerate(p.extents())}

    def largest(names: tuple[str, ...]) -> tuple[str, ...]:
        return max(runs(p, names), key=lambda run: prod(extents[name] for name in run), default=())

    pixels, channels = largest(("b", *(f"o{a}" for a in p.spatial))), largest(("g", "n") if groups else ("n",))
    batch = tuple(name for name in extents if name not in (*pixels, *channels) and extents[name] > 1)
    y = p.operands[-1]
    dense = bool(pixels) and y.steps(place[pixels[-1]]) == 1 and not (channels and y.steps(place[channels[-1]]) == 1)
    return Matrix(batch, channels, pixels) if dense else Matrix(batch, pixels, channels)


def product_of(p: ConvolutionProblem, m: Matrix) -> MatmulProblem:
    """The results as those of a matrix product, for what follows the sums; its factors lie nowhere."""
    extents, place = p.extents(), {name: i for i, name in enumerate(p.extents())}

    def along(o: Operand, run: tuple[str, ...]) -> int:
        return o.strides[place[run[-1]]] if run else 0

    nowhere = (0,) * (len(m.batch) + 2)
    return MatmulProblem(
        batch=tuple(extents[name] for name in m.batch),
        m=prod(extents[name] for name in m.rows),
        n=prod(extents[name] for name in m.columns),
        k=p.terms,
        a=(Operand(p.x.kind, nowhere),),
        b=(Operand(p.w.kind, nowhere),),
        accumulator=p.accumulator,
        epilogue=p.epilogue,
        operands=tuple(replace(o, strides=tuple(along(o, run) for run in m.axes)) for o in p.operands),
    )
