"""Sums by destination as a problem: where each position goes, what it brings, and where the results lie.

A *position* is a multi-index of the index tensor, numbered in logical order. Its *key* is the number of the destination that
it goes to. Every tensor is described by its strides over positions or destinations, its *outer* axes, and over the *inner*
axes, which positions and destinations have in common and along which nothing is combined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import round_up
from baracuda.formula.order import SEGMENT

#: Positions and destinations are numbered in 32 bits.
LIMIT = (1 << 31) - 1
#: What every array in the workspace is aligned to.
_ALIGNMENT = 256
#: The order of the operands.
INDEX, X, ROWS, WEIGHTS, BASE, Y = range(6)
OPERANDS = 6


@dataclass(frozen=True)
class TensorLayout:
    """How a tensor lies in memory: strides in elements over its outer axes and over the inner ones."""

    kind: ElementKind
    outer: tuple[int, ...]
    inner: tuple[int, ...] = ()
    alignment: int = 1
    general: bool = False


@dataclass(frozen=True)
class Keys:
    """Keys of positions: sum of coordinate * step over the axes, + scale * the index held to 0 ... extent - 1.

    Attributes
    ----------
    shape
        The extents of the positions.
    index
        The index tensor, over the positions.
    steps, scale, extent
        As in the formula above.
    count
        How many destinations there are.
    wrap
        Whether a negative index counts from the end.
    skip
        A value of the index that goes nowhere: its key is `count`.
    """

    shape: tuple[int, ...]
    index: TensorLayout
    steps: tuple[int, ...]
    scale: int
    extent: int
    count: int
    wrap: bool = False
    skip: int | None = None

    @property
    def positions(self) -> int:
        return prod(self.shape)

    @property
    def bits(self) -> int:
        """Bits of the largest key."""
        return max(1, (self.count if self.skip is not None else self.count - 1).bit_length())


@dataclass(frozen=True)
class Scatter:
    """y[d] = base[d] (op) alpha * (the combination, in the canonical order, of weights[p] * x[p] over the positions p that go
    to d); without `x` the number of those positions.

    Attributes
    ----------
    op
        "sum", "prod", "max" or "min".
    mean
        Whether the sum is divided by the number of elements, the base among them.
    destinations, inner
        The extents of the destinations and of the inner axes.
    x, rows, weights, base, y
        The tensors; `rows` says for each position which entry of the one outer axis of x, of extent `sources`, it brings.
    scaled
        Whether there is an alpha, which is the program's parameter.
    joined
        Whether the base is combined with what goes there; if not, it is the result where nothing does.
    """

    op: str
    mean: bool
    keys: Keys
    destinations: tuple[int, ...]
    inner: tuple[int, ...]
    x: TensorLayout | None
    rows: TensorLayout | None
    weights: TensorLayout | None
    base: TensorLayout | None
    y: TensorLayout
    scaled: bool = False
    sources: int = 0
    joined: bool = True

    @property
    def combined_base(self) -> TensorLayout | None:
        """The base, where it is combined with something."""
        return self.base if self.joined else None

    @property
    def columns(self) -> int:
        return prod(self.inner)

    @property
    def compute(self) -> ElementKind:
        """What is computed in."""
        return (self.y if self.x is None else self.x).kind.compute

    @property
    def general(self) -> bool:
        tensors = (self.keys.index, self.x, self.rows, self.weights, self.base, self.y)
        return any(t is not None and t.general for t in tensors)


def _joined(shape: Sequence[int], walks: Sequence[Sequence[int]], *, merge: bool) -> list[tuple[int, int]]:
    """Axes that remain, as (extent, last axis of the group): extents of 1 dropped, neighbours merged that all walk as one."""
    groups: list[tuple[int, int]] = []
    for a, n in enumerate(shape):
        if n == 1 and merge:
            continue
        if merge and groups and all(w[groups[-1][1]] == w[a] * n for w in walks):
            groups[-1] = groups[-1][0] * n, a
        else:
            groups.append((n, a))
    return groups or [(prod(shape), -1)]


def _pick(strides: Sequence[int], groups: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(strides[a] if a >= 0 else 0 for _, a in groups)


def _outer(tensor_layout: TensorLayout | None, groups: Sequence[tuple[int, int]]) -> TensorLayout | None:
    return None if tensor_layout is None else replace(tensor_layout, outer=_pick(tensor_layout.outer, groups))


def _inner(tensor_layout: TensorLayout | None, groups: Sequence[tuple[int, int]]) -> TensorLayout | None:
    return None if tensor_layout is None else replace(tensor_layout, inner=_pick(tensor_layout.inner, groups))


def _real(scatter: Scatter) -> Scatter:
    """A sum of complex numbers as one of pairs of real ones."""
    if scatter.y.kind.category is not Category.COMPLEX:
        return scatter
    part = ElementKind.F32 if scatter.y.kind is ElementKind.C64 else ElementKind.F64

    def halves(tensor_layout: TensorLayout | None) -> TensorLayout | None:
        if tensor_layout is None:
            return None
        outer, inner = (tuple(2 * s for s in strides) for strides in (tensor_layout.outer, tensor_layout.inner))
        return replace(tensor_layout, kind=part, outer=outer, inner=(*inner, 1))

    y = halves(scatter.y)
    assert y is not None
    return replace(scatter, inner=(*scatter.inner, 2), x=halves(scatter.x), base=halves(scatter.base), y=y)


def normalise(scatter: Scatter) -> Scatter:
    """The same problem with as few axes as its layouts allow, inner ones sorted by stride; at least one of each sort."""
    scatter = _real(scatter)
    merge, keys = not scatter.general, scatter.keys
    if max(keys.positions, keys.count) > LIMIT:
        raise UnsupportedError(f"{keys.positions} positions and {keys.count} destinations; expected at most {LIMIT} of each")
    by_position = [t for t in (scatter.x if scatter.rows is None else None, scatter.rows, scatter.weights) if t is not None]
    groups = _joined(keys.shape, [keys.index.outer, keys.steps, *(t.outer for t in by_position)], merge=merge)
    index = replace(keys.index, outer=_pick(keys.index.outer, groups))
    keys = replace(keys, shape=tuple(n for n, _ in groups), index=index, steps=_pick(keys.steps, groups))
    x = scatter.x if scatter.rows is not None else _outer(scatter.x, groups)
    rows, weights = _outer(scatter.rows, groups), _outer(scatter.weights, groups)

    by_destination = [t for t in (scatter.base, scatter.y) if t is not None]
    groups = _joined(scatter.destinations, [t.outer for t in by_destination], merge=merge)
    destinations = tuple(n for n, _ in groups)
    base, y = _outer(scatter.base, groups), _outer(scatter.y, groups)
    assert y is not None

    along = [t for t in (y, base, x) if t is not None]
    axes = list(range(len(scatter.inner)))
    if merge:
        axes.sort(key=lambda a: tuple(abs(t.inner[a]) for t in along), reverse=True)
    extents = [scatter.inner[a] for a in axes]
    along = [replace(t, inner=tuple(t.inner[a] for a in axes)) for t in along]
    groups = _joined(extents, [t.inner for t in along], merge=merge)
    tensors = iter([_inner(t, groups) for t in along])
    y = next(tensors)
    base = next(tensors) if base is not None else None
    x = next(tensors) if x is not None else None
    assert y is not None
    inner = tuple(n for n, _ in groups)
    return replace(scatter, keys=keys, destinations=destinations, inner=inner, x=x, rows=rows, weights=weights, base=base, y=y)


def unit_inner(scatter: Scatter) -> bool:
    """Whether neighbours along the last inner axis are neighbours in memory, in every tensor."""
    tensors = [t for t in (scatter.x, scatter.base, scatter.y) if t is not None]
    return not scatter.general and scatter.inner[-1] > 1 and all(t.inner[-1] == 1 for t in tensors)


def passes(bits: int, most: int) -> list[tuple[int, int]]:
    """The digits that a radix order takes one after another, as (shift, bits), of about equal size and at most `most` bits."""
    count = -(-bits // most)
    width = -(-bits // count)
    return [(shift, min(width, bits - shift)) for shift in range(0, bits, width)]


@dataclass(frozen=True)
class Arrays:
    """Where the arrays of a program start in its workspace, in bytes.

    `entries` are two arrays of N words of 64 bits, key above position: the sorted one first. `starts` are count + 1 numbers
    of 32 bits, the first place in the sorted entries whose key is d or more. `partials` are the results of the segments of
    runs longer than one segment; `counts` and `totals` are the histograms'.
    """

    entries: tuple[int, int]
    counts: int
    totals: int
    starts: int
    partials: int
    nbytes: int


def arrays(keys: Keys, digits: Sequence[tuple[int, int]], tiles: int, partial_bytes: int) -> Arrays:
    """The workspace of an order by keys of these digits, taken by so many tiles."""
    widest = 1 << max((bits for _, bits in digits), default=0)
    n = keys.positions
    sizes = (8 * n, 8 * n if len(digits) > 1 else 0, 4 * widest * tiles, 4 * widest, 4 * (keys.count + 1), partial_bytes)
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + round_up(size, _ALIGNMENT))
    first, second, counts, totals, runs, partials, nbytes = starts
    return Arrays((first, second), counts, totals, runs, partials, nbytes)


def partial_slots(positions: int) -> int:
    """How many segments of runs longer than a segment there may be room for.

    Segment s of a run of more than SEGMENT elements that starts at entry i has slot i // (SEGMENT / 2) + s. No two runs meet:
    one of n elements has ceil(n / SEGMENT) segments, no more than floor(n / (SEGMENT / 2)).
    """
    return 0 if positions <= SEGMENT else positions // (SEGMENT // 2) + 1
