"""Fourier and cosine transforms against PyTorch and SciPy in float64, gradients against autograd; on a GPU the CPU's bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import scipy.fft
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.cases.trial import to_device, to_host
from tests.ops.composed import FLOATS, NUMBERS, called, check, close, drawn, same_bits

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
REAL = ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn")
#: Lengths with every radix, with large primes, and those that take two passes.
LENGTHS = (1, 2, 3, 8, 11, 13, 17, 30, 64, 97, 100, 512, 1001)
LONG = (8192, 8190, 10007, 16384, 3 * 2**13, 65536)


def _elements(name: str) -> list[Any]:
    return [d for d in NUMBERS if name not in REAL or np.dtype(d).kind != "c"]


def _in_turn(elements: Sequence[Any], full: bool, *what: Any) -> Sequence[Any]:
    """All elements with --full, else one of them, in turn."""
    return elements if full else [elements[crc32(repr(what).encode()) % len(elements)]]


def _tried(name: str, x: Any, device: str, **words: Any) -> None:
    """Values and gradients of one call; 16-bit floats give complex64, which the reference knows only of float64."""
    torch_words = {"dim" if k == "axis" else k: v for k, v in words.items()}
    reference = getattr(torch.fft, name)
    function, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    if np.dtype(x.dtype).itemsize == 2:
        want = reference(torch.from_numpy(x.astype(np.float64)), **torch_words).resolve_conj().numpy()
        (got,) = called(lambda a: function(a, **words), [x], device)
        kind = x.dtype if want.dtype.kind == "f" else np.complex64
        close(got, want.astype(np.complex64) if kind == np.complex64 else want, kind, 64.0)
        return
    want = reference(torch.from_numpy(np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64)), **torch_words)
    element = x.dtype if (want.is_complex() == (x.dtype.kind == "c")) else _other(x.dtype)
    (got,) = called(lambda a: function(a, **words), [x], device)
    close(got, want.resolve_conj().numpy(), element, 32.0)
    leaf = torch.from_numpy(np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64)).requires_grad_()
    dy = drawn(got.shape, element, seed=5)
    wide = torch.from_numpy(np.asarray(dy, np.complex128 if dy.dtype.kind == "c" else np.float64))
    (slope,) = torch.autograd.grad(reference(leaf, **torch_words), [leaf], wide)
    (dx,) = called(lambda g, a: backward(g, a, **words), [dy, x], device)
    close(dx, slope.resolve_conj().numpy(), x.dtype, 64.0)


def _other(dtype: Any) -> Any:
    """The complex element of a real one, or the other way round."""
    pairs = {"f4": "c8", "f8": "c16", "c8": "f4", "c16": "f8"}
    return np.dtype(pairs[np.dtype(dtype).str[1:]])


@pytest.mark.one_of(2)
@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(name: str, n: int, device: str, full: bool) -> None:
    for dtype in _in_turn(_elements(name), full, name, n):
        x = drawn((3, n // 2 + 1 if name in ("irfft", "hfft") else n), dtype)
        _tried(name, x, device, **({"n": n} if name in ("irfft", "hfft") else {}))


@pytest.mark.one_of(2)
@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n", LONG)
def test_long_rows(name: str, n: int, device: str, full: bool) -> None:
    for dtype in _in_turn([np.float32, np.float64 if name in REAL else np.complex128], full, name, n):
        _tried(name, drawn((2, n // 2 + 1 if name in ("irfft", "hfft") else n), dtype), device, n=n)


@pytest.mark.one_of(6)
@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 5, 21])
@pytest.mark.parametrize("axis", [0, -1])
def test_options(name: str, norm: str | None, n: int | None, axis: int, device: str) -> None:
    dtype = np.float64 if name in REAL else np.complex64
    _tried(name, drawn((9, 10, 11), dtype), device, n=n, axis=axis, norm=norm)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", [f"{n}{s}" for n in ONE for s in ("2", "n")])
@pytest.mark.parametrize("words", [{}, {"s": (4, 9)}, {"s": (7, -1), "axis": (0, 2)}, {"axis": (1, 0), "norm": "ortho"}])
def test_several_axes(name: str, words: dict[str, Any], device: str, full: bool) -> None:
    for dtype in _in_turn([np.float32, np.float64 if name in REAL else np.complex128], full, name, words):
        _tried(name, drawn((5, 6, 8), dtype), device, **words)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
@pytest.mark.parametrize("dtype", [np.complex64, np.float32, np.float64])
def test_layouts(name: str, dtype: Any, device: str) -> None:
    """Bits do not depend on where elements lie, nor on the rows beside them."""
    if dtype not in _elements(name):
        dtype = np.float64
    x = drawn((5, 40, 6), dtype)
    function = getattr(baracuda, name)
    want = np.asarray(function(np.ascontiguousarray(np.moveaxis(x, 1, -1))))
    layouts = [x, np.asfortranarray(x), np.repeat(x, 2, 2)[:, :, ::2], x.transpose(2, 1, 0).copy().transpose(2, 1, 0)]
    if device == "cpu":
        layouts += [np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]]
    for each in layouts:
        same_bits(to_host(function(to_device(each, device), axis=1)), np.moveaxis(want, -1, 1))
    alone = np.stack([np.asarray(function(row)) for row in np.moveaxis(x, 1, -1).reshape(-1, 40)])
    same_bits(alone.reshape(want.shape), want)
    broadcast = np.broadcast_to(x[:1], x.shape)
    same_bits(to_host(function(to_device(broadcast, device), axis=1))[3], np.moveaxis(want, -1, 1)[0])


def test_out(device: str) -> None:
    x, y = to_device(drawn((4, 30), np.complex64), device), to_device(np.zeros((4, 30), np.complex64), device)
    assert baracuda.fft(x, out=y) is y
    same_bits(to_host(y), np.asarray(baracuda.fft(drawn((4, 30), np.complex64))))
    with pytest.raises(InvalidProblemError, match="out"):
        baracuda.fft(x, out=x)


def test_elements_and_emptiness(device: str) -> None:
    for dtype in (np.int64, np.uint8, np.bool_):
        x = (drawn((3, 8)) > 0).astype(dtype)
        (got,) = called(baracuda.fft, [x], device)
        close(got, np.fft.fft(x).astype(np.complex64), np.complex64, 16.0)
    (got,) = called(baracuda.rfft, [np.zeros((0, 8), np.float32)], device)
    assert got.shape == (0, 5)
    (got,) = called(lambda x: baracuda.fft(x, n=4), [np.zeros((2, 0), np.float32)], device)
    assert (got == 0).all()
    special = np.float32([[1, np.nan, 3, 4], [1, 2, np.inf, 4]])
    assert np.isnan(np.asarray(baracuda.fft(special))).all(axis=-1).any()


def test_bad_input() -> None:
    x = np.zeros((3, 4), np.complex64)
    with pytest.raises(UnsupportedError, match="complex64"):
        baracuda.rfft(x)
    with pytest.raises(InvalidProblemError, match="n: 0"):
        baracuda.fft(x, n=0)
    with pytest.raises(InvalidProblemError, match="axis"):
        baracuda.fft(x, axis=2)
    with pytest.raises(InvalidProblemError, match="scalar"):
        baracuda.fft(np.zeros((), np.complex64))
    with pytest.raises(InvalidProblemError, match="norm"):
        baracuda.fft(x, norm="none")
    with pytest.raises(InvalidProblemError, match="s, axis"):
        baracuda.fftn(x, s=(3,), axis=(0, 1))
    with pytest.raises(InvalidProblemError, match="n: 0"):
        baracuda.irfft(np.zeros((3, 1), np.complex64))
    with pytest.raises(InvalidProblemError, match="dy"):
        baracuda.fft_backward(x, np.zeros((3, 5), np.complex64))
    with pytest.raises(UnsupportedError, match=r"n: 2147483648"):
        baracuda.fft(x, n=2**31)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 1000])
def test_frequencies(n: int) -> None:
    for d in (1.0, 0.3, -2.0):
        np.testing.assert_allclose(baracuda.fftfreq(n, d, dtype="f64"), np.fft.fftfreq(n, d), rtol=1e-15)
        np.testing.assert_allclose(baracuda.rfftfreq(n, d), np.fft.rfftfreq(n, d).astype(np.float32), rtol=1e-7)
    with pytest.raises(InvalidProblemError, match="d: 0"):
        baracuda.fftfreq(n, 0.0)


@pytest.mark.parametrize("axis", [None, 0, (0, -1)])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int8, np.bool_])
def test_shifts(axis: Any, dtype: Any, device: str) -> None:
    x = (drawn((5, 4, 7)) * 9).astype(dtype)
    for name, back in (("fftshift", "ifftshift"), ("ifftshift", "fftshift")):
        (got,) = called(lambda a, name=name: getattr(baracuda, name)(a, axis), [x], device)
        same_bits(got, getattr(np.fft, name)(x, axis))
        (dx,) = called(lambda a, name=name: getattr(baracuda, f"{name}_backward")(a, axis), [x], device)
        same_bits(dx, getattr(np.fft, back)(x, axis))


@pytest.mark.one_of(6)
@pytest.mark.parametrize("name", ["dct", "idct"])
@pytest.mark.parametrize("type_", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("extent", "n", "axis"), [(2, None, -1), (7, None, 0), (8, 5, 1), (8, 13, 0), (100, None, -1)])
def test_cosine_transforms(
    name: str, type_: int, norm: str, extent: int, n: int | None, axis: int, device: str, full: bool
) -> None:
    for dtype in _in_turn(FLOATS, full, name, type_, norm, extent, n):
        _cosine(name, type_, norm, dtype, extent, n, axis, device)


def _cosine(name: str, type_: int, norm: str, dtype: Any, extent: int, n: int | None, axis: int, device: str) -> None:
    x = np.moveaxis(drawn((3, extent), dtype), -1, axis)
    words = {"type": type_, "n": n, "axis": axis, "norm": norm}
    transform = getattr(scipy.fft, name)
    want = transform(x.astype(np.float64), **words)
    (got,) = called(lambda a: getattr(baracuda, name)(a, **words), [x], device)
    close(got, want, x.dtype, 32.0)
    matrix = transform(np.eye(extent), type_, n, 0, norm)
    dy = drawn(want.shape, dtype, seed=3)
    slope = np.moveaxis(np.moveaxis(dy.astype(np.float64), axis, -1) @ matrix, -1, axis)
    (dx,) = called(lambda g, a: getattr(baracuda, f"{name}_backward")(g, a, **words), [dy, x], device)
    close(dx, slope, x.dtype, 64.0)


def test_cosine_transforms_refuse() -> None:
    with pytest.raises(InvalidProblemError, match="n: 1"):
        baracuda.dct(np.zeros(1), type=1)
    with pytest.raises(UnsupportedError, match="complex64"):
        baracuda.dct(np.zeros(4, np.complex64))
    with pytest.raises(InvalidProblemError, match="type"):
        baracuda.dct(np.zeros(4), type=5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("shape", "filters"), [((2, 3, 37), (3, 50)), ((70,), (8,)), ((4, 1, 20), (5, 20)), ((3, 1), (1,))])
def test_long_convolutions(shape: tuple[int, ...], filters: tuple[int, ...], dtype: Any, device: str) -> None:
    tensors = [drawn(shape, dtype), drawn(filters, dtype, 1), drawn(shape[:-1], dtype, 2)]

    def reference(x: Any, w: Any, skip: Any) -> Any:
        length = x.shape[-1]
        n = length + w.shape[-1]
        y = torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(w[..., :length], n), n)[..., :length]
        return y + x * skip[..., None]

    def backward(dy: Any, x: Any, w: Any, skip: Any) -> Any:
        return baracuda.fft_conv_backward(dy, x, w, skip)

    check(baracuda.fft_conv, backward, reference, tensors, device, wrt=(0, 1, 2), units=64.0)
