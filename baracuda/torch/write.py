"""Values put into a tensor that there is, by a copy of ours."""

from __future__ import annotations

from typing import Any

import torch

import baracuda


def write(target: Any, value: Any) -> Any:
    """The target, which holds the value then, converted to its element and broadcast to its shape."""
    if value is not target:
        _copy(plain(target), value)
    return target


def plain(target: Any) -> Any:
    """A tensor to be written: autograd, above the mode, keeps the record, and refuses writes that it does not see."""
    return target.detach() if target.requires_grad and torch.is_grad_enabled() else target


def _copy(target: Any, value: Any) -> None:
    if value.dtype != target.dtype:
        value = baracuda.cast(value, dtype=target.dtype)
    if value.device != target.device:
        target.copy_(value)
        return
    if value.shape != target.shape:
        value = value.expand(target.shape)
    if target.numel():
        baracuda.positive(value, out=target)


def write_out(target: Any, value: Any) -> Any:
    """As `write`, into a result that the caller gave, which gets the value's shape as PyTorch has it."""
    if target.shape != value.shape:
        target.resize_(value.shape)
    write(target, value)
    return target
