"""Samples at coordinates: grid_sample, affine_grid and warp_affine against PyTorch; deformable attention, correlation volumes and
hash grids against formulas in PyTorch; their gradients by autograd."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import baracuda
from baracuda import InvalidProblemError
from baracuda.ops.image.hash_grids import grids
from tests.ops.composed import FLOATS, called, check, close, drawn

PADDINGS = ("zeros", "border", "reflection")


def _places(shape: tuple[int, ...], dtype: Any = np.float64, size: float = 0.9) -> Any:
    return np.asarray(drawn(shape, seed=5) * size, dtype)


@pytest.mark.parametrize(("mode", "axes"), [("bilinear", 2), ("nearest", 2), ("bicubic", 2), ("bilinear", 3), ("nearest", 3)])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.one_of(4)
def test_grid_sample(mode: str, axes: int, padding: str, corners: bool, device: str) -> None:
    x, grid = drawn((2, 3, *(5, 6, 4)[:axes])), _places((2, *(7, 3, 5)[:axes], axes))
    words: Any = (mode, padding, corners)
    check(
        lambda x, g: baracuda.grid_sample(x, g, *words),
        lambda dy, x, g: baracuda.grid_sample_backward(dy, x, g, *words),
        lambda x, g: functional.grid_sample(x, g, *words),
        [x, grid], device, wrt=(0, 1), units=256.0,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 1, 5, 6), (1, 9, 4, 4)])
@pytest.mark.one_of(2)
def test_elements_and_layouts_of_grid_sample(dtype: Any, shape: tuple[int, ...], device: str) -> None:
    x, grid = drawn(shape, dtype), _places((shape[0], 3, 50, 2), np.float32)
    want = functional.grid_sample(torch.from_numpy(x.astype(np.float64)), torch.from_numpy(grid).double(), align_corners=False)
    (got,) = called(baracuda.grid_sample, [x, grid], device)
    close(got, want.numpy(), dtype, 512.0)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    assert called(baracuda.grid_sample, [last, grid], device)[0].tobytes() == got.tobytes()
    dy = drawn(got.shape, dtype, seed=2)
    one = called(baracuda.grid_sample_backward, [dy, x, grid], device)
    other = called(baracuda.grid_sample_backward, [dy, last, grid], device)
    assert all(np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.one_of(2)
def test_affine_grid(axes: int, corners: bool, device: str) -> None:
    size = (2, 3, *(4, 5, 6)[:axes])

    def reference(theta: torch.Tensor) -> torch.Tensor:
        if axes > 1:
            return functional.affine_grid(theta, list(size), corners)
        place = torch.linspace(-1, 1, 4, dtype=theta.dtype) * (1 if corners else 3 / 4)
        return theta[:, :, :1].transpose(1, 2) * place[:, None] + theta[:, :, 1:].transpose(1, 2)

    check(
        lambda t: baracuda.affine_grid(t, size, corners),
        lambda dy, t: baracuda.affine_grid_backward(dy, t, size, corners),
        reference, [drawn((2, axes, axes + 1))], device,
    )  # fmt: skip


def _warped(x: torch.Tensor, theta: torch.Tensor, size: Any, mode: str, padding: str) -> torch.Tensor:
    axes = [torch.arange(n, dtype=x.dtype) for n in size]
    place = torch.stack([*reversed(torch.meshgrid(*axes, indexing="ij")), torch.ones(tuple(size), dtype=x.dtype)], -1)
    at = torch.einsum("nkj,...j->n...k", theta, place)
    spans = torch.tensor(x.shape[:1:-1], dtype=x.dtype) - 1
    return functional.grid_sample(x, at * 2 / spans - 1, mode, padding, True)


@pytest.mark.parametrize(("mode", "axes"), [("bilinear", 2), ("nearest", 2), ("bicubic", 2), ("bilinear", 3)])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.one_of(3)
def test_warp_affine(mode: Any, axes: int, padding: Any, device: str) -> None:
    size = (4, 7, 3)[:axes]
    theta = drawn((2, axes, axes + 1)) * 0.3 + np.eye(axes, axes + 1)
    check(
        lambda x, t: baracuda.warp_affine(x, t, size, mode, padding),
        lambda dy, x, t: baracuda.warp_affine_backward(dy, x, t, size, mode, padding),
        lambda x, t: _warped(x, t, size, mode, padding),
        [drawn((2, 3, *(5, 6, 4)[:axes])), theta], device, wrt=(0, 1), units=512.0,
    )  # fmt: skip


def test_far_places_and_nan(device: str) -> None:
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    grid = np.float32([[[[1e30, 0], [-1e30, 0], [0, np.inf], [np.nan, 0]]]])
    (zeros,) = called(baracuda.grid_sample, [x, grid], device)
    assert zeros[0, 0, 0, :2].tolist() == [0, 0]
    assert np.isnan(zeros[0, 0, 0, 3])
    (border,) = called(lambda x, g: baracuda.grid_sample(x, g, padding_mode="border"), [x, grid], device)
    assert border[0, 0, 0, :2].tolist() == [4.5, 2.5]
    held = np.array([[[[np.inf]]]], np.float32)  # an infinity beside a sample's own elements takes no part
    (y,) = called(baracuda.grid_sample, [np.concatenate([held, held], 3), np.full((1, 1, 1, 2), 9, np.float32)], device)
    assert y.tolist() == [[[[0.0]]]]


# --- deformable attention ---------------------------------------------------------------------------------------------

LEVELS = [(6, 4), (3, 2), (5, 5)]
STARTS = np.array([0, 24, 30])


def _attended(value: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    n, _, heads, channels = value.shape
    queries, points = locations.shape[1], locations.shape[4]
    samples = []
    for k, (level, (h, w)) in enumerate(zip(value.split([h * w for h, w in LEVELS], 1), LEVELS, strict=True)):
        image = level.flatten(2).transpose(1, 2).reshape(n * heads, channels, h, w)
        grid = 2 * locations[:, :, :, k].transpose(1, 2).flatten(0, 1) - 1
        samples.append(functional.grid_sample(image, grid, "bilinear", "zeros", False))
    spread = weights.transpose(1, 2).reshape(n * heads, 1, queries, len(LEVELS) * points)
    total = (torch.stack(samples, -2).flatten(-2) * spread).sum(-1)
    return total.view(n, heads * channels, queries).transpose(1, 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ms_deform_attn(dtype: Any, device: str) -> None:
    rng = np.random.default_rng(0)
    shapes = np.array(LEVELS)
    tensors = [drawn((2, 55, 3, 5)), rng.random((2, 7, 3, 3, 4, 2)) * 1.3 - 0.15, rng.random((2, 7, 3, 3, 4))]
    own = [shapes, STARTS]

    def forward(v: Any, p: Any, a: Any) -> Any:
        return baracuda.ms_deform_attn(v, *_like(v, own), p, a)

    def backward(dy: Any, v: Any, p: Any, a: Any) -> Any:
        return baracuda.ms_deform_attn_backward(dy, v, *_like(v, own), p, a)

    check(forward, backward, _attended, [t.astype(dtype) for t in tensors], device, wrt=(0, 1, 2), units=512.0)


def _like(x: Any, arrays: Any) -> list[Any]:
    """Integers where a tensor is."""
    return arrays if isinstance(x, np.ndarray) else [torch.from_numpy(a).to(x.device) for a in arrays]


# --- correlation volumes ----------------------------------------------------------------------------------------------


def _correlated(a: torch.Tensor, b: torch.Tensor, coords: torch.Tensor | None, radius: int) -> torch.Tensor:
    h, w = a.shape[2:]
    rows, columns = torch.meshgrid(torch.arange(h, dtype=a.dtype), torch.arange(w, dtype=a.dtype), indexing="ij")
    base = torch.stack([columns, rows])[None].expand(a.shape[0], -1, -1, -1) if coords is None else coords
    found = []
    for i in range(-radius, radius + 1):
        for j in range(-radius, radius + 1):
            at = base + torch.tensor([j, i], dtype=a.dtype).view(1, 2, 1, 1)
            grid = torch.stack([at[:, 0] * 2 / (b.shape[3] - 1) - 1, at[:, 1] * 2 / (b.shape[2] - 1) - 1], -1)
            found.append((a * functional.grid_sample(b, grid, "bilinear", "zeros", True)).sum(1) * a.shape[1] ** -0.5)
    return torch.stack(found, 1)


@pytest.mark.parametrize("given", [False, True])
def test_correlation_volume(given: bool, device: str) -> None:
    a, b = drawn((2, 3, 4, 5)), drawn((2, 3, 6, 4) if given else (2, 3, 4, 5), seed=1)
    tensors = [a, b, np.random.default_rng(0).random((2, 2, 4, 5)) * 5] if given else [a, b]
    check(
        lambda *t: baracuda.correlation_volume(*t, radius=2),
        lambda dy, *t: baracuda.correlation_volume_backward(dy, *t, radius=2),
        lambda a, b, coords=None: _correlated(a, b, coords, 2),
        tensors, device, wrt=range(len(tensors)), units=256.0,
    )  # fmt: skip


# --- hash grids -------------------------------------------------------------------------------------------------------

_PRIMES = (1, 2654435761, 805459861)


def _encoded(
    x: torch.Tensor, table: torch.Tensor, base: int, growth: float, levels: int, most: int, smooth: bool
) -> torch.Tensor:
    axes, found, start = x.shape[1], [], 0
    for k in range(levels):
        scale = float(np.float32(base * growth**k - 1))
        points = ceil(scale) + 1
        entries = min((points**axes + 7) // 8 * 8, most)
        at = x * scale + 0.5
        low = torch.floor(at.detach())
        t = at - low
        t = t * t * (3 - 2 * t) if smooth else t
        low, total = low.long(), torch.zeros(())
        for corner in range(1 << axes):
            bits = [corner >> a & 1 for a in range(axes)]
            q = [low[:, a] + bits[a] for a in range(axes)]
            hashed = torch.zeros_like(q[0])
            for a in range(axes):
                hashed = hashed ^ (q[a] * _PRIMES[a] & 0xFFFFFFFF)
            place = (hashed if points**axes > entries else sum(q[a] * points**a for a in range(axes))) % entries
            weight = torch.stack([t[:, a] if bits[a] else 1 - t[:, a] for a in range(axes)]).prod(0)
            total = total + weight[:, None] * table[start + place]
        found.append(total)
        start += entries
    return torch.cat(found, 1)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("interpolation", ["linear", "smoothstep"])
@pytest.mark.one_of(2)
def test_grid_encode(axes: int, interpolation: Any, device: str) -> None:
    words: dict[str, Any] = {"levels": 4, "base_resolution": 3, "growth": 1.7, "log2_entries": 6, "interpolation": interpolation}
    last, _ = grids(axes, 4, 3, 1.7, 6)[-1]
    x = np.random.default_rng(0).random((9, axes)).astype(np.float32)
    table = drawn((last.start + last.entries, 2), np.float32)
    check(
        lambda x, t: baracuda.grid_encode(x, t, **words),
        lambda dy, x, t: baracuda.grid_encode_backward(dy, x, t, **words),
        lambda x, t: _encoded(x, t, 3, 1.7, 4, 64, interpolation == "smoothstep"),
        [x, table], device, wrt=(0, 1), units=256.0,
    )  # fmt: skip


def test_nothing_and_bad_input() -> None:
    x, grid = np.zeros((2, 3, 4, 5), np.float32), np.zeros((2, 6, 7, 2), np.float32)
    assert baracuda.grid_sample(x[:0], grid[:0]).shape == (0, 3, 6, 7)
    assert baracuda.grid_sample(x, grid[:, :0]).shape == (2, 3, 0, 7)
    dx, dgrid = baracuda.grid_sample_backward(np.zeros((2, 3, 0, 7), np.float32), x, grid[:, :0])
    assert (dx == 0).all()
    assert dgrid.shape == (2, 0, 7, 2)
    for arguments, quote in (
        ((x, grid[:1]), "grid"),
        ((x, grid[..., :1]), "grid"),
        ((x[:, :, :0], grid), "expected elements"),
        ((x[0, 0], grid), "x: shape"),
    ):
        with pytest.raises(InvalidProblemError, match=quote):
            baracuda.grid_sample(*arguments)
    with pytest.raises(InvalidProblemError, match="theta"):
        baracuda.affine_grid(np.zeros((1, 2, 2), np.float32), (1, 1, 2, 2))
    with pytest.raises(InvalidProblemError, match="expected 8 entries"):
        baracuda.grid_encode(np.zeros((1, 2), "f"), np.zeros((9, 1), "f"), levels=1, base_resolution=2)
