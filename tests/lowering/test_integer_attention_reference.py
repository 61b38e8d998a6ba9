"""The reference of attention in integers, held to exact arithmetic in Python and to float64."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from baracuda.core.elements import ElementKind as K
from baracuda.formula.exact_fma import fma32
from tests.lowering.attention_inputs import Inputs
from tests.lowering.attention_reference import reference
from tests.lowering.integer_attention_reference import IntegerEmulation
from tests.lowering.test_attention import array

BITS = (15, 23)
#: How far a result may be from float64, of the largest there is; gradients, whose terms cancel, six times as far.
ACCURACY = {15: 2e-4, 23: 1.5e-6}


def quantized(row: list[Fraction], bits: int) -> tuple[list[int], Fraction]:
    """The integers of a row and their scale, by trying each E."""
    exponent = bits - 149
    while any(abs(x) > Fraction(127, 128) * Fraction(2) ** exponent for x in row):
        exponent += 1
    scale = Fraction(2) ** (exponent - bits)
    return [round(x / scale) for x in row], scale  # Python rounds a half to even


def f32(x: Fraction | int) -> np.float32:
    """The f32 nearest to a fraction whose f64 is exact."""
    assert Fraction(float(x)) == x
    return np.float32(float(x))


def step(exact: int, first: Fraction, second: Fraction, total: np.float32) -> np.float32:
    rounded = Fraction(float(np.float32(float(f64(exact)))))
    a, b = rounded * min(first, second), max(first, second)
    return np.float32(fma32(f32(a), f32(b), total))


def f64(x: int) -> float:
    assert abs(x) < 2**53
    return float(x)


def fractions(x: Any) -> list[Fraction]:
    return [Fraction(float(e)) for e in x]


#: A small attention, two blocks deep, with elements far apart, subnormal ones, a row of zeros.
SMALL = Inputs((1, 1, 1, 2, 5, 130, 3), K.BF16)


def small() -> dict[str, Any]:
    t = {n: array(x).astype(np.float32) for n, x in SMALL.tensors().items()}
    t["q"][..., 0] *= 2.0**40
    t["k"][0, 0, 1] *= 2.0**-130
    t["v"][0, 0, 2] = 0
    t["v"][0, 0, 3] = [2.0**-133, -(2.0**-126), 2.0**-120]
    t["v"][0, 0, 4] = [127 * 2.0**-7, 255 * 2.0**-8, -3.0]
    return t


@pytest.mark.parametrize("bits", BITS)
def test_dot_products(bits: int) -> None:
    t = small()
    emulation = IntegerEmulation(SMALL.descriptor, t, bits)
    for i in range(2):
        q, of_q = quantized(fractions(t["q"][0, 0, i]), bits)
        for j in range(5):
            k, of_k = quantized(fractions(t["k"][0, 0, j]), bits)
            total = np.float32(0)
            for block in (slice(0, 128), slice(128, 130)):
                total = step(sum(x * y for x, y in zip(q[block], k[block], strict=True)), of_q, of_k, total)
            assert emulation.dot[0, 0, i, j].tobytes() == total.tobytes()


@pytest.mark.parametrize("bits", BITS)
def test_weighted_sums(bits: int) -> None:
    t = small()
    emulation = IntegerEmulation(SMALL.descriptor, t, bits)
    rng = np.random.default_rng(1)
    rows = t["v"][0, 0]
    rows[2] = 2.0**100
    for weights in (rng.random(5), [0, -0.0, 0, 1, 2.0**-149], [0, 0, -0.0, 1e-30, -1e-38], [0, 0, 0, 0, 0], [1, 1, 1e-12, 1, 0]):
        w = np.array(weights, np.float32)
        start = rng.standard_normal(3).astype(np.float32)
        actual = emulation._weighted(start[None], w[None], rows)[0]
        kept = [quantized(fractions(row), bits) for row in rows]
        scaled = [np.float32(0) if x == 0 else x * f32(s) for x, (_, s) in zip(w, kept, strict=True)]
        u, of_w = quantized(fractions(scaled), bits)
        for d in range(3):
            exact = sum(x * row[d] for x, (row, _) in zip(u, kept, strict=True))
            assert actual[d].tobytes() == step(exact, of_w, Fraction(1), start[d]).tobytes()


@pytest.mark.parametrize("bits", BITS)
def test_what_is_not_finite(bits: int) -> None:
    """A row that is not finite makes NaN of what it takes part in; with a weight of 0 it takes none."""
    t = small()
    t["k"][0, 0, 3, 129] = np.inf
    emulation = IntegerEmulation(SMALL.descriptor, t, bits)
    assert np.isnan(emulation.dot).any((0, 1, 2)).tolist() == [False, False, False, True, False]
    rows = t["v"][0, 0]
    rows[1, 0] = np.nan
    weights = np.array([[1, 0, 1, 1, 1], [1, 1e-30, 1, 1, 1], [np.inf, 0, 1, 1, 1], [-0.0, -0.0, 0, 1, 1]], np.float32)
    sums = emulation._weighted(np.ones((4, 3), np.float32), weights, rows)
    assert np.isnan(sums).all(-1).tolist() == np.isnan(sums).any(-1).tolist() == [False, True, True, False]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("outliers", [False, True], ids=["gaussian", "outlier channels"])
def test_accuracy(bits: int, outliers: bool) -> None:
    """Results and gradients agree with float64 as well as so many bits can."""
    case = Inputs((1, 2, 1, 130, 200, 64, 64), K.BF16, {"causal": True, "offset": 70})
    tensors = case.tensors()
    if outliers:
        for name in "qkv":
            tensors[name][..., 5] *= 10
        tensors["q"] = (tensors["q"].float() / 8).bfloat16()
    exact = {n: x.double().requires_grad_(n in "qkv") for n, x in tensors.items()}
    expected, expected_lse = reference(case.descriptor, exact)
    expected.backward(exact["dy"])
    arrays = {n: array(x) for n, x in tensors.items()}
    emulation = IntegerEmulation(case.backward_descriptor, arrays, bits)
    y, lse = emulation.forward()
    gradients = emulation.backward(y, lse, arrays["dy"])
    found = {"y": (y, expected.detach()), "lse": (lse, expected_lse)}
    for name, gradient in zip("qkv", gradients, strict=True):
        grad = exact[name].grad
        assert grad is not None
        found["d" + name] = (gradient, grad)
    for name, (actual, wanted) in found.items():
        error = (torch.from_numpy(actual.astype(np.float64)) - wanted).abs().max() / wanted.abs().max()
        assert error <= ACCURACY[bits] * (6 if name[0] == "d" else 1), (name, float(error))
