"""Functions of complex numbers: against mpmath, on branch cuts, at zeros and infinities as in C99, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from mpmath import mp, mpc

import baracuda
from tests.cases.trial import to_device, to_host

EXACT = {
    "exp": mp.exp, "exp2": lambda z: mp.exp(z * mp.log(2)), "log": mp.log, "log10": lambda z: mp.log(z) / mp.log(10),
    "log2": lambda z: mp.log(z) / mp.log(2), "log1p": lambda z: mp.log(1 + z), "sqrt": mp.sqrt, "rsqrt": lambda z: 1 / mp.sqrt(z),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asin": mp.asin,
    "acos": mp.acos, "atan": mp.atan, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
}  # fmt: skip
#: Of the size of either part, in units of its last place; a quotient or a tangent has more roundings.
BOUND = {"rsqrt": 6.0, "tan": 4.5, "tanh": 4.5}
GROWING = ("exp", "exp2", "sin", "cos", "tan", "sinh", "cosh", "tanh")
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}


def call(name: str, *tensors: Any, device: str, **keywords: Any) -> Any:
    result = getattr(baracuda, name)(*(to_device(t, device) for t in tensors), **keywords)
    return tuple(map(to_host, result)) if isinstance(result, tuple) else to_host(result)


def points(name: str, dtype: Any) -> np.ndarray:
    """Around 1, on the unit circle, small, and large for the functions that can take it."""
    rng = np.random.default_rng(7)
    n, angle = 60, rng.uniform(0, 2 * np.pi, 60)
    turn = np.exp(1j * angle)
    parts = [
        rng.standard_normal(n) + 1j * rng.standard_normal(n),
        turn * (1 + rng.standard_normal(n) * 1e-4),
        1 + np.exp(rng.uniform(-25, -1, n)) * turn,
        np.exp(rng.uniform(-25, 3, n)) * turn,
    ]
    if name in GROWING:
        top = 88.7 if dtype is np.complex64 else 709.7
        parts.append(rng.uniform(0.99 * top, 1.001 * top, n) * rng.choice([-1, 1], n) + 1j * rng.uniform(-3, 3, n))
    else:
        parts.append(np.exp(rng.uniform(-60, 60, n)) + 1j * np.exp(rng.uniform(-60, 60, n)))
    return np.concatenate(parts).astype(dtype)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_accuracy_of_either_part(name: str, dtype: Any, device: str) -> None:
    z = points(name, dtype)
    real = np.zeros(1, dtype).real.dtype
    most, smallest = float(np.finfo(real).max), float(np.finfo(real).smallest_subnormal)
    got = call(name, z, device=device)
    with mp.workprec(700):
        for argument, value in zip(z.tolist(), got.tolist(), strict=True):
            exact = EXACT[name](mpc(argument))
            for part, want in ((value.real, exact.real), (value.imag, exact.imag)):
                if abs(want) > 0.9999 * most:
                    assert abs(part) > 0.999 * most
                    continue
                unit = max(float(np.finfo(real).eps) * 2.0 ** int(mp.floor(mp.log(abs(want), 2))) if want else 0.0, smallest)
                assert abs(mp.mpf(part) - want) <= BOUND.get(name, 3.5) * unit, f"{name}({argument}): {value}; expected {exact}"


@pytest.mark.parametrize("name", ["exp", "log", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", *NUMPY])
def test_zeros_cuts_and_infinities(name: str, device: str) -> None:
    """As NumPy, which follows C99's annex G: the value, and the signs of zeros, wherever C99 specifies them."""
    edge = [-np.inf, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf]
    z = np.array([complex(a, b) for a in edge for b in edge])
    z = z[~(np.isinf(z.real) & np.isinf(z.imag))] if name in ("sin", "sinh") else z  # there either sign will do
    got = call(name, z, device=device)
    with np.errstate(all="ignore"):
        want = getattr(np, NUMPY.get(name, name))(z)
    for part in ("re", "im"):
        a, b = (getattr(v, "real" if part == "re" else "imag") for v in (got, want))
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=0.0)
        finite = np.isfinite(z)
        np.testing.assert_array_equal(np.signbit(a[finite]), np.signbit(b[finite]))


