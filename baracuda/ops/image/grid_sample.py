"""Samples where a grid says, and the grids of affine maps."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.image.samples import (
    Mode,
    Padding,
    check_samples,
    coordinates_of,
    sampled,
    sampled_gradients,
    taps_of,
)
from baracuda.ops.image.taps import S32, nested, reader

AnyMode = Literal["bilinear", "nearest", "bicubic", "linear", "cubic"]
_WORDS = {"linear": "bilinear", "cubic": "bicubic"}


@composed(x="... : float", grid="... : float", out=True)
def grid_sample(
    do: Steps, x: TensorRef, grid: TensorRef, mode: AnyMode = "bilinear", padding_mode: Padding = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    """x at the places that a grid says, each sample for all channels.

    x is (N, C, H, W), (N, C, D, H, W) or (N, C, W); grid is (N, ..., k), its last axis one coordinate for each of the k axes of
    x, that of the last axis (W) first. They run from -1 to 1: with align_corners from the centre of the first element to that
    of the last one, without from edge to edge. The result is (N, C, ...), of x's element.

    mode "bilinear" (of three axes trilinear) weighs the 2 elements beside a place along each axis, "nearest" takes the one at
    the place rounded to nearest even, "bicubic" weighs 4 by the kernel with a = -0.75. Outside of x are zeros, or
    (`padding_mode`) the nearest element at the border, or x reflected. NaN coordinates give NaN, but with "nearest" the first
    element.

    Coordinates and weights are computed in the kind that x computes in; sums are nested, the last axis innermost.

    Source: torch.nn.functional.grid_sample, ONNX GridSample.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, grid = np.float32([[[[1, 2], [3, 4]]]]), np.float32([[[[0, 0], [1, 1]]]])
    >>> baracuda.grid_sample(x, grid, align_corners=True).tolist()
    [[[[2.5, 4.0]]]]
    """
    check_samples(x, grid)
    y = do.result((*x.shape[:2], *grid.shape[1:-1]), x.kind)
    if prod(y.shape):
        do.run(
            sampled, {"x": x, **coordinates_of(grid)}, y, mode=_WORDS.get(mode, mode), padding=padding_mode,
            corners=bool(align_corners),
        )  # fmt: skip
    return y


@composed(dy="... : float", x="... : float", grid="... : float")
def grid_sample_backward(
    do: Steps, dy: TensorRef, x: TensorRef, grid: TensorRef, mode: AnyMode = "bilinear", padding_mode: Padding = "zeros",
    align_corners: bool | None = None, *, wrt: Wrt = None,
) -> Any:  # fmt: skip
    """The gradients of `grid_sample`'s x and grid, those named in `wrt` or both.

    That of x is a sum by destination in the canonical order, samples in logical order and the taps of each, the last axis
    fastest; that of the grid a sum over channels. A coordinate that is held at a border, and one of mode "nearest", has the
    gradient 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, grid = np.float32([[[[1, 2], [3, 4]]]]), np.float32([[[[0, 0]]]])
    >>> dx, dgrid = baracuda.grid_sample_backward(np.ones((1, 1, 1, 1), "f"), x, grid, align_corners=True)
    >>> dx.tolist(), dgrid.tolist()
    ([[[[0.25, 0.25], [0.25, 0.25]]]], [[[[0.5, 1.0]]]])
    """
    check_samples(x, grid)
    names = chosen(wrt, ("x", "grid"))
    expected = (*x.shape[:2], *grid.shape[1:-1])
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    places = coordinates_of(grid)
    into = do.new_like(x) if "x" in names else None
    slopes = [n for n in places if "grid" in names]
    found = sampled_gradients(
        do, dy, x, places, slopes, into, mode=_WORDS.get(mode, mode), padding=padding_mode, corners=bool(align_corners)
    )
    results: dict[str, Any] = {"x": into}
    if slopes:
        results["grid"] = whole = do.new_like(grid)
        do.move([(found[n], coordinate) for n, coordinate in coordinates_of(whole).items()])
    return one_or_all([results[n] for n in names])


# --- affine grids -----------------------------------------------------------------------------------------------------


def _base(axis: int, kind: Any, corners: bool) -> Expr:
    """The coordinate, from -1 to 1, of an element along an axis of the iteration space."""
    n, i = f.extent(axis, kind), cast(coord(axis), kind)
    if corners:
        return select(n <= 1.0, const(0.0, kind), i * (2.0 / f.maximum(n - 1.0, 1.0)) - 1.0)
    return (2.0 * i + 1.0) / n - 1.0


def _affine(theta: Table, *, sizes: tuple[int, ...] = (), corners: bool = False) -> Expr:
    count = len(sizes)

    def entry(k: int) -> Expr:
        value = take(theta, const(k, S32))
        assert isinstance(value, Expr)
        return value

    total = entry(count)
    for k in reversed(range(count)):
        total = total + entry(k) * _base(count - k, theta.kind, corners)
    return total


def _affine_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    count = len(options["sizes"])
    return Space({"theta": (0, count + 1, None)}, {k + 1: n for k, n in enumerate(options["sizes"])})


def _affine_slopes(dy: Expr, *, corners: bool = False, count: int = 2) -> Expr:
    """dy of (n, row, column, spatial axes) times what the column is multiplied by."""
    column, by = coord(2), const(1.0, dy.kind)
    for k in range(count):
        by = select(f.equal(column, k), _base(2 + count - k, dy.kind, corners), by)
    return f.sum_(dy * by)


def _slopes_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    count = options["count"]
    return Space({"dy": (0, *range(3, 3 + count), 1)}, {2: count + 1})


_AFFINE: dict[str, Any] = {"family": "image", "takes": "float", "differentiable": False}
_affine_grid = Op(_affine, Rule.COMMON, name="affine_grid_of", space=_affine_space, **_AFFINE)
_affine_grid_slopes = [
    Op(
        _affine_slopes, Rule.COMMON, name=f"affine_grid_slopes_{n}", space=_slopes_space, rows=True,
        axis=tuple(range(3, 3 + n)), axis_option=False, keepdims=False, **_AFFINE,
    )
    for n in (1, 2, 3)
]  # fmt: skip


def _spatial(theta: TensorRef, size: tuple[int, ...]) -> tuple[int, ...]:
    n, rows, columns = theta.shape
    if rows not in (1, 2, 3) or columns != rows + 1:
        raise InvalidProblemError(f"theta: shape is {theta.shape}; expected (N, 2, 3), (N, 3, 4) or (N, 1, 2)")
    if len(size) not in (rows, rows + 2) or (len(size) == rows + 2 and size[0] != n) or min(size) < 0:
        raise InvalidProblemError(f"size: {size}; expected ({n}, C, {rows} extents)")
    return size[-rows:]


@composed(theta="n rows columns : float", out=True)
def affine_grid(do: Steps, theta: TensorRef, size: tuple[int, ...], align_corners: bool | None = None) -> Any:
    """The grid that `grid_sample` takes of an affine map: theta (N, 2, 3), or (N, 3, 4) of volumes, times (x, y, 1), or (x, y,
    z, 1),
    the coordinates of a result of `size` (N, C, H, W), from -1 to 1. The result is (N, H, W, 2), or (N, D, H, W, 3).

    Source: torch.nn.functional.affine_grid, ONNX AffineGrid.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.affine_grid(np.float32([[[1, 0, 0], [0, 1, 0]]]), (1, 1, 1, 2), align_corners=True).tolist()
    [[[[-1.0, 0.0], [1.0, 0.0]]]]
    """
    sizes = _spatial(theta, size)
    y = do.result((theta.shape[0], *sizes, theta.shape[1]), theta.kind)
    if prod(y.shape):
        do.run(_affine_grid, {"theta": theta}, y, sizes=sizes, corners=bool(align_corners))
    return y


@composed(dy="... : float", theta="n rows columns : float", out=True)
def affine_grid_backward(
    do: Steps, dy: TensorRef, theta: TensorRef, size: tuple[int, ...], align_corners: bool | None = None
) -> Any:
    """The gradient of `affine_grid`'s theta, of which only the shape counts: sums over the grid in the canonical order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, theta = np.ones((1, 1, 2, 2), "f"), np.zeros((1, 2, 3), "f")
    >>> baracuda.affine_grid_backward(dy, theta, (1, 1, 1, 2), align_corners=True).tolist()
    [[[0.0, 0.0, 2.0], [0.0, 0.0, 2.0]]]
    """
    sizes = _spatial(theta, size)
    expected = (theta.shape[0], *sizes, theta.shape[1])
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    dtheta = do.result_like(theta)
    if prod(dtheta.shape):
        _affine_slopes_into(do, dy, dtheta, corners=bool(align_corners))
    return dtheta


def _affine_slopes_into(do: Steps, dy: TensorRef, into: TensorMut, *, corners: bool) -> None:
    if 0 in dy.shape:
        do.zero(into)
        return
    count = into.shape[1]
    do.run(_affine_grid_slopes[count - 1], {"dy": dy}, into, corners=corners, count=count)


# --- warps ------------------------------------------------------------------------------------------------------------


def _warped(x: Table, theta: Table, *, sizes: tuple[int, ...] = (), mode: Mode = "bilinear", padding: Padding = "zeros") -> Expr:
    count = len(sizes)
    extents = [table_extent(x, k, x.kind) for k in range(count)]
    return nested(taps_of(_mapped(theta, count, 2), extents, mode, padding, normalized=False, corners=True), reader(x, x.kind))


def _mapped(theta: Table, count: int, first: int) -> list[Expr]:
    """The coordinates in x, in elements, of an element of the result whose spatial axes begin at `first`."""
    places = []
    for row in range(count):
        entries = [take(theta, const(row, S32), const(k, S32)) for k in range(count + 1)]
        total = entries[count]
        for k in reversed(range(count)):
            total = total + entries[k] * cast(coord(first + count - 1 - k), theta.kind)
        assert isinstance(total, Expr)
        places.append(total)
    return places


def _warped_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    count = len(options["sizes"])
    x = (0, 1, *(None for _ in range(count)))
    return Space({"x": x, "theta": (0, None, None)}, {k + 2: n for k, n in enumerate(options["sizes"])})


def _mapped_grid(theta: Table, *, sizes: tuple[int, ...] = ()) -> dict[str, Expr]:
    return {f"p{k}": p for k, p in enumerate(_mapped(theta, len(sizes), 1))}


def _mapped_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"theta": (0, None, None)}, {k + 1: n for k, n in enumerate(options["sizes"])})


def _mapped_slopes(dy: Own, *, count: int = 2) -> Expr:
    """dy of (n, column, spatial axes) times what the column is multiplied by."""
    column, by = coord(1), const(1.0, dy.kind)
    for k in range(count):
        by = select(f.equal(column, k), cast(coord(1 + count - k), dy.kind), by)
    return f.sum_(dy * by)


def _mapped_slopes_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    count = options["count"]
    return Space({"dy": (0, *range(2, 2 + count))}, {1: count + 1})


_warped_op = Op(_warped, Rule.COMMON, name="warped", space=_warped_space, **_AFFINE)
_mapped_ops = [
    Op(_mapped_grid, Rule.COMMON, name=f"mapped_{n}", space=_mapped_space, results=tuple(f"p{k}" for k in range(n)), **_AFFINE)
    for n in (1, 2, 3)
]
_mapped_slopes_ops = [
    Op(
        _mapped_slopes, Rule.COMMON, name=f"mapped_slopes_{n}", space=_mapped_slopes_space, rows=True,
        axis=tuple(range(2, 2 + n)), axis_option=False, keepdims=False, **_AFFINE,
    )
    for n in (1, 2, 3)
]  # fmt: skip


def _warp_sizes(x: TensorRef, theta: TensorRef, size: tuple[int, ...] | None) -> tuple[int, ...]:
    count = len(x.shape) - 2
    if not 1 <= count <= 3 or theta.shape != (x.shape[0], count, count + 1):
        raise InvalidProblemError(
            f"theta: shape is {theta.shape}; expected {(x.shape[0], count, count + 1)} for x of shape {x.shape}, of 1 to 3 axes"
        )
    sizes = x.shape[2:] if size is None else size
    if len(sizes) != count or min(sizes) < 0:
        raise InvalidProblemError(f"size: {size}; expected {count} extents")
    if 0 in x.shape[2:] and 0 not in sizes:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected elements to sample")
    return tuple(sizes)


@composed(x="... : float", theta="n rows columns : float", out=True)
def warp_affine(
    do: Steps, x: TensorRef, theta: TensorRef, size: tuple[int, ...] | None = None, mode: Mode = "bilinear",
    padding_mode: Padding = "zeros",
) -> Any:  # fmt: skip
    """x sampled where an affine map takes the elements of the result: at theta times (column, row, 1), in elements.

    x is (N, C, H, W), theta (N, 2, 3), the result (N, C, *size), by default of x's size; of volumes (N, C, D, H, W) and (N, 3,
    4), of rows (N, C, W) and (N, 1, 2). theta leads from the result to x, as in `grid_sample`; its first row gives the column.
    Modes and padding are those of `grid_sample`; "reflection" reflects at the centres of the edge elements. One kernel.

    Source: cv2.warpAffine with WARP_INVERSE_MAP, jax.scipy.ndimage.map_coordinates of an affine map.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, shift = np.float32([[[[1, 2, 3, 4]]]]), np.float32([[[1, 0, 0.5], [0, 1, 0]]])
    >>> baracuda.warp_affine(x, shift).tolist()
    [[[[1.5, 2.5, 3.5, 2.0]]]]
    """
    sizes = _warp_sizes(x, theta, size)
    y = do.result((*x.shape[:2], *sizes), x.kind)
    if prod(y.shape):
        do.run(_warped_op, {"x": x, "theta": theta}, y, sizes=sizes, mode=mode, padding=padding_mode)
    return y


@composed(dy="... : float", x="... : float", theta="n rows columns : float")
def warp_affine_backward(
    do: Steps, dy: TensorRef, x: TensorRef, theta: TensorRef, size: tuple[int, ...] | None = None, mode: Mode = "bilinear",
    padding_mode: Padding = "zeros", *, wrt: Wrt = None,
) -> Any:  # fmt: skip
    """The gradients of `warp_affine`'s x and theta, those named in `wrt` or both; as those of `grid_sample`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, shift = np.float32([[[[1, 2, 3, 4]]]]), np.float32([[[1, 0, 0.5], [0, 1, 0]]])
    >>> baracuda.warp_affine_backward(np.ones((1, 1, 1, 4), "f"), x, shift, wrt=("x",)).tolist()
    [[[[0.5, 1.0, 1.0, 1.0]]]]
    """
    names, sizes = chosen(wrt, ("x", "theta")), _warp_sizes(x, theta, size)
    if dy.shape != (*x.shape[:2], *sizes):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {(*x.shape[:2], *sizes)}")
    into = do.new_like(x) if "x" in names else None
    results: dict[str, Any] = {"x": into}
    if 0 in dy.shape:
        for n, t in (("x", x), ("theta", theta)):
            if n in names:
                do.zero(zero := do.new_like(t))
                results[n] = zero
        return one_or_all([results[n] for n in names])
    count, kind = len(sizes), max((x.kind.compute, theta.kind.compute), key=lambda k: k.bits)
    grids = tuple(do.new((x.shape[0], *sizes), kind) for _ in range(count))
    found_grids = do.run(_mapped_ops[count - 1], {"theta": theta}, grids, sizes=sizes)
    grids = found_grids if isinstance(found_grids, tuple) else (found_grids,)
    places = {f"p{k}": p for k, p in enumerate(grids)}
    slopes = list(places) if "theta" in names else []
    found = sampled_gradients(do, dy, x, places, slopes, into, mode=mode, padding=padding_mode, corners=True, normalized=False)
    if slopes:
        results["theta"] = made = do.new_like(theta)
        for k, n in enumerate(places):
            row = view(made, k * made.strides[1], (made.shape[0], count + 1), (made.strides[0], made.strides[2]))
            do.run(_mapped_slopes_ops[count - 1], {"dy": found[n]}, row, count=count)
    return one_or_all([results[n] for n in names])
