"""The backward of an op as an op, which has a backward itself: second derivatives."""

from __future__ import annotations

import inspect
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr, cast, input_
from baracuda.formula.graph import Graph, substitute
from baracuda.ops.declaration.formula_plan import MOST_GRAPHS
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.traced import Stored, Value


def backward_op(forward: OpDescriptor, wrt: tuple[str, ...], cotangents: tuple[str, ...]) -> Op:
    """The op that computes, from the gradients of the results `given` and the tensors of a forward descriptor, the gradients
    of the tensors `wrt`, called "slope_x" for x. What the backward reads of saved results is computed from the tensors again,
    so that it is differentiated too. Every tensor of the space's rank lies as it is; a gradient of a tensor that was
    broadcast is not summed over what it was broadcast along where a backward kernel leaves that to a sum.

    Raises `UnsupportedError` for an op without a gradient or whose gradient has none (`once`), on complex numbers, and for one
    that reads at indices.
    """
    return _backward_op(forward.structure, wrt, cotangents)


@lru_cache(MOST_GRAPHS)
def _backward_op(forward: OpDescriptor, wrt: tuple[str, ...], given_dys: tuple[str, ...]) -> Op:
    op = forward.op
    if any(k.category is Category.COMPLEX for _, k in forward.tensors.values()):
        raise UnsupportedError(f"{op}: second derivatives of complex numbers; expected real tensors")
    if op.space is not None:
        raise UnsupportedError(f"{op}: second derivatives of what is read at indices; expected another op")
    if op.once:
        raise UnsupportedError(f"{op}: its gradient has no derivative of its own; expected another op")
    whole = replace(forward, op=_differentiated(op))
    if not forward.axes:  # of a pointwise op nothing is summed here: each tensor counts as having an element for each point
        whole = replace(whole, shapes=tuple(None if s is None else forward.space for s in forward.shapes))
    backward = replace(whole, wrt=wrt, given=given_dys).graph
    results = {p.name: e for p, e in whole.graph.outputs}
    names = (*(f"d{n}" for n in given_dys), *op.signature.tensors)

    def formula(*values: Value | None, **_: Any) -> dict[str, Stored]:
        symbols = {n: v for n, v in zip(names, values, strict=True) if isinstance(v, Expr)}
        expressions = {n: substitute(e, _inputs(whole.graph, symbols)) for n, e in results.items()} | symbols
        table = _inputs(backward, expressions)
        slopes = {p: substitute(e, table) for p, e in backward.outputs}
        return {f"slope_{p.name[1:]}": Stored(e, forward.slope_kind(p.name[1:]), p.axes) for p, e in slopes.items()}

    own = inspect.Parameter.POSITIONAL_OR_KEYWORD
    cotangents = [inspect.Parameter(f"d{n}", own, annotation="Own") for n in given_dys]
    own_parameters = inspect.signature(op.formula).parameters.values()
    formula.__signature__ = inspect.Signature([*cotangents, *own_parameters])  # type: ignore[attr-defined]
    formula.__wrapped__ = op.formula  # type: ignore[attr-defined]  # in whose module the annotations have their meaning
    return Op(
        formula,
        op.rule,
        name=f"{op.name}_backward",
        family=op.category.value,
        takes="any",
        results=tuple(f"slope_{n}" for n in wrt),
        rows=op.rows,
        axis=op.axis,
        constants=tuple(op.constants),
        literals=op.literals,
        places=op.places,
        differentiable=True,
    )


def _differentiated(op: Op) -> Op:
    """The op as it is differentiated: with the formula of the gradients that it gives for that, and of tensors of any shape."""
    differentiated = copy(op)
    differentiated.given_backward = op.given_again or op.given_backward
    differentiated.check, differentiated.derived = None, {}
    return differentiated


def _inputs(graph: Graph, values: dict[str, Expr]) -> dict[Expr, Expr]:
    """The inputs of a graph with what stands for each."""
    return {n: cast(values[p.name], n.kind) for p in graph.inputs for n in (input_(p.name, p.kind, p.axes),) if p.name in values}
