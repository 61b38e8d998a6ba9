"""Multiresolution hash grids (Müller et al. 2022): features of a place, interpolated in grids of rising resolution, whose corners
share one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import ceil, prod
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, coord, lookup
from baracuda.formula.gathers import Table, take
from baracuda.formula.integer_functions import fmod
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored
from baracuda.ops.declaration.words import PositiveFloat, Wrt
from baracuda.ops.image.samples import scattered
from baracuda.ops.image.taps import F32, S32, Tap, nested, numbered

_U32 = ElementKind.U32
_PRIMES = (1, 2654435761, 805459861, 3674653429)
Interpolation = Literal["linear", "smoothstep"]
Levels = Annotated[int, AtLeast(1), AtMost(64)]


class Level(NamedTuple):
    """A grid: its scale, its points along an axis, where its entries begin in the table, and how many they are."""

    scale: float
    resolution: int
    start: int
    entries: int


@lru_cache(maxsize=256)
def grids(axes: int, levels: int, base: int, growth: float, log2_entries: int) -> tuple[tuple[Level, bool], ...]:
    """The levels, and whether each one's corners are hashed."""
    found: list[tuple[Level, bool]] = []
    start, most = 0, 1 << log2_entries
    for k in range(levels):
        scale = float(np.float32(base * growth**k - 1.0))
        resolution = ceil(scale) + 1
        whole = resolution**axes
        entries = min(-(-whole // 8) * 8, most)
        found.append((Level(scale, resolution, start, entries), whole > entries))
        start += entries
    return tuple(found)


def _levels(axes: int, shape: Sequence[float]) -> tuple[tuple[Level, bool], ...]:
    """The levels of numbers as options have them."""
    levels, base, growth, log2_entries = shape
    return grids(axes, int(levels), int(base), float(growth), int(log2_entries))


def _number(values: Sequence[int], kind: ElementKind) -> Expr:
    return lookup(coord(1), [int(v) & 0xFFFFFFFF for v in values], kind)


class _Grid:
    """The grid of the present level, as a formula sees it."""

    def __init__(self, axes: int, shape: tuple[float, ...], interpolation: str) -> None:
        levels = _levels(axes, shape)
        scales = np.array([g.scale for g, _ in levels], np.float32).view(np.uint32)
        self.scale = lookup(coord(1), [int(s) for s in scales], F32)
        self.resolution = _number([g.resolution for g, _ in levels], _U32)
        self.start = _number([g.start for g, _ in levels], S32)
        self.entries = _number([g.entries for g, _ in levels], _U32)
        self.is_hashed = f.equal(_number([h for _, h in levels], _U32), 1)
        self.some = any(h for _, h in levels), not all(h for _, h in levels)
        self.interpolation = interpolation

    def taps(self, p: Expr) -> tuple[list[Tap], list[Tap]]:
        """The taps along an axis, and the same with the slopes of their weights."""
        at = cast(p, F32) * self.scale + 0.5
        low = f.detach(f.floor(at))
        t = at - low
        slope = const(1.0, F32)
        if self.interpolation == "smoothstep":
            slope = 6.0 * t * (1.0 - t)
            t = t * t * (3.0 - 2.0 * t)
        first = cast(cast(low, S32), _U32)
        second = first + 1
        slope = slope * self.scale
        return [Tap(first, 1.0 - t), Tap(second, t)], [Tap(first, -slope), Tap(second, slope)]

    def entry(self, at: Sequence[Expr]) -> Expr:
        """The number in the table of a corner."""
        hashed, dense = at[0], at[0]
        step = self.resolution
        for p, prime in zip(at[1:], _PRIMES[1:], strict=False):
            hashed = hashed ^ (p * prime)
            dense = dense + p * step
            step = step * self.resolution
        some_hashed, some_dense = self.some
        place = hashed & (self.entries - 1)
        if some_dense:
            dense = fmod(dense, self.entries)
            place = f.where(self.is_hashed, place, dense) if some_hashed else dense
        return self.start + cast(place, S32)


def _encoded(
    table: Table, x0: Own, x1: Own | None = None, x2: Own | None = None, x3: Own | None = None, *,
    shape: tuple[float, ...] = (), interpolation: Interpolation = "linear",
) -> Expr:  # fmt: skip
    places = [p for p in (x0, x1, x2, x3) if p is not None]
    grid = _Grid(len(places), shape, interpolation)
    return nested([grid.taps(p)[0] for p in places], _reader(table, grid))


def _reader(table: Table, grid: _Grid) -> Any:
    def read(at: Sequence[Expr]) -> Expr:
        value = take(table, grid.entry(at))
        assert isinstance(value, Expr)
        return cast(value, F32)

    return read


def _slopes(
    dy: Own, table: Table, x0: Own, x1: Own | None = None, x2: Own | None = None, x3: Own | None = None, *,
    shape: tuple[float, ...] = (), interpolation: Interpolation = "linear",
) -> dict[str, Stored]:  # fmt: skip
    places = [p for p in (x0, x1, x2, x3) if p is not None]
    grid = _Grid(len(places), shape, interpolation)
    axes = [grid.taps(p) for p in places]
    found = {}
    for k, p in enumerate(places):
        taps = [sloped if a == k else plain for a, (plain, sloped) in enumerate(axes)]
        total = f.sum_(cast(dy, F32) * nested(taps, _reader(table, grid)))
        found[f"d{k}"] = Stored(cast(total, p.kind), p.attr[1])
    return found


def _tap_numbers(
    x0: Own, x1: Own | None = None, x2: Own | None = None, x3: Own | None = None, *, shape: tuple[float, ...] = (),
    interpolation: Interpolation = "linear",
) -> dict[str, Stored]:  # fmt: skip
    places = [p for p in (x0, x1, x2, x3) if p is not None]
    grid = _Grid(len(places), shape, interpolation)
    number, chosen_ = coord(2), list[Tap]()
    for p in reversed(places):
        chosen_.insert(0, numbered(grid.taps(p)[0], number & 1))
        number = number >> 1
    weight = chosen_[0].weight
    assert weight is not None
    for t in chosen_[1:]:
        assert t.weight is not None
        weight = weight * t.weight
    return {"index": Stored(grid.entry([t.place for t in chosen_]), S32), "weight": Stored(weight, F32)}


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    places = {n: (0,) for n in shapes if n[0] == "x"}
    more = {"dy": (0, 1, 2)} if "dy" in shapes else {}
    return Space({"table": (None, 2), **places, **more}, {1: int(options["shape"][0])})


def _taps_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space(dict.fromkeys(shapes, (0,)), {1: int(options["shape"][0]), 2: 1 << len(shapes)})


_KEYS: dict[str, Any] = {"family": "image", "takes": "float", "differentiable": False}
_encode = Op(_encoded, Rule.COMMON, name="encoded_in_grids", space=_space, **_KEYS)
_encode_slopes = [
    Op(
        _slopes, Rule.EACH, name=f"slopes_in_grids_{n}", space=_space, rows=True, axis=(1, 2), axis_option=False, keepdims=False,
        results=tuple(f"d{k}" for k in range(n)), **_KEYS,
    )
    for n in (1, 2, 3, 4)
]  # fmt: skip
_taps = Op(_tap_numbers, Rule.EACH, name="taps_in_grids", space=_taps_space, results=("index", "weight"), **_KEYS)


def _shape(x: TensorRef, table: TensorRef, levels: int, base: int, growth: float, log2_entries: int) -> tuple[float, ...]:
    shape = (levels, base, growth, log2_entries)
    axes = x.shape[1]
    if not 1 <= axes <= 4:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected places of 1 to 4 axes")
    if base * growth ** (levels - 1) >= 2**20:
        raise InvalidProblemError(f"growth: {growth} over {levels} levels from {base}; expected a resolution below 2**20")
    last, _ = _levels(axes, shape)[-1]
    if table.shape[0] != last.start + last.entries:
        raise InvalidProblemError(f"table: shape is {table.shape}; expected {last.start + last.entries} entries for these levels")
    return shape


def _places(x: TensorRef) -> dict[str, TensorRef]:
    return {f"x{k}": view(x, k * x.strides[1], x.shape[:1], x.strides[:1]) for k in range(x.shape[1])}


Base = Annotated[int, AtLeast(1)]
Log2 = Annotated[int, AtLeast(3), AtMost(30)]
_TENSORS: dict[str, Any] = {"x": "n axes : float", "table": "entries features : f16 bf16 f32"}


@composed(**_TENSORS, out=True)
def grid_encode(
    do: Steps, x: TensorRef, table: TensorRef, *, levels: Levels = 16, base_resolution: Base = 16, growth: PositiveFloat = 2.0,
    log2_entries: Log2 = 19, interpolation: Interpolation = "linear",
) -> Any:  # fmt: skip
    """The features of places x (n, axes), from 0 to 1, in grids of `levels` resolutions: (n, levels * features), of table's
    element.

    Level l has the scale s = base_resolution * growth**l - 1 and r = ceil(s) + 1 points along an axis; a place lies at x * s +
    0.5 and its value is that of the corners around it, interpolated linearly, or by t * t * (3 - 2 t). A level has min(r**axes,
    rounded up to a multiple of 8, 2**log2_entries) entries of the table (entries, features), one level after another; the
    corner p is entry sum p_i r**i, where there is one for each, else the exclusive or of p_i * prime_i, modulo the entries. The
    error for a table of another size says what it must be. All is computed in f32, corners in nested sums, the first axis
    outermost.

    Source: instant-NGP's HashGrid encoding (tiny-cuda-nn).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> table = np.arange(8, dtype="f").reshape(8, 1)
    >>> baracuda.grid_encode(np.float32([[0.5, 0.5]]), table, levels=1, base_resolution=2, log2_entries=4).tolist()
    [[3.0]]
    """
    shape = _shape(x, table, levels, base_resolution, growth, log2_entries)
    n, features = x.shape[0], table.shape[1]
    y = do.result((n, levels * features), table.kind)
    if prod(y.shape):
        into = view(y, 0, (n, levels, features), (y.strides[0], features * y.strides[1], y.strides[1]))
        do.run(_encode, {"table": table, **_places(x)}, into, shape=shape, interpolation=interpolation)
    return y


@composed(dy="... : float", **_TENSORS)
def grid_encode_backward(
    do: Steps, dy: TensorRef, x: TensorRef, table: TensorRef, *, levels: Levels = 16, base_resolution: Base = 16,
    growth: PositiveFloat = 2.0, log2_entries: Log2 = 19, interpolation: Interpolation = "linear", wrt: Wrt = None,
) -> Any:  # fmt: skip
    """The gradients of `grid_encode`'s x and table, those named in `wrt` or both: of the table a sum by destination in the
    canonical
    order, places before levels before corners; of x a sum over levels and features.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, table = np.float32([[0.5, 0.5]]), np.zeros((8, 1), "f")
    >>> dx, dtable = baracuda.grid_encode_backward(np.ones((1, 1), "f"), x, table, levels=1, base_resolution=2, log2_entries=4)
    >>> float(dtable.sum())
    1.0
    """
    shape = _shape(x, table, levels, base_resolution, growth, log2_entries)
    names = chosen(wrt, ("x", "table"))
    n, features = x.shape[0], table.shape[1]
    if dy.shape != (n, levels * features):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {(n, levels * features)}")
    slopes = view(dy, 0, (n, levels, features), (dy.strides[0], features * dy.strides[1], dy.strides[1]))
    places = _places(x)
    words: dict[str, Any] = {"shape": shape, "interpolation": interpolation}
    results: dict[str, Any] = {name: do.new_like(x if name == "x" else table) for name in names}
    if not prod(dy.shape):
        for made in results.values():
            do.zero(made)
        return one_or_all([results[name] for name in names])
    if "x" in names:
        into = tuple(_places(results["x"]).values())
        do.run(_encode_slopes[len(places) - 1], {"dy": slopes, "table": table, **places}, into, **words)
    if "table" in names:
        made = results["table"]
        index, weight = do.run(_taps, places, **words)
        taps = index.shape[2]
        one = [view(t, 0, (1, n, levels, taps), (0, *t.strides)) for t in (index, weight)]
        whole = view(made, 0, (1, features, made.shape[0]), (0, made.strides[1], made.strides[0]))
        scattered(do, view(slopes, 0, (1, *slopes.shape), (0, *slopes.strides)), one[0], one[1], whole, channels_last=True)
    return one_or_all([results[name] for name in names])
