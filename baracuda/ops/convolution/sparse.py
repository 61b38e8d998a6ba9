"""Convolutions over sparse voxels whose results are at the sites of their inputs."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, take
from baracuda.ops.convolution.options import Each, check_vector, each
from baracuda.ops.convolution.steps import gradient_by_bias
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, WholeScalar
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.indexing.put import PutDescriptor, PutPlan
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan

S32, S64 = ElementKind.S32, ElementKind.S64
_MOST = (1 << 31) - 1


def _number(places: list[Expr], extents: list[Expr]) -> tuple[Expr, Expr]:
    """The number of a site, and whether there is one there."""
    number, inside = const(0, S64), None
    for p, n in zip(places, extents, strict=True):
        here = (p >= 0) & (p < n)
        inside = here if inside is None else inside & here
        number = number * n + p
    assert inside is not None
    return number, inside


def _site(
    at0: Own, at1: Own, at2: Own, at3: Own, *, nb: WholeScalar = 1, nz: WholeScalar = 1, ny: WholeScalar = 1, nx: WholeScalar = 1
) -> dict[str, Stored]:
    number, inside = _number([cast(p, S64) for p in (at0, at1, at2, at3)], [as_expr(n, S64) for n in (nb, nz, ny, nx)])
    return {"site": Stored(select(inside, number, -1), S64), "row": Stored(cast(coord(0), S32), S32)}


def _neighbour(
    table: Table, at0: Own, at1: Own, at2: Own, at3: Own, *, sizes: tuple[int, ...] = (), nb: WholeScalar = 1,
    nz: WholeScalar = 1, ny: WholeScalar = 1, nx: WholeScalar = 1, dz: WholeScalar = 1, dy: WholeScalar = 1, dx: WholeScalar = 1,
) -> Stored:  # fmt: skip
    places = [cast(at0, S64)]
    for a, (p, d) in enumerate(((at1, dz), (at2, dy), (at3, dx))):
        places.append(cast(p, S64) + (cast(coord(1 + a), S64) - sizes[a] // 2) * as_expr(d, S64))
    number, inside = _number(places, [as_expr(n, S64) for n in (nb, nz, ny, nx)])
    row = take(table, select(inside, number, 0))
    assert isinstance(row, Expr)
    return Stored(select(inside, row, -1), S32)


def _neighbour_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    own: dict[str, Any] = {n: (0,) for n in shapes if n != "table"}
    return Space({"table": (None,), **own}, dict(enumerate(options["sizes"], 1)))


def _row(features: Table, index: Own) -> Expr:
    value = take(features, select(index < 0, 0, index))
    assert isinstance(value, Expr)
    return select(index < 0, const(0, value.kind), value)


def _row_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"index": (0, 1), "features": (None, 2)})


_KEYS: dict[str, Any] = {"family": "convolution", "differentiable": False}
_sites = Op(_site, Rule.EACH, name="sites", results=("site", "row"), takes="int", **_KEYS)
_neighbours = Op(_neighbour, Rule.EACH, name="neighbours", takes="int", space=_neighbour_space, **_KEYS)
_rows = Op(_row, Rule.COMMON, name="rows_of_neighbours", takes="float", space=_row_space, **_KEYS)


class _Sites:
    """The rows at the neighbours of each site, and what is read of them."""

    def __init__(
        self, do: Steps, x: TensorRef, sites: TensorRef, weight: TensorRef, shape: tuple[int, ...], batch: int, dilation: Each
    ) -> None:
        rows, *taps, channels, columns = x.shape[0], *weight.shape
        if len(shape) != 3 or min(shape) < 1 or batch < 1:
            raise InvalidProblemError(f"spatial_shape, batch_size: {shape}, {batch}; expected three extents and a number above 0")
        if any(n % 2 == 0 for n in taps):
            raise InvalidProblemError(f"weight: shape is {weight.shape}; expected an odd number of taps along three axes")
        total = batch * prod(shape)
        if max(total, rows * prod(taps)) > _MOST:
            raise UnsupportedError(f"{total} sites, {rows} rows of {prod(taps)} taps; expected at most {_MOST} of each")
        self.do, self.x, self.taps, self.channels, self.columns = do, x, prod(taps), channels, columns
        spread = each("dilation", dilation, 3)
        self.index: Any = None
        if not rows:
            return
        s = sites.strides
        places = {n: view(sites, k * s[1], (rows,), (s[0],)) for k, n in enumerate(("at0", "at1", "at2", "at3"))}
        numbers: dict[str, Any] = dict(zip(("nb", "nz", "ny", "nx"), (batch, *shape), strict=True))
        site, row = do.run(_sites, places, **numbers)
        table = do.filled((total,), S32, -1)
        do.plan(PutPlan, PutDescriptor((rows,), (total,), (), S32, S64, skip=-1), {"index": site, "x": row}, table)
        offsets: dict[str, Any] = dict(zip(("dz", "dy", "dx"), spread, strict=True))
        found = do.run(_neighbours, {"table": table, **places}, sizes=tuple(taps), **numbers, **offsets)
        self.index = do.reshaped(found, (rows, self.taps))

    def rows_of(self, x: TensorRef) -> Any:
        """What each tap of each site meets, 0 where nothing is, (rows, taps * channels)."""
        return self.do.reshaped(self.do.run(_rows, {"features": x, "index": self.index}), (x.shape[0], -1))


_PATTERNS: dict[str, Any] = {
    "x": "rows channels : f16 bf16 f32 f64 T",
    "sites": "rows 4 : s32 s64",
    "weight": "kd kh kw channels out : T",
    "bias": "out : T",
}


@composed(out=True, **_PATTERNS)
def submanifold_conv3d(
    do: Steps,
    x: TensorRef,
    sites: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    *,
    spatial_shape: tuple[int, ...],
    batch_size: int = 1,
    dilation: Each = 1,
) -> TensorRef:
    """A convolution over sparse voxels, whose results are at the sites that have an element: y[n] is the sum over the taps t of
    weight[t] times the row of x that is at n's site plus (t - centre) * dilation.

    x is (rows, channels), sites (rows, 4) of integers, the batch and three coordinates of each row, weight (kd, kh, kw, channels,
    out) with odd numbers of taps, bias (out,). What is not there, or out of spatial_shape, counts as 0; of rows at one site the
    last one is there. Sums are those of a product, k counted as (tap, channel).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, sites = np.float32([[1], [10]]), np.array([[0, 0, 0, 0], [0, 0, 0, 1]])
    >>> weight = np.float32([1, 2, 3]).reshape(1, 1, 3, 1, 1)
    >>> baracuda.submanifold_conv3d(x, sites, weight, spatial_shape=(1, 1, 4)).tolist()
    [[32.0], [21.0]]
    """
    s = _Sites(do, x, sites, weight, spatial_shape, batch_size, dilation)
    check_vector("bias", bias, s.columns)
    y = do.result((x.shape[0], s.columns), x.kind)
    if 0 in y.shape:
        return y
    by = do.reshaped(weight, (s.taps * s.channels, s.columns))
    a = s.rows_of(x)
    d = labelled(a, by, "nk", "ko", "no", bias_axis=None if bias is None else -1)
    do.plan(MatmulPlan, d, {"a": a, "b": by, "bias": bias}, y)
    return y


@composed(dy="rows out : T", **_PATTERNS)
def submanifold_conv3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    sites: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    *,
    spatial_shape: tuple[int, ...],
    batch_size: int = 1,
    dilation: Each = 1,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `submanifold_conv3d`'s x, weight and bias, those named in `wrt` or of all tensors that are given.

    That by x is a sum by destination, positions numbered by (row, tap).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, sites = np.float32([[1], [10]]), np.array([[0, 0, 0, 0], [0, 0, 0, 1]])
    >>> weight = np.float32([1, 2, 3]).reshape(1, 1, 3, 1, 1)
    >>> baracuda.submanifold_conv3d_backward(np.ones_like(x), x, sites, weight, spatial_shape=(1, 1, 4), wrt=("x",)).tolist()
    [[3.0], [5.0]]
    """
    names = chosen(wrt, ("x", "weight", "bias") if bias is not None else ("x", "weight"))
    s = _Sites(do, x, sites, weight, spatial_shape, batch_size, dilation)
    rows, terms = x.shape[0], s.taps * s.channels

    def gradient(name: str) -> TensorRef:
        if name == "bias":
            return gradient_by_bias(do, dy, 1)
        if name == "x":
            dx = do.new_like(x)
            if 0 in (*dx.shape, s.columns):
                do.zero(dx)
                return dx
            by = do.reshaped(weight, (terms, s.columns))
            slopes = do.plan(MatmulPlan, labelled(dy, by, "no", "ko", "nk"), {"a": dy, "b": by})
            d = ScatterDescriptor(ScatterKind.SUM, (rows, s.channels), 0, (rows * s.taps,), x.kind, S32, skip=-1)
            index, pieces = do.reshaped(s.index, (-1,)), do.reshaped(slopes, (rows * s.taps, s.channels))
            do.plan(ScatterPlan, d, {"index": index, "x": pieces}, dx)
            return dx
        dw = do.new(weight.shape, weight.kind)
        if 0 in (*dw.shape, rows):
            do.zero(dw)
            return dw
        a = s.rows_of(x)
        flat = do.plan(MatmulPlan, labelled(a, dy, "nk", "no", "ko"), {"a": a, "b": dy})
        do.copy(do.reshaped(flat, weight.shape), dw)
        return dw

    return one_or_all([gradient(name) for name in names])
