"""From a dot product of a query and a key to a score: one formula, composed of the options, and its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, cast, fma, input_, param, select
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.lowering.attention.problem import DOT, GRADIENT
from baracuda.ops.attention.descriptor import OTHERS, AttentionBackwardDescriptor, AttentionDescriptor
from baracuda.ops.declaration.formula_plan import MOST_GRAPHS

#: The scaled dot product among the inputs of a formula of the caller's own, and the score among the outputs of every formula.
SCALED, SCORE = "scaled", "s"
_OUTER = (False,) * 4


def custom(score: Callable[..., Expr], others: Sequence[ElementKind], element: ElementKind, *, scale: bool = True) -> Graph:
    """The formula that a function makes: `score(s, b, h, i, j, *tensors)`, s the scaled dot product, b, h, i and j (s32) where
    it is, tensors the values of `others` there, in their compute kinds.

    Raises `InvalidProblemError` where the function gives anything but an expression of s's kind.
    """
    work = element.compute
    ports = tuple(Port(name, kind) for name, kind in zip(OTHERS, others, strict=False))
    s = input_(SCALED, work)
    result = score(s, *(f.index(axis) for axis in range(4)), *(input_(p.name, p.kind) for p in ports))
    if not isinstance(result, Expr) or result.kind is not work:
        got = f"an expression of {result.kind}" if isinstance(result, Expr) else repr(result)
        raise InvalidProblemError(f"score: the function gives {got}; expected an expression of {work}")
    return Graph((Port(SCALED, work), *ports), ((Port(SCORE, work), result),), _OUTER)


def score_formula(d: AttentionDescriptor) -> Graph:
    """The score, in functions: inputs `dot` and the descriptor's tensors, in order; output `s`."""
    work = d.compute
    dot = input_(DOT, work)
    scaled = dot if d.factor == 1 else dot * param("scale", work)
    inputs = {name: input_(name, kind) for name, kind in d.score_tensors.items()}
    if d.formula is not None:
        s = substitute(d.formula.outputs[0][1], {input_(SCALED, work): scaled})
    else:
        s = _composed(d, scaled, inputs)
    ports = (Port(DOT, work), *(Port(name, kind) for name, kind in d.score_tensors.items()))
    return Graph(ports, ((Port(SCORE, work), s),), _OUTER)


def _composed(d: AttentionDescriptor, s: Expr, inputs: dict[str, Expr]) -> Expr:
    work = d.compute
    if d.softcap:
        cap = param("softcap", work)
        s = cap * f.tanh(s / cap)
    if "bias" in inputs:
        s = s + cast(inputs["bias"], work)
    if "slopes" in inputs:
        s = fma(cast(inputs["slopes"], work), cast(f.index(3) - f.index(2), work), s)
    if "mask" in inputs:
        s = select(inputs["mask"], s, -inf)
    return s


def score_graph(d: AttentionDescriptor) -> Graph:
    """The score in primitives."""
    return _score_graph(d.structure)


@lru_cache(MOST_GRAPHS)
def _score_graph(d: AttentionDescriptor) -> Graph:
    return expand(score_formula(d))


def slope_graph(d: AttentionBackwardDescriptor) -> Graph:
    """The derivative of the score, in primitives: from `ds` and the score's inputs to `ddot`, and to `dbias` where the gradient
    of a tensor is stored for each pair."""
    return _slope_graph(d.structure)


@lru_cache(MOST_GRAPHS)
def _slope_graph(d: AttentionBackwardDescriptor) -> Graph:
    slope = gradient(score_formula(d), [DOT, *([d.pair] if d.pair else [])], {SCORE: GRADIENT})
    renamed = ("ddot", "dbias")
    kinds = (d.compute, d.dbias_element if d.pair else d.compute)
    exact = (cast(_unrounded(e, d.compute), kind.compute) for kind, (_, e) in zip(kinds, slope.outputs, strict=False))
    outputs = tuple((Port(name, kind), e) for name, kind, e in zip(renamed, kinds, exact, strict=False))
    return expand(Graph(slope.inputs, outputs, slope.inner_axes))


def _unrounded(e: Expr, compute: ElementKind) -> Expr:
    """A gradient before it is rounded to the kind of its tensor, which its store does where it has to."""
    return e.args[0] if e.op == "cast" and e.args[0].kind is compute else e
