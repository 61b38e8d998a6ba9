"""Rows of a table at indices, and what is made of them; positions and time steps as vectors.

A table has its rows along the first axis. Indices are s32 or s64, from 0 to the number of rows - 1; a plan takes the nearest
row for an index out of range. The gradient by a table is a sum by destination (`scatter_sum`), which is not a formula: the
derived gradients are those by everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.formula.integer_functions import is_number
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, NonNegative, Own, Positive, Scalar, Shape, Space, Stored, WholeScalar
from baracuda.ops.reductions.reductions import ORDERS, Order, norm_of

Shapes = Mapping[str, Shape]
Options = Mapping[str, Any]
Limits = Sequence[tuple[str, IndexBound]]


def _row_of(table: Table, index: Expr) -> Expr:
    """An element of a row of real numbers."""
    value = take(table, index)
    assert isinstance(value, Expr)
    return value


def _rows(shapes: Shapes) -> int:
    """The number of rows of the table."""
    if not shapes["weight"]:
        raise InvalidProblemError("weight: it is a scalar; expected a table with rows along its first axis")
    return shapes["weight"][0]


def _in_table(shapes: Shapes, options: Options) -> Limits:
    return [("index", IndexBound(_rows(shapes)))]


def _looked_up(shapes: Shapes, options: Options) -> Space:
    """The indices' axes, then those of a row."""
    _rows(shapes)
    rank = len(shapes["index"])
    return Space({"index": tuple(range(rank)), "weight": (None, *range(rank, rank + len(shapes["weight"]) - 1))})


@op(space=_looked_up, bounds=_in_table)
def embedding(index: Own, weight: Table, *, padding_idx: WholeScalar | None = None) -> Expr:
    """weight[index]: the rows of a table at indices, copied bit for bit.

    index has any shape, weight is (rows, ...); the result has the shape of index followed by that of a row. padding_idx is
    the row whose gradient stays zero: it changes nothing here. For torch's max_norm see `embedding_renorm`.

    Source: torch.nn.functional.embedding.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.embedding(np.array([2, 0]), np.float32([[1, 2], [3, 4], [5, 6]])).tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """
    return _row_of(weight, index)


@op(space=_looked_up)
def vocab_parallel_embedding(index: Own, weight: Table, *, offset: Annotated[WholeScalar, AtLeast(0)] = 0) -> Expr:
    """What one shard of a table contributes to `embedding`: weight[index - offset] where the shard has the row, else 0.

    The shard's first row is number `offset` of all. The sum over the shards is the row of the whole table; an index
    in no shard leaves 0, which the caller has to rule out. Source: the vocabulary-parallel embedding of Megatron-LM.
    """
    row = index - cast(as_expr(offset, ElementKind.S64), index.kind)
    inside = (row >= 0) & (row < table_extent(weight, 0, row.kind))
    return select(inside, _row_of(weight, row), 0.0)


@op(
    rows=True,
    space=_looked_up,
    bounds=_in_table,
    differentiable=False,
    literals={"p": ORDERS},
    positions=("max_norm", "p"),
)
def embedding_renorm(index: Own, weight: Table, *, max_norm: NonNegative = 1.0, p: Order = 2) -> Expr:
    """`embedding` of a table whose rows are scaled down to a norm: row * max_norm / (||row|| + 1e-7) where the norm of order
    p is above max_norm.

    weight is (rows, columns).
    Source: torch.nn.functional.embedding with max_norm.

    Differs from PyTorch: it writes those rows back into the table; here nothing is overwritten.
    """
    row = _row_of(weight, index)
    norm = norm_of(row, p)
    return row * select(norm > max_norm, max_norm / (norm + 1e-7), 1.0)


# --- bags -------------------------------------------------------------------------------------------------------------


def _bags(shapes: Shapes, options: Options) -> Space:
    """Bags, what is in one, and a row."""
    if len(shapes["index"]) != 2:
        raise InvalidProblemError(f"index: shape is {shapes['index']}; expected (bags, indices of a bag)")
    _rows(shapes)
    axes = {"index": (0, 1), "weight": (None, *range(2, len(shapes["weight"]) + 1))}
    if "per_sample_weights" in shapes:
        if shapes["per_sample_weights"] != shapes["index"]:
            raise InvalidProblemError(
                f"per_sample_weights: shape is {shapes['per_sample_weights']}; expected {shapes['index']}, that of index"
            )
        axes["per_sample_weights"] = (0, 1)
    return Space(axes)


