"""Where derivatives jump or do not exist: PyTorch's conventions, and no NaN out of a branch that was not taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from baracuda.formula.gradient import gradient
from baracuda.formula.oracle import evaluate
from tests.unit.formulas import FULL, INNER_AXES, OUTER, REDUCTIONS, SHARED, Formula, autograd, trace

# --- corners ----------------------------------------------------------------------------------------------------------

EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 1e-300, -1e-300, 1e300, 5e-324, np.inf, -np.inf, np.nan])


def pointwise_gradient(
    formula: Callable[..., Any], *values: np.ndarray, dy: float = 1.0
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Found and expected gradients of a formula of flat arrays."""
    names = "abc"[: len(values)]
    inputs = {k: v[None, :] for k, v in zip(names, values, strict=True)} | {"dy": np.full((1, len(values[0])), dy)}
    gradient_graph = gradient(trace(formula, dict.fromkeys(names, FULL)), list(names))
    slopes = evaluate(gradient_graph, inputs, (1, len(values[0])), INNER_AXES)
    tensors = [torch.tensor(inputs[k], requires_grad=True) for k in names]
    y = formula(autograd, *tensors)
    y.backward(torch.tensor(inputs["dy"]))
    return slopes, {f"d{k}": t.grad.numpy() for k, t in zip(names, tensors, strict=True)}


@pytest.mark.parametrize("op", [*SHARED, "abs", "rint", "ceil", "trunc"])
def test_unary_corners_are_those_of_torch(op: str) -> None:
    for dy in (1.0, -3.0):
        slopes, wanted = pointwise_gradient(lambda F, a: getattr(F, op)(a), EDGES, dy=dy)
        np.testing.assert_allclose(slopes["da"], wanted["da"], rtol=1e-14)


@pytest.mark.parametrize("op", ["pow", "maximum", "minimum", "atan2", "hypot"])
def test_binary_corners_are_those_of_torch(op: str) -> None:
    a, b = (g.ravel() for g in np.meshgrid(EDGES, EDGES))
    slopes, wanted = pointwise_gradient(lambda F, a, b: getattr(F, op)(a, b), a, b)
    for k in ("da", "db"):
        same = np.isclose(slopes[k], wanted[k], rtol=1e-13, equal_nan=True)[0]
        if op == "hypot":
            origin = (a == 0) & (b == 0)
            assert not slopes[k][0, origin].any()  # where PyTorch has NaN
            same |= origin
        assert same.all(), [
            (x, y, p, q) for x, y, p, q in zip(a[~same], b[~same], slopes[k][0, ~same], wanted[k][0, ~same], strict=True)
        ]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -2.0])
def test_constant_exponents_have_the_corners_of_torch(exponent: float) -> None:
    slopes, wanted = pointwise_gradient(lambda F, a: F.pow(a, F.constant(exponent)), EDGES)
    np.testing.assert_allclose(slopes["da"], wanted["da"], rtol=1e-14)


@pytest.mark.parametrize("base", [0.0, 2.0, 1.0])
def test_constant_bases_have_the_corners_of_torch(base: float) -> None:
    slopes, wanted = pointwise_gradient(lambda F, a: F.pow(F.constant(base), a), EDGES)
    np.testing.assert_allclose(slopes["da"], wanted["da"], rtol=1e-14)


def test_a_zero_cotangent_of_a_quotient_gives_zero() -> None:
    slopes, _ = pointwise_gradient(lambda F, a, b: a / b, np.array([1.0]), np.array([1e-200]), dy=0.0)
    assert slopes["da"] == slopes["db"] == 0.0


@pytest.mark.parametrize("op", ["prod", "max", "min"])
@pytest.mark.parametrize(
    "row",
    [[2.0, 3.0, 4.0], [0.0, 3.0, 4.0], [0.0, 0.0, 4.0], [0.0, -0.0, 0.0], [4.0, 4.0, 1.0], [np.nan, 1.0, 2.0],
     [-np.inf, 1.0, 1.0], [np.inf, np.inf, 1.0], [-np.inf, -np.inf, -np.inf], [1.0, -1.0, 0.0], [7.0]],
)  # fmt: skip
def test_rows_have_the_corners_of_torch(op: str, row: list[float]) -> None:
    case = Formula(lambda F, a: getattr(F, op)(a), result=OUTER)
    x = np.array([row])
    slope = evaluate(gradient(case.graph(), ["a"]), {"a": x, "dy": np.array([[2.5]])}, x.shape, INNER_AXES)["da"]
    t = torch.tensor(x, requires_grad=True)
    REDUCTIONS[op](t, -1, keepdim=True).backward(torch.tensor([[2.5]], dtype=torch.float64))
    wanted = t.grad.numpy()
    np.testing.assert_array_equal(slope, wanted)


# --- branches not taken -----------------------------------------------------------------------------------------------

SQRT_AT_0 = {
    "in a branch": lambda F, x: F.where(x > 0.0, F.sqrt(x), 0.0),
    "in the other branch": lambda F, x: F.where(x <= 0.0, 0.0, F.sqrt(x)),
    "in both branches": lambda F, x: F.where(x > 0.0, F.sqrt(x), -x),
    "two levels down": lambda F, x: F.where(x > 0.0, F.where(x > 1.0, F.sqrt(x) * 2.0, F.sqrt(x)), 0.0),
    "behind a row sum": lambda F, x: F.where(F.sum(x) > 100.0, F.sum(F.sqrt(x)), 0.0) + 0.0 * x,
    "behind log": lambda F, x: F.where(x > 0.0, F.log(F.sqrt(x)), x),
}  # fmt: skip


@pytest.mark.parametrize("name", SQRT_AT_0)
def test_nothing_leaks_from_a_branch_not_taken(name: str) -> None:
    graph = trace(SQRT_AT_0[name], {"x": FULL})
    x = np.array([[0.0, 0.25, -1.0, 4.0, 0.0]])
    once = gradient(graph, ["x"])
    result = evaluate(once, {"x": x, "dy": np.ones_like(x)}, x.shape, INNER_AXES)["dx"]
    assert np.isfinite(result).all()
    if name == "two levels down":
        np.testing.assert_allclose(result, [[0.0, 1.0, 0.0, 0.5, 0.0]])


def test_opposite_branches_become_one_select() -> None:
    gradient_graph = gradient(trace(lambda F, x: F.where(x > 0.0, x, 0.01 * x), {"x": FULL}), ["x"])
    assert [n.op for n in gradient_graph.nodes if n.op not in ("input", "const")] == ["gt", "mul", "select"]
