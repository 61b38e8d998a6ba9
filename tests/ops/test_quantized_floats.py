"""8-bit floats with scales, MX formats, NVFP4 and NF4, against references written from what is published."""

from __future__ import annotations

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from baracuda.cli.inspection import Tensor, inspected
from baracuda.core.elements import ElementKind
from tests.ops.composed import called, same_bits

F32 = np.float32
E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16
MOST = {E4M3: 448.0, E5M2: 57344.0}
LABEL = {E4M3: "f8e4m3", E5M2: "f8e5m2", F32: "f32", np.float16: "f16", BF16: "bf16"}
ELEMENTS = (F32, np.float16, BF16)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], F32)
Array = Any


def _drawn(*shape: int, dtype: Any = F32, seed: int = 0) -> Array:
    """Normal numbers of many sizes, some rows 0, one tiny, one huge."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * np.exp2(rng.integers(-6, 6, shape))
    x[0] = 0
    if shape[0] > 3:
        x[1] *= 2.0**-12
        x[2] *= 2.0**7
    return x.astype(dtype)


def _ratios(x: Array, sizes: tuple[int, int]) -> Array:
    """The largest magnitudes of blocks, repeated for each of their elements, and one of each block."""
    (h, w), (m, k) = sizes, x.shape
    return np.array([[np.abs(x[i : i + h, j : j + w]).max() for j in range(0, k, w)] for i in range(0, m, h)], F32)


def _spread(scale: Array, sizes: tuple[int, int], shape: tuple[int, ...]) -> Array:
    return np.repeat(np.repeat(scale, sizes[0], 0), sizes[1], 1)[: shape[0], : shape[1]]


def _to(x: Array, element: Any) -> Array:
    return np.clip(x, -MOST[element], MOST[element]).astype(element)


SIZES = {"tensor": (200, 300), "row": (1, 300), "column": (200, 1), "1x128": (1, 128), "128x128": (128, 128)}


# --- 8-bit floats -----------------------------------------------------------------------------------------------------


@pytest.mark.one_of(3)
@pytest.mark.parametrize("power_of_two", [False, True])
@pytest.mark.parametrize("element", [E4M3, E5M2])
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("scaling", SIZES)
def test_fp8(scaling: str, dtype: Any, element: Any, power_of_two: bool, device: str) -> None:
    x, sizes = _drawn(200, 300, dtype=dtype), SIZES[scaling]
    wide = x.astype(F32)
    scale = np.maximum(_ratios(wide, sizes) / F32(MOST[element]), F32(2.0**-126))
    if power_of_two:
        scale = np.exp2(np.ceil(np.log2(scale.astype(np.float64)))).astype(F32)
    codes = _to(wide * _spread(F32(1) / scale, sizes, x.shape), element)
    options = {"scaling": scaling, "dtype": LABEL[element], "power_of_two": power_of_two}
    q, got = called(partial(baracuda.quantize_fp8, **options), [x], device)
    same_bits(got, scale.reshape(()) if scaling == "tensor" else scale)
    same_bits(q, codes)
    (again,) = called(partial(baracuda.quantize_fp8, dtype=LABEL[element]), [x, got], device)
    same_bits(again, codes)
    values = (codes.astype(F32) * _spread(scale, sizes, x.shape)).astype(dtype)
    (y,) = called(partial(baracuda.dequantize_fp8, dtype=LABEL[dtype]), [q, got], device)
    same_bits(y, values)


def test_fp8_of_more_axes_and_other_layouts(device: str) -> None:
    x = _drawn(6, 5, 300).reshape(2, 3, 5, 300)
    for scaling in ("row", "column", "1x128", "128x128"):
        q, scale = called(partial(baracuda.quantize_fp8, scaling=scaling), [x], device)
        for i in np.ndindex(2, 3):
            want, own = baracuda.quantize_fp8(x[i], scaling=scaling)
            same_bits(q[i], want)
            same_bits(scale[i], own)
        turned, _ = baracuda.quantize_fp8(x, scaling=scaling, transposed=True)
        same_bits(np.ascontiguousarray(turned.swapaxes(-1, -2)), q)
        deep = baracuda.quantize_fp8(x[None, None, None, :, None].swapaxes(3, 5), scaling=scaling)
        same_bits(np.ascontiguousarray(deep[0].swapaxes(3, 5).reshape(x.shape)), q)
        same_bits(
            np.ascontiguousarray(baracuda.dequantize_fp8(*deep).swapaxes(3, 5).reshape(x.shape)),
            baracuda.dequantize_fp8(q, scale),
        )
    other = np.asfortranarray(x)[::-1, :, ::-1]
    q, scale = baracuda.quantize_fp8(other, scaling="1x128")
    want, own = baracuda.quantize_fp8(np.ascontiguousarray(other), scaling="1x128")
    same_bits(np.ascontiguousarray(q), want)
    same_bits(scale, own)


@pytest.mark.parametrize("shape", [(9, 70), (300, 5000), (40,)])
def test_fp8_with_the_largest_magnitude(shape: tuple[int, ...], device: str) -> None:
    """As delayed scaling wants it: the scale of before, and what the next one follows from."""
    x = _drawn(*shape, dtype=BF16, seed=7)
    scale = np.asarray(0.03, F32)
    q, amax = called(lambda t, s: baracuda.quantize_fp8(t, s, dtype="f8e5m2", amax=True), [x, scale], device)
    same_bits(q, baracuda.quantize_fp8(x, scale, dtype="f8e5m2"))
    same_bits(amax, np.asarray(np.abs(x.astype(F32)).max()))
    with pytest.raises(baracuda.InvalidProblemError, match="amax: True without one scale for all of x"):
        baracuda.quantize_fp8(x, amax=True)


def test_fp8_of_what_is_not_finite() -> None:
    x = np.array([[1, np.nan, 2], [1, np.inf, 2], [0, 0, 0], [1e-45, -1e-45, 0]], F32)
    q, scale = baracuda.quantize_fp8(x, scaling="row")
    wide = q.astype(F32)
    assert np.isnan(wide[0]).all()
    assert np.isnan(scale[0]).all()
    assert wide[1, ::2].tolist() == [0, 0]
    assert np.isnan(wide[1, 1])
    assert np.isinf(scale[1]).all()
    assert scale[2:].tolist() == [[2.0**-126]] * 2
    assert not wide[2:].any()
    given = baracuda.quantize_fp8(x, 1.0).astype(F32)
    assert np.isnan(given[0, 1])
    assert given[1].tolist() == [1, 448, 2]


def test_fp8_of_nothing() -> None:
    for shape, scaling, scales in (
        ((0, 5), "row", (0, 1)),
        ((4, 0), "1x128", (4, 0)),
        ((0,), "tensor", ()),
        ((0, 3), "column", (0, 3)),
    ):
        q, scale = baracuda.quantize_fp8(np.zeros(shape, F32), scaling=scaling)
        assert (q.shape, scale.shape) == (shape, scales)
        assert baracuda.dequantize_fp8(q, scale).shape == shape


def test_fp8_refuses_other_scales() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"scale: shape \(3,\) for a tensor of shape \(5, 300\)"):
        baracuda.quantize_fp8(np.zeros((5, 300), F32), np.ones(3, F32))
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: shape \(5,\); expected rows and columns"):
        baracuda.quantize_fp8(np.zeros(5, F32), scaling="column")


# --- MX ---------------------------------------------------------------------------------------------------------------


def _exponent(x: Array) -> Array:
    """floor(log2(x)) of a normal number."""
    return np.frexp(x.astype(np.float64))[1] - 1


def _mx_scale(largest: Array, element: Any, rounding: str) -> Array:
    """The byte of a block's power of two."""
    most, bits, top = {E4M3: (8, 3, 448.0), E5M2: (15, 2, 57344.0), "e2m1": (2, 1, 6.0)}[element]
    wide = np.maximum(largest.astype(np.float64), 2.0**-140)
    if rounding == "rceil":
        ratio = (largest * F32(1 / top)).astype(np.float64)
        found = np.ceil(np.log2(np.maximum(ratio, 2.0**-140)))
    elif rounding == "ceil":
        found = np.ceil(np.log2(wide)) - most
    elif rounding == "even":  # halves of the significand's last bit go up
        found = _exponent(wide + np.exp2(_exponent(wide) - bits - 1.0)) - most
    else:
        found = _exponent(wide) - most
    return np.where(np.isfinite(largest), np.clip(found + 127, 0, 254), 255).astype(np.uint8)


