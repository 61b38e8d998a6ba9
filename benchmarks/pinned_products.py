"""Products in bf16 that are pinned to an architecture, against PyTorch's (cuBLAS): `python -m benchmarks.pinned_products`.

Microseconds on the device, calls in a CUDA graph; `ratio` is PyTorch's time over ours, `bytes` those of the factors and the
result over the device's copy bandwidth. With `--tiles`, every tile of our own kernel for few rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

import baracuda as bc
from baracuda.core.implementation import OperandLayout

ROWS = (1, 2, 4, 8, 16, 17, 32, 33, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
PINNED = bc.PlanPreference(fastest=True, require=["deterministic", "batch_invariant"])
OURS = bc.PlanPreference(backend=bc.BackendKind.FORMULA_CUDA, math=bc.MathPrecision.BF16)


def microseconds(work: Callable[[], Any], calls: int = 20, rounds: int = 15) -> float:
    """The median of some rounds of a graph of calls."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            work()
    times = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1e3 * start.elapsed_time(end) / calls)
    return sorted(times)[rounds // 2]


def copy_rate() -> float:
    """Bytes a microsecond that a copy reads and writes."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / microseconds(lambda: target.copy_(source), 4)


def tiles(a: Any, b: Any, y: Any) -> str:
    """The time under every tile."""
    (m, k), n = a.shape, b.shape[1]
    d = bc.MatmulDescriptor.matmul((m, k), (k, n), bc.ElementKind.BF16)
    stream = bc.Stream(bc.Device.cuda(0))
    layouts = {"a": OperandLayout(a.stride(), 16), "b": OperandLayout(b.stride(), 16), "y": OperandLayout(y.stride(), 16)}
    layout = tuple(layouts.get(s.name) for s in bc.MatmulPlan.tensors)
    plan = bc.MatmulPlan.select_layouts(stream.device, d, OURS, [layout])
    pointers = [t.data_ptr() if t is not None else 0 for t in (a, b, *[None] * 5, y, None)]
    found = [("", plan._implementation.executable(layout)), *plan.tunings(layout)]
    timed = []
    for _, executable in found:
        time = microseconds(lambda e=executable: e.call(pointers, 0, torch.cuda.current_stream().cuda_stream))
        timed.append(f"{executable.schedule.removeprefix('product ').removesuffix(' tensor cores')} {time:.1f}")
    return "; ".join(timed)


def compare(m: int, b: Any, rate: float) -> str:
    """A line of the table: m rows by a weight."""
    k, n = b.shape
    a, y = torch.randn(m, k, device="cuda").bfloat16(), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    results = [bc.matmul(a, b, preference=p).view(torch.int16) for p in (PINNED, OURS)]
    differ = "" if torch.equal(*results) else "; its bits are not those of ours"
    theirs = microseconds(lambda: torch.matmul(a, b, out=y))
    pinned, ours = (microseconds(lambda p=p: bc.matmul(a, b, out=y, preference=p)) for p in (PINNED, OURS))
    d = bc.MatmulDescriptor.matmul((m, k), (k, n), bc.ElementKind.BF16)
    who = bc.MatmulPlan.select(torch.cuda.current_stream(), d, PINNED, like=bc.MatmulArgs(a, b, y=y)).sku().backend
    line = (
        f"{m:5} {theirs:8.1f} {pinned:7.1f} {theirs / pinned:6.2f} {ours:7.1f} {theirs / ours:6.2f} "
        f"{2e-6 * m * n * k / pinned:8.0f} {2 * (m * k + k * n + m * n) / rate / pinned:6.0%}  {who}{differ}"
    )
    return f"{line}\n      {tiles(a, b, y)}" if m <= 64 and "--tiles" in sys.argv else line


def main() -> None:
    """Print the table."""
    rate = copy_rate()
    print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}; copy {rate / 1e3:.0f} GB/s")
    for n in (8192, 4096):
        for layout in ("k", "n"):
            print(f"\nn = k = {n}, the weight contiguous along {layout}")
            print("    M    torch  pinned  ratio    ours  ratio  TFLOP/s  bytes  by")
            weight = torch.randn(n, n, device="cuda").bfloat16()
            for m in ROWS:
                print(compare(m, weight.mT if layout == "k" else weight, rate), flush=True)


if __name__ == "__main__":
    main()
