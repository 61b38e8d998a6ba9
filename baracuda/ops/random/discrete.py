"""Draws of events: whether, and after how many trials."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, const, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.traced import Own
from baracuda.ops.declaration.words import Dtype, Extents
from baracuda.ops.random.draws import KEY, Bits, Draw, distribution, drawn, kind_for


def happens(draw: Draw, p: Expr) -> Expr:
    """Whether an event of probability p happens: a uniform draw, as fine as the kind, is below it."""
    return draw.fine_uniform() < p


def _bernoulli(draw: Draw, p: Own) -> Expr:
    return select(happens(draw, draw.of(p)), const(1, draw.kind), const(0, draw.kind))


def _geometric(draw: Draw, p: Own) -> Expr:
    trials = f.floor(-draw.minus_log() / f.log1p(-draw.of(p))) + 1.0
    return f.maximum(trials, const(1, draw.kind))


bernoulli_op, _geometric_op = map(distribution, (_bernoulli, _geometric))


@composed(key=KEY, p="... or number : float", numbers={"p": ()})
def bernoulli(
    do: Steps, key: TensorRef, p: Any = 0.5, *, shape: Extents | None = None, dtype: Dtype = None, bits: Bits = "philox"
) -> Any:
    """1 with probability p, else 0: whether a uniform draw of 24 bits (53 of f64) is below p.

    The shape is p's unless `shape` says another that it broadcasts to; the element is `dtype`, by default p's, or f32.

    Examples
    --------
    >>> import baracuda
    >>> set(baracuda.bernoulli(baracuda.rng_key(7), 0.5, shape=100).tolist())
    {0.0, 1.0}
    """
    given = {"p": p}
    return drawn(do, bernoulli_op, key, shape, kind_for(dtype, given), bits, given)


@composed(key=KEY, p="... or number : float", numbers={"p": ()})
def geometric(
    do: Steps, key: TensorRef, p: Any, *, shape: Extents | None = None, dtype: Dtype = None, bits: Bits = "philox"
) -> Any:
    """The number of trials until the first success, 1 or more, of probability p each: floor(ln(u) / ln(1 - p)) + 1.

    The shape is p's unless `shape` says another that it broadcasts to; the element is `dtype`, by default s64.

    Examples
    --------
    >>> import baracuda
    >>> int(baracuda.geometric(baracuda.rng_key(7), 1.0))
    1
    """
    return drawn(do, _geometric_op, key, shape, dtype or ElementKind.S64, bits, {"p": p})
