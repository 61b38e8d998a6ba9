"""Operations on tensors as sets."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import slab
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, const
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, promote
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored, Value, WholeScalar
from baracuda.ops.declaration.words import Count
from baracuda.ops.elementwise.conversions import cast as cast_op
from baracuda.ops.sets.runs import Runs, kept, left_by, starts_of_runs
from baracuda.ops.sorting.rows import flat, in_order
from baracuda.ops.sorting.searches import position_in, search

S32, S64 = ElementKind.S32, ElementKind.S64


def _among(x: Value, sequence: Table, steps: int) -> Expr:
    """Whether x is one of a row that is in order; NaN is none."""
    kind = S32 if steps < 31 else S64
    if not steps:
        return const(False, ElementKind.BOOL)
    at = position_in(sequence, x, None, steps, False, kind)
    found = take(sequence, at)
    exists = at < table_extent(sequence, 0, kind)
    if isinstance(x, Complex):
        assert isinstance(found, Complex)
        return exists & f.equal(found.re, x.re) & f.equal(found.im, x.im)
    assert isinstance(found, Expr)
    return exists & f.equal(found, x)


def _is_among(x: Value, sequence: Table, *, steps: int = 0, invert: bool = False) -> Stored:
    found = _among(x, sequence, steps)
    return Stored(~found if invert else found, ElementKind.BOOL)


def _first_among(x: Value, sequence: Table, first: Own, *, steps: int = 0, invert: bool = False) -> Stored:
    found = _among(x, sequence, steps)
    return Stored(cast(~found if invert else found, S64) * first, S64)


def _in_one(x: Value, a: Table, b: Table, first: Own, *, steps_a: int = 0, steps_b: int = 0) -> Stored:
    ours, theirs = (cast(_among(x, s, steps), S64) for s, steps in ((a, steps_a), (b, steps_b)))
    parts = (x.re, x.im) if isinstance(x, Complex) else (x,)
    alone = f.not_equal(ours, theirs)
    for part in parts:
        alone = alone | f.not_equal(part, part)
    return Stored(cast(alone, S64) * first, S64)


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    every = tuple(range(len(shapes["x"])))
    return Space({n: every if n in ("x", "first") else (None,) for n in shapes})


_SETS: dict[str, Any] = {
    "family": "set_ops", "takes": "any", "space": _space, "differentiable": False, "byte_floats": True,
}  # fmt: skip
_is_among_op = Op(_is_among, Rule.COMMON, name="isin", **_SETS)
_first_among_op = Op(_first_among, Rule.COMMON, name="first_among", **_SETS)
_in_one_op = Op(_in_one, Rule.COMMON, name="in_one", **_SETS)


def _joined(do: Steps, a: TensorRef, b: TensorRef) -> TensorRef:
    """Two rows one after the other, in the element that they promote to."""
    kind = promoted(a.kind, b.kind)
    n = a.shape[0]
    whole = do.new((n + b.shape[0],), kind)
    for part, start in ((a, 0), (b, n)):
        if part.shape[0]:
            do.run(cast_op, {"x": part}, slab(whole, 0, start, start + part.shape[0]), dtype=kind)
    return whole


def promoted(a: ElementKind, b: ElementKind) -> ElementKind:
    """The element of two together."""
    return a if a is b else promote(a, b)


@composed(x="...", test_elements="... or number")
def isin(do: Steps, x: TensorRef, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> TensorRef:
    """Whether each element of x is one of test_elements, a tensor of any shape or a number; with invert whether it is none.

    NaN is equal to nothing. What assume_unique says changes nothing. Source: the array API's isin, torch.isin, numpy.isin.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.isin(np.array([[1, 2], [3, 4]]), np.array([4, 1])).tolist()
    [[True, False], [False, True]]
    """
    if not isinstance(test_elements, TensorRef):
        test_elements = do.filled((1,), x.kind, test_elements)
    sequence = in_order(do, flat(do, test_elements), 0, "values")
    options = {"steps": sequence.shape[0].bit_length(), "invert": invert}
    found: TensorRef = do.run(_is_among_op, {"x": x, "sequence": sequence}, **options)
    return found


@composed(a="...", b="...")
def union1d(do: Steps, a: TensorRef, b: TensorRef, *, size: Count | None = None, fill_value: complex | None = None) -> TensorRef:
    """The values of a or b or both, each once, in order. `size` and fill_value are as in `unique`. Source: numpy.union1d.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.union1d(np.array([3, 1]), np.array([2, 3])).tolist()
    [1, 2, 3]
    """
    ordered = in_order(do, _joined(do, flat(do, a), flat(do, b)), 0, "values")
    return Runs(do, ordered, equal_nan=True, size=size).first(ordered, fill=fill_value)


def _pick(do: Steps, ordered: TensorRef, other: TensorRef, *, invert: bool) -> TensorRef:
    """1 for the first of each value of a row in order that is, or with invert is not, one of another such row."""
    first = starts_of_runs(do, ordered, equal_nan=True, first=1)
    tensors = {"x": ordered, "sequence": other, "first": first}
    found: TensorRef = do.run(_first_among_op, tensors, steps=other.shape[0].bit_length(), invert=invert)
    return found


@composed(a="...", b="...")
def intersect1d(
    do: Steps,
    a: TensorRef,
    b: TensorRef,
    *,
    assume_unique: bool = False,
    return_indices: bool = False,
    size: Count | None = None,
    fill_value: complex | None = None,
) -> Any:
    """The values that are in a and in b, each once, in order; with return_indices also where the first of each lies in a and in
    b, taken as rows, in s64.

    With a `size` nothing is read from the device, and the results have that many elements: behind those that there are
    fill_value, by default 0, and the lengths of a and of b. NaN is in no set but its own. What assume_unique says changes
    nothing. Source: numpy.intersect1d.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.intersect1d(np.array([3, 1, 2]), np.array([2, 3])).tolist()
    [2, 3]
    """
    kind = promoted(a.kind, b.kind)
    (first, order), (second, of_b) = (in_order(do, flat(do, t), 0, "values", "indices") for t in (a, b))
    places = left_by(do, _pick(do, first, second, invert=False), size)
    values = kept(do, _cast(do, first, kind), places, size, fill_value)
    if not return_indices:
        return values
    in_a = kept(do, order, places, size, prod(a.shape))
    found = search(do, second, values)
    return values, in_a, kept(do, of_b, _behind(do, found, places, first, second), size, prod(b.shape))


def _cast(do: Steps, x: TensorRef, kind: ElementKind) -> TensorRef:
    found: TensorRef = x if x.kind is kind else do.run(cast_op, {"x": x}, dtype=kind)
    return found


def _or_end(found: Expr, place: Expr, *, extent: WholeScalar = 0, end: WholeScalar = 0) -> Expr:
    return f.where(place < extent, found, end)


_or_end_op = Op(_or_end, Rule.COMMON, name="place_or_end", family="set_ops", takes="int", differentiable=False)


def _behind(do: Steps, found: TensorRef, places: TensorRef, first: TensorRef, second: TensorRef) -> TensorRef:
    """Places in b; its end for those that are a's end."""
    tensors = {"found": found, "place": places}
    placed: TensorRef = do.run(_or_end_op, tensors, extent=first.shape[0], end=second.shape[0])
    return placed


