"""The bits of every declared op, forward and backward, as hashes: made on a CPU, met by every other device.

    python -m tests.families.hashes --write
    python -m tests.families.hashes --write --only gelu

writes `baracuda/cli/verify/reference/ops.json`; `baracuda verify` compares with it.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from math import prod

from baracuda.cli.verify import reference
from baracuda.cli.verify.bits import digests
from baracuda.cli.verify.machine import Host, Machine
from baracuda.cli.verify.problem import Session
from baracuda.cli.verify.trials import Trial
from baracuda.formula.order import POOLED_LENGTH
from tests.families import trial as t

#: Trials of one op and element that are hashed.
_EACH = 2


@cache
def hashed() -> dict[str, t.Trial]:
    """The hashed trials: of each op and element the first two, the one with special values, and those of long rows."""
    found: dict[str, t.Trial] = {}
    counts: dict[tuple[str, str], int] = {}
    for trial in t.trials():
        if trial.op.library:  # promises no bits across machines
            continue
        key = trial.name, trial.element.label
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= _EACH or trial.special or (trial.op.rows and prod(trial.shapes[0] or ()) >= POOLED_LENGTH):
            found[str(trial)] = trial
    return found


def hashes(machine: Machine, trial: Trial) -> str:
    """The hashes of a trial's problems on a machine."""
    return reference.SEPARATOR.join(digests(Session(machine, problem).run()) for problem in trial.problems())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.families.hashes", description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", required=True, help="write the reference file")
    parser.add_argument("--only", default="", help="only trials whose name contains this; the others stay as they are")
    options = parser.parse_args()
    kept = {str(trial): h for trial, h in reference.of_ops().items()} if options.only else {}
    made: list[tuple[Trial, str]] = []
    failed = 0
    for number, (name, trial) in enumerate(hashed().items()):
        found = kept.get(name, "") if options.only not in name else ""
        if options.only in name:
            try:
                found = hashes(Host(), trial)
            except Exception as error:  # every failure is reported, and the rest goes on
                print(f"\n{name}: {type(error).__name__}: {error}", file=sys.stderr)
                failed += 1
        if found:
            made.append((trial, found))
        print(f"\r{number + 1} of {len(hashed())} trials", end="", file=sys.stderr, flush=True)
    reference.path_of("ops.json").write_text(reference.dumped(made))
    print(f"\n{len(made)} trials written", file=sys.stderr)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
