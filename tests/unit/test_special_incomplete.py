"""The incomplete gamma and beta functions against mpmath, at their limits against SciPy, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
from mpmath import mpf

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula import special_functions as s
from baracuda.formula.expand import definitions, expand_node
from baracuda.formula.expr import PRIMITIVES, input_, node, topological
from baracuda.formula.oracle_special import SPECIAL
from tests.unit.elementary_function import evaluate
from tests.unit.special_incomplete import EXACT_BETA, EXACT_GAMMA, beta_samples, gamma_samples, relative_errors

F32, F64 = ElementKind.F32, ElementKind.F64
KINDS = pytest.mark.parametrize("kind", [F32, F64], ids=str)
INF, NAN = np.inf, np.nan
#: Of the value; f32 is computed in f64 and rounded.
BOUND = {F32: 0.51 * 2.0**-23, F64: 64 * 2.0**-52}


@KINDS
@pytest.mark.parametrize("op", s.INCOMPLETE_GAMMA_FUNCTIONS)
def test_incomplete_gamma_functions(op, kind):
    n = 30 if op == "igamma_by_a" else 150
    a, x = gamma_samples(n, kind, np.random.default_rng(7))
    relative = relative_errors(EXACT_GAMMA[op], evaluate(op, kind, a, x), a, x)
    worst = int(np.argmax(relative))
    assert relative[worst] <= BOUND[kind], f"{relative[worst]} at {a[worst]}, {x[worst]}"


@pytest.mark.parametrize("op", s.INCOMPLETE_GAMMA_FUNCTIONS)
def test_large_orders(op):
    rng = np.random.default_rng(5)
    a = 10.0 ** np.linspace(4, 8, 5)[: 3 if op == "igamma_by_a" else 5]
    x = a + rng.uniform(-8, 8, len(a)) * np.sqrt(a)
    assert relative_errors(EXACT_GAMMA[op], evaluate(op, F64, a, x), a, x).max() <= BOUND[F64]


LIMITS = (0.0, -0.0, 5e-324, 1e-300, 0.5, 1.0, 2.0, 20.0, 1e5, 1e15, 1e100, INF, NAN, -1.0, -0.5, -INF)


@KINDS
def test_limits(kind):
    """As SciPy's, but where it has 0 for P of a tiny a, or 0 or less for Q."""
    with np.errstate(over="ignore"):
        a, x = (v.ravel().astype(kind.numpy) for v in np.meshgrid(LIMITS, LIMITS))
    lower, upper = evaluate("igamma", kind, a, x), evaluate("igammac", kind, a, x)
    ordinary = ~((a > 0) & (a < 1e-290))
    for got, wanted in ((lower, scipy.special.gammainc), (upper, scipy.special.gammaincc)):
        exact = wanted(a.astype(np.float64), x.astype(np.float64))
        np.testing.assert_allclose(got[ordinary], exact[ordinary], rtol=1e-6, atol=float(np.finfo(kind.numpy).tiny))
    assert np.nanmax(lower) == 1.0
    assert np.nanmin(upper) == 0.0
    np.testing.assert_array_equal(np.isnan(lower), np.isnan(upper))


