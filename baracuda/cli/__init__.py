"""The command line: `baracuda demo`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="baracuda", description="Machine-learning primitives with the same bits on every device."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    demo = commands.add_parser(
        "demo",
        help="run every plan and compare the bits of its results with the reference",
        description="Runs every plan on fixed inputs, on the CPU and on the first GPU if there is one, and compares the SHA-256 "
        "of what it computes with the reference that comes with the package. The exit status is 1 where they differ.",
    )
    demo.add_argument("--device", choices=("all", "cpu", "cuda"), default="all", help="where to run (default: all there are)")
    given = parser.parse_args(arguments)

    from baracuda.cli.demo import run  # only a command that is run loads what it needs

    return run(given.device)
