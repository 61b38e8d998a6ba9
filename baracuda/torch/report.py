"""What PyTorch computed under a mode that let it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any


@dataclass
class ByPyTorch:
    """An overload that PyTorch computed: how often, and for how long."""

    overload: str
    calls: int = 0
    seconds: float = 0.0


def timed(overload: Callable[..., Any], row: ByPyTorch) -> Callable[..., Any]:
    """The overload itself, its calls and their time noted."""

    def call(*args: Any, **keywords: Any) -> Any:
        began = perf_counter()
        result = overload(*args, **keywords)
        row.calls += 1
        row.seconds += perf_counter() - began
        return result

    return call


@dataclass(frozen=True)
class Report:
    """What was computed by whom, and what may be promised of the results."""

    #: Overloads that PyTorch computed, those that took longest first.
    by_pytorch: tuple[ByPyTorch, ...]
    #: Overloads that were computed here.
    served: tuple[str, ...]
    #: What products were asked for: reproducible, pinned or fastest.
    arithmetic: str
    promise: str = field(default="")

    def __str__(self) -> str:
        lines = [f"{len(self.served)} overloads computed by baracuda, {len(self.by_pytorch)} by PyTorch", self.promise]
        lines += [f"  {r.overload}: {r.calls} calls, {r.seconds * 1e3:.2f} ms" for r in self.by_pytorch]
        return "\n".join(lines)


PROMISES = {
    "reproducible": "the same bits on every device",
    "pinned": "the same bits on devices of one architecture",
    "fastest": "what the vendors' libraries promise of products",
}


def promise(arithmetic: str, by_pytorch: tuple[ByPyTorch, ...]) -> str:
    """What may be said of results of a program in which PyTorch computed these."""
    if by_pytorch:
        return "no promise: what follows from a result of PyTorch's is what PyTorch promises"
    return PROMISES[arithmetic]
