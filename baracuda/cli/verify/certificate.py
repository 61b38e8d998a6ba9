"""What a verification found: how often each promise was tried, in how many elements it failed, and where first."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from baracuda.cli.environment import Environment
from baracuda.cli.verify.bits import Difference

#: The promises, each with what it says.
PROMISES = {
    "value": "what the formula says, by a float64 oracle, within what rounding may make of it",
    "hash": "the reference bits, which every CPU and every GPU must meet",
    "repeat": "the same bits again, whatever was in the outputs before",
    "threads": "the same bits with 1, 2 and 3 CPU threads",
    "stream": "the same bits on another stream",
    "graph": "the same bits in a replayed CUDA graph",
    "batch": "a row's bits do not depend on its neighbours or their number",
    "layout": "the same bits with other strides and alignments",
    "tuning": "the same bits under every tuning",
    "runs": "it runs, and writes nothing but its outputs",
}


@dataclass(frozen=True)
class Check:
    """One promise tried on one case: `difference` where its bits (or values) are not what they must be, `error` where it
    did not run, `skipped` where there was nothing to compare with, and why."""

    promise: str
    family: str
    plan: str
    case: str
    elements: int
    difference: Difference | None = None
    how: str = ""
    error: str = ""
    skipped: str = ""

    @property
    def broken(self) -> bool:
        return self.difference is not None or bool(self.error)

    def __str__(self) -> str:
        where = f"{self.plan}: {self.case}" + (f" ({self.how})" if self.how else "")
        return f"{self.promise} broken: {where}: {self.error or self.difference}"


@dataclass
class Tally:
    """How often something was checked: cases, their elements, how many differ, how many cases could not be compared."""

    cases: int = 0
    elements: int = 0
    broken: int = 0
    differing: int = 0
    skipped: int = 0

    def add(self, check: Check) -> None:
        if check.skipped:
            self.skipped += 1
            return
        self.cases += 1
        self.elements += check.elements
        self.broken += check.broken
        if check.difference is not None:
            self.differing += check.difference.differing


@dataclass
class Certificate:
    """The result of `verify`.

    Attributes
    ----------
    environment
        Device, driver, versions, date.
    selection
        What was asked for: families, ops, whether quick.
    complete
        Whether everything that was asked for was tried; not after an interruption.
    seconds
        How long it took.
    plans, cases
        How many plan classes and cases were tried.
    families
        For each family, the tally of each promise.
    broken
        Every check that failed, in the order found.
    not_compared
        Plans that the oracle has no say on, with the reason.
    """

    environment: Environment
    selection: dict[str, Any]
    complete: bool = False
    seconds: float = 0.0
    cases: int = 0
    plans: set[str] = field(default_factory=set)
    families: dict[str, dict[str, Tally]] = field(default_factory=dict)
    broken: list[Check] = field(default_factory=list)
    not_compared: dict[str, str] = field(default_factory=dict)

    def add(self, checks: list[Check]) -> None:
        """Count the checks of one case."""
        self.cases += 1
        for check in checks:
            self.plans.add(check.plan)
            self.families.setdefault(check.family, {}).setdefault(check.promise, Tally()).add(check)
            if check.broken:
                self.broken.append(check)
            if check.skipped:
                self.not_compared[check.plan] = check.skipped

    @property
    def kept(self) -> bool:
        """Whether no promise was broken."""
        return not self.broken

    def total(self, promise: str | None = None, family: str | None = None) -> Tally:
        """The sum over families and promises, or over those of one."""
        whole = Tally()
        for name, tallies in self.families.items():
            for key, t in tallies.items():
                if family in (None, name) and promise in (None, key):
                    whole.cases, whole.elements = whole.cases + t.cases, whole.elements + t.elements
                    whole.broken, whole.differing = whole.broken + t.broken, whole.differing + t.differing
                    whole.skipped += t.skipped
        return whole

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        whole = self.total()
        return {
            "certificate": "baracuda verify",
            "environment": self.environment.record(),
            "selection": self.selection,
            "complete": self.complete,
            "kept": self.kept,
            "seconds": round(self.seconds, 1),
            "plans": len(self.plans),
            "cases": self.cases,
            "checks": whole.cases,
            "elements": whole.elements,
            "differing_elements": whole.differing,
            "broken_promises": whole.broken,
            "promises": {p: PROMISES[p] for p in PROMISES if any(p in tallies for tallies in self.families.values())},
            "families": {f: {p: asdict(t) for p, t in tallies.items()} for f, tallies in sorted(self.families.items())},
            "broken": [{**asdict(check), "message": str(check)} for check in self.broken],
            "values_not_compared": self.not_compared,
        }
