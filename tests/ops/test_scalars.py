"""Tensors without axes: 0 and -1 name the row of their only element, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import as_tuple, to_device, to_host

X = np.array(-1.75, np.float32)
F = torch.nn.functional

REFERENCES: dict[str, Callable[[torch.Tensor, int], Any]] = {
    "sum": lambda x, axis: x.sum(axis),
    "prod": lambda x, axis: x.prod(axis),
    "mean": lambda x, axis: x.mean(axis),
    "max": lambda x, axis: x.amax(axis),
    "argmin": lambda x, axis: x.argmin(axis),
    "aminmax": lambda x, axis: torch.aminmax(x, dim=axis),
    "all": lambda x, axis: x.all(axis),
    "count_nonzero": lambda x, axis: x.count_nonzero(axis),
    "logsumexp": lambda x, axis: x.logsumexp(axis),
    "var": lambda x, axis: x.var(axis, correction=0),
    "vector_norm": lambda x, axis: torch.linalg.vector_norm(x, dim=axis),
    "cumsum": lambda x, axis: x.cumsum(axis),
    "cumprod": lambda x, axis: x.cumprod(axis),
    "cummax": lambda x, axis: x.cummax(axis),
    "logcumsumexp": lambda x, axis: x.logcumsumexp(axis),
    "softmax": lambda x, axis: x.softmax(axis),
    "log_softmax": lambda x, axis: x.log_softmax(axis),
    "softmin": lambda x, axis: F.softmin(x, axis),
    "normalize": lambda x, axis: F.normalize(x, dim=axis),
    "layer_norm": lambda x, axis: F.layer_norm(x.reshape(1), (1,)).reshape(()),
    "rms_norm": lambda x, axis: F.rms_norm(x.reshape(1), (1,), eps=1e-6).reshape(()),
}


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("name", REFERENCES)
def test_a_scalar_is_a_row_of_one(name: str, axis: int, device: str) -> None:
    got = as_tuple(getattr(baracuda, name)(to_device(X, device), axis=axis))
    want = as_tuple(REFERENCES[name](torch.from_numpy(X), axis))
    for g, w in zip(map(to_host, got), want, strict=True):
        assert g.shape == ()
        np.testing.assert_allclose(g, w.numpy(), rtol=1e-6)


@pytest.mark.parametrize("axis", [1, -2, (0, -1), (0, 0)])
def test_other_axes_of_a_scalar_are_refused(axis: Any, device: str) -> None:
    with pytest.raises(InvalidProblemError, match="axis: "):
        baracuda.sum(to_device(X, device), axis=axis)


def test_gradients_of_scalars(device: str) -> None:
    dy = np.array(2.0, np.float32)
    for name in ("sum", "logsumexp", "cumsum", "softmin"):
        x = torch.from_numpy(X.copy()).requires_grad_()
        REFERENCES[name](x, 0).backward(torch.from_numpy(dy))
        got = getattr(baracuda, f"{name}_backward")(to_device(dy, device), to_device(X, device), axis=0)
        assert x.grad is not None
        np.testing.assert_array_equal(to_host(got), x.grad.numpy())


def test_losses_of_one_score(device: str) -> None:
    x, target = torch.tensor(0.5), torch.tensor(0)
    operands = to_device(x.numpy(), device), to_device(target.numpy(), device)
    for name, reference in (("multi_margin_loss", F.multi_margin_loss), ("multilabel_margin_loss", F.multilabel_margin_loss)):
        got = to_host(getattr(baracuda, name)(*operands))
        assert got.shape == ()
        assert got == reference(x, target).numpy()
    got = baracuda.multilabel_margin_loss_backward(to_device(X, device), *operands)
    assert to_host(got) == 0.0


def test_scatter_into_a_scalar(device: str) -> None:
    index, source = np.array([0, 0, 0]), np.float32([2, 3, 4])
    got = baracuda.scatter_add(*(to_device(a, device) for a in (X, index, source)), axis=0)
    assert to_host(got).shape == ()
    assert to_host(got) == 7.25
    got = baracuda.index_add(*(to_device(a, device) for a in (X, index[:1], np.array(2.0, np.float32))), axis=-1)
    assert to_host(got).shape == ()
    assert to_host(got) == 0.25
    with pytest.raises(InvalidProblemError, match="x: it is a scalar"):
        baracuda.gather(to_device(X, device), to_device(index, device), axis=0)


@pytest.mark.parametrize("name", ["dot", "inner"])
def test_products_with_a_number(name: str, device: str) -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    for a, b in ((X, matrix), (matrix, X), (X, X)):
        got = to_host(getattr(baracuda, name)(to_device(a, device), to_device(b, device)))
        np.testing.assert_array_equal(got, getattr(np, name)(a, b))
