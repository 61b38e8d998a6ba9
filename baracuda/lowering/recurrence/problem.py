"""What is lowered: a recurrence, or a sum along chains, whose elements are read at indices that formulas compute.

A **recurrence** has, for each element of a batch, a state: one value, or several, for each of a number of lanes. A step
computes every lane's next value from the state before it, at the lane and at lanes a fixed distance away, and from what it
reads of tensors at indices made of the numbers of the batch element, the step and the lane. Steps follow one another, lanes are
independent of one another, so there is no order to choose: the formula of a step is the whole arithmetic of a recurrence.

**Chains** link lanes to lists: a lane that begins one adds up a value of its own and of each lane that follows, in the order
of the links.

Formulas are built of `BATCH`, `STEP` and `LANE` (s32), `read`, `state`, `state_at` and `TOTAL`. An index is clamped to the
extent of its axis, so that no value in memory leads outside of a tensor.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar

from baracuda.core.elements import ElementKind
from baracuda.core.lazy import cached_property
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr, coord, node, topological
from baracuda.formula.gathers import GatherSource, gather
from baracuda.formula.graph import Graph, Port

#: The numbers of the batch element, of the step and of the lane.
BATCH, STEP, LANE = coord(0), coord(1), coord(2)


def read(tensor: str, element: ElementKind, *index: Expr) -> Expr:
    """The element of a tensor at an index along each of its axes."""
    return gather(GatherSource(tensor, element, Axes.NONE, tuple(range(len(index)))), index)


def state(component: int, kind: ElementKind, distance: int = 0) -> Expr:
    """A component of the state before the step, so many lanes on; beyond the lanes it is the component's `edge`."""
    return node("state", (), kind, (component, distance))


def state_at(component: int, kind: ElementKind, lane: Expr) -> Expr:
    """A component of the state after the last step at a lane, which is clamped; for `Recurrence.results` only."""
    return node("state", (lane,), kind, (component, 0))


def total(kind: ElementKind) -> Expr:
    """The sum along the chain; for `Chains.result` only."""
    return node("state", (), kind, (0, 0))


class Varies(enum.IntFlag):
    """What a value is different for, apart from the batch element."""

    NONE = 0
    STEP = 1
    LANE = 2
    STATE = 4


@dataclass(frozen=True)
class ArrayLayout:
    """A tensor in memory; strides are in elements. Where `general` is set, code may not depend on them."""

    kind: ElementKind
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    general: bool = False

    def is_unit(self, axis: int) -> bool:
        """Whether code may count on neighbours along an axis."""
        return not self.general and self.strides[axis] == 1


@dataclass(frozen=True)
class Component:
    """A component of the state: its value before the first step, its value after a step, and its value beyond the lanes."""

    initial: Expr
    next: Expr
    edge: float = 0.0

    @property
    def kind(self) -> ElementKind:
        return self.next.kind


@dataclass(frozen=True)
class Trace:
    """A tensor of shape (batch, steps, lanes) that every step writes a row of: `row` says which, another one for every step. The
    elements of steps and lanes that do not count are `fill`."""

    tensor: str
    row: Expr
    value: Expr
    fill: float = 0.0


@dataclass(frozen=True)
class Store:
    """A tensor of shape (batch, lanes) or (batch,) that is written once."""

    tensor: str
    value: Expr


