"""Cases of the scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.cases.case import OpCases, Shapes

SPACES: list[Shapes] = [((3, 67),), ((2, 5, 1030),), ((2, 4500),), ((4, 1),), ((3, 0),)]
WAYS: tuple[dict[str, Any], ...] = ({}, {"axis": 0}, {"reverse": True}, {"exclusive": True}, {"axis": 0, "exclusive": True})


def along(step: Callable[[torch.Tensor], torch.Tensor], start: float = 0.0) -> Callable[..., Any]:
    """A scan of the last axis, from either end, with or without the element itself."""

    def scanned(x: torch.Tensor, axis: int = -1, reverse: bool = False, exclusive: bool = False) -> torch.Tensor:
        x = x.movedim(axis, -1)
        x = x.flip(-1) if reverse else x
        y = step(x)
        if exclusive:
            y = torch.cat([torch.full_like(y[..., :1], start), y[..., :-1]], -1)
        return (y.flip(-1) if reverse else y).movedim(-1, axis)

    return scanned


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.is_floating_point() or x.is_complex() else x.to(torch.int64)


def _logcumsumexp(x: torch.Tensor) -> torch.Tensor:
    """That of complex numbers with the principal angle, which PyTorch's lacks."""
    y = x.logcumsumexp(-1)
    return torch.complex(y.real, torch.polar(torch.ones_like(y.real), y.imag).angle()) if x.is_complex() else y


def _extreme(step: Callable[..., Any]) -> Callable[..., Any]:
    def scanned(x: torch.Tensor, axis: int = -1) -> tuple[torch.Tensor, torch.Tensor]:
        values, indices = step(x, axis)
        return values, indices

    return scanned


def _recurrence(a: torch.Tensor, b: torch.Tensor, axis: int = -1, reverse: bool = False) -> torch.Tensor:
    a, b = (t.movedim(axis, -1) for t in torch.broadcast_tensors(a, b))
    order = range(b.shape[-1] - 1, -1, -1) if reverse else range(b.shape[-1])
    h, states = torch.zeros_like(b[..., 0]), {}
    for t in order:
        h = states[t] = a[..., t] * h + b[..., t]
    return torch.stack([states[t] for t in range(b.shape[-1])], -1).movedim(-1, axis)


def _ema(x: torch.Tensor, axis: int = -1, decay: float = 0.9) -> torch.Tensor:
    return _recurrence(torch.full_like(x, decay), (1 - decay) * x, axis)


SHORT: list[Shapes] = [((3, 67),), ((4, 1),), ((2, 5, 130),)]

CASES = {
    "cumsum": OpCases(along(lambda x: _wide(x).cumsum(-1)), shapes=SPACES, keywords=WAYS, absolute=1000.0),
    "cumprod": OpCases(
        along(lambda x: _wide(x).cumprod(-1), 1.0), ("nonzero",), SHORT[:2], WAYS, tolerance=200.0, specials=False, modulus=True
    ),
    "cummax": OpCases(_extreme(torch.cummax), shapes=SPACES[:-1], keywords=WAYS[:2], tolerance=1000.0),
    "cummin": OpCases(_extreme(torch.cummin), shapes=SPACES[:-1], keywords=WAYS[:2], tolerance=1000.0),
    "logcumsumexp": OpCases(
        along(_logcumsumexp, -float("inf")), shapes=[*SPACES[:2], SPACES[3]], keywords=WAYS, tolerance=24.0, absolute=8.0,
        modulus=True,
    ),
    "nancumsum": OpCases(
        along(lambda x: torch.where(x.isnan(), 0.0, x).cumsum(-1)), shapes=SPACES, keywords=WAYS, absolute=1000.0
    ),
    "nancumprod": OpCases(
        along(lambda x: torch.where(x.isnan(), 1.0, x).cumprod(-1), 1.0), ("nonzero",), SHORT[:2], WAYS, tolerance=200.0,
        specials=False,
    ),
    "ema_scan": OpCases(_ema, shapes=SHORT, keywords=({}, {"axis": 0}, {"decay": 0.5}), absolute=8.0, specials=False),
    "linear_recurrence": OpCases(
        _recurrence, ("unit", "any"), [((3, 67), (3, 67)), ((2, 1, 30), (5, 30))], ({}, {"axis": -2}, {"reverse": True}),
        tolerance=16.0, absolute=16.0, specials=False,
    ),
}  # fmt: skip
