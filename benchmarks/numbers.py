"""Random numbers, quantization and products of quantized factors against PyTorch.

    python -m benchmarks.numbers --device cuda --out benchmarks/results/numbers-h200.json

prints each case: time, the share of the device's own copy bandwidth (or tera-operations a second) and PyTorch's time over ours.
What PyTorch has no function for is set against what its users write.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

import baracuda
from baracuda import MathPrecision, PlanPreference
from baracuda.cli.environment import environment
from baracuda.cli.timing import clock_for, compare
from baracuda.core.device import Device

Call = Callable[[], Any]
FASTEST = PlanPreference(fastest=True)


def by_groups(x: torch.Tensor, group: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes of 8 bits and a scale for each group."""
    groups = x.view(-1, group)
    scale = groups.abs().amax(-1, keepdim=True).float() / 127
    return (groups / scale).round().clamp(-127, 127).to(torch.int8), scale


def back(codes: torch.Tensor, scale: torch.Tensor, group: int, dtype: torch.dtype) -> torch.Tensor:
    return (codes.view(-1, group).float() * scale.view(-1, 1)).to(dtype)


def halves(x: torch.Tensor) -> torch.Tensor:
    """Two codes of 4 bits a byte."""
    return (x[:, ::2] & 15) | (x[:, 1::2] << 4)


@dataclass
class Case:
    """One comparison: the bytes that it must move, or the operations it makes, once."""

    name: str
    ours: Sequence[Call]
    theirs: Sequence[Call] | None = None
    nbytes: float = 0
    operations: float = 0


