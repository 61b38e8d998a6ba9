"""The formula of rows whose first elements are in reverse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import cast, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Value


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    shape, lengths = shapes["x"], shapes["lengths"]
    if lengths != shape[:1]:
        raise InvalidProblemError(f"lengths: shape is {lengths}; expected {shape[:1]}, a length for each entry of the batch")
    return Space({"x": tuple(None if a == 1 else a for a in range(len(shape))), "lengths": (0,)}, {1: shape[1]})


def _reversed_rows(x: Table, lengths: Own) -> Value:
    """x[b, lengths[b] - 1 - t] for t below lengths[b], else x[b, t]."""
    at = cast(coord(1), lengths.kind)
    length = f.minimum(lengths, table_extent(x, 0, lengths.kind))
    return take(x, select(at < length, length - 1 - at, at))


reversed_rows = Op(
    _reversed_rows, Rule.COMMON, name="reversed_rows", family="shape_layout", takes="any", space=_space, differentiable=False
)
