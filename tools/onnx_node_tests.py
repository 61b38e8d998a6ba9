"""The node tests of the package `onnx` on this library: how many pass, by operator.

python -m tools.onnx_node_tests [--only PART] [--failures FILE]
"""

from __future__ import annotations

import argparse
import collections
import time
from pathlib import Path

from baracuda import Device
from tests.conformance.onnx_cases import cases, reason, run


def main() -> None:
    """Run them and print a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="a part of the tests' names")
    options.add_argument("--failures", type=Path, help="a file for what failed, and how")
    options.add_argument("--device", default="cpu", help="cpu, cuda, or own: our own arrays on the CPU")
    given = options.parse_args()
    device = Device.cpu() if given.device == "own" else given.device
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    failures: list[str] = []
    begin = time.perf_counter()
    for case in cases():
        if given.only not in case.name:
            continue
        nodes = case.model.graph.node
        operator = nodes[0].op_type if len(nodes) == 1 else case.name.split("_")[1] + " (several)"
        if reason(case):
            counts[operator][2] += 1
            continue
        try:
            run(case, device)
            counts[operator][0] += 1
        except Exception as e:  # a tool that counts: whatever a test raises is a failure
            counts[operator][1] += 1
            lines = [line for line in str(e).strip().splitlines() if line.strip()]
            notes = " ".join(getattr(e, "__notes__", ()))
            failures.append(f"{case.name}: {type(e).__name__}: {' | '.join(lines[:6])[:400]} {notes}")
    print(f"{'operator':40s} {'passed':>7s} {'failed':>7s} {'left out':>9s}")
    for operator, row in sorted(counts.items()):
        print(f"{operator:40s} {row[0]:7d} {row[1]:7d} {row[2]:9d}")
    totals = [sum(row[i] for row in counts.values()) for i in range(3)]
    print(f"{'all':40s} {totals[0]:7d} {totals[1]:7d} {totals[2]:9d}   in {time.perf_counter() - begin:.0f} s")
    if given.failures:
        given.failures.write_text("".join(f"{line}\n" for line in failures))


if __name__ == "__main__":
    main()
