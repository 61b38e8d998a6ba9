"""Gradients where a norm, a distance or a deviation is 0: PyTorch's subgradient, 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.cases.trial import to_device, to_host

F = torch.nn.functional
#: A row of zeros among others; rows that do not vary; points that are one.
ZEROS = np.float32([[3, -4, 0, 1], [0, 0, 0, 0], [1, 1, 2, -1]])
FLAT = np.float32([[2.5] * 4, [-1, 2, 0.5, 7], [0] * 4])
REFERENCES: dict[str, tuple[Callable[..., torch.Tensor], dict[str, Any], np.ndarray]] = {
    "vector_norm": (lambda x, p=2: torch.linalg.vector_norm(x, p, dim=-1), {"axis": -1}, ZEROS),
    "std": (lambda x: torch.std(x, -1), {"axis": -1, "correction": 1}, FLAT),
    "nanstd": (lambda x: torch.std(x, -1), {"axis": -1, "correction": 1}, FLAT),
    "normalize": (lambda x: F.normalize(x, dim=-1), {}, ZEROS),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.0), {"max_norm": 1.0}, ZEROS),
}


@pytest.mark.parametrize(("name", "words"), [*((n, {}) for n in REFERENCES), *(("vector_norm", {"p": p}) for p in (0.5, 1, 3))])
def test_gradients_of_norms_at_zero(name: str, words: dict[str, Any], device: str) -> None:
    reference, keywords, values = REFERENCES[name]
    x = torch.from_numpy(values.copy()).requires_grad_()
    y = reference(x, **words)
    dy = torch.linspace(0.5, 2.0, y.numel()).reshape(y.shape)
    y.backward(dy)
    assert x.grad is not None
    assert x.grad.isfinite().all()
    backward = getattr(baracuda, f"{name}_backward")
    got = to_host(backward(to_device(dy.numpy(), device), to_device(values, device), **keywords, **words))
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "words"), [("dist", {}), ("dist", {"p": 3}), ("pairwise_distance", {"eps": 0.0}), ("hypot", {})]
)
def test_gradients_of_distances_of_equal_points(name: str, words: dict[str, Any], device: str) -> None:
    points = np.zeros_like(FLAT) if name == "hypot" else FLAT  # of the origin; PyTorch's is NaN
    same = to_device(points, device)
    dy = np.ones_like(to_host(getattr(baracuda, name)(same, same, **words)))
    for gradient in getattr(baracuda, f"{name}_backward")(to_device(dy, device), same, same, **words):
        np.testing.assert_array_equal(to_host(gradient), 0.0)


def test_masked_deviation_and_norm(device: str) -> None:
    x, mask = to_device(FLAT, device), to_device(FLAT > -100, device)
    dy = to_device(np.ones(3, np.float32), device)
    for words in ({"reduction": "std"}, {"reduction": "norm"}):
        gradient = to_host(baracuda.masked_reduce_backward(dy, x, mask, axis=-1, **words))
        np.testing.assert_array_equal(gradient[2], 0.0)
        assert np.isfinite(gradient).all()
