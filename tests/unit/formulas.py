"""Formulas written once and read twice: as expressions, and as PyTorch operations.

`symbolic` and `autograd` are the two vocabularies. A row runs along the last of two axes.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from baracuda.core.elements import ElementKind
from baracuda.formula import expr as e
from baracuda.formula import functions as f
from baracuda.formula.expr import Axes, input_, reduce
from baracuda.formula.graph import Graph, Port

F64 = ElementKind.F64
FULL, OUTER, INNER, NONE = Axes.FULL, Axes.OUTER, Axes.INNER, Axes.NONE

#: Names of functions of one argument that the two sides share.
SHARED = (
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log1p",
    "log10",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sigmoid",
    "erf",
    "erfc",
    "rsqrt",
    "sqrt",
    "floor",
)

symbolic = SimpleNamespace(
    **{name: getattr(f, name) for name in SHARED},
    exp10=f.exp10, cbrt=f.cbrt, atan2=f.atan2, hypot=f.hypot,
    rint=f.rint, pow=f.pow_, maximum=f.maximum, minimum=f.minimum, where=f.where, fma=e.fma, abs=abs,
    ceil=lambda x: e.unary("ceil", x), trunc=lambda x: e.unary("trunc", x),
    sum=f.sum_, prod=f.prod, max=f.max_, min=f.min_, mean=f.mean, sum_rows=f.sum_rows,
    **{f"{op}_rows": lambda x, op=op: reduce(op, x, OUTER) for op in ("prod", "max", "min")},
    rare=e.rare, single=lambda x: e.cast(x, ElementKind.F32), double=lambda x: e.cast(x, F64),
    constant=lambda value: e.const(value, F64), column=lambda: e.cast(f.index(-1), F64),
)  # fmt: skip
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": torch.sum, "prod": torch.prod, "max": torch.amax, "min": torch.amin, "mean": torch.mean,
}  # fmt: skip


def reduced(op: str, axis: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """A reduction in which a value that does not vary along the axis counts once for each of its points."""

    def apply(x: torch.Tensor) -> torch.Tensor:
        return REDUCTIONS[op](x.expand([SHAPE[a] if a == axis else n for a, n in enumerate(x.shape)]), axis, keepdim=True)

    return apply


autograd = SimpleNamespace(
    **{name: getattr(torch.special if name in ("erfc", "expm1") else torch, name) for name in SHARED},
    exp10=lambda x: torch.pow(10.0, x), cbrt=lambda x: x.sign() * x.abs() ** (1 / 3), atan2=torch.atan2, hypot=torch.hypot,
    rint=torch.round, pow=torch.pow, maximum=torch.maximum, minimum=torch.minimum, where=torch.where, abs=torch.abs,
    fma=lambda a, b, c: a * b + c, ceil=torch.ceil, trunc=torch.trunc,
    **{name: reduced(name, 1) for name in REDUCTIONS},
    **{f"{name}_rows": reduced(name, 0) for name in REDUCTIONS},
    rare=torch.where, single=lambda x: x, double=lambda x: x,
    constant=lambda value: torch.tensor(value, dtype=torch.float64),
    column=lambda: torch.arange(SHAPE[1], dtype=torch.float64),
)  # fmt: skip


SHAPE, INNER_AXES = (3, 5), (False, True)
EXTENTS = {FULL: SHAPE, OUTER: (3, 1), INNER: (1, 5), NONE: (1, 1)}


def trace(formula: Callable[..., Any], axes: Mapping[str, Axes], result: Axes = FULL, kind: ElementKind = F64) -> Graph:
    inputs = tuple(Port(name, kind, a) for name, a in axes.items())
    y = formula(symbolic, *(input_(p.name, p.kind, p.axes) for p in inputs))
    return Graph(inputs, ((Port("y", kind, result), y),), INNER_AXES)


@dataclass(frozen=True)
class Formula:
    formula: Callable[..., Any]
    axes: tuple[Axes, ...] = (FULL,)
    result: Axes = FULL
    low: float = -2.0
    high: float = 2.0

    def graph(self) -> Graph:
        return trace(self.formula, self.named(), self.result)

    def named(self) -> dict[str, Axes]:
        return dict(zip("abcdef", self.axes, strict=False))

    def values(self, name: str) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        inputs = {k: rng.uniform(self.low, self.high, EXTENTS[a]) for k, a in self.named().items()}
        return inputs | {"dy": rng.normal(size=EXTENTS[self.result])}


def layer_norm(F: Any, x: Any, gamma: Any, beta: Any) -> Any:
    d = x - F.mean(x)
    return d * F.rsqrt(F.mean(d * d) + 1e-5) * gamma + beta


def batch_norm(F: Any, x: Any, gamma: Any) -> Any:
    d = x - F.sum_rows(x) * (1 / 3)
    return d * F.rsqrt(F.sum_rows(d * d) * (1 / 3) + 1e-5) * gamma


def softmax(F: Any, x: Any) -> Any:
    exponentials = F.exp(x - F.max(x))
    return exponentials / F.sum(exponentials)


def scaled(F: Any, x: Any, scale: Any, row: Any, column: Any) -> Any:
    return F.sin(x * scale + row) * F.exp(column * row) + scale


CASES = {
    "add": Formula(lambda F, a, b: a + b, (FULL, FULL)),
    "sub": Formula(lambda F, a, b: a - b, (FULL, FULL)),
    "mul": Formula(lambda F, a, b: a * b, (FULL, FULL)),
    "square": Formula(lambda F, a: a * a),
    "div": Formula(lambda F, a, b: a / b, (FULL, FULL), low=0.5),
    "reciprocal": Formula(lambda F, a: 1.0 / a, low=0.5),
    "fma": Formula(lambda F, a, b, c: F.fma(a, b, c), (FULL, FULL, FULL)),
    "fma of one": Formula(lambda F, a: F.fma(a, a, a)),
    "neg": Formula(lambda F, a: -a),
    "abs": Formula(lambda F, a: F.abs(a)),
    "maximum": Formula(lambda F, a, b: F.maximum(a, b), (FULL, FULL)),
    "minimum": Formula(lambda F, a, b: F.minimum(a, b), (FULL, FULL)),
    "maximum of one's own": Formula(lambda F, a: F.maximum(a * a, a + 0.1)),
    "where": Formula(lambda F, a, b, c: F.where(a > 0.0, b * a, c), (FULL, FULL, FULL)),
    "rare": Formula(lambda F, a: F.rare(a > 1.5, F.exp(a), a * a)),
    "nested where": Formula(
        lambda F, a, b: F.where(a > 0.0, F.where(b > 0.0, a * b, a), F.where(a < -1.0, b, a * a)), (FULL, FULL)
    ),
    "shared branches": Formula(lambda F, a: F.where(a > 0.0, F.sin(a), 0.0) + F.where(a > 1.0, F.sin(a), a) * F.sin(a)),
    "cast": Formula(lambda F, a: F.double(F.single(a)) * a),
    "step": Formula(lambda F, a: a * (F.rint(a) + F.floor(a) + F.ceil(a) + F.trunc(a))),
    "coordinate": Formula(lambda F, a: a * F.column()),
    "sqrt": Formula(lambda F, a: F.sqrt(a), low=0.1),
    "rsqrt": Formula(lambda F, a: F.rsqrt(a), low=0.1),
    "exp": Formula(lambda F, a: F.exp(a)),
    "exp2": Formula(lambda F, a: F.exp2(a)),
    "expm1": Formula(lambda F, a: F.expm1(a)),
    "log": Formula(lambda F, a: F.log(a), low=0.1),
    "log2": Formula(lambda F, a: F.log2(a), low=0.1),
    "log1p": Formula(lambda F, a: F.log1p(a), low=-0.9),
    "sin": Formula(lambda F, a: F.sin(a)),
    "cos": Formula(lambda F, a: F.cos(a)),
    "tan": Formula(lambda F, a: F.tan(a), low=-1.4, high=1.4),
    "tanh": Formula(lambda F, a: F.tanh(a)),
    "sigmoid": Formula(lambda F, a: F.sigmoid(a)),
    "erf": Formula(lambda F, a: F.erf(a)),
    "erfc": Formula(lambda F, a: F.erfc(a)),
    "exp10": Formula(lambda F, a: F.exp10(a)),
    "log10": Formula(lambda F, a: F.log10(a), low=0.1),
    "asin": Formula(lambda F, a: F.asin(a), low=-0.95, high=0.95),
    "acos": Formula(lambda F, a: F.acos(a), low=-0.95, high=0.95),
    "atan": Formula(lambda F, a: F.atan(a)),
    "atan2": Formula(lambda F, a, b: F.atan2(a, b), (FULL, FULL)),
    "sinh": Formula(lambda F, a: F.sinh(a)),
    "cosh": Formula(lambda F, a: F.cosh(a)),
    "asinh": Formula(lambda F, a: F.asinh(a)),
    "acosh": Formula(lambda F, a: F.acosh(a), low=1.1, high=4.0),
    "atanh": Formula(lambda F, a: F.atanh(a), low=-0.95, high=0.95),
    "cbrt": Formula(lambda F, a: F.cbrt(a), low=0.1),
    "hypot": Formula(lambda F, a, b: F.hypot(a, b), (FULL, FULL)),
    "pow": Formula(lambda F, a, b: F.pow(a, b), (FULL, FULL), low=0.1),
    "pow of a constant": Formula(lambda F, a: F.pow(F.constant(1.7), a)),
    "square by pow": Formula(lambda F, a: F.pow(a, F.constant(2.0))),
    "first power": Formula(lambda F, a: F.pow(a, F.constant(1.0)) * a),
    "zeroth power": Formula(lambda F, a: F.pow(a, F.constant(0.0)) * a),
    "fractional power": Formula(lambda F, a: a**2.5, low=0.1),
    "negative power": Formula(lambda F, a: a**-2, low=0.5),
    "cube": Formula(lambda F, a: a**3),
    "sum": Formula(lambda F, a: F.sum(a * a), result=OUTER),
    "prod": Formula(lambda F, a: F.prod(a), result=OUTER),
    "max": Formula(lambda F, a: F.max(a), result=OUTER),
    "min": Formula(lambda F, a: F.min(a), result=OUTER),
    "sum of rows": Formula(lambda F, a: F.sum_rows(a * a), result=INNER),
    "product of rows": Formula(lambda F, a: F.prod_rows(a), result=INNER),
    "max of rows": Formula(lambda F, a: F.max_rows(a), result=INNER),
    "min of rows": Formula(lambda F, a: F.min_rows(a), result=INNER),
    "sum of everything": Formula(lambda F, a: F.sum_rows(F.sum(F.exp(a))), result=NONE),
    "row used by all": Formula(lambda F, a, b: a * F.exp(b), (FULL, OUTER)),
    "column used by all": Formula(lambda F, a, b: a * F.exp(b), (FULL, INNER)),
    "scalar used by all": Formula(lambda F, a, b: a * F.exp(b), (FULL, NONE)),
    "scalar used by rows": Formula(lambda F, a, b: F.sum(a) * F.exp(b), (FULL, NONE), OUTER),
    "result wider than its formula": Formula(lambda F, a: F.exp(a), (OUTER,)),
    "scalar stored everywhere": Formula(lambda F, a: F.exp(a), (NONE,)),
    "everything broadcast": Formula(scaled, (FULL, NONE, OUTER, INNER)),
    "row summed along itself": Formula(lambda F, a, b: a * F.sum(b * b), (FULL, OUTER)),
    "row multiplied along itself": Formula(lambda F, a: F.prod(a), (OUTER,), OUTER),
    "row compared along itself": Formula(lambda F, a: F.max(a * a) * a, (OUTER,), OUTER),
    "scalar summed over rows": Formula(lambda F, a: F.sum_rows(F.sum(a) * a), (NONE,), NONE),
    "column summed over rows": Formula(lambda F, a: F.sum_rows(a * a), (INNER,), INNER),
    "mean of a product": Formula(lambda F, a, b: F.mean(a * b), (FULL, NONE), OUTER),
    "outer product": Formula(lambda F, a, b: a * b, (OUTER, INNER)),
    "softmax": Formula(softmax),
    "logsumexp": Formula(lambda F, a: F.max(a) + F.log(F.sum(F.exp(a - F.max(a)))), result=OUTER),
    "layer norm": Formula(layer_norm, (FULL, INNER, INNER)),
    "batch norm": Formula(batch_norm, (FULL, INNER)),
    "gelu": Formula(lambda F, a: a * 0.5 * (1.0 + F.erf(a * math.sqrt(0.5)))),
    "gelu by tanh": Formula(lambda F, a: 0.5 * a * (1.0 + F.tanh(0.7978845608 * (a + 0.044715 * a * a * a)))),
    "leaky relu": Formula(lambda F, a: F.where(a > 0.0, a, 0.01 * a)),
}  # fmt: skip
