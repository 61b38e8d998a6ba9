"""Rows and sums over nothing, results larger than any memory, and arguments that are no tensors: errors by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.errors import InvalidProblemError, OutOfMemoryError
from tests.cases.trial import as_tuple, to_device, to_host


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def one_everywhere(*shape: int) -> np.ndarray:
    """A tensor of any size in four bytes."""
    return np.lib.stride_tricks.as_strided(ones(1), shape, (0,) * len(shape))


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax", "nanargmin", "aminmax", "ptp"])
def test_no_element_is_the_largest_of_none(name: str, device: str) -> None:
    function, x = getattr(baracuda, name), to_device(ones(2, 0, 3), device)
    for axis in (1, (0, 1)):
        with pytest.raises(InvalidProblemError, match=r"x: shape is \(2, 0, 3\); expected an element or more along"):
            function(x, axis=axis)
    with pytest.raises(InvalidProblemError, match=r"x: shape is \(0,\); expected an element or more along"):
        function(to_device(ones(0), device))
    for result in as_tuple(function(x, axis=2)):
        assert to_host(result).shape == (2, 0)


def test_no_masked_element_is_the_largest_of_none(device: str) -> None:
    x, mask = to_device(ones(0, 3), device), to_device(np.ones((0, 3), bool), device)
    for reduction in ("argmax", "argmin"):
        with pytest.raises(InvalidProblemError, match="expected an element or more"):
            baracuda.masked_reduce(x, mask, axis=0, reduction=reduction)
    assert to_host(baracuda.masked_reduce(x, mask, axis=0, reduction="amax")).tolist() == [-np.inf] * 3


PRODUCTS: list[tuple[str, Callable[..., Any], list[tuple[int, ...]]]] = [
    ("matmul", np.matmul, [(3, 0), (0, 4)]),
    ("dot", np.dot, [(0,), (0,)]),
    ("bmm", np.matmul, [(2, 3, 0), (2, 0, 4)]),
    ("linear", lambda x, w: x @ w.T, [(3, 0), (4, 0)]),
    ("addbmm", lambda c, a, b: c + (a @ b).sum(0), [(3, 4), (0, 3, 2), (0, 2, 4)]),
    ("addbmm", lambda c, a, b: c + (a @ b).sum(0), [(3, 4), (2, 3, 0), (2, 0, 4)]),
    ("tensordot", np.tensordot, [(3, 2, 0), (2, 0, 4)]),
]


@pytest.mark.parametrize(("name", "reference", "shapes"), PRODUCTS, ids=lambda p: "" if callable(p) else str(p))
def test_a_sum_of_no_products_is_zero(
    name: str, reference: Callable[..., Any], shapes: list[tuple[int, ...]], device: str
) -> None:
    tensors = [ones(*s) for s in shapes]
    got = to_host(getattr(baracuda, name)(*(to_device(t, device) for t in tensors)))
    want = reference(*tensors)
    assert got.shape == np.shape(want)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(3, 0), (0, 4)]),
        ("bij,bjk->ik", [(0, 3, 2), (0, 2, 4)]),
        ("ij,ji->", [(3, 0), (0, 3)]),
        ("ij,ij->", [(3, 0)] * 2),
    ],
)
def test_einsum_over_nothing_is_zero(subscripts: str, shapes: list[tuple[int, ...]], device: str) -> None:
    tensors = [ones(*s) for s in shapes]
    got = to_host(baracuda.einsum(subscripts, *(to_device(t, device) for t in tensors)))
    np.testing.assert_array_equal(got, np.einsum(subscripts, *tensors))


@pytest.mark.parametrize(
    "call",
    [
        lambda: baracuda.relu(one_everywhere(1 << 45)),
        lambda: baracuda.outer(one_everywhere(1 << 23), one_everywhere(1 << 23)),
        lambda: baracuda.segment_sum(ones(3), np.arange(3), num_segments=1 << 46),
    ],
)
def test_more_than_the_memory_is_an_error_by_name(call: Callable[[], Any]) -> None:
    with pytest.raises(OutOfMemoryError, match=r"\d+ bytes are not to be had on cpu") as caught:
        call()
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: baracuda.mse_loss(one_everywhere(1 << 40, 1), one_everywhere(1, 1 << 40)),
        lambda: baracuda.matmul(one_everywhere(1 << 31, 1), one_everywhere(1, 1 << 31)),
        lambda: baracuda.one_hot(np.arange(3), num_classes=1 << 80),
        lambda: baracuda.segment_sum(ones(3), np.arange(3), num_segments=1 << 70),
    ],
)
def test_more_elements_than_any_address_are_an_error_by_name(call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidProblemError, match=r"elements; expected fewer than 2\*\*60"):
        call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: baracuda.einsum(3, ones(2)), "subscripts: 3; expected a word"),
        (
            lambda: baracuda.tensordot(ones(2), ones(2), axes=None),
            "axes: None; expected a whole number at least 0 or a tuple of 2",
        ),
        (
            lambda: baracuda.tensordot(ones(2), ones(2), axes=((0.5,), (0,))),
            r"axes: \(\(0.5,\), \(0,\)\); expected a whole number at least 0 or a tuple of 2",
        ),
        (lambda: baracuda.dot_general(ones(2), ones(2), 3), "dimension_numbers: 3; expected"),
        (
            lambda: baracuda.dot_general(ones(2), ones(2), (((0,),), ((), ()))),
            r"dimension_numbers: \(\(\(0,\),\), \(\(\), \(\)\)\); expected a tuple of 2",
        ),
        (lambda: baracuda.multi_dot(None), "tensors: None; expected a list of tensors"),
        (lambda: baracuda.grouped_mm([ones(2, 2)], None), "b: None; expected a tensor or a list of tensors"),
        (lambda: baracuda.grouped_mm(ones(4, 2), ones(1, 2, 2), [1.5]), "expected a tensor or a list of whole numbers"),
        (lambda: baracuda.bilinear(ones(3), ones(), ones(2, 3, 4)), r"b: shape is \(\); expected \(j,\)"),
        (lambda: baracuda.rope(ones(2, 4, 8), ones(), ones()), r"cos: shape is \(\); expected"),
        (lambda: baracuda.rope(ones(2, 4, 8), ones(4, 4), ones(4, 4), axis="x"), "axis: 'x'; expected"),
        (lambda: baracuda.trapezoid(ones(3), np.ones(3, np.complex64)), "x: element is complex64; expected real places"),
        (lambda: baracuda.ediff1d(None), "x: got a"),
    ],
)
def test_arguments_that_are_none(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(InvalidProblemError, match=said):
        call()
