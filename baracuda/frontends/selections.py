"""Functions whose result is as long as a mask says: where it holds, and what is there.

How long that is is read on the host, which on a GPU waits for the device once; with `size` nothing is read or waited for, so
that a call can be captured: the result then has that many elements, those that there are and `fill_value` behind them.
"""

from __future__ import annotations

from math import prod
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_of, broadcast_shape, broadcasted, permuted, view
from baracuda.formula.expr import Expr, cast, coord, select
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.parts import of_parts, part, read
from baracuda.lowering.compaction.problem import Mode
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar
from baracuda.ops.indexing.compaction import CompactionDescriptor, CompactionPlan
from baracuda.ops.indexing.masks import Marked, marked, packed, spread, summed_to
from baracuda.ops.indexing.moves import fill, number, zeros
from baracuda.ops.indexing.places import Places

Size = Annotated[int, AtLeast(0)] | None
Shape = tuple[int, ...]
Fill = int | tuple[int, ...]


# --- parts ------------------------------------------------------------------------------------------------------------


@part(mask="...")
def _marks(do: Steps, mask: TensorRef, *, shape: tuple[int, ...]) -> Any:
    marks = marked(do, mask, shape)
    return marks.bits, marks.offsets


@part(bits="words", offsets="blocks")
def _numbers(
    do: Steps,
    bits: TensorRef,
    offsets: TensorRef,
    *,
    shape: tuple[int, ...],
    size: int,
    by_axis: bool,
    fill_value: tuple[int, ...] | None,
) -> TensorMut:
    """Coordinates of what is marked, a row for each, or with `by_axis` for each axis."""
    y, rows = _padded(do, len(shape), size, by_axis, fill_value)
    if size and shape:
        descriptor = CompactionDescriptor(Mode.NUMBERS, shape, size)
        do.plan(CompactionPlan, descriptor, {"bits": bits, "offsets": offsets}, into=rows)
    return y


def _padded(do: Steps, rank: int, size: int, by_axis: bool, fill_value: tuple[int, ...] | None) -> tuple[TensorMut, TensorMut]:
    """Room for coordinates, filled if need be; and the view of it that has a row for each."""
    y = do.new((rank, size) if by_axis else (size, rank), ElementKind.S64)
    rows: TensorMut = permuted(y, (1, 0)) if by_axis else y
    for axis, value in enumerate(fill_value or ()):
        fill(do, view(rows, axis * rows.strides[1], (size,), rows.strides[:1]), value)
    return y, rows


@part(x="...")
def _nothing(do: Steps, x: TensorRef, *, rank: int, size: int, by_axis: bool, fill_value: tuple[int, ...]) -> TensorMut:
    """The coordinates of nothing."""
    return _padded(do, rank, size, by_axis, fill_value)[0]


@part(x="...", bits="words", offsets="blocks", out=True)
def _packed(
    do: Steps,
    x: TensorRef,
    bits: TensorRef,
    offsets: TensorRef,
    *,
    shape: tuple[int, ...],
    size: int,
    fill_value: complex | None,
) -> TensorRef:
    """The elements that are marked."""
    y = do.result_like(view(x, 0, (size,), (0,))) if do.out is not None else do.new((size,), x.kind)
    if fill_value is not None:
        fill(do, y, fill_value)
    packed(do, Marked(bits, offsets, shape), x, y)
    return y


@part(dy="count", x="...", mask="...")
def _spread(do: Steps, dy: TensorRef, x: TensorRef, mask: TensorRef, *, shape: tuple[int, ...]) -> Any:
    """dy where the mask holds, summed to the shape of x."""
    y = do.new(shape, dy.kind)
    spread(do, marked(do, mask, shape), dy, None, y)
    return summed_to(do, y, x.shape)


@part(dy="...", x="...", index="count")
def _slices(do: Steps, dy: TensorRef, x: TensorRef, index: TensorRef, *, axis: int) -> TensorMut:
    """Slices where an index says, which names none twice, and zeros elsewhere."""
    y = zeros(do, x.shape, dy.kind)
    order = (axis, *(a for a in range(len(dy.shape)) if a != axis))
    Places(index, (axis,), wrap=False, once=True, skip=x.shape[axis]).write(do, y, permuted(dy, order))
    return y


@part(x="...")
def _full(do: Steps, x: TensorRef, *, shape: tuple[int, ...], value: complex, element: ElementKind) -> TensorMut:
    y = do.new(shape, element)
    fill(do, y, value)
    return y


