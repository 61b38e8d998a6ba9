"""`baracuda.record` on the CPU, where a recording is a kept call."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import baracuda
from baracuda import InvalidProblemError


def test_is_the_function() -> None:
    x, y = np.float32([[1, 2, 3]]), np.float32([[4, 5, 6]])
    recorded = baracuda.record(baracuda.softmax, x)
    assert recorded.function is baracuda.softmax
    assert recorded(y).tobytes() == baracuda.softmax(y).tobytes()


def test_of_pytorch() -> None:
    x, weight = torch.linspace(-1, 1, 24).reshape(4, 6), torch.ones(6)

    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = baracuda.mul(baracuda.exp(x), weight)
        return y, y.T

    recorded = baracuda.record(function, x, held=[weight])
    for _ in range(3):
        for got, expected in zip(recorded(x), function(x), strict=True):
            assert torch.equal(got, expected)
    with pytest.raises(InvalidProblemError, match="function: recorded for f32 4x6 on cpu; got f32 6x4 on cpu"):
        recorded(x.T)


def test_values_of_numpy_arrays() -> None:
    recorded = baracuda.record(lambda x: baracuda.mul(x, float(x[0])), np.ones(3, np.float32))
    for k in range(5):
        x = np.arange(k, k + 3, dtype=np.float32)
        np.testing.assert_array_equal(recorded(x), x * k)


def test_bad_arguments() -> None:
    x = np.float32([[1, 2, 3]])
    recorded = baracuda.record(baracuda.softmax, x)
    with pytest.raises(InvalidProblemError, match="softmax: recorded for f32 1x3 on cpu; got f32 3x1 on cpu"):
        recorded(x.T)
    with pytest.raises(InvalidProblemError, match="got f64 1x3 on cpu"):
        recorded(x.astype(np.float64))
    with pytest.raises(InvalidProblemError, match="got f32 1x3 on cpu, f32 1x3 on cpu"):
        recorded(x, x)
    with pytest.raises(InvalidProblemError, match=r"argument 0 of softmax is a builtins.list; expected an Array"):
        baracuda.record(baracuda.softmax, [1.0])
    with pytest.raises(InvalidProblemError, match="are on none; expected at least one, on one device"):
        baracuda.record(lambda: x)
