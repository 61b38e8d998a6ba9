"""PyTorch programs compiled by `torch.compile(backend="baracuda")`, against PyTorch: `python -m benchmarks.torch_programs`.

BERT (of transformers, random weights) and one block of a Llama-like decoder: forward, and forward with backward. Rivals are
PyTorch eager and its own compiler. Each figure is the best of several runs, all kinds taken in turn, so that a machine that
others use too tells a ratio. Before anything is timed, results are compared with PyTorch's eager ones.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

import baracuda.torch.compiled  # noqa: F401  (makes the backend known)

OURS = ("fastest", "pinned", "reproducible")
RIVALS = ("eager", "inductor")


def rotated(x: Any, cos: Any, sin: Any) -> Any:
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Block(nn.Module):
    """A decoder layer: RMS norm, rotary embedding, grouped-query attention, gated feed-forward."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, inner: int, length: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.depth = heads, kv_heads, hidden // heads
        self.norm, self.after = nn.RMSNorm(hidden, eps=1e-5), nn.RMSNorm(hidden, eps=1e-5)
        self.q, self.o = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.k, self.v = (nn.Linear(hidden, kv_heads * self.depth, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(hidden, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, hidden, bias=False)
        angle = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, self.depth, 2).float() / self.depth))
        angle = torch.cat((angle, angle), -1)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, x: Any) -> Any:
        b, s, h = x.shape
        y = self.norm(x)
        q = rotated(self.q(y).view(b, s, self.heads, self.depth).transpose(1, 2), self.cos, self.sin)
        k = rotated(self.k(y).view(b, s, self.kv_heads, self.depth).transpose(1, 2), self.cos, self.sin)
        v = self.v(y).view(b, s, self.kv_heads, self.depth).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, s, h))
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def llama(batch: int, length: int, small: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    sizes = (256, 8, 2, 704) if small else (4096, 32, 8, 14336)
    return Block(*sizes, length), (torch.randn(batch, length, sizes[0]),)


class Bert(nn.Module):
    def __init__(self, small: bool) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        sizes = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 1024} if small else {}
        config = BertConfig(**sizes, attention_probs_dropout_prob=0.0, attn_implementation="sdpa")
        self.model = BertModel(config, add_pooling_layer=False)

    def forward(self, tokens: Any) -> Any:
        return self.model(tokens).last_hidden_state


def bert(batch: int, length: int, small: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    return Bert(small), (torch.randint(0, 30000, (batch, length)),)


PROGRAMS: dict[str, Callable[[int, int, bool], tuple[nn.Module, tuple[Any, ...]]]] = {"bert": bert, "llama": llama}


def compiled(model: nn.Module, kind: str) -> Any:
    if kind == "eager":
        return model
    if kind == "inductor":
        return torch.compile(model)
    return torch.compile(model, backend="baracuda", options={"arithmetic": kind})


def call_of(program: Any, model: nn.Module, args: tuple[Any, ...], task: str) -> Callable[[], Any]:
    """One run of a task: the output without gradients, or a step up to the gradients."""

    def forward() -> Any:
        with torch.no_grad():
            return program(*args)

    def step() -> Any:
        for p in model.parameters():
            p.grad = None
        y = program(*args)
        y.backward(torch.ones_like(y))
        return y

    model.train(task == "train")
    return forward if task == "forward" else step


def seconds(call: Callable[[], Any], device: str) -> float:
    began = time.perf_counter()
    call()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def measure(name: str, task: str, kinds: list[str], options: argparse.Namespace) -> dict[str, float]:
    """Seconds of each kind."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, args = PROGRAMS[name](options.batch, options.length, options.small)
    element = getattr(torch, options.element)
    model = model.to(options.device, element)
    args = tuple(a.to(options.device, element if a.is_floating_point() else None) for a in args)
    calls, firsts = {}, {}
    model.eval()
    with torch.no_grad():
        want = model(*args)
    for kind in kinds:
        program = compiled(model, kind)
        if task == "forward":
            error = (call_of(program, model, args, task)() - want).abs().max().item() / want.abs().max().item()
            assert error < (5e-2 if element == torch.bfloat16 else 1e-3), (kind, error)
        calls[kind] = call_of(program, model, args, task)
        firsts[kind] = seconds(calls[kind], options.device)
        for _ in range(2):
            seconds(calls[kind], options.device)
    model.train(task == "train")
    best = dict.fromkeys(kinds, float("inf"))
    for _ in range(options.rounds):
        for kind, call in calls.items():
            best[kind] = min(best[kind], seconds(call, options.device))
    if options.profile:
        for kind in kinds:
            profile(f"{name} {task} {kind}", calls[kind], options.device)
    print(json.dumps({"program": name, "task": task, "element": options.element, "device": options.device,
                      "ms": {k: round(v * 1e3, 3) for k, v in best.items()},
                      "first_s": {k: round(v, 1) for k, v in firsts.items()}}), flush=True)  # fmt: skip
    return best


def profile(title: str, call: Callable[[], Any], device: str, rows: int = 25) -> None:
    """Where the time goes, by kernel."""
    from torch.profiler import ProfilerActivity

    with torch.profiler.profile(activities=[ProfilerActivity.CUDA if device == "cuda" else ProfilerActivity.CPU]) as found:
        seconds(call, device)
    events = [e for e in found.key_averages() if e.self_device_time_total]
    total = sum(e.self_device_time_total for e in events)
    print(f"{title}: {total / 1e3:.3f} ms in {sum(e.count for e in events)} kernels")
    for e in sorted(events, key=lambda e: -e.self_device_time_total)[:rows]:
        print(f"  {e.self_device_time_total / 1e3:8.3f} ms {e.count:5d} x {e.key[:100]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--element", default="bfloat16")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--small", action="store_true", help="sizes for a CPU")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS))
    parser.add_argument("--tasks", nargs="+", default=["forward", "train"])
    parser.add_argument("--kinds", nargs="+", default=[*RIVALS, *OURS])
    options = parser.parse_args()
    torch._dynamo.config.recompile_limit = 64  # each kind is one more of the same code
    for name in options.programs:
        for task in options.tasks:
            measure(name, task, options.kinds, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
