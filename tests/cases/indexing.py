"""Cases of indexed reads and masked fills."""

from __future__ import annotations

import torch

from tests.cases.case import OpCases, Shapes

#: A tensor with an axis of at least 5 that is read, and indices below 5.
ALONG: list[Shapes] = [((6, 67), (9, 67)), ((2, 5, 33), (2, 130, 33)), ((5, 1), (3, 1)), ((5, 4), (0, 4))]


def _gather(x: torch.Tensor, i: torch.Tensor, axis: int = -1) -> torch.Tensor:
    return torch.take_along_dim(x, i, axis)


def _nd(x: torch.Tensor, i: torch.Tensor, batch_dims: int = 0) -> torch.Tensor:
    if batch_dims:
        return torch.stack([_nd(a, b, batch_dims - 1) for a, b in zip(x, i, strict=True)])
    return x[tuple(i.unbind(-1))]


CASES: dict[str, OpCases] = {
    "index_select": OpCases(
        lambda x, i, axis=0: torch.index_select(x, axis, i),
        ("any", "index:5"),
        [((6, 7), (9,)), ((5, 6, 33), (130,)), ((5, 5, 1), (1,)), ((5, 6), (0,))],
        keywords=({}, {"axis": 1}),
        gradient=False,
        specials=False,
    ),
    "gather": OpCases(
        _gather,
        ("any", "index:5"),
        ALONG[:1] + ALONG[2:],
        keywords=({"axis": 0},),
        gradient=False,
    ),
    "take_flat": OpCases(
        torch.take, ("any", "index:200"), [((6, 67), (9, 67)), ((200,), (3,)), ((7, 5, 6), ())], gradient=False, specials=False
    ),
    "index_get": OpCases(
        lambda x, *indices: x[tuple(i for i in indices if i is not None)],
        ("any", "index:5"),
        [((6, 7, 67), (9, 1), (130,)), ((5, 5), (3, 4)), ((5, 6, 7), (2,), (), (2, 1)), ((5, 3), (0,))],
        gradient=False,
        specials=False,
    ),
    "gather_nd": OpCases(
        _nd,
        ("any", "index:5"),
        [((6, 7, 67), (6, 9, 1)), ((5, 6, 5), (5, 3, 2)), ((5, 5, 33), (5, 4, 1))],
        keywords=({}, {"batch_dims": 1}),
        gradient=False,
        specials=False,
    ),
    "masked_fill": OpCases(
        lambda x, mask, value: torch.where(mask, value, x),
        ("any", "mask", "any"),
        [((3, 67), (3, 67), ()), ((4, 1, 33), (5, 1), (33,)), ((1,), (7,), ()), ((0, 4), (1, 4), ())],
    ),
}
