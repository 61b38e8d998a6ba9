"""Losses of regions: overlaps of masks and of boxes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, position, select
from baracuda.ops.declaration.traced import NonNegative, Shape
from baracuda.ops.losses.common import row_loss


def _all_but_the_first(rank: int) -> tuple[int, ...]:
    return tuple(range(1, rank)) if rank > 1 else tuple(range(rank))


@row_loss(axis=_all_but_the_first)
def dice_loss(x: Expr, target: Expr, *, smooth: NonNegative = 1.0) -> Expr:
    """1 - (2 sum(x * target) + smooth) / (sum(x) + sum(target) + smooth) of each sample's probabilities: over all axes
    but the first (Milletari et al. 2016)."""
    return 1.0 - (2.0 * f.sum_(x * target) + smooth) / (f.sum_(x) + f.sum_(target) + smooth)


def _four(tensors: Mapping[str, tuple[Shape, ElementKind]], axes: tuple[int, ...], options: Mapping[str, Any]) -> None:
    last = max(len(shape) for shape, _ in tensors.values()) - 1
    for name, (shape, _) in tensors.items():
        if not shape or shape[-1] != 4 or axes != (last,):
            raise InvalidProblemError(f"{name}: shape {shape}, rows along {axes}; expected boxes of 4 along the last axis")


def _corners(box: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    at = position(ElementKind.S32)
    x1, y1, x2, y2 = (f.sum_(select(f.equal(at, i), box, 0.0)) for i in range(4))
    return x1, y1, x2, y2


@row_loss(axis=-1, reduction="none", check=_four)
def iou_loss(
    boxes1: Expr, boxes2: Expr, *, kind: Literal["iou", "giou", "diou", "ciou"] = "giou", eps: NonNegative = 1e-7
) -> Expr:
    """1 - IoU, the intersection over the union of two boxes (x1, y1, x2, y2), x1 <= x2 and y1 <= y2, along the last axis; eps
    is added to denominators. By kind:

    - "giou": plus (C - union) / C for the smallest box around both, of area C (Rezatofighi et al. 2019)
    - "diou": plus the centres' squared distance over the squared diagonal of that box (Zheng et al. 2020)
    - "ciou": and plus a * v for v = 4 / pi**2 * (the difference of arctan(width / height))**2 and a = v / (1 - IoU + v), which
      has no gradient
    """
    ax1, ay1, ax2, ay2 = _corners(boxes1)
    bx1, by1, bx2, by2 = _corners(boxes2)
    width = f.minimum(ax2, bx2) - f.maximum(ax1, bx1)
    height = f.minimum(ay2, by2) - f.maximum(ay1, by1)
    common = select((width > 0.0) & (height > 0.0), width * height, 0.0)
    union = (ax2 - ax1) * (ay2 - ay1) + (bx2 - bx1) * (by2 - by1) - common
    iou = common / (union + eps)
    loss = 1.0 - iou
    if kind == "iou":
        return loss
    around_x, around_y = f.maximum(ax2, bx2) - f.minimum(ax1, bx1), f.maximum(ay2, by2) - f.minimum(ay1, by1)
    if kind == "giou":
        around = around_x * around_y
        return loss + (around - union) / (around + eps)
    dx, dy = 0.5 * (ax1 + ax2 - bx1 - bx2), 0.5 * (ay1 + ay2 - by1 - by2)
    loss = loss + (dx * dx + dy * dy) / (around_x * around_x + around_y * around_y + eps)
    if kind == "diou":
        return loss
    turn = f.atan((bx2 - bx1) / (by2 - by1)) - f.atan((ax2 - ax1) / (ay2 - ay1))
    v = (4.0 / math.pi**2) * turn * turn
    return loss + f.detach(v / (1.0 - iou + v + eps)) * v
