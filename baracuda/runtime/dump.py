"""`BARACUDA_DUMP=folder`: what is compiled, or found in the cache, is written there, with its machine code as text.

A file is called by a digest of the target and the source, and by the kernel's name, so that processes that share a folder write
the same file where they compile the same.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from baracuda.core.errors import InvalidProblemError


def dump(source: str, name: str, target: str, ends: tuple[str, str], disassembled: Callable[[], str | None]) -> None:
    """Write a source where the environment asks for it, and its machine code where it can be had.

    Parameters
    ----------
    source, name, target
        The text, what its function is called, and what it is compiled for.
    ends
        How the two files end: (".cu", ".sass").
    disassembled
        Gives the machine code; None where the tools are missing.

    Raises
    ------
    InvalidProblemError
        The folder cannot be written to.
    """
    if not (folder := os.environ.get("BARACUDA_DUMP")):
        return
    digest = hashlib.sha256(f"{target}\n{source}".encode()).hexdigest()[:16]
    path = Path(folder).expanduser() / f"{digest}-{name}{ends[0]}"
    if path.exists():
        return
    code = disassembled()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if code is not None:
            _write(path.with_suffix(ends[1]), code)
        _write(path, source)
    except OSError as error:
        raise InvalidProblemError(f"BARACUDA_DUMP: {error}; expected a folder that can be written to") from error


def _write(path: Path, text: str) -> None:
    """A whole file or none."""
    descriptor, temporary = tempfile.mkstemp(".tmp", dir=path.parent)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
