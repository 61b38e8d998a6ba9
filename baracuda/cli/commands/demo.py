"""`baracuda demo`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from baracuda.cli.console import BROKEN, OK, console, messages, progress, table
from baracuda.cli.files import as_json
from baracuda.core.sku import PROMISES

if TYPE_CHECKING:
    from baracuda.cli.demo import Report, Run

#: Sentences too long for the model that are named; the others are counted.
NAMED = 3


@click.command(
    "demo",
    help="""Embed sentences with a real model, all-MiniLM-L6-v2, on the CPU and on the first GPU if there is one.

    FILE has one sentence on each line, in UTF-8; - is standard input; without it the sentences that come with baracuda are taken.
    Prints the nearest sentences of some queries, the plans that ran and their times, and the SHA-256 of the embeddings, which is
    the same on every machine unless --fast lets libraries compute. The exit status is 1 where it is not the reference, or where
    two devices differ.

    \b
    Examples:
      baracuda demo
      baracuda demo letters.txt --query "the weather at sea"
      fortune -l | baracuda demo - --device cpu
      baracuda demo --device cuda --dtype bf16 --fast
      baracuda demo --json > demo.json
    """,
)
@click.argument("file", default="", metavar="[FILE | -]")
@click.option("--query", "queries", multiple=True, help="What to look for; may be repeated (default: three sentences).")
@click.option("--device", type=click.Choice(["all", "cpu", "cuda"]), default="all", show_default=True, help="Where to run.")
@click.option("--dtype", type=click.Choice(["f32", "bf16"]), default="f32", show_default=True, help="What to compute in.")
@click.option("--fast", is_flag=True, help="Let libraries compute products and attention: their bits, not the same everywhere.")
@click.option("--batch", type=click.IntRange(1, 4096), default=32, show_default=True, help="Sentences in a batch.")
@click.option("--json", "to_stdout", is_flag=True, help="Print what was found as JSON.")
def command(file: str, queries: tuple[str, ...], device: str, dtype: str, fast: bool, batch: int, to_stdout: bool) -> int:
    """Read, embed and print."""
    from baracuda.cli.demo import Text, run

    try:
        if not file:
            text = Text.shipped(queries)
        elif file == "-":
            text = Text.of(sys.stdin.buffer.read(), "standard input", queries)
        else:
            text = Text.of(Path(file).read_bytes(), file, queries)
        with progress() as bar:
            task = bar.add_task("demo", total=None)

            def on_progress(doing: str, done: int, total: int) -> None:
                bar.update(task, description=doing, completed=done, total=total)

            report = run(text, device, dtype, fast=fast, size=batch, on_progress=on_progress)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from None
    if to_stdout:
        click.echo(as_json(report.record()), nl=False)
        if report.no_gpu:
            messages().print(f"no GPU: {report.no_gpu}", markup=False)
    else:
        show(report, console())
    return OK if report.kept else BROKEN


def show(report: Report, where: Console) -> None:
    """The report for people."""
    how = "libraries where there are some" if report.fast else "reproducible"
    sentences = len(report.text.sentences)
    where.print(f"[bold]all-MiniLM-L6-v2[/bold], {report.dtype}, {how}: {escape(report.text.name)}")
    where.print(f"{_many(sentences, 'sentence')}, {_many(report.tokens, 'token')}")
    for line, count in list(report.truncated.items())[:NAMED]:
        whole, left_out = report.longest + count, f"the model takes {report.longest}, {count} are left out"
        where.print(f"[yellow]sentence {line} has {whole} tokens: {left_out}[/yellow]")
    if len(report.truncated) > NAMED:
        where.print(f"[yellow]and {len(report.truncated) - NAMED} more sentences are too long[/yellow]")
    for query, neighbours in report.nearest.items():
        where.print(f"\nnearest to [bold]{escape(query)}[/bold]")
        for cosine, sentence in neighbours:
            where.print(f"  {cosine:.3f}  {escape(sentence)}")
    for run in report.runs:
        _show_run(run, report, where)
    if report.no_gpu:
        where.print(f"\nno GPU: {report.no_gpu}", markup=False)


def _show_run(run: Run, report: Report, where: Console) -> None:
    words, numbers = ("plan", "backend", "guarantee"), ("runs", "ms", "share")
    rich_table = table(*((name, "left") for name in words), *((name, "right") for name in numbers))
    whole = sum(t.seconds for t in run.plans)
    for t in run.plans:
        rich_table.add_row(
            t.op, str(t.backend), str(t.guarantee), f"{t.runs:,}", f"{t.seconds * 1e3:,.2f}", f"{t.seconds / whole:.1%}"
        )
    where.print(f"\n[bold]{escape(str(run.environment))}[/bold], plans of {_many(run.profiled, 'sentence')}")
    where.print(rich_table)
    letters = ", ".join(f"{letter} {promise.replace('_', ' ')}" for promise, letter in PROMISES.items())
    where.print(f"guarantee: precision of products + of sums / {letters}", style="dim", markup=False)
    count = len(report.text.sentences) + len(report.text.queries)
    where.print(f"{_many(count, 'sentence')} with the queries in {run.seconds:,.3f} s: {count / run.seconds:,.0f} a second")
    verdict = ""
    if report.expected is not None:
        same = run.sha256 == report.expected
        verdict = "[green]: the reference[/green]" if same else f"[red]: not the reference {report.expected}[/red]"
    elif len(report.runs) > 1 and not report.fast:
        verdict = "[green]: the same on all devices[/green]" if report.kept else "[red]: not the same on all devices[/red]"
    where.print(f"SHA-256 of the embeddings {run.sha256}{verdict}")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