class Cases:
    """The cases of a device; on a CPU, tensors are smaller by `shrink`."""

    def __init__(self, device: str) -> None:
        self.device, self.shrink = device, 1 if device == "cuda" else 16
        self.generator = torch.Generator(device).manual_seed(0)
        self.key = torch.tensor([0, 7], dtype=torch.uint32, device=device)

    def drawn(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(*shape, device=self.device, generator=self.generator).to(dtype)

    def whole(self, low: int, high: int, *shape: int, dtype: torch.dtype = torch.uint8) -> torch.Tensor:
        return torch.randint(low, high, shape, device=self.device, generator=self.generator, dtype=dtype)

    def draws(self) -> Iterator[Case]:
        """2**28 numbers in f32, 2**29 in bf16; PyTorch's fill a tensor that is there."""
        for dtype, label, width in ((torch.float32, "f32", 4), (torch.bfloat16, "bf16", 2)):
            n = (1 << 30) // width // self.shrink
            held = torch.empty(n, dtype=dtype, device=self.device)
            named: dict[str, tuple[Call, Call]] = {
                "rand": (partial(baracuda.rand, self.key, n, label), held.uniform_),
                "randn": (partial(baracuda.randn, self.key, n, label), held.normal_),
                "exponential": (partial(baracuda.exponential, self.key, shape=n, dtype=label), held.exponential_),
                "bernoulli": (partial(baracuda.bernoulli, self.key, 0.3, shape=n, dtype=label), partial(held.bernoulli_, 0.3)),
            }
            for name, (ours, theirs) in named.items():
                yield Case(f"{name} {label}", [ours], [theirs], n * width)
            x = self.drawn(n // 2, dtype=dtype)
            ours, theirs = partial(baracuda.dropout, x, self.key, 0.1), partial(torch.nn.functional.dropout, x, 0.1)
            yield Case(f"dropout {label}", [ours], [theirs], n * width)
        few = (1 << 24) // self.shrink
        rates = torch.full((few,), 2.5, device=self.device)
        gamma = partial(torch._standard_gamma, rates)
        yield Case("gamma f32", [partial(baracuda.gamma_sample, self.key, rates)], [gamma], 8 * few)
        yield Case("poisson f32", [partial(baracuda.poisson, self.key, rates)], [partial(torch.poisson, rates)], 8 * few)

    def formats(self) -> Iterator[Case]:
        """8192 x 8192 to codes and back."""
        n = 8192
        elements = n * n // self.shrink
        for dtype, label, width in ((torch.float32, "f32", 4), (torch.bfloat16, "bf16", 2)):
            x = self.drawn(elements // n, n, dtype=dtype)

            codes, scale, _ = baracuda.quantize_per_group(x, group_size=128)
            f8, f8_scale = baracuda.quantize_blockwise(x, block=128)
            named: dict[str, tuple[Call, Call | None, float]] = {
                "by group of 128, s8": (
                    partial(baracuda.quantize_per_group, x, group_size=128), partial(by_groups, x, 128), 1 + 4 / 128,
                ),
                "back from s8": (
                    partial(baracuda.dequantize_per_group, codes, scale, group_size=128, dtype=label),
                    partial(back, codes, scale, 128, dtype), 1 + 4 / 128,
                ),
                "by group of 32, s4": (partial(baracuda.quantize_per_group, x, group_size=32, dtype="s4"), None, 0.5 + 4 / 32),
                "rows, s8": (partial(baracuda.quantize_dynamic, x, axis=-1), partial(by_groups, x, n), 1),
                "fp8, 1x128": (partial(baracuda.quantize_fp8, x, scaling="1x128"), None, 1 + 4 / 128),
                "back from fp8": (partial(baracuda.dequantize_fp8, f8, f8_scale, dtype=label), None, 1 + 4 / 128),
                "mxfp8": (partial(baracuda.quantize_mxfp8, x), None, 1 + 1 / 32),
                "mxfp4": (partial(baracuda.quantize_mxfp4, x), None, 0.5 + 1 / 32),
                "nvfp4": (partial(baracuda.quantize_nvfp4, x, 1.0), None, 0.5 + 1 / 16),
                "nf4": (partial(baracuda.quantize_nf4, x), None, 0.5 + 4 / 64),
                "8 bits by blocks": (partial(baracuda.quantize_int8_blockwise, x), None, 1 + 4 / 256),
            }  # fmt: skip
            for name, (ours, theirs, more) in named.items():
                yield Case(f"{name} {label}", [ours], [theirs] if theirs else None, elements * (width + more))
        for kind, size, per in (("Q4_0", 18, 32), ("Q8_0", 34, 32), ("Q4_K", 144, 256), ("Q6_K", 210, 256)):
            raw = self.whole(0, 100, elements // n, n // per * size)
            moved = raw.nbytes + 4 * elements
            yield Case(f"back from {kind} f32", [partial(baracuda.gguf_dequantize, raw, kind)], None, moved)
        words = self.whole(-8, 8, elements // n, n, dtype=torch.int8)
        yield Case("pack 4 bits", [partial(baracuda.pack_int4, words)], [partial(halves, words)], elements * 1.5)

    def products(self) -> Iterator[Case]:
        """Products by weights of 8192 x 8192 (a CPU: 2048 x 2048), which take turns so that none is in the cache."""
        n = 8192 if self.device == "cuda" else 2048
        sets = 8 if self.device == "cuda" else 2
        half = torch.bfloat16
        dense = [self.drawn(n, n, dtype=half) for _ in range(4)]
        packed = [self.whole(0, 256, n, n // 2) for _ in range(sets)]
        whole = [self.whole(-128, 128, n, n, dtype=torch.int8) for _ in range(4)]
        ternary = [self.whole(0, 256, n, n // 4) & 0x55 for _ in range(sets)]
        scale, fine = torch.rand(n, n // 128, device=self.device), torch.rand(n, n // 64, device=self.device)
        for m in (1, 4, 16, 64, 512):
            x = self.drawn(m, n, dtype=half)
            theirs = [partial(torch.nn.functional.linear, x, w) for w in dense]
            four = [partial(baracuda.int4_weight_gemm, x, w, scale, group_size=128) for w in packed]
            yield Case(f"int4 weights, {m} rows", four, theirs, n * n / 2 + scale.nbytes, 2 * m * n * n)
            if m in (1, 16):
                eight = [partial(baracuda.int8_weight_gemm, x, w, scale, group_size=128) for w in whole]
                yield Case(f"int8 weights, {m} rows", eight, theirs, n * n + scale.nbytes)
                levels = [partial(baracuda.nf4_gemm, x, w, fine) for w in packed]
                yield Case(f"NF4 weights, {m} rows", levels, theirs, n * n / 2 + fine.nbytes)
                two = [partial(baracuda.ternary_gemm, x, w, scale, group_size=128) for w in ternary]
                yield Case(f"ternary weights, {m} rows", two, theirs, n * n / 4 + scale.nbytes)
        codes = self.whole(-128, 128, n, n, dtype=torch.int8)
        rows, once = torch.rand(n, device=self.device), 2 * n**3
        scaled = partial(baracuda.w8a8_gemm, codes, whole[0], rows, rows, dtype="bf16")
        yield Case(f"w8a8 {n}", [scaled], [partial(torch._int_mm, codes, whole[0].T)], 0, once)
        if self.device != "cuda":
            return
        f8 = torch.float8_e4m3fn
        a, b, one = self.drawn(n, n).to(f8), self.drawn(n, n).to(f8), torch.ones((), device=self.device)
        scaled_mm, column = partial(torch._scaled_mm, a, b.T, out_dtype=half), rows[:, None].contiguous()
        by_rows = partial(baracuda.fp8_gemm_rowwise, a, b, dtype="bf16", preference=FASTEST)
        yield Case(f"fp8 by tensor {n}, fastest", [partial(by_rows, one, one)], [partial(scaled_mm, one, one)], 0, once)
        yield Case(f"fp8 by row {n}, fastest", [partial(by_rows, rows, rows)], [partial(scaled_mm, column, column.T)], 0, once)
        exponents, small = self.whole(120, 130, n, n // 32), self.whole(0, 256, n, n // 2)
        scales: dict[str, Any] = {"x_scale": exponents, "w_scale": exponents}
        pinned = PlanPreference(math=MathPrecision.BF16)
        yield Case(f"mxfp8 {n}, pinned", [partial(baracuda.mxfp8_gemm, a, b, **scales, preference=pinned)], None, 0, once)
        mxfp4 = partial(baracuda.mxfp4_gemm, small, packed[0], **scales, preference=pinned)
        yield Case(f"mxfp4 {n}, pinned", [mxfp4], None, 0, once)
        for size in (4, 8, 16, 32):
            for dtype, label in ((torch.float32, "f32"), (half, "bf16")):
                c, d = (self.drawn(100_000, size, size, dtype=dtype) for _ in range(2))
                ours, rival = partial(baracuda.batched_small_gemm, c, d), partial(torch.bmm, c, d)
                yield Case(f"100,000 of {size} {label}", [ours], [rival], 3 * c.nbytes)


GROUPS = ("draws", "formats", "products")


def copy_bandwidth(cases: Cases) -> float:
    x = torch.empty((1 << 30) // cases.shrink, dtype=torch.uint8, device=cases.device)
    y = torch.empty_like(x)
    return 2 * x.nbytes / compare(clock_for(cases.device), {"copy": [lambda: y.copy_(x)]}).samples["copy"].median


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--groups", nargs="*", default=GROUPS, choices=GROUPS)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after so long")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_grad_enabled(False)
    if options.device == "cpu":
        torch.set_num_threads(2)
        baracuda.set_num_threads(2)
    cases, begun, rows = Cases(options.device), time.perf_counter(), []
    clock, copied = clock_for(options.device), copy_bandwidth(cases)
    print(f"copy: {copied / 1e9:.0f} GB/s")
    for group in options.groups:
        for case in getattr(cases, group)():
            if time.perf_counter() - begun > options.seconds:
                break
            contenders = {"ours": case.ours} | ({"torch": case.theirs} if case.theirs else {})
            samples = compare(clock, contenders).samples
            own = samples["ours"].median
            ratio = samples["torch"].ratio_to(samples["ours"]) if case.theirs else None
            share, rate = case.nbytes / own / copied, case.operations / own / 1e12
            rows.append({"group": group, "case": case.name, "seconds": own, "of_copy": share, "tera": rate, "ratio": ratio})
            said = [f"{own * 1e6:.1f} us"]
            said += [f"{share:.0%} of copy"] if case.nbytes else []
            said += [f"{rate:.0f} T/s"] if case.operations else []
            said += [f"{ratio:.2f} times torch"] if ratio else []
            print(f"{group}: {case.name}: {', '.join(said)}", flush=True)
    if options.out:
        about = environment(Device.cuda() if options.device == "cuda" else Device.cpu()).record()
        options.out.write_text(json.dumps({"environment": about, "copy": copied, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
