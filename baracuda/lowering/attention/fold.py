"""Decoding with shared key heads as attention of more queries: the heads of a group read the same keys."""

from __future__ import annotations

from dataclasses import replace

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, const, coord, rebuild
from baracuda.lowering.attention.problem import Attention, Band
from baracuda.lowering.nest.problem import Operand


def folded(a: Attention) -> Attention:
    """The same forward problem with the heads of a group as queries of one head, where there is a single query that sees
    every key; any other problem as it is.

    A row of the result has the same bits: no order of sums depends on which rows are computed side by side.
    """
    group = a.heads // max(1, a.key_heads)
    if a.queries != 1 or group == 1 or a.slope is not None or a.query_lengths is not None or not _sees_all(a):
        return a

    def split(o: Operand) -> Operand:
        batch, head, _, *rest = o.strides
        return replace(o, strides=(batch, head * group, head, *rest))

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "coord" and n.attr in (1, 2):
            return coord(1) * group + coord(2) if n.attr == 1 else const(0, ElementKind.S32)
        return rebuild(n, args)

    return replace(
        a,
        heads=a.key_heads,
        queries=group,
        band=Band(),
        score=a.score.map(rewrite),
        q=split(a.q),
        y=split(a.y),
        lse=None if a.lse is None else split(a.lse),
        tensors=tuple(map(split, a.tensors)),
    )


def _sees_all(a: Attention) -> bool:
    """Whether the first query's band has all keys."""
    b = a.band
    after = b.after is None or b.offset + b.after >= a.keys - 1
    return after and (b.before is None or b.before >= b.offset)
