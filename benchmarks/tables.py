"""What PyTorch is called for where the catalogue's names do not lead to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.cli.bench.benchmark import Benchmark
from baracuda.cli.bench.rivals.library import Library, Results, Tables
from baracuda.cli.bench.suites.families import Declared
from baracuda.cli.bench.suites.seeds import Seed
from benchmarks.rivals import RIVALS
from tests.cases.trial import cases


def seeds(library: Library, problem: Benchmark, tensors: Mapping[str, Any]) -> Mapping[str, Results]:
    """The plans written out by hand: eager calls, on the CPU into given results as well."""
    if library.label != "torch" or problem.suite != "seeds" or not isinstance(problem, Seed):
        return {}
    rival, descriptor = RIVALS[problem.op], problem.descriptor
    calls = {"torch": rival.fresh(dict(tensors), descriptor)}
    if library.place.on_cpu:
        calls["torch out="] = rival.reused(dict(tensors), descriptor)
    return calls


def declared(library: Library, problem: Benchmark, tensors: Mapping[str, Any]) -> Mapping[str, Results]:
    """Declared ops that PyTorch has no function for: what a test's case calls PyTorch's way to do it, or else its reference."""
    if not library.label.startswith("torch") or not isinstance(problem, Declared) or problem.trial.name not in cases():
        return {}
    case = cases()[problem.trial.name]
    return {library.label: library.call(case.rival or case.reference, problem.invocation, tensors)}


TABLES = Tables(before=(seeds,), after=(declared,))
