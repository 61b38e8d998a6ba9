"""`lerp` as `torch.lerp` has it: by a number or a tensor of weights, of floats and complex numbers, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda import InvalidProblemError, UnsupportedError
from baracuda.cli.verify import values as data
from baracuda.core.elements import Category
from baracuda.core.elements import ElementKind as K
from tests.machine import Machine, torch_dtype

torch = pytest.importorskip("torch")

KINDS = (K.F16, K.BF16, K.F32, K.F64, K.C64, K.C128)
TOLERANCE = {K.F16: 2e-3, K.BF16: 1.6e-2, K.F32: 2e-6, K.F64: 1e-14, K.C64: 2e-6, K.C128: 1e-14}
#: Of a, b and a tensor of weights.
SHAPES = (((7, 33), (7, 33), (7, 33)), ((5, 1, 7), (3, 1), (7,)), ((4, 6), (4, 6), ()), ((), (), (3,)), ((2, 0), (1, 1), (2, 1)))

kinds = pytest.mark.parametrize("kind", KINDS, ids=[str(k) for k in KINDS])


def tensor(machine: Machine, seed: str, shape: tuple[int, ...], kind: K) -> Any:
    values = data.normal(seed, shape)
    if kind.category is Category.COMPLEX:
        values = values + 1j * data.normal(f"{seed}'s imaginary part", shape)
    return torch.tensor(values).to(torch_dtype(kind)).to(machine.name)


def exact(value: Any) -> Any:
    """In float64 or complex128, for autograd, on the host."""
    if not torch.is_tensor(value):
        return value
    return value.detach().cpu().to(torch.complex128 if value.is_complex() else torch.float64).requires_grad_()


def close(got: Any, wanted: Any, kind: K) -> None:
    assert got.dtype == torch_dtype(kind)
    assert got.shape == wanted.shape
    error = (got.cpu().to(wanted.dtype) - wanted).abs().max().item() if wanted.numel() else 0.0
    assert error <= TOLERANCE[kind] * max(wanted.abs().max().item() if wanted.numel() else 0.0, 1.0)


def numbers(kind: K) -> list[Any]:
    real = [0.3, 0, 1, -2.5, 7, np.float32(0.25), np.int64(2)]
    return [*real, 0.5 + 2j, np.complex64(1j)] if kind.category is Category.COMPLEX else real


@kinds
def test_numbers(machine: Machine, kind: K) -> None:
    a, b, dy = (tensor(machine, seed, (4, 9), kind) for seed in "abd")
    for weight in numbers(kind):
        left, right = exact(a), exact(b)
        y = torch.lerp(left, right, complex(weight) if isinstance(weight, complex | np.complexfloating) else float(weight))
        close(baracuda.lerp(a, b, weight), y.detach(), kind)
        wanted = torch.autograd.grad(y, (left, right), exact(dy).detach())
        for got, gradient in zip(baracuda.lerp_backward(dy, a, b, weight), wanted, strict=True):
            close(got, gradient, kind)


@pytest.mark.one_of(2)
@kinds
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_tensors_of_weights(machine: Machine, kind: K, shapes: tuple[tuple[int, ...], ...]) -> None:
    """Broadcasting all three; each gradient has its tensor's shape."""
    operands = [tensor(machine, seed, shape, kind) for seed, shape in zip("abw", shapes, strict=True)]
    a, b, weight = operands
    leaves = [exact(t) for t in operands]
    y = torch.lerp(*leaves)
    result = baracuda.lerp(a, b, weight)
    close(result, y.detach(), kind)
    out = torch.full_like(result, float("nan"))
    assert baracuda.lerp(a, b, weight, out=out) is out
    assert torch.equal(out, result)
    dy = tensor(machine, "dy", tuple(y.shape), kind)
    wanted = torch.autograd.grad(y, leaves, exact(dy).detach())
    for got, gradient in zip(baracuda.lerp_backward(dy, a, b, weight), wanted, strict=True):
        close(got, gradient, kind)


@kinds
def test_gradients_of_what_was_broadcast(machine: Machine, kind: K) -> None:
    """With a number for a weight a and b say what to sum to."""
    a, b, dy = (tensor(machine, s, shape, kind) for s, shape in (("a", (5, 1, 7)), ("b", (3, 1)), ("d", (5, 3, 7))))
    left, right = exact(a), exact(b)
    wanted = torch.autograd.grad(torch.lerp(left, right, 0.3), (left, right), exact(dy).detach())
    for got, gradient in zip(baracuda.lerp_backward(dy, a, b, 0.3), wanted, strict=True):
        close(got, gradient, kind)


def test_a_weight_of_nan_or_infinity_is_a_number(machine: Machine) -> None:
    """As in PyTorch: the result says so."""
    a, b = (tensor(machine, seed, (5,), K.F32) for seed in "ab")
    assert baracuda.lerp(a, b, float("nan")).isnan().all()
    assert torch.equal(baracuda.lerp(a, b, float("inf")).cpu(), a.cpu() + float("inf") * (b - a).cpu())


@pytest.mark.parametrize("weight", [True, np.True_, None, "0.5", 1j, [0.5], 10**400], ids=repr)
def test_what_is_no_weight(machine: Machine, weight: Any) -> None:
    a, b = (tensor(machine, seed, (5,), K.F32) for seed in "ab")
    for call in (lambda: baracuda.lerp(a, b, weight), lambda: baracuda.lerp_backward(a, a, b, weight)):
        with pytest.raises(InvalidProblemError, match="weight: "):
            call()
    if not isinstance(weight, complex):
        with pytest.raises(InvalidProblemError, match="weight: "):
            baracuda.lerp(a.to(torch.complex64), b.to(torch.complex64), weight)


def test_tensors_that_do_not_go_together(machine: Machine) -> None:
    """PyTorch refuses them too."""
    a, b = (tensor(machine, seed, (5,), K.F32) for seed in "ab")
    with pytest.raises(InvalidProblemError, match="b: element is f64; expected f32"):
        baracuda.lerp(a, b.double(), 0.5)
    with pytest.raises(InvalidProblemError, match="weight: element is f64; expected f32"):
        baracuda.lerp(a, b, a.double())
    with pytest.raises(InvalidProblemError, match="b: element is f64; expected f32"):
        baracuda.lerp_backward(a, a, b.double(), a)
    with pytest.raises(InvalidProblemError, match="weight: element is f32; expected complex64"):
        baracuda.lerp(a.to(torch.complex64), b.to(torch.complex64), a)
    with pytest.raises(InvalidProblemError, match=r"weight: shape \(4,\) does not broadcast with \(5,\)"):
        baracuda.lerp(a, b, a[:4])
    for absent in ({}, {"a": a}, {"b": b}):
        with pytest.raises(InvalidProblemError, match=r"[ab]: got None; expected a tensor"):
            baracuda.lerp_backward(a, weight=a, **absent)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "bool"])
def test_integers_and_bools(machine: Machine, dtype: str) -> None:
    """Of them there is no lerp, as in PyTorch."""
    a = torch.ones(5, dtype=getattr(torch, dtype), device=machine.name)
    for weight in (0.5, 1, a):
        with pytest.raises(NotImplementedError):
            torch.lerp(a, a, weight)
        for call in (lambda: baracuda.lerp(a, a, weight), lambda: baracuda.lerp_backward(a, a, a, weight)):  # noqa: B023
            with pytest.raises(UnsupportedError, match="expected one of f16"):
                call()
