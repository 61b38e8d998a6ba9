"""The oracle: what a formula means, computed in float64 by NumPy and SciPy.

It interprets the mathematical functions as they stand in the formula, before `expand`, and shares no code with either
lowering, so that a value from a kernel can be held against it. Bits are not its subject: it knows neither rounding to
f32 nor the canonical order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.host import HostName, value_of
from baracuda.formula.expr import Axes, Expr
from baracuda.formula.functions import reserved_value
from baracuda.formula.graph import Graph, Port
from baracuda.formula.loops import turned
from baracuda.formula.oracle_reads import read
from baracuda.formula.oracle_special import SPECIAL
from baracuda.formula.pooling import unpooled

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def evaluate(
    graph: Graph,
    inputs: Mapping[str, Any],
    shape: Sequence[int],
    inner: Sequence[bool],
    params: Mapping[str, float] | None = None,
) -> dict[str, Array]:
    """The outputs of a graph of mathematical functions.

    Parameters
    ----------
    inputs : Mapping[str, array]
        For each input, an array of the rank of the iteration space, with extent 1 along the axes it does not vary along, and
        behind them the axes that it is read at indices of. Floats of every kind are widened to float64; integers keep the kind
        of the graph.
    shape, inner : Sequence[int], Sequence[bool]
        The extents of the iteration space, and which of its axes are inner.
    params : Mapping[str, float] | None
        The scalars given at run time, rounded to their kind as a kernel would. The length of a row is known.

    Returns
    -------
    dict[str, Array]
        float64 for float outputs, exact integers of the compute kind for integer ones, bool for conditions; extent 1
        along the axes that an output does not vary along.

    Raises `InvalidProblemError` for a missing input or parameter or a shape that does not fit, `UnsupportedError` for
    operations on the bits of floats, which have no meaning in float64.
    """
    run = Evaluation(graph, inputs, tuple(shape), tuple(inner), params or {})
    return {port.name: np.array(np.broadcast_to(run.values[expr], run.extents(port.axes))) for port, expr in run.graph.outputs}


def _dtype(kind: ElementKind) -> np.dtype[Any]:
    return np.dtype(np.float64) if kind.is_float else kind.compute.numpy


class Evaluation:
    """One run over a graph; `values` has every node's value, broadcastable to the iteration space."""

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Any],
        shape: tuple[int, ...],
        inner: tuple[bool, ...],
        params: Mapping[str, float],
    ) -> None:
        if len(shape) != len(inner):
            raise InvalidProblemError(f"shape {shape} has rank {len(shape)}, inner {inner} has {len(inner)}")
        graph = unpooled(graph)
        self.graph, self.shape, self.inner, self.params = graph, shape, inner, params
        self.dims = {n.attr.name: len(n.attr.dims or ()) for n in graph.nodes if n.op == "gather"}
        self.inputs = {port.name: self._loaded(port, inputs) for port in graph.inputs}
        self.values: dict[Expr, Array] = {}
        with np.errstate(all="ignore"):
            for n in graph.nodes:
                self.values[n] = self.evaluated(n, [self.values[a] for a in n.args])

    def evaluated(self, n: Expr, args: list[Array]) -> Array:
        """A node's value, given those of its operands."""
        return np.asarray(self._value(n, args), _dtype(n.kind))

    def reduced_axes(self, over: Axes) -> tuple[int, ...]:
        """The axes of the iteration space that a reduction runs over."""
        return tuple(a for a, i in enumerate(self.inner) if over & (Axes.INNER if i else Axes.OUTER))

    def along(self, x: Array, axes: Sequence[int]) -> Array:
        """A value repeated along some axes: one that does not vary along them counts once for each of their points."""
        shape = x.shape or (1,) * len(self.shape)
        return np.broadcast_to(x, [self.shape[a] if a in axes else extent for a, extent in enumerate(shape)])

    def extents(self, axes: Axes) -> tuple[int, ...]:
        """The iteration space without the axes that a value does not vary along."""
        return tuple(
            extent if axes & (Axes.INNER if i else Axes.OUTER) else 1 for extent, i in zip(self.shape, self.inner, strict=True)
        )

    def _loaded(self, port: Port, inputs: Mapping[str, Any]) -> Array:
        if port.name not in inputs:
            raise InvalidProblemError(f"input {port.name!r} is missing; got {', '.join(inputs) or 'none'}")
        array = np.asarray(inputs[port.name])
        most = self.extents(port.axes)
        extra = self.dims.get(port.name, 0)
        most += array.shape[array.ndim - extra :]
        if array.ndim != len(most) or any(n not in (1, m) for n, m in zip(array.shape, most, strict=True)):
            raise InvalidProblemError(f"input {port.name!r} has shape {array.shape}; expected {most}, or 1 in place of an extent")
        return array.astype(_dtype(port.kind))

    def _value(self, n: Expr, args: list[Array]) -> Any:
        if n.op == "const":
            return n.value
        if n.op == "input":
            return self.inputs[n.attr[0]]
        if n.op == "gather":
            return read(n.attr, self.inputs[n.attr.name], self.shape, self.inner, args)
        if n.op == "param":
            return self._parameter(n)
        if n.op == "coord":
            axis = n.attr % len(self.shape)
            return np.arange(self.shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        if n.op == "position":
            inner = [extent if i else 1 for extent, i in zip(self.shape, self.inner, strict=True)]
            return np.arange(prod(inner)).reshape(inner)
        if n.op == "reduce":
            return self._reduced(n, args[0])
        if n.op == "scan":
            return self._scanned(n, args)
        if n.op in ("select", "rare"):
            return np.where(*args)
        if n.op == "loop":
            return turned(n, args, self.evaluated, np.where)
        if n.op == "cast":
            return _converted(args[0], n.args[0].kind, n.kind)
        operation = _operation(n)
        if operation is None:
            raise UnsupportedError(f"{n.op} on {n.kind} has no meaning in float64; the oracle reads graphs before `expand`")
        return operation(*args)

    def _parameter(self, n: Expr) -> Any:
        if n.attr not in self.params and not isinstance(n.attr, HostName):
            reserved = reserved_value(n.attr, self.shape, self.inner)
            if reserved is not None:
                return reserved
            raise InvalidProblemError(f"parameter {n.attr!r} is missing; got {', '.join(self.params) or 'none'}")
        return n.kind.numpy.type(value_of(n.attr, self.params))

    def _scanned(self, n: Expr, args: list[Array]) -> Array:
        """The running state after 1, 2, 4, ... elements, each from two of the one before: the last is after all of them."""
        combine = n.attr.combine
        rows = tuple(a for a, i in enumerate(self.inner) if not i)
        order = (*rows, *(a for a, i in enumerate(self.inner) if i))
        shape = [self.shape[a] for a in order]
        length = prod(shape[len(rows) :])
        state = [np.broadcast_to(x, self.shape).transpose(order).reshape(*shape[: len(rows)], length) for x in args]
        if n.attr.reverse:
            state = [x[..., ::-1] for x in state]
        step = 1
        while step < length:
            later = self._combined(combine, [x[..., :-step] for x in state], [x[..., step:] for x in state])
            state = [np.concatenate([x[..., :step], y], -1) for x, y in zip(state, later, strict=True)]
            step *= 2
        x: Array = state[n.attr.component]
        if n.attr.exclusive:
            x = np.concatenate([np.full_like(x[..., :1], combine.identity[n.attr.component].value), x[..., :-1]], -1)
        return (x[..., ::-1] if n.attr.reverse else x).reshape(shape).transpose(np.argsort(order))

    def _combined(self, combine: Any, left: list[Array], right: list[Array]) -> list[Array]:
        """A scan's operation on two arrays of states."""
        values = dict(zip((*combine.left, *combine.right), (*left, *right), strict=True))
        for n in combine.nodes:
            if n not in values:
                values[n] = np.asarray(self._value(n, [values[a] for a in n.args]), _dtype(n.kind))
        return [np.broadcast_to(values[r], left[0].shape) for r in combine.results]

    def _reduced(self, n: Expr, x: Array) -> Any:
        op, over = n.attr
        axes = self.reduced_axes(over)
        x = self.along(x, axes)
        if op in ("sum", "prod"):
            wide = np.longdouble if n.kind.is_float else x.dtype
            return (np.sum if op == "sum" else np.prod)(x, axis=axes, dtype=wide, keepdims=True)
        if op in ("and", "or", "xor"):
            return _INTEGER[op].reduce(x, axis=axes, keepdims=True)
        if n.kind.is_float:
            least: Any = -np.inf if op == "max" else np.inf
        else:
            least = np.iinfo(x.dtype).min if op == "max" else np.iinfo(x.dtype).max
        return (np.max if op == "max" else np.min)(x, axis=axes, keepdims=True, initial=least)


def _converted(x: Array, source: ElementKind, target: ElementKind) -> Any:
    """Conversion by value: a float is truncated and saturated, and NaN becomes 0."""
    if target is ElementKind.BOOL:
        return x != 0
    if target.is_float or not source.is_float:
        return x.astype(_dtype(target))
    limits = np.iinfo(_dtype(target))
    whole = np.trunc(np.where(np.isnan(x), 0.0, x))
    inside = (whole >= float(limits.min)) & (whole < float(limits.max))
    exact = np.where(inside, whole, 0.0).astype(limits.dtype)
    return np.where(inside, exact, np.where(whole < 0, limits.min, limits.max).astype(limits.dtype))


def _unsigned(x: Array) -> Array:
    bits: Array = x.view(np.dtype(f"u{x.dtype.itemsize}"))
    return bits


def _quotient(x: Array, y: Array) -> Array:
    """Towards zero; 0 where y is."""
    down = np.floor_divide(x, y)
    quotient: Array = down + ((np.fmod(x, y) != 0) & ((x < 0) != (y < 0)) & (y != 0))
    return quotient


def _upper_half(x: Array, y: Array) -> Array:
    exact = x.astype(object) * y.astype(object) >> 8 * x.dtype.itemsize
    return np.asarray(exact).astype(x.dtype)


def _leading_zeros(x: Array) -> Array:
    bits = 8 * x.dtype.itemsize
    return np.asarray(np.vectorize(lambda v: bits - int(v).bit_length(), otypes=[x.dtype])(x))


def _operation(n: Expr) -> Callable[..., Any] | None:
    kind = n.args[0].kind
    if n.op.startswith("complex_"):
        return _part_of(n.op)
    if n.op in _ANY:
        return _ANY[n.op]
    if kind.is_float:
        return _FLOAT.get(n.op)
    if n.op == "not":
        return np.logical_not if kind.category is Category.BOOL else np.invert
    return _INTEGER.get(n.op)


def _part_of(op: str) -> Callable[..., Any]:
    """The real or the imaginary part of a function of complex numbers, of which every argument is given in two parts."""
    name, _, part = op.removeprefix("complex_").partition(".")

    def function(*parts: Array) -> Any:
        arguments = []
        for re, im in zip(parts[::2], parts[1::2], strict=True):
            z = np.empty(np.broadcast_shapes(re.shape, im.shape), np.complex128)
            z.real, z.imag = re, im
            arguments.append(z)
        value = _COMPLEX[name](*arguments)
        return value.real if part == "re" else value.imag

    return function


_COMPLEX: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda z: 1.0 / np.sqrt(z),
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "asin": np.arcsin,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "pow": np.power,
}
#: Defined alike on floats and integers; NumPy's integers wrap.
_ANY: dict[str, Callable[..., Any]] = {
    "detach": np.asarray,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "abs": np.abs,
    "max": np.maximum,
    "min": np.minimum,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_INTEGER: dict[str, Any] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "idiv": lambda x, y: _quotient(x, y),
    "irem": np.fmod,
    "mulhi": lambda x, y: _upper_half(x, y),
    "gcd": np.gcd,
    "popcount": lambda x: np.bitwise_count(_unsigned(x)),
    "clz": lambda x: _leading_zeros(_unsigned(x)),
    "shl": np.left_shift,
    "shr": np.right_shift,
}
_FLOAT: dict[str, Callable[..., Any]] = {
    **SPECIAL,
    "div": np.divide,
    "fma": lambda a, b, c: np.longdouble(1) * a * b + c,
    "fmod": np.fmod,
    "remainder": np.remainder,
    "round_to_f16": lambda x: x.astype(ElementKind.F16.numpy),
    "round_to_bf16": lambda x: x.astype(ElementKind.BF16.numpy),
    "round_to_f8e4m3": lambda x: x.astype(ElementKind.F8E4M3.numpy),
    "round_to_f8e5m2": lambda x: x.astype(ElementKind.F8E5M2.numpy),
    "stored_f16": lambda x: x.astype(ElementKind.F16.numpy),
    "stored_bf16": lambda x: x.astype(ElementKind.BF16.numpy),
    "code_f8e4m3": lambda x: np.clip(x, -448, 448).astype(ElementKind.F8E4M3.numpy).view(np.uint8).astype(np.int64),
    "code_f8e5m2": lambda x: np.clip(x, -57344, 57344).astype(ElementKind.F8E5M2.numpy).view(np.uint8).astype(np.int64),
    "sqrt": np.sqrt,
    "root": np.sqrt,
    "rint": np.rint,
    "nearest_integer": lambda x: np.rint(np.nan_to_num(x)).astype(np.int64),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": special.exp10,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sigmoid": special.expit,
    "erf": special.erf,
    "erfc": special.erfc,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "cbrt": np.cbrt,
    "hypot": np.hypot,
    "pow": np.power,
}
