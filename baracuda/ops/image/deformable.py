"""Deformable attention over several levels (Zhu et al. 2021): weighted bilinear samples of maps that lie one behind the other."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import permuted, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, WholeScalar
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.image.samples import scattered, tap_results
from baracuda.ops.image.taps import F32, F64, S32, Tap, nested, sampling_taps


def _axes(px: Expr, py: Expr, height: Expr, width: Expr, real: ElementKind) -> list[list[Tap]]:
    """The taps of a sample at a place from 0 to 1 in a map."""
    axes = []
    for p, n in ((py, height), (px, width)):
        extent = cast(n, real)
        at = cast(p, real) * extent - 0.5
        axes.append(sampling_taps(at, extent, "bilinear", "zeros", corners=False))
    return axes


def _read(value: Table, width: Expr, start: Expr) -> Any:
    def read(at: Any) -> Expr:
        found = take(value, start + (at[0] * width + at[1]))
        assert isinstance(found, Expr)
        return found

    return read


def _attended(value: Table, px: Own, py: Own, attention: Own, height: Own, width: Own, start: Own) -> Expr:
    h, w, first = (cast(v, S32) for v in (height, width, start))
    sample = nested(_axes(px, py, h, w, value.kind), _read(value, w, first))
    return f.sum_(cast(attention, value.kind) * sample)


def _slopes(dy: Expr, value: Table, px: Own, py: Own, attention: Own, height: Own, width: Own, start: Own) -> dict[str, Stored]:
    """The gradients of the places and the weight of one sample, summed over the channels."""
    real = value.kind
    h, w, first = (cast(v, S32) for v in (height, width, start))
    rows, columns = _axes(px, py, h, w, real)
    read = _read(value, w, first)
    slope = [const(-1.0, real), const(1.0, real)]

    def sloped(taps: list[Tap]) -> list[Tap]:
        return [t._replace(weight=s) for t, s in zip(taps, slope, strict=True)]

    share = cast(dy, real) * cast(attention, real)
    results = {
        "dx": (f.sum_(share * nested([rows, sloped(columns)], read)) * cast(w, real), px),
        "dy_": (f.sum_(share * nested([sloped(rows), columns], read)) * cast(h, real), py),
        "dweight": (f.sum_(cast(dy, real) * nested([rows, columns], read)), attention),
    }
    return {n: Stored(cast(v, like.kind), like.attr[1]) for n, (v, like) in results.items()}


def _tap_numbers(
    px: Own, py: Own, attention: Own, height: Own, width: Own, start: Own, *, precise: bool = False, count: WholeScalar = 1
) -> dict[str, Stored]:
    real = F64 if precise else F32
    h, w, first = (cast(v, S32) for v in (height, width, start))
    found = tap_results(_axes(px, py, h, w, real), [h, w], const(0, S32), coord(-1))
    index, own = found["index"].value, found["weight"].value
    assert isinstance(index, Expr)
    assert isinstance(own, Expr)
    heads = f.extent(2, S32)
    place = (coord(0) * cast(as_expr(count, ElementKind.S64), S32) + first + index) * heads + coord(2)
    return {"index": Stored(select(index < 0, -1, place), S32), "weight": Stored(own * cast(attention, real), real)}


_LEVEL = ("height", "width", "start")


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    places = dict.fromkeys(("px", "py", "attention"), (0, 1, 2, 4, 5))
    return Space({"value": (0, None, 2, 3), **places, **dict.fromkeys(_LEVEL, (4,))})


def _slopes_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    places = dict.fromkeys(("px", "py", "attention"), (0, 1, 2, 3, 4))
    return Space({"dy": (0, 1, 2, 5), "value": (0, None, 2, 5), **places, **dict.fromkeys(_LEVEL, (3,))})


def _taps_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    places = dict.fromkeys(("px", "py", "attention"), (0, 1, 2, 3, 4))
    return Space({**places, **dict.fromkeys(_LEVEL, (3,))}, {5: 4})


_KEYS: dict[str, Any] = {"family": "image", "takes": "float", "differentiable": False}
_attend = Op(
    _attended, Rule.COMMON, name="deformably_attended", space=_space, rows=True, axis=(4, 5), axis_option=False, keepdims=False,
    **_KEYS,
)  # fmt: skip
_attend_slopes = Op(
    _slopes, Rule.COMMON, name="slopes_of_deformable_samples", space=_slopes_space, rows=True, axis=(5,), axis_option=False,
    keepdims=False, results=("dx", "dy_", "dweight"), **_KEYS,
)  # fmt: skip
_taps = Op(_tap_numbers, Rule.EACH, name="deformable_taps", space=_taps_space, results=("index", "weight"), **_KEYS)

_TENSORS: dict[str, Any] = {
    "value": "n places heads channels : float",
    "spatial_shapes": "levels 2 : s32 s64",
    "level_start_index": "levels : s32 s64",
    "sampling_locations": "n queries heads levels points 2 : float",
    "attention_weights": "n queries heads levels points : float",
}


def _parts(shapes: TensorRef, starts: TensorRef, locations: TensorRef, weights: TensorRef) -> dict[str, TensorRef]:
    (levels, _), (down, right) = shapes.shape, shapes.strides
    *extents, _ = locations.shape
    *strides, step = locations.strides
    return {
        "px": view(locations, 0, extents, strides),
        "py": view(locations, step, extents, strides),
        "attention": weights,
        "height": view(shapes, 0, (levels,), (down,)),
        "width": view(shapes, right, (levels,), (down,)),
        "start": starts,
    }


@composed(**_TENSORS, out=True)
def ms_deform_attn(
    do: Steps, value: TensorRef, spatial_shapes: TensorRef, level_start_index: TensorRef, sampling_locations: TensorRef,
    attention_weights: TensorRef,
) -> Any:  # fmt: skip
    """Multi-scale deformable attention: for each query and head the sum over levels and points of a weight times a bilinear
    sample.

    value is (N, S, heads, channels), whose S places are the maps of all levels one behind the other, level l being (H, W) =
    spatial_shapes[l] from place level_start_index[l] on; sampling_locations are (N, queries, heads, levels, points, 2), x
    before y, from 0 to 1 across a map, and attention_weights (N, queries, heads, levels, points). The result is (N, queries,
    heads * channels), of value's element. Outside of a map are zeros. Shapes and starts are read on the device, and are not
    checked; a place beyond value is the nearest one.

    The sum over (level, point), the point fastest, is the canonical one, of a sample the nested sum, rows outside.

    Source: Deformable DETR's MSDeformAttn.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> value = np.arange(4, dtype="f").reshape(1, 4, 1, 1)
    >>> shapes, starts = np.array([[2, 2]]), np.array([0])
    >>> places, weights = np.full((1, 1, 1, 1, 1, 2), 0.5, "f"), np.ones((1, 1, 1, 1, 1), "f")
    >>> baracuda.ms_deform_attn(value, shapes, starts, places, weights).tolist()
    [[[1.5]]]
    """
    n, queries, heads = sampling_locations.shape[:3]
    channels = value.shape[3]
    y = do.result((n, queries, heads * channels), value.kind)
    if not prod(y.shape):
        return y
    parts = _parts(spatial_shapes, level_start_index, sampling_locations, attention_weights)
    _check(value, parts["px"])
    into = view(y, 0, (n, queries, heads, channels), (*y.strides[:2], channels * y.strides[2], y.strides[2]))
    do.run(_attend, {"value": value, **parts}, into)
    return y


def _check(value: TensorRef, places: TensorRef) -> None:
    if 0 in value.shape[1:3] and 0 not in places.shape:
        raise InvalidProblemError(f"value: shape is {value.shape}; expected elements to sample")


@composed(dy="... : float", **_TENSORS)
def ms_deform_attn_backward(
    do: Steps, dy: TensorRef, value: TensorRef, spatial_shapes: TensorRef, level_start_index: TensorRef,
    sampling_locations: TensorRef, attention_weights: TensorRef, *, wrt: Wrt = None,
) -> Any:  # fmt: skip
    """The gradients of `ms_deform_attn`'s value, sampling_locations and attention_weights, those named in `wrt` or all.

    That of value is a sum by destination in the canonical order: samples in the order of sampling_locations, the taps of each,
    the last axis fastest. The others are sums over channels.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> value = np.arange(4, dtype="f").reshape(1, 4, 1, 1)
    >>> shapes, starts = np.array([[2, 2]]), np.array([0])
    >>> places, weights = np.full((1, 1, 1, 1, 1, 2), 0.5, "f"), np.ones((1, 1, 1, 1, 1), "f")
    >>> dvalue, dplaces, dweights = baracuda.ms_deform_attn_backward(
    ...     np.ones((1, 1, 1), "f"), value, shapes, starts, places, weights)
    >>> dvalue.ravel().tolist(), dplaces.ravel().tolist(), float(dweights.sum())
    ([0.25, 0.25, 0.25, 0.25], [2.0, 4.0], 1.5)
    """
    names = chosen(wrt, ("value", "sampling_locations", "attention_weights"))
    n, queries, heads = sampling_locations.shape[:3]
    places, channels = value.shape[1], value.shape[3]
    if dy.shape != (n, queries, heads * channels):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {(n, queries, heads * channels)}")
    parts = _parts(spatial_shapes, level_start_index, sampling_locations, attention_weights)
    results: dict[str, Any] = {}
    whole = {"value": value, "sampling_locations": sampling_locations, "attention_weights": attention_weights}
    if not prod(dy.shape) or not prod(attention_weights.shape):
        for name in names:
            do.zero(made := do.new_like(whole[name]))
            results[name] = made
        return one_or_all([results[name] for name in names])
    _check(value, parts["px"])
    slopes = view(dy, 0, (n, queries, heads, channels), (*dy.strides[:2], channels * dy.strides[2], dy.strides[2]))
    if "value" in names:
        results["value"] = made = do.new_like(value)
        index, weight = do.run(_taps, parts, precise=value.kind is F64, count=places)
        scattered(do, slopes, index, weight, permuted(made, (0, 3, 1, 2)), channels_last=True)
    if "sampling_locations" in names or "attention_weights" in names:
        locations, weights = do.new_like(sampling_locations), do.new_like(attention_weights)
        into = _parts(spatial_shapes, level_start_index, locations, weights)
        do.run(_attend_slopes, {"dy": slopes, "value": value, **parts}, (into["px"], into["py"], into["attention"]))
        results |= {"sampling_locations": locations, "attention_weights": weights}
    return one_or_all([results[name] for name in names])
