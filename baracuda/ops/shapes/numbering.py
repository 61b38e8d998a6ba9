"""Numbers of elements: a whole number for each place of a tensor, linear in its coordinates."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorMut
from baracuda.formula.conversions import cast_to
from baracuda.formula.expr import Expr, as_expr, cast, coord
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Stored, WholeScalar


def _numbered(
    x: Expr,
    *,
    rank: int = 0,
    start: WholeScalar = 0,
    s0: WholeScalar = 0,
    s1: WholeScalar = 0,
    s2: WholeScalar = 0,
    s3: WholeScalar = 0,
    s4: WholeScalar = 0,
    s5: WholeScalar = 0,
    s6: WholeScalar = 0,
    s7: WholeScalar = 0,
    element: ElementKind | None,
) -> Result:
    """start + the sum of each coordinate times its step."""
    assert element is not None
    total: Any = start
    for axis, step in zip(range(rank), (s0, s1, s2, s3, s4, s5, s6, s7), strict=False):
        total = cast(coord(axis), ElementKind.S64) * step + total
    return Stored(cast_to(as_expr(total, ElementKind.S64), element), element)


_numbers = Op(_numbered, Rule.EACH, name="numbers", family="creation", takes="int", element_option=True, differentiable=False)


def numbers(do: Steps, shape: tuple[int, ...], steps: tuple[int, ...], start: int = 0, into: TensorMut | None = None) -> Any:
    """start + the sum of each coordinate times its step, of s64 unless it is written to a tensor of another integer."""
    target = do.new(shape, ElementKind.S64) if into is None else into
    named = {f"s{i}": s for i, s in enumerate(steps)}
    do.run(_numbers, {"x": target}, target, dtype=target.kind, rank=len(steps), start=start, **named)
    return target
