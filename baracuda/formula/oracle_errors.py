"""How far rounding may carry the results of a formula: the oracle, with a bound of the error beside every value.

A bound is what the operands' bounds can do, each for itself, and a unit in the last place of the compute kind for the node's
own rounding. What an operand's bound can do is found by evaluating the node at both ends of it. The bounds hold to first order
and whatever the signs of the errors are; where errors cancel, as in x + y - x, they are too large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr
from baracuda.formula.graph import Graph
from baracuda.formula.oracle import Evaluation

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: A unit in the last place of 1; of f64 eight, because the oracle's own functions are computed in it.
UNIT = {ElementKind.F32: 2.0**-23, ElementKind.F64: 2.0**-49}
#: The smallest subnormal and the largest finite number.
LEAST = {ElementKind.F32: 2.0**-149, ElementKind.F64: 2.0**-1074}
LARGEST = {ElementKind.F32: (2.0 - 2.0**-23) * 2.0**127, ElementKind.F64: np.inf}
#: Roundings that an element of a sum or a scan goes through in the canonical order, for any length that occurs.
DEPTH = 16
#: Operations whose results are exact.
_EXACT = frozenset(["const", "input", "gather", "param", "coord", "position", "select", "rare", "bitcast", "detach"]) | frozenset(
    ["neg", "abs", "max", "min", "floor", "ceil", "trunc", "rint", "fmod"]
    + [f"round_to_{kind}" for kind in ("f16", "bf16", "f8e4m3", "f8e5m2")]
    + ["stored_bf16", "stored_f16"]
)
#: What functions begin with whose values cross 0 where no digits cancel in the formula: near there float64 functions, the
#: oracle's too, are off by an error of the argument.
_CROSSING = ("bessel_", "airy", "lgamma", "digamma", "sinc", "cosine_integral", "expi", "hyp1f1")


def evaluate_with_errors(
    graph: Graph,
    inputs: Mapping[str, Any],
    shape: Sequence[int],
    inner: Sequence[bool],
    params: Mapping[str, float] | None = None,
) -> dict[str, tuple[Array, Array]]:
    """The outputs of a graph of mathematical functions, each with what it may be off before it is rounded to its own element.

    Parameters and errors are those of `oracle.evaluate`. A bound is infinite where a number and none are equally right.
    """
    run = _Bounded(graph, inputs, tuple(shape), tuple(inner), params or {})

    def full(x: Array, port: Any) -> Array:
        return np.array(np.broadcast_to(x, run.extents(port.axes)))

    return {port.name: (full(run.values[e], port), full(run.errors[e], port)) for port, e in run.graph.outputs}


class _Bounded(Evaluation):
    """An evaluation with a bound for every node; of a condition, 1 where it may go either way."""

    errors: dict[Expr, Array]

    def evaluated(self, n: Expr, args: list[Array]) -> Array:
        value = super().evaluated(n, args)
        if not hasattr(self, "errors"):
            self.errors = {}
        self.errors[n] = self._error(n, args, value)
        return value

    def _error(self, n: Expr, args: list[Array], value: Array) -> Array:
        operand_errors = [self.errors[a] for a in n.args]
        if n.op == "reduce" and n.attr[0] in ("sum", "prod"):
            return self._accumulated(n, args[0], operand_errors[0], value)
        if n.op == "scan":
            return self._scanned_error(n, args, operand_errors, value)
        if n.op.startswith(_CROSSING):
            operand_errors = [e + UNIT[n.kind] * np.abs(x) for e, x in zip(operand_errors, args, strict=True)]
        total: Any = np.zeros(())
        for operand, x, e in dict(zip(n.args, zip(n.args, args, operand_errors, strict=True), strict=True)).values():
            if np.any(e):  # every place of an operand at once: x == x is certain, and x - x is 0
                ends = ([end if a is operand else y for a, y in zip(n.args, args, strict=True)] for end in _ends(x, e))
                total = total + np.max([_distance(super(_Bounded, self).evaluated(n, at), value) for at in ends], axis=0)
        return np.asarray(total + self._rounding(n, value))

    def _rounding(self, n: Expr, value: Array) -> Any:
        """What the node's own rounding does; anything, where the value overflows in the compute kind."""
        if not n.kind.is_float or n.op in _EXACT or (n.op == "reduce" and n.attr[0] in ("max", "min")):
            return 0.0
        size = np.abs(value)
        own = np.where((value == 0) | ~np.isfinite(value), 0.0, UNIT[n.kind] * size + LEAST[n.kind])
        return np.where(np.isfinite(value) & (size > LARGEST[n.kind]), np.inf, own)

    def _accumulated(self, n: Expr, x: Array, e: Array, value: Array) -> Array:
        """Of a sum: the elements' bounds, and a rounding of every partial sum, none of which exceeds the sum of magnitudes. Of
        a product: what it becomes when every element is larger, and a rounding for each."""
        axes = self.reduced_axes(n.attr[1])
        size, off = (self.along(np.asarray(a, np.float64), axes) for a in (np.abs(x), np.broadcast_to(e, np.shape(x))))
        unit = UNIT[n.kind] if n.kind.is_float else 0.0
        if n.attr[0] == "sum":
            return np.asarray(off.sum(axes, keepdims=True) + DEPTH * unit * size.sum(axes, keepdims=True))
        larger = np.prod(size + off, axis=axes, keepdims=True) - np.prod(size, axis=axes, keepdims=True)
        rounded = larger + prod(self.shape[a] for a in axes) * unit * np.abs(value)
        return np.where(np.isnan(rounded) | (np.abs(value) > LARGEST.get(n.kind, np.inf)), np.inf, rounded)

    def _scanned_error(self, n: Expr, args: list[Array], operand_errors: list[Array], value: Array) -> Array:
        """By running the scan on elements that are off by their bounds and by the roundings they go through: upwards,
        downwards, and away from 0."""
        unit = UNIT[n.kind] if n.kind.is_float else 0.0
        off = [e + DEPTH * unit * np.abs(x) if x.dtype.kind == "f" else e for x, e in zip(args, operand_errors, strict=True)]
        if not any(np.any(e) for e in off):
            return np.zeros(())
        distances = []
        for way in ("up", "down", "away"):
            at = [_moved(x, e if way == "up" else -e if way == "down" else _away(x, e)) for x, e in zip(args, off, strict=True)]
            distances.append(_distance(super().evaluated(n, at), value))
        return np.asarray(np.max(distances, axis=0) + DEPTH * self._rounding(n, value))


