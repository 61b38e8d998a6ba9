"""What the commands share: one console, progress bars, files that grow, exit statuses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from baracuda.cli.files import write_json

#: Columns of tables in files and pipes.
WIDTH = 200
#: Seconds after which results that are not complete yet are written again.
SAVE_SECONDS = 10.0
#: Exit statuses: all is well; something is broken, missing or not found; the command line is wrong; interrupted.
OK, BROKEN, USAGE, INTERRUPTED = 0, 1, 2, 130


def console() -> Console:
    """Where results go. Colours and widths are those of the terminal; there are none where the output is a file or a pipe."""
    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=WIDTH, soft_wrap=True)


def messages() -> Console:
    """Where progress and errors go, so that the results can be piped."""
    return Console(stderr=True, highlight=False)


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress bar on standard error; nothing where that is no terminal."""
    where = messages()
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=where,
        transient=True,
        disable=not where.is_terminal,
    )
    with bar:
        yield bar


def table(*columns: tuple[str, str], title: str = "") -> Table:
    """A table without a frame; each column has a name and is justified "left" or "right"."""
    rich_table = Table(title=title or None, box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name, justify in columns:
        rich_table.add_column(name, justify="right" if justify == "right" else "left", overflow="fold")
    return rich_table


class AutosavedFile:
    """A file that is written now and then while what it is to hold grows, and at the end; without a path nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self.path, self._last = path, time.monotonic()

    def now_and_then(self, record: Callable[[], Mapping[str, Any]]) -> None:
        """Write what `record` gives, if the last time was `SAVE_SECONDS` ago."""
        if time.monotonic() - self._last > SAVE_SECONDS:
            self.now(record)

    def now(self, record: Callable[[], Mapping[str, Any]]) -> None:
        """Write what `record` gives."""
        if self.path is not None:
            write_json(self.path, record())
        self._last = time.monotonic()
