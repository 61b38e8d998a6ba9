"""`fuse` against PyTorch's autograd in float64: values and gradients, with broadcasting and rows along any axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.formula.expr import Expr
from baracuda.formula.functions import exp, max_, mean, rsqrt, sum_, tanh


def check(fused: Any, reference: Callable[..., torch.Tensor], shapes: Sequence[tuple[int, ...]], device: str) -> None:
    """Value and every gradient, each in its tensor's shape."""
    generator = torch.Generator().manual_seed(1)

    def draw(shape: tuple[int, ...]) -> torch.Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator).to(device)

    leaves = [draw(shape).requires_grad_() for shape in shapes]
    y = reference(*leaves)
    dy = draw(tuple(y.shape))
    y.backward(dy)
    plain = [leaf.detach() for leaf in leaves]
    torch.testing.assert_close(fused(*plain), y.detach(), rtol=1e-11, atol=1e-12)
    for got, leaf in zip(fused.gradient(*plain, dy=dy), leaves, strict=True):
        torch.testing.assert_close(got, leaf.grad, rtol=1e-11, atol=1e-12)


SHAPES = [
    [(5, 4, 33), (33,), (4, 1)],
    [(5, 4, 33), (5, 1, 33), ()],
    [(7,), (7,), (1,)],
    [(1, 1), (1,), (1, 1)],
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_pointwise(shapes: list[tuple[int, ...]], device: str) -> None:
    @baracuda.fuse
    def act(x: Expr, w: Expr, bias: Expr) -> Expr:
        return tanh(x * w + bias) * 2.0

    check(act, lambda x, w, bias: torch.tanh(x * w + bias) * 2.0, shapes, device)


@pytest.mark.parametrize("shapes", [*SHAPES, [(3, 4, 1500), (4, 1500), (4, 1)]], ids=str)
def test_rows(shapes: list[tuple[int, ...]], device: str) -> None:
    @baracuda.fuse
    def norm(x: Expr, g: Expr, c: Expr) -> Expr:
        d = x - mean(x)
        return d * rsqrt(mean(d * d) + 1e-3) * g + c

    def reference(x: torch.Tensor, g: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        d = x - x.mean(-1, keepdim=True)
        return d * torch.rsqrt((d * d).mean(-1, keepdim=True) + 1e-3) * g + c

    check(norm, reference, shapes, device)


@pytest.mark.parametrize(("shape", "axis"), [((7,), -1), ((6, 5), 0), ((3, 5), (0, 1)), ((2, 3, 40), (1, 2))], ids=str)
def test_rows_along_any_axes(shape: tuple[int, ...], axis: int | tuple[int, ...], device: str) -> None:
    """Rows that take up the whole tensor as well."""

    @baracuda.fuse(axis=axis)
    def softmax(x: Expr) -> Expr:
        e = exp(x - max_(x))
        return e / sum_(e)

    def reference(x: torch.Tensor) -> torch.Tensor:
        e = torch.exp(x - x.amax(axis, keepdim=True))
        return e / e.sum(axis, keepdim=True)

    check(softmax, reference, [shape], device)


def test_a_number_annotated_float_is_given_at_run_time() -> None:
    @baracuda.fuse
    def scaled(x: Any, *, by: float = 1.0) -> Any:
        return x * by

    x = np.arange(4, dtype=np.float32)
    assert list(scaled.op.signature.scalars) == ["by"]
    for by in (2.0, 3.0, 0.5):
        assert scaled(x, by=by).tolist() == (x * np.float32(by)).tolist()
    assert scaled._computed.cached_calls == 1
