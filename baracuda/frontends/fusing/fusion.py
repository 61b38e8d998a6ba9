"""The pass: the steps of a recorded program in, fewer steps with the same bits out, and what was merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.core.call_recorder import AddressSource, Allocated
from baracuda.core.errors import UnsupportedError
from baracuda.core.program_recorder import ProgramRecorder
from baracuda.frontends.fusing.addresses import Addresses
from baracuda.frontends.fusing.dependencies import Node, nodes_of
from baracuda.frontends.fusing.executable import Prepared, launches, loaded, prepared
from baracuda.frontends.fusing.formula_step import FormulaStep
from baracuda.frontends.fusing.partition import Group, Partition
from baracuda.frontends.fusing.refusal import Refusal
from baracuda.frontends.kept import Step


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
    opaque
        Why it can be merged with nothing, where it is no formula.
    """

    members: tuple[tuple[int, str], ...]
    steps: tuple[Step, ...]
    formula: FormulaStep | None
    opaque: str = ""

    def __str__(self) -> str:
        names = " + ".join(f"{number} {name}" for number, name in self.members)
        if self.formula is None:
            return f"{names}: {self.opaque}"
        extents = "x".join(map(str, self.formula.shape)) or "one element"
        return f"{names}: {len(self.formula.inputs)} read, {len(self.formula.outputs)} written, over {extents}"


@dataclass(frozen=True)
class Fusion:
    """What the pass made of a program.

    Attributes
    ----------
    parts
        Its steps, in order.
    refusals
        Pairs of steps, by the numbers of the first step and the last, that might have been one, with why they are not.
    first_write
        How many launches and checks there are before the first that may write to what is not the program's own.
    """

    parts: tuple[FusedStep, ...]
    refusals: tuple[tuple[int, int, Refusal], ...]
    first_write: int | None

    @property
    def steps(self) -> list[Step]:
        """All launches and checks, in order."""
        return [step for part in self.parts for step in part.steps]

    def __str__(self) -> str:
        lines: list[str] = []
        for part in self.parts:
            lines.append(str(part))
            last = {number for number, _ in part.members}
            lines += [f"    not with {a}: {refusal}" for a, b, refusal in self.refusals if b in last]
        return "\n".join(lines)


def fused(recorder: ProgramRecorder, results: frozenset[int]) -> Fusion:
    """The steps of a recorded program, merged where that changes no bit.

    Parameters
    ----------
    recorder
        What has seen the program, with `plans`. Memory that merged steps need is added to what it knows as allocated.
    results
        The sources among what was allocated that the program returns.
    """
    addresses = Addresses(recorder, results)
    nodes = nodes_of(recorder, addresses)
    partition = Partition(nodes)
    partition.merge()
    parts: list[FusedStep] = []
    refusals = partition.refusals()
    first_write: int | None = None
    executables = {g: _prepared(partition.groups[g]) for g in partition.order}
    loaded(e for e in executables.values() if isinstance(e, Prepared))
    for g in partition.order:
        group = partition.groups[g]
        made = _made(group, executables[g], nodes, recorder, addresses)
        if isinstance(made, Refusal):
            refusals.append((group.members[0], group.members[-1], made))
            made = [_alone(nodes[m], None, str(made)) for m in group.members]
        if first_write is None and any(nodes[m].writes_others for m in group.members):
            first_write = sum(len(part.steps) for part in parts)
        parts += made
    return Fusion(tuple(parts), tuple(refusals), first_write)


def _prepared(group: Group) -> Prepared | Refusal | None:
    """What computes a group of several steps; None for one that stays as it is."""
    if len(group.members) == 1:
        return None
    made = group.step or group.call
    assert made is not None
    try:
        return prepared(made)
    except UnsupportedError as error:
        return Refusal(f"no schedule takes what they would be: {error}")


def _made(
    group: Group, how: Prepared | Refusal | None, nodes: Sequence[Node], recorder: ProgramRecorder, addresses: Addresses
) -> list[FusedStep] | Refusal:
    """The steps that a group is: one, unless it cannot be made, or none."""
    if how is None:
        node = nodes[group.members[0]]
        return [] if node.is_unused else [_alone(node, group.step, group.opaque)]
    if isinstance(how, Refusal):
        return how
    workspace = _workspace(recorder, addresses, how.executable.workspace_bytes)
    steps = launches(how, addresses, workspace, min(recorder.streams))  # of several, the program is not kept
    assert steps, "nothing was launched"
    return [FusedStep(tuple((m, nodes[m].name) for m in group.members), tuple(steps), group.step, group.opaque)]


def _alone(node: Node, step: FormulaStep | None, opaque: str) -> FusedStep:
    return FusedStep(((node.number, node.name),), tuple(node.steps), step, opaque)


def _workspace(recorder: ProgramRecorder, addresses: Addresses, nbytes: int) -> int:
    """The address of memory of the program that a merged step scribbles on."""
    if not nbytes:
        return 0
    recorder.allocated.append(Allocated(None, 0, nbytes, None))
    return addresses.of(AddressSource(recorder.tensors + len(recorder.allocated), 0))
