"""Tensors of CuPy and JAX, and bare DLPack capsules, on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda import Device, ElementKind, SoftmaxArgs, SoftmaxDescriptor, SoftmaxKind, SoftmaxPlan, Stream


class Bare:
    """A producer that is nothing but DLPack."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()

    def __dlpack__(self, **arguments: Any) -> Any:
        return self._tensor.__dlpack__(**arguments)


def test_bare_dlpack(torch: Any) -> None:
    x = torch.randn(64, 1000, device="cuda")
    y = torch.full_like(x, float("nan"))
    descriptor = SoftmaxDescriptor(SoftmaxKind.SOFTMAX, (64, 1000), -1, ElementKind.F32)
    plan = SoftmaxPlan.select(Stream(Device.cuda(0)), descriptor)
    plan.run(torch.cuda.current_stream(), None, SoftmaxArgs(Bare(x), Bare(y)))
    assert torch.equal(y, baracuda.softmax(x))


def test_cupy(torch: Any) -> None:
    cupy = pytest.importorskip("cupy")
    x = np.random.default_rng(0).standard_normal((64, 1000)).astype(np.float32)
    expected = baracuda.softmax(torch.tensor(x).cuda()).cpu().numpy()
    on_gpu = cupy.asarray(x)
    y = baracuda.softmax(on_gpu)
    assert isinstance(y, cupy.ndarray)
    assert np.array_equal(cupy.asnumpy(y), expected)
    turned = baracuda.softmax(on_gpu.T, 0)
    assert np.array_equal(cupy.asnumpy(turned).T, expected)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        third = baracuda.softmax(on_gpu)
        stream.synchronize()
    assert np.array_equal(cupy.asnumpy(third), expected)


def test_jax(torch: Any) -> None:
    jax = pytest.importorskip("jax")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("this JAX has no GPU")
    x = np.random.default_rng(0).standard_normal((64, 1000)).astype(np.float32)
    expected = baracuda.softmax(torch.tensor(x).cuda()).cpu().numpy()
    y = baracuda.softmax(jax.device_put(x, device))
    assert isinstance(y, jax.Array)
    assert np.array_equal(np.asarray(y), expected)


def test_the_result_is_on_the_device_of_the_input(torch: Any) -> None:
    x = torch.randn(8, 16, device="cuda", dtype=torch.bfloat16)
    y = baracuda.softmax(x)
    assert (y.device, y.dtype) == (x.device, x.dtype)
    y, rms = baracuda.rms_norm(x, x[0].contiguous(), saved=True)
    assert (rms.device, rms.dtype, tuple(rms.shape)) == (x.device, torch.float32, (8, 1))
    host = baracuda.softmax(x.cpu())
    assert torch.equal(host.view(torch.int16), baracuda.softmax(x).cpu().view(torch.int16))
