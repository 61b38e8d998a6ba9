"""The reference hashes that come with the package: what every machine must compute, bit for bit.

They were made on a CPU. Those of declared ops are kept with all that their trials depend on, and those of other functions with
all that a call is given; those of the plans that are written out by hand by the name of the case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from baracuda.cli.verify.functions import FunctionCase, decoded, encoded
from baracuda.cli.verify.trials import Trial, row_of, trial_of
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.version import ARITHMETIC_VERSION

#: What stands between the hashes of one case of a trial and those of the next.
SEPARATOR = " / "


def _held(name: str) -> dict[str, Any]:
    held: dict[str, Any] = json.loads(files("baracuda.cli.verify").joinpath("reference").joinpath(name).read_text())
    if held["arithmetic_version"] != ARITHMETIC_VERSION:
        raise UnsupportedError(f"{name} is of arithmetic version {held['arithmetic_version']}; expected {ARITHMETIC_VERSION}")
    return held


@cache
def of_plans() -> Mapping[str, str]:
    """The hashes of the cases of `plans.hashed`, by their names."""
    hashes: dict[str, str] = _held("plans.json")["cases"]
    return hashes


@cache
def of_ops() -> Mapping[Trial, str]:
    """The hashed trials of declared ops, with the hashes of their cases."""
    hashes_by_trial: dict[Trial, str] = {}
    for op, held in _held("ops.json")["ops"].items():
        for *row, hashes in held["trials"]:
            hashes_by_trial[trial_of(op, held["domains"], held["gradient"], row)] = hashes
    return hashes_by_trial


@cache
def of_functions() -> Mapping[FunctionCase, str]:
    """The hashed calls of functions that are no declared op, with their hashes."""
    kinds = {kind.label: kind for kind in ElementKind}
    hashes_by_case: dict[FunctionCase, str] = {}
    for name, calls in _held("functions.json")["functions"].items():
        for arguments, keywords, hashes in calls:
            given = decoded(arguments), tuple((k, decoded(v)) for k, v in keywords.items())
            hashes_by_case |= {FunctionCase(name, *given, kinds[label]): h for label, h in hashes.items()}
    return hashes_by_case


def dumped_functions(cases: Iterable[tuple[FunctionCase, str]]) -> str:
    """The file of some calls with their hashes: a line for each call, with a hash for each element."""
    lines: dict[str, dict[str, tuple[FunctionCase, dict[str, str]]]] = {}
    for case, hashed in cases:
        lines.setdefault(case.name, {}).setdefault(case.call, (case, {}))[1][case.element.label] = hashed
    functions = []
    for name, calls in sorted(lines.items()):
        rows = [
            json.dumps([encoded(case.arguments), {k: encoded(v) for k, v in case.keywords}, hashes], separators=(",", ":"))
            for case, hashes in calls.values()
        ]
        functions.append(f"{json.dumps(name)}: [\n" + ",\n".join(rows) + "\n]")
    return f'{{"arithmetic_version": {ARITHMETIC_VERSION}, "functions": {{\n' + ",\n".join(functions) + "\n}}\n"


def dumped(trials: Iterable[tuple[Trial, str]]) -> str:
    """The file of some trials with their hashes: a line each."""
    lines: dict[str, tuple[Trial, list[str]]] = {}
    for trial, hashes in trials:
        lines.setdefault(trial.name, (trial, []))[1].append(json.dumps([*row_of(trial), hashes]))
    ops = []
    for name, (trial, rows) in lines.items():
        about = f'"domains": {json.dumps(trial.domains)}, "gradient": {json.dumps(trial.gradient)}'
        ops.append(f'{json.dumps(name)}: {{{about}, "trials": [\n' + ",\n".join(rows) + "\n]}")
    return f'{{"arithmetic_version": {ARITHMETIC_VERSION}, "ops": {{\n' + ",\n".join(ops) + "\n}}\n"


def path_of(name: str) -> Path:
    """Where a reference file lies in a source tree."""
    return Path(__file__).parent / "reference" / name
