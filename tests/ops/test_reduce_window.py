"""reduce_window against a loop in NumPy, and its gradients against differences."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from tests.ops.composed import called, close, drawn, same_bits

Function = Callable[[Any, Any], Any]
OPERATIONS: dict[str, tuple[Any, Function]] = {
    "sum": (0, operator.add), "max": (-np.inf, max), "min": (np.inf, min), "prod": (1, operator.mul),
}  # fmt: skip
#: Shape, window, strides, padding, holes of the input, holes of the window.
CASES: list[tuple[tuple[int, ...], ...] | Any] = [
    ((50,), (3,), (1,), ((0, 0),), (1,), (1,)),
    ((5, 70), (2, 3), (2, 1), ((1, 0), (0, 2)), (1, 1), (1, 2)),
    ((7, 40), (1, 5), (3, 2), ((2, 2), (3, 1)), (2, 3), (1, 2)),
    ((3, 4, 33), (2, 1, 4), (1, 2, 3), ((-1, 2), (0, 0), (-2, 3)), (1, 3, 4), (2, 1, 6)),
    ((2, 3, 4, 19), (2, 2, 2, 2), (1, 1, 1, 2), ((1, 1),) * 4, (1, 2, 1, 2), (1, 1, 2, 1)),
    ((4, 5), (6, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)),
    ((6, 1), (9, 3), (4, 1), ((5, 5), (1, 1)), (1, 1), (2, 1)),
]  # fmt: skip


def folded(x: Any, start: Any, function: Function, case: Any) -> Any:
    """The definition, one element after another."""
    shape, size, stride, pads, base, dilation = case
    extents = [max((n - 1) * b + 1 + sum(p) - (k - 1) * d - 1, -s) // s + 1
               for n, b, p, k, d, s in zip(shape, base, pads, size, dilation, stride, strict=True)]  # fmt: skip
    y = np.full([max(e, 0) for e in extents], start, x.dtype)
    for o in np.ndindex(*y.shape):
        state = y[o]
        for t in np.ndindex(*size):
            at = [a * s + b * d - p[0] for a, s, b, d, p in zip(o, stride, t, dilation, pads, strict=True)]
            i = [a // b for a, b in zip(at, base, strict=True)]
            if all(a >= 0 and a % b == 0 and j < n for a, b, j, n in zip(at, base, i, shape, strict=True)):
                state = function(state, x[tuple(i)])
        y[o] = state
    return y


def words(case: Any) -> tuple[Any, ...]:
    """A case as the function's arguments behind the operation."""
    return case[1:]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_folds_from_the_left(case: Any, operation: str, device: str) -> None:
    start, function = OPERATIONS[operation]
    x = drawn(case[0], np.float32)
    (y,) = called(lambda x: baracuda.reduce_window(x, None, operation, *words(case)), [x], device)
    same_bits(y, folded(x, np.float32(start), function, case))


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.int32, np.uint64, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_elements(dtype: Any, operation: str, device: str) -> None:
    _, function = OPERATIONS[operation]
    x, case = (4 * drawn((5, 41))).astype(dtype), ((5, 41), (2, 3), (1, 2), ((1, 1), (0, 0)), (1, 2), (1, 1))
    (y,) = called(lambda x: baracuda.reduce_window(x, 2, operation, *words(case)), [x], device)
    wide = {2: np.float32, 1: np.int32}.get(np.dtype(dtype).itemsize, dtype)
    same_bits(y, folded(x.astype(wide), wide(2), function, case).astype(dtype))


def test_bool_complex_and_functions(device: str) -> None:
    case = ((5, 41), (2, 3), (1, 2), ((1, 1), (0, 0)), (1, 2), (1, 1))
    x = drawn((5, 41)) > 0
    for operation, start, function in (("or", False, operator.or_), ("and", True, operator.and_), ("max", False, operator.or_)):
        (y,) = called(lambda x, o=operation: baracuda.reduce_window(x, None, o, *words(case)), [x], device)
        same_bits(y, folded(x, start, function, case))
    z = drawn((5, 41), np.complex64)
    (y,) = called(lambda x: baracuda.reduce_window(x, 1 + 2j, "sum", *words(case)), [z], device)
    same_bits(y, folded(z, np.complex64(1 + 2j), operator.add, case))
    x = drawn((5, 41), np.float32)
    (y,) = called(lambda x: baracuda.reduce_window(x, 1.0, lambda a, b: a * 0.5 + b, *words(case)), [x], device)
    same_bits(y, folded(x, np.float32(1), lambda a, b: a * np.float32(0.5) + b, case))


