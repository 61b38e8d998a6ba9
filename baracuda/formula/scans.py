"""Scans along the row: the running combination of its elements under any associative operation.

`cumsum(x)`, `cummax(x)`, `linear_recurrence(a, b)` and the rest are built by `scan`, which takes the operation as a Python
function of two *states*. A state is a tuple of values, one for each operand; a node of op "scan" is one component of the
running state. Nodes that differ in component or in `exclusive` only are one scan, and are lowered as one.

The order in which states are combined is that of `baracuda.formula.order`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from baracuda.core import locks
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import order, scan_gradients
from baracuda.formula.expr import Expr, Operand, as_expr, binary, compare, const, fma, node, pair, position, select, topological
from baracuda.formula.functions import exp, log

State: TypeAlias = tuple[Expr, ...]
#: The contribution of a scan's component, given its adjoint, to the adjoint of one of its operands; None is zero.
Backward: TypeAlias = "Callable[[Expr, Expr, int], Expr | None]"


class Combine:
    """An associative operation on states: `results` over the placeholders `left` (earlier elements) and `right`.

    `identity` is what an exclusive scan begins with. Interned: the same operation traced twice is the same object.
    """

    __slots__ = ("__weakref__", "backward", "identity", "left", "name", "results", "right", "text")

    name: str
    left: State
    right: State
    results: State
    identity: State
    backward: Backward | None
    text: str

    @property
    def nodes(self) -> list[Expr]:
        """Every node of the operation, operands before users."""
        return topological(self.results)

    def map(self, rewrite: Callable[[Expr, tuple[Expr, ...]], Expr]) -> Combine:
        """The operation with each node replaced by `rewrite(node, its rewritten operands)`."""
        rewritten: dict[Expr, Expr] = {}
        for n in self.nodes:
            rewritten[n] = rewrite(n, tuple(rewritten[a] for a in n.args))
        return _interned_combine(self.name, tuple(rewritten[r] for r in self.results), self.identity, self.backward)

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Scan:
    """The attribute of a scan's node: which component of the running state it is, from which end, and whether the state
    includes the element itself."""

    combine: Combine
    component: int
    reverse: bool
    exclusive: bool


_interned: weakref.WeakValueDictionary[tuple[Hashable, ...], Combine] = weakref.WeakValueDictionary()
_lock = locks.lock()


def _interned_combine(name: str, results: State, identity: State, backward: Backward | None) -> Combine:
    key = (name, results, identity, backward)
    with _lock:
        interned = _interned.get(key)
        if interned is None:
            interned = Combine()
            kinds = [r.kind for r in results]
            interned.name, interned.results, interned.identity, interned.backward = name, results, identity, backward
            interned.left, interned.right = _placeholders("left", kinds), _placeholders("right", kinds)
            interned.text = _listing(interned)
            _interned[key] = interned
        return interned


def _listing(combine: Combine) -> str:
    """The operation in one line; equal texts mean equal operations."""
    number = {n: i for i, n in enumerate(combine.nodes)}
    steps = [f"{n.op} {n.kind} {n.attr!r} {[number[a] for a in n.args]}" for n in combine.nodes]
    results, identity = [number[r] for r in combine.results], [f"{i.kind} {i.attr}" for i in combine.identity]
    return f"{combine.name}({'; '.join(steps)}; {results}; {identity})"


def _placeholders(side: str, kinds: Sequence[ElementKind]) -> State:
    return tuple(node("state", (), kind, (side, i)) for i, kind in enumerate(kinds))


def combination(
    function: Callable[[State, State], Any],
    identity: Sequence[Operand],
    kinds: Sequence[ElementKind],
    backward: Backward | None = None,
) -> Combine:
    """Trace an associative operation on states of the given kinds; see `scan`."""
    name = function.__name__
    left, right = _placeholders("left", kinds), _placeholders("right", kinds)
    results = function(left, right)
    if not isinstance(results, tuple) or len(results) != len(kinds):
        raise InvalidProblemError(f"{name}: it returned {results!r}; expected a tuple of {len(kinds)} expressions")
    combined = tuple(as_expr(r, kind) for r, kind in zip(results, kinds, strict=True))
    for i, (r, kind) in enumerate(zip(combined, kinds, strict=True)):
        if r.kind is not kind:
            raise InvalidProblemError(f"{name}: component {i} of its result has kind {r.kind}; expected {kind}")
    for n in topological(combined):
        if n.op in ("input", "gather", "param", "coord", "position", "reduce", "scan"):
            raise InvalidProblemError(f"{name}: it reads {n!r}; expected nothing but the two states and constants")
    if len(identity) != len(kinds):
        raise InvalidProblemError(f"{name}: an identity of {len(identity)} components; expected {len(kinds)}")
    neutral = tuple(as_expr(i, kind) for i, kind in zip(identity, kinds, strict=True))
    for i, (value, kind) in enumerate(zip(neutral, kinds, strict=True)):
        if value.op != "const" or value.kind is not kind:
            raise InvalidProblemError(f"{name}: component {i} of the identity is {value!r}; expected a constant of kind {kind}")
    return _interned_combine(name, combined, neutral, backward)


def scan(
    combine: Combine | Callable[[State, State], Any],
    operands: Sequence[Expr],
    component: int = 0,
    *,
    identity: Sequence[Operand] | None = None,
    reverse: bool = False,
    exclusive: bool = False,
) -> Expr:
    """One component of the running state along the row:

        y_i = component of (s_0 (+) s_1 (+) ... (+) s_i), s_j = (operands at element j)

    Parameters
    ----------
    combine : callable
        (state of earlier elements, state of later elements) -> their combination. It must be associative, and may use
        nothing but the two states and constants. It is traced once.
    operands : Sequence[Expr]
        The components of an element's state. One that does not vary along the row counts as equal all along it.
    identity : Sequence of numbers or constants
        What an exclusive scan begins with, a number for each component. It is combined with nothing.
    reverse : bool
        Elements are combined from the last to the first.
    exclusive : bool
        The state before element i, without it.

    A NaN or infinity spreads as `combine` lets it. A scan of the user's own has no derivative.

    Raises `InvalidProblemError` where `combine` does not return a state like the one it takes, or reads anything else.
    """
    operands = tuple(operands)
    if not operands:
        raise InvalidProblemError("scan: no operand; expected at least one")
    if not isinstance(combine, Combine):
        if identity is None:
            raise InvalidProblemError("scan: no identity; expected a number for each operand")
        combine = combination(combine, identity, [x.kind for x in operands])
    expected, got = [r.kind for r in combine.results], [x.kind for x in operands]
    if got != expected:
        raise InvalidProblemError(f"{combine.name}: operands of kinds {got}; expected {expected}")
    if not 0 <= component < len(operands):
        raise InvalidProblemError(f"{combine.name}: component {component}; expected 0 to {len(operands) - 1}")
    return node("scan", operands, operands[component].kind, Scan(combine, component, reverse, exclusive))


def sibling(n: Expr, component: int, *, exclusive: bool = False) -> Expr:
    """Another component of a scan's running state, with or without the element itself."""
    return node("scan", n.args, n.args[component].kind, replace(n.attr, component=component, exclusive=exclusive))


