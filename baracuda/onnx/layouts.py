"""Where elements lie while a model runs: channels side by side, on the CPU, which changes no value."""

from __future__ import annotations

from typing import Any

import numpy as np

import baracuda


def channels_last(x: Any) -> Any:
    """x with the elements of its second axis side by side."""
    if not isinstance(x, np.ndarray) or x.ndim < 3 or x.shape[1] == 1 or x.strides[1] == x.itemsize:
        return x
    order = (0, *range(2, x.ndim), 1)
    return baracuda.permute(baracuda.contiguous_copy(baracuda.permute(x, order)), (0, x.ndim - 1, *range(1, x.ndim - 1)))


def dense(x: Any) -> Any:
    """x in the order of its axes."""
    if not isinstance(x, np.ndarray) or x.flags.c_contiguous or x.dtype.kind not in "biufc":
        return x
    return baracuda.contiguous_copy(x)


#: How operators want their first input to lie. Convolutions read the channels of a pixel side by side, and what follows them lies
#: as their results do; windows along channels are walked across them.
WANTED = {("", "Conv"): channels_last, ("", "LRN"): dense}
