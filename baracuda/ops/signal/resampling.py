"""Signals at another rate: polyphase filters of windowed sinc functions.

With rates divided by their greatest common divisor to `orig` and `new`, the base rate b = min(orig, new) * rolloff, and
width = ceil(lowpass_filter_width * orig / b), phase i of `new` is the product of orig + 2 width elements from i' * orig - width
on with the filter sinc(t) w(t) b / orig, t = b ((k - width) / orig - i / new) clamped to lowpass_filter_width. Filters are
computed in float64 and rounded once; each result is a matrix product's sum.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from baracuda.core.bounds import Above, AtLeast, Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits, slab, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Scalar, Stored
from baracuda.ops.declaration.words import Positive
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.signal.overlaps import overlapped
from baracuda.ops.signal.windows import INTERNAL, kaiser_of

_F64 = ElementKind.F64
#: Elements that the filters of two rates may have.
_MOST = 1 << 31
Window = Literal["sinc_interp_hann", "sinc_interp_kaiser"]
Part = Annotated[float, Above(0), Finite()]


def _filter(
    x: Expr, *, width: Scalar = 0.0, orig: Scalar = 1.0, new: Scalar = 1.0, base: Scalar = 1.0, zeros: Scalar = 6.0,
    beta: Scalar = 0.0, kaiser: bool = False, element: ElementKind | None,
) -> Result:  # fmt: skip
    """The filters, a row for each phase."""
    assert element is not None
    phase, tap = cast(coord(0), _F64), cast(coord(1), _F64)
    rate, limit, before = as_expr(base, _F64), as_expr(zeros, _F64), as_expr(orig, _F64)
    t = ((tap - as_expr(width, _F64)) / before - phase / as_expr(new, _F64)) * rate
    t = f.minimum(f.maximum(t, -limit), limit)
    if kaiser:
        window = kaiser_of(t / limit, as_expr(beta, _F64))
    else:
        c = f.cos(t * const(math.pi, _F64) / limit * 0.5)
        window = c * c
    angle = t * const(math.pi, _F64)
    nowhere = f.equal(angle, 0.0)
    sinc = select(nowhere, const(1.0, _F64), f.sin(angle) / select(nowhere, const(1.0, _F64), angle))
    return Stored(cast(sinc * (window * (rate / before)), element.compute), element)


_filter_op = Op(_filter, Rule.EACH, name="sinc_filters", element_option=True, **INTERNAL)


class _Rates:
    """The filters of two rates and how they are applied to rows of a length."""

    def __init__(self, orig: int, new: int, zeros: int, rolloff: float, length: int) -> None:
        common = math.gcd(orig, new)
        self.orig, self.new, self.zeros = orig // common, new // common, zeros
        self.base = min(self.orig, self.new) * rolloff
        self.width = math.ceil(zeros * self.orig / self.base)
        self.taps = 2 * self.width + self.orig
        self.frames = length // self.orig + 1
        self.length = -(-self.new * length // self.orig)
        if self.new * self.taps > _MOST:
            filters = f"{self.new} filters of {self.taps} taps"
            raise UnsupportedError(f"orig_freq, new_freq: {orig}, {new}, which need {filters}; expected at most {_MOST} in all")
        self.padded = (self.frames - 1) * self.orig + self.taps

    def filters(self, do: Steps, kind: ElementKind, method: Window, beta: float) -> Any:
        y = do.rows((self.new, self.taps), kind)
        numbers = {"width": self.width, "orig": self.orig, "new": self.new, "base": self.base, "zeros": self.zeros, "beta": beta}
        kaiser = method == "sinc_interp_kaiser"
        do.run(_filter_op, {"x": as_bits(y)}, y, dtype=kind, kaiser=kaiser, **{k: float(v) for k, v in numbers.items()})
        return y

    def frames_of(self, rows: TensorRef) -> Any:
        step, by = rows.strides
        return view(rows, 0, (rows.shape[0], self.frames, self.taps), (step, by * self.orig, by))


@composed(x="*batch length : float")
def resample(
    do: Steps,
    x: TensorRef,
    orig_freq: Positive,
    new_freq: Positive,
    lowpass_filter_width: Positive = 6,
    rolloff: Part = 0.99,
    resampling_method: Window = "sinc_interp_hann",
    beta: Annotated[float, AtLeast(0), Finite()] = 14.769656459379492,
) -> Any:
    """Rows sampled at orig_freq, at new_freq: ceil(length * new_freq / orig_freq) elements of each, by sinc functions of
    lowpass_filter_width zeros on both sides, cut off at `rolloff` of half the lower rate, under a Hann or a Kaiser window; zeros
    stand beyond the ends of a row. As torchaudio.functional.resample; scipy.signal.resample_poly differs in its filter.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.resample(np.zeros((2, 441), np.float32), 44100, 16000).shape
    (2, 160)
    """
    rates = _Rates(orig_freq, new_freq, lowpass_filter_width, rolloff, x.shape[-1])
    if rates.orig == rates.new or 0 in x.shape:
        y = do.new((*x.shape[:-1], rates.length), x.kind)
        if 0 not in y.shape:
            do.copy(x, y)
        return y
    kind = x.kind.compute
    flat = do.reshaped(x, (-1, x.shape[-1]))
    rows = do.rows((flat.shape[0], rates.padded), kind)
    kept = min(rates.padded - rates.width, flat.shape[1])
    do.move([(slab(flat, 1, 0, kept), slab(rows, 1, rates.width, rates.width + kept))], rows, 0)
    filters = rates.filters(do, kind, resampling_method, beta)
    frames = rates.frames_of(rows)
    d = MatmulDescriptor(frames.shape, filters.shape, "bmk", "nk", "bmn", kind, kind, kind)
    phases = do.reshaped(do.plan(MatmulPlan, d, {"a": frames, "b": filters}), (flat.shape[0], -1))
    y = do.new((*x.shape[:-1], rates.length), x.kind)
    do.copy(do.reshaped(slab(phases, 1, 0, rates.length), y.shape), y)
    return y


@composed(dy="...", x="*batch length : float")
def resample_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    orig_freq: Positive,
    new_freq: Positive,
    lowpass_filter_width: Positive = 6,
    rolloff: Part = 0.99,
    resampling_method: Window = "sinc_interp_hann",
    beta: Annotated[float, AtLeast(0), Finite()] = 14.769656459379492,
) -> Any:
    """The gradient of `resample`'s x, of which the shape and element are looked at.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.zeros((2, 441), np.float32)
    >>> baracuda.resample_backward(np.ones((2, 160), np.float32), x, 44100, 16000).shape
    (2, 441)
    """
    rates = _Rates(orig_freq, new_freq, lowpass_filter_width, rolloff, x.shape[-1])
    expected = (*x.shape[:-1], rates.length)
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    dx = do.new(x.shape, x.kind)
    if 0 in x.shape:
        return dx
    if rates.orig == rates.new:
        do.copy(dy, dx)
        return dx
    kind = x.kind.compute
    flat = do.reshaped(in_element(do, dy, kind), (-1, rates.length))
    whole = do.rows((flat.shape[0], rates.frames * rates.new), kind)
    kept = min(rates.length, whole.shape[1])
    do.move([(slab(flat, 1, 0, kept), slab(whole, 1, 0, kept))], whole, 0)
    phases = do.reshaped(whole, (flat.shape[0], rates.frames, rates.new))
    filters = rates.filters(do, kind, resampling_method, beta)
    d = MatmulDescriptor(phases.shape, filters.shape, "bmn", "nk", "bmk", kind, kind, kind)
    frames = do.plan(MatmulPlan, d, {"a": phases, "b": filters})
    rows = overlapped(do, frames, rates.orig, rates.padded)
    length = x.shape[-1]
    do.copy(do.reshaped(slab(rows, 1, rates.width, rates.width + length), x.shape), dx)
    return dx
