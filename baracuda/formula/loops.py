"""Loops: values that are computed again for each element, until a condition no longer holds.

    state = initial values
    for turn = 0, 1, ... , turns - 1:
        if not going(state, turn): stop
        state = body(state, turn)

A state is a tuple of values; a node of op "loop" is one component of the last one. Nodes that differ in component only are one
loop, and are lowered as one: a thread of a GPU goes round by itself, lanes of a CPU's vector together until none of them goes on,
where those that are done keep their state. So the result is that of the element alone, on either device.

What body and condition read beside the state and the number of the turn is computed once, before the loop. A loop has no
derivative: whoever writes one gives the gradient by hand.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from baracuda.core import locks
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Expr, Operand, as_expr, node, topological
from baracuda.formula.graph import substitute

State: TypeAlias = tuple[Expr, ...]


class Loop:
    """`results` and the condition `going`, over the placeholders `state`, `given` and `turn`. Interned: the same loop traced
    twice is the same object."""

    __slots__ = ("__weakref__", "given", "going", "results", "state", "text", "turn", "turns")

    state: State
    given: State
    turn: Expr
    going: Expr
    results: State
    turns: int
    text: str

    @property
    def nodes(self) -> list[Expr]:
        """Every node of a turn, operands before users."""
        return topological((self.going, *self.results))

    def map(self, rewrite: Callable[[Expr, tuple[Expr, ...]], Expr]) -> Loop:
        """The loop with each node replaced by `rewrite(node, its rewritten operands)`."""
        rewritten: dict[Expr, Expr] = {}
        for n in self.nodes:
            rewritten[n] = rewrite(n, tuple(rewritten[a] for a in n.args))
        results = tuple(rewritten[r] for r in self.results)
        return _interned_loop(self.state, self.given, self.turn, rewritten[self.going], results, self.turns)

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Repeat:
    """The attribute of a loop's node: which component of its last state it is."""

    loop: Loop
    component: int


_interned: weakref.WeakValueDictionary[tuple[Hashable, ...], Loop] = weakref.WeakValueDictionary()
_lock = locks.lock()
#: How many loops the one that is being traced lies in: placeholders of different loops are different nodes.
_depth: ContextVar[int] = ContextVar("baracuda_loop_depth", default=0)


def _interned_loop(state: State, given: State, turn: Expr, going: Expr, results: State, turns: int) -> Loop:
    key = (state, given, turn, going, results, turns)
    with _lock:
        interned = _interned.get(key)
        if interned is None:
            interned = Loop()
            interned.state, interned.given, interned.turn = state, given, turn
            interned.going, interned.results, interned.turns = going, results, turns
            interned.text = _listing(interned)
            _interned[key] = interned
        return interned


def _listing(x: Loop) -> str:
    """The loop in one line; equal texts mean equal loops."""
    number = {n: i for i, n in enumerate(x.nodes)}
    steps = [f"{n.op} {n.kind} {n.attr!r} {[number[a] for a in n.args]}" for n in x.nodes]
    return f"loop {x.turns}({'; '.join(steps)}; {number[x.going]}; {[number[r] for r in x.results]})"


def _placeholders(name: str, depth: int, kinds: Iterable[ElementKind]) -> State:
    return tuple(node("state", (), kind, (name, depth, i)) for i, kind in enumerate(kinds))


def loop(
    initial: Sequence[Expr],
    going: Callable[[State, Expr], Expr],
    body: Callable[[State, Expr], Sequence[Operand]],
    *,
    turns: int,
) -> State:
    """The last state of a loop that begins with `initial`: `body(state, turn)` makes the next of each state for which
    `going(state, turn)` holds, at most `turns` times. The turn's number is an s32.

    Raises `InvalidProblemError` where the body's state is not one like `initial`, or the condition no bool.
    """
    first, kinds, depth = tuple(initial), [x.kind for x in initial], _depth.get()
    if not first or turns < 1:
        raise InvalidProblemError(f"loop: a state of {len(first)} components, {turns} turns; expected at least one of each")
    state, (turn,) = _placeholders("loop", depth, kinds), _placeholders("turn", depth, (ElementKind.S32,))
    token = _depth.set(depth + 1)
    try:
        condition, results = going(state, turn), tuple(map(as_expr, body(state, turn), kinds))
    finally:
        _depth.reset(token)
    if condition.kind is not ElementKind.BOOL:
        raise InvalidProblemError(f"loop: the condition has kind {condition.kind}; expected bool")
    if [r.kind for r in results] != kinds:
        found, expected = (", ".join(map(str, k)) for k in ([r.kind for r in results], kinds))
        raise InvalidProblemError(f"loop: the body's state has kinds {found}; expected {expected}")
    outside = _outside((condition, *results), {*state, turn})
    given = _placeholders("given", depth, (n.kind for n in outside))
    table = dict(zip(outside, given, strict=True))
    made = _interned_loop(state, given, turn, substitute(condition, table), tuple(substitute(r, table) for r in results), turns)
    return tuple(node("loop", (*first, *outside), kind, Repeat(made, i)) for i, kind in enumerate(kinds))


def _outside(roots: Sequence[Expr], inside: set[Expr]) -> list[Expr]:
    """The largest parts that are the same in every turn, constants left out."""
    moving, found = set(inside), dict[Expr, None]()
    for n in topological(roots):
        if any(a in moving for a in n.args):
            moving.add(n)
            found |= dict.fromkeys(a for a in n.args if a not in moving and a.op != "const")
    return list(found | dict.fromkeys(r for r in roots if r not in moving and r.op != "const"))


def sibling(n: Expr, component: int) -> Expr:
    """Another component of a loop's last state."""
    return node("loop", n.args, n.args[component].kind, replace(n.attr, component=component))


def components(n: Expr) -> State:
    """Every component of a loop's last state, given one."""
    return tuple(sibling(n, i) for i in range(len(n.attr.loop.state)))


def turned(n: Expr, args: Sequence[Any], value: Callable[[Expr, list[Any]], Any], select: Callable[..., Any]) -> Any:
    """A component of the last state by an interpreter of arrays: `value(node, operands)` computes a node of a turn, and
    `select(condition, a, b)` chooses by element."""
    x: Loop = n.attr.loop
    held, given = list(args[: len(x.state)]), args[len(x.state) :]
    for turn in range(x.turns):
        values = dict(zip((*x.state, *x.given, x.turn), (*held, *given, np.asarray(turn, np.int32)), strict=True))
        for m in topological((x.going,)):
            if m not in values:
                values[m] = value(m, [values[a] for a in m.args])
        condition = values[x.going]
        if not condition.any():
            break
        for m in x.nodes:
            if m not in values:
                values[m] = value(m, [values[a] for a in m.args])
        held = [select(condition, values[r], h) for r, h in zip(x.results, held, strict=True)]
    return held[n.attr.component]
