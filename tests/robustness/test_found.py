"""What the attacks have found, one call of each kind, so that it stays mended."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from tests.robustness import guarded

pytestmark = pytest.mark.cpu_only

X, V, C = np.ones((3, 4), np.float32), np.ones(4, np.float32), np.ones((3, 4), np.complex64)
TARGET, DY = np.zeros(3, np.int64), np.array(1, np.float32)
HEADS = np.ones((1, 2, 3, 4), np.float32)
LSE = np.ones((1, 2, 3), np.float32)


def _attention(out: Any) -> Any:
    return baracuda.scaled_dot_product_attention_backward(HEADS, HEADS, HEADS, HEADS, HEADS, LSE, out=out)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: baracuda.gelu_backward(X, X, wrt=0.5), "wrt: 0.5; expected a tuple of names"),
        (lambda: baracuda.gelu_backward(X, X, wrt="x"), "wrt: 'x'; expected a tuple of names"),
        (lambda: baracuda.gelu_double_backward(X, X, X, wrt=("z",)), "wrt: 'z'; expected some of dy, x"),
        (lambda: baracuda.gelu_double_backward(X, C, X), "dy: complex64, second derivatives of complex numbers"),
        (lambda: baracuda.hypot_double_backward(X, X, X, X, 2.0), "ddb: got a tensor; expected None"),
        (
            lambda: baracuda.nll_loss_backward(DY, X, TARGET, wrt=["target"]),
            "wrt: 'target'; nll_loss has no",
        ),
        (lambda: baracuda.matmul(X, X.T, preference=-1), "preference: -1; expected"),
        (lambda: baracuda.layer_norm(X, V.astype(np.complex64)), "weight: element is complex64; layer_norm takes no complex"),
        (lambda: baracuda.quantize_per_tensor(X, 1j, 0), "scale: 1j; quantize_per_tensor takes no complex"),
        (lambda: baracuda.ldexp(C, C), "exponent: it is complex"),
        (lambda: baracuda.index_select(X, 2), "index: 2; expected a tensor"),
        (lambda: baracuda.cross_entropy(X, 1), "target: 1; expected a tensor"),
        (lambda: baracuda.instance_norm(2.0, V), "x: 2.0; expected a tensor"),
        (lambda: baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, 3, 0, baracuda.ElementKind.F32), "input_shape: 3"),
        (lambda: baracuda.PlanPreference(require=None), "require: None; expected some of"),
        (lambda: baracuda.PlanPreference(backend="cpu"), "backend: 'cpu'; expected a BackendKind"),
        (lambda: baracuda.PlanPreference(max_workspace=0.5), "max_workspace: 0.5"),
        (lambda: _attention(HEADS.copy()), "out: got a ndarray; expected a tuple"),
        (lambda: _attention((None,) * 5), "out: 5 tensors; expected at most 4"),
        (lambda: baracuda.spectral_norm(X, X[:, 0], n_power_iterations=3000), "n_power_iterations: 3000"),
        (lambda: baracuda.rope_scaling_tables(2**62, 4), "expected fewer than 2"),
        (lambda: baracuda.rope_scaling_tables(2**45, 4), "are not to be had"),
        (lambda: baracuda.rope_scaling_tables(4, 8, base=1.0, scaling="yarn"), "base: 1.0"),
        (lambda: baracuda.to_device(X, "cpu"), "device: 'cpu'; expected a Device"),
        (lambda: baracuda.normal(baracuda.rng_key(0), 1j, shape=1), "mean: 1j; expected a tensor or a real number"),
        (lambda: baracuda.muon_newton_schulz(X, steps=2**63), "steps: 9223372036854775808; expected a whole number"),
    ],
)
def test_an_error_has_a_name(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(baracuda.Error, match=message):
        call()


def test_more_bits_than_any_float_has_change_nothing() -> None:
    assert np.array_equal(baracuda.reduce_precision(X, exponent_bits=2**100, mantissa_bits=60), X)


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages as Linux does")
@pytest.mark.parametrize("low", [False, True])
def test_a_row_without_elements_is_not_read(low: bool) -> None:
    x = guarded.empty((3, 0), np.float32, low=low, fill=0)
    pid = os.fork()
    if not pid:
        lse, picked = baracuda.vocab_parallel_cross_entropy(x, TARGET)
        loss = baracuda.nll_loss(x, TARGET, bounds="clamp", reduction="none")
        os._exit(int(not (np.isneginf(lse).all() and (picked == 0).all() and np.isnan(loss).all())))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
