"""`fuse`: the user's own formula as one kernel, with its gradient."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import update_wrapper
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.core.spec import check_axis
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr, input_, param
from baracuda.formula.functions import sum_
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port
from baracuda.frontends.call import apply, describe
from baracuda.lowering.composite import directions
from baracuda.ops.fused import FusedDescriptor, output_shape, plan_types

Shape = tuple[int, ...]


def _space(shapes: Mapping[str, Shape]) -> Shape:
    """The shape that all shapes broadcast to."""
    rank = max(len(s) for s in shapes.values())
    space = [1] * rank
    for name, shape in shapes.items():
        for a, n in enumerate(shape, rank - len(shape)):
            if n != 1 and space[a] not in (1, n):
                raise InvalidProblemError(f"{name}: shape {shape} does not broadcast with {tuple(space)}")
            space[a] = n if space[a] == 1 else space[a]
    return tuple(space)


def _varying(shape: Shape, space: Shape) -> list[bool]:
    """For each axis of the space, whether a tensor has an element for each of its points."""
    lead = len(space) - len(shape)
    return [a >= lead and shape[a - lead] == space[a] for a in range(len(space))]


def _axes(shape: Shape, space: Shape, inner: Sequence[bool]) -> Axes:
    """The smallest class of axes that covers what a tensor varies along."""
    varying = _varying(shape, space)
    axes = Axes.NONE
    if any(v for v, i in zip(varying, inner, strict=True) if i):
        axes |= Axes.INNER
    if any(v for v, i in zip(varying, inner, strict=True) if not i):
        axes |= Axes.OUTER
    return axes


def _storage(expr: Expr, refs: Mapping[str, TensorRef]) -> ElementKind:
    """What a result is stored as: like the first input that computes in the result's kind, else in that kind."""
    return next((r.kind for r in refs.values() if r.kind.compute is expr.kind), expr.kind)