def _ends(x: Array, e: Array) -> list[Array]:
    """The values at both ends of a bound."""
    return [_moved(x, e)] if x.dtype == np.bool_ else [_moved(x, e), _moved(x, -e)]


def _moved(x: Array, by: Any) -> Array:
    if x.dtype == np.bool_:
        return np.asarray(np.logical_xor(x, by != 0))
    if x.dtype.kind == "f":
        return np.asarray(x + by)
    limits = np.iinfo(x.dtype)
    whole = np.clip(np.rint(np.nan_to_num(by, nan=0.0, posinf=1e18, neginf=-1e18)), -1e18, 1e18).astype(np.int64)
    near = np.clip(whole, -(1 << 31), 1 << 31)
    if x.dtype.itemsize < 8:
        return np.asarray(np.clip(x.astype(np.int64) + near, limits.min, limits.max), x.dtype)
    return np.asarray(x + near.astype(x.dtype))


def _away(x: Array, e: Array) -> Array:
    """A bound with the sign of a value."""
    return np.asarray(np.where(x < 0, -e, e) if x.dtype != np.bool_ else e)


def _distance(a: Array, b: Array) -> Array:
    """How far apart values are; infinite between a number and NaN."""
    if a.dtype == np.bool_:
        return np.asarray(a != b, np.float64)
    if a.dtype.kind != "f":
        return np.asarray(np.abs(a.astype(np.float64) - b.astype(np.float64)))
    distance = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(distance), np.inf, distance)
