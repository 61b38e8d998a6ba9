"""Conversions bit for bit: every element to every other, 8-bit floats, rounding at random, floats taken apart."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.cases.trial import to_device, to_host

FLOATS = ("f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2")
INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
BYTES = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    448.0,
    464.0,
    480.0,
    57344.0,
    61440.0,
    65504.0,
    65520.0,
    1e-3,
    1e-8,
    3e38,
    1e-40,
    np.inf,
    -np.inf,
    np.nan,
]


def call(name: str, *tensors: Any, device: str, **keywords: Any) -> Any:
    result = getattr(baracuda, name)(*(to_device(t, device) for t in tensors), **keywords)
    return tuple(map(to_host, result)) if isinstance(result, tuple) else to_host(result)


def floats(label: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    drawn = np.concatenate([SPECIAL, rng.standard_normal(300) * np.exp(rng.uniform(-12, 12, 300))])
    with np.errstate(over="ignore"):
        return drawn.astype(ElementKind[label.upper()].numpy)


def same_bits(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bits, but for NaN, which has many."""
    assert got.dtype == want.dtype
    number = ~np.isnan(want.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), ~number)
    raw = f"u{got.dtype.itemsize}"
    np.testing.assert_array_equal(got[number].view(raw), want[number].view(raw))


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_float_rounds_once(source: str, target: str, device: str) -> None:
    x = floats(source)
    if source == "f64" and target not in ("f32", "f64"):  # ml_dtypes goes by way of f32
        x = x.astype(np.float32).astype(np.float64)
    with np.errstate(over="ignore"):
        want = x.astype(np.float32).astype(ElementKind[target.upper()].numpy) if target != "f64" else x.astype(np.float64)
    same_bits(call("cast", x, device=device, dtype=target), want)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer_truncates_and_saturates(source: str, target: str, device: str) -> None:
    x = floats(source)
    limits = np.iinfo(ElementKind[target.upper()].numpy)
    want = [0 if v != v else limits.max if v > limits.max else limits.min if v < limits.min else int(v) for v in x.astype(float)]
    got = call("cast", x, device=device, dtype=target)
    assert got.dtype == limits.dtype
    assert got.tolist() == want


