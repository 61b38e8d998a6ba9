"""Functions whose result is as long as a mask says: against NumPy on every element and layout, with a given size, gradients."""

from __future__ import annotations

from functools import partial
from typing import Any

import hypothesis
import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import to_device, to_host
from tests.machine import waited
from tests.ops.composed import called, same_bits
from tests.ops.indexed import KINDS, LAYOUTS, Case, drawn, tried

Array = Any
Rng = np.random.Generator
SHAPES = [(7,), (3, 5, 7), (2, 70, 90), (8192,), (8193, 3), (0, 4), (1,)]


def _masked(rng: Rng, shape: tuple[int, ...], dtype: Any) -> tuple[Array, Array]:
    return drawn(rng, shape, dtype), rng.random(shape) < 0.4


def nonzero(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, _ = _masked(rng, shape, dtype)
    return Case(baracuda.nonzero, (x,), np.nonzero(x.astype(bool)))


def argwhere(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, _ = _masked(rng, shape, dtype)
    return Case(baracuda.argwhere, (x,), np.argwhere(x.astype(bool)))


def flatnonzero(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, _ = _masked(rng, shape, dtype)
    want = np.append(np.flatnonzero(x.astype(bool)), [-7, -7])
    size = len(want)
    return Case(partial(baracuda.flatnonzero, size=size, fill_value=-7), (x,), want)


def masked_select(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, mask = _masked(rng, shape, dtype)
    return Case(baracuda.masked_select, (x, mask), x[mask])


def masked_select_of_a_size(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, mask = _masked(rng, shape, dtype)
    want = np.concatenate([x[mask], np.asarray([1, 1, 1]).astype(dtype)])
    return Case(partial(baracuda.masked_select, size=len(want), fill_value=1), (x, mask), want)


def compress(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, condition = drawn(rng, shape, dtype), rng.random(shape[-1]) < 0.5
    return Case(partial(baracuda.compress, axis=-1), (condition, x), x[..., condition])


def compress_of_a_size(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, condition = drawn(rng, shape, dtype), rng.random(shape[-1]) < 0.5
    padding = np.ones((*shape[:-1], 2)).astype(dtype)
    want = np.concatenate([x[..., condition], padding], -1)
    return Case(partial(baracuda.compress, axis=-1, size=want.shape[-1], fill_value=1), (condition, x), want)


def masked_scatter(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, mask = _masked(rng, shape, dtype)
    source = drawn(rng, (x.size + 1,), dtype)
    want = x.copy()
    want[mask] = source[: mask.sum()]
    return Case(baracuda.masked_scatter, (x, mask, source), want)


def place(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Case:
    x, mask = _masked(rng, shape, dtype)
    values, want = drawn(rng, (5,), dtype), x.copy()
    want[mask] = np.resize(values, mask.sum())
    return Case(baracuda.place, (x, mask, values), want)


MAKE: dict[str, Any] = {
    f.__name__: f
    for f in (
        nonzero, argwhere, flatnonzero, masked_select, masked_select_of_a_size, compress, compress_of_a_size, masked_scatter,
        place,
    )
}  # fmt: skip


@pytest.mark.one_of(16)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", KINDS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", MAKE)
def test_as_numpy(name: str, dtype: Any, layout: str, shape: tuple[int, ...], device: str) -> None:
    tried(MAKE[name](np.random.default_rng(7), shape, dtype), layout, device)


@hypothesis.settings(max_examples=40)
@hypothesis.given(
    arrays.arrays(np.bool_, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)), st.integers(0, 30)
)
def test_of_any_shape(mask: Array, size: int) -> None:
    found = baracuda.argwhere(mask)
    np.testing.assert_array_equal(found, np.argwhere(mask))
    padded = baracuda.argwhere(mask, size=size, fill_value=-1)
    assert padded.shape == (size, mask.ndim)
    np.testing.assert_array_equal(padded[: len(found)], found[:size])
    assert (padded[len(found) :] == -1).all()


def test_special_values_and_fills(device: str) -> None:
    x = np.float32([0.0, -0.0, np.nan, np.inf, 1e-45, -1])
    np.testing.assert_array_equal(called(baracuda.flatnonzero, (x,), device)[0], [2, 3, 4, 5])
    np.testing.assert_array_equal(called(baracuda.flatnonzero, (np.complex64([0, 1j, -0.0]),), device)[0], [1])
    rows, columns = called(partial(baracuda.nonzero, size=3, fill_value=(7, -2)), (np.array([[0, 1], [1, 0]]),), device)
    assert (rows.tolist(), columns.tolist()) == ([0, 1, 7], [1, 0, -2])
    (found,) = called(partial(baracuda.masked_select, size=3, fill_value=np.inf), (x[3:], np.array([False, True, False])), device)
    same_bits(found, np.float32([1e-45, np.inf, np.inf]))


def test_nothing_is_read_with_a_size(device: str) -> None:
    if device == "cpu":
        pytest.skip("about what waits for a GPU")
    x = torch.rand(1000, device=device) - 0.5
    baracuda.masked_select(x, x > 0, size=600)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = baracuda.masked_select(x, x > 0, size=600)
    x.copy_(torch.arange(1000) - 500)
    graph.replay()
    assert found[:499].tolist() == list(range(1, 500))
    assert not found[499:].any()


def test_in_place(device: str) -> None:
    x = to_device(np.float32([1, 2, 3]), device)
    mask, source = to_device(np.array([True, False, True]), device), to_device(np.float32([7, 8]), device)
    assert baracuda.masked_scatter(x, mask, source, out=x) is x
    assert to_host(x).tolist() == [7, 2, 8]
    assert baracuda.place(x, mask, source[:1], out=x) is x
    assert to_host(x).tolist() == [7, 2, 7]
    out = to_device(np.zeros(2, np.float32), device)
    assert baracuda.masked_select(x, mask, out=out) is out
    assert to_host(out).tolist() == [7, 7]


def test_gradients(device: str) -> None:
    rng = np.random.default_rng(5)
    x, mask = rng.standard_normal((4, 1, 6)), rng.random((5, 6)) < 0.5
    leaf = torch.tensor(x, requires_grad=True)
    y = leaf.masked_select(torch.tensor(mask))
    dy = rng.standard_normal(tuple(y.shape))
    (want,) = torch.autograd.grad(y, leaf, torch.tensor(dy))
    (got,) = called(baracuda.masked_select_backward, (dy, x, mask), device)
    np.testing.assert_allclose(got, want.numpy())

    x, mask, source, dy = rng.standard_normal((4, 5, 6)), rng.random((4, 5, 6)) < 0.5, rng.standard_normal((20, 6)), None
    dy = rng.standard_normal((4, 5, 6))
    dx, ds = called(baracuda.masked_scatter_backward, (dy, x, mask, source), device)
    np.testing.assert_array_equal(dx, dy * ~mask)
    np.testing.assert_array_equal(ds.ravel(), np.append(dy[mask], np.zeros(120 - mask.sum())))
    dx, dv = called(baracuda.place_backward, (dy, x, mask, source[0]), device)
    np.testing.assert_array_equal(dx, dy * ~mask)
    np.testing.assert_allclose(dv, [dy[mask][k::6].sum() for k in range(6)])

    condition = np.array([True, False, True])
    dy, want_dx = rng.standard_normal((4, 2, 6)), np.zeros((4, 5, 6))
    want_dx[:, [0, 2]] = dy
    (got,) = called(lambda dy, c, x: baracuda.compress_backward(dy, c, x, axis=1), (dy, condition, x), device)
    np.testing.assert_array_equal(got, want_dx)
    condition = rng.random(30) < 0.5
    dy, flat = rng.standard_normal(condition.sum()), np.zeros(120)
    flat[:30][condition] = dy
    (got,) = called(baracuda.compress_backward, (dy, condition, x), device)
    np.testing.assert_array_equal(got.ravel(), flat)


def test_errors(device: str) -> None:
    x, mask = to_device(np.ones(3, np.float32), device), to_device(np.ones(3, bool), device)
    with pytest.raises(InvalidProblemError, match="2 elements, for so many places"):
        waited(baracuda.masked_scatter, x, mask, x[:2])
    with pytest.raises(InvalidProblemError, match="condition: it has 3 elements; expected at most 2"):
        baracuda.compress(mask, x[:2])
    with pytest.raises(InvalidProblemError, match="scalar"):
        baracuda.nonzero(to_device(np.array(1.0), device))
    with pytest.raises(InvalidProblemError, match="broadcast"):
        baracuda.masked_select(x, mask[:2])
