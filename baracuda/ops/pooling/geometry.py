"""Where the windows of pooling lie: sizes, strides, padding and rounding of output extents, as PyTorch and ONNX have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from baracuda.core.bounds import AtLeast
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Expr, binary, cast, const
from baracuda.lowering.window.problem import Axis, Strided
from baracuda.ops.declaration.words import Positive
from baracuda.ops.pooling.window import Taps

#: One number for every axis that is pooled, or one for each.
Sizes = Positive | tuple[Positive, ...]
Strides = Positive | tuple[Positive, ...] | None
#: Elements before and after every axis, or before and after each, or a pair for each.
Padding = (
    Annotated[int, AtLeast(0)]
    | tuple[Annotated[int, AtLeast(0)], ...]
    | tuple[tuple[Annotated[int, AtLeast(0)], Annotated[int, AtLeast(0)]], ...]
)
AutoPad = Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]


@dataclass(frozen=True)
class Pooled:
    """Windows along one axis: their size, stride and dilation, the padding before and after, the input's extent and the
    output's."""

    size: int
    stride: int
    dilation: int
    low: int
    high: int
    source: int
    extent: int

    @property
    def axis(self) -> Axis:
        return Axis(self.extent, self.source, Strided(self.size, self.stride, self.dilation, self.low))

    @property
    def reach(self) -> int:
        """How much of the padded input a window takes."""
        return (self.size - 1) * self.dilation + 1

    def is_whole(self, *, padded: bool) -> bool:
        """Whether every window lies within the input, or within that and its padding."""
        low, high = (0, 0) if padded else (self.low, self.high)
        if self.extent == 0:
            return True
        last = (self.extent - 1) * self.stride - self.low + self.reach
        return low == 0 and last <= self.source + self.high - high

    def count(self, w: Taps, o: Expr, name: str, *, padded: bool) -> Expr:
        """How many taps of the window of output o lie within the input, or within that and its padding; its numbers are
        `numbers`."""

        def n(word: str) -> Expr:
            return w.number(f"{word}{name}", o.kind)

        zero = const(0, o.kind)
        start = o * n("stride") - n("low")
        end = n("end")
        first, last = (zero, end - start) if padded else (binary("max", -start, zero), end - start)
        if self.dilation > 1:
            step = n("dilation")
            first, last = (binary("idiv", v + step - 1, step) for v in (first, binary("max", last, zero)))
        return binary("max", binary("min", last, n("size")) - binary("min", first, n("size")), zero)

    def numbers(self, name: str, *, padded: bool) -> dict[str, float]:
        end = self.source + (self.high if padded else 0)
        values = {"stride": self.stride, "low": self.low, "end": end, "dilation": self.dilation, "size": self.size}
        return {f"{word}{name}": value for word, value in values.items()}


def spatial(shape: Sequence[int], count: int, channels_last: bool) -> tuple[int, ...]:
    """The axes that are pooled of a tensor with channels, and batches or none."""
    last = len(shape) - int(channels_last)
    return tuple(range(last - count, last))


def each(value: Any, count: int, name: str) -> tuple[int, ...]:
    """One number for each axis."""
    given = (value,) * count if isinstance(value, int) else tuple(value)
    if len(given) == 1:
        given *= count
    if len(given) != count:
        raise InvalidProblemError(f"{name}: {value}; expected a number, or one for each of {count} axes")
    return given


def pads(value: Any, count: int, name: str = "padding") -> tuple[tuple[int, int], ...]:
    """What is before and after each axis."""
    if isinstance(value, int):
        return ((value, value),) * count
    given = [p if isinstance(p, tuple) else (p, p) for p in value]
    if len(given) == 1:
        given = given * count
    if len(given) != count:
        raise InvalidProblemError(f"{name}: {value}; expected a number, or a number or a pair for each of {count} axes")
    return tuple(given)


def pooled(
    source: Sequence[int],
    kernel_size: Any,
    stride: Any,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    auto_pad: str = "NOTSET",
) -> tuple[Pooled, ...]:
    """The windows along axes of these extents."""
    count = len(source)
    sizes = each(kernel_size, count, "kernel_size")
    strides = sizes if stride is None or stride == () else each(stride, count, "stride")
    dilations = each(dilation, count, "dilation")
    if auto_pad != "NOTSET" and padding not in (0, (0,) * count, ((0, 0),) * count):
        raise InvalidProblemError(f"padding: {padding} with auto_pad={auto_pad!r}; expected one of them")
    found = []
    for n, k, s, d, (low, high) in zip(source, sizes, strides, dilations, pads(padding, count), strict=True):
        reach = (k - 1) * d + 1
        if auto_pad.startswith("SAME"):
            extent = -(-n // s)
            total = max((extent - 1) * s + reach - n, 0)
            low, high = (total // 2, total - total // 2) if auto_pad == "SAME_UPPER" else (total - total // 2, total // 2)
        else:
            if max(low, high) >= reach:
                raise InvalidProblemError(
                    f"padding: {(low, high)}; expected less than the {reach} elements that a window reaches"
                )
            room = n + low + high - reach
            extent = (-(-room // s) if ceil_mode else room // s) + 1
            if ceil_mode and (extent - 1) * s >= n + low:  # the last window must begin within the input or the padding before it
                extent -= 1
        if extent <= 0 or n == 0:
            raise InvalidProblemError(
                f"x: an extent of {n}, padded by {low} and {high}, is less than the {reach} elements that a window reaches; "
                "expected room for one"
            )
        found.append(Pooled(k, s, d, low, high, n, extent))
    return tuple(found)


def laid(shape: Sequence[int], axes: Sequence[int], windows: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes of a problem: windows along some, the others plain."""
    found = [Axis(n, n) for n in shape]
    for a, window in zip(axes, windows, strict=True):
        found[a] = window
    return tuple(found)


def result_shape(axes: Sequence[Axis]) -> tuple[int, ...]:
    """The shape of the result; raises the named error of an axis that no kernel takes."""
    for a, axis in enumerate(axes):
        axis.check(f"axis {a}")
    return tuple(a.extent for a in axes)


def window_count(w: Taps, windows: Sequence[Pooled], axes: Sequence[int], kind: Any, *, padded: bool) -> Expr:
    """How many taps count in the window of an output."""
    total: Expr | None = None
    for window, a in zip(windows, axes, strict=True):
        part = window.count(w, w.out(a), str(a), padded=padded)
        total = part if total is None else total * part
    assert total is not None
    return cast(total, kind)


def count_numbers(windows: Sequence[Pooled], axes: Sequence[int], *, padded: bool) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for window, a in zip(windows, axes, strict=True):
        numbers |= window.numbers(str(a), padded=padded)
    return numbers
