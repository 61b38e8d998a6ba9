"""Axes resampled: each element of the result is a sum over taps of x, each element of the gradient one over those that read it.

Both are the same formula, nested over the axes (`baracuda.ops.image.taps`): along each axis some candidates are numbered from the
first one on, and one that does not count adds -0. Where there are many candidates, the axes are taken one after another, the last
one first, with results between in the kind of the weights, so that neither way changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Literal, NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.conversions import cast_to
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.formula.integer_functions import truncate_divide
from baracuda.formula.special_functions import sinc
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, Shape, Space, Stored
from baracuda.ops.image.axis_maps import AxisMap, Kind, Rounding
from baracuda.ops.image.taps import F32, F64, S32, Tap, any_of, cubic_weights, in_pairs, sampling_kind

#: Taps of all axes together that one kernel takes, of results of so many elements and of smaller ones, which should not wait for
#: a second launch; and along one axis that a kernel takes without a loop.
_LARGE, _TOGETHER_LARGE, _TOGETHER_SMALL, MOST_ALONG = 1 << 17, 8, 36, 32
_S64 = ElementKind.S64
_NO_SLOPE: dict[str, Any] = {"family": "image", "takes": "any", "differentiable": False}


#: How a nearest element is found.
_ROUNDED: dict[str, Callable[[Expr], Expr]] = {
    "floor": f.floor,
    "ceil": lambda v: -f.floor(-v),
    "round_prefer_floor": lambda v: -f.floor(-(v - 0.5)),
    "round_prefer_ceil": lambda v: f.floor(v + 0.5),
}


class _Axis(NamedTuple):
    """One axis as a formula sees it."""

    kind: str
    rounding: str
    inside: bool
    scale: Expr
    shift: Expr
    offset: Expr
    reach: Expr
    inverse: Expr
    support: Expr
    a: Expr
    source: Expr  # the extent of the axis of x
    extent: Expr  # the extent of the axis of the result
    weights: Table | None

    @property
    def real(self) -> ElementKind:
        return self.scale.kind

    def place(self, o: Expr) -> Expr:
        """Where an element of the result lies."""
        return self.scale * (cast(o, self.real) + self.shift) + self.offset

    def _held(self, p: Expr) -> Expr:
        last = cast(self.source - 1, self.real)
        return cast(f.minimum(f.maximum(p, 0.0), last), S32)

    def window(self, o: Expr) -> tuple[Expr, Expr]:
        """The first element of x in the window of an element of the result, and the one after the last."""
        if self.kind == "area":
            wide = cast(o, _S64)
            n, m = cast(self.source, _S64), cast(self.extent, _S64)
            start = truncate_divide(wide * n, m)
            stop = truncate_divide((wide + 1) * n + (m - 1), m)
            return cast(start, S32), cast(stop, S32)
        c = self.place(o)
        start = f.maximum(cast(c - self.support + 0.5, S32), 0)
        return start, f.minimum(cast(c + self.support + 0.5, S32), self.source)

    def taps(self, o: Expr, count: int) -> list[Tap]:
        """The elements of x that count for an element of the result."""
        if self.kind in ("area", "filter", "blur"):
            return [self.tap(o, const(k, S32)) for k in range(count)]
        c = self.place(o)
        outside = (c < 0.0) | (c > cast(self.source - 1, self.real)) if self.inside else None
        counts = None if outside is None else ~outside
        if self.kind == "nearest":
            return [Tap(self._held(_ROUNDED[self.rounding](c)), None, counts)]
        if self.kind == "linear":
            low = self._held(c)
            high = f.minimum(low + 1, self.source - 1)
            t = f.minimum(f.maximum(f.maximum(c, 0.0) - cast(low, self.real), 0.0), 1.0)
            return [Tap(low, 1.0 - t, counts), Tap(high, t, counts)]
        low_ = f.floor(c)
        return [Tap(self._held(low_ + (k - 1.0)), w, counts) for k, w in enumerate(cubic_weights(c - low_, self.a))]

    def tap(self, o: Expr, k: Expr) -> Tap:
        """The tap number k of a window."""
        if self.kind == "blur":
            last = self.source - 1
            at = last - abs(last - abs(o + k - cast(self.support, S32)))
            return Tap(f.maximum(at, 0), self._blur_weight(k))
        start, stop = self.window(o)
        at = start + k
        weight = None
        if self.weights is not None:
            found = take(self.weights, o, k)
            assert isinstance(found, Expr)
            weight = found
        return Tap(at, weight, at < stop)

    def _blur_weight(self, k: Expr) -> Expr:
        assert self.weights is not None
        found = take(self.weights, const(0, S32), k)
        assert isinstance(found, Expr)
        return found

    def _blur_share(self, i: Expr, o: Expr) -> Expr:
        """The weight that element i has in element o of the result, from its own place and those of its reflections."""
        r, last = cast(self.support, S32), self.source - 1
        shares = []
        for place, there in ((i, None), (-i, i > 0), (last + last - i, i < last)):
            k = place - o + r
            inside = (k >= 0) & (k <= r + r)
            shares.append(select(inside if there is None else inside & there, self._blur_weight(k), 0.0))
        return in_pairs(shares)

    def first_reader(self, i: Expr, lead: int) -> Expr:
        """The first element of the result that is tried for an element of x."""
        if self.kind == "area":
            first = truncate_divide(cast(i, _S64) * cast(self.extent, _S64), cast(self.source, _S64))
            return f.maximum(cast(first, S32) - lead, 0)
        place = ((cast(i, self.real) - self.reach) - self.offset) * self.inverse - self.shift
        held = f.minimum(f.maximum(f.floor(place), -1.0), cast(self.extent, self.real))
        return f.maximum(cast(held, S32) - lead, 0)

    def reader(self, i: Expr, k: Expr | int, count: int, lead: int) -> Tap:
        """The candidate number k among the elements of the result that read element i of x, with the weight that i has in it."""
        o = self.first_reader(i, lead) + k
        there = o < self.extent
        o = f.minimum(o, self.extent - 1)
        if self.kind == "blur":
            return Tap(o, self._blur_share(i, o), there & (abs(o - i) <= cast(self.support, S32)))
        if self.kind in ("area", "filter"):
            start, stop = self.window(o)
            hit = there & (i >= start) & (i < stop)
            if self.kind == "area":
                return Tap(o, 1.0 / cast(f.maximum(stop - start, 1), self.real), hit)
            assert self.weights is not None
            weight = take(self.weights, o, i - start)
            assert isinstance(weight, Expr)
            return Tap(o, weight, hit)
        taps = self.taps(o, count)
        hits = [f.equal(t.place, i) for t in taps]
        hit = there & any_of(hits)
        if taps[0].counts is not None:
            hit = hit & taps[0].counts
        if taps[0].weight is None:
            return Tap(o, None, hit)
        shares = [select(h, t.weight, 0.0) for h, t in zip(hits, taps, strict=True) if t.weight is not None]
        return Tap(o, in_pairs(shares), hit)


def _nested(
    axes: Sequence[Sequence[Tap]], means: Sequence[Expr | None], read: Any, at: tuple[Expr, ...] = (), depth: int = 0
) -> Expr:
    """As `taps.nested`, but each sum leaves out what does not count, and may be divided by a number."""
    if depth == len(axes):
        return read(at)  # type: ignore[no-any-return]
    terms = []
    for t in axes[depth]:
        value = _nested(axes, means, read, (*at, t.place), depth + 1)
        value = value if t.weight is None else t.weight * value
        terms.append(value if t.counts is None else select(t.counts, value, -0.0))
    total, by = in_pairs(terms), means[depth]
    return total if by is None else total / by


def _number(value: Any, kind: ElementKind) -> Expr:
    """A number of the call in the kind of the weights."""
    return cast(value, kind) if isinstance(value, Expr) else as_expr(value, kind)


def _finished(value: Expr, element: ElementKind | None) -> Stored:
    assert element is not None
    if element.is_float or value.kind.is_integer:
        return Stored(cast(value, element.compute), element)
    return Stored(cast_to(f.rint(value), element), element)


def _axes_of(
    x: Table, weights: Sequence[Table | None], keywords: Mapping[str, Any], real: ElementKind, count: int
) -> list[_Axis]:
    axes = []
    for n in range(count):
        named = {k: _number(keywords[f"{k}{n}"], real) for k in ("scale", "shift", "offset", "reach", "inverse", "support")}
        read, own = table_extent(x, n, S32), f.extent(keywords["axes"][n], S32)
        source, extent = (own, read) if keywords["back"] else (read, own)
        axes.append(
            _Axis(
                keywords["kind"], keywords["rounding"], keywords["inside"], **named, a=_number(keywords["a"], real),
                source=source, extent=extent, weights=weights[n],
            )
        )  # fmt: skip
    return axes


def _resampled(
    x: Table, weights0: Table | None = None, weights1: Table | None = None, weights2: Table | None = None, *,
    element: ElementKind | None, kind: Kind = "linear", rounding: Rounding = "floor", inside: bool = False, back: bool = False,
    precise: bool = False, axes: tuple[int, ...] = (), size: tuple[int, ...] = (), counts: tuple[int, ...] = (),
    leads: tuple[int, ...] = (), forward_counts: tuple[int, ...] = (), rows: bool = False, wide: bool = False,
    a: Scalar = 0.0, value: Scalar = 0.0,
    scale0: Scalar = 1.0, shift0: Scalar = 0.0, offset0: Scalar = 0.0, reach0: Scalar = 1.0, inverse0: Scalar = 1.0,
    support0: Scalar = 0.0, scale1: Scalar = 1.0, shift1: Scalar = 0.0, offset1: Scalar = 0.0, reach1: Scalar = 1.0,
    inverse1: Scalar = 1.0, support1: Scalar = 0.0, scale2: Scalar = 1.0, shift2: Scalar = 0.0, offset2: Scalar = 0.0,
    reach2: Scalar = 1.0, inverse2: Scalar = 1.0, support2: Scalar = 0.0,
) -> Stored:  # fmt: skip
    keywords, weights = dict(locals()), (weights0, weights1, weights2)
    real = F64 if precise else F32
    own = _axes_of(x, weights, keywords, real, len(axes))
    summed = F64 if wide else F32
    copied = kind == "nearest" and not back

    def read(at: Sequence[Expr]) -> Expr:
        found = take(x, *at)
        assert isinstance(found, Expr)
        return found if copied else cast(found, summed)

    taps: list[list[Tap]] = []
    means: list[Expr | None] = []
    number = coord(-1)
    for axis, at, count, lead, forward in zip(own, axes, counts, leads, forward_counts, strict=True):
        here = coord(at)
        if back:
            taps.append([axis.reader(here, number if rows else k, forward, lead) for k in ([0] if rows else range(count))])
            means.append(None)
            continue
        taps.append([axis.tap(here, number)] if rows else axis.taps(here, count))
        start, stop = axis.window(here) if kind == "area" else (None, None)
        means.append(None if start is None or stop is None else cast(stop - start, real))
    if rows:
        y = f.sum_(_nested(taps, [None], read))
        y = y if means[0] is None else y / means[0]
    elif inside and not back:
        outside = any_of([~t[0].counts for t in taps if t[0].counts is not None])
        free = [[t._replace(counts=None) for t in along] for along in taps]
        nearest = cast(_nested(free, means, read), summed)
        y = select(outside, _number(value, summed), nearest)
    else:
        y = _nested(taps, means, read)
    return _finished(y, element)


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    rank, axes = len(shapes["x"]), options["axes"]
    places: dict[str, tuple[int | None, ...]] = {"x": tuple(None if a in axes else a for a in range(rank))}
    places |= {n: (None, None) for n in shapes if n != "x"}
    extents = dict(zip(axes, options["size"], strict=True))
    if options["rows"]:
        extents[rank] = options["counts"][0]
    return Space(places, extents)


_KEYS: dict[str, Any] = {**_NO_SLOPE, "element_option": True, "space": _space, "results": ("y",)}
_together = Op(_resampled, Rule.EACH, name="resampled", **_KEYS)
_along_rows = Op(_resampled, Rule.EACH, name="resampled_rows", rows=True, axis=-1, axis_option=False, keepdims=False, **_KEYS)


# --- the weights of filters -------------------------------------------------------------------------------------------


Filter = Literal["linear", "cubic", "lanczos3", "lanczos5"]


def _kernel(name: str, x: Expr, a: Expr) -> Expr:
    """A filter's kernel at a distance of 0 or more."""
    if name == "linear":
        return f.maximum(1.0 - x, 0.0)
    if name == "cubic":
        return select(x < 1.0, cubic_weights(x, a)[1], select(x < 2.0, cubic_weights(x - 1.0, a)[0], 0.0))
    radius = 3.0 if name == "lanczos3" else 5.0
    return select(x < radius, sinc(x) * sinc(x / radius), 0.0)


