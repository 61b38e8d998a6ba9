"""`baracuda doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from baracuda.cli.console import BROKEN, INTERRUPTED, OK, console, messages, progress, table
from baracuda.cli.files import as_json, write_json

if TYPE_CHECKING:
    from baracuda.cli.doctor import Measured, Report


@click.command(
    "doctor",
    help="""Show devices, driver and libraries, what is missing and the command that brings it, where compiled kernels are kept,
    and how fast this machine is: the host's cost of a launch, and ceilings of copy bandwidth and matrix products.

    Works without a GPU, and with a broken one. The exit status is 1 where something is missing or broken.

    \b
    Examples:
      baracuda doctor
      baracuda doctor --no-measure
      baracuda doctor --json > machine.json
    """,
)
@click.option("--measure/--no-measure", default=True, help="Whether to measure; without it the answer is there at once.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write what was found here, as JSON.")
@click.option("--json", "to_stdout", is_flag=True, help="Print what was found as JSON.")
def command(measure: bool, out: Path | None, to_stdout: bool) -> int:
    """Examine, measure and print."""
    from baracuda.cli.doctor import examine, measurements

    report, complete = examine(), True
    if measure:
        steps = measurements(report)
        with progress() as bar:
            task = bar.add_task("measure", total=len(steps))
            try:
                for what, step in steps:
                    bar.update(task, description=what)
                    step()
                    bar.advance(task)
            except KeyboardInterrupt:
                complete = False
    if out is not None:
        write_json(out, report.record())
    if to_stdout:
        click.echo(as_json(report.record()), nl=False)
    else:
        show(report, console())
    if not complete:
        messages().print("interrupted: not everything was measured")
        return INTERRUPTED
    return BROKEN if report.problems() else OK


def show(report: Report, where: Console) -> None:
    """The report for people."""
    e = report.environment
    where.print(f"[bold]baracuda {e.versions['baracuda']}[/bold], arithmetic version {e.versions['arithmetic']}")
    where.print(f"Python {e.versions['python']} on {escape(e.system)}\n")
    where.print(f"[bold]cpu[/bold]     {escape(str(e))}")
    _show_gpus(report, where)
    path = report.cache["path"] or "nowhere"
    where.print(f"[bold]cache[/bold]   {escape(path)}: {report.cache['entries']:,} kernels, {_size(report.cache['bytes'])}\n")
    _show_libraries(report, where)
    for measured in report.measured:
        _show_measured(measured, where)
    problems = report.problems()
    for problem, remedy in problems:
        where.print(f"[red]{escape(problem)}[/red]" + (f"\n  {escape(remedy)}" if remedy else ""))
    if not problems:
        without = "" if any(not gpu.problem for gpu in report.gpus) else ", on the CPU"
        where.print(f"[green]nothing is missing[/green]{without}")


def _show_gpus(report: Report, where: Console) -> None:
    driver = report.driver
    if not driver.found:
        where.print(f"[bold]gpu[/bold]     none: {escape(driver.problem)}")
        return
    cuda = f" (CUDA {driver.cuda})" if driver.cuda else ""
    where.print(
        f"[bold]driver[/bold]  {escape(driver.version)}{cuda}"
        + (f": [red]{escape(driver.problem)}[/red]" if driver.problem else "")
    )
    for gpu in report.gpus:
        if gpu.problem:
            where.print(f"[bold]cuda:{gpu.index}[/bold]  {escape(gpu.name)} [red]{escape(gpu.problem)}[/red]")
            continue
        memory = f"{_size(gpu.free_bytes)} of {_size(gpu.memory_bytes)} free"
        where.print(
            f"[bold]cuda:{gpu.index}[/bold]  {escape(gpu.name)}, {gpu.arch}, {gpu.multiprocessors} multiprocessors, {memory}"
        )


def _show_libraries(report: Report, where: Console) -> None:
    rich_table = table(("library", "left"), ("for", "left"), ("version", "left"), ("wanted", "left"), ("where", "left"))
    for d in report.libraries:
        version = "[red]missing[/red]" if d.version is None else escape(d.version)
        if d.problem and d.version is not None:
            version = f"[red]{version}[/red]"
        if d.version is None and d.extra == "cuda" and not report.driver.found:
            version = "[dim]not there, and no driver to use it[/dim]"
        rich_table.add_row(d.package, d.extra or "always", version, d.wanted, escape(d.where))
    where.print(rich_table)
    where.print()


def _show_measured(measured: Measured, where: Console) -> None:
    rich_table = table((f"measured on {measured.device}", "left"), ("", "right"), ("", "left"))
    if measured.launch is not None:
        rich_table.add_row("launch, bound", f"{measured.launch.bound:.2f} us", "host time of one call of a small kernel")
        rich_table.add_row("launch, run", f"{measured.launch.run:.2f} us", "with the checks of `run`")
    if measured.copy_bandwidth is not None:
        rich_table.add_row("copy", f"{measured.copy_bandwidth / 1e9:,.1f} GB/s", "bytes read and written")
    for rate in measured.products:
        what = f"{rate.element} product, {rate.extent} x {rate.extent}"
        rich_table.add_row(what, f"{rate.operations / 1e9:,.0f} GFLOP/s", escape(f"{rate.backend} ({rate.promises})"))
    where.print(rich_table)
    for problem in measured.problems:
        where.print(f"[yellow]not measured: {escape(problem)}[/yellow]")
    where.print()


def _size(nbytes: int) -> str:
    """Bytes, with the unit that leaves one to three digits before the point."""
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
