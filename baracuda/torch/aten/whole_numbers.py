"""Whole numbers drawn into a tensor that there is."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted
from baracuda.torch.aten.random import new_key
from baracuda.torch.registry import serves

aten = torch.ops.aten
#: The largest whole number up to which an element has all of them.
EXACT = {torch.float64: 2**53, torch.float32: 2**24, torch.float16: 2**11, torch.bfloat16: 2**8, torch.bool: 1}


def _largest(x: Any) -> int:
    return EXACT[x.dtype] if x.dtype in EXACT else torch.iinfo(x.dtype).max


def _whole(x: Any, low: int, high: int, generator: Any) -> Any:
    numbers = baracuda.randint(new_key(x, generator), low, high, tuple(x.shape), torch.int64)
    return converted(numbers, x.dtype)


@serves(aten.random_.default)
def random_(x: Any, *, generator: Any = None) -> Any:
    """From 0 to the largest number of its element, that included."""
    return _whole(x, 0, _largest(x) + 1, generator)


@serves(aten.random_.to)
def random_to(x: Any, to: int, *, generator: Any = None) -> Any:
    return _whole(x, 0, to, generator)


@serves(getattr(aten.random_, "from"))
def random_from(x: Any, low: int, to: Any, *, generator: Any = None) -> Any:
    return _whole(x, low, _largest(x) + 1 if to is None else to, generator)
