"""Tensors made of nothing but a shape and numbers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.cases.trial import to_device, to_host
from tests.ops.movements import ELEMENTS, Movement, check_gradient, same


@pytest.fixture
def where(device: str) -> dict[str, Any]:
    """What a function that creates is told of the device: NumPy's arrays, PyTorch's on a GPU, or our own."""
    if device == "cuda":
        return {"like": torch.zeros(1, device="cuda")}
    return {"device": baracuda.Device.cuda(0)} if device == "own" else {}


NUMBERS = [k for k in ELEMENTS if k is not ElementKind.BOOL]


@pytest.mark.parametrize("kind", ELEMENTS, ids=str)
def test_fills(kind: ElementKind, where: dict[str, Any]) -> None:
    for shape in ((2, 3), (), (0, 4), 5):
        for _ in range(2):
            assert to_host(baracuda.empty(shape, kind, **where)).dtype == kind.numpy
            same(baracuda.zeros(shape, kind, **where), np.zeros(shape, kind.numpy))
            same(baracuda.ones(shape, kind, **where), np.ones(shape).astype(kind.numpy))
            for value in (1, 7, 2.0) if kind is not ElementKind.BOOL else (True, False):
                same(baracuda.full(shape, value, kind, **where), np.full(shape, value).astype(kind.numpy))


def test_fills_by_what_they_are_given(device: str, where: dict[str, Any]) -> None:
    for value in (True, 3, 2.5, 1 + 2j, 2**62 + 1):
        same(baracuda.full((2,), value, **where), np.full((2,), value))
    same(baracuda.full((2, 2), to_device(np.array(3.5, np.float32), device), **where), np.full((2, 2), np.float32(3.5)))
    x = to_device(np.zeros((2, 3), np.float32), device)
    same(baracuda.full_like(x, 2.5), np.full((2, 3), np.float32(2.5)))
    same(baracuda.ones_like(x, "s8"), np.ones((2, 3), np.int8))
    same(baracuda.zeros_like(x, shape=(4,)), np.zeros(4, np.float32))
    assert tuple(baracuda.empty_like(x).shape) == (2, 3)
    with pytest.raises(InvalidProblemError, match=r"value: 2\.5; expected a number that s32 holds"):
        baracuda.full((2,), 2.5, "s32", **where)


RANGES = [(5,), (2, 10, 3), (10, 0, -3), (0.5, 5, 0.3), (0, 1, 0.1), (3, 3), (5, 3), (1e6, 1e6 + 2, 0.125)]


@pytest.mark.parametrize("arguments", RANGES)
def test_ranges(arguments: tuple[float, ...], where: dict[str, Any]) -> None:
    for _ in range(2):
        same(baracuda.arange(*arguments, **where), np.arange(*arguments))
    for kind in ("s8", "u8", "s16", "u16", "u32", "u64") if len(arguments) == 1 else ():
        same(baracuda.arange(*arguments, dtype=kind, **where), np.arange(*arguments, dtype=baracuda.asarray(0, kind).dtype))
    wide = np.arange(*arguments, dtype=np.float64)
    for kind in (ElementKind.F16, ElementKind.BF16, ElementKind.F32, ElementKind.F8E4M3) if max(arguments) < 400 else ():
        same(baracuda.arange(*arguments, dtype=kind, **where), wide.astype(kind.numpy))


def test_ranges_at_the_ends_of_integers(where: dict[str, Any]) -> None:
    same(baracuda.arange(2**63, 2**63 + 3, dtype="u64", **where), np.arange(2**63, 2**63 + 3, dtype=np.uint64))
    same(baracuda.arange(-(2**63), -(2**63) + 3, **where), np.arange(-(2**63), -(2**63) + 3))
    with pytest.raises(InvalidProblemError, match="step: 0; expected another number"):
        baracuda.arange(0, 3, 0, **where)
    with pytest.raises(UnsupportedError, match="dtype: bool; expected a number"):
        baracuda.arange(3, dtype="bool", **where)


SPANS = [(0, 1, 5), (0, 10, 7), (-3, 2, 11), (1, 4, 31), (-3, 0, 11), (1, 1, 3), (5, 5, 1), (0, 1, 0), (0, 1 + 2j, 5)]


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("span", SPANS)
def test_spaces_have_numpys_bits(span: tuple[Any, ...], endpoint: bool, where: dict[str, Any]) -> None:
    for _ in range(2):
        same(baracuda.linspace(*span, endpoint=endpoint, **where), np.linspace(*span, endpoint=endpoint))
    kinds = (np.complex64,) if isinstance(span[1], complex) else (np.float32, np.int32, np.int8, np.complex64)
    for dtype in kinds:
        same(baracuda.linspace(*span, endpoint, dtype=dtype, **where), np.linspace(*span, endpoint, dtype=dtype))
    if not isinstance(span[1], complex):
        found, step = baracuda.linspace(*span, endpoint, retstep=True, **where)
        want, by = np.linspace(*span, endpoint, retstep=True)
        same(found, want)
        assert step == by or (step != step and by != by)


def test_spaces_of_tensors(device: str, where: dict[str, Any]) -> None:
    start, stop = np.array([0.0, 1.0]), np.array([[2.0], [3.0]])
    for axis in (0, 1, -1):
        got = baracuda.linspace(to_device(start, device), to_device(stop, device), 4, axis=axis, **where)
        same(got, np.linspace(start, stop, 4, axis=axis))


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("logspace", (0, 3, 7), {}),
        ("logspace", (0, 3, 7), {"base": 2.5, "endpoint": False}),
        ("logspace", (0, 1j, 4), {}),
        ("geomspace", (1, 1000, 7), {}),
        ("geomspace", (-1, -1000, 7), {"endpoint": False}),
        ("geomspace", (1j, 1000j, 4), {}),
        ("geomspace", (1, -1 + 0j, 5), {}),
    ],
)
def test_powers(name: str, arguments: Any, words: Any, where: dict[str, Any]) -> None:
    got = to_host(getattr(baracuda, name)(*arguments, **words, **where))
    want = getattr(np, name)(*arguments, **words)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=8e-15, atol=1e-14 * np.abs(want).max())


def test_powers_that_are_none(where: dict[str, Any]) -> None:
    with pytest.raises(InvalidProblemError, match="stop: 0; expected another number than 0"):
        baracuda.geomspace(1, 0, **where)
    with pytest.raises(InvalidProblemError, match="expected numbers of one sign"):
        baracuda.geomspace(-1, 1, **where)


@pytest.mark.parametrize("kind", ELEMENTS, ids=str)
def test_identities_and_triangles_of_ones(kind: ElementKind, where: dict[str, Any]) -> None:
    for n, m, k in ((3, None, 0), (2, 5, 1), (4, 2, -1), (3, 3, 9), (0, 2, 0)):
        same(baracuda.eye(n, m, k, kind, **where), np.eye(n, m, k).astype(kind.numpy))
        same(baracuda.tri(n, m, k, kind, **where), np.tri(n, m, k).astype(kind.numpy))


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_indices_of_triangles(n: int, where: dict[str, Any]) -> None:
    for m in (None, 0, 1, 3, 7):
        for k in range(-6, 7, 1 if m in (None, 7) else 3):
            for name in ("tril_indices", "triu_indices"):
                for got, want in zip(getattr(baracuda, name)(n, k, m, **where), getattr(np, name)(n, k, m), strict=True):
                    same(got, want)


def test_indices_of_large_triangles(where: dict[str, Any]) -> None:
    for got, want in zip(baracuda.tril_indices(3000, -5, 2000, **where), np.tril_indices(3000, -5, 2000), strict=True):
        same(got, want)
    for got, want in zip(baracuda.triu_indices(2000, 3, **where), np.triu_indices(2000, 3), strict=True):
        same(got, want)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_indices_of_masks(n: int, where: dict[str, Any]) -> None:
    for function, numpys in ((baracuda.tril, np.tril), (baracuda.triu, np.triu)):
        for got, want in zip(baracuda.mask_indices(n, function, 1, **where), np.mask_indices(n, numpys, 1), strict=True):
            same(got, want)


def test_indices_of_grids(device: str, where: dict[str, Any]) -> None:
    same(baracuda.indices((2, 0, 3), **where), np.indices((2, 0, 3)))
    same(baracuda.indices((2, 3), "s32", **where), np.indices((2, 3), np.int32))
    for name, arguments, words in (("indices", ((2, 3),), {"sparse": True}), ("diag_indices", (4, 3), {})):
        for got, want in zip(
            getattr(baracuda, name)(*arguments, **words, **where), getattr(np, name)(*arguments, **words), strict=True
        ):
            same(got, want)
    vectors = [np.array([0, 2]), np.array([1, 3, 4])]
    for got, want in zip(baracuda.ix_(*(to_device(v, device) for v in vectors)), np.ix_(*vectors), strict=True):
        same(got, want)


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_grids(indexing: Any, sparse: bool, copy: bool, device: str) -> None:
    vectors = [np.arange(3.0), np.arange(2.0), np.arange(4.0)]
    for count in (1, 2, 3):
        words = {"indexing": indexing, "sparse": sparse}
        found = baracuda.meshgrid(*(to_device(v, device) for v in vectors[:count]), **words, copy=copy)
        for got, want in zip(found, np.meshgrid(*vectors[:count], **words), strict=True):
            same(got, want)
    shapes = [(3,), (2,), (4,)]
    check_gradient(Movement("meshgrid", shapes, np.meshgrid, words), device)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("r", [1, 2, 3])
def test_combinations(r: int, again: bool, device: str) -> None:
    for n in (0, 1, 3, 6):
        x = np.arange(n) * 1.5
        want = torch.combinations(torch.from_numpy(x), r, again).numpy()
        for _ in range(2):
            same(baracuda.combinations(to_device(x, device), r, again), want)
    check_gradient(Movement("combinations", [(5,)], np.copy, {"r": r, "with_replacement": again}), device)


def test_products_of_vectors(device: str) -> None:
    vectors = [np.arange(3, dtype=np.int16), np.arange(2, dtype=np.int16), np.arange(4, dtype=np.int16)]
    got = baracuda.cartesian_prod(*(to_device(v, device) for v in vectors))
    same(got, torch.cartesian_prod(*map(torch.from_numpy, vectors)).numpy())
    check_gradient(Movement("cartesian_prod", [(3,), (2,), (4,)], np.copy), device)


@pytest.mark.parametrize("increasing", [False, True])
def test_matrices_of_powers(increasing: bool, device: str) -> None:
    for x in (np.array([1.0, 2.0, -3.0]), np.array([1, 2, 3], np.int32), np.array([1 + 1j, 2])):
        for n in (None, 0, 1, 5):
            same(baracuda.vander(to_device(x, device), n, increasing), np.vander(x, n, increasing))
    x = torch.tensor([0.0, 2.0, -1.5], dtype=torch.float64, requires_grad=True)
    powers = torch.arange(5)
    y = x[:, None] ** (powers if increasing else powers.flip(0))
    dy = torch.arange(15.0, dtype=torch.float64).reshape(3, 5)
    (want,) = torch.autograd.grad(y, x, dy)
    got = baracuda.vander_backward(*(to_device(t.detach().numpy(), device) for t in (dy, x)), increasing=increasing)
    np.testing.assert_allclose(to_host(got), want.numpy(), rtol=1e-14)


def test_data_of_the_host(where: dict[str, Any]) -> None:
    same(baracuda.asarray([[1, 2], [3, 4]], **where), np.array([[1, 2], [3, 4]]))
    for kind in NUMBERS:
        same(baracuda.asarray([1, 2, 3], kind, **where), np.array([1, 2, 3]).astype(kind.numpy))
    x = np.arange(3.0)
    assert baracuda.asarray(x) is x
    assert not np.shares_memory(baracuda.asarray(x, copy=True), x)
    same(baracuda.asarray(x, "f32"), x.astype(np.float32))
    with pytest.raises(InvalidProblemError, match="copy: False"):
        baracuda.asarray(x, "f32", copy=False)
    with pytest.raises(InvalidProblemError, match="expected numbers"):
        baracuda.asarray([object()])


def test_where_results_are(device: str) -> None:
    assert isinstance(baracuda.zeros(3), np.ndarray)
    assert isinstance(baracuda.arange(3, like=torch.zeros(1)), torch.Tensor)
    assert isinstance(baracuda.zeros(3, device="cpu"), np.ndarray)
    with pytest.raises(InvalidProblemError, match="device: 'tpu'; expected a Device, or a name"):
        baracuda.zeros(3, device="tpu")
