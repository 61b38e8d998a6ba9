"""Quantization to integers by tensor, row, group and block against NumPy and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.formula.quotients import divided_by
from tests.ops.quantized_rows import groups, packed, quantized, spread

RNG = np.random.default_rng(20)
Array = np.ndarray[Any, Any]


def _drawn(*shape: int) -> Array:
    return (RNG.standard_normal(shape) * RNG.choice([1e-3, 1, 50], shape)).astype(np.float32)


# --- dynamic ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, -1, (0, 2)])
@pytest.mark.parametrize("symmetric", [True, False])
def test_dynamic_quantization(axis: Any, symmetric: bool) -> None:
    x = _drawn(4, 6, 33)
    axes = (0, 1, 2) if axis is None else (2,) if axis == -1 else axis
    sizes = {a: x.shape[a] for a in axes}
    low, high = (-128, 127) if symmetric else (0, 255)
    dtype = "s8" if symmetric else "u8"
    q, scale, zero = baracuda.quantize_dynamic(x, axis=axis, symmetric=symmetric, dtype=dtype, keepdims=True)
    wanted = quantized(x, sizes, low, high, symmetric)
    assert (q == wanted[0]).all()
    assert (scale == wanted[1]).all()
    assert zero is None if symmetric else (zero == wanted[2]).all()
    flat = baracuda.quantize_dynamic(x, axis=axis, symmetric=symmetric, dtype=dtype)
    assert flat[1].shape == tuple(n for a, n in enumerate(x.shape) if a not in axes)
    assert flat[1].tobytes() == scale.tobytes()
    assert np.abs(baracuda.dequantize(q, scale, zero) - x).max() <= 0.51 * scale.max()


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_dynamic_quantization_is_pytorchs_of_a_tensor() -> None:
    x = torch.from_numpy(RNG.standard_normal((50, 40)).astype(np.float32))
    wanted = torch.quantize_per_tensor_dynamic(x, torch.quint8, False)
    q, scale, zero = baracuda.quantize_dynamic(x, dtype="u8", symmetric=False)
    assert abs(scale.item() / wanted.q_scale() - 1) < 1e-6
    assert zero.item() == wanted.q_zero_point()
    assert (q.int() - wanted.int_repr().int()).abs().max() <= 1


def test_rows_that_are_zero_or_not_finite() -> None:
    x = np.float32([[0, 0, 0], [1, np.nan, 2], [1, np.inf, -2], [3, 0, -3]])
    q, scale, _ = baracuda.quantize_dynamic(x, axis=-1)
    assert q.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [127, 0, -127]]
    assert scale[0] == 1
    assert np.isnan(scale[1])
    assert np.isinf(scale[2])
    q, scale, zero = baracuda.quantize_dynamic(np.zeros((0, 2), np.float32), axis=0, symmetric=False, dtype="u8")
    assert (scale.tolist(), zero.tolist()) == ([1, 1], [0, 0])


def test_a_scale_below_eps_is_eps() -> None:
    assert baracuda.quantize_dynamic(np.float32([1e-20, 0]), eps=0.5)[1] == 0.5


@pytest.mark.parametrize("channels", [False, True])
def test_observer_is_pytorchs(channels: bool) -> None:
    n = 6 if channels else 1
    low, high = torch.full((n,), float("inf")), torch.full((n,), -float("inf"))
    theirs = [low.clone(), high.clone(), torch.ones(n), torch.zeros(n, dtype=torch.int32)]
    on = torch.tensor(1)
    for _ in range(3):
        x = torch.randn(6, 5, 4)
        wanted = torch.fused_moving_avg_obs_fake_quant(x, on, on, *theirs, 0.25, 0, 255, 0, channels, False)
        y, scale, zero, low, high = baracuda.moving_avg_observer(
            x, low, high, averaging_const=0.25, axis=0 if channels else None, quant_min=0, quant_max=255
        )
        torch.testing.assert_close(y, wanted)
        for ours, other in zip((low, high, scale, zero), theirs, strict=True):
            torch.testing.assert_close(ours, other)
    again = baracuda.moving_avg_observer(x, low, high, axis=0 if channels else None, observe=False, fake_quantize=False)
    assert again[0] is x or again[0].data_ptr() == x.data_ptr()
    assert torch.equal(again[3], low)


# --- groups -----------------------------------------------------------------------------------------------------------

#: Shapes, sizes of groups, axes: whole groups, a shorter last one, an odd extent, another axis, blocks, all of an axis.
CUTS: tuple[tuple[tuple[int, ...], Any, Any], ...] = (
    ((5, 64), 16, -1), ((5, 70), 16, -1), ((5, 71), 16, -1), ((3, 6, 9), 4, 1), ((7, 9), (2, 4), (0, 1)), ((4, 40), -1, -1),
    ((0, 8), 4, 1),
)  # fmt: skip
RANGES = (("s8", -128, 127), ("u8", 0, 255), ("s4", -8, 7), ("u4", 0, 15), ("s8", -2, 1))


@pytest.mark.one_of(4)
@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("codes", RANGES, ids=str)
@pytest.mark.parametrize("symmetric", [True, False])
def test_groups(cut: tuple[Any, ...], codes: tuple[str, int, int], symmetric: bool) -> None:
    (shape, size, axis), (dtype, low, high) = cut, codes
    axes, each = (axis, size) if isinstance(axis, tuple) else ((axis,), (size,))
    sizes = {a % len(shape): shape[a] if n == -1 else n for a, n in zip(axes, each, strict=True)}
    x = _drawn(*shape)
    options: dict[str, Any] = {"group_size": size, "axis": axis}
    limits = {"quant_min": low, "quant_max": high}
    narrow = limits if dtype[1] == "8" else {}
    wanted, scales, zeros = quantized(x, sizes, low, high, symmetric)
    stored = packed(wanted, 4) if dtype[1] == "4" else wanted
    strided = np.repeat(x, 2, axis=0)[::2][::-1][::-1]
    q, scale, zero = baracuda.quantize_per_group(strided, dtype=dtype, symmetric=symmetric, **options, **narrow)
    assert (q == stored).all()
    assert scale.tobytes() == scales.tobytes()
    assert (zeros == 0).all() if zero is None else (zero == zeros).all()
    assert (baracuda.quantize_per_group(x, scale, zero, dtype=dtype, **options, **narrow) == stored).all()
    value = (wanted - spread(zeros, sizes, shape)).astype(np.float32) * spread(scales, sizes, shape)
    of_packed = {"codes": dtype, "size": shape[-1]} if dtype[1] == "4" else {}
    assert (baracuda.dequantize_per_group(q, scale, zero, **options, **of_packed) == value).all()
    assert (baracuda.fake_quantize_per_group(x, symmetric=symmetric, **options, **limits) == value).all()
    assert (baracuda.fake_quantize_per_group(x, scale, zero, **options, **limits) == value).all()
    code = np.rint(x / spread(scales / 2, sizes, shape)) + spread(zeros, sizes, shape)
    dx = baracuda.fake_quantize_per_group_backward(x + 1, x, (scales / 2).astype(np.float32), zero, **options, **limits)
    assert (dx == np.where((code >= low) & (code <= high), x + 1, 0)).all()


def test_zero_points_of_floats_are_added_before_rounding() -> None:
    x, scale, zero = np.float32([[1, 2, 3, 4]]), np.float32([[2]]), np.float32([[0.75]])
    q = baracuda.quantize_per_group(x, scale, zero, group_size=4, dtype="u8")
    assert q.tolist() == [[1, 2, 2, 3]]
    assert baracuda.dequantize_per_group(q, scale, zero, group_size=4).tolist() == [[0.5, 2.5, 2.5, 4.5]]


def test_tensors_of_eight_axes() -> None:
    x = _drawn(2, 1, 3, 2, 2, 1, 2, 9)
    for axis, size in ((-1, 4), ((0, -1), (2, 4))):
        q, scale, _ = baracuda.quantize_per_group(x.transpose(7, *range(7)), group_size=size, axis=axis)
        y = baracuda.dequantize_per_group(q, scale, group_size=size, axis=axis)
        assert np.abs(y - x.transpose(7, *range(7))).max() <= 0.51 * scale.max()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"group_size": 0}, "group_size: 0; expected 1 or more, or -1"),
        ({"group_size": (2, 2)}, r"group_size: \(2, 2\); expected 1 or more"),
        ({"quant_min": -9, "dtype": "s4"}, "quant_min, quant_max: -9, 7; expected a range within -8 to 7 of s4"),
        ({"quant_min": 0, "quant_max": 1}, "quant_min, quant_max: 0, 1; expected 3 codes or more"),
        ({"zero_point": np.zeros((2, 2), np.int32)}, "zero_point: given without a scale"),
        ({"scale": np.ones((2, 3), np.float32)}, r"scale: shape is \(2, 3\); expected \(2, 2\), one for each group"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(words: dict[str, Any], text: str) -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=text):
        baracuda.quantize_per_group(np.ones((2, 8), np.float32), **{"group_size": 4, **words})


# --- blocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [128, (128, 128)], ids=str)
@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("power_of_two", [False, True])
def test_blocks_of_byte_floats(block: Any, dtype: str, power_of_two: bool) -> None:
    x, most = _drawn(150, 300), np.float32({"f8e4m3": 448, "f8e5m2": 57344}[dtype])
    sizes = {1: 128} if block == 128 else {0: 128, 1: 128}
    q, scale = baracuda.quantize_blockwise(torch.from_numpy(x), block=block, dtype=dtype, power_of_two=power_of_two)
    wanted = np.zeros(tuple(scale.shape), np.float32)
    for number, place in groups(x.shape, sizes):
        own = np.abs(x[place]).max() / most
        wanted[number] = 2.0 ** np.ceil(np.log2(np.float64(own))) if power_of_two else own
    assert scale.numpy().tobytes() == wanted.tobytes()
    scaled = torch.from_numpy(np.clip(x / spread(wanted, sizes, x.shape), -most, most))
    assert torch.equal(q.view(torch.uint8), scaled.to(q.dtype).view(torch.uint8))


@baracuda.fuse
def _shared_quotient(x: Any, divisor: Any) -> Any:
    return divided_by(x, divisor)


def test_quotients_by_a_shared_divisor_are_rounded_once() -> None:
    """Significands at random, those at the ends of their range, and quotients close to the middle between two floats."""
    d = np.concatenate([RNG.uniform(1, 2, 5000), 1 + np.arange(50) * 2.0**-23, 2 - np.arange(1, 50) * 2.0**-23])
    divisors = (d * 2.0 ** RNG.integers(-70, 70, d.shape)).astype(np.float32)
    middles = (RNG.uniform(1, 2, d.shape).astype(np.float32).astype(np.float64) + 2.0**-24) * divisors
    for values in (
        middles.astype(np.float32),
        (divisors * RNG.uniform(-2, 2, d.shape)).astype(np.float32),
        divisors,
        -0.0 * divisors,
    ):
        assert _shared_quotient(values, divisors).tobytes() == (values / divisors).tobytes()
