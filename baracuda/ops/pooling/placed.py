"""Fractional windows, whose places follow from samples."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any

from baracuda.core.bounds import Above, Below
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, view
from baracuda.formula.expr import Expr, cast, compare, select
from baracuda.lowering.window.problem import Axis, Placed
from baracuda.ops.declaration.composition import Given, Steps
from baracuda.ops.declaration.words import Positive
from baracuda.ops.indexing.moves import cleared
from baracuda.ops.indexing.places import Places
from baracuda.ops.pooling.averages import check_slope
from baracuda.ops.pooling.geometry import each, laid, result_shape, spatial
from baracuda.ops.pooling.maxima import Maxima, max_forward
from baracuda.ops.pooling.window import Taps, fold

OutputSizes = Positive | tuple[Positive, ...] | None
_Ratio = Annotated[float, Above(0), Below(1)]
OutputRatio = _Ratio | tuple[_Ratio, ...] | None
_S32 = ElementKind.S32


class Fractional:
    """One call: how large windows and outputs are, and the samples."""

    def __init__(
        self,
        x: TensorRef,
        count: int,
        kernel_size: Any,
        output_size: Any,
        output_ratio: Any,
        samples: Given,
        channels_last: bool,
        *,
        given: bool = False,
    ) -> None:
        shape = x.shape
        self.over, self.count, self.channels_last = spatial(shape, count, channels_last), count, channels_last
        self.sizes = each(kernel_size, count, "kernel_size")
        if (output_size is None) == (output_ratio is None):
            raise InvalidProblemError(f"output_size, output_ratio: {output_size}, {output_ratio}; expected one of them")
        source = [shape[a] for a in self.over]
        if output_size is not None:
            self.extents = each(output_size, count, "output_size")
        else:
            ratios = (output_ratio,) * count if isinstance(output_ratio, (int, float)) else tuple(output_ratio)
            if len(ratios) != count:
                raise InvalidProblemError(f"output_ratio: {output_ratio}; expected a number, or one for each of {count} axes")
            self.extents = tuple(int(n * r) for n, r in zip(source, ratios, strict=True))
        for n, k, m in zip(source, self.sizes, self.extents, strict=True):
            if m < 1 or m + k - 1 > n:
                raise InvalidProblemError(
                    f"x: shape is {shape}; expected room for {m} windows of {k} that begin one behind the other in {n} elements"
                )
        batch = shape[0] if len(shape) == count + 2 else 1
        channels = shape[-1] if channels_last else shape[len(shape) - count - 1]
        if samples is None and not given:
            raise InvalidProblemError(
                f"_random_samples: got None; expected a tensor of shape {(batch, channels, count)}, in 0 to 1"
            )
        if samples is not None and samples.shape != (batch, channels, count):
            raise InvalidProblemError(f"_random_samples: shape is {samples.shape}; expected {(batch, channels, count)}")
        self.samples, self.shape, self.source = samples, shape, source

    @property
    def result(self) -> tuple[int, ...]:
        """The shape of the output."""
        windows = [Axis(m, n, Placed(k, "")) for m, n, k in zip(self.extents, self.source, self.sizes, strict=True)]
        return result_shape(laid(self.shape, self.over, windows))

    @property
    def maxima(self) -> Maxima:
        windows = [
            Axis(m, n, Placed(k, f"starts{d}"))
            for d, (m, n, k) in enumerate(zip(self.extents, self.source, self.sizes, strict=True))
        ]
        return Maxima(laid(self.shape, self.over, windows), self.over, self.over)

    def starts(self, do: Steps) -> dict[str, TensorRef]:
        """Where the windows of each channel begin along each axis, as tensors of the output's shape."""
        assert self.samples is not None
        found: dict[str, TensorRef] = {}
        batch, channels, _ = self.samples.shape
        for d, (m, n, k) in enumerate(zip(self.extents, self.source, self.sizes, strict=True)):
            column = self.count - 1 - d if self.count == 2 else d
            samples: Any = view(
                self.samples, column * self.samples.strides[2], (batch, channels, m), (*self.samples.strides[:2], 0)
            )
            starts = do.new((batch, channels, m), _S32)
            axes = tuple(Axis(e, e) for e in (batch, channels, m))
            numbers = {"room": n - k, "gaps": max(m - 1, 1), "last": m - 1}
            fold(do, _start, axes, {}, starts, {"u": samples}, numbers)
            found[f"starts{d}"] = self._spread(starts, d)
        return found

    def _spread(self, starts: TensorRef, d: int) -> Any:
        """The starts along one axis, repeated along the others."""
        batch, channels, behind = starts.strides
        lead = [batch] if len(self.shape) == self.count + 2 else []
        inner = [behind if e == d else 0 for e in range(self.count)]
        strides = (*lead, *inner, channels) if self.channels_last else (*lead, channels, *inner)
        return view(starts, 0, self.result, strides)


def _start(w: Taps) -> Expr:
    u = w["u"]
    kind = u.kind
    step = w.number("room", kind) / w.number("gaps", kind)
    o = w.out(2)
    start = cast((cast(o, kind) + u) * step, _S32) - cast(u * step, _S32)
    return select(compare("lt", o, w.number("last", _S32)), start, w.number("room", _S32))


def fractional_forward(do: Steps, x: TensorRef, found: Fractional, return_indices: bool) -> Any:
    starts: dict[str, TensorRef]
    if 0 in found.result:
        starts = {f"starts{d}": do.new(found.result, _S32) for d in range(found.count)}
    else:
        starts = found.starts(do)
    return max_forward(do, x, found.maxima, return_indices=return_indices, starts=starts)


def planes(do: Steps, x: TensorRef, count: int, channels_last: bool) -> TensorRef:
    """A row of a tensor's elements for each channel."""
    if channels_last:
        rank = len(x.shape)
        x = permuted(x, (*range(rank - count - 1), rank - 1, *range(rank - 1 - count, rank - 1)))
    size = prod(x.shape[len(x.shape) - count :])
    rows = prod(x.shape[: len(x.shape) - count])
    found: TensorRef = do.reshaped(x, (rows, size))
    return found


def fractional_backward(do: Steps, dy: TensorRef, x: TensorRef, indices: Given, found: Fractional) -> Any:
    check_slope(dy, x, found.result)
    if indices is None:
        made = do.new(found.result, _S32, x)
        if 0 not in found.result:
            maxima = found.maxima
            fold(do, maxima.place, maxima.axes, {"x": x}, made, found.starts(do), maxima.numbers)
        indices = made
    elif indices.shape != found.result:
        raise InvalidProblemError(f"indices: shape is {indices.shape}; expected {found.result}")
    dx: TensorMut = do.result(x.shape, x.kind, x)
    rows = (prod(x.shape) // max(1, prod(found.source)), prod(found.source))
    summed = do.rows(rows, x.kind)
    cleared(do, summed)
    places = Places(planes(do, indices, found.count, found.channels_last), (0, 1), wrap=False, aligned=1)
    places.write(do, summed, planes(do, dy, found.count, found.channels_last), "sum")
    copy_planes(do, summed, dx, found.count, found.channels_last)
    return dx


def copy_planes(do: Steps, rows: TensorRef, into: TensorMut, count: int, channels_last: bool) -> None:
    """Rows of channels into a tensor."""
    rank = len(into.shape)
    target: Any = into
    if channels_last:
        target = permuted(into, (*range(rank - count - 1), rank - 1, *range(rank - 1 - count, rank - 1)))
    if 0 not in into.shape:
        do.copy(do.reshaped(rows, target.shape), target)
