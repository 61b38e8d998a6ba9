"""Gradients of formulas, against PyTorch's autograd and central differences of the float64 oracle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import canonical as reference
from baracuda.formula import expr as e
from baracuda.formula import functions as f
from baracuda.formula.derivatives import RULES
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, input_, node, param
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate
from tests.unit.formulas import (
    CASES,
    EXTENTS,
    F64,
    FULL,
    INNER,
    INNER_AXES,
    NONE,
    OUTER,
    SHAPE,
    Formula,
    autograd,
    softmax,
    trace,
)


def expected_by_torch(
    case: Formula, values: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray] | None = None
) -> dict[str, Any]:
    """First derivatives; or, with cotangents of those, second derivatives, also by dy."""
    tensors = {k: torch.tensor(v, requires_grad=True) for k, v in values.items()}
    inputs = [tensors[k] for k in case.named()]
    y = case.formula(autograd, *inputs).expand(EXTENTS[case.result])
    first = torch.autograd.grad(y, inputs, tensors["dy"], create_graph=True, allow_unused=True, materialize_grads=True)
    if second is None:
        return {f"d{k}": g.detach().numpy() for k, g in zip(case.named(), first, strict=True)}
    wrt = [*inputs, tensors["dy"]]
    total = sum((g * torch.tensor(second[f"dd{k}"])).sum() for k, g in zip(case.named(), first, strict=True))
    names = [*case.named(), "dy"]
    gradients = torch.autograd.grad(total, wrt, allow_unused=True, materialize_grads=True)
    return {f"d{k}": g.numpy() for k, g in zip(names, gradients, strict=True)}


def slope(
    graph: Graph, values: Mapping[str, np.ndarray], direction: Mapping[str, np.ndarray], weights: Mapping[str, np.ndarray]
) -> float:
    """The central difference of sum(weights * outputs) along a direction, of fourth order."""
    h = 1e-3

    def total(t: float) -> float:
        moved = {k: v + t * direction.get(k, 0.0) for k, v in values.items()}
        results = evaluate(graph, moved, SHAPE, INNER_AXES)
        return math.fsum((weights[k] * v).sum() for k, v in results.items())

    return (8 * (total(h) - total(-h)) - (total(2 * h) - total(-2 * h))) / (12 * h)


def check_slope(
    graph: Graph, derivative: dict[str, np.ndarray], values: Mapping[str, np.ndarray], weights: Mapping[str, np.ndarray]
) -> None:
    rng = np.random.default_rng(7)
    for name, computed in derivative.items():
        direction = {name[1:]: rng.normal(size=computed.shape)}
        analytic = float((computed * direction[name[1:]]).sum())
        assert slope(graph, values, direction, weights) == pytest.approx(analytic, rel=1e-6, abs=1e-7), name


@pytest.mark.parametrize("name", CASES)
def test_first_derivatives(name: str) -> None:
    case = CASES[name]
    graph, values = case.graph(), case.values(name)
    gradient_graph = gradient(graph, list(case.named()))
    assert [p.name for p in gradient_graph.inputs] == [
        "dy",
        *(k for k in case.named() if k in {p.name for p in gradient_graph.inputs}),
    ]
    for (port, expr), (k, axes) in zip(gradient_graph.outputs, case.named().items(), strict=True):
        assert port == Port(f"d{k}", F64, axes)
        assert gradient_graph.axes[expr] & ~axes == NONE
    slopes = evaluate(gradient_graph, values, SHAPE, INNER_AXES)
    for k, wanted in expected_by_torch(case, values).items():
        np.testing.assert_allclose(slopes[k], wanted, rtol=1e-11, atol=1e-12, err_msg=k)
    if name != "step":  # its differences cross the steps
        check_slope(graph, slopes, values, {"y": values["dy"]})


SECOND = sorted(set(CASES) - {"step", "cast", "max", "min", "max of rows", "min of rows", "abs"})


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name: str) -> None:
    case = CASES[name]
    values, names = case.values(name), list(case.named())
    once = gradient(case.graph(), names)
    read = [p.name for p in once.inputs]
    twice = gradient(once, read, {f"d{k}": f"dd{k}" for k in names})
    rng = np.random.default_rng(3)
    weights = {f"dd{k}": rng.normal(size=values[k].shape) for k in names}
    slopes = evaluate(twice, values | weights, SHAPE, INNER_AXES)
    for k, wanted in expected_by_torch(case, values, weights).items():
        np.testing.assert_allclose(slopes.get(k, 0.0), wanted, rtol=1e-9, atol=1e-10, err_msg=k)
    check_slope(once, slopes, values, {f"d{k}": weights[f"dd{k}"] for k in names})


def ops(graph: Graph) -> list[str]:
    return [n.op for n in graph.nodes]


# --- the graph that comes out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("op", "recomputed"), [("tanh", "tanh"), ("sigmoid", "sigmoid"), ("exp", "exp"), ("sqrt", "sqrt")])
def test_saved_outputs_are_read_instead_of_computed(op: str, recomputed: str) -> None:
    graph = trace(lambda F, x: getattr(F, op)(x), {"x": FULL})
    assert recomputed in ops(gradient(graph, ["x"]))
    gradient_graph = gradient(graph, ["x"], saved=["y"])
    assert [p.name for p in gradient_graph.inputs] == ["dy", "y"]
    assert recomputed not in ops(gradient_graph)
    x, dy = np.linspace(0.5, 2.0, 15).reshape(SHAPE), np.full(SHAPE, 1.5)
    y = evaluate(graph, {"x": x}, SHAPE, INNER_AXES)["y"]
    direct = evaluate(gradient(graph, ["x"]), {"x": x, "dy": dy}, SHAPE, INNER_AXES)["dx"]
    np.testing.assert_allclose(evaluate(gradient_graph, {"y": y, "dy": dy}, SHAPE, INNER_AXES)["dx"], direct, rtol=1e-15)


def test_storage_kinds_axes_and_names() -> None:
    x, w = input_("x", ElementKind.BF16), input_("w", F64, INNER)
    product = e.cast(x, F64) * w
    graph = Graph(
        (Port("x", ElementKind.BF16), Port("w", F64, INNER), Port("unused", ElementKind.F16, OUTER)),
        ((Port("y", ElementKind.F16), e.cast(product, ElementKind.F32)), (Port("positive", ElementKind.BOOL), product > 0.0)),
    )
    gradient_graph = gradient(graph, ["w", "unused", "x"], {"y": "seed"})
    assert gradient_graph.inputs == (Port("seed", ElementKind.F16), Port("x", ElementKind.BF16), Port("w", F64, INNER))
    assert [p for p, _ in gradient_graph.outputs] == [
        Port("dw", F64, INNER),
        Port("dunused", ElementKind.F16, OUTER),
        Port("dx", ElementKind.BF16),
    ]
    assert [expr.kind for _, expr in gradient_graph.outputs] == [F64, ElementKind.F32, ElementKind.F32]
    assert gradient_graph.outputs[1][1] is e.const(0.0, ElementKind.F32)
    assert [p.name for p in gradient(graph, ["x"]).inputs] == ["dy", "w"]  # a condition has no cotangent


def test_a_scalar_is_summed_along_rows_and_then_over_them() -> None:
    gradient_graph = gradient(trace(lambda F, x, s: x * s, {"x": FULL, "s": NONE}), ["s"])
    assert [n.attr for n in gradient_graph.nodes if n.op == "reduce"] == [("sum", INNER), ("sum", OUTER)]


def test_only_counted_outputs_count() -> None:
    x = input_("x", F64)
    graph = Graph((Port("x", F64),), ((Port("y", F64), f.exp(x)), (Port("z", F64), f.sin(x))))
    assert "exp" not in ops(gradient(graph, ["x"], {"z": "dz"}))
    both = gradient(graph, ["x"])
    assert [p.name for p in both.inputs] == ["dy", "dz", "x"]
    values = {"x": np.full((1, 1), 0.3), "dy": np.full((1, 1), 2.0), "dz": np.full((1, 1), 5.0)}
    dx = evaluate(both, values, (1, 1), INNER_AXES)["dx"]
    np.testing.assert_allclose(dx, 2 * math.exp(0.3) + 5 * math.cos(0.3), rtol=1e-15)


def test_parameters_are_constants() -> None:
    graph = trace(lambda F, x: x * param("weight", F64), {"x": FULL})
    gradient_graph = gradient(graph, ["x"])
    values = {"dy": np.ones(SHAPE)}
    np.testing.assert_array_equal(
        evaluate(gradient_graph, values, SHAPE, INNER_AXES, {"weight": 0.25})["dx"], np.full(SHAPE, 0.25)
    )


def test_softmax_of_a_float_kernel_matches_the_oracle() -> None:
    """Through `expand` and the canonical arithmetic in f32, with rows of more than one segment."""
    graph = trace(lambda F, a: softmax(F, a), {"a": FULL}, kind=ElementKind.F32)
    rng = np.random.default_rng(5)
    shape = (2, 1500)
    values = {"a": rng.normal(size=shape).astype(np.float32), "dy": rng.normal(size=shape).astype(np.float32)}
    gradient_graph = gradient(graph, ["a"])
    actual = reference.run(expand(gradient_graph), values, shape, INNER_AXES)["da"]
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, evaluate(gradient_graph, values, shape, INNER_AXES)["da"], rtol=1e-4, atol=1e-8)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_refusals() -> None:
    x, i = input_("x", F64), input_("i", ElementKind.S32)
    ports = (Port("x", F64), Port("i", ElementKind.S32))
    graph = Graph(ports, ((Port("y", F64), f.exp(x)), (Port("j", ElementKind.S32), i + 1)))
    for arguments, message in (
        ((["z"],), "'z' is not among the inputs of the graph; expected one of x, i"),
        ((["i"],), "the input 'i' is of kind s32; expected a float kind"),
        ((["x"], {"j": "dj"}), "the output 'j' is of kind s32; expected a float kind"),
        ((["x"], {"z": "dz"}), "'z' is not among the outputs of the graph; expected one of y, j"),
        ((["x"], None, ["z"]), "'z' is not among the outputs"),
        ((["x"], {"y": "x"}), "x: used twice among x, x, dx"),
        ((["x"], {"y": "dx"}), "dx: used twice among dx, x, dx"),
        ((["x", "x"],), "dx: used twice"),
    ):
        with pytest.raises(InvalidProblemError, match=message.replace("(", r"\(")):
            gradient(graph, *arguments)


def test_an_operation_without_a_derivative() -> None:
    graph = trace(lambda F, x: node("zeta", (x,), F64), {"x": FULL})
    with pytest.raises(UnsupportedError, match="zeta has no derivative; expected one of abs, acos, acosh, add"):
        gradient(graph, ["x"])


def test_every_function_has_a_rule() -> None:
    others = ("nearest_integer", "select", "rare", "cast", "reduce")
    assert {*f.UNARY_FUNCTIONS, *f.BINARY_FUNCTIONS, *e.FLOAT_ARITHMETIC, *others} <= set(RULES)


def test_the_same_formula_gives_the_same_gradient() -> None:
    def make() -> Expr:
        ((_, expr),) = gradient(CASES["softmax"].graph(), ["a"]).outputs
        return expr

    assert make() is make()
