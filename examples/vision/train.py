"""torchvision's ResNet-18 learns which way stripes run, with the same bits on every device.

    python examples/vision/train.py [--device cuda] [--steps N]

The model is torchvision's own, the training loop PyTorch's own; `baracuda.torch.reproducible` is the only line that is not.
Under it pictures, first weights, dropout, forward, backward and the optimizer are computed by this library. The pictures are
stripes of random colours, widths and places under noise, in ten directions, drawn anew in each step, so that there is nothing to
download. What comes out is named by one SHA-256, of all parameters and statistics and of the scores of pictures that were not
learnt from; it is compared with the reference below.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
import time
from typing import Any

import torch
import torch.nn.functional as F
from torchvision_operators import models

import baracuda.torch

DIRECTIONS, SIDE, BATCH, STEPS, NOISE = 10, 24, 32, 60, 0.6
#: After that many steps, on every device.
REFERENCE = "db3788a785cb2e071392371b5f7730986ea3b152c2bc76e61936f539e388cade"


def pictures(count: int, device: str) -> tuple[Any, Any]:
    """Pictures (count, 3, SIDE, SIDE), and in which direction the stripes of each run."""
    direction = torch.randint(0, DIRECTIONS, (count,), device=device)
    waves, place = (torch.rand(count, 1, 1, device=device) for _ in range(2))
    angle, grid = direction[:, None, None] * (math.pi / DIRECTIONS), torch.linspace(-0.5, 0.5, SIDE, device=device)
    across = torch.cos(angle) * grid[:, None] + torch.sin(angle) * grid
    stripes = torch.sin(2 * math.pi * ((2 + 4 * waves) * across + place))
    colour, noise = torch.rand(count, 3, 1, 1, device=device), torch.randn(count, 3, SIDE, SIDE, device=device)
    return colour * stripes[:, None] + NOISE * noise, direction


def resnet(device: str) -> Any:
    model = models().resnet18(num_classes=10)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, padding=1, bias=False)  # as for small pictures: no stride, no pooling
    model.maxpool = torch.nn.Identity()
    model.fc = torch.nn.Sequential(torch.nn.Dropout(0.2), model.fc)
    return model.to(device)


def train(device: str, steps: int) -> tuple[Any, Any, Any]:
    """The model, its scores of pictures that it has not learnt from, and what these are."""
    torch.manual_seed(0)
    with baracuda.torch.reproducible():
        model = resnet(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4, nesterov=True)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        began = time.perf_counter()
        for step in range(1, steps + 1):
            x, target = pictures(BATCH, device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
            schedule.step()
            show(step, steps, loss.item(), time.perf_counter() - began)
        model.eval()
        x, target = pictures(400, device)
        with torch.no_grad():
            scores = torch.cat([model(part) for part in x.split(100)])
    return model, scores, target


def show(step: int, steps: int, loss: float, seconds: float) -> None:
    bar = "#" * (30 * step // steps)
    end = "\n" if step == steps else ""
    print(f"\r[{bar:30}] step {step:3} of {steps}, loss {loss:.4f}, {seconds:5.1f} s", end=end, file=sys.stderr, flush=True)


def sha256(model: Any, scores: Any) -> str:
    found = hashlib.sha256()
    for value in (*model.state_dict().values(), scores):
        found.update(value.cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument(
        "--device", default="cuda" if torch.cuda.is_available() else "cpu", help="cpu or cuda; default: %(default)s"
    )
    options.add_argument("--steps", type=int, default=STEPS, help="how many; the reference is that of %(default)s")
    given = options.parse_args()
    name = torch.cuda.get_device_name(given.device) if given.device.startswith("cuda") else "CPU"
    print(f"ResNet-18, {given.steps} steps of {BATCH} pictures, on {given.device} ({name}), PyTorch {torch.__version__}")
    model, scores, target = train(given.device, given.steps)
    right = (scores.argmax(1) == target).float().mean().item()
    digest = sha256(model, scores)
    print(f"{right:.1%} of {len(target)} other pictures are named right")
    print(f"SHA-256 {digest}")
    if given.steps != STEPS:
        return 0
    print("which is the reference" if digest == REFERENCE else f"the reference is {REFERENCE}: THESE BITS DIFFER")
    return 0 if digest == REFERENCE else 1


if __name__ == "__main__":
    raise SystemExit(main())
