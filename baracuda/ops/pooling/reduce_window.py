"""reduce_window: any operation over windows of any number of axes, as jax.lax has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.formula import order
from baracuda.formula.expr import Expr, binary, cast, compare, const, select
from baracuda.formula.scans import Combine, State, combination
from baracuda.lowering.window.problem import LIMIT, Axis, Strided, covering
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Positive
from baracuda.ops.pooling.averages import check_slope, parts
from baracuda.ops.pooling.geometry import result_shape
from baracuda.ops.pooling.window import Taps, fold
from baracuda.ops.reductions.reductions import slope_of_factor

Extents = Positive | tuple[Positive, ...]
Computation = Literal["sum", "add", "max", "min", "prod", "mul", "and", "or", "xor"] | Callable[[Expr, Expr], Expr]
Pairs = Literal["VALID", "SAME", "SAME_LOWER"] | tuple[tuple[int, int], ...]
_WORDS = {"add": "sum", "mul": "prod"}
_S32, _S64 = ElementKind.S32, ElementKind.S64


def _each(value: Any, rank: int, name: str) -> tuple[int, ...]:
    given = (1,) * rank if value is None else (value,) * rank if isinstance(value, int) else tuple(value)
    if len(given) != rank:
        raise InvalidProblemError(f"{name}: {value}; expected a number, or one for each of {rank} axes")
    return given


def _axes(shape: Sequence[int], dimensions: Any, strides: Any, padding: Any, base: Any, dilation: Any) -> tuple[Axis, ...]:
    rank = len(shape)
    sizes, steps = _each(dimensions, rank, "window_dimensions"), _each(strides, rank, "window_strides")
    bases, dilations = _each(base, rank, "base_dilation"), _each(dilation, rank, "window_dilation")
    if not isinstance(padding, str) and len(padding) != rank:
        raise InvalidProblemError(f"padding: {padding}; expected a word, or a pair for each of {rank} axes")
    found = []
    for a, (n, k, s, b, d) in enumerate(zip(shape, sizes, steps, bases, dilations, strict=True)):
        spread, reach = (n - 1) * b + 1 if n else 0, (k - 1) * d + 1
        low = high = 0
        if padding in ("SAME", "SAME_LOWER"):
            total = max((-(-spread // s) - 1) * s + reach - spread, 0)
            low = total // 2 if padding == "SAME" else total - total // 2
            high = total - low
        elif padding != "VALID":
            low, high = padding[a]
        extent = max((spread + low + high - reach) // s + 1, 0)
        found.append(Axis(extent, n, Strided(k, s, d, low, b)))
    return tuple(found)


def _combine(computation: Any, kind: ElementKind, start: Any) -> Combine:
    """The operation, with what it begins with."""
    if callable(computation):
        if start is None:
            raise InvalidProblemError("init_value: got None; expected a number, which the function begins with")

        def combine(a: State, b: State) -> State:
            return (computation(a[0], b[0]),)

        combine.__name__ = getattr(computation, "__name__", "computation")
        return combination(combine, (const(start, kind),), (kind,))
    op = _WORDS.get(computation, computation)
    if op in ("and", "or", "xor") and kind.is_float:
        raise UnsupportedError(f"computation: {computation!r} of {kind}; expected integers or bool")

    def named(a: State, b: State) -> State:
        return (binary(order.COMBINE[op], a[0], b[0]),)

    named.__name__ = op
    return combination(named, (const(_start(op, kind) if start is None else start, kind),), (kind,))


def _start(op: str, kind: ElementKind) -> float:
    if kind is ElementKind.BOOL:
        return {"min": 1, "prod": 1, "and": 1}.get(op, 0)
    return order.empty(op, kind)


def _folded(combine: Combine, w: Taps) -> Expr:
    return w.fold(combine, w["x"])[0]


@composed(x="...", out=True)
def reduce_window(
    do: Steps,
    x: TensorRef,
    init_value: complex | bool | None,
    computation: Computation,
    window_dimensions: Extents,
    window_strides: Extents | None = None,
    padding: Pairs = "VALID",
    base_dilation: Extents | None = None,
    window_dilation: Extents | None = None,
) -> Any:
    """Each window of x folded by an operation: y = init_value (+) x_0 (+) x_1 ..., from the left, its elements in rising order,
    the last axis fastest.

    Windows lie along every axis of x: of window_dimensions elements, window_dilation apart, one every window_strides, in x with
    base_dilation - 1 holes between its elements and with padding before and after. Holes and padding are left out. The
    operation is a word, or a function of two expressions of the formula language that gives one of the same kind. init_value is
    rounded to the kind that x computes in; None is what changes nothing (0, 1, the least or the largest). f16 and bf16 are
    folded in f32 and rounded once, 8- and 16-bit integers in s32, and keep their low bits. Complex numbers may be summed.
    Source: jax.lax.reduce_window.

    Raises `InvalidProblemError` for options of another rank than x, `UnsupportedError` for an element that the operation is not
    defined on.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.reduce_window(np.float32([1, 5, 2, 4]), None, "max", 2).tolist()
    [5.0, 5.0, 4.0]
    >>> baracuda.reduce_window(np.float32([1, 2, 3, 4]), 0.0, lambda a, b: a + 2.0 * b, (2,), (2,)).tolist()
    [6.0, 14.0]
    """
    axes = _axes(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    y = do.result(result_shape(axes), x.kind, x)
    is_complex = x.kind.category is Category.COMPLEX
    if is_complex and computation not in ("sum", "add"):
        raise UnsupportedError(f"computation: {computation!r} of {x.kind}; expected 'sum'")
    if isinstance(init_value, complex) and not is_complex:
        raise InvalidProblemError(f"init_value: {init_value!r}; expected a real number for {x.kind}")
    start = None if init_value is None else complex(init_value)
    starts = [init_value] if not is_complex else [None, None] if start is None else [start.real, start.imag]
    for part, into, first in zip(parts(x), parts(y), starts, strict=True):
        combine = _combine(computation, part.kind.compute, first)
        fold(do, partial(_folded, combine), axes, {"x": part}, into)
    return y


@composed(dy="?", x="... : float complex", out=True)
def reduce_window_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    init_value: complex | None,
    computation: Computation,
    window_dimensions: Extents,
    window_strides: Extents | None = None,
    padding: Pairs = "VALID",
    base_dilation: Extents | None = None,
    window_dilation: Extents | None = None,
) -> Any:
    """The gradient of `reduce_window`'s x: of each element the sum, over the windows that show it in rising order, of dy (sum);
    of dy where it is the window's largest or least, the first of equal ones, and not beyond init_value (max, min); of dy times
    the product of all other factors (prod), which is theirs divided by x, or where x is 0 and no other factor is, theirs.

    Raises `UnsupportedError` for another operation.
    """
    axes = _axes(x.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    shape = result_shape(axes)
    check_slope(dy, x, shape)
    op = "a function" if callable(computation) else _WORDS.get(computation, computation)
    dx = do.result(x.shape, x.kind, x)
    if op == "sum":
        for part, into in zip(parts(dy), parts(dx), strict=True):
            fold(do, lambda w: w.sum(w["dy"]), covering(axes), {"dy": part}, into)
        return dx
    if x.kind.category is Category.COMPLEX or op not in ("max", "min", "prod"):
        raise UnsupportedError(f"computation: {op} of {x.kind} has no gradient; expected sum, or max, min or prod of floats")
    assert not isinstance(init_value, complex)
    if op == "prod":
        _of_products(do, dy, x, dx, axes, init_value)
    else:
        _of_extrema(do, dy, x, dx, axes, init_value, least=op == "min")
    return dx


def _of_extrema(
    do: Steps, dy: TensorRef, x: TensorRef, dx: Any, axes: tuple[Axis, ...], start: float | None, *, least: bool
) -> None:
    windowed = [a for a, axis in enumerate(axes) if axis.rule != Strided(1)] or list(range(len(axes)))
    count = 1
    for a in windowed:
        count *= axes[a].source
    kind = _S32 if count < LIMIT else _S64
    numbers = {f"extent{a}": axis.source for a, axis in enumerate(axes)} | {"start": 0.0 if start is None else start}

    def place(w: Taps) -> Expr:
        if not axes:
            return const(0, kind)
        value, index = w.largest(w["x"], w.position(windowed, (), kind, tap=True), least=least)
        if start is None:
            return index
        first = w.number("start", value.kind)
        beyond = compare("lt" if least else "gt", first, value)
        return select(beyond, const(-1, kind), index)

    def slope(w: Taps) -> Expr:
        dy = w["dy"]
        here = w.position(windowed, (), kind, tap=False) if axes else const(0, kind)
        return w.sum(select(compare("eq", w["indices"], here), dy, const(0.0, dy.kind)))

    indices = do.new(dy.shape, kind, x)
    fold(do, place, axes, {"x": x}, indices, None, numbers)
    fold(do, slope, covering(axes), {"dy": dy, "indices": indices}, dx, None, numbers)


def _of_products(do: Steps, dy: TensorRef, x: TensorRef, dx: Any, axes: tuple[Axis, ...], start: float | None) -> None:
    kind = x.kind.compute
    others, zeros = do.new(dy.shape, kind, x), do.new(dy.shape, kind, x)
    numbers = {"start": 1.0 if start is None else start}

    def products(w: Taps) -> tuple[Expr, Expr]:
        x = w["x"]
        is_zero = compare("eq", x, 0.0)
        product = w.reduce("prod", select(is_zero, const(1.0, kind), x)) * w.number("start", kind)
        return product, w.sum(cast(is_zero, kind))

    def slope(w: Taps) -> Expr:
        return w.sum(w["dy"] * slope_of_factor(w["x"], w["others"], w["zeros"]))

    fold(do, products, axes, {"x": x}, (others, zeros), None, numbers)
    fold(do, slope, covering(axes), {"dy": dy, "others": others, "zeros": zeros}, dx, {"x": x})
