"""The pass: the steps of a recorded call in, fewer steps with the same bits out, and what was merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from baracuda.core.call_recorder import Allocated, CallRecorder, DeviceCheck, RecordedLaunch
from baracuda.core.errors import UnsupportedError
from baracuda.frontends.fusing.dependencies import Node, nodes_of
from baracuda.frontends.fusing.executable import executable_of, launches
from baracuda.frontends.fusing.formula_step import FormulaStep
from baracuda.frontends.fusing.partition import Group, Partition
from baracuda.frontends.fusing.refusal import Refusal

Step = RecordedLaunch | DeviceCheck
#: Where the workspaces of merged steps are said to lie while their launches are noted: addresses that nothing has.
_NOWHERE = 1 << 60


@dataclass(frozen=True)
class FusedStep:
    """One step of a program after fusion.

    Attributes
    ----------
    members
        The numbers of the steps that it was, and what each computes.
    steps
        Its launches.
    formula
        What it computes, where that is known.
    reason
        Why it could be merged with nothing, where it is no formula.
    """

    members: tuple[tuple[int, str], ...]
    steps: tuple[Step, ...]
    formula: FormulaStep | None
    reason: str = ""

    def __str__(self) -> str:
        names = " + ".join(f"{number} {name}" for number, name in self.members)
        if self.formula is None:
            return f"{names}: {self.reason}"
        return f"{names}: {len(self.formula.inputs)} read, {len(self.formula.outputs)} written, over {self.formula.shape}"


@dataclass(frozen=True)
class Fusion:
    """What the pass made of a call: its steps in order, and for pairs that stayed two, by their numbers, why."""

    parts: tuple[FusedStep, ...]
    refusals: tuple[tuple[int, int, Refusal], ...]

    @property
    def steps(self) -> list[Step]:
        """All launches, in order."""
        return [step for part in self.parts for step in part.steps]

    def __str__(self) -> str:
        lines = [str(part) for part in self.parts]
        lines += [f"{a} and {b} stay two: {refusal}" for a, b, refusal in self.refusals]
        return "\n".join(lines)


def fused(recorder: CallRecorder, returned: Sequence[tuple[int, int]], arguments: int) -> Fusion:
    """The steps of a recorded call, merged where that changes no bit.

    Parameters
    ----------
    recorder
        What has seen the call, with `plans`. Memory that merged steps need is added to what it knows as allocated.
    returned
        Where the memory of what the call returns begins and ends.
    arguments
        How many of the recorder's sources were there before the call: what is written to them lasts.
    """
    lasting = [*returned, *((low, high) for _, low, high in recorder.extents[:arguments])]
    nodes = nodes_of(recorder, lasting)
    partition = Partition(nodes)
    partition.merge()
    parts: list[FusedStep] = []
    refusals = list(partition.refusals)
    for g in partition.order:
        group = partition.groups[g]
        part = _part(group, nodes, recorder)
        if isinstance(part, Refusal):
            refusals.append((group.members[0], group.members[-1], part))
            parts += [_alone(nodes[m], recorder) for m in group.members]
        else:
            parts.append(part)
    return Fusion(tuple(parts), tuple(refusals))


def _part(group: Group, nodes: Sequence[Node], recorder: CallRecorder) -> FusedStep | Refusal:
    if len(group.members) == 1:
        node = nodes[group.members[0]]
        return FusedStep(_named(group.members, nodes), tuple(node.steps), group.step, group.opaque)
    assert group.step is not None
    try:
        executable, _ = executable_of(group.step)
    except UnsupportedError as error:
        return Refusal(f"no schedule takes what they would be: {error}")
    workspace = _workspace(recorder, executable.workspace_bytes)
    (stream,) = recorder.streams
    steps = launches(group.step, recorder, workspace, stream)
    return FusedStep(_named(group.members, nodes), tuple(steps), group.step)


def _alone(node: Node, recorder: CallRecorder) -> FusedStep:
    return FusedStep(_named([node.number], [*[node] * (node.number + 1)]), tuple(node.steps), None, "it was not merged")


def _named(members: Sequence[int], nodes: Sequence[Node]) -> tuple[tuple[int, str], ...]:
    return tuple((m, _name(nodes[m])) for m in members)


def _name(node: Node) -> str:
    if node.call is not None:
        return node.call.op
    return "check" if node.is_check else "launch"


def _workspace(recorder: CallRecorder, nbytes: int) -> int:
    """Memory of the call that a merged step scribbles on."""
    if not nbytes:
        return 0
    like: Any = recorder.allocated[0].like if recorder.allocated else None
    ends = [high for _, _, high in recorder.extents if high >= _NOWHERE]
    pointer = max(ends, default=_NOWHERE) + 4096 & -4096
    recorder.allocate(Allocated(None, pointer, nbytes, like))
    return pointer
