"""The bits of several hundred problems, as hashes: made on a CPU and committed, compared with on every other device.

    python -m tests.kernels.hashes --device cpu --write
    python -m tests.kernels.hashes --device cuda --check --jobs 8 --out report.json

A hash is the first 16 hexadecimal digits of the SHA-256 of an output's elements in logical order, little-endian, with every
NaN as the same one.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import multiprocessing
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import as_completed as completed
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import baracuda
from tests.kernels.cases import FLOATS, LENGTHS, SUBJECTS, Case
from tests.kernels.data import VARIANTS
from tests.kernels.machine import Machine, machine_of
from tests.kernels.operands import LAYOUTS, canonical_bits
from tests.kernels.running import execute

HASHES = Path(__file__).with_name("hashes.json")
#: Problems of each subject and element.
_EACH = 6


@cache
def cases() -> tuple[Case, ...]:
    """The hashed problems: for each subject and element some row lengths, shapes of every rank, and layouts in turn."""
    found = [case for i, _ in enumerate(SUBJECTS) for j, _ in enumerate(FLOATS) for case in _of(i, j)]
    return tuple({str(case): case for case in found}.values())


def _of(i: int, j: int) -> Iterator[Case]:
    tried, element = SUBJECTS[i], FLOATS[j]
    for k in range(_EACH):
        turn = _EACH * (len(FLOATS) * i + j) + k
        if k % 2:
            shape = tried.shapes[turn // 2 % len(tried.shapes)]
        else:
            n = LENGTHS[turn // 2 % len(LENGTHS)]
            shape = tried.shape(2 if n > 5000 else 1030 if n <= 64 and k == 2 else 5, n)
        yield Case(tried, shape, element, LAYOUTS[turn % len(LAYOUTS)], VARIANTS[(turn // 3 + k) % len(VARIANTS)])


def digest(array: np.ndarray) -> str:
    """The hash of one output."""
    bits = canonical_bits(array)
    return hashlib.sha256(bits.astype(bits.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


def outputs(machine: Machine, case: Case) -> dict[str, np.ndarray]:
    """What a machine computes for a case, on the kernels for its layout."""
    return execute(machine, case, bound=True).outputs


def hashes(found: dict[str, np.ndarray]) -> str:
    """The hashes of a case's outputs, in the order of the args."""
    return " ".join(digest(array) for array in found.values())


def committed(path: Path = HASHES) -> dict[str, str]:
    """The hashes of a file in the repository."""
    stored = json.loads(path.read_text())
    if stored["arithmetic_version"] != baracuda.ARITHMETIC_VERSION:
        raise ValueError(f"{path.name} is of arithmetic {stored['arithmetic_version']}, not {baracuda.ARITHMETIC_VERSION}")
    found: dict[str, str] = stored["cases"]
    return found


@dataclass
class Compared:
    """One case on one machine: its hashes, elements, how many of these differ from the CPU's (None: not
    counted), and what went wrong, where that stopped it."""

    name: str
    hashes: str
    elements: int
    differing: int | None = 0
    error: str = ""


def compare(device: str, names: Sequence[str], expected: dict[str, str]) -> list[Compared]:
    """Compute cases and compare them; elements are counted against the CPU in this process where it can compute."""
    machine, results = machine_of(device), []
    by_name = {str(case): case for case in cases()}
    for name in names:
        found = outputs(machine, by_name[name])
        result = Compared(name, hashes(found), sum(a.size for a in found.values()))
        if expected and result.hashes != expected.get(name):
            result.differing = _differing(found, by_name[name]) if device != "cpu" else None
        results.append(result)
    return results


def _differing(found: dict[str, np.ndarray], case: Case) -> int | None:
    if importlib.util.find_spec("llvmlite") is None:
        return None
    on_cpu = outputs(machine_of("cpu"), case)
    return sum(int((canonical_bits(a) != canonical_bits(on_cpu[name])).sum()) for name, a in found.items())


def compute(device: str, jobs: int, expected: dict[str, str]) -> list[Compared]:
    """All cases."""
    return in_chunks(compare, device, [str(case) for case in cases()], jobs, expected)


def in_chunks(
    comparison: Callable[[str, Sequence[str], dict[str, str]], list[Compared]],
    device: str,
    names: Sequence[str],
    jobs: int,
    expected: dict[str, str],
) -> list[Compared]:
    """A comparison of many cases, by as many processes as asked for, with a line of progress."""
    chunks = [names[i : i + 12] for i in range(0, len(names), 12)]
    results: dict[str, Compared] = {}

    def collect(part: list[Compared]) -> None:
        results.update((r.name, r) for r in part)
        wrong = sum(bool(expected) and r.hashes != expected.get(r.name) for r in results.values())
        print(f"\r{len(results)} of {len(names)} cases, {wrong} differ", end="", file=sys.stderr, flush=True)

    if jobs == 1:
        for chunk in chunks:
            collect(comparison(device, chunk, expected))
    else:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            for done in completed([pool.submit(comparison, device, chunk, expected) for chunk in chunks]):
                collect(done.result())
    print(file=sys.stderr)
    return [results[name] for name in names]


def device_name(device: str) -> str:
    if device == "cpu":
        return f"{platform.machine()}, {baracuda.ArchSku.host()}"
    import torch

    return str(torch.cuda.get_device_name(0))


def report(device: str, results: list[Compared], expected: dict[str, str]) -> dict[str, Any]:
    """What a check found, for the record."""
    wrong = [r for r in results if r.hashes != expected.get(r.name)]
    counted = [r.differing for r in wrong]
    return {
        "device": device_name(device),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "baracuda": baracuda.__version__,
        "arithmetic_version": baracuda.ARITHMETIC_VERSION,
        "cases": len(results),
        "elements": sum(r.elements for r in results),
        "cases_differing": len(wrong),
        "elements_differing": None if None in counted else sum(c for c in counted if c is not None),
        "differing": {r.name: {"got": r.hashes, "expected": expected.get(r.name), "elements": r.differing} for r in wrong},
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kernels.hashes", description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--write", action="store_true", help=f"write {HASHES.name} (from a CPU)")
    parser.add_argument("--check", action="store_true", help=f"compare with {HASHES.name}")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, help="where to write a report of the check, as JSON")
    options = parser.parse_args()
    if options.write == options.check or (options.write and options.device != "cpu"):
        parser.error("give --check, or --write with --device cpu")
    expected = committed() if options.check else {}
    results = compute(options.device, options.jobs, expected)
    if options.write:
        stored = {"arithmetic_version": baracuda.ARITHMETIC_VERSION, "cases": {r.name: r.hashes for r in results}}
        HASHES.write_text(json.dumps(stored, indent=0) + "\n")
        print(f"{len(results)} cases written to {HASHES.name}")
        return 0
    found = report(options.device, results, expected)
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")
    elements = "uncounted" if found["elements_differing"] is None else found["elements_differing"]
    print(f"{found['device']}: {found['cases']} cases, {found['elements']} elements")
    print(f"{found['cases_differing']} cases differ, in {elements} elements")
    for name in list(found["differing"])[:20]:
        print(f"  {name}")
    return int(found["cases_differing"] > 0)


if __name__ == "__main__":
    sys.exit(main())
