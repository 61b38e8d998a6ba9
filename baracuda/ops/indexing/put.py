"""Elements put where an index says: the plans of indexed writes, of their gradients, and of writes that accumulate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Literal

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
from baracuda.lowering.put.implementation import PutImplementation
from baracuda.lowering.put.problem import Put, put
from baracuda.lowering.scatter.implementation import ScatterImplementation
from baracuda.lowering.scatter.problem import Keys, Scatter, TensorLayout
from baracuda.ops.indexing.scatter import INDEX_KINDS

Combination = Literal["sum", "prod", "max", "min"]
#: What combinations of bool are: a sum is true where one is, a product where all are.
_OF_BOOL = {"sum": "max", "max": "max", "prod": "min", "min": "min"}
_Found = tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]


@dataclass(frozen=True)
class PutDescriptor(Descriptor):
    """Elements, each of which an index leads to a destination.

    Attributes
    ----------
    positions
        The shape of the index; x has these axes first, then those of `inner`.
    destinations
        The extents of the axes that an index leads along, the first ones of y; those of `inner` follow.
    inner
        The extents of the axes that x and y have in common.
    element
        Of x and y: any of 8 bits or more.
    index_element
        Of the index: s32 or s64.
    axis
        If given, the index has as many axes as there are destinations, and leads along this one of them; an element's places
        along the others are its own. If not, it numbers all destinations, the last axis fastest.
    wrap
        Whether a negative index counts from the end.
    skip
        A value of the index that goes nowhere.
    once
        Whether no two positions have one destination; then nothing is looked for.
    combination
        None: the last position of a destination is what counts. Else what elements are combined by, in the canonical order, and
        then with what the destination has.
    """

    positions: tuple[int, ...]
    destinations: tuple[int, ...]
    inner: tuple[int, ...]
    element: ElementKind
    index_element: ElementKind = ElementKind.S64
    axis: int | None = None
    wrap: bool = False
    skip: int | None = None
    once: bool = False
    combination: Combination | None = None

    def validate(self) -> None:
        check_shape("positions", self.positions)
        check_shape("x", self.x_shape)
        check_shape("y", self.y_shape)
        check_element("index_element", self.index_element, INDEX_KINDS)
        if self.element.bits < 8:
            raise UnsupportedError(f"element: {self.element}; expected one of 8 bits or more")
        if self.axis is not None:
            check_axis("axis", self.axis, len(self.destinations))
            if len(self.positions) != len(self.destinations):
                raise InvalidProblemError(f"positions: {self.positions}; expected the rank of destinations, {self.destinations}")
        if self.combination is not None:
            self._check_combination()
        if not self.extent and 0 not in self.positions:
            raise InvalidProblemError(f"destinations: {self.destinations} has none; expected one for the index")

    def _check_combination(self) -> None:
        kind = self.element
        if kind.is_float and kind.bits < 16:
            raise UnsupportedError(f"element: {kind} with {self.combination}; expected a float of 16 bits or more, or no float")
        if kind.category is Category.COMPLEX and self.combination != "sum":
            raise UnsupportedError(f"element: {kind} with {self.combination}; complex numbers are only summed")

    @property
    def extent(self) -> int:
        """How many values an index may have."""
        return prod(self.destinations) if self.axis is None else self.destinations[self.axis]

    @property
    def x_shape(self) -> tuple[int, ...]:
        """The shape of x."""
        return (*self.positions, *self.inner)

    @property
    def y_shape(self) -> tuple[int, ...]:
        """The shape of y."""
        return (*self.destinations, *self.inner)

    # --- the problem for a layout -------------------------------------------------------------------------------------

    def keys(self, index: OperandLayout) -> Keys:
        """Where each position goes."""
        rank, count = len(self.positions), prod(self.destinations)
        steps, scale = (0,) * rank, 1
        if self.axis is not None:
            pitches = contiguous_strides(self.destinations)
            steps = tuple(0 if a == self.axis or self.destinations[a] == 1 else p for a, p in enumerate(pitches))
            scale = pitches[self.axis]
        at = _split(index, self.index_element, self.positions, rank)
        return Keys(self.positions, at, steps, scale, self.extent, count, self.wrap, self.skip)

    def put(self, layout: Layout, *, reading: bool) -> Put:
        """The put of a layout of index, x and y."""
        index, x, y = layout if not reading else (layout[0], layout[2], layout[1])
        assert index is not None
        assert x is not None
        assert y is not None
        of_x = _split(x, self.element, self.x_shape, len(self.positions))
        of_y = _split(y, self.element, self.y_shape, len(self.destinations))
        return put(self.keys(index), self.destinations, self.inner, of_x, of_y, reading=reading, once=self.once)

    def combined(self, layout: Layout) -> Scatter:
        """The combination of a layout of index, x, base and y."""
        index, x, base, y = layout
        assert index is not None
        assert x is not None
        assert base is not None
        assert y is not None
        assert self.combination is not None
        truth = self.element is ElementKind.BOOL  # as bytes, which are 0 or 1
        kind = ElementKind.U8 if truth else self.element
        return Scatter(
            op=_OF_BOOL[self.combination] if truth else self.combination,
            mean=False,
            keys=self.keys(index),
            destinations=self.destinations,
            inner=self.inner,
            x=_split(x, kind, self.x_shape, len(self.positions)),
            rows=None,
            weights=None,
            base=_split(base, kind, self.y_shape, len(self.destinations)),
            y=_split(y, kind, self.y_shape, len(self.destinations)),
        )


def _split(layout: OperandLayout, kind: ElementKind, shape: Sequence[int], outer: int) -> TensorLayout:
    """A tensor whose first axes are outer ones, the others inner ones."""
    strides = layout.strides if all(shape) else contiguous_strides(shape)
    steps = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
    return TensorLayout(kind, steps[:outer], steps[outer:], layout.alignment, layout.general)


def _of_four(pointers: Sequence[int]) -> Sequence[int]:
    """The operands of a combination by destination, of which there are neither rows nor weights."""
    index, x, base, y = pointers
    return index, x, 0, 0, base, y


_INDEX = TensorSpec("index", "where each position goes", "positions", "index_element", varies=Axes.OUTER)
_X = TensorSpec("x", "what each position brings", "x_shape", varies=Axes.OUTER)


@dataclass
class PutArgs(Args):
    """index: where each position goes; x: what it brings; y: what it is written into."""

    index: Any
    x: Any = None
    y: Any = None


class PutPlan(Plan[PutDescriptor, PutArgs]):
    """y[d] = x[p] for the last position p, in logical order, with index[p] = d; all else of y stays.

    Elements are moved bit for bit. The workspace is 4 bytes for each destination, and none with `once`.
    """

    category, op, args = OpCategory.INDEXING, "index_put", PutArgs
    tensors = (_INDEX, _X, TensorSpec("y", "what is written into", "y_shape", written=True))

    @classmethod
    def implementations(cls, device: Device, descriptor: PutDescriptor) -> _Found:
        return candidates(device, partial(PutImplementation, device, partial(descriptor.put, reading=False)))


@dataclass
class PutBackwardArgs(Args):
    """index: where each position goes; dy: the gradient of what is there; dx: of what a position brings."""

    index: Any
    dy: Any = None
    dx: Any = None


class PutBackwardPlan(Plan[PutDescriptor, PutBackwardArgs]):
    """dx[p] = dy[d] for the last position p with index[p] = d, and 0 for the others."""

    category, op, args = OpCategory.INDEXING, "index_put_backward", PutBackwardArgs
    tensors = (
        _INDEX,
        TensorSpec("dy", "the gradient of the destinations", "y_shape", varies=Axes.OUTER),
        TensorSpec("dx", "the gradient of what each position brings", "x_shape", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: PutDescriptor) -> _Found:
        return candidates(device, partial(PutImplementation, device, partial(descriptor.put, reading=True)))


@dataclass
class PutCombinedArgs(Args):
    """index: where each position goes; x: what it brings; base: what the destinations have; y: the result."""

    index: Any
    x: Any = None
    base: Any = None
    y: Any = None


class PutCombinedPlan(Plan[PutDescriptor, PutCombinedArgs]):
    """y[d] = base[d] (op) the combination, in the canonical order, of x[p] over the positions p with index[p] = d; y may be
    base. As `ScatterPlan` otherwise, along any number of axes."""

    category, op, args = OpCategory.INDEXING, "scatter_nd_reduce", PutCombinedArgs
    tensors = (
        _INDEX,
        _X,
        TensorSpec("base", "what the destinations have", "y_shape"),
        TensorSpec("y", "the result", "y_shape", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: PutDescriptor) -> _Found:
        return candidates(device, partial(ScatterImplementation, device, descriptor.combined, descriptor.element, pick=_of_four))
