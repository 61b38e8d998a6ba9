"""Boxes that overlap thinned out: non-maximum suppression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.implementation import Implementation
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_shape
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, reduce, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.lowering.backend import candidates
from baracuda.lowering.compaction.problem import Mode
from baracuda.lowering.suppression.implementation import SuppressionImplementation
from baracuda.lowering.suppression.problem import WORD, Suppression, words_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Shape, Space, Stored
from baracuda.ops.declaration.words import Count
from baracuda.ops.image.boxes import Corners, Format, _corners, components, overlap
from baracuda.ops.indexing.compaction import CompactionDescriptor, CompactionPlan
from baracuda.ops.indexing.masks import marked, packed
from baracuda.ops.scans.scans import cumsum
from baracuda.ops.sorting.orders import argsort

_S64, _U64, _U8, _S32 = ElementKind.S64, ElementKind.U64, ElementKind.U8, ElementKind.S32


@dataclass(frozen=True)
class SuppressionDescriptor(Descriptor):
    """Groups of candidates in order.

    Attributes
    ----------
    groups, count
        How many groups there are, and how many candidates each has.
    """

    groups: int
    count: int

    def validate(self) -> None:
        check_shape("groups, count", (self.groups, self.count))

    @property
    def conflicts_shape(self) -> tuple[int, ...]:
        """A row of words for each candidate."""
        return (self.groups, self.count, words_of(self.count))

    @property
    def kept_shape(self) -> tuple[int, ...]:
        """A byte for each candidate."""
        return (self.groups, self.count)

    @property
    def words(self) -> ElementKind:
        """The element of conflicts."""
        return _U64

    @property
    def bytes(self) -> ElementKind:
        """The element of the result."""
        return _U8


@dataclass
class SuppressionArgs(Args):
    """conflicts: a bit for each pair; kept: 1 where a candidate stays. Both contiguous."""

    conflicts: Any
    kept: Any = None


class SuppressionPlan(Plan[SuppressionDescriptor, SuppressionArgs]):
    """A candidate stays unless one before it that stays conflicts with it."""

    category, op, args = OpCategory.IMAGE, "nms", SuppressionArgs
    tensors = (
        TensorSpec("conflicts", "a bit for each pair of candidates", "conflicts_shape", "words", varies=Axes.OUTER),
        TensorSpec("kept", "1 where a candidate stays", "kept_shape", "bytes", written=True, varies=Axes.OUTER),
    )

    @classmethod
    def implementations(
        cls, device: Device, descriptor: SuppressionDescriptor
    ) -> tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]:
        problem = Suppression(descriptor.groups, descriptor.count)
        return candidates(device, partial(SuppressionImplementation, device, problem))


# --- formulas ---------------------------------------------------------------------------------------------------------


def _in_order(order: Own, b0: Table, b1: Table, b2: Table, b3: Table, *, fmt: Format = "xyxy", flipped: bool = False) -> Any:
    """The corners of boxes, over (image, class, place in order)."""
    corners = _corners(fmt, *(_at(t, order) for t in (b0, b1, b2, b3)))
    if flipped:  # any two corners that are opposite
        x, y = (corners[0], corners[2]), (corners[1], corners[3])
        corners = (f.minimum(*x), f.minimum(*y), f.maximum(*x), f.maximum(*y))
    return tuple(Stored(c, c.kind) for c in corners)


def _at(table: Table, index: Expr) -> Expr:
    value = take(table, index)
    assert isinstance(value, Expr)
    return value


def _order_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"order": (0, 1, 2), **{n: (0, None) for n in shapes if n != "order"}})


#: A tensor that keeps its own element, read at indices.
OwnTable = Table


def _conflicts(
    a0: Expr, a1: Expr, a2: Expr, a3: Expr, b0: Table, b1: Table, b2: Table, b3: Table, own: Own | None = None,
    other: OwnTable | None = None, *, threshold: Scalar = 0.5,
) -> Stored:  # fmt: skip
    """Over (group, candidate, word), and the bits of a word along the rows."""
    bit, last = coord(3), table_extent(b0, 0, _S32)
    j = coord(2) * WORD + bit
    a: Corners = (a0, a1, a2, a3)
    b: Corners = (_at(b0, j), _at(b1, j), _at(b2, j), _at(b3, j))
    inter, union = overlap(a, b)
    holds = (j > coord(1)) & (j < last) & (inter / union > threshold)
    if own is not None and other is not None:
        holds = holds & f.equal(own, _at(other, j))
    return Stored(reduce("or", select(holds, const(1, _U64) << cast(bit, _U64), 0)), _U64)


def _conflicts_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    n = shapes["a0"][1]
    places: dict[str, tuple[int | None, ...]] = {k: (0, 1) if k[0] == "a" or k == "own" else (0, None) for k in shapes}
    return Space(places, {2: words_of(n), 3: WORD})


def _limited(kept: Own, rank: Own | None = None, score: Own | None = None, *, most: int = 0, least: Scalar = 0.0) -> Stored:
    """What is kept, within a number of each group, of a score above a least one."""
    stays = f.not_equal(kept, 0)
    if rank is not None:
        stays = stays & (rank <= most)
    if score is not None:
        stays = stays & (score > cast(as_expr(least, score.kind), score.kind))
    return Stored(cast(stays, _S32), _U8)


_KEYS: dict[str, Any] = {"family": "image", "takes": "any", "differentiable": False}
_sorted = Op(_in_order, Rule.COMMON, name="boxes_in_order", space=_order_space, results=("y0", "y1", "y2", "y3"), **_KEYS)
_conflicting = Op(
    _conflicts, Rule.COMMON, name="boxes_in_conflict", space=_conflicts_space, rows=True, axis=(3,), axis_option=False,
    keepdims=False, **_KEYS,
)  # fmt: skip
_within = Op(_limited, Rule.EACH, name="suppressed_within", **_KEYS)


# --- steps ------------------------------------------------------------------------------------------------------------


def _below(threshold: float, kind: ElementKind) -> float:
    """The largest number of a kind that is not above a threshold: a number of the kind is above both or neither."""
    if kind is not ElementKind.F32:
        return threshold
    near = np.float32(threshold)
    return float(near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf)))


def _kept(
    do: Steps, boxes: TensorRef, scores: TensorRef, classes: TensorRef | None, threshold: float, fmt: Format,
    score_threshold: float | None, most: int | None, flipped: bool,
) -> tuple[TensorRef, TensorRef]:  # fmt: skip
    """Of boxes (images, n, 4) and scores (images, classes, n): the boxes in falling order of scores, and 1 for those that
    stay."""
    images, count, n = scores.shape
    order = argsort(do, scores, axis=-1, descending=True)
    kind = boxes.kind.compute if boxes.kind.is_float else ElementKind.F32
    ordered = tuple(do.rows(scores.shape, kind) for _ in range(4))
    do.run(_sorted, {"order": order, **components(boxes)}, ordered, fmt=fmt, flipped=flipped)
    groups = [do.reshaped(t, (images * count, n)) for t in ordered]
    tensors = {**{f"a{k}": t for k, t in enumerate(groups)}, **{f"b{k}": t for k, t in enumerate(groups)}}
    if classes is not None:
        picked = do.run(_picked, {"order": order, "x": classes})
        own = do.reshaped(picked, (images * count, n))
        tensors |= {"own": own, "other": own}
    descriptor = SuppressionDescriptor(images * count, n)
    conflicts = do.rows(descriptor.conflicts_shape, _U64)
    do.run(_conflicting, tensors, conflicts, threshold=_below(threshold, kind))
    kept = do.plan(SuppressionPlan, descriptor, {"conflicts": conflicts}, do.rows(descriptor.kept_shape, _U8))
    if most is None and score_threshold is None:
        return order, kept
    limits: dict[str, Any] = {}
    words: dict[str, Any] = {}
    if most is not None:
        limits["rank"] = do.run(cumsum, {"x": kept}, axis=-1)
        words["most"] = most
    if score_threshold is not None:
        taken = do.run(_picked_scores, {"order": order, "x": scores})
        limits["score"] = do.reshaped(taken, (images * count, n))
        words["least"] = _below(score_threshold, scores.kind.compute)
    return order, do.run(_within, {"kept": kept, **limits}, do.rows(descriptor.kept_shape, _U8), **words)


def _pick(order: Own, x: OwnTable) -> Expr:
    return _at(x, order)


_picked = Op(
    _pick, Rule.EACH, name="classes_in_order", space=lambda shapes, options: Space({"order": (0, 1, 2), "x": (0, None)}), **_KEYS
)
_picked_scores = Op(
    _pick, Rule.EACH, name="scores_in_order", space=lambda shapes, options: Space({"order": (0, 1, 2), "x": (0, 1, None)}),
    **_KEYS,
)  # fmt: skip


def _listed(do: Steps, order: TensorRef, kept: TensorRef, size: int | None, by_class: bool) -> TensorMut:
    """The boxes that stay, in order; -1 behind them where `size` says how many there is room for."""
    shape = order.shape
    width = (3,) if by_class else ()
    if 0 in shape:
        empty: TensorMut = do.filled((size or 0, *width), _S64, -1)
        return empty
    marks = marked(do, do.reshaped(kept, shape), shape)
    count = int(do.on_host(marks.total)[0]) if size is None else size
    y = do.rows((count, *width), _S64)
    if not count:
        return y
    if size is not None:
        do.fill(y, -1)
    if not by_class:
        packed(do, marks, order, y)
        return y
    places = CompactionDescriptor(Mode.NUMBERS, shape, count)
    do.plan(CompactionPlan, places, marks.tensors(), into=y)
    packed(do, marks, order, view(y, 2, (count,), (3,)))
    return y


def _checked(n: int, scores: TensorRef, least: int) -> None:
    if scores.shape[-1] != n or len(scores.shape) != least:
        raise InvalidProblemError(f"scores: shape is {scores.shape}; expected one for each of {n} boxes")


@composed(boxes="n 4 or images n 4 : float", scores="n or images classes n : float")
def nms(
    do: Steps, boxes: TensorRef, scores: TensorRef, iou_threshold: float = 0.0, *, score_threshold: float | None = None,
    max_output: Count | None = None, fmt: Format = "xyxy", size: Count | None = None,
) -> Any:  # fmt: skip
    """The numbers of the boxes, in falling order of scores, that overlap none before them that stays by an intersection over
    union
    above a threshold; s64.

    boxes are (n, 4), scores (n,). Of equal scores the lower number comes first, NaN come last; a NaN overlaps nothing. Where
    score_threshold is given only boxes with a score above it are taken, of these the first max_output. How many there are is read
    on the host, once; with `size` nothing is, and -1 stands behind those that there are.

    boxes (images, n, 4), by any two corners that are opposite, with scores (images, classes, n) are ONNX's: each class of each
    image by itself, and the result (selected, 3) holds image, class and box; max_output is for each. Without it all are taken,
    where ONNX's max_output_boxes_per_class takes none.

    Source: torchvision.ops.nms, ONNX NonMaxSuppression (center_point_box is fmt="cxcywh").

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> boxes = np.float32([[0, 0, 2, 2], [0, 0, 2, 1.9], [3, 3, 4, 4]])
    >>> baracuda.nms(boxes, np.float32([0.5, 0.9, 0.1]), 0.5).tolist()
    [1, 2]
    """
    by_class = len(boxes.shape) == 3
    _checked(boxes.shape[-2], scores, 3 if by_class else 1)
    if by_class and scores.shape[0] != boxes.shape[0]:
        raise InvalidProblemError(f"scores: shape is {scores.shape}; expected ({boxes.shape[0]}, classes, {boxes.shape[1]})")
    whole, own = (boxes, scores) if by_class else (_one(boxes), _one(_one(scores)))
    if 0 in own.shape:
        return _listed(do, own, own, size, by_class)
    order, kept = _kept(do, whole, own, None, iou_threshold, fmt, score_threshold, max_output, by_class and fmt == "xyxy")
    return _listed(do, order, kept, size, by_class)


def _one(t: TensorRef) -> TensorRef:
    """A tensor with an axis of extent 1 in front."""
    found: TensorRef = view(t, 0, (1, *t.shape), (0, *t.strides))
    return found


@composed(boxes="n 4 : float", scores="n : float", idxs="n : s32 s64")
def batched_nms(
    do: Steps, boxes: TensorRef, scores: TensorRef, idxs: TensorRef, iou_threshold: float, *,
    score_threshold: float | None = None, max_output: Count | None = None, fmt: Format = "xyxy", size: Count | None = None,
) -> Any:  # fmt: skip
    """`nms` where only boxes of one class, whose number idxs has, suppress each other.

    Differs from torchvision: it moves the boxes of different classes apart, which rounds; here classes are compared.

    Source: torchvision.ops.batched_nms.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> boxes = np.float32([[0, 0, 2, 2], [0, 0, 2, 1.9], [0, 0, 2, 1.8]])
    >>> baracuda.batched_nms(boxes, np.float32([0.5, 0.9, 0.1]), np.array([0, 1, 1]), 0.5).tolist()
    [1, 0]
    """
    own = _one(_one(scores))
    if 0 in own.shape:
        return _listed(do, own, own, size, False)
    order, kept = _kept(do, _one(boxes), own, _one(idxs), iou_threshold, fmt, score_threshold, max_output, False)
    return _listed(do, order, kept, size, False)
