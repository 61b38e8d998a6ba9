"""`baracuda report`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape

from baracuda.cli.console import OK, console
from baracuda.cli.files import write_text


@click.command(
    "report",
    help="""Make one self-contained HTML page of results and certificates: a roofline plot, bars of how many times as long other
    libraries take, the determinism certificate, the errors of the elementary functions, and every measurement.

    FILE is what `baracuda bench --out` or `baracuda verify --out` wrote, or a directory of such files, in the order of their
    names. Of a problem that several of them have, the first counts. The page loads nothing from anywhere, and fits a phone, a
    dark screen and paper.

    \b
    Examples:
      baracuda report results.json certificate.json
      baracuda report benchmarks/results --out benchmarks/results/report.html
    """,
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="Where to write the page.",
)
def command(files: tuple[Path, ...], out: Path) -> int:
    """Read, and write the page."""
    from baracuda.cli.report.page import page, read

    inputs = read(files)
    text = page(inputs)
    write_text(out, text)
    summary = f"{sum(len(r.rows) for r in inputs.results):,} measurements, {len(inputs.certificates)} certificates"
    console().print(f"{escape(str(out))}: {summary}, {len(text.encode()) / 1024:,.0f} KiB")
    return OK
