"""One problem to verify: a plan, a descriptor, the values and layouts of its tensors; and executing it on a machine.

Outputs are poisoned before every run, and every byte outside them is seen to be left alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.cli.verify.machine import Around, Held, Machine
from baracuda.cli.verify.placing import Placing, place
from baracuda.core.descriptor import Args
from baracuda.core.device import Stream
from baracuda.core.errors import Error, UnsupportedError
from baracuda.core.plan import Executable, OperandLayout, Plan, layout_of
from baracuda.core.sku import PlanPreference
from baracuda.core.spec import TensorSpec

Array = np.ndarray[Any, Any]

#: What memory is filled with before a run: NaN in every float kind.
POISON = 0xFF


class OutsideWriteError(Error):
    """A kernel wrote bytes that are none of its outputs'."""


@dataclass(frozen=True)
class Batch:
    """A problem with more rows, some of which are those of another: `values` are its inputs, and `within` takes of an output
    (by name) the part that must be the other's, or None where the output is not one of rows."""

    label: str
    problem: Problem
    values: Mapping[str, Array]
    within: Callable[[str, Array], Array | None]


class Problem(ABC):
    """What is verified at once. `str` of it names it in messages.

    Attributes
    ----------
    layout
        One of `placing.LAYOUTS`.
    chosen
        Where tensors lie that do not lie as `layout` says.
    omitted
        Outputs that are left out.
    ordinary
        Whether the inputs are free of NaN, infinities and extreme values, so that the oracle has a say.
    """

    layout: str = "contiguous"
    omitted: frozenset[str] = frozenset()
    ordinary: bool = True
    chosen: Mapping[str, Placing]

    @property
    @abstractmethod
    def plan(self) -> type[Plan[Any, Any]]:
        """The plan class."""

    @property
    @abstractmethod
    def descriptor(self) -> Any:
        """The descriptor."""

    @abstractmethod
    def args(self, tensors: Mapping[str, Any]) -> Args:
        """The args with these tensors."""

    @abstractmethod
    def inputs(self) -> dict[str, Array]:
        """The values of the inputs."""

    @property
    def family(self) -> str:
        """The family of the catalogue."""
        return self.plan.category.value

    @abstractmethod
    def laid(self, layout: str) -> Problem:
        """The same problem in another layout."""

    @property
    def op(self) -> str:
        """The op of the catalogue."""
        return self.plan.op

    @property
    def group(self) -> str:
        """What a quick verification takes one problem of."""
        return self.op

    def bounds(self, inputs: Mapping[str, Array]) -> Mapping[str, Sequence[tuple[Array, Array]]]:
        """For a plan without a formula: the least and the greatest value of each output's elements, before they are rounded
        to its own element; of a complex one for both parts. Raises `UnsupportedError` where nobody knows."""
        raise UnsupportedError(f"{self.plan.__name__} has no formula")

    def judged(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """For a plan without a formula: the outputs by its arithmetic in NumPy. Raises `UnsupportedError` where nobody knows."""
        raise UnsupportedError(f"{self.plan.__name__} has no formula")

    def batches(self) -> Iterator[Batch]:
        """Problems with more rows that contain this one's."""
        return iter(())

    def tensors(self) -> list[TensorSpec]:
        """The tensors that are given, in the order of the args."""
        descriptor = self.descriptor
        return [s for s in self.plan.tensors if s.presence(descriptor) is not False and s.name not in self.omitted]

    def placings(self) -> dict[str, Placing]:
        """Where each tensor lies in its block."""
        descriptor = self.descriptor
        found = {
            s.name: place(
                s.expected_shape(descriptor), s.expected_kind(descriptor), self.layout, written=s.written, number=number
            )
            for number, s in enumerate(self.tensors())
        }
        return {**found, **self.chosen}

    def aliases(self) -> dict[str, str]:
        """In place: the output that is written over each input that has its shape and element."""
        if self.layout != "in_place":
            return {}
        descriptor = self.descriptor
        full = [s for s in self.tensors() if s.covers(descriptor)]
        free = [s for s in full if s.written]
        found = {}
        for source in (s for s in full if not s.written):
            like = source.expected_kind(descriptor), source.expected_shape(descriptor)
            match = next((t for t in free if (t.expected_kind(descriptor), t.expected_shape(descriptor)) == like), None)
            if match is not None:
                free.remove(match)
                found[match.name] = source.name
        return found


class Placed:
    """The tensors of a problem in a machine's memory."""

    def __init__(self, machine: Machine, case: Problem, poison: int = POISON, values: Mapping[str, Array] | None = None) -> None:
        self.case, self.machine = case, machine
        self.placings: dict[str, Placing] = case.placings()
        self.before: dict[str, Array] = {n: p.block(poison) for n, p in self.placings.items()}
        for name, value in (values or case.inputs()).items():
            self.placings[name].view(self.before[name])[...] = value
        self.aliases = case.aliases()
        self.inputs = {s.name: self.placings[s.name].view(self.before[s.name]).copy() for s in case.tensors() if not s.written}
        self.held: dict[str, Held] = {n: machine.upload(block) for n, block in self.before.items() if n not in self.aliases}
        written = {s.name for s in case.tensors() if s.written}
        tensors: dict[str, Any] = dict.fromkeys(s.name for s in case.plan.tensors)
        for name in self.placings:
            home = self.aliases.get(name, name)
            tensors[name] = self.held[home].tensor(self.placings[home], written=name in written or home in self.aliases.values())
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
            if changed.size:
                where = f"{changed.size} bytes outside the outputs were written, first at {int(changed[0])}"
                raise OutsideWriteError(f"{self.case}: {name}: {where} of {block.size}")
        return found

    def unchanged(self) -> bool:
        """Whether no byte at all was written."""
        self.machine.synchronize()
        return all(np.array_equal(h.download(), self.before[n]) for n, h in self.held.items())


@dataclass
class Outcome:
    """The plan, the inputs as the plan read them, and the outputs."""

    plan: Any
    inputs: dict[str, Array]
    outputs: dict[str, Array]


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


def execute(
    machine: Machine,
    case: Problem,
    *,
    poison: int = POISON,
    like: bool = False,
    bound: bool = False,
    preference: PlanPreference | None = None,
    values: Mapping[str, Array] | None = None,
    around: Around | None = None,
) -> Outcome:
    """Run a problem: `like` selects the plan for these very layouts, else one for any strides is selected where they are not
    contiguous; `bound` runs through `bind`, `around` wraps the execution."""
    placed = Placed(machine, case, poison, values)
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


class Session:
    """A problem on a machine, to be run many times, with its plan for exactly its layouts; `general`: for any strides."""

    def __init__(
        self, machine: Machine, case: Problem, *, general: bool = False, values: Mapping[str, Array] | None = None
    ) -> None:
        self.machine, self.case = machine, case
        self.placed = Placed(machine, case, values=values)
        args, cls = self.placed.args, case.plan
        self._values = [getattr(args, s.name) for s in cls.tensors]
        self.layout = layout_of(cls.checked(case.descriptor, self._values, machine.stream))
        self.plan = select_for(cls, machine.stream, case.descriptor, args, general=general)
        self.workspace = machine.workspace(self.plan.workspace_size())

    def run(self, *, poison: int = POISON, bound: bool = False, around: Around | None = None) -> dict[str, Array]:
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
