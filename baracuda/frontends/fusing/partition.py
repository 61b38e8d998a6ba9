"""Which steps of a call become one: groups of nodes, merged while no order of memory effects forbids it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from baracuda.core.call_recorder import PlanCall
from baracuda.frontends.fusing.dependencies import Node
from baracuda.frontends.fusing.formula_step import FormulaStep, is_copy, step_of
from baracuda.frontends.fusing.merging import merged
from baracuda.frontends.fusing.refusal import Refusal
from baracuda.frontends.fusing.relaying import relaid


@dataclass
class Group:
    """Nodes that are one step; `step` says what they compute where that is a formula, else `opaque` why not, and `call` which run
    of a plan it is."""

    members: list[int]
    step: FormulaStep | None
    opaque: str = ""
    call: PlanCall | None = None
    before: set[int] = field(default_factory=set)
    after: set[int] = field(default_factory=set)


class Partition:
    """The groups of the nodes of a call, in an order in which they can run."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.groups: dict[int, Group] = {}
        self.group_of = list(range(len(nodes)))
        self.order = list(range(len(nodes)))
        self.place = list(range(len(nodes)))
        self._tried: set[tuple[int, ...]] = set()
        self._latest: list[tuple[int, int, Refusal]] = []
        for n in nodes:
            found = "no plan makes it" if n.call is None else step_of(n.call, n.number)
            known = isinstance(found, FormulaStep)
            step, why = (found, "") if known else (None, str(found))
            self.groups[n.number] = Group([n.number], step, why, n.call, set(n.before), set(n.after))  # type: ignore[arg-type]

    def merge(self) -> None:
        """Merge what can be, consumers into their producers first, then steps that read the same memory."""
        used = [n.number for n in self.nodes if not n.is_unused]
        for n in used:
            self._absorb(n)
        for n in used:
            self._join(n)

    def _absorb(self, number: int) -> None:
        """Merge the group of a node with the groups that it reads from, the latest first."""
        again = True
        while again:
            here = self.group_of[number]
            again = any(self._try(p, here) or self._relay(p, here) for p in self._producers(here))

    def _producers(self, here: int) -> list[int]:
        group = self.groups[here]
        if group.step is None:
            return []
        members = set(group.members)
        found = [
            b for b in group.before
            if (self.groups[b].step is not None or self.groups[b].call is not None)
            and not self.nodes[b].is_unused
            and any(readers & members for m in self.groups[b].members for readers in self.nodes[m].readers.values())
        ]  # fmt: skip
        return sorted(found, key=lambda g: self.place[g], reverse=True)

    def _join(self, number: int) -> None:
        """Merge the group of a node with later ones that read the same elements for each of theirs."""
        again = True
        while again:
            here = self.group_of[number]
            again = any(self._try(here, g) for g in self._siblings(here))

    def _siblings(self, here: int) -> Iterator[int]:
        step = self.groups[here].step
        if step is None:
            return
        pointers = {o.pointer for o in step.inputs if step.covers(o)}
        for g in self.order[self.place[here] + 1 :]:
            other = self.groups[g].step
            if (
                other is not None
                and not self.nodes[g].is_unused
                and any(o.pointer in pointers and other.covers(o) for o in other.inputs)
            ):
                yield g

    def _try(self, a: int, b: int) -> bool:
        """Merge two groups, `a` the one that comes first; whether they were."""
        first, second = self.groups[a], self.groups[b]
        if first.step is None or second.step is None:
            return False
        key = (*first.members, -1, *second.members)
        if key in self._tried:
            return False
        self._tried.add(key)
        if self._leads(a, b):
            self._refuse(a, b, Refusal("another step has to run in between"))
            return False
        members = {*first.members, *second.members}
        outputs = (*first.step.outputs, *second.step.outputs)
        needed = frozenset(o.name for o in outputs if self._is_needed(*o.origin, members))
        step = merged(first.step, second.step, needed)
        if isinstance(step, Refusal):
            self._refuse(a, b, step)
            return False
        self._contract(a, b, step)
        return True

    def _relay(self, a: int, b: int) -> bool:
        """Have the plan of `a`, which is no formula, write its result where `b` copies it to; whether it does."""
        first, second = self.groups[a], self.groups[b]
        if first.step is not None or first.call is None or second.step is None or not is_copy(second.step):
            return False
        pointer, members = second.step.inputs[0].pointer, {*first.members, *second.members}
        (number,) = first.members
        for i, tensor in self.nodes[number].writes:
            if tensor.pointer != pointer or self._is_needed(number, i, members) or self._leads(a, b):
                continue
            call = relaid(first.call, i, second.step)
            if isinstance(call, PlanCall):
                self._contract(a, b, None, call)
                return True
            self._refuse(a, b, call)
        return False

    def _refuse(self, a: int, b: int, refusal: Refusal) -> None:
        self._latest.append((self.groups[a].members[-1], self.groups[b].members[-1], refusal))

    def refusals(self) -> list[tuple[int, int, Refusal]]:
        """Why groups that have to do with each other are not one: for each two of them the last reason that was found."""
        found: dict[tuple[int, int], Refusal] = {}
        for a, b, refusal in self._latest:
            if self.group_of[a] != self.group_of[b]:
                found[self.group_of[a], self.group_of[b]] = refusal
        return [(self.groups[a].members[0], self.groups[b].members[-1], r) for (a, b), r in found.items()]

    def _is_needed(self, number: int, tensor: int, members: set[int]) -> bool:
        node = self.nodes[number]
        return tensor in node.lasting or not node.readers.get(tensor, set()) <= members

    def _leads(self, a: int, b: int) -> bool:
        """Whether some other group has to run after `a` and before `b`."""
        last = self.place[b]
        stack, seen = [g for g in self.groups[a].after if g != b], set[int]()
        while stack:
            g = stack.pop()
            if g in seen or self.place[g] > last:
                continue
            if g == b:
                return True
            seen.add(g)
            stack += self.groups[g].after
        return False

    def _contract(self, a: int, b: int, step: FormulaStep | None, call: PlanCall | None = None) -> None:
        """Make one group, called `b`, of two; what has to run after `a` alone moves behind it."""
        first, second = self.groups[a], self.groups[b]
        low, high = self.place[a], self.place[b]
        behind, seen = list[int](), {a}
        window: list[int] = []
        for g in self.order[low + 1 : high]:
            if self.groups[g].before & seen:
                seen.add(g)
                behind.append(g)
            else:
                window.append(g)
        for i, g in enumerate([*window, b, *behind]):
            self.order[low + i] = g
            self.place[g] = low + i
        del self.order[high]
        for i in range(high, len(self.order)):
            self.place[self.order[i]] = i
        del self.groups[a]
        both = Group(sorted(first.members + second.members), step, first.opaque, call)
        both.before, both.after = (first.before | second.before) - {a, b}, (first.after | second.after) - {a, b}
        for g in both.before:
            self.groups[g].after = self.groups[g].after - {a} | {b}
        for g in both.after:
            self.groups[g].before = self.groups[g].before - {a} | {b}
        self.groups[b] = both
        for m in first.members:
            self.group_of[m] = b
