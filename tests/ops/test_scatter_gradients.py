"""Gradients of scatters, segments and reads at several indices: against PyTorch's in float64, with ties, zeros and nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.cases.trial import as_tuple, to_device, to_host

Tensor = torch.Tensor
#: Shapes of x, source and index, and the axis.
SCATTERS = (
    ((4, 6), (5, 9), (3, 8), 1),
    ((4, 6), (5, 6), (5, 6), 0),
    ((5,), (9,), (0,), 0),
    ((2, 3, 4), (2, 3, 6), (2, 1, 6), 2),
    ((0, 4), (0, 5), (0, 5), 1),
)
SLICES = (((4, 6), 7, 1), ((4, 6, 3), 9, -2), ((5, 2), 0, 0))


def drawn(shape: tuple[int, ...], few: bool, seed: int) -> Tensor:
    """Numbers; or whole ones from -2 to 2, of which many are equal and many are zero."""
    generator = torch.Generator().manual_seed(seed)
    if few:
        return torch.randint(-2, 3, shape, generator=generator).double()
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def indices(extent: int, shape: tuple[int, ...], seed: int = 0) -> Tensor:
    """From the start and, negative, from the end."""
    return torch.randint(-extent, extent, shape, generator=torch.Generator().manual_seed(seed))


def compare(
    device: str, backward: Callable[..., Any], reference: Callable[..., Tensor], leaves: list[Tensor], *others: Tensor
) -> None:
    """Gradients of every leaf together; tensors of NumPy on the CPU, and of PyTorch."""
    want = reference(*(x.requires_grad_() for x in leaves))
    dy = drawn(tuple(want.shape), False, 9)
    slopes = torch.autograd.grad(want, leaves, dy)
    plain = [x.detach() for x in (dy, *leaves, *others)]
    moved = [x.to(device) for x in plain] if device != "own" else [to_device(x.numpy(), device) for x in plain]
    for tensors in [moved, *([[x.numpy() for x in plain]] if device == "cpu" else [])]:
        for gradient, slope in zip(as_tuple(backward(*tensors)), slopes, strict=True):
            assert to_host(gradient).shape == tuple(slope.shape)
            np.testing.assert_allclose(to_host(gradient), slope.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce(reduce: str, include: bool, few: bool, device: str) -> None:
    for shape, source_shape, at, axis in SCATTERS:
        index = indices(shape[axis], at)

        def reference(x: Tensor, source: Tensor, index: Tensor = index, axis: int = axis) -> Tensor:
            if not include:
                x = x + 1000.0  # torch counts an x that equals the result among the ties, though it is not one of them
            positive = torch.where(index < 0, index + x.shape[axis], index)
            part = source[tuple(slice(n) for n in index.shape)]
            return x.scatter_reduce(axis, positive, part, reduce, include_self=include)

        def backward(dy: Any, x: Any, source: Any, index: Any, axis: int = axis) -> Any:
            return baracuda.scatter_reduce_backward(dy, x, index, source, reduce=reduce, axis=axis, include_self=include)

        compare(device, backward, reference, [drawn(shape, few, 1), drawn(source_shape, few, 2)], index)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_index_reduce(reduce: str, include: bool, few: bool, device: str) -> None:
    for shape, count, axis in SLICES:
        index = indices(shape[axis], (count,))
        source_shape = tuple(count if a == axis % len(shape) else n for a, n in enumerate(shape))

        def reference(x: Tensor, source: Tensor, index: Tensor = index, axis: int = axis) -> Tensor:
            positive = torch.where(index < 0, index + x.shape[axis], index)
            return (x if include else x + 1000.0).index_reduce(axis, positive, source, reduce, include_self=include)

        def backward(dy: Any, x: Any, source: Any, index: Any, axis: int = axis) -> Any:
            return baracuda.index_reduce_backward(dy, x, index, source, reduce=reduce, axis=axis, include_self=include)

        compare(device, backward, reference, [drawn(shape, few, 1), drawn(source_shape, few, 2)], index)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("name", ["prod", "max", "min"])
def test_segments(name: str, few: bool, device: str) -> None:
    ids = torch.randint(0, 5, (3, 4), generator=torch.Generator().manual_seed(4))
    start = {"prod": 1.0, "max": -1000.0, "min": 1000.0}[name]
    reduce = {"prod": "prod", "max": "amax", "min": "amin"}[name]

    def reference(x: Tensor) -> Tensor:
        base = torch.full((6, 2), start, dtype=torch.float64)
        return base.index_reduce(0, ids.reshape(-1), x.reshape(-1, 2), reduce)

    compare(device, getattr(baracuda, f"segment_{name}_backward"), reference, [drawn((3, 4, 2), few, 1)], ids)


def test_half_precision_goes_through_single(device: str) -> None:
    """A product beyond the element's range has gradients within it."""
    x, source, index = (
        np.array(v, t) for v, t in (([2.0], np.float16), ([300.0, 300.0, 2.0**-10], np.float16), ([0, 0, 0], np.int64))
    )
    operands = [to_device(v, device) for v in (np.array([1.0], np.float16), x, index, source)]
    dx, dsource = (to_host(g) for g in baracuda.scatter_reduce_backward(*operands, reduce="prod"))
    assert (dx.dtype, dsource.dtype) == (np.float16, np.float16)
    assert (dx.tolist(), dsource[:2].tolist()) == ([87.875], [0.5859375] * 2)
    assert np.isinf(dsource[2])


