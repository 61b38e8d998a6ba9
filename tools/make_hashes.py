"""Write the reference hashes that `baracuda verify` compares with, made on a CPU and met by every other device.

    python -m tools.make_hashes
    python -m tools.make_hashes --only gelu     of trials and cases whose name contains this; the others stay as they are
    python -m tools.make_hashes --new           of those that have none

Those of declared ops are in `baracuda/cli/verify/reference/ops.json`, beside those of other functions, `functions.json`, and
those of plans written out by hand, `plans.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, TypeVar

from baracuda.cli.verify import reference, written
from baracuda.cli.verify.bits import digests
from baracuda.cli.verify.case import Case
from baracuda.cli.verify.functions import FunctionCase, digest
from baracuda.cli.verify.machine import Host, Machine
from baracuda.cli.verify.session import Session
from baracuda.cli.verify.trials import Trial
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.version import ARITHMETIC_VERSION
from baracuda.formula.order import POOLED_LENGTH
from tests.cases import trial as t
from tests.ops import function_cases

#: Trials of one op and element that are hashed.
_EACH = 2


@cache
def hashed() -> dict[str, Trial]:
    """The hashed trials: of each op and element the first two, the one with special values, and those of long rows."""
    found: dict[str, Trial] = {}
    counts: dict[tuple[str, str], int] = {}
    for trial in t.trials():
        if trial.op.library:  # promises no bits across machines
            continue
        key = trial.name, trial.element.label
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= _EACH or trial.special or (trial.op.rows and prod(trial.shapes[0] or ()) >= POOLED_LENGTH):
            found[str(trial)] = trial
    return found


def of_trial(machine: Machine, trial: Trial) -> str:
    """The hashes of a trial's cases on a machine."""
    return reference.SEPARATOR.join(digests(Session(machine, case).run()) for case in trial.cases())


def of_problem(machine: Machine, case: Case) -> str:
    """The hashes of a case's outputs on a machine, on the kernels for its layout."""
    return digests(Session(machine, case).run(bound=True))


def of_function(machine: Machine, case: FunctionCase) -> str:
    """The hash of what a call gives on a machine."""
    return digest(case.run(machine))


Hashed = TypeVar("Hashed", Trial, Case, FunctionCase)


def _made(
    every: Sequence[Hashed],
    make: Callable[[Machine, Hashed], str],
    wanted: Callable[[str], bool],
    known: Mapping[str, str],
) -> Iterator[tuple[Hashed, str]]:
    """Hashes of what is wanted by its name, and the known ones of the others. Every failure is reported, and the rest goes on;
    only a function may refuse an element."""
    for number, one in enumerate(every):
        name = str(one)
        if wanted(name):
            try:
                yield one, make(Host(), one)
            except Exception as error:
                if isinstance(one, FunctionCase) and isinstance(error, InvalidProblemError | UnsupportedError):
                    continue
                print(f"\n{name}: {type(error).__name__}: {error}", file=sys.stderr)
                _failed.append(name)
        elif name in known:
            yield one, known[name]
        print(f"\r{number + 1} of {len(every)}", end="", file=sys.stderr, flush=True)


_failed: list[str] = []


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.make_hashes", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="only what has this in its name; the others stay as they are")
    parser.add_argument("--new", action="store_true", help="only what has no hash; the others stay as they are")
    given = parser.parse_args()

    def made(every: Sequence[Hashed], make: Callable[[Machine, Hashed], str], held: Mapping[Any, str]) -> Iterator[Any]:
        known = {str(one): h for one, h in held.items()}
        calls = {one.call for one in held if isinstance(one, FunctionCase)}

        def wanted(name: str) -> bool:
            return given.only in name and not (given.new and (name in known or name.rpartition(" ")[0] in calls))

        return _made(every, make, wanted, known if given.only or given.new else {})

    functions = [case for cases in function_cases.hashed().values() for case in cases]
    places = {trial.name: i for i, trial in enumerate(reference.of_ops())}  # ops stay where they are, whatever is imported first
    trials = sorted(hashed().values(), key=lambda trial: places.get(trial.name, len(places)))
    found = {str(p): h for p, h in made(written.hashed(), of_problem, reference.of_plans())}
    stored = {"arithmetic_version": ARITHMETIC_VERSION, "cases": found}
    for name, text in (
        ("ops.json", reference.dumped(made(trials, of_trial, reference.of_ops()))),
        ("functions.json", reference.dumped_functions(made(functions, of_function, reference.of_functions()))),
        ("plans.json", json.dumps(stored, indent=0) + "\n"),
    ):
        reference.path_of(name).write_text(text)
    return int(bool(_failed))


if __name__ == "__main__":
    sys.exit(main())
