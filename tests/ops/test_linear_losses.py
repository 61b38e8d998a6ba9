"""Cross entropy of a linear layer in blocks of rows: values and gradients against torch, and bits whatever the block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.ops.losses import linear_losses
from tests.machine import waited

ROWS, K, N = 37, 24, 50


def problem(dtype: torch.dtype, device: str, rows: int = ROWS) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(rows)
    target = torch.randint(0, N, (rows,))
    target[::5] = -100
    x, w, b = torch.randn(rows, K), torch.randn(N, K) * 0.3, torch.randn(N)
    return tuple(t.to(device) for t in (x.to(dtype), w.to(dtype), target, b.to(dtype)))


def close(got: Any, want: torch.Tensor, dtype: torch.dtype) -> None:
    tolerance = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 3e-2}[dtype]
    got, want = got.detach().cpu().double(), want.detach().cpu().double()
    assert got.shape == want.shape
    assert (got - want).abs().max() <= tolerance * max(1.0, float(want.abs().max()))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("smoothing", "with_bias"), [(0.0, True), (0.1, False)])
def test_values_and_gradients(
    dtype: torch.dtype, reduction: str, smoothing: float, with_bias: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear_losses, "ROWS", 16)  # several blocks, the last one not whole
    x, w, target, b = problem(dtype, device)
    bias = b if with_bias else None
    words: dict[str, Any] = {"reduction": reduction, "label_smoothing": smoothing}
    leaves = [t.cpu().double().requires_grad_() for t in (x, w, b)]
    logits = F.linear(leaves[0], leaves[1], leaves[2] if with_bias else None)
    want = F.cross_entropy(logits, target.cpu(), **words)
    got = baracuda.linear_cross_entropy(x, w, target, bias, **words)
    close(got, want, dtype)
    dy = torch.randn(want.shape).to(dtype)
    want.backward(dy.double())
    gradients = baracuda.linear_cross_entropy_backward(dy.to(device), x, w, target, bias, **words)
    assert len(gradients) == 2 + with_bias
    for gradient, leaf, operand in zip(gradients, leaves, (x, w, b), strict=False):
        assert gradient.dtype == operand.dtype
        assert leaf.grad is not None
        close(gradient, leaf.grad, dtype)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_class_weights(reduction: str, device: str) -> None:
    x, w, target, b = problem(torch.float64, device)
    factors = torch.rand(N, dtype=torch.float64)
    leaves = [t.cpu().clone().requires_grad_() for t in (x, w, b)]
    want = F.cross_entropy(F.linear(*leaves), target.cpu(), factors, reduction=reduction)
    words: dict[str, Any] = {"class_weight": factors.to(device), "reduction": reduction}
    close(baracuda.linear_cross_entropy(x, w, target, b, **words), want, torch.float64)
    dy = torch.randn(want.shape, dtype=torch.float64)
    want.backward(dy)
    for gradient, leaf in zip(
        baracuda.linear_cross_entropy_backward(dy.to(device), x, w, target, b, **words), leaves, strict=True
    ):
        assert leaf.grad is not None
        close(gradient, leaf.grad, torch.float64)
    with pytest.raises(InvalidProblemError, match="class_weight: shape is"):
        baracuda.linear_cross_entropy(x, w, target, b, class_weight=factors[1:])


@pytest.mark.parametrize("bad", [-1, N, 2**40])
def test_targets_that_are_no_class(bad: int, device: str) -> None:
    x, w, target, b = problem(torch.float32, device)
    target[3] = bad
    for function in (baracuda.linear_cross_entropy, baracuda.chunked_logprobs):
        if function is baracuda.chunked_logprobs:
            target[target == -100] = 0
        with pytest.raises(InvalidProblemError, match=rf"target: index ({bad} )?at \(3,\)"):
            waited(function, x, w, target, b)
        assert function(x, w, target, b, bounds="clamp").isnan().any()


def test_log_probabilities(device: str) -> None:
    x, w, target, b = problem(torch.float64, device)
    target = target.clamp(min=0)
    leaves = [t.cpu().clone().requires_grad_() for t in (x, w, b)]
    want = F.linear(*leaves).log_softmax(1).gather(1, target.cpu()[:, None])[:, 0]
    close(baracuda.chunked_logprobs(x, w, target, b), want, torch.float64)
    dy = torch.randn(ROWS, dtype=torch.float64)
    want.backward(dy)
    for gradient, leaf in zip(baracuda.chunked_logprobs_backward(dy.to(device), x, w, target, b), leaves, strict=True):
        assert leaf.grad is not None
        close(gradient, leaf.grad, torch.float64)


def test_rows_do_not_know_their_block(device: str) -> None:
    x, w, target, b = problem(torch.float32, device, 2 * linear_losses.ROWS + 5)
    whole = baracuda.linear_cross_entropy(x, w, target, b, reduction="none")
    some = slice(1000, 1100)
    alone = baracuda.linear_cross_entropy(x[some], w, target[some], b, reduction="none")
    assert torch.equal(whole[some].view(torch.int32), alone.view(torch.int32))


@pytest.mark.parametrize("wrong", [(ROWS + 1, K), (ROWS, K + 1), (ROWS,)])
def test_shapes_that_do_not_fit(wrong: tuple[int, ...]) -> None:
    _, w, target, b = problem(torch.float32, "cpu")
    with pytest.raises(InvalidProblemError, match="expected"):
        baracuda.linear_cross_entropy(torch.zeros(wrong), w, target, b)
    with pytest.raises(InvalidProblemError, match="reduction: 'min'"):
        baracuda.linear_cross_entropy(torch.zeros(ROWS, K), w, target, b, reduction="min")


def test_no_rows() -> None:
    x, w, target = np.zeros((0, 3), np.float32), np.ones((4, 3), np.float32), np.zeros(0, np.int64)
    assert baracuda.linear_cross_entropy(x, w, target, reduction="sum") == 0.0
    dx, dw = baracuda.linear_cross_entropy_backward(np.ones((), np.float32), x, w, target, reduction="sum")
    assert dx.shape == (0, 3)
    assert not dw.any()
