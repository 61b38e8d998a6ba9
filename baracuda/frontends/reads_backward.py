"""The gradients of indexed reads by the tensor that is read: sums by destination.

Each takes dy, then the tensors of the forward function, of which the one that is read gives shape and element alone. Every
gradient is summed in the canonical order, so that it has the same bits on every device; `bounds` is that of
`baracuda.frontends.scatter`.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, select
from baracuda.formula.gathers import Table, take
from baracuda.formula.integer_functions import is_number
from baracuda.formula.reductions import argmax
from baracuda.frontends.arrays import broadcast
from baracuda.frontends.backward import Backward
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.families import op as declared_op
from baracuda.frontends.function import Function
from baracuda.frontends.scatter import axis_of, check_bounds, combined
from baracuda.frontends.views import filled, run
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Space, Stored, Value, WholeScalar
from baracuda.ops.declaration.words import Bounds, Count, Wrt
from baracuda.ops.indexing.embedding import embedding_bag
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind

# --- tables -----------------------------------------------------------------------------------------------------------


@declared(index="*places : s32 s64", dy="*places *row")
def embedding_grad_dense(
    dy: Any,
    index: Any,
    num_rows: Count,
    *,
    padding_idx: int | None = None,
    scale_grad_by_freq: bool = False,
    bounds: Bounds = "check",
    out: Any = None,
) -> Any:
    """The gradient of a table of num_rows rows that was read at indices: for each row, the sum of dy where it was read.

    index has any shape, dy that shape followed by that of a row; the result is (num_rows, ...) in the element of dy. The row
    padding_idx, which may count from the end, is zero. With scale_grad_by_freq the sum is divided by how often the row was read.
    f16 and bf16 are summed in f32 and rounded once. Source: torch.ops.aten.embedding_dense_backward.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy = np.float32([[1, 2], [3, 4], [5, 6]])
    >>> baracuda.embedding_grad_dense(dy, np.array([2, 0, 2]), 3).tolist()
    [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]
    """
    cotangent, at = describe(dy, "dy"), describe(index, "index")
    rank = len(at.shape)
    reduce = ScatterKind.MEAN if scale_grad_by_freq else ScatterKind.SUM
    descriptor = ScatterDescriptor(reduce, (num_rows, *cotangent.shape[rank:]), 0, at.shape, cotangent.kind, at.kind)
    check_bounds(bounds, index, "index", num_rows, wrap=False)
    return combined(replace(descriptor, skip=_padding(padding_idx, num_rows)), dy, out, index=index, x=dy)


def _padding(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise InvalidProblemError(f"padding_idx: {padding_idx}; expected {-rows} to {rows - 1} for {rows} rows")
    return padding_idx % rows


@declared(index="*places : s32 s64", weight="rows *row", dy="*places *row")
def embedding_backward(
    dy: Any,
    index: Any,
    weight: Any,
    *,
    padding_idx: int | None = None,
    scale_grad_by_freq: bool = False,
    bounds: Bounds = "check",
    out: Any = None,
) -> Any:
    """The gradient of `embedding`'s weight: `embedding_grad_dense` for the rows of weight.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.embedding_backward(np.ones((2, 1), np.float32), np.array([1, 1]), np.zeros((2, 1), np.float32)).tolist()
    [[0.0], [2.0]]
    """
    rows = describe(weight, "weight").shape[0]
    return embedding_grad_dense(
        dy, index, rows, padding_idx=padding_idx, scale_grad_by_freq=scale_grad_by_freq, bounds=bounds, out=out
    )


def _factor(index: Own, *, padding_idx: int, element: ElementKind) -> Stored:
    """What an element of a bag's mean is multiplied by: 1 over the number of indices that count."""
    kind = element.compute
    count = f.sum_(cast(f.not_equal(index, padding_idx), kind))
    return Stored(1.0 / f.maximum(count, 1.0), kind)


_bag_factor = Function(
    Op(
        _factor,
        Rule.COMMON,
        name="bag_factor",
        family="embedding",
        takes="int,float",
        rows=True,
        axis=1,
        keepdims=True,
        element_option=True,
        differentiable=False,
    )
)