@op(rows=True, axis=1, keepdims=False, constants=("weight",), space=_bags, bounds=_in_table, positions=())
def embedding_bag(
    index: Own,
    weight: Table,
    per_sample_weights: Expr | None = None,
    *,
    mode: Literal["sum", "mean", "max"] = "mean",
    padding_idx: WholeScalar | None = None,
) -> Expr:
    """The sum, mean or maximum of the rows of a table that each bag names, in one pass: nothing of the size of the rows is
    written.

    index is (bags, indices of a bag), weight (rows, ...); the result is (bags, ...). With mode "sum", per_sample_weights, of
    the shape of index, are factors of the rows. Indices equal to padding_idx, which may count from the end, count
    for nothing, and a bag in which nothing counts gives 0. Each column is summed in the canonical order over the bag.

    Source: torch.nn.functional.embedding_bag.

    Differs from PyTorch: bags are rows of indices, not told apart by offsets, which come third there.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.embedding_bag(np.array([[0, 2]]), np.float32([[1, 2], [3, 4], [5, 6]]), mode="sum").tolist()
    [[6.0, 8.0]]
    """
    if per_sample_weights is not None and mode != "sum":
        raise InvalidProblemError(f"per_sample_weights: given with mode {mode!r}; expected mode sum")
    row = _row_of(weight, index)
    counts = None
    if padding_idx is not None:
        padding = as_expr(padding_idx, ElementKind.S64)
        counts = ~is_number(index, select(padding < 0, padding + table_extent(weight, 0, ElementKind.S64), padding))
    if per_sample_weights is not None:
        row = row * per_sample_weights
    count = f.row_length(row.kind) if counts is None else f.sum_(cast(counts, row.kind))
    if mode == "max":
        bag = f.max_(row if counts is None else select(counts, row, float("-inf")))
        return select(f.equal(count, 0.0), 0.0, bag)
    total = f.sum_(row if counts is None else select(counts, row, 0.0))
    if mode == "sum":
        return select(f.equal(count, 0.0), 0.0, total)
    return total / f.maximum(count, 1.0)


# --- from indices alone -----------------------------------------------------------------------------------------------


def _one_hot_space(shapes: Shapes, options: Options) -> Space:
    rank = len(shapes["index"])
    return Space({"index": tuple(range(rank))}, {rank: options["num_classes"]})


@op(
    takes="int,float,bool",
    element_option=True,
    space=_one_hot_space,
    bounds=lambda shapes, options: [("index", IndexBound(options["num_classes"]))],
)
def one_hot(index: Own, *, num_classes: Annotated[int, AtLeast(1)], element: ElementKind) -> Stored:
    """1 where the last axis, of extent num_classes, has the number that the index says, else 0; in the element of the indices
    unless `dtype` names another.

    Source: torch.nn.functional.one_hot.

    Differs from PyTorch: num_classes is not found from the indices, whose element the result has unless `dtype` names another.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.one_hot(np.array([1, 0]), num_classes=3).tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    wide = cast(index, ElementKind.S64)
    inside = f.clamp(wide, 0, num_classes - 1)
    is_class = f.equal(cast(coord(-1), ElementKind.S64), inside)
    kind = element.compute
    return Stored(select(is_class, const(1, kind), const(0, kind)), element)


def _steps_space(shapes: Shapes, options: Options) -> Space:
    rank = len(shapes["timesteps"])
    return Space({"timesteps": tuple(range(rank))}, {rank: options["dim"]})


@op(Rule.FLOATING, takes="float,int", space=_steps_space)
def timestep_embedding(
    timesteps: Expr,
    *,
    dim: Annotated[int, AtLeast(2)],
    max_period: Positive = 10000.0,
    downscale_freq_shift: Scalar = 0.0,
    flip_sin_to_cos: bool = True,
    scale: Scalar = 1.0,
) -> Expr:
    """The cosines, then the sines, of scale * t * max_period**(-k / (dim // 2 - downscale_freq_shift)) for k below dim // 2,
    along a new last axis; the sines first unless flip_sin_to_cos. Of an odd dim the last element is 0.

    Integer time steps give f32. Source: Ho et al. 2020, with the options of diffusers' get_timestep_embedding.
    """
    half = dim // 2
    k = coord(-1)
    second = k >= half
    number = cast(select(second, k - half, k), timesteps.kind)
    frequency = f.exp(-f.log(as_expr(max_period, timesteps.kind)) * number / (float(half) - downscale_freq_shift))
    angle = scale * (timesteps * frequency)
    sine = second if flip_sin_to_cos else ~second
    encoding = select(sine, f.sin(angle), f.cos(angle))
    return select(k >= 2 * half, 0.0, encoding) if dim % 2 else encoding


def _positions_space(shapes: Shapes, options: Options) -> Space:
    x, weight, positions = shapes["x"], shapes["weight"], shapes.get("positions")
    rank = len(x)
    if rank < 2 or len(weight) != 2 or weight[1] != x[-1]:
        raise InvalidProblemError(
            f"weight: shape is {weight}; expected (positions, columns) for x of shape {x}, (..., T, columns)"
        )
    if positions is None and x[-2] > weight[0]:
        raise InvalidProblemError(f"weight: it has {weight[0]} positions; expected {x[-2]} or more for x of shape {x}")
    axes: dict[str, Sequence[int | None]] = {"x": tuple(range(rank)), "weight": (None, rank - 1)}
    if positions is not None:
        axes["positions"] = tuple(range(rank - 1 - len(positions), rank - 1))
    return Space(axes)


def _in_positions(shapes: Shapes, options: Options) -> Limits:
    return [("positions", IndexBound(_rows(shapes)))] if "positions" in shapes else []


@op(constants=("weight",), space=_positions_space, bounds=_in_positions)
def position_embedding_add(x: Expr, weight: Table, positions: Own | None = None) -> Expr:
    """x + weight[positions]: a learned vector for each position added to a sequence.

    x is (..., T, columns), weight (positions, columns), and positions broadcasts to (..., T); without it the positions are 0 to
    T - 1. For a sequence that continues another, slice the table.
    """
    return x + _row_of(weight, coord(-2) if positions is None else positions)
