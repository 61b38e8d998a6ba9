"""Windows, spectra, convolutions and filters of signals against PyTorch, SciPy and formulas in NumPy; on a GPU the CPU's bits."""

from __future__ import annotations

import math
import warnings
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import scipy.signal
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.ops.composed import FLOATS, called, check, close, drawn

W = torch.signal.windows


def _of_torch(name: str, n: int, periodic: bool, **words: Any) -> torch.Tensor:
    if name in ("bartlett", "blackman", "hann", "hamming", "kaiser"):
        return getattr(torch, f"{name}_window")(n, periodic, dtype=torch.float64, **words)
    return getattr(W, name)(n, sym=not periodic, dtype=torch.float64, **words)


WINDOWS: list[tuple[str, dict[str, Any]]] = [
    ("bartlett", {}), ("blackman", {}), ("hann", {}), ("hamming", {}), ("hamming", {"alpha": 0.6, "beta": 0.3}), ("kaiser", {}),
    ("kaiser", {"beta": 0.0}), ("cosine", {}), ("exponential", {"tau": 3.0}), ("gaussian", {"std": 2.0}),
    ("general_cosine", {"a": [0.4, 0.3, 0.2, 0.1, 0.05]}), ("general_hamming", {"alpha": 0.6}), ("nuttall", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "words"), WINDOWS, ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 51])
def test_windows(name: str, words: dict[str, Any], n: int) -> None:
    function = getattr(baracuda, f"{name}_window")
    for periodic in (False, True):
        want = _of_torch(name, n, periodic, **words).numpy()
        np.testing.assert_allclose(function(n, periodic=periodic, dtype="f64", **words), want, rtol=1e-12, atol=1e-14)
        got = function(n, periodic=periodic, **words)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, want, rtol=2e-7, atol=1e-8)


def test_windows_refuse() -> None:
    with pytest.raises(InvalidProblemError, match="a: "):
        baracuda.general_cosine_window(4, [])
    with pytest.raises(InvalidProblemError, match="n: -1"):
        baracuda.hann_window(-1)
    with pytest.raises(InvalidProblemError, match="std"):
        baracuda.gaussian_window(4, std=0.0)


def _hertz(mel: Any, scale: str) -> Any:
    if scale == "htk":
        return 700 * (10 ** (mel / 2595) - 1)
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))


def _mel(hz: float, scale: str) -> float:
    if scale == "htk":
        return 2595 * math.log10(1 + hz / 700)
    return hz * 3 / 200 if hz < 1000 else 15 + math.log(hz / 1000) * 27 / math.log(6.4)


@pytest.mark.parametrize("scale", ["htk", "slaney"])
@pytest.mark.parametrize("norm", [None, "slaney"])
@pytest.mark.parametrize(("freqs", "mels", "low", "high"), [(201, 80, 20.0, 7600.0), (33, 5, 0.0, None), (1, 1, 0.0, None)])
def test_filterbanks(scale: str, norm: str | None, freqs: int, mels: int, low: float, high: float | None) -> None:
    """As torchaudio and librosa have them."""
    top = 8000.0 if high is None else high
    points = _hertz(np.linspace(_mel(low, scale), _mel(top, scale), mels + 2), scale)
    width, slopes = np.diff(points), points[None] - np.linspace(0, 8000, freqs)[:, None]
    want = np.maximum(0, np.minimum(-slopes[:, :-2] / width[:-1], slopes[:, 2:] / width[1:]))
    if norm:
        want = want * (2 / (points[2:] - points[:-2]))
    got = baracuda.mel_filterbank(freqs, mels, 16000, low, high, norm, scale, dtype="f64")
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


