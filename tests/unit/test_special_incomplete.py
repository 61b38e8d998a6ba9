"""The incomplete gamma functions against mpmath, at their limits against SciPy, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula import special_functions as s
from baracuda.formula.expand import definitions, expand_node
from baracuda.formula.expr import PRIMITIVES, input_, node, topological
from baracuda.formula.oracle_special import SPECIAL
from tests.unit.elementary_function import evaluate
from tests.unit.special_incomplete import EXACT_GAMMA, gamma_samples, relative_errors

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
    found = relative_errors(EXACT_GAMMA[op], evaluate(op, kind, a, x), a, x)
    worst = int(np.argmax(found))
    assert found[worst] <= BOUND[kind], f"{found[worst]} at {a[worst]}, {x[worst]}"


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
    found = baracuda.igamma_double_backward(None, dy, dy, a, x, wrt=["dy", "a", "x"])
    ends = [np.array([baracuda.igamma_backward(dy, *at, wrt=["x"]) for at in ((a + s * h, x), (a, x + s * h))]) for s in (1, -1)]
    np.testing.assert_allclose(found, [dx, *((ends[0] - ends[1]) / (2 * h))], rtol=1e-8, atol=1e-9)
    with pytest.raises(UnsupportedError, match="igamma_by_a has no derivative by a"):
        baracuda.igamma_double_backward(dy, None, dy, a, x)


def test_every_definition_is_primitive():
    for op in s.INCOMPLETE_GAMMA_FUNCTIONS:
        for kind in (F32, F64):
            assert (op, kind) in definitions()
            args = (input_("a", kind), input_("x", kind))
            assert {n.op for n in topological([expand_node(node(op, args, kind), args)])} <= PRIMITIVES
