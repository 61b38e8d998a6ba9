"""Cases of averages and merged moments."""

from __future__ import annotations

import torch

from tests.cases.case import OpCases
from tests.cases.reduction import over


def _average(x: torch.Tensor, w: torch.Tensor | None, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    if w is None:
        return x.mean(axes, keepdim=keepdims)
    if w.ndim != x.ndim:
        shape = [x.shape[a] if a in axes else 1 for a in range(x.ndim)]
        w = w.reshape(shape) if w.ndim == len(axes) else w
    x, w = torch.broadcast_tensors(x, w)
    return (x * w).sum(axes, keepdim=keepdims) / w.sum(axes, keepdim=keepdims)


def _merged(*operands: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a, mean_a, m2_a, b, mean_b, m2_b = torch.broadcast_tensors(*operands)
    d, n = mean_b - mean_a, a + b
    return n, (a * mean_a + b * mean_b) / n, m2_a + m2_b + d * d * a * b / n


CASES = {
    "average": OpCases(
        over(_average), ("any", "positive"), [((3, 67), (3, 67)), ((2, 5, 1030), (1030,)), ((7, 130, 3), None), ((4, 1), (1,))],
        keywords=({"axis": -1}, {"axis": -1, "keepdims": True}), absolute=8.0, tolerance=16.0, specials=False,
    ),
    "welford_merge": OpCases(
        _merged, ("positive", "any", "positive"), [((3, 67),) * 6, ((4, 1, 33),) * 5 + ((5, 1),)], tolerance=16.0, absolute=4.0,
        specials=False,
    ),
}  # fmt: skip
