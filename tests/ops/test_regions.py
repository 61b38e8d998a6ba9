"""Regions of interest, boxes and their suppression against formulas in NumPy and PyTorch, gradients by autograd."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda import InvalidProblemError
from tests.cases.trial import to_device, to_host
from tests.ops.composed import called, check, drawn

BOXES = np.array(
    [[0, 0, 0, 8, 6], [1, 1.3, 2.2, 5.7, 6.1], [0, -3, -2, 4, 3], [1, 6, 5, 14, 11], [1, 3, 3, 3.2, 3.1], [0, 2, 2, 2, 2]],
    dtype=float,
)


def _bilinear(image: torch.Tensor, y: float, x: float) -> torch.Tensor:
    h, w = image.shape
    if not (-1 <= y <= h and -1 <= x <= w):
        return image.sum() * 0
    y, x = max(y, 0), max(x, 0)
    top, left = min(int(y), h - 1), min(int(x), w - 1)
    bottom, right = min(top + 1, h - 1), min(left + 1, w - 1)
    t, s = (0.0 if top == h - 1 else y - top), (0.0 if left == w - 1 else x - left)
    above = (1 - s) * image[top, left] + s * image[top, right]
    below = (1 - s) * image[bottom, left] + s * image[bottom, right]
    return (1 - t) * above + t * below


def _rounded(v: float) -> int:
    return math.floor(abs(v) + 0.5) * (1 if v >= 0 else -1)


def _bins(x: torch.Tensor, variant: str, size: Any, scale: float, ratio: int, aligned: bool, largest: bool) -> torch.Tensor:
    """torchvision's roi_align, roi_pool, ps_roi_align and ps_roi_pool, from their definitions."""
    h, w = x.shape[2:]
    rows, columns = size
    separate, pooled = variant.startswith("ps"), variant.endswith("pool")
    channels = x.shape[1] // (rows * columns) if separate else x.shape[1]
    found = []
    for box in BOXES:
        number = int(box[0])
        if pooled:
            x0, y0, x1, y1 = (_rounded(v * scale) for v in box[1:])
            more = 0 if separate else 1
            width, height = max(x1 - x0 + more, 1), max(y1 - y0 + more, 1)
        else:
            away = 0.5 if aligned or separate else 0.0
            x0, y0, x1, y1 = (v * scale - away for v in box[1:])
            width, height = x1 - x0, y1 - y0
            if not aligned and not separate:
                width, height = max(width, 1.0), max(height, 1.0)
        down, right = height / rows, width / columns
        for c in range(channels):
            for i in range(rows):
                for j in range(columns):
                    image = x[number, (c * rows + i) * columns + j if separate else c]
                    if pooled:
                        ends = (h - 1, w - 1) if separate else (h, w)
                        first = [
                            min(max(math.floor(k * d) + o, 0), e)
                            for k, d, o, e in ((i, down, y0, ends[0]), (j, right, x0, ends[1]))
                        ]
                        last = [
                            min(max(math.ceil((k + 1) * d) + o, 0), e)
                            for k, d, o, e in ((i, down, y0, ends[0]), (j, right, x0, ends[1]))
                        ]
                        part = image[first[0] : last[0], first[1] : last[1]]
                        values = list(part.reshape(-1))
                    else:
                        counts = (ratio, ratio) if ratio > 0 else (math.ceil(down), math.ceil(right))
                        rows_, columns_ = (
                            [o + k * d + (p + 0.5) * d / n for p in range(n)]
                            for k, d, o, n in ((i, down, y0, counts[0]), (j, right, x0, counts[1]))
                        )
                        values = [_bilinear(image, p, q) for p in rows_ for q in columns_]  # fmt: skip
                    if not values:
                        found.append(image.sum() * 0)
                    else:
                        together = torch.stack(values)
                        found.append(together.max() if largest or variant == "pool" else together.mean())
    return torch.stack(found).reshape(len(BOXES), channels, rows, columns)


VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    *[("roi_align", "align", {"sampling_ratio": r, "aligned": a, "mode": m})
      for r, a, m in ((2, False, "avg"), (-1, True, "avg"), (5, True, "avg"), (-1, False, "max"), (2, True, "max"))],
    *[("ps_roi_align", "ps_align", {"sampling_ratio": r}) for r in (2, -1)],
    ("roi_pool", "pool", {}),
    ("ps_roi_pool", "ps_pool", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "variant", "words"), VARIANTS, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize(("size", "scale"), [((2, 2), 1.0), ((2, 4), 0.7)])
