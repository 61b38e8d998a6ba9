"""Clocks: turns, batches, disturbance, ratios, sets of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from baracuda.cli.timing import Call, Comparison, Sample, compare, input_sets


class FakeClock:
    """Runs every call once and says that its batch took the next of the given times."""

    device = "cpu"
    warmups, rounds, round_budget = 1, 6, 1e9
    cache_bytes = 100

    def __init__(self, seconds: Sequence[float], others: Sequence[float] = (0.0,)) -> None:
        self.seconds, self.others, self.taken, self.asked = seconds, others, 0, 0

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        times = []
        for batch in batches:
            for call in batch:
                call()
            times.append(self.seconds[self.taken % len(self.seconds)])
            self.taken += 1
        return times

    def synchronise(self) -> None:
        pass

    def bystanders(self) -> float:
        self.asked += 1
        return self.others[min(self.asked - 1, len(self.others) - 1)]


def test_contenders_and_sets_take_turns() -> None:
    seen: list[str] = []
    calls = {name: [lambda name=name, i=i: seen.append(f"{name}{i}") for i in range(3)] for name in "ab"}
    compare(FakeClock([1.0]), calls)
    turns = seen[-12:]
    assert [t[0] for t in turns] == list("abbaabbaabba")
    assert all(a[1] != b[1] for a, b in pairwise(turns))


def test_short_calls_are_timed_in_batches() -> None:
    seen: list[str] = []
    compare(FakeClock([1e-5]), {"a": [lambda: seen.append("a")]})
    assert len(seen) == 1 + 6 * 20  # one to warm up, then 6 rounds of 200 us


def test_disturbed_attempts_are_repeated_and_the_least_disturbed_counts() -> None:
    # Others' processor time before and after each of three attempts, all disturbed, the second the least.
    clock = FakeClock([1.0] * 7 + [2.0] * 6 + [3.0] * 6, [0, 9e9, 9e9, 9e9 + 1e6, 0, 9e9])
    comparison: Comparison = compare(clock, {"a": [lambda: None]})
    assert clock.asked == 6
    assert comparison.samples["a"].median == 2.0


def test_sample() -> None:
    sample = Sample((5.0, 1.0, 2.0, 3.0, 4.0, 6.0))
    assert (sample.median, sample.spread) == (3.5, (2.0, 5.0))
    assert Sample((2.0, 30.0, 4.0)).ratio_to(Sample((1.0, 10.0, 4.0))) == 2.0


def test_input_sets() -> None:
    clock = FakeClock([1.0])
    assert [input_sets(clock, n) for n in (1000, 400, 399, 150, 1)] == [1, 1, 2, 3, 16]
