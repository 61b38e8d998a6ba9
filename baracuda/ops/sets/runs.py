"""Runs of equal neighbours, and what a mask leaves: the steps that sets are composed of.

A result has as many elements as there are runs, or elements that a mask leaves. Their number is read from the device, once; where
the caller gives a `size`, nothing is read, and the result has that many: the first ones, and a filling behind them.
"""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import slab
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Stored, Value, WholeScalar
from baracuda.ops.elementwise.binary_ops import sub
from baracuda.ops.elementwise.conversions import cast as cast_op
from baracuda.ops.indexing.indexing import index_select
from baracuda.ops.scans.scans import cumsum
from baracuda.ops.sorting.searches import search

S64 = ElementKind.S64


def _equal(a: Value, b: Value, equal_nan: bool) -> Expr:
    if isinstance(a, Complex):
        assert isinstance(b, Complex)
        equal = f.equal(a.re, b.re) & f.equal(a.im, b.im)
        if not equal_nan:
            return equal
        return equal | ((_is_nan(a.re) | _is_nan(a.im)) & (_is_nan(b.re) | _is_nan(b.im)))
    assert isinstance(b, Expr)
    equal = f.equal(a, b)
    return equal | (_is_nan(a) & _is_nan(b)) if equal_nan and a.kind.is_float else equal


def _is_nan(x: Expr) -> Expr:
    return f.not_equal(x, x)


def _differ(a: Value, b: Value, *, equal_nan: bool = True) -> Stored:
    return Stored(cast(~_equal(a, b, equal_nan), S64), S64)


def _any_differ(a: Value, b: Value, *, equal_nan: bool = True) -> Stored:
    return Stored(cast(f.max_(~_equal(a, b, equal_nan)), S64), S64)


def _numbers(x: Expr, *, start: WholeScalar = 0) -> Stored:
    return Stored(cast(coord(0), S64) + start, S64)


def _filled(x: Value, place: Own, fill: Value, *, extent: WholeScalar = 0) -> Value:
    """x where the place that it is from exists."""
    exists = place < extent
    if isinstance(x, Complex):
        assert isinstance(fill, Complex)
        return Complex(select(exists, x.re, fill.re), select(exists, x.im, fill.im))
    assert isinstance(fill, Expr)
    return select(exists, x, fill)


def _or_first(place: Expr, *, extent: WholeScalar = 0) -> Expr:
    return select(place < extent, place, const(0, S64))


_INTERNAL: dict[str, Any] = {"family": "set_ops", "takes": "any", "differentiable": False, "byte_floats": True}
_differ_op = Op(_differ, Rule.COMMON, name="neighbours_differ", **_INTERNAL)
_rows_differ = Op(_any_differ, Rule.COMMON, name="rows_differ", rows=True, axis=-1, keepdims=False, **_INTERNAL)
_numbers_op = Op(_numbers, Rule.COMMON, name="numbers_from", **_INTERNAL)
_filled_op = Op(_filled, Rule.COMMON, name="filled_from", **_INTERNAL)
_or_first_op = Op(_or_first, Rule.COMMON, name="place_or_first", **_INTERNAL)


def starts_of_runs(do: Steps, x: TensorRef, *, equal_nan: bool, first: int) -> TensorRef:
    """1 where an element of a row, or a row of a matrix, differs from the one before it, in s64; `first` for the first one."""
    n = x.shape[0]
    flags = do.new((n,), S64)
    if not n:
        return flags
    do.run(_numbers_op, {"x": slab(flags, 0, 0, 1)}, slab(flags, 0, 0, 1), start=first)
    if n > 1:
        pair = {"a": slab(x, 0, 0, n - 1), "b": slab(x, 0, 1, n)}
        if len(x.shape) > 1:
            do.run(_rows_differ, pair, slab(flags, 0, 1, n), equal_nan=equal_nan, axis=1)
        else:
            do.run(_differ_op, pair, slab(flags, 0, 1, n), equal_nan=equal_nan)
    return flags


def numbered(do: Steps, count: int, start: int = 0) -> TensorRef:
    """start, start + 1, ... in s64."""
    numbers = do.new((count,), S64)
    if count:
        do.run(_numbers_op, {"x": numbers}, numbers, start=start)
    return numbers


