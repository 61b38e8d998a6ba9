"""The reference interpreter, against exact rational arithmetic and element-by-element loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import canonical as reference
from baracuda.formula import expr as e
from baracuda.formula import functions as f
from baracuda.formula import order
from baracuda.formula.exact_fma import fma32, fma64
from baracuda.formula.expr import Axes, Expr, bitcast, cast, compare, coord, input_, lookup, param, reduce, select, unary
from baracuda.formula.graph import Graph, Port

F16, BF16, F32, F64, S32, U32, S64, U64, BOOL = (
    ElementKind[k] for k in ("F16", "BF16", "F32", "F64", "S32", "U32", "S64", "U64", "BOOL")
)
#: Significand bits, and the exponent of the smallest subnormal.
FORMATS = {
    np.dtype(np.float16): (11, -24),
    np.dtype(ml_dtypes.bfloat16): (8, -133),
    np.dtype(np.float32): (24, -149),
    np.dtype(np.float64): (53, -1074),
}


def rounded(exact: Fraction, dtype: np.dtype) -> float:
    """The nearest value of a format, halves to even, from the definition."""
    bits, least = FORMATS[dtype]
    if exact == 0:
        return 0.0
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    quantum = Fraction(2) ** max(exponent - bits + 1, least)
    nearest = round(magnitude / quantum) * quantum  # Python rounds a fraction's half to even
    largest = (2 - Fraction(2) ** (1 - bits)) * Fraction(2) ** (2 - least - bits)
    result = math.inf if nearest > largest else float(nearest)
    return result if exact > 0 else -result


def edges(dtype: np.dtype) -> list[float]:
    """Values near which rounding goes wrong, of both signs."""
    info = ml_dtypes.finfo(dtype)
    one, tiny, normal, eps = 1.0, float(info.smallest_subnormal), float(info.smallest_normal), float(info.eps)
    positive = [0.0, tiny, 3 * tiny, normal, normal - tiny, normal * (1 + eps), one, one + eps, one - eps / 2, 1 + 2 * eps, 3.0]
    positive += [math.sqrt(normal), float(info.max), float(info.max) / 2, 1 / 3, 0.1, 1 / eps, 1 / eps + 1]
    values = np.array(positive).astype(dtype).astype(np.float64).tolist()
    return [*values, *(-v for v in values)]


# --- fused multiply-add -----------------------------------------------------------------------------------------------


def check_fma(actual: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    for x, y, z, r in zip(a.tolist(), b.tolist(), c.tolist(), actual.tolist(), strict=True):
        if all(map(math.isfinite, (x, y, z))):
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            wanted = rounded(exact, actual.dtype)
            if exact == 0:
                negative = math.copysign(1, x) * math.copysign(1, y) < 0 and math.copysign(1, z) < 0
                wanted = -0.0 if negative and (x == 0 or y == 0) and z == 0 else 0.0
        else:
            wanted = x * y + z if not (math.isinf(z) and math.isfinite(x) and math.isfinite(y)) else z
        assert np.array(r).tobytes() == np.array(wanted).tobytes() or (r != r and wanted != wanted), (x, y, z, r, wanted)


@pytest.mark.parametrize(("fma", "dtype"), [(fma32, np.float32), (fma64, np.float64)])
def test_fma_on_edges(fma: Callable[..., np.ndarray], dtype: type) -> None:
    some = np.array([*edges(np.dtype(dtype))[::2], math.inf, math.nan], dtype)
    a, b, c = (g.ravel() for g in np.meshgrid(some, some, some))
    check_fma(fma(a, b, c), a, b, c)


@pytest.mark.parametrize(
    ("fma", "dtype", "spread"), [(fma32, np.float32, 40), (fma64, np.float64, 300), (fma64, np.float64, 1000)]
)
def test_fma_at_random(fma: Callable[..., np.ndarray], dtype: type, spread: int) -> None:
    rng = np.random.default_rng(spread)
    a, b = (np.ldexp(rng.uniform(-1, 1, 3000), rng.integers(-spread, spread, 3000)).astype(dtype) for _ in "ab")
    with np.errstate(all="ignore"):
        near = a.astype(np.float64) * b.astype(np.float64)
        scale = np.ldexp(1.0, rng.integers(-60, 60, 3000))
        c = np.where(np.arange(3000) % 2, -near, near * scale).astype(dtype)  # half of them cancel to the low half of the product
    check_fma(fma(a, b, c), a, b, c)


def test_fma32_where_rounding_twice_goes_wrong() -> None:
    # The exact sum lies just above halfway between two floats; rounded to float64 first, it would be a tie.
    a, b, c = np.float32(1 + 2**-12), np.float32(1 + 2**-12), np.float32(2**-60)
    halfway = Fraction(float(a)) * Fraction(float(b))
    assert rounded(halfway, np.dtype(np.float32)) != rounded(halfway + Fraction(float(c)), np.dtype(np.float32))
    result = fma32(np.array([a]), np.array([b]), np.array([c]))[0]
    assert float(result) == rounded(halfway + Fraction(float(c)), np.dtype(np.float32))
    assert np.float32(float(a) * float(b) + float(c)) != result


# --- reductions -------------------------------------------------------------------------------------------------------


def by_the_book(op: str, row: list[np.generic]) -> np.generic:
    """The canonical order, one element at a time."""
    combine = {"sum": lambda p, q: p + q, "prod": lambda p, q: p * q}[op]

    def pairs(parts: list[np.generic]) -> np.generic:
        while len(parts) > 1:
            parts = [combine(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
        return parts[0]

    results = []
    for start in range(0, len(row), order.SEGMENT):
        lanes: dict[int, np.generic] = {}
        for j, x in enumerate(row[start : start + order.SEGMENT]):
            lane = j % order.LANES
            lanes[lane] = combine(lanes[lane], x) if lane in lanes else x
        identity = row[0].dtype.type(order.identity(op, ElementKind.from_numpy(row[0].dtype)))
        results.append(pairs([lanes.get(i, identity) for i in range(order.LANES)]))
    return pairs(results)


LENGTHS = [1, 2, 3, 127, 128, 129, 1000, 1024, 1025, 1500, 2048, 3072, 3073, 5125, 7 * 1024]


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_a_sum(n: int, dtype: type) -> None:
    rng = np.random.default_rng(n)
    x = (rng.normal(size=n) * np.exp(rng.normal(size=n) * 4)).astype(dtype)
    assert reference.row_reduced("sum", x).tobytes() == by_the_book("sum", list(x)).tobytes()
    near_one = (1 + rng.normal(size=n) * 1e-3).astype(dtype)
    assert reference.row_reduced("prod", near_one).tobytes() == by_the_book("prod", list(near_one)).tobytes()


def test_the_order_matters_where_it_is_tested() -> None:
    x = np.random.default_rng(0).normal(size=5125).astype(np.float32)
    assert reference.row_reduced("sum", x) != np.sum(x)
    assert reference.row_reduced("sum", x) != np.cumsum(x)[-1]


def test_the_constants_are_those_of_the_contract() -> None:
    assert (reference.SEGMENT, reference.LANES) == (order.SEGMENT, order.LANES)


@pytest.mark.parametrize("n", [1, 5, 128, 1024, 2000])
def test_a_sum_of_negative_zeros_is_negative_zero(n: int) -> None:
    assert np.signbit(reference.row_reduced("sum", np.full(n, -0.0, np.float32)))
    assert not np.signbit(reference.row_reduced("sum", np.array([-0.0] * (n - 1) + [0.0], np.float32)))


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_nothing_reduces_to_the_empty_result(op: str) -> None:
    expected = np.full(2, order.empty(op, ElementKind.F32), np.float32)
    assert reference.row_reduced(op, np.empty((2, 0), np.float32)).tobytes() == expected.tobytes()
    assert reference.row_reduced(op, np.empty(0, np.int32)) == {"sum": 0, "prod": 1, "max": -(2**31), "min": 2**31 - 1}[op]


def test_extrema_order_zeros_and_pass_nan_on() -> None:
    for n in (2, 300):
        zeros = np.full(n, -0.0, np.float32)
        zeros[n // 2] = 0.0
        assert not np.signbit(reference.row_reduced("max", zeros))
        assert np.signbit(reference.row_reduced("min", zeros))
        zeros[-1] = np.nan
        assert np.isnan(reference.row_reduced("max", zeros))
        assert np.isnan(reference.row_reduced("min", zeros))


@pytest.mark.parametrize("over", [Axes.INNER, Axes.OUTER, Axes.FULL])
def test_reduced_axes_number_their_elements_logically(over: Axes) -> None:
    shape, inner = (7, 11, 13, 5), (False, True, False, True)
    x = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    graph = Graph((Port("x", F32),), ((Port("y", F32, Axes.FULL & ~over), reduce("sum", input_("x", F32), over)),))
    result = reference.run(graph, {"x": x}, shape, inner)["y"]
    axes = {Axes.INNER: (1, 3), Axes.OUTER: (0, 2), Axes.FULL: (0, 1, 2, 3)}[over]
    assert result.shape == tuple(1 if a in axes else n for a, n in enumerate(shape))
    for index in itertools.product(*(range(n) for n in result.shape)):
        row = x[tuple(slice(None) if a in axes else index[a] for a in range(4))].ravel()
        assert result[index] == by_the_book("sum", list(row))


# --- primitives -------------------------------------------------------------------------------------------------------


def run(expr: Expr, store: ElementKind, params: dict[str, float] | None = None, **inputs: np.ndarray) -> np.ndarray:
    ports = tuple(dict.fromkeys(Port(n.attr[0], n.attr[1]) for n in e.topological([expr]) if n.op == "input"))
    length = len(next(iter(inputs.values())))
    return reference.run(Graph(ports, ((Port("y", store), expr),)), inputs, (length,), (False,), params)["y"]


OPERATIONS = {
    "add": lambda p, q: p + q, "sub": lambda p, q: p - q, "mul": lambda p, q: p * q, "div": lambda p, q: p / q,
}  # fmt: skip


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("kind", [F32, F64])
def test_float_arithmetic_rounds_correctly(op: str, kind: ElementKind) -> None:
    some = np.array([v for v in edges(kind.numpy) if v], kind.numpy)
    a, b = (g.ravel() for g in np.meshgrid(some, some))
    result = run(e.binary(op, input_("a", kind), input_("b", kind)), kind, a=a, b=b)
    for x, y, r in zip(a.tolist(), b.tolist(), result.tolist(), strict=True):
        assert r == rounded(OPERATIONS[op](Fraction(x), Fraction(y)), kind.numpy), (x, y)


@pytest.mark.parametrize(("store", "kind"), [(F16, F32), (BF16, F32), (F32, F64)])
def test_stores_and_casts_round_once(store: ElementKind, kind: ElementKind) -> None:
    dtype = store.numpy
    values = np.array(edges(dtype))
    between = [v * (1 + d) for v in values for d in (0, 2**-9, 2**-12, 2**-11, -(2**-12), 2**-20, 2**-25 + 2**-30)]
    between += [float(np.finfo(np.float16).max) + 15.9, 65520.0, 65519.996, 2.0**-25, 2.0**-25 * 1.0001, 2.0**-134, 2.0**-150]
    x = np.unique(np.array(between).astype(kind.numpy))
    stored = cast(input_("x", kind), F32)
    y = run(stored, store, x=x)
    assert y.dtype == dtype
    for v, r in zip(x.astype(np.float64).tolist(), y.astype(np.float64).tolist(), strict=True):
        assert r == rounded(Fraction(v), dtype) if math.isfinite(v) else r == v, v
    assert np.isnan(run(stored, store, x=np.array([np.nan], kind.numpy)).astype(float))


def test_integer_stores_wrap() -> None:
    x = np.array([0, 127, 128, 255, 256, -1, -129, 2**31 - 1], np.int32)
    assert run(input_("x", S32), ElementKind.S8, x=x).tolist() == [0, 127, -128, -1, 0, -1, 127, -1]
    assert run(input_("x", S32), ElementKind.U16, x=x).tolist() == [0, 127, 128, 255, 256, 65535, 65407, 65535]


@pytest.mark.parametrize("kind", [S32, U32, S64, U64])
@pytest.mark.parametrize("source", [F32, F64])
def test_casts_between_floats_and_integers(kind: ElementKind, source: ElementKind) -> None:
    limits = np.iinfo(kind.numpy)
    powers = [s * 2.0**p for p in (0, 1, 23, 24, 30, 31, 32, 52, 53, 62, 63, 64, 65, 120) for s in (1, -1)]
    x = np.array([0.0, -0.0, 0.99, -0.99, 1e30, *powers]).astype(source.numpy)
    x = np.concatenate([x, np.nextafter(x, source.numpy.type(0)), np.nextafter(x, source.numpy.type(np.inf))])
    result = run(cast(input_("x", source), kind), kind, x=x)
    assert result.tolist() == [min(max(int(v), limits.min), limits.max) for v in x.tolist()]
    special = np.array([np.nan, np.inf, -np.inf], source.numpy)
    assert run(cast(input_("x", source), kind), kind, x=special).tolist() == [0, limits.max, limits.min]
    n = [limits.min, limits.max, limits.max - 64, 2**24 + 1, 2**24 + 3, limits.max // 2 + 1]
    back = run(cast(input_("x", kind), source), source, x=np.array(n, kind.numpy))
    assert back.tolist() == [rounded(Fraction(v), source.numpy) for v in n]


def test_conditions_bits_tables_and_the_rest() -> None:
    x = np.array([1.5, -0.0, math.nan, math.inf], np.float32)
    a = input_("x", F32)
    assert run(bitcast(a, U32), U32, x=x).tolist() == x.view(np.uint32).tolist()
    assert run(unary("neg", a), F32, x=x).view(np.uint32).tolist() == (x.view(np.uint32) ^ 0x80000000).tolist()
    assert run(compare("ne", a, a), BOOL, x=x).tolist() == [False, False, True, False]
    assert run(cast(a, BOOL), BOOL, x=x).tolist() == [True, False, True, True]
    assert run(select(a > 0.0, a, 7.0), F32, x=x).tolist() == [1.5, 7.0, 7.0, math.inf]
    assert run(e.rare(a > 0.0, a, 7.0), F32, x=x).tolist() == [1.5, 7.0, 7.0, math.inf]
    assert run(cast(a > 1.0, F32) + a * 0.0, F32, x=x)[0] == 1.0
    table = tuple(np.array([1.25, -2.5, 0.0, 9.0], np.float32).view(np.uint32).tolist())
    assert run(lookup(coord(0), table, F32) + 0.0 * a, F32, x=np.zeros(4, np.float32)).tolist() == [1.25, -2.5, 0.0, 9.0]
    assert run(a * param("w", F32), F32, {"w": 0.1}, x=np.ones(1, np.float32))[0] == np.float32(0.1)
    assert run(a + f.row_length(F32), F32, x=np.ones(1, np.float32))[0] == 2.0  # a row of one element: no axis is inner
    for op, expected in (("rint", [2, -2, 4]), ("floor", [2, -3, 3]), ("ceil", [3, -2, 4]), ("trunc", [2, -2, 3])):
        assert run(unary(op, a), F32, x=np.array([2.5, -2.5, 3.5], np.float32)).tolist() == expected


@pytest.mark.parametrize("kind", [S32, U32, S64, U64])
def test_integers_wrap(kind: ElementKind) -> None:
    limits = np.iinfo(kind.numpy)
    x = np.array([limits.max, limits.min, 3], kind.numpy)
    a = input_("x", kind)
    for expr, exact in (
        (a + 1, lambda v: v + 1), (a - 7, lambda v: v - 7), (a * a, lambda v: v * v), (-a, lambda v: -v), (abs(a), abs),
        (a >> 2, lambda v: v >> 2), (a << 2, lambda v: v << 2), (~a, lambda v: ~v),
    ):  # fmt: skip
        wanted = [(exact(v) - limits.min) % 2**limits.bits + limits.min for v in x.tolist()]
        assert run(expr, kind, x=x).tolist() == wanted, expr


def test_only_primitives_are_read() -> None:
    with pytest.raises(InvalidProblemError, match="exp is not a primitive"):
        run(f.exp(input_("x", F32)), F32, x=np.ones(1, np.float32))
