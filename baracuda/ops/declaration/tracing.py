"""Tracing: the graph of an op's problem, forward or backward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from baracuda.core.axes import Axes
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula.complex import Complex
from baracuda.formula.expr import READS, Expr, cast, const, input_, param, topological
from baracuda.formula.gathers import Table
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port
from baracuda.formula.host import HostNumber
from baracuda.formula.pooling import resolve_pooling
from baracuda.lowering.nest.sequence import directions
from baracuda.ops.declaration.formula_plan import MOST_GRAPHS
from baracuda.ops.declaration.promotion import Rule, part
from baracuda.ops.declaration.traced import Stored, Value, gradient_class, named_results, smallest_class, summed

if TYPE_CHECKING:
    from baracuda.ops.declaration.op_descriptor import OpDescriptor


def graph_of(d: OpDescriptor) -> Graph:
    """The graph of a descriptor."""
    return _graph_of(d.structure)


@lru_cache(MOST_GRAPHS)
def _graph_of(d: OpDescriptor) -> Graph:
    if d.wrt:
        return _backward(d)
    return resolve_pooling(_forward(d, {n: smallest_class(d.varying(n), d.inner) for n in d.tensors}), d.space, d.inner)


def _symbol(d: OpDescriptor, name: str, kind: ElementKind, axes: Axes) -> Value | Table:
    """A tensor as the formula sees it: in the kind the op computes in, unless it keeps its own."""
    own = name in d.op.signature.own or d.op.rule is Rule.EACH
    target = None if own else d.promoted
    dims = tuple(t for t, a in enumerate(d.placement(name)) if a is None) if name in d.tensors else ()
    if dims:
        return _table(name, kind, axes, dims, target or kind)
    if kind.category is Category.COMPLEX:
        half = part(kind)
        pair = (input_(f"{name}.{p}", half, axes) for p in ("re", "im"))
        to = (part(target) if target is not None else half).compute
        return Complex(*(cast(x, to) for x in pair))
    x = input_(name, kind, axes)
    if target is None:
        return x
    if target.category is Category.COMPLEX:
        real = cast(x, part(target).compute)
        return Complex(real, const(0.0, real.kind))
    return cast(x, target.compute)


def _table(name: str, kind: ElementKind, axes: Axes, dims: tuple[int, ...], target: ElementKind) -> Table:
    """A tensor that the formula reads at indices."""
    components = tuple((p.name, p.kind) for p in _ports(name, kind, axes))
    return Table(components, axes, dims, _compute(target), target.category is Category.COMPLEX)


def _ports(name: str, kind: ElementKind, axes: Axes) -> list[Port]:
    if kind.category is Category.COMPLEX:
        return [Port(f"{name}.{p}", part(kind), axes) for p in ("re", "im")]
    return [Port(name, kind, axes)]


def _compute(kind: ElementKind) -> ElementKind:
    return part(kind).compute if kind.category is Category.COMPLEX else kind.compute


def _keywords(d: OpDescriptor) -> dict[str, Any]:
    """Scalars as parameters, options as they are."""
    defaults = d.op.signature.scalars
    scalars = {n: _scalar(d, n) for n in defaults}
    stored = d.element if d.op.rule is Rule.EACH else d.promoted
    element = {"element": stored} if d.op.signature.wants_element else {}
    return {**scalars, **d.op.signature.options, **dict(d.options), **element}


def _scalar(d: OpDescriptor, name: str) -> Expr | HostNumber | float | None:
    """A scalar as the formula sees it: a parameter, a number that the formula has a form of its own for, or None."""
    value: float | None = d.numbers_given[name]
    if value is None or d.op.is_literal(name, value):
        return value
    return HostNumber(name) if name in d.op.signature.host else param(name, scalar_kind(d, name))


def scalar_kind(d: OpDescriptor, name: str) -> ElementKind:
    """A scalar computes in the op's kind; among integers, one whose default is a float is an f64. A whole number is an s64, and
    the host's are f64 until they are beside an expression."""
    if name in d.op.signature.whole:
        return ElementKind.S64
    if name in d.op.signature.host:
        return ElementKind.F64
    kind = _compute(d.promoted)
    return ElementKind.F64 if isinstance(d.op.signature.scalars.get(name), float) and not kind.is_float else kind


