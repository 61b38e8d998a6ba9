"""Correlation of two images: dot products of each pixel with those around a place of the other one (FlowNet, RAFT)."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord
from baracuda.formula.gathers import Table, table_extent
from baracuda.formula.integer_functions import fmod, truncate_divide
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Shape, Space, Stored, WholeScalar
from baracuda.ops.declaration.words import FiniteFloat, Wrt
from baracuda.ops.image.samples import scattered, tap_results
from baracuda.ops.image.taps import F32, F64, S32, Tap, nested, reader, sampling_taps

Radius = Annotated[int, AtLeast(0), AtMost(128)]


def _taps(
    px: Expr | None, py: Expr | None, number: Expr, row: Expr, column: Expr, extents: tuple[Expr, Expr], radius: int,
    real: ElementKind,
) -> list[list[Tap]]:  # fmt: skip
    """The taps of the sample at a displacement of a number from a place, without one from the pixel's own."""
    width = 2 * radius + 1
    away = truncate_divide(number, const(width, S32)) - radius, fmod(number, const(width, S32)) - radius
    axes = []
    for p, own, d, n in ((py, row, away[0], extents[0]), (px, column, away[1], extents[1])):
        if p is None:
            at = own + d
            axes.append([Tap(f.minimum(f.maximum(at, 0), n - 1), None, (at >= 0) & (at < n))])
        else:
            axes.append(sampling_taps(cast(p, real) + cast(d, real), cast(n, real), "bilinear", "zeros", corners=True))
    return axes


def _extents(table: Table) -> tuple[Expr, Expr]:
    return table_extent(table, 0, S32), table_extent(table, 1, S32)


def _by(scale: Any, kind: ElementKind) -> Expr:
    return cast(as_expr(scale, kind), kind)


def _correlated(a: Expr, b: Table, px: Own | None = None, py: Own | None = None, *, radius: int = 4, scale: Scalar = 1.0) -> Expr:
    """Over (n, displacement, row, column), and channels along the rows."""
    axes = _taps(px, py, coord(1), coord(2), coord(3), _extents(b), radius, b.kind)
    return f.sum_(a * nested(axes, reader(b, b.kind))) * _by(scale, b.kind)


def _of_a(dy: Expr, b: Table, px: Own | None = None, py: Own | None = None, *, radius: int = 4, scale: Scalar = 1.0) -> Expr:
    """Over (n, channel, row, column), and displacements along the rows."""
    axes = _taps(px, py, coord(4), coord(2), coord(3), _extents(b), radius, b.kind)
    return f.sum_(dy * nested(axes, reader(b, b.kind))) * _by(scale, b.kind)


def _of_places(dy: Expr, a: Expr, b: Table, px: Own, py: Own, *, radius: int = 4, scale: Scalar = 1.0) -> dict[str, Stored]:
    """Over (n, row, column), and displacements and channels along the rows."""
    rows, columns = _taps(px, py, coord(3), coord(1), coord(2), _extents(b), radius, b.kind)
    slope = [const(-1.0, b.kind), const(1.0, b.kind)]
    read, share = reader(b, b.kind), dy * a

    def sloped(taps: list[Tap]) -> list[Tap]:
        return [t._replace(weight=s) for t, s in zip(taps, slope, strict=True)]

    found = {
        "d0": (f.sum_(share * nested([rows, sloped(columns)], read)), px),
        "d1": (f.sum_(share * nested([sloped(rows), columns], read)), py),
    }
    return {n: Stored(cast(v * _by(scale, b.kind), p.kind), p.attr[1]) for n, (v, p) in found.items()}


def _tap_numbers(
    dy: Own, px: Own | None = None, py: Own | None = None, *, radius: int = 4, precise: bool = False, height: WholeScalar = 1,
    width: WholeScalar = 1, scale: Scalar = 1.0,
) -> dict[str, Stored]:  # fmt: skip
    """Over (n, row, column, displacement, tap)."""
    real = F64 if precise else F32
    extents = (cast(as_expr(height, ElementKind.S64), S32), cast(as_expr(width, ElementKind.S64), S32))
    axes = _taps(px, py, coord(3), coord(1), coord(2), extents, radius, real)
    found = tap_results(axes, extents, coord(0), coord(4))
    weight = cast(dy, real) * _by(scale, real)
    if "weight" in found:
        assert isinstance(found["weight"].value, Expr)
        weight = found["weight"].value * weight
    return {"index": found["index"], "weight": Stored(weight, real)}


def _spaces(dy: Any, a: Any, b: Any, place: Any, displacement: int | None) -> Any:
    def space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
        known = {"dy": dy, "a": a, "b": b, "px": place, "py": place}
        extents = {} if displacement is None else {displacement: (2 * options["radius"] + 1) ** 2}
        return Space({n: known[n] for n in shapes}, extents)

    return space


def _taps_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    places = {n: (0, 1, 2) for n in shapes if n != "dy"}
    return Space({"dy": (0, 3, 1, 2), **places}, {4: 4 if places else 1})


