"""Long convolutions by Fourier transforms."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import broadcast_shape, broadcasted, slab, view
from baracuda.formula.complex import Complex
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, whole
from baracuda.ops.declaration.traced import Value
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.elementwise.binary_ops import add, mul
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.fft.plan import FourierDescriptor, FourierPlan
from baracuda.ops.fft.tables import INTERNAL
from baracuda.ops.reductions.reductions import sum_


def _product(a: Value, b: Value, *, conjugate: bool = False) -> Value:
    """a b, or a times the conjugate of b."""
    return a * (b.conjugate() if conjugate and isinstance(b, Complex) else b)


product_op = Op(_product, Rule.COMMON, name="product_of_transforms", **INTERNAL)


def fast_length(least: int) -> int:
    """A length of at least so many that is transformed fast: of the primes 2, 3 and 5, and even."""
    best = 1 << max(least - 1, 1).bit_length()
    for a in (1, 3, 5, 9, 15, 25, 27, 45, 75, 81, 125, 135):
        length = 2 * a
        while length < least:
            length *= 2
        best = min(best, length)
    return best


def to_frequencies(do: Steps, x: TensorRef, n: int) -> Any:
    """The real transform of n of the last axis."""
    d = FourierDescriptor(x.shape, len(x.shape) - 1, n, x.kind, whole(x.kind), "real")
    return do.plan(FourierPlan, d, {"x": x})


def from_frequencies(do: Steps, z: TensorRef, n: int, kind: ElementKind) -> Any:
    """The real rows of n that a half of their transform belongs to."""
    d = FourierDescriptor(z.shape, len(z.shape) - 1, n, z.kind, kind, "half", True, "n")
    return do.plan(FourierPlan, d, {"x": z})


def multiplied(do: Steps, a: TensorRef, b: TensorRef, *, conjugate: bool = False) -> Any:
    return do.run(product_op, {"a": a, "b": b}, conjugate=conjugate)


_PATTERNS: dict[str, Any] = {"x": "*batch length : T float", "weight": "*filters taps : T float", "skip": "*channels : T float"}


@composed(**_PATTERNS)
def fft_conv(do: Steps, x: TensorRef, weight: TensorRef, skip: Given = None) -> Any:
    """The causal convolution of rows with filters that may be as long as they are, by Fourier transforms (Hyena, S4):
    y_t = sum over s <= t of weight_s x_(t-s), and with `skip` + skip x_t.

    The axes of x and weight before the last one broadcast, and so does skip with the axes of x before the last. Taps beyond the
    length of x do not count. Computed in f32, of f64 in f64: real transforms of an even length of primes up to 5, a product, and
    the transform back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fft_conv(np.float32([1, 0, 0, 2]), np.float32([1, 2, 3, 4])).round(5).tolist()
    [1.0, 2.0, 3.0, 6.0]
    """
    length, taps = x.shape[-1], min(weight.shape[-1], x.shape[-1])
    kind = x.kind
    shape = _result_shape(x, weight)
    if 0 in shape or not taps:
        return do.filled(shape, kind, 0)
    n = fast_length(length + taps - 1)
    wide, filters = in_element(do, x, kind.compute), in_element(do, _first(weight, taps), kind.compute)
    z = multiplied(do, to_frequencies(do, wide, n), to_frequencies(do, filters, n))
    y = _first(from_frequencies(do, z, n, kind.compute), length)
    if skip is not None:
        y = do.run(add, {"a": y, "b": do.run(mul, {"a": wide, "b": _column(in_element(do, skip, kind.compute))})})
    result = do.new(shape, kind)
    do.copy(broadcasted(y, shape), result)
    return result


def _first(x: TensorRef, count: int) -> Any:
    return slab(x, len(x.shape) - 1, 0, count)


def _column(skip: TensorRef) -> Any:
    return view(skip, 0, (*skip.shape, 1), (*skip.strides, 0))


def _result_shape(x: TensorRef, weight: TensorRef) -> tuple[int, ...]:
    return (*broadcast_shape([x.shape[:-1], weight.shape[:-1]]), x.shape[-1])


@composed(dy="... : T float", **_PATTERNS)
def fft_conv_backward(do: Steps, dy: TensorRef, x: TensorRef, weight: TensorRef, skip: Given = None, *, wrt: Wrt = None) -> Any:
    """The gradients of `fft_conv`'s x, weight and skip, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, w = np.float32([0, 0, 1]), np.float32([1, 2, 3]), np.float32([1, 0, 2])
    >>> [g.round(5).tolist() for g in baracuda.fft_conv_backward(dy, x, w)]
    [[2.0, 0.0, 1.0], [3.0, 2.0, 1.0]]
    """
    tensors = {n: t for n, t in (("x", x), ("weight", weight), ("skip", skip)) if t is not None}
    names = chosen(wrt, tuple(tensors))
    shape, kind = _result_shape(x, weight), x.kind
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    length, taps = x.shape[-1], min(weight.shape[-1], x.shape[-1])
    if 0 in shape or not taps:
        return one_or_all([do.filled(tensors[n].shape, kind, 0) for n in names])
    n = fast_length(length + taps - 1)
    slope, wide = in_element(do, dy, kind.compute), in_element(do, x, kind.compute)
    z: Any = to_frequencies(do, slope, n) if {*names} & {"x", "weight"} else None
    made: dict[str, Any] = {}
    for name in names:
        own = tensors[name]
        target = do.new(own.shape, kind)
        if name == "skip":
            per_row = do.run(sum_, {"x": do.run(mul, {"a": slope, "b": wide})}, axis=-1)
            summed_to(do, per_row, target)
        else:
            other = _first(weight, taps) if name == "x" else x
            w = to_frequencies(do, in_element(do, other, kind.compute), n)
            found = from_frequencies(do, multiplied(do, z, w, conjugate=True), n, kind.compute)
            count = length if name == "x" else taps
            if name == "x" and skip is not None:
                through = do.run(mul, {"a": slope, "b": _column(in_element(do, skip, kind.compute))})
                found = do.run(add, {"a": _first(found, count), "b": through})
            if name == "weight" and taps < own.shape[-1]:
                do.zero(slab(target, len(own.shape) - 1, taps, own.shape[-1]))
            summed_to(do, _first(found, count), _first(target, count))
        made[name] = target
    return one_or_all([made[name] for name in names])


def summed_to(do: Steps, x: TensorRef, target: Any) -> None:
    """x summed over the axes along which the target was broadcast."""
    lead = len(x.shape) - len(target.shape)
    axes = tuple(a for a in range(len(x.shape)) if a < lead or (target.shape[a - lead] == 1 and x.shape[a] != 1))
    if axes:
        x = do.run(sum_, {"x": x}, axis=axes, keepdims=True)
        x = do.reshaped(x, target.shape)
    do.copy(x, target)
