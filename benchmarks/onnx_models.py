"""Second calls of ONNX models on the CPU, beside onnxruntime's with all its optimizations.

    python -m benchmarks.onnx_models --out benchmarks/results/onnx-models-cpu.json [--only resnet] [--nodes 20]

Both sides have the same threads; they are called in turns, and the least time of many rounds counts. `--nodes` prints what loses
most: the time of each node where the model runs step by step, by operator and one by one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

import baracuda
import baracuda.onnx
from baracuda.cli.environment import environment
from baracuda.core.device import Device
from benchmarks.onnx_made import Values, models

#: Seconds that the rounds of a model may take, and rounds at least.
SECONDS, ROUNDS = 4.0, 7


def session(model: onnx.ModelProto, threads: int) -> onnxruntime.InferenceSession:
    """onnxruntime's model on so many threads, with all of its optimizations."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def timed(calls: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """The least milliseconds of each call, in turns."""
    least = dict.fromkeys(calls, float("inf"))
    stop, rounds = time.perf_counter() + seconds, 0
    while rounds < ROUNDS or time.perf_counter() < stop:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - begin)
        rounds += 1
    return {name: 1e3 * t for name, t in least.items()}


def by_node(model: Any, values: Values, rounds: int = 5) -> list[tuple[float, str, str]]:
    """Milliseconds, operator and shapes of each step of a model that runs step by step, the longest first."""
    found: dict[int, tuple[float, str, str]] = {}
    program = model._program

    def watched(number: int, step: Any) -> Any:
        def call(*given: Any, **words: Any) -> Any:
            begin = time.perf_counter()
            made = step.call(*given, **words)
            spent = 1e3 * (time.perf_counter() - begin)
            shapes = " ".join("x".join(map(str, x.shape)) for x in given if hasattr(x, "shape"))
            found[number] = (min(spent, found.get(number, (spent,))[0]), step.node.operator, shapes)
            return made

        return replace(step, call=call)

    program.steps = tuple(watched(i, s) for i, s in enumerate(program.steps))
    for _ in range(rounds):
        program([values[n] for n in model.inputs])
    return sorted(found.values(), reverse=True)


def measured(name: str, model: onnx.ModelProto, values: Values, threads: int, seconds: float) -> dict[str, Any]:
    """One model's row; values are compared before anything is timed."""
    ours, theirs = baracuda.onnx.load(model), session(model, threads)
    expected = theirs.run(None, values)
    found = ours.run((), values)
    for a, b in zip(found, expected, strict=True):
        size = max(float(np.abs(b).max()), 1e-30)
        if not float(np.abs(a - b).max()) <= 1e-3 * size:
            raise SystemExit(f"{name}: differs from onnxruntime by {float(np.abs(a - b).max()) / size:.2e} of the largest value")
    ours.run((), values)
    least = timed({"ours": lambda: ours.run((), values), "onnxruntime": lambda: theirs.run(None, values)}, seconds)
    return {
        "model": name,
        "ms": least["ours"],
        "onnxruntime_ms": least["onnxruntime"],
        "ratio": least["onnxruntime"] / least["ours"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--nodes", type=int, default=0, help="print so many of the longest nodes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name, make in models(options.only).items():
        model, values = make()
        rows.append(measured(name, model, values, options.threads, options.seconds))
        print(
            "{model:24} ours {ms:8.2f} ms   onnxruntime {onnxruntime_ms:8.2f} ms   ratio {ratio:.2f}".format(**rows[-1]),
            flush=True,
        )
        if options.nodes:
            _print_nodes(by_node(baracuda.onnx.load(model), values), options.nodes)
    mean = exp(sum(log(row["ratio"]) for row in rows) / len(rows))
    print(f"{'geometric mean':24} {mean:.3f}")
    if options.out:
        about = environment(Device.cpu()).record()
        about["versions"]["onnxruntime"] = onnxruntime.__version__
        written = {"environment": about, "threads": options.threads, "mean": mean, "rows": rows}
        options.out.write_text(json.dumps(written, indent=1) + "\n")


def _print_nodes(nodes: list[tuple[float, str, str]], many: int) -> None:
    sums: dict[str, list[float]] = defaultdict(list)
    for spent, operator, _ in nodes:
        sums[operator].append(spent)
    total = sum(map(sum, sums.values()))
    for operator, each in sorted(sums.items(), key=lambda s: -sum(s[1])):
        if sum(each) > 0.005 * total:
            print(f"    {operator:20} {len(each):4} nodes {sum(each):8.3f} ms {100 * sum(each) / total:5.1f}%")
    for spent, operator, shapes in nodes[:many]:
        print(f"        {spent:8.3f} ms {operator:20} {shapes}")


if __name__ == "__main__":
    main()
