"""Products, derivatives and integrals of polynomials given by their coefficients, highest power first.

`baracuda.frontends.polynomials` runs these ops on the coefficients, or on what of them a result is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, Shape, Space, Value

#: The highest order of a derivative or an integral: the kernel has one step for each.
MOST_ORDER = 256


def _product_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"a": (1,), "b": (None,)}, {0: shapes["a"][0] + shapes["b"][0] - 1})


def _product(a: Value, b: Table) -> Value:
    """The sum over k of a[k] * b[t - k], of what there is of b."""
    at = coord(0) - coord(1)
    there = (at >= 0) & (at < table_extent(b, 0, at.kind))
    terms = a * take(b, at)
    return map_parts(lambda part: f.sum_(select(there, part, const(-0.0, part.kind))), terms)


def _correlation(a: Value, b: Value) -> Value:
    """The sum of a * conj(b), one window of which is a row of a."""
    return map_parts(f.sum_, a * (b.conjugate() if isinstance(b, Complex) else b))


def _by_degree(c: Value, degree: Scalar, step: Callable[[Expr, Expr], Expr], order: int) -> Value:
    """Coefficients changed `order` times, given each one's degree, which is `degree` for the first."""

    def changed(part: Expr) -> Expr:
        own = degree - cast(coord(0), part.kind)
        for k in range(order):
            part = step(part, own + float(k))
        return part

    return map_parts(changed, c)


def _derivative(c: Value, *, degree: Scalar = 0.0, order: int = 1) -> Value:
    """c * (d + 1) * ... * (d + order), with d the degree in the derivative."""
    return _by_degree(c, degree, lambda part, d: part * (d + 1.0), order)


def _integral(c: Value, *, degree: Scalar = 0.0, order: int = 1) -> Value:
    """c / (d + 1) / ... / (d + order), with d the degree before; a constant that only a later integration brings in has a
    negative one, and is divided from then on."""
    return _by_degree(c, degree, lambda part, d: part / f.maximum(d + 1.0, 1.0), order)


_SPECIAL: dict[str, Any] = {"family": "special", "takes": "float,complex"}
product = Op(_product, Rule.COMMON, name="polymul", rows=True, axis=1, keepdims=False, space=_product_space, **_SPECIAL)
correlation = Op(_correlation, Rule.COMMON, name="polymul_backward", rows=True, keepdims=False, **_SPECIAL)
derivative = Op(_derivative, Rule.COMMON, name="polyder", **_SPECIAL)
integral = Op(_integral, Rule.COMMON, name="polyint", **_SPECIAL)