@declared(
    index="bags places : s32 s64", weight="rows *row", dy="bags *row", per_sample_weights="bags places : float",
)  # fmt: skip
def embedding_bag_backward(
    dy: Any,
    index: Any,
    weight: Any,
    per_sample_weights: Any = None,
    *,
    mode: Literal["sum", "mean", "max"] = "mean",
    padding_idx: int | None = None,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `embedding_bag`'s weight and per_sample_weights, those named in `wrt` or all that are given.

    dy is (bags, ...). With mode "mean" what a bag brings is multiplied by 1 over its number of indices, rounded once, as in
    torch; with "max" the first of a bag's largest elements gets dy of its column.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, weight = np.float32([[2, 4]]), np.zeros((3, 2), np.float32)
    >>> baracuda.embedding_bag_backward(dy, np.array([[0, 2]]), weight).tolist()
    [[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]
    """
    if per_sample_weights is not None and mode != "sum":
        raise InvalidProblemError(f"per_sample_weights: given with mode {mode!r}; expected mode sum")
    names = chosen(wrt, ("weight", *(["per_sample_weights"] if per_sample_weights is not None else [])))
    at, table = describe(index, "index"), describe(weight, "weight")
    check_bounds(bounds, index, "index", table.shape[0], wrap=False)
    gradients = {}
    if "weight" in names:
        if mode == "max":
            gradients["weight"] = _bag_largest(dy, index, weight, padding_idx)
        else:
            gradients["weight"] = _bag_weight(dy, index, at, table, per_sample_weights, mode, padding_idx)
    if "per_sample_weights" in names:
        backward = Backward(declared_op("embedding_bag"))
        gradients["per_sample_weights"] = backward(
            dy, index, weight, per_sample_weights, mode=mode, padding_idx=padding_idx, wrt=("per_sample_weights",)
        )
    wanted = tuple(gradients[n] for n in names)
    return one_or_all(wanted)


def _bag_weight(dy: Any, index: Any, at: TensorRef, table: TensorRef, factors: Any, mode: str, padding_idx: int | None) -> Any:
    cotangent = describe(dy, "dy")
    skip = _padding(padding_idx, table.shape[0])
    alpha = None
    if mode == "mean" and skip is None and at.shape[1] > 1:
        alpha = 1.0 / at.shape[1]
    elif mode == "mean" and skip is not None:
        factors = broadcast(_bag_factor(index, padding_idx=skip, dtype=cotangent.kind.compute), at.shape)
    elif factors is not None:
        factors = in_kind(factors, cotangent.kind.compute)
    descriptor = ScatterDescriptor(
        ScatterKind.SUM,
        table.shape,
        0,
        at.shape,
        cotangent.kind,
        at.kind,
        has_weights=factors is not None,
        alpha=alpha,
        skip=skip,
    )
    rows = broadcast(dy.reshape((at.shape[0], 1, *table.shape[1:])), (*at.shape, *table.shape[1:]))
    return combined(descriptor, dy, index=index, x=rows, weights=factors)


def _largest(index: Own, weight: Table, *, padding: WholeScalar | None = None) -> Stored:
    """Where in a bag a column's largest element comes from."""
    row = take(weight, index)
    assert isinstance(row, Expr)
    if padding is not None:
        row = select(is_number(index, as_expr(padding, ElementKind.S64)), float("-inf"), row)
    return Stored(argmax(row), ElementKind.S64)


def _in_bag(index: Table, place: Own) -> Value:
    """The index that stands at a place in a bag."""
    return take(index, place)


_in_bags = Op(
    _in_bag,
    Rule.COMMON,
    name="indices_in_bags",
    family="embedding",
    takes="int",
    space=lambda shapes, options: Space({"index": (0, None), "place": tuple(range(len(shapes["place"])))}),
    differentiable=False,
)
_largest_of_bags = Op(
    _largest,
    Rule.COMMON,
    name="largest_of_bags",
    family="embedding",
    takes="float",
    rows=True,
    axis=1,
    keepdims=False,
    space=embedding_bag.space,
    differentiable=False,
)


def _bag_largest(dy: Any, index: Any, weight: Any, padding_idx: int | None) -> Any:
    cotangent, at, table = describe(dy, "dy"), describe(index, "index"), describe(weight, "weight")
    if not all(at.shape):  # nothing is read
        return filled(dy, table.shape, cotangent.kind, 0)
    skip = _padding(padding_idx, table.shape[0])
    words = {} if skip is None else {"padding": skip}
    (places,) = run(_largest_of_bags, {"index": index, "weight": weight}, dy, **words).values()
    (winners,) = run(_in_bags, {"index": index, "place": places}, dy).values()
    descriptor = ScatterDescriptor(
        ScatterKind.SUM, table.shape, 0, cotangent.shape, cotangent.kind, at.kind, aligned=True, skip=skip
    )  # fmt: skip
    return combined(descriptor, dy, index=winners, x=dy)


def in_kind(x: Any, kind: ElementKind) -> Any:
    """A tensor in an element: itself where it has that."""
    return x if describe(x, "x").kind is kind else function("cast")(x, dtype=kind)


# --- elements ---------------------------------------------------------------------------------------------------------


@declared(x="*before extent@axis *after", index="*places : s32 s64", dy="*before *places *after")
def index_select_backward(dy: Any, x: Any, index: Any, *, axis: int = 0, bounds: Bounds = "check", out: Any = None) -> Any:
    """The gradient of `index_select`'s x: for each slice the sum of dy where it was read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.index_select_backward(np.float32([1, 2, 3]), np.zeros(2, np.float32), np.array([1, 0, 1])).tolist()
    [2.0, 4.0]
    """
    cotangent, x_ref, at = describe(dy, "dy"), describe(x, "x"), describe(index, "index")
    axis = axis_of(axis, x_ref.shape, "x")
    descriptor = ScatterDescriptor(ScatterKind.SUM, x_ref.shape, axis, at.shape, cotangent.kind, at.kind, wrap=True)
    check_bounds(bounds, index, "index", x_ref.shape[axis], wrap=True)
    return combined(descriptor, dy, out, index=index, x=dy)


def _read(places: tuple[int, ...], before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    """What is read at places of a tensor: beside the axis it is as long as the tensor where the index has an extent of 1."""
    shape = (*before, 0, *after)
    return tuple(m if n == 1 and a != len(before) else n for a, (n, m) in enumerate(zip(places, shape, strict=False)))


@declared(x="*before extent@axis *after", index="*places : s32 s64", dy=_read)
def gather_backward(dy: Any, x: Any, index: Any, *, axis: int = -1, bounds: Bounds = "check", out: Any = None) -> Any:
    """The gradient of `gather`'s x: for each element the sum of dy where it was read, and along the axes that x was broadcast.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, index = np.float32([[1, 2, 3]]), np.array([[1, 1, 0]])
    >>> baracuda.gather_backward(dy, np.zeros((1, 2), np.float32), index).tolist()
    [[3.0, 3.0]]
    """
    cotangent, x_ref, at = describe(dy, "dy"), describe(x, "x"), describe(index, "index")
    axis = axis_of(axis, x_ref.shape, "x")
    if len(at.shape) != len(x_ref.shape):
        raise InvalidProblemError(f"index: shape is {at.shape}; expected the rank of x, whose shape is {x_ref.shape}")
    descriptor = ScatterDescriptor(
        ScatterKind.SUM, x_ref.shape, axis, cotangent.shape, cotangent.kind, at.kind, aligned=True, wrap=True
    )
    check_bounds(bounds, index, "index", x_ref.shape[axis], wrap=True)
    return combined(descriptor, dy, out, index=broadcast(index, cotangent.shape), x=dy)


@declared(x="...", index="*places : s32 s64", dy="*places")
def take_flat_backward(dy: Any, x: Any, index: Any, *, bounds: Bounds = "check") -> Any:
    """The gradient of `take_flat`'s x: for each element the sum of dy where it was read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.take_flat_backward(np.float32([1, 2]), np.zeros((2, 2), np.float32), np.array([3, 3])).tolist()
    [[0.0, 0.0], [0.0, 3.0]]
    """
    cotangent, x_ref, at = describe(dy, "dy"), describe(x, "x"), describe(index, "index")
    count = prod(x_ref.shape)
    descriptor = ScatterDescriptor(ScatterKind.SUM, (count,), 0, at.shape, cotangent.kind, at.kind, wrap=True)
    check_bounds(bounds, index, "index", count, wrap=True)
    return combined(descriptor, dy, index=index, x=dy).reshape(x_ref.shape)
