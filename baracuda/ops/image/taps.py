"""What sampling is made of: taps, which are an element's place along an axis, its weight, and whether it counts.

A value between elements is the sum over the taps of each axis, nested: for each tap along the first axis its weight times the sum
over the taps along the next one. Every sum is taken in the canonical order of a reduction, which up to 128 terms means adjacent
pairs; a tap that does not count adds -0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, fma, select
from baracuda.formula.gathers import Table, take

S32, F32, F64 = ElementKind.S32, ElementKind.F32, ElementKind.F64


class Tap(NamedTuple):
    """An element's place along an axis, its weight (None: 1), and whether it counts (None: it does)."""

    place: Expr
    weight: Expr | None = None
    counts: Expr | None = None


def in_pairs(terms: Sequence[Expr]) -> Expr:
    """The sum of some terms, adjacent ones first: the canonical order of up to 128."""
    left = list(terms)
    while len(left) > 1:
        paired = [a + b for a, b in zip(left[0::2], left[1::2], strict=False)]
        left = paired + left[2 * len(paired) :]
    return left[0]


def any_of(conditions: Sequence[Expr]) -> Expr:
    """Whether one of some conditions holds."""
    found = conditions[0]
    for c in conditions[1:]:
        found = found | c
    return found


def both(a: Expr | None, b: Expr | None) -> Expr | None:
    """Whether both hold; None holds."""
    return b if a is None else a if b is None else a & b


def weighted(tap: Tap, value: Expr) -> Expr:
    """A tap's weight times a value."""
    return value if tap.weight is None else tap.weight * value


def nested(axes: Sequence[Sequence[Tap]], read: Callable[[Sequence[Expr]], Expr], at: tuple[Tap, ...] = ()) -> Expr:
    """The sum over the taps of every axis of the product of their weights and the element there."""
    if not axes:
        value = read([t.place for t in at])
        holds: Expr | None = None
        for t in at:
            holds = both(holds, t.counts)
        return value if holds is None else select(holds, value, 0.0)
    return in_pairs([weighted(t, nested(axes[1:], read, (*at, t))) for t in axes[0]])


def reader(x: Table, kind: ElementKind, *first: Expr) -> Callable[[Sequence[Expr]], Expr]:
    """Reads a table at indices along its last axes that are read, in a kind."""

    def read(indices: Sequence[Expr]) -> Expr:
        value = take(x, *first, *indices)
        assert isinstance(value, Expr)
        return cast(value, kind)

    return read


def sampling_kind(element: ElementKind) -> ElementKind:
    """What weights and coordinates are computed in: f64 for f64 and integers of 32 bits or more, else f32."""
    return F64 if element.compute is F64 or (element.is_integer and element.bits >= 32) else F32


# --- weights ----------------------------------------------------------------------------------------------------------


def cubic_near(t: Expr, a: Expr) -> Expr:
    """The cubic convolution kernel (Keys 1981) at a distance t up to 1."""
    return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0


def cubic_far(t: Expr, a: Expr) -> Expr:
    """The same at a distance from 1 to 2."""
    return ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a


def cubic_weights(t: Expr, a: Expr) -> list[Expr]:
    """The weights of the four elements around a place that is t behind the second one."""
    u = 1.0 - t
    return [cubic_far(t + 1.0, a), cubic_near(t, a), cubic_near(u, a), cubic_far(u + 1.0, a)]


# --- padding ----------------------------------------------------------------------------------------------------------


def held(p: Expr, last: Expr) -> Expr:
    """A coordinate held to 0 ... last, with slope 0 from there on; a NaN stays."""
    zero = const(0.0, p.kind)
    return select(p <= zero, zero, select(p >= last, last, p))


def reflected(p: Expr, extent: Expr, *, corners: bool) -> Expr:
    """A coordinate reflected at the first and the last element (`corners`), or at their outer edges, and then held."""
    low = const(0.0 if corners else -0.5, p.kind)
    span = extent - 1.0 if corners else extent
    away = abs(p - low)
    turns = f.detach(f.floor(away / span))
    rest = fma(-turns, span, away)
    even = f.equal(f.floor(turns * 0.5) * 2.0, turns)
    inside = select(even, rest + low, (span - rest) + low)
    return held(select(span <= 0.0, const(0.0, p.kind), inside), extent - 1.0)


def padded(p: Expr, extent: Expr, padding: str, *, corners: bool) -> Expr:
    """A coordinate as a padding mode has it."""
    if padding == "border":
        return held(p, extent - 1.0)
    return reflected(p, extent, corners=corners) if padding == "reflection" else p


def _whole(p: Expr, extent: Expr) -> Expr:
    """A whole number as s32; one far outside as one outside."""
    return cast(f.minimum(f.maximum(p, -4.0), extent + 4.0), S32)


def sampling_taps(p: Expr, extent: Expr, mode: str, padding: str, *, corners: bool, a: Expr | None = None) -> list[Tap]:
    """The taps along an axis of a sample at coordinate p, in elements; `extent` is of the kind of p."""
    zeros = padding == "zeros"
    last = extent - 1.0

    def tap(at: Expr, weight: Expr | None) -> Tap:
        if not zeros:
            return Tap(_whole(held(at, last), extent), weight)
        return Tap(_whole(at, extent), weight, (at >= 0.0) & (at <= last))

    if mode == "bicubic":
        low = f.detach(f.floor(p))
        assert a is not None
        weights = cubic_weights(p - low, a)
        places = [low + (k - 1.0) for k in range(4)]
        return [tap(f.detach(padded(at, extent, padding, corners=corners)), w) for at, w in zip(places, weights, strict=True)]
    p = padded(p, extent, padding, corners=corners)
    if mode == "nearest":
        return [tap(f.detach(f.rint(p)), None)]
    low = f.detach(f.floor(p))
    t = p - low
    return [tap(low, 1.0 - t), tap(low + 1.0, t)]


def numbered(taps: Sequence[Tap], number: Expr) -> Tap:
    """The tap of a number that the formula computes."""
    index, weight, counts = taps[-1]
    for k in reversed(range(len(taps) - 1)):
        here, t = f.equal(number, k), taps[k]
        index = select(here, t.place, index)
        if weight is not None and t.weight is not None:
            weight = select(here, t.weight, weight)
        if counts is not None and t.counts is not None:
            counts = (here & t.counts) | (~here & counts)
    return Tap(index, weight, counts)
