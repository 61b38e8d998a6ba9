"""Pooling against PyTorch, gradients too: every window, layout and element; what ONNX adds, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from tests.cases.case import torch_of
from tests.ops.composed import FLOATS, called, close, drawn, same_bits

F = torch.nn.functional
SHAPES = {1: [(2, 3, 57), (3, 9)], 2: [(2, 3, 17, 23), (3, 8, 41)], 3: [(2, 2, 6, 7, 21)]}
WINDOWS: list[dict[str, Any]] = [
    {"kernel_size": 2}, {"kernel_size": 3, "stride": 1, "padding": 1},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}, {"kernel_size": 2, "stride": 3, "ceil_mode": True},
    {"kernel_size": 4, "stride": 3, "padding": 2},
]  # fmt: skip
DILATED: list[dict[str, Any]] = [
    {"kernel_size": 3, "stride": 1, "padding": 1, "dilation": 2}, {"kernel_size": 2, "stride": 2, "dilation": 3},
    {"kernel_size": 2, "stride": 4, "padding": 1, "dilation": 2},
]  # fmt: skip
LAYOUTS = ["rows", "channels_last", "reversed", "transposed"]


def laid(x: Any, layout: str) -> Any:
    """The same values elsewhere in memory."""
    if layout == "channels_last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, -3, -1)), -1, -3) if x.ndim >= 3 else np.asfortranarray(x)
    if layout == "reversed":
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::-2] = x
        return wide[..., ::-2]
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2) if layout == "transposed" else x


def compared(
    name: str,
    x: Any,
    device: str,
    words: Mapping[str, Any],
    reference: Callable[[torch.Tensor], torch.Tensor],
    layout: str = "rows",
    units: float = 16.0,
) -> None:
    """The values of a function and of its gradient."""
    forward, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    leaf = torch_of(x).requires_grad_()
    want = reference(leaf)
    (y,) = called(lambda x: forward(x, **words), [laid(x, layout)], device)
    close(y, want.detach().numpy(), x.dtype, units)
    dy = (64 * drawn(tuple(want.shape), seed=3)).astype(x.dtype)  # whose shares are no subnormal numbers
    (slope,) = torch.autograd.grad(want, leaf, torch_of(dy))
    (dx,) = called(lambda dy, x: backward(dy, x, **words), [laid(dy, layout), laid(x, layout)], device)
    close(dx, slope.numpy(), x.dtype, 4 * units)


@pytest.mark.one_of(8)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("words", WINDOWS, ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_averages(rank: int, words: dict[str, Any], layout: str, dtype: Any, device: str) -> None:
    extra: dict[str, Any] = [{}, {"count_include_pad": False}, {"divisor_override": 5}][len(str(words)) % 3]
    if rank == 1:
        extra.pop("divisor_override", None)
    x = drawn(SHAPES[rank][len(layout) % len(SHAPES[rank])], dtype)
    compared(f"avg_pool{rank}d", x, device, words | extra, lambda x: getattr(F, f"avg_pool{rank}d")(x, **words, **extra), layout)


@pytest.mark.one_of(8)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("words", [*WINDOWS[1:3], *DILATED], ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_maxima(rank: int, words: dict[str, Any], layout: str, dtype: Any, device: str) -> None:
    name, x = f"max_pool{rank}d", drawn(SHAPES[rank][len(layout) % len(SHAPES[rank])], dtype)
    compared(name, x, device, words, lambda x: getattr(F, name)(x, **words), layout)
    want, places = getattr(F, name)(torch_of(x), **words, return_indices=True)
    y, i = called(lambda x: getattr(baracuda, name)(x, return_indices=True, **words), [laid(x, layout)], device)
    close(y, want.numpy(), dtype, 0)
    same_bits(i, places.numpy())
    dy = drawn(y.shape, dtype, seed=3)
    backward = getattr(baracuda, f"{name}_backward")
    (saved,) = called(lambda dy, x, i: backward(dy, x, indices=i, **words), [dy, x, i], device)
    (anew,) = called(lambda dy, x: backward(dy, x, **words), [dy, x], device)
    same_bits(saved, anew)


@pytest.mark.one_of(6)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1, 4, (5, None, 3), (2, 7, 30), 6])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("layout", LAYOUTS[:2])
def test_adaptive(rank: int, size: Any, layout: str, dtype: Any, device: str) -> None:
    size = size[:rank] if isinstance(size, tuple) else size
    x = drawn(SHAPES[rank][0], dtype)
    for kind in ("avg", "max"):
        name = f"adaptive_{kind}_pool{rank}d"
        reference = getattr(F, name)
        compared(name, x, device, {"output_size": size}, lambda x, f=reference: f(x, size), layout)
    _, places = getattr(F, name)(torch_of(x), size, return_indices=True)
    _, i = called(lambda x: getattr(baracuda, name)(x, size, return_indices=True), [x], device)
    same_bits(i, places.numpy())


@pytest.mark.one_of(6)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("p", [1, 2, 3, 2.5])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("words", [{"kernel_size": 2}, {"kernel_size": 3, "stride": 2, "ceil_mode": True}], ids=str)
def test_norms(rank: int, p: float, words: dict[str, Any], dtype: Any, device: str) -> None:
    x = np.abs(drawn(SHAPES[rank][0], dtype)) + dtype(0.125)
    name = f"lp_pool{rank}d"
    compared(name, x, device, {"norm_type": p, **words}, lambda x: getattr(F, name)(x, p, **words), units=32.0)


def test_norms_of_absolute_values(device: str) -> None:
    x = drawn((2, 3, 9, 11))
    words = {"norm_type": 3, "kernel_size": 3, "padding": 1, "absolute": True}
    compared("lp_pool2d", x, device, words, lambda x: F.avg_pool2d(abs(x) ** 3, 3, padding=1).mul(9) ** (1 / 3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rank", [2, 3])
def test_fractional(rank: int, dtype: Any, device: str) -> None:
    name, shape = f"fractional_max_pool{rank}d", SHAPES[rank][0]
    x, samples = drawn(shape, dtype), np.random.default_rng(1).random((*shape[:2], rank)).astype(dtype)
    for words in ({"output_size": tuple(n // 2 for n in shape[2:])}, {"output_ratio": (0.4,) * rank}):
        leaf = torch.from_numpy(x).requires_grad_()
        reference = getattr(F, name)
        want, places = reference(leaf, 2, **words, return_indices=True, _random_samples=torch.from_numpy(samples))

        def forward(x: Any, u: Any, words: Any = words) -> Any:
            return getattr(baracuda, name)(x, 2, return_indices=True, _random_samples=u, **words)

        def backward(dy: Any, x: Any, u: Any, words: Any = words) -> Any:
            return getattr(baracuda, f"{name}_backward")(dy, x, 2, _random_samples=u, **words)

        y, i = called(forward, [x, samples], device)
        same_bits(y, want.detach().numpy())
        same_bits(i, places.numpy())
        dy = drawn(y.shape, dtype, seed=3)
        (slope,) = torch.autograd.grad(want, leaf, torch.from_numpy(dy))
        (dx,) = called(backward, [dy, x, samples], device)
        close(dx, slope.numpy(), dtype, 16.0)


@pytest.mark.parametrize("dtype", [*FLOATS, np.int32])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_unpooling(rank: int, dtype: Any, device: str) -> None:
    shape = SHAPES[rank][0]
    pooled, places = getattr(F, f"max_pool{rank}d")(torch_of(drawn(shape)), 2, return_indices=True)
    x, i, size = (10 * pooled.numpy()).astype(dtype), places.numpy(), shape[2:]
    name = f"max_unpool{rank}d"
    (y,) = called(lambda x, i: getattr(baracuda, name)(x, i, 2, output_size=size), [x, i], device)
    want = np.zeros(shape, dtype)
    flat = want.reshape(*shape[:2], -1)
    np.put_along_axis(flat, i.reshape(*shape[:2], -1), x.reshape(*shape[:2], -1), -1)
    same_bits(y, want)
    if dtype is not np.int32:
        dy = drawn(shape, dtype, seed=3)
        backward = getattr(baracuda, f"{name}_backward")
        (dx,) = called(lambda dy, x, i: backward(dy, x, i, 2, output_size=size), [dy, x, i], device)
        same_bits(dx, np.take_along_axis(dy.reshape(*shape[:2], -1), i.reshape(*shape[:2], -1), -1).reshape(x.shape))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, ml_dtypes.bfloat16])
def test_global(dtype: Any, last: bool, device: str) -> None:
    x, over = drawn((2, 5, 6, 7), dtype), (1, 2) if last else (2, 3)
    for kind, words, reference in (
        ("avg", {}, lambda x: x.mean(over, keepdim=True)),
        ("max", {}, lambda x: x.amax(over, keepdim=True)),
        ("lp", {"p": 3}, lambda x: torch.linalg.vector_norm(x, 3, over, keepdim=True)),
    ):
        compared(f"global_{kind}_pool", x, device, words | {"channels_last": last}, reference)
    _, i = called(lambda x: baracuda.global_max_pool(x, True, channels_last=last), [x], device)
    rows = np.moveaxis(x.astype(np.float64), -1, 1) if last else x.astype(np.float64)
    same_bits(i.reshape(rows.shape[:2]), rows.reshape(*rows.shape[:2], -1).argmax(-1))


@pytest.mark.one_of(2)
@pytest.mark.parametrize("words", [*WINDOWS, *DILATED], ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_channels_behind(rank: int, words: dict[str, Any], device: str) -> None:
    x = drawn(SHAPES[rank][0], np.float32)
    behind = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    for name in (f"max_pool{rank}d", f"avg_pool{rank}d")[: 1 if "dilation" in words else 2]:
        (want,) = called(lambda x, name=name: getattr(baracuda, name)(x, **words), [x], device)
        (got,) = called(lambda x, name=name: getattr(baracuda, name)(x, channels_last=True, **words), [behind], device)
        same_bits(np.ascontiguousarray(np.moveaxis(got, -1, 1)), want)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_])
def test_integers(dtype: Any, device: str) -> None:
    x = np.random.default_rng(0).integers(0, 2 if dtype is np.bool_ else 100, (2, 3, 9, 23)).astype(dtype)
    if np.dtype(dtype).kind == "i":
        x -= dtype(50)
    want, places = F.max_pool2d(torch_of(x.astype(np.float64)), 3, 2, 1, return_indices=True)
    y, i = called(lambda x: baracuda.max_pool2d(x, 3, 2, 1, return_indices=True), [x], device)
    same_bits(y, want.numpy().astype(dtype))
    same_bits(i, places.numpy())
    if dtype is np.bool_:
        with pytest.raises(baracuda.UnsupportedError, match="x: element is bool"):
            baracuda.avg_pool2d(x, 2)
        return
    (y,) = called(lambda x: baracuda.avg_pool2d(x, 3, 2, 1, count_include_pad=False), [x], device)
    same_bits(y, np.trunc(F.avg_pool2d(torch_of(x).double(), 3, 2, 1, count_include_pad=False).numpy() + 0.0).astype(dtype))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_averages_of_complex_numbers(dtype: Any, device: str) -> None:
    x = drawn((2, 3, 9, 23), dtype)
    for name, words in (("avg_pool2d", {"kernel_size": 3, "stride": 2}), ("adaptive_avg_pool2d", {"output_size": 4})):
        compared_parts(name, x, device, words)


def compared_parts(name: str, x: Any, device: str, words: dict[str, Any]) -> None:
    """A linear function of a complex tensor, and its gradient, are those of its parts."""
    forward, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    (y,) = called(lambda x: forward(x, **words), [x], device)
    parts = [called(lambda x: forward(x, **words), [np.ascontiguousarray(p)], device)[0] for p in (x.real, x.imag)]
    same_bits(y, (parts[0] + 1j * parts[1]).astype(x.dtype))
    (dx,) = called(lambda dy, x: backward(dy, x, **words), [y, x], device)
    slopes = [backward(np.ascontiguousarray(p), np.ascontiguousarray(x.real), **words) for p in (y.real, y.imag)]
    same_bits(dx, (slopes[0] + 1j * slopes[1]).astype(x.dtype))


def test_nan_zeros_and_ties(device: str) -> None:
    nan = np.nan
    x = np.float32([[[1, nan, 2, nan], [3, 3, 3, 0]], [[-0.0, 0.0, -0.0, -0.0], [-np.inf, -np.inf, -np.inf, -np.inf]]])
    y, i = called(lambda x: baracuda.max_pool1d(x, 2, return_indices=True), [x.reshape(4, 4)], device)
    want, places = F.max_pool1d(torch.from_numpy(x.reshape(4, 4)), 2, return_indices=True)
    np.testing.assert_array_equal(y, want.numpy())
    np.testing.assert_array_equal(i, places.numpy())
    (whole,) = called(lambda x: baracuda.max_pool1d(x, 4), [x.reshape(4, 4)], device)
    assert np.isnan(whole[0, 0])
    (dx,) = called(lambda dy, x: baracuda.max_pool1d_backward(dy, x, 4), [np.ones((4, 1), np.float32), x.reshape(4, 4)], device)
    np.testing.assert_array_equal(dx, [[0, 0, 0, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])


@pytest.mark.parametrize("word", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_auto_pad(word: str, device: str) -> None:
    x = drawn((2, 3, 10, 15), np.float32)
    pads = [(0, 0), (0, 0)]
    if word != "VALID":
        total = [max((-(-n // 3) - 1) * 3 + 4 - n, 0) for n in (10, 15)]
        pads = [(t // 2, t - t // 2) if word == "SAME_UPPER" else (t - t // 2, t // 2) for t in total]
    padded = F.pad(torch.from_numpy(x), (*pads[1], *pads[0]), value=-np.inf)
    (y,) = called(lambda x: baracuda.max_pool2d(x, 4, 3, auto_pad=word), [x], device)
    same_bits(y, F.max_pool2d(padded, 4, 3).numpy())
    (y,) = called(lambda x: baracuda.avg_pool2d(x, 4, 3, count_include_pad=False, auto_pad=word), [x], device)
    ones = F.pad(torch.ones(2, 3, 10, 15), (*pads[1], *pads[0]))
    zeros = F.pad(torch.from_numpy(x), (*pads[1], *pads[0]))
    close(y, (F.avg_pool2d(zeros, 4, 3) / F.avg_pool2d(ones, 4, 3)).numpy(), np.float32, 16.0)


def test_indices_of_onnx(device: str) -> None:
    x = drawn((2, 3, 5, 7), np.float32)
    flat = np.arange(x.size).reshape(x.shape)
    _, rows = called(lambda x: baracuda.max_pool2d(x, 2, 1, return_indices=True, whole_indices=True), [x], device)
    _, places = F.max_pool2d(torch.from_numpy(x), 2, 1, return_indices=True)
    channel = np.arange(6).reshape(2, 3, 1, 1) * 35
    same_bits(rows, places.numpy() + channel)
    words = {"return_indices": True, "whole_indices": True, "storage_order": 1}
    _, columns = called(lambda x: baracuda.max_pool2d(x, 2, 1, **words), [x], device)
    same_bits(columns, (places.numpy() % 7) * 5 + places.numpy() // 7 + channel)
    y, i = baracuda.max_pool2d(x, 2, return_indices=True, whole_indices=True)
    (unpooled,) = called(
        lambda y, i: baracuda.max_unpool2d(y, i, 2, output_size=(2, 3, 5, 7), whole_indices=True), [y, i], device
    )
    want = np.zeros(x.size, np.float32)
    want[i.ravel()] = y.ravel()
    same_bits(unpooled, want.reshape(x.shape))
    assert (flat.ravel()[i] == i).all()
    dy = drawn(rows.shape, np.float32, seed=3)
    for order, saved in ((0, rows), (1, columns)):
        words = {"whole_indices": True, "storage_order": order, "indices": saved}
        same_bits(baracuda.max_pool2d_backward(dy, x, 2, 1, **words), baracuda.max_pool2d_backward(dy, x, 2, 1))


def test_uneven_padding_and_dilated_averages(device: str) -> None:
    x = drawn((2, 3, 10, 15))
    pads = ((1, 2), (0, 3))
    padded = F.pad(torch.from_numpy(x), (0, 3, 1, 2))
    (y,) = called(lambda x: baracuda.avg_pool2d(x, 4, 3, pads), [x], device)
    close(y, F.avg_pool2d(padded, 4, 3).numpy(), np.float64, 16.0)
    weight = torch.ones(1, 1, 3, 3, dtype=torch.float64)
    rows = torch.from_numpy(x).reshape(6, 1, 10, 15)
    for included in (True, False):
        words: dict[str, Any] = {"kernel_size": 3, "stride": 2, "padding": 2, "dilation": 2, "count_include_pad": included}
        total = torch.ones(1, 1, 10, 15, dtype=torch.float64)
        count = 9.0 if included else F.conv2d(total, weight, None, 2, 2, 2)

        def reference(x: torch.Tensor, count: Any = count) -> torch.Tensor:
            summed = F.conv2d(x.reshape(6, 1, 10, 15), weight, None, 2, 2, 2) / count
            return summed.reshape(2, 3, *summed.shape[2:])

        compared("avg_pool2d", x, device, words, reference)
    assert rows.shape[0] == 6


def test_results_are_where_the_caller_wants_them() -> None:
    x = torch.randn(2, 8, 9, 9).contiguous(memory_format=torch.channels_last)
    assert baracuda.max_pool2d(x, 2).is_contiguous(memory_format=torch.channels_last)
    out = np.zeros((2, 3, 8, 4), np.float32)[:, :, ::2, :]
    x = drawn((2, 3, 8, 8), np.float32)
    assert baracuda.avg_pool2d(x, 2, out=out) is out
    same_bits(np.ascontiguousarray(out), baracuda.avg_pool2d(x, 2))
    assert baracuda.max_pool2d(np.zeros((0, 3, 8, 8)), 2).shape == (0, 3, 4, 4)
    assert baracuda.avg_pool2d_backward(np.zeros((2, 0, 4, 4)), np.zeros((2, 0, 8, 8)), 2).shape == (2, 0, 8, 8)


def test_bad_input_is_refused() -> None:
    x = np.ones((2, 3, 8, 8), np.float32)
    invalid, unsupported = baracuda.InvalidProblemError, baracuda.UnsupportedError
    for error, words, call in (
        (invalid, r"kernel_size: \(2, 2, 2\); expected a number, or one for", lambda: baracuda.max_pool2d(x, (2, 2, 2))),
        (invalid, "kernel_size: 0; expected", lambda: baracuda.max_pool2d(x, 0)),
        (invalid, r"padding: \(3, 3\); expected less than the 3 elements", lambda: baracuda.max_pool2d(x, 3, 1, 3)),
        (invalid, "x: an extent of 8, padded by 0 and 0, is less than the 9", lambda: baracuda.max_pool2d(x, 9)),
        (unsupported, "less than 2", lambda: baracuda.max_pool2d(x, 1, 1 << 33)),
        (invalid, "divisor_override: 0", lambda: baracuda.avg_pool2d(x, 2, divisor_override=0)),
        (invalid, r"dy: shape is \(2, 3, 8, 8\); expected \(2, 3, 4, 4\)", lambda: baracuda.max_pool2d_backward(x, x, 2)),
        (invalid, "_random_samples: got None", lambda: baracuda.fractional_max_pool2d(x, 2, 4)),
        (invalid, r"_random_samples: shape", lambda: baracuda.fractional_max_pool2d(x, 2, 4, None, False, x[0, 0, :2, :3])),
        (invalid, "output_size: ", lambda: baracuda.adaptive_avg_pool2d(x, (1, 2, 3))),
        (invalid, "x: shape is .* expected elements along axis 2", lambda: baracuda.adaptive_avg_pool2d(x[:, :, :0], 2)),
        (invalid, r"x: shape is \(8,\)", lambda: baracuda.max_pool2d(x[0, 0, 0], 2)),
        (unsupported, "x: element is complex64", lambda: baracuda.max_pool2d(x.astype(np.complex64), 2)),
        (invalid, r"indices: .* expected", lambda: baracuda.max_unpool2d(x, np.full(x.shape, 999), 2)),
        (unsupported, "dy: element is s32", lambda: baracuda.avg_pool2d_backward(x.astype(np.int32), x.astype(np.int32), 2)),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()