@pytest.mark.parametrize("target", [*INTEGERS, "f16", "f32", "f64", "bool"])
@pytest.mark.parametrize("source", INTEGERS)
def test_from_integers(source: str, target: str, device: str) -> None:
    kind = ElementKind[source.upper()].numpy
    limits = np.iinfo(kind)
    x = np.array([0, 1, 7, 100, limits.min, limits.max, limits.max // 3], kind)
    with np.errstate(over="ignore"):
        want = x.astype(ElementKind[target.upper()].numpy)
    np.testing.assert_array_equal(call("cast", x, device=device, dtype=target), want)


def test_complex_elements(device: str) -> None:
    z = np.array([1 - 2j, 0, 3j, np.nan], np.complex64)
    np.testing.assert_array_equal(call("cast", z, device=device, dtype="complex128"), z.astype(np.complex128))
    np.testing.assert_array_equal(call("cast", z, device=device, dtype="f16"), z.real.astype(np.float16))
    np.testing.assert_array_equal(call("cast", z, device=device, dtype="bool"), [True, False, True, True])
    for real in (z.real, z.real.astype(np.float16), z.real.astype(ml_dtypes.bfloat16)):
        np.testing.assert_array_equal(call("cast", real, device=device, dtype="complex64"), real.astype(np.complex64))


def test_gradient_of_a_cast(device: str) -> None:
    x = np.array([1.0, 2.0, 3.0], np.float32)
    dy = np.array([0.5, 1.5, -2.0])
    np.testing.assert_array_equal(
        call("cast_backward", dy.astype(np.float16), x, device=device, dtype="f16"), dy.astype(np.float32)
    )
    wide = call("cast_backward", dy * (1 + 2j), x, device=device, dtype="complex128")
    np.testing.assert_array_equal(wide, dy.astype(np.float32))


@pytest.mark.parametrize("target", BYTES)
def test_cast_fp8_saturates_and_gives_amax(target: str, device: str) -> None:
    x, scale = floats("f32")[:-1], np.float32(3.0)
    x = x[~np.isnan(x)]
    y, amax = call("cast_fp8", x, np.array(scale), device=device, dtype=target)
    most = float(ml_dtypes.finfo(BYTES[target]).max)
    with np.errstate(over="ignore"):
        same_bits(y, np.clip(x * scale, -most, most).astype(BYTES[target]))
    assert amax == np.inf
    assert np.isnan(call("cast_fp8", np.array([1.0, np.nan], np.float32), device=device)[1])


def test_cast_fp8_along_an_axis_and_its_gradient(device: str) -> None:
    x = np.array([[1.0, -300.0, 2.0], [0.5, 0.25, -0.125]], np.float32)
    _, amax = call("cast_fp8", x, device=device, axis=-1)
    np.testing.assert_array_equal(amax, [300.0, 0.5])
    dy = np.ones_like(x).astype(ml_dtypes.float8_e4m3fn)
    dx = call("cast_fp8_backward", dy, None, x, np.array(2.0, np.float32), device=device, wrt=("x",))
    np.testing.assert_array_equal(dx, [[2.0, 0.0, 2.0], [2.0, 2.0, 2.0]])


@pytest.mark.parametrize("target", ["f16", "bf16", "f8e4m3", "f8e5m2"])
def test_rounding_at_random(target: str, device: str) -> None:
    """Each result is one of the two neighbours, and their mean is x."""
    kind = ElementKind[target.upper()].numpy
    finfo = ml_dtypes.finfo(kind)
    rng = np.random.default_rng(0)
    values = np.array([1.1, -3.3, 0.7 * float(finfo.smallest_normal), -1.3 * float(finfo.smallest_subnormal), 37.77], np.float32)
    x = np.repeat(values[:, None], 40000, 1)
    got = call("cast_stochastic_rounding", x, rng.integers(0, 2**32, x.shape, dtype=np.uint32), device=device, dtype=target)
    assert got.dtype == kind
    for value, row in zip(values.astype(np.float64), got.astype(np.float64), strict=True):
        neighbours = np.unique(row)
        assert len(neighbours) == 2
        assert neighbours[0] < value < neighbours[1]
        up = (value - neighbours[0]) / (neighbours[1] - neighbours[0])
        assert abs((row == neighbours[1]).mean() - up) < 0.015


def test_rounding_at_random_keeps_what_is_exact_and_special(device: str) -> None:
    x = np.array([1.0, -0.0, 448.0, 460.0, -1e9, np.inf, np.nan], np.float32)
    bits = np.full(x.shape, 2**32 - 1, np.uint32)
    same_bits(
        call("cast_stochastic_rounding", x, bits, device=device)[[0, 1, 2, 5, 6]], x.astype(ml_dtypes.bfloat16)[[0, 1, 2, 5, 6]]
    )
    got = call("cast_stochastic_rounding", x, bits, device=device, dtype="f8e4m3").astype(np.float64)
    np.testing.assert_array_equal(got, [1.0, 0.0, 448.0, 448.0, -448.0, np.nan, np.nan])
    with pytest.raises(InvalidProblemError, match="bits: s64; expected u32"):
        call("cast_stochastic_rounding", x, bits.astype(np.int64), device=device)
    with pytest.raises(UnsupportedError, match="dtype: s8"):
        call("cast_stochastic_rounding", x, bits, device=device, dtype="s8")


@pytest.mark.parametrize("label", ["f32", "f64", "f16", "bf16"])
def test_nextafter_and_spacing_step_in_the_element(label: str, device: str) -> None:
    x = floats(label)
    kind, zero = x.dtype, np.zeros((), x.dtype)  # added, it takes the sign from a zero: equal zeros give either
    target = np.concatenate([x[1:], x[:1]])
    with np.errstate(over="ignore", under="ignore"):
        want = np.asarray(np.nextafter(x, target)).astype(kind)
    same_bits(call("nextafter", x, target, device=device) + zero, want + zero)
    if label in ("f32", "f64"):
        finite = x[np.isfinite(x) & (x != 0)]
        same_bits(call("spacing", finite, device=device), np.spacing(finite))


@pytest.mark.parametrize("label", ["f16", "f32", "f64"])
def test_frexp_and_ldexp(label: str, device: str) -> None:
    x = floats(label)
    x = np.concatenate([x, np.array([np.finfo(x.dtype).smallest_subnormal * 5], x.dtype)])
    mantissa, exponent = call("frexp", x, device=device)
    want, count = np.frexp(x)
    same_bits(mantissa, want)
    number = np.isfinite(x)
    np.testing.assert_array_equal(exponent[number], count[number])
    if label == "f16":
        return
    for step in (-2200, -1080, -300, -151, -140, -127, -25, 0, 3, 127, 130, 260, 1030, 2100):
        n = np.full(x.shape, step, np.int32)
        with np.errstate(over="ignore", under="ignore"):
            same_bits(call("ldexp", x, n, device=device), np.ldexp(x, n))
    half = np.full(x.shape, 0.5, np.float32)
    with np.errstate(over="ignore", under="ignore"):
        want = (x.astype(np.float64) * np.exp2(0.5)).astype(x.dtype)
    got = call("ldexp", x, half, device=device)
    assert got.dtype == x.dtype
    np.testing.assert_allclose(got[np.isfinite(want)].astype(float), want[np.isfinite(want)].astype(float), rtol=2e-2, atol=1e-38)


def test_reduce_precision(device: str) -> None:
    x = floats("f32")
    x = x[(np.abs(x) > 2.0**-14) | (x == 0) | np.isnan(x)]  # below f16's normal numbers it gives zeros
    with np.errstate(over="ignore"):
        same_bits(
            call("reduce_precision", x, device=device, exponent_bits=5, mantissa_bits=10), x.astype(np.float16).astype(np.float32)
        )
    tiny = np.array([1e-5, -6e-5, 2.0**-14], np.float32)
    got = call("reduce_precision", tiny, device=device, exponent_bits=5, mantissa_bits=10)
    same_bits(got, np.array([0.0, -0.0, 2.0**-14], np.float32))


def test_integer_powers(device: str) -> None:
    rng = np.random.default_rng(5)
    for kind in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64):
        base = rng.integers(0, 100, 200).astype(kind)
        exponent = np.concatenate([np.arange(100), rng.integers(0, 127, 100)]).astype(kind)
        bits = 8 * np.dtype(kind).itemsize
        want = [pow(int(b), int(e), 2**bits) for b, e in zip(base, exponent, strict=True)]
        assert call("pow", base, exponent, device=device).view(f"u{bits // 8}").tolist() == want
    huge = np.array([3, 5, 7], np.uint64)
    far = np.array([2**63 + 1, 2**40, 12345678901], np.uint64)
    assert call("pow", huge, far, device=device).tolist() == [pow(int(b), int(e), 2**64) for b, e in zip(huge, far, strict=True)]
    below = call("pow", np.array([1, -1, -1, 2, 0, -7]), np.array([-3, -3, -4, -1, -1, -2]), device=device)
    assert below.tolist() == [1, -1, 1, 0, 0, 0]


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0, 0.5, 1, 2, 3, 2.5, 4])
def test_powers_to_a_number(exponent: float, device: str) -> None:
    x = torch.linspace(0.1, 4, 40, dtype=torch.float64, requires_grad=True)
    want = x**exponent
    (slope,) = torch.autograd.grad(want.sum() + 0 * x.sum(), x)
    host = x.detach().numpy()
    np.testing.assert_allclose(call("pow", host, exponent, device=device), want.detach().numpy(), rtol=1e-15)
    got = call("pow_backward", np.ones_like(host), host, exponent, device=device)
    np.testing.assert_allclose(got, slope.numpy(), rtol=1e-15)


def test_numbers_that_an_integer_element_does_not_hold(device: str) -> None:
    x = np.array([1, 2, 3], np.uint32)
    with pytest.raises(InvalidProblemError, match="min: -1; expected a whole number in the range of u32"):
        call("clamp", x, -1, 2, device=device)
    with pytest.raises(InvalidProblemError, match=r"alpha: 0\.5; expected a whole number in the range of s32"):
        call("add", x.astype(np.int32), x.astype(np.int32), device=device, alpha=0.5)
    with pytest.raises(InvalidProblemError, match="value: nan; expected a whole number in the range of s32"):
        call("addcmul", *[x.astype(np.int32)] * 3, device=device, value=float("nan"))
