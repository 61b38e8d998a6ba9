"""Where the largest and the smallest elements are. A row without elements has none, and is an error."""

from __future__ import annotations

from typing import Any

from baracuda.formula import functions as f
from baracuda.formula import reductions as r
from baracuda.formula.expr import Expr, select
from baracuda.ops.declaration.op import op
from baracuda.ops.reductions.reductions import over_something

_ARG: dict[str, Any] = {"rows": True, "axis": None, "keepdims": False, "check": over_something}


@op(**_ARG)
def argmax(x: Expr) -> Expr:
    """The number in the row of the largest element, as s64; the lowest on ties, and the first NaN where there is one."""
    return r.argmax(x)


@op(**_ARG)
def argmin(x: Expr) -> Expr:
    """The number in the row of the smallest element, as s64; the lowest on ties, and the first NaN where there is one."""
    return r.argmin(x)


@op(**_ARG)
def nanargmax(x: Expr) -> Expr:
    """`argmax` of what is not NaN; 0 where nothing is."""
    return r.argmax(select(f.not_equal(x, x), float("-inf"), x))


@op(**_ARG)
def nanargmin(x: Expr) -> Expr:
    """`argmin` of what is not NaN; 0 where nothing is."""
    return r.argmin(select(f.not_equal(x, x), float("inf"), x))
