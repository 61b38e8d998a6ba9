"""Measuring one problem: its values first, then everybody's times, in turns; and the row that several passes make."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from baracuda.cli.bench.benchmark import Benchmark, Prepared
from baracuda.cli.bench.checks import check
from baracuda.cli.bench.clocks import HostClock
from baracuda.cli.bench.place import Place
from baracuda.cli.bench.results import FRESH, OURS, Ratio, Row, Spread
from baracuda.cli.bench.rivals.library import Library, NoRivalError
from baracuda.cli.timing import Call, Clock, Comparison, Sample, compare, input_sets

#: Launches in a row whose host time is taken on a GPU: few enough that the queue never fills; rows; and the seconds that the
#: device may have to work for it, beyond which there are fewer launches.
LAUNCHES, BATCHES, DEVICE_SECONDS = 50, 7, 0.1


@dataclass
class Measurement:
    """A problem and what was found of it in every pass."""

    problem: Benchmark
    checked: str = ""
    backend: str = ""
    guarantee: str = ""
    schedule: str = ""
    cold: bool = True
    host_us: float = 0.0
    against: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    passes: list[Comparison] = field(default_factory=list)

    def row(self) -> Row:
        """What stands in the results."""
        p = self.problem
        samples = [one_pass.samples for one_pass in self.passes]
        allowances = [allowance(one_pass.disturbance) for one_pass in self.passes]
        us = {}
        for label in samples[0]:
            timed = [(sample[label].seconds, a) for sample, a in zip(samples, allowances, strict=True) if label in sample]
            us[label] = spread([[s * 1e6 for s in seconds] for seconds, _ in timed], [a for _, a in timed])
        ratios = {}
        for label, ours in self.against.items():
            pairs = [(sample[label], sample[ours]) for sample in samples if label in sample]
            per_round = [[a / b for a, b in zip(r.seconds, o.seconds, strict=True)] for r, o in pairs]
            ratios[label] = Ratio(spread(per_round, [1.0] * len(per_round), digits=4), ours)
        return Row(
            suite=p.suite,
            op=p.op,
            family=p.family,
            element=p.element.label,
            shape_class=p.shape_class,
            shape=tuple(p.shape),
            us=us,
            variant=p.variant,
            backend=self.backend,
            guarantee=self.guarantee,
            schedule=self.schedule,
            nbytes=p.nbytes,
            operations=p.operations,
            checked=self.checked,
            ratios=ratios,
            dropped=dict(self.dropped),
            host_us=round(self.host_us, 3),
            passes=len(self.passes),
            cold=self.cold,
            disturbance=round(max(one_pass.disturbance for one_pass in self.passes), 3),
        )


def spread(passes: Sequence[Sequence[float]], allowances: Sequence[float], digits: int = 3) -> Spread:
    """The median of all rounds, between the least 20th percentile of a pass, times its allowance, and the greatest 80th.

    A pass is short against the whole run, so that its own percentiles tell little of what another run would find: memory lies
    elsewhere by then, clocks have changed, neighbours have come and gone. Passes that lie apart in time have seen some of that.
    """
    ends = [Sample(tuple(rounds)).spread for rounds in passes]
    low = min(end[0] * share for end, share in zip(ends, allowances, strict=True))
    middle = median([value for rounds in passes for value in rounds])
    return (round(low, digits), round(middle, digits), round(max(high for _, high in ends), digits))


def allowance(disturbance: float) -> float:
    """What part of a time may be left when others are not there, who used this many processors: they take their part of all,
    and where work is divided evenly, everybody waits for the thread that has to share its processor."""
    count = os.cpu_count() or 1
    return (1.0 - min(disturbance, 1.0) / 2.0) * (1.0 - min(disturbance / count, 0.95))


def measure(measurement: Measurement, place: Place, libraries: Sequence[Library]) -> None:
    """Add a pass. The first one checks the values, and drops the rivals whose values are others.

    Raises what `prepare` and `check` raise.
    """
    problem = measurement.problem
    clock: Clock = HostClock(place.clock) if problem.suite == "launch" else place.clock
    first = problem.prepare(place, 0)
    count = input_sets(clock, problem.nbytes) if problem.suite != "launch" else 1
    if not measurement.passes:
        measurement.checked = check(problem, place, first)
        measurement.backend, measurement.guarantee, measurement.schedule = first.backend, first.guarantee, first.schedule
        measurement.cold = problem.suite == "launch" or problem.nbytes * count >= 2 * clock.cache_bytes
    sets = [first, *(problem.prepare(place, seed) for seed in range(1, count))]
    contenders = _contenders(measurement, sets, libraries)
    place.clock.synchronise()
    measurement.passes.append(compare(clock, contenders))
    if not place.on_cpu and not measurement.host_us:
        measurement.host_us = _host_time(first.launch, place, measurement.passes[-1].samples[OURS].median)


def _contenders(measurement: Measurement, sets: Sequence[Prepared], libraries: Sequence[Library]) -> Mapping[str, Sequence[Call]]:
    """Everybody's calls, by label."""
    contenders: dict[str, Sequence[Call]] = {OURS: [s.launch for s in sets]}
    fresh = [s.fresh for s in sets if s.fresh is not None]
    if len(fresh) == len(sets):
        contenders[FRESH] = fresh
    for library in libraries:
        if library.label in measurement.dropped:
            continue
        try:
            offered = library.contenders(measurement.problem, sets)
        except NoRivalError as error:
            measurement.dropped[library.label] = str(error)
            continue
        except Exception as error:  # what a rival cannot do is no reason to stop
            measurement.dropped[library.label] = f"{type(error).__name__}: {str(error)[:200]}"
            continue
        for label, contender in offered.items():
            contenders[label] = contender.calls
            measurement.against[label] = contender.against
    return contenders


def _host_time(launch: Call, place: Place, seconds: float) -> float:
    """Microseconds of the host for a bound launch that takes the device so many seconds: the median over some rows of launches
    that nothing waits for."""
    count, rows = max(2, min(LAUNCHES, int(DEVICE_SECONDS / BATCHES / max(seconds, 1e-9)))), []
    for _ in range(BATCHES):
        place.clock.synchronise()
        start = time.perf_counter()
        for _ in range(count):
            launch()
        rows.append((time.perf_counter() - start) / count * 1e6)
    place.clock.synchronise()
    return median(rows)
