"""`baracuda bench` as a library: the problems of some suites, measured in several passes on one device."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field

from baracuda.cli import ceilings
from baracuda.cli.bench.benchmark import Benchmark
from baracuda.cli.bench.clocks import clock_rates
from baracuda.cli.bench.measure import Measurement, measure
from baracuda.cli.bench.place import Place
from baracuda.cli.bench.results import Results, Row
from baracuda.cli.bench.rivals import library, missing
from baracuda.cli.bench.rivals.library import Library, NoRivalError, Tables
from baracuda.cli.bench.suites import SUITES, problems
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.environment import environment
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error, InvalidProblemError, UnsupportedError

#: Passes over the problems unless told otherwise.
PASSES = {"cpu": 3, "cuda": 2}


@dataclass(frozen=True)
class Selection:
    """What to measure.

    Attributes
    ----------
    suites
        Names of `SUITES`.
    dtypes, shape, quick
        As in `Request`.
    only
        Texts, one of which a problem's name contains; empty for all.
    rivals
        Names of `baracuda.cli.bench.rivals.RIVALS`.
    passes
        How often each problem is measured; 0 for the device's usual number.
    """

    suites: tuple[str, ...] = ("seeds",)
    dtypes: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    quick: bool = False
    only: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    passes: int = 0

    def problems(self, kind: str) -> list[Benchmark]:
        """Everything that is asked for; raises `InvalidProblemError` where that is nothing."""
        request = Request(kind, self.dtypes, self.shape, self.quick)
        candidates = [p for suite in dict.fromkeys(self.suites) for p in problems(suite, request)]
        chosen = [p for p in candidates if not self.only or any(text in str(p) for text in self.only)]
        if not chosen:
            names = ", ".join(map(repr, self.only)) or "any text"
            raise InvalidProblemError(
                f"no problem of {', '.join(self.suites)} has {names} in its name; suites: {', '.join(SUITES)}"
            )
        return chosen


#: Told how many measurements are done, of how many, which problem comes next, and what has been found so far.
ProgressCallback = Callable[[int, int, str, Results], None]


@dataclass
class Bench:
    """One run.

    Parameters
    ----------
    device
        "cpu", "cuda" or "cuda:N".
    selection
        What to measure.
    tables
        Calls of rivals that the catalogue's names do not lead to.
    """

    device: str
    selection: Selection = field(default_factory=Selection)
    tables: Tables = field(default_factory=Tables)

    def run(self, on_progress: ProgressCallback = lambda done, total, name, results: None) -> Results:
        """Measure everything. An interruption from the keyboard ends it early; what was found until then is returned.

        Raises
        ------
        InvalidProblemError
            Nothing is selected, or by a name that nothing has.
        UnsupportedError
            There is no such device, or a shape that a suite does not take.
        """
        place = Place(self.device)
        chosen = self.selection.problems(place.device.kind.value)
        results = Results(environment(place.device).record(), self.selection.suites)
        libraries = self._libraries(place, results)
        measurements = [Measurement(problem) for problem in chosen]
        passes = self.selection.passes or (1 if self.selection.quick else PASSES[place.device.kind.value])
        total, steps_done, start = passes * len(measurements), 0, time.perf_counter()
        gc.collect()
        gc.freeze()  # a collection after each problem then looks at nothing but what the problem has made
        try:
            on_progress(steps_done, total, "ceilings", results)
            results.clocks["before"] = clock_rates(place.device)
            self._ceilings(place, results, chosen)
            for number in range(passes):
                for measurement in measurements:
                    name = str(measurement.problem)
                    on_progress(steps_done, total, name, results)
                    if name not in results.failed and name not in results.skipped:
                        self._measure(measurement, place, libraries, results)
                    steps_done += 1
                    results.seconds = round(time.perf_counter() - start, 1)
                if number == passes - 1:
                    results.complete = True
            self._ceilings(place, results, chosen)
            results.clocks["after"] = clock_rates(place.device)
        except KeyboardInterrupt:
            results.complete = False
        finally:
            gc.unfreeze()
        results.seconds = round(time.perf_counter() - start, 1)
        on_progress(steps_done, total, "", results)
        return results

    def _libraries(self, place: Place, results: Results) -> list[Library]:
        absent = missing(self.selection.rivals, place)
        results.skipped |= {f"rival {name}": why for name, why in absent.items()}
        libraries = []
        for name in dict.fromkeys(self.selection.rivals):
            if name not in absent:
                try:
                    libraries.append(library(name, place))
                except NoRivalError as error:
                    results.skipped[f"rival {name}"] = str(error)
        for rival in libraries:
            rival.tables = self.tables
        return libraries

    def _measure(self, measurement: Measurement, place: Place, libraries: Sequence[Library], results: Results) -> None:
        name = str(measurement.problem)
        try:
            measure(measurement, place, libraries)
        except UnsupportedError as error:
            results.skipped[name] = str(error)
        except (Error, RuntimeError, MemoryError, KeyError, TypeError, ValueError, AssertionError) as error:
            results.failed[name] = f"{type(error).__name__}: {str(error)[:500]}"
        finally:
            gc.collect()
        if name in results.failed:
            results.rows = [row for row in results.rows if row.name != name or row.suite != measurement.problem.suite]
        elif measurement.passes:
            _put(results.rows, measurement.row())

    def _ceilings(self, place: Place, results: Results, chosen: Sequence[Benchmark]) -> None:
        """Measure what the device does at most, and keep the better of the run's beginning and end."""
        held = results.ceilings
        if any(p.nbytes for p in chosen):
            held.copy_bandwidth = max(held.copy_bandwidth, ceilings.copy_bandwidth(place.clock, place.device))
        wanted = {ElementKind.F32} | {p.element for p in chosen if p.operations and p.element.is_float and p.element.bits >= 16}
        for element in sorted(wanted if any(p.operations for p in chosen) else (), key=lambda k: k.label):
            for fastest in (False, True):
                try:
                    rate = ceilings.product_rate(place.clock, place.device, element, fastest=fastest)
                except Error as error:
                    results.skipped[f"ceiling of {element} products"] = str(error)
                    continue
                held.products[element.label] = max(held.products.get(element.label, 0.0), rate.operations)

    def warm(self, jobs: int, on_progress: Callable[[int, int], None]) -> None:
        """Compile what the run needs into the cache on disk, by several processes. What fails will fail again, and be told."""
        kind = "cpu" if self.device == "cpu" else "cuda"
        count = len(self.selection.problems(kind))
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            waiting = [pool.submit(_prepared, self.device, self.selection, number) for number in range(count)]
            try:
                for compiled, future in enumerate(as_completed(waiting), 1):
                    future.exception()
                    on_progress(compiled, count)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _put(rows: list[Row], row: Row) -> None:
    """In the place of the same problem's row of an earlier pass, or at the end."""
    for i, held in enumerate(rows):
        if (held.suite, held.name) == (row.suite, row.name):
            rows[i] = row
            return
    rows.append(row)


def _prepared(device: str, selection: Selection, number: int) -> None:
    """Compile one problem."""
    place = Place(device)
    selection.problems(place.device.kind.value)[number].prepare(place, 0)
