"""Locks that a forked child can use: the only ones in the library.

A fork copies one thread and every lock. What another thread held would be held in the child for ever, so the locks made here are
free there, but for those of the thread that forked. Nothing more is needed where a lock guards a table to which finished
entries are added; what is changed in several steps is set right in the child by a function given to `in_child`. State that
nobody can set right, such as that inside a native library, is copied whole: `hold_during_forks` makes a fork wait until
nobody is at work on it. A module that another thread is importing would stay half-made as well, and Python does not see to
that: a fork waits for those of this library and of what its functions import.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_held: list[AbstractContextManager[Any]] = []
#: Packages that functions of this library import.
_IMPORTED = ("baracuda", "ml_dtypes", "opt_einsum")
_mended: list[Callable[[], None]] = []
_local = threading.local()  # what this thread's fork has entered


def lock() -> threading.Lock:
    """A new `threading.Lock`, free in a forked child where another thread held it."""
    new_lock = threading.Lock()
    _locks.add(new_lock)
    return new_lock


def reentrant_lock() -> Any:
    """A new `threading.RLock`, free in a forked child where another thread held it."""
    new_lock = threading.RLock()
    _locks.add(new_lock)
    return new_lock


def hold_during_forks(guard: AbstractContextManager[Any]) -> None:
    """Have every fork enter `guard`, and leave it in parent and child.

    Guards are entered in the order in which they were given here. Whoever is inside one may enter those given later, and must
    wait for nothing else that a thread which forks may hold. A guard is reentrant, so that its own thread may fork.
    """
    _held.append(guard)


def in_child(function: Callable[[], None]) -> None:
    """Have every forked child call a function, once its locks are free."""
    _mended.append(function)


def _imports_elsewhere() -> bool:
    """Whether another thread is importing a module of ours: whether it owns the lock that importlib has for each."""
    importing = vars(sys.modules["_frozen_importlib"]).get("_module_locks", {})
    owners = [getattr(held(), "owner", None) for name, held in list(importing.items()) if name.partition(".")[0] in _IMPORTED]
    return any(owner not in (None, threading.get_ident()) for owner in owners)


def _before() -> None:
    _local.entered = []
    while True:
        for guard in _held:
            guard.__enter__()
            _local.entered.append(guard)
        if not _imports_elsewhere():
            return
        _after()  # what is imported may need them
        time.sleep(1e-3)


def _after() -> None:
    while _local.entered:  # without those that an interruption kept from being entered
        _local.entered.pop().__exit__(None, None, None)


def _after_in_child() -> None:
    _after()
    for one in _locks:
        if one.acquire(blocking=False):  # free, or reentrant and this thread's own
            one.release()
        else:
            one._at_fork_reinit()  # what the standard library's own modules call
    for function in _mended:
        function()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
