"""Results as tables: `python -m benchmarks.table benchmarks/results/FILE.json` prints Markdown."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

#: Processors used by others, above which a time says little.
DISTURBED = 0.1


@dataclass(frozen=True)
class Row:
    """One case. Times are in microseconds: 20th percentile, median, 80th percentile.

    Attributes
    ----------
    nbytes : int
        The least that any implementation moves: each input read once, each output written once.
    error : float
        The largest relative error of an output, ||ours - reference|| / ||reference||, the reference being float64.
    disturbance : float
        How many processors other processes used meanwhile; 0 on a GPU.
    ours, torch : tuple[float, float, float]
        Into given outputs on the CPU; on a GPU torch's results are fresh, from its caching allocator.
    ratio : float
        torch over ours: the median over the rounds.
    fresh, torch_fresh, ratio_fresh
        The same with new outputs in each call; None on a GPU.
    compiled, ratio_compiled
        torch.compile's time and its ratio to ours, where it was measured.
    """

    op: str
    element: str
    shape_class: str
    shape: tuple[int, ...]
    schedule: str
    nbytes: int
    error: float
    disturbance: float
    ours: tuple[float, float, float]
    torch: tuple[float, float, float]
    ratio: float
    fresh: tuple[float, float, float] | None = None
    torch_fresh: tuple[float, float, float] | None = None
    ratio_fresh: float | None = None
    compiled: tuple[float, float, float] | None = None
    ratio_compiled: float | None = None

    @property
    def bandwidth(self) -> float:
        """Bytes a second, of the least bytes."""
        return self.nbytes / (self.ours[1] * 1e-6)


@dataclass
class Results:
    """What one run measured, and where. `copy_bandwidth` is in bytes read and written a second, the better of the run's
    beginning and end; `failed` holds the cases that gave an error or a wrong value, with what it was."""

    environment: dict[str, Any]
    copy_bandwidth: float
    rows: list[Row]
    failed: dict[str, str]

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @staticmethod
    def load(path: Path) -> Results:
        held = json.loads(path.read_text())
        rows = [Row(**{f.name: _frozen(row.get(f.name)) for f in fields(Row)}) for row in held.pop("rows")]
        return Results(rows=rows, **held)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def geometric_mean(values: Iterable[float]) -> float:
    """NaN of no values."""
    logarithms = [math.log(v) for v in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


def _number(x: float) -> str:
    return f"{x:,.1f}" if x < 100 else f"{x:,.0f}"


_Column = tuple[str, Callable[[Row, float], str]]
_COMMON: tuple[_Column, ...] = (
    ("op", lambda r, copy: r.op),
    ("dtype", lambda r, copy: r.element),
    ("shape", lambda r, copy: f"{r.shape_class} {'×'.join(map(str, r.shape))}"),
    ("schedule", lambda r, copy: r.schedule),
    ("µs", lambda r, copy: _number(r.ours[1])),
    ("p20–p80", lambda r, copy: f"{_number(r.ours[0])}–{_number(r.ours[2])}"),
    ("GB/s", lambda r, copy: f"{r.bandwidth / 1e9:.{0 if copy > 1e11 else 1}f}"),
    ("% of copy", lambda r, copy: f"{100 * r.bandwidth / copy:.0f}"),
    ("torch µs", lambda r, copy: _number(r.torch[1])),
)
_GPU: tuple[_Column, ...] = (
    *_COMMON,
    ("ratio", lambda r, copy: f"{r.ratio:.2f}"),
    ("ratio compiled", lambda r, copy: "" if r.ratio_compiled is None else f"{r.ratio_compiled:.2f}"),
)
_CPU: tuple[_Column, ...] = (
    *_COMMON,
    ("ratio fresh", lambda r, copy: "" if r.ratio_fresh is None else f"{r.ratio_fresh:.2f}"),
    ("ratio reused", lambda r, copy: f"{r.ratio:.2f}"),
)
_TEXT_COLUMNS = 4


def _cells(results: Results) -> list[list[str]]:
    columns = _CPU if any(r.ratio_fresh is not None for r in results.rows) else _GPU
    return [[name for name, _ in columns], *([show(r, results.copy_bandwidth) for _, show in columns] for r in results.rows)]


def _groups(rows: Sequence[Row]) -> Mapping[str, list[Row]]:
    groups: dict[str, list[Row]] = {"all": list(rows)}
    for row in rows:
        groups.setdefault(row.element, []).append(row)
    for row in rows:
        groups.setdefault(row.op, []).append(row)
    return groups


def _means(results: Results) -> list[list[str]]:
    """Geometric means over everything, each dtype and each op."""
    cells = [["geometric mean of", "cases", "% of copy", "ratio fresh", "ratio reused"]]
    for name, rows in _groups(results.rows).items():
        share = geometric_mean(100 * r.bandwidth / results.copy_bandwidth for r in rows)
        fresh = [r.ratio_fresh for r in rows if r.ratio_fresh is not None]
        shown = f"{geometric_mean(fresh):.2f}" if fresh else ""
        cells.append(
            [name, str(len(rows)), f"{share:.0f}", shown, f"{geometric_mean(r.ratio for r in rows if r.ratio == r.ratio):.2f}"]
        )
    if any(r.ratio_fresh is not None for r in results.rows):
        return cells
    return [[*row[:3], row[4] if i else "ratio"] for i, row in enumerate(cells)]


def plain(cells: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Aligned columns; those after the first few hold numbers and are flush right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        parts = [c.ljust(w) if i < text_columns else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def markdown(cells: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """A Markdown table; columns after the first few are flush right."""
    head, *body = cells
    rule = ["---" if i < text_columns else "---:" for i in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def heading(results: Results) -> str:
    """Where and when, in one sentence."""
    e = results.environment
    versions = ", ".join(f"{name} {version}" for name, version in e["versions"].items())
    threads = f", {e['threads']} threads" if e["threads"] else ""
    copied = f"{results.copy_bandwidth / 1e9:,.{0 if results.copy_bandwidth > 1e11 else 1}f} GB/s"
    system = e["driver"] or e["system"]
    return f"{e['device']}{threads}, {system}; {e['date']}; {versions}. Copy bandwidth in the same run: {copied}."


def render(results: Results, form: Callable[[Sequence[Sequence[str]], int], str]) -> str:
    """Everything: where, the rows, the means, the failures."""
    parts = [heading(results), form(_cells(results), _TEXT_COLUMNS), form(_means(results), 1)]
    disturbed = [r.disturbance for r in results.rows if r.disturbance > DISTURBED]
    if disturbed:
        parts.append(
            f"{len(disturbed)} of {len(results.rows)} cases were timed while other processes used more than {DISTURBED} "
            f"processors (at most {max(disturbed):.2f}): their times say little."
        )
    parts += [f"FAILED {name}: {why}" for name, why in results.failed.items()]
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__)
    parser.add_argument("file", type=Path, help="results written by benchmarks.seeds --out")
    parser.add_argument("--plain", action="store_true", help="aligned text instead of Markdown")
    arguments = parser.parse_args()
    print(render(Results.load(arguments.file), plain if arguments.plain else markdown))


if __name__ == "__main__":
    main()