# --- words ------------------------------------------------------------------------------------------------------------


def _simple(op: str, backward: Backward, x: Expr, reverse: bool, exclusive: bool) -> Expr:
    def combine(a: State, b: State) -> State:
        return (binary(order.COMBINE[op], a[0], b[0]),)

    combine.__name__ = op
    combination_ = combination(combine, (const(order.empty(op, x.kind), x.kind),), (x.kind,), backward)
    return scan(combination_, (x,), reverse=reverse, exclusive=exclusive)


def cumsum(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """The running sum along the row; integers wrap. Exclusive: begins with 0."""
    return _simple("sum", scan_gradients.sum_, x, reverse, exclusive)


def cumprod(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """The running product along the row; integers wrap. Exclusive: begins with 1. Its derivative divides by nothing, and so
    is right where elements are zero."""
    return _simple("prod", scan_gradients.prod, x, reverse, exclusive)


def cummax(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """The running maximum along the row: NaN from the first NaN on, and +0 is above -0. Exclusive: begins with the least
    value. The derivative goes to the element that `cummax_with_index` names."""
    return _simple("max", scan_gradients.extremum, x, reverse, exclusive)


def cummin(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """The running minimum along the row, as `cummax`."""
    return _simple("min", scan_gradients.extremum, x, reverse, exclusive)


def _located(kind: ElementKind, index: ElementKind, op: str) -> Combine:
    def later(a: State, b: State) -> State:
        wins = compare("ge" if op == "max" else "le", b[0], a[0])
        if kind.is_float:
            wins = wins | compare("ne", b[0], b[0])
        return select(wins, b[0], a[0]), select(wins, b[1], a[1])

    later.__name__ = f"last_{op}"
    least = const(order.identity(op, kind), kind)
    return combination(later, (least, const(-1, index)), (kind, index), scan_gradients.located)


def cummax_with_index(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> tuple[Expr, Expr]:
    """The running maximum along the row, and where it is, as s32.

    The rule is `torch.cummax`'s: the index is that of the latest element, in the order of the scan, that is equal to the
    maximum (+0 and -0 are equal, so the value is that element's zero); a NaN counts as the maximum and stays, and the
    latest NaN is named. Exclusive: begins with the least value and index -1.
    """
    combine = _located(x.kind, ElementKind.S32, "max")
    first = scan(combine, (x, position(ElementKind.S32)), reverse=reverse, exclusive=exclusive)
    return first, sibling(first, 1, exclusive=exclusive)


def cummin_with_index(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> tuple[Expr, Expr]:
    """The running minimum along the row, and where it is, by the rule of `cummax_with_index`."""
    combine = _located(x.kind, ElementKind.S32, "min")
    first = scan(combine, (x, position(ElementKind.S32)), reverse=reverse, exclusive=exclusive)
    return first, sibling(first, 1, exclusive=exclusive)


def _scaled_sum(a: State, b: State) -> State:
    """(m, s) stands for s * e**m; m is the larger one's, so that nothing overflows."""
    difference = select(compare("eq", a[0], b[0]), 0.0, a[0] - b[0])  # equal infinities have no difference
    scale = exp(-abs(difference))
    earlier = difference >= 0.0
    large, small = select(earlier, a[1], b[1]), select(earlier, b[1], a[1])
    return binary("max", a[0], b[0]), fma(small, scale, large)


def logcumsumexp(x: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """log of the running sum of e**x along the row.

    The state is (running maximum m, running sum s of e**(x - m)) and the result m + log(s): no intermediate value
    overflows, s has the relative error of a sum of positive numbers, and only the last addition rounds on the scale of x.
    -inf counts as nothing, +inf and NaN stay. Exclusive: begins with -inf.
    """
    combine = combination(_scaled_sum, (-float("inf"), 0.0), (x.kind, x.kind), scan_gradients.scaled_sum)
    largest = scan(combine, (x, const(1.0, x.kind)), reverse=reverse, exclusive=exclusive)
    return largest + log(sibling(largest, 1, exclusive=exclusive))


def _affine(a: State, b: State) -> State:
    return b[0] * a[0], fma(b[0], a[1], b[1])


def linear_recurrence(a: Operand, b: Operand, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """h_i = a_i * h_(i-1) + b_i along the row, where h before the first element is 0: h_0 = b_0, whatever a_0 is.

    The state is (a, b), combined as (a1, b1) (+) (a2, b2) = (a2 * a1, fma(a2, b1, b2)). Exclusive: h_(i-1), beginning
    with 0.
    """
    first, second = pair(a, b)
    combine = combination(_affine, (1.0, 0.0), (first.kind, second.kind), scan_gradients.affine)
    return scan(combine, (first, second), 1, reverse=reverse, exclusive=exclusive)


def _restarting_sum(a: State, b: State) -> State:
    return a[0] | b[0], select(compare("ne", b[0], 0), b[1], a[1] + b[1])


def segmented_cumsum(x: Expr, start: Expr, *, reverse: bool = False, exclusive: bool = False) -> Expr:
    """The running sum along the row of x, begun anew at every element where the condition `start` holds. Exclusive: the
    sum as it was after the element before."""
    flag = select(start, const(1, ElementKind.S32), 0)
    combine = combination(_restarting_sum, (0, const(order.empty("sum", x.kind), x.kind)), (ElementKind.S32, x.kind))
    return scan(combine, (flag, x), 1, reverse=reverse, exclusive=exclusive)
