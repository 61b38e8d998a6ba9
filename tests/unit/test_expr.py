"""Expressions and graphs: interning, kinds, and the identities that building applies."""

from __future__ import annotations

import gc
import math
import threading

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import (
    Axes,
    Expr,
    binary,
    bitcast,
    cast,
    compare,
    const,
    constant_bits,
    coord,
    fma,
    input_,
    param,
    rare,
    rebuild,
    reduce,
    select,
    topological,
    unary,
)
from baracuda.formula.graph import Graph, Port, substitute

F32, F64, S32, U32, BOOL = ElementKind.F32, ElementKind.F64, ElementKind.S32, ElementKind.U32, ElementKind.BOOL
X, Y = input_("x", F32), input_("y", F32)
I = input_("i", S32)  # noqa: E741
C = X > 0.0


def test_equal_expressions_are_one_object() -> None:
    assert f.exp(X + Y) * 2.0 is f.exp(X + Y) * 2.0
    assert X + Y is not Y + X
    assert input_("x", F32) is X
    assert input_("x", ElementKind.F16) is not X
    assert input_("x", F32, Axes.OUTER) is not X
    assert const(1, F32) is const(1.0, F32)
    assert const(1, F32) is not const(1, F64)
    assert const(0.0, F32) is not const(-0.0, F32)
    assert const(math.nan, F32) is const(math.nan, F32)


def test_nodes_are_forgotten_with_their_last_user() -> None:
    from baracuda.formula import expr

    gc.collect()
    before = len(expr._interned)
    nodes = [f.exp(X + float(i)) for i in range(100)]
    assert len(expr._interned) >= before + 200
    del nodes
    gc.collect()
    assert len(expr._interned) == before


def test_interning_from_many_threads() -> None:
    barrier = threading.Barrier(8)
    per_thread: list[list[Expr]] = []

    def build() -> None:
        barrier.wait()
        per_thread.append([f.tanh(X * float(i)) + Y for i in range(300)])

    threads = [threading.Thread(target=build) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(per_thread) == 8
    assert all(a is b for other in per_thread[1:] for a, b in zip(per_thread[0], other, strict=True))


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, 0.1, math.inf, -math.inf, math.nan, 1e-45, 3.4e38])
@pytest.mark.parametrize("kind", [F32, F64])
def test_constants_keep_their_bits(value: float, kind: ElementKind) -> None:
    expected = np.array(value).astype(kind.numpy)
    constant = const(value, kind)
    assert constant.attr == int(expected.view(f"u{kind.itemsize}"))
    assert constant.value.tobytes() == expected.tobytes()
    assert constant_bits(constant.attr, kind) is constant


def test_constants_round_once() -> None:
    assert const(0.1, F32).value == np.float32(0.1)
    assert const(16777217, F32).value == 16777216
    assert const(-1, U32).attr == 0xFFFFFFFF
    assert const(True, BOOL).attr == 1


def test_kinds() -> None:
    assert input_("h", ElementKind.BF16).kind is F32
    assert input_("b", ElementKind.U8).kind is S32
    assert (X + 1).kind is F32
    assert (X < Y).kind is BOOL
    assert coord(-1).kind is S32
    assert f.row_length(F64).kind is F64
    assert cast(X, S32).kind is S32
    assert bitcast(X, U32).kind is U32
    assert reduce("max", cast(X, F64)).kind is F64


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: X + cast(Y, F64), "operands have kinds f32 and f64; cast one of them"),
        (lambda: X + I, "kinds f32 and s32"),
        (lambda: X & Y, "and is not defined on f32; expected one of abs, add"),
        (lambda: I / I, "div is not defined on s32"),
        (lambda: C - C, "sub is not defined on bool"),
        (lambda: unary("sqrt", I), "sqrt is not defined on s32"),
        (lambda: f.exp(I), "exp is defined on f32 and f64, got s32"),
        (lambda: fma(X, Y, cast(X, F64)), "fma needs one kind, got f32, f32, f64"),
        (lambda: fma(I, I, I), "fma is not defined on s32"),
        (lambda: select(X, X, Y), "the condition of a select has kind f32; expected bool"),
        (lambda: bitcast(X, F64), "cannot bitcast f32 to f64: 32 and 64 bits"),
        (lambda: binary("add", 1.0, 2.0), "expected at least one expression"),
        (lambda: 1 if C else 2, "cannot branch on a symbolic value"),
    ],
)
def test_mistakes_are_named(build: object, message: str) -> None:
    with pytest.raises(InvalidProblemError, match=message):
        build()  # type: ignore[operator]


