"""Models of transformers in the mode: their values against PyTorch's in float64, their bits against those that are known."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import baracuda.torch as bt

pytest.importorskip("transformers")
from tests.conformance import clients
from tests.conformance.clients import ATTENTIONS, CLASSIFYING, CLIENTS, ELEMENTS, GENERATIONS, TRAININGS

GENERATING = [n for n in CLIENTS if n not in CLASSIFYING]


def some(sample: set[tuple[str, ...]], *axes: Any) -> Any:
    """All combinations, of which the sample runs without --full."""
    from itertools import product

    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(*case, marks=marks[case in sample]) for case in product(*axes)]


def model_of(name: str, attention: str, element: str, device: str) -> tuple[Any, dict[str, Any]]:
    own = ELEMENTS[element]
    model = clients.made(name, attention).to(device=device, dtype=own)
    return model, clients.on(device, clients.inputs(name, element=own))


@pytest.mark.parametrize(
    ("name", "element", "attention"),
    some({("bert", "f32", "sdpa"), ("llama", "bf16", "sdpa"), ("t5", "f32", "eager")}, CLIENTS, ELEMENTS, ATTENTIONS),
)
def test_logits_are_as_near_to_float64_as_pytorchs_and_rows_are_alone(
    name: str, element: str, attention: str, device: str
) -> None:
    model, given = model_of(name, attention, element, device)
    with bt.reproducible():
        ours = clients.logits(model, given)
        for i in range(clients.BATCH):
            assert torch.equal(clients.logits(model, {n: v[i : i + 1] for n, v in given.items()})[0], ours[i])
    assert clients.digest(ours) == clients.known(f"{name} logits {element} {attention}", device)
    theirs = clients.logits(model, given)
    want = clients.logits(model.double(), {n: v.double() if v.is_floating_point() else v for n, v in given.items()})
    error, other = ((y - want).abs().max() for y in (ours, theirs))
    assert 0 < error < 3 * other


@pytest.mark.parametrize(
    ("name", "how"),
    some({("bert", "f32"), ("gpt2", "f32 foreach"), ("llama", "bf16 fused"), ("vit", "f32 still")}, CLIENTS, TRAININGS),
)
def test_training_has_its_bits(name: str, how: str, device: str) -> None:
    model, losses = clients.trained(name, TRAININGS[how], device)
    assert losses[-1] < losses[0] - 0.5
    assert clients.digest(*clients.parameters(model)) == clients.known(f"{name} training {how}", device)


def test_optimizers_over_lists_have_the_bits_of_those_over_tensors() -> None:
    for name in CLIENTS:
        for element in ("f32", "bf16"):
            assert (
                clients.HASHES_KNOWN[f"{name} training {element} foreach"] == clients.HASHES_KNOWN[f"{name} training {element}"]
            )


@pytest.mark.parametrize(("name", "how"), some({("gpt2", "greedy"), ("qwen3", "sampled")}, GENERATING, GENERATIONS))
@pytest.mark.parametrize("element", ["f32", pytest.param("bf16", marks=pytest.mark.slow)])
def test_generation(name: str, how: str, element: str, device: str) -> None:
    """Tokens that nobody draws are PyTorch's in f32; in bf16 two that are as likely may change places."""
    model, given = model_of(name, "sdpa", element, device)
    with bt.reproducible():
        ours = clients.generated(model, given, how)
        if how == "greedy":
            first = {n: v[:1] for n, v in given.items()}
            assert torch.equal(clients.generated(model, first, how)[0], ours[0])
    assert clients.digest(ours) == clients.known(f"{name} {how} {element}", device)
    if how != "sampled" and element == "f32":
        assert torch.equal(clients.generated(model, given, how), ours)
