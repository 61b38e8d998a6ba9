"""Where values belong in rows that are in order: bisection, without a branch, in one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, const, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Given, Into, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, Value

_S32, _S64 = ElementKind.S32, ElementKind.S64
Side = Literal["left", "right"]


def is_before(a: Value, b: Value) -> Expr:
    """Whether a comes before b in the order of `baracuda.sort`: NaN come last."""
    if isinstance(a, Complex) or isinstance(b, Complex):
        assert isinstance(a, Complex)
        assert isinstance(b, Complex)
        (first, *ours), (second, *theirs) = _ranked(a), _ranked(b)
        inner = (ours[0] < theirs[0]) | (f.equal(ours[0], theirs[0]) & (ours[1] < theirs[1]))
        return (first < second) | (f.equal(first, second) & inner)
    if a.kind is ElementKind.BOOL:
        a, b = cast(a, _S32), cast(b, _S32)
    if not a.kind.is_float:
        return a < b
    return (a < b) | (f.not_equal(b, b) & f.equal(a, a))


def _ranked(x: Complex) -> tuple[Expr, Expr, Expr]:
    """What complex numbers are compared by: which of the parts are NaN, then two numbers."""
    re, im = f.not_equal(x.re, x.re), f.not_equal(x.im, x.im)
    some, both = re | im, re & im
    group = cast(re, _S32) * 2 + cast(im, _S32)
    alone = select(both, 0.0, select(re, x.im, select(im, x.re, x.im)))
    return group, select(some, 0.0, x.re), alone


def position_in(sequence: Table, values: Value, sorter: Table | None, steps: int, right: bool, kind: ElementKind) -> Expr:
    extent = table_extent(sequence, len(sequence.dims) - 1, kind)
    position = const(0, kind)
    for step in reversed(range(steps)):
        ahead = position + (1 << step)
        at = ahead - 1
        if sorter is not None:
            index = take(sorter, at)
            assert isinstance(index, Expr)
            at = index
        found = take(sequence, at)
        passed = ~is_before(values, found) if right else is_before(found, values)
        position = select((ahead <= extent) & passed, ahead, position)
    return position


def _searched(
    sequence: Table, values: Value, *, steps: int = 0, right: bool = False, wide: bool = True, axis: int = -1
) -> Stored:
    position = position_in(sequence, values, None, steps, right, _S32 if steps < 31 else _S64)
    kind = _S64 if wide else _S32
    return Stored(cast(position, kind), kind)


def _searched_by(
    sequence: Table, values: Value, sorter: Own, *, steps: int = 0, right: bool = False, wide: bool = True, axis: int = -1
) -> Stored:
    assert isinstance(sorter, Table)
    position = position_in(sequence, values, sorter, steps, right, _S32 if steps < 31 else _S64)
    kind = _S64 if wide else _S32
    return Stored(cast(position, kind), kind)


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    rank = len(shapes["sequence"])
    read = tuple(None if a == options["axis"] % rank else a for a in range(rank))
    axes = {n: read for n in ("sequence", "sorter") if n in shapes}
    return Space({**axes, "values": tuple(range(len(shapes["values"])))})


_SEARCH: dict[str, Any] = {
    "family": "sorting", "takes": "any", "space": _space, "differentiable": False, "byte_floats": True,
}  # fmt: skip
_plain = Op(_searched, Rule.COMMON, name="searchsorted", **_SEARCH)
_sorted_by = Op(_searched_by, Rule.COMMON, name="searchsorted_by", **_SEARCH)


def search(
    do: Steps,
    sequence: TensorRef,
    values: TensorRef,
    *,
    right: bool = False,
    sorter: Given = None,
    wide: bool = True,
    axis: int = -1,
    into: Into = None,
) -> Any:
    """The places of values in rows in order along an axis, as a step of a composition."""
    options = {"steps": sequence.shape[axis].bit_length(), "right": right, "wide": wide, "axis": axis}
    tensors = {"sequence": sequence, "values": values}
    if sorter is None:
        return do.run(_plain, tensors, into, **options)
    return do.run(_sorted_by, {**tensors, "sorter": sorter}, into, **options)


@composed(sequence="places or *batch places", values="*batch count or ...", sorter="places or *batch places : s32 s64", out=True)
def searchsorted(
    do: Steps,
    sequence: TensorRef,
    values: TensorRef,
    side: Side = "left",
    sorter: Given = None,
    *,
    right: bool | None = None,
    out_int32: bool = False,
) -> TensorRef:
    """Where in a sequence, which is in order, values belong: the number of its elements that come before each, or, with
    side="right" (or right=True), that do not come after it; in s64, or s32 with out_int32.

    sequence has one axis, and values any shape; or both have the same axes but for the last one, and each row of values is
    searched for in the row of its own. With `sorter`, indices of the sequence's shape, the sequence is what it has at these, as
    `argsort` gives them. Elements promote, and are compared in the order of `sort`: NaN belong behind all numbers. That the
    sequence is in order is not checked.

    Source: the array API's and NumPy's searchsorted (sequence, values, side, sorter); torch.searchsorted.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.searchsorted(np.float32([1, 2, 2, 3]), np.float32([0, 2, 9])).tolist()
    [0, 1, 4]
    >>> baracuda.searchsorted(np.float32([1, 2, 2, 3]), np.float32([0, 2, 9]), side="right").tolist()
    [0, 3, 4]
    """
    if not sequence.shape:
        raise InvalidProblemError("sequence: it is a scalar; expected one axis or more")
    if len(sequence.shape) > 1 and sequence.shape[:-1] != values.shape[:-1]:
        raise InvalidProblemError(
            f"values: shape is {values.shape}; expected the axes of sequence, whose shape is {sequence.shape}, but for the last"
        )
    if sorter is not None and sorter.shape != sequence.shape:
        raise InvalidProblemError(f"sorter: shape is {sorter.shape}; expected that of sequence, {sequence.shape}")
    from_right = (side == "right") if right is None else right
    found: TensorRef = search(do, sequence, values, right=from_right, sorter=sorter, wide=not out_int32, into=do.out)
    return found


@composed(x="...", boundaries="places", out=True)
def bucketize(do: Steps, x: TensorRef, boundaries: TensorRef, *, right: bool = False, out_int32: bool = False) -> TensorRef:
    """The number of the bucket that each element of x is in, of those between rising boundaries: how many of these come before
    it, or, with right=True, do not come after it; in s64, or s32 with out_int32.

    Source: torch.bucketize. jax.numpy.digitize(x, bins, right) is bucketize(x, bins, right=not right).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.bucketize(np.float32([0, 1, 2.5]), np.float32([1, 2])).tolist()
    [0, 0, 2]
    """
    found: TensorRef = search(do, boundaries, x, right=right, wide=not out_int32, into=do.out)
    return found
