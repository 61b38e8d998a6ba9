"""Convolutions, transforms, pooling, images, LSTM and random draws on a CPU against PyTorch and SciPy, two threads each.

    python -m benchmarks.windows

prints each case, then the geometric mean of each group and what is below 0.9: the table of docs/performance-windows.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.fft
import torch
import torch.nn.functional as F

import baracuda

Call = Callable[[], Any]
#: Channels in and out, kernel, stride, height and width, groups: of ResNet-50, then of MobileNet-v3.
CONVOLUTIONS = (
    (3, 64, 7, 2, 224, 1), (64, 64, 1, 1, 56, 1), (64, 64, 3, 1, 56, 1), (64, 256, 1, 1, 56, 1), (128, 128, 3, 2, 56, 1),
    (128, 128, 3, 1, 28, 1), (256, 512, 1, 2, 56, 1), (256, 256, 3, 1, 14, 1), (1024, 256, 1, 1, 14, 1), (512, 512, 3, 1, 7, 1),
    (512, 2048, 1, 1, 7, 1), (16, 16, 3, 1, 112, 16), (72, 72, 5, 2, 56, 72), (120, 120, 5, 1, 28, 120),
    (240, 240, 3, 2, 28, 240), (480, 480, 3, 1, 14, 480), (960, 960, 5, 1, 7, 960), (16, 64, 1, 1, 112, 1),
    (160, 960, 1, 1, 7, 1),
)  # fmt: skip
LENGTHS = (60, 64, 97, 128, 243, 256, 500, 512, 1000, 1024, 2048, 3125, 4096, 8192, 10007, 16384, 65536)
_generator = torch.Generator().manual_seed(0)


def _drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=_generator)


def least(calls: tuple[Call, Call], rounds: int = 7) -> list[float]:
    """The least time of each of two calls that take turns, in seconds."""
    times = [math.inf, math.inf]
    for call in calls:
        call()
        call()
    for _ in range(rounds):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[i] = min(times[i], time.perf_counter() - start)
    return times


def convolutions(batch: int, last: bool) -> Iterator[tuple[str, Call, Call]]:
    """Convolutions of f32 in either memory order."""
    for inputs, outputs, k, stride, size, groups in CONVOLUTIONS:
        x, w = _drawn(batch, inputs, size, size), _drawn(outputs, inputs // groups, k, k)
        if last:
            x, w = (t.contiguous(memory_format=torch.channels_last) for t in (x, w))
        options: dict[str, Any] = {"stride": stride, "padding": k // 2, "groups": groups}
        name = f"{inputs}->{outputs} {k}x{k}/{stride} {size} g{groups}"
        yield name, lambda x=x, w=w, o=options: baracuda.conv2d(x, w, **o), lambda x=x, w=w, o=options: F.conv2d(x, w, **o)


def transforms(real: bool) -> Iterator[tuple[str, Call, Call]]:
    """Rows of about a million numbers in all."""
    ours, theirs = (baracuda.rfft, scipy.fft.rfft) if real else (baracuda.fft, scipy.fft.fft)
    for n in LENGTHS:
        rows = max(1, (1 << 20) // n)
        x = _drawn(rows, n).numpy()
        x = x if real else (x + 1j * _drawn(rows, n).numpy()).astype(np.complex64)
        yield f"{rows}x{n}", lambda x=x: ours(x), lambda x=x: theirs(x, workers=2)


def pooling() -> Iterator[tuple[str, Call, Call]]:
    """Pooling of pictures with many channels."""
    x = _drawn(8, 64, 112, 112)
    yield "max 3/2", lambda: baracuda.max_pool2d(x, 3, 2, 1), lambda: F.max_pool2d(x, 3, 2, 1)
    yield "avg 2", lambda: baracuda.avg_pool2d(x, 2), lambda: F.avg_pool2d(x, 2)
    yield "avg 3/1", lambda: baracuda.avg_pool2d(x, 3, 1, 1), lambda: F.avg_pool2d(x, 3, 1, 1)
    yield "adaptive 7", lambda: baracuda.adaptive_avg_pool2d(x, 7), lambda: F.adaptive_avg_pool2d(x, 7)


def images() -> Iterator[tuple[str, Call, Call]]:
    """Resizing, and samples at places that are given."""
    x, grid = _drawn(8, 32, 64, 64), torch.rand(8, 64, 64, 2, generator=_generator) * 2 - 1
    for mode in ("nearest", "bilinear", "bicubic"):
        options: dict[str, Any] = {"mode": mode} | ({} if mode == "nearest" else {"align_corners": False})
        for size in ((128, 128), (40, 40)):
            yield (
                f"{mode} {size[0]}",
                lambda s=size, o=options: baracuda.interpolate(x, s, **o),
                lambda s=size, o=options: F.interpolate(x, s, **o),
            )
    yield "grid_sample", lambda: baracuda.grid_sample(x, grid), lambda: F.grid_sample(x, grid, align_corners=False)


def recurrent() -> Iterator[tuple[str, Call, Call]]:
    """LSTM of one layer."""
    for units in (256, 512):
        network, x = torch.nn.LSTM(units, units), _drawn(50, 16, units)
        start = (torch.zeros(1, 16, units), torch.zeros(1, 16, units))
        weights = [p.detach() for p in network.parameters()]
        yield (
            f"50x16x{units}",
            lambda x=x, s=start, w=weights: baracuda.lstm(x, s, w),
            lambda x=x, s=start, n=network: n(x, s),
        )


def draws() -> Iterator[tuple[str, Call, Call]]:
    """Four million numbers; PyTorch's fill a tensor that is there."""
    key, filled, n = baracuda.rng_key(0), torch.empty(1 << 22), 1 << 22
    yield "uniform", lambda: baracuda.rand(key, n), filled.uniform_
    yield "normal", lambda: baracuda.randn(key, n), filled.normal_
    yield "exponential", lambda: baracuda.exponential(key, shape=n), filled.exponential_


def main() -> None:
    torch.set_num_threads(2)
    baracuda.set_num_threads(2)
    torch.set_grad_enabled(False)
    groups: dict[str, Iterator[tuple[str, Call, Call]]] = {
        f"convolutions, batch {batch}, {'channels last' if last else 'channels first'}": convolutions(batch, last)
        for batch in (1, 8)
        for last in (False, True)
    }
    groups |= {"fft": transforms(False), "rfft": transforms(True), "pooling": pooling(), "images": images()}
    groups |= {"LSTM": recurrent(), "draws": draws()}
    summaries = []
    for group, cases in groups.items():
        ratios = []
        for name, ours, theirs in cases:
            own, other = least((ours, theirs))
            ratios.append((name, other / own))
            print(f"{group}: {name}: {own * 1e3:.3f} ms, theirs {other * 1e3:.3f}, ratio {other / own:.2f}", flush=True)
        mean = math.exp(sum(math.log(r) for _, r in ratios) / len(ratios))
        below = ", ".join(f"{name} {r:.2f}" for name, r in ratios if r < 0.9) or "none"
        summaries.append(f"{group}: geometric mean {mean:.2f}; below 0.9: {below}")
    print("\n".join(summaries))


if __name__ == "__main__":
    main()