@pytest.mark.one_of(2)
def test_regions(name: str, variant: str, words: Any, size: Any, scale: float, device: str) -> None:
    x = drawn((2, 8, 7, 9))
    ratio, aligned, largest = words.get("sampling_ratio", 0), words.get("aligned", False), words.get("mode") == "max"
    forward, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    check(
        lambda x: forward(x, _on(x, BOXES), size, scale, **words),
        lambda dy, x: backward(dy, x, _on(x, BOXES), size, scale, **words),
        lambda x: _bins(x, variant, size, scale, ratio, aligned, largest),
        [x], device, units=64.0,
    )  # fmt: skip


def _on(x: Any, array: Any) -> Any:
    """An array where a tensor is."""
    return array if isinstance(x, np.ndarray) else torch.from_numpy(array).to(x.device)


def test_a_region_alone_has_the_bits_that_it_has_among_others(device: str) -> None:
    x = to_device(drawn((2, 8, 7, 9), np.float32), device)
    every = to_host(baracuda.roi_align(x, to_device(BOXES.astype(np.float32), device), 3))
    for k in range(len(BOXES)):
        one = to_host(baracuda.roi_align(x, to_device(BOXES[k : k + 1].astype(np.float32), device), 3))
        assert one.tobytes() == every[k : k + 1].tobytes()
    numbers = to_device(BOXES[:, 0].astype(np.int64), device)
    apart = baracuda.roi_align(x, to_device(BOXES[:, 1:].astype(np.float32), device), 3, batch_indices=numbers)
    assert to_host(apart).tobytes() == every.tobytes()


# --- boxes ------------------------------------------------------------------------------------------------------------


def _boxes(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    boxes = rng.random((n, 4))
    boxes[:, 2:] = boxes[:, :2] + rng.random((n, 2)) * 0.5 + 0.05
    return boxes


def _area(b: torch.Tensor) -> torch.Tensor:
    return (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])


def _overlap(a: torch.Tensor, b: torch.Tensor, variant: str) -> torch.Tensor:
    eps = 0.0 if variant in ("iou", "giou") else 1e-7
    sides = (torch.min(a[..., 2:], b[..., 2:]) - torch.max(a[..., :2], b[..., :2])).clamp(min=0)
    inter = sides[..., 0] * sides[..., 1]
    union = _area(a) + _area(b) - inter
    iou = inter / (union + eps)
    hull = torch.max(a[..., 2:], b[..., 2:]) - torch.min(a[..., :2], b[..., :2])
    if variant == "iou":
        return iou
    if variant == "giou":
        whole = hull[..., 0] * hull[..., 1]
        return iou - (whole - union) / whole
    apart = (a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) / 2
    diou = iou - (apart**2).sum(-1) / ((hull**2).sum(-1) + eps)
    if variant == "diou":
        return diou
    turns = [torch.atan((t[..., 2] - t[..., 0]) / (t[..., 3] - t[..., 1])) for t in (a, b)]
    v = 4 / math.pi**2 * (turns[1] - turns[0]) ** 2
    alpha = (v / (1 - iou + v + eps)).detach()
    return diou - alpha * v


@pytest.mark.parametrize("pairwise", [True, False])
@pytest.mark.parametrize("variant", ["iou", "giou", "diou", "ciou"])
@pytest.mark.one_of(2)
def test_box_iou(variant: Any, pairwise: bool, device: str) -> None:
    check(
        lambda a, b: baracuda.box_iou(a, b, variant=variant, pairwise=pairwise),
        lambda dy, a, b: baracuda.box_iou_backward(dy, a, b, variant=variant, pairwise=pairwise),
        lambda a, b: _overlap(a[:, None] if pairwise else a, b, variant),
        [_boxes(5), _boxes(7 if pairwise else 5, 1)], device, wrt=(0, 1), units=64.0,
    )  # fmt: skip


