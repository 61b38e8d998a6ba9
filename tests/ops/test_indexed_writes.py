"""Indexed writes against a loop in NumPy: every element, duplicate indices, any layout, in place, gradients, errors."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError, OutOfRangeError, UnsupportedError
from tests.cases.trial import to_device, to_host
from tests.machine import waited
from tests.ops.composed import called
from tests.ops.indexed import KINDS, LAYOUTS, Case, Make, drawn, in_order, tried

Array = Any
Rng = np.random.Generator


def put_flat(rng: Rng, dtype: Any) -> Case:
    x, index, source = drawn(rng, (4, 6, 5), dtype), rng.integers(-120, 120, (40, 2)), drawn(rng, (40, 2), dtype)
    want = in_order(x.reshape(-1), list(index.ravel()), list(source.ravel())).reshape(x.shape)
    return Case(baracuda.put_flat, (x, index, source), want)


def scatter(rng: Rng, dtype: Any) -> Case:
    x, index, source = drawn(rng, (4, 6, 5), dtype), rng.integers(-6, 6, (3, 9, 4)), drawn(rng, (4, 9, 5), dtype)
    places = [(a, index[a, b, c], c) for a, b, c in product(range(3), range(9), range(4))]
    want = in_order(x, places, [source[p] for p in product(range(3), range(9), range(4))])
    return Case(partial(baracuda.scatter, axis=1), (x, index, source), want)


def scatter_number(rng: Rng, dtype: Any) -> Case:
    x, index = drawn(rng, (7,), dtype), rng.integers(-7, 7, (3,)).astype(np.int32)
    want = in_order(x, list(index), [np.asarray(1).astype(dtype)] * 3)
    return Case(lambda x, i: baracuda.scatter(x, i, 1), (x, index), want)


def index_copy(rng: Rng, dtype: Any) -> Case:
    x, index, source = drawn(rng, (4, 6, 33), dtype), rng.integers(-6, 6, (9,)), drawn(rng, (4, 9, 33), dtype)
    want = in_order(x, [(slice(None), i) for i in index], list(source.swapaxes(0, 1)))
    return Case(partial(baracuda.index_copy, axis=1), (x, index, source), want)


def index_copy_rows(rng: Rng, dtype: Any) -> Case:
    x, index, source = drawn(rng, (70, 16), dtype), rng.integers(0, 70, (300,)), drawn(rng, (300, 16), dtype)
    return Case(baracuda.index_copy, (x, index, source), in_order(x, list(index), list(source)))


def index_fill(rng: Rng, dtype: Any) -> Case:
    x, index = drawn(rng, (4, 6, 5), dtype), rng.integers(-5, 5, (9,))
    want = x.copy()
    want[..., index] = np.asarray(1).astype(dtype)
    return Case(lambda x, i: baracuda.index_fill(x, i, 1, axis=-1), (x, index), want)


def scatter_nd(rng: Rng, dtype: Any) -> Case:
    x, source = drawn(rng, (4, 6, 5), dtype), drawn(rng, (9, 3, 5), dtype)
    index = np.stack([rng.integers(-4, 4, (9, 3)), rng.integers(-6, 6, (9, 3))], -1)
    want = in_order(x, [tuple(i) for i in index.reshape(-1, 2)], list(source.reshape(-1, 5)))
    return Case(baracuda.scatter_nd, (x, index, source), want)


def select_scatter(rng: Rng, dtype: Any) -> Case:
    x, source = drawn(rng, (4, 5, 6), dtype), drawn(rng, (4, 6), dtype)
    want = x.copy()
    want[:, -2] = source
    return Case(partial(baracuda.select_scatter, axis=1, index=-2), (x, source), want)


def slice_scatter(rng: Rng, dtype: Any) -> Case:
    x, source = drawn(rng, (4, 5, 6), dtype), drawn(rng, (4, 5, 2), dtype)
    want = x.copy()
    want[..., 1:5:2] = source
    return Case(partial(baracuda.slice_scatter, axis=-1, start=1, end=5, step=2), (x, source), want)


def diagonal_scatter(rng: Rng, dtype: Any) -> Case:
    x, source = drawn(rng, (4, 5, 6), dtype), drawn(rng, (5, 4), dtype)
    want = in_order(x, [(k, slice(None), k + 1) for k in range(4)], list(source.T))
    return Case(partial(baracuda.diagonal_scatter, offset=1, axis1=0, axis2=2), (x, source), want)


def dynamic_slice(rng: Rng, dtype: Any) -> Case:
    x = drawn(rng, (4, 5, 6), dtype)
    return Case(partial(baracuda.dynamic_slice, sizes=(2, 3, 2)), (x, np.array([1, 9, -2])), x[1:3, 2:5, 4:6])


def dynamic_slice_along(rng: Rng, dtype: Any) -> Case:
    x = drawn(rng, (4, 5, 6), dtype)
    along = partial(baracuda.dynamic_slice, sizes=(2, 3), axis=(2, 0))
    return Case(along, (x, np.array([4, 1], np.int32)), x[1:4, :, 4:6])


def dynamic_update_slice(rng: Rng, dtype: Any) -> Case:
    x, update = drawn(rng, (4, 5, 6), dtype), drawn(rng, (2, 3, 6), dtype)
    want = x.copy()
    want[1:3, 2:5] = update
    return Case(baracuda.dynamic_update_slice, (x, update, np.array([1, 9, -3])), want)


def choose(rng: Rng, dtype: Any) -> Case:
    choices, x = [drawn(rng, (5, 6), dtype) for _ in range(9)], rng.integers(0, 9, (4, 5, 6))
    want = np.take_along_axis(np.stack([np.broadcast_to(c, (4, 5, 6)) for c in choices]), x[None], 0)[0]
    return Case(lambda x, *choices: baracuda.choose(x, list(choices)), (x, *choices), want)


def select_cond(rng: Rng, dtype: Any) -> Case:
    choices, conditions = [drawn(rng, (5, 6), dtype) for _ in range(7)], [rng.random((4, 5, 6)) < 0.3 for _ in range(6)]
    want = np.broadcast_to(choices[-1], (4, 5, 6)).copy()
    for condition, choice in zip(conditions[::-1], choices[-2::-1], strict=True):
        want = np.where(condition, choice, want).astype(dtype)
    return Case(lambda *t: baracuda.select_cond(list(t[:6]), list(t[6:12]), t[12]), (*conditions, *choices), want)


MAKE: dict[str, Make] = {
    f.__name__: f
    for f in (
        put_flat, scatter, scatter_number, index_copy, index_copy_rows, index_fill, scatter_nd, select_scatter, slice_scatter,
        diagonal_scatter, dynamic_slice, dynamic_slice_along, dynamic_update_slice, choose, select_cond,
    )
}  # fmt: skip


@pytest.mark.one_of(7)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", KINDS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", MAKE)
def test_as_a_loop_in_numpy(name: str, dtype: Any, layout: str, device: str) -> None:
    tried(MAKE[name](np.random.default_rng(7), dtype), layout, device)


@pytest.mark.parametrize("name", ["put_flat", "scatter", "index_copy", "scatter_nd", "select_scatter", "dynamic_update_slice"])
def test_in_place(name: str, device: str) -> None:
    case = MAKE[name](np.random.default_rng(3), np.float32)
    for x in (case.tensors[0], np.array(case.tensors[0], order="F")):
        target, *others = (to_device(t.copy(order="K"), device) for t in (x, *case.tensors[1:]))
        assert case.function(target, *others, out=target) is target
        np.testing.assert_array_equal(to_host(target), case.want)


def test_nothing_goes_anywhere(device: str) -> None:
    x, none = np.float32([[1, 2], [3, 4]]), np.zeros((0,), np.int64)
    for function, tensors in (
        (baracuda.put_flat, (x, none, np.zeros(0, np.float32))),
        (baracuda.index_copy, (x, none, np.zeros((0, 2), np.float32))),
        (baracuda.scatter_nd, (x, np.zeros((0, 1), np.int64), np.zeros((0, 2), np.float32))),
        (baracuda.scatter, (x, np.zeros((2, 0), np.int64), x)),
    ):
        (got,) = called(function, tensors, device)
        np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.float16])
def test_combined_by_tuples(reduce: str, dtype: torch.dtype, device: str) -> None:
    torch.manual_seed(1)
    x, source = torch.randn(4, 5, 3).mul(3).to(dtype), torch.randn(12, 3).mul(3).to(dtype)
    index = torch.stack([torch.randint(-4, 4, (12,)), torch.randint(0, 5, (12,))], -1)
    rows = (index[:, 0] % 4 * 5 + index[:, 1])[:, None].expand(12, 3)
    wide = torch.float64 if dtype.is_floating_point else dtype
    want = x.reshape(20, 3).to(wide).scatter_reduce(0, rows, source.to(wide), reduce).reshape(4, 5, 3)
    (got,) = called(partial(baracuda.scatter_nd_reduce, reduce=reduce), [t.numpy() for t in (x, index, source)], device)
    torch.testing.assert_close(torch.from_numpy(got).to(wide), want, rtol=2e-3 if dtype is torch.float16 else 1e-5, atol=1e-5)
    if reduce == "sum":
        put = called(partial(baracuda.put_flat, accumulate=True), [x.numpy(), rows.numpy() * 3, source.numpy()], device)
        flat = x.reshape(-1).to(wide).index_add(0, rows.reshape(-1) * 3, source.reshape(-1).to(wide)).reshape(x.shape)
        torch.testing.assert_close(torch.from_numpy(put[0]).to(wide), flat, rtol=2e-3, atol=2e-3)


# --- gradients --------------------------------------------------------------------------------------------------------


def _last(index: Array) -> Array:
    """Whether a position is the last of its destination."""
    flat = list(index.ravel())
    return np.array([i not in flat[k + 1 :] for k, i in enumerate(flat)]).reshape(index.shape)


def test_gradients_by_what_stays(device: str) -> None:
    rng = np.random.default_rng(5)
    x, dy = rng.standard_normal((2, 4, 6, 5))
    index = np.array([3, 4, 3, 0, 4])
    stays, source = _last(index), rng.standard_normal((4, 5, 5))
    dx, ds = called(partial(baracuda.index_copy_backward, axis=1), (dy, x, index, source), device)
    cleared = dy.copy()
    cleared[:, index] = 0
    np.testing.assert_array_equal(dx, cleared)
    np.testing.assert_array_equal(ds, dy[:, index] * stays[:, None])

    dx, dv = called(partial(baracuda.index_fill_backward, axis=1), (dy, x, index), device)
    np.testing.assert_array_equal(dx, cleared)
    np.testing.assert_allclose(dv, dy[:, np.unique(index)].sum())

    dx, ds = called(baracuda.put_flat_backward, (dy, x, index, np.ones(5)), device)
    np.testing.assert_array_equal(ds, dy.ravel()[index] * stays)
    (ds,) = called(partial(baracuda.put_flat_backward, accumulate=True, wrt=("source",)), (dy, x, index, np.ones(5)), device)
    np.testing.assert_array_equal(ds, dy.ravel()[index])

    tuples = np.stack([index % 4, index], -1)
    dx, ds = called(baracuda.scatter_nd_backward, (dy, x, tuples, np.ones((5, 5))), device)
    cleared = dy.copy()
    cleared[index % 4, index] = 0
    np.testing.assert_array_equal(dx, cleared)
    np.testing.assert_array_equal(ds, dy[index % 4, index] * stays[:, None])

    wide = np.zeros((4, 7, 5))
    dx, ds = called(partial(baracuda.scatter_backward, axis=1), (dy, x, np.broadcast_to(index[:, None], (4, 5, 5)), wide), device)
    np.testing.assert_array_equal(ds[:, :5], dy[:, index] * stays[:, None])
    assert not ds[:, 5:].any()


@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin"])
def test_gradients_of_combinations(reduce: str, device: str) -> None:
    torch.manual_seed(0)
    x, source = torch.randn(4, 5, 3, dtype=torch.float64, requires_grad=True), torch.randn(6, 3, dtype=torch.float64)
    source.requires_grad_()
    index = torch.stack([torch.randint(-4, 4, (6,)), torch.randint(0, 5, (6,))], -1)
    rows = (index[:, 0] % 4 * 5 + index[:, 1])[:, None].expand(6, 3)
    y = x.reshape(20, 3).scatter_reduce(0, rows, source, reduce).reshape(4, 5, 3)
    dy = torch.randn_like(y)
    wanted = torch.autograd.grad(y, (x, source), dy)
    tensors = [t.detach().numpy() for t in (dy, x, index, source)]
    for got, want in zip(
        called(partial(baracuda.scatter_nd_reduce_backward, reduce=reduce), tensors, device), wanted, strict=True
    ):
        torch.testing.assert_close(torch.from_numpy(got), want)


def test_gradients_of_views_and_windows(device: str) -> None:
    rng = np.random.default_rng(5)
    x, dy = rng.standard_normal((2, 4, 5, 6))

    def check(function: Any, tensors: Any, window: Any) -> None:
        dx, ds = called(function, tensors, device)
        cleared = dy.copy()
        cleared[window] = 0
        np.testing.assert_array_equal(dx, cleared)
        np.testing.assert_array_equal(ds, dy[window].reshape(ds.shape))

    check(lambda dy, x, s: baracuda.select_scatter_backward(dy, x, s, 1, 2), (dy, x, x[:, 0]), (slice(None), 2))
    check(partial(baracuda.slice_scatter_backward, axis=1, start=1, end=3), (dy, x, x[:, :2]), (slice(None), slice(1, 3)))
    d = np.arange(4)
    dx, ds = called(baracuda.diagonal_scatter_backward, (dy, x, np.ones((6, 4))), device)
    np.testing.assert_array_equal(ds, dy[d, d].T)
    assert not dx[d, d].any()
    start = np.array([3, 1, 0])
    check(baracuda.dynamic_update_slice_backward, (dy, x, x[:2, :2], start), (slice(2, 4), slice(1, 3)))
    (dx,) = called(baracuda.dynamic_slice_backward, (dy[:2], x, start), device)
    np.testing.assert_array_equal(dx, np.concatenate([np.zeros_like(x[:2]), dy[:2]]))


def test_gradients_of_choices(device: str) -> None:
    rng = np.random.default_rng(5)
    dy, x = rng.standard_normal((4, 5, 6)), rng.integers(0, 3, (4, 5, 6))
    shapes = [(5, 6), (4, 5, 6), (1, 6)]
    found = called(lambda dy, x, *c: baracuda.choose_backward(dy, x, list(c)), (dy, x, *map(np.zeros, shapes)), device)
    for k, (got, shape) in enumerate(zip(found, shapes, strict=True)):
        own = dy * (x == k)
        wanted = own if shape == own.shape else own.sum(0) if k == 0 else own.sum((0, 1))[None]
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    found = called(lambda dy, a, b: baracuda.select_cond_backward(dy, [a, b]), (dy, x == 0, x < 2), device)
    for k, got in enumerate(found):
        np.testing.assert_array_equal(got, dy * (x == k))


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_numbers_and_coordinates(dtype: Any, device: str) -> None:
    rng, shape = np.random.default_rng(5), (3, 4, 5)
    numbers = rng.integers(0, 60, (7, 2)).astype(dtype)
    found = called(lambda n: baracuda.unravel_index(n, shape), (numbers,), device)
    for got, want in zip(found, np.unravel_index(numbers, shape), strict=True):
        np.testing.assert_array_equal(got, want)
    (back,) = called(lambda *c: baracuda.ravel_multi_index(c, shape), found, device)
    np.testing.assert_array_equal(back, numbers)
    coordinates = [rng.integers(-9, 9, (8,)).astype(dtype) for _ in shape]
    for mode in ("wrap", "clip"):
        (got,) = called(lambda *c, mode=mode: baracuda.ravel_multi_index(c, shape, mode=mode), coordinates, device)
        np.testing.assert_array_equal(got, np.ravel_multi_index(coordinates, shape, mode=mode))
        choices = [rng.standard_normal(8) for _ in range(5)]
        (got,) = called(lambda x, *c, mode=mode: baracuda.choose(x, list(c), mode=mode), (coordinates[0], *choices), device)
        np.testing.assert_array_equal(got, np.choose(coordinates[0], choices, mode=mode))


# --- errors -----------------------------------------------------------------------------------------------------------


def test_what_is_out_of_range(device: str) -> None:
    x = to_device(np.zeros((3, 4), np.float32), device)

    def index(*values: Any) -> Any:
        return to_device(np.array(values), device)

    one = to_device(np.ones((1,), np.float32), device)
    for call in (
        lambda: baracuda.put_flat(x, index(12), one),
        lambda: baracuda.index_fill(x, index(-5), 1.0, axis=1),
        lambda: baracuda.scatter_nd(x, index([0, 4]), one),
        lambda: baracuda.scatter(x, index([5]), 1.0),
        lambda: baracuda.unravel_index(index(60), (3, 4)),
        lambda: baracuda.ravel_multi_index([index(-1), index(2)], (3, 4)),
        lambda: baracuda.choose(index(2), [one, one]),
    ):
        with pytest.raises(InvalidProblemError, match="out of range; expected"):
            waited(call)
    with pytest.raises(OutOfRangeError, match="index: 7; expected -3 to 2"):
        baracuda.select_scatter(x, x[0], 0, 7)
    with pytest.raises(InvalidProblemError, match="source: shape"):
        baracuda.slice_scatter(x, x, start=1)
    with pytest.raises(InvalidProblemError, match="sizes"):
        baracuda.dynamic_slice(x, index(0, 0), (4, 1))
    with pytest.raises(InvalidProblemError, match="start: shape"):
        baracuda.dynamic_slice(x, index(0), (1, 1))
    with pytest.raises(UnsupportedError, match="complex numbers are only summed"):
        baracuda.scatter_nd_reduce(to_device(np.zeros(3, np.complex64), device), index([0]), 1.0, reduce="prod")
