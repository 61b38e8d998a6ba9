"""Convolutions whose windows are displaced: an offset, and perhaps a factor, for each tap of each result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, compare, const, coord, select
from baracuda.formula.gathers import Table, take
from baracuda.ops.convolution.options import Each, Padding, check_vector, each, pairs, relations_of
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import gradient_by_bias, split
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, WholeScalar
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan

S32, S64 = ElementKind.S32, ElementKind.S64
_MOST = (1 << 31) - 1


@dataclass(frozen=True)
class _Corner:
    """One of the four elements about a place: whether it is there, its row and column, its weight."""

    there: Expr
    row: Expr
    column: Expr
    weight: Expr


def _corners(py: Expr, px: Expr, axes: tuple[int, int, int, int], numbers: Mapping[str, Any], kind: ElementKind) -> list[_Corner]:
    """The elements about the place that a tap of a result is displaced to; `axes` are those of taps and results."""
    places, extents = [], []
    for p, tap, out, name in ((py, axes[0], axes[2], "y"), (px, axes[1], axes[3], "x")):
        at, step = cast(coord(out), S64) * as_expr(numbers[f"s{name}"], S64), as_expr(numbers[f"t{name}"], S64)
        whole = at + cast(coord(tap), S64) * step
        places.append(cast(whole - as_expr(numbers[f"l{name}"], S64), kind) + p)
        extents.append(as_expr(numbers[f"n{name}"], S64))
    low = [f.floor(p) for p in places]
    part = [p - b for p, b in zip(places, low, strict=True)]
    # far outside nothing is met; the limits keep the conversion to integers exact
    first = [cast(f.clamp(b, -2.0, 2.0**31), S64) for b in low]
    found = []
    for down in range(2):
        for right in range(2):
            row, column = first[0] + down, first[1] + right
            there = (row >= 0) & (row < extents[0]) & (column >= 0) & (column < extents[1])
            weight = (part[0] if down else 1.0 - part[0]) * (part[1] if right else 1.0 - part[1])
            found.append(_Corner(there, row, column, weight))
    return found


def _displaced(
    x: Table, py: Own, px: Own, mask: Own | None = None, *, sy: WholeScalar = 1, sx: WholeScalar = 1, ty: WholeScalar = 1,
    tx: WholeScalar = 1, ly: WholeScalar = 0, lx: WholeScalar = 0, ny: WholeScalar = 1, nx: WholeScalar = 1,
) -> Expr:  # fmt: skip
    numbers = {"sy": sy, "sx": sx, "ty": ty, "tx": tx, "ly": ly, "lx": lx, "ny": ny, "nx": nx}
    total: Expr | None = None
    for c in _corners(cast(py, x.kind), cast(px, x.kind), (3, 4, 5, 6), numbers, x.kind):
        value = take(x, select(c.there, c.row, 0), select(c.there, c.column, 0))
        assert isinstance(value, Expr)
        term = select(c.there, value * c.weight, const(0, x.kind))
        total = term if total is None else total + term
    assert total is not None
    return total if mask is None else total * cast(mask, x.kind)


def _displaced_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    """(n, offset groups, channels of one, taps, results)."""
    places: dict[str, Any] = {n: (0, 1, 3, 4, 5, 6) for n in shapes if n != "x"}
    return Space({"x": (0, 1, 2, None, None), **places})


def _met(
    py: Own, px: Own, mask: Own | None = None, *, precise: bool = False, sy: WholeScalar = 1, sx: WholeScalar = 1,
    ty: WholeScalar = 1, tx: WholeScalar = 1, ly: WholeScalar = 0, lx: WholeScalar = 0, ny: WholeScalar = 1, nx: WholeScalar = 1,
) -> dict[str, Stored]:  # fmt: skip
    """For each corner the number of the element in (n, offset groups, rows, columns), -1 for none, and its weight."""
    numbers = {"sy": sy, "sx": sx, "ty": ty, "tx": tx, "ly": ly, "lx": lx, "ny": ny, "nx": nx}
    corner, groups, real = coord(6), f.extent(1, S64), ElementKind.F64 if precise else ElementKind.F32
    index, weight = const(-1, S64), const(0, real)
    for number, c in enumerate(_corners(cast(py, real), cast(px, real), (2, 3, 4, 5), numbers, real)):
        image = cast(coord(0), S64) * groups + cast(coord(1), S64)
        own = (image * as_expr(ny, S64) + c.row) * as_expr(nx, S64) + c.column
        this = compare("eq", corner, number)
        index = select(this, select(c.there, own, -1), index)
        weight = select(this, c.weight, weight)
    if mask is not None:
        weight = weight * cast(mask, real)
    return {"index": Stored(cast(index, S32), S32), "weight": Stored(weight, real)}


def _met_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({n: tuple(range(6)) for n in shapes}, {6: 4})


_displacement = Op(_displaced, Rule.COMMON, name="displaced", family="convolution", takes="float", space=_displaced_space)
_elements = Op(
    _met, Rule.EACH, name="displaced_elements", family="convolution", takes="float", results=("index", "weight"),
    differentiable=False, space=_met_space,
)  # fmt: skip


class _Deformed:
    """The columns of a deformed convolution: x where each tap of each result is displaced to."""

    def __init__(
        self, do: Steps, x: TensorRef, offset: TensorRef, weight: TensorRef, mask: Given, stride: Each, padding: Padding,
        dilation: Each,
    ) -> None:  # fmt: skip
        self.do, self.x, self.weight = do, x, weight
        steps, spread = each("stride", stride, 2), each("dilation", dilation, 2)
        inputs, taps = x.shape[2:], weight.shape[2:]
        widths = pairs(padding, inputs, taps, steps, spread)
        self.relations: list[Relation] = relations_of(inputs, taps, steps, spread, widths)
        n, channels = x.shape[:2]
        inner = weight.shape[1]
        self.groups = channels // inner if inner and channels % inner == 0 else 0
        if not self.groups or weight.shape[0] % self.groups:
            raise InvalidProblemError(
                f"weight: shape is {weight.shape}; expected channels that divide x's {channels}, and as many groups of outputs"
            )
        self.outputs = tuple(r.outputs for r in self.relations)
        each_one = 2 * taps[0] * taps[1]
        self.displaced = offset.shape[1] // each_one
        expected = (n, self.displaced * each_one, *self.outputs)
        if offset.shape != expected or not self.displaced or channels % self.displaced:
            raise InvalidProblemError(
                f"offset: shape is {offset.shape}; expected ({n}, groups * {each_one}, {self.outputs[0]}, {self.outputs[1]}), "
                f"groups a divisor of {channels}"
            )
        if mask is not None and mask.shape != (n, self.displaced * each_one // 2, *self.outputs):
            wanted = (n, self.displaced * each_one // 2, *self.outputs)
            raise InvalidProblemError(f"mask: shape is {mask.shape}; expected {wanted}")
        self.taps = taps
        y, x_ = self._pair(offset)
        self.tensors: dict[str, TensorRef] = {"py": y, "px": x_}
        if mask is not None:
            self.tensors["mask"] = self._factors(mask)
        (ry, rx) = self.relations
        self.numbers: dict[str, Any] = {
            "sy": ry.stride, "sx": rx.stride, "ty": ry.dilation, "tx": rx.dilation, "ly": ry.low, "lx": rx.low,
            "ny": inputs[0], "nx": inputs[1],
        }  # fmt: skip
        self.image = split(x, 1, self.displaced)  # (n, offset groups, channels of one, rows, columns)

    def _factors(self, mask: Any) -> Any:
        """(n, offset groups, *taps, *outputs)."""
        s = mask.strides
        shape = (mask.shape[0], self.displaced, *self.taps, *self.outputs)
        return view(mask, 0, shape, (s[0], self.taps[0] * self.taps[1] * s[1], self.taps[1] * s[1], s[1], *s[2:]))

    def _pair(self, offset: Any) -> tuple[Any, Any]:
        """The offsets along both axes."""
        s, (kh, kw) = offset.strides, self.taps
        shape = (offset.shape[0], self.displaced, kh, kw, *self.outputs)
        strides = (s[0], 2 * kh * kw * s[1], 2 * kw * s[1], 2 * s[1], *s[2:])
        return view(offset, 0, shape, strides), view(offset, s[1] if 0 not in shape else 0, shape, strides)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.x.shape[0], self.weight.shape[0], *self.outputs)

    def columns(self) -> Any:
        """x displaced, (n, channels, *taps, *outputs)."""
        found = self.do.run(_displacement, {"x": self.image, **self.tensors}, **self.numbers)
        return self.do.reshaped(found, (self.x.shape[0], self.x.shape[1], *self.taps, *self.outputs))

    def views(self, columns: Any, weight: Any, y: Any) -> tuple[Any, Any, Any]:
        """The factors of the product, with channels behind taps: (n, *o, g, *t, c), (g, m, *t, c), (n, *o, g, m)."""
        cut = split(columns, 1, self.groups)  # (n, g, c, *t, *o)
        by = split(weight, 0, self.groups)  # (g, m, c, *t)
        into = split(y, 1, self.groups)  # (n, g, m, *o)
        return permuted(cut, (0, 5, 6, 1, 3, 4, 2)), permuted(by, (0, 1, 3, 4, 2)), permuted(into, (0, 3, 4, 1, 2))


_PATTERNS: dict[str, Any] = {
    "x": "n channels h w : f16 bf16 f32 f64 T",
    "offset": "n offsets rows columns : T",
    "weight": "out inner kh kw : T",
    "bias": "out : T",
    "mask": "n factors rows columns : T",
}


@composed(out=True, **_PATTERNS)
def deform_conv2d(
    do: Steps,
    x: TensorRef,
    offset: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    mask: Given = None,
) -> TensorRef:
    """A convolution whose taps are displaced (Dai et al. 2017; with mask Zhu et al. 2019): `torchvision.ops.deform_conv2d`.

    x is (n, channels, h, w), weight (out, channels / groups, kh, kw), offset (n, 2 * offset groups * kh * kw, rows, columns) with
    the displacements down and to the right of each tap in turn, mask (n, offset groups * kh * kw, rows, columns) of factors. An
    offset group has its part of the channels. Between elements x is bilinear, outside it is 0.

    The displaced elements are rounded to x's element; sums over them are those of a product, k counted as (tap, channel).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([[[[1, 3, 9]]]]), np.ones((1, 1, 1, 1), np.float32)
    >>> offset = np.zeros((1, 2, 1, 3), np.float32)
    >>> offset[0, 1] = 0.5
    >>> baracuda.deform_conv2d(x, offset, weight).tolist()
    [[[[2.0, 6.0, 4.5]]]]
    """
    d = _Deformed(do, x, offset, weight, mask, stride, padding, dilation)
    check_vector("bias", bias, weight.shape[0])
    y = do.result(d.shape, x.kind)
    if 0 in d.shape:
        return y
    if not d.x.shape[1]:
        raise UnsupportedError(f"x: shape is {x.shape}; expected a channel or more")
    a, b, into = d.views(d.columns(), weight, y)
    if bias is None:
        do.plan(MatmulPlan, labelled(a, b, "nuvgrsc", "gmrsc", "nuvgm"), {"a": a, "b": b}, into)
        return y
    added = split(bias, 0, d.groups)
    descriptor = labelled(a, b, "nuvgrsc", "gmrsc", "nuvgm", c_shape=added.shape)
    do.plan(MatmulPlan, descriptor, {"a": a, "b": b, "c": added}, into)
    return y


@composed(dy="? : T", **_PATTERNS)
def deform_conv2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    offset: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    mask: Given = None,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `deform_conv2d`'s x, offset, weight, bias and mask, those named in `wrt` or of all tensors that are given.

    That by x is a sum by destination, positions numbered by (image, offset group, tap, result, corner).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([[[[1, 3, 9]]]]), np.ones((1, 1, 1, 1), np.float32)
    >>> offset = np.zeros((1, 2, 1, 3), np.float32)
    >>> baracuda.deform_conv2d_backward(np.ones_like(x), x, offset, weight, wrt=("x",)).tolist()
    [[[[1.0, 1.0, 1.0]]]]
    """
    given = {"x": x, "offset": offset, "weight": weight, "bias": bias, "mask": mask}
    names = chosen(wrt, tuple(n for n, t in given.items() if t is not None))
    d = _Deformed(do, x, offset, weight, mask, stride, padding, dilation)
    if dy.shape != d.shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {d.shape}")
    if 0 in (*dy.shape, *x.shape):
        return one_or_all([_zeros(do, given[n]) for n in names])
    found: dict[str, Any] = {}
    if "bias" in names:
        found["bias"] = gradient_by_bias(do, dy, 1)
    if "weight" in names:
        dw = do.new_like(weight)
        a, into, by = d.views(d.columns(), dw, dy)
        do.plan(MatmulPlan, labelled(by, a, "nuvgm", "nuvgrsc", "gmrsc"), {"a": by, "b": a}, into)
        found["weight"] = dw
    if {"x", "offset", "mask"} & set(names):
        slopes = do.new((x.shape[0], x.shape[1], *d.taps, *d.outputs), x.kind)
        into, b, by = d.views(slopes, weight, dy)
        do.plan(MatmulPlan, labelled(by, b, "nuvgm", "gmrsc", "nuvgrsc"), {"a": by, "b": b}, into)
        found |= _by_places(do, d, slopes, names, offset, mask)
    return one_or_all([found[n] for n in names])


