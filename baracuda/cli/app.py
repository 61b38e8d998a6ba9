"""The commands, each loaded when it is asked for, and what becomes of errors and interruptions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
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
    "inspect": "Show the kernels of a call: source, geometry, registers, machine code; without a GPU.",
    "list": "Find ops by family, element, backend, guarantee, or name in any framework.",
    "report": "Make one HTML page of results, certificates and errors.",
    "run": "Run an ONNX model: its outputs, their hashes, and how long it takes.",
    "verify": "Prove the guarantees of every plan on this machine.",
    "warm": "Fill the cache of compiled kernels ahead, for this CPU or for a GPU that need not be there.",
}


class Commands(click.Group):
    """A group that imports a command when it is run or its help is shown."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"baracuda.cli.commands.{cmd_name}").command
        command.short_help = COMMANDS[cmd_name]
        return command


@click.command(
    cls=Commands,
    help="Machine-learning primitives with the same bits on every device.",
    epilog="Every command has its own --help, with examples.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(f"{__version__}, arithmetic version {ARITHMETIC_VERSION}", prog_name="baracuda")
def group() -> None:
    """The group; its commands do the work."""


def run(arguments: Sequence[str] | None = None, context: object = None) -> int:
    """Run a command; returns the exit status: what the command returned, 1 for an error with a name and where results could not
    be written, 2 for a command line that is wrong, 130 for an interruption. `given` is the object that the command takes from
    a program that calls it."""
    listed = None if arguments is None else list(arguments)
    try:
        status = group.main(listed, prog_name="baracuda", standalone_mode=False, obj=context)
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where what becomes of it can be said
    except click.ClickException as error:
        error.show()
        return int(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _said("interrupted", INTERRUPTED)
    except click.exceptions.Exit as exit_:
        return int(exit_.exit_code)
    except Error as error:
        return _said(f"{type(error).__name__}: {error}", BROKEN)
    except BrokenPipeError:
        return _unwritten()
    except (OSError, UnicodeEncodeError) as error:
        _said(f"{type(error).__name__}: {error}", BROKEN)
        return _unwritten()
    except SystemExit as exit_:  # Rich's answer to a pipe that nobody reads
        return exit_.code if isinstance(exit_.code, int) else OK if exit_.code is None else BROKEN
    return status if isinstance(status, int) else OK


def _said(message: str, status: int) -> int:
    """The status, once one line is on standard error, if that can be written."""
    with suppress(OSError, AttributeError):
        sys.stderr.write(" ".join(message.split("\n")) + "\n")
        sys.stderr.flush()
    return status


def _unwritten() -> int:
    """The status where standard output may hold what cannot be written: Python would try, and complain, once more at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        sys.stdout = None
    return BROKEN
