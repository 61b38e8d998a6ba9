"""How much memory a process has while numbers and shapes change from call to call: a table, and docs/memory.svg.

python -m tools.memory_curve            a million calls with changing numbers, then 5,000 changing shapes; two to five minutes
python -m tools.memory_curve --numbers 10000 --shapes 500
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import baracuda
from baracuda.frontends import call
from baracuda.runtime import jit

TARGET = Path(__file__).parent.parent / "docs" / "memory.svg"
Row = tuple[int, float, int, int]  # calls so far, megabytes, plans, loaded libraries


def resident() -> float:
    """The process's resident memory in megabytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def row(calls: int) -> Row:
    return calls, resident(), len(call._plans), len(jit._loaded)


def numbers(count: int) -> Iterator[Row]:
    """Four functions in turn, each call with numbers that no call had before."""
    x, p = np.ones(257, np.float32), np.ones(64, np.float32)
    functions: list[Callable[[int], Any]] = [
        lambda i: baracuda.adamw_step(p, p, p, p, 1e-3, float(i + 1)),
        lambda i: baracuda.leaky_relu(x, 0.1 + i * 1e-7),
        lambda i: baracuda.add(x, x, alpha=i * 0.5),
        lambda i: baracuda.clamp(x, min=-1.0 * i, max=1.5 * i),
    ]
    every = max(1, count // 50)
    for i in range(count):
        functions[i % 4](i)
        if i % every == every - 1:
            yield row(i + 1)


def shapes(count: int) -> Iterator[Row]:
    """Four functions of tensors whose shape is drawn anew each time."""
    rng = np.random.default_rng(0)
    every = max(1, count // 50)
    for i in range(count):
        shape = tuple(int(n) for n in rng.integers(1, 200, rng.integers(1, 4)))
        y = np.ones(shape if np.prod(shape) < 200_000 else shape[:1], np.float32)
        for function in (baracuda.softmax, lambda t: baracuda.sum(t, axis=0), baracuda.gelu, baracuda.layer_norm):
            function(y)
        if i % every == every - 1:
            yield row(4 * (i + 1))


# --- the plot ---------------------------------------------------------------------------------------------------------

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 360, 200, 46, 34, 24


def _panel(x: int, title: str, rows: list[Row]) -> str:
    """One plot: megabytes over calls."""
    most_calls, most = rows[-1][0], 50 * (1 + int(max(r[1] for r in rows) // 50))
    wide, high = _WIDTH - _LEFT - 10, _HEIGHT - _BOTTOM - _TOP

    def at(calls: float, megabytes: float) -> str:
        return f"{x + _LEFT + wide * calls / most_calls:.1f},{_TOP + high * (1 - megabytes / most):.1f}"

    lines = [f'<text x="{x + _LEFT}" y="14" class="title">{title}</text>']
    for i in range(most // 50 + 1):
        (left, y), (right, _) = (at(c, 50 * i).split(",") for c in (0, most_calls))
        lines.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" class="grid"/>')
        lines.append(f'<text x="{x + _LEFT - 6}" y="{float(y) + 4}" class="end">{50 * i}</text>')
    for part in (0, 0.5, 1):
        place, _ = at(most_calls * part, 0).split(",")
        lines.append(f'<text x="{place}" y="{_HEIGHT - 16}" class="middle">{int(most_calls * part):,}</text>')
    lines.append(f'<text x="{x + _LEFT + wide / 2}" y="{_HEIGHT - 2}" class="middle">calls</text>')
    lines.append(f'<polyline points="{" ".join(at(r[0], r[1]) for r in rows)}"/>')
    return "\n".join(lines)


def svg(numbers_: list[Row], shapes_: list[Row]) -> str:
    style = (
        "text{font:11px sans-serif;fill:#444}.title{font-weight:bold}.end{text-anchor:end}.middle{text-anchor:middle}"
        ".grid{stroke:#ddd}polyline{fill:none;stroke:#1668b3;stroke-width:2}"
    )
    panels = [_panel(0, "changing numbers: resident MB", numbers_), _panel(_WIDTH, "changing shapes: resident MB", shapes_)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * _WIDTH + 24} {_HEIGHT}" role="img">'
    return f"{head}\n<title>Resident memory over calls</title>\n<style>{style}</style>\n" + "\n".join(panels) + "\n</svg>\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--numbers", type=int, default=1_000_000)
    parser.add_argument("--shapes", type=int, default=5_000)
    options = parser.parse_args()
    tables = []
    for name, rows in (("numbers", numbers(options.numbers)), ("shapes", shapes(options.shapes))):
        table: list[Row] = []
        for r in rows:
            table.append(r)
            print(f"\r{name}: {r[0]:,} calls, {r[1]:.0f} MB", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        tables.append(table)
        print(f"| {name}: calls | resident MB | plans | compiled libraries |\n| --- | --- | --- | --- |")
        for r in table[:: max(1, len(table) // 10)]:
            print(f"| {r[0]:,} | {r[1]:.0f} | {r[2]:,} | {r[3]} |")
    TARGET.write_text(svg(*tables), encoding="utf-8")


if __name__ == "__main__":
    main()
