"""Second derivatives of ops whose backward formula is given, against PyTorch's in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.cases.trial import as_tuple, to_device, to_host

Tensor = torch.Tensor


def _drawn(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def _compare(device: str, name: str, reference: Callable[..., Tensor], shapes: list[tuple[int, ...]], **keywords: Any) -> None:
    """The gradients of dy and of every tensor, given those of the gradients of all tensors."""
    leaves = [torch.from_numpy(_drawn(s, i)).requires_grad_() for i, s in enumerate(shapes)]
    y = reference(*leaves)
    dy = torch.from_numpy(_drawn(tuple(y.shape), 7)).requires_grad_()
    first = torch.autograd.grad(y, leaves, dy, create_graph=True)
    seconds = [torch.from_numpy(_drawn(s, 8 + i)) for i, s in enumerate(shapes)]
    want = torch.autograd.grad(first, [dy, *leaves], seconds, allow_unused=True)
    operands = [to_device(t.detach().numpy(), device) for t in (*seconds, dy, *leaves)]
    gradients = as_tuple(getattr(baracuda, f"{name}_double_backward")(*operands, **keywords))
    for got, slope, read in zip(gradients, want, [dy, *leaves], strict=True):
        expected = np.zeros(tuple(read.shape)) if slope is None else slope.numpy()
        assert to_host(got).shape == expected.shape
        np.testing.assert_allclose(to_host(got), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("shape", "axis"), [((3, 67), -1), ((4, 3, 5), 1), ((3, 1), -1), ((2, 1500), -1), ((0, 4), -1), ((), -1)]
)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name: str, shape: tuple[int, ...], axis: int, device: str) -> None:
    _compare(device, name, lambda x: getattr(torch, name)(x, axis), [shape], axis=axis)


@pytest.mark.parametrize(("shape", "axes"), [((3, 67), (-1,)), ((4, 3, 5), (1, 2)), ((2, 1500), (-1,)), ((0, 4), (-1,))])
def test_rms_norm(shape: tuple[int, ...], axes: tuple[int, ...], device: str) -> None:
    def reference(x: Tensor, gamma: Tensor) -> Tensor:
        return x / torch.sqrt((x * x).mean(axes, keepdim=True) + 1e-3) * gamma

    _compare(device, "rms_norm", reference, [shape, tuple(shape[a] for a in axes)], axis=axes, eps=1e-3)


def test_rms_norm_without_a_weight(device: str) -> None:
    x, dy, ddx = (_drawn((3, 7), i) for i in range(3))
    with_ones = baracuda.rms_norm_double_backward(ddx, None, dy, x, np.ones(7), wrt=("dy", "x"))
    operands = [v if v is None else to_device(v, device) for v in (ddx, None, dy, x)]
    for got, want in zip(baracuda.rms_norm_double_backward(*operands), with_ones, strict=True):
        np.testing.assert_allclose(to_host(got), want, rtol=1e-13, atol=1e-13)


def test_alibi(device: str) -> None:
    distance = torch.arange(5.0, dtype=torch.float64) - torch.arange(4.0, dtype=torch.float64)[:, None]
    _compare(device, "alibi", lambda s, m: s + m[None, :, None, None] * distance, [(2, 3, 4, 5), (3,)])


@pytest.mark.parametrize("shapes", [[(3, 4), (3, 4), (3, 4)], [(3, 1), (4,), (3, 4)], [(0, 2), (2,), (1,)]])
def test_lerp(shapes: list[tuple[int, ...]], device: str) -> None:
    _compare(device, "lerp", lambda a, b, w: a + w * (b - a), shapes)


@pytest.mark.parametrize("quantized", ["s8", "u8"])
@pytest.mark.parametrize("zero_point", [None, np.array([-5, 0, 4, 3], np.int32)])
def test_quantize(quantized: str, zero_point: Any, device: str) -> None:
    x, dq, ddx, scale = _drawn((4, 6), 0) * 80, _drawn((4, 6), 1), _drawn((4, 6), 2), np.abs(_drawn((4,), 3)) + 0.5
    code = np.rint(x / scale[:, None]) + (0 if zero_point is None else zero_point[:, None])
    inside = (code >= {"s8": -128, "u8": 0}[quantized]) & (code <= {"s8": 127, "u8": 255}[quantized])
    assert inside.any()
    assert not inside.all()
    leaves = [torch.from_numpy(v).requires_grad_() for v in (dq, scale)]
    slope = torch.where(torch.from_numpy(inside), leaves[0] / leaves[1][:, None], 0.0)
    operands = [v if v is None else to_device(v, device) for v in (ddx, dq, x, scale, zero_point)]
    gradients = baracuda.quantize_per_token_double_backward(*operands, dtype=quantized, wrt=("dq", "scale"))
    for got, want in zip(gradients, torch.autograd.grad(slope, leaves, torch.from_numpy(ddx)), strict=True):
        np.testing.assert_allclose(to_host(got), want.numpy(), rtol=1e-13, atol=1e-13)


def test_dequantize(device: str) -> None:
    dy, ddq, scale = _drawn((4, 6), 0), _drawn((4, 6), 1), _drawn((4,), 2)
    codes = np.zeros((4, 6), np.int8)
    operands = (to_device(v, device) for v in (ddq, dy, codes, scale))
    gradients = baracuda.dequantize_per_token_double_backward(*operands, wrt=("dy", "scale"))
    for got, want in zip(gradients, (ddq * scale[:, None], (ddq * dy).sum(1)), strict=True):
        np.testing.assert_allclose(to_host(got), want, rtol=1e-13, atol=1e-13)


def test_what_is_refused() -> None:
    x = np.ones((2, 3))
    for call, message in (
        (lambda: baracuda.softmax_double_backward(x, x[:, :2], x), r"dy: shape is \(2, 2\); expected \(2, 3\)"),
        (lambda: baracuda.softmax_double_backward(None, x, x), "every gradient of a gradient is None"),
        (lambda: baracuda.softmax_double_backward(x, x, x, wrt=("x", "x")), "expected some of dy, x, each once"),
        (lambda: baracuda.dequantize_per_token_double_backward(x, x, x.astype(np.int8), np.ones(3)), "scale: shape"),
    ):
        with pytest.raises(baracuda.InvalidProblemError, match=message):
            call()
