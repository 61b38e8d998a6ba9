"""The elementary functions against mpmath: errors in ULP, special values bit by bit, symmetry, edges of the range."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf

from baracuda.core.elements import ElementKind
from baracuda.formula import ulp
from baracuda.formula.elementary import REGISTERED
from baracuda.formula.elementary.softened import WITHIN, exp_of_nonpositive, exp_within
from baracuda.formula.expand import definitions, expand, expand_node
from baracuda.formula.expr import PRIMITIVES, input_, node, topological
from baracuda.formula.functions import BINARY_FUNCTIONS, UNARY_FUNCTIONS
from baracuda.formula.graph import Graph, Port
from tests.unit.elementary_function import evaluate, same_bits
from tests.unit.jit import compiled

F32, F64 = ElementKind.F32, ElementKind.F64
KINDS = pytest.mark.parametrize("kind", [F32, F64], ids=str)
FUNCTIONS = (*UNARY_FUNCTIONS, *BINARY_FUNCTIONS)
INF, NAN, HALF_PI = float("inf"), float("nan"), 1.5707963267948966


@KINDS
@pytest.mark.parametrize("op", FUNCTIONS)
def test_error_is_at_most_one_ulp(op, kind):
    """Or 2.5 of erfc, whose f32 formula is short rather than faithful."""
    args = ulp.samples(op, kind, 3000, np.random.default_rng(7))
    errors = ulp.errors(op, kind, evaluate(op, kind, *args), *args)
    worst = int(np.argmax(errors))
    assert errors[worst] <= (2.5 if op == "erfc" and kind is F32 else 1), f"{errors[worst]} ULP at {[a[worst] for a in args]}"
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
    "exp10": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1e5, INF), (-1e5, 0.0), *((n, 10.0**n) for n in range(11))],
    "log10": [(0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), *((10.0**n, float(n)) for n in range(11))],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.0, HALF_PI), (-1.0, -HALF_PI), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)],
    "acos": [(0.0, HALF_PI), (-0.0, HALF_PI), (1.0, 0.0), (-1.0, 2 * HALF_PI), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (1.0, HALF_PI / 2), (-1.0, -HALF_PI / 2), (INF, HALF_PI), (-INF, -HALF_PI)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (1e5, INF), (-1e5, -INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (1e5, INF), (-1e5, INF)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "acosh": [(1.0, 0.0), (INF, INF), (0.5, NAN), (0.0, NAN), (-0.0, NAN), (-2.0, NAN), (-INF, NAN)],
    "atanh": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), *((float(n**3), float(n)) for n in range(-50, 51) if n)],
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
    two = np.full_like(x, 2.0)
    for args in ((x, two), (two, x)) if op in BINARY_FUNCTIONS else ((x,),):
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


EDGES = [0.0, 1e-45, 5e-324, 1e-30, 0.5, 1.0, 3.0, 1e30, 3e38, 1.7e308, INF, NAN]


@KINDS
@pytest.mark.parametrize("op", ["atan2", "hypot"])
def test_special_points_of_the_plane(op, kind):
    """Every pair of edges, of either sign, is within 1 ULP of the value, and exactly C's where C's is special."""
    with np.errstate(over="ignore"):
        values = np.array([*EDGES, *(-e for e in EDGES)]).astype(kind.numpy)
    y, x = (v.ravel() for v in np.meshgrid(values, values))
    got = evaluate(op, kind, y, x)
    with np.errstate(all="ignore"):
        expected = (np.arctan2 if op == "atan2" else np.hypot)(y.astype(np.longdouble), x.astype(np.longdouble)).astype(
            kind.numpy
        )
    special = ~np.isfinite(expected) | (expected == 0) | ~np.isfinite(x) | ~np.isfinite(y) | (x == 0) | (y == 0)
    assert same_bits(got[special], expected[special])
    assert np.array_equal(np.signbit(got[~special]), np.signbit(expected[~special]))
    assert ulp.errors(op, kind, got[~special], y[~special], x[~special]).max() <= 1


@KINDS
@pytest.mark.parametrize("op", ["sin", "tan", "tanh", "erf", "asin", "atan", "sinh", "asinh", "atanh", "cbrt"])
def test_odd_symmetry(op, kind):
    (x,) = ulp.samples(op, kind, 5000, np.random.default_rng(3))
    assert same_bits(evaluate(op, kind, -x), -evaluate(op, kind, x))


@KINDS
def test_even_and_two_sided_symmetry(kind):
    (x,) = ulp.samples("cosh", kind, 5000, np.random.default_rng(3))
    assert same_bits(evaluate("cosh", kind, -x), evaluate("cosh", kind, x))
    x, y = ulp.samples("hypot", kind, 5000, np.random.default_rng(3))
    assert same_bits(evaluate("hypot", kind, y, x), evaluate("hypot", kind, -x, y))
    assert same_bits(evaluate("atan2", kind, -y, x), -evaluate("atan2", kind, y, x))


@KINDS
def test_the_angle_of_a_point_to_the_right_is_the_arctangent(kind):
    (x,) = ulp.samples("atan", kind, 5000, np.random.default_rng(3))
    a, b = evaluate("atan", kind, x), evaluate("atan2", kind, x, np.ones_like(x))
    assert np.abs(a - b).max() <= np.spacing(kind.numpy.type(1))


@KINDS
def test_hyperbolic_functions_at_the_edge_of_overflow(kind):
    """sinh and cosh exceed the largest finite value where e**x / 2 does."""
    bits, above = (24, 128) if kind is F32 else (53, 1024)
    with mp.workprec(200):
        edge = kind.numpy.type(float(mp.log(2 * mp.ldexp(1 - mp.ldexp(mpf(1), -bits - 1), above))))
    x = (edge + np.arange(-6, 7) * np.spacing(edge)).astype(kind.numpy)
    for op in ("sinh", "cosh"):
        y = evaluate(op, kind, x)
        assert ulp.errors(op, kind, y, x).max() <= 1
        assert np.isfinite(y[:4]).all()
        assert np.isinf(y[-4:]).all()


@KINDS
@pytest.mark.parametrize("op", ["asin", "acos", "atan", "acosh", "atanh", "log10", "asinh"])
def test_both_sides_of_the_bounds(op, kind):
    """Around 0, 1/2, 1 and sqrt(1/2), where the formulas go over from one case to the next."""
    spread = 2.0 ** -np.linspace(1, 23 if kind is F32 else 52, 400)
    x = np.concatenate([c + s * spread for c in (0.0, 0.5, 1.0, 2.0**-0.5, 2.0**60) for s in (1.0, -1.0)]).astype(kind.numpy)
    x = x[{"acosh": x >= 1, "atanh": abs(x) < 1, "log10": x > 0}.get(op, abs(x) <= (1 if op in ("asin", "acos") else INF))]
    assert ulp.errors(op, kind, evaluate(op, kind, x), x).max() <= 1


@KINDS
def test_exponentials_at_the_edges_of_the_range(kind):
    """Where the exact value passes the overflow threshold, and where it rounds to the smallest subnormal or to zero."""
    bits, smallest, above = (24, -149, 128) if kind is F32 else (53, -1074, 1024)
    with mp.workprec(200):
        threshold = mp.ldexp(1 - mp.ldexp(mpf(1), -bits - 1), above)
    for op, inverse in (("exp", mp.log), ("exp2", lambda v: mp.log(v) / mp.ln2), ("exp10", mp.log10)):
        for level in (threshold, mp.ldexp(mpf(1), smallest - 1), mp.ldexp(mpf(1), smallest + bits - 1)):
            with mp.workprec(200):
                edge = kind.numpy.type(float(inverse(level)))
            x = edge + np.arange(-6, 7) * np.spacing(edge)
            y = evaluate(op, kind, x.astype(kind.numpy))
            y_rising = y[np.argsort(x)]
            assert np.all(y_rising[1:] >= y_rising[:-1])
            assert ulp.errors(op, kind, y, x.astype(kind.numpy)).max() <= 1
            assert (not np.isfinite(y).all()) == (level is threshold)


def test_the_shorter_exponential_is_the_same_where_it_says_so():
    """For every 101st f32 from -90 to -2**-40, for 0, and for what is never in its range."""
    x = input_("x", F32)
    port = (Port("x", F32),)
    value, place = exp_within(x)
    longer, shorter, where = (
        compiled(expand(Graph(port, ((Port("y", F32), y),)))) for y in (exp_of_nonpositive(x), value, place)
    )
    bits = np.arange(0x2B800000, np.float32(90).view(np.uint32), 101, dtype=np.uint32) | np.uint32(1 << 31)
    points = np.concatenate([bits.view(np.float32), np.float32([0, -0.0, 0.3, -86.0, -1e5, -9e6, -1e30, -INF, NAN, INF])])
    within = where(points).view(np.uint32) ^ np.uint32(WITHIN) < 128
    assert within[points >= -86].sum() >= (points >= -86).sum() - 1  # (all but +inf)
    assert not within[~(points >= -88)].any()
    assert np.array_equal(shorter(points)[within].view(np.uint32), longer(points)[within].view(np.uint32))


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
    for op in ("expm1", "log1p", "sin", "tan", "tanh", "asin", "atan", "sinh", "asinh", "atanh"):
        assert same_bits(evaluate(op, kind, tiny), tiny)
    for op in ("log", "log2", "log10", "rsqrt", "cbrt", "erf"):
        assert ulp.errors(op, kind, evaluate(op, kind, tiny), tiny).max() <= 1


def test_modules_register_what_they_are_imported_for():
    registered = {op for op, _ in definitions() if not op.startswith("complex_")}
    assert registered == {op for ops in REGISTERED.values() for op in ops.split()}
    for module, ops in REGISTERED.items():
        text = Path(import_module(f"baracuda.formula.elementary.{module}").__file__).read_text()
        for op in ops.split():
            assert f'"{op}"' in text or op.startswith(("round_to_", "code_", "stored_"))


def test_every_definition_is_primitive():
    for (op, kind), _ in definitions().items():
        if op not in FUNCTIONS:
            continue
        args = tuple(input_(f"x{i}", kind) for i in range(2 if op in BINARY_FUNCTIONS else 1))
        ops = {n.op for n in topological([expand_node(node(op, args, kind), args)])}
        assert ops <= PRIMITIVES
    assert {(op, kind) for op in FUNCTIONS for kind in (F32, F64)} <= set(definitions())


#: The most operations that the common path of an f32 function may have.
MOST = {
    "exp": 16, "exp2": 15, "log": 26, "log2": 24, "tanh": 38, "sigmoid": 38, "erf": 38, "rsqrt": 20, "exp10": 29, "log10": 31,
    "asin": 44, "acos": 47, "atan": 45, "tan": 42, "atanh": 40, "atan2": 52, "sinh": 36, "cosh": 33, "cbrt": 28, "hypot": 29,
}  # fmt: skip


@pytest.mark.parametrize("op", MOST)
def test_hot_f32_functions_stay_short_and_only_atan2_divides(op):
    args = tuple(input_(f"x{i}", F32) for i in range(2 if op in BINARY_FUNCTIONS else 1))
    seen = set()

    def visit(n):
        if n not in seen:
            seen.add(n)
            for a in (n.args[0], n.args[2]) if n.op == "rare" else n.args:
                visit(a)

    visit(expand_node(node(op, args, F32), args))
    arithmetic = [n.op for n in seen if n.args and n.op != "bitcast"]
    assert not {"sqrt", "lookup"} & set(arithmetic)
    assert arithmetic.count("div") == (op == "atan2")
    assert len(arithmetic) <= MOST[op]
    assert all(n.kind is not F64 for n in seen)