def _onnx(mels: int, length: int, rate: int, low: float, high: float) -> Any:
    step = (_mel(high, "htk") - _mel(low, "htk")) / (mels + 2)
    bins = ((length + 1) * _hertz(np.arange(mels + 2) * step + _mel(low, "htk"), "htk") // rate).astype(int)
    y = np.zeros((length // 2 + 1, mels))
    for i in range(mels):
        left, centre, right = bins[i : i + 3]
        if centre == left:
            y[centre, i] = 1
        for j in range(left, centre + 1) if centre > left else ():
            y[j, i] = (j - left) / (centre - left)
        for j in range(centre, right):
            y[j, i] = (right - j) / (right - centre)
    return y


@pytest.mark.parametrize("sizes", [(8, 16, 8192, 0.0, 4096.0), (20, 400, 16000, 20.0, 7600.0), (80, 400, 16000, 0.0, 8000.0)])
def test_filterbanks_of_onnx(sizes: tuple[Any, ...]) -> None:
    mels, length, rate, low, high = sizes
    got = baracuda.mel_filterbank(length // 2 + 1, mels, rate, low, high, edges="bins", dtype="f64")
    np.testing.assert_allclose(got, _onnx(*sizes), rtol=1e-14)


FRAMES: list[dict[str, Any]] = [
    {"n_fft": 16}, {"n_fft": 15, "hop_length": 4, "win_length": 11}, {"n_fft": 16, "hop_length": 16, "center": False},
    {"n_fft": 8, "hop_length": 3, "pad_mode": "constant", "onesided": False, "normalized": True},
]  # fmt: skip


@pytest.mark.one_of(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("words", FRAMES, ids=str)
@pytest.mark.parametrize("windowed", [False, True])
def test_short_transforms(dtype: Any, words: dict[str, Any], windowed: bool, device: str) -> None:
    warnings.simplefilter("ignore")
    if np.dtype(dtype).kind == "c":
        words = {**words, "onesided": False}
    x = drawn((2, 50), dtype)
    width = words.get("win_length", words["n_fft"])
    window = np.hanning(width + 2)[1:-1].astype(x.real.dtype) if windowed else None
    tensors = [x] if window is None else [x, window]

    def forward(x: Any, w: Any = None) -> Any:
        return baracuda.stft(x, window=w, **words)

    leaves = [torch.from_numpy(t.astype(np.complex128 if t.dtype.kind == "c" else np.float64)) for t in tensors]
    for leaf in leaves:
        leaf.requires_grad_()
    want = torch.stft(leaves[0], window=leaves[1] if windowed else None, return_complex=True, **words)
    (got,) = called(forward, tensors, device)
    close(got, want.detach().numpy(), np.result_type(x.dtype, np.complex64), 64.0)
    dy = drawn(got.shape, got.dtype, 4)
    slopes = torch.autograd.grad(want, leaves, torch.from_numpy(dy.astype(np.complex128)))
    names = ("x", "window") if windowed and x.dtype.kind != "c" else ("x",)

    def backward(dy: Any, x: Any, w: Any = None) -> Any:
        return baracuda.stft_backward(dy, x, window=w, wrt=names, **words)

    for g, t, s in zip(called(backward, [dy, *tensors], device), tensors, slopes, strict=False):
        close(g, s.resolve_conj().numpy(), t.dtype, 256.0)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("words", [FRAMES[0], FRAMES[1], FRAMES[3]], ids=str)
@pytest.mark.parametrize("length", [None, 37])
@pytest.mark.parametrize("return_complex", [False, True])
def test_short_transforms_back(dtype: Any, words: dict[str, Any], length: int | None, return_complex: bool, device: str) -> None:
    warnings.simplefilter("ignore")
    words = {k: v for k, v in words.items() if k != "pad_mode"} | {"length": length}
    if return_complex:
        words |= {"onesided": False, "return_complex": True}
    n = words["n_fft"]
    x = drawn((2, n // 2 + 1 if words.get("onesided") is None else n, 14), dtype)
    window = np.hanning(words.get("win_length", n) + 2)[1:-1].astype(x.real.dtype)
    leaf = torch.from_numpy(x.astype(np.complex128)).requires_grad_()
    want = torch.istft(leaf, window=torch.from_numpy(window.astype(np.float64)), **words)
    (got,) = called(lambda x, w: baracuda.istft(x, window=w, **words), [x, window], device)
    close(got, want.detach().numpy(), x.dtype if return_complex else x.real.dtype, 256.0)
    dy = drawn(got.shape, got.dtype, 2)
    wide = torch.from_numpy(dy.astype(np.complex128 if return_complex else np.float64))
    (slope,) = torch.autograd.grad(want, [leaf], wide)
    (dx,) = called(lambda g, x, w: baracuda.istft_backward(g, x, window=w, **words), [dy, x, window], device)
    close(dx, slope.resolve_conj().numpy(), x.dtype, 256.0)


def test_frames_refuse() -> None:
    x = np.zeros(20, np.float32)
    with pytest.raises(InvalidProblemError, match="n_fft"):
        baracuda.stft(x, 32, center=False)
    with pytest.raises(InvalidProblemError, match="n_fft: 64"):
        baracuda.stft(x, 64)
    with pytest.raises(InvalidProblemError, match="window"):
        baracuda.stft(x, 8, win_length=8, window=np.ones(7, np.float32))
    with pytest.raises(InvalidProblemError, match="win_length: 9"):
        baracuda.stft(x, 8, win_length=9)
    with pytest.raises(UnsupportedError, match="onesided"):
        baracuda.stft(x.astype(np.complex64), 8, onesided=True)
    with pytest.raises(InvalidProblemError, match="frequencies"):
        baracuda.istft(np.zeros((7, 3), np.complex64), 8)


SIGNALS = [((7,), (3,)), ((3,), (7,)), ((400,), (300,)), ((6, 7), (3, 2)), ((40, 41), (20, 13)), ((3, 4, 5), (2, 2, 2))]


@pytest.mark.one_of(6)
@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize(("a", "b"), SIGNALS)
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("method", ["auto", "direct", "fft"])
def test_convolutions(name: str, a: Any, b: Any, mode: str, method: str, device: str, full: bool) -> None:
    elements = [np.float64, np.float32, np.complex128, np.float16]
    for dtype in elements if full else [elements[crc32(repr((a, mode, method)).encode()) % 4]]:
        _convolved(name, a, b, mode, method, dtype, device)


def _convolved(name: str, a: Any, b: Any, mode: str, method: str, dtype: Any, device: str) -> None:
    tensors = [drawn(a, dtype), drawn(b, dtype, 1)]
    wide = [t.astype(np.complex128 if t.dtype.kind == "c" else np.float64) for t in tensors]
    reference = getattr(scipy.signal, name)
    want = reference(*wide, mode, "direct")
    (got,) = called(lambda a, b: getattr(baracuda, name)(a, b, mode, method), tensors, device)
    close(got, want, dtype, 256.0)
    dy = drawn(want.shape, dtype, 2)
    found = called(lambda g, a, b: getattr(baracuda, f"{name}_backward")(g, a, b, mode, method), [dy, *tensors], device)
    steps = [drawn(t.shape, wide[0].dtype, 9 + i) for i, t in enumerate(tensors)]
    for i, (g, step) in enumerate(zip(found, steps, strict=True)):
        assert g.shape == tensors[i].shape
        assert g.dtype == tensors[i].dtype
        moved = [step if j == i else w for j, w in enumerate(wide)]
        change = np.vdot(dy.astype(wide[0].dtype), reference(*moved, mode, "direct")).real
        size = np.linalg.norm(dy.astype(complex)) * np.linalg.norm(step) * np.linalg.norm(wide[1 - i])
        rounding = {2: 2.0**-9, 4: 2.0**-20, 8: 2.0**-46, 16: 2.0**-46}[np.dtype(dtype).itemsize]
        assert abs(np.vdot(g.astype(wide[0].dtype), step).real - change) <= rounding * size


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int8, np.uint8])
def test_convolutions_of_integers(dtype: Any, device: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, (300,)).astype(dtype), rng.integers(0, 9, (200,)).astype(dtype)
    for name in ("convolve", "correlate"):
        (got,) = called(lambda a, b, name=name: getattr(baracuda, name)(a, b), [a, b], device)
        want = getattr(np, name)(a.astype(np.int64), b.astype(np.int64), "full")
        assert (got == want.astype(dtype)).all()


def test_convolutions_refuse() -> None:
    a = np.zeros((3, 4))
    with pytest.raises(InvalidProblemError, match="valid"):
        baracuda.convolve(a, np.zeros((4, 3)), "valid")
    with pytest.raises(InvalidProblemError, match="axes"):
        baracuda.convolve(a, np.zeros(3))
    with pytest.raises(UnsupportedError, match="fft"):
        baracuda.convolve(np.zeros(3, int), np.zeros(3, int), method="fft")
    with pytest.raises(InvalidProblemError, match="elements"):
        baracuda.convolve(np.zeros(0), np.zeros(3))


def _resampled(x: torch.Tensor, orig: int, new: int, lpw: int = 6, rolloff: float = 0.99, kaiser: bool = False) -> torch.Tensor:
    """torchaudio.functional.resample."""
    common = math.gcd(orig, new)
    orig, new = orig // common, new // common
    base = min(orig, new) * rolloff
    width = math.ceil(lpw * orig / base)
    t = torch.arange(0, -new, -1, dtype=torch.float64)[:, None, None] / new
    t = ((t + torch.arange(-width, width + orig, dtype=torch.float64) / orig) * base).clamp(-lpw, lpw)
    beta = 14.769656459379492
    window = torch.cos(t * math.pi / lpw / 2) ** 2
    if kaiser:
        window = torch.i0(beta * torch.sqrt(1 - (t / lpw) ** 2)) / torch.i0(torch.tensor(beta, dtype=torch.float64))
    t = t * math.pi
    kernel = torch.where(t == 0, 1.0, t.sin() / t) * window * (base / orig)
    wide = torch.nn.functional.pad(x.reshape(-1, x.shape[-1]), (width, width + orig))
    y = torch.nn.functional.conv1d(wide[:, None], kernel, stride=orig).transpose(1, 2).flatten(1)
    return y[:, : math.ceil(new * x.shape[-1] / orig)].reshape(*x.shape[:-1], -1)


@pytest.mark.one_of(4)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("orig", "new", "n"), [(44100, 16000, 1000), (16000, 44100, 50), (3, 2, 17), (2, 3, 17), (3, 1, 1)])
@pytest.mark.parametrize("kaiser", [False, True])
def test_resampling(dtype: Any, orig: int, new: int, n: int, kaiser: bool, device: str) -> None:
    words: dict[str, Any] = {"resampling_method": "sinc_interp_kaiser"} if kaiser else {"lowpass_filter_width": 9, "rolloff": 0.9}
    check(
        lambda x: baracuda.resample(x, orig, new, **words),
        lambda dy, x: baracuda.resample_backward(dy, x, orig, new, **words),
        lambda x: _resampled(x, orig, new, 6 if kaiser else 9, 0.99 if kaiser else 0.9, kaiser),
        [drawn((2, 3, n), dtype)],
        device,
        units=64.0,
    )


def test_resampling_to_the_same_rate() -> None:
    x = drawn((2, 9), np.float32)
    assert (np.asarray(baracuda.resample(x, 5, 5)) == x).all()
    with pytest.raises(UnsupportedError, match="1000001 filters"):
        baracuda.resample(x, 1000003, 1000001, 1, 0.5)


def _whisper(x: torch.Tensor, mels: int) -> torch.Tensor:
    filters = torch.from_numpy(baracuda.mel_filterbank(201, mels, 16000, norm="slaney", mel_scale="slaney", dtype="f64").T.copy())
    z = torch.stft(x, 400, 160, window=torch.hann_window(400, dtype=torch.float64), return_complex=True)
    v = torch.clamp(filters @ z[..., :-1].abs() ** 2, min=1e-10).log10()
    return (torch.maximum(v, v.amax((-2, -1), keepdim=True) - 8.0) + 4.0) / 4.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "mels", "padding"), [((3000,), 80, 0), ((2, 1000), 128, 500)])
def test_log_mel_spectrogram(dtype: Any, shape: tuple[int, ...], mels: int, padding: int, device: str) -> None:
    x = drawn(shape, dtype)
    check(
        lambda x: baracuda.log_mel_spectrogram(x, mels, padding=padding),
        lambda dy, x: baracuda.log_mel_spectrogram_backward(dy, x, mels, padding=padding),
        lambda x: _whisper(torch.nn.functional.pad(x, (0, padding)), mels),
        [x],
        device,
        units=512.0,
    )
    with pytest.raises(InvalidProblemError, match="x: "):
        baracuda.log_mel_spectrogram(x[..., :100])


def _filtered(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, clamp: bool) -> torch.Tensor:
    a, b = a / a[..., :1], b / a[..., :1]
    lead = torch.broadcast_shapes(x.shape[:-1], a.shape[:-1], b.shape[:-1])
    x = x.broadcast_to(*lead, x.shape[-1])
    steps: list[torch.Tensor] = []
    for t in range(x.shape[-1]):
        total = torch.zeros(lead, dtype=x.dtype)
        for k in range(min(b.shape[-1], t + 1)):
            total = total + b[..., k] * x[..., t - k]
        for k in range(1, min(a.shape[-1], t + 1)):
            total = total - a[..., k] * steps[t - k]
        steps.append(total)
    y = torch.stack(steps, -1)
    return y.clamp(-1, 1) if clamp else y


@pytest.mark.one_of(6)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("taps", [1, 3])
@pytest.mark.parametrize(("lead", "filters"), [((), ()), ((2, 3), ()), ((2, 3), (3,)), ((20,), ())])
@pytest.mark.parametrize("clamp", [False, True])
def test_filters(dtype: Any, order: int, taps: int, lead: Any, filters: Any, clamp: bool, device: str) -> None:
    a, b = drawn((*filters, order), seed=1) * 0.2 / order, drawn((*filters, taps), dtype, 2)
    a[..., 0] = 1.75
    check(
        lambda x, a, b: baracuda.lfilter(x, a, b, clamp),
        lambda dy, x, a, b: baracuda.lfilter_backward(dy, x, a, b, clamp),
        lambda x, a, b: _filtered(x, a, b, clamp),
        [drawn((*lead, 23), dtype) * np.asarray(0.25, dtype), a.astype(dtype), b],
        device,
        wrt=(0, 1, 2),
        units=256.0,
    )


def test_filters_as_scipy() -> None:
    x, b, a = drawn((3, 500)), *scipy.signal.butter(6, 0.3)
    np.testing.assert_allclose(baracuda.lfilter(x, a, b, clamp=False), scipy.signal.lfilter(b, a, x), rtol=1e-9, atol=1e-12)
    with pytest.raises(InvalidProblemError, match="coefficient"):
        baracuda.lfilter(x, np.zeros(0), b)
