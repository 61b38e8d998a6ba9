"""Adaptive windows, which share an input among so many outputs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr, binary, cast, const
from baracuda.lowering.window.problem import LIMIT, Axis, Shared, Strided
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.pooling.averages import check_numbers, check_slope, parts, spread
from baracuda.ops.pooling.geometry import laid, result_shape, spatial
from baracuda.ops.pooling.maxima import Maxima
from baracuda.ops.pooling.window import Taps, fold
from baracuda.ops.reductions.reductions import mean

_Extent = Annotated[int, AtLeast(0)] | None
OutputSize = _Extent | tuple[_Extent, ...]


def shared(source: int, extent: int) -> Axis:
    """An axis that so many outputs share; where all take as many elements, windows side by side, which are the same."""
    if extent and source and source % extent == 0:
        return Axis(extent, source, Strided(source // extent, source // extent))
    return Axis(extent, source, Shared())


def adaptive_axes(
    shape: Sequence[int], count: int, output_size: Any, channels_last: bool
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """The axes of the problem, and which of them are pooled."""
    over = spatial(shape, count, channels_last)
    given = output_size if isinstance(output_size, tuple) else (output_size,) * count
    if len(given) != count:
        raise InvalidProblemError(f"output_size: {output_size}; expected a number, or one for each of {count} axes")
    extents = [shape[a] if m is None else m for a, m in zip(over, given, strict=True)]
    for a, m in zip(over, extents, strict=True):
        if not shape[a] and 0 not in extents:
            raise InvalidProblemError(f"x: shape is {tuple(shape)}; expected elements along axis {a}, which {m} outputs share")
    return laid(shape, over, [shared(shape[a], m) for a, m in zip(over, extents, strict=True)]), over


class _Counts:
    """By what sums are divided."""

    def __init__(self, axes: Sequence[Axis], over: Sequence[int]) -> None:
        self.axes, self.over = axes, over
        sizes: list[int] = [a.rule.size for a in (axes[o] for o in over) if isinstance(a.rule, Strided)]
        product = prod(sizes)
        self.divisor = product if len(sizes) == len(over) else None

    @property
    def numbers(self) -> dict[str, float]:
        if self.divisor is not None:
            return {"divisor": self.divisor}
        numbers: dict[str, float] = {f"source{a}": self.axes[a].source for a in self.over}
        return numbers | {f"extent{a}": self.axes[a].extent for a in self.over}

    def divided(self, w: Taps, x: Expr) -> Expr:
        total: Expr | None = None
        if self.divisor is not None:
            total = w.number("divisor", x.kind)
        else:
            for a in self.over:
                part = self._along(w, a, w.out(a))
                total = part if total is None else total * part
            assert total is not None
            total = cast(total, x.kind)
        return x / total if x.kind.is_float else binary("idiv", x, total)

    def _along(self, w: Taps, a: int, o: Expr) -> Expr:
        axis = self.axes[a]
        kind = ElementKind.S32 if (axis.extent + 1) * axis.source + axis.extent < LIMIT else ElementKind.S64
        o, n, m = cast(o, kind), w.number(f"source{a}", kind), w.number(f"extent{a}", kind)
        one = const(1, kind)
        return cast(binary("idiv", (o + one) * n + m - one, m) - binary("idiv", o * n, m), ElementKind.S32)

    def forward(self, w: Taps) -> Expr:
        return self.divided(w, w.sum(w["x"]))

    def share(self, w: Taps) -> Expr:
        """What an output gives each of its elements."""
        return self.divided(w, w["dy"])

    def backward(self, w: Taps) -> Expr:
        total = w.sum(w["dy"])
        return total if self.divisor is None else self.divided(w, total)


def adaptive_averages(do: Steps, x: TensorRef, count: int, output_size: Any, channels_last: bool) -> Any:
    check_numbers(x)
    axes, over = adaptive_axes(x.shape, count, output_size, channels_last)
    if x.kind.category in (Category.FLOAT, Category.COMPLEX) and all(axes[a].extent == 1 for a in over) and 0 not in x.shape:
        return do.run(mean, {"x": x}, do.out, axis=over, keepdims=True)
    counts = _Counts(axes, over)
    y = do.result(result_shape(axes), x.kind, x)
    for part, into in zip(parts(x), parts(y), strict=True):
        fold(do, counts.forward, axes, {"x": part}, into, numbers=counts.numbers)
    return y


def adaptive_average_backward(do: Steps, dy: TensorRef, x: TensorRef, count: int, output_size: Any, channels_last: bool) -> Any:
    axes, over = adaptive_axes(x.shape, count, output_size, channels_last)
    check_slope(dy, x, result_shape(axes))
    return spread(do, dy, x, _Counts(axes, over))


def adaptive_maxima(shape: Sequence[int], count: int, output_size: Any, channels_last: bool) -> Maxima:
    axes, over = adaptive_axes(shape, count, output_size, channels_last)
    return Maxima(axes, over, over)
