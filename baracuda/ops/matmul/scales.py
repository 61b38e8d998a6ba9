"""Where scales and zero points of factors lie: as tensors that broadcast to a product's result."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.preferred import preferred
from baracuda.core.sku import MathPrecision, PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, view
from baracuda.ops.declaration.composition import Given, Steps

#: The labels of axes that a product leaves, of which the last one is a weight's.
FREE = "mopqrst"
#: One scale, or one for each row of x (..., k), and one for each row of a weight (n, k).
ROWS, COLUMNS = "() or 1 or 1 1 or *rows or *rows 1", "() or 1 or 1 1 or n or n 1"


def free_labels(rank: int) -> str:
    """Labels of the axes of x (..., k) but its last one."""
    if rank > len(FREE) + 1:
        raise InvalidProblemError(f"x: {rank} axes; expected at most {len(FREE) + 1}")
    return FREE[: rank - 1]


def of_rows(v: TensorRef, rows: int) -> Any:
    """A number, or one for each row of so many axes, as it broadcasts to (*rows, n)."""
    if prod(v.shape) == 1:
        return view(v, 0, (), ())
    return v if len(v.shape) > rows else expanded_dims(v, range(rows), rows + 1)


def of_columns(v: TensorRef) -> Any:
    """A number, or one for each column, as it broadcasts to (..., n)."""
    return view(v, 0, v.shape[:1], v.strides[:1]) if prod(v.shape) != 1 else view(v, 0, (), ())


def whole(do: Steps, v: TensorRef) -> TensorRef:
    """Integers as s32."""
    if v.kind is ElementKind.S32:
        return v
    wide = do.rows(v.shape, ElementKind.S32)
    do.copy(v, wide)
    return wide


def in_math(preference: PlanPreference | None, math: MathPrecision) -> PlanPreference:
    """The preference of a call, which an arithmetic is added to where it names none, and no backend."""
    wanted = preference or preferred() or PlanPreference()
    return wanted if wanted.math is not None or wanted.backend is not None else replace(wanted, math=math)


def check_bias(bias: Given, element: ElementKind) -> None:
    """Raise unless a bias has the element of the result."""
    if bias is not None and bias.kind is not element:
        raise InvalidProblemError(f"bias: element is {bias.kind}; expected the result's, {element}")