def _zeros(do: Steps, like: Any) -> TensorMut:
    do.zero(made := do.new_like(like))
    return made


def _by_places(
    do: Steps, d: _Deformed, slopes: TensorRef, names: Sequence[str], offset: TensorRef, mask: Given
) -> dict[str, TensorRef]:
    """The gradients by x, the offsets and the factors, given those by the displaced elements."""
    found: dict[str, TensorRef] = {}
    cut = split(slopes, 1, d.displaced)  # (n, offset groups, channels of one, *taps, *outputs)
    if "x" in names:
        found["x"] = dx = do.new_like(d.x)
        index, weight = do.run(_elements, d.tensors, precise=d.x.kind is ElementKind.F64, **d.numbers)
        n, groups, channels, rows, columns = d.image.shape
        count = n * groups * rows * columns
        if max(count, _size(index.shape)) > _MOST:
            raise UnsupportedError(f"{count} elements, {_size(index.shape)} corners; expected at most {_MOST} of each")
        last = permuted(cut, (0, 1, 3, 4, 5, 6, 2))
        dense = do.rows(last.shape, last.kind)
        do.copy(last, dense)
        source = do.reshaped(dense, (-1, 1, channels))
        positions = source.shape[0]
        wide = view(source, 0, (positions, 4, channels), (channels, 0, 1))
        sums = do.rows((count, channels), d.x.kind)
        flat, factor = do.reshaped(index, (positions, 4)), do.reshaped(weight, (positions, 4))
        scatter = ScatterDescriptor(
            ScatterKind.SUM, (count, channels), 0, (positions, 4), d.x.kind, S32, has_weights=True, skip=-1
        )
        do.plan(ScatterPlan, scatter, {"index": flat, "x": wide, "weights": factor}, sums)
        one = rows * columns * channels
        strides = (groups * one, one, 1, columns * channels, channels)
        seen = view(sums, 0, (n, groups, channels, rows, columns), strides)
        do.copy(seen, split(dx, 1, groups))
    wanted = [n for n in ("py", "px") if "offset" in names] + ["mask"] * ("mask" in names)
    if wanted:
        gradients = do.gradients(_displacement, {"x": d.image, **d.tensors}, cut, wanted, **d.numbers)
        if "offset" in names:
            found["offset"] = whole = do.new_like(offset)
            for name, into in zip(("py", "px"), d._pair(whole), strict=True):
                do.copy(gradients[name], into)
        if "mask" in names:
            assert mask is not None
            found["mask"] = factors = do.new_like(mask)
            do.copy(gradients["mask"], d._factors(factors))
    return found


def _size(shape: Sequence[int]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size
