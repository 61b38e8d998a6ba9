"""Cases of the softmax family."""

from __future__ import annotations

import torch

from tests.cases.case import ROWS, OpCases, Shapes

_INFINITY = float("inf")
_ATTENTION: Shapes = ((2, 3, 5, 67), None)
_MASKS: list[Shapes] = [_ATTENTION, ((2, 3, 5, 67), (3, 5, 67)), ((4, 33, 33), (1, 33)), ((2, 70), (2, 1))]
_FLOATS = ("f16", "bf16", "f32", "f64")
#: Rows of entmax: short and long ones, one element, all alike in scale.
_SPARSE: list[Shapes] = [((3, 67),), ((2, 5, 1030),), ((4, 1),), ((130,),)]


def _softmax(x: torch.Tensor, axis: int = -1) -> torch.Tensor:
    return torch.softmax(x, axis)


def _log_softmax(x: torch.Tensor, axis: int = -1) -> torch.Tensor:
    return torch.log_softmax(x, axis)


def _softmin(x: torch.Tensor, axis: int = -1) -> torch.Tensor:
    return torch.softmax(-x, axis)


def _masked(
    x: torch.Tensor, mask: torch.Tensor | None = None, scale: float = 1.0, causal: bool = False, diagonal: int = 0
) -> torch.Tensor:
    z = x * scale
    if mask is not None:
        z = z.masked_fill(~mask, -_INFINITY) if mask.dtype is torch.bool else z + mask
    if causal:
        z = z.masked_fill(~torch.ones(z.shape[-2:], dtype=torch.bool).tril(diagonal), -_INFINITY)
    nothing = (z == -_INFINITY).all(-1, keepdim=True)
    return torch.softmax(z.masked_fill(nothing, 0.0), -1).masked_fill(nothing, 0.0)


def _with_sink(x: torch.Tensor, sink: torch.Tensor) -> torch.Tensor:
    more = sink.expand((*x.shape[:-1], 1))
    return torch.softmax(torch.cat([x, more], -1), -1)[..., :-1]


def _one_hot(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.one_hot(x.argmax(-1), x.shape[-1]).to(x.dtype)


def _hardmax(x: torch.Tensor, axis: int = -1) -> torch.Tensor:
    return _one_hot(x.movedim(axis, -1)).movedim(-1, axis)


def _gumbel(x: torch.Tensor, noise: torch.Tensor, tau: float = 1.0, hard: bool = False) -> torch.Tensor:
    soft = torch.softmax((x + noise) / tau, -1)
    return _one_hot(soft) - soft.detach() + soft if hard else soft


def _entmax(x: torch.Tensor, alpha: float = 1.5, axis: int = -1) -> torch.Tensor:
    """By bisection; its gradient is that of one step of Newton's method from the solution."""
    q = 1.0 / (alpha - 1.0)
    z = (x - x.amax(axis, keepdim=True).detach()) * (alpha - 1.0)
    with torch.no_grad():
        high = z.amax(axis, keepdim=True)
        low = high - 1.0
        for _ in range(100):
            middle = (low + high) / 2
            enough = ((z - middle).clamp_min(0.0) ** q).sum(axis, keepdim=True) >= 1.0
            low, high = torch.where(enough, middle, low), torch.where(enough, high, middle)
    inside = z > low
    d = torch.where(inside, z - low, 1.0)
    total = torch.where(inside, d**q, 0.0).sum(axis, keepdim=True)
    slope = torch.where(inside, q * d ** (q - 1.0), 0.0).sum(axis, keepdim=True).detach()
    solution = low + (total - 1.0) / slope
    y = torch.where(inside, torch.where(inside, z - solution, 1.0).clamp_min(1e-300) ** q, z * 0.0)
    return torch.where(torch.isfinite(x.amax(axis, keepdim=True)), torch.nan_to_num(y, nan=0.0), torch.nan)


CASES = {
    "softmax": OpCases(_softmax, shapes=ROWS, keywords=({}, {"axis": 0}), tolerance=16.0),
    "log_softmax": OpCases(_log_softmax, shapes=ROWS, keywords=({}, {"axis": 0}), tolerance=16.0, absolute=1.0),
    "softmin": OpCases(_softmin, shapes=ROWS, keywords=({}, {"axis": 0}), tolerance=16.0),
    "masked_softmax": OpCases(
        _masked,
        ("any", "mask"),
        shapes=_MASKS,
        keywords=({}, {"scale": 0.3, "causal": True}, {"causal": True, "diagonal": -3}),
        tolerance=16.0,
    ),
    "softmax_with_sink": OpCases(
        _with_sink, shapes=[((2, 3, 5, 67), (3, 1, 1)), ((7, 33), (7, 1)), ((130,), (1,))], tolerance=16.0
    ),
    "hardmax": OpCases(_hardmax, shapes=ROWS, keywords=({}, {"axis": 0})),
    "gumbel_softmax": OpCases(
        _gumbel,
        shapes=[((3, 67), (3, 67)), ((2, 5, 1030), (2, 5, 1030)), ((4, 1), (4, 1))],
        keywords=({}, {"tau": 0.5}, {"hard": True}),
        tolerance=16.0,
        absolute=1.0,
    ),
    "sparsemax": OpCases(lambda x, axis=-1: _entmax(x, 2.0, axis), shapes=_SPARSE, keywords=({}, {"axis": 0}), absolute=1.0),
    "entmax15": OpCases(_entmax, shapes=_SPARSE, absolute=1.0, tolerance=8.0),
    "entmax": OpCases(_entmax, shapes=_SPARSE, keywords=({}, {"alpha": 1.2}, {"alpha": 1.75}), absolute=1.0, tolerance=16.0),
}
