"""Tensors of one number, and of numbers in steps."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten


def _filled(shape: Any, value: Any, dtype: Any, device: Any) -> Any:
    if dtype is None:
        dtype = torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.get_default_dtype()
    shape = tuple(shape)
    if 0 in shape:
        return torch.empty(shape, dtype=dtype, device=device)
    return baracuda.full(shape, value, dtype, like=torch.empty((), device=device))


@serves(aten.full.default)
def full(size: Any, value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> Any:
    return _filled(size, value, dtype, device)


@serves(aten.zeros.default, aten._efficientzerotensor.default)
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
    return write(torch.empty_like(x), value)


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


def _steps(function: Any) -> Any:
    """Numbers in steps: between whole ends for an element of whole numbers, computed in f64 and cut off."""

    def steps(start: Any, end: Any, steps: int, *base: Any, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
        dtype = dtype or torch.get_default_dtype()
        like = torch.empty((), device=device)
        start, end = (v.item() if isinstance(v, torch.Tensor) else v for v in (start, end))
        options = {"base": base[0]} if base else {}
        if dtype.is_floating_point or dtype.is_complex:
            return function(start, end, steps, dtype=dtype, like=like, **options)
        return baracuda.cast(function(int(start), int(end), steps, dtype=torch.float64, like=like, **options), dtype=dtype)

    return steps


for _name in ("linspace", "logspace"):
    _packet = getattr(aten, _name)
    serves(_packet.default, _packet.Tensor_Tensor, _packet.Tensor_Scalar, _packet.Scalar_Tensor)(_steps(getattr(baracuda, _name)))
