"""Numbers that the host computes with: in double, rounded once, and no part of any key."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.host import value_of
from baracuda.formula import host
from baracuda.formula.expr import Expr, const, input_
from baracuda.formula.host import HostNumber
from baracuda.frontends.families import function
from baracuda.ops.declaration.traced import Host

STREAM = Stream(Device.cpu())
X = input_("x", ElementKind.F32)


@pytest.mark.parametrize(
    "formula",
    [
        lambda a, b: a,
        lambda a, b: 1.0 - a,
        lambda a, b: host.log(a),
        lambda a, b: 2.0 / (1.0 - b) - 1.0,
        lambda a, b: -(a * b) + 3,
        lambda a, b: (a - 4.0) * (a + b) / b,
    ],
)
def test_arithmetic_is_pythons_and_rounded_once(formula: Callable[[Any, Any], Any]) -> None:
    numbers = {"a": 0.999, "b": 0.1}
    node = (X * formula(HostNumber("a"), HostNumber("b"))).args[1]
    assert node.op == "param"
    want = formula(*numbers.values())
    assert value_of(node.attr, numbers) == want
    assert const(want, ElementKind.F32).value == np.float32(value_of(node.attr, numbers))


def test_the_same_number_is_one_parameter() -> None:
    assert (X * (1.0 - HostNumber("a"))) is (X * (1.0 - HostNumber("a")))
    assert (X * (1.0 - HostNumber("a"))) is not (X * (1 - HostNumber("b")))


def test_what_python_raises_for_is_ieees() -> None:
    zero = {"a": 0.0}
    for number, want in (
        (host.log(HostNumber("a")), -math.inf),
        (-1.0 / HostNumber("a"), -math.inf),
        (1 / -HostNumber("a"), -math.inf),
    ):
        assert value_of(number.name, zero) == want
    assert math.isnan(value_of((HostNumber("a") / HostNumber("a")).name, zero))
    assert math.isnan(host.log(-1.0))


@pytest.mark.parametrize(
    "branch",
    [bool, float, int, lambda a: a > 0, lambda a: a == 1, lambda a: a != 1, lambda a: a >= 0, lambda a: X * (1.0 if a else 2.0)],
)
def test_a_formula_cannot_branch_on_one(branch: Callable[[Any], Any]) -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"^a: a formula cannot branch on a number of the call"):
        branch(HostNumber("a"))


def test_a_plan_computes_them_from_the_numbers_it_is_given() -> None:
    """Also where `run` brings other numbers than the plan was selected with."""
    average, value, out = np.float32([1, 2, 3]), np.float32([3, 3, 3]), np.empty(3, np.float32)
    for decay in (0.9, 0.999, 0, 1.0):
        want = average + (value - average) * np.float32(1.0 - decay)
        assert np.array_equal(baracuda.ema_update(average, value, decay=decay), want)
    descriptor = function("ema_update").describe(average, value, decay=0.9)
    plan = baracuda.EmaUpdatePlan.select(STREAM, descriptor)
    plan.run(STREAM, None, baracuda.EmaUpdateArgs(average, value, out), {"decay": 0.25})
    assert np.array_equal(out, average + (value - average) * np.float32(0.75))


def test_a_formula_of_ones_own_computes_with_them() -> None:
    @baracuda.fuse
    def moved(x: Expr, to: Expr, *, beta: Host = 0.5) -> Expr:
        return x + (to - x) * (1.0 - beta)

    x, y = np.float32([1, 2, 3]), np.float32([3, 3, 3])
    for beta in (0.9, 0.1):
        assert np.array_equal(moved(x, y, beta=beta), x + (y - x) * np.float32(1.0 - beta))
        slope = moved.gradient(x, y, dy=np.ones(3, np.float32), wrt=("to",), beta=beta)[0]
        assert np.array_equal(slope, np.full(3, 1.0 - beta, np.float32))