def _operands(d: OpDescriptor, classes: Mapping[str, Axes]) -> dict[str, Value | Table | None]:
    operands: dict[str, Value | Table | None] = {}
    for name in d.op.signature.tensors:
        if name in d.tensors:
            operands[name] = _symbol(d, name, d.tensors[name][1], classes[name])
        else:
            operands[name] = _number(d, name)
    return operands


def _number(d: OpDescriptor, name: str) -> Value | None:
    """A Python number in place of a tensor: a constant where the op asks for it, else a parameter."""
    kind, value = _compute(d.promoted), dict(d.scalars).get(name)
    if value is None:
        return None
    if isinstance(value, complex):
        return Complex(param(f"{name}.re", kind), param(f"{name}.im", kind))
    if d.op.is_literal(name, value):
        return const(value, kind)
    number = param(name, kind)
    return Complex(number, const(0.0, kind)) if d.promoted.category is Category.COMPLEX else number


def reads(value: Expr) -> bool:
    """Whether an expression depends on a tensor."""
    return any(n.op in READS for n in topological([value]))


def _storage(d: OpDescriptor, value: Value) -> ElementKind:
    """What a result is stored as."""
    kind = value.kind
    if d.op.rule is Rule.EACH:
        return next((k for _, k in d.tensors.values() if k.compute is kind), kind)
    if isinstance(value, Complex):
        return part(d.promoted) if _compute(d.promoted) is kind and d.promoted.category is Category.COMPLEX else kind
    if d.promoted.category is Category.COMPLEX:
        return kind
    return d.promoted if d.promoted.compute is kind else kind


def _result_class(graph: Graph, expr: Expr, inner: tuple[bool, ...]) -> Axes:
    """The class of a result. It has the whole shape where the formula is pointwise, and where it varies along the row
    without being a sum over the rows."""
    axes = graph.axes[expr]
    if axes is Axes.INNER and not directions(expr) & Axes.OUTER:
        return Axes.FULL
    return axes if any(inner) else axes | Axes.OUTER


def _read(ports: list[Port], outputs: tuple[tuple[Port, Expr], ...], inner: tuple[bool, ...]) -> Graph:
    whole_graph = Graph(tuple(ports), outputs, inner)
    read_names = {n.attr[0] for n in whole_graph.nodes if n.op in READS}
    return Graph(tuple(p for p in ports if p.name in read_names), outputs, inner)


def _forward(d: OpDescriptor, classes: Mapping[str, Axes]) -> Graph:
    symbols = _operands(d, classes)
    results = named_results(d.op.formula(*symbols.values(), **_keywords(d)), d.op.results)
    flat: list[tuple[str, Expr, ElementKind, Axes | None]] = []
    for name, result in results.items():
        if d.wanted and not d.wrt and name not in d.wanted:
            continue
        value = result.value if isinstance(result, Stored) else result
        if isinstance(result, Stored):
            storage = result.element
        else:
            storage = value.kind if name in d.op.extra or name in d.op.wide else _storage(d, value)
        components = [(f"{name}.re", value.re), (f"{name}.im", value.im)] if isinstance(value, Complex) else [(name, value)]
        flat += [(n, e, storage, result.axes if isinstance(result, Stored) else None) for n, e in components]
    ports = [p for n, (_, k) in d.tensors.items() for p in _ports(n, k, classes[n])]
    draft = Graph(tuple(ports), tuple((Port(n, k), e) for n, e, k, _ in flat), d.inner)
    for n in draft.nodes:
        if n.op == "coord" and not -len(d.space) <= n.attr < len(d.space):
            raise InvalidProblemError(f"{d.op}: it reads the index of an axis that shape {d.space} does not have")
    broadcast = any(d.inner) and not d.op.rows  # a pointwise op, whose gradients are summed along the inner axes
    outputs = tuple(
        (Port(n, k, axes or (Axes.FULL if broadcast else _result_class(draft, e, d.inner))), e) for n, e, k, axes in flat
    )
    return _read(ports, outputs, d.inner)