@pytest.mark.parametrize("source", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("target", ["xyxy", "xywh", "cxcywh"])
def test_box_convert(source: Any, target: Any, device: str) -> None:
    corners = _boxes(6)
    sides, centres = corners[:, 2:] - corners[:, :2], (corners[:, 2:] + corners[:, :2]) / 2
    of = {"xyxy": corners, "xywh": np.concatenate([corners[:, :2], sides], 1), "cxcywh": np.concatenate([centres, sides], 1)}
    (got,) = called(lambda b: baracuda.box_convert(b, source, target), [of[source]], device)
    np.testing.assert_allclose(got, of[target], atol=1e-14)
    matrix = np.stack([baracuda.box_convert(row[None], source, target)[0] for row in np.eye(4)])
    dy = drawn((3, 4))
    (dx,) = called(lambda dy: baracuda.box_convert_backward(dy, source, target), [dy], device)
    np.testing.assert_allclose(dx, dy @ matrix.T, atol=1e-14)


# --- suppression ------------------------------------------------------------------------------------------------------


def _kept(boxes: Any, scores: Any, threshold: float, classes: Any = None) -> list[int]:
    kept: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        among = [j for j in kept if classes is None or classes[i] == classes[j]]
        a, b = boxes[i], boxes[among]
        sides = np.maximum(np.minimum(a[2:], b[:, 2:]) - np.maximum(a[:2], b[:, :2]), 0)
        inter = sides[:, 0] * sides[:, 1]
        union = ((a[2] - a[0]) * (a[3] - a[1]) + (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])) - inter
        if not (inter / union > threshold).any():
            kept.append(int(i))
    return kept


@pytest.mark.parametrize("n", [0, 1, 5, 63, 64, 65, 513, 700])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.one_of(2)
def test_nms(n: int, dtype: Any, device: str) -> None:
    rng = np.random.default_rng(n)
    boxes, scores, classes = _boxes(n, n).astype(dtype), np.round(rng.random(n), 1).astype(dtype), rng.integers(0, 3, n)
    tensors = [to_device(t, device) for t in (boxes, scores, classes)]
    for threshold in (0.1, 0.5):
        want = _kept(boxes, scores, threshold)
        assert to_host(baracuda.nms(*tensors[:2], threshold)).tolist() == want
        assert to_host(baracuda.batched_nms(*tensors, threshold)).tolist() == _kept(boxes, scores, threshold, classes)
        padded = to_host(baracuda.nms(*tensors[:2], threshold, size=n + 2)).tolist()
        assert padded == want + [-1] * (n + 2 - len(want))
        assert to_host(baracuda.nms(*tensors[:2], threshold, max_output=3)).tolist() == want[:3]
        above = to_host(baracuda.nms(*tensors[:2], threshold, score_threshold=0.5)).tolist()
        assert above == [i for i in want if float(scores[i]) > 0.5]


def test_suppression_of_onnx(device: str) -> None:
    """nonmaxsuppression_two_batches, and _flipped_coordinates."""
    rows = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]
    boxes, scores = np.float32([rows, rows]), np.float32([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]] * 2)
    one, two = (to_device(t, device) for t in (boxes, scores))
    got = to_host(baracuda.nms(one, two, 0.5, max_output=2, score_threshold=0.0))
    assert got.tolist() == [[0, 0, 3], [0, 0, 0], [1, 0, 3], [1, 0, 0]]
    turned = to_device(np.ascontiguousarray(boxes[:1, :, [2, 3, 0, 1]]), device)
    got = to_host(baracuda.nms(turned, two[:1], 0.5, max_output=3, score_threshold=0.0))
    assert got.tolist() == [[0, 0, 3], [0, 0, 0], [0, 0, 5]]


def test_bad_input() -> None:
    x, boxes = np.zeros((1, 8, 4, 4), np.float32), np.zeros((2, 5), np.float32)
    for function, arguments, quote in (
        (baracuda.roi_align, (x, boxes[:, :4], 2), "boxes"),
        (baracuda.roi_align, (x, boxes, 0), "output_size"),
        (baracuda.ps_roi_align, (x, boxes, 3), "channels"),
        (baracuda.roi_align, (x[:, :, :0], boxes, 2), "expected elements"),
        (baracuda.box_iou, (boxes, boxes), "a: shape"),
        (baracuda.nms, (boxes[:, :4], np.zeros(3, np.float32), 0.5), "scores"),
    ):
        with pytest.raises(InvalidProblemError, match=quote):
            function(*arguments)
    with pytest.raises(baracuda.UnsupportedError, match="samples"):
        baracuda.roi_align(x, np.float32([[0, 0, 0, 1e9, 1]]), 1)
    assert baracuda.roi_align(x, boxes[:0], 2).shape == (0, 8, 2, 2)
    assert (baracuda.roi_align_backward(np.zeros((0, 8, 2, 2), "f"), x, boxes[:0], 2) == 0).all()
