"""The special functions against mpmath, their special values bit by bit, their gradients, and the formulas over them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import torch
from mpmath import mp, mpf

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import special_functions as s
from baracuda.formula.expand import definitions, expand, expand_node
from baracuda.formula.expr import PRIMITIVES, input_, node, topological
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate as by_oracle
from tests.unit.elementary_function import evaluate, same_bits
from tests.unit.jit import compiled
from tests.unit.special_reference import EXACT, errors, samples

F32, F64 = ElementKind.F32, ElementKind.F64
KINDS = pytest.mark.parametrize("kind", [F32, F64], ids=str)
FUNCTIONS = pytest.mark.parametrize("op", s.SPECIAL_FUNCTIONS)
INF, NAN = float("inf"), float("nan")


def of(formula, kind, *args):
    """A formula of this module's words, compiled and applied."""
    ports = tuple(Port(f"x{i}", kind) for i in range(len(args)))
    graph = Graph(ports, ((Port("y", kind), formula(*(input_(p.name, kind) for p in ports))),))
    return compiled(expand(graph))(*(np.asarray(a, kind.numpy) for a in args))


#: Bounds of the errors of functions that are not faithful in both kinds.
LOOSER = {"logit": 1.25, "softplus": 1.5, "log_ndtr": 1.3}
#: Functions whose f32 formulas are short rather than faithful.
SHORT = ("erfinv", "lgamma", "i0", "i0e", "i1", "i1e")


@KINDS
@FUNCTIONS
def test_error_in_ulp(op, kind):
    """At most 1 or what LOOSER says, 2 where the reflection of digamma cancels, 2.5 of what is short in f32, or 6 of the Bessel
    functions' envelope."""
    x = samples(op, kind, 60, np.random.default_rng(11))
    in_ulps = errors(op, kind, evaluate(op, kind, x), x)
    of_kind = 2.5 if kind is F32 and op in SHORT else LOOSER.get(op, 1)
    bound = 6 if op.startswith("bessel") else np.where(x < 0, 2, 1) if op == "digamma" else of_kind
    worst = int(np.argmax(in_ulps / bound))
    assert np.all(in_ulps <= bound), f"{in_ulps[worst]} ULP at {x[worst]}"
    assert len(x) >= 200


ODD_AT_INFINITY = [(INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0)]
SPECIAL = {
    "erfinv": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)],
    "erfcx": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, INF), (-30.0, INF)],
    "ndtr": [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (-50.0, 0.0), (50.0, 1.0)],
    "log_ndtr": [(INF, 0.0), (-INF, -INF), (100.0, 0.0), (1e30, 0.0)],
    "ndtri": [(0.5, 0.0), (0.0, -INF), (-0.0, -INF), (1.0, INF), (-0.5, NAN), (1.5, NAN), (INF, NAN), (-INF, NAN)],
    "logit": [(0.5, 0.0), (0.0, -INF), (-0.0, -INF), (1.0, INF), (-0.5, NAN), (1.5, NAN), (INF, NAN), (-INF, NAN)],
    "softplus": [(INF, INF), (-INF, 0.0), (1e30, 1e30), (-1e30, 0.0), (100.0, 100.0)],
    "lgamma": [(0.0, INF), (-0.0, INF), (1.0, 0.0), (2.0, 0.0), (-1.0, INF), (-7.0, INF), (INF, INF), (-INF, INF)],
    "gamma": [(0.0, INF), (-0.0, -INF), (1.0, 1.0), (2.0, 1.0), (5.0, 24.0), (-1.0, NAN), (-8.0, NAN), (200.0, INF), (INF, INF),
              (-INF, NAN), (-200.5, -0.0), (-201.5, 0.0)],
    "digamma": [(0.0, -INF), (-0.0, INF), (-1.0, NAN), (-8.0, NAN), (INF, INF), (-INF, NAN)],
    "trigamma": [(0.0, INF), (-0.0, INF), (-1.0, INF), (-8.0, INF), (INF, 0.0), (-INF, NAN)],
    "i0": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (1e4, INF)],
    "i0e": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 0.0)],
    "i1": [*ODD_AT_INFINITY, (1e4, INF), (-1e4, -INF)],
    "i1e": [(0.0, 0.0), (-0.0, -0.0), (INF, 0.0), (-INF, -0.0)],
    "bessel_j0": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 0.0)],
    "bessel_j1": [(0.0, 0.0), (-0.0, -0.0), (INF, 0.0), (-INF, -0.0)],
    "sinc": [(0.0, 1.0), (-0.0, 1.0), (2.0, 0.0), (-2.0, -0.0), (INF, NAN), (-INF, NAN)],
}  # fmt: skip