def test_powers(device: str) -> None:
    rng = np.random.default_rng(9)
    z = (rng.standard_normal(300) + 1j * rng.standard_normal(300)).astype(np.complex64)
    w = (rng.standard_normal(300) + 1j * rng.standard_normal(300)).astype(np.complex64)
    want = z.astype(np.complex128) ** w.astype(np.complex128)
    assert np.max(np.abs(call("pow", z, w, device=device) - want) / np.abs(want)) < 2.0**-20
    np.testing.assert_allclose(call("pow", z, 2, device=device), z * z, rtol=1e-6)
    np.testing.assert_allclose(call("pow", z, 1 + 2j, device=device), z.astype(np.complex128) ** (1 + 2j), rtol=1e-5)
    edge = np.array([0, 0, 0, 1j, -4], np.complex128)
    powers = call("pow", edge, np.array([0, 2, 1 + 1j, 0, 0.5]), device=device)
    np.testing.assert_allclose(powers, [1, 0, 0, 1, 2j], atol=1e-15)
    large = call("pow", np.array([1e200 + 0j]), np.array([1.5 + 0.5j]), device=device)  # 1e200**1.5 alone is 1e300
    np.testing.assert_allclose(large, [np.exp((1.5 + 0.5j) * np.log(1e200))], rtol=1e-11)


@pytest.mark.parametrize("name", ["asin", "acos", "acosh", "atanh", "asinh", "atan", "log", "sqrt"])
def test_gradients_on_either_side_of_the_cut(name: str, device: str) -> None:
    """The sign of a zero says which side: there the gradient is the limit from that side."""
    x = np.array([-3.0, -1.5, 1.5, 3.0])
    on = [x + 0j, np.conj(x + 0j)] if name not in ("asinh", "atan") else [1j * x + 0.0, -np.conj(1j * x)]
    for z in on:
        aside = z + 1e-9 * np.where(np.signbit(z.imag) & (z.imag == 0), -1j, 1j) * (z.imag == 0)
        aside = aside + 1e-9 * np.where(np.signbit(z.real), -1, 1) * (z.real == 0)
        dy = np.full(z.shape, 1 - 2j)
        got, limit = (call(f"{name}_backward", dy, v, device=device) for v in (z, aside))
        np.testing.assert_allclose(got, limit, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["pow", "mul", "div", "add", "sub", "logaddexp"])
def test_gradients_where_real_and_complex_meet(name: str, device: str) -> None:
    rng = np.random.default_rng(11)
    a, b, dy = (rng.standard_normal(50) + 1j * rng.standard_normal(50) for _ in range(3))
    pairs = [(a, b)] if name == "logaddexp" else [(a, b), (a, b.real.copy()), (np.abs(a), b)]
    for x, y in pairs:
        tx, ty = (torch.tensor(v, requires_grad=True) for v in (x, y))
        getattr(torch, name)(tx, ty).backward(torch.tensor(dy))
        for got, tensor in zip(call(f"{name}_backward", dy, x, y, device=device), (tx, ty), strict=True):
            assert tensor.grad is not None
            want = tensor.grad.resolve_conj().numpy()
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)


def test_gradients_at_zero(device: str) -> None:
    z, dy = np.zeros(1, np.complex128), np.ones(1)
    for name in ("abs", "angle", "sgn"):
        got = call(f"{name}_backward", dy if name != "sgn" else dy + 0j, z, device=device)
        np.testing.assert_array_equal(got, z)
    base, exponent = call("pow_backward", dy + 0j, z, np.array([0j]), device=device)
    np.testing.assert_array_equal(base, z)
    np.testing.assert_array_equal(exponent, z)


@pytest.mark.parametrize("name", ["sign", "sgn", "angle"])
def test_gradients_of_steps_are_zero_everywhere(name: str, device: str) -> None:
    """At zeros of both signs and NaN too, whatever dy is."""
    x = np.array([0.0, -0.0, np.nan, np.inf, -1.5, 2.0])
    dy = np.array([1.0, np.inf, np.nan, -1.0, -2.0, 3.0])
    assert np.array_equal(np.asarray(call(f"{name}_backward", dy, x, device=device)), np.zeros(6))


def test_gradient_of_sgn_at_zero(device: str) -> None:
    z, dy = np.array([0j, 3 + 4j, -2j]), np.array([1 + 2j, 1 + 2j, 1 + 2j])
    got = call("sgn_backward", dy, z, device=device)
    leaf = torch.from_numpy(z).requires_grad_()
    torch.sgn(leaf).backward(torch.from_numpy(dy))
    assert leaf.grad is not None
    np.testing.assert_allclose(got, leaf.grad.numpy(), rtol=1e-14, atol=1e-15)
