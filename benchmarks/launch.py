"""What a call costs the host, in microseconds: `python -m benchmarks.launch --device cuda [--out FILE.json]`.

Tensors are tiny. On a GPU nothing waits for the device within a batch of calls; on the CPU the kernel's own time, which is
below a microsecond, is part of the number.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

import baracuda
from baracuda.cli.timing import Call, Sample
from baracuda.core.device import Stream
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Plan
from benchmarks.cases import WEIGHT
from benchmarks.environment import environment
from benchmarks.seeds import stream_of
from benchmarks.table import plain

ELEMENTS = 1024
CALLS, BATCHES = 1000, 15


def host_times(calls: dict[str, Call], synchronise: Callable[[], None]) -> dict[str, Sample]:
    """Seconds of host time a call, the calls taking turns batch by batch."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for batch in range(-2, BATCHES):  # two to warm up
        for name, call in calls.items():
            synchronise()
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            took = (time.perf_counter() - start) / CALLS
            if batch >= 0:
                seconds[name].append(took)
    synchronise()
    return {name: Sample(tuple(times)) for name, times in seconds.items()}


def plans(stream: Stream) -> tuple[Plan[Any, Any], Plan[Any, Any]]:
    """A lerp with three tensors and a softmax with two."""
    lerp = baracuda.BinaryParamDescriptor(baracuda.BinaryKind.LERP, (ELEMENTS,), ElementKind.F32, WEIGHT)
    softmax = baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, (1, ELEMENTS), -1, ElementKind.F32)
    return baracuda.BinaryParamPlan.select(stream, lerp), baracuda.SoftmaxPlan.select(stream, softmax)


def contenders(device: str, stream: Stream) -> dict[str, Call]:
    """Eager torch, and every way to launch a plan."""
    x, other, y = (torch.randn(ELEMENTS, device=device) for _ in range(3))
    row, row_out = torch.randn(1, ELEMENTS, device=device), torch.empty(1, ELEMENTS, device=device)
    lerp, softmax = plans(stream)
    lerp_args, softmax_args = baracuda.BinaryParamArgs(x, other, y), baracuda.SoftmaxArgs(row, row_out)
    return {
        "torch F.silu(x)": lambda: F.silu(x),
        "torch torch.add(x, x, out=y)": lambda: torch.add(x, x, out=y),
        "torch torch.lerp(x, z, w)": lambda: torch.lerp(x, other, WEIGHT),
        "torch torch.softmax(x, -1)": lambda: torch.softmax(row, -1),
        "baracuda lerp plan.run (3 tensors)": lambda: lerp.run(stream, None, lerp_args),
        "baracuda softmax plan.run (2 tensors)": lambda: softmax.run(stream, None, softmax_args),
        "baracuda lerp plan.bind, launch": lerp.bind(stream, None, lerp_args),
        "baracuda softmax plan.bind, launch": softmax.bind(stream, None, softmax_args),
        "baracuda baracuda.lerp(x, z, w)": lambda: baracuda.lerp(x, other, WEIGHT),
        "baracuda baracuda.lerp(x, z, w, out=y)": lambda: baracuda.lerp(x, other, WEIGHT, out=y),
    }


def steps_of_run(device: str, stream: Stream) -> dict[str, Call]:
    """The parts of a lerp's `plan.run` by themselves. Each number holds the call of the measuring lambda, the empty step."""
    x, other, y = (torch.randn(ELEMENTS, device=device) for _ in range(3))
    plan, _ = plans(stream)
    args = baracuda.BinaryParamArgs(x, other, y)
    for _ in range(2):  # a process learns what torch tensors are in its first call, the plan these in the second
        plan.run(stream, None, args)
    values, tables = plan._values(args), plan._tables
    answers = [table[type(value)](value) for table, value in zip(tables, values, strict=True)]
    probed = [answer for answer in answers if answer is not None]
    keys, addresses = [key for key, _ in probed], [pointer for _, pointer in probed]
    last_keys, entry = plan._last
    executable = entry.verified[tuple(addresses)]
    return {
        "empty": lambda: None,
        "take the tensors out of the args": lambda: plan._values(args),
        "probe three tensors": lambda: [table[type(value)](value) for table, value in zip(tables, values, strict=True)],
        "compare the keys of tensors of the same layouts": lambda: keys != last_keys,
        "look three addresses up": lambda: entry.verified.get(tuple(addresses)),
        "native launch, addresses filled in": lambda: executable.call(addresses, 0, stream.handle),
        "native launch, bound": executable.bind(addresses, 0, stream.handle),
        "run, all together": lambda: plan.run(stream, None, args),
    }


def _rows(first: str, samples: Iterable[tuple[str, Sample]]) -> list[list[str]]:
    cells = [[first, "µs", "p20–p80"]]
    for name, sample in samples:
        low, high = sample.spread
        cells.append([name, f"{sample.median * 1e6:.2f}", f"{low * 1e6:.2f}–{high * 1e6:.2f}"])
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.launch", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where to write the results")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    baracuda.set_num_threads(1)
    stream = stream_of(arguments.device)
    synchronise = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    calls = host_times(contenders(arguments.device, stream), synchronise)
    steps = host_times(steps_of_run(arguments.device, stream), synchronise)
    print(plain(_rows(f"host time of one call, {ELEMENTS} elements", calls.items())))
    print()
    print(plain(_rows("steps of plan.run", steps.items())))
    if arguments.out is not None:
        microseconds = {
            part: {
                name: [round(s * 1e6, 4) for s in (sample.spread[0], sample.median, sample.spread[1])]
                for name, sample in samples.items()
            }
            for part, samples in (("calls", calls), ("steps_of_run", steps))
        }
        written = {"environment": environment(arguments.device, 1), "microseconds_p20_median_p80": microseconds}
        arguments.out.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
