"""Boxes: conversions, and how much two of them have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, Shape, Space
from baracuda.ops.declaration.words import Eps, Wrt

Format = Literal["xyxy", "xywh", "cxcywh"]
Kind = Literal["iou", "giou", "diou", "ciou"]
Corners = tuple[Expr, Expr, Expr, Expr]
_NAMES = ("b0", "b1", "b2", "b3")


def components(boxes: TensorRef, names: Sequence[str] = _NAMES) -> dict[str, Any]:
    """The four numbers of boxes, each as a tensor, by these names."""
    step = boxes.strides[-1]
    return {n: view(boxes, k * step, boxes.shape[:-1], boxes.strides[:-1]) for k, n in enumerate(names)}


# --- conversions ------------------------------------------------------------------------------------------------------


def _corners(fmt: str, a: Expr, b: Expr, c: Expr, d: Expr) -> Corners:
    if fmt == "xywh":
        return a, b, a + c, b + d
    if fmt == "cxcywh":
        return a - _half(c), b - _half(d), a + _half(c), b + _half(d)
    return a, b, c, d


def _half(x: Expr) -> Expr:
    return x * 0.5 if x.kind.is_float else x >> 1


def _converted(b0: Expr, b1: Expr, b2: Expr, b3: Expr, *, source: Format = "xyxy", target: Format = "xyxy") -> tuple[Expr, ...]:
    if source == target:
        return b0, b1, b2, b3
    left, top, right, bottom = _corners(source, b0, b1, b2, b3)
    if target == "xyxy":
        return left, top, right, bottom
    width, height = right - left, bottom - top
    if source == "xywh" or source == "cxcywh":
        width, height = b2, b3
    if target == "xywh":
        return left, top, width, height
    return _half(left + right), _half(top + bottom), width, height


_conversion = Op(
    _converted, Rule.COMMON, name="boxes_converted", family="image", takes="float,int", results=("y0", "y1", "y2", "y3")
)


@composed(boxes="... 4", out=True)
def box_convert(do: Steps, boxes: TensorRef, in_fmt: Format, out_fmt: Format) -> Any:
    """Boxes (..., 4) in another format: "xyxy" corners, "xywh" a corner and sizes, "cxcywh" the centre and sizes.

    Halves of whole numbers round down. Source: torchvision.ops.box_convert.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.box_convert(np.float32([[1, 2, 4, 6]]), "xyxy", "cxcywh").tolist()
    [[2.5, 4.0, 3.0, 4.0]]
    """
    y = do.result(boxes.shape, boxes.kind)
    do.run(_conversion, components(boxes), tuple(components(y).values()), source=in_fmt, target=out_fmt)
    return y


def _converted_slopes(
    b0: Expr, b1: Expr, b2: Expr, b3: Expr, *, source: Format = "xyxy", target: Format = "xyxy"
) -> tuple[Expr, ...]:
    """The transposed conversion of the gradients of a result."""
    if source == target:
        return b0, b1, b2, b3
    if target == "xyxy":
        left, top, right, bottom = b0, b1, b2, b3
    elif source != "xyxy":  # the sizes stay
        if source == "xywh":  # a corner and half a size is the centre
            return b0, b1, b2 + b0 * 0.5, b3 + b1 * 0.5
        return b0, b1, b2 - b0 * 0.5, b3 - b1 * 0.5
    elif target == "xywh":
        left, top, right, bottom = b0 - b2, b1 - b3, b2, b3
    else:
        left, top, right, bottom = b0 * 0.5 - b2, b1 * 0.5 - b3, b0 * 0.5 + b2, b1 * 0.5 + b3
    if source == "xywh":
        return left + right, top + bottom, right, bottom
    if source == "cxcywh":
        return left + right, top + bottom, (right - left) * 0.5, (bottom - top) * 0.5
    return left, top, right, bottom


_conversion_slopes = Op(
    _converted_slopes, Rule.COMMON, name="slopes_of_boxes_converted", family="image", takes="float", differentiable=False,
    results=("y0", "y1", "y2", "y3"),
)  # fmt: skip


@composed(dy="... 4 : float", out=True)
def box_convert_backward(do: Steps, dy: TensorRef, in_fmt: Format, out_fmt: Format) -> Any:
    """The gradient of `box_convert`'s boxes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.box_convert_backward(np.float32([[1, 2, 4, 6]]), "xyxy", "xywh").tolist()
    [[-3.0, -4.0, 4.0, 6.0]]
    """
    dx = do.result(dy.shape, dy.kind)
    do.run(_conversion_slopes, components(dy), tuple(components(dx).values()), source=in_fmt, target=out_fmt)
    return dx


# --- overlaps ---------------------------------------------------------------------------------------------------------


def overlap(a: Corners, b: Corners) -> tuple[Expr, Expr]:
    """The areas of the intersection and of the union of two boxes given by corners."""
    width = f.maximum(f.minimum(a[2], b[2]) - f.maximum(a[0], b[0]), 0.0)
    height = f.maximum(f.minimum(a[3], b[3]) - f.maximum(a[1], b[1]), 0.0)
    inter = width * height
    areas = ((a[2] - a[0]) * (a[3] - a[1])) + ((b[2] - b[0]) * (b[3] - b[1]))
    return inter, areas - inter


def _share(inter: Expr, union: Expr, eps: Expr) -> Expr:
    return inter / (union + eps)


def _iou(
    a0: Expr, a1: Expr, a2: Expr, a3: Expr, b0: Expr, b1: Expr, b2: Expr, b3: Expr, *, variant: Kind = "iou",
    fmt: Format = "xyxy", pairwise: bool = True, eps: Scalar = 0.0,
) -> Expr:  # fmt: skip
    a, b = _corners(fmt, a0, a1, a2, a3), _corners(fmt, b0, b1, b2, b3)
    inter, union = overlap(a, b)
    iou = _share(inter, union, cast(eps, inter.kind) if isinstance(eps, Expr) else eps)  # type: ignore[arg-type]
    if variant == "iou":
        return iou
    width = f.maximum(a[2], b[2]) - f.minimum(a[0], b[0])
    height = f.maximum(a[3], b[3]) - f.minimum(a[1], b[1])
    if variant == "giou":
        hull = width * height
        return iou - (hull - union) / (hull + eps)
    across, down = (a[0] + a[2]) * 0.5 - (b[0] + b[2]) * 0.5, (a[1] + a[3]) * 0.5 - (b[1] + b[3]) * 0.5
    diou = iou - (across * across + down * down) / (width * width + height * height + eps)
    if variant == "diou":
        return diou
    turn = f.atan((b[2] - b[0]) / (b[3] - b[1])) - f.atan((a[2] - a[0]) / (a[3] - a[1]))
    v = turn * turn * 0.4052847345693511  # 4 / pi**2
    alpha = f.detach(v / (1.0 - iou + v + eps))
    return diou - alpha * v


def _pairs_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    rank = len(shapes["a0"])
    if not options["pairwise"]:
        return Space({n: tuple(range(rank)) for n in shapes})
    lead = tuple(range(rank - 1))
    return Space({n: (*lead, rank - 1 if n[0] == "a" else rank) for n in shapes})


_overlap = Op(_iou, Rule.FLOATING, name="overlap_of_boxes", family="image", takes="float,int", space=_pairs_space)
_A, _B = ("a0", "a1", "a2", "a3"), _NAMES


def _check_boxes(a: TensorRef, b: TensorRef, pairwise: bool) -> None:
    for name, t in (("a", a), ("b", b)):
        if len(t.shape) < 2 or t.shape[-1] != 4:
            raise InvalidProblemError(f"{name}: shape is {t.shape}; expected (..., boxes, 4)")
    ahead = a.shape[:-2] != b.shape[:-2] if pairwise else a.shape != b.shape
    if ahead:
        raise InvalidProblemError(
            f"b: shape is {b.shape}; expected {'the leading axes' if pairwise else 'the shape'} of a, {a.shape}"
        )


def _eps(variant: str, eps: float | None) -> float:
    return eps if eps is not None else 0.0 if variant in ("iou", "giou") else 1e-7


@composed(a="... : float int", b="... : float int", out=True)
def box_iou(
    do: Steps, a: TensorRef, b: TensorRef, fmt: Format = "xyxy", *, variant: Kind = "iou", pairwise: bool = True,
    eps: Eps | None = None,
) -> Any:  # fmt: skip
    """The intersection over the union of each box of a (..., n, 4) with each of b (..., m, 4): (..., n, m).

    variant "giou" takes away the share of the hull that is in neither, "diou" the squared distance of the centres over the
    squared diagonal of the hull, "ciou" also alpha * v, with v = 4 / pi**2 (atan(w_b / h_b) - atan(w_a / h_a))**2 and alpha = v
    / (1 - iou + v), which counts as constant in the gradient. With pairwise=False boxes are taken one with one. eps is added to
    what is divided by: 0 for "iou" and "giou", 1e-7 for the others. Boxes of whole numbers are computed in f32.

    Source: torchvision.ops.box_iou, generalized_box_iou, distance_box_iou, complete_box_iou.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.box_iou(np.float32([[0, 0, 2, 2]]), np.float32([[1, 0, 3, 2], [4, 4, 5, 5]])).round(4).tolist()
    [[0.33329999446868896, 0.0]]
    """
    _check_boxes(a, b, pairwise)
    return do.run(
        _overlap, {**components(a, _A), **components(b, _B)}, do.out, variant=variant, fmt=fmt, pairwise=pairwise,
        eps=_eps(variant, eps),
    )  # fmt: skip


@composed(dy="... : float", a="... : float", b="... : float")
def box_iou_backward(
    do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, fmt: Format = "xyxy", *, variant: Kind = "iou", pairwise: bool = True,
    eps: Eps | None = None, wrt: Wrt = None,
) -> Any:  # fmt: skip
    """The gradients of `box_iou`'s a and b, those named in `wrt` or both: sums over the boxes of the other one in the canonical
    order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> a, b = np.float32([[0, 0, 2, 2]]), np.float32([[0, 0, 4, 2]])
    >>> baracuda.box_iou_backward(np.ones((1, 1), "f"), a, b, wrt=("a",)).tolist()
    [[-0.0625, -0.0625, 0.25, 0.0625]]
    """
    _check_boxes(a, b, pairwise)
    names = chosen(wrt, ("a", "b"))
    tensors = {**components(a, _A), **components(b, _B)}
    wanted = [n for n in tensors if n[0] in names]
    results = []
    found: dict[str, TensorRef] = {}
    expected = (*a.shape[:-1], b.shape[-2]) if pairwise else a.shape[:-1]
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    if 0 not in dy.shape:
        found = do.gradients(_overlap, tensors, dy, wanted, variant=variant, fmt=fmt, pairwise=pairwise, eps=_eps(variant, eps))
    for name, t, own in (("a", a, _A), ("b", b, _B)):
        if name not in names:
            continue
        made = do.new_like(t)
        if found:
            do.move([(found[n], c) for n, c in components(made, own).items()])
        else:
            do.zero(made)
        results.append((name, made))
    named = dict(results)
    return one_or_all([named[n] for n in names])
