"""Models of the package transformers as clients of the mode: small configurations, weights and inputs of a seed.

Every option that a version of the package may have another default for is said, so that the program is one. Whisper drops layers
next to never: where that is said to be never, some versions draw a number for each layer and others none.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import baracuda.torch as bt

FOLDER = Path(__file__).parent
#: The SHA-256 of what each client comes to, and what each client is.
HASHES, MODELS = FOLDER / "clients.json", FOLDER / "client_models.json"
CLIENTS: dict[str, dict[str, Any]] = json.loads(MODELS.read_text())
HASHES_KNOWN: dict[str, str] = json.loads(HASHES.read_text())
CLASSIFYING = ("bert", "vit")
VOCABULARY, LENGTH, BATCH = 160, 12, 5
ATTENTIONS = ("sdpa", "eager")
ELEMENTS = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def _package() -> Any:
    """The package transformers; without torchvision, which it imports where it finds it, where that does not load."""
    import transformers.utils
    from transformers.utils import import_utils

    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):
        for module in (transformers.utils, import_utils):
            module.is_torchvision_available = lambda: False
    return transformers


def made(name: str, attention: str = "sdpa") -> Any:
    """The model of a client, its weights drawn under the mode."""
    package, client = _package(), CLIENTS[name]
    config, model = getattr(package, client["config"]), getattr(package, client["model"])
    torch.manual_seed(0)
    with bt.reproducible():
        made = model(config(**client["options"], attn_implementation=attention))
        if name == "vit":  # it asks for truncated normal numbers, which versions of PyTorch make in ways of their own
            for p in (p for p in made.parameters() if p.ndim > 1):
                torch.nn.init.normal_(p, 0.0, 0.1)
    return made


def inputs(name: str, batch: int = BATCH, element: torch.dtype = torch.float32) -> dict[str, Any]:
    """What the model is given, of a generator of its own, padded rows among it; labels too."""
    given, g = CLIENTS[name]["given"], torch.Generator().manual_seed(1)
    tokens = torch.randint(2, VOCABULARY, (batch, LENGTH), generator=g)
    seen = torch.arange(LENGTH) < torch.tensor([LENGTH - 3 * (i % 3) for i in range(batch)])[:, None]
    numbers = torch.randint(-1000, 1000, (batch, 3, 32, 32), generator=g) / 500
    if given == "pictures":
        return {"pixel_values": numbers.to(element), "labels": torch.arange(batch) % 5}
    labels = torch.arange(batch) % 5 if name in CLASSIFYING else tokens.masked_fill(~seen, -100)
    if given == "sounds":
        return {"input_features": numbers.flatten()[: batch * 8 * 32].reshape(batch, 8, 32).to(element), "labels": labels}
    if given == "pairs":
        labels = labels.flip(1)[:, :7].contiguous()
    return {"input_ids": tokens * seen, "attention_mask": seen.long(), "labels": labels}


def on(device: str, values: dict[str, Any]) -> dict[str, Any]:
    """Inputs on a device."""
    return {n: v.to(device) for n, v in values.items()}


@dataclass(frozen=True)
class Training:
    """How a client is trained; `still` is without dropout, and with attention in one function."""

    element: str = "f32"
    attention: str = "sdpa"
    autocast: bool = False
    still: bool = False
    foreach: bool | None = None
    fused: bool | None = None


TRAININGS = {
    "f32": Training(),
    "f32 eager": Training(attention="eager"),
    "f32 still": Training(still=True),
    "f32 foreach": Training(foreach=True),
    "f32 fused": Training(fused=True),
    "autocast": Training(autocast=True),
    "autocast still": Training(autocast=True, still=True),
    "bf16": Training("bf16"),
    "bf16 eager": Training("bf16", "eager"),
    "bf16 still": Training("bf16", still=True),
    "bf16 foreach": Training("bf16", foreach=True),
    "bf16 fused": Training("bf16", fused=True),
    "f16": Training("f16"),
}


def trained(name: str, how: Training, device: str = "cpu", steps: int = 10) -> tuple[Any, list[float]]:
    """A client after some steps of AdamW, and its losses."""
    own = ELEMENTS[how.element]
    model = made(name, how.attention).to(device=device, dtype=own).train(not how.still)
    update = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, eps=1e-4, foreach=how.foreach, fused=how.fused)
    given, losses = on(device, inputs(name, element=own)), []
    torch.manual_seed(2)
    with bt.reproducible():
        for _ in range(steps):
            update.zero_grad()
            with torch.autocast(device, torch.bfloat16, enabled=how.autocast):
                loss = model(**given).loss
            loss.backward()
            update.step()
            losses.append(loss.detach())
    return model, [x.item() for x in losses]


def digest(*tensors: Any) -> str:
    """One SHA-256 of all elements of some tensors."""
    found = hashlib.sha256()
    for t in tensors:
        found.update(t.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


def known(program: str, device: str) -> str | None:
    """The digest that a program has. Under autocast some programs are others on a GPU: PyTorch has a list for each device."""
    return HASHES_KNOWN.get(f"{program} on {device}", HASHES_KNOWN.get(program))


def parameters(model: Any) -> list[Any]:
    """Those of a model, by their names."""
    return [p for _, p in sorted(model.named_parameters())]


def logits(model: Any, given: dict[str, Any]) -> Any:
    """What a model says in inference."""
    with torch.no_grad():
        return model.eval()(**given).logits


GENERATIONS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "beams": {"do_sample": False, "num_beams": 3},
    "sampled": {"do_sample": True, "top_k": 20, "top_p": 0.9, "temperature": 0.8},
}


def generated(model: Any, given: dict[str, Any], how: str, tokens: int = 12) -> Any:
    """Tokens that follow, of prompts that are padded on the left where the model is a decoder alone."""
    given = {n: v for n, v in given.items() if n != "labels"}
    if not model.config.is_encoder_decoder:
        given = {n: v.flip(1) for n, v in given.items()}
    torch.manual_seed(5)
    return model.eval().generate(**given, max_new_tokens=tokens, **GENERATIONS[how])