def test_identities_that_hold_for_every_bit_pattern() -> None:
    for same in (
        X - 0.0,
        X * 1.0,
        1.0 * X,
        X / 1.0,
        X + -0.0,
        -0.0 + X,
        X.__neg__().__neg__(),
        cast(X, F32),
        bitcast(bitcast(X, U32), F32),
    ):
        assert same is X
    assert C.__invert__().__invert__() is C
    assert X * -1.0 is -1.0 * X is X / -1.0 is -X
    assert -const(2.0, F32) is const(-2.0, F32)
    assert -const(0.0, F32) is const(-0.0, F32)
    assert select(C, X, X) is X
    assert select(const(True, BOOL), X, Y) is X
    assert select(const(False, BOOL), X, Y) is Y


def test_identities_that_do_not_hold_are_not_applied() -> None:
    for different in (X + 0.0, X - -0.0, X * 0.0, X - X, X / X, 1.0 / X, 0.0 - X, I + 0):
        assert different not in (X, I)
        assert different.op in ("add", "sub", "mul", "div")


def test_powers() -> None:
    assert X**1 is X
    assert X**2 is X * X
    assert X**3 is (X * X) * X
    assert X**-1 is 1.0 / X
    assert (X**0.5).op == (X**4).op == (X**Y).op == (2.0**X).op == "pow"


def test_operators_build_what_they_say() -> None:
    for built, op in (
        (X + 1, "add"), (1 + X, "add"), (X - 1, "sub"), (2 - X, "sub"), (X * 2, "mul"), (2 * X, "mul"),
        (X / 2, "div"), (2 / X, "div"),
        (-X, "neg"), (abs(X), "abs"), (C & C, "and"), (C | C, "or"), (C ^ C, "xor"), (~C, "not"),
        (I << 1, "shl"), (I >> 1, "shr"),
        (X < 1, "lt"), (X <= 1, "le"), (X > 1, "gt"), (X >= 1, "ge"), (compare("eq", X, 1), "eq"), (rare(C, X, Y), "rare"),
    ):  # fmt: skip
        assert built.op == op
    assert (2 - X).args == (const(2, F32), X)


def test_topological_order_is_stable_and_complete() -> None:
    shared = f.exp(X)
    top = shared * Y + shared
    order = topological([top, shared])
    assert order == [X, shared, Y, shared * Y, top]
    deep = X
    for _ in range(5000):  # no recursion
        deep = deep + Y
    assert len(topological([deep])) == 5002


def test_rebuild_and_substitute() -> None:
    y = f.exp(X) + X
    assert rebuild(y, y.args) is y
    assert substitute(y, {X: Y}) is f.exp(Y) + Y
    assert substitute(y, {f.exp(X): Y}) is Y + X


def test_graph_axes() -> None:
    x, row, column, scalar = (
        input_(n, F32, a) for n, a in zip("xrcs", (Axes.FULL, Axes.OUTER, Axes.INNER, Axes.NONE), strict=True)
    )
    pairs = {
        x + scalar: Axes.FULL,
        row * scalar: Axes.OUTER,
        row * column: Axes.FULL,
        f.sum_(x): Axes.OUTER,
        f.sum_rows(x): Axes.INNER,
        f.sum_rows(f.sum_(x)): Axes.NONE,
        f.sum_(row): Axes.OUTER,
        cast(coord(-1), F32): Axes.INNER,
        cast(coord(0), F32): Axes.OUTER,
        param("p", F32): Axes.NONE,
    }
    graph = Graph((), tuple((Port(str(i), F32), e) for i, e in enumerate(pairs)), (False, True))
    assert {e: graph.axes[e] for e in pairs} == pairs


def test_graphs_compare_by_what_they_say() -> None:
    def graph(name: str = "y", scale: float = 2.0) -> Graph:
        return Graph((Port("x", F32),), ((Port(name, F32), f.exp(X * scale)),))

    assert graph() == graph()
    assert hash(graph()) == hash(graph())
    assert graph() != graph("z")
    assert graph() != graph(scale=3.0)
    assert graph().digest != graph(scale=3.0).digest
    assert graph() != "a graph"


def test_select_outputs() -> None:
    graph = Graph((Port("x", F32), Port("y", F32)), ((Port("a", F32), f.exp(X)), (Port("b", F32), X + Y)))
    part = graph.select_outputs(frozenset(["a"]))
    assert [p.name for p in part.inputs] == ["x"]
    assert [p.name for p, _ in part.outputs] == ["a"]
    with pytest.raises(InvalidProblemError, match=r"no output left of \['a', 'b'\]"):
        graph.select_outputs(frozenset())


def test_stages_count_reductions_one_behind_another() -> None:
    m = f.max_(X)
    s = f.sum_(f.exp(X - m))
    y = f.exp(X - m) / s
    graph = Graph((Port("x", F32),), ((Port("y", F32), y),))
    assert [graph.stages[n] for n in (X, m, f.exp(X - m), s, y)] == [0, 1, 1, 2, 2]
