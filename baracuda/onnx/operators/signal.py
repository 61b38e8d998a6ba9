"""Signals: transforms and windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.operators.elements import to_element
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Host, Tensor, element, positive, scalar


def _pairs(x: Tensor, axis: int, length: int | None, inverse: bool, onesided: bool) -> Tensor:
    """A transform of pairs (re, im) along the last axis, or of real numbers where that has the extent 1."""
    at = positive(axis, len(x.shape))
    if at == len(x.shape) - 1:
        raise InvalidProblemError(f"axis: {axis}; expected another than the last, which has the parts of the numbers")
    if x.shape[-1] == 1:
        real = baracuda.squeeze(x, -1)
        if onesided and not inverse:
            return baracuda.view_as_real(baracuda.rfft(real, length, at))
        z = baracuda.complex(real, baracuda.zeros_like(real))
    else:
        z = baracuda.view_as_complex(baracuda.contiguous_copy(x))
    if onesided and inverse:
        return baracuda.unsqueeze(baracuda.irfft(z, length, at), (-1,))
    y = baracuda.ifft(z, length, at) if inverse else baracuda.fft(z, length, at)
    if onesided:
        y = baracuda.slice(y, 0, y.shape[at] // 2 + 1, at)
    return baracuda.view_as_real(y)


@operator("DFT", since=17)
def dft_by_attribute(x: Tensor, length: Host = None, *, axis: int = 1, inverse: bool = False, onesided: bool = False) -> Tensor:
    """`baracuda.fft` and its relatives."""
    return _pairs(x, axis, None if length is None else int(scalar(length)), inverse, onesided)


@operator("DFT", since=20)
def dft(x: Tensor, length: Host = None, axis: Host = None, *, inverse: bool = False, onesided: bool = False) -> Tensor:
    """`baracuda.fft` and its relatives."""
    return _pairs(
        x, -2 if axis is None else int(scalar(axis)), None if length is None else int(scalar(length)), inverse, onesided
    )


@operator("STFT", since=17)
def stft(x: Tensor, step: Host, window: Tensor = None, frame_length: Host = None, *, onesided: bool = True) -> Tensor:
    """`baracuda.stft` without padding; frames are the second axis."""
    length = int(scalar(frame_length)) if frame_length is not None else window.shape[0]
    if len(x.shape) == 3 and x.shape[-1] == 2:
        signal = baracuda.view_as_complex(baracuda.contiguous_copy(x))
        onesided = False
    else:
        signal = baracuda.squeeze(x, -1) if len(x.shape) == 3 else x
    found = baracuda.stft(
        signal,
        length,
        int(scalar(step)),
        win_length=None if window is None else window.shape[0],
        window=window,
        center=False,
        onesided=onesided,
    )
    return baracuda.view_as_real(baracuda.contiguous_copy(baracuda.transpose(found, -1, -2)))


def _window(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(size: Host, *, output_datatype: int = 1, periodic: bool = True) -> Tensor:
        kind = element(output_datatype)
        return to_element(function(int(scalar(size)), periodic, np.dtype(np.float64 if kind.itemsize == 8 else np.float32)), kind)

    return run


def _hamming(n: int, periodic: bool, dtype: Any) -> Tensor:
    return baracuda.hamming_window(n, periodic, 25 / 46, 21 / 46, dtype)


for _name, _function in {
    "HannWindow": baracuda.hann_window,
    "HammingWindow": _hamming,
    "BlackmanWindow": baracuda.blackman_window,
}.items():
    operator(_name, since=17)(_window(_function))


@operator("MelWeightMatrix", since=17)
def mel_weight_matrix(
    mels: Host, dft_length: Host, sample_rate: Host, lower: Host, upper: Host, *, output_datatype: int = 1
) -> Tensor:
    """`baracuda.mel_filterbank` with ONNX's rounding of the edges."""
    made = baracuda.mel_filterbank(
        int(scalar(dft_length)) // 2 + 1, int(scalar(mels)), float(scalar(sample_rate)), float(scalar(lower)),
        float(scalar(upper)), edges="bins",
    )  # fmt: skip
    return to_element(made, element(output_datatype))
