"""Models of torchvision and timm, small ones, with weights and pictures by a fixed seed: what becomes of each in training."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

import baracuda.torch as bt
from baracuda.torch.compiled import baracuda_backend
from examples.vision.torchvision_operators import models


def torchvision(name: str, **options: Any) -> Any:
    return getattr(models(), name)(num_classes=10, **options)


def timm(name: str, **options: Any) -> Any:
    models()
    import timm as package

    return package.create_model(name, num_classes=10, **options)


def _sgd(parameters: Any) -> Any:
    return torch.optim.SGD(parameters, lr=0.02, momentum=0.9, weight_decay=1e-4, nesterov=True)


def _adamw(parameters: Any) -> Any:
    return torch.optim.AdamW(parameters, lr=1e-3)


class Client(NamedTuple):
    """A model, the side of its pictures, and what trains it."""

    package: str
    model: Callable[[], Any]
    side: int
    optimizer: Callable[[Any], Any] = _adamw


VIT = {"image_size": 32, "patch_size": 16, "num_layers": 3, "num_heads": 4, "hidden_dim": 48, "mlp_dim": 96}
SWIN = {"img_size": 32, "patch_size": 4, "window_size": 4, "embed_dim": 24, "depths": (2, 2), "num_heads": (2, 4)}
CLIENTS = {
    "resnet18": Client("torchvision", partial(torchvision, "resnet18"), 64, _sgd),
    "mobilenet_v3_small": Client("torchvision", partial(torchvision, "mobilenet_v3_small", dropout=0.2), 64),
    "vit": Client("torchvision", partial(torchvision, "VisionTransformer", **VIT, dropout=0.1, attention_dropout=0.1), 32),
    "convnext_atto": Client("timm", partial(timm, "convnext_atto", drop_path_rate=0.1, drop_rate=0.1), 64),
    "efficientnet_b0": Client("timm", partial(timm, "efficientnet_b0", drop_path_rate=0.1, drop_rate=0.1), 64),
    "regnetx_002": Client("timm", partial(timm, "regnetx_002", drop_path_rate=0.1), 64, _sgd),
    "swin": Client("timm", partial(timm, "swin_tiny_patch4_window7_224", drop_path_rate=0.1, **SWIN), 32),
}


def draw_weights(model: Any, seed: int) -> None:
    """First weights, the same with every version of the packages: how they draw theirs has changed before."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim > 1:
                p.copy_(torch.randn(p.shape) * math.sqrt(2 / math.prod(p.shape[1:])))
            elif name.endswith("bias"):
                p.zero_()


class Trained(NamedTuple):
    model: Any
    pictures: Any
    losses: list[float]
    logits: Any

    def sha256(self) -> str:
        """Of all parameters and buffers, and of the logits that they give."""
        found = hashlib.sha256()
        for value in (*self.model.state_dict().values(), self.logits):
            found.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        return found.hexdigest()


def train(
    name: str,
    device: str = "cpu",
    steps: int = 10,
    *,
    memory_format: Any = torch.contiguous_format,
    element: Any = torch.float32,
    autocast: Any = None,
    mode: Any = None,
    seed: int = 0,
    compiled: bool = False,
) -> Trained:
    """A model after some steps, everything of it computed in the mode: its first weights, the pictures, the steps, the logits."""
    client = CLIENTS[name]
    losses = []
    with mode or bt.reproducible():
        model = client.model()
        draw_weights(model, seed)
        x, target = torch.randn(4, 3, client.side, client.side), torch.randint(0, 10, (4,))
        model = model.to(device, element, memory_format=memory_format)
        x, target = x.to(device, element, memory_format=memory_format), target.to(device)
        optimizer = client.optimizer(model.parameters())
        run = torch.compile(model, backend=baracuda_backend) if compiled else model
        for _ in range(steps):
            optimizer.zero_grad()
            with torch.autocast(device, autocast or torch.bfloat16, enabled=autocast is not None):
                loss = F.cross_entropy(run(x).float(), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad(), torch.autocast(device, autocast or torch.bfloat16, enabled=autocast is not None):
            logits = run(x)
    return Trained(model, x, losses, logits)


#: SHA-256 of each client after ten steps, by element, on every device; `python -m tests.conformance.vision_models` writes it.
HASHES = Path(__file__).with_name("vision_hashes.json")
ELEMENTS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def hashes() -> dict[str, dict[str, str]]:
    return json.loads(HASHES.read_text()) if HASHES.exists() else {}


if __name__ == "__main__":
    found = {e: {name: train(name, element=t).sha256() for name in CLIENTS} for e, t in ELEMENTS.items()}
    HASHES.write_text(json.dumps(found, indent=2) + "\n")
