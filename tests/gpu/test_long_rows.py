"""Long rows on a GPU, where many blocks share one and hand each other results: the bits of the CPU, run after run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import baracuda
from baracuda.cli.verify.bits import canonical_bits
from tests.families.trial import as_tuple, to_device, to_host

#: Fewer rows than the device has blocks, of several chunks and tiles; the second are no whole number of either.
SHAPES = ((40, 262144 + 4096), (7, 100004), (300, 70000))
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f64": np.float64}

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
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal(shape).astype(DTYPES[dtype]) for _ in range(2))
    w *= np.asarray(0.5, w.dtype)
    expected = [canonical_bits(y) for y in as_tuple(CALLS[name](x, w))]
    given = to_device(x, "cuda"), to_device(w, "cuda")
    for _ in range(3):
        for found, want in zip(as_tuple(CALLS[name](*given)), expected, strict=True):
            assert np.array_equal(canonical_bits(to_host(found)), want)
