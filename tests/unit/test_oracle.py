"""The float64 oracle, against arbitrary precision, PyTorch and plain Python."""

from __future__ import annotations

import math

import ml_dtypes
import mpmath
import numpy as np
import pytest
import torch

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import expr as e
from baracuda.formula import functions as f
from baracuda.formula.expr import Axes, Expr, binary, cast, compare, coord, input_, param, reduce, unary
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate
from tests.unit.formulas import CASES, EXTENTS, FULL, INNER, INNER_AXES, NONE, OUTER, SHAPE, autograd

F32, F64, S32, U32, S64, U64, BOOL = (ElementKind[k] for k in ("F32", "F64", "S32", "U32", "S64", "U64", "BOOL"))

EXACT = {
    "exp": mpmath.exp, "exp2": lambda x: mpmath.power(2, x), "expm1": mpmath.expm1, "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2), "log1p": mpmath.log1p, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "tanh": mpmath.tanh, "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "erf": mpmath.erf, "erfc": mpmath.erfc,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x), "sqrt": mpmath.sqrt, "exp10": lambda x: mpmath.power(10, x), "log10": mpmath.log10,
    "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "sinh": mpmath.sinh, "cosh": mpmath.cosh,
    "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh, "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
}  # fmt: skip
POSITIVE = ("log", "log2", "log10", "log1p", "rsqrt", "sqrt")
SHORT = ("exp", "exp2", "exp10", "expm1", "sinh", "cosh")


def flat(expr: Expr, kind: ElementKind = F64, **inputs: np.ndarray) -> np.ndarray:
    """A pointwise formula of flat arrays."""
    ports = tuple(dict.fromkeys(Port(n.attr[0], n.attr[1]) for n in e.topological([expr]) if n.op == "input"))
    length = len(next(iter(inputs.values())))
    return evaluate(Graph(ports, ((Port("y", kind), expr),)), inputs, (length,), (False,))["y"]


def test_every_function_is_covered() -> None:
    assert {*f.UNARY_FUNCTIONS, "sqrt"} == set(EXACT)


@pytest.mark.parametrize("op", EXACT)
def test_functions_against_arbitrary_precision(op: str) -> None:
    x = np.concatenate([np.linspace(-8, 8, 81), [1e-9, -1e-9, 1e-300, 12.0, 25.0, 1e5]])
    x = np.abs(x[x != 0]) if op in POSITIVE else x
    x = x[np.abs(x) < 20] if op in SHORT else x
    x = x[np.abs(x) < 1] if op in ("asin", "acos", "atanh") else np.abs(x[np.abs(x) >= 1]) if op == "acosh" else x
    actual = flat(getattr(f, op)(input_("x", F64)), x=x)
    with mpmath.workprec(400):
        wanted = np.array([float(EXACT[op](mpmath.mpf(float(v)))) for v in x])
    np.testing.assert_allclose(actual, wanted, rtol=2e-14, atol=1e-308)


@pytest.mark.parametrize("name", CASES)
def test_formulas_against_torch(name: str) -> None:
    case = CASES[name]
    values = case.values(name)
    actual = evaluate(case.graph(), values, SHAPE, INNER_AXES)["y"]
    wanted = case.formula(autograd, *(torch.tensor(values[k]) for k in case.named())).expand(EXTENTS[case.result])
    assert actual.dtype == np.float64
    assert actual.shape == EXTENTS[case.result]
    np.testing.assert_allclose(actual, wanted.numpy(), rtol=1e-13, atol=1e-14)


def test_pow_has_the_special_cases_of_ieee() -> None:
    edges = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, math.inf, -math.inf, math.nan]
    a, b = (g.ravel() for g in np.meshgrid(edges, edges))
    actual = flat(f.pow_(input_("a", F64), input_("b", F64)), a=a, b=b)
    np.testing.assert_allclose(actual, torch.pow(torch.tensor(a), torch.tensor(b)).numpy(), rtol=4e-16)


def test_float32_formulas_are_not_rounded_but_their_constants_are() -> None:
    x = np.array([1.0, 3.0], np.float32)
    assert flat(input_("x", F32) / 3.0, F32, x=x).tolist() == [1 / 3, 1.0]
    assert flat(input_("x", F32) * 0.1, F32, x=x)[0] == float(np.float32(0.1))
    graph = Graph((Port("x", F32),), ((Port("y", F32), input_("x", F32) * param("w", F32)),))
    assert evaluate(graph, {"x": x}, (2,), (False,), {"w": 0.1})["y"][0] == float(np.float32(0.1))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_inputs_of_every_float_kind_are_widened(dtype: type) -> None:
    kind = ElementKind.from_numpy(dtype)
    x = np.array([1.5, -0.1, 1e-5], dtype)
    np.testing.assert_array_equal(flat(input_("x", kind) * 2.0, x=x), x.astype(np.float64) * 2)


