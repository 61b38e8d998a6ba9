"""Cases of the embeddings."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from tests.cases.case import OpCases, Shapes

FLOATS = ("f16", "bf16", "f32", "f64")
#: Indices below 7 and tables of at least as many rows.
LOOKUPS: list[Shapes] = [((5, 3), (7, 67)), ((300,), (9, 130)), ((2, 1, 4), (8, 1)), ((), (7, 5)), ((0,), (7, 4)), ((6,), (7,))]
BAGS: list[Shapes] = [((5, 9), (7, 67), None), ((3, 300), (8, 33), None), ((4, 1), (7, 1), None), ((4, 0), (7, 3), None)]
WEIGHTED: list[Shapes] = [((5, 9), (7, 67), (5, 9)), ((3, 300), (8, 33), (3, 300))]


def _embedding(i: torch.Tensor, w: torch.Tensor, padding_idx: int | None = None) -> torch.Tensor:
    return w[i]


def _shard(i: torch.Tensor, w: torch.Tensor, offset: int = 0) -> torch.Tensor:
    row = i - offset
    inside = (row >= 0) & (row < len(w))
    return torch.where(inside[..., None], w[torch.where(inside, row, 0)], 0.0)


def _renorm(i: torch.Tensor, w: torch.Tensor, max_norm: float = 1.0, p: float = 2) -> torch.Tensor:
    return F.embedding(i, w.clone(), max_norm=max_norm, norm_type=p)


def _bag(
    i: torch.Tensor, w: torch.Tensor, p: torch.Tensor | None = None, mode: str = "mean", padding_idx: int | None = None
) -> torch.Tensor:
    if not i.shape[1]:
        return w.new_zeros((len(i), *w.shape[1:]))
    return F.embedding_bag(i, w, per_sample_weights=p, mode=mode, padding_idx=padding_idx)


def _steps(
    t: torch.Tensor,
    dim: int,
    max_period: float = 10000.0,
    downscale_freq_shift: float = 0.0,
    flip_sin_to_cos: bool = True,
    scale: float = 1.0,
) -> torch.Tensor:
    half = dim // 2
    k = torch.arange(half, dtype=torch.float64)
    angle = scale * t[..., None] * torch.exp(-math.log(max_period) * k / (half - downscale_freq_shift))
    waves = [angle.cos(), angle.sin()] if flip_sin_to_cos else [angle.sin(), angle.cos()]
    return F.pad(torch.cat(waves, -1), (0, dim % 2))


def _positions(x: torch.Tensor, w: torch.Tensor, positions: torch.Tensor | None = None) -> torch.Tensor:
    return x + (w[: x.shape[-2]] if positions is None else w[positions])


def _of_indices(reference: Any, shapes: list[Shapes], **words: Any) -> OpCases:
    return OpCases(reference, ("index:7", "any", "any"), shapes, **words)


CASES: dict[str, OpCases] = {
    "embedding": _of_indices(_embedding, LOOKUPS, keywords=({}, {"padding_idx": 2}), gradient=False, rival=F.embedding),
    "vocab_parallel_embedding": _of_indices(_shard, LOOKUPS[:3], keywords=({}, {"offset": 4}), gradient=False, specials=False),
    "embedding_renorm": _of_indices(
        _renorm,
        LOOKUPS[:3],
        keywords=({}, {"max_norm": 3.0}, {"max_norm": 5.0, "p": 1}),
        gradient=False,
        specials=False,
        tolerance=24.0,
    ),
    "embedding_bag": _of_indices(
        _bag,
        BAGS,
        keywords=({"mode": "sum"}, {}, {"mode": "max"}, {"mode": "mean", "padding_idx": 3}, {"mode": "max", "padding_idx": 3}),
        gradient=False,
        specials=False,
        tolerance=8.0,
        absolute=8.0,
    ),
    "one_hot": OpCases(
        lambda i, num_classes: F.one_hot(i, num_classes),
        ("index:7",),
        [((5, 3),), ((130,),), ((),), ((0,),)],
        keywords=({"num_classes": 7}, {"num_classes": 67}),
        elements=("s64",),
    ),
    "timestep_embedding": OpCases(
        _steps,
        ("unit",),
        [((5,),), ((3, 4),), ((),)],
        keywords=({"dim": 66}, {"dim": 7, "flip_sin_to_cos": False}, {"dim": 32, "downscale_freq_shift": 1.0, "scale": 2.0}),
        elements=FLOATS,
        absolute=2.0,
        specials=False,
    ),
    "position_embedding_add": OpCases(
        _positions,
        ("any", "any", "index:7"),
        [((2, 5, 67), (7, 67), None), ((2, 5, 67), (8, 67), (5,)), ((3, 2, 6, 4), (9, 4), (2, 6)), ((4, 1), (7, 1), None)],
    ),
}