def test_padding_by_words(device: str) -> None:
    x = drawn((5, 41), np.float32)
    for word, pads in (("SAME", ((0, 1), (1, 1))), ("SAME_LOWER", ((1, 0), (1, 1))), ("VALID", ((0, 0), (0, 0)))):
        (y,) = called(lambda x, w=word: baracuda.reduce_window(x, None, "max", (2, 3), (1, 2), w), [x], device)
        (want,) = called(lambda x, p=pads: baracuda.reduce_window(x, None, "max", (2, 3), (1, 2), p), [x], device)
        same_bits(y, want)
    assert baracuda.reduce_window(np.array(3.0), 1.0, "sum", ()) == 4
    assert baracuda.reduce_window(np.zeros((0, 4)), None, "sum", (2, 2)).shape == (0, 3)
    (y,) = called(lambda x: baracuda.reduce_window(x, None, "sum", 3, 1, ((2, 2),)), [np.zeros(0, np.float32)], device)
    same_bits(y, np.zeros(2, np.float32))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_are_differences(case: Any, operation: str, device: str) -> None:
    x = drawn(case[0])
    x.flat[3] = 0.0
    y = baracuda.reduce_window(x, None, operation, *words(case))
    dy = drawn(y.shape, seed=3)
    (dx,) = called(lambda dy, x: baracuda.reduce_window_backward(dy, x, None, operation, *words(case)), [dy, x], device)
    assert dx.shape == x.shape
    step, rng = 1e-6, np.random.default_rng(5)
    for at in rng.integers(0, x.size, 4):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved.flat[at] += sign * step
            ends.append(baracuda.reduce_window(moved, None, operation, *words(case)))
        with np.errstate(invalid="ignore"):
            difference = ends[0] - ends[1]
        difference[~np.isfinite(difference)] = 0
        np.testing.assert_allclose(dx.flat[at], (difference * dy).sum() / (2 * step), rtol=1e-5, atol=1e-7)


def test_gradient_beside_what_the_fold_begins_with(device: str) -> None:
    x, dy = np.float64([1.0, 5.0, 2.0, 2.0]), np.ones(3)
    (dx,) = called(lambda dy, x: baracuda.reduce_window_backward(dy, x, 3.0, "max", 2), [dy, x], device)
    same_bits(dx, np.float64([0, 2, 0, 0]))
    leaf = torch.from_numpy(x).requires_grad_()
    (leaf.unfold(0, 2, 1).prod(-1) * 3).sum().backward()
    (dx,) = called(lambda dy, x: baracuda.reduce_window_backward(dy, x, 3.0, "prod", 2), [dy, x], device)
    assert leaf.grad is not None
    close(dx, leaf.grad.numpy(), np.float64, 16.0)


def test_bad_input_is_refused() -> None:
    x = np.ones((4, 5), np.float32)
    invalid, unsupported = baracuda.InvalidProblemError, baracuda.UnsupportedError
    for error, text, call in (
        (invalid, r"window_dimensions: \(2,\); expected a number, or one", lambda: baracuda.reduce_window(x, 0.0, "sum", (2,))),
        (invalid, "padding: .*; expected a word, or a pair", lambda: baracuda.reduce_window(x, 0.0, "sum", 2, 1, ((0, 0),))),
        (invalid, "computation: 'mean'; expected", lambda: baracuda.reduce_window(x, 0.0, "mean", 2)),
        (invalid, "init_value: got None", lambda: baracuda.reduce_window(x, None, operator.add, 2)),
        (unsupported, "computation: 'or' of f32", lambda: baracuda.reduce_window(x, None, "or", 2)),
        (unsupported, "computation: 'max' of complex64", lambda: baracuda.reduce_window(x.astype("c8"), None, "max", 2)),
        (unsupported, "has no gradient", lambda: baracuda.reduce_window_backward(x, x, 0.0, operator.add, 1)),
        (invalid, "init_value: 1j; expected a real number", lambda: baracuda.reduce_window(x, 1j, "sum", 2)),
        (unsupported, "less than 2", lambda: baracuda.reduce_window(x, 0.0, "sum", (2, 2), 1, ((1 << 40, 0), (0, 0)))),
        (invalid, "it returned|kind", lambda: baracuda.reduce_window(x, 0.0, lambda a, b: a < b, 2)),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            call()
