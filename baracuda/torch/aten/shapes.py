"""Copies: of a tensor, of several into one, of one several times."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted, promoted
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten


@serves(aten.clone.default, aten.lift_fresh_copy.default)
def clone(x: Any, *, memory_format: Any = None) -> Any:
    return write(torch.empty_like(x, memory_format=memory_format or torch.preserve_format), x)


@serves(aten._to_copy.default)
def to_copy(
    x: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Any:
    if device is not None and torch.device(device) != x.device:
        x = x.to(device, non_blocking=non_blocking, copy=True)
        return converted(x, dtype)
    if dtype is not None and dtype != x.dtype and memory_format in (None, torch.preserve_format):
        return converted(x, dtype)
    return write(torch.empty_like(x, dtype=dtype, memory_format=memory_format or torch.preserve_format), x)


@serves(aten.copy_.default, writes=True)
def copy_(x: Any, source: Any, non_blocking: bool = False) -> Any:
    return write(x, source)


@serves(aten.cat.default)
def cat(tensors: Any, dim: int = 0) -> Any:
    element = tensors[0].dtype
    for t in tensors[1:]:
        if t.dtype != element:
            element = promoted(element, t.dtype)
    joined = [t for t in tensors if t.ndim != 1 or t.numel()] or tensors[:1]  # an empty row joins anything
    joined = [converted(t, element) for t in joined]
    if all(t.is_contiguous() for t in joined) or _are_channels_last(joined):
        return baracuda.concat(joined, dim)
    shape = list(joined[0].shape)
    shape[dim] = sum(t.shape[dim] for t in joined)
    return baracuda.concat(joined, dim, out=joined[0].new_empty(shape))


def _are_channels_last(tensors: Any) -> bool:
    form = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensors[0].ndim)
    return form is not None and all(t.is_contiguous(memory_format=form) for t in tensors)


@serves(aten.stack.default)
def stack(tensors: Any, dim: int = 0) -> Any:
    return baracuda.stack(list(tensors), dim)


@serves(aten.flip.default)
def flip(x: Any, dims: Any) -> Any:
    return baracuda.flip(x, tuple(dims))


@serves(aten.roll.default)
def roll(x: Any, shifts: Any, dims: Any = ()) -> Any:
    return baracuda.roll(x, tuple(shifts), tuple(dims) or None)


@serves(aten.repeat.default)
def repeat(x: Any, repeats: Any) -> Any:
    return baracuda.tile(x, tuple(repeats))


serves(aten.tril.default)(lambda x, diagonal=0: baracuda.tril(x, diagonal))
serves(aten.triu.default)(lambda x, diagonal=0: baracuda.triu(x, diagonal))


@serves(aten.constant_pad_nd.default)
def constant_pad(x: Any, pad: Any, value: Any = 0) -> Any:
    if x.dtype == torch.bool:
        return baracuda.pad(x.view(torch.uint8), pad=tuple(pad), constant_values=int(bool(value))).view(torch.bool)
    return baracuda.pad(x, pad=tuple(pad), constant_values=value)
