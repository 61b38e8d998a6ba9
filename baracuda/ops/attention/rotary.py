"""Rotary position embedding: pairs of elements turned by an angle (Su et al., RoFormer, 2021)."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, slab, view
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own


def _rotated(first: Expr, second: Expr, cos: Own, sin: Own, *, inverse: bool = False) -> tuple[Expr, Expr]:
    """(first * cos - second * sin, second * cos + first * sin); inverse: turned back, which is the gradient."""
    c, s = cast(cos, first.kind), cast(sin, first.kind)
    s = -s if inverse else s
    return first * c - second * s, second * c + first * s


rotation = Op(
    _rotated, Rule.COMMON, name="rotation", family="attention", takes="float", results=("y", "z"), constants=("cos", "sin")
)


def _halves(tensor: TensorRef, pairs: int, interleaved: bool) -> tuple[Any, Any]:
    """The first and the second element of each pair."""
    last = len(tensor.shape) - 1
    if not interleaved:
        return slab(tensor, last, 0, pairs), slab(tensor, last, pairs, 2 * pairs)
    shape, strides = (*tensor.shape[:-1], pairs), (*tensor.strides[:-1], 2 * tensor.strides[-1])
    return view(tensor, 0, shape, strides), view(tensor, tensor.strides[-1], shape, strides)


def _table(table: TensorRef, x: TensorRef, axis: int) -> TensorRef:
    """A table of angles laid along the sequence and the pairs of x."""
    rank = len(x.shape)
    return expanded_dims(table, (axis % rank, rank - 1), rank) if len(table.shape) == 2 and rank > 2 else table


def _rotate(do: Steps, x: TensorRef, cos: TensorRef, sin: TensorRef, interleaved: bool, axis: int, inverse: bool) -> TensorRef:
    rank = len(x.shape)
    if axis % rank == rank - 1:
        raise InvalidProblemError(f"axis: {axis} of x {x.shape}; expected the axis of the sequence, before the last one")
    cos, sin = _table(cos, x, axis), _table(sin, x, axis)
    pairs = cos.shape[-1]
    if cos.shape != sin.shape or 2 * pairs > x.shape[-1]:
        raise InvalidProblemError(
            f"cos {cos.shape}, sin {sin.shape}: expected one shape, and at most {x.shape[-1] // 2} angles for x {x.shape}"
        )
    y = do.result_like(x)
    first, second = _halves(x, pairs, interleaved)
    tensors = {"first": first, "second": second, "cos": cos, "sin": sin}
    do.run(rotation, tensors, _halves(y, pairs, interleaved), inverse=inverse)
    if 2 * pairs < x.shape[-1] and y.pointer != x.pointer:
        do.copy(slab(x, rank - 1, 2 * pairs, x.shape[-1]), slab(y, rank - 1, 2 * pairs, x.shape[-1]))
    return y


_TABLES: dict[str, Any] = {"cos": "*table pairs : float", "sin": "*table pairs : float"}


@composed(x="*before extent@axis *after : float", **_TABLES, out=True)
def rope(do: Steps, x: TensorRef, cos: TensorRef, sin: TensorRef, *, interleaved: bool = False, axis: int = -2) -> TensorRef:
    """Pairs of elements of the last axis turned by angles: (a, b) becomes (a cos - b sin, b cos + a sin).

    Parameters
    ----------
    x
        Queries or keys in a float element and any strides, such as (batch, heads, sequence, depth).
    cos, sin
        Tables of (sequence, pairs), or tensors that broadcast to x with `pairs` along the last axis (tables at positions of their
        own for each batch element: (batch, 1, sequence, pairs)). `rope_scaling_tables` makes them.
    interleaved
        Whether a pair is elements 2p and 2p + 1 (GPT-J, RoFormer); else p and p + pairs (GPT-NeoX, Llama).
    axis
        The axis of the sequence, for tables of two axes: -2, or -3 for (batch, sequence, heads, depth).
    out
        Where the result is written, which may be x itself.

    Elements beyond twice the number of pairs stay as they are (partial rotation). It computes in f32, f64 for f64, and rounds
    once; the bits are the same on every device. Raises `InvalidProblemError` for tables that do not fit.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.float32([[1, 2, 3, 4]])
    >>> quarter = np.float32([[0, 0]]), np.float32([[1, 1]])
    >>> baracuda.rope(x, *quarter).tolist()
    [[-3.0, -4.0, 1.0, 2.0]]
    >>> baracuda.rope(x, *quarter, interleaved=True).tolist()
    [[-2.0, 1.0, -4.0, 3.0]]
    """
    return _rotate(do, x, cos, sin, interleaved, axis, inverse=False)


@composed(dy="*before extent@axis *after : float", **_TABLES, out=True)
def rope_backward(
    do: Steps, dy: TensorRef, cos: TensorRef, sin: TensorRef, *, interleaved: bool = False, axis: int = -2
) -> TensorRef:
    """The gradient of `rope`'s x: dy turned back."""
    return _rotate(do, dy, cos, sin, interleaved, axis, inverse=True)