def test_numbers_are_rows_of_one(device: str) -> None:
    tensors = [to_device(np.array(v), device) for v in (2.0, 3.0, 0, 5.0)]
    got = baracuda.scatter_reduce_backward(*tensors, reduce="prod")
    assert [(to_host(g).shape, float(to_host(g))) for g in got] == [((), 10.0), ((), 6.0)]
    got = baracuda.index_reduce_backward(*tensors, reduce="mean")
    assert [float(to_host(g)) for g in got] == [1.0, 1.0]


# --- reads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "at"),
    [
        ((5, 6), [(7,)]),
        ((5, 6), [(7,), (7,)]),
        ((5, 6, 3), [(4, 1), (1, 7)]),
        ((5, 6, 3), [(4, 1), (7,), ()]),
        ((5, 6), [(0,), (0,)]),
    ],
)
def test_index_get(shape: tuple[int, ...], at: list[tuple[int, ...]], device: str) -> None:
    index = [indices(n, s, seed=k) for k, (n, s) in enumerate(zip(shape, at, strict=False))]
    compare(device, baracuda.index_get_backward, lambda x: x[tuple(index)], [drawn(shape, False, 1)], *index)


@pytest.mark.parametrize(
    ("shape", "at", "batch"),
    [
        ((5, 6), (4, 2), 0),
        ((5, 6, 3), (3, 4, 1), 0),
        ((3, 5, 6), (3, 4, 2), 1),
        ((3, 2, 5, 6), (3, 2, 1), 2),
        ((3, 5), (3, 0, 1), 1),
    ],
)
def test_gather_nd(shape: tuple[int, ...], at: tuple[int, ...], batch: int, device: str) -> None:
    index = torch.stack([indices(shape[batch + k], at[:-1], seed=k) for k in range(at[-1])], -1)
    own = torch.meshgrid(*(torch.arange(n) for n in at[:-1]), indexing="ij")[:batch] if batch else ()

    def backward(dy: Any, x: Any, index: Any) -> Any:
        return baracuda.gather_nd_backward(dy, x, index, batch_dims=batch)

    compare(device, backward, lambda x: x[(*own, *index.unbind(-1))], [drawn(shape, False, 1)], index)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_rows_of_a_shard(dtype: torch.dtype, device: str) -> None:
    index = torch.randint(0, 12, (4, 6), generator=torch.Generator().manual_seed(2)).to(dtype)
    here = ((index >= 4) & (index < 9))[..., None]

    def backward(dy: Any, weight: Any, index: Any) -> Any:
        return baracuda.vocab_parallel_embedding_backward(dy, index, weight, offset=4)

    compare(
        device, backward, lambda w: torch.where(here, w[(index.long() - 4).clamp(0, 4)], 0.0), [drawn((5, 3), False, 1)], index
    )


# --- errors -----------------------------------------------------------------------------------------------------------

X, AT = np.zeros((4, 3)), np.array([0, 2, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: baracuda.scatter_reduce_backward(X[:2], X, AT[None], X, reduce="prod"),
            r"dy: shape is \(2, 3\); expected \(4, 3\)",
        ),
        (
            lambda: baracuda.scatter_reduce_backward(X, X, AT[None], X.astype("f4"), reduce="prod"),
            "source: element is f32; expected f64, that of x",
        ),
        (lambda: baracuda.scatter_reduce_backward(X, X, AT, X, reduce="prod"), "expected the rank of x"),
        (
            lambda: baracuda.scatter_reduce_backward(X, X, AT[None], X[:, :2], reduce="amax"),
            r"index: shape is \(1, 3\); expected at",
        ),
        (lambda: baracuda.scatter_reduce_backward(X, X, AT[None], X, reduce="max"), "reduce: 'max'"),
        (lambda: baracuda.scatter_reduce_backward(X, X, AT[None] + 3, X, reduce="amax"), "index 3 at"),
        (
            lambda: baracuda.scatter_reduce_backward(X, X, AT[None], X, reduce="amax", wrt=("x", "x")),
            "expected some of x, source",
        ),
        (lambda: baracuda.index_reduce_backward(X, X, AT, X, reduce="mean"), r"source: shape is \(4, 3\); expected \(3, 3\)"),
        (lambda: baracuda.index_reduce_backward(X, X, AT, X[:3], reduce="sum"), "reduce: 'sum'"),
        (lambda: baracuda.segment_prod_backward(X, X, AT), r"x: shape is \(4, 3\); expected \(3, \*row\)"),
        (lambda: baracuda.index_get_backward(X[0], X, AT), r"dy: shape is \(3,\); expected \(3, 3\)"),
        (lambda: baracuda.index_get_backward(X[:3], X, AT + 2), "index0: index 4 at"),
        (lambda: baracuda.index_get_backward(X[:3], X, AT * 1.0), "index0: element is f64; expected one of s32, s64"),
        (lambda: baracuda.gather_nd_backward(X[:3], X, AT[None]), "index: shape is"),
        (lambda: baracuda.vocab_parallel_embedding_backward(X, AT, X), r"dy: shape is \(4, 3\); expected \(3, 3\)"),
    ],
)
def test_what_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=message):
        call()