@KINDS
def test_derivatives_at_the_limits(kind):
    a, x = np.array([0.5, 1.0, 2.0, 2.0, INF, 3.0, 0.0, 1.0, -1.0, NAN]), np.array([0, 0, 0, INF, 1, NAN, 0, -1, 1, 1.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(evaluate("igamma_by_x", kind, a, x), [INF, 1, 0, 0, 0, NAN, INF, NAN, NAN, NAN])
        np.testing.assert_array_equal(evaluate("igamma_by_a", kind, a, x), [0, 0, 0, 0, 0, NAN, NAN, NAN, NAN, NAN])
    at_zero = -scipy.special.exp1(np.array([0.01, 0.7, 3.0]))
    np.testing.assert_allclose(evaluate("igamma_by_a", kind, np.zeros(3), [0.01, 0.7, 3.0]), at_zero, rtol=1e-6)


def test_oracle():
    """The oracle's quadrature agrees with mpmath's derivative."""
    a, x = gamma_samples(8, F64, np.random.default_rng(3))
    a, x = a[a < 100], x[a < 100]
    assert relative_errors(EXACT_GAMMA["igamma_by_a"], SPECIAL["igamma_by_a"](a, x), a, x).max() < 1e-12


def test_gradients():
    a, x, dy = np.array([0.5, 3.0, 40.0]), np.array([0.7, 2.0, 45.0]), np.ones(3)
    h = 1e-5 * a
    da, dx = baracuda.igamma_backward(dy, a, x)
    np.testing.assert_allclose(da, (baracuda.igamma(a + h, x) - baracuda.igamma(a - h, x)) / (2 * h), rtol=1e-8)
    np.testing.assert_allclose(dx, (baracuda.igamma(a, x + h) - baracuda.igamma(a, x - h)) / (2 * h), rtol=1e-8)
    np.testing.assert_array_equal(baracuda.igammac_backward(dy, a, x, wrt=["a"]), -da)
    gradients = baracuda.igamma_double_backward(None, dy, dy, a, x, wrt=["dy", "a", "x"])
    ends = [np.array([baracuda.igamma_backward(dy, *at, wrt=["x"]) for at in ((a + s * h, x), (a, x + s * h))]) for s in (1, -1)]
    np.testing.assert_allclose(gradients, [dx, *((ends[0] - ends[1]) / (2 * h))], rtol=1e-8, atol=1e-9)
    with pytest.raises(UnsupportedError, match="igamma_by_a has no derivative by a"):
        baracuda.igamma_double_backward(dy, None, dy, a, x)


@KINDS
@pytest.mark.parametrize("op", s.INCOMPLETE_BETA_FUNCTIONS)
def test_incomplete_beta_functions(op, kind, full):
    n = {"betainc": 25, "betainc_by_x": 150}.get(op, 8) // (1 if full else 2)
    at = beta_samples(n, kind, np.random.default_rng(7))
    relative = relative_errors(EXACT_BETA[op], evaluate(op, kind, *at), *at)
    worst = int(np.argmax(relative))
    assert relative[worst] <= 2 * BOUND[kind] if kind is F64 else BOUND[kind], f"{relative[worst]} at {[v[worst] for v in at]}"


def test_small_parameters_of_beta():
    """To some ULP of 1 beyond the seam, and of the value before it."""
    rng = np.random.default_rng(9)
    a, b, x = 10.0 ** rng.uniform(-9, 0.5, 60), 10.0 ** rng.uniform(-9, 0.5, 60), rng.uniform(0.01, 0.99, 60)
    got, exact = (
        evaluate("betainc", F64, a, b, x),
        np.array([float(EXACT_BETA["betainc"](*map(mpf, at))) for at in zip(a, b, x, strict=True)]),
    )
    assert np.all(abs(got - exact) <= 2.0**-52 * np.where(x > (a + 2) / (a + b + 4), 8.0, 64 * exact))


def test_large_parameters_of_beta():
    rng = np.random.default_rng(5)
    a, b = 10.0 ** rng.uniform(4, 5.5, 6), 10.0 ** rng.uniform(1, 5.5, 6)
    x = a / (a + b) + rng.uniform(-6, 6, 6) * np.sqrt(a * b / (a + b) ** 3)
    inside = (x > 0) & (x < 1)
    at = a[inside], b[inside], x[inside]
    assert relative_errors(EXACT_BETA["betainc"], evaluate("betainc", F64, *at), *at).max() <= 2 * BOUND[F64]
    # P and Q are the limits for large a or b
    z = np.array([0.5, 3.0, 9.0])
    np.testing.assert_allclose(
        evaluate("betainc", F64, [2.5] * 3, [1e12] * 3, z / 1e12), scipy.special.gammainc(2.5, z), rtol=1e-10
    )


@KINDS
def test_limits_of_beta(kind):
    """As SciPy's, whose a tiny and whose a huge parameter are not always right."""
    parameters, points = (
        (0.0, -0.0, 1e-30, 0.5, 1.0, 2.5, 100.0, 1e5, INF, NAN, -1.0),
        (0.0, -0.0, 1e-30, 0.25, 0.5, 1.0, 1.5, -0.5, NAN),
    )
    a, b, x = (v.ravel().astype(kind.numpy) for v in np.meshgrid(parameters, parameters, points))
    got = evaluate("betainc", kind, a, b, x)
    exact = scipy.special.betainc(a.astype(np.float64), b.astype(np.float64), x.astype(np.float64))
    np.testing.assert_allclose(got, exact, rtol=1e-6, atol=1e-15)


def test_gradients_of_beta():
    a, b, x, dy = np.array([0.5, 3.0, 400.0]), np.array([1.5, 2.0, 300.0]), np.array([0.7, 0.2, 0.57]), np.ones(3)
    at = (a, b, x)
    gradients = baracuda.betainc_backward(dy, *at)
    for i, got in enumerate(gradients):
        h = 1e-5 * at[i]
        ends = [baracuda.betainc(*(v + sign * h if j == i else v for j, v in enumerate(at))) for sign in (1, -1)]
        np.testing.assert_allclose(got, (ends[0] - ends[1]) / (2 * h), rtol=1e-7)
    second = baracuda.betainc_double_backward(None, None, dy, dy, *at, wrt=["a", "b", "x"])
    for i, got in enumerate(second):
        h = 1e-6 * at[i]
        ends = [
            baracuda.betainc_backward(dy, *(v + sign * h if j == i else v for j, v in enumerate(at)), wrt=["x"])
            for sign in (1, -1)
        ]
        np.testing.assert_allclose(got, (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-8)
    with pytest.raises(UnsupportedError, match="betainc_by_b has no derivative by a"):
        baracuda.betainc_double_backward(None, dy, None, dy, *at)


def test_oracle_of_beta():
    at = beta_samples(3, F64, np.random.default_rng(3))
    at = tuple(v[(at[0] < 100) & (at[1] < 100)] for v in at)
    for op in ("betainc_by_a", "betainc_by_b"):
        assert relative_errors(EXACT_BETA[op], SPECIAL[op](*at), *at).max() < 1e-11


def test_every_definition_is_primitive():
    for op in (*s.INCOMPLETE_GAMMA_FUNCTIONS, *s.INCOMPLETE_BETA_FUNCTIONS):
        for kind in (F32, F64):
            assert (op, kind) in definitions()
            args = tuple(input_(name, kind) for name in ("abx" if op in s.INCOMPLETE_BETA_FUNCTIONS else "ax"))
            assert {n.op for n in topological([expand_node(node(op, args, kind), args)])} <= PRIMITIVES
