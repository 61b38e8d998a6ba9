"""Loops in formulas: on either device the bits of the NumPy interpreter, element by element, whatever neighbours do."""

from __future__ import annotations

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import canonical, oracle
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, cast, const, input_, select
from baracuda.formula.functions import equal, exp, log
from baracuda.formula.loops import Loop, loop
from baracuda.lowering.nest.cuda.lower import Target
from baracuda.runtime import nvrtc
from tests.lowering.graphs import Formula, cuda_sources, pointwise, run
from tests.machine import Machine

F32, F64, S32, S64 = ElementKind.F32, ElementKind.F64, ElementKind.S32, ElementKind.S64
ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]


def collatz(x: Expr) -> tuple[Expr, Expr]:
    """How many steps a number takes to 1, and the largest on the way; at most 30."""
    one, zero = const(1, x.kind), const(0, x.kind)

    def step(state: tuple[Expr, ...], turn: Expr) -> list[Expr]:
        n, count, largest = state
        following = select(equal(n & 1, 1), n * 3 + 1, n >> 1)
        return [following, count + 1, select(following > largest, following, largest)]

    _, count, largest = loop((x, zero, x), lambda s, turn: ~equal(s[0], one), step, turns=30)
    return count, largest


def newton(x: Expr, y: Expr) -> Expr:
    """A state of three kinds, a condition that reads what is given, functions with seldom branches, what is outside of the loop,
    and the number of the turn."""
    goal, floor = exp(y), const(0.5, x.kind)

    def step(state: tuple[Expr, ...], turn: Expr) -> list[Expr]:
        value, _, counted = state
        following = value + log(abs(goal - value) + floor) * cast(turn + 1, x.kind)
        return [following, following > goal, cast(turn, S64) + counted]

    value, moved, counted = loop((x, equal(x, x), const(0, S64)), lambda s, turn: s[1] & (s[0] < 50.0), step, turns=9)
    return select(moved, value, -value) + cast(counted, x.kind)


def nested(x: Expr) -> Expr:
    """The sum of i j for j <= i <= x."""

    def outer(state: tuple[Expr, ...], turn: Expr) -> list[Expr]:
        i, total = state

        def inner(within: tuple[Expr, ...], turn: Expr) -> list[Expr]:
            return [within[0] + 1, within[1] + i * within[0]]

        _, more = loop((const(1, x.kind), const(0, x.kind)), lambda s, turn: s[0] <= i, inner, turns=9)
        return [i + 1, total + more]

    return loop((const(1, x.kind), const(0, x.kind)), lambda s, turn: s[0] <= x, outer, turns=9)[1]


CASES: dict[str, Formula] = {
    "collatz": pointwise(collatz, (S32,), (S32, S32), 2),
    "newton": pointwise(newton, (F32, F32), (F32,), 2),
    "newton_f64": pointwise(newton, (F64, F64), (F64,), 2),
    "nested": pointwise(nested, (S64,), (S64,), 2),
}


def _values(formula: Formula, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    made = {}
    for name, (kind, _) in formula.inputs.items():
        drawn = rng.normal(0, 2, shape) if kind.is_float else rng.integers(1, 9 if kind is S64 else 1000, shape)
        made[name] = drawn.astype(kind.numpy)
    return made


@pytest.mark.parametrize("layouts", [("contiguous",), ("transposed", "contiguous")])
@pytest.mark.parametrize("name", CASES)
def test_bits(name: str, layouts: tuple[str, ...], machine: Machine) -> None:
    formula = CASES[name]
    for shape in ((3, 37), (1, 1), (5, 300)):
        values = _values(formula, shape)
        expected = canonical.run(expand(formula.graph), values, shape, (False, False))
        found = run(machine, formula, values, layouts)
        for output, value in expected.items():
            assert np.array_equal(found[output], value, equal_nan=True), output


def test_oracle() -> None:
    x = np.arange(1, 8)[:, None]
    found = oracle.evaluate(CASES["nested"].graph, {"x0": x}, (7, 1), (False, False))["y0"]
    assert found.ravel().tolist() == [sum(i * j for i in range(1, n + 1) for j in range(1, i + 1)) for n in range(1, 8)]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_cuda_compiles(arch: str) -> None:
    for formula in CASES.values():
        for source in cuda_sources(formula, (40, 70), Target(arch, 132)):
            assert nvrtc.cubin(source, arch)


def test_what_does_not_move_stays_outside() -> None:
    """The exponential is computed once, before the loop; equal loops are one object, whose text says what it does."""
    graph = CASES["newton"].graph
    loops = {n.attr.loop for n in graph.nodes if n.op == "loop"}
    assert len(loops) == 1
    (made,) = loops
    assert isinstance(made, Loop)
    assert not any(n.op == "exp" for n in made.nodes)
    assert any(n.op == "exp" for n in graph.nodes)
    assert made is next(n for n in CASES["newton"].graph.nodes if n.op == "loop").attr.loop
    assert "log" in repr(made)


def test_bad_loops() -> None:
    x = input_("x", F32)
    with pytest.raises(InvalidProblemError, match="a state of 0 components"):
        loop((), lambda s, t: equal(t, 1), lambda s, t: [], turns=3)
    with pytest.raises(InvalidProblemError, match="the condition has kind f32"):
        loop((x,), lambda s, t: s[0], lambda s, t: [s[0]], turns=3)
    with pytest.raises(InvalidProblemError, match="the body's state has kinds s32; expected f32"):
        loop((x,), lambda s, t: s[0] < 1.0, lambda s, t: [t], turns=3)
