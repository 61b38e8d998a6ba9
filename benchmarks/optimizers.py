"""Steps of optimizers over lists of tensors against PyTorch's fused and foreach ones, two threads each on a CPU.

    python -m benchmarks.optimizers [--device cuda] [--tensors 1000] [--elements 20000]

prints for each case the time of a call, on a GPU of calls that are queued one behind the other, as a share of what a copy of the
bytes takes and of PyTorch's; and what a call costs a GPU's host.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import torch

import baracuda

Call = Callable[[], Any]
#: Calls that are queued on a GPU, and cycles that it sleeps before them, so that the host is ahead.
_QUEUED, _ASLEEP = 8, 30_000_000


class Clock:
    """Times of calls on a device, in milliseconds."""

    def __init__(self, device: str) -> None:
        self.on_gpu = device == "cuda"

    def wait(self) -> None:
        if self.on_gpu:
            torch.cuda.synchronize()

    def of(self, *calls: Call, rounds: int = 7) -> list[float]:
        """The median of each of some calls that take turns."""
        times: list[list[float]] = [[] for _ in calls]
        for call in calls:
            call()
            call()
        for _ in range(rounds):
            for own, call in zip(times, calls, strict=True):
                own.append(self._queued(call) if self.on_gpu else self._once(call))
        return [median(own) for own in times]

    def _once(self, call: Call) -> float:
        start = time.perf_counter()
        call()
        return 1e3 * (time.perf_counter() - start)

    def _queued(self, call: Call) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(_ASLEEP)
        begin.record()
        for _ in range(_QUEUED):
            call()
        end.record()
        torch.cuda.synchronize()
        found: float = begin.elapsed_time(end) / _QUEUED
        return found

    def host(self, call: Call, count: int = 5) -> float:
        """What a call costs the host: on a GPU, which is asleep meanwhile."""
        self.wait()
        start = time.perf_counter()
        for _ in range(count):
            call()
        cost = 1e3 * (time.perf_counter() - start) / count
        self.wait()
        return cost


def cases(tensors: int, elements: int, device: str) -> Iterator[tuple[str, int, Call, Call | None]]:
    """Name, bytes that have to move, our call and PyTorch's."""
    apply, words = baracuda.multi_tensor_apply, {"lr": 1e-3, "weight_decay": 0.01}
    adam: dict[str, Any] = {**words, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "amsgrad": False, "maximize": False}
    for kind in (torch.float32, torch.bfloat16):
        p, g = ([torch.randn(elements, device=device).to(kind) for _ in range(tensors)] for _ in range(2))
        m, v = ([torch.zeros(elements, device=device) for _ in range(tensors)] for _ in range(2))
        steps = [torch.tensor(5.0, device=device) for _ in range(tensors)]
        size, count, name = p[0].element_size(), tensors * elements, str(kind).removeprefix("torch.")
        same = kind is torch.float32  # PyTorch's takes state of the parameter's element alone

        def adamw(p: Any = p, g: Any = g, m: Any = m, v: Any = v) -> Any:
            return apply(baracuda.adamw_step, p, g, m, v, step=5, in_place=True, **words)

        def fused(p: Any = p, g: Any = g, m: Any = m, v: Any = v, steps: Any = steps) -> Any:
            return torch._fused_adamw_(p, g, m, v, [], steps, **adam)

        yield f"adamw {name}", count * (3 * size + 16), adamw, fused if same else None
        yield f"sgd {name}", count * 3 * size, lambda p=p, g=g: apply(baracuda.sgd_step, p, g, 1e-3, in_place=True), None
        yield f"norm {name}", count * size, lambda g=g: baracuda.grad_norm(g), lambda g=g: torch.nn.utils.get_total_norm(g)
        yield f"clip {name}", count * 3 * size, lambda g=g: baracuda.clip_grad_norm(g, 1.0, in_place=True), None
        yield (
            f"mul {name}", count * 2 * size, lambda g=g: apply(baracuda.mul, g, 1.0, in_place=True),
            lambda g=g: torch._foreach_mul_(g, 1.0),
        )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.optimizers")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--tensors", type=int, default=1000)
    parser.add_argument("--elements", type=int, default=20_000)
    options = parser.parse_args()
    torch.set_num_threads(2)
    clock = Clock(options.device)
    source = torch.empty(1 << 28, dtype=torch.uint8, device=options.device)
    target = torch.empty_like(source)
    (copied,) = clock.of(lambda: target.copy_(source))
    rate = 2 * source.numel() / copied
    print(f"copy {rate / 1e6:.0f} GB/s")
    for name, nbytes, ours, theirs in cases(options.tensors, options.elements, options.device):
        own, *other = clock.of(ours, *([] if theirs is None else [theirs]))
        ratio = f"{other[0] / own:.2f} of PyTorch's speed" if other else ""
        host = f"host {clock.host(ours):.2f} ms" if clock.on_gpu else ""
        print(f"{name:16} {own:9.3f} ms  {nbytes / own / rate:.2f} of copy  {ratio:28} {host}", flush=True)


if __name__ == "__main__":
    main()
