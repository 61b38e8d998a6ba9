"""Models of torchvision and timm in the mode: their values, their training as one hash, and rows that know no neighbours."""

from __future__ import annotations

import copy
import importlib.util
from typing import Any

import pytest
import torch

import baracuda.torch as bt
from tests.conformance.vision_models import CLIENTS, ELEMENTS, hashes, train

#: What is tried without --full: the others compile many convolutions.
QUICK = {"vit"}
CLIENT = pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in CLIENTS])


@pytest.fixture(autouse=True)
def packages(request: pytest.FixtureRequest) -> None:
    package = CLIENTS[request.node.callspec.params["name"]].package
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


@CLIENT
@pytest.mark.parametrize("element", [pytest.param(e, marks=pytest.mark.slow if e == "bfloat16" else ()) for e in ELEMENTS])
def test_training_ends_in_its_hash_on_every_device(name: str, element: str, device: str) -> None:
    got = train(name, device, element=ELEMENTS[element])
    assert got.losses[-1] < got.losses[0]
    assert got.sha256() == hashes()[element][name]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIENTS)
def test_compiled_training_ends_in_the_hash_of_the_mode(name: str, device: str) -> None:
    assert train(name, device, compiled=True).sha256() == hashes()["float32"][name]


@CLIENT
def test_logits_are_as_near_the_truth_as_pytorchs(name: str, device: str) -> None:
    model, x, _, got = train(name, device, 2)
    with torch.no_grad():
        pytorchs, truth = model(x), copy.deepcopy(model).double()(x.double())
    error = (got - truth).abs().max().item()
    assert error < 4 * (pytorchs - truth).abs().max().item() + 1e-6 * truth.abs().max().item()


@CLIENT
@pytest.mark.parametrize("way", ["f32", "channels last", "bf16", "autocast"])
def test_rows_know_no_neighbours(name: str, way: str, device: str) -> None:
    options: dict[str, Any] = {
        "f32": {},
        "channels last": {"memory_format": torch.channels_last},
        "bf16": {"element": torch.bfloat16},
        "autocast": {"autocast": torch.bfloat16},
    }[way]
    model, x, _, got = train(name, device, 0, **options)
    with bt.reproducible(), torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=way == "autocast"):
        assert torch.equal(model(x[1:2]), got[1:2])
        assert torch.equal(model(x[[2, 0, 2]]), got[[2, 0, 2]])
    if way == "channels last":
        assert torch.equal(train(name, device, 0).logits, got)
