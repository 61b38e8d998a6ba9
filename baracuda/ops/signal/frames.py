"""Short-time Fourier transforms and their inverses.

The transform of a frame is that of `rfft` (or `fft`) of the frame times the window. The inverse adds the frames that overlap,
each times the window, in their order (`baracuda/ops/signal/overlaps.py`), and divides by the same sum of the squares of the
window.
"""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import broadcasted, permuted, slab, view
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.promotion import part, whole
from baracuda.ops.declaration.words import Positive, Wrt
from baracuda.ops.elementwise.binary_ops import div, mul
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.fft.plan import FourierDescriptor, FourierPlan
from baracuda.ops.reductions.reductions import sum_
from baracuda.ops.shapes.pads import pad, pad_backward
from baracuda.ops.signal.overlaps import overlapped

Padding = Literal["constant", "reflect", "edge", "replicate", "wrap", "circular", "symmetric"]


class _Geometry:
    """How frames lie."""

    def __init__(self, n_fft: int, hop_length: int | None, win_length: int | None, window: TensorRef | None) -> None:
        given = window.shape[0] if window is not None else n_fft
        self.n, self.hop = n_fft, hop_length or max(n_fft // 4, 1)
        self.width = win_length or given
        if self.width > n_fft:
            raise InvalidProblemError(f"win_length: {self.width}; expected at most n_fft, which is {n_fft}")
        if window is not None and window.shape[0] != self.width:
            raise InvalidProblemError(f"window: shape is {window.shape}; expected ({self.width},), win_length")

    def window(self, do: Steps, window: TensorRef | None, kind: ElementKind) -> Any:
        """The window with zeros on both sides; None where it is 1 everywhere."""
        if window is None and self.width == self.n:
            return None
        row = do.rows((self.n,), kind)
        before = (self.n - self.width) // 2
        do.zero(row)
        target = slab(row, 0, before, before + self.width)
        if window is None:
            do.fill(target, 1)
        else:
            do.copy(window, target)
        return row


def _computed(kind: ElementKind) -> ElementKind:
    """The element that frames of an element are transformed in."""
    return kind if kind.category is Category.COMPLEX else kind.compute if kind.is_float else ElementKind.F32


def _is_half(x: TensorRef, window: TensorRef | None, onesided: bool | None) -> bool:
    """Whether only the first half of each transform is wanted."""
    complex_ = x.kind.category is Category.COMPLEX or (window is not None and window.kind.category is Category.COMPLEX)
    if complex_ and onesided:
        raise UnsupportedError("onesided: True of complex numbers; expected False")
    return not complex_ if onesided is None else onesided


def _padded_shape(x: TensorRef, n: int, *, center: bool) -> tuple[int, ...]:
    return (*x.shape[:-1], x.shape[-1] + (2 * (n // 2) if center else 0))


def _frame_count(length: int, g: _Geometry, shape: tuple[int, ...]) -> int:
    if length < g.n:
        raise InvalidProblemError(f"x: shape is {shape}, which gives rows of {length}; expected n_fft, {g.n}, elements or more")
    return 1 + (length - g.n) // g.hop


def _frames_of(x: TensorRef, g: _Geometry, count: int) -> Any:
    """The frames of rows: a view, with the elements of each along a new last axis."""
    return view(x, 0, (*x.shape[:-1], count, g.n), (*x.strides[:-1], x.strides[-1] * g.hop, x.strides[-1]))


def _lengthened(do: Steps, x: TensorRef, n: int, mode: str, *, center: bool) -> TensorRef:
    if not center:
        return x
    side, words = n // 2, {"replicate": "edge", "circular": "wrap"}
    if words.get(mode, mode) == "reflect" and x.shape[-1] <= side:
        raise InvalidProblemError(
            f"n_fft: {n} of rows of {x.shape[-1]}; expected rows longer than half of it, which reflect there"
        )
    padded: TensorRef = _pad(do, x, side, mode)
    return padded


def _pad(do: Steps, x: TensorRef, side: int, mode: str) -> Any:
    if not side:
        return x
    before, do.out = do.out, None
    padded = pad(do, x, ((side, side),), mode, axes=-1)
    do.out = before
    return padded


def transformed_frames(
    do: Steps,
    x: TensorRef,
    window: TensorRef | None,
    g: _Geometry,
    *,
    center: bool,
    pad_mode: str,
    normalized: bool,
    half: bool,
) -> Any:
    """The transforms of the frames of rows, [..., frequencies, frames]."""
    kind = _computed(x.kind)
    rows = _lengthened(do, in_element(do, x, kind), g.n, pad_mode, center=center)
    count = _frame_count(rows.shape[-1], g, x.shape)
    frames = _frames_of(rows, g, count)
    w = g.window(do, window, window.kind if window is not None and window.kind.category is Category.COMPLEX else _real(kind))
    if w is not None:
        frames = do.run(mul, {"a": frames, "b": w})
    numbers = frames.kind if frames.kind.category is Category.COMPLEX else whole(frames.kind)
    freqs = g.n // 2 + 1 if half else g.n
    y = do.new((*x.shape[:-1], freqs, count), numbers)
    d = FourierDescriptor(
        frames.shape, len(frames.shape) - 1, g.n, frames.kind, numbers, "real" if half else "complex",
        scale="root" if normalized else "none",
    )  # fmt: skip
    if 0 not in y.shape:
        do.plan(FourierPlan, d, {"x": frames}, _turned(y))
    return y


def _real(kind: ElementKind) -> ElementKind:
    return part(kind) if kind.category is Category.COMPLEX else kind


def _turned(x: Any) -> Any:
    """The last two axes exchanged."""
    rank = len(x.shape)
    return permuted(x, [*range(rank - 2), rank - 1, rank - 2])


@composed(x="*batch length", window="taps")
def stft(
    do: Steps,
    x: TensorRef,
    n_fft: Positive,
    hop_length: Positive | None = None,
    win_length: Positive | None = None,
    window: Given = None,
    center: bool = True,
    pad_mode: Padding = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
) -> Any:
    """The transforms of frames of n_fft elements, one every hop_length (by default n_fft // 4), times a window of win_length
    elements in their middle (by default ones): complex numbers [..., frequencies, frames].

    With `center` rows are padded by n_fft // 2 on both sides first, as pad_mode says (see `pad`). Of real numbers only the first
    n_fft // 2 + 1 frequencies are given, unless onesided is False. `normalized` divides by the root of n_fft.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.stft(np.ones(8, np.float32), 4, 2, center=False).real.tolist()
    [[4.0, 4.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    g = _Geometry(n_fft, hop_length, win_length, window)
    half = _is_half(x, window, onesided)
    return transformed_frames(do, x, window, g, center=center, pad_mode=pad_mode, normalized=normalized, half=half)


@composed(dy="... : complex", x="*batch length", window="taps")
def stft_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    n_fft: Positive,
    hop_length: Positive | None = None,
    win_length: Positive | None = None,
    window: Given = None,
    center: bool = True,
    pad_mode: Padding = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `stft`'s x and window, those named in `wrt`, by default that of x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.ones(8, np.float32)
    >>> dy = np.ones((3, 3), np.complex64)
    >>> baracuda.stft_backward(dy, x, 4, 2, center=False).tolist()
    [3.0, 0.0, 4.0, 0.0, 4.0, 0.0, 1.0, 0.0]
    """
    names = chosen(("x",) if wrt is None else wrt, ("x", *(("window",) if window is not None else ())))
    g = _Geometry(n_fft, hop_length, win_length, window)
    half, kind = _is_half(x, window, onesided), _computed(x.kind)
    shape = _padded_shape(x, n_fft, center=center)
    count = _frame_count(shape[-1], g, x.shape)
    expected = (*x.shape[:-1], n_fft // 2 + 1 if half else n_fft, count)
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    if (window is not None and window.kind.category is Category.COMPLEX) or 0 in expected:
        raise UnsupportedError(f"window: {window and window.kind} of x of shape {x.shape}; expected a real one, of some rows")
    rows = _turned(dy)
    d = FourierDescriptor(
        rows.shape, len(rows.shape) - 1, n_fft, dy.kind, kind, "half" if half else "complex", True,
        "root" if normalized else "none", half,
    )  # fmt: skip
    slopes = do.plan(FourierPlan, d, {"x": rows})
    w = g.window(do, window, _real(kind))
    made: dict[str, Any] = {}
    for name in names:
        if name == "x":
            turned = slopes if w is None else do.run(mul, {"a": slopes, "b": w})
            along = overlapped(do, turned, g.hop, shape[-1])
            dx = pad_backward(do, along, do.rows(x.shape, kind), ((n_fft // 2,) * 2,), pad_mode, axes=-1) if center else along
            made["x"] = in_element(do, dx, x.kind if x.kind.is_float or x.kind.category is Category.COMPLEX else kind)
        else:
            own = _lengthened(do, in_element(do, x, kind), n_fft, pad_mode, center=center)
            made["window"] = _window_slope(do, slopes, _frames_of(own, g, count), g, window)
    return one_or_all([made[n] for n in names])


def _window_slope(do: Steps, slopes: TensorRef, frames: TensorRef, g: _Geometry, window: Any) -> Any:
    """The sum over frames of slopes times elements."""
    if slopes.kind.category is Category.COMPLEX:
        raise UnsupportedError("window: of complex numbers; expected real ones for its gradient")
    total = do.run(sum_, {"x": do.run(mul, {"a": slopes, "b": frames})}, axis=tuple(range(len(slopes.shape) - 1)))
    before = (g.n - g.width) // 2
    return in_element(do, slab(total, 0, before, before + g.width), window.kind)


# --- back -------------------------------------------------------------------------------------------------------------


def _envelope(do: Steps, w: TensorRef | None, g: _Geometry, count: int, length: int, kind: ElementKind) -> Any:
    """The sum of the squares of the windows that overlap."""
    square = do.filled((g.n,), kind, 1) if w is None else do.run(mul, {"a": w, "b": w})
    return overlapped(do, broadcasted(square, (count, g.n)), g.hop, length)


def _span(g: _Geometry, count: int, length: int | None, *, center: bool) -> tuple[int, int, int]:
    """The length of overlapping frames, and the first and the last element of the result there."""
    total = g.n + g.hop * (count - 1)
    start = g.n // 2 if center else 0
    stop = start + length if length is not None else total - start
    return total, start, stop


_BACK: dict[str, Any] = {"x": "*batch frequencies frames : complex", "window": "taps : float"}


@composed(**_BACK)
def istft(
    do: Steps,
    x: TensorRef,
    n_fft: Positive,
    hop_length: Positive | None = None,
    win_length: Positive | None = None,
    window: Given = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: Positive | None = None,
    return_complex: bool = False,
) -> Any:
    """The rows whose `stft` is x, [..., frequencies, frames], with the same arguments: frames transformed back, times the window,
    added where they overlap, over the sums of the squares of the window. Of all frequencies (onesided=False) only the first half
    counts unless the result is complex. What `center` added is cut off; with `length` rows have
    so many elements, zeros where frames end before.

    Where no window covers an element it is NaN (PyTorch raises an error instead).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.arange(8, dtype=np.float32)
    >>> baracuda.istft(baracuda.stft(x, 4, 2), 4, 2).round(4).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    g = _Geometry(n_fft, hop_length, win_length, window)
    half, kind = _halves(x, g, onesided, return_complex)
    frames, w = _frames_back(do, x, g, window, kind, half=half, normalized=normalized)
    total, start, stop = _span(g, x.shape[-1], length, center=center)
    y = do.run(div, {"a": overlapped(do, frames, g.hop, total), "b": _envelope(do, w, g, x.shape[-1], total, _real(kind))})
    result = do.new((*x.shape[:-2], max(stop - start, 0)), kind)
    kept = max(min(stop, total) - start, 0)
    last = len(result.shape) - 1
    do.copy(slab(y, last, min(start, total), min(start, total) + kept), slab(result, last, 0, kept))
    if kept < result.shape[last]:
        do.zero(slab(result, last, kept, result.shape[last]))
    return result


def _halves(x: TensorRef, g: _Geometry, onesided: bool | None, return_complex: bool) -> tuple[bool, ElementKind]:
    """Whether the first half of the frequencies is all that counts, and the element of the result."""
    half = (x.shape[-2] != g.n or g.n == 1) if onesided is None else onesided
    if half and return_complex:
        raise UnsupportedError("return_complex: True of one half; expected onesided=False")
    freqs = g.n // 2 + 1 if half else g.n
    if x.shape[-2] != freqs or not x.shape[-1]:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected {freqs} frequencies of one frame or more")
    return not return_complex, x.kind if return_complex else part(x.kind)


def _frames_back(
    do: Steps, x: TensorRef, g: _Geometry, window: TensorRef | None, kind: ElementKind, *, half: bool, normalized: bool
) -> tuple[Any, Any]:
    """The frames, times the window, and the window."""
    rows = _turned(slab(x, len(x.shape) - 2, 0, g.n // 2 + 1) if half else x)
    d = FourierDescriptor(
        rows.shape, len(rows.shape) - 1, g.n, x.kind, kind, "half" if half else "complex", True, "root" if normalized else "n"
    )
    frames = do.plan(FourierPlan, d, {"x": rows})
    w = g.window(do, window, _real(kind))
    return frames if w is None else do.run(mul, {"a": frames, "b": w}), w


@composed(dy="...", **_BACK)
def istft_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    n_fft: Positive,
    hop_length: Positive | None = None,
    win_length: Positive | None = None,
    window: Given = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: Positive | None = None,
    return_complex: bool = False,
) -> Any:
    """The gradient of `istft`'s x, of which the shape and element are looked at.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.ones((3, 5), np.complex64)
    >>> baracuda.istft_backward(np.ones(8, np.float32), x, 4, 2).shape
    (3, 5)
    """
    g = _Geometry(n_fft, hop_length, win_length, window)
    half, kind = _halves(x, g, onesided, return_complex)
    count = x.shape[-1]
    total, start, stop = _span(g, count, length, center=center)
    expected = (*x.shape[:-2], max(stop - start, 0))
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    last = len(expected) - 1
    w = g.window(do, window, _real(kind))
    rows = do.rows((*expected[:-1], total), kind)
    kept = max(min(stop, total) - start, 0)
    do.zero(rows)
    do.copy(slab(in_element(do, dy, kind), last, 0, kept), slab(rows, last, min(start, total), min(start, total) + kept))
    covered = slab(rows, last, min(start, total), min(start, total) + kept)
    envelope = _envelope(do, w, g, count, total, _real(kind))
    do.run(div, {"a": covered, "b": slab(envelope, 0, min(start, total), min(start, total) + kept)}, covered)
    frames = _frames_of(rows, g, count)
    if w is not None:
        frames = do.run(mul, {"a": frames, "b": w})
    dx = do.new(x.shape, x.kind)
    own = slab(dx, len(dx.shape) - 2, 0, g.n // 2 + 1) if half else dx
    if own.shape != dx.shape:
        do.zero(slab(dx, len(dx.shape) - 2, g.n // 2 + 1, g.n))
    d = FourierDescriptor(
        frames.shape, len(frames.shape) - 1, g.n, frames.kind, x.kind, "real" if half else "complex", False,
        "root" if normalized else "n", half,
    )  # fmt: skip
    do.plan(FourierPlan, d, {"x": frames}, _turned(own))
    return dx
