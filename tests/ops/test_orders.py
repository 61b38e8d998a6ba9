"""Sorting, selection and search: values against NumPy's and PyTorch's, gradients against autograd, and what each promises of NaN
and of equal elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.ops.composed import FLOATS, NUMBERS, called, check, drawn, same_bits
from tests.ops.orders import KINDS, mixed, order_of, raw

pytestmark = pytest.mark.filterwarnings("ignore:invalid value")  # NumPy says so of a signalling NaN
SHAPES = [((4, 37), -1), ((5, 3), 0), ((2, 300), 1), ((3, 1), 1), ((7,), 0), ((0, 3), 1), ((3, 0), 1), ((), -1)]


def _taken(x: Any, order: Any, axis: int) -> Any:
    return np.moveaxis(np.take_along_axis(np.moveaxis(x, axis, -1), order, -1), -1, axis)


@pytest.mark.one_of(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "axis"), SHAPES[:6])
@pytest.mark.parametrize("descending", [False, True])
def test_sort(kind: K, shape: tuple[int, ...], axis: int, descending: bool, device: str) -> None:
    x = mixed(shape, kind)
    order = order_of(np.moveaxis(x, axis, -1), descending=descending)
    values, indices = called(lambda x: baracuda.sort(x, axis, descending=descending, return_indices=True), [x], device)
    (alone,) = called(lambda x: baracuda.sort(x, axis, descending=descending), [x], device)
    (places,) = called(lambda x: baracuda.argsort(x, axis, descending=descending), [x], device)
    want = _taken(x, order, axis)
    assert (raw(values) == raw(want)).all()
    assert (raw(alone) == raw(want)).all()
    assert (indices == np.moveaxis(order, -1, axis)).all()
    assert (places == indices).all()


@pytest.mark.parametrize("shape", [(3, 4), (), (0,)])
def test_all_as_one_row(shape: tuple[int, ...], device: str) -> None:
    x = drawn(shape, np.float32)
    for name in ("sort", "argsort"):
        (got,) = called(lambda x, name=name: getattr(baracuda, name)(x, axis=None), [x], device)  # type: ignore[misc]
        same_bits(got, getattr(np, name)(x, axis=None))
    (got,) = called(lambda x: baracuda.sort(x, axis=-1), [x.reshape(())] if x.size == 1 else [x], device)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.one_of(4)
def test_gradients(dtype: Any, shape: tuple[int, ...], axis: int, device: str) -> None:
    x = drawn(shape, dtype)
    order = torch.from_numpy(np.moveaxis(order_of(np.moveaxis(x, axis, -1)), -1, axis).copy()) if shape else None

    def sorted_(t: torch.Tensor) -> torch.Tensor:
        return t if order is None else t.gather(axis, order)

    check(lambda x: baracuda.sort(x, axis), lambda dy, x: baracuda.sort_backward(dy, x, axis=axis), sorted_, [x], device)
    if order is not None:
        dy = drawn(shape, dtype, seed=1)
        (alone,) = called(lambda dy, x: baracuda.sort_backward(dy, x, axis=axis), [dy, x], device)
        (given,) = called(lambda dy, x, i: baracuda.sort_backward(dy, x, i, axis=axis), [dy, x, order.numpy()], device)
        same_bits(alone, given)
        for name in ("msort", "partition") if axis == 0 else ():
            words = {"kth": 0, "axis": 0} if name == "partition" and shape[0] else {}
            backward = getattr(baracuda, f"{name}_backward")
            if words or name == "msort":
                (got,) = called(lambda dy, x, b=backward, w=words: b(dy, x, **w), [dy, x], device)  # type: ignore[misc]
                same_bits(got, alone)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.uint8])
@pytest.mark.parametrize(
    ("shape", "axis", "k"), [((4, 37), -1, 5), ((300, 2), 0, 300), ((3, 7), 1, 0), ((1, 9000), 1, 64), ((), 0, 1)]
)
def test_topk(largest: bool, dtype: Any, shape: tuple[int, ...], axis: int, k: int, device: str) -> None:
    x = np.asarray(drawn(shape) * 10).astype(dtype)
    values, indices = called(lambda x: baracuda.topk(x, k, axis, largest=largest), [x], device)
    row = x.reshape(1) if not shape else x
    order = np.moveaxis(order_of(np.moveaxis(row, axis, -1), descending=largest)[..., :k], -1, axis)
    same_bits(values, np.take_along_axis(row, order, axis).reshape(values.shape))
    assert (indices == order.reshape(indices.shape)).all()
    for a, b in zip(
        called(lambda x: baracuda.approx_topk(x, k, axis, largest=largest), [x], device), (values, indices), strict=True
    ):
        same_bits(a, b)
    if np.dtype(dtype).kind == "f" and shape:
        found = torch.from_numpy(indices)
        for name in ("topk", "approx_topk"):
            forward, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
            words = {"k": k, "axis": axis, "largest": largest}
            check(
                lambda x, f=forward: f(x, k, axis, largest=largest)[0],  # type: ignore[misc]
                lambda dy, x, b=backward, w=words: b(dy, x, **w),  # type: ignore[misc]
                lambda t: t.gather(axis, found), [x], device,
            )  # fmt: skip


def test_nan_is_largest_of_all_in_selections(device: str) -> None:
    x = np.float32([1, np.nan, 3, -np.inf, np.nan])
    values, indices = called(lambda x: baracuda.topk(x, 3), [x], device)
    assert np.isnan(values[:2]).all()
    assert indices.tolist() == [1, 4, 2]
    assert called(lambda x: baracuda.topk(x, 2, largest=False), [x], device)[1].tolist() == [3, 0]
    assert called(lambda x: baracuda.kthvalue(x, 4), [x], device)[1] == 1
    assert called(lambda x: baracuda.sort(x, descending=True), [x], device)[0].tolist()[:3] == [3, 1, -np.inf]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("shape", "axis", "k"), [((4, 37), -1, 5), ((37, 4), 0, 37), ((6,), 0, 1)])
def test_kthvalue(keepdims: bool, dtype: Any, shape: tuple[int, ...], axis: int, k: int, device: str) -> None:
    x = drawn(shape, dtype)
    words = {"k": k, "axis": axis, "keepdims": keepdims}

    def reference(t: torch.Tensor) -> torch.Tensor:
        return t.kthvalue(k, axis, keepdims)[0]

    check(
        lambda x: baracuda.kthvalue(x, k, axis, keepdims=keepdims)[0],
        lambda dy, x: baracuda.kthvalue_backward(dy, x, **words),
        reference, [x], device,
    )  # fmt: skip


@pytest.mark.parametrize("axis", [-1, 0, None])
def test_partition(axis: int | None, device: str) -> None:
    x = drawn((5, 9), np.float32)
    for kth in (3, (1, -1)):
        (got,) = called(lambda x, kth=kth: baracuda.partition(x, kth, axis), [x], device)  # type: ignore[misc]
        (places,) = called(lambda x, kth=kth: baracuda.argpartition(x, kth, axis), [x], device)  # type: ignore[misc]
        same_bits(got, np.sort(x, axis))
        row = x.ravel() if axis is None else x
        same_bits(np.take_along_axis(row, places, axis or 0 if axis is None else axis), got)


@pytest.mark.parametrize("axis", [0, -1])
def test_lexsort(axis: int, device: str) -> None:
    rng = np.random.default_rng(0)
    keys = [rng.integers(0, 3, (20, 6)), rng.integers(0, 3, (20, 6)).astype(np.float32), rng.integers(0, 2, (20, 6)).astype(bool)]
    (got,) = called(lambda *k: baracuda.lexsort(list(k), axis=axis), keys, device)
    same_bits(got, np.lexsort(keys, axis))
    (got,) = called(lambda k: baracuda.lexsort(k), [keys[0]], device)
    same_bits(got, np.lexsort(keys[0]))


@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.uint8, np.complex128, np.float32, bool])
def test_sort_complex(dtype: Any, device: str) -> None:
    x = np.asarray(drawn((3, 40)) * 3).astype(dtype)
    (got,) = called(baracuda.sort_complex, [x], device)
    want = np.sort_complex(x)
    same_bits(got, want.astype(np.complex64 if got.dtype == np.complex64 else np.complex128))
    assert (got == want).all()


def test_radix_sort_pairs(device: str) -> None:
    rng = np.random.default_rng(0)
    keys, values = rng.integers(-5, 5, (3, 200)), drawn((3, 200), np.float32)
    for descending in (False, True):
        order = order_of(keys, descending=descending)
        ordered, moved = called(lambda k, v, d=descending: baracuda.radix_sort_pairs(k, v, descending=d), [keys, values], device)  # type: ignore[misc]
        same_bits(ordered, np.take_along_axis(keys, order, -1))
        same_bits(moved, np.take_along_axis(values, order, -1))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", KINDS)
def test_searchsorted(kind: K, side: Any, device: str) -> None:
    x, v = mixed((101,), kind), mixed((3, 17), kind, seed=1)
    order = order_of(x)
    both = np.concatenate([x, v.ravel()])
    # the place of an element in the order of all, with those that are equal to it after or before it
    place = {}
    for first, whole in (("left", np.concatenate([v.ravel(), x])), ("right", both)):
        ranks = np.argsort(order_of(whole))
        inside = ranks[v.size :] if first == "left" else ranks[: x.size]
        sought = ranks[: v.size] if first == "left" else ranks[x.size :]
        place[first] = np.searchsorted(np.sort(inside), sought).reshape(v.shape)
    (got,) = called(lambda s, v: baracuda.searchsorted(s, v, side), [x[order], v], device)
    same_bits(got, place[side])
    (by,) = called(lambda s, v, o: baracuda.searchsorted(s, v, side, o), [x, v, order], device)
    same_bits(by, got)


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_of_rows_and_bucketize(right: bool, device: str) -> None:
    x, v = np.sort(drawn((3, 4, 50), np.float32), -1), drawn((3, 4, 9), np.float32, seed=1)
    (got,) = called(lambda x, v: baracuda.searchsorted(x, v, right=right, out_int32=True), [x, v], device)
    same_bits(got, torch.searchsorted(torch.from_numpy(x), torch.from_numpy(v), right=right, out_int32=True).numpy())
    (got,) = called(lambda v, b: baracuda.bucketize(v, b, right=right), [v, x[0, 0]], device)
    same_bits(got, torch.bucketize(torch.from_numpy(v), torch.from_numpy(x[0, 0]), right=right).numpy())
    (got,) = called(lambda v, b: baracuda.searchsorted(b, v), [v, x[0, 0, :0]], device)
    assert not got.any()


X = np.float32([[3, 1, 2]])
WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: baracuda.topk(X, 4), InvalidProblemError, "k: 4; expected 0 to 3, of the elements of a row"),
    (lambda: baracuda.kthvalue(X, 4), InvalidProblemError, "k: 4; expected 1 to 3"),
    (lambda: baracuda.partition(X, 3), InvalidProblemError, "kth: 3; expected -3 to 2"),
    (lambda: baracuda.sort(X, 2), InvalidProblemError, "axis: 2"),
    (lambda: baracuda.radix_sort_pairs(X, X), UnsupportedError, "keys: element is f32"),
    (lambda: baracuda.lexsort([]), InvalidProblemError, "keys"),
    (lambda: baracuda.searchsorted(X, X[0]), InvalidProblemError, "values: shape is"),
    (lambda: baracuda.searchsorted(np.array(1.0), X), InvalidProblemError, "sequence: shape is"),
    (lambda: baracuda.searchsorted(X[0], X, sorter=np.arange(2)), InvalidProblemError, "sorter: shape is"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_is_said(number: int) -> None:
    call, error, text = WRONG[number]
    with pytest.raises(error, match=text):
        call()