def _e2m1_codes(x: Array) -> Array:
    """The nearest of the values, ties to an even code."""
    size = np.minimum(np.abs(x.astype(np.float64)), 6)
    away = np.abs(size[..., None] - E2M1)
    nearest = away == away.min(-1, keepdims=True)
    code = np.where(nearest[..., ::2].any(-1), 2 * nearest[..., ::2].argmax(-1), nearest.argmax(-1))
    return (code + 8 * np.signbit(x)).astype(np.uint8)


def _values(codes: Array) -> Array:
    return E2M1[codes & 7] * np.where(codes & 8, F32(-1), F32(1))


def _blocks(x: Array, size: int) -> Array:
    return _ratios(x, (1, size))


@pytest.mark.one_of(3)
@pytest.mark.parametrize("rounding", ["floor", "ceil", "even", "rceil"])
@pytest.mark.parametrize("element", [E4M3, E5M2, "e2m1"])
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("k", [320, 92])
def test_mx(k: int, dtype: Any, element: Any, rounding: str, device: str) -> None:
    x = _drawn(9, k, dtype=dtype)
    wide = x.astype(F32)
    scale = _mx_scale(_blocks(wide, 32), element, rounding)
    power = _spread(np.exp2(scale.astype(np.float64) - 127), (1, 32), x.shape)
    ratio = (wide / power).astype(F32)
    if element == "e2m1":
        codes = _e2m1_codes(ratio)
        q, got = called(partial(baracuda.quantize_mxfp4, rounding=rounding), [x], device)
        same_bits(q, codes[:, ::2] | codes[:, 1::2] << 4)
        (y,) = called(partial(baracuda.dequantize_mxfp4, dtype=LABEL[dtype]), [q, got], device)
        same_bits(y, (_values(codes) * power).astype(F32).astype(dtype))
    else:
        codes = _to(ratio, element)
        q, got = called(partial(baracuda.quantize_mxfp8, dtype=LABEL[element], rounding=rounding), [x], device)
        same_bits(q, codes)
        (y,) = called(partial(baracuda.dequantize_mxfp8, dtype=LABEL[dtype]), [q, got], device)
        same_bits(y, (codes.astype(F32) * power).astype(F32).astype(dtype))
    same_bits(got, scale)


