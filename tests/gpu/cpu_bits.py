"""The bits of the CPU on a GPU, for functions of large tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from baracuda.cli.verify.bits import canonical_bits
from tests.cases.trial import as_tuple, to_device, to_host

DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f64": np.float64}


def assert_bits_of_the_cpu(
    call: Callable[[Any, Any], Any], shape: tuple[int, ...], dtype: str, *, scale: float = 1.0, times: int, device: str = "cuda"
) -> None:
    """That a function of two tensors, the second times `scale`, gives the CPU's bits on a device, so many times."""
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal(shape).astype(DTYPES[dtype]) for _ in range(2))
    w *= np.asarray(scale, w.dtype)
    expected = [canonical_bits(y) for y in as_tuple(call(x, w))]
    operands = to_device(x, device), to_device(w, device)
    for _ in range(times):
        for got, want in zip(as_tuple(call(*operands)), expected, strict=True):
            assert np.array_equal(canonical_bits(to_host(got)), want)
