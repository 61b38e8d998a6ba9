"""Clocks: how long a call takes on a device, for several contenders in one run.

Contenders take turns (ours, theirs, ours, theirs, ...), so that whatever else happens to the machine happens to all of them,
and ratios are taken within a round.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Protocol

from baracuda.core.device import Device
from baracuda.runtime.caches import last_level_cache
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import DeviceMemory, current, second_level_cache, synchronize

#: Something to time: no arguments, the result is dropped.
Call = Callable[[], object]

MIB = 1 << 20
#: Calls that are shorter than this are timed in batches that last at least `BATCH_SECONDS`.
SHORT_SECONDS, BATCH_SECONDS = 20e-6, 200e-6
#: On the CPU, a comparison during which other processes used more than this many processors is made again, so often.
QUIET, ATTEMPTS = 0.05, 3
#: On the CPU, what goes before each batch, so that the worker threads of the contender before have stopped spinning: those of
#: libgomp, which PyTorch uses, spin 300,000 rounds unless told otherwise: 9 ms were measured on an EPYC.
PAUSE_SECONDS = 0.015
#: Sets of inputs beyond which a cache is cold however small the working set is.
MOST_SETS = 16


@dataclass(frozen=True)
class Sample:
    """The seconds that one call of a contender took, one number a round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The 20th and the 80th percentile."""
        ordered = sorted(self.seconds)
        last = len(ordered) - 1
        return ordered[round(0.2 * last)], ordered[round(0.8 * last)]

    def ratio_to(self, other: Sample) -> float:
        """How many times as long this took as `other`: the median over the rounds."""
        return median(a / b for a, b in zip(self.seconds, other.seconds, strict=True))


class Clock(Protocol):
    """A device's way to measure. `warmups`, `rounds`: calls before, and rounds of, a comparison unless told otherwise."""

    device: str
    cache_bytes: int
    warmups: int
    rounds: int
    round_budget: float

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        """Run the batches in this order; the mean seconds that a call of each took."""

    def synchronise(self) -> None:
        """Wait for the device."""

    def bystanders(self) -> float:
        """Processor seconds that other processes have used, where they disturb what this clock measures."""


class CpuClock:
    """Wall time of each batch. A result is released after the clock has stopped."""

    device = "cpu"
    warmups, rounds = 2, 15
    round_budget = 4.0

    def __init__(self) -> None:
        self.cache_bytes = last_level_cache()

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        seconds = []
        for batch in batches:
            time.sleep(PAUSE_SECONDS)
            start = time.perf_counter()
            for call in batch:
                result = call()
            seconds.append((time.perf_counter() - start) / len(batch))
            del result
        return seconds

    def synchronise(self) -> None:
        pass

    def bystanders(self) -> float:
        """All processors' time that was not idle, time stolen by other virtual machines included, less this process's."""
        try:
            fields = Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]
        except OSError:  # a system that does not tell
            return 0.0
        user, nice, system, _idle, _waiting, *interrupts_and_stolen = map(int, fields)
        own = os.times()
        busy = (user + nice + system + sum(interrupts_and_stolen)) / os.sysconf("SC_CLK_TCK")
        return busy - own.user - own.system


