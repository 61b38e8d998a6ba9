"""Steps of optimizers in place, with state wider than the parameter, and over several steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind
from tests.cases.trial import to_device, to_host


def _drawn(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("shape", [(7, 130), (5001,), ()])
def test_adamw_in_place_follows_torch(shape: tuple[int, ...], device: str) -> None:
    reference = torch.nn.Parameter(torch.from_numpy(np.array(_drawn(0, *shape))))
    optimizer = torch.optim.AdamW([reference], lr=0.02, weight_decay=0.1, foreach=False)
    p, m, v = (to_device(x, device) for x in (np.array(_drawn(0, *shape)), np.zeros(shape), np.zeros(shape)))
    step = np.zeros((), np.int64)
    for i in range(1, 6):
        grad = np.array(_drawn(i, *shape))
        reference.grad = torch.from_numpy(grad)
        optimizer.step()
        step[...] = i
        operands = (p, to_device(grad, device), m, v, 0.02, to_device(step, device))
        results = baracuda.adamw_step(*operands, weight_decay=0.1, out=(p, m, v))
        assert all(a is b for a, b in zip(results, (p, m, v), strict=True))
    np.testing.assert_allclose(to_host(p), reference.detach().numpy(), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(to_host(v), optimizer.state[reference]["exp_avg_sq"].numpy(), rtol=1e-13)


def test_in_place_has_the_bits_of_new_results(device: str) -> None:
    arrays = [np.abs(_drawn(i, 33, 67)).astype(np.float32) for i in range(4)]
    step = np.array(3)
    new = baracuda.adam_step(*(to_device(x, device) for x in arrays), 0.1, to_device(step, device))
    p, g, m, v = (to_device(x.copy(), device) for x in arrays)
    baracuda.adam_step(p, g, m, v, 0.1, to_device(step, device), out=(p, m, v))
    for a, b in zip(new, (p, m, v), strict=True):
        assert to_host(a).tobytes() == to_host(b).tobytes()


def test_elements_are_those_of_what_is_replaced(device: str) -> None:
    """A bf16 parameter with f32 state and a bf16 gradient; an f32 parameter with a bf16 gradient."""
    bf16 = ElementKind.BF16.numpy
    p, g = _drawn(0, 4, 9), _drawn(1, 4, 9)
    state = [np.zeros((4, 9), np.float32), np.zeros((4, 9), np.float32)]
    for element in (bf16, np.float32):
        results = baracuda.adamw_step(
            to_device(p.astype(element), device), to_device(g.astype(bf16), device),
            *(to_device(s, device) for s in state), 0.1, 1,
        )  # fmt: skip
        assert [to_host(x).dtype for x in results] == [np.dtype(element), np.float32, np.float32]


def test_a_step_as_a_tensor_needs_no_other_plan(device: str) -> None:
    p, g, m, v = (to_device(np.ones(5, np.float32), device) for _ in range(4))
    results = []
    for i in (1, 2, 40):
        step = to_device(np.array(i), device)
        results.append(to_host(baracuda.adam_step(p, g, m, v, 0.1, step)[0])[0])
        as_number = to_host(baracuda.adam_step(p, g, m, v, 0.1, i)[0])[0]
        assert results[-1] == as_number
    assert len(set(results)) == 3
