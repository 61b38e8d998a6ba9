"""Long rows side by side on a GPU, whose elements pass through shared memory or are handed on: the bits of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import baracuda
from tests.gpu.cpu_bits import DTYPES, assert_bits_of_the_cpu

#: Batches of rows along axis 1: enough rows for whole ones to each block, in pieces of several widths and of one; and few.
SHAPES = (
    (1, 1024, 6404),
    (3, 2111, 2050),
    (2, 700, 3333),
    (9, 1000, 1028),
    (4, 20000, 250),
    (2, 9000, 500),
    (2, 9000, 40),
    (1, 70001, 6),
)

#: Of the values, and of others like them.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda x, w: baracuda.cumsum(x, axis=1),
    "cumsum_backward": lambda x, w: baracuda.cumsum_backward(x, w, axis=1),
    "cumprod": lambda x, w: baracuda.cumprod(x, axis=1),
    "masked_cumsum": lambda x, w: baracuda.masked_cumsum(x, w > 0, axis=1),
    "cummax": lambda x, w: baracuda.cummax(x, axis=1),
    "logcumsumexp": lambda x, w: baracuda.logcumsumexp(x, axis=1),
    "var": lambda x, w: baracuda.var(x, axis=1),
    "logsumexp": lambda x, w: baracuda.logsumexp(x, axis=1),
    "softmin": lambda x, w: baracuda.softmin(x, axis=1),
    "normalize": lambda x, w: baracuda.normalize(x, axis=1),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_of_the_cpu(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    assert_bits_of_the_cpu(CALLS[name], shape, dtype, times=2)
