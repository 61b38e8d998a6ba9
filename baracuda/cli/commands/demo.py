"""`baracuda demo`."""

from __future__ import annotations

import click


@click.command(
    "demo",
    help="""Run every plan on fixed inputs, on the CPU and on the first GPU if there is one, and compare the SHA-256 of what it
    computes with the reference that comes with the package. The exit status is 1 where they differ.

    \b
    Examples:
      baracuda demo
      baracuda demo --device cpu
    """,
)
@click.option(
    "--device",
    type=click.Choice(["all", "cpu", "cuda"]),
    default="all",
    show_default=True,
    help="Where to run.",
)
def command(device: str) -> int:
    """Run the demo."""
    from baracuda.cli.demo import run

    return run(device)
