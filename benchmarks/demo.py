"""The demo's model against PyTorch: sentences in a second, on the CPU or on a GPU, in turns in one run.

    python -m benchmarks.demo --device cuda --dtype f32 bf16 --batch 32 256 --out benchmarks/results/encoder-h200.json

Tokens are on the device before the clock starts; it stops when the last embedding is there. PyTorch runs the same weights on the
same batches: eagerly, and compiled by torch.compile for their shapes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

import baracuda
from baracuda.cli.demo import Text
from baracuda.cli.environment import environment
from baracuda.runtime import device_memory
from baracuda_minilm.encoder import Encoder
from baracuda_minilm.files import Tokens, model_folder, read_safetensors
from benchmarks.minilm_torch import forward, parameters

#: The least sentences that are embedded in a round, and rounds.
SENTENCES, ROUNDS = {"cpu": 192, "cuda": 3072}, 7
#: The least cosine between our embeddings and PyTorch's for a time to count.
LEAST = {"f32": 0.99999, "bf16": 0.999}
ELEMENTS = {"f32": torch.float32, "bf16": torch.bfloat16}

#: Embeds all sentences, in batches; waits for nothing.
Contender = Callable[[], list[Any]]


def contenders(device: baracuda.Device, dtype: str, size: int, compiled: bool) -> dict[str, tuple[Contender, list[list[int]]]]:
    """Each contender, and the numbers of the sentences in each of its batches."""
    kind = device.kind.value
    lines = Text.shipped().sentences
    tokens = Tokens().of(lines * -(-SENTENCES[kind] // len(lines)))[0]
    runs: dict[str, tuple[Contender, list[list[int]]]] = {}
    ways = {"reproducible": {}, "fast": {"fast": True}}
    if kind == "cuda":
        ways |= {f"{name}, recorded": {**options, "recorded": True} for name, options in ways.items()}
    for name, options in ways.items():
        encoder = Encoder(device, dtype, **options)
        batches = encoder.batches(tokens, size)
        numbers = [b.numbers for b in batches]
        runs[name] = (lambda run=encoder.run, batches=batches: [run(b.batch) for b in batches]), numbers
    w = parameters(read_safetensors(model_folder() / "model.safetensors"), ELEMENTS[dtype], kind)
    pairs = [tuple(torch.tensor(baracuda.to_host(x)).to(kind) for x in (b.batch.tokens, b.batch.lengths)) for b in batches]
    runs["torch eager"] = _rival(forward, w, pairs), numbers
    if compiled:
        torch._dynamo.reset()
        torch._dynamo.config.recompile_limit = 64  # every shape of batch is compiled for
        runs["torch.compile"] = _rival(torch.compile(forward, dynamic=False), w, pairs), numbers
        if kind == "cuda":
            graphs = torch.compile(forward, dynamic=False, mode="reduce-overhead")
            runs["torch.compile, CUDA graphs"] = _rival(graphs, w, pairs, copy=True), numbers
    return runs


def _rival(
    model: Callable[..., torch.Tensor], w: Mapping[str, torch.Tensor], batches: Sequence[Any], *, copy: bool = False
) -> Contender:
    """`copy`: a result lies where the next one of its shape will."""

    def run() -> list[Any]:
        with torch.inference_mode():
            embedded = (model(w, tokens, lengths) for tokens, lengths in batches)
            return [y.clone() for y in embedded] if copy else list(embedded)

    return run


def embeddings(run: Contender, numbers: Sequence[Sequence[int]]) -> np.ndarray[Any, Any]:
    """In the order of the sentences."""
    values = [(y.float().cpu() if isinstance(y, torch.Tensor) else baracuda.to_host(y)) for y in run()]
    stacked = np.concatenate([np.asarray(v, np.float64) for v in values])
    return stacked[np.argsort([i for batch in numbers for i in batch])]


def wait(device: baracuda.Device) -> None:
    if device.kind is baracuda.DeviceKind.CUDA:
        device_memory.synchronize(device)


def measure(device: baracuda.Device, dtype: str, size: int, *, compiled: bool) -> dict[str, Any]:
    """The contenders in turns; the values are compared first, which also makes the kernels."""
    runs = contenders(device, dtype, size, compiled)
    expected = embeddings(*runs["torch eager"])
    cosines = {}
    for name, (run, numbers) in runs.items():
        got = embeddings(run, numbers)
        norms = np.linalg.norm(got, axis=1) * np.linalg.norm(expected, axis=1)
        cosines[name] = float(((got * expected).sum(1) / norms).min())
        if cosines[name] < LEAST[dtype]:
            raise SystemExit(f"{name}, {dtype}: a cosine of {cosines[name]} with PyTorch's embeddings; expected {LEAST[dtype]}")
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for r in range(ROUNDS + 1):  # the first one warms up
        for name in names[r % len(names) :] + names[: r % len(names)]:
            wait(device)
            start = time.perf_counter()
            result = runs[name][0]()
            wait(device)
            if r:
                seconds[name].append(time.perf_counter() - start)
            del result
    count = len(expected)
    rates = {name: count / median(times) for name, times in seconds.items()}
    ratios = {
        f"{ours} / {rival}": median(b / a for a, b in zip(seconds[ours], seconds[rival], strict=True))
        for ours in names
        for rival in names
        if rival.startswith("torch") and not ours.startswith("torch")
    }
    return {
        "dtype": dtype, "batch": size, "sentences": count, "sentences_per_second": rates, "seconds": seconds, "ratios": ratios,
        "least_cosine": cosines,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtype", choices=tuple(ELEMENTS), nargs="+", default=["f32"])
    parser.add_argument("--batch", type=int, nargs="+", default=[32])
    parser.add_argument("--threads", type=int, default=2, help="of the CPU, for both sides")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out: on the CPU it needs a C++ compiler")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    baracuda.set_num_threads(options.threads)
    device = baracuda.Device.cpu() if options.device == "cpu" else baracuda.Device.cuda(0)
    rows = []
    for dtype in options.dtype:
        for size in options.batch:
            row = measure(device, dtype, size, compiled=not options.no_compile)
            rows.append(row)
            rates = ", ".join(f"{name} {rate:,.0f}" for name, rate in row["sentences_per_second"].items())
            ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in row["ratios"].items())
            print(f"{dtype}, batches of {size}: sentences a second: {rates}; {ratios}", flush=True)
    if options.out:
        options.out.write_text(json.dumps({"environment": asdict(environment(device)), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
