"""The largest of each window, and its gradient: what max_pool1d to 3d and the adaptive ones have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr, cast, compare, const, select
from baracuda.lowering.window.problem import LIMIT, Axis, covering
from baracuda.ops.declaration.composition import Given, Steps
from baracuda.ops.pooling.averages import check_slope
from baracuda.ops.pooling.geometry import laid, pooled, result_shape, spatial
from baracuda.ops.pooling.window import Taps, fold

StorageOrder = Literal[0, 1]
_S32, _S64 = ElementKind.S32, ElementKind.S64


@dataclass(frozen=True)
class Maxima:
    """One call: its axes, those that are pooled, and how an index counts.

    Attributes
    ----------
    counted
        The axes that an index counts, the last one fastest, within a channel.
    whole
        Whether it counts the whole tensor: the axes that are not pooled before these.
    """

    axes: tuple[Axis, ...]
    over: tuple[int, ...]
    counted: tuple[int, ...]
    whole: bool = False

    @property
    def outer(self) -> tuple[int, ...]:
        """The axes that are not pooled."""
        return tuple(a for a in range(len(self.axes)) if a not in self.over)

    @property
    def plane(self) -> int:
        return prod(self.axes[a].source for a in self.over)

    @property
    def kind(self) -> ElementKind:
        """What indices are counted in."""
        return _S32 if self.plane < LIMIT else _S64

    @property
    def numbers(self) -> dict[str, float]:
        numbers: dict[str, float] = {f"extent{a}": axis.source for a, axis in enumerate(self.axes)}
        return numbers | {"plane": self.plane}

    def position(self, w: Taps, *, tap: bool) -> Expr:
        """The number of the tap or the output in its channel."""
        return w.position(self.counted, (), self.kind, tap=tap)

    def numbered(self, w: Taps, index: Expr) -> Expr:
        """An index as it is returned, of one within a channel."""
        index = cast(index, _S64)
        if not self.whole or not self.outer:
            return index
        channel = w.position(self.outer, (), _S64, tap=False)
        return select(compare("lt", index, 0), const(-1, _S64), channel * w.number("plane", _S64) + index)

    def located(self, w: Taps) -> tuple[Expr, Expr]:
        value, index = w.largest(w["x"], self.position(w, tap=True))
        return value, self.numbered(w, index)

    def place(self, w: Taps) -> Expr:
        """The index alone, within its channel."""
        return w.largest(w["x"], self.position(w, tap=True))[1]

    def value(self, w: Taps) -> Expr:
        return w.reduce("max", w["x"])


def max_pools(
    shape: Sequence[int], count: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, auto_pad: str,
    storage_order: int, whole: bool, channels_last: bool,
) -> Maxima:  # fmt: skip
    over = spatial(shape, count, channels_last)
    windows = pooled([shape[a] for a in over], kernel_size, stride, padding, dilation, ceil_mode, auto_pad)
    counted = over[::-1] if storage_order else over
    return Maxima(laid(shape, over, [w.axis for w in windows]), over, counted, whole)


def check_ordered(x: TensorRef) -> None:
    """Raise unless elements have an order."""
    if x.kind.category is Category.COMPLEX or x.kind.bits < 8:
        raise UnsupportedError(f"x: element is {x.kind}; expected one of 8 bits or more that is not complex")


def max_forward(
    do: Steps, x: TensorRef, found: Maxima, *, return_indices: bool, starts: dict[str, TensorRef] | None = None
) -> Any:
    """The largest elements, or these and their indices; `starts` are where windows begin that have no rule."""
    check_ordered(x)
    shape = result_shape(found.axes)
    y = do.new(shape, x.kind, x)
    if not return_indices:
        return fold(do, found.value, found.axes, {"x": x}, y, starts)
    indices = do.new(shape, _S64, x)
    fold(do, found.located, found.axes, {"x": x}, (y, indices), starts, found.numbers)
    return y, indices


def max_backward(do: Steps, dy: TensorRef, x: TensorRef, indices: Given, found: Maxima) -> Any:
    shape = result_shape(found.axes)
    check_slope(dy, x, shape)
    within: TensorRef
    if indices is None:
        within = do.new(shape, found.kind, x)
        fold(do, found.place, found.axes, {"x": x}, within, None, found.numbers)
        whole = False
    else:
        if indices.shape != shape:
            raise InvalidProblemError(f"indices: shape is {indices.shape}; expected {shape}")
        within, whole = indices, found.whole

    most = prod(x.shape) if whole else found.plane

    def slope(w: Taps) -> Expr:
        kind = _S32 if most < LIMIT else w["indices"].kind
        here = w.position(found.counted, (), kind, tap=False)
        if whole and found.outer:
            here = w.position(found.outer, (), kind, tap=False) * w.number("plane", kind) + here
        dy = w["dy"]
        return w.sum(select(compare("eq", cast(w["indices"], kind), here), dy, const(0, dy.kind)))

    dx = do.result(x.shape, x.kind, x)
    numbers = {**{f"extent{a}": n for a, n in enumerate(x.shape)}, "plane": found.plane}
    fold(do, slope, covering(found.axes), {"dy": dy, "indices": within}, dx, None, numbers)
    return dx
