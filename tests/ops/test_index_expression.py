"""x[...] read and written as NumPy does, over every sort of item and their order."""

from __future__ import annotations

from typing import Any

import hypothesis
import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import Error, OutOfRangeError
from baracuda.frontends.index_expression import getitem, setitem
from tests.cases.trial import to_device, to_host
from tests.ops.composed import called

Array = Any
RNG = np.random.default_rng(0)
I, J = np.array([1, 0, -1]), np.array([[0], [2]])  # noqa: E741
M, M01, M12 = np.array([True, False, True]), RNG.random((3, 4)) < 0.5, RNG.random((4, 5)) < 0.5
S = slice(None)
X = RNG.integers(0, 100, (3, 4, 5, 2)).astype(np.float32)
KEYS: list[Any] = [
    (1,), (S, 1), (..., -1), (None, 1, None), (slice(2, None, -1), slice(None, None, 2)), (...,), (),
    (I,), (S, I), (I, I), (J, I), (I, S, I), (S, I, I), (S, I, S, J % 2), (I, I, I, np.array([0, 1, 0])),
    (0, I), (I, 0), (0, S, I), (I, None, I), (None, I), (slice(1, 3), None, I), (I, ..., J % 2), (..., J, 0), (S, I, ..., 0),
    (M,), (M01,), (S, M12), (M, S, I[:2]), (M01, 0), (0, M12), (M, ..., 0), (X > 50,), (X[..., 0] > 50,),
    (True,), (False,), (True, I), (I, True), ([0, 2],), ([0, 2], [1, 3]), (np.array(1), S), (np.int64(2),), (np.uint8([2, 0]),),
    (slice(0, 0), I), (np.zeros(0, np.int64),), (S, S, np.zeros((2, 0), np.int32)), (S, I, S, None, 1),
]  # fmt: skip


def _moved(key: Any, device: str) -> Any:
    return tuple(to_device(k, device) if isinstance(k, np.ndarray) and k.ndim else k for k in key)


def _has_view(key: Any, device: str) -> bool:
    """Whether PyTorch's tensors, which have no negative strides, can be indexed like this."""
    return device == "cpu" or not any(isinstance(k, slice) and (k.step or 1) < 0 for k in key)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_read_and_written(key: Any, device: str) -> None:
    key = key if len(key) != 1 else key[0]
    each = key if isinstance(key, tuple) else (key,)
    want = X[key]
    for x in (X, np.array(X, order="F")):
        moved = _moved(each, device)
        got = to_host(getitem(to_device(x, device), moved))
        assert got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    if not want.size:
        return
    values = (7.0, RNG.integers(0, 99, want.shape).astype(np.float32), RNG.integers(0, 99, want.shape[-1:]))
    for value in values:
        target, wanted = to_device(np.array(X, order="F"), device), X.copy()
        wanted[key] = value
        setitem(target, _moved(each, device), to_device(value, device))
        np.testing.assert_array_equal(to_host(target), wanted)


@hypothesis.settings(max_examples=40)
@hypothesis.given(st.data())
def test_any_basic_index(data: Any) -> None:
    key = data.draw(arrays.basic_indices((3, 4, 5, 2), allow_newaxis=True))
    np.testing.assert_array_equal(getitem(X, key), X[key])
    wanted, target = X.copy(), X.copy()
    wanted[key] = -1
    setitem(target, key, -1)
    np.testing.assert_array_equal(target, wanted)


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16, np.bool_, np.complex128, np.int8], ids=lambda d: np.dtype(d).name
)
def test_every_element(dtype: Any, device: str) -> None:
    y = RNG.integers(0, 2, (3, 4, 5)).astype(dtype)
    for key in ((I,), (S, I, I), (M01,), (S, 0), (y.astype(bool),)):
        got = to_host(getitem(to_device(y, device), _moved(key, device)))
        np.testing.assert_array_equal(got.astype(complex), y[key].astype(complex))
        for value in (1, RNG.integers(0, 2, y[key].shape).astype(dtype)):
            target, wanted = to_device(y.copy(), device), y.copy()
            wanted[key] = value
            setitem(target, _moved(key, device), to_device(value, device))
            np.testing.assert_array_equal(to_host(target).astype(complex), wanted.astype(complex))


def test_a_view_is_one(device: str) -> None:
    x = to_device(np.zeros((3, 4), np.float32), device)
    setitem(getitem(x, (1, slice(1, None))), ..., 5.0)
    assert to_host(x)[1].tolist() == [0, 5, 5, 5]
    target = to_device(np.arange(6.0), device)
    setitem(target, slice(1, None), target[:-1])  # what is written shares memory with what is read
    assert to_host(target).tolist() == [0, 0, 1, 2, 3, 4]
    setitem(target, to_device(np.arange(5) + 1, device), target[:-1])
    assert to_host(target).tolist() == [0, 0, 0, 1, 2, 3]


def test_index_put(device: str) -> None:
    rng = np.random.default_rng(1)
    x, values, dy = rng.standard_normal((3, 4, 5)), rng.standard_normal((3, 5)), rng.standard_normal((3, 4, 5))
    i, j = np.array([1, 0, 1]), np.array([2, 2, 2])
    stays = np.array([[False], [True], [True]])
    for accumulate in (False, True):
        wanted = x.copy()
        if accumulate:
            np.add.at(wanted, (i, j), values)
        else:
            wanted[i, j] = values
        (got,) = called(
            lambda x, v, i, j, a=accumulate: baracuda.index_put(x, (i, j), v, accumulate=a), (x, values, i, j), device
        )
        np.testing.assert_allclose(got, wanted, rtol=1e-14)

        def backward(dy: Any, x: Any, v: Any, i: Any, j: Any, accumulate: bool = accumulate) -> Any:
            return baracuda.index_put_backward(dy, x, (i, j), v, accumulate=accumulate)

        dx, dv = called(backward, (dy, x, values, i, j), device)
        cleared = dy.copy()
        cleared[i, j] = dy[i, j] * accumulate
        np.testing.assert_array_equal(dx, cleared)
        np.testing.assert_array_equal(dv, dy[i, j] * (stays | accumulate))
        _, dv = called(backward, (dy, x, values[:1], i, j), device)
        np.testing.assert_allclose(dv, (dy[i, j] * (stays | accumulate)).sum(0)[None])
    whole = called(lambda x, i: baracuda.index_put(x, (None, i), 7.0), (x, i), device)[0]  # as in PyTorch, no new axis
    assert (whole[:, [0, 1]] == 7).all()


def test_index_put_as_torch() -> None:
    x, i, v = torch.zeros(3, 4), torch.tensor([2, 0]), torch.ones(2, 4)
    assert torch.equal(baracuda.index_put(x, (i,), v), x.index_put((i,), v))
    assert baracuda.index_put(x, (i,), v, out=x) is x
    assert x.sum() == 8


@pytest.mark.parametrize(
    "key", [(5,), (0, 0, 0, 0, 0), (slice(None, None, 0),), (1.5,), (np.array([7]),), (M01[:2, :2],), (..., ...)], ids=str
)
def test_errors(key: Any) -> None:
    with pytest.raises(Error):
        getitem(X, key)
    with pytest.raises(Error):
        setitem(X.copy(), key, 1.0)
    if str(key) == "(5,)":
        with pytest.raises(OutOfRangeError, match="index: 5 of axis 0; expected a slice, or -3 to 2"):
            getitem(X, 5)
