"""A case on a machine: its tensors in memory, its plan, and runs of it.

Outputs are poisoned before every run, and every byte outside them is seen to be left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from baracuda.cli.verify.case import Array, Case
from baracuda.cli.verify.machine import Machine, MemoryBlock, RunHook
from baracuda.cli.verify.placement import TensorPlacement
from baracuda.core.descriptor import Args
from baracuda.core.device import Stream
from baracuda.core.errors import Error
from baracuda.core.implementation import Executable, OperandLayout, layout_of
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference

#: What memory is filled with before a run: NaN in every float kind.
POISON = 0xFF


class OutsideWriteError(Error):
    """A kernel wrote bytes that are none of its outputs'."""


class PlacedTensors:
    """The tensors of a case in a machine's memory."""

    def __init__(self, machine: Machine, case: Case, poison: int = POISON, values: Mapping[str, Array] | None = None) -> None:
        self.case, self.machine = case, machine
        self.placements: dict[str, TensorPlacement] = case.placements()
        self.before: dict[str, Array] = {n: p.block(poison) for n, p in self.placements.items()}
        for name, value in (values or case.inputs()).items():
            self.placements[name].view(self.before[name])[...] = value
        self.aliases = case.aliases()
        self.inputs = {s.name: self.placements[s.name].view(self.before[s.name]).copy() for s in case.tensors() if not s.written}
        self.held: dict[str, MemoryBlock] = {
            n: machine.upload(block) for n, block in self.before.items() if n not in self.aliases
        }
        written = {s.name for s in case.tensors() if s.written}
        tensors: dict[str, Any] = dict.fromkeys(s.name for s in case.plan.tensors)
        for name in self.placements:
            home = self.aliases.get(name, name)
            tensors[name] = self.held[home].tensor(
                self.placements[home], writable=name in written or home in self.aliases.values()
            )
        self.args = case.args(tensors)

    def again(self, poison: int = POISON) -> None:
        """Put everything back as it was, with outputs poisoned with another byte."""
        for s in self.case.tensors():
            if s.written and s.name not in self.aliases:
                self.before[s.name][:] = poison
        for name, held in self.held.items():
            held.overwrite(self.before[name])

    def outputs(self) -> dict[str, Array]:
        """What was written; raises `OutsideWriteError` where a byte outside the outputs is not as it was."""
        after = {n: h.download() for n, h in self.held.items()}
        results = {}
        for s in self.case.tensors():
            if s.written:
                home = self.aliases.get(s.name, s.name)
                results[s.name] = self.placements[home].view(after[home]).copy()
        for name, block in after.items():
            expected = self.before[name].copy()
            output = next((o for o, home in {**{o: o for o in results}, **self.aliases}.items() if home == name), None)
            if output is not None:
                self.placements[name].view(expected)[...] = results[output]
            changed = np.flatnonzero(expected != block)
            if changed.size:
                where = f"{changed.size} bytes outside the outputs were written, first at {int(changed[0])}"
                raise OutsideWriteError(f"{self.case}: {name}: {where} of {block.size}")
        return results

    def unchanged(self) -> bool:
        """Whether no byte at all was written."""
        self.machine.synchronize()
        return all(np.array_equal(h.download(), self.before[n]) for n, h in self.held.items())


def select_for(
    cls: type[Plan[Any, Any]],
    stream: Stream,
    descriptor: Any,
    args: Args,
    preference: PlanPreference | None = None,
    *,
    general: bool = False,
) -> Any:
    """The plan for the layouts of these args and no others, or `general`, for any strides: half the kernels of `select`."""
    layout = layout_of(cls.checked(descriptor, [getattr(args, s.name) for s in cls.tensors], stream))
    if general:
        layout = tuple(o and OperandLayout(o.strides, 1, True) for o in layout)
    return cls.select_layouts(stream.device, descriptor, preference or PlanPreference(), [layout])


class Session:
    """A case on a machine, to be run many times, with its plan for exactly its layouts; `general`: for any strides."""

    def __init__(self, machine: Machine, case: Case, *, general: bool = False, values: Mapping[str, Array] | None = None) -> None:
        self.machine, self.case = machine, case
        self.placed = PlacedTensors(machine, case, values=values)
        args, cls = self.placed.args, case.plan
        self._values = [getattr(args, s.name) for s in cls.tensors]
        self.layout = layout_of(cls.checked(case.descriptor, self._values, machine.stream))
        self.plan = select_for(cls, machine.stream, case.descriptor, args, case.preference, general=general)
        self.workspace = machine.workspace(self.plan.workspace_size())

    def run(self, *, poison: int = POISON, bound: bool = False, around: RunHook | None = None) -> dict[str, Array]:
        """The outputs of one run."""

        def work(stream: Stream) -> None:
            if bound:
                self.plan.bind(stream, self.workspace, self.placed.args)()
            else:
                self.plan.run(stream, self.workspace, self.placed.args)

        self.placed.again(poison)
        if around is None:
            work(self.machine.stream)
        else:
            around(work, lambda: self.placed.again(poison))
        self.machine.synchronize()
        return self.placed.outputs()

    def tuned(self) -> Iterator[tuple[str, dict[str, Array]]]:
        """The outputs under every tuning besides the default one, with its name."""
        for name, executable in self.plan.tunings(self.layout):
            yield name, self._run_with(executable)

    def _run_with(self, executable: Executable) -> dict[str, Array]:
        tensors = self.case.plan.checked(self.case.descriptor, self._values, self.machine.stream)
        workspace = self.machine.workspace(executable.workspace_bytes)
        self.placed.again()
        pointers = [t.pointer if t is not None else 0 for t in tensors]
        executable.call(pointers, workspace.pointer if workspace else 0, self.machine.stream.handle)
        self.machine.synchronize()
        return self.placed.outputs()
