"""Elements of a tensor at indices along one axis, along several, or by their number; masked fills.

Indices are s32 or s64. A negative one counts from the end, as in Python; a plan takes the nearest index that is in range for one
out of it. What is read is copied bit for bit. The gradient by the tensor is a sum by destination (`scatter_sum`), which is not a
formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast
from baracuda.core.errors import InvalidProblemError
from baracuda.core.spec import check_axis
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Own, Scalar, Shape, Space, Value

Shapes = Mapping[str, Shape]
Options = Mapping[str, Any]
Limits = Sequence[tuple[str, IndexBound]]


def _axis(shapes: Shapes, options: Options) -> int:
    """The axis that is read at indices."""
    rank = len(shapes["x"])
    if not rank:
        raise InvalidProblemError("x: it is a scalar; expected one axis or more, to read along")
    check_axis("axis", options["axis"], rank)
    return int(options["axis"]) % rank


def _along_axis(shapes: Shapes, options: Options) -> Limits:
    return [("index", IndexBound(shapes["x"][_axis(shapes, options)], wrap=True))]


def _without(rank: int, axis: int) -> tuple[int | None, ...]:
    return tuple(None if a == axis else a for a in range(rank))


def _select_space(shapes: Shapes, options: Options) -> Space:
    axis = _axis(shapes, options)
    if len(shapes["index"]) != 1:
        raise InvalidProblemError(f"index: shape is {shapes['index']}; expected one axis")
    return Space({"x": _without(len(shapes["x"]), axis), "index": (axis,)})


@op(byte_floats=True, space=_select_space, bounds=_along_axis)
def index_select(x: Table, index: Own, *, axis: int = 0) -> Value:
    """The slices of x along an axis at the numbers that index, of one axis, has.

    Source: torch.index_select and the array API's take.

    Differs from PyTorch: its dim comes second, and it takes no negative index; here one counts from the end.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.index_select(np.float32([[1, 2, 3], [4, 5, 6]]), np.array([2, 0]), axis=1).tolist()
    [[3.0, 1.0], [6.0, 4.0]]
    """
    return take(x, index, wrap=True)


def _gather_space(shapes: Shapes, options: Options) -> Space:
    axis, rank = _axis(shapes, options), len(shapes["x"])
    if len(shapes["index"]) != rank:
        raise InvalidProblemError(f"index: shape is {shapes['index']}; expected the rank of x, whose shape is {shapes['x']}")
    return Space({"x": _without(rank, axis), "index": tuple(range(rank))})


@op(byte_floats=True, space=_gather_space, bounds=_along_axis)
def gather(x: Table, index: Own, *, axis: int = -1) -> Value:
    """x at each element's own index along an axis: y[i, j] = x[i, index[i, j]] for axis 1.

    x and index broadcast along the other axes. Source: the array API's take_along_axis; torch.take_along_dim.

    Differs from PyTorch: in its gather dim comes second, and index may be shorter than x along the other axes: slice x first.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.gather(np.float32([[1, 2], [3, 4]]), np.array([[1], [0]]), axis=1).tolist()
    [[2.0], [3.0]]
    """
    return take(x, index, wrap=True)


def _flat_space(shapes: Shapes, options: Options) -> Space:
    if not shapes["x"]:
        raise InvalidProblemError("x: it is a scalar; expected one axis or more")
    return Space({"x": (None,) * len(shapes["x"]), "index": tuple(range(len(shapes["index"])))})


def _in_all(shapes: Shapes, options: Options) -> Limits:
    size = 1
    for n in shapes["x"]:
        size *= n
    return [("index", IndexBound(size, wrap=True))]


@op(byte_floats=True, space=_flat_space, bounds=_in_all)
def take_flat(x: Table, index: Own) -> Value:
    """The elements of x by their number, the last axis fastest; the result has the shape of index. Source: torch.take."""
    return take(x, index, wrap=True, flat=True)


def _given(shapes: Shapes) -> list[str]:
    """The names of the index tensors that are given: from the first axis on, none left out between."""
    names = [f"index{k}" for k in range(8)]
    present = [n for n in names if n in shapes]
    if present != names[: len(present)] or len(present) > len(shapes["x"]):
        raise InvalidProblemError(
            f"{', '.join(present) or 'no index'}: given for x of shape {shapes['x']}; expected one for each of its first axes"
        )
    return present


def _get_space(shapes: Shapes, options: Options) -> Space:
    present = _given(shapes)
    rank = max(len(shapes[n]) for n in present)
    axes: dict[str, Sequence[int | None]] = {n: tuple(range(rank - len(shapes[n]), rank)) for n in present}
    rest = len(shapes["x"]) - len(present)
    return Space({**axes, "x": (*(None for _ in present), *range(rank, rank + rest))})


def in_axes(shapes: Shapes, options: Options) -> Limits:
    """What the index tensors that are given must be in, the first axis's first."""
    return [(n, IndexBound(shapes["x"][k], wrap=True)) for k, n in enumerate(_given(shapes))]


