"""Combinations by destination: the gradients of indexed reads, scatters with a reduction, segments."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Implementation, Layout, OperandLayout
from baracuda.core.layout import contiguous_strides
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_axis, check_element, check_shape
from baracuda.lowering.backend import candidates
from baracuda.lowering.scatter.implementation import ScatterImplementation
from baracuda.lowering.scatter.problem import Keys, Scatter, TensorLayout

#: What an index may be stored in.
INDEX_KINDS = (ElementKind.S32, ElementKind.S64)


class ScatterKind(enum.Enum):
    """What the elements of one destination are combined by."""

    SUM = "sum"
    MEAN = "mean"
    PROD = "prod"
    MAX = "max"
    MIN = "min"
    COUNT = "count"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is several times slower


#: What combinations of bool are: a sum is true where one is, a product where all are.
_OF_BOOL = {
    ScatterKind.SUM: ScatterKind.MAX,
    ScatterKind.MAX: ScatterKind.MAX,
    ScatterKind.PROD: ScatterKind.MIN,
    ScatterKind.MIN: ScatterKind.MIN,
}


@dataclass(frozen=True)
class ScatterDescriptor(Descriptor):
    """Elements that go where an index says, combined destination by destination.

    Attributes
    ----------
    reduce
        How they are combined; COUNT counts them, and there is no x.
    shape, axis
        The result's shape, and its axis that the index counts along.
    index_shape, index_element
        Those of the index: s32 or s64.
    element
        That of x, base and y: f16, bf16, f32, f64, an integer of any size, and for sums complex64 and complex128. For
        COUNT, an integer or a float.
    aligned
        Whether the index has the result's rank and gives each element its own place along the axis, as in `scatter_add`:
        the destination of x[i, j, k] is y[i, index[i, j, k], k] for axis 1; axes of extent 1 of the result, beside `axis`,
        are summed along. If not, the axes of the index take the place of
        the axis in x, as in `index_add`: that of x[i, p, k] is y[i, index[p], k].
    has_base, joined
        Whether there is a tensor of the result's shape that the elements are combined with; where not joined, it is the
        result of destinations that nothing goes to, and nothing else.
    has_weights
        Whether each position has a factor, in the compute kind of `element`, that its elements are multiplied by.
    sources
        If given, x has this many rows, and an integer tensor with the index's shape and element says which of them a
        position brings; only for axis 0.
    alpha
        A factor of the combination, a real number, before the base is added.
    wrap
        Whether a negative index counts from the end.
    skip
        A value of the index that goes nowhere.

    Values of the index out of range are held to the nearest end of the axis, and so are the numbers of rows.
    """

    numbers = (("alpha", ()),)

    reduce: ScatterKind
    shape: tuple[int, ...]
    axis: int
    index_shape: tuple[int, ...]
    element: ElementKind
    index_element: ElementKind = ElementKind.S64
    aligned: bool = False
    has_base: bool = False
    joined: bool = True
    has_weights: bool = False
    sources: int | None = None
    alpha: float | None = None
    wrap: bool = False
    skip: int | None = None

    def validate(self) -> None:
        check_shape("shape", self.shape, least=1)
        check_shape("index_shape", self.index_shape)
        check_axis("axis", self.axis, len(self.shape))
        object.__setattr__(self, "axis", self.axis % len(self.shape))
        check_element("index_element", self.index_element, INDEX_KINDS)
        kind = self.element
        if kind.bits < 8 or (kind.is_float and kind.bits < 16):
            raise UnsupportedError(f"element: {kind}; expected a float of 16 bits or more, an integer, bool or a complex number")
        if kind is ElementKind.BOOL and not (self.has_base and self.reduce in _OF_BOOL and not self.parameters):
            raise UnsupportedError(f"element: {kind} with {self.reduce}; bool is combined with a base, by sum, prod, max or min")
        plain = self.reduce is ScatterKind.SUM and not self.has_weights
        if kind.category is Category.COMPLEX and not plain:
            raise UnsupportedError(f"element: {kind} with {self.reduce}; complex numbers are only summed, without weights")
        operands = [n for n, v in (("has_base", self.has_base), ("has_weights", self.has_weights), ("alpha", self.alpha)) if v]
        if operands and self.reduce is ScatterKind.COUNT:
            raise InvalidProblemError(f"{', '.join(operands)}: given; expected none where positions are counted")
        if not self.shape[self.axis] and all(self.index_shape):
            raise InvalidProblemError(f"shape: {self.shape} has no entry along axis {self.axis}; expected one for the index")
        if self.aligned:
            beyond = len(self.index_shape) != len(self.shape) or any(
                n > m != 1 for a, (n, m) in enumerate(zip(self.index_shape, self.shape, strict=True)) if a != self.axis
            )
            if beyond:
                raise InvalidProblemError(
                    f"index_shape: {self.index_shape}; expected the rank of {self.shape}, and beside axis {self.axis} no longer "
                    "axis but where that has an extent of 1"
                )
        if self.sources is not None and (self.axis or self.aligned or not self.has_x or self.sources < 1):
            raise InvalidProblemError(f"sources: {self.sources}; expected 1 or more, axis 0, an x, and not aligned")

    @property
    def parameters(self) -> Mapping[str, float]:
        return {} if self.alpha is None else {"alpha": self.alpha}

    @property
    def has_x(self) -> bool:
        """Whether there is an x."""
        return self.reduce is not ScatterKind.COUNT

    @property
    def has_rows(self) -> bool:
        """Whether positions say which row of x they bring."""
        return self.sources is not None

    @property
    def compute_element(self) -> ElementKind:
        """The element of the weights."""
        return self.element.compute

    @property
    def x_shape(self) -> tuple[int, ...]:
        """The shape of x."""
        if self.aligned:
            return self.index_shape
        middle = self.index_shape if self.sources is None else (self.sources,)
        return (*self.shape[: self.axis], *middle, *self.shape[self.axis + 1 :])

    # --- the problem for a layout -------------------------------------------------------------------------------------

    def scatter(self, layout: Layout) -> Scatter:
        """The problem for a layout of the plan's tensors."""
        index, x, rows, weights, base, y = layout
        rank = len(self.index_shape)
        outer = tuple(range(rank))  # of a tensor's axes: from 0 upwards an outer axis, from -1 downwards an inner one
        if self.aligned:
            inner, destinations = self.shape[:0], self.shape
            x_places = result_places = outer
            pitches = contiguous_strides(self.shape)
            steps = tuple(0 if a == self.axis or self.shape[a] == 1 else p for a, p in enumerate(pitches))
            scale = pitches[self.axis]
        else:
            inner, destinations = (*self.shape[: self.axis], *self.shape[self.axis + 1 :]), self.shape[self.axis :][:1]
            before, after = tuple(~a for a in range(self.axis)), tuple(~a for a in range(self.axis, len(inner)))
            x_places = (*before, *(outer if self.sources is None else (0,)), *after)
            result_places = (*before, 0, *after)
            steps, scale = (0,) * rank, 1

        def layout_of(
            at: OperandLayout | None, kind: ElementKind, shape: Sequence[int], places: Sequence[int], n: int
        ) -> TensorLayout | None:
            return None if at is None else _factor_layout(at, kind, shape, places, n, len(inner))

        place = layout_of(index, self.index_element, self.index_shape, outer, rank)
        stored = ElementKind.U8 if self.element is ElementKind.BOOL else self.element  # as bytes, which are 0 or 1
        result = layout_of(y, stored, self.shape, result_places, len(destinations))
        assert place is not None
        assert result is not None
        extent = self.shape[self.axis]
        keys = Keys(self.index_shape, place, steps, scale, extent, prod(destinations), self.wrap, self.skip)
        summed = self.reduce in (ScatterKind.MEAN, ScatterKind.COUNT)
        return Scatter(
            op="sum" if summed else (_OF_BOOL[self.reduce] if self.element is ElementKind.BOOL else self.reduce).value,
            mean=self.reduce is ScatterKind.MEAN,
            keys=keys,
            destinations=destinations,
            inner=inner,
            x=layout_of(x, stored, self.x_shape, x_places, rank if self.sources is None else 1),
            rows=layout_of(rows, self.index_element, self.index_shape, outer, rank),
            weights=layout_of(weights, self.compute_element, self.index_shape, outer, rank),
            base=layout_of(base, stored, self.shape, result_places, len(destinations)),
            y=result,
            scaled=self.alpha is not None,
            sources=self.sources or 0,
            joined=self.joined,
        )


