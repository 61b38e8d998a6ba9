"""Tokens drawn from rows of logits, and logits prepared, against what PyTorch needs: softmax, sort, running sum and multinomial.

    python -m benchmarks.sampling               on a CPU, two threads each
    python -m benchmarks.sampling --device cuda

prints for each case our time, PyTorch's, and their ratio; of what reads and writes logits also the share of a copy's bandwidth.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import torch

import baracuda
from baracuda.cli.timing import clock_for, compare

Call = Callable[[], Any]
VOCABULARY = 128_256


def by_sort(logits: torch.Tensor, k: int = 0, p: float = 1.0) -> torch.Tensor:
    """Tokens as PyTorch's users draw them."""
    x = logits.float()
    if k:
        least = torch.topk(x, k)[0][:, -1:]
        x = x.masked_fill(x < least, -torch.inf)
    if p < 1:
        ordered, places = x.sort(-1)
        ordered.masked_fill_(ordered.softmax(-1).cumsum(-1) <= 1 - p, -torch.inf)
        x = torch.empty_like(x).scatter_(-1, places, ordered)
    return torch.multinomial(x.softmax(-1), 1)


def race(logits: torch.Tensor) -> torch.Tensor:
    """A token by the race of exponential draws."""
    shares = logits.float().softmax(-1)
    return (shares / torch.empty_like(shares).exponential_()).argmax(-1)


def penalised(logits: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Logits with the three penalties."""
    said = counts > 0
    y = torch.where(said, torch.where(logits > 0, logits / 1.2, logits * 1.2), logits)
    return y - 0.1 * counts - 0.2 * said


def cases(x: torch.Tensor, peaked: torch.Tensor, key: torch.Tensor) -> Iterator[tuple[str, Call, Call | None, int]]:
    """Names, our call, PyTorch's, and the bytes that are read and written where that is all there is to it."""
    rows = x.shape[0]
    yield "top-k 50", lambda: baracuda.sample_top_k(key, x, 50), lambda: by_sort(x, 50), 0
    yield "top-p 0.9", lambda: baracuda.sample_top_p(key, x, 0.9), lambda: by_sort(x, 0, 0.9), 0
    yield "top-p 0.9, peaked", lambda: baracuda.sample_top_p(key, peaked, 0.9), lambda: by_sort(peaked, 0, 0.9), 0
    yield "top-k 50, top-p 0.9", lambda: baracuda.sample_top_k(key, x, 50, p=0.9, temperature=0.8), lambda: by_sort(x, 50, 0.9), 0
    yield "min-p", lambda: baracuda.sample_min_p(key, x, 0.1), None, 0
    yield "n-sigma", lambda: baracuda.sample_top_nsigma(key, x, 1.0), None, 0
    yield "typical", lambda: baracuda.sample_typical(key, x, 0.9), None, 0
    yield "gumbel-max", lambda: baracuda.sample_gumbel_max(key, x), lambda: race(x), 0
    yield "temperature", lambda: baracuda.logits_temperature(x, 0.7), lambda: x / 0.7, 2 * x.nbytes
    mask = torch.randint(-(2**31), 2**31, (rows, VOCABULARY // 32), dtype=torch.int32, device=x.device)
    yield "bitmask", lambda: baracuda.logits_bitmask(x, mask), None, 2 * x.nbytes
    counts = torch.randint(0, 2, x.shape, dtype=torch.int32, device=x.device)
    numbers = {"repetition": 1.2, "frequency": 0.1, "presence": 0.2}
    both = 2 * x.nbytes + counts.nbytes
    yield "penalties by counts", lambda: baracuda.logits_penalties(x, counts, **numbers), lambda: penalised(x, counts), both
    said = torch.randint(0, VOCABULARY, (rows, 500), device=x.device)
    yield "penalties by 500 tokens", lambda: baracuda.logits_penalties(x, tokens=said, **numbers), None, 2 * x.nbytes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    device = parser.parse_args().device
    if device == "cpu":
        torch.set_num_threads(2)
        baracuda.set_num_threads(2)
    clock, key = clock_for(device), torch.tensor([0, 7], dtype=torch.uint32, device=device)
    for rows in (256, 1) if device == "cuda" else (32,):
        for dtype in (torch.float32, torch.bfloat16):
            x = (torch.randn(rows, VOCABULARY, device=device) * 2).to(dtype)
            peaked = x.clone()
            peaked[:, :30] += 12
            copy = 2 * x.nbytes / compare(clock, {"copy": [x.clone]}).samples["copy"].median
            for name, ours, theirs, nbytes in cases(x, peaked, key):
                samples = compare(clock, {"ours": [ours]} | ({} if theirs is None else {"PyTorch": [theirs]})).samples
                own = samples["ours"].median
                line = f"{rows:4} rows {str(dtype)[6:]:9} {name:24} {own * 1e3:8.3f} ms"
                if theirs is not None:
                    other = samples["PyTorch"]
                    line += f"   PyTorch {other.median * 1e3:9.3f} ms   {other.ratio_to(samples['ours']):6.2f}"
                if nbytes and device == "cuda":  # on a CPU a copy is page faults
                    line += f"   {nbytes / own / copy:4.0%} of copy"
                print(line, flush=True)


if __name__ == "__main__":
    main()
