"""Triangles of matrices."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Value, WholeScalar


def _triangle(x: Value, *, upper: bool = False, k: WholeScalar = 0) -> Value:
    """x where column - row is at most k, or with `upper` at least k; 0 elsewhere."""
    distance = cast(coord(-1), ElementKind.S64) - cast(coord(-2), ElementKind.S64)
    kept = distance >= k if upper else distance <= k

    def part(v: Expr) -> Expr:
        return select(kept, v, const(0, v.kind))

    return Complex(part(x.re), part(x.im)) if isinstance(x, Complex) else part(x)


triangle = Op(_triangle, Rule.COMMON, name="triangle", family="shape_layout", takes="any", byte_floats=True, differentiable=False)


def _written(do: Steps, x: TensorRef, k: int, upper: bool) -> TensorRef:
    y = do.result_like(x)
    do.run(triangle, {"x": as_bits(x)}, as_bits(y), upper=upper, k=k)
    return y


def _declare(name: str, upper: bool, which: str, shown: str) -> None:
    def forward(do: Steps, x: TensorRef, k: int = 0) -> Any:
        return _written(do, x, k, upper)

    def backward(do: Steps, dy: TensorRef, k: int = 0) -> Any:
        return _written(do, dy, k, upper)

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    forward.__doc__ = f"""The elements of matrices {which} their diagonal number k, and 0 elsewhere. `out` may be x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{name}(np.array([[1, 2], [3, 4]])).tolist()
    {shown}
    """
    backward.__doc__ = f"""The gradient of `{name}`'s x: the same triangle of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{name}_backward(np.array([[1, 2], [3, 4]])).tolist()
    {shown}
    """
    composed(x="... m n", out=True, numbers={"k": ()})(forward)
    composed(dy="... m n", out=True, numbers={"k": ()})(backward)


_declare("tril", False, "on and below", "[[1, 0], [3, 4]]")
_declare("triu", True, "on and above", "[[1, 2], [0, 4]]")