def _filter_weights(
    like: Expr, *, name: Filter = "linear", precise: bool = False, source: int = 1, a: Scalar = -0.5, scale: Scalar = 1.0,
    shift: Scalar = 0.0, offset: Scalar = 0.0, support: Scalar = 1.0, stretch: Scalar = 1.0,
) -> Expr:  # fmt: skip
    """The weights of the taps of each element of a result, which are 1 together."""
    real = F64 if precise else F32
    o, k = coord(0), coord(1)
    place = _number(scale, real) * (cast(o, real) + _number(shift, real)) + _number(offset, real)
    reach = _number(support, real)
    start = f.maximum(cast(place - reach + 0.5, S32), 0)
    stop = f.minimum(cast(place + reach + 0.5, S32), source)
    distance = abs((cast(start + k, real) - place + 0.5) * _number(stretch, real))
    weight = select(start + k < stop, _kernel(name, distance, _number(a, real)), 0.0)
    total = f.sum_(weight)
    return select(f.equal(total, 0.0), weight, weight / total)


_weights = Op(
    _filter_weights, Rule.COMMON, name="filter_weights", rows=True, axis=-1, axis_option=False, family="image", takes="float",
    differentiable=False,
)  # fmt: skip


def filter_weights(do: Steps, m: AxisMap, name: str, a: float) -> TensorRef:
    """The weights of a filter along an axis: for each element of the result those of its taps."""
    made = do.rows((m.extent, m.forward_taps), F64 if m.precise else F32)
    do.run(
        _weights, {"like": made}, made, name=name, precise=m.precise, source=m.source, a=a, scale=m.scale, shift=m.shift,
        offset=m.offset, support=m.support, stretch=m.stretch,
    )  # fmt: skip
    return made