@KINDS
@FUNCTIONS
def test_special_values(op, kind):
    x, expected = (np.array(v, kind.numpy) for v in zip(*SPECIAL[op], (NAN, NAN), strict=True))
    got = evaluate(op, kind, x)
    assert same_bits(got, expected), list(zip(x, got, expected, strict=True))


@KINDS
@FUNCTIONS
def test_nan_payloads_stay_nan(op, kind):
    unsigned = np.dtype(f"u{kind.itemsize}")
    bits = np.array(INF, kind.numpy).view(unsigned) + np.array([1, 2, 255, 4096], unsigned)
    x = np.concatenate([bits, bits | unsigned.type(1 << (kind.bits - 1))]).view(kind.numpy)
    assert np.isnan(evaluate(op, kind, x)).all()


@KINDS
@pytest.mark.parametrize("op", ["erfinv", "i1", "i1e", "bessel_j1"])
def test_odd_symmetry(op, kind):
    x = samples(op, kind, 500, np.random.default_rng(3))
    assert same_bits(evaluate(op, kind, -x), -evaluate(op, kind, x))


@KINDS
@pytest.mark.parametrize("op", ["i0", "i0e", "sinc", "bessel_j0"])
def test_even_symmetry(op, kind):
    x = samples(op, kind, 500, np.random.default_rng(3))
    assert np.array_equal(evaluate(op, kind, -x), evaluate(op, kind, x))


@KINDS
def test_factorials_are_exact(kind):
    n = np.arange(1.0, 13.0)
    assert np.array_equal(evaluate("gamma", kind, n + 1), np.cumprod(n))


@KINDS
def test_sinc_is_zero_at_integers(kind):
    n = np.concatenate([np.arange(1.0, 50.0), -np.arange(1.0, 50.0), [2.0**20 + 1, 2.0**60]])
    assert not evaluate("sinc", kind, n).any()


@KINDS
@FUNCTIONS
def test_subnormal_arguments(op, kind):
    tiny = np.array([1, 2, 3, 12345, 2**22 + 1], f"u{kind.itemsize}").view(kind.numpy)
    for x in (tiny, -tiny) if op != "ndtri" else (tiny,):
        assert errors(op, kind, evaluate(op, kind, x), x).max() <= 1


@KINDS
def test_lgamma_overflows_where_it_should(kind):
    above = 128 if kind is F32 else 1024
    with mp.workprec(200):
        limit = mp.ldexp(1 - mp.ldexp(mpf(1), -(25 if kind is F32 else 54)), above)
        x = limit / mp.log(limit)
        for _ in range(200):
            x -= (mp.loggamma(x) - limit) / mp.log(x)
        edge = kind.numpy.type(float(x))
    around = (edge + np.arange(-4, 5) * np.spacing(edge)).astype(kind.numpy)
    y = evaluate("lgamma", kind, around)
    assert np.isfinite(y[0])
    assert np.isinf(y[-1])
    assert errors("lgamma", kind, y, around).max() <= 1


def test_every_definition_is_primitive():
    for op in s.SPECIAL_FUNCTIONS:
        for kind in (F32, F64):
            assert (op, kind) in definitions()
            x = input_("x", kind)
            nodes = topological([expand_node(node(op, (x,), kind), (x,))])
            assert {n.op for n in nodes} <= PRIMITIVES
            if kind is F32 and not op.startswith("bessel"):  # whose huge arguments are reduced in f64
                assert all(n.kind is not F64 for n in nodes)


