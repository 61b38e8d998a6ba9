"""The spectrogram that Whisper reads."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import slab
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Value
from baracuda.ops.declaration.words import Count, Positive, PositiveFloat
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.signal.filterbanks import filterbank
from baracuda.ops.signal.frames import stft, stft_backward
from baracuda.ops.signal.windows import hann_window


def _power(z: Value) -> Expr:
    """|z| * |z|."""
    assert isinstance(z, Complex)
    return z.re * z.re + z.im * z.im


def _compressed(x: Expr) -> Expr:
    """log10 of x, at least 1e-10, and at least the largest of the row less 8; a quarter of that, and 1 more."""
    v = f.log10(f.maximum(x, 1e-10))
    return (f.maximum(v, f.max_(v) - 8.0) + 4.0) * 0.25


_INTERNAL: dict[str, Any] = {"family": "signal"}
_power_op = Op(_power, Rule.COMMON, name="power_of_spectrum", takes="complex", **_INTERNAL)
_compressed_op = Op(_compressed, Rule.COMMON, name="compressed_spectrum", takes="float", rows=True, axis=(-2, -1), **_INTERNAL)


class _Front:
    """The steps from a signal to the filters' results."""

    def __init__(self, x: TensorRef, n_mels: int, sample_rate: float, n_fft: int, hop_length: int, padding: int) -> None:
        self.mels, self.rate, self.n, self.hop = n_mels, sample_rate, n_fft, hop_length
        self.kind = x.kind.compute
        self.length = x.shape[-1] + padding
        if self.length <= n_fft // 2 or self.length < hop_length:
            least = max(n_fft // 2 + 1, hop_length)
            raise InvalidProblemError(f"x: shape is {x.shape} with padding {padding}; expected rows of {least} or more")

    def rows(self, do: Steps, x: TensorRef) -> Any:
        if self.length == x.shape[-1]:
            return in_element(do, x, self.kind)
        wide, last = do.rows((*x.shape[:-1], self.length), self.kind), len(x.shape) - 1
        do.copy(x, slab(wide, last, 0, x.shape[-1]))
        do.zero(slab(wide, last, x.shape[-1], self.length))
        return wide

    def window(self, do: Steps, x: TensorRef) -> Any:
        return hann_window(do, x, self.n, True, self.kind)

    def spectrum(self, do: Steps, rows: TensorRef) -> Any:
        return stft(do, rows, self.n, self.hop, None, self.window(do, rows))

    def filters(self, do: Steps) -> Any:
        return filterbank(do, self.n // 2 + 1, self.mels, self.rate, 0.0, self.rate / 2, "slaney", "slaney", self.kind)

    def filtered(self, do: Steps, power: TensorRef, filters: TensorRef) -> Any:
        frames = power.shape[-1] - 1  # the last one is left out
        cut = slab(power, len(power.shape) - 1, 0, frames)
        lead = "abcdefg"[: len(cut.shape) - 2]
        d = MatmulDescriptor(filters.shape, cut.shape, "km", lead + "kn", lead + "mn", self.kind, self.kind, self.kind)
        return do.plan(MatmulPlan, d, {"a": filters, "b": cut})


@composed(x="*batch length : float", out=False)
def log_mel_spectrogram(
    do: Steps,
    x: TensorRef,
    n_mels: Positive = 80,
    sample_rate: PositiveFloat = 16000.0,
    n_fft: Positive = 400,
    hop_length: Positive = 160,
    padding: Count = 0,
) -> Any:
    """The spectrogram that Whisper reads: the power of `stft` with a Hann window, without its last frame, through Slaney's mel
    filters of equal area; of that log10, at least 1e-10, not below the row's largest less 8, a quarter of it and 1 more:
    [..., n_mels, frames]. `padding` zeros are put behind a row. The largest is that of each row of a batch, so that a row does
    not depend on its neighbours.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.log_mel_spectrogram(np.ones(16000, np.float32)).shape
    (80, 100)
    """
    front = _Front(x, n_mels, sample_rate, n_fft, hop_length, padding)
    power = do.run(_power_op, {"z": front.spectrum(do, front.rows(do, x))})
    found = front.filtered(do, power, front.filters(do))
    y = do.run(_compressed_op, {"x": found})
    return in_element(do, y, x.kind)


@composed(dy="... : float", x="*batch length : float")
def log_mel_spectrogram_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    n_mels: Positive = 80,
    sample_rate: PositiveFloat = 16000.0,
    n_fft: Positive = 400,
    hop_length: Positive = 160,
    padding: Count = 0,
) -> Any:
    """The gradient of `log_mel_spectrogram`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.ones(1600, np.float32)
    >>> baracuda.log_mel_spectrogram_backward(np.ones((80, 10), np.float32), x).shape
    (1600,)
    """
    front = _Front(x, n_mels, sample_rate, n_fft, hop_length, padding)
    rows = front.rows(do, x)
    z = front.spectrum(do, rows)
    power, filters = do.run(_power_op, {"z": z}), front.filters(do)
    found = front.filtered(do, power, filters)
    if dy.shape != found.shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {found.shape}")
    slope = do.gradients(_compressed_op, {"x": found}, in_element(do, dy, front.kind), ["x"])["x"]
    lead = "abcdefg"[: len(slope.shape) - 2]
    d = MatmulDescriptor(filters.shape, slope.shape, "km", lead + "mn", lead + "kn", front.kind, front.kind, front.kind)
    whole, last = do.rows(power.shape, front.kind), len(power.shape) - 1
    do.plan(MatmulPlan, d, {"a": filters, "b": slope}, slab(whole, last, 0, power.shape[-1] - 1))
    do.zero(slab(whole, last, power.shape[-1] - 1, power.shape[-1]))
    dz = do.gradients(_power_op, {"z": z}, whole, ["z"])["z"]
    along = stft_backward(do, dz, rows, front.n, front.hop, None, front.window(do, rows))
    dx = do.new(x.shape, x.kind)
    do.copy(slab(along, len(x.shape) - 1, 0, x.shape[-1]), dx)
    return dx
