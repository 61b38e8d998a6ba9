"""Coordinates of grids, and tensors of all combinations."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import reshaped, shape_of, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Count, Dtype, Positive
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.indexing import index_select
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.reductions.reductions import sum_
from baracuda.ops.shapes.joins import element_of, some
from baracuda.ops.shapes.numbering import numbers

_S64 = ElementKind.S64
Indexing = Literal["xy", "ij"]


@composed(like="?", creates=True)
def diag_indices(do: Steps, like: TensorRef, n: Count, ndim: Positive = 2) -> Any:
    """The indices of the main diagonal of a tensor of n along each of ndim axes: ndim tensors 0 ... n - 1, of s64.

    Examples
    --------
    >>> import baracuda
    >>> [i.tolist() for i in baracuda.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    return tuple(numbers(do, (n,), (1,)) for _ in range(ndim))


@composed(like="?", creates=True)
def indices(do: Steps, like: TensorRef, dimensions: tuple[int, ...], dtype: Dtype = None, sparse: bool = False) -> Any:
    """The index of each place of a grid along each axis: a tensor of shape (axes, *dimensions), of `dtype`, by default s64; or
    with `sparse` a tuple of tensors that broadcast to that.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.indices((1, 2)).tolist()
    [[[0, 0]], [[0, 1]]]
    """
    shape, kind = shape_of(dimensions, "dimensions"), dtype or _S64
    if not kind.is_integer:
        raise InvalidProblemError(f"dtype: {kind}; expected an integer")
    rank = len(shape)
    if sparse:
        sparse_shapes = [tuple(n if a == b else 1 for b in range(rank)) for a, n in enumerate(shape)]
        return tuple(
            numbers(do, s, tuple(int(a == b) for b in range(rank)), 0, do.rows(s, kind)) for a, s in enumerate(sparse_shapes)
        )
    y = do.rows((rank, *shape), kind)
    for a in range(rank) if prod(shape) else ():
        numbers(do, shape, tuple(int(a == b) for b in range(rank)), 0, view(y, a * y.strides[0], shape, y.strides[1:]))
    return y


def _vectors(tensors: Sequence[TensorRef]) -> Sequence[TensorRef]:
    """The tensors, each of which has one axis or none."""
    for i, t in enumerate(tensors):
        if len(t.shape) > 1:
            raise InvalidProblemError(f"arrays[{i}]: shape is {t.shape}; expected one axis")
    return tensors


def _grid(tensors: Sequence[TensorRef], indexing: str, sparse: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Shape and strides of the view that each vector is on the grid."""
    rank = len(_vectors(tensors))
    extents = [t.shape[0] if t.shape else 1 for t in tensors]
    steps = [t.strides[0] if t.shape else 0 for t in tensors]
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[:2] = [1, 0]
    whole = [0] * rank
    for i, place in enumerate(places):
        whole[place] = extents[i]
    found = []
    for i, place in enumerate(places):
        shape = tuple(n if not sparse or a == place else 1 for a, n in enumerate(whole))
        found.append((shape, tuple(steps[i] if a == place else 0 for a in range(rank))))
    return found


@composed(arrays="...", views=True)
def meshgrid(do: Steps, *arrays: TensorRef, indexing: Indexing = "xy", sparse: bool = False, copy: bool = False) -> Any:
    """The coordinates of a grid: each vector repeated along the axes of the others, as views, or with `copy` as new tensors.

    Vector i lies along axis i, with indexing "xy" the first along the second axis and the second along the first, as in NumPy.
    With `sparse` the other axes have extent 1.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.meshgrid(np.array([1, 2]), np.array([3, 4]), indexing="ij")]
    [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    views = [view(t, 0, *g) for t, g in zip(arrays, _grid(arrays, indexing, sparse), strict=True)]
    if not copy:
        return tuple(views)
    made = [do.rows(v.shape, v.kind) for v in views]
    do.move(list(zip(views, made, strict=True)))
    return tuple(made)


@composed(dy="list ...", arrays="...")
def meshgrid_backward(
    do: Steps, dy: Sequence[TensorRef], *arrays: TensorRef, indexing: Indexing = "xy", sparse: bool = False
) -> Any:
    """The gradients of `meshgrid`'s vectors, given a list of those of its results: each summed along the axes of the others.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.meshgrid_backward([np.ones((3, 2)), np.ones((3, 2))], np.zeros(2), np.zeros(3))]
    [[3.0, 3.0], [2.0, 2.0, 2.0]]
    """
    if len(dy) != len(arrays):
        raise InvalidProblemError(f"dy: {len(dy)} tensors; expected {len(arrays)}")
    found = []
    for i, (d, x, (shape, _)) in enumerate(zip(dy, arrays, _grid(arrays, indexing, sparse), strict=True)):
        if d.shape != shape:
            raise InvalidProblemError(f"dy[{i}]: shape is {d.shape}; expected {shape}")
        place = (1 - i) if indexing == "xy" and len(arrays) > 1 and i < 2 else i
        over = tuple(a for a in range(len(shape)) if a != place)
        total = do.run(sum_, {"x": d}, axis=over, dtype=x.kind) if over else d
        do.copy(do.reshaped(total, x.shape), dx := do.new(x.shape, x.kind))
        found.append(dx)
    return tuple(found)


@composed(arrays="...", views=True)
def ix_(do: Steps, *arrays: TensorRef) -> Any:
    """Vectors of indices as views that broadcast to the grid of all their combinations (numpy.ix_).

    A vector of bool is to be `nonzero` of it.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [i.shape for i in baracuda.ix_(np.array([0, 2]), np.array([1, 3, 4]))]
    [(2, 1), (1, 3)]
    """
    rank = len(_vectors(arrays))
    for i, t in enumerate(arrays):
        if t.kind is ElementKind.BOOL:
            raise InvalidProblemError(f"arrays[{i}]: {t.kind}; expected indices, those where it is true")
    return tuple(reshaped(t, tuple(prod(t.shape) if a == i else 1 for a in range(rank))) for i, t in enumerate(arrays))


# --- all combinations -------------------------------------------------------------------------------------------------


def _columns(tensors: Sequence[TensorRef], y: TensorRef) -> list[tuple[Any, Any]]:
    """Of a product of vectors each one on the grid, and its column as that grid."""
    shape = tuple(t.shape[0] if t.shape else 1 for t in tensors)
    pairs = []
    for i, t in enumerate(tensors):
        step = t.strides[0] if t.shape else 0
        grid = view(t, 0, shape, tuple(step if a == i else 0 for a in range(len(shape))))
        column = reshaped(view(y, i * y.strides[1], (y.shape[0],), (y.strides[0],)), shape)
        pairs.append((grid, column))
    return pairs


@composed(arrays="...", views=True)
def cartesian_prod(do: Steps, *arrays: TensorRef) -> Any:
    """All combinations of an element of each vector, the last one fastest: (combinations, vectors). Of one vector, that vector.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.cartesian_prod(np.array([1, 2]), np.array([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    if len(some(_vectors(arrays))) == 1:
        return reshaped(arrays[0], (-1,))
    size = prod(t.shape[0] if t.shape else 1 for t in arrays)
    kind = element_of(arrays)
    y = do.rows((size, len(arrays)), kind)
    if size:
        do.move(_columns(arrays, y))
    return y


@composed(dy="...", arrays="...")
def cartesian_prod_backward(do: Steps, dy: TensorRef, *arrays: TensorRef) -> Any:
    """The gradients of `cartesian_prod`'s vectors: each element's share of its column, summed.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.cartesian_prod_backward(np.ones((4, 2)), np.zeros(2), np.zeros(2))]
    [[2.0, 2.0], [2.0, 2.0]]
    """
    found = []
    if len(arrays) > 1:
        for i, (x, (_, column)) in enumerate(zip(arrays, _columns(arrays, dy), strict=True)):
            over = tuple(a for a in range(len(arrays)) if a != i)
            found.append(do.reshaped(do.run(sum_, {"x": column}, axis=over, dtype=x.kind), x.shape))
        return tuple(found)
    do.copy(do.reshaped(dy, arrays[0].shape), dx := do.new(arrays[0].shape, arrays[0].kind))
    return (dx,)


def _choices(do: Steps, n: int, r: int, again: bool) -> Any:
    """The numbers of each choice of r of n in rising order: (choices, r) of s64, made a column at a time: each beginning of a
    choice as often as it can go on, followed by the numbers that may come next."""
    from baracuda.ops.elementwise.binary_ops import add, sub
    from baracuda.ops.scans.scans import cumsum

    def beginnings(length: int) -> int:
        return comb(n + length - 1, length) if again else comb(max(n - (r - length), 0), length)

    size = beginnings(1)
    columns = [numbers(do, (size,), (1,))]
    for length in range(2, r + 1):
        last, total = columns[-1], beginnings(length)
        most = n if again else n - (r - length) - 1  # what may come next is below it, or at it
        counts = do.run(sub, {"a": numbers(do, (size,), (0,), most), "b": last})
        ends = do.run(cumsum, {"x": counts}, axis=0)
        counted = ScatterDescriptor(ScatterKind.COUNT, (total + 1,), 0, (size,), _S64, _S64)
        begun = do.plan(ScatterPlan, counted, {"index": ends})
        parent = do.run(cumsum, {"x": view(begun, 0, (total,), (1,))}, axis=0)
        starts = do.run(sub, {"a": ends, "b": counts})
        offset = do.run(sub, {"a": numbers(do, (total,), (1,), 0 if again else 1),
                              "b": do.run(index_select, {"x": starts, "index": parent})})  # fmt: skip
        columns = [do.run(index_select, {"x": c, "index": parent}) for c in columns]
        columns.append(do.run(add, {"a": columns[-1], "b": offset}))
        size = total
    y = do.rows((size, r), _S64)
    do.move([(c, view(y, i * y.strides[1], (size,), (y.strides[0],))) for i, c in enumerate(columns)])
    return y


def _count(n: int, r: int, again: bool) -> int:
    return (comb(n + r - 1, r) if n or not r else 0) if again else comb(n, r)


@composed(x="n")
def combinations(do: Steps, x: TensorRef, r: Positive = 2, with_replacement: bool = False) -> Any:
    """All choices of r elements of x, in the order in which they stand, also the same one again where `with_replacement`:
    (choices, r).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.combinations(np.array([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    n = x.shape[0]
    if not _count(n, r, with_replacement):
        return do.rows((0, r), x.kind)
    index = _choices(do, n, r, with_replacement)
    flat = do.run(index_select, {"x": x, "index": do.reshaped(index, (-1,))})
    return do.reshaped(flat, index.shape)


@composed(dy="...", x="n")
def combinations_backward(do: Steps, dy: TensorRef, x: TensorRef, r: Positive = 2, with_replacement: bool = False) -> Any:
    """The gradient of `combinations`'s x: of each element the sum of dy over the choices that have it, in order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.combinations_backward(np.ones((3, 2)), np.zeros(3)).tolist()
    [2.0, 2.0, 2.0]
    """
    n = x.shape[0]
    count = _count(n, r, with_replacement)
    if dy.shape != (count, r):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {(count, r)}")
    if not count:
        return do.filled(x.shape, x.kind, 0)
    index = _choices(do, n, r, with_replacement)
    scatter = ScatterDescriptor(ScatterKind.SUM, (n,), 0, (count, r), x.kind, _S64)
    return do.plan(ScatterPlan, scatter, {"index": index, "x": in_element(do, dy, x.kind)})
