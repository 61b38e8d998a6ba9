"""Numbers of elements and their coordinates, one from the other."""

from __future__ import annotations

from math import prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, select
from baracuda.formula.integer_functions import fmod, remainder, truncate_divide
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Stored, WholeScalar
from baracuda.ops.declaration.words import Bounds

_S64 = ElementKind.S64


def _coordinate(index: Expr, *, count: WholeScalar = 1, pitch: WholeScalar = 1, extent: WholeScalar = 1) -> Stored:
    """One coordinate of the element of this number; of one out of range of the nearest element."""
    every, step, own = (as_expr(n, _S64) for n in (count, pitch, extent))
    wide = cast(index, _S64)
    held = f.maximum(f.minimum(select(wide < 0, wide + every, wide), every - 1), 0)
    return Stored(fmod(truncate_divide(held, step), own), index.kind)


def _raveled(
    index0: Expr,
    index1: Expr | None = None,
    index2: Expr | None = None,
    index3: Expr | None = None,
    index4: Expr | None = None,
    index5: Expr | None = None,
    index6: Expr | None = None,
    index7: Expr | None = None,
    *,
    wrap: bool = False,
    n0: WholeScalar = 1,
    n1: WholeScalar = 1,
    n2: WholeScalar = 1,
    n3: WholeScalar = 1,
    n4: WholeScalar = 1,
    n5: WholeScalar = 1,
    n6: WholeScalar = 1,
    n7: WholeScalar = 1,
) -> Stored:
    """The number of the element with these coordinates, held to the extents or wrapped around them."""
    extents = [as_expr(n, _S64) for n in (n0, n1, n2, n3, n4, n5, n6, n7)]
    total: Expr | None = None
    for index, n in zip((index0, index1, index2, index3, index4, index5, index6, index7), extents, strict=True):
        if index is None:
            continue
        wide = cast(index, _S64)
        place = remainder(wide, n) if wrap else f.maximum(f.minimum(wide, n - 1), 0)
        total = place if total is None else total * n + place
    assert total is not None
    return Stored(total, _S64)


_NUMBERS: dict[str, Any] = {"family": "indexing", "takes": "int", "differentiable": False}
coordinate = Op(_coordinate, Rule.COMMON, name="coordinate_of_number", **_NUMBERS)
raveled = Op(_raveled, Rule.COMMON, name="raveled_coordinates", **_NUMBERS)


@composed(index="... : s32 s64")
def unravel_index(do: Steps, index: TensorRef, shape: tuple[int, ...], *, bounds: Bounds = "check") -> Any:
    """The coordinates of elements of a tensor of some shape from their numbers, the last axis fastest: a tensor for each axis, of
    the shape and element of index.

    A negative number counts from the end. bounds="check" raises `InvalidProblemError` for one out of range (on a GPU when values
    are next read on the host, or by `baracuda.synchronize()`), bounds="clamp" takes the nearest element.

    Source: numpy.unravel_index, torch.unravel_index.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [c.tolist() for c in baracuda.unravel_index(np.array([5, 0, 3]), (2, 3))]
    [[1, 0, 1], [2, 0, 0]]
    """
    if any(n < 0 for n in shape):
        raise InvalidProblemError(f"shape: {shape}; expected extents of 0 or more")
    count, pitch = prod(shape), prod(shape)
    if bounds == "check" and shape:
        do.check_indices(index, "index", IndexBound(count, wrap=True))
    found = []
    for extent in shape:
        pitch //= max(extent, 1)
        found.append(do.run(coordinate, {"index": index}, count=count, pitch=pitch, extent=extent))
    return tuple(found)


@composed(indices="list ... : s32 s64")
def ravel_multi_index(
    do: Steps, indices: Any, shape: tuple[int, ...], *, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> TensorRef:
    """The numbers, the last axis fastest, of elements of a tensor of some shape from their coordinates, a tensor for each axis;
    they broadcast, and the result is s64.

    A coordinate out of range is an error (on a GPU when values are next read on the host, or by `baracuda.synchronize()`), with
    mode="clip" the nearest one that is not, with mode="wrap" taken modulo the extent.

    Source: numpy.ravel_multi_index.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ravel_multi_index((np.array([1, 0, 1]), np.array([2, 0, 0])), (2, 3)).tolist()
    [5, 0, 3]
    """
    if not 0 < len(indices) <= 8 or len(indices) != len(shape):
        raise InvalidProblemError(f"indices: {len(indices)} tensors for shape {shape}; expected one for each axis, of 1 to 8")
    if mode == "raise":
        for k, (index, extent) in enumerate(zip(indices, shape, strict=True)):
            do.check_indices(index, f"indices[{k}]", IndexBound(extent))
    words: dict[str, Any] = {f"n{k}": n for k, n in enumerate(shape)}
    tensors = {f"index{k}": i for k, i in enumerate(indices)}
    found: TensorRef = do.run(raveled, tensors, wrap=mode == "wrap", **words)
    return found
