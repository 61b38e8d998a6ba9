"""The elementary functions against mpmath: errors in ULP, special values bit by bit, symmetry, edges of the range."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

from baracuda.core.elements import ElementKind
from baracuda.formula import ulp
from baracuda.formula.expand import definitions, expand_node
from baracuda.formula.expr import PRIMITIVES, input_, node, topological
from baracuda.formula.functions import UNARY_FUNCTIONS
from tests.unit.jit import function as compile_function

F32, F64 = ElementKind.F32, ElementKind.F64
KINDS = pytest.mark.parametrize("kind", [F32, F64], ids=str)
FUNCTIONS = (*UNARY_FUNCTIONS, "pow")
INF, NAN = float("inf"), float("nan")

function = cache(compile_function)


def evaluate(op, kind, *args):
    return function(op, kind, len(args))(*(np.asarray(a, kind.numpy) for a in args))


def same_bits(a, b):
    """Equal as bits, every NaN being the same."""
    a, b = np.asarray(a), np.asarray(b)
    unsigned = f"u{a.itemsize}"
    return bool(np.all((a.view(unsigned) == b.view(unsigned)) | (np.isnan(a) & np.isnan(b))))


@KINDS
@pytest.mark.parametrize("op", FUNCTIONS)
def test_error_is_at_most_one_ulp(op, kind):
    args = ulp.samples(op, kind, 3000, np.random.default_rng(7))
    errors = ulp.errors(op, kind, evaluate(op, kind, *args), *args)
    worst = int(np.argmax(errors))
    assert errors[worst] <= 1, f"{errors[worst]} ULP at {[a[worst] for a in args]}"
    assert len(errors) > 2000


SPECIAL = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1e5, INF), (-1e5, 0.0)],
    "exp2": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (10.0, 1024.0), (-3.0, 0.125), (1e5, INF), (-1e5, 0.0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (-1e5, -1.0), (1e5, INF)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, NAN), (-INF, NAN)],
    "log2": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (8.0, 3.0), (2.0**-60, -60.0), (INF, INF), (-1.0, NAN), (-INF, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-2.0, NAN), (-INF, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (50.0, 1.0), (-1e30, -1.0)],
    "sigmoid": [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (50.0, 1.0), (1e30, 1.0), (-1e30, 0.0)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (7.0, 1.0), (-1e30, -1.0)],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (1e30, 0.0), (-1e30, 2.0)],
    "rsqrt": [(0.0, INF), (-0.0, -INF), (1.0, 1.0), (4.0, 0.5), (INF, 0.0), (-1.0, NAN), (-INF, NAN)],
}  # fmt: skip


@KINDS
@pytest.mark.parametrize("op", UNARY_FUNCTIONS)
def test_special_values(op, kind):
    x, expected = (np.array(v, kind.numpy) for v in zip(*SPECIAL[op], (NAN, NAN), strict=True))
    got = evaluate(op, kind, x)
    assert same_bits(got, expected), list(zip(x, got, expected, strict=True))


@KINDS
@pytest.mark.parametrize("op", FUNCTIONS)
def test_nan_payloads_stay_nan(op, kind):
    unsigned = np.dtype(f"u{kind.itemsize}")
    bits = np.array(INF, kind.numpy).view(unsigned) + np.array([1, 2, 255, 4096], unsigned)
    x = np.concatenate([bits, bits | unsigned.type(1 << (kind.bits - 1))]).view(kind.numpy)
    args = (x,) if op != "pow" else (x, np.full_like(x, 2.0))
    assert np.isnan(evaluate(op, kind, *args)).all()


@KINDS
def test_pow_special_cases(kind):
    values = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 2.5, -2.5, 1e30, -1e30, INF, -INF, NAN]
    x, y = (v.astype(kind.numpy).ravel() for v in np.meshgrid(values, values))
    got = evaluate("pow", kind, x, y)
    with np.errstate(all="ignore"):
        expected = np.power(x, y)  # C's pow, whose special cases are those of IEEE 754
    special = ~np.isfinite(expected) | (expected == 0) | (abs(expected) == 1)
    assert same_bits(got[special], expected[special])
    assert np.array_equal(np.signbit(got[~special]), np.signbit(expected[~special]))
    assert same_bits(evaluate("pow", kind, [NAN, 1.0, NAN, -1.0], [0.0, NAN, -0.0, INF]), np.ones(4, kind.numpy))


@KINDS
@pytest.mark.parametrize("op", ["sin", "tan", "tanh", "erf"])
def test_odd_symmetry(op, kind):
    (x,) = ulp.samples(op, kind, 5000, np.random.default_rng(3))
    assert same_bits(evaluate(op, kind, -x), -evaluate(op, kind, x))


@KINDS
def test_exponentials_at_the_edges_of_the_range(kind):
    """Where the exact value passes the overflow threshold, and where it rounds to the smallest subnormal or to zero."""
    bits, smallest, above = (24, -149, 128) if kind is F32 else (53, -1074, 1024)
    with mp.workprec(200):
        threshold = mp.ldexp(1 - mp.ldexp(mpf(1), -bits - 1), above)
    for op, inverse in (("exp", mp.log), ("exp2", lambda v: mp.log(v) / mp.ln2)):
        for level in (threshold, mp.ldexp(mpf(1), smallest - 1), mp.ldexp(mpf(1), smallest + bits - 1)):
            with mp.workprec(200):
                edge = kind.numpy.type(float(inverse(level)))
            x = edge + np.arange(-6, 7) * np.spacing(edge)
            y = evaluate(op, kind, x.astype(kind.numpy))
            y_rising = y[np.argsort(x)]
            assert np.all(y_rising[1:] >= y_rising[:-1])
            assert ulp.errors(op, kind, y, x.astype(kind.numpy)).max() <= 1
            assert (not np.isfinite(y).all()) == (level is threshold)


@KINDS
def test_trigonometric_reduction_is_exact(kind):
    """Arguments next to multiples of pi/2, where nearly all bits of the argument cancel."""
    rng = np.random.default_rng(5)
    top = 127 if kind is F32 else 1022
    n = [int(rng.integers(1, 1 << 40)) << int(rng.integers(0, top - 41)) for _ in range(300)]
    n += [322, 1425, *range(1, 200), *(int(i) for i in rng.integers(1, 1 << 20, 300))]
    with mp.workprec(2400):
        x = np.array([float(i * mp.pi / 2) for i in n]).astype(kind.numpy)
    x = np.concatenate([x, kind.numpy.type([6381956970095103.0 * 2.0**60 if kind is F32 else 6381956970095103.0 * 2.0**797])])
    for op in ("sin", "cos", "tan"):
        errors = ulp.errors(op, kind, evaluate(op, kind, x), x)
        assert errors.max() <= 1, (op, x[errors.argmax()])


@KINDS
def test_subnormal_arguments(kind):
    tiny = np.array([1, 2, 3, 12345, 2**22 + 1], f"u{kind.itemsize}").view(kind.numpy)
    for op in ("expm1", "log1p", "sin", "tan", "tanh"):
        assert same_bits(evaluate(op, kind, tiny), tiny)
    for op in ("log", "log2", "rsqrt", "erf"):
        assert ulp.errors(op, kind, evaluate(op, kind, tiny), tiny).max() <= 1


def test_every_definition_is_primitive():
    for (op, kind), _ in definitions().items():
        if op not in FUNCTIONS:
            continue
        args = tuple(input_(f"x{i}", kind) for i in range(2 if op == "pow" else 1))
        ops = {n.op for n in topological([expand_node(node(op, args, kind), args)])}
        assert ops <= PRIMITIVES
    assert {(op, kind) for op in FUNCTIONS for kind in (F32, F64)} <= set(definitions())


@pytest.mark.parametrize("op", ["exp", "exp2", "log", "log2", "tanh", "sigmoid", "erf", "rsqrt"])
def test_hot_f32_functions_have_no_division_and_stay_short(op):
    x = input_("x", F32)
    seen = set()

    def walk(n):
        if n not in seen:
            seen.add(n)
            for a in (n.args[0], n.args[2]) if n.op == "rare" else n.args:
                walk(a)

    walk(expand_node(node(op, (x,), F32), (x,)))
    arithmetic = [n.op for n in seen if n.args and n.op != "bitcast"]
    assert not {"div", "sqrt", "lookup"} & set(arithmetic)
    assert len(arithmetic) <= {"exp": 16, "exp2": 15, "log2": 24, "log": 26, "rsqrt": 20}.get(op, 38)
    assert all(n.kind is not F64 for n in seen)