def test_words_refuse_integers():
    with pytest.raises(InvalidProblemError, match="erfinv is defined on f32 and f64"):
        s.erfinv(input_("n", ElementKind.S32))
    with pytest.raises(InvalidProblemError, match="eps"):
        s.logit(input_("x", F32), eps=0.75)


# --- gradients --------------------------------------------------------------------------------------------------------

POINTS = {
    "erfinv": (-0.95, 0.95), "ndtri": (0.02, 0.98), "log_ndtr": (-12.0, 6.0), "lgamma": (0.1, 9.0), "gamma": (0.3, 6.0),
    "digamma": (0.3, 9.0), "logit": (0.02, 0.98),
}  # fmt: skip


@pytest.mark.parametrize("op", [op for op in s.SPECIAL_FUNCTIONS if op != "trigamma"])
def test_gradients_against_mpmath(op):
    x = np.linspace(*POINTS.get(op, (-4.2, 4.3)), 23)
    if op in ("i0", "i0e", "i1", "i1e", "sinc", "bessel_j0", "bessel_j1"):
        x = np.append(x, [1e-3, -1e-3, 0.2, 0.26])
    graph = Graph((Port("x", F64),), ((Port("y", F64), getattr(s, op)(input_("x", F64))),))
    gradient_graph = gradient(graph, ["x"])
    inputs = {p.name: x if p.name == "x" else np.ones_like(x) for p in gradient_graph.inputs}
    with mp.workprec(200):
        h = mpf(2) ** -60
        wanted = np.array([float((EXACT[op](mpf(float(v)) + h) - EXACT[op](mpf(float(v)) - h)) / (2 * h)) for v in x])
    np.testing.assert_allclose(by_oracle(gradient_graph, inputs, (len(x),), (False,))["dx"], wanted, rtol=1e-9, atol=1e-12)
    compute = compiled(expand(gradient_graph))
    np.testing.assert_allclose(compute(*(inputs[p.name] for p in gradient_graph.inputs)), wanted, rtol=1e-11, atol=1e-14)


def test_gradients_at_zero():
    for op, slope in (("i0", 0.0), ("i1", 0.5), ("i1e", 0.5), ("i0e", 0.0), ("sinc", 0.0), ("bessel_j1", 0.5)):
        graph = Graph((Port("x", F32),), ((Port("y", F32), getattr(s, op)(input_("x", F32))),))
        gradient_graph = gradient(graph, ["x"])
        zero, one = np.zeros(3, np.float32), np.ones(3, np.float32)
        assert np.array_equal(
            compiled(expand(gradient_graph))(*(zero if p.name == "x" else one for p in gradient_graph.inputs)), slope * one
        ), op


def test_trigamma_has_no_derivative():
    graph = Graph((Port("x", F64),), ((Port("y", F64), s.trigamma(input_("x", F64))),))
    with pytest.raises(UnsupportedError, match="trigamma"):
        gradient(graph, ["x"])


@FUNCTIONS
def test_oracle_agrees(op):
    x = samples(op, F64, 40, np.random.default_rng(2))
    x = x[abs(x) < 30] if op in ("lgamma", "digamma", "trigamma", "bessel_j0", "bessel_j1") else x
    x = x[abs(x - np.rint(x)) > 1e-3] if op in ("gamma", "digamma", "trigamma", "lgamma") else x
    graph = Graph((Port("x", F64),), ((Port("y", F64), getattr(s, op)(input_("x", F64))),))
    gradient_graph = by_oracle(graph, {"x": x}, x.shape, (False,))["y"]
    np.testing.assert_allclose(gradient_graph, evaluate(op, F64, x), rtol=2e-11, atol=1e-13)


# --- formulas over them -----------------------------------------------------------------------------------------------