@dataclass(frozen=True)
class Recurrence:
    """A recurrence over `batch` elements, at most `steps` steps and `lanes` lanes.

    Attributes
    ----------
    active_steps, active_lanes
        How many steps and lanes of a batch element count, clamped to what there is at most. Lanes that do not count keep
        their initial state.
    state
        The components of the state.
    traces
        What every step writes.
    lasts
        What every lane writes after the last step, (batch, lanes): `state` there is that after the last step.
    results
        What is written once, (batch,), from the state after the last step by `state_at`.
    """

    batch: int
    steps: int
    lanes: int
    active_steps: Expr
    active_lanes: Expr
    state: tuple[Component, ...] = ()
    traces: tuple[Trace, ...] = ()
    lasts: tuple[Store, ...] = ()
    results: tuple[Store, ...] = ()

    @property
    def roots(self) -> tuple[Expr, ...]:
        """Every expression."""
        return (
            self.active_steps,
            self.active_lanes,
            *(e for c in self.state for e in (c.initial, c.next)),
            *(e for t in self.traces for e in (t.row, t.value)),
            *(s.value for s in (*self.lasts, *self.results)),
        )

    @property
    def written(self) -> tuple[str, ...]:
        """The tensors that it writes."""
        return (*(t.tensor for t in self.traces), *(s.tensor for s in (*self.lasts, *self.results)))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compute."""
        return self.batch == 0

    def mapped(self, f: Callable[[Expr], Expr]) -> Recurrence:
        """The recurrence with every expression replaced."""
        return replace(
            self,
            active_steps=f(self.active_steps),
            active_lanes=f(self.active_lanes),
            state=tuple(replace(c, initial=f(c.initial), next=f(c.next)) for c in self.state),
            traces=tuple(replace(t, row=f(t.row), value=f(t.value)) for t in self.traces),
            lasts=tuple(replace(s, value=f(s.value)) for s in self.lasts),
            results=tuple(replace(s, value=f(s.value)) for s in self.results),
        )

    @cached_property
    def facts(self) -> DependenceAnalysis:
        return DependenceAnalysis(self.roots)

    @property
    def reach(self) -> tuple[int, int]:
        """How many lanes below and above a lane a step reads."""
        distances = [n.attr[1] for n in self.facts.nodes if n.op == "state" and not n.args]
        return max(0, -min(distances, default=0)), max(0, max(distances, default=0))


@dataclass(frozen=True)
class Chains:
    """Sums along chains of lanes, for each of `batch` elements and `steps` steps.

    Attributes
    ----------
    active_steps, active_lanes
        How many steps and lanes of a batch element count.
    head
        Whether a chain begins at the lane.
    link
        The lane that follows in the chain, above this one; it ends where that is negative or beyond the lanes.
    value
        What is summed, at each lane of the chain.
    result
        A value of `total` at the chain's first lane.
    tensor, index
        Where the result is written; nothing is where an index is out of range.
    """

    batch: int
    steps: int
    lanes: int
    active_steps: Expr
    active_lanes: Expr
    head: Expr
    link: Expr
    value: Expr
    result: Expr
    tensor: str
    index: tuple[Expr, ...]

    @property
    def roots(self) -> tuple[Expr, ...]:
        """Every expression."""
        return (self.active_steps, self.active_lanes, self.head, self.link, self.value, self.result, *self.index)

    @property
    def written(self) -> tuple[str, ...]:
        """The tensors that it writes."""
        return (self.tensor,)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compute."""
        return 0 in (self.batch, self.steps, self.lanes)

    def mapped(self, f: Callable[[Expr], Expr]) -> Chains:
        """The same with every expression replaced."""
        return replace(
            self,
            active_steps=f(self.active_steps),
            active_lanes=f(self.active_lanes),
            head=f(self.head),
            link=f(self.link),
            value=f(self.value),
            result=f(self.result),
            index=tuple(map(f, self.index)),
        )

    @cached_property
    def facts(self) -> DependenceAnalysis:
        return DependenceAnalysis(self.roots)


@dataclass(frozen=True)
class RecurrenceProblem:
    """What is lowered: a recurrence, or chains, in primitives, and how every tensor lies."""

    stage: Recurrence | Chains
    arrays: Mapping[str, ArrayLayout]


class DependenceAnalysis:
    """What lowering asks of the expressions of a problem."""

    def __init__(self, roots: Sequence[Expr]) -> None:
        self.nodes = tuple(topological(roots))
        self.params = tuple(n for n in self.nodes if n.op == "param")
        self.tensors = tuple(dict.fromkeys(n.attr.name for n in self.nodes if n.op == "gather"))
        self.varies: dict[Expr, Varies] = {}
        for n in self.nodes:
            dependence = Varies.NONE
            if n.op == "coord":
                dependence = (Varies.NONE, Varies.STEP, Varies.LANE)[n.attr]
            elif n.op == "state":
                dependence = Varies.STATE | Varies.STEP | Varies.LANE
            for a in n.args:
                dependence |= self.varies[a]
            self.varies[n] = dependence

    def reads(self, roots: Iterable[Expr]) -> list[Expr]:
        """The reads that the roots depend on, those that an index needs first."""
        return [n for n in topological(roots) if n.op == "gather"]

    def fixed(self, roots: Iterable[Expr], free: Varies) -> list[Expr]:
        """The largest parts of the roots that are the same whatever is `free`, constants apart."""
        fixed_nodes: dict[Expr, None] = {}
        roots = list(roots)
        for n in topological(roots):
            if self.varies[n] & free:
                fixed_nodes |= {a: None for a in n.args if not self.varies[a] & free}
        fixed_nodes |= {r: None for r in roots if not self.varies[r] & free}
        return [n for n in fixed_nodes if n.op != "const"]


class Expressed(Protocol):
    """What is made of expressions."""

    @property
    def roots(self) -> tuple[Expr, ...]: ...

    @property
    def written(self) -> tuple[str, ...]: ...

    @property
    def facts(self) -> DependenceAnalysis: ...

    def mapped(self, f: Callable[[Expr], Expr]) -> Self: ...


class Addressed(Expressed, Protocol):
    """What reads and writes tensors at numbers of the batch, of steps and of lanes."""

    @property
    def batch(self) -> int: ...

    @property
    def steps(self) -> int: ...

    @property
    def lanes(self) -> int: ...


Stage = TypeVar("Stage", bound=Expressed)


def in_primitives(problem: Stage) -> Stage:
    """The problem with every function replaced by its definition."""
    roots = problem.roots
    graph = expand(Graph((), tuple((Port(str(i), e.kind), e) for i, e in enumerate(roots))))
    table = {root: e for root, (_, e) in zip(roots, graph.outputs, strict=True)}
    return problem.mapped(table.__getitem__)


def tensors_of(problem: Expressed) -> tuple[str, ...]:
    """The names of the tensors, those that are read first."""
    return tuple(dict.fromkeys((*problem.facts.tensors, *problem.written)))
