"""Simplification changes no bit: every rule on all pairs and triples of edge values, and on random graphs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from baracuda.formula import canonical as reference
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, bitcast, cast, compare, const, fma, input_, node, rare, reduce, select, topological, unary
from baracuda.formula.graph import Axes, Graph, Port
from baracuda.formula.simplify import simplify

F32, F64, S32, BOOL = ElementKind.F32, ElementKind.F64, ElementKind.S32, ElementKind.BOOL


def edges(kind: ElementKind) -> np.ndarray:
    info = np.finfo(kind.numpy)
    tiny, normal, eps = float(info.smallest_subnormal), float(info.smallest_normal), float(info.eps)
    positive = [
        0.0,
        tiny,
        3 * tiny,
        normal - tiny,
        normal,
        0.1,
        1 / 3,
        1 - eps / 2,
        1.0,
        1 + eps,
        1.5,
        2.0,
        3.0,
        1e5,
        float(info.max),
    ]
    return np.array([*positive, math.inf, *(-v for v in positive), -math.inf, math.nan], kind.numpy)


def nodes(*roots: Expr) -> list[str]:
    return [n.op for n in topological(roots) if n.op not in ("input", "const", "param")]


def simplified(expr: Expr) -> Expr:
    ports = tuple(dict.fromkeys(Port(n.attr[0], n.attr[1]) for n in topological([expr]) if n.op == "input"))
    ((_, result),) = simplify(Graph(ports, ((Port("y", expr.kind), expr),))).outputs
    return result


def check_bits(before: Expr, after: Expr, kind: ElementKind = F32, values: np.ndarray | None = None) -> None:
    """The two agree on every combination of edge values of their inputs; NaNs count as equal."""
    values = edges(kind) if values is None else values
    names = sorted({n.attr[0] for n in topological([before]) if n.op == "input"})
    grids = np.meshgrid(*[values] * len(names)) if names else []
    inputs = {name: g.ravel() for name, g in zip(names, grids, strict=True)}
    length = len(values) ** len(names)
    ports = tuple(Port(name, kind) for name in names)
    results = []
    for expr in (before, after):
        y = reference.run(Graph(ports, ((Port("y", expr.kind), expr),)), inputs, (length,), (False,))["y"]
        if y.dtype.kind == "f":
            y = np.where(np.isnan(y), y.dtype.type(np.nan), y)
        results.append(y.tobytes())
    assert results[0] == results[1], (before, after)


def rules(kind: ElementKind) -> dict[str, tuple[Expr, list[str]]]:
    a, b, c = (input_(name, kind) for name in "abc")
    two, half, odd = const(2.0, kind), const(0.5, kind), const(-3.0, kind)
    raw = lambda op, *args: node(op, args, args[0].kind)  # noqa: E731  (past what building already rewrites)
    condition = a < b
    return {
        "a + -b": (a + -b, ["sub"]),
        "-a + b": (-a + b, ["sub"]),
        "-a + -b": (-a + -b, ["neg", "sub"]),
        "a - -b": (a - -b, ["add"]),
        "-a - -b": (-a - -b, ["sub"]),
        "-a * -b": (-a * -b, ["mul"]),
        "-a / -b": (-a / -b, ["div"]),
        "a + -b*c": (a + -b * c, ["mul", "sub"]),
        "a - b/-c": (a - b / -c, ["div", "add"]),
        "-a * constant": (-a * 3.0, ["mul"]),
        "constant / -a": (3.0 / -a, ["div"]),
        "-a / constant": (-a / 3.0, ["div"]),
        "fma(-a, -b, c)": (fma(-a, -b, c), ["fma"]),
        "fma(-a, b, c) stays": (fma(-a, b, c), ["neg", "fma"]),
        "abs(-a)": (abs(-a), ["abs"]),
        "abs(abs(a))": (abs(abs(a)), ["abs"]),
        "--a": (raw("neg", raw("neg", a)), []),
        "max(a, a)": (f.maximum(a, a), []),
        "min(a, a)": (f.minimum(a, a), []),
        "a / 2": (a / 2.0, ["mul"]),
        "a / -0.25": (a / -0.25, ["mul"]),
        "a / least normal power": (a / float(np.finfo(kind.numpy).smallest_normal), ["mul"]),
        "a / 3 stays": (a / 3.0, ["div"]),
        "a / least subnormal stays": (a / float(np.finfo(kind.numpy).smallest_subnormal), ["div"]),
        "a / 0 stays": (a / 0.0, ["div"]),
        "a / inf stays": (a / math.inf, ["div"]),
        "commuted sums are one": ((a + b) * (b + a), ["add", "mul"]),
        "commuted products are one": (a * b - b * a, ["mul", "sub"]),
        "identities after folding": (a + raw("sub", const(-1.0, kind), const(-1.0, kind)) * -1.0, []),
        "folding": (a + (raw("mul", two, half) - raw("div", odd, two)), ["add"]),
        "select of not": (select(~condition, a, b), ["lt", "select"]),
        "rare of not stays": (rare(~condition, a, b), ["lt", "not", "rare"]),
        "select in select": (select(condition, select(condition, a, c), b), ["lt", "select"]),
        "select in rare": (rare(condition, a, select(condition, b, c)), ["lt", "rare"]),
        "select of a folded condition": (node("select", (compare("lt", two, half), a, b), kind), []),
        "not equal": (~compare("eq", a, b), ["ne"]),
        "not not equal": (~compare("ne", a, b), ["eq"]),
        "not less stays": (~condition, ["lt", "not"]),
        "a + 0 stays": (a + 0.0, ["add"]),
        "a - a stays": (a - a, ["sub"]),
        "0 * a stays": (a * 0.0, ["mul"]),
        "-(a - b) stays": (-(a - b), ["sub", "neg"]),
        "-a - b stays": (-a - b, ["neg", "sub"]),
    }  # fmt: skip


@pytest.mark.parametrize("kind", [F32, F64])
@pytest.mark.parametrize("name", rules(F32))
def test_a_rule_applies_and_changes_no_bit(name: str, kind: ElementKind) -> None:
    before, count = rules(kind)[name]
    after = simplified(before)
    assert nodes(after) == count
    check_bits(before, after, kind)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (lambda a, b: a + 0.0, lambda a, b: a),
        (lambda a, b: a - a, lambda a, b: a * 0.0),
        (lambda a, b: a * 0.0, lambda a, b: const(0.0, F32) + select(a < a, a, 0.0)),
        (lambda a, b: -(a - b), lambda a, b: b - a),
        (lambda a, b: -a - b, lambda a, b: -(a + b)),
        (lambda a, b: a / 3.0, lambda a, b: a * (1 / 3)),
    ],
)
def test_rewritings_that_are_not_done_would_change_bits(before: Callable[..., Expr], after: Callable[..., Expr]) -> None:
    a, b = input_("a", F32), input_("b", F32)
    with pytest.raises(AssertionError):
        check_bits(before(a, b), after(a, b))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "neg", "abs", "sqrt", "rint", "floor", "ceil", "trunc"])
@pytest.mark.parametrize("kind", [F32, F64])
def test_folding_has_the_bits_of_the_kernel(op: str, kind: ElementKind) -> None:
    values = edges(kind)
    arity = 2 if op in ("add", "sub", "mul", "div") else 1
    for args in np.array(np.meshgrid(*[values] * arity)).reshape(arity, -1).T:
        before = node(op, tuple(const(v, kind) for v in args), kind)
        after = simplified(before)
        assert after.op == "const"
        check_bits(before, after, kind)


def test_folding_of_comparisons_casts_and_integers() -> None:
    values = edges(F32)
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        for x in values:
            for y in values[::3]:
                before = compare(op, const(x, F32), const(y, F32))
                after = simplified(before)
                assert after.op == "const"
                check_bits(before, after)
    for before in (cast(const(0.1, F64), F32), cast(const(2**24 + 1, S32), F32), cast(const(1.5, F32), F64)):
        after = simplified(before)
        assert after.op == "const"
        check_bits(before, after)
    big, small = const(2**31 - 1, S32), const(-7, S32)
    for before in (big + 1, big * 3, small - big, big & small, big | small, big ^ small):
        after = simplified(before)
        assert after.op == "const"
        check_bits(before, after)
    to_integer = cast(const(1e30, F32), S32)
    assert simplified(to_integer) is to_integer


def test_integer_comparisons_turn_round() -> None:
    i, j = input_("i", S32), input_("j", S32)
    for op, opposite in (("lt", "ge"), ("le", "gt"), ("gt", "le"), ("ge", "lt"), ("eq", "ne"), ("ne", "eq")):
        before = ~compare(op, i, j)
        assert nodes(simplified(before)) == [opposite]
        check_bits(before, simplified(before), S32, np.array([-(2**31), -1, 0, 1, 2**31 - 1], np.int32))


def random_expression(rng: np.random.Generator, size: int) -> Expr:
    floats: list[Expr] = [input_("a", F32), input_("b", F32), *(const(v, F32) for v in (0.0, -0.0, 1.0, -1.0, 2.0, 3.0))]
    conditions: list[Expr] = [floats[0] < floats[1]]
    for _ in range(size):
        x, y, z = (floats[rng.integers(max(0, len(floats) - 12), len(floats))] for _ in "xyz")
        p, q = (conditions[rng.integers(len(conditions))] for _ in "pq")
        kind = rng.integers(8)
        if kind < 3:
            floats.append(node(str(rng.choice(["add", "sub", "mul", "div", "max", "min"])), (x, y), F32))
        elif kind < 5:
            floats.append(node(str(rng.choice(["neg", "abs", "neg"])), (x,), F32))
        elif kind == 5:
            floats.append(fma(x, y, z))
        elif kind == 6:
            floats.append(node(str(rng.choice(["select", "rare"])), (p, x, y), F32))
        else:
            conditions.append(compare(str(rng.choice(["eq", "ne", "lt", "ge"])), x, y))
            conditions.append(unary("not", p) if rng.integers(2) else p & q)
    return floats[-1]


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_keep_their_bits(seed: int) -> None:
    before = random_expression(np.random.default_rng(seed), 30)
    after = simplified(before)
    check_bits(before, after)
    assert len(nodes(after)) <= len(nodes(before))
    check_bits(before, simplified(after))


def test_other_nodes_and_ports_are_kept() -> None:
    a, row = input_("a", F32), input_("r", F32, Axes.OUTER)
    y = f.exp(reduce("sum", a + -row)) * bitcast(bitcast(a, S32) + 1, F32)
    graph = Graph(
        (Port("a", F32), Port("r", F32, Axes.OUTER)), ((Port("y", ElementKind.BF16), y), (Port("z", F32), -a)), (False, True)
    )
    after = simplify(graph)
    assert (after.inputs, after.inner_axes) == (graph.inputs, graph.inner_axes)
    assert [p for p, _ in after.outputs] == [p for p, _ in graph.outputs]
    assert after.outputs[0][1] is f.exp(reduce("sum", a - row)) * bitcast(bitcast(a, S32) + 1, F32)
