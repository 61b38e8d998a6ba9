"""Kummer's function against mpmath, at its limits against SciPy, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
from mpmath import mp, mpf

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expand import definitions, expand_node
from baracuda.formula.expr import PRIMITIVES, input_, node, topological
from baracuda.formula.oracle_special import SPECIAL
from tests.unit.elementary_function import evaluate
from tests.unit.special_incomplete import relative_errors

F32, F64 = ElementKind.F32, ElementKind.F64
KINDS = pytest.mark.parametrize("kind", [F32, F64], ids=str)
INF, NAN = np.inf, np.nan
BOUND = {F32: 0.51 * 2.0**-23, F64: 64 * 2.0**-52}


def exact(a: mpf, b: mpf, x: mpf) -> mpf:
    with mp.workprec(300):
        return mp.hyp1f1(a, b, x)


def largest_term(a: float, b: float, x: float) -> float:
    term = largest = 1.0
    for n in range(400):
        term *= (a + n) * x / ((b + n) * (n + 1))
        largest = max(largest, abs(term))
    return largest


@KINDS
def test_terms_of_one_sign(kind):
    rng, n = np.random.default_rng(1), 150
    a, b = rng.uniform(0, 20, 4 * n), 20.0 * rng.uniform(0.005, 1, 4 * n)
    x = np.concatenate([rng.uniform(0, 40, n), rng.uniform(0, 85, n), rng.uniform(0, 600, n), 10.0 ** rng.uniform(-20, 1, n)])
    below = np.arange(4 * n) % 2 == 0
    a, b, x = (v.astype(kind.numpy) for v in (np.where(below, np.minimum(a, b), a), b, np.where(below, -x, x)))
    relative = relative_errors(exact, evaluate("hyp1f1", kind, a, b, x), a, b, x)
    worst = int(np.argmax(relative))
    assert relative[worst] <= BOUND[kind], f"{relative[worst]} at {a[worst]}, {b[worst]}, {x[worst]}"


@KINDS
def test_terms_of_both_signs(kind):
    """To a part of the largest term; in f32, which is computed in f64, of the value itself."""
    rng, n = np.random.default_rng(2), 300
    a, b, x = (rng.uniform(-m, m, n).astype(kind.numpy) for m in (10, 10, 40))
    got = evaluate("hyp1f1", kind, a, b, x)
    for value, *at in zip(got.tolist(), a.tolist(), b.tolist(), x.tolist(), strict=True):
        wanted = exact(*map(mpf, at))
        turned = (at[1] - at[0], at[1], -at[2]) if at[2] < 0 else at
        terms = largest_term(*turned) * np.exp(min(at[2], 0.0))
        assert abs(mpf(value) - wanted) <= BOUND[kind] * abs(wanted) + 512 * 2.0**-52 * terms, at


@KINDS
def test_polynomials(kind):
    """For negative integers a, to within the rounding of the terms."""
    for n in range(6):
        x = np.array([-900.0, -30.0, -2.0, 0.5, 7.0, 100.0, 1000.0])
        wanted = np.array([float(exact(mpf(-n), mpf(2.5), mpf(v))) for v in x])
        np.testing.assert_allclose(evaluate("hyp1f1", kind, [-n] * 7, [2.5] * 7, x), wanted, rtol=1e-10 if kind is F64 else 1e-6)


@KINDS
def test_poles(kind):
    """inf for b = 0, -1, -2, ..., unless the sum ends before."""
    a, b, x = (v.ravel() for v in np.meshgrid([0.5, -1.0, -3.0, -2.5, 2.0], [0.0, -1.0, -3.0], [-30.0, 0.25, 7.0, 60.0]))
    wanted = scipy.special.hyp1f1(a, b, x)
    np.testing.assert_allclose(evaluate("hyp1f1", kind, a, b, x), wanted, rtol=1e-6 if kind is F32 else 1e-12)


@KINDS
def test_limits(kind):
    a, b, x = (
        [1.0, 1.0, 0.0, 2.0, 1.0, NAN, 1.0, 1.0, 1.5, 2.5],
        [0.0, -3.0, 2.0, 3.0, 1.0, 1.0, NAN, 1.0, 1.5, 1.5],
        [1.0, 1, 5, 0, 1, 1, 1, NAN, -2, -800],
    )
    wanted = scipy.special.hyp1f1(a, b, x)
    np.testing.assert_allclose(evaluate("hyp1f1", kind, a, b, x), wanted, rtol=1e-6, atol=1e-45)
    np.testing.assert_array_equal(
        evaluate("hyp1f1", kind, [2.0, 2.0], [3.0, 3.0], [1e4, 1e300 if kind is F64 else 1e30]), [INF, INF]
    )


def test_gradient():
    a, b, x, dy = np.array([0.5, 3.0, -2.5]), np.array([1.5, 2.0, 3.0]), np.array([0.7, -4.0, 12.0]), np.ones(3)
    (dx,) = (baracuda.hyp1f1_backward(dy, a, b, x),)
    np.testing.assert_allclose(dx, a / b * scipy.special.hyp1f1(a + 1, b + 1, x), rtol=1e-12)
    with pytest.raises(UnsupportedError, match="hyp1f1 has no derivative by a"):
        baracuda.hyp1f1_backward(dy, a, b, x, wrt=["a"])


def test_oracle():
    a, b, x = (
        np.array([0.48, 0.1, -0.7, 3.0, 0.5]),
        np.array([4.9, 1.3, 1.8, 2.0, 2.5]),
        np.array([-0.55, -2.2, 3.0, 30.0, 200.0]),
    )
    assert relative_errors(exact, SPECIAL["hyp1f1"](a, b, x), a, b, x).max() < 1e-14


def test_definition_is_primitive():
    for kind in (F32, F64):
        assert ("hyp1f1", kind) in definitions()
        args = tuple(input_(name, kind) for name in "abx")
        assert {n.op for n in topological([expand_node(node("hyp1f1", args, kind), args)])} <= PRIMITIVES
