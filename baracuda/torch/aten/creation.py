"""Tensors of one number, and of numbers in steps."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten


def _filled(shape: Any, value: Any, dtype: Any, device: Any) -> Any:
    if dtype is None:
        dtype = torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.get_default_dtype()
    return baracuda.full(tuple(shape), value, dtype, like=torch.empty((), device=device))


@serves(aten.full.default)
def full(size: Any, value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> Any:
    return _filled(size, value, dtype, device)


@serves(aten.zeros.default)
def zeros(size: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> Any:
    return _filled(size, 0, dtype or torch.get_default_dtype(), device)


@serves(aten.ones.default)
def ones(size: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> Any:
    return _filled(size, 1, dtype or torch.get_default_dtype(), device)


@serves(aten.scalar_tensor.default)
def scalar_tensor(value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> Any:
    return _filled((), value, dtype or torch.get_default_dtype(), device)


def _like(x: Any, value: Any, dtype: Any, device: Any) -> Any:
    return _filled(x.shape, value, dtype or x.dtype, device or x.device)


@serves(aten.full_like.default)
def full_like(x: Any, value: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _like(x, value, dtype, device)


@serves(aten.zeros_like.default)
def zeros_like(x: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _like(x, 0, dtype, device)


@serves(aten.ones_like.default)
def ones_like(x: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _like(x, 1, dtype, device)


@serves(aten.new_full.default)
def new_full(x: Any, size: Any, value: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _filled(size, value, dtype or x.dtype, device or x.device)


@serves(aten.new_zeros.default)
def new_zeros(x: Any, size: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _filled(size, 0, dtype or x.dtype, device or x.device)


@serves(aten.new_ones.default)
def new_ones(x: Any, size: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _filled(size, 1, dtype or x.dtype, device or x.device)


@serves(aten.fill.Scalar)
def fill(x: Any, value: Any) -> Any:
    return _like(x, value, None, None)


@serves(aten.fill.Tensor)
def fill_tensor(x: Any, value: Any) -> Any:
    return value


@serves(aten.zero.default)
def zero(x: Any) -> Any:
    return _like(x, 0, None, None)


@serves(aten.arange.default)
def arange(end: Any, **options: Any) -> Any:
    return arange_start_step(0, end, 1, **options)


@serves(aten.arange.start)
def arange_start(start: Any, end: Any, **options: Any) -> Any:
    return arange_start_step(start, end, 1, **options)


@serves(aten.arange.start_step)
def arange_start_step(
    start: Any, end: Any, step: Any = 1, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> Any:
    if dtype is None:
        dtype = torch.int64 if all(isinstance(v, int) for v in (start, end, step)) else torch.get_default_dtype()
    exact = float if dtype.is_floating_point else int
    start, end, step = exact(start), exact(end), exact(step)
    return baracuda.arange(start, end, step, dtype, like=torch.empty((), device=device))