class Fused:
    """A formula, callable on tensors. Made by `fuse`."""

    def __init__(self, function: Callable[..., Any], axis: int | Sequence[int]) -> None:
        parameters = inspect.signature(function).parameters.values()
        self.function = function
        self.axis = (axis,) if isinstance(axis, int) else tuple(axis)
        self.tensors = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        self.scalars = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        if not self.tensors:
            raise InvalidProblemError(f"{function.__name__}: it takes no tensor; expected at least one positional parameter")
        update_wrapper(self, function)

    # --- description --------------------------------------------------------------------------------------------------

    def _bound(self, tensors: Sequence[Any], scalars: Mapping[str, Any]) -> tuple[dict[str, TensorRef], dict[str, float]]:
        if len(tensors) != len(self.tensors):
            expected = ", ".join(self.tensors)
            raise InvalidProblemError(f"{self.function.__name__}: got {len(tensors)} tensors; expected {expected}")
        refs = {name: describe(t, name) for name, t in zip(self.tensors, tensors, strict=True)}
        values = {**self.scalars, **scalars}
        for name, value in values.items():
            if name not in self.scalars:
                raise InvalidProblemError(f"{name}: no such parameter; expected some of {', '.join(self.scalars) or 'none'}")
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise InvalidProblemError(f"{name}: {value!r}; expected a number")
        return refs, {name: float(v) for name, v in values.items()}

    def _inner(self, rank: int, graph: Graph) -> tuple[bool, ...]:
        if not any(n.op == "reduce" for n in graph.nodes):
            return (False,) * rank
        for axis in self.axis:
            check_axis("axis", axis, rank)
        rows = {axis % rank for axis in self.axis}
        return tuple(a in rows for a in range(rank))

    def _trace(self, refs: Mapping[str, TensorRef], scalars: Mapping[str, float], classes: Mapping[str, Axes]) -> Graph:
        inputs = tuple(Port(name, ref.kind, classes[name]) for name, ref in refs.items())
        compute = next((r.kind.compute for r in refs.values() if r.kind.is_float), ElementKind.F32)
        symbols = [input_(p.name, p.kind, p.axes) for p in inputs]
        results = self.function(*symbols, **{name: param(name, compute) for name in scalars})
        named = results if isinstance(results, Mapping) else _named(results)
        outputs = []
        for name, expr in named.items():
            if not isinstance(expr, Expr):
                raise InvalidProblemError(f"{self.function.__name__}: its result {name} is {expr!r}; expected an expression")
            outputs.append((Port(name, _storage(expr, refs)), expr))
        return Graph(inputs, tuple(outputs))

    def describe(self, *tensors: Any, **scalars: float) -> FusedDescriptor:
        """The descriptor of a call."""
        refs, values = self._bound(tensors, scalars)
        shapes = {name: ref.shape for name, ref in refs.items()}
        space = _space(shapes)
        inner = self._inner(len(space), self._trace(refs, values, dict.fromkeys(refs, Axes.FULL)))
        graph = self._trace(refs, values, {name: _axes(shape, space, inner) for name, shape in shapes.items()})
        graph = replace(graph, inner_axes=inner)
        if any(n.op == "coord" and not -len(space) <= n.attr < len(space) for n in graph.nodes):
            raise InvalidProblemError(f"{self.function.__name__}: it reads the index of an axis that shape {space} does not have")
        outputs = tuple((Port(p.name, p.kind, _result_axes(graph, e, inner)), e) for p, e in graph.outputs)
        graph = replace(graph, outputs=outputs)
        results = tuple(output_shape(p.axes, space, inner) for p, _ in outputs)
        return FusedDescriptor(graph, space, inner, (*shapes.values(), *results), tuple(values.items()))

    # --- use ----------------------------------------------------------------------------------------------------------

    def select(self, stream: Any, *tensors: Any, preference: PlanPreference | None = None, **scalars: float) -> Plan[Any, Any]:
        """The plan for tensors like these: `run` takes `fused.args(...)`."""
        descriptor = self.describe(*tensors, **scalars)
        plan, _ = plan_types(self.function.__name__, descriptor.graph)
        selected: Plan[Any, Any] = plan.select(stream, descriptor, preference)
        return selected

    def args(self, plan: Plan[Any, Any], *operands: Any) -> Any:
        """Args of a plan from `select`: the inputs followed by the outputs."""
        return plan_types(self.function.__name__, plan.descriptor.graph)[1](*operands)

    def __call__(self, *tensors: Any, **scalars: float) -> Any:
        """Compute; the result, or the tuple of results, is new and of the first full-sized tensor's library."""
        descriptor = self.describe(*tensors, **scalars)
        results = _run(self.function.__name__, descriptor, tensors)
        return results[0] if len(results) == 1 else results

    def gradient(self, *tensors: Any, dy: Any, wrt: Sequence[str] | None = None, **scalars: float) -> tuple[Any, ...]:
        """The gradients by the tensors named in `wrt` (default: every float tensor, in order), given the gradient of the
        result (a tuple of them where there are several results).

        Each gradient has the shape and element of its tensor: where that was broadcast, the sum over what it was broadcast
        along, in the canonical order.
        """
        forward = self.describe(*tensors, **scalars)
        refs, _ = self._bound(tensors, scalars)
        names = [n for n, r in refs.items() if r.kind.is_float] if wrt is None else list(wrt)
        outputs = [p.name for p, _ in forward.graph.outputs]
        given = dict(zip(outputs, [dy] if len(outputs) == 1 else list(dy), strict=True))
        space = forward.space
        results: dict[str, Any] = {}
        pointwise = not any(forward.inner)
        for group in _groups(names, refs, space, pointwise):
            # A pointwise formula has no rows of its own: take those along which the tensor was broadcast.
            varying = _varying(refs[group[0]].shape, space)
            inner = tuple(not v for v in varying) if pointwise else forward.inner
            results |= self._gradients(forward, refs, tensors, given, group, inner)
        return tuple(results[name] for name in names)

    def _gradients(
        self,
        forward: FusedDescriptor,
        refs: Mapping[str, TensorRef],
        tensors: Sequence[Any],
        given: Mapping[str, Any],
        names: Sequence[str],
        inner: tuple[bool, ...],
    ) -> dict[str, Any]:
        space = forward.space
        exact = {name: _exact(refs[name].shape, space, inner) for name in refs}
        classes = {name: exact[name] or Axes.FULL for name in refs}
        graph = replace(self._trace(refs, dict(forward.scalars), classes), inner_axes=inner)
        ports = tuple((replace(p, axes=_result_axes(graph, e, inner)), e) for p, e in graph.outputs)
        graph = gradient(replace(graph, outputs=ports), names, {name: f"d_{name}" for name in given})
        # What is summed again afterwards is not rounded to the storage kind before.
        again = [name for name in names if exact[name] is None]
        made = tuple((replace(p, kind=e.kind) if p.name[1:] in again else p, e) for p, e in graph.outputs)
        graph = replace(graph, outputs=made)
        values = {**{f"d_{n}": t for n, t in given.items()}, **dict(zip(refs, tensors, strict=True))}
        inputs = [values[p.name] for p in graph.inputs]
        shapes = [describe(t, p.name).shape for p, t in zip(graph.inputs, inputs, strict=True)]
        results = [output_shape(p.axes, space, inner) for p, _ in made]
        descriptor = FusedDescriptor(graph, space, inner, (*shapes, *results), forward.scalars)
        found = dict(zip(names, _run(f"{self.function.__name__}_gradient", descriptor, inputs), strict=True))
        return {name: _fitted(found[name], refs[name], name in again) for name in names}


