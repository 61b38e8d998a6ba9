"""What graphs have and eager programs have not: views of strides that the tracer did not expect, and PyTorch's `fma`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import baracuda
from baracuda.torch.write import write

aten = torch.ops.aten


def dense(x: Any) -> Any:
    """A copy in order."""
    return write(torch.empty_like(x, memory_format=torch.contiguous_format), x)


def reshaped(x: Any, size: Any) -> Any:
    """A view, or where the strides allow none, of a copy."""
    try:
        return x.view(size)
    except RuntimeError:
        return dense(x).view(size)


_OTHER: dict[Any, Callable[..., Any]] = {aten.view.default: reshaped, aten._unsafe_view.default: reshaped}
#: Overloads that there are only once PyTorch's own backend was imported, by their names.
_LATE: dict[str, Callable[..., Any]] = {"prims.fma.default": baracuda.fma}


def only_compiled(overload: Any) -> Callable[..., Any] | None:
    """What computes an overload in graphs alone."""
    return _OTHER.get(overload) or _LATE.get(str(overload))
