"""Samples of a tensor (N, C, spatial axes) at coordinates, and what their gradients are made of.

A sample is a nested sum over taps (`baracuda.ops.image.taps`), the first spatial axis outermost. Its gradient by x is a sum by
destination: positions are numbered by sample, then by tap, the last axis fastest. The gradient by the coordinates is the
formula's derivative, summed over the channels; floor, rounding and what is held at an edge have the slope 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, reshaped, view
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, WholeScalar
from baracuda.ops.image.taps import F32, F64, S32, Tap, nested, numbered, reader, sampling_taps
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan

Mode = Literal["bilinear", "nearest", "bicubic"]
Padding = Literal["zeros", "border", "reflection"]
_S64 = ElementKind.S64
#: Destinations of a scatter are numbered in 32 bits.
_LIMIT = (1 << 31) - 1
TAPS = {"bilinear": 2, "nearest": 1, "bicubic": 4}


def in_elements(p: Expr, extent: Expr, *, normalized: bool, corners: bool) -> Expr:
    """A coordinate in elements: one from -1 to 1 spans the first and the last element (`corners`), or their outer edges."""
    if not normalized:
        return p
    return (p + 1.0) * 0.5 * (extent - 1.0) if corners else ((p + 1.0) * extent - 1.0) * 0.5


def taps_of(
    coordinates: Sequence[Expr], extents: Sequence[Expr], mode: str, padding: str, *, normalized: bool, corners: bool
) -> list[list[Tap]]:
    """The taps along each axis, the first axis first; coordinates, in the kind of the weights, come last axis first."""
    axes = []
    for p, n in zip(reversed(coordinates), extents, strict=True):
        at = in_elements(p, n, normalized=normalized, corners=corners)
        axes.append(sampling_taps(at, n, mode, padding, corners=corners, a=const(-0.75, p.kind)))
    return axes


def _sampled(
    x: Table, p0: Own, p1: Own | None = None, p2: Own | None = None, *, mode: Mode = "bilinear", padding: Padding = "zeros",
    normalized: bool = True, corners: bool = False,
) -> Expr:  # fmt: skip
    places = [cast(p, x.kind) for p in (p0, p1, p2) if p is not None]
    extents = [table_extent(x, k, x.kind) for k in range(len(places))]
    return nested(taps_of(places, extents, mode, padding, normalized=normalized, corners=corners), reader(x, x.kind))


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    places = {n: (0, *range(2, len(s) + 1)) for n, s in shapes.items() if n != "x"}
    return Space({"x": (0, 1, *(None for _ in shapes["x"][2:])), **places})


sampled = Op(_sampled, Rule.COMMON, name="sampled", family="image", takes="float", space=_space)


def _tap_numbers(
    p0: Own, p1: Own | None = None, p2: Own | None = None, *, mode: Mode = "bilinear", padding: Padding = "zeros",
    normalized: bool = True, corners: bool = False, precise: bool = False, n0: WholeScalar = 1, n1: WholeScalar = 1,
    n2: WholeScalar = 1,
) -> dict[str, Stored]:  # fmt: skip
    """For each sample and tap the number of the element in (N, spatial axes), -1 for none, and its weight."""
    real = F64 if precise else F32
    places = [cast(p, real) for p in (p0, p1, p2) if p is not None]
    wholes = [as_expr(n, _S64) for n in (n0, n1, n2)][: len(places)]
    axes = taps_of(places, [cast(n, real) for n in wholes], mode, padding, normalized=normalized, corners=corners)
    return tap_results(axes, [cast(n, S32) for n in wholes], coord(0), coord(-1))


def tap_results(axes: Sequence[Sequence[Tap]], extents: Sequence[Expr], image: Expr, number: Expr) -> dict[str, Stored]:
    """The element's number and the weight of the tap of a number, the last axis fastest."""
    index, weight, counts = image, None, None
    chosen_: list[Tap] = []
    for taps in reversed(axes):
        if len(taps) == 1:
            chosen_.insert(0, taps[0])
            continue
        bits = len(taps) // 2
        chosen_.insert(0, numbered(taps, number & (len(taps) - 1)))
        number = number >> bits
    for t, n in zip(chosen_, extents, strict=True):
        index = index * n + t.place
        if t.weight is not None:
            weight = t.weight if weight is None else weight * t.weight
        if t.counts is not None:
            counts = t.counts if counts is None else counts & t.counts
    if counts is not None:
        index = select(counts, index, -1)
    found = {"index": Stored(index, S32)}
    return found if weight is None else {**found, "weight": Stored(weight, weight.kind)}


def _taps_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    rank = len(shapes["p0"])
    return Space({n: tuple(range(rank)) for n in shapes}, {rank: TAPS[options["mode"]] ** len(shapes)})


