"""`baracuda bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from baracuda.cli.console import BROKEN, INTERRUPTED, OK, AutosavedFile, console, messages, progress, table
from baracuda.cli.files import as_json
from baracuda.core.errors import InvalidProblemError

if TYPE_CHECKING:
    from baracuda.cli.bench.results import Results, Row
    from baracuda.cli.bench.rivals.library import Tables

#: Changes that are shown at most, of either sort.
SHOWN = 30


@click.command(
    "bench",
    help="""Measure how fast this machine runs every plan, against what the machine can do and against other libraries.

    \b
    Suites:
      seeds      softmax, RMS norm, ALiBi, lerp and per-token quantization, on every shape and layout
      families   every declared op, forward and backward, on large tensors
      large      reductions, scans and rows on extreme shapes
      gemm       matrix products: square, tall, decode, batched, those of a sentence encoder
      attention  scaled dot product attention, forward and backward
      launch     what a call costs the host
      demo       a layer of a sentence encoder

    Values are checked before anything is timed. Contenders take turns; times are medians, with the spread over several passes;
    the floor of a problem is the time that its bytes and its operations take at the copy bandwidth and at the product rate
    that were measured in the same run. The exit status is 1 where a problem gave an error or a wrong value.

    \b
    Examples:
      baracuda bench --quick
      baracuda bench gemm attention --device cuda --dtype bf16
      baracuda bench families --only softmax --rival torch --rival torch.compile
      baracuda bench seeds --shape 4096x4096 --out new.json --compare old.json
      baracuda bench launch --rival all --json > launch.json
    """,
)
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--device", default="", metavar="DEVICE", help="cpu, cuda or cuda:N (default: the first GPU if there is one).")
@click.option("--dtype", "dtypes", multiple=True, help="Only this element: f32, bf16, ...; may be repeated.")
@click.option("--shape", default="", metavar="NxM", help="These extents instead of the suite's own.")
@click.option("--only", multiple=True, metavar="TEXT", help="Only problems with this in their names; may be repeated.")
@click.option(
    "--rival", "rivals", multiple=True, help="torch, torch.compile, jax, cupy, or all that are installed; may be repeated."
)
@click.option("--quick", is_flag=True, help="Small shapes and one pass: to see that everything runs, not how fast.")
@click.option("--passes", type=click.IntRange(1, 100), help="How often each problem is measured (default: 3, on a GPU 2).")
@click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads of either side (default: all).")
@click.option("--jobs", type=click.IntRange(1, 256), help="Compile everything first, by this many processes.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the results here, as JSON, as they come.")
@click.option("--compare", "old", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Say what changed since.")
@click.option("--json", "to_stdout", is_flag=True, help="Print the results, as JSON, instead of the table.")
@click.pass_obj
def command(
    tables: Tables | None,
    suites: tuple[str, ...],
    device: str,
    dtypes: tuple[str, ...],
    shape: str,
    only: tuple[str, ...],
    rivals: tuple[str, ...],
    quick: bool,
    passes: int | None,
    threads: int | None,
    jobs: int | None,
    out: Path | None,
    old: Path | None,
    to_stdout: bool,
) -> int:
    """Measure, print, and write the results."""
    from baracuda.cli.bench.results import Results
    from baracuda.cli.bench.rivals import installed
    from baracuda.cli.bench.rivals.library import Tables
    from baracuda.cli.bench.run import Bench, Selection
    from baracuda.runtime.cpu import set_num_threads
    from baracuda.runtime.cuda import device_count

    device = device or ("cuda" if device_count() else "cpu")
    if device != "cpu" and not (device == "cuda" or device.removeprefix("cuda:").isdigit()):
        raise InvalidProblemError(f"--device {device}; expected cpu, cuda or cuda:N")
    before = Results.load(old) if old is not None else None
    if threads is not None:
        set_num_threads(threads)
    chosen = installed() if "all" in rivals else rivals
    selection = Selection(suites or ("seeds",), dtypes, _extents(shape), quick, only, chosen, passes or 0)
    bench = Bench(device, selection, tables or Tables())
    with progress() as bar:
        task = bar.add_task(f"bench on {device}", total=None)
        if jobs:
            bench.warm(jobs, lambda done, total: bar.update(task, completed=done, total=total, description="compile"))
        saved = AutosavedFile(out)

        def on_progress(done: int, total: int, name: str, results: Results) -> None:
            failed = f", [red]{len(results.failed)} failed[/red]" if results.failed else ""
            bar.update(task, completed=done, total=total, description=f"{escape(name)}{failed}")
            saved.now_and_then(results.record)

        results = bench.run(on_progress)
    saved.now(results.record)
    where = console()
    if to_stdout:
        click.echo(as_json(results.record()), nl=False)
    else:
        show(results, where)
    if before is not None:
        show_changes(before, results, messages() if to_stdout else where)
    if out is not None:
        messages().print(f"results written to {escape(str(out))}")
    if not results.complete:
        return INTERRUPTED
    return BROKEN if results.failed else OK


def _extents(text: str) -> tuple[int, ...] | None:
    if not text:
        return None
    extents = text.lower().split("x")
    if not all(part.isdigit() and int(part) for part in extents):
        raise InvalidProblemError(f"--shape {text}; expected extents like 4096x4096")
    return tuple(map(int, extents))


def show(results: Results, where: Console) -> None:
    """A table of each suite, the means, and what failed."""
    from baracuda.cli.bench.results import DISTURBED, geometric_mean

    where.print(escape(results.heading))
    for suite in dict.fromkeys(row.suite for row in results.rows):
        rows = [row for row in results.rows if row.suite == suite]
        rivals = list(dict.fromkeys(label for row in rows for label in row.ratios))
        columns = ("problem", "left"), ("plan", "left"), ("us", "right"), ("spread", "right"), ("of floor", "right")
        rich_table = table(*columns, *((f"{label} / ours", "right") for label in rivals), title=suite)
        for row in rows:
            rich_table.add_row(*_cells(results, row, rivals))
        where.print()
        where.print(rich_table)
        for label in rivals:
            ratios = [row.ratios[label].median for row in rows if label in row.ratios]
            where.print(f"{label} / ours: geometric mean {geometric_mean(ratios):.2f} of {len(ratios)}", markup=False)
    where.print("\nof floor: the least time by bytes (b) or by operations (o), at the measured ceilings, over the time")
    disturbed = sum(row.disturbance > DISTURBED for row in results.rows)
    if disturbed:
        busy = f"{disturbed} of {len(results.rows)} problems were timed while other processes used the processors"
        where.print(f"[yellow]{busy}: their spread is wide[/yellow]")
    warm = sum(not row.cold for row in results.rows)
    if warm:
        where.print(f"{warm} of {len(results.rows)} problems are so small that their tensors stay in the cache")
    for name, why in results.skipped.items():
        where.print(f"skipped {name}: {why}", markup=False)
    for name, why in results.failed.items():
        where.print(f"[red]failed {escape(name)}: {escape(why)}[/red]")
    if not results.complete:
        where.print("[yellow]not complete: stopped before everything was measured[/yellow]")


def _cells(results: Results, row: Row, rivals: list[str]) -> list[str]:
    low, middle, high = row.ours
    held = results.ceilings
    fraction = f"{held.fraction(row):.0%} {'b' if held.bound_by_memory(row) else 'o'}" if held.floor(row) else ""
    digits = 0 if middle >= 1000 else 1 if middle >= 10 else 2
    ratios = [f"{row.ratios[label].median:.2f}" if label in row.ratios else "" for label in rivals]
    plan = row.schedule if row.backend.startswith("formula-") or not row.backend else row.backend
    return [row.name, plan, f"{middle:,.{digits}f}", f"{low:,.{digits}f}-{high:,.{digits}f}", fraction, *ratios]


def show_changes(before: Results, after: Results, where: Console) -> None:
    """What became faster and slower beyond the spreads."""
    from baracuda.cli.bench.changes import changes, only_in_one

    all_changes = list(changes(before, after))
    gone, new = only_in_one(before, after)
    where.print(f"\nagainst {before.heading}", markup=False)
    beyond = sorted((c for c in all_changes if c.beyond), key=lambda c: c.factor)
    for what, chosen, colour in (
        ("slower", [c for c in beyond if c.factor < 1], "red"),
        ("faster", [c for c in beyond[::-1] if c.factor >= 1], "green"),
    ):
        where.print(f"[{colour}]{what}: {len(chosen)}[/{colour}]")
        for c in chosen[:SHOWN]:
            (low, was, high), (least, now, most) = c.before.ours, c.after.ours
            times = (
                f"{was:,.2f} ({low:,.2f}-{high:,.2f}) us, now {now:,.2f} ({least:,.2f}-{most:,.2f}): {c.factor:.2f} times as fast"
            )
            where.print(f"  {c.after.name}: {times}", markup=False)
    where.print(f"within the spread: {len(all_changes) - len(beyond)} of {len(all_changes)}")
    if gone or new:
        where.print(f"in the old run alone: {len(gone)}; in this run alone: {len(new)}")
