"""What is done to finished rows of attention: states over disjoint keys merged, a sink, and a bias made of slopes."""

from __future__ import annotations

from math import inf
from typing import Any

from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own

_ROWS: dict[str, Any] = {"family": "attention", "takes": "float", "rows": True}


def _log_sum(a: Expr, b: Expr) -> Expr:
    """log(exp(a) + exp(b)), -inf where both are."""
    largest = f.maximum(a, b)
    origin = select(f.equal(largest, -inf), 0.0, largest)
    return largest + select(f.equal(largest, -inf), 0.0, f.log(f.exp(a - origin) + f.exp(b - origin)))


def _share(part: Expr, whole: Expr) -> Expr:
    """exp(part - whole): what part of a sum of exponentials another is; 0 where there is nothing."""
    return select(f.equal(part, -inf), 0.0, f.exp(part - whole))


def _merged(a: Expr, a_lse: Own, b: Expr, b_lse: Own) -> tuple[Expr, Expr]:
    p, q = cast(a_lse, a.kind), cast(b_lse, a.kind)
    lse = _log_sum(p, q)
    return _share(p, lse) * a + _share(q, lse) * b, lse


merge = Op(_merged, Rule.COMMON, name="merge_states", results=("y", "lse"), wide=("lse",), **_ROWS)


def _merged_backward(
    dy: Expr, a: Expr, a_lse: Own, b: Expr, b_lse: Own, y: Expr, lse: Own, dlse: Own | None = None
) -> tuple[Expr, Expr, Expr, Expr]:
    p, q, whole = (cast(x, dy.kind) for x in (a_lse, b_lse, lse))
    gradients = []
    for x, part in ((a, p), (b, q)):
        share = _share(part, whole)
        slope = f.sum_(dy * (x - y))
        gradients += [share * dy, share * (slope if dlse is None else slope + cast(dlse, dy.kind))]
    return gradients[0], gradients[1], gradients[2], gradients[3]


merge_backward = Op(
    _merged_backward, Rule.COMMON, name="merge_states_backward", results=("da", "da_lse", "db", "db_lse"),
    wide=("da_lse", "db_lse"), **_ROWS,
)  # fmt: skip


def _with_sink(x: Expr, x_lse: Own, sink: Own) -> tuple[Expr, Expr]:
    part = cast(x_lse, x.kind)
    lse = _log_sum(part, cast(sink, x.kind))
    return _share(part, lse) * x, lse


with_sink = Op(_with_sink, Rule.COMMON, name="with_sink", results=("y", "lse"), wide=("lse",), **_ROWS)


def _sink_slope(dy: Expr, y: Expr, lse: Own, sink: Own) -> Expr:
    share = _share(cast(sink, dy.kind), cast(lse, dy.kind))
    return -(share * f.sum_(dy * y))


sink_slope = Op(_sink_slope, Rule.COMMON, name="sink_slope", results=("dsink",), wide=("dsink",), **_ROWS)


def _bias_of_slopes(slopes: Expr) -> Expr:
    return slopes * cast(f.index(-1) - f.index(-2), slopes.kind)


bias_of_slopes = Op(_bias_of_slopes, Rule.COMMON, name="bias_of_slopes", family="attention", takes="float")
