"""`baracuda.record` on the CPU, where a recording is the function itself."""

from __future__ import annotations

import numpy as np
import pytest

import baracuda
from baracuda import InvalidProblemError


def test_is_the_function() -> None:
    x, y = np.float32([[1, 2, 3]]), np.float32([[4, 5, 6]])
    recorded = baracuda.record(baracuda.softmax, x)
    assert recorded.function is baracuda.softmax
    assert recorded(y).tobytes() == baracuda.softmax(y).tobytes()


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
