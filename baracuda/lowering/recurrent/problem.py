"""What is lowered: a recurrence whose every step has sums over all lanes of the step before, as recurrent networks have.

There is, for each row of a batch, a state: some components, each a value for each of a number of lanes. A step is a list of
*phases*, one after another. A phase may begin with *folds*: for each of its lanes j and each of its `products` g, running values
over k, in rising k from 0 to depth - 1,

    a = initial;  for k in 0 ... depth - 1:  a = next(a, w[g, j, k], m[k])

where w is a tensor (widened to the kind that is computed in) and m the *message* that the phase before has handed on; before the
first phase stands the last phase of the step before, and before the first step `first`. Where the phase is `paired`, product g
reads component g of the message, else all read component 0. The fold of a network is a product, the chain of fused
multiply-adds from +0,

    a = +0;  a = fma(w[g, j, k], m[k], a)

or, where a fold has `bits`, an integer product of so many bits (`baracuda/formula/integer_products.py`): k is cut into blocks of
128 from 0, in each of which w of a lane and product and m of a row are whole numbers with a scale. P is their exact sum, F is P
rounded to f32, low and high are the smaller and the larger scale:

    a = +0;  for each block:  a = fma(F * low, high, a)

with what that definition says of elements that are not finite.

A fold whose pass is 1 goes through k again when those of pass 0 are done, and may use their results; folds of one pass may use
each other's running value from before k. Then, for each lane, the phase's formula gives the next components of its state, what is
written of the step, and the message for the next phase, from the folds' results, the state, and what it reads of tensors at
indices made of the numbers of the row, the step and the lane. So the formula and the order of k are the whole arithmetic. A
message and a component of the state are never rounded to the tensors' element.

A row of the batch has a number of steps that count; after them its state stays, and rows of traces that are left are filled. What
a row gets depends on nothing of another row.

Formulas are built of `BATCH`, `STEP`, `LANE`, `read` and `state` of `baracuda.lowering.recurrence.problem`, and of `fold`; `next`
of a fold of `weight`, `message`, `DEPTH` and `fold`. The components of all phases are numbered through. A component may be read
by every phase that has as many lanes; it has the new value after the phase that changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from baracuda.core.elements import ElementKind
from baracuda.core.lazy import cached_property
from baracuda.formula.expr import Expr, const, fma, node
from baracuda.lowering.recurrence.problem import STEP, ArrayLayout, Component, DependenceAnalysis, Store

#: The number of the lane that is folded.
DEPTH = node("state", (), ElementKind.S32, ("k",))


def weight(kind: ElementKind) -> Expr:
    """The element of the weight that a fold is at."""
    return node("state", (), kind, ("weight",))


def message(kind: ElementKind) -> Expr:
    """The element of the message that a fold is at."""
    return node("state", (), kind, ("message",))


def fold(kind: ElementKind, number: int = 0, product: int = 0) -> Expr:
    """The value of a fold: in `Fold.next` the running one, of the product that is computed; in a phase's formulas the result of
    one of the products."""
    return node("state", (), kind, ("fold", number, product))


@dataclass(frozen=True)
class Fold:
    """Running values over k; see above. `turn` is the number of its pass; with `bits` the fold is an integer product, and `next`
    the product that it stands for."""

    initial: Expr
    next: Expr
    turn: int = 0
    bits: int = 0


def product(kind: ElementKind, bits: int = 0) -> Fold:
    """The sum of products of a network: a chain, or of f32 in integers of so many bits."""
    return Fold(const(0.0, kind), fma(weight(kind), message(kind), fold(kind)), bits=bits)


@dataclass(frozen=True)
class Trace:
    """A tensor of shape (steps, batch, lanes), or (steps, batch, channels, lanes), that every step writes a row of: `row` says
    which, a different one for every step that counts, and of the first that count. The elements of the others are `fill`."""

    tensor: str
    row: Expr
    value: Expr
    channel: int | None = None
    fill: float = 0.0

    @property
    def filled(self) -> Expr:
        """What the rows of steps that do not count are written with."""
        return const(self.fill, self.value.kind)


@dataclass(frozen=True)
class Phase:
    """A part of a step over so many lanes.

    Attributes
    ----------
    weight
        The tensor of the folds, of shape (products, lanes, depth), or None where there are no folds.
    depth
        The lanes of the phase before.
    at, transposed
        The first of the tensor's products that is the phase's, and whether its last two axes are depth and lanes.
    state
        The components of the state that it changes.
    message
        What it hands on.
    traces
        What it writes in every step.
    lasts
        What it writes of the state after the last step, (batch, lanes).
    """

    lanes: int
    weight: str | None = None
    depth: int = 0
    products: int = 0
    at: int = 0
    transposed: bool = False
    paired: bool = False
    folds: tuple[Fold, ...] = ()
    state: tuple[Component, ...] = ()
    message: tuple[Expr, ...] = ()
    traces: tuple[Trace, ...] = ()
    lasts: tuple[Store, ...] = ()

    @property
    def roots(self) -> tuple[Expr, ...]:
        """What a lane computes in every step."""
        return (*(c.next for c in self.state), *self.message, *(t.value for t in self.traces))

    @property
    def turns(self) -> int:
        """How often it goes through k."""
        return 1 + max((f.turn for f in self.folds), default=-1)

    def mapped(self, f: Callable[[Expr], Expr]) -> Phase:
        """The same with every expression replaced."""
        return replace(
            self,
            folds=tuple(replace(x, initial=f(x.initial), next=f(x.next)) for x in self.folds),
            state=tuple(replace(c, initial=f(c.initial), next=f(c.next)) for c in self.state),
            message=tuple(map(f, self.message)),
            traces=tuple(replace(t, row=f(t.row), value=f(t.value)) for t in self.traces),
            lasts=tuple(replace(s, value=f(s.value)) for s in self.lasts),
        )


class _Facts(DependenceAnalysis):
    def __init__(self, roots: Sequence[Expr], weights: Sequence[str]) -> None:
        super().__init__(roots)
        self.tensors = tuple(dict.fromkeys((*self.tensors, *weights)))


@dataclass(frozen=True)
class Recurrent:
    """Phases over `batch` rows and at most `steps` steps, of which `active_steps` count for a row, in the kind `math`. `first` is
    the message before the first step, over the lanes of the last phase."""

    batch: int
    steps: int
    active_steps: Expr
    phases: tuple[Phase, ...]
    math: ElementKind
    first: tuple[Expr, ...] = ()

    @property
    def lanes(self) -> int:
        """The most lanes of a phase."""
        return max(p.lanes for p in self.phases)

    @property
    def bits(self) -> int:
        """Those of its folds where they are integer products: all are, or none; 0 says none."""
        return max((f.bits for p in self.phases for f in p.folds), default=0)

    @cached_property
    def components(self) -> tuple[tuple[int, Component], ...]:
        """Every component of the state, with the lanes of its phase."""
        return tuple((p.lanes, c) for p in self.phases for c in p.state)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compute."""
        return self.batch == 0

    @property
    def written(self) -> tuple[str, ...]:
        """The tensors that it writes."""
        names = [t.tensor for p in self.phases for t in p.traces] + [s.tensor for p in self.phases for s in p.lasts]
        return tuple(dict.fromkeys(names))

    @cached_property
    def facts(self) -> DependenceAnalysis:
        weights = [p.weight for p in self.phases if p.weight is not None]
        return _Facts([STEP, *self.roots], weights)

    @property
    def roots(self) -> tuple[Expr, ...]:
        """Every expression."""
        found = [self.active_steps, *self.first]
        for p in self.phases:
            found += [e for f in p.folds for e in (f.initial, f.next)]
            found += [e for c in p.state for e in (c.initial, c.next)]
            found += [*p.message, *(e for t in p.traces for e in (t.row, t.value)), *(s.value for s in p.lasts)]
        return tuple(found)

    def mapped(self, f: Callable[[Expr], Expr]) -> Recurrent:
        """The same with every expression replaced."""
        return replace(
            self,
            active_steps=f(self.active_steps),
            phases=tuple(p.mapped(f) for p in self.phases),
            first=tuple(map(f, self.first)),
        )

    def source(self, number: int) -> int:
        """The phase whose message a phase reads."""
        return (number - 1) % len(self.phases)

    def components_at(self, number: int) -> int:
        """How many components of the state are those of phases before this one."""
        return sum(len(p.state) for p in self.phases[:number])


@dataclass(frozen=True)
class RecurrentProblem:
    """What is lowered: a recurrence in primitives, and how every tensor lies."""

    stage: Recurrent
    arrays: Mapping[str, ArrayLayout]
