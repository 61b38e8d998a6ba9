"""Cases of the attention family."""

from __future__ import annotations

import torch

from tests.cases.case import OpCases


def _alibi(scores: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    queries, keys = scores.shape[-2:]
    distance = torch.arange(keys, dtype=torch.float64) - torch.arange(queries, dtype=torch.float64)[:, None]
    return scores + slopes[:, None, None] * distance


_SCORES = [((2, 3, 4, 67), (3,)), ((1, 2, 1, 9), (2,)), ((3, 1, 33, 5), (1,))]
CASES = {"alibi": OpCases(_alibi, shapes=_SCORES, specials=False, absolute=8.0)}
