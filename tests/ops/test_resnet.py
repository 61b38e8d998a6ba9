"""The example network: ResNet-50 on a small picture, values against PyTorch, bits against the reference ones."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import baracuda

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "resnet"))

from resnet import Layer, ResNet50, prepared

#: Of the scores below in f32; bf16's are in integers of 23 bits.
REFERENCE = {"f32": "b2ae7c2f493134d4", "bf16": "4e768f9a67d3dcfb"}


def _picture() -> Any:
    y, x = np.mgrid[0:90, 0:120]
    return np.stack([(x * y) % 256, (3 * x + 5 * y) % 256, (x * x + 7 * y) % 251], -1).astype(np.uint8)[None]


def _of_torch(x: torch.Tensor, layer: Layer, residual: Any = None, activation: bool = True) -> torch.Tensor:
    weight, scale, bias = (torch.from_numpy(baracuda.to_host(t)).double() for t in (layer.weight, layer.scale, layer.bias))
    y = F.conv2d(x, weight, None, layer.stride, weight.shape[-1] // 2)
    y = y * scale[:, None, None] + bias[:, None, None] + (0 if residual is None else residual)
    return y.relu() if activation else y


def _expected(network: ResNet50, x: torch.Tensor) -> torch.Tensor:
    x = F.max_pool2d(_of_torch(x, network.stem), 3, 2, 1)
    for block in network.blocks:
        straight = x if block.shortcut is None else _of_torch(x, block.shortcut, activation=False)
        first, second, third = block.layers
        x = _of_torch(_of_torch(_of_torch(x, first), second), third, straight)
    return x.mean((2, 3)) @ torch.from_numpy(baracuda.to_host(network.classes)).double().T


@pytest.mark.parametrize("element", REFERENCE)
def test_resnet(element: str, device: str) -> None:
    place = baracuda.Device.cuda(0) if device == "cuda" else baracuda.Device.cpu()
    network = ResNet50(0, element, place)
    x = prepared(baracuda.to_device(_picture(), place), element)[:, :, 80:144, 80:144]
    y = baracuda.to_host(network(x))
    assert hashlib.sha256(y.tobytes()).hexdigest()[:16] == REFERENCE[element]
    if element == "f32":
        picture = torch.from_numpy(_picture()[0].copy()).permute(2, 0, 1)[None].double() / 255
        mean, std = (torch.tensor(v).double()[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        wide = F.interpolate((picture - mean) / std, (256, 341), mode="bilinear", antialias=True)[:, :, 16:240, 59:283]
        expected = _expected(network, wide[:, :, 80:144, 80:144])
        assert np.abs(y - expected.numpy()).max() < 2e-4 * float(expected.abs().max())
