"""Seeing every `run` of every plan, while a `with` statement lasts. Outside of one, `run` is as it is and costs nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from baracuda.core.plan import Plan, Scalars

#: What is called in place of a run: the plan, the stream it was given, and the run itself.
Around = Callable[[Plan[Any, Any], Any, Callable[[], None]], None]
#: Told 1 when somebody begins to watch, -1 when they end: what makes calls without `run` must not, meanwhile.
ON_CHANGE: list[Callable[[int], None]] = []


@contextmanager
def watched(around: Around) -> Iterator[None]:
    """Have `around(plan, stream, run)` called in place of each `plan.run`, in whichever thread; it is to call `run()` once.

    Launches that were bound before are not seen. Statements may be nested: the inner one's function is then called first.
    """
    plain = Plan.run

    def run(plan: Plan[Any, Any], stream: Any, workspace: Any, args: Any, scalars: Scalars = None) -> None:
        around(plan, stream, lambda: plain(plan, stream, workspace, args, scalars))

    Plan.run = run  # type: ignore[method-assign, assignment]
    for tell in ON_CHANGE:
        tell(1)
    try:
        yield
    finally:
        Plan.run = plain  # type: ignore[method-assign]
        for tell in ON_CHANGE:
            tell(-1)
