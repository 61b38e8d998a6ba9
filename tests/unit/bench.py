"""What the tests of `baracuda bench` share: a clock that does not wait, and problems by name."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.cli.bench.suites import problems
from baracuda.cli.bench.suites.families import Declared
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.timing import Call


class Once:
    """A clock that runs everything once and calls it a second."""

    device = "cpu"
    warmups, rounds, round_budget, cache_bytes = 1, 1, 0.0, 1

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        return [float(len([call() for call in batch])) for batch in batches]

    def synchronise(self) -> None:
        pass

    def bystanders(self) -> float:
        return 0.0


def declared(op: str, element: str = "f32", *, backward: bool = False) -> Declared:
    candidates = problems("families", Request(dtypes=(element,), quick=True))
    return next(p for p in candidates if isinstance(p, Declared) and p.trial.name == op and p.backward is backward)
