"""The sum that brings a gradient back to the shape its tensor was broadcast from."""

from __future__ import annotations

from baracuda.formula.functions import sum_
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule

total = Op(
    lambda x: map_parts(sum_, x),
    Rule.COMMON,
    name="total",
    family="reduction",
    takes="float,complex",
    rows=True,
    axis=None,
    keepdims=True,
    element_option=True,
)
"""The sum over some axes, kept with extent 1."""