def test_mx_at_the_ends() -> None:
    x = np.zeros((7, 32), F32)
    x[1, :2], x[2, :2], x[3, :2], x[4, :2] = (1, np.nan), (1, -np.inf), (3e38, 1), (1e-45, 2e-45)
    x[5, :3], x[6, 0] = (3.4028235e38, -6e-39, 1), 2.0**-126
    q, scale = baracuda.quantize_mxfp4(x)
    assert scale[:, 0].tolist() == [0, 255, 255, 252, 0, 252, 0]
    y = baracuda.dequantize_mxfp4(q, scale)
    assert np.isnan(y[1:3]).all()
    assert y[3, 0] == F32(6 * 2.0**125)
    assert y[6, 0] == F32(2.0**-126)
    _, scale = baracuda.quantize_mxfp8(x)
    assert scale[:, 0].tolist() == [0, 255, 255, 246, 0, 246, 0]
    every = np.arange(256, dtype=np.uint8)[:, None]
    ones = baracuda.dequantize_mxfp8(np.ones((256, 1), E4M3), every)
    want = np.ldexp(1.0, np.minimum(np.arange(256) - 127, 127)).astype(F32)
    want[255] = np.nan
    same_bits(ones[:, 0], want)


def test_codes_of_what_is_not_finite_are_the_same_everywhere(device: str) -> None:
    """Two codes a byte: a device's own NaN has no say in their signs."""
    x = _drawn(6, 64)[1:]
    x[:, 3], x[0, 5], x[1, 40], x[2, 41], x[3, 7] = np.nan, -np.nan, np.inf, -np.inf, -np.nan
    for dtype in ELEMENTS:
        q, scale = called(baracuda.quantize_mxfp4, [x.astype(dtype)], device)
        assert (scale[:, 0] == 255).all()
        signs = np.signbit(x[:, :32].astype(dtype))
        assert ((q[:, :16] & 15) == 7 + 8 * signs[:, ::2]).all()
        assert ((q[:, :16] >> 4) == 7 + 8 * signs[:, 1::2]).all()
        called(lambda t: baracuda.quantize_nvfp4(t, 1.0), [x.astype(dtype)], device)
        called(baracuda.quantize_nf4, [x.astype(dtype)], device)
        called(baracuda.quantize_mxfp8, [x.astype(dtype)], device)


def test_every_code_of_e2m1_and_what_lies_between() -> None:
    """Ties, their neighbours and what is beyond; the scale is 1."""
    ties = np.float32([0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 0.5, 1, 1.5, 2, 3, 4, 6, 5.9])
    x = np.stack([ties, np.nextafter(ties, F32(7)), np.nextafter(ties, F32(-7)), -ties])
    x = np.concatenate([np.full((4, 16), 7.5, F32), x], 1)
    q, scale = baracuda.quantize_mxfp4(x)
    assert (scale == 127).all()
    codes = _e2m1_codes(x)
    same_bits(q, codes[:, ::2] | codes[:, 1::2] << 4)


