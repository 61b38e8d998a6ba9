"""Identities, triangles of ones, and powers of numbers."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import flipped, slab, view
from baracuda.formula.complex import Complex
from baracuda.formula.expr import cast, const, coord, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Value, WholeScalar
from baracuda.ops.declaration.words import Count, Dtype
from baracuda.ops.scans.scans import cumprod

_F64, _S64 = ElementKind.F64, ElementKind.S64


def _ones_where(x: Value, *, lower: bool = False, k: WholeScalar = 0) -> Value:
    """1 on diagonal k, or with `lower` on and below it; 0 elsewhere."""
    distance = cast(coord(1), _S64) - cast(coord(0), _S64)
    one = distance <= k if lower else (distance <= k) & (distance >= k)
    if isinstance(x, Complex):
        part = x.re.kind
        return Complex(select(one, const(1, part), const(0, part)), const(0, part))
    return select(one, const(1, x.kind), const(0, x.kind))


ones_where = Op(
    _ones_where, Rule.COMMON, name="ones_where", family="creation", takes="any", byte_floats=True, differentiable=False
)


def _made(do: Steps, n: int, m: int | None, k: int, dtype: Any, lower: bool) -> TensorMut:
    y = do.rows((n, n if m is None else m), dtype or _F64)
    do.run(ones_where, {"x": y}, y, lower=lower, k=k)
    return y


@composed(like="?", creates=True, numbers={"k": ()})
def eye(do: Steps, like: TensorRef, n: Count, m: Count | None = None, k: int = 0, dtype: Dtype = None) -> Any:
    """A matrix of n rows and m columns, by default n, with ones on diagonal k and zeros elsewhere. Its element is `dtype`, by
    default f64.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.eye(2, 3, 1, "s32").tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    return _made(do, n, m, k, dtype, False)


@composed(like="?", creates=True, numbers={"k": ()})
def tri(do: Steps, like: TensorRef, n: Count, m: Count | None = None, k: int = 0, dtype: Dtype = None) -> Any:
    """A matrix of n rows and m columns, by default n, with ones on and below diagonal k and zeros elsewhere. Its element is
    `dtype`, by default f64.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.tri(2, 3, 1, "s32").tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    return _made(do, n, m, k, dtype, True)


def _powers(x: TensorRef, y: TensorMut, increasing: bool) -> tuple[Any, Any, Any]:
    """Of a matrix of powers its first power, 1, the further ones, rising, and x beside each of these."""
    axis, n = len(x.shape), y.shape[-1]
    rising = y if increasing else flipped(y, (axis,))
    beside = view(x, 0, (*x.shape, n - 1), (*x.strides, 0))
    return slab(rising, axis, 0, 1), slab(rising, axis, 1, n), beside


@composed(x="... extent")
def vander(do: Steps, x: TensorRef, n: Count | None = None, increasing: bool = False) -> Any:
    """The powers of each element of x along a new last axis: x**(n - 1), ..., x, 1, or with `increasing` 1, x, ...; n is by
    default the number of elements. Each is the product of x with itself in the order of `cumprod`; integers are multiplied in s64
    (u64).

    torch.linalg.vander is `increasing`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.vander(np.array([2, 3]), 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    kind = x.kind
    if kind.category in (Category.SIGNED, Category.BOOL):
        kind = _S64
    elif kind.category is Category.UNSIGNED:
        kind = ElementKind.U64
    count = x.shape[-1] if n is None else n
    y = do.rows((*x.shape, count), kind)
    if 0 in y.shape:
        return y
    one, further, beside = _powers(x, y, increasing)
    do.fill(one, 1)
    if count > 1:
        do.run(cumprod, {"x": beside}, further, axis=-1)
    return y


@composed(dy="...", x="... extent")
def vander_backward(do: Steps, dy: TensorRef, x: TensorRef, increasing: bool = False) -> Any:
    """The gradient of `vander`'s x: the sum over its powers of dy times their derivatives.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.vander_backward(np.ones((2, 3)), np.array([2.0, 3.0])).tolist()
    [5.0, 7.0]
    """
    if dy.shape[:-1] != x.shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {x.shape} and one axis more")
    if dy.shape[-1] < 2 or 0 in dy.shape:
        return do.filled(x.shape, x.kind, 0)
    from baracuda.ops.reductions.reductions import sum_

    _, further, beside = _powers(x, dy, increasing)  # type: ignore[arg-type]
    slopes = do.gradients(cumprod, {"x": beside}, further, ["x"], axis=-1)["x"]
    return do.run(sum_, {"x": slopes}, axis=-1)
