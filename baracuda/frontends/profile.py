"""Where the time goes: which plans ran, how often, and how long each took on its device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from baracuda.core import locks
from baracuda.core.device import Device, DeviceKind, as_stream
from baracuda.core.plan import Plan
from baracuda.core.run_hooks import run_hook
from baracuda.core.sku import BackendKind, PrecisionGuarantee


@dataclass(frozen=True)
class PlanTime:
    """The runs of all plans of one op by one backend on one device, whatever their shapes.

    Attributes
    ----------
    op, device, backend, guarantee
        What was run, where, by what, and what that promises.
    runs
        How often.
    seconds
        How long all of them took on the device.
    """

    op: str
    device: Device
    backend: BackendKind
    guarantee: PrecisionGuarantee
    runs: int
    seconds: float


class Profile:
    """What `profile` found. Complete when its `with` statement has ended."""

    def __init__(self) -> None:
        self._spans: list[tuple[Plan[Any, Any], float]] = []
        self._events: list[tuple[Plan[Any, Any], Any, Any]] = []
        self._lock = locks.lock()

    @property
    def times(self) -> list[PlanTime]:
        """The plans, those that took longest first."""
        spans: dict[tuple[str, Device, BackendKind, PrecisionGuarantee], list[float]] = {}
        for plan, seconds in self._spans:
            sku = plan.sku()
            spans.setdefault((sku.op, plan.device, sku.backend, sku.guarantee), []).append(seconds)
        times = [PlanTime(*key, len(seconds), sum(seconds)) for key, seconds in spans.items()]
        return sorted(times, key=lambda t: -t.seconds)

    @property
    def seconds(self) -> float:
        """How long all runs took."""
        return sum(seconds for _, seconds in self._spans)

    def around(self, plan: Plan[Any, Any], stream: Any, run: Callable[[], None]) -> None:
        """Time one run: on the CPU by the clock, on a GPU by a pair of events on its stream, which is not waited for."""
        if plan.device.kind is DeviceKind.CPU:
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
            with self._lock:
                self._spans.append((plan, seconds))
            return
        from baracuda.runtime import device_events

        first, last = (device_events.Event(plan.device) for _ in range(2))
        handle = as_stream(stream, plan.device).handle
        first.record(handle)
        run()
        last.record(handle)
        with self._lock:
            self._events.append((plan, first, last))

    def close(self) -> None:
        """Wait for what is still running, and take its times."""
        with self._lock:
            self._spans += [(plan, first.seconds_to(last)) for plan, first, last in self._events]
            self._events.clear()


@contextmanager
def profile() -> Iterator[Profile]:
    """Time every plan that runs while the `with` statement lasts, in all threads.

    Costs nothing outside of the statement, and within it two readings of a clock, or on a GPU two events, for each run. The time
    on a GPU is that between the events, so a device that waits for its host is seen as well. Launches bound with `plan.bind`
    are not seen.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> with baracuda.profile() as profile:
    ...     _ = baracuda.softmax(np.ones((2, 3), np.float32))
    >>> [(t.op, t.runs) for t in profile.times]
    [('softmax', 1)]
    """
    profile_ = Profile()
    with run_hook(profile_.around):
        try:
            yield profile_
        finally:
            profile_.close()
