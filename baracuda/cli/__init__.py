"""The command line `baracuda`, and as a library what it does: `doctor`, `listing`, `verify`, `environment`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

#: What the command line needs besides the library.
NEEDED = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(f"the baracuda command needs {' and '.join(missing)}: pip install 'baracuda[cli]'", file=sys.stderr)
        return 1
    from baracuda.cli.app import run

    return run(arguments)