@op(byte_floats=True, space=_get_space, bounds=in_axes)
def index_get(
    x: Table,
    index0: Own,
    index1: Own | None = None,
    index2: Own | None = None,
    index3: Own | None = None,
    index4: Own | None = None,
    index5: Own | None = None,
    index6: Own | None = None,
    index7: Own | None = None,
) -> Value:
    """x[index0, index1, ...]: an index tensor for each of the first axes. They broadcast; the result has their common shape
    followed by the axes of x that are left. Source: advanced indexing of the array API, NumPy and torch.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.index_get(np.float32([[1, 2], [3, 4]]), np.array([1, 0]), np.array([0, 1])).tolist()
    [3.0, 2.0]
    """
    indices = [i for i in (index0, index1, index2, index3, index4, index5, index6, index7) if i is not None]
    return take(x, *indices, wrap=True)


def check_tuples(shapes: Shapes, options: Options) -> None:
    """Raise where the last axis of index has not one for each of some axes of x."""
    x, index, batch = shapes["x"], shapes["index"], options["batch_dims"]
    if not index or not 0 <= batch < len(index) or not 1 <= index[-1] <= len(x) - batch:
        raise InvalidProblemError(
            f"index: shape is {index} for x of shape {x} and batch_dims {batch}; expected a last axis with an index for "
            f"each of 1 to {len(x) - batch} axes of x"
        )


def _nd_space(shapes: Shapes, options: Options) -> Space:
    check_tuples(shapes, options)
    x, index, batch = shapes["x"], shapes["index"], options["batch_dims"]
    rank, index_length = len(index) - 1, index[-1]
    axes = (*range(batch), *(None for _ in range(index_length)), *range(rank, rank + len(x) - batch - index_length))
    return Space({"x": axes, "index": (*range(rank), None)})


def in_components(shapes: Shapes, options: Options) -> Limits:
    """What each component of tuples of indices must be in."""
    extents = shapes["x"][options["batch_dims"] :][: shapes["index"][-1]]
    return [("index", IndexBound(n, wrap=True, component=k)) for k, n in enumerate(extents)]


@op(byte_floats=True, space=_nd_space, bounds=in_components)
def gather_nd(x: Table, index: Own, *, batch_dims: Annotated[int, AtLeast(0)] = 0) -> Value:
    """x at the tuples of indices that lie along the last axis of `index`, for the axes of x behind the first batch_dims, which
    both share. The result has the shape of index without its last axis, followed by the axes of x that are left.

    Source: ONNX GatherND.
    """
    assert isinstance(index, Table)
    kind = index.parts[0][1]
    subscripts = [take(index, const(k, kind)) for k in range(len(x.dims))]
    return take(x, *(p for p in subscripts if isinstance(p, Expr)), wrap=True)


# --- for the gradients by what is read --------------------------------------------------------------------------------


def _number(
    index0: Expr,
    index1: Expr | None = None,
    index2: Expr | None = None,
    index3: Expr | None = None,
    index4: Expr | None = None,
    index5: Expr | None = None,
    index6: Expr | None = None,
    index7: Expr | None = None,
    *,
    batch: int = 0,
    n0: Scalar = 1,
    n1: Scalar = 1,
    n2: Scalar = 1,
    n3: Scalar = 1,
    n4: Scalar = 1,
    n5: Scalar = 1,
    n6: Scalar = 1,
    n7: Scalar = 1,
) -> Expr:
    """The number of an element among those of the first axes, the last axis fastest, given its index along each and their
    extents; the first `batch` of them are the axes of the indices themselves."""
    extents = [as_expr(n, index0.kind) for n in (n0, n1, n2, n3, n4, n5, n6, n7)]
    indices = [i for i in (index0, index1, index2, index3, index4, index5, index6, index7) if i is not None]
    places = [cast(coord(a), index0.kind) for a in range(batch)]
    for i, n in zip(indices, extents[batch:], strict=False):
        places.append(f.maximum(f.minimum(select(i < 0, i + n, i), n - 1), 0))
    total = places[0]
    for place, n in zip(places[1:], extents[1:], strict=False):
        total = total * n + place
    return total


def _row_of_shard(index: Expr, *, offset: Scalar = 0, rows: Scalar = 1) -> Expr:
    """The row of a shard that begins at row `offset` of all; -1 for one that it does not have."""
    row = index - offset
    return select((row >= 0) & (row < rows), row, -1)


_NUMBERS: dict[str, Any] = {"family": "indexing", "takes": "int", "differentiable": False}
number = Op(_number, Rule.COMMON, name="number_of_element", element_option=True, **_NUMBERS)
row_of_shard = Op(_row_of_shard, Rule.COMMON, name="row_of_shard", **_NUMBERS)


# --- masked fills -----------------------------------------------------------------------------------------------------


@op(constants=("mask",))
def masked_fill(x: Value, mask: Own, value: Value) -> Value:
    """value where the mask (bool) is true, else x; all three broadcast, and value is a number or a tensor. x and value promote
    to a common element. Source: torch.masked_fill.

    Differs from PyTorch: there value takes the element of x.
    """
    if not isinstance(x, Complex):
        assert isinstance(value, Expr)
        return select(mask, value, x)
    whole = value if isinstance(value, Complex) else Complex(value, const(0.0, x.kind))
    return Complex(select(mask, whole.re, x.re), select(mask, whole.im, x.im))