def full(x: Any, shape: Shape, value: complex, element: ElementKind) -> Any:
    """A new tensor of the library of x with one number everywhere."""
    return _full(x, shape=shape, value=value, element=element)


# --- where it holds ---------------------------------------------------------------------------------------------------


def _fills(fill_value: Fill | None, rank: int) -> tuple[int, ...]:
    """A number for each axis."""
    if isinstance(fill_value, tuple):
        if len(fill_value) != rank:
            raise InvalidProblemError(f"fill_value: {fill_value}; expected a number, or one for each of {rank} axes")
        return fill_value
    return (fill_value or 0,) * rank


def places(x: Any, shape: Shape, size: int | None, fill_value: Fill | None, *, by_axis: bool) -> Any:
    """The coordinates of what is not zero in a tensor, read as one of `shape`, as one tensor."""
    rank = len(shape)
    own = tuple(x.shape)
    if 0 in own:
        return _nothing(x, rank=rank, size=size or 0, by_axis=by_axis, fill_value=_fills(fill_value, rank))
    bits, offsets = _marks(x, shape=own)
    filled = None if size is None else _fills(fill_value, rank)
    count = read(offsets) if size is None else size
    return _numbers(bits, offsets, shape=shape, size=count, by_axis=by_axis, fill_value=filled)


@of_parts
@declared(x="...")
def nonzero(x: Any, *, as_tuple: bool = True, size: Size = None, fill_value: Fill = 0) -> Any:
    """The places of the elements that are not zero, in logical order: a tensor of s64 for each axis, or with as_tuple=False one
    tensor with a row for each place.

    With `size` nothing is read on the host, and the result has that many places: `fill_value`, a number or one for each axis,
    stands behind those that there are. Source: numpy.nonzero, jax.numpy.nonzero, the array API, torch.nonzero.

    Differs from PyTorch: as_tuple is True unless it is given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [i.tolist() for i in baracuda.nonzero(np.array([[0, 7], [8, 0]]))]
    [[0, 1], [1, 0]]
    >>> baracuda.nonzero(np.array([0, 7, 8]), size=3, fill_value=-1)[0].tolist()
    [1, 2, -1]
    """
    shape = tuple(x.shape)
    if not as_tuple:
        return places(x, shape, size, fill_value, by_axis=False)
    if not shape:
        raise InvalidProblemError("x: it is a scalar; expected one axis or more")
    found = places(x, shape, size, fill_value, by_axis=True)
    return tuple(found[axis] for axis in range(len(shape)))


