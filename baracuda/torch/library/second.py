"""Second derivatives of gradients that read a function's result in place of its argument, made of operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

#: From the gradient of what a backward gave and what it took, by name, the gradients of what it took.
Second = Callable[[torch.Tensor, Mapping[str, Any]], dict[str, torch.Tensor]]


def _softmax(g: torch.Tensor, v: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Of dx = y * (dy - sum(y * dy)), which is as linear in dy as it is symmetric."""
    ops, dy, y = torch.ops.baracuda, v["dy"], v["y"]
    rows = {"axis": -1 if v.get("axis") is None else v["axis"]}
    given = ops.sum(ops.mul(y, dy), keepdims=True, **rows)
    again = ops.sum(ops.mul(g, y), keepdims=True, **rows)
    return {"dy": ops.softmax_backward(g, y, **rows)[0], "y": ops.sub(ops.mul(g, ops.sub(dy, given)), ops.mul(dy, again))}


def _log_softmax(g: torch.Tensor, v: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Of dx = dy - exp(y) * sum(dy)."""
    ops, dy, y = torch.ops.baracuda, v["dy"], v["y"]
    rows = {"axis": -1 if v.get("axis") is None else v["axis"]}
    weighted = ops.mul(g, ops.exp(y))
    slope = ops.sub(g, ops.sum(weighted, keepdims=True, **rows))
    return {"dy": slope, "y": ops.neg(ops.mul(weighted, ops.sum(dy, keepdims=True, **rows)))}


SECOND: dict[str, Second] = {"softmax_backward": _softmax, "log_softmax_backward": _log_softmax}
