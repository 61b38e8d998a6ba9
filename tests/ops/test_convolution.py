"""Convolutions, their transposes and gradients against PyTorch; the rest of the family against references here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import baracuda
from tests.ops.composed import FLOATS, NUMBERS, called, check, close, drawn, same_bits

Array = Any

#: x, weight, groups, and stride, padding, dilation.
PLAIN = [
    ((2, 4, 9), (6, 2, 3), 2, (1, 1, 1)),
    ((2, 20, 7), (5, 20, 2), 1, (2, 0, 2)),
    ((2, 4, 9, 7), (6, 2, 3, 2), 2, ((2, 1), (1, 2), (1, 2))),
    ((1, 18, 6, 5), (7, 18, 3, 3), 1, (1, 1, 1)),
    ((2, 5, 6, 4), (10, 1, 3, 3), 5, (1, 2, 2)),
    ((2, 3, 5, 4, 6), (4, 3, 2, 3, 1), 1, (2, (1, 2, 0), 1)),
    ((2, 4, 3, 3), (2, 4, 5, 4), 1, (3, 2, 1)),
    ((0, 4, 6, 6), (2, 4, 3, 3), 1, (1, 0, 1)),
]


@pytest.mark.one_of(3)
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("case", PLAIN)
def test_convolution(case: Any, dtype: Any, device: str) -> None:
    x, weight, groups, (stride, padding, dilation) = case
    name, rank = f"conv{len(x) - 2}d", len(x) - 2
    function, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    tensors = [drawn(x, dtype), drawn(weight, dtype), drawn(weight[:1], dtype)]
    arguments = (stride, padding, dilation, groups)

    def reference(*t: torch.Tensor) -> torch.Tensor:
        return getattr(F, name)(*t, *((a,) * rank if isinstance(a, int) else a for a in arguments[:3]), groups)

    check(
        lambda *t: function(*t, *arguments), lambda *t: backward(*t, *arguments), reference, tensors, device, wrt=(0, 1, 2),
        units=32.0,
    )  # fmt: skip


TRANSPOSED = [
    ((2, 4, 5), (4, 3, 4), 1, (3, 1, 2, 1)),
    ((2, 4, 5, 4), (4, 3, 3, 2), 2, (2, 1, 1, 1)),
    ((1, 17, 4, 3), (17, 2, 3, 3), 1, (1, 0, 0, 2)),
    ((2, 2, 3, 4, 2), (2, 3, 2, 1, 3), 1, (2, 0, 1, 1)),
    ((1, 3, 4, 4), (3, 2, 1, 1), 1, (3, 0, 0, 1)),
]


@pytest.mark.one_of(3)
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("case", TRANSPOSED)
def test_transposed_convolution(case: Any, dtype: Any, device: str) -> None:
    x, weight, groups, (stride, padding, output_padding, dilation) = case
    name = f"conv_transpose{len(x) - 2}d"
    function, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    tensors = [drawn(x, dtype), drawn(weight, dtype), drawn((weight[1] * groups,), dtype)]
    arguments = (stride, padding, output_padding, groups, dilation)
    check(
        lambda *t: function(*t, *arguments), lambda *t: backward(*t, *arguments), lambda *t: getattr(F, name)(*t, *arguments),
        tensors, device, wrt=(0, 1, 2), units=32.0,
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_padding_modes(mode: str, dtype: Any, device: str) -> None:
    tensors = [drawn((2, 3, 6, 7), dtype), drawn((4, 3, 3, 2), dtype), drawn((4,), dtype)]
    options: dict[str, Any] = {"padding": (2, 1), "padding_mode": mode}
    check(
        lambda *t: baracuda.conv2d(*t, **options), lambda *t: baracuda.conv2d_backward(*t, **options),
        lambda x, w, b: F.conv2d(F.pad(x, (1, 1, 2, 2), mode=mode), w, b), tensors, device, wrt=(0, 1, 2), units=32.0,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("activation", ["relu", "silu", "gelu_tanh"])
def test_activation(activation: str, dtype: Any, device: str) -> None:
    tensors = [drawn((2, 3, 6, 7), dtype), drawn((4, 3, 3, 2), dtype), drawn((4,), dtype)]
    of = {"relu": F.relu, "silu": F.silu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}[activation]
    check(
        lambda *t: baracuda.conv2d(*t, activation=activation), lambda *t: baracuda.conv2d_backward(*t, activation=activation),
        lambda *t: of(F.conv2d(*t)), tensors, device, wrt=(0, 1, 2), units=32.0,
    )  # fmt: skip


def test_what_follows_the_sums(device: str) -> None:
    x, weight, scale, bias, residual = (drawn(s) for s in ((2, 3, 5, 6), (4, 3, 3, 3), (4,), (4,), (2, 4, 5, 6)))

    def function(*t: Any) -> Any:
        return baracuda.conv2d(t[0], t[1], t[3], padding="same", scale=t[2], residual=t[4], activation="relu")

    (y,) = called(function, [x, weight, scale, bias, residual], device)
    plain = F.conv2d(torch.from_numpy(x), torch.from_numpy(weight), padding="same").numpy()
    close(y, np.maximum(plain * scale[:, None, None] + bias[:, None, None] + residual, 0), np.float64, 32.0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("channels", [3, 40])
def test_layouts_have_the_same_bits(dtype: Any, channels: int, device: str) -> None:
    x, weight = drawn((2, channels, 9, 8), dtype), drawn((24, channels, 3, 3), dtype)
    (want,) = called(lambda *t: baracuda.conv2d(*t, padding=1), [x, weight], device)

    def last(a: Array) -> Array:
        return np.ascontiguousarray(a.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)

    for u, v in ((last(x), weight), (last(x), last(weight))):
        (y,) = called(lambda *t: baracuda.conv2d(*t, padding=1), [u, v], device)
        same_bits(np.ascontiguousarray(y), want)
    turned = x[:, :, ::-1, ::-1].copy()[:, :, ::-1, ::-1]
    same_bits(np.ascontiguousarray(baracuda.conv2d(turned, weight, padding=1)), baracuda.conv2d(x, weight, padding=1))
    (alone,) = called(lambda *t: baracuda.conv2d(*t, padding=1), [x[1], weight], device)
    same_bits(alone, np.ascontiguousarray(want[1]))


@pytest.mark.parametrize(
    ("strides", "padding", "lhs", "rhs", "features", "batches"),
    [
        ((1, 2), ((1, 0), (2, 1)), (2, 3), (1, 2), 1, 1),
        ((3, 2), ((2, 2), (0, 1)), (2, 4), (3, 1), 2, 1),
        ((2, 1), ((1, 1), (0, -1)), (1, 1), (1, 2), 1, 2),
    ],
)
def test_general(strides: Any, padding: Any, lhs: Any, rhs: Any, features: int, batches: int, device: str) -> None:
    options: dict[str, Any] = {
        "window_strides": strides, "padding": padding, "lhs_dilation": lhs, "rhs_dilation": rhs,
        "feature_group_count": features, "batch_group_count": batches,
    }  # fmt: skip

    def reference(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        spread = torch.zeros(*x.shape[:2], *((n - 1) * d + 1 for n, d in zip(x.shape[2:], lhs, strict=True)), dtype=x.dtype)
        spread[:, :, :: lhs[0], :: lhs[1]] = x
        (top, bottom), (left, right) = padding
        x = F.pad(spread, (left, right, top, bottom))
        parts = zip(x.chunk(batches), w.chunk(batches), strict=True)
        return torch.cat([F.conv2d(u, v, None, strides, 0, rhs, features) for u, v in parts], 1) + b[:, None, None]

    tensors = [drawn(s) for s in ((4, 4, 5, 6), (6, 4 // features, 3, 2), (6,))]
    check(
        lambda *t: baracuda.conv_general(*t, **options), lambda *t: baracuda.conv_general_backward(*t, **options), reference,
        tensors, device, wrt=(0, 1, 2), units=32.0,
    )  # fmt: skip
    x, w, b = tensors
    want = baracuda.conv_general(x, w, b, **options)
    turned = [np.ascontiguousarray(x.transpose(2, 3, 0, 1)), np.ascontiguousarray(w.transpose(2, 1, 0, 3)), b]
    (y,) = called(lambda *t: baracuda.conv_general(*t, dimension_numbers=("HWNC", "HIOW", "NHWC"), **options), turned, device)
    same_bits(np.ascontiguousarray(y.transpose(0, 3, 1, 2)), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_depthwise(dtype: Any, device: str) -> None:
    x, weight, bias = drawn((2, 4, 7, 6), dtype), drawn((8, 1, 3, 3), dtype), drawn((8,), dtype)
    check(
        lambda *t: baracuda.depthwise_conv2d(*t, 2, 1), lambda *t: baracuda.depthwise_conv2d_backward(*t, 2, 1),
        lambda *t: F.conv2d(*t, 2, 1, 1, 4), [x, weight, bias], device, wrt=(0, 1, 2), units=32.0,
    )  # fmt: skip
    (want,) = called(lambda *t: baracuda.depthwise_conv2d(*t, 2, 1), [x, weight, bias], device)
    last = [
        np.ascontiguousarray(x.transpose(0, 2, 3, 1)),
        np.ascontiguousarray(weight.reshape(4, 2, 3, 3).transpose(2, 3, 0, 1)),
        bias,
    ]
    (y,) = called(lambda *t: baracuda.depthwise_conv2d(*t, 2, 1, layout="NHWC"), last, device)
    same_bits(np.ascontiguousarray(y.transpose(0, 3, 1, 2)), want)


@pytest.mark.parametrize(
    ("channels", "size", "window", "stride", "dilation"), [(11, 7, 5, 1, 1), (24, 9, 3, 2, 1), (40, 34, 7, 1, 2)]
)
def test_single_channels_have_the_same_bits_however_they_lie(
    channels: int, size: int, window: int, stride: int, dilation: int, device: str
) -> None:
    """On a CPU those whose pixels lie side by side are copied, where lines are short or windows large."""
    x, weight, bias = drawn((2, channels, size, size + 1)), drawn((channels, 1, window, window)), drawn((channels,))
    options: dict[str, Any] = {"stride": stride, "padding": 2, "dilation": dilation, "groups": channels}
    (y,) = called(lambda *t: baracuda.conv2d(*t, **options), [x, weight, bias], device)
    want = F.conv2d(*(torch.from_numpy(t).double() for t in (x, weight, bias)), stride, 2, dilation, channels)
    np.testing.assert_allclose(y, want.numpy(), rtol=1e-4, atol=1e-4)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    same_bits(called(lambda *t: baracuda.conv2d(*t, **options), [last, weight, bias], device)[0], y)
    residual, out = drawn(y.shape), np.full(y.size + 1, np.nan, y.dtype)[1:].reshape(y.shape)  # which is not aligned
    options |= {"residual": residual, "activation": "relu"}
    same_bits(baracuda.conv2d(x, weight, bias, **options, out=out), baracuda.conv2d(last, weight, bias, **options))


def test_time_batch_channels(device: str) -> None:
    tensors = [drawn(s) for s in ((7, 3, 4), (3, 4, 5), (5,))]
    check(
        lambda *t: baracuda.conv_tbc(*t, 1), lambda *t: baracuda.conv_tbc_backward(*t, 1), lambda *t: torch.conv_tbc(*t, 1),
        tensors, device, wrt=(0, 1, 2),
    )  # fmt: skip


def test_gradients_as_ops(device: str) -> None:
    x, weight, dy = drawn((2, 4, 7, 6)), drawn((6, 2, 3, 3)), drawn((2, 6, 4, 3))
    options: dict[str, Any] = {"stride": 2, "padding": 1, "groups": 2}
    check(
        lambda *t: baracuda.conv_input_grad(*t, input_size=x.shape, **options),
        lambda *t: baracuda.conv_input_grad_backward(*t, input_size=x.shape, **options),
        lambda d, w: torch.nn.grad.conv2d_input(x.shape, w, d, **options), [dy, weight], device, wrt=(0, 1), units=32.0,
    )  # fmt: skip
    check(
        lambda *t: baracuda.conv_weight_grad(*t, weight_size=weight.shape, **options),
        lambda *t: baracuda.conv_weight_grad_backward(*t, weight_size=weight.shape, **options),
        lambda d, u: torch.nn.grad.conv2d_weight(u, weight.shape, d, **options), [dy, x], device, wrt=(0, 1), units=32.0,
    )  # fmt: skip


@pytest.mark.parametrize("window", [((2, 3), 1, 0, 1), ((3, 3), 2, 2, 2), ((1, 2), 1, 1, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float16])
def test_columns(window: Any, dtype: Any, device: str) -> None:
    x = drawn((2, 3, 7, 9), dtype)
    check(
        lambda t: baracuda.im2col(t, *window), lambda d, t: baracuda.im2col_backward(d, t, *window),
        lambda t: F.unfold(t, *window), [x], device,
    )  # fmt: skip
    columns = np.asarray(F.unfold(torch.from_numpy(x.astype(np.complex128)), *window).numpy())
    columns = (columns if np.iscomplexobj(x) else columns.real).astype(dtype)
    check(
        lambda t: baracuda.col2im(t, (7, 9), *window), lambda d, t: baracuda.col2im_backward(d, t, (7, 9), *window),
        lambda t: F.fold(t, (7, 9), *window), [columns], device,
    )  # fmt: skip


@pytest.mark.parametrize(("window", "stride", "padding"), [((2, 3), 1, 0), ((3, 3), 2, 1)])
def test_local(window: Any, stride: int, padding: int, device: str) -> None:
    places = [(n + 2 * padding - k) // stride + 1 for n, k in zip((7, 9), window, strict=True)]
    options: dict[str, Any] = {"filter_shape": window, "stride": stride, "padding": padding}

    def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        columns = F.unfold(x, window, 1, padding, stride)
        return torch.einsum("nkl,okl->nol", columns, w.flatten(2)).reshape(x.shape[0], -1, *places)

    tensors = [drawn((2, 3, 7, 9)), drawn((5, 3 * window[0] * window[1], *places))]
    check(
        lambda *t: baracuda.conv_local(*t, **options), lambda *t: baracuda.conv_local_backward(*t, **options), reference,
        tensors, device, wrt=(0, 1), units=32.0,
    )  # fmt: skip


def test_integers(device: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, (2, 6, 7, 8)).astype(np.uint8)
    w = rng.integers(-128, 128, (4, 3, 3, 3)).astype(np.int8)
    x_zero, w_zero = np.array(120, np.uint8), np.array([1, -3, 5, 7], np.int8)
    bias = rng.integers(-1000, 1000, 4).astype(np.int32)
    options: dict[str, Any] = {"stride": 2, "padding": 1, "groups": 2}

    def exact(a: Array) -> torch.Tensor:
        return torch.from_numpy(a.astype(np.float64))

    sums = F.conv2d(exact(x) - 120, exact(w) - exact(w_zero)[:, None, None, None], None, **options).numpy()
    (y,) = called(lambda *t: baracuda.conv_integer(*t, **options), [x, w, x_zero, w_zero], device)
    same_bits(y, sums.astype(np.int32))
    x_scale, w_scale, y_scale = np.float32([0.02]), rng.random(4).astype(np.float32) * np.float32(0.01), np.float32([0.7])
    y_zero = np.array([100], np.uint8)
    real = (sums + bias[:, None, None]).astype(np.float32) * (x_scale * w_scale)[:, None, None]
    want = np.clip(np.rint(real / y_scale) + 100, 0, 255).astype(np.uint8)
    tensors = [x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias]
    (y,) = called(lambda *t: baracuda.qlinear_conv(*t, **options), tensors, device)
    same_bits(y, want)


def test_padding_meets_no_weight(device: str) -> None:
    weight = np.ones((1, 1, 3, 3), np.float32)
    weight[0, 0, 0, 0] = np.inf
    (y,) = called(lambda *t: baracuda.conv2d(*t, padding=1), [np.ones((1, 1, 3, 3), np.float32), weight], device)
    assert np.isinf(y[0, 0, 1:, 1:]).all()
    assert np.isfinite(y[0, 0, 0]).all()
    assert np.isfinite(y[0, 0, :, 0]).all()


def test_no_sum_is_a_negative_zero(device: str) -> None:
    x, weight = np.full((1, 1, 2), 1e-30, np.float32), np.full((1, 1, 1), -1e-30, np.float32)
    (y,) = called(baracuda.conv1d, [x, weight], device)
    assert not np.signbit(y).any()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((1, 3, 5, 5), (4, 2, 3, 3)), "channels"),
        (((1, 4, 5, 5), (3, 2, 3, 3), None, 1, 0, 1, 2), "groups"),
        (((1, 4, 5, 5), (4, 4, 3, 3), (3,)), "bias"),
        (((1, 4, 5, 5), (4, 4, 3, 3), None, 0), "stride"),
        (((1, 4, 5, 5), (4, 4, 3, 3), None, 1, "full"), "padding"),
        (((1, 4, 5, 5), (4, 4, 3, 3), None, 1, (1, 2, 3)), "padding"),
        (((1, 4, 5, 5), (4, 4, 0, 3)), "tap"),
    ],
)
def test_wrong_arguments(arguments: Any, words: str) -> None:
    tensors = [np.ones(a, np.float32) if isinstance(a, tuple) and i < 3 else a for i, a in enumerate(arguments)]
    with pytest.raises(baracuda.Error, match=words):
        baracuda.conv2d(*tensors)
