"""Reverse-mode differentiation of a graph: formula in, formula of its gradients out.

Adjoints flow from the outputs to the inputs. An adjoint varies along the axes its node varies along: where a node is
used by values that vary along more axes, it was broadcast there, and its adjoint is the sum over those axes (the inner
axes first, then the outer ones).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula.derivatives import RULES, Term
from baracuda.formula.expr import READS, Axes, Expr, cast, const, input_, reduce, select
from baracuda.formula.functions import row_length
from baracuda.formula.graph import Graph, Port, substitute, varies
from baracuda.formula.pooling import unpooled
from baracuda.formula.simplify import simplify


def gradient(graph: Graph, wrt: Sequence[str], cotangents: Mapping[str, str] | None = None, saved: Sequence[str] = ()) -> Graph:
    """The graph of the gradients of a graph: for each input x in `wrt` an output "dx", of x's storage kind and axes,

        dx = sum over the outputs y, and over every element, of dy * (dy/dx)

    Parameters
    ----------
    graph : Graph
        In mathematical functions, before `expand`.
    wrt : Sequence[str]
        The inputs, of float kinds, to differentiate by.
    cotangents : Mapping[str, str] | None
        For each output that counts, the name of the input that carries its gradient; other outputs count as constant.
        Without it, every float output y counts, by the name "dy".
    saved : Sequence[str]
        Outputs of the forward pass that are read as inputs instead of being computed again.

    Returns
    -------
    Graph
        Inputs: the cotangents, the saved outputs and, of the original inputs, those still read. The gradient of an
        input that no counted output depends on is the constant 0. Applied again, it gives second derivatives.

    A gradient by a scalar input (Axes.NONE) is a sum over rows of sums along rows, that is, a reduction of a reduction;
    a caller that lowers one reduction at a time takes the inner one as an output of its own and reduces that.

    Raises `InvalidProblemError` for names that are unknown, not of a float kind or used twice, `UnsupportedError` for an
    operation without a derivative and for an input that is read at indices. The second derivative of a row's product is right
    where no element is zero.
    """
    graph = unpooled(graph)
    if cotangents is None:
        cotangents = {p.name: f"d{p.name}" for p, e in graph.outputs if e.kind.is_float}
    outputs = {p.name: (p, e) for p, e in graph.outputs}
    inputs = {p.name: p for p in graph.inputs}
    _check_known("outputs", outputs, cotangents)
    _check_known("outputs", outputs, saved)
    _check_known("inputs", inputs, wrt)
    _check_float("the output", {name: outputs[name][1] for name in cotangents})
    symbols = {name: input_(name, inputs[name].kind, inputs[name].axes) for name in wrt}
    _check_float("the input", symbols)
    _check_followed(graph, wrt)

    adjoints = _Adjoints(graph, symbols.values())
    dy_ports = []
    for name, cotangent in cotangents.items():
        port, expr = outputs[name]
        dy_ports.append(Port(cotangent, port.kind, port.axes))
        adjoints.add(expr, Term(cast(input_(cotangent, port.kind, port.axes), expr.kind)), port.axes)
    results = adjoints.of(symbols)

    table = {}
    for name in saved:
        port, expr = outputs[name]
        if expr.op not in ("input", "const"):
            dy_ports.append(port)
            table[expr] = input_(name, port.kind, port.axes)
    gradients = tuple((Port(f"d{name}", inputs[name].kind, inputs[name].axes), substitute(results[name], table)) for name in wrt)
    whole = simplify(Graph((*dy_ports, *graph.inputs), gradients, graph.inner_axes))
    read_names = {n.attr[0] for n in whole.nodes if n.op in READS}
    read_inputs = (*dy_ports, *(p for p in graph.inputs if p.name in read_names))
    _check_distinct([*(p.name for p in read_inputs), *(p.name for p, _ in gradients)])
    return Graph(read_inputs, whole.outputs, graph.inner_axes)


def _check_known(what: str, known: Collection[str], names: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise InvalidProblemError(f"{name!r} is not among the {what} of the graph; expected one of {', '.join(known)}")


def _check_float(what: str, exprs: Mapping[str, Expr]) -> None:
    for name, expr in exprs.items():
        if not expr.kind.is_float:
            raise InvalidProblemError(f"{what} {name!r} is of kind {expr.kind}; expected a float kind to differentiate")


def _check_followed(graph: Graph, names: Sequence[str]) -> None:
    for n in graph.nodes:
        if n.op == "gather" and n.attr[0] in names:
            raise UnsupportedError(
                f"the gradient by {n.attr[0]}, which is read at indices, is a sum by destination that no formula gives; "
                "expected scatter_sum of the gradient of what was read"
            )


def _check_distinct(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidProblemError(f"{', '.join(twice)}: used twice among {', '.join(names)}; expected other names of cotangents")


class _Adjoints:
    """What each node's adjoint is made of, while it is being gathered."""

    def __init__(self, graph: Graph, sources: Collection[Expr]) -> None:
        self.graph = graph
        self.sources = frozenset(sources)
        self.axes = dict(graph.axes)
        #: The nodes through which a source reaches the outputs. Conditions and integers carry no derivative.
        self.active: set[Expr] = set()
        for n in graph.nodes:
            if n in self.sources or (n.kind.is_float and any(a in self.active for a in n.args)):
                self.active.add(n)
        #: By node, then by the axes that the terms must be summed over.
        self.terms: dict[Expr, dict[Axes, list[Term]]] = {}

    def varies(self, x: Expr) -> Axes:
        """The axes a node varies along, be it of the graph or new."""
        if x not in self.axes:
            for a in x.args:
                self.varies(a)
            self.axes[x] = varies(x, self.axes, self.graph.inner_axes)
        return self.axes[x]

    def add(self, n: Expr, term: Term, over: Axes) -> None:
        """Count `term`, for each point along the axes `over`, towards the adjoint of `n`."""
        if n in self.active:
            self.terms.setdefault(n, {}).setdefault(over & ~self.varies(n), []).append(term)

    def of(self, symbols: Mapping[str, Expr]) -> dict[str, Expr]:
        """The adjoints of the sources, by name."""
        for n in reversed(self.graph.nodes):
            if n in self.terms and n not in self.sources:
                self._propagate(n, self._collect(n))
        return {name: _apply_guard(self._collect(x)) if x in self.terms else const(0.0, x.kind) for name, x in symbols.items()}

    def _propagate(self, n: Expr, adjoint: Term) -> None:
        rule = RULES.get(n.op)
        if rule is None:
            raise UnsupportedError(f"{n.op} has no derivative; expected one of {', '.join(sorted(RULES))}")
        if n.op == "scan":  # which mixes elements that a condition holds for with others
            adjoint = Term(_apply_guard(adjoint))
        over = self.varies(n) | (n.attr[1] if n.op == "reduce" else Axes.NONE)
        for i, operand in enumerate(n.args):
            if operand in self.active:
                local = rule(n, adjoint.value, i)
                if isinstance(local, Expr):
                    local = Term(local)
                if local is not None:
                    self.add(operand, Term(local.value, adjoint.guard + local.guard), over)

    def _collect(self, n: Expr) -> Term:
        groups = self.terms[n]
        terms = list(groups.pop(Axes.NONE, ()))
        terms += [Term(self._total(_apply_guard(_merge(group)), over)) for over, group in groups.items()]
        return _merge(terms)

    def _total(self, value: Expr, over: Axes) -> Expr:
        if over & Axes.INNER:
            along = self.varies(value) & Axes.INNER
            value = reduce("sum", value) if along else value * row_length(value.kind)
        return reduce("sum", value, Axes.OUTER) if over & Axes.OUTER else value


def _merge(terms: Sequence[Term]) -> Term:
    """The sum of some terms. What their guards have in common stays a guard; a condition that one term needs true and
    another false becomes one select."""
    guards = [t.guard for t in terms]
    shared = tuple(literals[0] for literals in takewhile(lambda ls: len(set(ls)) == 1, zip(*guards, strict=False)))
    values: list[Expr] = []
    branches: dict[Expr, tuple[list[Term], list[Term]]] = {}
    for t in terms:
        rest = t.guard[len(shared) :]
        if rest:
            condition, holds = rest[0]
            branches.setdefault(condition, ([], []))[holds].append(Term(t.value, rest[1:]))
        else:
            values.append(t.value)
    for condition, (unless, when) in branches.items():
        no, yes = (_apply_guard(_merge(side)) if side else const(0.0, terms[0].value.kind) for side in (unless, when))
        values.append(select(condition, yes, no))
    total = values[0]
    for value in values[1:]:
        total = total + value
    return Term(total, shared)


def _apply_guard(term: Term) -> Expr:
    value = term.value
    for condition, holds in reversed(term.guard):
        value = select(condition, value, 0.0) if holds else select(condition, 0.0, value)
    return value
