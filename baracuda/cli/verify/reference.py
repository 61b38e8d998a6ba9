"""The reference hashes that come with the package: what every machine must compute, bit for bit.

They were made on a CPU. Those of declared ops are kept with all that their trials depend on; those of the plans that are
written out by hand by the name of the case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from baracuda.cli.verify.trials import Trial, row_of, trial_of
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