X = np.array([0.0, -0.0, 1e-30, 1e-3, 0.2, 0.49, 0.5, 0.51, 0.74, 0.9, 1.0, 1.5, 30.0, -0.5, INF, NAN])


@KINDS
@pytest.mark.parametrize(
    ("formula", "reference"),
    [
        (s.logit, scipy.special.logit),
        (lambda x: s.logit(x, 0.1), lambda x: torch.logit(torch.tensor(x), 0.1).numpy()),
        (s.entr, scipy.special.entr),
        (s.log1mexp, lambda x: np.where(x < 0.5, np.log(-np.expm1(-x)), np.log1p(-np.exp(-x)))),
    ],
    ids=["logit", "logit_eps", "entr", "log1mexp"],
)
def test_formulas_of_one_number(formula, reference, kind):
    x = X.astype(kind.numpy)
    with np.errstate(all="ignore"):
        wanted = reference(x.astype(np.float64))
    rtol = 1e-6 if kind is F32 else 4e-15
    np.testing.assert_allclose(of(formula, kind, x), wanted, rtol=rtol, atol=1e-7 if kind is F32 else 1e-15)


@KINDS
@pytest.mark.parametrize(
    ("formula", "reference"),
    [
        (s.xlogy, scipy.special.xlogy),
        (s.xlog1py, scipy.special.xlog1py),
        (s.rel_entr, scipy.special.rel_entr),
        (s.kl_div_elementwise, scipy.special.kl_div),
    ],
    ids=["xlogy", "xlog1py", "rel_entr", "kl_div_elementwise"],
)
def test_formulas_of_two_numbers(formula, reference, kind):
    finite = X[np.isfinite(X)] if formula in (s.rel_entr, s.kl_div_elementwise) else X
    x, y = (g.ravel().astype(kind.numpy) for g in np.meshgrid(finite, finite))
    with np.errstate(all="ignore"):
        wanted = reference(x.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(
        of(formula, kind, x, y), wanted, rtol=1e-6 if kind is F32 else 4e-15, atol=1e-5 if kind is F32 else 1e-13
    )


def test_entropies_of_nan_and_infinity():
    for formula in (s.rel_entr, s.kl_div_elementwise):
        assert np.isnan(of(formula, F64, [NAN, 1.0, NAN, 0.0], [1.0, NAN, 0.0, NAN])).all()


@KINDS
def test_betaln(kind):
    a, b = (g.ravel().astype(kind.numpy) for g in np.meshgrid([0.1, 0.5, 1.0, 3.25, 20.0], [0.1, 0.7, 1.0, 8.0, 50.0]))
    wanted = scipy.special.betaln(a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(
        of(s.betaln, kind, a, b), wanted, rtol=4e-6 if kind is F32 else 1e-14, atol=1e-5 if kind is F32 else 1e-13
    )


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "entr", "logit"])
def test_gradients_of_the_formulas_against_torch(name):
    arity = 2 if name.startswith("xlog") else 1
    ports = tuple(Port(f"x{i}", F64) for i in range(arity))
    word = getattr(s, name)
    graph = Graph(ports, ((Port("y", F64), word(*(input_(p.name, F64) for p in ports))),))
    gradient_graph = gradient(graph, [p.name for p in ports])
    grid = np.linspace(0.0 if arity == 2 else 0.05, 0.95, 9)
    values = [g.ravel() for g in np.meshgrid(grid, grid + 0.05)][:arity]
    tensors = [torch.tensor(v, requires_grad=True) for v in values]
    getattr(torch.special, name)(*tensors).sum().backward()
    inputs = {p.name: values[int(p.name[1:])] if p.name[0] == "x" else np.ones_like(values[0]) for p in gradient_graph.inputs}
    slopes = by_oracle(gradient_graph, inputs, values[0].shape, (False,))
    for p, t in zip(ports, tensors, strict=True):
        np.testing.assert_allclose(slopes[f"d{p.name}"], t.grad.numpy(), rtol=1e-13, atol=1e-13)
