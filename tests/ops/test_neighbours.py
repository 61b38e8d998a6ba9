"""Differences, integrals and slopes: the gradients of everything beside x, empty axes, and what is refused before it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from tests.cases.trial import as_tuple, to_device, to_host

Array = Any


def _drawn(*shape: int, seed: int = 0, strided: bool = False) -> Array:
    rng = np.random.default_rng(seed + sum(shape))
    if not strided:
        return rng.standard_normal(shape)
    return rng.standard_normal(tuple(2 * n for n in shape))[tuple(slice(None, None, -2) if n else slice(None) for n in shape)]


def _compare(
    device: str,
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    reference: Callable[..., Any],
    inputs: dict[str, Array],
) -> None:
    """The result, and the gradients of all tensors and of each alone."""
    here = {n: v if isinstance(v, float) else to_device(v, device) for n, v in inputs.items()}
    leaves = {n: torch.tensor(np.array(v)) for n, v in inputs.items()}
    asked = [n for n, v in inputs.items() if not isinstance(v, float)]
    for n in asked:
        leaves[n].requires_grad_()
    want = reference(**leaves)
    np.testing.assert_allclose(to_host(forward(**here)), want.detach().numpy(), atol=1e-12)
    dy = _drawn(*want.shape, seed=7)
    slopes = dict.fromkeys(asked)
    if want.requires_grad:
        torch_slopes = torch.autograd.grad(want, [leaves[n] for n in asked], torch.from_numpy(dy), allow_unused=True)
        slopes = dict(zip(asked, torch_slopes, strict=True))
    for names in (asked, *([n] for n in asked)):
        gradients = as_tuple(backward(to_device(dy, device), **here, wrt=None if names is asked else names))
        for n, got in zip(names, gradients, strict=True):
            slope = slopes[n]
            expected = np.zeros(inputs[n].shape) if slope is None else slope.numpy()
            assert to_host(got).shape == expected.shape
            np.testing.assert_allclose(to_host(got), expected, atol=1e-12, err_msg=n)


def _differences(row: torch.Tensor, axis: int, n: int) -> torch.Tensor:
    for _ in range(n):
        size = row.shape[axis]
        row = row.narrow(axis, min(size, 1), max(size - 1, 0)) - row.narrow(axis, 0, max(size - 1, 0))
    return row


@pytest.mark.parametrize("n", [0, 1, 3, 9])
@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis", "before", "after"),
    [((5,), 0, 2, 1), ((3, 5), 0, 2, None), ((2, 0, 3), 1, 1, 1), ((2, 1), -1, None, None), ((2, 0), 1, None, None)],
)
def test_diff(
    shape: tuple[int, ...], axis: int, before: int | None, after: int | None, n: int, strided: bool, device: str
) -> None:
    inputs = {"x": _drawn(*shape, strided=strided)}
    for name, size in (("prepend", before), ("append", after)):
        if size is not None:
            inputs[name] = _drawn(
                *(size if a == axis % len(shape) else m for a, m in enumerate(shape)), seed=size, strided=strided
            )

    def reference(x: Any, prepend: Any = None, append: Any = None) -> Any:
        if n == 0:  # what would stand beside x has no part, as in torch.diff
            return x.clone()
        return _differences(torch.cat([v for v in (prepend, x, append) if v is not None], axis), axis, n)

    _compare(
        device,
        lambda **words: baracuda.diff(**words, n=n, axis=axis),
        lambda dy, **words: baracuda.diff_backward(dy, **words, n=n, axis=axis),
        reference,
        inputs,
    )


@pytest.mark.parametrize("shape", [(5,), (2, 3), (1,), (0,)])
@pytest.mark.parametrize("ends", [((3,), (2, 2)), ((), (0,)), ((1,), 7.0)])
def test_ediff1d(shape: tuple[int, ...], ends: tuple[Any, Any], device: str) -> None:
    end, begin = (v if isinstance(v, float) else np.asarray(_drawn(*v, seed=2)) for v in ends)

    def reference(x: Any, to_end: Any, to_begin: Any) -> Any:
        return torch.cat([to_begin.reshape(-1), _differences(x.reshape(-1), 0, 1), to_end.reshape(-1)])

    inputs = {"x": _drawn(*shape), "to_end": end, "to_begin": begin}
    _compare(device, baracuda.ediff1d, baracuda.ediff1d_backward, reference, inputs)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize(
    ("y", "x", "axis"),
    [
        ((2, 4, 3), (1, 4, 1), 1),
        ((2, 3, 4), (3, 4), -1),
        ((3, 4), (4,), -1),
        ((4, 3), (4,), 0),
        ((3, 0), (3, 0), 1),
        ((2, 1), (1,), 1),
    ],
)
def test_integrals(y: tuple[int, ...], x: tuple[int, ...], axis: int, running: bool, device: str) -> None:
    def reference(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        at = x.reshape([-1 if a == axis % y.ndim else 1 for a in range(y.ndim)]) if x.ndim == 1 and x.numel() else x
        size = y.shape[axis] - 1
        if size < 0:
            return y if running else y.sum(axis)
        own = axis - y.ndim if axis >= 0 else axis
        low, high = (at.narrow(own, i, size) for i in (0, 1))
        areas = (high - low) * (y.narrow(own, 0, size) + y.narrow(own, 1, size)) / 2
        return areas.cumsum(own) if running else areas.sum(own)

    name = "cumulative_trapezoid" if running else "trapezoid"
    _compare(
        device,
        lambda **words: getattr(baracuda, name)(**words, axis=axis),
        lambda dy, **words: getattr(baracuda, f"{name}_backward")(dy, **words, axis=axis),
        reference,
        {"y": _drawn(*y), "x": _drawn(*x, seed=1)},
    )


A, B, V = np.zeros((3, 4)), np.zeros((3, 3)), np.zeros(4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: baracuda.diff(A, prepend=V), r"prepend: shape is \(4,\); expected \(3, ahead\)"),
        (lambda: baracuda.diff(A, append=B[:2]), "append: shape is"),
        (lambda: baracuda.diff(A, n=True), "n: True"),
        (lambda: baracuda.diff_backward(A, A), r"dy: shape is \(3, 4\); expected \(3, 3\)"),
        (lambda: baracuda.diff_backward(B, A, wrt=("append",)), "wrt: 'append'; expected some of x"),
        (lambda: baracuda.diff_backward(B, A, append=0.0, wrt=("append",)), "wrt: 'append'; expected some of x"),
        (lambda: baracuda.ediff1d_backward(V, A), r"dy: shape is \(4,\); expected \(11,\)"),
        (lambda: baracuda.ediff1d_backward(np.zeros((1, 11)), A), r"expected \(differences,\)"),
        (lambda: baracuda.ediff1d_backward(np.zeros(11), A, V), r"expected \(15,\)"),
        (lambda: baracuda.trapezoid(V, A), r"x: shape is \(3, 4\); expected \(4,\) or \(4,\)"),
        (lambda: baracuda.cumulative_trapezoid(A, np.zeros((2, 3, 4))), r"x: shape is \(2, 3, 4\); expected \(4,\) or \(3, 4\)"),
        (lambda: baracuda.trapezoid(A, B), "x: shape is"),
        (lambda: baracuda.trapezoid_backward(np.zeros(3), A, wrt=("x",)), "wrt: 'x'; expected some of y"),
        (
            lambda: baracuda.trapezoid_backward(np.zeros(3), A, V, wrt=("y", "y")),
            "wrt: 'y', 'y'; expected some of y, x, each once",
        ),
        (lambda: baracuda.cumulative_trapezoid_backward(A, A), "dy: shape is"),
        (lambda: baracuda.gradient(A, np.zeros((2, 3, 4)), axis=1), r"spacing: shape is \(2, 3, 4\); expected \(4,\)"),
        (lambda: baracuda.gradient(A, axis=[1, 1]), r"axis: \(1, 1\) of shape \(3, 4\); expected different axes"),
        (lambda: baracuda.gradient(A, axis=[1, -1]), "expected different axes"),
        (lambda: baracuda.gradient(A, axis=2), "expected different axes that it has"),
        (lambda: baracuda.gradient_backward((A, A), A, axis=[0, 0]), "expected different axes"),
        (lambda: baracuda.cdist_backward(B, B, B, np.zeros((1, 3))), r"y: shape is \(1, 3\); expected \(3, 3\)"),
        (lambda: baracuda.cdist_backward(B, B, B, wrt=("a", "a")), "each once"),
    ],
)
def test_what_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=message):
        call()