def _factor_layout(
    layout: OperandLayout, kind: ElementKind, shape: Sequence[int], places: Sequence[int], outer: int, inner: int
) -> TensorLayout:
    """A tensor's strides over the outer and the inner axes, by the places of its own axes among them."""
    strides = layout.strides if all(shape) else contiguous_strides(shape)  # NumPy's are 0 where nothing is
    out, along = [0] * outer, [0] * inner
    for place, extent, stride in zip(places, shape, strides, strict=True):
        step = stride if extent != 1 else 0
        if place >= 0:
            out[place] = step
        else:
            along[~place] = step
    return TensorLayout(kind, tuple(out), tuple(along), layout.alignment, layout.general)


@dataclass
class ScatterArgs(Args):
    """index: where each position goes; x: what it brings; rows, weights, base: as the descriptor says; y: the result."""

    index: Any
    x: Any = None
    rows: Any = None
    weights: Any = None
    base: Any = None
    y: Any = None


class ScatterPlan(Plan[ScatterDescriptor, ScatterArgs]):
    """y[d] = base[d] (op) alpha * (the combination of weights[p] * x[p] over the positions p with index[p] = d).

    The positions of a destination are numbered in their logical order in the index, and combined in the canonical order of
    reductions over that number. 16-bit floats are combined in f32 and rounded once. Without a base, a destination that
    nothing goes to is +0 for a sum or a mean, 1 for a product, and the least or the largest value (of floats: -inf or +inf)
    for a maximum or a minimum; with one it is the base. A mean is the sum, the base among its elements, over their number.

    The workspace is 16 to 20 bytes for each position and 4 for each destination, and a few more for histograms.
    """

    category, op, args = OpCategory.INDEXING, "scatter_reduce", ScatterArgs
    tensors = (
        TensorSpec("index", "where each position goes", "index_shape", "index_element", varies=Axes.OUTER),
        TensorSpec("x", "what each position brings", "x_shape", varies=Axes.OUTER, when="has_x"),
        TensorSpec("rows", "the row of x", "index_shape", "index_element", varies=Axes.OUTER, when="has_rows"),
        TensorSpec("weights", "a factor", "index_shape", "compute_element", varies=Axes.OUTER, when="has_weights"),
        TensorSpec("base", "what x is combined with", "shape", when="has_base"),
        TensorSpec("y", "the result", "shape", written=True),
    )

    @classmethod
    def implementations(
        cls, device: Device, descriptor: ScatterDescriptor
    ) -> tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]:
        make = partial(ScatterImplementation, device, descriptor.scatter, descriptor.element, descriptor.alpha)
        return candidates(device, make)
