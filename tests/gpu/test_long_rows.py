"""Long rows on a GPU, where many blocks share one and hand each other results: the bits of the CPU, run after run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import baracuda
from tests.gpu.cpu_bits import DTYPES, assert_bits_of_the_cpu

#: Fewer rows than the device has blocks, of several chunks and tiles; the second are no whole number of either.
SHAPES = ((40, 262144 + 4096), (7, 100004), (300, 70000))

#: Of the values, and of others like them.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "logsumexp": lambda x, w: baracuda.logsumexp(x),
    "var": lambda x, w: baracuda.var(x, axis=-1),
    "softmax": lambda x, w: baracuda.softmax(x),
    "normalize": lambda x, w: baracuda.normalize(x, axis=-1),
    "layer_norm": lambda x, w: baracuda.layer_norm(x, w[0]),
    "softmin_backward": lambda x, w: baracuda.softmin_backward(x, w, baracuda.softmin(w)),
    "cumsum": lambda x, w: baracuda.cumsum(x, axis=-1),
    "cumsum_backward": lambda x, w: baracuda.cumsum_backward(x, w, axis=-1),
    "cummax": lambda x, w: baracuda.cummax(x, axis=-1),
    "logcumsumexp": lambda x, w: baracuda.logcumsumexp(x, axis=-1),
    "linear_recurrence": lambda x, w: baracuda.linear_recurrence(x, w),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_of_the_cpu(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    assert_bits_of_the_cpu(CALLS[name], shape, dtype, scale=0.5, times=3)
