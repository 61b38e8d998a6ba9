"""The bits of every declared op, forward and backward, as hashes: made on a CPU, compared with on every other device.

python -m tests.families.hashes --device cpu --write
python -m tests.families.hashes --device cuda --check --jobs 8 --out report.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import baracuda
from tests.families import trial as t
from tests.kernels import hashes as kernels
from tests.kernels.hashes import Compared, device_name, digest
from tests.kernels.operands import canonical_bits

HASHES = Path(__file__).with_name("hashes.json")
#: Trials of one op and element that are hashed.
_EACH = 2


@cache
def hashed() -> dict[str, t.Trial]:
    """The hashed trials: of each op and element the first two, and the one with special values."""
    found: dict[str, t.Trial] = {}
    counts: dict[tuple[str, str], int] = {}
    for trial in t.trials():
        key = trial.name, trial.element.label
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= _EACH or trial.special:
            found[str(trial)] = trial
    return found


def _parts(array: np.ndarray) -> list[np.ndarray]:
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def outputs(trial: t.Trial, device: str) -> list[np.ndarray]:
    """Every result, and every gradient where there is one."""
    made = t.forward(trial, device)
    if trial.op.differentiable and trial.case.gradient and trial.element.is_float and not trial.special:
        made += t.backward(trial, device).values()
    return [np.ascontiguousarray(part) for array in made for part in _parts(array)]


def hashes(found: Sequence[np.ndarray]) -> str:
    return " ".join(digest(array) for array in found)


def committed() -> dict[str, str]:
    """The hashes in the repository."""
    return kernels.committed(HASHES)


def compare(device: str, names: Sequence[str], expected: dict[str, str]) -> list[Compared]:
    """Compute trials; where the hash differs, count elements against the CPU in this process."""
    results = []
    for name in names:
        trial = hashed()[name]
        try:
            found = outputs(trial, device)
        except Exception as error:  # every failure is reported, and the rest goes on
            results.append(Compared(name, "", 0, 0, f"{type(error).__name__}: {error}"))
            continue
        result = Compared(name, hashes(found), sum(a.size for a in found))
        if expected and result.hashes != expected.get(name):
            pairs = zip(found, outputs(trial, "cpu"), strict=True)
            result.differing = sum(int((canonical_bits(a) != canonical_bits(b)).sum()) for a, b in pairs)
        results.append(result)
    return results


def compute(device: str, jobs: int, expected: dict[str, str], only: str = "") -> list[Compared]:
    """All trials, or those whose name contains `only`."""
    return kernels.in_chunks(compare, device, [name for name in hashed() if only in name], jobs, expected)


def report(device: str, results: list[Compared], expected: dict[str, str]) -> dict[str, Any]:
    """What a check found, for the record."""
    wrong = [r for r in results if r.hashes != expected.get(r.name)]
    return {
        "device": device_name(device),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "baracuda": baracuda.__version__,
        "arithmetic_version": baracuda.ARITHMETIC_VERSION,
        "ops": len({r.name.partition(" ")[0] for r in results}),
        "cases": len(results),
        "elements": sum(r.elements for r in results),
        "cases_differing": len(wrong),
        "elements_differing": sum(r.differing or 0 for r in wrong),
        "differing": {r.name: r.error or r.differing for r in wrong},
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.families.hashes", description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--write", action="store_true", help=f"write {HASHES.name} (from a CPU)")
    parser.add_argument("--check", action="store_true", help=f"compare with {HASHES.name}")
    parser.add_argument("--only", default="", help="only trials whose name contains this; with --write the others stay")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, help="where to write a report of the check, as JSON")
    options = parser.parse_args()
    if options.write == options.check or (options.write and options.device != "cpu"):
        parser.error("give --check, or --write with --device cpu")
    expected = committed() if options.check else {}
    results = compute(options.device, options.jobs, expected, options.only)
    failed = [r for r in results if r.error]
    if options.write:
        kept = {n: h for n, h in (committed() if options.only else {}).items() if n in hashed()}
        cases = kept | {r.name: r.hashes for r in results if not r.error}
        stored = {"arithmetic_version": baracuda.ARITHMETIC_VERSION, "cases": cases}
        HASHES.write_text(json.dumps(stored, indent=0) + "\n")
        print(f"{len(cases)} trials written to {HASHES.name}")
    else:
        found = report(options.device, results, expected)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{found['device']}: {found['ops']} ops, {found['cases']} trials, {found['elements']} elements")
        print(f"{found['cases_differing']} trials differ, in {found['elements_differing']} elements")
        for name, what in list(found["differing"].items())[:60]:
            print(f"  {name}: {what}")
    for r in failed if options.write else []:
        print(f"  {r.name}: {r.error}")
    return int(bool(failed) or (options.check and found["cases_differing"] > 0))


if __name__ == "__main__":
    sys.exit(main())
