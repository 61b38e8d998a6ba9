"""The example model: its values against PyTorch, its bits against themselves, a step of training against autograd."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch

import baracuda as bc
from baracuda_minilm.encoder import Encoder
from baracuda_minilm.files import LONGEST, PACKAGE, Tokens, model_folder, read_safetensors
from baracuda_minilm.model import Batch, Tape
from baracuda_minilm.train import AdamW, loss_and_gradients
from benchmarks import minilm_torch as reference
from tests.machine import Machine

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in (PACKAGE, "tokenizers")),
    reason="the demo's model is not installed; `make test` installs it",
)

SENTENCES = (
    "The cat sits outside.",
    "Curiouser and curiouser!",
    "A man is playing the guitar in a band that nobody has heard of, on a rainy evening in November, for an audience of four.",
    "Ein Satz, den das Modell kaum versteht: žluťoučký kůň 你好",
    "It was the best of times, it was the worst of times, " * 40,
    "I",
)
PAIRS = (
    ("The cat sits outside.", "A man is playing guitar.", "The new movie is awesome.", "Bread is baked in an oven."),
    ("A feline is in the garden.", "Somebody makes music in a band.", "That film was great, I liked it.", "A baker at work."),
)
ELEMENTS = ("f32", "bf16")


@pytest.fixture
def device(machine: Machine) -> bc.Device:
    return machine.stream.device


@cache
def tokens_of(sentences: tuple[str, ...] = SENTENCES) -> list[list[int]]:
    return Tokens().of(sentences)[0]


@cache
def stored() -> dict[str, np.ndarray[Any, Any]]:
    return read_safetensors(model_folder() / "model.safetensors")


@cache
def encoder_on(device: bc.Device, dtype: str, fast: bool = False) -> Encoder:
    return Encoder(device, dtype, fast=fast)


@cache
def expected() -> np.ndarray[Any, Any]:
    """The embeddings of `SENTENCES` in float64."""
    with torch.no_grad():
        w = reference.parameters(stored())
        batches = [reference.forward(w, torch.tensor([t]), torch.tensor([len(t)])) for t in tokens_of()]
    return torch.cat(batches).numpy()


def embedded(encoder: Encoder, tokens: Sequence[Sequence[int]]) -> np.ndarray[Any, Any]:
    """The embeddings of one batch."""
    return bc.to_host(encoder.model(encoder.batch(tokens)))


def bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values.view(f"u{values.dtype.itemsize}")


# Found: f32 1 - 1.4e-12, bf16, which rounds everything that is stored to 8 bits, 1 - 1e-4.
@pytest.mark.parametrize(("dtype", "least"), [("f32", 0.99999), ("bf16", 0.9997)])
@pytest.mark.parametrize("fast", [False, True], ids=["reproducible", "fast"])
def test_embeddings_are_those_of_pytorch(device: bc.Device, dtype: str, least: float, fast: bool) -> None:
    embeddings = embedded(encoder_on(device, dtype, fast), tokens_of()).astype(np.float64)
    cosines = (embeddings * expected()).sum(1) / np.linalg.norm(embeddings, axis=1)
    assert cosines.min() >= least
    assert abs(np.linalg.norm(embeddings, axis=1) - 1).max() < (1e-6 if dtype == "f32" else 4e-3)


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_bits_do_not_depend_on_the_batch(device: bc.Device, dtype: str) -> None:
    """Alone, among others in another order, and among longer ones: padding."""
    encoder, tokens = encoder_on(device, dtype), tokens_of()
    together = embedded(encoder, tokens)
    alone = np.concatenate([embedded(encoder, [t]) for t in tokens])
    assert np.array_equal(bits(together), bits(alone))
    assert np.array_equal(bits(embedded(encoder, tokens[::-1])[::-1]), bits(alone))
    shorter = [t for t in tokens if len(t) < LONGEST]
    assert np.array_equal(bits(embedded(encoder, shorter)), bits(alone[[len(t) < LONGEST for t in tokens]]))


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_bits_do_not_depend_on_what_is_behind_a_sentence(device: bc.Device, dtype: str) -> None:
    encoder, tokens = encoder_on(device, dtype), tokens_of()[:4]
    plain = encoder.batch(tokens)
    others = np.random.default_rng(1).integers(1000, 20000, plain.tokens.shape).astype(np.int32)
    for i, ids in enumerate(tokens):
        others[i, : len(ids)] = ids
    noisy = Batch(bc.to_device(others, device), plain.lengths, plain.shares)
    assert (others != bc.to_host(plain.tokens)).sum() > 50
    assert np.array_equal(bits(bc.to_host(encoder.model(noisy))), bits(bc.to_host(encoder.model(plain))))


def test_a_tape_changes_no_bit(device: bc.Device) -> None:
    encoder = encoder_on(device, "f32")
    tape: Tape = []
    batch = encoder.batch(tokens_of()[:3])
    assert np.array_equal(bits(bc.to_host(encoder.model(batch, tape))), bits(bc.to_host(encoder.model(batch))))
    encoder.model.backward(bc.to_device(np.ones((3, 384), np.float32), device), batch, tape)
    assert not tape


def test_sentences_come_back_in_their_order(device: bc.Device) -> None:
    encoder, tokens = encoder_on(device, "f32"), tokens_of()
    counts: list[int] = []
    values = encoder.embed(encoder.batches(tokens, 4), counts.append)
    assert counts == [4, 2]
    assert np.array_equal(bits(values), bits(embedded(encoder, tokens)))


# --- training ---------------------------------------------------------------------------------------------------------

#: Cosines times this give a loss near 1 for these pairs: at a loss near 0 the gradients are differences of nearly equal numbers.
SCALE = 2.0


def test_gradients_are_those_of_autograd(device: bc.Device) -> None:
    encoder = encoder_on(device, "f32")
    tokens = tokens_of(PAIRS[0] + PAIRS[1])
    batch = encoder.batch(tokens)
    loss, grads = loss_and_gradients(encoder.model, batch, device, SCALE)
    w = reference.parameters(stored())
    lengths = torch.tensor([len(t) for t in tokens])
    expected_loss = reference.contrastive(reference.forward(w, torch.tensor(bc.to_host(batch.tokens)).long(), lengths), SCALE)
    expected_loss.backward()
    assert 0.3 < expected_loss.item() < 2
    assert float(bc.to_host(loss)) == pytest.approx(expected_loss.item(), rel=1e-5)
    assert set(grads) == set(w)
    largest = max(float(t.grad.abs().max()) for t in w.values() if t.grad is not None)
    for name, grad in grads.items():
        wanted, actual = w[name].grad, bc.to_host(grad).astype(np.float64)
        assert wanted is not None
        error = abs(actual - wanted[: len(actual)].numpy()).max()
        # Found: 4e-6; PyTorch's own gradients in f32 are off by 3e-6. A key's bias has no influence: softmax does not see what
        # is added to all scores of a query, so what is found for it is rounding alone.
        scale = largest if name.endswith("key.bias") else float(wanted.abs().max())
        assert error <= 1e-5 * scale, f"{name}: off by {error}, largest gradient {scale}"
        assert not wanted[len(actual) :].any()


def test_adamw_is_that_of_pytorch(device: bc.Device) -> None:
    """Three steps with given gradients: of a matrix, of a bias, and of a table whose first rows alone have some."""
    rng = np.random.default_rng(0)
    shapes = {"matrix": (48, 32), "bias": (48,), "table": (10, 6)}
    start = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    weights = {n: bc.to_device(v.copy(), device) for n, v in start.items()}
    ours = AdamW(weights, device, lr=1e-2, weight_decay=0.1)
    theirs = {n: torch.tensor(v[:4] if n == "table" else v).double().requires_grad_() for n, v in start.items()}
    optimizer = torch.optim.AdamW(theirs.values(), lr=1e-2, weight_decay=0.1)
    for _ in range(3):
        grads = {n: rng.standard_normal(tuple(t.shape)).astype(np.float32) for n, t in theirs.items()}
        ours.step({n: bc.to_device(g, device) for n, g in grads.items()})
        for name, tensor in theirs.items():
            tensor.grad = torch.tensor(grads[name]).double()
        optimizer.step()
    for name, tensor in theirs.items():
        actual, rows = bc.to_host(weights[name]), len(tensor)
        np.testing.assert_allclose(actual[:rows], tensor.detach().numpy(), rtol=2e-6, atol=2e-7)
        assert np.array_equal(actual[rows:], start[name][rows:])


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_training_lowers_the_loss(device: bc.Device, dtype: str) -> None:
    """With weights of its own, whose views are moved in place: what the fused product reads is what was trained."""
    encoder = Encoder(device, dtype)
    batch = encoder.batch(tokens_of(PAIRS[0] + PAIRS[1]))
    optimizer = AdamW(encoder.model.weights, device, lr=1e-4)
    before = bc.to_host(encoder.model.weights["encoder.layer.3.attention.self.query_key_value.weight"]).copy()
    losses = []
    for _ in range(4):
        loss, grads = loss_and_gradients(encoder.model, batch, device, SCALE)
        optimizer.step(grads)
        losses.append(float(bc.to_host(loss)))
    assert losses[-1] < 0.8 * losses[0]
    after = bc.to_host(encoder.model.weights["encoder.layer.3.attention.self.query_key_value.weight"])
    assert all((after[i : i + 384] != before[i : i + 384]).any() for i in (0, 384, 768))


# --- what is wrong ----------------------------------------------------------------------------------------------------


def test_long_sentences_are_cut_and_keep_their_end() -> None:
    tokens, left_out = Tokens().of(["word " * 1000, "short"])
    assert [len(t) for t in tokens] == [LONGEST, 3]
    assert left_out == [1002 - LONGEST, 0]
    assert tokens[0][-1] == tokens[1][-1]


def test_shapes_that_do_not_fit(device: bc.Device) -> None:
    encoder = encoder_on(device, "f32")
    with pytest.raises(bc.InvalidProblemError, match="sentences of up to 520 tokens; expected at most 512"):
        encoder.model(encoder.batch([[101] * 513]))
    batch = encoder.batch(tokens_of()[:2])
    with pytest.raises(bc.InvalidProblemError):
        encoder.model(Batch(batch.tokens, batch.lengths[:1], batch.shares))
    with pytest.raises(bc.InvalidProblemError):
        encoder.model(Batch(batch.tokens, batch.lengths, batch.shares[:, 1:]))


def test_a_damaged_file_is_told(tmp_path: Any) -> None:
    header = b'{"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,20]}}'
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(20))
    with pytest.raises(ValueError, match=r"w has 20 bytes; expected float32 \(2, 3\)"):
        read_safetensors(path)