def _named(results: Any) -> dict[str, Any]:
    if isinstance(results, (tuple, list)):
        return {f"y{i}": r for i, r in enumerate(results)}
    return {"y": results}


def _result_axes(graph: Graph, expr: Expr, inner: Sequence[bool]) -> Axes:
    """The class of a result. It has the whole shape where the formula is pointwise, and where it varies along the row
    without being a sum over the rows."""
    axes = graph.axes[expr]
    if axes is Axes.INNER and not directions(expr) & Axes.OUTER:
        return Axes.FULL
    return axes if any(inner) else axes | Axes.OUTER


def _exact(shape: Shape, space: Shape, inner: Sequence[bool]) -> Axes | None:
    """The class of a tensor that varies along all or none of the inner axes and all or none of the outer ones; None for
    another, and for one that varies along neither, whose gradient takes two sums."""
    varying = _varying(shape, space)
    axes = Axes.NONE
    for flag, part in ((True, Axes.INNER), (False, Axes.OUTER)):
        values = {v for v, i in zip(varying, inner, strict=True) if i is flag}
        if len(values) > 1:
            return None
        if values == {True} or not values:
            axes |= part
    return axes if axes else None


def _groups(names: Sequence[str], refs: Mapping[str, TensorRef], space: Shape, pointwise: bool) -> list[list[str]]:
    """Gradients that one kernel computes: all of a row-wise formula's; a pointwise one's by how they were broadcast."""
    if not pointwise:
        return [list(names)] if names else []
    groups: dict[tuple[bool, ...], list[str]] = {}
    for name in names:
        groups.setdefault(tuple(_varying(refs[name].shape, space)), []).append(name)
    return list(groups.values())


def _run(name: str, descriptor: FusedDescriptor, inputs: Sequence[Any]) -> tuple[Any, ...]:
    plan, args = plan_types(name, descriptor.graph)
    count = len(descriptor.graph.inputs)
    kinds = [p.kind for p, _ in descriptor.graph.outputs]
    outputs = list(zip(descriptor.shapes[count:], kinds, strict=True))
    like = max(inputs, key=lambda t: len(describe(t, "tensor").shape))
    return apply(plan, args, descriptor, like, inputs, outputs)


def _fitted(result: Any, ref: TensorRef, again: bool) -> Any:
    """A gradient summed over what its tensor was broadcast along, in the tensor's shape and element."""
    made = describe(result, "gradient")
    if again:
        varying = _varying(ref.shape, made.shape)
        inner = tuple(not v for v in varying)
        x = input_("x", made.kind)
        graph = Graph((Port("x", made.kind),), ((Port("y", ref.kind, Axes.OUTER), sum_(x)),), inner)
        target = output_shape(Axes.OUTER, made.shape, inner)
        (result,) = _run("sum", FusedDescriptor(graph, made.shape, inner, (made.shape, target)), [result])
    return result.reshape(ref.shape)


def fuse(function: Callable[..., Any] | None = None, *, axis: int | Sequence[int] = -1) -> Any:
    """Make one kernel of a formula; use it as a decorator.

    The function takes tensors as positional parameters and scalars as keyword-only ones, and returns an expression, a tuple
    or a dict of expressions, in the words of `baracuda.formula.functions` and Python's operators. Tensors broadcast as in
    NumPy. Reductions (`sum_`, `max_`, `mean`, ...) run over `axis`, and their results keep it with extent 1.

    The kernel is compiled for each new combination of shapes, elements and layouts, on the CPU or the GPU, with all the
    promises of the built-in plans.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> from baracuda.formula.functions import erf
    >>> @baracuda.fuse
    ... def gelu(x):
    ...     return 0.5 * x * (1.0 + erf(x * 0.7071067811865476))
    >>> gelu(np.zeros(3, np.float32)).tolist()
    [0.0, 0.0, 0.0]
    >>> [g.tolist() for g in gelu.gradient(np.zeros(1, np.float32), dy=np.ones(1, np.float32))]
    [[0.5]]
    """
    if function is None:
        return lambda f: Fused(f, axis)
    return Fused(function, axis)
