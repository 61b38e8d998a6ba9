"""The elements that PyTorch computes in where a call's tensors have several."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

import baracuda


def common(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands in the element of their result: a tensor of rank 0 gives way to one of its own category with axes."""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return a, b
    if a.device != b.device:
        a, b = (a.item(), b) if a.ndim == 0 else (a, b.item())
        return common(a, b)
    if a.dtype == b.dtype:
        return a, b
    element = torch.result_type(a, b)
    return converted(a, element), converted(b, element)


@cache
def promoted(a: Any, b: Any) -> Any:
    """The element that has the values of both; no mode is asked for it."""
    with torch._C._DisableTorchDispatch():
        return torch.promote_types(a, b)


def converted(x: Any, element: Any) -> Any:
    """x with this element."""
    return x if element is None or x.dtype == element else baracuda.cast(x, dtype=element)


def dense(x: Any) -> Any:
    """x without gaps, its last axis the fastest: functions that PyTorch gives such a result of any x read this in its place."""
    return x if x.is_contiguous() else baracuda.positive(x, out=torch.empty_like(x, memory_format=torch.contiguous_format))


def number(x: Any) -> Any:
    """A tensor of one element as a number, and numbers as they are."""
    return x.item() if isinstance(x, torch.Tensor) else x