@pytest.mark.parametrize("kind", [S32, U32, S64, U64])
def test_integers_are_exact_and_wrap(kind: ElementKind) -> None:
    limits = np.iinfo(kind.numpy)
    edges = [0, 1, 2, 3, limits.max, limits.max - 1, limits.min, limits.min + 1, limits.max // 3]
    a, b = (g.ravel() for g in np.meshgrid(np.array(edges, kind.numpy), np.array(edges, kind.numpy)))
    x, y = input_("a", kind), input_("b", kind)
    wrap = lambda v: (v - limits.min) % 2**limits.bits + limits.min  # noqa: E731
    for expr, exact in (
        (x + y, lambda p, q: p + q), (x - y, lambda p, q: p - q), (x * y, lambda p, q: p * q), (-x, lambda p, q: -p),
        (abs(x), lambda p, q: abs(p)), (x & y, lambda p, q: p & q), (x | y, lambda p, q: p | q), (x ^ y, lambda p, q: p ^ q),
        (~x, lambda p, q: ~p), (f.maximum(x, y), max), (f.minimum(x, y), min),
        (x << 3, lambda p, q: p << 3), (x >> 3, lambda p, q: p >> 3),
    ):  # fmt: skip
        actual = flat(expr, kind, a=a, b=b)
        assert actual.dtype == kind.numpy
        assert actual.tolist() == [wrap(exact(p, q)) for p, q in zip(a.tolist(), b.tolist(), strict=True)], expr


def test_narrow_integers_compute_in_s32() -> None:
    x = np.array([250, 255], np.uint8)
    assert flat(input_("x", ElementKind.U8) * 200, ElementKind.U8, x=x).tolist() == [50000, 51000]


@pytest.mark.parametrize("kind", [S32, U32, S64, U64])
def test_floats_become_integers_by_truncation_and_saturation(kind: ElementKind) -> None:
    limits = np.iinfo(kind.numpy)
    x = [
        0.0,
        -0.0,
        0.9,
        -0.9,
        2.5,
        -2.5,
        2.0**31,
        2.0**31 - 1,
        -(2.0**31),
        2.0**32,
        2.0**53 + 2,
        2.0**63,
        -(2.0**63),
        2.0**64,
        1e300,
        -1e300,
    ]
    wanted = [min(max(int(v), limits.min), limits.max) for v in x] + [0, limits.max, limits.min]
    actual = flat(cast(input_("x", F64), kind), kind, x=np.array([*x, math.nan, math.inf, -math.inf]))
    assert actual.tolist() == wanted
    back = flat(cast(input_("x", kind), F64), x=np.array([0, 1, limits.max, limits.min], kind.numpy))
    assert back.tolist() == [float(v) for v in (0, 1, limits.max, limits.min)]


def test_conditions() -> None:
    x, y = input_("x", F64), input_("y", F64)
    a, b = np.array([1.0, 2.0, math.nan, 0.0]), np.array([2.0, 2.0, 1.0, -0.0])
    answers = {
        "eq": [0, 1, 0, 1],
        "ne": [1, 0, 1, 0],
        "lt": [1, 0, 0, 0],
        "le": [1, 1, 0, 1],
        "gt": [0, 0, 0, 0],
        "ge": [0, 1, 0, 1],
    }
    for op, wanted in answers.items():
        actual = flat(compare(op, x, y), BOOL, x=a, y=b)
        assert actual.dtype == np.bool_
        assert actual.tolist() == [bool(w) for w in wanted]
    assert flat(~(x < y) & ((x > 0.0) | (y > 0.0)) ^ (x > 1.5), BOOL, x=a, y=b).tolist() == [False, False, True, False]
    assert flat(cast(x, BOOL), BOOL, x=a).tolist() == [True, True, True, False]


def test_nan_wins_and_unchosen_branches_are_silent() -> None:
    x, y = input_("x", F64), input_("y", F64)
    a, b = np.array([math.nan, 1.0, 0.0]), np.array([1.0, math.nan, 3.0])
    np.testing.assert_array_equal(flat(f.maximum(x, y), x=a, y=b), [math.nan, math.nan, 3.0])
    np.testing.assert_array_equal(flat(f.where(y > 2.0, 1.0, 1.0 / x), x=np.array([1.0, 1.0, 0.0]), y=b), [1.0, 1.0, 1.0])


@pytest.mark.parametrize("over", [INNER, OUTER, FULL])
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("kind", [F64, S32])
def test_reductions(op: str, over: Axes, kind: ElementKind) -> None:
    shape, inner = (3, 4, 2, 5), (False, True, False, True)
    x = np.random.default_rng(1).integers(-3, 4, shape).astype(kind.numpy)
    result = FULL & ~over
    graph = Graph((Port("x", kind),), ((Port("y", kind, result), reduce(op, input_("x", kind), over)),))
    axes = {INNER: (1, 3), OUTER: (0, 2), FULL: (0, 1, 2, 3)}[over]
    actual = evaluate(graph, {"x": x}, shape, inner)["y"]
    assert actual.dtype == kind.numpy
    np.testing.assert_array_equal(
        actual,
        getattr(np, op)(x, axis=axes, keepdims=True, dtype=kind.numpy)
        if op in ("sum", "prod")
        else getattr(np, op)(x, axis=axes, keepdims=True),
    )


def test_sums_are_better_than_float64() -> None:
    x = np.array([[1e16, 1.0, -1e16, 1.0]])
    graph = Graph((Port("x", F64),), ((Port("y", F64, OUTER), f.sum_(input_("x", F64))),))
    if np.finfo(np.longdouble).nmant > 52:
        assert evaluate(graph, {"x": x}, x.shape, INNER_AXES)["y"] == 2.0


@pytest.mark.parametrize(("op", "wanted"), [("sum", 0.0), ("prod", 1.0), ("max", -math.inf), ("min", math.inf)])
def test_reductions_of_nothing(op: str, wanted: float) -> None:
    graph = Graph((Port("x", F64),), ((Port("y", F64, OUTER), reduce(op, input_("x", F64))),))
    assert evaluate(graph, {"x": np.ones((2, 0))}, (2, 0), INNER_AXES)["y"].tolist() == [[wanted], [wanted]]


def test_a_value_counts_once_for_each_point_it_is_broadcast_to() -> None:
    row = input_("r", F64, OUTER)
    graph = Graph(
        (Port("r", F64, OUTER),), ((Port("y", F64, OUTER), f.sum_(row)), (Port("z", F64, NONE), f.sum_rows(f.prod(row))))
    )
    outputs = evaluate(graph, {"r": np.array([[2.0], [3.0]])}, (2, 4), INNER_AXES)
    assert outputs["y"].tolist() == [[8.0], [12.0]]
    assert outputs["z"].tolist() == [[16.0 + 81.0]]


def test_coordinates_and_row_length() -> None:
    graph = Graph(
        (),
        ((Port("i", S32, OUTER), coord(0)), (Port("j", S32, INNER), coord(-1)), (Port("n", F64, NONE), f.row_length(F64))),
        (False, True, True),
    )
    outputs = evaluate(graph, {}, (2, 3, 4), (False, True, True))
    assert outputs["i"].tolist() == [[[0]], [[1]]]
    assert outputs["j"].shape == (1, 3, 4)
    assert (outputs["j"] == np.arange(4)).all()
    assert outputs["n"].tolist() == [[[12.0]]]


def test_refusals() -> None:
    x = input_("x", F64, OUTER)
    graph = Graph((Port("x", F64, OUTER),), ((Port("y", F64), x * param("w", F64)),))
    with pytest.raises(InvalidProblemError, match="input 'x' is missing; got z"):
        evaluate(graph, {"z": np.ones((2, 1))}, (2, 3), INNER_AXES, {"w": 1.0})
    with pytest.raises(InvalidProblemError, match=r"input 'x' has shape \(2, 3\); expected \(2, 1\)"):
        evaluate(graph, {"x": np.ones((2, 3))}, (2, 3), INNER_AXES, {"w": 1.0})
    with pytest.raises(InvalidProblemError, match=r"input 'x' has shape \(2,\)"):
        evaluate(graph, {"x": np.ones(2)}, (2, 3), INNER_AXES, {"w": 1.0})
    with pytest.raises(InvalidProblemError, match="parameter 'w' is missing; got none"):
        evaluate(graph, {"x": np.ones((2, 1))}, (2, 3), INNER_AXES)
    with pytest.raises(InvalidProblemError, match=r"shape \(2, 3\) has rank 2, inner \(True,\) has 1"):
        evaluate(graph, {"x": np.ones((2, 1))}, (2, 3), (True,))
    for expr in (e.bitcast(input_("x", F64), S64), e.lookup(coord(0), (1, 2), F64)):
        with pytest.raises(UnsupportedError, match="has no meaning in float64"):
            flat(expr, x=np.ones(2))


def test_fma_and_rounding_functions() -> None:
    x = np.array([2.5, -2.5, 3.5, -0.2, 1e17])
    a = input_("x", F64)
    for expr, wanted in (
        (f.rint(a), np.round(x)),
        (f.floor(a), np.floor(x)),
        (unary("ceil", a), np.ceil(x)),
        (unary("trunc", a), np.trunc(x)),
    ):
        np.testing.assert_array_equal(flat(expr, x=x), wanted)
    np.testing.assert_allclose(flat(e.fma(a, a, a), x=x), x * x + x, rtol=2e-16)
    np.testing.assert_array_equal(flat(binary("div", a, 0.0), x=x), np.sign(x) * np.inf)
