"""Compiled kernels on disk, so that a process does not compile what an earlier one has.

An entry is one file, named by the sha256 of its category, its key and the format version, and holding

    magic | sha256 of category, key and payload | payload

Every entry is verified before it is used, and one that does not verify is built again and replaced. The digest tells
damage from a whole entry; what keeps another user from planting code is that the directory belongs to this user and that
nobody else may write in it, and a directory for which that is not so is not used.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from baracuda.core import locks

_MAGIC = b"baracuda kernel\x00"
_FORMAT = 1
_DIGEST_BYTES = 32
_SUFFIX = ".kernel"
_TEMPORARY = ".tmp"


#: Bytes of entries on disk, beyond which those that were written longest ago are deleted; and how many entries a process writes
#: from one look at that to the next.
MOST_BYTES = 2 << 30
_LOOK_EVERY = 256


@dataclass(frozen=True)
class CacheInfo:
    """What is cached on disk: where (None if there is no usable directory), how many entries, how many bytes."""

    path: Path | None
    entries: int
    bytes: int


def cached(category: str, key: str, build: Callable[[], bytes]) -> bytes:
    """The bytes that `build` returns for this category and key, from the disk where an earlier process left them.

    The key must say everything that the result depends on. Any number of threads and processes may ask at once; within a
    process, a key is built by one thread at a time. An unusable, read-only or full disk never raises: `build` is called
    instead. What `build` raises is passed on, and nothing is stored.

    The directory is $BARACUDA_CACHE_DIR, else $XDG_CACHE_HOME/baracuda, else the platform's own place for caches. It is
    created with mode 0700; one that belongs to, or may be written by, another user is refused with one warning.
    """
    identity = _identity(category, key)
    name = hashlib.sha256(identity + _FORMAT.to_bytes(4, "little")).hexdigest() + _SUFFIX
    with _exclusive(name):
        directory = _directory()
        if directory is not None:
            content = _read(directory / name, identity)
            if content is not None:
                return content
        payload = build()
        if directory is not None:
            _write(directory, name, _MAGIC + _digest(identity, payload) + payload)
            if next(_written) % _LOOK_EVERY == 0:
                _forget_oldest(directory)
        return payload


def cache_info() -> CacheInfo:
    """The directory in use and what it holds."""
    directory = _directory()
    sizes = [entry.stat(follow_symlinks=False).st_size for entry in _files(directory, _SUFFIX)]
    return CacheInfo(directory, len(sizes), sum(sizes))


def clear_cache() -> int:
    """Delete every entry, and what interrupted writers left behind; returns how many entries were deleted.

    Files that are not the cache's own stay where they are.
    """
    directory = _directory()
    deleted = 0
    for suffix in (_SUFFIX, _TEMPORARY):
        for entry in _files(directory, suffix):
            with suppress(OSError):
                os.unlink(entry.path)
                deleted += suffix == _SUFFIX
    return deleted


# --- entries ----------------------------------------------------------------------------------------------------------


def _identity(category: str, key: str) -> bytes:
    """Category and key as bytes, with lengths in front so that no two pairs run together alike."""
    parts = (text.encode("utf-8", "surrogatepass") for text in (category, key))
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def _digest(identity: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(identity + payload).digest()


def _read(path: Path, identity: bytes) -> bytes | None:
    """The verified payload of an entry, or None."""
    # A link or a pipe planted under an entry's name is neither followed nor waited for.
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            if not _is_own(os.fstat(file.fileno()), stat.S_ISREG):
                return None
            raw = file.read()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_BYTES
    payload = raw[head:]
    return payload if raw[:head] == _MAGIC + _digest(identity, payload) else None


def _write(directory: Path, name: str, raw: bytes) -> None:
    """Put an entry in place in one step, or not at all."""
    try:
        descriptor, temporary = tempfile.mkstemp(_TEMPORARY, name.removesuffix(_SUFFIX), directory)
    except OSError:
        return
    try:
        with open(descriptor, "wb") as file:
            file.write(raw)
        os.replace(temporary, directory / name)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)


_written = count(1)


def _forget_oldest(directory: Path) -> None:
    """Bring a cache that has outgrown its size down to three quarters of it; what is wanted again is built again."""
    entries = []
    for entry in _files(directory, _SUFFIX):
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    if total <= MOST_BYTES:
        return
    for _, size, path in sorted(entries):
        if total <= MOST_BYTES * 3 // 4:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= size


def _files(directory: Path | None, suffix: str) -> Iterator[os.DirEntry[str]]:
    """The cache's own files of one sort."""
    if directory is None:
        return
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            stem = entry.name[:64]
            if entry.name.endswith(suffix) and len(stem) == 64 and set(stem) <= set("0123456789abcdef"):
                yield entry


# --- the directory ----------------------------------------------------------------------------------------------------

_warned: set[str] = set()


def _location() -> Path:
    """Where the cache belongs, whether or not it exists; RuntimeError where there is no home directory."""
    if folder := os.environ.get("BARACUDA_CACHE_DIR"):
        return Path(os.path.abspath(os.path.expanduser(folder)))
    if (xdg := os.environ.get("XDG_CACHE_HOME")) and os.path.isabs(xdg):  # the XDG specification ignores a relative path
        return Path(xdg) / "baracuda"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "baracuda" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "baracuda"
    return Path.home() / ".cache" / "baracuda"


def _is_own(status: os.stat_result, is_type: Callable[[int], bool]) -> bool:
    """Whether this is a file of the given type that only this user may change. Windows keeps others out by the profile
    directory's access list, which these bits do not show."""
    if not is_type(status.st_mode):
        return False
    return sys.platform == "win32" or (status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _directory() -> Path | None:
    """The cache directory, created if need be, or None, with one warning, if it cannot be used."""
    try:
        path = _location()
    except RuntimeError as error:
        _warn_once("home", f"{error}; set BARACUDA_CACHE_DIR to a directory of your own")
        return None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        _warn_once(str(path), f"{error}; set BARACUDA_CACHE_DIR to a directory of your own")
        return None
    if _is_own(status, stat.S_ISDIR):
        return path
    problem = f"{path} belongs to user {status.st_uid} and has mode {stat.S_IMODE(status.st_mode):04o}"
    _warn_once(str(path), f"{problem}; expected a directory of this user that no other may write to")
    return None


def _warn_once(subject: str, reason: str) -> None:
    with _lock:
        first = subject not in _warned
        _warned.add(subject)
    if first:
        warnings.warn(f"no kernel cache on disk: {reason}", stacklevel=4)


# --- one build at a time ----------------------------------------------------------------------------------------------


class _KeyLock:
    """The lock of one key while someone holds or waits for it."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = locks.lock()
        self.users = 0


_lock = locks.lock()
_turns: dict[str, _KeyLock] = {}


@contextmanager
def _exclusive(name: str) -> Iterator[None]:
    turns = _turns
    with _lock:
        turn = turns.setdefault(name, _KeyLock())
        turn.users += 1
    try:
        with turn.lock:
            yield
    finally:
        with _lock:
            turn.users -= 1
            if not turn.users:
                del turns[name]


def _after_fork() -> None:
    """Other threads' turns would never end in the child."""
    global _turns
    _turns = {}


locks.in_child(_after_fork)
