"""torchvision's ResNet-18 learns to read digits, with the same bits on every device.

    python examples/vision/train.py [--device cuda] [--steps N]

The model is torchvision's own, the training loop PyTorch's own; `baracuda.torch.reproducible` is the only line that is not. Under it
first weights, dropout, the order of pictures, forward, backward and the optimizer are computed by this library. The pictures are the
1,797 handwritten digits that come with scikit-learn, 1,500 of which are learnt. What comes out is named by one SHA-256, of all
parameters and statistics and of the scores of the pictures that were not learnt; it is compared with the reference below.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torchvision_operators import models

import baracuda.torch

LEARNT, BATCH, STEPS = 1500, 50, 90
#: After that many steps, on every device.
REFERENCE = ""


def pictures(device: str) -> tuple[Any, Any]:
    """The digits, (1797, 3, 16, 16) from -1 to 1, and what each of them is."""
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32, device=device) / 8 - 1
    x = x.repeat_interleave(2, 1).repeat_interleave(2, 2)  # pixels of 2 x 2
    return x[:, None].expand(-1, 3, -1, -1).contiguous(), torch.tensor(digits.target, device=device)


def resnet(device: str) -> Any:
    model = models().resnet18(num_classes=10)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, padding=1, bias=False)  # as for small pictures: no stride, no pooling
    model.maxpool = torch.nn.Identity()
    model.fc = torch.nn.Sequential(torch.nn.Dropout(0.2), model.fc)
    return model.to(device)


def batches(count: int, steps: int, device: str) -> Iterator[Any]:
    """Which pictures each step learns from: all of them in some order, then in another."""
    while steps > 0:
        for index in torch.randperm(count).to(device).split(BATCH)[:steps]:
            yield index
        steps -= -(-count // BATCH)


def train(device: str, steps: int) -> tuple[Any, Any, Any]:
    """The model, its scores of the pictures that it has not learnt, and what these are."""
    torch.manual_seed(0)
    with baracuda.torch.reproducible():
        x, target = pictures(device)
        model = resnet(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4, nesterov=True)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=max(steps, STEPS))
        began = time.perf_counter()
        for step, index in enumerate(batches(LEARNT, steps, device), 1):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[index]), target[index])
            loss.backward()
            optimizer.step()
            schedule.step()
            show(step, steps, loss.item(), time.perf_counter() - began)
        model.eval()
        with torch.no_grad():
            scores = torch.cat([model(part) for part in x[LEARNT:].split(100)])
    return model, scores, target[LEARNT:]


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
    print(
        f"ResNet-18, {given.steps} steps with {BATCH} of {LEARNT} digits each, on {given.device} ({name}), PyTorch {torch.__version__}"
    )
    model, scores, target = train(given.device, given.steps)
    right = (scores.argmax(1) == target).float().mean().item()
    digest = sha256(model, scores)
    print(f"{right:.1%} of {len(target)} other digits are read right")
    print(f"SHA-256 {digest}")
    if given.steps != STEPS:
        return 0
    print("which is the reference" if digest == REFERENCE else f"the reference is {REFERENCE}: THESE BITS DIFFER")
    return 0 if digest == REFERENCE else 1


if __name__ == "__main__":
    raise SystemExit(main())