# --- steps ------------------------------------------------------------------------------------------------------------


def resampled(
    do: Steps, x: TensorRef, maps: Mapping[int, AxisMap], into: TensorRef, *, weights: Mapping[int, TensorRef] | None = None,
    back: bool = False, a: float = 0.0, value: float | None = None,
) -> None:  # fmt: skip
    """Write x, resampled along some axes, or (`back`) the gradient of what was: of `into`'s shape."""
    weights = weights or {}
    pending = list(maps)
    if not prod(into.shape):
        return
    counts = {d: m.backward_taps if back else (m.forward_taps, 0) for d, m in maps.items()}
    most = _TOGETHER_LARGE if max(prod(x.shape), prod(into.shape)) >= _LARGE else _TOGETHER_SMALL
    copied = maps[pending[0]].kind == "nearest" and not back
    while pending:
        axes = [pending.pop()]
        together = counts[axes[0]][0]
        while pending and len(axes) < 3 and (value is not None or together * counts[pending[-1]][0] <= most):
            together *= counts[pending[-1]][0]
            axes.insert(0, pending.pop())
        shape = tuple((maps[a].source if back else maps[a].extent) if a in axes else n for a, n in enumerate(x.shape))
        target = into if not pending else do.new(shape, x.kind if copied else sampling_kind(into.kind))
        _run(do, x, {d: maps[d] for d in axes}, target, weights, {d: counts[d] for d in axes}, back, a, value)
        x = target


