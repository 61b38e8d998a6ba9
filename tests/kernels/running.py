"""Executing a case on a machine: place its tensors, poison its outputs, run, and see that nothing else was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.core.device import Stream
from baracuda.core.sku import PlanPreference
from tests.kernels.cases import Case, args_type
from tests.kernels.machine import Held, Machine
from tests.kernels.operands import Placing

#: What memory is filled with before a run: NaN in every float kind.
POISON = 0xFF


class Placed:
    """The tensors of a case in a machine's memory."""

    def __init__(
        self, machine: Machine, case: Case, poison: int = POISON, values: Mapping[str, np.ndarray] | None = None
    ) -> None:
        self.case, self.machine = case, machine
        self.placings: dict[str, Placing] = case.placings()
        self.before: dict[str, np.ndarray] = {n: p.block(poison) for n, p in self.placings.items()}
        for name, value in (values or case.inputs()).items():
            self.placings[name].view(self.before[name])[...] = value
        self.aliases = case.aliases()
        self.inputs = {s.name: self.placings[s.name].view(self.before[s.name]).copy() for s in case.tensors() if not s.written}
        self.held: dict[str, Held] = {n: machine.upload(block) for n, block in self.before.items() if n not in self.aliases}
        written = {s.name for s in case.tensors() if s.written}
        tensors: dict[str, Any] = dict.fromkeys(s.name for s in case.subject.plan.tensors)
        for name in self.placings:
            home = self.aliases.get(name, name)
            tensors[name] = self.held[home].tensor(self.placings[home], written=name in written or home in self.aliases.values())
        self.args = args_type(case.subject.plan)(**tensors)

    def again(self, poison: int = POISON) -> None:
        """Put everything back as it was, with outputs poisoned with another byte."""
        for s in self.case.tensors():
            if s.written and s.name not in self.aliases:
                self.before[s.name][:] = poison
        for name, held in self.held.items():
            held.overwrite(self.before[name])

    def outputs(self) -> dict[str, np.ndarray]:
        """What was written, after checking that every byte outside the outputs is as it was."""
        after = {n: h.download() for n, h in self.held.items()}
        found = {}
        for s in self.case.tensors():
            if s.written:
                home = self.aliases.get(s.name, s.name)
                found[s.name] = self.placings[home].view(after[home]).copy()
        for name, block in after.items():
            expected = self.before[name].copy()
            output = next((o for o, home in {**{o: o for o in found}, **self.aliases}.items() if home == name), None)
            if output is not None:
                self.placings[name].view(expected)[...] = found[output]
            changed = np.flatnonzero(expected != block)
            where = f"{changed.size} bytes outside the outputs were written, first at {changed[:1]}"
            assert not changed.size, f"{self.case}: {name}: {where}"
        return found

    def unchanged(self) -> bool:
        """Whether no byte at all was written."""
        self.machine.synchronize()
        return all(np.array_equal(h.download(), self.before[n]) for n, h in self.held.items())


@dataclass
class Outcome:
    """The plan, the inputs as the plan read them, and the outputs."""

    plan: Any
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]


def execute(
    machine: Machine,
    case: Case,
    *,
    poison: int = POISON,
    like: bool = False,
    bound: bool = False,
    preference: PlanPreference | None = None,
    values: Mapping[str, np.ndarray] | None = None,
    around: Callable[[Callable[[Stream], None]], None] | None = None,
) -> Outcome:
    """Run a case: `like` selects the plan for these very layouts, `bound` runs through `bind`, `around` wraps the execution."""
    placed = Placed(machine, case, poison, values)
    plan = case.subject.plan.select(machine.stream, case.descriptor, preference, like=placed.args if like else None)
    workspace = machine.workspace(plan.workspace_size())
    if around is not None:  # whatever is loaded lazily is loaded now, before a graph is captured
        plan.run(machine.stream, workspace, placed.args)
        machine.synchronize()
        placed.again(poison)

    def work(stream: Stream) -> None:
        if bound:
            plan.bind(stream, workspace, placed.args)()
        else:
            plan.run(stream, workspace, placed.args)

    if around is None:
        work(machine.stream)
    else:
        around(work)
    machine.synchronize()
    return Outcome(plan, placed.inputs, placed.outputs())