def _last(do: Steps, sums: TensorRef) -> int:
    """The last of some sums, on the host."""
    n = sums.shape[0]
    if not n:
        return 0
    return int(do.on_host(slab(sums, 0, n - 1, n))[0])


class Runs:
    """Runs of equal neighbours of a row, or of equal neighbouring rows of a matrix, that are all taken as results.

    Attributes
    ----------
    of
        The number of the run that each element is in.
    starts
        The first place of each run, and behind the last one the number of places.
    count
        How many results there are.
    """

    def __init__(self, do: Steps, x: TensorRef, *, equal_nan: bool, size: int | None) -> None:
        self.do, self.x, self.size = do, x, size
        self.of: TensorRef = do.run(cumsum, {"x": starts_of_runs(do, x, equal_nan=equal_nan, first=0)}, axis=0)
        n = x.shape[0]
        self.count = size if size is not None else _last(do, self.of) + 1 if n else 0
        self.starts: TensorRef = search(do, self.of, numbered(do, self.count + 1))

    def counts(self) -> TensorRef:
        """How many elements each run has."""
        n = self.count
        found: TensorRef = self.do.run(sub, {"a": slab(self.starts, 0, 1, n + 1), "b": slab(self.starts, 0, 0, n)})
        return found

    def places(self) -> TensorRef:
        """The first place of each run; of one that there is not the first of all."""
        starts = slab(self.starts, 0, 0, self.count)
        if self.size is None:
            found = self.do.new((self.count,), S64)
            self.do.run(cast_op, {"x": starts}, found, dtype=S64)
            return found
        taken: TensorRef = self.do.run(_or_first_op, {"place": starts}, extent=self.x.shape[0])
        return taken

    def first(self, x: TensorRef, axis: int = 0, fill: complex | None = None) -> TensorRef:
        """What x has along an axis at the first place of each run; `fill` for one that there is not, by default as the first."""
        return _taken(self.do, x, self.places(), slab(self.starts, 0, 0, self.count), axis, fill, self.x.shape[0])


def _full(do: Steps, shape: tuple[int, ...], kind: ElementKind, value: complex) -> TensorRef:
    """A tensor of any element with one number everywhere."""
    if kind.is_integer or kind.category is Category.COMPLEX:
        return do.filled(shape, kind, value)
    found: TensorRef = do.run(cast_op, {"x": do.filled(shape, ElementKind.F64, value)}, dtype=kind)
    return found


def _taken(
    do: Steps, x: TensorRef, places: TensorRef, found: TensorRef, axis: int, fill: complex | None, extent: int
) -> TensorRef:
    shape = (*x.shape[:axis], places.shape[0], *x.shape[axis + 1 :])
    if fill is not None and x.kind.category is not Category.COMPLEX:
        fill = bool(fill) if x.kind is ElementKind.BOOL else int(fill.real) if x.kind.is_integer else float(fill.real)
    if 0 in shape:
        return do.new(shape, x.kind)
    if not extent:
        return _full(do, shape, x.kind, fill or 0)
    values: TensorRef = do.run(index_select, {"x": x, "index": places}, axis=axis)
    if fill is None:
        return values
    along = (1,) * axis + found.shape + (1,) * (len(shape) - axis - 1)
    at = do.reshaped(do.run(cast_op, {"x": found}, dtype=S64), along)
    filled: TensorRef = do.run(_filled_op, {"x": values, "place": at, "fill": fill}, extent=extent)
    return filled


def left_by(do: Steps, mask: TensorRef, size: int | None) -> TensorRef:
    """The places of a row where a mask (s64, of 0 and 1) is 1; behind them the row's length."""
    sums: TensorRef = do.run(cumsum, {"x": mask}, axis=0)
    count = _last(do, sums) if size is None else size
    found: TensorRef = search(do, sums, numbered(do, count, 1))
    return found


def kept(do: Steps, x: TensorRef, places: TensorRef, size: int | None, fill: complex | None) -> TensorRef:
    """What x, a row, has at places; the filling, by default 0, behind its end."""
    return _taken(do, x, places, places, 0, None if size is None else fill or 0, x.shape[0])