@composed(a="...", b="...")
def setdiff1d(
    do: Steps,
    a: TensorRef,
    b: TensorRef,
    *,
    assume_unique: bool = False,
    size: Count | None = None,
    fill_value: complex | None = None,
) -> TensorRef:
    """The values of a that are not in b, each once, in order; with assume_unique the elements of a that are not in b, as they lie
    there. `size` and fill_value are as in `intersect1d`. Source: numpy.setdiff1d.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.setdiff1d(np.array([3, 1, 2, 3]), np.array([2])).tolist()
    [1, 3]
    """
    other = in_order(do, flat(do, b), 0, "values")
    if assume_unique:
        row = flat(do, a)
        mask = do.run(_is_among_op, {"x": row, "sequence": other}, steps=other.shape[0].bit_length(), invert=True)
        mask = do.run(cast_op, {"x": mask}, dtype=S64)
    else:
        row = in_order(do, flat(do, a), 0, "values")
        mask = _pick(do, row, other, invert=True)
    return kept(do, row, left_by(do, mask, size), size, fill_value)


@composed(a="...", b="...")
def setxor1d(
    do: Steps,
    a: TensorRef,
    b: TensorRef,
    *,
    assume_unique: bool = False,
    size: Count | None = None,
    fill_value: complex | None = None,
) -> TensorRef:
    """The values that are in one of a and b, and not in the other, each once, in order. `size` and fill_value are as in
    `intersect1d`; a NaN of either is one of them. Source: numpy.setxor1d.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.setxor1d(np.array([3, 1, 2]), np.array([2, 5])).tolist()
    [1, 3, 5]
    """
    first, second = (in_order(do, flat(do, t), 0, "values") for t in (a, b))
    whole = in_order(do, _joined(do, first, second), 0, "values")
    starts = starts_of_runs(do, whole, equal_nan=True, first=1)
    steps = {"steps_a": first.shape[0].bit_length(), "steps_b": second.shape[0].bit_length()}
    mask = do.run(_in_one_op, {"x": whole, "a": first, "b": second, "first": starts}, **steps)
    return kept(do, whole, left_by(do, mask, size), size, fill_value)
