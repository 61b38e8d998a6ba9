"""Long rows side by side on a GPU, whose elements pass through shared memory or are handed on: the bits of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import baracuda
from baracuda.cli.verify.bits import canonical_bits
from tests.families.trial import as_tuple, to_device, to_host

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
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f64": np.float64}

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
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal(shape).astype(DTYPES[dtype]) for _ in range(2))
    expected = [canonical_bits(y) for y in as_tuple(CALLS[name](x, w))]
    given = to_device(x, "cuda"), to_device(w, "cuda")
    for _ in range(2):
        for found, want in zip(as_tuple(CALLS[name](*given)), expected, strict=True):
            assert np.array_equal(canonical_bits(to_host(found)), want)
