"""Functions of scatters, segments and gradients of indexed reads: against PyTorch, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import to_device, to_host
from tests.machine import waited


@pytest.fixture(autouse=True)
def seeded() -> None:
    """The same tensors in every run."""
    torch.manual_seed(0)


def called(device: str, function: Callable[..., Any], *tensors: Any, **options: Any) -> Any:
    """What a function gives for tensors, of PyTorch or NumPy, moved to the device: a tensor on the CPU, or a tuple of them.
    The tensors must be as they were."""
    moved = [x.detach().to(device) if isinstance(x, torch.Tensor) else to_device(x, device) for x in tensors]
    before = [to_host(x).copy() for x in moved]
    result = function(*moved, **options)
    for x, held in zip(moved, before, strict=True):
        np.testing.assert_array_equal(to_host(x), held)
    return tuple(map(on_host, result)) if isinstance(result, tuple) else on_host(result)


def on_host(x: Any) -> torch.Tensor:
    return torch.as_tensor(to_host(x))


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a, b.detach(), rtol=1e-5, atol=1e-5))


@pytest.mark.parametrize("padding", [None, 2, -1])
@pytest.mark.parametrize("scaled", [False, True])
def test_embedding(padding: int | None, scaled: bool, device: str) -> None:
    table, index = torch.randn(7, 5, requires_grad=True), torch.randint(0, 7, (4, 30))
    y = torch.nn.functional.embedding(index, table, padding_idx=padding, scale_grad_by_freq=scaled)
    dy = torch.randn_like(y)
    y.backward(dy)
    gradient = called(device, baracuda.embedding_backward, dy, index, table, padding_idx=padding, scale_grad_by_freq=scaled)
    assert close(gradient, table.grad)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 3])
def test_embedding_bag(mode: str, padding: int | None, device: str) -> None:
    table, index = torch.randn(7, 5, requires_grad=True), torch.randint(0, 7, (40, 6))
    factors = torch.randn(40, 6, requires_grad=True) if mode == "sum" else None
    y = torch.nn.functional.embedding_bag(index, table, mode=mode, padding_idx=padding, per_sample_weights=factors)
    dy = torch.randn_like(y)
    y.backward(dy)
    operands = (dy, index, table) if factors is None else (dy, index, table, factors)
    gradient = called(device, baracuda.embedding_bag_backward, *operands, mode=mode, padding_idx=padding, wrt=("weight",))
    assert close(gradient, table.grad)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reads(axis: int, device: str) -> None:
    x = torch.randn(5, 6, 7, requires_grad=True)
    index = torch.randint(0, 5, (9,))
    y = x.index_select(axis, index)
    dy = torch.randn_like(y)
    (wanted,) = torch.autograd.grad(y, x, dy)
    assert close(called(device, baracuda.index_select_backward, dy, x, index, axis=axis), wanted)
    from_the_end = torch.where(index == 4, 4 - x.shape[axis], index)
    assert close(called(device, baracuda.index_select_backward, dy, x, from_the_end, axis=axis), wanted)
    index = torch.randint(0, x.shape[axis], (5, 6, 7))
    y = x.gather(axis, index)
    dy = torch.randn_like(y)
    (wanted,) = torch.autograd.grad(y, x, dy)
    assert close(called(device, baracuda.gather_backward, dy, x, index, axis=axis), wanted)
    index = torch.randint(0, x.numel(), (50, 3))
    y = x.take(index)
    dy = torch.randn_like(y)
    (wanted,) = torch.autograd.grad(y, x, dy)
    assert close(called(device, baracuda.take_flat_backward, dy, x, index), wanted)


def test_gather_backward_of_a_broadcast_tensor(device: str) -> None:
    x, dy, index = np.zeros((1, 4), np.float32), np.ones((3, 5), np.float32), np.array([[0, 1, 1, 3, 3]])
    assert called(device, baracuda.gather_backward, dy, x, index.repeat(3, 0)).tolist() == [[3.0, 6.0, 0.0, 6.0]]
    assert called(device, baracuda.gather_backward, dy, x.repeat(3, 0), index).tolist() == [[1.0, 2.0, 0.0, 2.0]] * 3


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_scatter_reduce(reduce: str, include: bool, dtype: torch.dtype, device: str) -> None:
    x, source = (torch.randn(s).mul(9).to(dtype) for s in ((4, 6), (5, 9)))
    index = torch.randint(0, 6, (3, 8))
    wanted = x.scatter_reduce(1, index, source, reduce, include_self=include)
    options = {"reduce": reduce, "axis": 1, "include_self": include}
    assert close(called(device, baracuda.scatter_reduce, x, index, source, **options), wanted)
    row, few = index[0, :3], source[:4, :3]
    if reduce == "sum":
        assert close(called(device, baracuda.scatter_add, x, index, source, axis=1), x.scatter_add(1, index, source))
        assert close(called(device, baracuda.index_add, x, row, few, axis=1), x.index_add(1, row, few))
    else:
        wanted = x.index_reduce(1, row, few, reduce, include_self=include)
        assert close(called(device, baracuda.index_reduce, x, row, few, **options), wanted)


def test_bincount(device: str) -> None:
    x, weights = torch.randint(0, 50, (3000,)), torch.rand(3000, dtype=torch.float64)
    assert torch.equal(called(device, baracuda.bincount, x, minlength=60), torch.bincount(x, minlength=60))
    assert close(called(device, baracuda.bincount, x, weights), torch.bincount(x, weights))
    assert called(device, baracuda.bincount, x, length=50).shape == (50,)
    assert called(device, baracuda.bincount, x[:0], minlength=3).tolist() == [0, 0, 0]


def test_gradients_of_scatters(device: str) -> None:
    x, source = torch.randn(4, 6, requires_grad=True), torch.randn(5, 9, requires_grad=True)
    index = torch.randint(0, 6, (3, 8))
    y = x.scatter_add(1, index, source[:3, :8])
    dy = torch.randn_like(y)
    y.backward(dy)
    dx, dsource = called(device, baracuda.scatter_add_backward, dy, x, index, source, axis=1)
    assert close(dx, x.grad)
    assert close(dsource, source.grad)
    x, source = torch.randn(4, 6, requires_grad=True), torch.randn(4, 7, requires_grad=True)
    index = torch.randint(0, 6, (7,))
    y = x.index_add(1, index, source, alpha=3.0)
    y.backward(dy)
    dx, dsource = called(device, baracuda.index_add_backward, dy, x, index, source, axis=1, alpha=3.0)
    assert close(dx, x.grad)
    assert close(dsource, source.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_gradients_of_segments(dtype: torch.dtype, device: str) -> None:
    x, ids, dy = torch.randn(5, 8, 3).to(dtype), torch.randint(0, 4, (5, 8)), torch.randn(6, 3).to(dtype)
    assert torch.equal(called(device, baracuda.segment_sum_backward, dy, x, ids), dy[ids])
    count = torch.bincount(ids.ravel(), minlength=6).clamp(min=1)[:, None].float()
    assert torch.equal(called(device, baracuda.segment_mean_backward, dy, x, ids), (dy.float() / count).to(dtype)[ids])


def test_the_catalogue_lists_them() -> None:
    entries = {e.row.op: e for e in baracuda.catalogue()}
    names = ("bincount", "embedding_grad_dense", "index_add", "index_reduce", "scatter_add", "scatter_reduce", "segment_sum")
    assert all(entries[n].present and entries[n].plan == "ScatterPlan" for n in names)
    assert entries["scatter_add"].backward == "scatter_add_backward"
    assert entries["embedding"].backward == "embedding_backward"


# --- errors -----------------------------------------------------------------------------------------------------------


def test_indices_out_of_range_are_told(device: str) -> None:
    def told(message: str, function: Callable[..., Any], *tensors: Any, **options: Any) -> None:
        with pytest.raises(InvalidProblemError, match=message):
            waited(called, device, function, *tensors, **options)

    x, ones = np.zeros((4, 2), np.float32), np.ones((3, 1), np.float32)
    message = r"index: index (5 )?at \(1,\) is out of range; expected 0 to 3"
    told(message, baracuda.embedding_grad_dense, x, np.array([0, 5, 1, 2]), num_rows=4)
    told("index (-5 )?at", baracuda.index_add, x, np.array([-5]), x[:1])
    told("segment_ids: index (-1 )?at", baracuda.segment_sum, x, np.array([0, 1, -1, 2]), num_segments=4)
    told("x: index (-2 )?at", baracuda.bincount, np.array([1, -2]))
    held = called(device, baracuda.embedding_grad_dense, ones, np.array([-7, 9, 1]), num_rows=3, bounds="clamp")
    assert held.tolist() == [[1.0], [1.0], [1.0]]
    told("bounds: 'maybe'", baracuda.index_add, x, np.array([0]), x[:1], bounds="maybe")