_KEYS: dict[str, Any] = {"family": "image", "takes": "float", "differentiable": False}
_ROWS: dict[str, Any] = {"rows": True, "axis_option": False, "keepdims": False, **_KEYS}
_correlate = Op(
    _correlated, Rule.COMMON, name="correlated", axis=(4,),
    space=_spaces(None, (0, 4, 2, 3), (0, 4, None, None), (0, 2, 3), 1), **_ROWS,
)  # fmt: skip
_slopes_of_a = Op(
    _of_a, Rule.COMMON, name="correlation_slopes", axis=(4,),
    space=_spaces((0, 4, 2, 3), None, (0, 1, None, None), (0, 2, 3), None), **_ROWS,
)  # fmt: skip
_slopes_of_places = Op(
    _of_places, Rule.COMMON, name="correlation_slopes_of_places", axis=(3, 4), results=("d0", "d1"),
    space=_spaces((0, 3, 1, 2), (0, 4, 1, 2), (0, 4, None, None), (0, 1, 2), None), **_ROWS,
)  # fmt: skip
_taps_op = Op(_tap_numbers, Rule.EACH, name="correlation_taps", results=("index", "weight"), space=_taps_space, **_KEYS)

_TENSORS: dict[str, Any] = {"a": "n c h w : float", "b": "n c rows columns : float", "coords": "n 2 h w : float"}


def _places(coords: TensorRef | None) -> dict[str, TensorRef]:
    if coords is None:
        return {}
    shape, strides = (coords.shape[0], *coords.shape[2:]), (coords.strides[0], *coords.strides[2:])
    return {n: view(coords, k * coords.strides[1], shape, strides) for k, n in enumerate(("px", "py"))}


@composed(**_TENSORS, out=True)
def correlation_volume(
    do: Steps, a: TensorRef, b: TensorRef, coords: Given = None, *, radius: Radius = 4, scale: FiniteFloat | None = None
) -> Any:
    """For each pixel of a (N, C, H, W) its dot products with b (N, C, rows, columns) at the places within `radius` of its own,
    or of
    where coords (N, 2, H, W) says, x before y, in elements: (N, (2 radius + 1)**2, H, W).

    Displacement (i, j), from -radius, is number i * (2 radius + 1) + j: j along the columns. Between elements b is interpolated
    linearly, outside of it are zeros. The sum over channels is the canonical one, then times scale, by default C**-0.5. The
    volume of all pairs is never made.

    Source: RAFT's correlation lookup and FlowNet's correlation layer (there scale is 1 / C).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.float32([[[[1, 2, 3]]]])
    >>> baracuda.correlation_volume(x, x, radius=1)[0, 3:6, 0].tolist()
    [[0.0, 2.0, 6.0], [1.0, 4.0, 9.0], [2.0, 6.0, 0.0]]
    """
    n, c, h, w = a.shape
    y = do.result((n, (2 * radius + 1) ** 2, h, w), a.kind)
    if not prod(y.shape):
        return y
    if 0 in b.shape:
        do.zero(y)
        return y
    by = (c**-0.5 if c else 1.0) if scale is None else scale
    do.run(_correlate, {"a": a, "b": b, **_places(coords)}, y, radius=radius, scale=by)
    return y


@composed(dy="... : float", **_TENSORS)
def correlation_volume_backward(
    do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, coords: Given = None, *, radius: Radius = 4,
    scale: FiniteFloat | None = None, wrt: Wrt = None,
) -> Any:  # fmt: skip
    """The gradients of `correlation_volume`'s a, b and coords, those named in `wrt` or of all that are given.

    That of b is a sum by destination in the canonical order: pixels, then displacements, then taps; the others are sums over
    displacements, and for coords over channels.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.float32([[[[1, 2, 3]]]])
    >>> da, db = baracuda.correlation_volume_backward(np.ones((1, 1, 1, 3), "f"), x, x, radius=0)
    >>> da.ravel().tolist(), db.ravel().tolist()
    ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    """
    n, c, h, w = a.shape
    tensors = {"a": a, "b": b, **({} if coords is None else {"coords": coords})}
    names = chosen(wrt, tuple(tensors))
    expected = (n, (2 * radius + 1) ** 2, h, w)
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    results: dict[str, Any] = {name: do.new_like(tensors[name]) for name in names}
    if not prod(dy.shape) or 0 in b.shape or not c:
        for made in results.values():
            do.zero(made)
        return one_or_all([results[name] for name in names])
    by = c**-0.5 if scale is None else scale
    places = _places(coords)
    words: dict[str, Any] = {"radius": radius, "scale": by}
    if "a" in names:
        do.run(_slopes_of_a, {"dy": dy, "b": b, **places}, results["a"], **words)
    if "b" in names:
        index, weight = do.run(
            _taps_op, {"dy": dy, **places}, precise=b.kind is F64, height=b.shape[2], width=b.shape[3], **words
        )
        scattered(do, a, index, weight, results["b"])
    if "coords" in names:
        into = tuple(_places(results["coords"]).values())
        do.run(_slopes_of_places, {"dy": dy, "a": a, "b": b, **places}, into, **words)
    return one_or_all([results[name] for name in names])
