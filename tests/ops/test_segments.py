"""Softmax and reductions over segments, and ragged rows: against PyTorch, with gradients."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import to_device
from tests.machine import waited
from tests.ops.composed import called

LENGTHS, OFFSETS = np.array([5, 0, 12, 1, 22]), np.array([0, 5, 5, 17, 18, 40])


@pytest.mark.parametrize("row", [(), (3,), (2, 5)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_softmax(dtype: torch.dtype, row: tuple[int, ...], device: str) -> None:
    torch.manual_seed(0)
    x, ids, dy = torch.randn(40, *row).to(dtype), torch.randint(0, 7, (40,)), torch.randn(40, *row).to(dtype)
    close = partial(
        torch.testing.assert_close, rtol=1e-2 if dtype is torch.float16 else 2e-5, atol=1e-3 if dtype is torch.float16 else 1e-5
    )

    def summed(t: torch.Tensor) -> torch.Tensor:
        return torch.zeros(9, *row, dtype=torch.float64).index_add(0, ids, t)[ids]

    e = torch.exp(x.double())
    want = e / summed(e)
    (y,) = called(partial(baracuda.segment_softmax, num_segments=9), (x.numpy(), ids.numpy()), device)
    assert y.dtype == x.numpy().dtype
    close(torch.from_numpy(y).double(), want)
    held = torch.from_numpy(y).double()
    (dx,) = called(partial(baracuda.segment_softmax_backward, num_segments=9), (dy.numpy(), y, ids.numpy()), device)
    close(torch.from_numpy(dx).double(), held * (dy.double() - summed(held * dy.double())))


@pytest.mark.parametrize("initial", [None, 1.5])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("row", [(), (3,)], ids=str)
def test_reduce(row: tuple[int, ...], reduce: str, initial: float | None, device: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(40, *row, dtype=torch.float64, requires_grad=True)
    for word, tells in (("lengths", LENGTHS), ("offsets", OFFSETS)):
        want = torch.segment_reduce(x, reduce, **{word: torch.from_numpy(tells)}, initial=initial)
        dy = torch.randn_like(want)
        dy[1] = 0  # of an empty segment, whose gradient PyTorch makes NaN
        (dx,) = torch.autograd.grad(want, x, dy)
        forward = lambda x, t, w=word: baracuda.segment_reduce(x, reduce, **{w: t}, initial=initial)  # noqa: E731
        backward = lambda d, x, t, w=word: baracuda.segment_reduce_backward(d, x, reduce, **{w: t}, initial=initial)  # noqa: E731
        held = x.detach().numpy()
        torch.testing.assert_close(torch.from_numpy(called(forward, (held, tells), device)[0]), want.detach(), equal_nan=True)
        torch.testing.assert_close(torch.from_numpy(called(backward, (dy.numpy(), held, tells), device)[0]), dx)


def test_reduce_in_batches_and_by_numbers(device: str) -> None:
    torch.manual_seed(0)
    x, lengths = torch.randn(2, 20, 3), torch.tensor([[3, 0, 17], [10, 10, 0]])
    for reduce in ("sum", "mean", "max"):
        want = torch.segment_reduce(x, reduce, lengths=lengths, axis=1)
        call = lambda x, t, r=reduce: baracuda.segment_reduce(x, r, lengths=t, axis=1)  # noqa: E731
        torch.testing.assert_close(torch.from_numpy(called(call, (x.numpy(), lengths.numpy()), device)[0]), want, equal_nan=True)
    ids = np.random.default_rng(0).integers(0, 7, 20)
    (got,) = called(lambda x, i: baracuda.segment_reduce(x, "sum", segment_ids=i, num_segments=9), (x[0].numpy(), ids), device)
    np.testing.assert_allclose(got, torch.zeros(9, 3).index_add(0, torch.from_numpy(ids), x[0]), rtol=1e-5, atol=1e-5)
    (got,) = called(lambda x, t: baracuda.segment_reduce(x, "max", lengths=t), (np.arange(4), np.array([1, 3])), device)
    assert got.tolist() == [0, 3]


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64, np.bool_])
def test_ragged_rows(dtype: Any, device: str) -> None:
    rng = np.random.default_rng(0)
    x, index = rng.integers(0, 2, (40, 3)).astype(dtype), np.array([4, 1, -1, 0, 2])
    parts = [x[OFFSETS[i] : OFFSETS[i + 1]] for i in index % 5]
    want = np.concatenate(parts)
    for word, tells in (("lengths", LENGTHS), ("offsets", OFFSETS.astype(np.int32))):
        for size in (None, 80):
            call = lambda x, i, t, w=word, n=size: baracuda.jagged_index_select(x, i, **{w: t}, size=n)  # noqa: E731
            rows, lengths = called(call, (x, index, tells), device)
            assert lengths.tolist() == [len(p) for p in parts]
            np.testing.assert_array_equal(rows[: len(want)], want)
            assert len(rows) == (size or len(want))
            assert not rows[len(want) :].any()


def test_gradient_of_ragged_rows(device: str) -> None:
    rng = np.random.default_rng(0)
    x, index = rng.standard_normal((40, 3)), np.array([4, 1, -1, 0, 2])
    taken = np.concatenate([np.arange(OFFSETS[i], OFFSETS[i + 1]) for i in index % 5])
    dy, want = rng.standard_normal((len(taken), 3)), np.zeros_like(x)
    np.add.at(want, taken, dy)
    (got,) = called(baracuda.jagged_index_select_backward, (dy, x, index, LENGTHS), device)
    np.testing.assert_allclose(got, want)
    nothing = called(baracuda.jagged_index_select, (x, np.zeros(0, np.int64), LENGTHS), device)
    assert [t.shape for t in nothing] == [(0, 3), (0,)]


def test_errors(device: str) -> None:
    x, few, ids = (to_device(t, device) for t in (np.ones(4), np.array([1, 1]), np.array([0, 1, 2, 3])))
    with pytest.raises(InvalidProblemError, match="the end of the last segment of 4 rows"):
        waited(baracuda.segment_reduce, x, "sum", lengths=few)
    with pytest.raises(InvalidProblemError, match="expected one of lengths, offsets, segment_ids"):
        baracuda.segment_reduce(x, "sum", lengths=few, offsets=few)
    with pytest.raises(InvalidProblemError, match="num_segments: None"):
        baracuda.segment_reduce(x, "sum", segment_ids=ids)
    with pytest.raises(InvalidProblemError, match=r"segment_ids: index .* out of range"):
        waited(baracuda.segment_softmax, x, ids, 3)
    with pytest.raises(InvalidProblemError, match=r"index: index .* out of range"):
        waited(baracuda.jagged_index_select, x, ids, few)
