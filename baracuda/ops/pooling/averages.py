"""Averages and p-norms over windows: what avg_pool1d to 3d and lp_pool1d to 3d have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, Protocol

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr, binary
from baracuda.lowering.window.problem import Axis, covering
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.pooling.geometry import Pooled, count_numbers, laid, pooled, result_shape, spatial, window_count
from baracuda.ops.pooling.window import Taps, fold


class Averages:
    """One call: its windows, and by what each sum is divided."""

    def __init__(
        self,
        shape: Sequence[int],
        count: int,
        windows: Sequence[Pooled],
        count_include_pad: bool,
        divisor_override: int | None,
        channels_last: bool,
    ) -> None:
        self.over = spatial(shape, count, channels_last)
        self.windows, self.padded = windows, count_include_pad
        self.axes = laid(shape, self.over, [w.axis for w in windows])
        self.divisor: int | None = divisor_override
        if divisor_override is None and all(w.is_whole(padded=count_include_pad) for w in windows):
            self.divisor = prod(w.size for w in windows)

    @property
    def numbers(self) -> dict[str, float]:
        if self.divisor is not None:
            return {"divisor": self.divisor}
        return count_numbers(self.windows, self.over, padded=self.padded)

    def divided(self, w: Taps, x: Expr) -> Expr:
        """x divided by the count of the output's window."""
        if self.divisor is not None:
            by = w.number("divisor", x.kind)
        else:
            by = window_count(w, self.windows, self.over, x.kind, padded=self.padded)
        if x.kind.is_float:
            return x / by
        return binary("idiv", x, by)  # of nothing 0

    def forward(self, w: Taps) -> Expr:
        return self.divided(w, w.sum(w["x"]))

    def share(self, w: Taps) -> Expr:
        """What an output gives each of its elements."""
        return self.divided(w, w["dy"])

    def backward(self, w: Taps) -> Expr:
        total = w.sum(w["dy"])
        return total if self.divisor is None else self.divided(w, total)


def averages(
    shape: Sequence[int], count: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, auto_pad: str,
    count_include_pad: bool, divisor_override: int | None, channels_last: bool,
) -> Averages:  # fmt: skip
    source = [shape[a] for a in spatial(shape, count, channels_last)]
    if divisor_override == 0:
        raise InvalidProblemError("divisor_override: 0; expected another number")
    windows = pooled(source, kernel_size, stride, padding, dilation, ceil_mode, auto_pad)
    return Averages(shape, count, windows, count_include_pad, divisor_override, channels_last)


def check_numbers(x: TensorRef) -> None:
    """Raise unless a tensor has numbers to average."""
    if x.kind is ElementKind.BOOL or x.kind.bits < 8:
        raise UnsupportedError(f"x: element is {x.kind}; expected a number of 8 bits or more")


def parts(x: TensorRef) -> list[Any]:
    """A real tensor as it is; of a complex one both parts."""
    return [x] if x.kind.category is not Category.COMPLEX else complex_parts(x)


def complex_parts(x: TensorRef) -> list[Any]:
    """Both parts of a complex tensor, views of its memory."""
    kind = {ElementKind.C64: ElementKind.F32, ElementKind.C128: ElementKind.F64}[x.kind]
    strides = tuple(2 * s for s in x.strides)
    real = replace(x, kind=kind, strides=strides)
    step = kind.itemsize
    imaginary = replace(
        real,
        pointer=x.pointer + step,
        nbytes_available=None if x.nbytes_available is None else x.nbytes_available - step,
        nbytes_before=None if x.nbytes_before is None else x.nbytes_before + step,
    )
    return [real, imaginary]


def avg_forward(do: Steps, x: TensorRef, found: Averages) -> Any:
    check_numbers(x)
    y = do.result(result_shape(found.axes), x.kind, x)
    for part, into in zip(parts(x), parts(y), strict=True):
        fold(do, found.forward, found.axes, {"x": part}, into, numbers=found.numbers)
    return y


def avg_backward(do: Steps, dy: TensorRef, x: TensorRef, found: Averages) -> Any:
    check_slope(dy, x, result_shape(found.axes))
    return spread(do, dy, x, found)


class Divided(Protocol):
    """Sums over windows that are divided: by one number, or by what differs from window to window."""

    @property
    def axes(self) -> Sequence[Axis]:
        """The axes of the problem."""

    @property
    def divisor(self) -> int | None:
        """The number that all sums are divided by, if it is one."""

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of its formulas."""

    def share(self, w: Taps) -> Expr:
        """What an output gives each of its elements."""

    def backward(self, w: Taps) -> Expr:
        """What an element gets of these shares, or, where the divisor is one number, of dy."""


def spread(do: Steps, dy: TensorRef, x: TensorRef, found: Divided) -> Any:
    """The gradient of x, given that of averages."""
    dx = do.result(x.shape, x.kind, x)
    for part, into in zip(parts(dy), parts(dx), strict=True):
        shares: TensorRef = part
        if found.divisor is None:
            shares = do.new(dy.shape, part.kind.compute, x)
            fold(do, found.share, [Axis(n, n) for n in dy.shape], {}, shares, {"dy": part}, found.numbers)
        fold(do, found.backward, covering(found.axes), {"dy": shares}, into, numbers=found.numbers)
    return dx


def check_slope(dy: TensorRef, x: TensorRef, shape: tuple[int, ...]) -> None:
    """Raise unless dy is a gradient of a result of this shape of x."""
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    if dy.kind is not x.kind:
        raise InvalidProblemError(f"dy: element is {dy.kind}; expected {x.kind}, that of x")
    if not (x.kind.is_float or x.kind.category is Category.COMPLEX):
        raise UnsupportedError(f"x: element is {x.kind}; expected a float, which has a gradient")
