"""Calls whose numbers change: C and Python write the words that the function itself would, and refuse the same numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.bounds import Above, AtLeast, AtMost, Below, Finite, OtherThan
from baracuda.core.parameters import Either, Flag, Nothing, Number, Whole
from baracuda.frontends.call_cache import unkept
from baracuda.frontends.number_words import interval

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
KEY = np.array([1, 2], np.uint32)
FLOATS = [0.1234, -0.5, 3.0, 1e-40, 1e39, -1e300, math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, 2.0, 0.7]
WHOLE = [3, -2, 0, 1, 255, 256, -129, 1 << 24, (1 << 24) + 1, (1 << 53) + 1, (1 << 60) + 1, -(1 << 62), (1 << 63) - 1, 5]
CALLS: dict[str, Callable[[Any], Any]] = {
    "mul": lambda v: baracuda.mul(X, v),
    "rsub": lambda v: baracuda.sub(v, X),
    "f64": lambda v: baracuda.add(X.astype(np.float64), v),
    "f16": lambda v: baracuda.add(X.astype(np.float16), v),
    "u8": lambda v: baracuda.add(X.astype(np.uint8), v),
    "s64": lambda v: baracuda.mul(X.astype(np.int64), v),
    "u64": lambda v: baracuda.add(X.astype(np.uint64), v),
    "s16": lambda v: baracuda.bitwise_and(X.astype(np.int16), v),
    "complex": lambda v: baracuda.mul(X.astype(np.complex64), v),
    "alpha": lambda v: baracuda.add(X, X, alpha=v),
    "two": lambda v: baracuda.add(X, v, alpha=0.5),
    "clamp": lambda v: baracuda.clamp(X, min=v, max=1.5),
    "clamp below": lambda v: baracuda.clamp(X, max=v),
    "leaky": lambda v: baracuda.leaky_relu(X, v),
    "elu": lambda v: baracuda.elu(X, alpha=v),
    "softplus": lambda v: baracuda.softplus(X, beta=v),
    "lerp": lambda v: baracuda.lerp(X, X[::-1], v),
    "pow": lambda v: baracuda.pow(X, v),
    "gt": lambda v: baracuda.gt(X, v),
    "where": lambda v: baracuda.where(X > 0, X, v),
    "eps": lambda v: baracuda.rms_norm(X, eps=v),
    "full": lambda v: baracuda.full((3,), v, dtype="f32"),
    "bernoulli": lambda v: baracuda.bernoulli(KEY, v, shape=(4, 6)),
    "rand": lambda v: baracuda.rand(KEY, (4, 6), low=-7.0, high=v),
    "seed": lambda v: baracuda.rng_key(v),
    "tril": lambda v: baracuda.tril(X, v),
    "ema": lambda v: baracuda.ema_update(X, X, decay=v),
    "adamw": lambda v: baracuda.adamw_step(X, X, X, abs(X), v, 3),
    "adamw beta": lambda v: baracuda.adamw_step(X, X, X, abs(X), 1e-3, 3, beta1=v),
    "adamw step": lambda v: baracuda.adamw_step(X, X, X, abs(X), 1e-3, v),
    "sgd": lambda v: baracuda.sgd_step(X, X, lr=v),
    "linear": lambda v: baracuda.matmul(X, X.T, alpha=v),
    "scale": lambda v: baracuda.scaled_dot_product_attention(X[None, None], X[None, None], X[None, None], scale=v),
    "index_add": lambda v: baracuda.index_add(X, 0, np.array([1, 2]), X[:2], alpha=v),
}


def outcome(call: Callable[[Any], Any], value: Any) -> Any:
    try:
        result = call(value)
    except (baracuda.Error, OverflowError) as error:
        return type(error), str(error)
    return [(r.dtype, r.shape, r.tobytes()) for r in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", CALLS)
def test_numbers_are_those_of_the_function(name: str) -> None:
    call = CALLS[name]
    for values in (FLOATS, WHOLE):
        with unkept():
            expected = [outcome(call, v) for v in values]
        for order in (1, -1):
            for _ in range(2):
                for value, wanted in list(zip(values, expected, strict=True))[::order]:
                    assert outcome(call, value) == wanted, f"{name} of {value!r}"


def test_intervals() -> None:
    inf = math.inf
    assert interval(None, False) == (-inf, inf)
    assert interval(Number(), True) == (-inf, inf)
    assert interval(Number((AtLeast(0), Below(1))), False) == (0, math.nextafter(1, 0))
    assert interval(Number((Above(0), AtMost(1))), False) == (5e-324, 1)
    largest = float(np.finfo(np.float64).max)
    assert interval(Number((Finite(),)), False) == (-largest, largest)
    assert interval(Either((Number((AtLeast(2),)), Nothing())), False) == (2, inf)
    assert interval(Whole((AtLeast(1),)), True) == (1, inf)
    for domain in (Number((OtherThan(0),)), Flag(), Either((Number((AtLeast(2),)), Whole()))):
        assert interval(domain, False) is None
    assert interval(Whole(), False) is None
