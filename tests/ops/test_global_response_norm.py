"""The gradients of global response normalization, which take several plans."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from tests.cases.normalization import global_response_norm
from tests.cases.trial import to_device, to_host


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5), (ml_dtypes.bfloat16, 0.03)])
def test_gradients(dtype: type, tolerance: float, device: str) -> None:
    rng = np.random.default_rng(5)
    x, weight, bias, dy = (rng.standard_normal(s).astype(dtype) for s in ((3, 5, 7, 16), (16,), (16,), (3, 5, 7, 16)))
    x[1, :, :, 3] = 0.0  # a channel without length has no direction
    leaves = [torch.from_numpy(v.astype(np.float64)).requires_grad_() for v in (x, weight, bias)]
    expected = torch.autograd.grad(global_response_norm(*leaves), leaves, torch.from_numpy(dy.astype(np.float64)))
    got = baracuda.global_response_norm_backward(*(to_device(v, device) for v in (dy, x, weight, bias)))
    for gradient, reference in zip(got, expected, strict=True):
        size = float(reference.abs().max())
        np.testing.assert_allclose(to_host(gradient).astype(np.float64), reference.numpy(), rtol=tolerance, atol=tolerance * size)


def test_one_gradient_alone() -> None:
    x, dy = np.random.default_rng(6).standard_normal((2, 3, 5, 9)).astype(np.float32)
    weight = np.ones(9, np.float32)
    both = baracuda.global_response_norm_backward(dy[None], x[None], weight)
    alone = baracuda.global_response_norm_backward(dy[None], x[None], weight, wrt=("weight",))
    np.testing.assert_array_equal(both[1], alone)


def test_it_needs_axes_between_samples_and_channels() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: .*; expected \(samples, between, \*rest, channels\)"):
        baracuda.global_response_norm(np.ones((2, 3), np.float32))
