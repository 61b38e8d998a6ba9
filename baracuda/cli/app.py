"""The commands, each loaded when it is asked for, and what becomes of errors and interruptions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from baracuda import __version__
from baracuda.cli.console import BROKEN, INTERRUPTED, OK
from baracuda.core.errors import Error
from baracuda.core.version import ARITHMETIC_VERSION

#: Every command, which is `command` in the module `baracuda.cli.commands.NAME`, and what it does, in a line.
COMMANDS = {
    "bench": "Measure every plan against what this machine can do, and against other libraries.",
    "demo": "Embed sentences with a real model; the same bits on every device.",
    "doctor": "Show devices, libraries, what is missing, and how fast this machine is.",
    "list": "Find ops by family, element, backend, guarantee, or name in any framework.",
    "report": "Make one HTML page of results, certificates and errors.",
    "verify": "Prove the guarantees of every plan on this machine.",
}


class Commands(click.Group):
    """A group that imports a command when it is run or its help is shown."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"baracuda.cli.commands.{cmd_name}").command
        found.short_help = COMMANDS[cmd_name]
        return found


@click.command(
    cls=Commands,
    help="Machine-learning primitives with the same bits on every device.",
    epilog="Every command has its own --help, with examples.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(f"{__version__}, arithmetic version {ARITHMETIC_VERSION}", prog_name="baracuda")
def group() -> None:
    """The group; its commands do the work."""


def run(arguments: Sequence[str] | None = None, given: object = None) -> int:
    """Run a command; returns the exit status: what the command returned, 1 for an error with a name, 2 for a command line that
    is wrong, 130 for an interruption. `given` is the object that the command takes from a program that calls it."""
    listed = None if arguments is None else list(arguments)
    try:
        status = group.main(listed, prog_name="baracuda", standalone_mode=False, obj=given)
    except click.ClickException as error:
        error.show()
        return int(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except click.exceptions.Exit as done:
        return int(done.exit_code)
    except Error as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return BROKEN
    except BrokenPipeError:
        sys.stdout = None  # the reader has gone; Python would complain once more at exit
        return OK
    return status if isinstance(status, int) else OK
