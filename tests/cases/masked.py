"""Cases of the reductions and scans under a mask, and of the hash."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.masked import _ops as masked

from tests.cases.case import OpCases
from tests.cases.reduction import AXES, SPACES, TWO, flat, over

FLOATS = ("f16", "bf16", "f32", "f64")


def _reduced(
    x: torch.Tensor,
    mask: torch.Tensor,
    axes: tuple[int, ...],
    keepdims: bool,
    reduction: str = "sum",
    correction: float = 1.0,
    p: float = 2,
) -> torch.Tensor:
    x, mask = torch.broadcast_tensors(x, mask)
    words: dict[str, Any] = {"mask": mask, "keepdim": keepdims}
    result: torch.Tensor
    if reduction in ("var", "std"):
        result = getattr(masked, reduction)(x, axes, correction == 1.0, **words)
    elif reduction == "norm":
        result = masked.norm(x, p, axes, **words)
    elif reduction.startswith("arg"):
        filled = torch.where(mask, x, -np.inf if reduction == "argmax" else np.inf)
        result = flat(lambda v: getattr(v, reduction)(-1))(filled, axis=axes, keepdims=keepdims)
    else:
        result = getattr(masked, reduction)(x, axes, **words)
    return result


def _hash(x: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    if not x.is_floating_point():
        x = x.to(torch.int64)
    bits = x.numpy().view(np.int64)
    return torch.from_numpy(np.asarray(np.bitwise_xor.reduce(bits, axis=axes, keepdims=keepdims)))


def _scanned(name: str) -> Any:
    def scanned(x: torch.Tensor, mask: torch.Tensor, axis: int = -1) -> torch.Tensor:
        x, mask = torch.broadcast_tensors(x if x.is_floating_point() or x.is_complex() else x.to(torch.int64), mask)
        visible = torch.where(mask, x, torch.full_like(x, 0 if name == "cumsum" else 1))
        scanned_rows: torch.Tensor = getattr(visible, name)(axis)
        return scanned_rows

    return scanned


_WORDS = ("sum", "mean", "amax", "amin", "argmax", "argmin", "var", "std", "norm", "logsumexp")
_REDUCTIONS = (*({**AXES[i % 3], "reduction": word} for i, word in enumerate(_WORDS)), {"reduction": "norm", "p": 1})
CASES = {
    "masked_reduce": OpCases(
        over(_reduced), ("any", "mask"), TWO, _REDUCTIONS, elements=FLOATS, tolerance=24.0, absolute=60.0, specials=False,
        # Positions have none, and of a row that is masked as a whole PyTorch's standard deviation has NaN where ours has 0.
        gradient=lambda words: words.get("reduction") not in ("argmax", "argmin", "std"),
    ),
    "masked_cumsum": OpCases(
        _scanned("cumsum"), ("any", "mask"), [((3, 67), (3, 67)), ((2, 5, 130), (130,))], ({}, {"axis": 0}), absolute=1000.0
    ),
    "masked_cumprod": OpCases(
        _scanned("cumprod"), ("nonzero", "mask"), [((3, 67), (3, 67)), ((4, 1), (1,))], ({}, {"axis": 0}), tolerance=200.0,
        specials=False,
    ),
    "hash_tensor": OpCases(over(_hash), shapes=SPACES, keywords=AXES),
}  # fmt: skip