class CudaClock:
    """Time on the device, by a pair of events around each batch on its default stream.

    The device is given a head start of other work, so that it never waits for the host between two events.
    """

    device = "cuda"
    warmups, rounds = 5, 25
    round_budget = 4.0

    def __init__(self, index: int = 0) -> None:
        self._on = Device.cuda(index)
        self.cache_bytes = second_level_cache(self._on) or 60 * MIB
        self._scratch = DeviceMemory(512 * MIB, self._on)

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        with current(self._on) as driver:
            marks = [check(driver.cuEventCreate(0), "cuEventCreate") for _ in range(2 * len(batches))]
            try:
                check(driver.cuCtxSynchronize(), "cuCtxSynchronize")
                for value in range(8):
                    check(driver.cuMemsetD8Async(self._scratch.pointer, value, self._scratch.nbytes, 0), "cuMemsetD8Async")
                for start, stop, batch in zip(marks[::2], marks[1::2], batches, strict=True):
                    check(driver.cuEventRecord(start, 0), "cuEventRecord")
                    for call in batch:
                        call()
                    check(driver.cuEventRecord(stop, 0), "cuEventRecord")
                check(driver.cuCtxSynchronize(), "cuCtxSynchronize")
                pairs = zip(marks[::2], marks[1::2], batches, strict=True)
                return [
                    float(check(driver.cuEventElapsedTime(start, stop), "cuEventElapsedTime")) * 1e-3 / len(batch)
                    for start, stop, batch in pairs
                ]
            finally:
                for mark in marks:
                    check(driver.cuEventDestroy(mark), "cuEventDestroy")

    def synchronise(self) -> None:
        synchronize(self._on)

    def bystanders(self) -> float:
        return 0.0


def clock_for(device: str) -> Clock:
    """The clock of "cpu", "cuda" or "cuda:N"."""
    return CpuClock() if device == "cpu" else CudaClock(int(device.partition(":")[2] or 0))


def input_sets(clock: Clock, working_set: int) -> int:
    """How many sets of tensors to take turns with, so that none is in the cache when its turn comes."""
    return min(math.ceil(4 * clock.cache_bytes / max(working_set, 1)), MOST_SETS)


@dataclass(frozen=True)
class Comparison:
    """The contenders' times, and how many processors other processes used meanwhile."""

    samples: Mapping[str, Sample]
    disturbance: float


def compare(clock: Clock, contenders: Mapping[str, Sequence[Call]]) -> Comparison:
    """Time contenders in turns.

    Each contender is a sequence of calls that do the same on different sets of tensors; the sets take turns. A round that
    takes long is repeated less often, but at least 5 times on the CPU and 20 times on a GPU. Of several attempts, made
    where other processes are busy, the least disturbed counts.
    """
    total = 0.0
    batch: dict[str, int] = {}
    for name, calls in contenders.items():
        clock.measure([[calls[i % len(calls)]] for i in range(max(clock.warmups, len(calls)) - 1)])
        one = clock.measure([[calls[-1]]])[0]
        batch[name] = 1 if one >= SHORT_SECONDS else math.ceil(BATCH_SECONDS / max(one, 1e-7))
        total += one * batch[name]
    least = 20 if clock.device == "cuda" else 5
    rounds = max(least, min(clock.rounds, int(clock.round_budget / max(total, 1e-9))))
    turns = _turns(contenders, batch, rounds)
    attempts: list[Comparison] = []
    while len(attempts) < ATTEMPTS and not (attempts and attempts[-1].disturbance <= QUIET):
        start, before = time.perf_counter(), clock.bystanders()
        seconds = clock.measure([calls for _, calls in turns])
        disturbance = (clock.bystanders() - before) / (time.perf_counter() - start)
        timed = [(name, s) for (name, _), s in zip(turns, seconds, strict=True)]
        samples = {name: Sample(tuple(s for n, s in timed if n == name)) for name in contenders}
        attempts.append(Comparison(samples, max(disturbance, 0.0)))
    return min(attempts, key=lambda attempt: attempt.disturbance)


def _turns(contenders: Mapping[str, Sequence[Call]], batch: Mapping[str, int], rounds: int) -> list[tuple[str, list[Call]]]:
    """Who runs what, in order. Each contender is first in its turn, and goes on with the set of tensors after the one that
    was used last, which may be in the cache."""
    names = list(contenders)
    turns: list[tuple[str, list[Call]]] = []
    position = 0
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            calls, count = contenders[name], batch[name]
            turns.append((name, [calls[(position + i) % len(calls)] for i in range(count)]))
            position += count
    return turns
