"""Bounds of the oracle: that results computed in f32 keep within them, and that they are not much larger than that."""

from __future__ import annotations

import numpy as np
import pytest

from baracuda.core.axes import Axes
from baracuda.core.elements import ElementKind as K
from baracuda.formula import functions as f
from baracuda.formula.canonical import run
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, cast, compare, input_, select
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle_errors import UNIT, evaluate_with_errors

X = input_("x", K.F32)
SHAPE, INNER = (5, 700), (False, True)

FORMULAS = {
    "chain": f.exp(X) * X - f.tanh(X),
    "cancellation": (X * X + 1000.0) - 1000.0,
    "softmax": f.exp(X - f.max_(X)) / f.sum_(f.exp(X - f.max_(X))),
    "variance": f.mean((X - f.mean(X)) * (X - f.mean(X))),
    "branch": select(compare("gt", X * 3.0, X + 1.0), f.exp(X), -X),
    "logarithm": f.log(f.sum_(f.exp(X))) - f.max_(X),
    "sine": f.sin(X * 50.0),
}


def graph(value: Expr) -> Graph:
    varies = Graph((), ((Port("", value.kind), value),), INNER).axes[value]
    return Graph((Port("x", K.F32),), ((Port("y", value.kind, varies if varies else Axes.FULL), value),), INNER)


def drawn(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)


@pytest.mark.parametrize("name", FORMULAS)
def test_results_in_f32_keep_within_their_bounds(name: str) -> None:
    formula_graph, worst = graph(FORMULAS[name]), 0.0
    for seed in range(5):
        x = drawn(seed)
        value, bound = evaluate_with_errors(formula_graph, {"x": x}, SHAPE, INNER)["y"]
        off = np.abs(run(expand(formula_graph), {"x": x}, SHAPE, INNER)["y"].astype(np.float64) - value)
        assert (off <= bound).all()
        worst = max(worst, float((off[bound > 0] / bound[bound > 0]).max(initial=0.0)))
    assert worst > 0.01, "the bounds are a hundred times as large as the errors"


def test_exact_operations_have_no_error() -> None:
    for value in (X, -X, f.max_(X), select(compare("gt", X, 0.0), X, -X)):
        _, bound = evaluate_with_errors(graph(value), {"x": drawn(0)}, SHAPE, INNER)["y"]
        assert not bound.any()


def test_an_operand_that_occurs_twice_is_one() -> None:
    y = f.exp(X)
    _, bound = evaluate_with_errors(graph(y - y), {"x": drawn(0)}, SHAPE, INNER)["y"]
    assert not bound.any()
    _, bound = evaluate_with_errors(graph(select(compare("eq", y, y), X, -X)), {"x": drawn(0)}, SHAPE, INNER)["y"]
    assert not bound.any()


def test_a_condition_that_may_go_either_way_allows_both_values() -> None:
    third = X / 3.0
    value = select(compare("gt", third * 3.0, X), X * 0.0 + 1.0, X * 0.0)
    (_, bound) = evaluate_with_errors(graph(value), {"x": np.ones(SHAPE, np.float32)}, SHAPE, INNER)["y"]
    assert (bound >= 1).all()


def test_what_overflows_in_f32_is_unsettled() -> None:
    _, bound = evaluate_with_errors(graph(f.exp(X) * 0.0 + 1.0), {"x": np.full(SHAPE, 100, np.float32)}, SHAPE, INNER)["y"]
    assert np.isinf(bound).all()


def test_a_sum_is_off_by_a_part_of_the_magnitudes() -> None:
    x = drawn(1)
    value, bound = evaluate_with_errors(graph(f.sum_(X)), {"x": x}, SHAPE, INNER)["y"]
    sizes = np.abs(x.astype(np.float64)).sum(1, keepdims=True)
    assert np.allclose(bound, 16 * UNIT[K.F32] * sizes)
    assert np.allclose(value, x.astype(np.float64).sum(1, keepdims=True))


def test_integers_may_be_off_where_their_float_is() -> None:
    value = cast(X * 3.0, K.S32)
    x = np.full(SHAPE, np.float32(1) / np.float32(3))
    result, bound = evaluate_with_errors(graph(value), {"x": x}, SHAPE, INNER)["y"]
    assert result.dtype == np.int32
    assert (bound == 1).all()
    assert not evaluate_with_errors(graph(value), {"x": np.full(SHAPE, 0.5, np.float32)}, SHAPE, INNER)["y"][1].any()
