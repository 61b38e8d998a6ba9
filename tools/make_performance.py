"""Writes docs/performance.md and the performance table of the README from the committed results.

python tools/make_performance.py
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import geometric_mean
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
START, END = "<!-- performance -->", "<!-- /performance -->"


def _microseconds(row: dict[str, Any]) -> float:
    return float(row["ours"][1])


def _row(row: dict[str, Any], copy: float) -> list[str]:
    micro = _microseconds(row)
    fraction = row["nbytes"] / (micro * 1e-6) / copy
    shape = "×".join(map(str, row["shape"]))
    ratio = f"{row['ratio']:.2f}" if row["ratio"] else "-"
    return [row["op"], row["element"], f"{row['shape_class']} {shape}", row["schedule"], f"{micro:.0f}", f"{fraction:.0%}", ratio]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _large(results: dict[str, Any]) -> str:
    """The large contiguous shapes: one line an op, bf16 and f32 side by side."""
    rows = [r for r in results["rows"] if r["shape_class"] in ("square", "attention")]
    cells: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        cells.setdefault(row["op"], {})[row["element"]] = _row(row, results["copy_bandwidth"])[5:]
    head = ["op", "bf16: of copy bandwidth", "bf16: times torch eager", "f32: of copy bandwidth", "f32: times torch eager"]
    return _table(head, [[op, *found["bf16"], *found["f32"]] for op, found in cells.items()])


def _heading(results: dict[str, Any]) -> str:
    environment = results["environment"]
    versions = environment["versions"]
    return (
        f"{environment['device']}, driver {environment['driver'].split(',')[0]}, torch {versions['torch']}, "
        f"{environment['date']}; device copy {results['copy_bandwidth'] / 1e9:,.0f} GB/s in the same run."
    )


def _cpu(name: str) -> list[str]:
    """One line of a CPU run: how many cases, and their ratios to PyTorch."""
    results = json.loads((RESULTS / name).read_text())
    reused = [r["ratio"] for r in results["rows"] if r["ratio"]]
    fresh = [r["ratio_fresh"] for r in results["rows"] if r["ratio_fresh"]]
    figures = [f"{geometric_mean(v):.2f}" for v in (reused, fresh)] + [f"{min(v):.2f}" for v in (reused, fresh)]
    elements = ", ".join(sorted({r["element"] for r in results["rows"]}))
    return [f"[{name}](../benchmarks/results/{name})", str(len(results["rows"])), elements, *figures]


def main() -> None:
    """Write both."""
    results = json.loads((RESULTS / "seeds-h200.json").read_text())
    launch = json.loads((RESULTS / "launch-h200.json").read_text())
    bits = json.loads((RESULTS / "bits-h200.json").read_text())
    readme = (ROOT / "README.md").read_text()
    before, rest = readme.split(START)
    after = rest.split(END)[1]
    summary = f"{_heading(results)} 8192×8192, ALiBi 8×8×1024×1024; every operand counted once.\n\n{_large(results)}"
    (ROOT / "README.md").write_text(f"{before}{START}\n{summary}\n{END}{after}")
    head = ["op", "element", "shape", "schedule", "µs", "of copy bandwidth", "times torch eager"]
    rows = [_row(r, results["copy_bandwidth"]) for r in results["rows"]]
    host = _table(
        ["host time of one call", "µs"],
        [[name, f"{times[1]:.2f}"] for name, times in launch["microseconds_p20_median_p80"]["calls"].items()],
    )
    columns = ["run", "cases", "elements", "reused, mean", "fresh, mean", "reused, least", "fresh, least"]
    cpu = _table(columns, [_cpu(path.name) for path in sorted(RESULTS.glob("seeds-cpu*.json"))])
    text = f"""# Performance

Written by `python tools/make_performance.py` from `benchmarks/results`.

## H200

{_heading(results)} Medians; the fewest bytes that the op can move over the time, as a fraction of copy bandwidth, and the
time of the same work in eager PyTorch over ours.

{_table(head, rows)}

## Host cost

Microseconds until a call returns, 1024 elements, in one process.

{host}

## CPU

PyTorch's time over ours, two threads each, in one run on a shared machine, outputs reused and fresh.

{cpu}

## Bits

{bits["cases"]} cases compared between the GPU and the committed hashes of a CPU: {bits["cases_differing"]} differ, in
{bits["elements_differing"]} of {bits["elements"]:,} elements.
"""
    (ROOT / "docs" / "performance.md").write_text(text)


if __name__ == "__main__":
    main()
