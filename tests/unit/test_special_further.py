"""The integrals and Bessel functions of the second kind against mpmath, and their special values bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from baracuda.core.elements import ElementKind
from baracuda.formula import special_functions as s
from baracuda.formula.expand import definitions, expand, expand_node
from baracuda.formula.expr import PRIMITIVES, input_, node, topological
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate as by_oracle
from tests.unit.elementary_function import evaluate, same_bits
from tests.unit.jit import compiled
from tests.unit.special_further import EXACT, errors, samples

F32, F64 = ElementKind.F32, ElementKind.F64
KINDS = pytest.mark.parametrize("kind", [F32, F64], ids=str)
FUNCTIONS = pytest.mark.parametrize("op", s.FURTHER_FUNCTIONS)
INF, NAN = float("inf"), float("nan")


@KINDS
@FUNCTIONS
def test_error_in_ulp(op, kind, full):
    n = 20 if full else 8
    x = samples(op, kind, n, np.random.default_rng(7))
    in_ulps = errors(op, kind, evaluate(op, kind, x), x)
    worst = int(np.argmax(in_ulps))
    assert in_ulps[worst] <= (6 if op == "cosine_integral" else 4), f"{in_ulps[worst]} ULP at {x[worst]}"
    assert len(x) >= 4.75 * n


POSITIVE_ONLY = [(0.0, INF), (-0.0, INF), (INF, 0.0), (-1.0, NAN), (-INF, NAN)]
SPECIAL = {
    "bessel_y0": [(0.0, -INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (-INF, NAN)],
    "bessel_y1": [(0.0, -INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (-INF, NAN)],
    **dict.fromkeys(("bessel_k0", "bessel_k1", "bessel_k0e", "bessel_k1e"), POSITIVE_ONLY),
    "airy_ai": [(INF, 0.0), (1e10, 0.0), (-INF, NAN), (-1e10, NAN)],
    "exp1": POSITIVE_ONLY,
    "expi": [(0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, -0.0), (1e30, INF), (-1e30, -0.0)],
    "dawsn": [(0.0, 0.0), (-0.0, -0.0), (INF, 0.0), (-INF, -0.0)],
    "spence": [(1.0, 0.0), (INF, -INF), (-1.0, NAN), (-INF, NAN)],
    "sine_integral": [(0.0, 0.0), (-0.0, -0.0), (INF, np.pi / 2), (-INF, -np.pi / 2)],
    "cosine_integral": [(0.0, -INF), (-0.0, -INF), (INF, 0.0), (-INF, 0.0)],
    "fresnel_s": [(0.0, 0.0), (-0.0, -0.0), (INF, 0.5), (-INF, -0.5), (1e30, 0.5)],
    "fresnel_c": [(0.0, 0.0), (-0.0, -0.0), (INF, 0.5), (-INF, -0.5), (-1e30, -0.5)],
}


@KINDS
@FUNCTIONS
def test_special_values(op, kind):
    x, expected = (np.array(v, kind.numpy) for v in zip(*SPECIAL[op], (NAN, NAN), strict=True))
    got = evaluate(op, kind, x)
    assert same_bits(got, expected), list(zip(x, got, expected, strict=True))


@KINDS
@FUNCTIONS
def test_subnormal_arguments(op, kind):
    tiny = np.array([1, 2, 3, 12345, 2**22 + 1], f"u{kind.itemsize}").view(kind.numpy)
    signed = (tiny, -tiny) if op in ("airy_ai", "expi", "dawsn", "sine_integral", "fresnel_s", "fresnel_c") else (tiny,)
    for x in signed:
        assert errors(op, kind, evaluate(op, kind, x), x).max() <= 2


@KINDS
@pytest.mark.parametrize("op", ["dawsn", "sine_integral", "fresnel_s", "fresnel_c"])
def test_odd_symmetry(op, kind):
    x = samples(op, kind, 500, np.random.default_rng(3))
    assert same_bits(evaluate(op, kind, -x), -evaluate(op, kind, x))


def test_every_definition_is_primitive():
    for op in (*s.FURTHER_FUNCTIONS, *s.PARTIAL_FUNCTIONS):
        for kind in (F32, F64):
            assert (op, kind) in definitions()
            x = input_("x", kind)
            nodes = topological([expand_node(node(op, (x,), kind), (x,))])
            assert {n.op for n in nodes} <= PRIMITIVES


@KINDS
def test_parts(kind):
    x = np.linspace(-80, 80, 4001).astype(kind.numpy)
    with mp.workprec(200):
        exact = np.array([mp.exp(mpf(float(v))) for v in x])
        got = evaluate("exp_moderate", kind, x)
        assert max(abs(mpf(float(g)) / e - 1) for g, e in zip(got, exact, strict=True)) < 2.0 ** -((kind is F64 and 52) or 23)
        t = np.linspace(1, 34 if kind is F32 else 170, 300).astype(kind.numpy)
        wanted = [mp.gamma(mpf(float(v))) / (2 * mp.pi) ** mpf(float(v)) for v in t]
        got = evaluate("zeta_reflection", kind, t)
        assert max(abs(mpf(float(g)) / e - 1) for g, e in zip(got, wanted, strict=True)) < 2.0 ** -((kind is F64 and 52) or 23)


@pytest.mark.parametrize("op", [op for op in s.FURTHER_FUNCTIONS if op != "airy_ai"])
def test_gradients_against_mpmath(op):
    x = np.linspace(0.07, 9.3, 31)
    graph = Graph((Port("x", F64),), ((Port("y", F64), getattr(s, op)(input_("x", F64))),))
    gradient_graph = gradient(graph, ["x"])
    inputs = {p.name: x if p.name == "x" else np.ones_like(x) for p in gradient_graph.inputs}
    with mp.workprec(200):
        h = mpf(2) ** -60
        wanted = np.array([float(mp.re(EXACT[op](mpf(v) + h) - EXACT[op](mpf(v) - h)) / (2 * h)) for v in x.tolist()])
    np.testing.assert_allclose(by_oracle(gradient_graph, inputs, (len(x),), (False,))["dx"], wanted, rtol=1e-9, atol=1e-12)
    compute = compiled(expand(gradient_graph))
    np.testing.assert_allclose(compute(*(inputs[p.name] for p in gradient_graph.inputs)), wanted, rtol=1e-11, atol=1e-13)
