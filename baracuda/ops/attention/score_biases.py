"""Biases of attention scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, fma
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Shape

#: The axes of the scores along which a head's slope is the same.
ROW_AXES = (0, 2, 3)


def _checked(tensors: Mapping[str, tuple[Shape, ElementKind]], axes: tuple[int, ...], told: Mapping[str, Any]) -> None:
    shape = tensors["scores"][0]
    if len(shape) != 4:
        raise InvalidProblemError(f"scores: shape is {shape}; expected (batch, heads, queries, keys)")
    if "slopes" in tensors and tensors["slopes"][0] != (shape[1],):
        raise InvalidProblemError(f"slopes: shape is {tensors['slopes'][0]}; expected {(shape[1],)}, a slope for each head")


def _distance(kind: ElementKind) -> Expr:
    """j - i: how far the key is from the query."""
    return cast(f.index(3) - f.index(2), kind)


def _along_heads(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return (1,)


@op(
    family="attention",
    takes="float",
    rows=True,
    axis=ROW_AXES,
    axis_option=False,
    places={"slopes": _along_heads},
    unread={"scores": None},
    check=_checked,
)
def alibi(scores: Expr, slopes: Expr) -> Expr:
    """scores[b,h,i,j] + slopes[h] * (j - i), rounded once (Press, Smith and Lewis 2022). The backward takes dy and slopes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.alibi(np.zeros((1, 1, 2, 2), np.float32), np.ones(1, np.float32))[0, 0].tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    >>> dy = np.array([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> baracuda.alibi_backward(dy, np.ones(1), wrt=("slopes",)).tolist()
    [-1.0]
    """
    return fma(slopes, _distance(scores.kind), scores)


@alibi.backward
def _alibi_backward(dy: Expr) -> dict[str, Expr]:
    return {"dscores": dy, "dslopes": dy * _distance(dy.kind)}