def _backward(d: OpDescriptor) -> Graph:
    if not d.op.differentiable:
        raise UnsupportedError(f"{d.op}: it has no gradient")
    for name in d.wrt:
        if name not in d.tensors:
            raise InvalidProblemError(f"wrt: {name}; expected some of {', '.join(d.tensors)}")
    if d.op.given_backward is not None and (declared_graph := _given(d)) is not None:
        return declared_graph
    classes = {n: gradient_class(d.space, d.varying(n), d.inner) for n in d.tensors}
    forward = _forward(d, classes)
    ports = [p for n in d.wrt for p in _ports(n, d.tensors[n][1], classes[n])]
    wrt, read_names = [p.name for p in ports], {p.name for p in forward.inputs}
    unread = tuple(p for p in ports if p.name not in read_names)  # of these the gradient is zero
    forward = Graph((*forward.inputs, *unread), forward.outputs, forward.inner_axes)
    floats = [p.name for p, e in forward.outputs if e.kind.is_float]
    results_counted = d.given or [n for n in d.forward.results if n not in d.op.extra]
    chosen = [n for n in floats if n.partition(".")[0] in results_counted]
    gradients = gradient(forward, wrt, {n: f"d{n}" for n in chosen}, d.op.saves)
    return _read(list(gradients.inputs), _rounded_late(d, gradients.outputs), d.inner)


def _rounded_late(d: OpDescriptor, outputs: tuple[tuple[Port, Expr], ...]) -> tuple[tuple[Port, Expr], ...]:
    """What is summed again afterwards is not rounded to the storage kind before."""
    again = {n for n in d.wrt if d.exact(n) is None}
    return tuple((replace(p, kind=e.kind) if p.name[1:].partition(".")[0] in again else p, e) for p, e in outputs)


def _given(d: OpDescriptor) -> Graph | None:
    """The graph of a backward formula that the op gives itself; None where it leaves this problem to differentiation."""
    op, forward = d.op, d.forward
    assert op.given_backward is not None
    classes = {n: gradient_class(d.space, d.varying(n), d.inner) for n in d.tensors}
    symbols: dict[str, Value | Table | None] = {}
    ports: list[Port] = []
    results = forward.results
    of_result = {p.name.partition(".")[0]: p.axes for p, _ in forward.graph.outputs}
    for name in op.backward_tensors:
        if name in op.signature.tensors:
            symbols[name] = _operands(d, classes)[name]
            ports += _ports(name, d.tensors[name][1], classes[name]) if name in d.tensors else []
            continue
        result = name if name in results else name[1:]
        if result not in results or (name not in results and d.given and result not in d.given):
            symbols[name] = None
            continue
        kind, axes = results[result][1] if name in results else d.slope_kind(result), of_result[result]
        if kind.is_float and d.promoted.category is Category.COMPLEX:  # a real result of complex numbers stays real
            symbols[name] = cast(input_(name, kind, axes), _compute(d.promoted))
        else:
            symbols[name] = _symbol(d, name, kind, axes)
        ports += _ports(name, kind, axes)
    formulas = op.given_backward(**symbols, **_keywords(d))
    if formulas is NotImplemented:
        return None
    gradients = named_results(formulas, ())
    outputs: list[tuple[Port, Expr]] = []
    for name in d.wrt:
        if f"d{name}" not in gradients:
            raise InvalidProblemError(f"wrt: {name!r}; {op} has no gradient of it")
        value, kind = gradients[f"d{name}"], d.slope_kind(name)
        if isinstance(value, Stored):
            raise InvalidProblemError(f"d{name}: {value!r}; a gradient is stored like its tensor, expected an expression")
        components = [value.re, value.im] if isinstance(value, Complex) else [value]
        if kind.category is not Category.COMPLEX:
            del components[1:]  # a real number takes the real part of its gradient
        components = [summed(cast(p, _compute(kind)), classes[name], d.inner) for p in components]
        outputs += list(zip(_ports(f"d{name}", kind, classes[name]), components, strict=True))
    return _read(ports, _rounded_late(d, tuple(outputs)), d.inner)