def test_a_tensor_of_powers_of_two_is_its_bytes() -> None:
    x = torch.randn(4, 64)
    q, scale = baracuda.quantize_mxfp8(x)
    y = baracuda.dequantize_mxfp8(q, scale.view(torch.float8_e8m0fnu))
    assert torch.equal(y, baracuda.dequantize_mxfp8(q, scale))
    assert torch.equal(y, q.float() * scale.view(torch.float8_e8m0fnu).float().repeat_interleave(32, 1))


# --- NVFP4 ------------------------------------------------------------------------------------------------------------


@pytest.mark.one_of(2)
@pytest.mark.parametrize("least", [2.0**-6, 2.0**-9])
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("k", [320, 90])
def test_nvfp4(k: int, dtype: Any, least: float, device: str) -> None:
    x = _drawn(9, k, dtype=dtype)
    wide = x.astype(F32)
    whole = F32(np.abs(wide).max() / F32(2688))
    for given in (None, F32(0.5)):
        share = whole if given is None else given
        ratio = (_blocks(wide, 16) / F32(6)) / share
        scale = np.clip(ratio, F32(least), F32(448)).astype(E4M3)
        total = _spread(share * scale.astype(F32), (1, 16), x.shape)
        codes = _e2m1_codes(wide / total)
        results = called(lambda t, g=given: baracuda.quantize_nvfp4(t, g, least_scale=least), [x], device)
        same_bits(results[1], scale)
        same_bits(results[0], codes[:, ::2] | codes[:, 1::2] << 4)
        if given is None:
            same_bits(results[2], np.asarray(whole))
        operands = [*results[:2], np.asarray(share)]
        (y,) = called(partial(baracuda.dequantize_nvfp4, dtype=LABEL[dtype]), operands, device)
        same_bits(y, (_values(codes) * total).astype(dtype))


def test_nvfp4_of_zeros_and_nan() -> None:
    q, scale, whole = baracuda.quantize_nvfp4(np.zeros((2, 32), F32))
    assert not baracuda.dequantize_nvfp4(q, scale, whole).any()
    x = np.ones((2, 32), F32)
    x[0, 3] = np.nan
    q, scale = baracuda.quantize_nvfp4(x, 1.0)
    y = baracuda.dequantize_nvfp4(q, scale, 1.0)
    assert np.isnan(y[0, :16]).all()
    assert np.isfinite(y[0, 16:]).all()


# --- NF4 --------------------------------------------------------------------------------------------------------------

#: As the paper prints them.
LEVELS = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
], F32)  # fmt: skip


@pytest.mark.one_of(2)
@pytest.mark.parametrize("block", [64, 128])
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("k", [256, 90])
def test_nf4(k: int, dtype: Any, block: int, device: str) -> None:
    x = _drawn(9, k, dtype=dtype)[1:]
    wide = x.astype(F32)
    absmax = _blocks(wide, block)
    ratio = wide * _spread(F32(1) / absmax, (1, block), x.shape)
    middles = ((LEVELS[1:].astype(np.float64) + LEVELS[:-1]) / 2).astype(F32)
    codes = (ratio[..., None] > middles).sum(-1).astype(np.uint8)
    q, got = called(partial(baracuda.quantize_nf4, block_size=block), [x], device)
    same_bits(got, absmax)
    same_bits(q, codes[:, ::2] << 4 | codes[:, 1::2])
    (y,) = called(partial(baracuda.dequantize_nf4, block_size=block, dtype=LABEL[dtype]), [q, got], device)
    same_bits(y, (LEVELS[codes] * _spread(absmax, (1, block), x.shape)).astype(dtype))


@pytest.mark.parametrize("dtype", [F32, BF16])
def test_nf4_with_absmax_quantized_again(dtype: Any, device: str) -> None:
    x = _drawn(9, 64 * 70, dtype=dtype, seed=2)
    q, absmax = baracuda.quantize_nf4(x)
    got, codes, scale, offset = called(lambda t: baracuda.quantize_nf4(t, double=True), [x], device)
    same_bits(got, q)
    same_bits(offset, np.asarray(baracuda.mean(absmax)))
    want, largest = baracuda.quantize_int8_blockwise(absmax - offset)
    same_bits(codes, want)
    same_bits(scale, largest)
    assert codes.shape == absmax.shape
    assert scale.shape == (3,)  # 630 of them in blocks of 256
    again = baracuda.dequantize_int8_blockwise(codes, scale) + offset
    near = np.repeat(scale, 256)[: absmax.size].reshape(absmax.shape)
    assert (np.abs(again - absmax) <= near * 0.01 + 1e-6).all()
    (y,) = called(partial(baracuda.dequantize_nf4, dtype=LABEL[dtype]), [q, codes, scale, offset], device)
    same_bits(y, baracuda.dequantize_nf4(q, again, dtype=LABEL[dtype]))


