"""Deformed and sparse convolutions against references written out here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.ops.composed import called, check, close, drawn

Array = Any


def deformed(stride: int, padding: int, dilation: int, *tensors: torch.Tensor) -> torch.Tensor:
    """By the four elements about each place, as torchvision's kernel has them."""
    x, offset, w, b, *mask = tensors
    n, c, height, width = x.shape
    o, inner, kh, kw = w.shape
    rows, columns = offset.shape[2:]
    groups = offset.shape[1] // (2 * kh * kw)
    pairs = offset.view(n, groups, kh, kw, 2, rows, columns)
    places = []
    for axis, (size, taps) in enumerate(((rows, kh), (columns, kw))):
        out, tap = torch.arange(size) * stride - padding, torch.arange(taps) * dilation
        shapes = ((1, 1, size, 1), (taps, 1, 1, 1)) if axis == 0 else ((1, 1, 1, size), (1, taps, 1, 1))
        places.append(pairs[:, :, :, :, axis] + out.view(shapes[0]) + tap.view(shapes[1]))
    image = x.reshape(n, groups, c // groups, height * width)
    low = [p.floor() for p in places]
    part = [p - f for p, f in zip(places, low, strict=True)]
    total = torch.zeros((), dtype=x.dtype)
    for down in range(2):
        for right in range(2):
            row, column = low[0] + down, low[1] + right
            there = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            at = (row.clamp(0, height - 1) * width + column.clamp(0, width - 1)).long().view(n, groups, 1, -1)
            value = image.gather(3, at.expand(n, groups, c // groups, -1)).view(n, groups, c // groups, *places[0].shape[2:])
            weight = (part[0] if down else 1 - part[0]) * (part[1] if right else 1 - part[1]) * there
            total = total + value * weight.unsqueeze(2)
    if mask:
        total = total * mask[0].view(n, groups, 1, kh, kw, rows, columns)
    together = c // inner
    cut = total.reshape(n, together, inner, kh, kw, rows, columns)
    y = torch.einsum("ngcrsuv,gmcrs->ngmuv", cut, w.view(together, o // together, inner, kh, kw))
    return y.reshape(n, o, rows, columns) + b.view(-1, 1, 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("numbers", "groups", "displaced", "factors"), [((1, 1, 1), 1, 1, True), ((2, 1, 2), 2, 2, True), ((1, 0, 1), 1, 4, False)]
)
def test_deformed(numbers: Any, groups: int, displaced: int, factors: bool, dtype: Any, device: str) -> None:
    stride, padding, dilation = numbers
    rows, columns = ((n + 2 * padding - dilation * (k - 1) - 1) // stride + 1 for n, k in ((7, 3), (8, 2)))
    tensors = [
        drawn((2, 4, 7, 8), dtype), 2 * drawn((2, 2 * displaced * 6, rows, columns), dtype), drawn((6, 4 // groups, 3, 2), dtype),
        drawn((6,), dtype), *([drawn((2, displaced * 6, rows, columns), dtype)] if factors else []),
    ]  # fmt: skip

    def forward(*t: Any) -> Any:
        return baracuda.deform_conv2d(*t[:4], *numbers, *t[4:])

    def backward(*t: Any) -> Any:
        return baracuda.deform_conv2d_backward(*t[:5], *numbers, *t[5:])

    wrt = tuple(range(len(tensors)))
    check(forward, backward, lambda *t: deformed(*numbers, *t), tensors, device, wrt=wrt, units=64.0)


@pytest.mark.parametrize(("taps", "dilation"), [((3, 3, 3), (1, 1, 1)), ((1, 3, 5), (1, 2, 1))])
def test_submanifold(taps: Any, dilation: Any, device: str) -> None:
    sites = np.stack(np.meshgrid(*map(np.arange, (2, 4, 5, 6)), indexing="ij"), -1).reshape(-1, 4)
    sites = np.random.default_rng(0).permutation(sites)[:70]
    x, w, b, dy = drawn((70, 6)), drawn((*taps, 6, 5)), drawn((5,)), drawn((70, 5), seed=4)
    row_of = {tuple(s): i for i, s in enumerate(sites.tolist())}
    y, dx, dw = np.tile(b, (70, 1)), np.zeros_like(x), np.zeros_like(w)
    for n, site in enumerate(sites.tolist()):
        for t in np.ndindex(*taps):
            met = row_of.get((site[0], *(site[1 + a] + (t[a] - taps[a] // 2) * dilation[a] for a in range(3))))
            if met is not None:
                y[n] += x[met] @ w[t]
                dx[met] += w[t] @ dy[n]
                dw[t] += np.outer(x[met], dy[n])
    options: dict[str, Any] = {"spatial_shape": (4, 5, 6), "batch_size": 2, "dilation": dilation}
    (got,) = called(lambda *a: baracuda.submanifold_conv3d(*a, **options), [x, sites, w, b], device)
    close(got, y, np.float64, 32.0)
    slopes = called(lambda *a: baracuda.submanifold_conv3d_backward(*a, **options), [dy, x, sites, w, b], device)
    for g, want in zip(slopes, (dx, dw, dy.sum(0)), strict=True):
        close(g, want, np.float64, 64.0)


def test_no_rows() -> None:
    w = np.ones((3, 3, 3, 2, 4), np.float32)
    y = baracuda.submanifold_conv3d(np.zeros((0, 2), np.float32), np.zeros((0, 4), np.int64), w, spatial_shape=(4, 4, 4))
    assert y.shape == (0, 4)
