"""Two runs of the same problems: what became faster, what slower, beyond what either run says of its own spread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from baracuda.cli.bench.results import Results, Row


@dataclass(frozen=True)
class Change:
    """One problem in both runs."""

    before: Row
    after: Row

    @property
    def factor(self) -> float:
        """The time before over the time after: above 1 is faster."""
        return self.before.ours[1] / self.after.ours[1]

    @property
    def beyond(self) -> bool:
        """Whether the spreads have nothing in common."""
        return self.after.ours[2] < self.before.ours[0] or self.after.ours[0] > self.before.ours[2]


def changes(before: Results, after: Results) -> Iterator[Change]:
    """Every problem that both runs measured."""
    known = {(row.suite, row.name): row for row in before.rows}
    for row in after.rows:
        if (row.suite, row.name) in known:
            yield Change(known[row.suite, row.name], row)


def only_in_one(before: Results, after: Results) -> tuple[list[str], list[str]]:
    """The problems that the first run alone has, and those that the second alone has."""
    names = [{(row.suite, row.name): row.name for row in results.rows} for results in (before, after)]
    return [n for key, n in names[0].items() if key not in names[1]], [n for key, n in names[1].items() if key not in names[0]]
