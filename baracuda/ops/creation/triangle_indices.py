"""Indices of triangles of matrices, each worked out from its number."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Stored, WholeScalar
from baracuda.ops.declaration.words import Count

_F64, _S64 = ElementKind.F64, ElementKind.S64


def _place(
    x: Expr, *, columns: WholeScalar = 1, first: WholeScalar = 0, start: WholeScalar = 1, rising: WholeScalar = 0,
    before: WholeScalar = 0, mirror: WholeScalar = 0, last_row: WholeScalar = 0,
) -> tuple[Result, Result]:  # fmt: skip
    """Row and column of each element of a lower triangle, row by row. Row `first` has `start` elements, each of the next ones one
    more, `rising` rows and `before` elements in all; then come full rows of `columns`. Where mirror is not 0 it is the number of
    elements, and they are those of an upper triangle: these in reverse order, seen from the last row and column."""
    number = cast(coord(0), _S64)
    s, width, count = (as_expr(v, _S64) for v in (start, columns, mirror))
    upper = count > 0
    number = select(upper, count - 1 - number, number)
    b = cast(s, _F64) - 0.5
    guess = cast(f.floor(f.sqrt(b * b + cast(number, _F64) * 2.0) - b), _S64)

    def elements(rows: Expr) -> Expr:
        return rows * s + ((rows * (rows - 1)) >> 1)

    row = f.maximum(select(elements(guess) > number, guess - 1, guess), const(0, _S64))  # a root may be rounded up, or down
    row = select(elements(row + 1) <= number, row + 1, row)
    full = number >= as_expr(before, _S64)
    rest = f.maximum(number - as_expr(before, _S64), const(0, _S64))
    down = f.floor(cast(rest, _F64) / cast(width, _F64))
    below = cast(down, _S64)
    below = select(below * width > rest, below - 1, below)
    below = select((below + 1) * width <= rest, below + 1, below)
    i = select(full, as_expr(rising, _S64) + below, row) + as_expr(first, _S64)
    j = select(full, rest - below * width, number - elements(row))
    i = select(upper, as_expr(last_row, _S64) - i, i)
    j = select(upper, width - 1 - j, j)
    return Stored(i, _S64), Stored(j, _S64)


_places = Op(
    _place, Rule.EACH, name="places_of_triangle", family="creation", takes="int", results=("row", "column"), differentiable=False
)


def _lower(n: int, m: int, k: int) -> dict[str, int]:
    """What `_place` is given of a lower triangle, and how many elements it has."""
    first = max(0, -k)
    start = min(first + k + 1, m)
    if first >= n or start <= 0:
        return {"count": 0}
    rising = min(n - first, m - start)  # rows with fewer than all columns
    before = rising * start + rising * (rising - 1) // 2
    return {"first": first, "start": start, "rising": rising, "before": before, "count": before + (n - first - rising) * m}


def _indices(do: Steps, n: int, k: int, m: int | None, upper: bool) -> Any:
    columns = n if m is None else m
    numbers = _lower(n, columns, columns - n - k if upper else k)
    count = numbers.pop("count")
    row, column = do.rows((count,), _S64), do.rows((count,), _S64)
    if count:
        mirror = {"mirror": count if upper else 0, "last_row": n - 1}
        do.run(_places, {"x": row}, (row, column), columns=columns, **numbers, **mirror)
    return row, column


@composed(like="?", creates=True)
def tril_indices(do: Steps, like: TensorRef, n: Count, k: int = 0, m: Count | None = None) -> Any:
    """The rows and the columns of the elements on and below diagonal k of a matrix of n rows and m columns, by default n, row by
    row: two tensors of s64.

    Examples
    --------
    >>> import baracuda
    >>> [i.tolist() for i in baracuda.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return _indices(do, n, k, m, False)


@composed(like="?", creates=True)
def triu_indices(do: Steps, like: TensorRef, n: Count, k: int = 0, m: Count | None = None) -> Any:
    """The rows and the columns of the elements on and above diagonal k of a matrix of n rows and m columns, by default n, row by
    row: two tensors of s64.

    Examples
    --------
    >>> import baracuda
    >>> [i.tolist() for i in baracuda.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return _indices(do, n, k, m, True)
