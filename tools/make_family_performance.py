"""Writes docs/performance-families.md from the committed results of `benchmarks.families`.

python -m tools.make_family_performance
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from baracuda.core.op_table import table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
TARGET = ROOT / "docs" / "performance-families.md"
#: Calls that move less than this are too short to say anything about bandwidth.
LARGE_BYTES = 50e6

Rows = list[dict[str, Any]]


def load(pattern: str) -> tuple[Rows, dict[str, Any]]:
    """The rows of all files of a name, and the environment of one."""
    rows: Rows = []
    environment: dict[str, Any] = {}
    for path in sorted(RESULTS.glob(pattern)):
        held = json.loads(path.read_text())
        environment = held["environment"] | {"copy": held["copy_bandwidth"]}
        rows += [r | {"share": r["nbytes"] / (r["ours"][1] * 1e-6) / held["copy_bandwidth"]} for r in held["rows"]]
    return rows, environment


def ratios(rows: Rows, key: str = "ratio") -> list[float]:
    """Those that were measured: a rival that returns its argument, or a view of one number, took no time."""
    return [r[key] for r in rows if r.get(key) and math.isfinite(r[key]) and r[key] > 0.01]


def family(op: str) -> str:
    """An op's family in the catalogue."""
    name = op.removesuffix("_backward")
    return table()[name].family if name in table() else "other"


def summary(rows: Rows) -> list[list[str]]:
    """One line a family."""
    groups: dict[str, Rows] = {}
    for row in rows:
        groups.setdefault(family(row["op"]), []).append(row)
    lines = []
    for name, found in [("all", rows), *groups.items()]:
        against = ratios(found)
        large = [r["share"] for r in found if r["nbytes"] > LARGE_BYTES]
        share = f"{median(large):.0%}" if large else ""
        slower = sum(r < 0.95 for r in against)
        lines.append([name, str(len(found)), share, f"{geometric_mean(against):.2f}", f"{min(against):.2f}", str(slower)])
    return lines


def markdown(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def each(rows: Rows, fast: dict[tuple[str, str], float]) -> list[list[str]]:
    """One line an op."""
    cells: dict[str, dict[str, list[str]]] = {}
    for r in rows:
        compiled = fast.get((r["op"], r["element"]))
        ratio = f"{r['ratio']:.2f}" if r["ratio"] and math.isfinite(r["ratio"]) else "-"
        cells.setdefault(r["op"], {})[r["element"]] = [f"{r['share']:.0%}", ratio, f"{compiled:.2f}" if compiled else ""]
    empty = ["", "", ""]
    return [[op, *found.get("f32", empty)[:2], *found.get("bf16", empty)] for op, found in cells.items()]


def main() -> None:
    gpu, where = load("families-h200-[pr]*.json")
    compiled, _ = load("families-h200-compiled.json")
    cpu, machine = load("families-cpu*.json")
    bits = json.loads((RESULTS / "bits-families-h200.json").read_text())
    columns = ["op", "f32: of copy", "f32: times eager", "bf16: of copy", "bf16: times eager", "bf16: times compiled"]
    fast = {(r["op"], r["element"]): r["ratio_compiled"] for r in compiled if r["ratio_compiled"]}
    head = ["family", "problems", "of copy, median", "times eager", "least", "under 0.95"]
    differing = ", ".join(sorted({name.partition(" ")[0] for name in bits["differing"]})) or "none"
    text = f"""# Performance of the declared ops

Written by `python -m tools.make_family_performance` from `benchmarks/results/families-*.json`. A problem is an op, forward or
backward, in one element; *of copy* is the fewest bytes that a call can move over its time, as a fraction of copy bandwidth in
the same run; *times eager* is PyTorch's time over ours, a geometric mean over problems.

## {where["device"]}

{where["date"]}, 8192×8192, f32 and bf16; torch {where["versions"]["torch"]}; copy {where["copy"] / 1e9:,.0f} GB/s.

{markdown(head, summary(gpu))}

Against torch.compile, {len(fast)} pointwise problems in bf16 only: geometric mean {geometric_mean(fast.values()):.2f},
{sum(v < 0.95 for v in fast.values())} under 0.95. Where a function takes more than about thirty operations, 16-bit elements are
bound by arithmetic: PyTorch's approximate instructions are faster there, and not the same on every device. The backward of
`frac`, `round` and other such ops is a constant or a copy in PyTorch, which returns the gradient itself or a broadcast of it.

## CPU

{machine["device"]}, {machine["threads"]} threads each, {machine["date"]}, 2048×2048, f32; ours into
given outputs, two sets of tensors in turn, PyTorch's into new results. An operand is 16 MiB, half of the last-level cache, where
PyTorch's allocator gives back memory that is still in the cache: simple functions are level or behind here, and 3 to 5 times
ahead at 4096×4096, where it gives back fresh pages.

{markdown(head, summary(cpu))}

## Bits

{bits["ops"]} ops, {bits["cases"]:,} trials, {bits["elements"]:,} elements on the GPU against the hashes of a CPU:
{bits["cases_differing"]} trials differ, in {bits["elements_differing"]} elements ({differing}).

## Each op on {where["device"]}

{markdown(columns, each(gpu, fast))}
"""
    TARGET.write_text(text)


if __name__ == "__main__":
    main()
