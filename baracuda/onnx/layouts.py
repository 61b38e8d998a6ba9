"""Where elements lie while a model runs: channels side by side, on the CPU, which changes no value."""

from __future__ import annotations

from typing import Any

import numpy as np

import baracuda
from baracuda.onnx.program import Step


def channels_last(x: Any) -> Any:
    """x with the elements of its second axis side by side."""
    if not isinstance(x, np.ndarray) or x.ndim < 3 or x.shape[1] == 1 or x.strides[1] == x.itemsize:
        return x
    return _as_before(baracuda.contiguous_copy(_last(x)))


def _last(x: Any) -> Any:
    """x with its second axis as the last one."""
    return baracuda.permute(x, (0, *range(2, x.ndim), 1))


def _as_before(x: Any) -> Any:
    return baracuda.permute(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def concatenated(step: Step, known: dict[str, Any]) -> bool:
    """Put together along channels what has them side by side, so that the result has, too; whether that was so."""
    node = step.node
    if (node.domain, node.operator) != ("", "Concat"):
        return False
    given = [known[n] for n in step.inputs]
    if not all(isinstance(x, np.ndarray) and x.ndim > 2 for x in given):
        return False
    if node.attributes["axis"] not in (1, 1 - given[0].ndim) or not all(x.strides[1] == x.itemsize for x in given):
        return False
    known[step.outputs[0]] = _as_before(baracuda.concat(tuple(map(_last, given)), axis=-1))
    return True


def dense(x: Any) -> Any:
    """x in the order of its axes."""
    if not isinstance(x, np.ndarray) or x.flags.c_contiguous or x.dtype.kind not in "biufc":
        return x
    return baracuda.contiguous_copy(x)


#: How operators want their first input to lie. Convolutions read the channels of a pixel side by side, and what follows them lies
#: as their results do; windows along channels are walked across them.
WANTED = {("", "Conv"): channels_last, ("", "LRN"): dense}
