"""The functions of matrix products against PyTorch, values and gradients in float64 and complex128, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import Error, InvalidProblemError
from tests.cases.trial import to_device, to_host

torch = pytest.importorskip("torch")
F = torch.nn.functional
DTYPES = [torch.float64, torch.complex128]
Shapes = Sequence[tuple[int, ...]]


def close(actual: Any, expected: Any) -> None:
    """Whether a result, on any device, is what is expected, which is on the CPU."""
    assert tuple(actual.shape) == tuple(expected.shape)
    assert actual.dtype == expected.dtype
    assert torch.allclose(actual.cpu(), expected, rtol=1e-11, atol=1e-11)


#: Compares a function, its gradient and PyTorch's function: `check(forward, backward, reference, shapes, dtype)`.
Check = Callable[..., None]


@pytest.fixture
def check(device: str) -> Check:
    """Value and gradients, of random tensors on the device, against PyTorch on the CPU."""

    def checked(
        forward: Callable, backward: Callable | None, reference: Callable, shapes: Shapes, dtype: Any = torch.float64
    ) -> None:
        generator = torch.Generator().manual_seed(3)
        leaves = [torch.randn(s, dtype=dtype, generator=generator, requires_grad=True) for s in shapes]
        expected = reference(*leaves)
        dy = torch.randn(expected.shape, dtype=expected.dtype, generator=generator)
        operands = [x.detach().clone().to(device) for x in leaves]
        value = forward(*operands)
        assert value.device.type == device
        close(value, expected.detach())
        if backward is not None:
            gradients = backward(dy.to(device), *operands)
            gradients = gradients if isinstance(gradients, tuple) else (gradients,)
            for f, e in zip(gradients, torch.autograd.grad(expected, leaves, dy), strict=True):
                assert f.device.type == device
                close(f, e)
        for x, leaf in zip(operands, leaves, strict=True):
            assert torch.equal(x.cpu(), leaf)

    return checked


def called(device: str, function: Callable, *tensors: Any, **options: Any) -> np.ndarray:
    """What a function gives for NumPy arrays moved to the device, and back on the host."""
    return to_host(function(*(to_device(t, device) for t in tensors), **options))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (7, 4, 5)),
        ((3, 4), (2, 4, 5)), ((6, 2, 3, 4), (4,)), ((4,), (6, 2, 4, 5)), ((1, 30, 4), (5, 4, 50)), ((0, 4), (4, 5)),
    ],
)  # fmt: skip
def test_matmul(shapes: Shapes, dtype: Any, check: Check) -> None:
    check(baracuda.matmul, baracuda.matmul_backward, torch.matmul, shapes, dtype)


PLAIN = {
    "mm": ((3, 4), (4, 5)),
    "bmm": ((2, 3, 4), (2, 4, 5)),
    "mv": ((3, 4), (4,)),
    "dot": ((4,), (4,)),
    "vdot": ((4,), (4,)),
    "inner": ((3, 4), (5, 2, 4)),
    "outer": ((3,), (5,)),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", PLAIN)
def test_plain_products(name: str, dtype: Any, check: Check) -> None:
    check(getattr(baracuda, name), getattr(baracuda, f"{name}_backward"), getattr(torch, name), PLAIN[name], dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axis", [-1, -2])
def test_vecdot(axis: int, dtype: Any, check: Check) -> None:
    def reference(a: Any, b: Any) -> Any:
        return torch.linalg.vecdot(a, b, dim=axis)

    def backward(dy: Any, a: Any, b: Any) -> Any:
        return baracuda.vecdot_backward(dy, a, b, axis=axis)

    check(lambda a, b: baracuda.vecdot(a, b, axis=axis), backward, reference, ((3, 4), (2, 3, 4)), dtype)


def test_names_of_numpy(device: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 3, 4)), rng.standard_normal((5, 4, 6))
    assert np.allclose(called(device, baracuda.dot, a, b), np.dot(a, b))
    assert np.allclose(called(device, baracuda.dot, a, b[0, :, 0]), np.dot(a, b[0, :, 0]))
    assert np.allclose(called(device, baracuda.dot, a, np.array(2.5)), a * 2.5)
    x, m = rng.standard_normal((5, 3)) + 1j, rng.standard_normal((5, 3, 2)) + 2j
    assert np.allclose(called(device, baracuda.vecmat, x, m), np.einsum("bk,bkn->bn", x.conj(), m))


ADDED = {
    "addmm": (((5,), (3, 4), (4, 5)), ((3, 5), (3, 4), (4, 5)), ((), (3, 4), (4, 5))),
    "addmv": (((3,), (3, 4), (4,)),),
    "addr": (((3, 5), (3,), (5,)),),
    "addbmm": (((3, 5), (2, 3, 4), (2, 4, 5)),),
    "baddbmm": (((2, 3, 5), (2, 3, 4), (2, 4, 5)), ((3, 1), (2, 3, 4), (2, 4, 5))),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("factors", [{}, {"beta": 0.5, "alpha": -2.0}], ids=["plain", "scaled"])
def test_added_products(name: str, factors: dict[str, float], dtype: Any, check: Check) -> None:
    forward, backward, reference = getattr(baracuda, name), getattr(baracuda, f"{name}_backward"), getattr(torch, name)
    for shapes in ADDED[name]:
        check(
            lambda *x: forward(*x, **factors),
            lambda dy, *x: backward(dy, *x, **factors),
            lambda *x: reference(*x, **factors),
            shapes,
            dtype,
        )


def test_complex_factors_of_addmm(check: Check) -> None:
    factors = {"beta": 0.5 + 1j, "alpha": 2 - 3j}
    check(
        lambda *x: baracuda.addmm(*x, **factors),
        lambda dy, *x: baracuda.addmm_backward(dy, *x, **factors),
        lambda *x: torch.addmm(*x, **factors),
        ((3, 5), (3, 4), (4, 5)),
        torch.complex128,
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_symmetric_product(dtype: Any, check: Check, device: str) -> None:
    check(baracuda.symmetric_product, baracuda.symmetric_product_backward, lambda a: a @ a.mT, ((2, 3, 4),), dtype)
    y = called(device, baracuda.symmetric_product, np.random.default_rng(2).standard_normal((40, 30), np.float32))
    assert np.array_equal(y, y.T)


# --- layers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", [((2, 3, 4), (5, 4), (5,)), ((4,), (5, 4), (5,)), ((0, 4), (5, 4), (5,)), ((3, 4), (5, 4))])
def test_linear(shapes: Shapes, dtype: Any, check: Check) -> None:
    check(baracuda.linear, baracuda.linear_backward, F.linear, shapes, dtype)


ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "mish": F.mish,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str, check: Check, device: str) -> None:
    act = ACTIVATIONS[name]
    check(
        lambda *x: baracuda.linear(*x, activation=name),
        lambda dy, *x: baracuda.linear_backward(dy, *x, activation=name),
        lambda *x: act(F.linear(*x)),
        ((2, 3, 4), (5, 4), (5,)),
    )
    check(
        lambda *x: baracuda.gemm_epilogue(*x, activation=name, alpha=2.0, beta=0.5, bias_axis=-2),
        lambda dy, *x: baracuda.gemm_epilogue_backward(dy, *x, activation=name, alpha=2.0, beta=0.5, bias_axis=-2),
        lambda a, b, c, bias: act(2 * a @ b + 0.5 * c + bias[:, None]),
        ((7, 3, 4), (4, 5), (3, 1), (3,)),
    )
    a, b = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, 5, dtype=torch.float64)
    z = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(act(z), z, a @ b)
    x, w = a.to(device), b.to(device)
    close(baracuda.gemm_epilogue(x, w, derivative_at=z.detach().to(device), activation=name), expected)
    y, saved = baracuda.linear(x, w.T, activation=name, saved=True)
    close(saved, a @ b)
    close(y, act(a @ b))
    gradient = baracuda.linear_backward(y, x, w.T, activation=name, z=saved, wrt=("weight",))
    close(gradient, baracuda.linear_backward(y, x, w.T, activation=name)[1].cpu())


def test_bilinear(check: Check) -> None:
    check(baracuda.bilinear, baracuda.bilinear_backward, F.bilinear, ((2, 3, 4), (2, 3, 5), (6, 4, 5), (6,)))


def test_grouped(check: Check, device: str) -> None:
    def by_rows(a: Any, b: Any) -> Any:
        return torch.cat([a[0:2] @ b[0], a[2:2] @ b[1], a[2:7] @ b[2]])

    def by_depth(a: Any, b: Any) -> Any:
        return torch.stack([a[:, 0:2] @ b[0:2], a[:, 2:2] @ b[2:2], a[:, 2:7] @ b[2:7]])

    offs = torch.tensor([2, 2, 7], dtype=torch.int32, device=device)
    for reference, shapes in ((by_rows, ((7, 4), (3, 4, 5))), (by_depth, ((4, 7), (7, 5)))):
        check(
            lambda a, b: baracuda.grouped_mm(a, b, offs), lambda dy, a, b: baracuda.grouped_mm_backward(dy, a, b, offs),
            reference, shapes,
        )  # fmt: skip
    few = [1, 1, 4]  # rows after the last group belong to none

    def some_rows(a: Any, b: Any) -> Any:
        return torch.cat([a[0:1] @ b[0], a[1:4] @ b[2], a[4:] @ torch.zeros_like(b[0])])

    def some_depth(a: Any, b: Any) -> Any:
        return torch.stack([a[:, 0:1] @ b[0:1], a[:, 1:1] @ b[1:1], a[:, 1:4] @ b[1:4]])

    for reference, shapes in ((some_rows, ((7, 4), (3, 4, 5))), (some_depth, ((4, 7), (7, 5)))):
        check(
            lambda a, b: baracuda.grouped_mm(a, b, few), lambda dy, a, b: baracuda.grouped_mm_backward(dy, a, b, few),
            reference, shapes,
        )  # fmt: skip
    check(baracuda.grouped_mm, baracuda.grouped_mm_backward, torch.bmm, ((3, 2, 4), (3, 4, 5)))
    with pytest.raises(InvalidProblemError, match=r"dy: shape is \(6, 5\); expected \(7, 5\)"):
        called(device, baracuda.grouped_mm_backward, *(np.ones(s) for s in ((6, 5), (7, 4), (3, 4, 5))), offs=few)
    a, b = ([to_device(np.ones(s), device) for s in shapes] for shapes in (((1, 3), (2, 3)), ((3, 4), (3, 5))))
    assert [y.shape for y in baracuda.grouped_mm(a, b)] == [(1, 4), (2, 5)]
    for bad in ([2, 1, 7], [2, 3], [2, 3, 8]):
        with pytest.raises(InvalidProblemError, match="offs"):
            called(device, baracuda.grouped_mm, np.ones((7, 4)), np.ones((3, 4, 5)), offs=bad)


def test_integers_and_scales(device: str) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(-128, 128, (5, 9), np.int8), rng.integers(0, 256, (9, 7), np.uint8)
    assert np.array_equal(called(device, baracuda.int_mm, a, b), a.astype(np.int32) @ b.astype(np.int32))
    sa, sb, bias = rng.random((5, 1), np.float32), rng.random((1, 7), np.float32), rng.random(7, np.float32)
    expected = (a.astype(np.float64) @ b) * sa * sb + bias
    assert np.allclose(called(device, baracuda.scaled_mm, a, b, sa, sb, bias), expected, rtol=1e-5)
    x, w = (rng.standard_normal(s).astype(K.F8E4M3.numpy) for s in ((6, 40), (40, 10)))
    one = np.float32([0.5])
    y = called(device, baracuda.scaled_mm, x, w, one, one, dtype="f32")
    assert np.allclose(y, (x.astype(np.float64) @ w.astype(np.float64)) / 4, rtol=1e-5, atol=1e-5)
    assert called(device, baracuda.scaled_mm, x, w, one, one).dtype == K.BF16.numpy


@pytest.mark.parametrize("element", [K.S8, K.F8E4M3, K.F8E5M2], ids=str)
@pytest.mark.parametrize("shapes", [((5, 1), (1, 7)), ((), (1,)), ((1, 1), (1, 7)), ((5, 1), ())], ids=str)
def test_gradients_of_scaled_products(element: K, shapes: tuple[Any, Any], device: str) -> None:
    """Of the factors as real numbers, of either scale and of the bias; PyTorch has none."""
    rng = np.random.default_rng(4)
    wide = [rng.integers(-9, 9, s) if element is K.S8 else rng.standard_normal(s) for s in ((5, 9), (9, 7))]
    a, b = (v.astype(element.numpy) for v in wide)
    sa, sb, bias, dy = (rng.standard_normal(s).astype(np.float32) for s in (*shapes, (7,), (5, 7)))
    leaves = [torch.from_numpy(np.array(v.astype(np.float64))).requires_grad_() for v in (a, b, sa, sb, bias)]
    y = (leaves[0] @ leaves[1]) * leaves[2] * leaves[3] + leaves[4]
    slopes = torch.autograd.grad(y, leaves, torch.from_numpy(dy.astype(np.float64)))
    operands = [to_device(v, device) for v in (dy, a, b, np.asarray(sa), np.asarray(sb), bias)]
    names = ("a", "b", "scale_a", "scale_b", "bias")
    for wrt in (None, *((n,) for n in names)):
        gradients = baracuda.scaled_mm_backward(*operands, wrt=wrt)
        for n, g in zip(wrt or names, gradients if wrt is None else (gradients,), strict=True):
            want = slopes[names.index(n)].numpy()
            assert to_host(g).shape == want.shape
            assert to_host(g).dtype == np.float32
            np.testing.assert_allclose(to_host(g), want, rtol=2e-5, atol=2e-5 * np.abs(want).max(), err_msg=n)
    with pytest.raises(InvalidProblemError, match=r"dy: shape is \(5, 6\); expected \(5, 7\)"):
        baracuda.scaled_mm_backward(to_device(dy[:, :6], device), *operands[1:])


# --- einsum -----------------------------------------------------------------------------------------------------------

SUBSCRIPTS: dict[str, Shapes] = {
    "ij,jk->ik": ((2, 3), (3, 4)),
    "ij,jk": ((2, 3), (3, 4)),
    "bhqd,bhkd->bhqk": ((2, 3, 4, 5), (2, 3, 6, 5)),
    "ij,jk,kl->il": ((2, 3), (3, 4), (4, 5)),
    "...ij,...jk->...ik": ((7, 1, 3, 4), (2, 4, 5)),
    "ij->ji": ((2, 3),),
    "ij->": ((2, 3),),
    "ij,ij->": ((2, 3), (2, 3)),
    "i,j->ij": ((2,), (3,)),
    "ij,kl->jl": ((2, 3), (4, 5)),
    "ijk,ijl->kl": ((2, 3, 4), (2, 3, 5)),
    "ijk,jil->kl": ((2, 3, 4), (3, 2, 5)),
    "abc,cd,bde->ae": ((2, 3, 4), (4, 5), (3, 5, 6)),
    "i,i,i->i": ((3,), (3,), (3,)),
    "i,ij,j": ((2,), (2, 3), (3,)),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_einsum(subscripts: str, dtype: Any, check: Check) -> None:
    check(
        lambda *x: baracuda.einsum(subscripts, *x),
        lambda dy, *x: baracuda.einsum_backward(dy, subscripts, *x),
        lambda *x: torch.einsum(subscripts, *x),
        SUBSCRIPTS[subscripts],
        dtype,
    )


#: Labels twice in an operand, labels that one operand alone has and that are summed, extents of 1 that broadcast, nothing.
CORNERS: list[tuple[str, Shapes]] = [
    ("ii->i", ((3, 3),)),
    ("ii", ((3, 3),)),
    ("ii->i", ((0, 0),)),
    ("iii->i", ((2, 2, 2),)),
    ("iji->j", ((3, 4, 3),)),
    ("ijij,j->i", ((2, 3, 2, 3), (3,))),
    ("iij,jk->ik", ((2, 2, 3), (3, 4))),
    ("iij,jkk,k->i", ((2, 2, 3), (3, 4, 4), (4,))),
    ("ii,ii->i", ((3, 3), (3, 3))),
    ("...ii,...i->...", ((2, 3, 3), (3,))),
    ("ij,jk->k", ((2, 3), (3, 4))),
    ("ij,kl->", ((2, 3), (4, 5))),
    ("ij,jk->ik", ((2, 1), (3, 4))),
    ("ij,ij->i", ((1, 3), (2, 3))),
    ("ii,i->i", ((1, 1), (3,))),
    ("ij,jk->ik", ((2, 0), (0, 4))),
    (",i->i", ((), (4,))),
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize(("subscripts", "shapes"), CORNERS)
def test_corners_of_einsum(subscripts: str, shapes: Shapes, dtype: Any, check: Check) -> None:
    check(
        lambda *x: baracuda.einsum(subscripts, *x),
        lambda dy, *x: baracuda.einsum_backward(dy, subscripts, *x),
        lambda *x: torch.einsum(subscripts, *x),
        shapes,
        dtype,
    )


def test_general_products(check: Check) -> None:
    check(baracuda.tensordot, baracuda.tensordot_backward, torch.tensordot, ((2, 3, 4), (3, 4, 5)))
    axes = ((2, 0), (0, -1))
    check(
        lambda a, b: baracuda.tensordot(a, b, axes),
        lambda dy, a, b: baracuda.tensordot_backward(dy, a, b, axes),
        lambda a, b: torch.tensordot(a, b, ((2, 0), (0, 2))),
        ((2, 3, 4), (4, 5, 2)),
    )
    numbers = (((2,), (1,)), ((0,), (2,)))
    check(
        lambda a, b: baracuda.dot_general(a, b, numbers),
        lambda dy, a, b: baracuda.dot_general_backward(dy, a, b, numbers),
        lambda a, b: torch.einsum("bmk,nkb->bmn", a, b),
        ((2, 3, 4), (5, 4, 2)),
    )
    for shapes in (((2, 3), (4, 5)), ((3,), (2, 4, 5))):
        check(baracuda.kron, baracuda.kron_backward, torch.kron, shapes)
    check(
        lambda *x: baracuda.multi_dot(x),
        lambda dy, *x: baracuda.multi_dot_backward(dy, x),
        lambda *x: torch.linalg.multi_dot(x),
        ((2, 3), (3, 4), (4, 5), (5,)),
    )


# --- calls ------------------------------------------------------------------------------------------------------------


def test_repeated_calls_take_new_tensors_and_layouts(device: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(3):
        x, y = rng.standard_normal((6, 7)), rng.standard_normal((7, 8))
        a, b, turned = to_device(x, device), to_device(y, device), to_device(np.ascontiguousarray(x.T), device).T
        for first, wanted in ((a, x @ y), (turned, x @ y), (a[::2], x[::2] @ y)):
            assert np.allclose(to_host(baracuda.mm(first, b)), wanted)
        if device == "cpu":  # torch has no negative strides
            assert np.allclose(baracuda.mm(a[:, ::-1], b[::-1]), x @ y)
    out = to_device(np.full((6, 8), np.nan), device)
    assert baracuda.mm(a, b, out=out) is out
    assert np.allclose(to_host(out), x @ y)
    assert np.allclose(to_host(baracuda.linear(x=a, weight=b.T, bias=None)), x @ y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: baracuda.mm(a, a), r"\(3, 4\) and \(3, 4\) do not contract"),
        (lambda a: baracuda.mm(a, baracuda.cast(a.T, dtype="f32")), "elements a f64, b f32"),
        (lambda a: baracuda.bmm(a, a), r"a has shape \(3, 4\); expected \(b, m, k\)"),
        (lambda a: baracuda.mm(a), "b: got None"),
        (lambda a: baracuda.mm(a, a.T, a), "got 3 arguments"),
        (lambda a: baracuda.mm(a, a.T, scale=2), "scale: mm has no such parameter"),
        (lambda a: baracuda.addmm(a, a, a.T), "does not broadcast"),
        (lambda a: baracuda.linear(a, a, a[0]), r"bias has shape \(4,\)"),
        (lambda a: baracuda.linear(a, a, activation="swish"), "swish"),
        (lambda a: baracuda.int_mm(a, a.T), "expected s8 or u8"),
        (lambda a: baracuda.einsum("ij,jk->il", a, a.T), "labels of the operands"),
        (lambda a: baracuda.einsum("ij,jk->ik", a), "names 2 operands"),
        (lambda a: baracuda.einsum("ij,jk->ik", a, a), "label 'j' has extents 4 and 3"),
        (lambda a: baracuda.einsum("ijk->i", a), "rank"),
        (lambda a: baracuda.einsum("ii->i", a), r"label 'i' has extents 3 and 4 in ii\(3, 4\)"),
        (lambda a: baracuda.einsum_backward(a, "ij->j", a), r"dy: shape is \(3, 4\); expected \(4,\)"),
        (lambda a: baracuda.einsum_backward(a, "ij->ij", a, wrt=(0, 0)), r"wrt: \(0, 0\); expected some of 0 to 0, each once"),
        (lambda a: baracuda.einsum_backward(a, "ij->ij", a, wrt=(1,)), "expected some of 0 to 0"),
        (lambda a: baracuda.kron_backward(a, a, a), r"dy: shape is \(3, 4\); expected \(9, 16\)"),
        (lambda a: baracuda.tensordot(a, a, 3), "axes 3"),
        (lambda a: baracuda.dot_general(a, a, (((0,), (1,)), ((), ()))), "do not contract along axes 0 and 1"),
        (lambda a: baracuda.multi_dot([a, a]), "do not contract"),
        (lambda a: baracuda.mm_backward(a, a, a.T), r"dy: shape is \(3, 4\); expected \(3, 3\)"),
        (lambda a: baracuda.mm_backward(a @ a.T, a, a.T, wrt=("x",)), "wrt: 'x'"),
        (lambda a: baracuda.mm_backward(a @ a.T, a, a.T, wrt=("a", "a")), "each once"),
        (lambda a: baracuda.scaled_mm(a, a.T, a, a), "scale_a is f64"),
        (lambda a: baracuda.grouped_mm_backward([a], [a, a], [a.T, a.T]), "a list of 2 matrices; expected dy and b"),
    ],
)
def test_bad_calls(call: Callable[[Any], Any], message: str, device: str) -> None:
    with pytest.raises(Error, match=message):
        call(to_device(np.ones((3, 4)), device))


def test_every_product_is_in_the_catalogue() -> None:
    present = {e.row.op for e in baracuda.catalogue() if e.row.family == "gemm" and e.present}
    assert {"matmul", "linear", "einsum", "grouped_mm", "scaled_mm", "int_mm", "kron", "bilinear"} <= present
    for entry in baracuda.catalogue():
        if entry.row.op in present:
            assert callable(getattr(baracuda, entry.function))
            assert entry.doc


def test_repeated_calls_into_given_tensors(device: str) -> None:
    """The second call follows the recipe of the first, and checks what it is given all the same."""
    arrays = np.float32([[1, 2], [3, 4]]), np.float32([[1, 0], [0, 2]]), np.zeros((2, 2), np.float32)
    a, b, y = (to_device(x, device) for x in arrays)
    for scale in (1, 2, 3):
        a *= scale
        assert baracuda.mm(a, b, out=y) is y
        np.testing.assert_array_equal(to_host(y), to_host(a) @ to_host(b))
    before = to_host(a).copy()
    with pytest.raises(InvalidProblemError):
        baracuda.mm(a, b, out=a)
    with pytest.raises(InvalidProblemError):
        baracuda.mm(a, b, out=to_device(np.zeros((2, 3), np.float32), device))
    np.testing.assert_array_equal(to_host(a), before)