@of_parts
@declared(x="...")
def argwhere(x: Any, *, size: Size = None, fill_value: Fill = 0) -> Any:
    """The places of the elements that are not zero, a row of s64 for each; as `nonzero` with as_tuple=False.

    Source: torch.argwhere, numpy.argwhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.argwhere(np.array([[0, 7], [8, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    return places(x, tuple(x.shape), size, fill_value, by_axis=False)


@of_parts
@declared(x="...")
def flatnonzero(x: Any, *, size: Size = None, fill_value: int = 0) -> Any:
    """The numbers of the elements that are not zero, the last axis fastest, in s64; `size` and `fill_value` as in `nonzero`.

    Source: numpy.flatnonzero, jax.numpy.flatnonzero.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.flatnonzero(np.array([[0, 7], [8, 0]])).tolist()
    [1, 2]
    """
    return places(x, (prod(x.shape),), size, fill_value, by_axis=True)[0]


def _common(x: Any, mask: Any) -> Shape:
    """What two tensors broadcast to."""
    own, other = tuple(x.shape), tuple(mask.shape)
    return own if own == other else broadcast_shape([own, other])


# --- what is there ----------------------------------------------------------------------------------------------------


@of_parts
@declared(x="...", mask="...")
def masked_select(x: Any, mask: Any, *, size: Size = None, fill_value: complex = 0, out: Any = None) -> Any:
    """The elements of x where the mask holds, in logical order, as one axis. x and mask broadcast.

    With `size` nothing is read on the host, and the result has that many elements: `fill_value` stands behind those that there
    are. Source: torch.masked_select, jax.numpy.extract.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.masked_select(np.float32([[1, 2], [3, 4]]), np.array([[True, False], [True, True]])).tolist()
    [1.0, 3.0, 4.0]
    """
    shape = _common(x, mask)
    if 0 in shape:
        return full(x, (size or 0,), fill_value, describe(x, "x").kind)
    bits, offsets = _marks(mask, shape=shape)
    count = read(offsets) if size is None else size
    filled = None if size is None else fill_value
    return _packed(x, bits, offsets, shape=shape, size=count, fill_value=filled, out=out)


@of_parts
@declared(x="... : T", mask="...", dy="count : T")
def masked_select_backward(dy: Any, x: Any, mask: Any) -> Any:
    """The gradient of `masked_select`'s x: dy, in order, where the mask holds, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.masked_select_backward(np.float32([5, 6]), np.float32([1, 2, 3]), np.array([True, False, True])).tolist()
    [5.0, 0.0, 6.0]
    """
    cotangent, ref = describe(dy, "dy"), describe(x, "x")
    shape = _common(x, mask)
    if not cotangent.shape[0] or not prod(shape):
        return full(dy, ref.shape, 0, cotangent.kind)
    return _spread(dy, x, mask, shape=shape)


@of_parts
@declared(condition="n", x="...")
def compress(
    condition: Any,
    x: Any,
    axis: int | None = None,
    *,
    size: Size = None,
    fill_value: complex = 0,
) -> Any:
    """The slices of x along an axis where the condition holds, which has one axis and may be shorter than that of x; without an
    axis the elements of x, the last axis fastest.

    With `size` nothing is read on the host, and the result has that many slices: `fill_value` stands behind those that there
    are. Source: numpy.compress, jax.numpy.compress, ONNX Compress.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.compress(np.array([False, True]), np.float32([[1, 2], [3, 4], [5, 6]]), axis=0).tolist()
    [[3.0, 4.0]]
    """
    ref, length = describe(x, "x"), describe(condition, "condition").shape[0]
    extent = prod(ref.shape) if axis is None else ref.shape[axis_of(axis, len(ref.shape))]
    if length > extent:
        raise InvalidProblemError(f"condition: it has {length} elements; expected at most {extent}")
    if axis is None:
        return masked_select(x.reshape((-1,))[:length], condition, size=size, fill_value=fill_value)
    axis = axis_of(axis, len(ref.shape))
    if size is None:
        return function("index_select")(x, flatnonzero(condition), axis=axis, bounds="clamp")
    index = flatnonzero(condition, size=size, fill_value=extent)
    return _rows(x, index, axis=axis, fill_value=fill_value)


@part(x="...", index="count")
def _rows(do: Steps, x: TensorRef, index: TensorRef, *, axis: int, fill_value: complex) -> TensorMut:
    """Slices at an index, and a number where it is the extent."""
    count, extent = index.shape[0], x.shape[axis]
    y = do.new((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.kind)
    order = (axis, *(a for a in range(len(x.shape)) if a != axis))
    into = permuted(y, order)
    Places(index, (axis,), wrap=False, once=True, skip=extent).read(do, x, into)
    if fill_value and prod(y.shape):
        beyond = do.run(_beyond, {"index": index}, extent=extent)
        value = number(do, fill_value, x.kind)
        Places(beyond, (0,), wrap=False, once=True, skip=-1).write(do, into, broadcasted(value, into.shape))
    return y


def _number_beyond(index: Own, *, extent: Scalar = 0) -> Expr:
    """The number of a position whose index is an extent, else -1."""
    return select(index >= extent, cast(coord(0), index.kind), -1)


_beyond = Op(_number_beyond, Rule.COMMON, name="number_beyond", family="indexing", takes="int", differentiable=False)


@of_parts
@declared(condition="n", x="... : T", dy="... : T")
def compress_backward(dy: Any, condition: Any, x: Any, axis: int | None = None) -> Any:
    """The gradient of `compress`'s x: dy's slices where the condition holds, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x = np.float32([[7, 8]]), np.zeros((3, 2), np.float32)
    >>> baracuda.compress_backward(dy, np.array([False, True]), x, axis=0).tolist()
    [[0.0, 0.0], [7.0, 8.0], [0.0, 0.0]]
    """
    ref, cotangent = describe(x, "x"), describe(dy, "dy")
    if axis is None:
        length, count = describe(condition, "condition").shape[0], prod(ref.shape)
        flat = full(dy, (count,), 0, cotangent.kind)
        index = flatnonzero(condition, size=cotangent.shape[0], fill_value=count)
        if not length:
            return flat.reshape(ref.shape)
        return _slices(dy, flat, index, axis=0).reshape(ref.shape)
    axis = axis_of(axis, len(ref.shape))
    if len(cotangent.shape) != len(ref.shape):
        raise InvalidProblemError(f"dy: shape is {cotangent.shape}; expected the rank of x, whose shape is {ref.shape}")
    index = flatnonzero(condition, size=cotangent.shape[axis], fill_value=ref.shape[axis])
    return _slices(dy, x, index, axis=axis)
