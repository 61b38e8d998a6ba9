"""Group norm of tensors whose channels are one axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.cases.trial import to_device, to_host


def _tensors() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    return [rng.standard_normal(shape).astype(np.float32) for shape in ((4, 6, 5, 7), (6,), (6,), (4, 6, 5, 7))]


@pytest.mark.parametrize("name", ["group_norm", "group_norm_silu"])
def test_group_norm_is_torchs(name: str, device: str) -> None:
    x, weight, bias, dy = _tensors()
    operands = [to_device(v, device) for v in (x, weight, bias)]
    y, mean, rstd = getattr(baracuda, name)(*operands, num_groups=3, saved=True)
    gradients = getattr(baracuda, f"{name}_backward")(to_device(dy, device), *operands, mean, rstd, num_groups=3)
    leaves = [torch.from_numpy(v).double().requires_grad_() for v in (x, weight, bias)]
    want = torch.nn.functional.group_norm(leaves[0], 3, leaves[1], leaves[2])
    want = torch.nn.functional.silu(want) if name == "group_norm_silu" else want
    expected = torch.autograd.grad(want, leaves, torch.from_numpy(dy).double())
    assert tuple(mean.shape) == (4, 3)
    for got, reference in zip((y, *gradients), (want, *expected), strict=True):
        np.testing.assert_allclose(to_host(got), reference.detach().numpy(), rtol=1e-5, atol=1e-5)


def test_groups_must_divide_the_channels() -> None:
    x, *_ = _tensors()
    with pytest.raises(baracuda.InvalidProblemError, match="num_groups: 4; expected a divisor of the 6 channels of x"):
        baracuda.group_norm(x, num_groups=4)
