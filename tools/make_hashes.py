"""Write the reference hashes that `baracuda verify` compares with, made on a CPU and met by every other device.

    python -m tools.make_hashes
    python -m tools.make_hashes --only gelu     of trials and cases whose name contains this; the others stay as they are

Those of declared ops are in `baracuda/cli/verify/reference/ops.json`, beside those of plans written out by hand, `plans.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import TypeVar

from baracuda.cli.verify import reference, written
from baracuda.cli.verify.bits import digests
from baracuda.cli.verify.case import Case
from baracuda.cli.verify.machine import Host, Machine
from baracuda.cli.verify.session import Session
from baracuda.cli.verify.trials import Trial
from baracuda.core.version import ARITHMETIC_VERSION
from baracuda.formula.order import POOLED_LENGTH
from tests.cases import trial as t

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


Hashed = TypeVar("Hashed", Trial, Case)


def _made(
    every: Sequence[Hashed], make: Callable[[Machine, Hashed], str], only: str, known: Mapping[str, str]
) -> Iterator[tuple[Hashed, str]]:
    """Hashes of what is named like `only`, and the known ones of the others. Every failure is reported, and the rest goes on."""
    for number, one in enumerate(every):
        name = str(one)
        if only in name:
            try:
                yield one, make(Host(), one)
            except Exception as error:
                print(f"\n{name}: {type(error).__name__}: {error}", file=sys.stderr)
                _failed.append(name)
        elif name in known:
            yield one, known[name]
        print(f"\r{number + 1} of {len(every)}", end="", file=sys.stderr, flush=True)


_failed: list[str] = []


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.make_hashes", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="only what has this in its name; the others stay as they are")
    only = parser.parse_args().only
    known = {str(trial): h for trial, h in reference.of_ops().items()} if only else {}
    reference.path_of("ops.json").write_text(reference.dumped(_made(list(hashed().values()), of_trial, only, known)))
    found = {str(p): h for p, h in _made(written.hashed(), of_problem, only, reference.of_plans() if only else {})}
    stored = {"arithmetic_version": ARITHMETIC_VERSION, "cases": found}
    reference.path_of("plans.json").write_text(json.dumps(stored, indent=0) + "\n")
    return int(bool(_failed))


if __name__ == "__main__":
    sys.exit(main())
