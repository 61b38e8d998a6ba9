"""Rows in order: all of their elements, the first of them, one of them.

The order is stable, and every function here says the same of it: -0 equals +0, complex numbers compare by their real parts and
then by their imaginary ones, and NaN come last, in descending order too, where they are neither small nor large; in `topk` of the
largest and in `kthvalue` NaN is larger than all numbers, as in PyTorch and JAX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from baracuda.core.bounds import Above, AtMost
from baracuda.core.elements import Category, ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Count, Positive
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.sorting.rows import check_place, in_order, placed, row_of, slopes_of_order, without_axis

Pair = tuple[TensorRef, TensorRef]


# --- all elements -----------------------------------------------------------------------------------------------------


@composed(x="...")
def sort(
    do: Steps,
    x: TensorRef,
    axis: int | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    return_indices: bool = False,
) -> Any:
    """The elements of x in order along an axis, of all of x as one row with axis=None; with return_indices also where in its row
    each lies, in s64.

    x has any element of 8 bits or more. The order is stable whatever `stable` says. NaN come last, also with `descending`; -0
    equals +0; complex numbers compare by their real parts, then by their imaginary ones.

    Source: the array API's sort, torch.sort for return_indices. Differs from PyTorch: there NaN come first with `descending`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.sort(np.float32([3, 1, 2])).tolist()
    [1.0, 2.0, 3.0]
    >>> [r.tolist() for r in baracuda.sort(np.array([3, 1, 3]), descending=True, return_indices=True)]
    [[3, 3, 1], [0, 2, 1]]
    """
    row, along = row_of(do, x, axis)
    if return_indices:
        results: Sequence[TensorRef] = in_order(do, row, along, "values", "indices", descending=descending)
    else:
        results = [in_order(do, row, along, "values", descending=descending)]
    shape = row.shape if axis is None else x.shape
    shaped = [r if r.shape == shape else do.reshaped(r, shape) for r in results]
    return tuple(shaped) if return_indices else shaped[0]


@composed(x="...", dy="...", indices="... : s32 s64")
def sort_backward(
    do: Steps, dy: TensorRef, x: TensorRef, indices: Given = None, *, axis: int | None = -1, descending: bool = False
) -> TensorRef:
    """The gradient of `sort`'s x: each element has that of its place. Where `indices` are not given, x is sorted again.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.sort_backward(np.float32([10, 20, 30]), np.float32([3, 1, 2])).tolist()
    [30.0, 10.0, 20.0]
    """
    return slopes_of_order(do, dy, x, axis, descending=descending, indices=indices)


@composed(x="...")
def argsort(do: Steps, x: TensorRef, axis: int | None = -1, *, descending: bool = False, stable: bool = True) -> TensorRef:
    """Where in its row each element of `sort` lies, in s64: x[argsort(x)] is sort(x). Of equal elements the first comes first.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.argsort(np.float32([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    row, along = row_of(do, x, axis)
    shape = row.shape if axis is None else x.shape
    found: TensorRef = in_order(do, row, along, "indices", descending=descending)
    return found if found.shape == shape else do.reshaped(found, shape)


@composed(x="first *rest")
def msort(do: Steps, x: TensorRef) -> TensorRef:
    """`sort` along the first axis. Source: torch.msort.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.msort(np.float32([[3, 1], [2, 4]])).tolist()
    [[2.0, 1.0], [3.0, 4.0]]
    """
    found: TensorRef = in_order(do, x, 0, "values")
    return found


@composed(x="first *rest", dy="first *rest")
def msort_backward(do: Steps, dy: TensorRef, x: TensorRef) -> TensorRef:
    """The gradient of `msort`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.msort_backward(np.float32([10, 20, 30]), np.float32([3, 1, 2])).tolist()
    [30.0, 10.0, 20.0]
    """
    return slopes_of_order(do, dy, x, 0, descending=False)


_SINGLE = (ElementKind.F32, ElementKind.F16, ElementKind.BF16, ElementKind.S8, ElementKind.U8, ElementKind.S16, ElementKind.U16)


@composed(x="...")
def sort_complex(do: Steps, x: TensorRef) -> TensorRef:
    """x in order along the last axis, as complex numbers: complex64 of floats and integers that f32 has all of, else complex128.
    Source: numpy.sort_complex.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.sort_complex(np.array([2, 1 + 1j, 1], np.complex64)).tolist()
    [(1+0j), (1+1j), (2+0j)]
    """
    kind = x.kind
    if kind.category is not Category.COMPLEX:
        kind = ElementKind.C64 if kind in _SINGLE else ElementKind.C128
    row, along = row_of(do, x, -1)
    found: TensorRef = in_order(do, row, along, "values")
    found = in_element(do, found, kind)
    return found if found.shape == x.shape else do.reshaped(found, x.shape)


# --- the first of them ------------------------------------------------------------------------------------------------


def _top(do: Steps, x: TensorRef, k: int, axis: int, largest: bool) -> Pair:
    row, along = row_of(do, x, axis)
    check_place("k", k, 0, row.shape[along])
    values, indices = in_order(do, row, along, "values", "indices", count=k, descending=largest, nan_first=largest)
    if row.shape == x.shape or not k:
        return values, indices
    return do.reshaped(values, x.shape), do.reshaped(indices, x.shape)


def _top_slopes(do: Steps, dy: TensorRef, x: TensorRef, k: int, axis: int, largest: bool, indices: Given) -> Any:
    row, along = row_of(do, x, axis)
    check_place("k", k, 0, row.shape[along])
    if indices is None:
        indices = in_order(do, row, along, "indices", count=k, descending=largest, nan_first=largest)
    assert indices is not None
    shape = (*row.shape[:along], k, *row.shape[along + 1 :])
    dy, indices = do.reshaped(dy, shape), do.reshaped(indices, shape)
    assert indices is not None
    return do.reshaped(placed(do, dy, indices, row, along), x.shape)


@composed(x="...")
def topk(do: Steps, x: TensorRef, k: Count, axis: int = -1, *, largest: bool = True, sorted: bool = True) -> Pair:
    """The k largest elements along an axis, or with largest=False the smallest, and where in the row they lie, in s64.

    They come in order whatever `sorted` says, the largest (the smallest) first; of equal elements the one that lies first. NaN is
    larger than every number. x has any element of 8 bits or more. Raises `InvalidProblemError` where a row has fewer than k.

    Source: torch.topk, jax.lax.top_k and ONNX TopK.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.topk(np.float32([1, 5, 3, 5]), 3)]
    [[5.0, 5.0, 3.0], [1, 3, 2]]
    """
    return _top(do, x, k, axis, largest)


@composed(x="...", dy="...", indices="... : s32 s64")
def topk_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    indices: Given = None,
    *,
    k: Count,
    axis: int = -1,
    largest: bool = True,
) -> Any:
    """The gradient of `topk`'s x, given that of its values: dy where they lie, 0 elsewhere. Where `indices` are not given, they
    are found again.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.topk_backward(np.float32([10, 20]), np.float32([1, 5, 3]), k=2).tolist()
    [0.0, 10.0, 20.0]
    """
    return _top_slopes(do, dy, x, k, axis, largest, indices)


#: The share of the largest elements that is asked for.
Recall = Annotated[float, Above(0), AtMost(1)]


@composed(x="...")
def approx_topk(
    do: Steps,
    x: TensorRef,
    k: Count,
    axis: int = -1,
    *,
    largest: bool = True,
    recall_target: Recall = 0.95,
) -> Pair:
    """`topk`, which finds every one of the k largest (smallest) elements, whatever share of them recall_target asks for.

    Source: jax.lax.approx_max_k, and approx_min_k with largest=False.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.approx_topk(np.float32([1, 5, 3]), 2, largest=False)]
    [[1.0, 3.0], [0, 2]]
    """
    return _top(do, x, k, axis, largest)


@composed(x="...", dy="...", indices="... : s32 s64")
def approx_topk_backward(
    do: Steps, dy: TensorRef, x: TensorRef, indices: Given = None, *, k: Count, axis: int = -1, largest: bool = True
) -> Any:
    """The gradient of `approx_topk`'s x, given that of its values.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.approx_topk_backward(np.float32([10, 20]), np.float32([1, 5, 3]), k=2).tolist()
    [0.0, 10.0, 20.0]
    """
    return _top_slopes(do, dy, x, k, axis, largest, indices)


# --- one of them ------------------------------------------------------------------------------------------------------


@composed(x="...")
def kthvalue(do: Steps, x: TensorRef, k: Positive, axis: int = -1, *, keepdims: bool = False) -> Pair:
    """The k-th smallest element along an axis, counted from 1, and where in the row it lies, in s64: of equal elements that which
    `sort` puts there. NaN is larger than every number. Source: torch.kthvalue.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.kthvalue(np.float32([4, 1, 3]), 2)]
    [3.0, 2]
    """
    row, along = row_of(do, x, axis)
    check_place("k", k, 1, row.shape[along])
    values, indices = in_order(do, row, along, "values", "indices", first=k - 1, count=1)
    keepdims = keepdims and row.shape == x.shape
    return without_axis(do, values, along, keepdims=keepdims), without_axis(do, indices, along, keepdims=keepdims)


@composed(x="...", dy="...", indices="... : s32 s64")
def kthvalue_backward(
    do: Steps, dy: TensorRef, x: TensorRef, indices: Given = None, *, k: Positive, axis: int = -1, keepdims: bool = False
) -> Any:
    """The gradient of `kthvalue`'s x, given that of its values: dy where they lie, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.kthvalue_backward(np.array(7, np.float32), np.float32([4, 1, 3]), k=2).tolist()
    [0.0, 0.0, 7.0]
    """
    row, along = row_of(do, x, axis)
    check_place("k", k, 1, row.shape[along])
    if indices is None:
        indices = in_order(do, row, along, "indices", first=k - 1, count=1)
    assert indices is not None
    shape = (*row.shape[:along], 1, *row.shape[along + 1 :])
    dy, indices = do.reshaped(dy, shape), do.reshaped(indices, shape)
    assert indices is not None
    return do.reshaped(placed(do, dy, indices, row, along), x.shape)


def _check_kth(kth: int | Sequence[int], n: int) -> None:
    for place in (kth,) if isinstance(kth, int) else kth:
        check_place("kth", place, -n, n - 1)


@composed(x="...")
def partition(do: Steps, x: TensorRef, kth: int | tuple[int, ...], axis: int | None = -1) -> TensorRef:
    """x with the element of place kth of the order along an axis (of several, each) in that place, none larger before it and none
    smaller after it: here all of the order, which is one of those. Source: numpy.partition.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.partition(np.float32([4, 1, 3, 2]), 2).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    row, along = row_of(do, x, axis)
    _check_kth(kth, row.shape[along])
    found: TensorRef = in_order(do, row, along, "values")
    return found if axis is None or x.shape else do.reshaped(found, ())


@composed(x="...", dy="...")
def partition_backward(do: Steps, dy: TensorRef, x: TensorRef, *, kth: int | tuple[int, ...], axis: int | None = -1) -> TensorRef:
    """The gradient of `partition`'s x: each element has that of its place.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.partition_backward(np.float32([10, 20, 30]), np.float32([3, 1, 2]), kth=1).tolist()
    [30.0, 10.0, 20.0]
    """
    return slopes_of_order(do, dy, x, axis, descending=False)


@composed(x="...")
def argpartition(do: Steps, x: TensorRef, kth: int | tuple[int, ...], axis: int | None = -1) -> TensorRef:
    """Where in its row each element of `partition` lies, in s64.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.argpartition(np.float32([4, 1, 3, 2]), 2).tolist()
    [1, 3, 2, 0]
    """
    row, along = row_of(do, x, axis)
    _check_kth(kth, row.shape[along])
    found: TensorRef = in_order(do, row, along, "indices")
    return found if axis is None or x.shape else do.reshaped(found, ())