def _run(
    do: Steps, x: TensorRef, maps: Mapping[int, AxisMap], into: TensorRef, weights: Mapping[int, TensorRef],
    counts: Mapping[int, tuple[int, int]], back: bool, a: float, value: float | None,
) -> None:  # fmt: skip
    first = next(iter(maps.values()))
    numbers: dict[str, float] = {}
    for n, m in enumerate(maps.values()):
        numbers |= {f"scale{n}": m.scale, f"shift{n}": m.shift, f"offset{n}": m.offset, f"support{n}": m.support}
        numbers |= {f"reach{n}": m.reach, f"inverse{n}": m.inverse} if back else {}
    rows = len(maps) == 1 and next(iter(counts.values()))[0] > MOST_ALONG
    tables = {f"weights{n}": weights[d] for n, d in enumerate(maps) if d in weights}
    do.run(
        _along_rows if rows else _together, {"x": x, **tables}, into, dtype=into.kind, kind=first.kind, rounding=first.rounding,
        inside=value is not None, wide=sampling_kind(into.kind) is F64, back=back, precise=first.precise, axes=tuple(maps),
        size=tuple(m.source if back else m.extent for m in maps.values()), counts=tuple(c for c, _ in counts.values()),
        leads=tuple(lead for _, lead in counts.values()), forward_counts=tuple(m.forward_taps for m in maps.values()), rows=rows,
        a=a, value=0.0 if value is None else value, **numbers,
    )  # fmt: skip


def precise_in(element: ElementKind) -> bool:
    """Whether weights of samples of an element are computed in f64."""
    return sampling_kind(element) is F64
