"""Fourier transforms by libraries, SciPy on the CPU and cuFFT on a GPU: values, promises and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import baracuda as bc
from baracuda.core.errors import UnsupportedError
from baracuda.ops.fft.plan import FourierDescriptor, FourierPlan

REAL = {torch.complex64: torch.float32, torch.complex128: torch.float64}
TOLERANCE = {torch.complex64: 2e-6, torch.complex128: 1e-14, torch.float32: 2e-6, torch.float64: 1e-14}
FUNCTIONS = ["fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "irfftn"]


@pytest.fixture
def wish(device: str) -> bc.PlanPreference:
    if device == "cpu":
        return bc.PlanPreference(backend=bc.BackendKind.SCIPY)
    pytest.importorskip("nvmath.bindings.cufft")
    return bc.PlanPreference(backend=bc.BackendKind.CUFFT)


def drawn(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype).to(device)


def close(got: torch.Tensor, want: torch.Tensor) -> None:
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert (got - want).abs().max() <= TOLERANCE[got.dtype] * want.abs().max()


@pytest.mark.one_of(5)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("shape", [(3, 4, 30), (2, 5, 16), (7, 6, 17), (1, 2, 1000)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name: str, shape: tuple[int, ...], dtype: torch.dtype, norm: Any, wish: bc.PlanPreference, device: str) -> None:
    x = drawn(shape, REAL[dtype] if name.startswith("r") else dtype, device)
    axis = {} if name[-1] in "2n" else {"axis": -1}
    if name.startswith("ir"):
        x = getattr(torch.fft, f"r{name[2:]}")(x.real.contiguous())  # what the transform is of
    want = getattr(torch.fft, name)(x, norm=norm)
    before = x.clone()
    with bc.preferring(wish):
        got = getattr(bc, name)(x, norm=norm, **axis)
        again = getattr(bc, name)(x, norm=norm, **axis)
    close(got, want)
    assert torch.equal(got, again)
    assert torch.equal(x, before)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
def test_strides(name: str, wish: bc.PlanPreference, device: str) -> None:
    dtype = torch.float32 if name == "rfft" else torch.complex64
    whole = drawn((12, 10, 14), dtype, device)
    if name == "irfft":
        whole.imag[:, 0] = whole.imag[:, :, 0] = 0
    for x, axis, n in ((whole[1::2], 2, None), (whole.transpose(0, 2), 1, None), (whole[:, :, :9], -1, 8), (whole, 1, 9)):
        if name == "irfft" and axis == 1:
            n = 18  # an odd last element would count
        with bc.preferring(wish):
            close(getattr(bc, name)(x, n, axis), getattr(torch.fft, name)(x, n, axis))


def test_promises(wish: bc.PlanPreference, device: str) -> None:
    d = FourierDescriptor((40, 64), 1, 64, bc.ElementKind.C64, bc.ElementKind.C64)
    stream = bc.Stream(bc.Device.cuda(0)) if device == "cuda" else None
    plan = FourierPlan.select(stream, d, wish)
    guarantee = plan.precision_guarantee()
    assert guarantee.deterministic
    assert not guarantee.batch_invariant
    assert not guarantee.bit_stable_across_hardware
    fastest = FourierPlan.select(stream, d, bc.PlanPreference(fastest=True))
    assert (fastest.sku().backend is bc.BackendKind.CUFFT) is (device == "cuda")
    assert FourierPlan.select(stream, d).precision_guarantee().bit_stable_across_hardware


def test_refusals(wish: bc.PlanPreference, device: str) -> None:
    x = torch.ones(4, 8, device=device)
    with bc.preferring(wish), pytest.raises(UnsupportedError, match="expected f32, f64 or their complex numbers"):
        bc.fft(x)  # real numbers to complex ones
    with bc.preferring(wish), pytest.raises(UnsupportedError, match="expected f32, f64 or their complex numbers"):
        bc.rfft(x.half())
    if device == "cuda":
        with bc.preferring(wish), pytest.raises(UnsupportedError, match="fewer elements than the transform has terms"):
            bc.rfft(x, 10)
