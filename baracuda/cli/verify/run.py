"""Verifying many cases: which, by how many processes, and what comes of them."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from zlib import crc32

from baracuda.cli.environment import environment
from baracuda.cli.verify import functions, reference, written
from baracuda.cli.verify.certificate import Certificate, Check
from baracuda.cli.verify.checks import Checker
from baracuda.cli.verify.machine import Machine, machine_of
from baracuda.cli.verify.trials import Trial
from baracuda.core.errors import InvalidProblemError

#: Items that a process takes at once.
CHUNK = 8


class ProcessDiedError(Exception):
    """A process of the pool is gone, and with it what the others had not begun."""


#: Told how many items are done, of how many, and what has been found so far.
ProgressCallback = Callable[[int, int, Certificate], None]


@dataclass(frozen=True)
class Selection:
    """What to verify.

    Attributes
    ----------
    families, ops
        Families of the catalogue, and names of ops; empty for all.
    quick
        One trial of each op, in an element that takes turns, instead of all.
    """

    families: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    quick: bool = False


@dataclass(frozen=True)
class Item:
    """A trial of a declared op, a call of another function or a case of a plan written out by hand, by its number, and whether
    every promise is tried."""

    kind: str
    number: int
    thorough: bool


@cache
def _trials() -> tuple[tuple[Trial, str], ...]:
    return tuple(reference.of_ops().items())


@cache
def _calls() -> tuple[tuple[functions.FunctionCase, str], ...]:
    return tuple(reference.of_functions().items())


def items(selection: Selection) -> list[Item]:
    """What a selection comes to; raises `InvalidProblemError` where that is nothing."""
    selected = [*_op_items(selection), *_function_items(selection), *_plan_items(selection)]
    if not selected:
        raise InvalidProblemError(f"nothing to verify in {selection}; expected a family or an op that `baracuda list` shows")
    return selected


def _op_items(selection: Selection) -> Iterator[Item]:
    """Every trial, one of each op and element thoroughly; of a quick selection, one of each op."""
    numbered = list(enumerate(_trials()))
    for name, of_op in groupby(numbered, key=lambda pair: pair[1][0].name):
        group = [(number, trial) for number, (trial, _) in of_op]
        if not _wanted(selection, group[0][1].op.category.value, name):
            continue
        by_element = {k: list(v) for k, v in groupby(group, key=lambda pair: pair[1].element)}
        chosen = {element: _in_turn(f"{name} {element}", pairs) for element, pairs in by_element.items()}
        if selection.quick:
            yield Item("op", list(chosen.values())[crc32(name.encode()) % len(chosen)], True)
            continue
        for number, trial in group:
            yield Item("op", number, chosen[trial.element] == number)


def _in_turn(seed: str, pairs: Sequence[tuple[int, Trial]]) -> int:
    ordinary = [number for number, trial in pairs if not trial.special] or [number for number, _ in pairs]
    return ordinary[crc32(seed.encode()) % len(ordinary)]


def _function_items(selection: Selection) -> Iterator[Item]:
    """Every call; of a quick selection, one of each function."""
    for name, of_name in groupby(enumerate(_calls()), key=lambda pair: pair[1][0].name):
        group = list(of_name)
        case = group[0][1][0]
        if _wanted(selection, case.family, case.op):
            chosen = [group[crc32(name.encode()) % len(group)]] if selection.quick else group
            yield from (Item("function", number, True) for number, _ in chosen)


def _plan_items(selection: Selection) -> Iterator[Item]:
    """Every case, those with ordinary values thoroughly; of a quick selection, one of each plan."""
    cases = list(enumerate(written.hashed()))
    for label, of_group in groupby(cases, key=lambda pair: pair[1].group):
        group = list(of_group)
        if not _wanted(selection, group[0][1].family, group[0][1].op):
            continue
        plain = [number for number, case in group if case.ordinary]
        if selection.quick:
            yield Item("plan", plain[crc32(label.encode()) % len(plain)], True)
            continue
        yield from (Item("plan", number, case.ordinary or case.layout == "contiguous") for number, case in group)


def _wanted(selection: Selection, family: str, op: str) -> bool:
    return (not selection.families or family in selection.families) and (not selection.ops or op in selection.ops)


def verify_item(machine: Machine, item: Item) -> list[list[Check]]:
    """The checks of each case of an item."""
    if item.kind == "plan":
        case = written.hashed()[item.number]
        return [Checker(machine, case, reference.of_plans().get(str(case))).all(thorough=item.thorough)]
    if item.kind == "function":
        return [functions.checks(machine, *_calls()[item.number])]
    trial, hashes = _trials()[item.number]
    expected = hashes.split(reference.SEPARATOR)
    checks: list[list[Check]] = []
    try:
        for i, case in enumerate(trial.cases()):
            checks.append(Checker(machine, case, expected[i] if i < len(expected) else None).all(thorough=item.thorough))
    except Exception as error:  # the forward pass that the gradients begin with
        where = trial.op.category.value, trial.name, str(trial)
        checks.append([Check("runs", *where, 0, error=f"{type(error).__name__}: {error}")])
    return checks


def verify(
    device: str = "cpu",
    selection: Selection | None = None,
    *,
    jobs: int = 1,
    on_progress: ProgressCallback = lambda done, total, certificate: None,
) -> Certificate:
    """Try the promises of every selected plan on a device ("cpu", "cuda" or "cuda:1").

    An interruption from the keyboard ends it early; the certificate then says that it is not complete.

    Parameters
    ----------
    selection
        What to verify; everything unless given.
    jobs
        Processes. With one, the work is done in this one.
    watch
        Called after each item.

    Raises
    ------
    InvalidProblemError
        Nothing is selected.
    UnsupportedError
        There is no such device, or the reference hashes are of another version of the arithmetic.

    Examples
    --------
    >>> from baracuda.cli.verify.run import Selection, verify
    >>> verify("cpu", Selection(ops=("softcap",), quick=True)).kept
    True
    """
    selection = selection or Selection()
    machine = machine_of(device)
    chosen = items(selection)
    record = {"families": list(selection.families), "ops": list(selection.ops), "quick": selection.quick}
    certificate = Certificate(environment(machine.stream.device), record)
    start = time.perf_counter()
    try:
        done = 0
        for results in _alone(machine, chosen) if jobs <= 1 else _together(device, chosen, jobs):
            for checks in (checks for item in results for checks in item):
                certificate.add(checks)
            done += len(results)
            certificate.seconds = time.perf_counter() - start
            on_progress(done, len(chosen), certificate)
        certificate.complete = True
    except (KeyboardInterrupt, ProcessDiedError):
        certificate.complete = False
    certificate.seconds = time.perf_counter() - start
    return certificate


Results = list[list[list[Check]]]


def _alone(machine: Machine, chosen: Sequence[Item]) -> Iterator[Results]:
    for item in chosen:
        yield [verify_item(machine, item)]


def _together(device: str, chosen: Sequence[Item], jobs: int) -> Iterator[Results]:
    """By several processes; one that dies is a broken promise of what it was working on, and ends the run."""
    chunks = [chosen[i : i + CHUNK] for i in range(0, len(chosen), CHUNK)]
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin)
    futures = {pool.submit(_chunk, device, chunk): chunk for chunk in chunks}
    try:
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield [[[_died(item)]] for item in futures[future]]
                raise ProcessDiedError from None
    finally:
        workers = list(pool._processes.values()) if not all(future.done() for future in futures) else []
        pool.shutdown(wait=not workers, cancel_futures=True)
        for worker in workers:  # an interruption ends what has begun too: an item takes up to a minute
            worker.terminate()


def _begin() -> None:
    """In each process: the one that started it deals with interruptions, and kernels share the processors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from baracuda.runtime.cpu import set_num_threads

    set_num_threads(1)


@cache
def _machine(device: str) -> Machine:
    return machine_of(device)


def _chunk(device: str, chunk: Sequence[Item]) -> Results:
    return [verify_item(_machine(device), item) for item in chunk]


def _died(item: Item) -> Check:
    if item.kind == "plan":
        case = written.hashed()[item.number]
        where = case.family, case.plan.op, str(case)
    elif item.kind == "function":
        call = _calls()[item.number][0]
        where = call.family, call.name, str(call)
    else:
        trial = _trials()[item.number][0]
        where = trial.op.category.value, trial.name, str(trial)
    return Check("runs", *where, 0, error="the process died while it worked on this or its neighbours")


def default_jobs(device: str) -> int:
    """As many processes as there are processors, and on a GPU at most 16, each of which has a context there."""
    from os import cpu_count

    count = cpu_count() or 1
    return count if device == "cpu" else min(count, 16)