def test_absmax_of_codes_needs_its_scale() -> None:
    q, codes = np.zeros((2, 48), np.uint8), np.zeros((2, 2), np.uint8)
    with pytest.raises(baracuda.InvalidProblemError, match="absmax: u8 with neither scale nor offset; expected f32 alone"):
        baracuda.dequantize_nf4(q, codes)
    with pytest.raises(baracuda.InvalidProblemError, match="absmax: f32 with scale, offset; expected f32 alone"):
        baracuda.dequantize_nf4(q, codes.astype(F32), np.ones(1, F32), np.ones((), F32))


def test_nf4_of_zeros() -> None:
    q, absmax = baracuda.quantize_nf4(np.zeros(128, F32))
    assert not q.any()
    assert not absmax.any()
    assert not baracuda.dequantize_nf4(q, absmax).any()


# --- what they have in common -----------------------------------------------------------------------------------------

PACKED = {"quantize_mxfp4": (), "quantize_nvfp4": (1.0,), "quantize_nf4": ()}


@pytest.mark.parametrize("name", [*PACKED, "quantize_mxfp8"])
def test_layouts_and_ranks(name: str) -> None:
    function = partial(getattr(baracuda, name), **({"global_scale": 1.0} if PACKED.get(name) else {}))
    whole = _drawn(6, 192, dtype=BF16, seed=3)
    for x in (
        whole[:, 1:129],
        whole[:, ::2],
        whole[::-1, ::-1][:, :128],
        np.asfortranarray(whole),
        whole.reshape(1, 1, 1, 2, 1, 1, 3, 192),
    ):
        for got, want in zip(function(x), function(np.ascontiguousarray(x).reshape(-1, x.shape[-1])), strict=True):
            same_bits(np.ascontiguousarray(got).reshape(want.shape), want)
    for shape in ((0, 64), (3, 0)):
        q, scale = function(np.zeros(shape, F32))
        assert q.shape[0] == scale.shape[0] == shape[0]


@pytest.mark.parametrize("name", PACKED)
def test_an_odd_number_of_elements_is_refused(name: str) -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: shape \(2, 33\); expected an even number"):
        getattr(baracuda, name)(np.zeros((2, 33), F32))


def test_elements_may_be_those_of_a_library() -> None:
    q, scale, absmax = (
        torch.randint(0, 256, (2, 32), dtype=torch.uint8),
        torch.full((2, 2), 130, dtype=torch.uint8),
        torch.ones(2, 1),
    )
    assert baracuda.dequantize_mxfp4(q, scale, dtype=torch.bfloat16).dtype == torch.bfloat16
    assert baracuda.dequantize_nf4(q, absmax, dtype=np.float16).dtype == torch.float16
    with pytest.raises(baracuda.UnsupportedError, match="dtype: 'f64'; expected one of f16, bf16, f32"):
        baracuda.dequantize_mxfp4(q, scale, dtype="f64")


def test_scales_of_another_shape_are_refused() -> None:
    q = np.zeros((2, 48), np.uint8)
    with pytest.raises(baracuda.InvalidProblemError, match=r"scale: shape is \(2, 2\); expected \(2, 3\)"):
        baracuda.dequantize_mxfp4(q, np.zeros((2, 2), np.uint8))
    with pytest.raises(baracuda.InvalidProblemError, match=r"scale: shape is \(2, 3\); expected \(2, 6\)"):
        baracuda.dequantize_nvfp4(q, np.zeros((2, 3), E4M3))
    with pytest.raises(baracuda.InvalidProblemError, match=r"absmax: shape is \(2, 3\); expected \(2, 2\)"):
        baracuda.dequantize_nf4(q, np.zeros((2, 3), F32))


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_a_gpu_with_instructions_for_codes_has_them_used(target: str) -> None:
    (plan,) = inspected("quantize_mxfp8", [Tensor((64, 256), ElementKind.BF16)], target)
    (kernel,) = plan.kernels
    assert ("cvt.rn.satfinite.e4m3x2" in kernel.source) == (target == "sm_90")
    assert kernel.resources.local_bytes == 0
