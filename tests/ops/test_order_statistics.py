"""Quantiles, medians, modes and histograms: values against NumPy's and PyTorch's, gradients against autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.ops.statistics.order_statistics import Interpolation
from tests.ops.composed import FLOATS, called, check, close, drawn, same_bits

Q = [0.0, 0.1, 0.25, 0.5, 0.7, 1.0]


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("interpolation", get_args(Interpolation))
@pytest.mark.parametrize("axis", [1, 0, None, (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("n", [1, 2, 5, 8, 150])
@pytest.mark.one_of(8)
def test_quantiles(interpolation: Any, axis: Any, n: int, device: str) -> None:
    x, q = drawn((3, n, 4)), np.array(Q)
    words: dict[str, Any] = {"axis": axis, "interpolation": interpolation}
    want = np.quantile(x, Q, axis, method=interpolation)
    close(called(lambda x: baracuda.quantile(x, Q, **words), [x], device)[0], want, np.float64, 8.0)
    kept = np.quantile(x, Q, axis, method=interpolation, keepdims=True)
    close(called(lambda x, q: baracuda.quantile(x, q, keepdims=True, **words), [x, q], device)[0], kept, np.float64, 8.0)
    close(
        called(lambda x: baracuda.percentile(x, 30, **words), [x], device)[0],
        np.percentile(x, 30, axis, method=interpolation),
        np.float64,
        8.0,
    )
    y = np.where(np.random.default_rng(n).random(x.shape) < 0.3, np.nan, x)
    close(
        called(lambda x: baracuda.nanquantile(x, 0.3, **words), [y], device)[0],
        np.nanquantile(y, 0.3, axis, method=interpolation),
        np.float64,
        8.0,
    )
    want = np.nanpercentile(y, [30, 80], axis, method=interpolation)
    close(called(lambda x: baracuda.nanpercentile(x, [30, 80], **words), [y], device)[0], want, np.float64, 8.0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.one_of(5)
def test_gradients_of_quantiles(dtype: Any, interpolation: Any, axis: int | None, device: str) -> None:
    x = drawn((7, 12), dtype)
    words: dict[str, Any] = {"axis": axis, "interpolation": interpolation}
    for q in ([0.125, 0.75], 0.5):
        given = torch.tensor(q, dtype=torch.float64)
        check(
            lambda x, q=q: baracuda.quantile(x, q, **words),  # type: ignore[misc]
            lambda dy, x, q=q: baracuda.quantile_backward(dy, x, q, **words),  # type: ignore[misc]
            lambda t, g=given: torch.quantile(t, g, axis, interpolation=interpolation),  # type: ignore[misc]
            [x], device,
        )  # fmt: skip
        dy = drawn((2, *np.sum(x, axis).shape) if isinstance(q, list) else np.sum(x, axis).shape, dtype, seed=3)
        (first,) = called(lambda dy, x, q=q: baracuda.quantile_backward(dy, x, q, **words), [dy, x], device)  # type: ignore[misc]
        for name, scale in (("nanquantile", 1), ("percentile", 100), ("nanpercentile", 100)):
            backward, number = getattr(baracuda, f"{name}_backward"), [scale * v for v in q] if isinstance(q, list) else scale * q
            (other,) = called(lambda dy, x, b=backward, n=number: b(dy, x, n, **words), [dy, x], device)  # type: ignore[misc]
            same_bits(other, first)


def test_gradient_over_two_axes(device: str) -> None:
    x, dy = drawn((3, 4, 5)), drawn((4,), seed=1)
    (got,) = called(lambda dy, x: baracuda.quantile_backward(dy, x, 0.4, axis=(0, 2)), [dy, x], device)
    turned = np.ascontiguousarray(x.transpose(1, 0, 2)).reshape(4, 15)
    want = baracuda.quantile_backward(dy, turned, 0.4, axis=1).reshape(4, 3, 5).transpose(1, 0, 2)
    same_bits(got, np.ascontiguousarray(want))


@pytest.mark.parametrize("dtype", [*FLOATS, np.int64, np.uint8, bool])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("shape", [(5, 8), (4, 7), (200, 3)])
@pytest.mark.one_of(2)
def test_median(dtype: Any, axis: int | None, shape: tuple[int, ...], device: str) -> None:
    x = np.asarray(drawn(shape) * 4).astype(dtype)
    floats = np.dtype(dtype).kind not in "iub"
    (got,) = called(lambda x: baracuda.median(x, axis), [x], device)
    close(got, np.median(x.astype(np.float64), axis), dtype if floats else np.float32, 4.0)
    (low,) = called(lambda x: baracuda.median(x, axis, interpolation="lower"), [x], device)
    order = np.sort(x, axis)
    n = order.size if axis is None else x.shape[axis]
    want = np.take(order.ravel() if axis is None else order, (n - 1) // 2, axis or 0)
    same_bits(low, np.asarray(want))
    if axis is not None:
        values, indices = called(lambda x: baracuda.median(x, axis, interpolation="lower", return_indices=True), [x], device)
        same_bits(values, low)
        same_bits(np.take_along_axis(x, np.expand_dims(indices, axis), axis).squeeze(axis), low)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_medians_with_nan(dtype: Any, device: str) -> None:
    x = drawn((6, 9), dtype)
    x[0, 3] = x[2, :] = np.nan
    t = torch.from_numpy(x)
    for name in ("median", "nanmedian"):
        (got,) = called(lambda x, n=name: getattr(baracuda, n)(x, 1, interpolation="lower"), [x], device)  # type: ignore[misc]
        same_bits(got, getattr(torch, name)(t, 1)[0].numpy())
        (got,) = called(
            lambda dy, x, n=name: getattr(baracuda, f"{n}_backward")(dy, x, 1),
            [drawn((6,), dtype), x],
            device,
        )  # type: ignore[misc]
        assert np.allclose(got.sum(1), drawn((6,), dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_median(dtype: Any, device: str) -> None:
    check(
        lambda x: baracuda.median(x, 1, interpolation="lower"),
        lambda dy, x: baracuda.median_backward(dy, x, 1, interpolation="lower"),
        lambda t: t.median(1)[0], [drawn((5, 8), dtype)], device,
    )  # fmt: skip
    check(
        lambda x: baracuda.median(x, 1),
        lambda dy, x: baracuda.median_backward(dy, x, 1),
        lambda t: t.quantile(0.5, 1), [drawn((5, 8), dtype)], device,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8, bool])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_mode(dtype: Any, axis: int, keepdims: bool, device: str) -> None:
    x = np.random.default_rng(0).integers(0, 4, (9, 6)).astype(dtype)
    values, indices = called(lambda x: baracuda.mode(x, axis, keepdims=keepdims), [x], device)
    same_bits(values, torch.mode(torch.from_numpy(x), axis, keepdim=keepdims)[0].numpy())
    whole = values if keepdims else np.expand_dims(values, axis)
    same_bits(indices, np.argmax(x == whole, axis).reshape(indices.shape))
    if dtype is np.float32:
        dy = drawn(values.shape, dtype)
        (dx,) = called(lambda dy, x: baracuda.mode_backward(dy, x, axis=axis, keepdims=keepdims), [dy, x], device)
        want = np.zeros_like(x)
        np.put_along_axis(
            want, indices if keepdims else np.expand_dims(indices, axis), dy if keepdims else np.expand_dims(dy, axis), axis
        )
        same_bits(dx, want)


# --- histograms -------------------------------------------------------------------------------------------------------

EDGES = [-2.0, -1.0, 0.0, 0.5, 3.0]


@pytest.mark.parametrize("bins", [10, EDGES, np.array(EDGES)])
@pytest.mark.parametrize("limits", [None, (-1.0, 2.0)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [False, True])
def test_histogram(bins: Any, limits: Any, weighted: bool, density: bool, device: str) -> None:
    x, weights = drawn((5, 300)), np.abs(drawn((5, 300), seed=1))
    given = [x, *([weights] if weighted else []), *([bins] if isinstance(bins, np.ndarray) else [])]

    def call(x: Any, *rest: Any) -> Any:
        own = rest[-1] if isinstance(bins, np.ndarray) else bins
        return baracuda.histogram(x, own, limits, rest[0] if weighted else None, density=density)

    got = called(call, given, device)
    want = np.histogram(x, bins, limits, weights=weights if weighted else None, density=density)
    assert got[0].dtype == want[0].dtype
    np.testing.assert_allclose(got[0], want[0], rtol=1e-13)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.uint8])
def test_counts_are_exact(dtype: Any, device: str) -> None:
    x = np.random.default_rng(0).integers(0, 50, 3000).astype(dtype)
    counts, edges = called(lambda x: baracuda.histogram(x, 49, (0, 49)), [x], device)
    assert counts.dtype == np.int64
    want = np.bincount(x.astype(int), minlength=50)
    assert counts.tolist() == [*want[:48], want[48] + want[49]]
    assert edges.astype(float).tolist() == list(range(50))


def test_what_lies_outside_is_in_no_bin(device: str) -> None:
    x = np.float32([-1, 0, 0.5, 1, 1.5, np.nan, np.inf, -np.inf])
    assert called(lambda x: baracuda.histogram(x, 2, (0, 1)), [x], device)[0].tolist() == [1, 2]
    assert called(lambda x: baracuda.histc(x, 2, 0, 1), [x], device)[0].tolist() == [1, 2]
    assert called(lambda x: baracuda.histogram(x, 2), [x[:0]], device)[1].tolist() == [0, 0.5, 1]
    assert called(lambda x: baracuda.histogram_bin_edges(x, 2), [x[1:2]], device)[0].tolist() == [-0.5, 0, 0.5]


def test_histc(device: str) -> None:
    x = drawn((4, 90), np.float32)
    for words in ((20, -1, 1), (7,)):
        (got,) = called(lambda x, w=words: baracuda.histc(x, *w), [x], device)  # type: ignore[misc]
        same_bits(got, torch.histc(torch.from_numpy(x), *words).numpy())


@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_points(density: bool, device: str) -> None:
    x, weights = drawn((200, 3)), np.abs(drawn((200,), seed=1))
    words: dict[str, Any] = {"bins": [2, 3, 4], "range": [(-1, 1), None, (-2, 2)], "density": density}
    got = called(lambda x, w: baracuda.histogramdd(x, weights=w, **words), [x, weights], device)
    hist, edges = np.histogramdd(x, weights=weights, **words)
    for g, w in zip(got, (hist, *edges), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-15)
    got = called(lambda x, y: baracuda.histogram2d(x, y, [3, 5], density=density), [x[:, 0].copy(), x[:, 1].copy()], device)
    for g, w in zip(got, np.histogram2d(x[:, 0], x[:, 1], [3, 5], density=density), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-15)
    flat = called(lambda x: baracuda.histogramdd(x, 2, (-1, 1, -1, 1, -1, 1)), [x], device)
    assert flat[0].tolist() == np.histogramdd(x, 2, [(-1, 1)] * 3)[0].tolist()


X = np.float32([[3, 1, 2]])
WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: baracuda.quantile(X, 1.5), "q: 1.5; expected a number, 0 to 1"),
    (lambda: baracuda.percentile(X, [20, -1]), "q: -1; expected a number, 0 to 100"),
    (lambda: baracuda.quantile(X, 0.5, axis=(0, 0)), "expected different axes"),
    (lambda: baracuda.quantile_backward(X, X, 0.5), "dy: shape is"),
    (lambda: baracuda.median(X, return_indices=True), "return_indices: True; expected False"),
    (lambda: baracuda.mode(X[:, :0]), "expected an element in each row"),
    (lambda: baracuda.histogram(X, [1.0]), "expected two edges or more"),
    (lambda: baracuda.histogram(X, 2, (3, 1)), "range:"),
    (lambda: baracuda.histogram(X, 2, weights=X[0]), "weights: shape is"),
    (lambda: baracuda.histogramdd(X, [2, 3]), "bins: 2 of them; expected 3"),
    (lambda: baracuda.histogram(X, 0), "bins: 0; expected a whole number of 1 or more"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_is_said(number: int) -> None:
    call, text = WRONG[number]
    with pytest.raises(InvalidProblemError, match=text):
        call()


def test_complex_numbers_have_no_bins() -> None:
    x = np.complex64([1, 2j])
    for wrong in (
        lambda: baracuda.histogram(x),
        lambda: baracuda.histogram_bin_edges(x),
        lambda: baracuda.histogram2d(x, x),
        lambda: baracuda.histogramdd(x[:, None]),
    ):
        with pytest.raises(UnsupportedError, match="complex64"):
            wrong()
