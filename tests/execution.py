"""One run of a case of `baracuda verify` on a machine of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baracuda.cli.verify.case import Array, Case
from baracuda.cli.verify.machine import Machine, RunHook
from baracuda.cli.verify.session import POISON, PlacedTensors, select_for
from baracuda.core.device import Stream
from baracuda.core.sku import PlanPreference


@dataclass
class Outcome:
    """The plan, the inputs as the plan read them, and the outputs."""

    plan: Any
    inputs: dict[str, Array]
    outputs: dict[str, Array]


def execute(
    machine: Machine,
    case: Case,
    *,
    poison: int = POISON,
    like: bool = False,
    bound: bool = False,
    preference: PlanPreference | None = None,
    values: Mapping[str, Array] | None = None,
    around: RunHook | None = None,
) -> Outcome:
    """Run a case: `like` selects the plan for these very layouts, else one for any strides is selected where they are not
    contiguous; `bound` runs through `bind`, `around` wraps the execution."""
    placed = PlacedTensors(machine, case, poison, values)
    general = not like and case.layout != "contiguous"
    plan = select_for(case.plan, machine.stream, case.descriptor, placed.args, preference, general=general)
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
        around(work, lambda: placed.again(poison))
    machine.synchronize()
    return Outcome(plan, placed.inputs, placed.outputs())
