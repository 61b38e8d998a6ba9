"""Functions that run ops on views of their tensors, against PyTorch and NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import baracuda
from tests.cases.trial import as_tuple, to_device, to_host

Array = Any
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "bfloat16": 4e-2}


def _drawn(*shape: int, dtype: Any = np.float64, seed: int = 0) -> Array:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def _close(got: Any, want: torch.Tensor, scale: float = 1.0) -> None:
    host, expected = to_host(got), want.detach().numpy()
    assert host.shape == expected.shape
    tolerance = scale * TOLERANCE[host.dtype.name.replace("complex128", "float64").replace("complex64", "float32")]
    np.testing.assert_allclose(host.astype(expected.dtype), expected, rtol=tolerance, atol=tolerance)


def _check(
    name: str,
    reference: Callable[..., Any],
    tensors: list[Array],
    device: str,
    wrt: tuple[int, ...] = (0,),
    saves: tuple[int, ...] = (),
    scale: float = 1.0,
    **keywords: Any,
) -> None:
    """Results and gradients by the tensors numbered in `wrt`; `saves` numbers results that the backward takes."""
    operands = [to_device(t, device) for t in tensors]
    leaves = [torch.from_numpy(t.astype(t.dtype if t.dtype.kind in "ciu" else np.float64)) for t in tensors]
    for i in wrt:
        leaves[i].requires_grad_()
    results = as_tuple(getattr(baracuda, name)(*operands, **keywords))
    want = as_tuple(reference(*leaves))
    for g, w in zip(results, want, strict=True):
        _close(g, w, scale)
    dys = [_drawn(*w.shape, seed=3).astype(tensors[0].dtype) for w in want]
    saved = [results[i] for i in saves]
    by_us = getattr(baracuda, f"{name}_backward")
    dy = [to_device(d, device) for d in dys]
    got = as_tuple(by_us(dy[0] if len(dy) == 1 else tuple(dy), *operands, *saved, **keywords))
    wide = [torch.from_numpy(d.astype(np.float64 if d.dtype.kind != "c" else d.dtype)) for d in dys]
    slopes = torch.autograd.grad(want, [leaves[i] for i in wrt], wide)
    for g, w in zip(got, slopes, strict=True):
        _close(g, w, scale)


# --- distances --------------------------------------------------------------------------------------------------------


@pytest.mark.one_of(2)
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("shapes", [((7, 5), (9, 5)), ((3, 7, 70), (3, 4, 70)), ((2, 1, 6, 3), (5, 4, 3))])
def test_cdist(p: float, shapes: tuple[tuple[int, ...], tuple[int, ...]], device: str) -> None:
    a, b = (_drawn(*s, seed=i) for i, s in enumerate(shapes))

    def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.linalg.vector_norm(x[..., :, None, :] - y[..., None, :, :], p, -1)

    if p:
        _check("cdist", reference, [a, b], device, (0, 1), (0,), scale=100.0, p=p)
        return
    y = baracuda.cdist(to_device(a, device), to_device(b, device), p=p)
    _close(y, reference(torch.from_numpy(a), torch.from_numpy(b)))
    assert not any(to_host(g).any() for g in baracuda.cdist_backward(y, to_device(a, device), to_device(b, device), y, p=p))


def test_cdist_of_equal_points_has_no_gradient(device: str) -> None:
    a = to_device(_drawn(4, 3), device)
    for p in (1.0, 2.0, 3.0, float("inf")):
        y = baracuda.cdist(a, a, p=p)
        assert (np.diagonal(to_host(y)) == 0).all()
        da, db = baracuda.cdist_backward(to_device(np.eye(4), device), a, a, y, p=p)
        assert not to_host(da).any()
        assert not to_host(db).any()


# --- along an axis ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize(("n", "axis"), [(1, -1), (2, 0), (3, 1), (0, 0), (20, 1)])
def test_diff(dtype: Any, n: int, axis: int, device: str) -> None:
    x = _drawn(6, 9, 4, dtype=np.float64).astype(dtype)
    _check("diff", lambda v: torch.diff(v, n, axis) if n < v.shape[axis] else v.narrow(axis, 0, 0), [x], device, n=n, axis=axis)


def test_diff_beside_other_tensors(device: str) -> None:
    x, before = _drawn(5, 6), _drawn(5, 2)
    neighbours = {"prepend": to_device(before, device), "append": 0.0}
    got = baracuda.diff(to_device(x, device), n=2, **neighbours)
    np.testing.assert_allclose(to_host(got), np.diff(x, 2, prepend=before, append=0.0), atol=1e-12)
    dy = _drawn(5, 7)
    leaf = torch.from_numpy(x).requires_grad_()
    want = torch.diff(leaf, 2, prepend=torch.from_numpy(before), append=torch.zeros(5, 1, dtype=torch.float64))
    (slope,) = torch.autograd.grad(want, leaf, torch.from_numpy(dy))
    _close(baracuda.diff_backward(to_device(dy, device), to_device(x, device), n=2, **neighbours, wrt=("x",)), slope)


def test_diff_of_integers_wraps_and_of_bool_differs(device: str) -> None:
    small, flags = np.array([1, 250, 3], np.uint8), np.array([True, True, False])
    assert to_host(baracuda.diff(to_device(small, device))).tolist() == [249, 9]
    assert to_host(baracuda.diff(to_device(flags, device))).tolist() == [False, True]


def test_ediff1d(device: str) -> None:
    x, end = _drawn(3, 5), _drawn(2)
    got = baracuda.ediff1d(to_device(x, device), to_end=to_device(end, device), to_begin=7.0)
    np.testing.assert_allclose(to_host(got), np.ediff1d(x, end, 7.0), atol=1e-12)
    dy, leaf = _drawn(17), torch.from_numpy(x).requires_grad_()
    (slope,) = torch.autograd.grad(torch.diff(leaf.reshape(-1)), leaf, torch.from_numpy(dy[1:15]))
    gradient = baracuda.ediff1d_backward(to_device(dy, device), to_device(x, device), to_device(end, device), 7.0, wrt=("x",))
    _close(gradient, slope)


@pytest.mark.parametrize("name", ["trapezoid", "cumulative_trapezoid"])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("kind", ["spacing", "places", "each"])
@pytest.mark.parametrize("shape", [(8, 65), (3, 1)])
def test_integrals(name: str, axis: int, kind: str, shape: tuple[int, int], device: str) -> None:
    y = _drawn(*shape)
    own = torch.trapezoid if name == "trapezoid" else torch.cumulative_trapezoid
    if kind == "spacing":
        _check(name, lambda v: own(v, dx=0.25, dim=axis), [y], device, dx=0.25, axis=axis)
        return
    x = np.cumsum(np.abs(_drawn(shape[axis], seed=1))) if kind == "places" else np.cumsum(np.abs(_drawn(*shape, seed=1)), axis)

    def reference(v: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        at = at.reshape(-1, 1) if at.ndim == 1 and axis == 0 else at
        return own(v, at.expand(v.shape), dim=axis)

    _check(name, reference, [y, x], device, (0, 1), axis=axis)


def test_integral_of_complex_numbers(device: str) -> None:
    _check("trapezoid", lambda v: torch.trapezoid(v, dx=1.0), [_drawn(4, 9) + 1j * _drawn(4, 9, seed=1)], device)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("axis", [None, 0, (1, 0)])
@pytest.mark.parametrize("spaced", [False, True])
@pytest.mark.parametrize("shape", [(7, 40), (3, 5)])
def test_gradient(edge_order: int, axis: Any, spaced: bool, shape: tuple[int, int], device: str) -> None:
    x = _drawn(*shape)
    axes = (0, 1) if axis is None else (axis,) if isinstance(axis, int) else axis
    if spaced:
        places = [np.cumsum(0.5 + np.abs(_drawn(shape[a], seed=a))) for a in axes]
        spacing, numpy_spacing = [to_device(v, device) for v in places], places
    else:
        spacing = numpy_spacing = [0.5 + a for a in range(len(axes))]
    want = np.gradient(x, *numpy_spacing, axis=axis, edge_order=edge_order)
    got = baracuda.gradient(to_device(x, device), spacing, axis=axis, edge_order=edge_order)
    torch_spacing = [torch.from_numpy(v) if spaced else float(v) for v in numpy_spacing]
    leaf = torch.from_numpy(x).requires_grad_()
    slopes = torch.gradient(leaf, spacing=torch_spacing, dim=list(axes), edge_order=edge_order)
    wants = [want] if isinstance(want, np.ndarray) else list(want)
    for g, w in zip(as_tuple(got), wants, strict=True):
        np.testing.assert_allclose(to_host(g), w, atol=1e-11)
    dys = [_drawn(*shape, seed=9 + i) for i in range(len(axes))]
    slopes_on_device = [to_device(d, device) for d in dys]
    gradient = baracuda.gradient_backward(
        slopes_on_device[0] if len(slopes_on_device) == 1 else tuple(slopes_on_device),
        to_device(x, device),
        spacing,
        axis=axis,
        edge_order=edge_order,
    )
    _close(gradient, torch.autograd.grad(slopes, leaf, [torch.from_numpy(d) for d in dys])[0], 100.0)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("words", [{}, {"period": 4.0}, {"discont": 5.0}])
def test_unwrap(axis: int, words: dict[str, float], device: str) -> None:
    x = _drawn(6, 70) * 5
    np.testing.assert_allclose(
        to_host(baracuda.unwrap(to_device(x, device), axis=axis, **words)), np.unwrap(x, axis=axis, **words)
    )
    assert (to_host(baracuda.unwrap_backward(to_device(x, device))) == x).all()


# --- diagonals, windows, margins --------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, 2, -1, 9])
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_trace(offset: int, axes: tuple[int, int], device: str) -> None:
    x = _drawn(5, 6, 4)
    _check("trace", lambda v: torch.diagonal(v, offset, *axes).sum(-1), [x], device, offset=offset, axis1=axes[0], axis2=axes[1])
    whole = np.arange(9, dtype=np.int32).reshape(3, 3)
    assert to_host(baracuda.trace(to_device(whole, device))).dtype == np.int64


@pytest.mark.one_of(2)
@pytest.mark.parametrize("size", [1, 2, 5, 6])
@pytest.mark.parametrize(("shape", "dtype"), [((2, 7, 5, 3), np.float64), ((3, 5), np.float64), ((1, 40, 33), np.float32)])
def test_local_response_norm(dtype: Any, size: int, shape: tuple[int, ...], device: str) -> None:
    words = {"alpha": 0.5, "beta": 0.6, "k": 1.5}

    def reference(v: torch.Tensor) -> torch.Tensor:
        return F.local_response_norm(v if v.ndim > 2 else v[..., None], size, **words).reshape(v.shape)

    _check("local_response_norm", reference, [_drawn(*shape, dtype=dtype)], device, size=size, **words)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize(("shape", "dtype"), [((6, 9), np.float64), ((11,), np.float64), ((3, 130), np.float32)])
def test_multilabel_margin_loss(reduction: str, shape: tuple[int, ...], dtype: Any, device: str) -> None:
    target = np.random.default_rng(5).integers(-1, shape[-1], shape)
    target[..., 0] = np.abs(target[..., 0])
    target[..., 1] = target[..., 0]  # listed twice
    tensors = [_drawn(*shape, dtype=dtype), target]

    def reference(v: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return F.multilabel_margin_loss(v, t, reduction=reduction)

    _check("multilabel_margin_loss", reference, tensors, device, reduction=reduction)


def test_a_class_that_there_is_not_gives_nan(device: str) -> None:
    x, target = np.zeros((2, 3), np.float32), np.array([[0, 3, -1], [0, -1, 3]])
    got = to_host(
        baracuda.multilabel_margin_loss(to_device(x, device), to_device(target, device), reduction="none", bounds="clamp")
    )
    assert np.isnan(got).tolist() == [True, False]


# --- the same memory as another element -------------------------------------------------------------------------------


def test_views_share_their_memory(device: str) -> None:
    x = to_device(np.array([1 + 2j, 3 - 4j], np.complex64), device)
    real_view = baracuda.view_as_real(x)
    assert to_host(real_view).tolist() == [[1.0, 2.0], [3.0, -4.0]]
    real_view[0, 1] = 9.0
    assert complex(x[0]) == 1 + 9j
    back = baracuda.view_as_complex(real_view)
    back[1] = 5j
    assert complex(x[1]) == 5j
    bits = baracuda.bitcast(real_view, "s32")
    assert to_host(bits).tolist() == to_host(real_view).view(np.int32).tolist()
    assert tuple(baracuda.bitcast(real_view, "u8").shape) == (2, 8)
    bits[0, 0] = 0
    assert complex(x[0]) == 9j


def test_views_that_cannot_be_are_refused() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: shape is \(4, 3\); expected \(\.\.\., 2\)"):
        baracuda.view_as_complex(np.zeros((4, 3), np.float32))
    with pytest.raises(baracuda.InvalidProblemError, match="x: element is f32; expected one of complex64, complex128"):
        baracuda.view_as_real(np.zeros(3, np.float32))
    with pytest.raises(baracuda.InvalidProblemError, match="a multiple of 2 elements to read as f64"):
        baracuda.bitcast(np.zeros((2, 3), np.float32), "f64")


# --- over several devices ---------------------------------------------------------------------------------------------


def test_sync_batch_norm_is_batch_norm_of_all_samples(device: str) -> None:
    batches = [_drawn(4, 3, 5, seed=1), _drawn(2, 3, 5, seed=2)]
    whole, dy = np.concatenate(batches), _drawn(6, 3, 5, seed=3)
    weight, bias, running = _drawn(3), _drawn(3, seed=1), [np.zeros(3), np.ones(3)]
    operands = [to_device(v, device) for v in (weight, bias, *running)]
    pieces = [baracuda.batch_norm_stats(to_device(x, device)) for x in batches]
    gathered: list[list[Any]] = [[p[0] for p in pieces], [p[1] for p in pieces], []]
    gathered[2] = [np.array(x.size // 3) for x in batches]
    leaves = [torch.from_numpy(v).requires_grad_() for v in (whole, weight, bias)]
    means, variances = (torch.from_numpy(v.copy()) for v in running)
    want = F.batch_norm(leaves[0], means, variances, leaves[1], leaves[2], True)
    slopes = torch.autograd.grad(want, leaves, torch.from_numpy(dy))
    saved: list[tuple[Any, ...]] = []
    for i, x in enumerate(batches):
        calls = iter((0, 1, 2))

        def gather(own: Any, order: tuple[int, ...] = (2, 0, 1), calls: Any = calls) -> Any:
            stacked = np.stack([to_host(v) for v in gathered[order[next(calls)]]])
            return to_device(stacked, device)

        y, *rest = baracuda.sync_batch_norm(to_device(x, device), *operands, gather=gather)
        _close(y, want[4 * i : 4 * i + len(x)], 10.0)
        _close(rest[3], means, 10.0)
        _close(rest[4], variances, 10.0)
        saved.append((x, dy[4 * i : 4 * i + len(x)], *rest[:3]))
    sums = [np.zeros(3), np.zeros(3)]
    for x, own, mean, rstd, _ in saved:
        total, products, *_ = baracuda.batch_norm_backward_reduce(to_device(own, device), to_device(x, device), mean, rstd)
        sums = [sums[0] + to_host(total), sums[1] + to_host(products)]
    shares = []
    for i, (x, own, mean, rstd, count) in enumerate(saved):
        both = iter(sums)
        dx, *share = baracuda.sync_batch_norm_backward(
            to_device(own, device), to_device(x, device), operands[0], mean, rstd, count,
            add=lambda _, both=both: to_device(next(both), device),
        )  # fmt: skip
        _close(dx, slopes[0][4 * i : 4 * i + len(x)], 10.0)
        shares.append([to_host(v) for v in share])
    for j in (0, 1):
        np.testing.assert_allclose(shares[0][j] + shares[1][j], slopes[1 + j].numpy(), atol=1e-11)
