"""`baracuda run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from baracuda.cli.console import OK, console, table
from baracuda.cli.files import as_json, write_arrays

if TYPE_CHECKING:
    from baracuda.cli.running import Run


@click.command(
    "run",
    help="""Run an ONNX model.

    INPUTS is a file that numpy.savez wrote, with an array for each input. Without it the inputs are random, the same on every
    machine: standard normal numbers, and 0 and 1 where the input holds integers; extents that the model leaves open are given
    by --shape. Prints inputs and outputs, the SHA-256 of each, which is the same on every machine unless --arithmetic lets
    libraries compute, and how long calls took.

    \b
    Examples:
      baracuda run model.onnx --shape x=1,3,224,224
      baracuda run model.onnx inputs.npz --device cuda --output outputs.npz
      baracuda run model.onnx inputs.npz --arithmetic fastest --repeat 20
      baracuda run model.onnx inputs.npz --json > run.json
    """,
)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("inputs", required=False, type=click.Path(path_type=Path))
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda or cuda:N.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="A file for the outputs, as numpy.savez writes it."
)
@click.option("--shape", "shapes", multiple=True, metavar="NAME=SHAPE", help="Of a random input: x=1,3,224,224; may be repeated.")
@click.option(
    "--arithmetic", type=click.Choice(["reproducible", "pinned", "fastest"]), default="reproducible", show_default=True,
    help="How products are computed.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of random inputs and random operators.")
@click.option("--repeat", type=click.IntRange(0, 100_000), default=5, show_default=True, help="Calls after the first.")
@click.option("--json", "to_stdout", is_flag=True, help="Print what was found as JSON.")
def command(
    model: Path,
    inputs: Path | None,
    device: str,
    output: Path | None,
    shapes: tuple[str, ...],
    arithmetic: str,
    seed: int,
    repeat: int,
    to_stdout: bool,
) -> int:
    """Run and print."""
    from baracuda.cli.running import run, shape_of

    found = run(model, inputs, device, arithmetic=arithmetic, shapes=dict(map(shape_of, shapes)), seed=seed, repeat=repeat)
    if output is not None:
        write_arrays(output, found.arrays)
    if to_stdout:
        click.echo(as_json(found.record()), nl=False)
    else:
        show(found, console())
    return OK


def show(run: Run, where: Console) -> None:
    """The run for people."""
    where.print(f"[bold]{escape(run.model)}[/bold] on {escape(str(run.environment))}, {run.arithmetic}")
    rich_table = table(("", "left"), ("name", "left"), ("element", "left"), ("shape", "left"), ("SHA-256", "left"))
    for title, tensors in ((f"input{', random' * run.drawn}", run.inputs), ("output", run.outputs)):
        for t in tensors:
            rich_table.add_row(title, escape(t.name), t.element, "x".join(map(str, t.shape)) or "scalar", t.sha256)
    where.print(rich_table)
    times = table(("", "left"), ("ms", "right"), ("least", "right"), ("most", "right"))
    times.add_row("load", _ms(run.load), "", "")
    times.add_row("first call", _ms(run.first), "", "")
    if run.median is not None:
        title = f"{len(run.later)} calls after it, median" if len(run.later) > 1 else "the call after it"
        times.add_row(title, _ms(run.median), _ms(min(run.later)), _ms(max(run.later)))
    where.print(times)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.3f}"
