"""Reductions, scans and rows where shapes are extreme: `python -m benchmarks.large --device cuda --out FILE.json`.

Rows of 10^6 elements, 10^7 rows of 16, one reduction of 10^9 elements (on the CPU a sixteenth of each), outer and middle axes.
Rivals and inputs are those of `benchmarks.families`.
"""

from __future__ import annotations

import argparse
import gc
import sys
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import torch

import baracuda
from baracuda.cli.ceilings import copy_bandwidth
from baracuda.cli.timing import clock_for
from baracuda.core.elements import ElementKind
from baracuda.frontends.families import ops
from benchmarks.environment import environment
from benchmarks.families import Problem, measure
from benchmarks.table import Results, plain, render
from tests.families.case import Shapes

#: Name of a class of shapes, its shape on a GPU, and the axis that is worked along (None: all of them).
CLASSES: tuple[tuple[str, tuple[int, ...], int | None], ...] = (
    ("long", (256, 1_000_000), -1),
    ("many", (10_000_000, 16), -1),
    ("huge", (1_000_000_000,), None),
    ("outer", (16384, 16384), 0),
    ("outer-thin", (10_000_000, 16), 0),
    ("middle", (256, 1024, 1024), 1),
)
#: What is run on each class: sums of one kind or another, ops with results along the row, scans.
REDUCTIONS = ("sum", "mean", "max", "prod", "argmax", "logsumexp", "var", "vector_norm", "any", "count_nonzero")
ROWS = ("softmin", "normalize", "cumsum", "cumprod", "cummax", "logcumsumexp")


@dataclass(frozen=True)
class LargeProblem(Problem):
    """A problem with a shape of its own."""

    shape: tuple[int, ...] = ()
    axis: int | None = -1
    label: str = ""

    @property
    def shapes(self) -> Shapes:
        given = self.case.shapes[0] if self.case.shapes else [self.shape]
        return [self.shape, *[None] * (len(given) - 1)]

    @property
    def keywords(self) -> dict[str, Any]:
        return {**super().keywords, "axis": self.axis}


def problems(elements: list[str], device: str, only: str) -> list[LargeProblem]:
    """Every op on every class that it makes sense for."""
    found = []
    for label, shape, axis in CLASSES:
        if device == "cpu":
            shape = (shape[0] // 16, *shape[1:])
        for name in (*REDUCTIONS, *(() if axis is None else ROWS)):
            if name not in ops():
                raise SystemExit(f"{name}: no such op; expected some of {', '.join(ops())}")
            for element in elements:
                kind = next(k for k in ElementKind if k.label == element)
                found.append(LargeProblem(name, kind, False, device, shape, axis, label))
    return [p for p in found if only in f"{p} {p.label}"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    parser.add_argument("--dtype", action="append", choices=("f16", "bf16", "f32", "f64"), help="f32 by default")
    parser.add_argument("--only", default="", metavar="TEXT", help="only problems whose name or class contains this")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of either side (default: 2)")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where to write the results")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    baracuda.set_num_threads(options.threads)
    chosen = problems(options.dtype or ["f32"], options.device, options.only)
    clock = clock_for(options.device)
    results = Results(environment(options.device, options.threads), copy_bandwidth(clock), [], {})
    for number, problem in enumerate(chosen, 1):
        try:
            row = replace(measure(problem, clock, compiled=False), shape_class=problem.label)
        except (baracuda.Error, RuntimeError, MemoryError, KeyError, TypeError, ValueError) as error:
            told = results.failed[f"{problem} {problem.label}"] = f"{type(error).__name__}: {str(error)[:300]}"
        else:
            results.rows.append(row)
            told = f"{row.ours[1]:.1f} us, {100 * row.bandwidth / results.copy_bandwidth:.0f}% of copy, torch/ours {row.ratio:.2f}"
            told += f"  {row.schedule}"
        print(f"[{number}/{len(chosen)}] {problem} {problem.label} {prod(problem.shape):,}: {told}", file=sys.stderr, flush=True)
        gc.collect()
        if options.out is not None:
            results.save(options.out)
    if options.out is not None:
        results.save(options.out)
    print(render(results, plain))
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
