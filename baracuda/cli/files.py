"""Files that the commands read and write: whole, or not at all."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from baracuda.core.errors import InvalidProblemError


def as_json(record: Any) -> str:
    """Indented, with a line at the end."""
    return json.dumps(record, indent=1, default=str, allow_nan=False) + "\n"


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """`write_text` of a record as JSON."""
    write_text(path, as_json(record))


def write_text(path: Path, text: str) -> None:
    """Write a file in one step, so that an interruption at any moment leaves the old one or the new one. Its folder is made, and
    a link is followed. What is no file, as /dev/stdout, is written to."""
    write_bytes(path, text.encode())


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """`write_bytes` of arrays by name, as `numpy.savez` writes them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:  # what savez does, but for names that are among its own parameters
        for name, x in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, x, allow_pickle=False)
    write_bytes(path, buffer.getvalue())


def write_bytes(path: Path, data: bytes) -> None:
    """`write_text` of bytes."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    descriptor, temporary = tempfile.mkstemp(".tmp", f".{path.name}.", path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):  # it is in its place already
            os.unlink(temporary)
        raise


def read_json(path: Path) -> Any:
    """What a file holds; raises `InvalidProblemError` where it cannot be read or is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise InvalidProblemError(f"{path}: nested too deeply; expected JSON that a command wrote") from None
    except (OSError, ValueError) as error:
        raise InvalidProblemError(f"{path}: {error}; expected JSON") from error
