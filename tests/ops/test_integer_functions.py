"""Division, remainders, divisors, shifts and bits, against NumPy and Python's own integers."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd as python_gcd

import numpy as np
import pytest

from baracuda.cli.verify import values as data
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Expr, binary, const, input_
from baracuda.formula.graph import Graph, Port
from baracuda.formula.integer_functions import (
    clz,
    floor_divide,
    fmod,
    gcd,
    lcm,
    multiply_high,
    popcount,
    remainder,
    shift_left,
    shift_right,
    shift_right_logical,
    truncate_divide,
)
from baracuda.formula.oracle import evaluate
from baracuda.formula.simplify import simplify
from baracuda.lowering.nest.cuda.lower import Target
from tests.lowering.graphs import cuda_sources, pointwise, run
from tests.lowering.test_dtypes import assert_same
from tests.machine import Machine

WIDE = (K.S32, K.U32, K.S64, K.U64)
STORED = (*WIDE, K.S8, K.U8, K.S16, K.U16)
COUNT = 6000


def label(value: object) -> str:
    return value.__name__ if callable(value) else str(value)


def operands(kind: K) -> tuple[np.ndarray, np.ndarray]:
    """Dividends and divisors of all sizes, with every pair of the values that need care among them."""
    info, dtype = np.iinfo(kind.numpy), kind.numpy
    words = data.raw(f"operands{kind}", 3 * COUNT).reshape(3, COUNT)
    x, y = (w.astype(f"u{kind.itemsize}").view(dtype) for w in words[:2])
    shift = (words[2] % np.uint64(kind.bits)).astype(dtype)
    y = np.where(words[2] >> np.uint64(60) < 4, x - x % np.where(y == 0, 1, y), y) >> shift
    edges = {0, 1, 2, 3, 7, 10, info.max, info.max - 1, info.max // 2, info.min, info.min + 1, -1, -2, -7}
    special = np.array(sorted(v for v in edges if info.min <= v <= info.max), dtype)
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    return np.concatenate([pairs[0], x]), np.concatenate([pairs[1], y.astype(dtype)])


def truncated(x: int, y: int) -> tuple[int, int]:
    """Quotient and remainder; 0 and 0 for a division by 0."""
    if y == 0:
        return 0, 0
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient, x - quotient * y


def spelled(of: Callable[[int, int], int], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A function of Python integers, its results wrapped."""
    bits = 8 * x.itemsize
    wrapped = [of(a, b) % (1 << bits) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return np.array(wrapped, f"u{x.itemsize}").view(x.dtype)


def floored(x: int, y: int) -> int:
    return x // y if y else 0


#: Words of two integers with what they mean.
WORDS: tuple[tuple[Callable[..., Expr], Callable[[int, int], int]], ...] = (
    (truncate_divide, lambda x, y: truncated(x, y)[0]),
    (fmod, lambda x, y: truncated(x, y)[1]),
    (floor_divide, floored),
    (remainder, lambda x, y: x - floored(x, y) * y if y else 0),
    (gcd, python_gcd),
)


@pytest.mark.parametrize("kind", STORED, ids=label)
@pytest.mark.parametrize(("word", "meaning"), WORDS, ids=label)
def test_division(kind: K, word: Callable[..., Expr], meaning: Callable[[int, int], int], machine: Machine) -> None:
    """On vectors, on their remainders and on single elements (broadcast operands), by variables and by constants."""
    x, y = operands(kind)
    expected = spelled(meaning, x, y)
    assert_same(run(machine, pointwise(word, [kind] * 2, [kind], 1), {"x0": x, "x1": y})["y0"], expected)
    for pick in (3, 17, 40, 41, 55):
        values = {"x0": x, "x1": y[pick : pick + 1]}
        got = run(machine, pointwise(word, [kind] * 2, [kind], 1), values, ["contiguous", "broadcast"])
        assert_same(got["y0"], spelled(meaning, x, np.full_like(x, y[pick])))
    constants = [v for v in (0, 1, 2, 7, 10, 641, -1, -5) if np.iinfo(kind.numpy).min <= v <= np.iinfo(kind.numpy).max]
    formula_plan = pointwise(lambda x: tuple(word(x, v) for v in constants), [kind], [kind] * len(constants), 1)
    for got_, v in zip(run(machine, formula_plan, {"x0": x}).values(), constants, strict=True):
        assert_same(got_, spelled(meaning, x, np.full_like(x, v)))


@pytest.mark.parametrize("kind", WIDE, ids=label)
def test_multiples_and_upper_halves(kind: K, machine: Machine) -> None:
    x, y = operands(kind)
    got = run(machine, pointwise(lambda x, y: (multiply_high(x, y), lcm(x, y)), [kind] * 2, [kind] * 2, 1), {"x0": x, "x1": y})
    assert_same(got["y0"], spelled(lambda a, b: a * b >> kind.bits, x, y))
    multiple = spelled(lambda a, b: a // python_gcd(a, b) * b if a and b else 0, x, y)
    assert_same(got["y1"], np.abs(multiple))


@pytest.mark.parametrize("kind", STORED, ids=label)
def test_bits(kind: K, machine: Machine) -> None:
    """Counted among the bits that a kind is stored in."""
    x, _ = operands(kind)
    unsigned = x.view(f"u{kind.itemsize}")
    formula_plan = pointwise(lambda x: (popcount(x, kind), clz(x, kind)), [kind], [kind] * 2, 1)
    got = run(machine, formula_plan, {"x0": x})
    assert_same(got["y0"], np.array([v.bit_count() for v in unsigned.tolist()], kind.numpy))
    assert_same(got["y1"], np.array([kind.bits - v.bit_length() for v in unsigned.tolist()], kind.numpy))


@pytest.mark.parametrize("kind", STORED, ids=label)
def test_shifts(kind: K, machine: Machine) -> None:
    """By every count in range, by more, and by less than 0, as NumPy defines it."""
    x, _ = operands(kind)
    low = -3 if kind.category.value == "signed" else 0
    count = data.integers(f"count{kind}", x.shape, low, min(kind.bits + 5, 2 ** (kind.bits - 1) - 1)).astype(kind.numpy)
    count[::7] = np.iinfo(kind.numpy).max
    formula_plan = pointwise(
        lambda x, n: (shift_left(x, n), shift_right(x, n), shift_right_logical(x, n, kind)), [kind] * 2, [kind] * 3, 1
    )
    got = run(machine, formula_plan, {"x0": x, "x1": count})
    unsigned = f"u{kind.itemsize}"
    assert_same(got["y0"], np.left_shift(x, count))
    assert_same(got["y1"], np.right_shift(x, count))
    assert_same(got["y2"], np.right_shift(x.view(unsigned), count.view(unsigned)).view(kind.numpy))


def test_words_refuse_other_kinds() -> None:
    for word in (lambda x: gcd(x, x), popcount, clz, lambda x: shift_left(x, 1)):
        with pytest.raises(InvalidProblemError, match="is defined on integers, got f32"):
            word(input_("x", K.F32))
    with pytest.raises(InvalidProblemError, match="s64 is no storage kind of integers that compute in s32"):
        popcount(input_("x", K.S16), K.S64)


# --- floats -----------------------------------------------------------------------------------------------------------


def float_operands(kind: K) -> tuple[np.ndarray, np.ndarray]:
    """All patterns; quotients of every size, near whole numbers above all; every pair of the values that need care."""
    dtype, count = kind.numpy, 50_000
    words = data.raw(f"floats{kind}", 4 * count).reshape(4, count)
    x, y = (w.astype(f"u{kind.itemsize}").view(dtype) for w in words[:2])
    digits = np.finfo(dtype).nmant
    with np.errstate(all="ignore"):
        scale = np.ldexp(dtype.type(1), (words[2] % np.uint64(3 * digits)).astype(np.int32) - digits)
        third = (words[3] >> np.uint64(40)).astype(dtype)
        near = (y * np.trunc(scale * (1 + third / dtype.type(2**24)))).astype(dtype)
        steps = (words[3] % np.uint64(5)).astype(np.int64) - 2
        near = (near.view(f"i{kind.itemsize}") + steps.astype(f"i{kind.itemsize}")).view(dtype)
        x = np.where(words[2] >> np.uint64(62) != 0, near, x)
    info = np.finfo(dtype)
    limits = [info.max, info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal, np.inf, np.nan]
    special = np.array([0.0, 1.0, 3.0, 6.0, 0.1, 1e10, *limits], dtype)
    special = np.concatenate([special, -special])
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    return np.concatenate([pairs[0], x]), np.concatenate([pairs[1], y])


def _floor_divided(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """NumPy's, but of infinite numbers the array API's."""
    return np.where(np.isinf(x) | np.isinf(y), np.floor(x / y), np.floor_divide(x, y))


@pytest.mark.parametrize("kind", [K.F32, K.F64], ids=label)
@pytest.mark.parametrize(
    ("word", "meaning"), [(fmod, np.fmod), (remainder, np.remainder), (floor_divide, _floor_divided)], ids=label
)
def test_remainders_of_floats(kind: K, word: Callable[..., Expr], meaning: Callable[..., np.ndarray], machine: Machine) -> None:
    """Bit for bit what C's exact fmod gives, and what NumPy makes of it, signs of zeros included."""
    x, y = float_operands(kind)
    with np.errstate(all="ignore"):
        expected = meaning(x, y)
    got = run(machine, pointwise(word, [kind] * 2, [kind], 1), {"x0": x, "x1": y})
    assert_same(got["y0"], expected)


@pytest.mark.parametrize("kind", [K.F16, K.BF16], ids=label)
def test_remainder_of_halves(kind: K, machine: Machine) -> None:
    x, y = (data.raw(f"half{i}", 60_000).astype(np.uint16).view(kind.numpy) for i in range(2))
    with np.errstate(all="ignore"):
        expected = np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(kind.numpy)
    assert_same(run(machine, pointwise(fmod, [kind] * 2, [kind], 1), {"x0": x, "x1": y})["y0"], expected)


# --- the other readers of these nodes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WIDE, ids=label)
def test_oracle_and_constants(kind: K) -> None:
    """The oracle, and folding where both operands are constants, agree with Python."""
    x, y = (v[:400] for v in operands(kind))
    meanings = {op: of for op, (_, of) in zip(("idiv", "irem", "floor", "mod", "gcd"), WORDS, strict=True)}
    meanings["mulhi"] = lambda a, b: a * b >> kind.bits
    for op in ("idiv", "irem", "gcd", "mulhi"):
        node = binary(op, input_("x", kind), input_("y", kind))
        graph = Graph((Port("x", kind), Port("y", kind)), ((Port("z", kind), node),))
        assert_same(evaluate(graph, {"x": x, "y": y}, x.shape, (False,))["z"], spelled(meanings[op], x, y))
    for op in ("idiv", "irem"):
        for a, b, expected in zip(x[:60].tolist(), y[:60].tolist(), spelled(meanings[op], x, y)[:60], strict=True):
            folded = simplify(Graph((), ((Port("z", kind), binary(op, const(a, kind), const(b, kind))),)))
            assert folded.outputs[0][1].value == expected


@pytest.mark.parametrize("kind", WIDE, ids=label)
@pytest.mark.cpu_only
def test_cuda_kernels_compile(kind: K) -> None:
    """Every word on vectors, and the float remainder; needs NVRTC, but no GPU."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.runtime.nvrtc import cubin

    def words(x: Expr, y: Expr) -> tuple[Expr, ...]:
        expressions = [word(x, y) for word, _ in WORDS]
        return (*expressions, lcm(x, y), multiply_high(x, y), popcount(x), clz(x), shift_right_logical(shift_left(x, y), y))

    real = K.F32 if kind.bits == 32 else K.F64
    formulas = [pointwise(words, [kind] * 2, [kind] * 10, 1)]
    formulas.append(pointwise(lambda x, y: (remainder(x, y), floor_divide(x, y)), [real] * 2, [real] * 2, 1))
    for number, formula in enumerate(formulas):
        target = Target(("sm_80", "sm_90", "sm_100")[(WIDE.index(kind) + number) % 3])
        for source in cuda_sources(formula, (1000,), target):
            assert cubin(source, target.arch)[:4] == b"\x7fELF"
