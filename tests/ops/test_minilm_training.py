"""The example's training run: its bits, and its gradients with dropout against differences of the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baracuda as bc
from baracuda_minilm.encoder import batch_of
from baracuda_minilm.model import MiniLM
from baracuda_minilm.train import digest, loss_and_gradients, main, pairs_of_tokens, small_weights, train
from tests.machine import Machine

#: Of all weights after ten steps, on every device.
WEIGHTS = "32694473a317ca53015fde63ca01d50daf6e6e86a25606b97b3007047e3fc43e"


@pytest.fixture
def device(machine: Machine) -> bc.Device:
    return machine.stream.device


def test_ten_steps_give_the_same_bits(device: bc.Device) -> None:
    key = bc.to_device(bc.rng_key(20), device)
    model = MiniLM(small_weights(key, device), heads=4, layers=2)
    losses = [loss for loss, _ in train(model, device, pairs_of_tokens(500, 24), key, 10, 1e-3)]
    assert losses[-1] < 0.1 < losses[0]
    assert digest(model.weights) == WEIGHTS


def test_the_command_prints_the_hash(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--steps", "1"])
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("step   1   loss 0.557")
    assert len(last) == 64


def test_gradients_with_dropout_are_differences_of_the_loss(device: bc.Device) -> None:
    key = bc.to_device(bc.rng_key(3), device)
    weights = small_weights(key, device, "f64", width=16, tokens=50, layers=1)
    model = MiniLM(weights, heads=2, layers=1, dropout=0.25)
    batch = batch_of(next(pairs_of_tokens(50, 12, pairs=3)), device, np.float64)

    def loss() -> float:
        return float(bc.to_host(loss_and_gradients(model, batch, device, key=key)[0]))

    _, grads = loss_and_gradients(model, batch, device, key=key)
    assert float(bc.to_host(loss_and_gradients(model, batch, device)[0])) != loss()
    generator = np.random.default_rng(0)
    for name in ("embeddings.word_embeddings.weight", "encoder.layer.0.attention.self.value.weight",
                 "encoder.layer.0.attention.output.dense.bias", "encoder.layer.0.output.dense.weight"):  # fmt: skip
        grad = bc.to_host(grads[name])
        direction = generator.standard_normal(grad.shape)
        wanted = float((grad * direction).sum())

        def moved(by: float, name: str = name, direction: Any = direction) -> float:
            step = bc.to_device(by * direction, device)
            bc.add(weights[name], step, out=weights[name])
            found = loss()
            bc.sub(weights[name], step, out=weights[name])
            return found

        found = (moved(1e-6) - moved(-1e-6)) / 2e-6
        assert abs(found - wanted) <= 1e-5 * max(1.0, abs(wanted)), name
