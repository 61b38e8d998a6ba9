"""What PyTorch computes in compiled graphs that let it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baracuda.torch.report import ByPyTorch, Report, promise, timed

_by_pytorch: dict[str, ByPyTorch] = {}
_served: set[str] = set()
_arithmetics: set[str] = set()


def note(arithmetic: str | None, served: set[str]) -> None:
    """A graph was compiled, of these overloads that are served."""
    _arithmetics.add(arithmetic or "reproducible")
    _served.update(served)


def by_pytorch(overload: Any) -> Callable[..., Any]:
    """The overload itself, its calls and their time noted."""
    return timed(overload, _by_pytorch.setdefault(str(overload), ByPyTorch(str(overload))))


def report() -> Report:
    """Who computes what in all graphs that were compiled so far, and what may be promised of it."""
    rows = tuple(sorted(_by_pytorch.values(), key=lambda r: -r.seconds))
    weakest = next((a for a in ("fastest", "pinned") if a in _arithmetics), "reproducible")
    return Report(rows, tuple(sorted(_served)), weakest, promise(weakest, rows))
