"""Norms of windows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated, Any

from baracuda.core.bounds import Finite, OtherThan
from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr, compare, const, power, select, unary
from baracuda.formula.functions import sqrt
from baracuda.lowering.window.problem import covering
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.pooling.averages import check_slope
from baracuda.ops.pooling.geometry import count_numbers, laid, pooled, result_shape, spatial, window_count
from baracuda.ops.pooling.window import Taps, fold

NormOrder = Annotated[float, OtherThan(0), Finite()]


class Norm:
    """One call: its windows, and the order of the norm."""

    def __init__(
        self, shape: Sequence[int], count: int, p: float, absolute: bool, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, ceil_mode: bool, auto_pad: str, channels_last: bool,
    ) -> None:  # fmt: skip
        self.over = spatial(shape, count, channels_last)
        self.p, self.absolute = float(p), absolute
        source = [shape[a] for a in self.over]
        self.windows = pooled(source, kernel_size, stride, padding, dilation, ceil_mode, auto_pad)
        self.axes = laid(shape, self.over, [w.axis for w in self.windows])
        #: Whether every window counts as it is: only of those that reach beyond the padding a part stands for the whole.
        self.is_whole = all(w.is_whole(padded=True) for w in self.windows)
        self.size = prod(w.size for w in self.windows)

    @property
    def numbers(self) -> dict[str, float]:
        numbers = {"p": self.p, "inverse": 1.0 / self.p, "rest": 1.0 / self.p - 1.0, "less": self.p - 1.0, "size": self.size}
        return numbers | count_numbers(self.windows, self.over, padded=True)

    def raised(self, w: Taps, x: Expr, exponent: float, name: str) -> Expr:
        if exponent in (0.0, 1.0, 2.0, 3.0, -1.0):
            return power(x, exponent) if exponent else const(1.0, x.kind)
        return sqrt(x) if exponent == 0.5 else power(x, w.number(name, x.kind))

    def total(self, w: Taps) -> Expr:
        x = abs(w["x"]) if self.absolute else w["x"]
        total = w.sum(self.raised(w, x, self.p, "p"))
        if self.is_whole:
            return total
        return total / self._count(w, total.kind) * w.number("size", total.kind)

    def _count(self, w: Taps, kind: ElementKind) -> Expr:
        return window_count(w, self.windows, self.over, kind, padded=True)

    def forward(self, w: Taps) -> Expr:
        return self.raised(w, self.total(w), 1.0 / self.p, "inverse")

    def slope(self, w: Taps) -> Expr:
        """dy * y**(1 - p), which is what an output gives each x**(p - 1); 0 where y is 0."""
        total, dy = self.total(w), w["dy"]
        found = dy * self.raised(w, total, 1.0 / self.p - 1.0, "rest")
        if not self.is_whole:
            found = found / self._count(w, total.kind) * w.number("size", total.kind)
        return select(compare("eq", total, 0.0), const(0.0, total.kind), found)

    def backward(self, w: Taps) -> Expr:
        x, slope = w["x"], w.sum(w["slope"])
        if self.p == 1.0 and not self.absolute:
            return slope
        size = abs(x) if self.absolute else x
        power_ = self.raised(w, size, self.p - 1.0, "less")
        if self.absolute:
            power_ = select(compare("lt", x, 0.0), unary("neg", power_), power_)
            power_ = select(compare("eq", x, 0.0), const(0.0, x.kind), power_)
        return power_ * slope


def lp_forward(do: Steps, x: TensorRef, found: Norm) -> Any:
    y = do.result(result_shape(found.axes), x.kind, x)
    return fold(do, found.forward, found.axes, {"x": x}, y, numbers=found.numbers)


def lp_backward(do: Steps, dy: TensorRef, x: TensorRef, found: Norm) -> Any:
    shape = result_shape(found.axes)
    check_slope(dy, x, shape)
    slope = do.new(shape, x.kind.compute, x)
    fold(do, found.slope, found.axes, {"x": x}, slope, {"dy": dy}, found.numbers)
    dx = do.result(x.shape, x.kind, x)
    fold(do, found.backward, covering(found.axes), {"slope": slope}, dx, {"x": x}, found.numbers)
    return dx
