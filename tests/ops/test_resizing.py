"""`interpolate` against PyTorch, `jax.image.resize` and ONNX: every mode, corner rule and scale, and its gradient by autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import baracuda
from baracuda import InvalidProblemError
from tests.ops.composed import FLOATS, called, check, close, drawn

#: Modes with the spatial extents that they are tried on.
MODES: tuple[tuple[str, tuple[int, ...]], ...] = (
    *[(mode, (7,)) for mode in ("nearest", "nearest-exact", "linear", "area")],
    *[(mode, (7, 10)) for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")],
    *[(mode, (5, 6, 4)) for mode in ("nearest", "trilinear", "area")],
)
LINES = ("linear", "bilinear", "bicubic", "trilinear")
#: Extents of results, given those of x, and scales.
SIZES: tuple[Any, ...] = (
    lambda n: 2 * n, lambda n: n // 2 + 1, lambda n: n + 3, lambda n: 1, lambda n: n, lambda n: 9 * n,
    {"scale_factor": 1.7}, {"scale_factor": 0.6}, {"scale_factor": 2.5, "recompute_scale_factor": True},
)  # fmt: skip


def _reference(x: torch.Tensor, mode: str, words: Any) -> torch.Tensor:
    return functional.interpolate(x, mode=mode, **words)


@pytest.mark.parametrize(("mode", "spatial"), MODES)
@pytest.mark.parametrize("number", range(len(SIZES)))
@pytest.mark.one_of(8)
def test_against_pytorch(mode: str, spatial: tuple[int, ...], number: int, device: str, full: bool) -> None:
    size = SIZES[number]
    words: dict[str, Any] = size if isinstance(size, dict) else {"size": tuple(size(n) for n in spatial)}
    options: list[dict[str, Any]] = [{}]
    options += [{"align_corners": True}] if mode in LINES else []
    options += [{"antialias": True}, {"antialias": True, "align_corners": True}] if mode in ("bilinear", "bicubic") else []
    for k, more in enumerate(options if full else [options[number % len(options)]]):
        dtype, units = ((np.float64, 64.0), (np.float32, 400.0))[(number + k) % 2]
        check(
            lambda x, more=more: baracuda.interpolate(x, mode=mode, **words, **more),
            lambda dy, x, more=more: baracuda.interpolate_backward(dy, x, mode=mode, **words, **more),
            lambda x, more=more: _reference(x, mode, {**words, **more}),
            [drawn((2, 3, *spatial), dtype)],
            device,
            units=units,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
@pytest.mark.one_of(3)
def test_elements_and_layouts(mode: str, dtype: Any, device: str) -> None:
    x = drawn((2, 5, 9, 12), dtype)
    want = _reference(torch.from_numpy(x.astype(np.float64)), mode, {"size": (13, 5)}).numpy()
    (got,) = called(lambda x: baracuda.interpolate(x, (13, 5), mode=mode), [x], device)
    close(got, want, dtype, 64.0)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    (same,) = called(lambda x: baracuda.interpolate(x, (13, 5), mode=mode), [last], device)
    assert same.tobytes() == np.ascontiguousarray(got).tobytes()
    if device == "cpu":
        turned = x[:, ::-1, :, ::-1]
        want = _reference(torch.from_numpy(turned.astype(np.float64).copy()), mode, {"size": (13, 5)}).numpy()
        close(baracuda.interpolate(turned, (13, 5), mode=mode), want, dtype, 64.0)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "area"])
def test_bytes(mode: str, device: str) -> None:
    """PyTorch rounds 8-bit weights; ours are f32, and the result is rounded once."""
    x = np.random.default_rng(1).integers(0, 256, (1, 3, 9, 11)).astype(np.uint8)
    (got,) = called(lambda x: baracuda.interpolate(x, (5, 20), mode=mode), [x], device)
    want = _reference(torch.from_numpy(x).double(), mode, {"size": (5, 20)}).round().numpy()
    assert got.dtype == np.uint8
    assert np.abs(got.astype(int) - want).max() <= (0 if mode == "nearest" else 1)


X = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
#: ONNX's node tests: keywords, and the first row that they expect of the numbers from 1 to 16.
ONNX: list[tuple[dict[str, Any], list[float]]] = [
    ({"scale_factor": (2, 2), "mode": "cubic", "coordinates": "half_pixel"},
     [0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375]),
    ({"scale_factor": (0.8, 0.8), "mode": "cubic", "coordinates": "half_pixel"}, [1.47119141, 2.78125, 4.08251953]),
    ({"scale_factor": (0.8, 0.8), "mode": "cubic", "coordinates": "half_pixel", "exclude_outside": True, "cubic_coeff_a": -0.5},
     [1.36812675, 2.6695014, 4.0133367]),
    ({"size": (3, 3), "mode": "linear", "coordinates": "tf_crop_and_resize", "roi": (0.4, 0.6, 0.6, 0.8)}, [7.6, 7.9, 8.2]),
    ({"size": (3, 3), "mode": "linear", "coordinates": "tf_crop_and_resize", "roi": (0.4, 0.6, 1.2, 1.7),
      "extrapolation_value": 10.0}, [7.6, 10.0, 10.0]),
    ({"size": (3, 1), "mode": "linear", "coordinates": "pytorch_half_pixel"}, [1.6666666]),
    ({"size": (8, 8), "mode": "nearest", "coordinates": "half_pixel", "nearest_mode": "ceil"}, [1, 2, 2, 3, 3, 4, 4, 4]),
    ({"size": (8, 8), "mode": "nearest", "coordinates": "align_corners", "nearest_mode": "floor"}, [1, 1, 1, 2, 2, 3, 3, 4]),
    ({"scale_factor": 2.0, "mode": "linear", "coordinates": "asymmetric"}, [1, 1.5, 2, 2.5, 3, 3.5, 4, 4]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "row"), ONNX, ids=lambda v: v.get("coordinates") if isinstance(v, dict) else "")
def test_onnx(words: dict[str, Any], row: list[float], device: str) -> None:
    (got,) = called(lambda x: baracuda.interpolate(x, **words), [X], device)
    np.testing.assert_allclose(got[0, 0, 0], row, rtol=1e-6)


@pytest.mark.parametrize("words", [w for w, _ in ONNX][::2], ids=lambda w: w["coordinates"])
def test_gradients_of_onnx_are_transposed(words: dict[str, Any], device: str) -> None:
    """dy * f(x) and dx * x have one sum: f is linear, but for what is outside."""
    words = {**words, "extrapolation_value": 0.0} if "roi" in words else words
    x = drawn((1, 2, 4, 4))
    (y,) = called(lambda x: baracuda.interpolate(x, **words), [x], device)
    dy = drawn(y.shape, seed=2)
    (dx,) = called(lambda dy, x: baracuda.interpolate_backward(dy, x, **words), [dy, x], device)
    np.testing.assert_allclose((dy * y).sum(), (dx * x).sum(), rtol=1e-10)


def _jax(n: int, m: int, kernel: Any, antialias: bool) -> Any:
    """The weights of jax.image.resize from its formula: kernels at the samples, what is outside given to the others."""
    scale = m / n
    wide = max(1.0, 1 / scale) if antialias else 1.0
    sample = (np.arange(m) + 0.5) / scale - 0.5
    weights = kernel(np.abs(sample[:, None] - np.arange(n)) / wide)
    return weights / weights.sum(1, keepdims=True)


def _keys(x: Any) -> Any:
    near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _lanczos(radius: int) -> Any:
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0.0)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(5, 17), (14, 4)])
@pytest.mark.parametrize(("mode", "kernel"), [("cubic", _keys), ("lanczos3", _lanczos(3)), ("lanczos5", _lanczos(5))])
@pytest.mark.one_of(3)
def test_jax(mode: str, kernel: Any, size: Any, antialias: bool, device: str) -> None:
    x = drawn((2, 9, 11))
    words: dict[str, Any] = {"mode": mode, "antialias": antialias, "axes": (1, 2)}
    words |= {"cubic_coeff_a": -0.5, "exclude_outside": True} if mode == "cubic" else {}
    a, b = _jax(9, size[0], kernel, antialias), _jax(11, size[1], kernel, antialias)
    (got,) = called(lambda x: baracuda.interpolate(x, size, **words), [x], device)
    np.testing.assert_allclose(got, a @ x @ b.T, atol=1e-12)
    dy = drawn(got.shape, seed=2)
    (dx,) = called(lambda dy, x: baracuda.interpolate_backward(dy, x, size, **words), [dy, x], device)
    np.testing.assert_allclose(dx, a.T @ dy @ b, atol=1e-12)


def test_aspect_of_sizes(device: str) -> None:
    x = np.zeros((1, 1, 4, 6), np.float32)
    for policy, want in (("stretch", (8, 7)), ("not_larger", (5, 7)), ("not_smaller", (8, 12))):
        (got,) = called(lambda x, p=policy: baracuda.interpolate(x, (8, 7), aspect=p, coordinates="half_pixel"), [x], device)
        assert got.shape[2:] == want


def test_special_values_stay_where_they_are_read(device: str) -> None:
    x = np.zeros((1, 1, 6), np.float32)
    x[0, 0, 2] = np.inf
    (got,) = called(lambda x: baracuda.interpolate(x, 3, mode="linear", antialias=True), [x], device)
    assert np.isinf(got[0, 0, 0])
    assert got[0, 0, 2] == 0
    (dx,) = called(lambda dy, x: baracuda.interpolate_backward(dy, x, 6, mode="linear"), [x, x[..., :3]], device)
    assert np.isfinite(dx[0, 0, 2])


def test_nothing_and_bad_input() -> None:
    x = np.zeros((2, 3, 4, 5), np.float32)
    assert baracuda.interpolate(x[:0], (7, 7)).shape == (0, 3, 7, 7)
    assert baracuda.interpolate(x, (0, 7)).shape == (2, 3, 0, 7)
    assert (baracuda.interpolate_backward(x[:, :, :0], x, (0, 5)) == 0).all()
    for words, quote in (
        ({}, "size, scale_factor"),
        ({"size": 3, "scale_factor": 2.0}, "size, scale_factor"),
        ({"size": (3, 3, 3)}, "size"),
        ({"size": (3, 3), "mode": "trilinear"}, "trilinear"),
        ({"size": (3, 3), "antialias": True}, "antialias"),
        ({"size": (3, 3), "align_corners": True}, "align_corners"),
        ({"size": (3, 3), "roi": (0.0, 0.0, 1.0, 1.0)}, "roi"),
        ({"scale_factor": -1.0}, "scale_factor"),
        ({"size": (1 << 40, 3)}, "size"),
    ):
        with pytest.raises(InvalidProblemError, match=quote):
            baracuda.interpolate(x, **words)
    with pytest.raises(InvalidProblemError, match="expected elements"):
        baracuda.interpolate(x[:, :, :0], (3, 3))
