"""ResNet-50 as torchvision has it, forward: a picture in, a thousand scores out, with the same bits on every device.

    python examples/resnet/resnet.py [PICTURE] [--batch N]

The weights are drawn here, from a key, by `baracuda.randn` and `baracuda.rand`, so that there is nothing to download: the scores
mean nothing, but every layer has its real shape. The picture, by default the flower that comes with scikit-learn, is read by
Pillow, resized to 256 with antialiasing, cropped to 224 and normalized as torchvision does it. The same is done on the CPU and on
the first GPU if there is one, in f32 and in bf16, and the scores are compared bit for bit.

Source: He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition" (2015); the layers are those of torchvision 0.26's
`resnet50`, with strides in the 3 x 3 convolutions.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import baracuda

Tensor = Any
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
EXPANSION = 4
EPS = 1e-5
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Layer:
    """A convolution with the batch normalization behind it, which at inference is a scale and a bias of each channel."""

    weight: Tensor
    scale: Tensor
    bias: Tensor
    stride: int

    def __call__(self, x: Tensor, *, residual: Tensor = None, activation: str = "relu") -> Tensor:
        padding = int(self.weight.shape[-1]) // 2
        return baracuda.conv2d(
            x, self.weight, self.bias, self.stride, padding, scale=self.scale, residual=residual, activation=activation
        )


@dataclass(frozen=True)
class Bottleneck:
    """1 x 1, 3 x 3 and 1 x 1 convolutions beside what goes straight on."""

    layers: tuple[Layer, Layer, Layer]
    shortcut: Layer | None

    def __call__(self, x: Tensor) -> Tensor:
        straight = x if self.shortcut is None else self.shortcut(x, activation="none")
        first, second, third = self.layers
        return third(second(first(x)), residual=straight)


class Draws:
    """Weights, each from a key of its own."""

    def __init__(self, seed: int, element: str, device: baracuda.Device) -> None:
        self._key, self._count = baracuda.rng_key(seed, device=device), 0
        self.element = element

    def key(self) -> Tensor:
        self._count += 1
        return baracuda.rng_fold_in(self._key, self._count)

    def conv(self, inputs: int, outputs: int, size: int, stride: int = 1, gain: float = 1.0) -> Layer:
        """A convolution by He's initialization, and a batch normalization with statistics of some training."""
        deviation = (2.0 / (inputs * size * size)) ** 0.5
        weight = baracuda.normal(self.key(), 0.0, deviation, shape=(outputs, inputs, size, size))
        gamma = baracuda.rand(self.key(), outputs, low=0.5 * gain, high=1.5 * gain)
        variance = baracuda.rand(self.key(), outputs, low=0.5, high=1.5)
        mean = baracuda.normal(self.key(), 0.0, 0.1, shape=outputs)
        beta = baracuda.normal(self.key(), 0.0, 0.1, shape=outputs)
        scale = baracuda.mul(gamma, baracuda.rsqrt(baracuda.add(variance, EPS)))
        bias = baracuda.sub(beta, baracuda.mul(mean, scale))
        return Layer(*(baracuda.cast(t, dtype=self.element) for t in (weight, scale, bias)), stride)


class ResNet50:
    """The network."""

    def __init__(self, seed: int, element: str, device: baracuda.Device) -> None:
        draws = Draws(seed, element, device)
        self.stem = draws.conv(3, 64, 7, 2)
        self.blocks: list[Bottleneck] = []
        inputs = 64
        for width, blocks, stride in STAGES:
            outputs = width * EXPANSION
            for number in range(blocks):
                step = stride if number == 0 else 1
                layers = (draws.conv(inputs, width, 1), draws.conv(width, width, 3, step), draws.conv(width, outputs, 1, 1, 0.2))
                shortcut = draws.conv(inputs, outputs, 1, step) if number == 0 else None
                self.blocks.append(Bottleneck(layers, shortcut))
                inputs = outputs
        self.classes = baracuda.normal(draws.key(), 0.0, 0.01, shape=(1000, inputs), dtype=element)

    def __call__(self, x: Tensor) -> Tensor:
        """Scores (batch, 1000) of pictures (batch, 3, 224, 224)."""
        x = baracuda.max_pool2d(self.stem(x), 3, 2, 1)
        for block in self.blocks:
            x = block(x)
        return baracuda.linear(baracuda.mean(x, axis=(2, 3)), self.classes)


def prepared(pixels: Tensor, element: str) -> Tensor:
    """What the network sees of pictures (batch, height, width, 3) of u8: shorter side 256, the middle 224, normalized."""
    x = baracuda.image_normalize(pixels, MEAN, STD, dtype="f32")
    height, width = x.shape[2:]
    short = min(height, width)
    size = (256 * height // short, 256 * width // short)
    x = baracuda.interpolate(x, size, mode="bilinear", align_corners=False, antialias=True)
    top, left = ((n - 224 + 1) // 2 for n in size)
    return baracuda.cast(x[:, :, top : top + 224, left : left + 224], dtype=element)


def picture(path: Path | None) -> np.ndarray[Any, Any]:
    """The pixels of a picture, (height, width, 3) of u8."""
    if path is None:
        from sklearn.datasets import load_sample_image

        return np.asarray(load_sample_image("flower.jpg"))
    from PIL import Image

    return np.asarray(Image.open(path).convert("RGB"))


def scores(pixels: np.ndarray[Any, Any], element: str, device: baracuda.Device) -> tuple[np.ndarray[Any, Any], float]:
    """The network's scores on a device, and how long a second pass took in seconds."""
    network = ResNet50(0, element, device)
    x = prepared(baracuda.to_device(pixels, device), element)
    y = baracuda.to_host(network(x))
    start = time.perf_counter()
    again = baracuda.to_host(network(x))
    seconds = time.perf_counter() - start
    assert again.tobytes() == y.tobytes()
    return y, seconds


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("picture", nargs="?", type=Path, help="a picture that Pillow reads; default: scikit-learn's flower")
    options.add_argument("--batch", type=int, default=1, help="how many copies of it")
    given = options.parse_args()
    pixels = np.repeat(picture(given.picture)[None], given.batch, 0)
    devices = [baracuda.Device.cpu()]
    try:
        baracuda.rng_key(0, device="cuda:0")
        devices.append(baracuda.Device.cuda(0))
    except baracuda.Error as error:
        print(f"no GPU: {error}")
    differ = 0
    for element in ("f32", "bf16"):
        first = None
        for device in devices:
            y, seconds = scores(pixels, element, device)
            digest = hashlib.sha256(y.tobytes()).hexdigest()[:16]
            best = np.argsort(-y[0].astype(np.float32))[:5].tolist()
            print(f"{element:4} {device!s:7} {digest}  classes {best}  {seconds * 1e3:.1f} ms for {len(y)}")
            first = digest if first is None else first
            differ += digest != first
    return 1 if differ else 0


if __name__ == "__main__":
    raise SystemExit(main())
