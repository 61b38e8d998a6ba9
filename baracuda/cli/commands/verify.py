"""`baracuda verify`."""

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
    from baracuda.cli.verify.certificate import Certificate
    from baracuda.cli.verify.run import Selection

#: Broken promises that are shown; the certificate has them all.
SHOWN = 20


@click.command(
    "verify",
    help="""Prove the guarantees of every plan on this machine.

    For each plan: values against a float64 oracle; then bits: again, with other threads, on another stream, in a replayed
    graph, among other rows, in other layouts, under every tuning, and against the reference hashes, which every machine must
    meet. Ends with a table by family. The exit status is 1 if one promise is broken; then plan, case, first differing element
    and both bit patterns are named.

    \b
    Examples:
      baracuda verify --quick
      baracuda verify --family softmax --family loss
      baracuda verify --op torch.nn.functional.gelu
      baracuda verify --device cuda --jobs 8 --out certificate.json
      baracuda verify --quick --json > certificate.json
    """,
)
@click.option("--device", default="", metavar="DEVICE", help="cpu, cuda or cuda:N (default: the first GPU if there is one).")
@click.option("--family", "families", multiple=True, help="Only this family; may be repeated.")
@click.option("--op", "names", multiple=True, help="Only this op, by its name in any framework; may be repeated.")
@click.option("--quick", is_flag=True, help="One case of each op instead of all.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Processes (default: one a processor, at most 16 on a GPU).")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the certificate here, as JSON, as it comes.")
@click.option("--json", "to_stdout", is_flag=True, help="Print the certificate, as JSON, instead of the table.")
def command(
    device: str,
    families: tuple[str, ...],
    names: tuple[str, ...],
    quick: bool,
    jobs: int | None,
    out: Path | None,
    to_stdout: bool,
) -> int:
    """Verify, print, and write the certificate."""
    from baracuda.cli.verify.run import default_jobs, verify
    from baracuda.runtime.cuda import device_count

    device = device or ("cuda" if device_count() else "cpu")
    if device != "cpu" and not (device == "cuda" or device.removeprefix("cuda:").isdigit()):
        raise InvalidProblemError(f"--device {device}; expected cpu, cuda or cuda:N")
    chosen = selection(families, names, quick)
    with progress() as bar:
        task, saved = bar.add_task(f"verify on {device}", total=None), AutosavedFile(out)

        def on_progress(done: int, total: int, certificate: Certificate) -> None:
            saved.now_and_then(certificate.record)
            broken = f", [red]{len(certificate.broken)} broken[/red]" if certificate.broken else ""
            bar.update(task, completed=done, total=total, description=f"verify on {device}{broken}")

        certificate = verify(device, chosen, jobs=jobs or default_jobs(device), on_progress=on_progress)
    saved.now(certificate.record)
    if to_stdout:
        click.echo(as_json(certificate.record()), nl=False)
    else:
        show(certificate, console())
    if out is not None:
        messages().print(f"certificate written to {escape(str(out))}")
    if certificate.broken:
        return BROKEN
    return OK if certificate.complete else INTERRUPTED


def selection(families: tuple[str, ...], names: tuple[str, ...], quick: bool) -> Selection:
    """What the options ask for; raises `InvalidProblemError` for a family or name that nothing has."""
    from baracuda.cli.listing import named, near
    from baracuda.cli.verify.run import Selection
    from baracuda.frontends.catalogue import catalogue

    known = dict.fromkeys(entry.row.family for entry in catalogue())
    for family in families:
        if family not in known:
            raise InvalidProblemError(f"--family {family}; expected one of {', '.join(known)}")
    ops: list[str] = []
    for name in names:
        matches = [entry.row.op for entry in named(name) if entry.present]
        if not matches:
            raise InvalidProblemError(f"--op {name}: no op of that name; near it: {', '.join(near(name)) or 'nothing'}")
        ops += matches
    return Selection(families, tuple(ops), quick)


def show(certificate: Certificate, where: Console) -> None:
    """The table by family, what is broken, and the verdict."""
    from baracuda.cli.verify.certificate import PROMISES

    columns = [p for p in PROMISES if p != "runs" and certificate.total(p).cases]
    rich_table = table(("family", "left"), ("cases", "right"), *((p, "right") for p in columns), ("elements", "right"))
    for family in sorted(certificate.families):
        cells = []
        for promise in columns:
            t = certificate.total(promise, family)
            cells.append(f"[red]{t.cases - t.broken}/{t.cases}[/red]" if t.broken else str(t.cases) if t.cases else "-")
        ran, whole = certificate.total("runs", family), certificate.total(None, family)
        cases = f"[red]{ran.cases - ran.broken}/{ran.cases}[/red]" if ran.broken else str(ran.cases)
        rich_table.add_row(family, cases, *cells, f"{whole.elements:,}")
    where.print(str(certificate.environment), markup=False)
    where.print(rich_table)
    where.print()
    for promise in columns:
        where.print(f"{promise:8} {PROMISES[promise]}", markup=False)
    where.print()
    if certificate.not_compared:
        names = ", ".join(sorted(certificate.not_compared))
        where.print(f"values not compared, for the oracle has no say on them: {names}", markup=False)
    for check in certificate.broken[:SHOWN]:
        where.print(f"[red]{escape(str(check))}[/red]")
    if len(certificate.broken) > SHOWN:
        where.print(f"... and {len(certificate.broken) - SHOWN} more")
    whole = certificate.total()
    if not certificate.complete:
        where.print("[yellow]not complete: stopped before everything was tried[/yellow]")
    verdict = "[green]every promise is kept[/green]" if certificate.kept else f"[red]{whole.broken} promises are broken[/red]"
    summary = f"{len(certificate.plans)} plans, {certificate.cases:,} cases, {whole.cases:,} checks"
    elements = f"{whole.elements:,} elements of which {whole.differing:,} differ"
    where.print(f"{verdict}: {summary}, {elements}, in {certificate.seconds:.0f} s")
