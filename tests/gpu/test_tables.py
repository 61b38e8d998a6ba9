"""Pointwise kernels that look up what they would compute, on every 16-bit value, in tensors as large as they begin at."""

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
from tests.cases.trial import to_device, to_host

#: Rows of all 16-bit values, of an odd length; half of the elements are still as many as tables begin at.
ROWS, LENGTH = 257, 65537

UNARY: dict[str, Callable[[Any], Any]] = {
    "tanh": baracuda.tanh,
    "celu": lambda x: baracuda.celu(x, alpha=0.7),
    "erfinv": baracuda.erfinv,
    "tan": baracuda.tan,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "pow": baracuda.pow,
    "swiglu": lambda x, gate: baracuda.swiglu(gate, x),
    "i0_backward": lambda dy, x: baracuda.i0_backward(dy, x),
    "sigmoid_backward": lambda dy, x: baracuda.sigmoid_backward(dy, x),
    "gelu_backward": lambda dy, x: baracuda.gelu_backward(dy, x),
    "celu_backward": lambda dy, x: baracuda.celu_backward(dy, x, alpha=0.7),
    "log1mexp_backward": lambda dy, x: baracuda.log1mexp_backward(dy, x),
}


def every_value(dtype: Any) -> np.ndarray[Any, Any]:
    values = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    return np.resize(values, (ROWS, LENGTH))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_every_value(name: str, dtype: Any) -> None:
    x = every_value(dtype)
    on_device = to_device(x, "cuda")
    for on_host, there in ((x, on_device), (x[:, ::2], on_device[:, ::2]), (x.T, on_device.T)):
        assert np.array_equal(canonical_bits(to_host(UNARY[name](there))), canonical_bits(UNARY[name](on_host)))


@pytest.mark.parametrize("name", BINARY)
def test_a_function_beside_another_operand(name: str) -> None:
    x = every_value(ml_dtypes.bfloat16)
    other = np.roll(x, 4321, axis=1)
    x[::3] = np.where(x[::3] < 0, 0, x[::3])  # as many zeros as a ReLU leaves
    result = to_host(BINARY[name](to_device(other, "cuda"), to_device(x, "cuda")))
    assert np.array_equal(canonical_bits(result), canonical_bits(BINARY[name](other, x)))


def test_the_first_call_while_a_graph_is_captured(torch: Any) -> None:
    """Tables that are there for good are computed beside the capture."""
    x = every_value(ml_dtypes.bfloat16)
    operand, graph = to_device(x, "cuda"), torch.cuda.CUDAGraph()
    baracuda.square(operand)
    with torch.cuda.graph(graph):
        result = baracuda.asinh(operand)
    graph.replay()
    assert np.array_equal(canonical_bits(to_host(result)), canonical_bits(baracuda.asinh(x)))


def test_what_tables_take(torch: Any) -> None:
    """Workspace where they depend on a parameter, and only there."""
    x = torch.zeros(1 << 23, dtype=torch.bfloat16, device="cuda")
    for name, words, takes in (("tanh", {}, False), ("softcap", {"cap": 30.0}, True)):
        op = ops()[name]
        descriptor = describe_call(op, [x], words)[0].forward
        plan = plan_of(descriptor).select(baracuda.Stream(baracuda.Device.cuda(0), 0), descriptor)
        assert (plan.workspace_size() > 0) is takes, name
