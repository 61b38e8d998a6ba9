"""fmod and remainder in f32 against NumPy's, bit by bit: quotients of every size, near integers and near one half."""

from __future__ import annotations

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from tests.unit.elementary_function import evaluate, same_bits

REFERENCE = pytest.mark.parametrize(("op", "reference"), [("fmod", np.fmod), ("remainder", np.remainder)])
N = 1 << 18


def _signed(x, rng):
    return (x * np.where(rng.random(len(x)) < 0.5, -1.0, 1.0)).astype(np.float32)


def _pairs(rng):
    divisor = rng.uniform(1, 4, N).astype(np.float32)
    power = rng.random(N) < 0.3
    divisor[power] = np.exp2(np.rint(rng.uniform(-3, 3, power.sum())))
    whole = np.rint(2.0 ** rng.uniform(-1, 24, N)) * rng.choice([0.5, 1.0], N)
    yield divisor * whole * (1 + rng.integers(-3, 4, N) * 2.0**-24), divisor
    yield divisor * 2.0 ** rng.uniform(-5, 26, N), divisor
    with np.errstate(over="ignore"):
        yield 2.0 ** rng.uniform(-149, 128, N), 2.0 ** rng.uniform(-149, 128, N)


@REFERENCE
def test_remainders_are_exact(op, reference):
    rng = np.random.default_rng(11)
    for x, y in _pairs(rng):
        with np.errstate(all="ignore"):
            a, b = _signed(x, rng), _signed(y, rng)
            assert same_bits(evaluate(op, ElementKind.F32, a, b), reference(a, b))


@REFERENCE
def test_special_values(op, reference):
    values = np.array([0.0, 1.0, 1.5, 2.0**-149, 2.0**-126, 2.0**125, 3e38, np.inf, np.nan], np.float32)
    a, b = (x.ravel() for x in np.meshgrid(*[np.concatenate([values, -values])] * 2))
    with np.errstate(all="ignore"):
        assert same_bits(evaluate(op, ElementKind.F32, a, b), reference(a, b))
