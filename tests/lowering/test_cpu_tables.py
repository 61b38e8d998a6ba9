"""Long functions of 16-bit values on the CPU: large tensors, where they are looked up, have the bits of small ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import baracuda
from baracuda.cli.verify.bits import canonical_bits
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.ops.declaration.op_plan import plan_of

#: Rows of all 16-bit values: together as many as tables begin at, each of them fewer.
ROWS, LENGTH = 17, 1 << 16

UNARY: dict[str, Callable[..., Any]] = {
    "ndtr": baracuda.ndtr,
    "lgamma": baracuda.lgamma,
    "softplus": lambda x, **words: baracuda.softplus(x, beta=1.7, **words),
    "erfinv": baracuda.erfinv,
}
BINARY: dict[str, Callable[..., Any]] = {
    "gelu_backward": lambda dy, x: baracuda.gelu_backward(dy, x),
    "softcap_backward": lambda dy, x: baracuda.softcap_backward(dy, x, cap=3.0),
    "swiglu": lambda x, gate: baracuda.swiglu(gate, x),
    "pow": lambda x, y: baracuda.pow(abs(x), y),
}


def every_value(dtype: Any) -> np.ndarray[Any, Any]:
    values = np.arange(LENGTH, dtype=np.uint16).view(dtype)
    return np.stack([np.roll(values, 4321 * row) for row in range(ROWS)])


def by_rows(function: Callable[..., Any], *tensors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.stack([function(*rows) for rows in zip(*tensors, strict=True)])


def schedule(name: str, *tensors: np.ndarray[Any, Any]) -> str:
    descriptor = describe_call(ops()[name], tensors, {})[0].forward
    return plan_of(descriptor).select(baracuda.Stream(baracuda.Device.cpu()), descriptor).schedule


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_every_value(name: str, dtype: Any) -> None:
    x = every_value(dtype)
    assert "tables 1" in schedule(name, x)
    assert "tables" not in schedule(name, x[0])
    expected = by_rows(UNARY[name], x)
    assert np.array_equal(canonical_bits(UNARY[name](x)), canonical_bits(expected))
    assert np.array_equal(canonical_bits(UNARY[name](x.T)), canonical_bits(expected.T))
    assert np.array_equal(canonical_bits(UNARY[name](x[:, ::-1])), canonical_bits(expected[:, ::-1]))
    out = np.full((ROWS, LENGTH + 3), -1, x.dtype)
    UNARY[name](x, out=out[:, 1:-2])
    assert np.array_equal(canonical_bits(out[:, 1:-2]), canonical_bits(expected))
    assert np.all(out[:, 0] == -1)
    assert np.all(out[:, -2:] == -1)


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("name", BINARY)
def test_a_function_beside_another_operand(name: str, dtype: Any) -> None:
    x = every_value(dtype)
    other = np.roll(x, 777, axis=1)
    expected = by_rows(BINARY[name], other, x)
    assert np.array_equal(canonical_bits(BINARY[name](other, x)), canonical_bits(expected))
    assert np.array_equal(canonical_bits(BINARY[name](other.T, x.T)), canonical_bits(expected.T))
