"""GGML's block formats, against references written from their layouts."""

from __future__ import annotations

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import baracuda
from tests.ops.composed import called, same_bits
from tests.ops.gguf_reference import DEQUANTIZE, QUANTIZE, SIZES


def _bytes(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("name", SIZES)
def test_values_are_those_of_the_layout(name: str, device: str) -> None:
    """Of any bytes: scales that are infinite, NaN or subnormal among them."""
    _, size = SIZES[name]
    x = _bytes(7, 5 * size)
    with np.errstate(all="ignore"):
        expected = DEQUANTIZE[name](x.reshape(-1, size)).reshape(7, -1)
    (y,) = called(partial(baracuda.gguf_dequantize, type=name), [x], device)
    same_bits(y, expected)


@pytest.mark.parametrize("name", ["Q4_0", "Q6_K"])
def test_other_elements_are_rounded_once(name: str, device: str) -> None:
    x = _bytes(3, 2 * SIZES[name][1], seed=1)
    x.reshape(3, 2, -1)[..., -1] &= 63  # the scale of Q6_K, below 2
    wide = baracuda.gguf_dequantize(x, name)
    for dtype in ("f16", "bf16"):
        (y,) = called(partial(baracuda.gguf_dequantize, type=name, dtype=dtype), [x], device)
        same_bits(y, baracuda.cast(wide, dtype=dtype))


@pytest.mark.parametrize("name", QUANTIZE)
def test_bytes_are_those_of_the_package(name: str, device: str) -> None:
    """Of blocks of one value, of zeros of either sign, ties for the largest magnitude, and sizes from 2**-20 to 2**12."""
    length, _ = SIZES[name]
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((40, 2 * length)) * np.exp2(rng.integers(-20, 12, (40, 1)))).astype(np.float32)
    x[0], x[1], x[2], x[3], x[4, ::3] = 0, -0.0, 1.5, -2.0, 0
    x[5] = np.tile([3, -3, 1, 0.5], length // 2)
    x[6] = np.tile([-3, 3, 1.5, -0.75], length // 2)
    x[7:12] = np.round(x[7:12] * np.exp2(-np.floor(np.log2(np.abs(x[7:12]).max(1, keepdims=True)))) * 8) / 8
    expected = QUANTIZE[name](x.reshape(-1, length)).reshape(40, -1)
    (y,) = called(partial(baracuda.gguf_quantize, type=name), [x], device)
    same_bits(y, expected)
    half = x.astype(np.float16)
    (y,) = called(partial(baracuda.gguf_quantize, type=name), [half], device)
    same_bits(y, QUANTIZE[name](half.astype(np.float32).reshape(-1, length)).reshape(40, -1))


@pytest.mark.parametrize("name", QUANTIZE)
def test_bytes_of_what_is_not_finite_are_the_same_everywhere(name: str, device: str) -> None:
    x = np.random.default_rng(5).standard_normal((4, 2 * SIZES[name][0])).astype(np.float32)
    x[0, 3], x[1, 4], x[2, 5], x[3, :2] = np.nan, -np.nan, np.inf, (-np.inf, np.nan)
    (y,) = called(partial(baracuda.gguf_quantize, type=name), [x], device)
    length, size = SIZES[name]
    same_bits(np.ascontiguousarray(y[:, size:]), QUANTIZE[name](x[:, length:]))


@pytest.mark.parametrize(("name", "dtype"), [("F32", np.float32), ("F16", np.float16), ("BF16", ml_dtypes.bfloat16)])
def test_floats_one_by_one(name: str, dtype: Any, device: str) -> None:
    x = np.random.default_rng(4).standard_normal((3, 70)).astype(np.float32)
    stored = x.astype(dtype)
    (y,) = called(partial(baracuda.gguf_quantize, type=name), [x], device)
    same_bits(y, stored.view(np.uint8))
    (back,) = called(partial(baracuda.gguf_dequantize, type=name), [y], device)
    same_bits(back, stored.astype(np.float32))
    wide = np.zeros((3, y.shape[1] + 1), np.uint8)
    wide[:, 1:] = y  # no float's address
    same_bits(baracuda.gguf_dequantize(wide[:, 1:], name, dtype="bf16"), stored.astype(ml_dtypes.bfloat16))
    same_bits(np.ascontiguousarray(baracuda.gguf_quantize(x, name, out=wide[:, 1:])), y)


def test_what_was_read_is_written_again() -> None:
    """Values of a block are their own nearest ones: bytes with scales that are normal numbers of f16."""
    for name in ("Q8_0", "TQ2_0", "MXFP4"):
        x = np.random.default_rng(2).standard_normal((4, 512)).astype(np.float32)
        once = baracuda.gguf_dequantize(baracuda.gguf_quantize(x, name), name)
        same_bits(baracuda.gguf_dequantize(baracuda.gguf_quantize(once, name), name), once)


def test_strides_and_ranks() -> None:
    size = SIZES["Q4_K"][1]
    whole = _bytes(2, 3, 4 * size)
    want = baracuda.gguf_dequantize(whole, "Q4_K")
    same_bits(baracuda.gguf_dequantize(whole[::-1, ::2], "Q4_K"), want[::-1, ::2])
    lying = np.asfortranarray(whole)
    same_bits(np.ascontiguousarray(baracuda.gguf_dequantize(lying, "Q4_K")), want)
    out = np.full((2, 3, 2048), np.nan, np.float32)[:, :, ::2]
    baracuda.gguf_dequantize(whole, "Q4_K", out=out)
    same_bits(np.ascontiguousarray(out), want)
    assert baracuda.gguf_dequantize(whole[:0], "Q4_K").shape == (0, 3, 1024)
    assert baracuda.gguf_dequantize(whole[..., :0], "Q4_K").shape == (2, 3, 0)
    x = np.random.default_rng(0).standard_normal((2, 3, 512)).astype(np.float32)
    want = baracuda.gguf_quantize(x, "Q5_0")
    same_bits(np.ascontiguousarray(baracuda.gguf_quantize(np.asfortranarray(x)[:, ::-1], "Q5_0")), want[:, ::-1])
    out = np.zeros((2, 3, 2 * want.shape[-1]), np.uint8)[..., ::2]
    baracuda.gguf_quantize(x, "Q5_0", out=out)
    same_bits(np.ascontiguousarray(out), want)
    same_bits(baracuda.gguf_quantize(x.reshape(1, 2, 1, 1, 3, 1, 1, 512), "Q5_0").reshape(want.shape), want)
    want = baracuda.gguf_dequantize(whole, "Q4_K")
    deep = whole[:, :, :size].reshape(1, 1, 1, 2, 1, 1, 3, size)
    same_bits(baracuda.gguf_dequantize(deep, "Q4_K").reshape(2, 3, 256), want[..., :256])


def test_what_is_no_such_tensor_is_refused() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: 19 bytes a row; expected blocks of 18 bytes, those of Q4_0"):
        baracuda.gguf_dequantize(_bytes(2, 19), "Q4_0")
    with pytest.raises(baracuda.InvalidProblemError, match="Q9_Z"):
        baracuda.gguf_dequantize(_bytes(2, 18), "Q9_Z")
    with pytest.raises(baracuda.Error, match="element is f32"):
        baracuda.gguf_dequantize(np.zeros((2, 18), np.float32), "Q4_0")
    with pytest.raises(
        baracuda.InvalidProblemError, match=r"x: 40 elements a row; expected blocks of 32 elements, those of Q8_0"
    ):
        baracuda.gguf_quantize(np.zeros((2, 40), np.float32), "Q8_0")
    with pytest.raises(baracuda.InvalidProblemError, match="'Q4_K'; expected one of 'Q4_0'"):
        baracuda.gguf_quantize(np.zeros((2, 256), np.float32), "Q4_K")