_KEYS: dict[str, Any] = {"family": "image", "takes": "float", "differentiable": False, "space": _taps_space}
_tap_numbers_weighted = Op(_tap_numbers, Rule.EACH, name="sampled_taps", results=("index", "weight"), **_KEYS)
_tap_numbers_alone = Op(_tap_numbers, Rule.EACH, name="sampled_elements", results=("index",), **_KEYS)


# --- steps ------------------------------------------------------------------------------------------------------------


def coordinates_of(grid: TensorRef) -> dict[str, Any]:
    """The coordinates along the last axis of a grid, each as a tensor: p0 is that of the last spatial axis."""
    *shape, count = grid.shape
    *strides, step = grid.strides
    return {f"p{k}": view(grid, k * step, shape, strides) for k in range(count)}


def scattered(
    do: Steps, dy: TensorRef, index: TensorRef, weight: TensorRef | None, into: TensorMut, *, channels_last: bool = False
) -> None:
    """Write to `into` (N, C, spatial axes) the sums of dy times weight by destination.

    dy is (N, C, samples), or with channels_last (N, samples, C); index and weight are (N, samples, taps).
    """
    rank = len(into.shape)
    order = (0, *range(2, rank), 1)
    channels, count = into.shape[1], prod(into.shape) // max(into.shape[1], 1)
    if not prod(into.shape):
        return
    if 0 in index.shape:
        do.zero(into)
        return
    if max(count, prod(index.shape)) > _LIMIT:
        raise UnsupportedError(f"{count} elements and {prod(index.shape)} taps of samples; expected at most {_LIMIT} of each")
    last = dy if channels_last else permuted(dy, (0, *range(2, len(dy.shape)), 1))
    if channels > 1 and last.strides[-1] != 1:
        made = do.rows(last.shape, dy.kind)
        do.copy(last, made)
        last = made
    lead = len(last.shape) - 1
    more = len(index.shape) - lead
    source = view(
        last, 0, (*last.shape[:-1], *index.shape[lead:], channels), (*last.strides[:-1], *(0,) * more, last.strides[-1])
    )
    seen = permuted(into, order)
    flat = reshaped(seen, (count, channels))
    target = do.rows((count, channels), into.kind) if flat is None else flat
    descriptor = ScatterDescriptor(
        ScatterKind.SUM, (count, channels), 0, index.shape, into.kind, S32, has_weights=weight is not None, skip=-1
    )
    do.plan(ScatterPlan, descriptor, {"index": index, "x": source, "weights": weight}, into=target)
    if flat is None:
        do.copy(view(target, 0, seen.shape, contiguous_strides(seen.shape)), seen)


def sampled_gradients(
    do: Steps, dy: TensorRef, x: TensorRef, places: Mapping[str, TensorRef], wrt: Sequence[str], into: TensorMut | None,
    *, mode: str, **options: Any,
) -> dict[str, TensorRef]:  # fmt: skip
    """The gradients of x, written to `into`, and of the coordinates whose names are in `wrt`."""
    found: dict[str, TensorRef] = {}
    if into is not None:
        spatial = x.shape[2:]
        precise = x.kind is F64
        op = _tap_numbers_alone if mode == "nearest" else _tap_numbers_weighted
        numbers: dict[str, Any] = {f"n{k}": n for k, n in enumerate(spatial)}
        if 0 not in (*x.shape, *dy.shape):
            if prod(x.shape) // x.shape[1] > _LIMIT:
                raise UnsupportedError(f"x: shape is {x.shape}; expected at most {_LIMIT} elements of a channel")
            results = do.run(op, places, mode=mode, precise=precise, **numbers, **options)
            index, weight = (results, None) if mode == "nearest" else results
            scattered(do, dy, index, weight, into)
        else:
            do.zero(into)
        found["x"] = into
    names = [n for n in wrt if n != "x"]
    if names and 0 not in (*x.shape, *dy.shape):
        found |= do.gradients(sampled, {"x": x, **places}, dy, names, mode=mode, **options)
    for n in names:
        if n not in found:
            do.zero(zero := do.new(places[n].shape, places[n].kind))
            found[n] = zero
    return found


def check_samples(x: TensorRef, grid: TensorRef) -> None:
    """Raise unless x is (N, C, 1 to 3 axes) with elements, and grid has a coordinate for each of these axes."""
    count = len(x.shape) - 2
    if not 1 <= count <= 3:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected (N, C) and one to three axes")
    if len(grid.shape) < 2 or grid.shape[-1] != count or grid.shape[0] != x.shape[0]:
        raise InvalidProblemError(f"grid: shape is {grid.shape}; expected ({x.shape[0]}, ..., {count}) for x of shape {x.shape}")
    if 0 in x.shape[2:] and 0 not in grid.shape:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected elements to sample")
