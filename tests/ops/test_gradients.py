"""Gradients against PyTorch's autograd: forward and backward plans together, in float64 and in each element kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from baracuda.cli.verify import values as data
from baracuda.cli.verify.plans import FLOATS, SubjectCase, subject
from baracuda.core.elements import ElementKind as K
from tests.execution import execute
from tests.machine import Machine, torch_dtype

torch = pytest.importorskip("torch")

#: Relative to the largest element of the gradient.
TOLERANCE = {K.F16: 4e-3, K.BF16: 3e-2, K.F32: 2e-6, K.F64: 1e-14}
K_IDS = [str(k) for k in FLOATS]


def leaf(values: np.ndarray, dtype: Any) -> Any:
    """A CPU tensor that gradients are wanted of."""
    return torch.tensor(values.astype(np.float64)).to(dtype).requires_grad_()


def compare(got: np.ndarray, wanted: Any, element: K, what: str) -> None:
    expected = wanted.to(torch.float64).numpy()
    error = abs(got.astype(np.float64) - expected).max() / max(abs(expected).max(), 1e-30)
    assert error <= TOLERANCE[element], f"{what}: largest error {error:.3e} of the largest gradient"


@pytest.fixture(params=["float64", "native"])
def precision(request: pytest.FixtureRequest) -> Callable[[K], Any]:
    """What autograd computes in: float64, or the element kind itself."""
    return torch_dtype if request.param == "native" else lambda element: torch.float64


@pytest.mark.one_of(2)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("shape", [(7, 129), (3, 5, 33), (2, 2000)], ids=str)
@pytest.mark.parametrize("axis", [0, -1, "middle"])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(machine: Machine, precision: Any, name: str, axis: Any, shape: tuple[int, ...], element: K) -> None:
    label = name + ("" if axis == -1 else f"@{axis}")
    if label == "log_softmax@middle":
        pytest.skip("no such subject: the axis is tested with softmax")
    forward = execute(machine, SubjectCase(subject(label), shape, element))
    dy = data.rounded(data.normal("dy", shape), element)
    gradient = SubjectCase(subject(label.replace(name, f"{name}_backward")), shape, element)
    dx = execute(machine, gradient, values={"dy": dy, "y": forward.outputs["y"]}).outputs["dx"]
    x = leaf(forward.inputs["x"], precision(element))
    y = getattr(torch.nn.functional, name)(x, forward.plan.descriptor.softmax_axis)
    y.backward(torch.tensor(dy.astype(np.float64)).to(y.dtype))
    compare(dx, x.grad, element, label)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("shape", [(7, 129), (3, 5, 33), (700, 12)], ids=str)
@pytest.mark.parametrize("label", ["rms_norm", "rms_norm_plain", "rms_norm@2axes"])
def test_rms_norm(machine: Machine, precision: Any, label: str, shape: tuple[int, ...], element: K) -> None:
    forward = execute(machine, SubjectCase(subject(label), shape, element))
    dy = data.rounded(data.normal("dy", shape), element)
    backward = SubjectCase(subject(label.replace("rms_norm", "rms_norm_backward")), shape, element)
    values = {"dy": dy, **forward.inputs, "rms": forward.outputs["rms"]}
    gradients = execute(machine, backward, values=values).outputs
    dtype = precision(element)
    x = leaf(forward.inputs["x"], dtype)
    gamma = leaf(forward.inputs["gamma"], dtype) if "gamma" in forward.inputs else None
    inner = forward.plan.descriptor.gamma_shape
    y = torch.nn.functional.rms_norm(x, inner, gamma, eps=forward.plan.descriptor.eps)
    y.backward(torch.tensor(dy.astype(np.float64)).to(dtype))
    compare(gradients["dx"], x.grad, element, f"{label} dx")
    if gamma is not None:
        compare(gradients["dgamma"], gamma.grad, element, f"{label} dgamma")


@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("shape", [(2, 3, 10, 9), (1, 5, 33, 77)], ids=str)
def test_alibi(machine: Machine, shape: tuple[int, ...], element: K) -> None:
    backward = execute(machine, SubjectCase(subject("alibi_backward"), shape, element))
    scores, slopes = leaf(np.zeros(shape), torch.float64), leaf(np.ones(shape[1]), torch.float64)
    i, j = torch.arange(shape[2])[:, None], torch.arange(shape[3])[None, :]
    y = scores + slopes[None, :, None, None] * (j - i)
    y.backward(torch.tensor(backward.inputs["dy"].astype(np.float64)))
    compare(backward.outputs["dscores"], scores.grad, element, "dscores")
    compare(backward.outputs["dslopes"], slopes.grad, element, "dslopes")


@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
def test_lerp(machine: Machine, precision: Any, element: K) -> None:
    backward = execute(machine, SubjectCase(subject("lerp_backward"), (7, 129), element))
    dtype = precision(element)
    a, b = leaf(np.zeros((7, 129)), dtype), leaf(np.ones((7, 129)), dtype)
    y = torch.lerp(a, b, backward.plan.descriptor.param)
    y.backward(torch.tensor(backward.inputs["dy"].astype(np.float64)).to(dtype))
    compare(backward.outputs["da"], a.grad, element, "da")
    compare(backward.outputs["db"], b.grad, element, "db")


@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("kind", ["s8", "u8"])
def test_fake_quantization(machine: Machine, kind: str, element: K) -> None:
    """quantize then dequantize: the chain of the two gradients is the straight-through estimator of
    `torch.fake_quantize_per_channel_affine`."""
    forward = execute(machine, SubjectCase(subject(f"quantize_per_token_{kind}"), (7, 129), element))
    x, scale, zero = (forward.inputs[n] for n in ("x", "scale", "zero_point"))
    dy = data.rounded(data.normal("dy", x.shape), element)
    after = SubjectCase(subject("dequantize_per_token_backward_s8"), x.shape, element)
    dq = execute(machine, after, values={"d_output": dy, "scale": scale}).outputs["d_input"]
    before = SubjectCase(subject(f"quantize_per_token_backward_{kind}"), x.shape, element)
    dx = execute(machine, before, values={"dq": dq, "x": x, "scale": scale, "zero_point": zero}).outputs["dx"]
    low, high = {"s8": (-128, 127), "u8": (0, 255)}[kind]
    if element is K.F64:  # torch quantizes with f32 scales: the straight-through rule itself
        code = np.rint(x / scale[:, None]) + zero[:, None]
        compare(dx, torch.tensor(np.where((code >= low) & (code <= high), dy, 0.0)), element, kind)
        return
    t = leaf(x, torch.float32)
    offset = torch.tensor(zero if kind == "s8" else np.maximum(zero, 0))
    if kind == "u8" and (zero < 0).any():
        pytest.skip("torch takes no negative zero point for unsigned codes")
    y = torch.fake_quantize_per_channel_affine(t, torch.tensor(scale), offset, 0, low, high)
    y.backward(torch.tensor(dy.astype(np.float32)))
    compare(dx, t.grad, element, kind)


@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
def test_functions_are_consistent(machine: Machine, element: K) -> None:
    """exp(log_softmax(x)) is softmax(x), and a row of softmax sums to 1."""
    x = SubjectCase(subject("softmax"), (5, 1000), element).inputs()
    y = execute(machine, SubjectCase(subject("softmax"), (5, 1000), element)).outputs["y"].astype(np.float64)
    log_y = execute(machine, SubjectCase(subject("log_softmax"), (5, 1000), element), values=x).outputs["y"].astype(np.float64)
    assert np.allclose(y, np.exp(log_y), rtol=8 * TOLERANCE[element], atol=1e-7)
    assert np.allclose(y.sum(1), 1, atol=20 * TOLERANCE[element])
