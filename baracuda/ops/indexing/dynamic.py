"""Windows of a tensor that begin where a tensor on the device says: read and written.

A start that would let the window leave the tensor is moved back into it, as in JAX; a negative one counts from the end first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.spec import check_axes
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, Value, WholeScalar
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.indexing.moves import apart, copied, full, move, zeros
from baracuda.ops.indexing.places import Places

_S64 = ElementKind.S64


def _begin(start: Own, number: int, extent: Expr, size: Expr) -> Expr:
    """Where a window begins along one axis."""
    assert isinstance(start, Table)
    first = take(start, const(number, start.parts[0][1].compute))
    assert isinstance(first, Expr)
    wide = cast(first, _S64)
    counted = select(wide < 0, wide + extent, wide)
    return f.maximum(f.minimum(counted, extent - size), 0)


def _window(x: Table, start: Own, *, axes: tuple[int, ...], sizes: tuple[int, ...]) -> Value:
    places = []
    for number, (axis, _) in enumerate(zip(axes, sizes, strict=True)):
        size = f.extent(axis, _S64)
        places.append(_begin(start, number, table_extent(x, number, _S64), size) + cast(coord(axis), _S64))
    return take(x, *places)


def _window_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    axes, rank = options["axes"], len(shapes["x"])
    along = tuple(None if a in axes else a for a in range(rank))
    return Space({"x": along, "start": (None,)}, dict(zip(axes, options["sizes"], strict=True)))


def _numbers(
    start: Own,
    *,
    sizes: tuple[int, ...],
    n0: WholeScalar = 1,
    n1: WholeScalar = 1,
    n2: WholeScalar = 1,
    n3: WholeScalar = 1,
    n4: WholeScalar = 1,
    n5: WholeScalar = 1,
    n6: WholeScalar = 1,
    n7: WholeScalar = 1,
) -> Stored:
    """The number of each element of a window, among those of the axes that it is along."""
    extents = [as_expr(n, _S64) for n in (n0, n1, n2, n3, n4, n5, n6, n7)][: len(sizes)]
    total: Expr | None = None
    for axis, extent in enumerate(extents):
        place = _begin(start, axis, extent, f.extent(axis, _S64)) + cast(coord(axis), _S64)
        total = place if total is None else total * extent + place
    assert total is not None
    return Stored(total, _S64)


_OF_WINDOWS: dict[str, Any] = {"family": "indexing", "differentiable": False}
window = Op(_window, Rule.COMMON, name="window", takes="any", byte_floats=True, space=_window_space, **_OF_WINDOWS)
window_numbers = Op(
    _numbers,
    Rule.COMMON,
    name="window_numbers",
    takes="int",
    space=lambda shapes, options: Space({"start": (None,)}, dict(enumerate(options["sizes"]))),
    **_OF_WINDOWS,
)


def _start(do: Steps, start: Any, axes: Sequence[int]) -> TensorRef:
    """Where windows begin, along each of some axes, as one tensor."""
    if not isinstance(start, TensorRef):
        members = start if isinstance(start, (list, tuple)) else (start,)
        found: TensorMut = do.new((len(members),), _S64)
        for k, member in enumerate(members):
            one = view(found, k, (1,), (1,))
            if isinstance(member, TensorRef):
                do.copy(view(member, 0, (1,), (1,)), one)
            else:
                move(do, full(do, (1,), _S64, member), one)
        start = found
    if not start.shape:
        start = view(start, 0, (1,), (1,))
    if start.shape != (len(axes),):
        raise InvalidProblemError(
            f"start: shape is {start.shape}; expected {(len(axes),)}, a number for each of axes {tuple(axes)}"
        )
    given: TensorRef = start
    return given


def _along(axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    axes = (axis,) if isinstance(axis, int) else axis
    check_axes("axis", axes, rank)
    return tuple(a % rank for a in axes)


def _sizes(sizes: int | Sequence[int], axes: Sequence[int], shape: Shape) -> tuple[int, ...]:
    each = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if len(each) != len(axes) or any(not 0 <= n <= shape[a] for n, a in zip(each, axes, strict=False)):
        raise InvalidProblemError(f"sizes: {sizes}; expected one for each of axes {tuple(axes)}, within shape {shape}")
    return each


@composed(x="...", start="... or numbers or list () : s32 s64")
def dynamic_slice(
    do: Steps, x: TensorRef, start: Any, sizes: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None
) -> TensorRef:
    """The window of x that begins at `start`, a tensor with a number for each axis, and has these sizes; with `axis` along that
    axis, or those, alone.

    A negative start counts from the end, and a window that would leave x is moved back into it. Nothing is read on the host.
    Source: jax.lax.dynamic_slice, dynamic_slice_in_dim, dynamic_index_in_dim.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dynamic_slice(np.arange(6.0).reshape(2, 3), np.array([1, 2]), (1, 2)).tolist()
    [[4.0, 5.0]]
    """
    axes = _along(axis, len(x.shape))
    extents = _sizes(sizes, axes, x.shape)
    y: TensorRef = _sliced(do, x, _start(do, start, axes), axes, extents)
    return y


def _sliced(do: Steps, x: TensorRef, start: TensorRef, axes: tuple[int, ...], sizes: tuple[int, ...]) -> TensorMut:
    shape = list(x.shape)
    for a, n in zip(axes, sizes, strict=True):
        shape[a] = n
    y = do.new(shape, x.kind)
    ordered = sorted(range(len(axes)), key=lambda k: axes[k])
    if axes and 0 not in shape:
        if ordered != list(range(len(axes))):
            given = do.new((len(axes),), start.kind)
            for to, at in enumerate(ordered):
                do.copy(view(start, at * start.strides[0], (1,), (1,)), view(given, to, (1,), (1,)))
            start = given
        words: dict[str, Any] = {"axes": tuple(axes[k] for k in ordered), "sizes": tuple(sizes[k] for k in ordered)}
        do.run(window, {"x": as_bits(x), "start": start}, into=as_bits(y), **words)
    elif not axes:
        move(do, x, y)
    return y


class _Window:
    """Where the elements of a window of a tensor go."""

    def __init__(self, do: Steps, x: TensorRef, start: Any, sizes: Shape, axes: tuple[int, ...]) -> None:
        given = _start(do, start, axes)
        moving = [k for k, a in enumerate(axes) if sizes[a] != x.shape[a]]  # along the others it is all of x
        self.axes = tuple(axes[k] for k in moving)
        self.sizes = tuple(sizes[a] for a in self.axes)
        self.empty = not prod(sizes)
        self.places: Places | None = None
        if self.axes and not self.empty:
            taken = do.new((len(moving),), given.kind)
            for to, at in enumerate(moving):
                do.copy(view(given, at * given.strides[0], (1,), (1,)), view(taken, to, (1,), (1,)))
            words: dict[str, Any] = {f"n{k}": x.shape[a] for k, a in enumerate(self.axes)}
            numbers = do.run(window_numbers, {"start": taken}, sizes=self.sizes, **words)
            self.places = Places(numbers, self.axes, wrap=False, once=True)

    def write(self, do: Steps, y: TensorMut, update: TensorRef) -> None:
        """Put an update where the window is."""
        if self.places is not None:
            self.places.write(do, y, self.places.seen(update))
        elif not self.empty:
            move(do, update, y)

    def clear(self, do: Steps, y: TensorMut) -> None:
        """Zeros where the window is."""
        if self.places is not None:
            self.places.clear(do, y)
        elif not self.empty:
            move(do, zeros(do, y.shape, y.kind), y)


def _check_update(x: TensorRef, update: TensorRef, axes: Sequence[int]) -> None:
    fits = len(x.shape) == len(update.shape) and all(
        n == m or (a in axes and n < m) for a, (n, m) in enumerate(zip(update.shape, x.shape, strict=True))
    )
    if not fits:
        raise InvalidProblemError(
            f"update: shape is {update.shape}; expected no more than {x.shape}, and that beside axes {axes}"
        )


@composed(x="... : T", update="... : T", start="... or numbers or list () : s32 s64", out=True)
def dynamic_update_slice(
    do: Steps, x: TensorRef, update: TensorRef, start: Any, *, axis: int | tuple[int, ...] | None = None
) -> TensorMut:
    """x with the window that begins at `start`, a tensor with a number for each axis, replaced by update, whose shape it has;
    with `axis` along that axis, or those, alone.

    Starts are as in `dynamic_slice`. `out` may be `x`, of which only the window is then written. Source:
    jax.lax.dynamic_update_slice, dynamic_update_slice_in_dim, dynamic_update_index_in_dim.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dynamic_update_slice(np.zeros(4, np.float32), np.float32([1, 2]), np.array([3])).tolist()
    [0.0, 0.0, 1.0, 2.0]
    """
    axes = _along(axis, len(x.shape))
    _check_update(x, update, axes)
    found = _Window(do, x, start, update.shape, axes)
    y = copied(do, x)
    found.write(do, y, apart(do, update, y))
    return y


@composed(dy="... : T", x="... : T", start="... or numbers or list () : s32 s64")
def dynamic_slice_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    start: Any,
    *,
    axis: int | tuple[int, ...] | None = None,
) -> TensorMut:
    """The gradient of `dynamic_slice`'s x: dy where the window is, 0 elsewhere."""
    axes = _along(axis, len(x.shape))
    _check_update(x, dy, axes)
    dx = zeros(do, x.shape, dy.kind)
    _Window(do, x, start, dy.shape, axes).write(do, dx, dy)
    return dx


@composed(dy="*all : T", x="*all : T", update="... : T", start="... or numbers or list () : s32 s64")
def dynamic_update_slice_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    update: TensorRef,
    start: Any,
    *,
    axis: int | tuple[int, ...] | None = None,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `dynamic_update_slice`'s x, dy with 0 where the window is, and update, dy there; those named in `wrt` or
    both."""
    axes = _along(axis, len(x.shape))
    _check_update(x, update, axes)
    found: dict[str, Any] = {}
    for name in chosen(wrt, ("x", "update")):
        if name == "x":
            found[name] = do.new_like(dy)
            move(do, dy, found[name])
            _Window(do, x, start, update.shape, axes).clear(do, found[name])
        else:
            sizes = tuple(update.shape[a] for a in axes)
            found[name] = _sliced(do, dy, _start(do, start, axes), axes, sizes)
    return one_or_all(tuple(found.values()))
