"""What some modes of padding compute: means, medians, extremes, and ramps to an end value."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import slab, view
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.conversions import cast_to
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, part
from baracuda.ops.declaration.traced import Result, Scalar, Stored, Value, WholeScalar
from baracuda.ops.reductions.reductions import max_, mean, min_

_F64, _S64 = ElementKind.F64, ElementKind.S64
_INTERNAL: dict[str, Any] = {"family": "shape_layout", "differentiable": False}


def _real(value: Expr, element: ElementKind) -> Expr:
    """A number of float64 in an element: to integers, to nearest even."""
    return cast_to(f.rint(value) if element.is_integer else value, element)


def _rounded(x: Value, *, element: ElementKind | None) -> Result:
    assert element is not None
    if isinstance(x, Complex):
        half = part(element)
        return Stored(Complex(cast(x.re, half), cast(x.im, half)), half)
    return Stored(_real(x, element), element)


def _ramp(
    x: Value, edge: Value, *, axis: int = -1, before: bool = True, width: WholeScalar = 1, end: Scalar = 0.0,
    element: ElementKind | None,
) -> Result:  # fmt: skip
    """end + i * ((edge - end) / width) for i = 0 ... width - 1 from the end value on; to integers rounded down."""
    assert element is not None
    whole = as_expr(width, _S64)
    place = cast(coord(axis), _S64)
    i = cast(place if before else whole - 1 - place, _F64)

    def along(v: Expr, start: Any) -> Expr:
        first = cast(as_expr(start, _F64), _F64)
        return i * ((cast(v, _F64) - first) / cast(whole, _F64)) + first

    if isinstance(edge, Complex):
        half = part(element)
        return Stored(Complex(cast(along(edge.re, end), half), cast(along(edge.im, 0.0), half)), half)
    value = along(edge, end)
    return Stored(cast_to(f.floor(value) if element.is_integer else value, element), element)


def _rank(a: Expr, b: Expr) -> Expr:
    """How many elements of a row stand before one in rising order, NaN last and equal ones in the order of the row."""
    at, own = coord(-1), coord(-2)
    below = (b < a) | (f.equal(b, b) & ~f.equal(a, a))
    equal = ~below & ~((a < b) | (f.equal(a, a) & ~f.equal(b, b)))
    return f.sum_(cast(below | (equal & (at < own)), _S64))


def _middle(x: Expr, rank: Expr, *, low: WholeScalar = 0, high: WholeScalar = 0, last: WholeScalar = 0) -> Expr:
    """The mean of the elements of two ranks; NaN where the one of the last rank is."""

    def of(which: Any) -> Expr:
        return f.max_(select(f.equal(rank, as_expr(which, _S64)), x, const(float("-inf"), _F64)))

    return (of(low) + of(high)) * 0.5 + of(last) * 0.0


rounded = Op(_rounded, Rule.EACH, name="rounded_mean", takes="any", element_option=True, byte_floats=True, **_INTERNAL)
ramp = Op(_ramp, Rule.EACH, name="ramp_to_edge", takes="any", element_option=True, byte_floats=True, **_INTERNAL)
rank_in_row = Op(_rank, Rule.EACH, name="rank_in_row", takes="float", rows=True, axis=-1, keepdims=False, **_INTERNAL)
middle = Op(_middle, Rule.EACH, name="middle_of_row", takes="float,int", rows=True, axis=-1, keepdims=True, **_INTERNAL)


def _numbers(kind: ElementKind, what: str, *, ordered: bool) -> None:
    if kind.category is Category.BOOL or (ordered and kind.category is Category.COMPLEX):
        raise UnsupportedError(f"x: {kind} with mode {what!r}; expected {'real numbers' if ordered else 'numbers'}")


def statistic(do: Steps, x: TensorRef, axis: int, what: str) -> Any:
    """The maximum, minimum, mean or median along an axis, which stays, in x's element."""
    _numbers(x.kind, what, ordered=what != "mean")
    from baracuda.ops.elementwise.conversions import cast as converted

    if x.kind.is_float and x.kind.bits < 16 and what in ("maximum", "minimum"):
        wide = do.run(converted, {"x": x}, dtype=ElementKind.F32)
        found = do.run(max_ if what == "maximum" else min_, {"x": wide}, axis=axis, keepdims=True)
        return do.run(converted, {"x": found}, dtype=x.kind)
    if what in ("maximum", "minimum"):
        return do.run(max_ if what == "maximum" else min_, {"x": x}, axis=axis, keepdims=True)
    wide_kind = ElementKind.C128 if x.kind.category is Category.COMPLEX else _F64
    wide = x if x.kind is wide_kind else do.run(converted, {"x": x}, dtype=wide_kind)
    found = do.run(mean, {"x": wide}, axis=axis, keepdims=True) if what == "mean" else _median(do, wide, axis)
    return do.run(rounded, {"x": found}, dtype=x.kind) if x.kind is not wide_kind else found


def _median(do: Steps, x: TensorRef, axis: int) -> Any:
    """The median of float64 along an axis, which stays. It takes the square of the extent: pads are short."""
    n = x.shape[axis]
    order = [*(a for a in range(len(x.shape)) if a != axis), axis]
    shape, strides = [x.shape[a] for a in order], [x.strides[a] for a in order]
    row = view(x, 0, shape, strides)
    own = view(x, 0, (*shape, 1), (*strides, 0))
    others = view(x, 0, (*shape[:-1], 1, n), (*strides[:-1], 0, strides[-1]))
    rank = do.run(rank_in_row, {"a": own, "b": others})
    found = do.run(middle, {"x": row, "rank": rank}, low=(n - 1) // 2, high=n // 2, last=n - 1)
    back = [order.index(a) for a in range(len(order))]
    return view(found, 0, [found.shape[a] for a in back], [found.strides[a] for a in back])


def ramp_into(do: Steps, y: TensorMut, axis: int, n: int, before: int, after: int, ends: tuple[Any, Any]) -> None:
    """Write ramps before and after the n elements along an axis that are there."""
    _numbers(y.kind, "linear_ramp", ordered=False)
    for start, count, edge, end in ((0, before, before, ends[0]), (before + n, after, before + n - 1, ends[1])):
        if count:
            target = slab(y, axis, start, start + count)
            tensors = {"x": target, "edge": slab(y, axis, edge, edge + 1)}
            left = start == 0
            options = {"axis": axis - len(y.shape), "before": left, "width": count, "end": float(end)}
            do.run(ramp, tensors, target, dtype=y.kind, **options)
