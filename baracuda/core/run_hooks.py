"""Seeing every `run` of every plan, while a `with` statement lasts. Outside of one, `run` is as it is and costs nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from baracuda.core.implementation import Scalars
from baracuda.core.plan import Plan

#: What is called in place of a run: the plan, the stream it was given, and the run itself.
RunHook = Callable[[Plan[Any, Any], Any, Callable[[], None]], None]
_listeners: list[Callable[[int], None]] = []
_watching = 0


def on_change(tell: Callable[[int], None]) -> None:
    """Have `tell` called with 1 when somebody begins to watch and with -1 when they end, and now with how many do: what makes
    calls without `run` must not, meanwhile."""
    _listeners.append(tell)
    if _watching:
        tell(_watching)


def _changed(by: int) -> None:
    global _watching
    _watching += by
    for tell in _listeners:
        tell(by)


@contextmanager
def run_hook(around: RunHook) -> Iterator[None]:
    """Have `around(plan, stream, run)` called in place of each `plan.run`, in whichever thread; it is to call `run()` once.

    Launches that were bound before are not seen. Statements may be nested: the inner one's function is then called first.
    """
    plain = Plan.run

    def run(plan: Plan[Any, Any], stream: Any, workspace: Any, args: Any, scalars: Scalars = None) -> None:
        around(plan, stream, lambda: plain(plan, stream, workspace, args, scalars))

    Plan.run = run  # type: ignore[method-assign, assignment]
    _changed(1)
    try:
        yield
    finally:
        Plan.run = plain  # type: ignore[method-assign]
        _changed(-1)
