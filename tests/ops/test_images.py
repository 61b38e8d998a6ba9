"""Colours, blur, pictures normalized, and images as patches, against NumPy and PyTorch."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import baracuda
from baracuda import InvalidProblemError
from baracuda.core.elements import ElementKind
from tests.ops.composed import called, check, drawn
from tests.ops.movements import ELEMENTS, Movement, check_gradient
from tests.ops.movements import check as check_movement


def _windows(x: Any) -> Any:
    return x.reshape(2, 3, 2, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 2, 2, 3)


def _patches(x: Any, last: bool) -> Any:
    return x.reshape(2, 3, 2, 3, 2, 2).transpose((0, 2, 4, 3, 5, 1) if last else (0, 2, 4, 1, 3, 5)).reshape(2, 4, 18)


M = Movement
MOVEMENTS = [
    M("pixel_shuffle", [(2, 8, 3, 5)], lambda x: x.reshape(2, 2, 2, 2, 3, 5).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 10),
      {"upscale_factor": 2}, like=False),
    M("pixel_shuffle", [(8, 3, 5)], lambda x: x.reshape(2, 2, 2, 3, 5).transpose(2, 3, 0, 4, 1).reshape(2, 6, 10),
      {"upscale_factor": 2, "order": "DCR"}, like=False),
    M("pixel_unshuffle", [(2, 3, 6, 4)], lambda x: x.reshape(2, 3, 3, 2, 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 12, 3, 2),
      {"downscale_factor": 2}, like=False),
    M("pixel_unshuffle", [(3, 6, 4)], lambda x: x.reshape(3, 3, 2, 2, 2).transpose(2, 4, 0, 1, 3).reshape(12, 3, 2),
      {"downscale_factor": 2, "order": "DCR"}, like=False),
    M("channel_shuffle", [(2, 6, 3)], lambda x: x.reshape(2, 3, 2, 3).swapaxes(1, 2).reshape(2, 6, 3), {"groups": 3}, like=False),
    M("patchify", [(2, 3, 6, 4)], lambda x: _patches(x, False), {"patch_size": (3, 2)},
      {"patch_size": (3, 2), "image_size": (6, 4)}, like=False),
    M("patchify", [(2, 3, 6, 4)], lambda x: _patches(x, True), {"patch_size": (3, 2), "layout": "channels_last"},
      {"patch_size": (3, 2), "image_size": (6, 4), "layout": "channels_last"}, like=False),
    M("window_partition", [(2, 6, 4, 3)], _windows, {"window_size": 2}, {"window_size": ..., "image_size": (6, 4)}, like=False),
]  # fmt: skip


@pytest.mark.parametrize(("number", "movement"), list(enumerate(MOVEMENTS)), ids=str)
def test_movements(number: int, movement: Movement, device: str, full: bool) -> None:
    for i, kind in list(enumerate(ELEMENTS))[:: 1 if full else 6]:
        layout = ("contiguous", "strided", "turned", "reversed")[(i + number) % 4]
        check_movement(movement, kind, layout if device == "cpu" else "contiguous", device)
    check_gradient(movement, device)


def test_ways_back(device: str) -> None:
    x = drawn((2, 3, 6, 4), np.float32)
    for layout in ("channels_first", "channels_last"):
        (patches,) = called(lambda x, at=layout: baracuda.patchify(x, (3, 2), layout=at), [x], device)
        (back,) = called(lambda p, at=layout: baracuda.unpatchify(p, (3, 2), (6, 4), layout=at), [patches], device)
        assert back.tobytes() == x.tobytes()
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    (windows,) = called(lambda x: baracuda.window_partition(x, 2), [last], device)
    (back,) = called(lambda w: baracuda.window_reverse(w, (6, 4)), [windows], device)
    assert back.tobytes() == last.tobytes()


# --- blur -------------------------------------------------------------------------------------------------------------


def _blurred(x: torch.Tensor, size: tuple[int, int], sigma: tuple[float, float]) -> torch.Tensor:
    bells = []
    for k, s in zip(size, sigma, strict=True):
        bell = torch.exp(-0.5 * (torch.linspace(-(k - 1) / 2, (k - 1) / 2, k, dtype=x.dtype) / s) ** 2)
        bells.append(bell / bell.sum())
    kernel = torch.outer(bells[1], bells[0])[None, None].expand(x.shape[1], 1, -1, -1)
    wide = functional.pad(x, [size[0] // 2, size[0] // 2, size[1] // 2, size[1] // 2], mode="reflect")
    return functional.conv2d(wide, kernel, groups=x.shape[1])


@pytest.mark.parametrize(
    ("size", "sigma"), [((3, 5), (1.0, 0.7)), ((11, 9), (3.0, 2.0)), ((1, 3), (1.0, 1.0)), ((35, 3), (5.0, 1.0))]
)
def test_gaussian_blur(size: Any, sigma: Any, device: str) -> None:
    check(
        lambda x: baracuda.gaussian_blur(x, size, sigma),
        lambda dy, x: baracuda.gaussian_blur_backward(dy, size, sigma),
        lambda x: _blurred(x, size, sigma),
        [drawn((2, 3, 9, 20))], device,
    )  # fmt: skip


def test_blur_of_bytes_and_bad_kernels(device: str) -> None:
    x = np.random.default_rng(0).integers(0, 256, (1, 3, 9, 20)).astype(np.uint8)
    (got,) = called(lambda x: baracuda.gaussian_blur(x, 5), [x], device)
    want = _blurred(torch.from_numpy(x).double(), (5, 5), (1.1, 1.1)).round().numpy()
    assert np.abs(got.astype(int) - want).max() <= 1
    for size, quote in ((4, "odd"), (19, "at most 17"), (0, "odd")):
        with pytest.raises(InvalidProblemError, match=quote):
            baracuda.gaussian_blur(x, size)
    with pytest.raises(InvalidProblemError, match="sigma"):
        baracuda.gaussian_blur(x, 3, (1.0, 0.0))


# --- colours ----------------------------------------------------------------------------------------------------------

SPACES = ["hsv", "yuv", "ycbcr", "xyz", "linear_rgb", "lab"]
#: Colours and what they are elsewhere: kornia's and the CIE's formulas, by hand.
KNOWN = {
    "yuv": ([1.0, 0.5, 0.0], [0.5925, -0.2915, 0.3575]),
    "ycbcr": ([1.0, 0.5, 0.0], [0.5925, 0.16583, 0.7905475]),
    "xyz": ([1.0, 1.0, 1.0], [0.950456, 1.0, 1.088754]),
    "linear_rgb": ([0.0, 0.5, 1.0], [0.0, 0.21404114, 1.0]),
    "lab": ([1.0, 0.0, 0.0], [53.24058, 80.0923, 67.2032]),
}


@pytest.mark.parametrize("space", SPACES)
def test_colours(space: str, device: str) -> None:
    x = np.random.default_rng(0).random((1, 3, 2, 5))
    there, back = getattr(baracuda, f"rgb_to_{space}"), getattr(baracuda, f"{space}_to_rgb")
    (y,) = called(there, [x], device)
    if space == "hsv":
        want = np.array([colorsys.rgb_to_hsv(*x[0, :, i, j]) for i in range(2) for j in range(5)]).T.reshape(1, 3, 2, 5)
        np.testing.assert_allclose(y, want, atol=1e-12)
    else:
        colour, want_ = KNOWN[space]
        (one,) = called(there, [np.array(colour).reshape(3, 1, 1)], device)
        np.testing.assert_allclose(one.ravel(), want_, rtol=3e-4, atol=1e-6)
    (same,) = called(back, [y], device)
    np.testing.assert_allclose(same, x, atol=3e-3)
    for function, name, at in ((there, f"rgb_to_{space}", x), (back, f"{space}_to_rgb", y)):
        dy = drawn(at.shape, seed=1)
        (dx,) = called(getattr(baracuda, f"{name}_backward"), [dy, at], device)
        for way in (drawn(at.shape, seed=2), drawn(at.shape, seed=3)):
            step = 1e-6 * way
            change = (np.asarray(function(at + step)) - np.asarray(function(at - step))) / 2e-6
            np.testing.assert_allclose((dx * way).sum(), (dy * change).sum(), rtol=1e-4)


def test_gray(device: str) -> None:
    x = np.random.default_rng(0).random((2, 3, 4, 5))
    want = (x * np.array([0.2989, 0.587, 0.114]).reshape(1, 3, 1, 1)).sum(1, keepdims=True)
    np.testing.assert_allclose(called(baracuda.rgb_to_gray, [x], device)[0], want, atol=1e-14)
    last = np.moveaxis(x, 1, -1)
    (three,) = called(lambda x: baracuda.rgb_to_gray(x, 3, axis=-1), [np.ascontiguousarray(last)], device)
    np.testing.assert_allclose(three, np.repeat(np.moveaxis(want, 1, -1), 3, -1), atol=1e-14)
    whole = (x * 255).astype(np.uint8)
    (rounded,) = called(baracuda.rgb_to_gray, [whole], device)
    exact = (whole * np.float32([0.2989, 0.587, 0.114]).reshape(1, 3, 1, 1)).sum(1, keepdims=True)
    assert np.abs(rounded - np.floor(exact)).max() <= 1
    (dx,) = called(lambda dy: baracuda.rgb_to_gray_backward(dy, 3), [np.ones((3, 2, 2))], device)
    np.testing.assert_allclose(dx[:, 0, 0], [3 * 0.2989, 3 * 0.587, 3 * 0.114])


def test_image_normalize(device: str) -> None:
    x = np.random.default_rng(0).integers(0, 256, (2, 5, 6, 3)).astype(np.uint8)
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    want = ((x / 255 - np.array(mean)) / np.array(std)).transpose(0, 3, 1, 2)
    (got,) = called(lambda x: baracuda.image_normalize(x, mean, std), [x], device)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, atol=1e-5)
    first = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    tensors = [first, np.float32(mean), np.float32(std)]
    (half,) = called(lambda x, m, s: baracuda.image_normalize(x, m, s, source="chw", dtype=ElementKind.F16), tensors, device)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, want, atol=2e-3)
    with pytest.raises(InvalidProblemError, match="mean: 2 numbers"):
        baracuda.image_normalize(x, [0.5, 0.5])


def test_bad_shapes() -> None:
    x = np.zeros((2, 6, 5, 4), np.float32)
    for call, quote in (
        (lambda: baracuda.pixel_shuffle(x, 2), "channels"),
        (lambda: baracuda.pixel_unshuffle(x, 2), "rows"),
        (lambda: baracuda.channel_shuffle(x, 4), "channels"),
        (lambda: baracuda.patchify(x, 2), "rows"),
        (lambda: baracuda.unpatchify(np.zeros((1, 4, 5)), 2, (4, 4)), "elements of a patch"),
        (lambda: baracuda.window_partition(x, 4), "multiple of 4"),
        (lambda: baracuda.window_reverse(x, (4, 4)), "image_size"),
        (lambda: baracuda.rgb_to_hsv(x), "3 channels"),
    ):
        with pytest.raises(InvalidProblemError, match=quote):
            call()
    assert baracuda.pixel_shuffle(x[:0, :4], 2).shape == (0, 1, 10, 8)
