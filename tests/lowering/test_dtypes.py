"""Every element kind through every schedule: loads, arithmetic in the compute kind, conversions and stores, against NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from baracuda.cli.verify import values as data
from baracuda.cli.verify.placement import LAYOUTS
from baracuda.core.axes import Axes
from baracuda.core.elements import ElementKind as K
from baracuda.formula.conversions import cast_to, saturate_to
from baracuda.formula.expr import Expr, cast, compare, coord, select
from baracuda.formula.functions import max_, maximum, min_, minimum, sum_rows, where
from baracuda.lowering.nest.cuda.lower import Target
from tests.lowering.graphs import Formula, cuda_sources, pointwise, run
from tests.machine import Machine

INTEGERS = (K.S8, K.U8, K.S16, K.U16, K.S32, K.U32, K.S64, K.U64)
FLOATS = (K.F16, K.BF16, K.F32, K.F64, K.F8E4M3, K.F8E5M2)
KINDS = (*INTEGERS, K.BOOL, *FLOATS)
COMPUTE = (K.S32, K.U32, K.S64, K.U64, K.BOOL, K.F32, K.F64)
SHAPES = ((), (1,), (1000,), (7, 129), (65, 70), (3, 5, 33), (2, 1, 3, 130))


def label(value: object) -> str:
    return str(value)


def kinds(chosen: Sequence[K] = KINDS) -> Callable[..., None]:
    return pytest.mark.parametrize("kind", chosen, ids=label)


def patterns(kind: K, seed: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random bit patterns of a kind: every one of them comes up in a large tensor, NaNs and infinities too."""
    words = data.raw(f"{seed}{kind}", int(np.prod(shape)))
    if kind is K.BOOL:
        return (words >> np.uint64(40) & np.uint64(1)).astype(bool).reshape(shape)
    return words.astype(f"u{kind.itemsize}").view(kind.numpy).reshape(shape)


def whole(kind: K, seed: str, shape: tuple[int, ...], most: int = 100) -> np.ndarray:
    """Small whole numbers; negative ones too where the kind has them."""
    low = 0 if kind in (K.U8, K.U16, K.U32, K.U64, K.BOOL) else -most
    return data.integers(seed, shape, low, 1 if kind is K.BOOL else most).astype(kind.numpy)


def widened(x: np.ndarray, kind: K) -> np.ndarray:
    return x.astype(kind.compute.numpy)


def stored(x: np.ndarray, kind: K) -> np.ndarray:
    """Values of the compute kind as a tensor of `kind` keeps them."""
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(kind.numpy)


def assert_same(got: np.ndarray, expected: np.ndarray) -> None:
    """The same bits, apart from those of NaNs."""
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    same = np.ascontiguousarray(got).view(np.uint8) == np.ascontiguousarray(expected).view(np.uint8)
    same = same.reshape(*got.shape, got.itemsize).all(-1)
    with np.errstate(invalid="ignore"):
        same |= (got != got) & (expected != expected)
    where_ = np.argwhere(~same)
    assert not len(where_), f"{len(where_)} differ, first {where_[0]}: {got[~same][0]!r}, expected {expected[~same][0]!r}"


# --- storage ----------------------------------------------------------------------------------------------------------


@pytest.mark.one_of(5)
@kinds()
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_pattern_survives_a_copy(kind: K, layout: str, machine: Machine) -> None:
    """Widened, worked on and narrowed again: all patterns of 8 and 16 bits, many of the larger kinds."""

    def through(x: Expr) -> Expr:
        return select(compare("eq", coord(0), -1), x ^ x if not x.kind.is_float else -x, x)

    shape = (300, 1001) if kind.bits == 16 else (66, 130)
    x = patterns(kind, "copy", shape)
    for layouts in ([layout, "contiguous"], ["contiguous", layout], [layout]):
        if layout != "broadcast":
            got = run(machine, pointwise(through, [kind], [kind], 2), {"x0": x}, layouts)
            assert_same(got["y0"], x)
    got = run(machine, pointwise(through, [kind], [kind], 2), {"x0": x[:1]}, [layout, "contiguous"], shape, like=False)
    assert_same(got["y0"], np.broadcast_to(x[:1], shape))


@pytest.mark.one_of(5)
@kinds([k for k in KINDS if k is not K.BOOL])
@pytest.mark.parametrize("shape", SHAPES, ids=label)
def test_arithmetic(kind: K, shape: tuple[int, ...], machine: Machine) -> None:
    """Sums, products and extremes in the compute kind, rounded or wrapped by the store, in every layout."""
    x, y = patterns(kind, "x", shape), patterns(kind, "y", shape)
    wide_x, wide_y = widened(x, kind), widened(y, kind)

    def formula(x: Expr, y: Expr) -> tuple[Expr, ...]:
        return x * y - x, abs(x) + 3, maximum(x, y), minimum(x, y)

    with np.errstate(all="ignore"):
        expected = (wide_x * wide_y - wide_x, abs(wide_x) + wide_x.dtype.type(3), *extremes(wide_x, wide_y))
    for turn, layout in enumerate(LAYOUTS):
        if layout in ("broadcast", "in_place"):
            continue
        formula_plan = pointwise(formula, [kind] * 2, [kind] * 4, len(shape))
        got = run(machine, formula_plan, {"x0": x, "x1": y}, [layout, "contiguous", "transposed"][turn % 3 :: -1] or [layout])
        for name, values in zip(got, expected, strict=True):
            assert_same(got[name], stored(values, kind))


def extremes(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """IEEE 754-2019 maximum and minimum: NumPy's do not tell the zeros apart."""
    high, low = np.maximum(x, y), np.minimum(x, y)
    if np.issubdtype(x.dtype, np.floating):
        zeros = (x == 0) & (y == 0)
        high = np.where(zeros, np.where(np.signbit(x) & np.signbit(y), x, abs(x)), high)
        low = np.where(zeros, np.where(np.signbit(x) | np.signbit(y), -abs(x), x), low)
    return high, low


@kinds([K.U8, K.BOOL, K.F16, K.F8E4M3, K.U32, K.S64])
def test_large_outputs(kind: K, machine: Machine) -> None:
    """Those that the CPU writes past its cache."""
    count = (25 << 20) // kind.itemsize + 3
    x = np.resize(patterns(kind, "large", (1 << 16,)), count)
    got = run(machine, pointwise(lambda x, y: select(compare("eq", x, y), y, x), [kind] * 2, [kind], 1), {"x0": x, "x1": x})
    assert_same(got["y0"], x)


@kinds()
@pytest.mark.parametrize("shape", [(5, 0, 3), (0,), (4, 1), (1, 1, 1)], ids=label)
def test_empty_and_small(kind: K, shape: tuple[int, ...], machine: Machine) -> None:
    x = patterns(kind, "small", shape)
    got = run(machine, pointwise(lambda x: x, [kind], [kind], len(shape)), {"x0": x})
    assert_same(got["y0"], x)


@pytest.mark.parametrize("layouts", [["contiguous"], ["transposed", "contiguous"], ["sliced", "negative", "padded"]], ids=label)
def test_mixed_kinds(layouts: list[str], machine: Machine) -> None:
    """A condition, numbers of four kinds and sizes, and results of five in one kernel; some broadcast."""
    space = (70, 133)
    inputs = {
        "c": (K.BOOL, Axes.FULL), "x": (K.F32, Axes.FULL), "h": (K.F16, Axes.FULL), "i": (K.S8, Axes.FULL),
        "n": (K.S64, Axes.FULL), "d": (K.F64, Axes.FULL),
    }  # fmt: skip
    outputs = {
        "chosen": (K.F32, Axes.FULL), "above": (K.BOOL, Axes.FULL), "number": (K.S64, Axes.FULL), "byte": (K.U8, Axes.FULL),
        "small": (K.BF16, Axes.FULL), "tiny": (K.F8E5M2, Axes.FULL),
    }  # fmt: skip

    def function(c: Expr, x: Expr, h: Expr, i: Expr, n: Expr, d: Expr) -> tuple[Expr, ...]:
        above = (x > h) & c
        number = cast(d, K.S64) + n * cast(i, K.S64)
        return where(c, x, h), above, number, i * 5, where(above, x, cast(i, K.F32)), cast(d, K.F32) + h

    values = {name: patterns(kind, name, space) for name, (kind, _) in inputs.items()}
    values["d"] = np.trunc(data.normal("d", space) * 1e6)
    c, x, h, i, n, d = values.values()
    wide, number = h.astype(np.float32), d.astype(np.int64)
    with np.errstate(all="ignore"):
        above = (x > wide) & c
        expected = {
            "chosen": np.where(c, x, wide),
            "above": above,
            "number": number + n * i.astype(np.int64),
            "byte": (i.astype(np.int32) * 5).astype(np.uint8),
            "small": stored(np.where(above, x, i.astype(np.float32)), K.BF16),
            "tiny": stored(d.astype(np.float32) + wide, K.F8E5M2),
        }
    for like in (True, False):
        got = run(machine, Formula(function, inputs, outputs, (False, False)), values, layouts, like=like)
        for name, values_ in expected.items():
            assert_same(got[name], values_)


# --- rows and columns -------------------------------------------------------------------------------------------------

ROWS = ((5, 3), (70, 16), (3, 1000), (4, 5003), (2, 140_001))
#: Layouts that make rows run along memory, across it, and neither.
ROW_LAYOUTS = (["contiguous"], ["transposed"], ["sliced", "padded", "contiguous"], ["negative", "transposed"])


@pytest.mark.one_of(5)
@kinds()
@pytest.mark.parametrize("space", ROWS, ids=label)
def test_rows(kind: K, space: tuple[int, int], machine: Machine) -> None:
    """A pass that reduces a kind and one that reads it again, with results along the row and of it."""
    carrier = K.F64 if kind.bits > 32 else K.F32

    def function(x: Expr, r: Expr) -> tuple[Expr, ...]:
        wide = cast(x, carrier)
        low, high = min_(wide), max_(wide)
        middle = compare("eq", wide, high)
        return select(middle, x, r), middle, cast(high - low, K.S64), select(low < 0, r, r)

    inputs = {"x": (kind, Axes.FULL), "r": (kind, Axes.OUTER)}
    outputs = {"y": (kind, Axes.FULL), "m": (K.BOOL, Axes.FULL), "n": (K.S64, Axes.OUTER), "s": (kind, Axes.OUTER)}
    x, r = whole(kind, "x", space), whole(kind, "r", (space[0], 1))
    wide = x.astype(np.float64)
    low, high = wide.min(1, keepdims=True), wide.max(1, keepdims=True)
    for layouts in ROW_LAYOUTS if space[0] * space[1] < 10_000 else ROW_LAYOUTS[:2]:
        for like in (True, False):
            got = run(machine, Formula(function, inputs, outputs, (False, True)), {"x": x, "r": r}, layouts, like=like)
            assert_same(got["y"], np.where(wide == high, x, r))
            assert_same(got["m"], wide == high)
            assert_same(got["n"], (high - low).astype(np.int64))
            assert_same(got["s"], r)


@pytest.mark.one_of(3)
@kinds()
@pytest.mark.parametrize("space", [(5, 3), (300, 70), (1030, 257)], ids=label)
def test_rows_with_column_sums(kind: K, space: tuple[int, int], machine: Machine) -> None:
    """Row results, full results and sums over the rows, of whole numbers, so that every order gives the same."""
    carrier = K.F64 if kind.bits > 32 else K.F32

    def function(x: Expr, w: Expr) -> tuple[Expr, ...]:
        wide = cast(x, carrier)
        top = max_(wide)
        return select(compare("eq", wide, top), w, x), cast(top, K.S32), sum_rows(wide + cast(w, carrier))

    inputs = {"x": (kind, Axes.FULL), "w": (kind, Axes.INNER)}
    outputs = {"y": (kind, Axes.FULL), "top": (K.S16, Axes.OUTER), "total": (carrier, Axes.INNER)}
    x, w = whole(kind, "x", space), whole(kind, "w", (1, space[1]))
    wide = x.astype(np.float64)
    top = wide.max(1, keepdims=True)
    for layouts in (["contiguous"], ["transposed"], ["sliced", "padded"]):
        got = run(machine, Formula(function, inputs, outputs, (False, True)), {"x": x, "w": w}, layouts)
        assert_same(got["y"], np.where(wide == top, w, x))
        assert_same(got["top"], top.astype(np.int16))
        assert_same(got["total"], (wide + w.astype(np.float64)).sum(0, keepdims=True).astype(carrier.numpy))


# --- conversions ------------------------------------------------------------------------------------------------------


def samples(kind: K) -> np.ndarray:
    """Values where conversions could go wrong: around every power of two and its halves, the limits, and random ones."""
    if kind is K.BOOL:
        return np.array([False, True] * 8)
    if kind.is_integer:
        info = np.iinfo(kind.numpy)
        near = [s * (1 << e) + o for e in range(kind.bits) for o in range(-3, 4) for s in (1, -1)]
        near += [(1 << e) + (1 << f) + o for e in range(kind.bits) for f in range(e) for o in (-1, 0, 1)]
        chosen = np.array([v for v in near if info.min <= v <= info.max], kind.numpy)
        return np.concatenate([chosen, patterns(kind, "cast", (5000,)), np.array([info.min, info.max], kind.numpy)])
    bits = [0, 1, 2, 3]
    steps = [2.0**e * m for e in range(-3, 70) for m in (1.0, 1.5, 1 + 2.0**-20, 1 + 2.0**-23, 2 - 2.0**-23, 1 + 2.0**-52)]
    chosen = np.array([*steps, *range(300), 0.5, 1.5, 2.5, 254.5, 255.5, 127.5, 128.5, 65535.5, np.inf, np.nan, 0.0, 1e30])
    chosen = np.concatenate([chosen, -chosen, data.normal("casts", (3000,)) * 1e5])
    with np.errstate(all="ignore"):
        base = chosen.astype(kind.numpy)
    tiny = np.array(bits, f"u{kind.itemsize}").view(kind.numpy)
    with np.errstate(invalid="ignore"):
        stepped = [np.nextafter(base, kind.numpy.type(s)) for s in (np.inf, -np.inf)]
    return np.concatenate([base, *stepped, tiny, patterns(kind, "cast", (5000,))])


def rounded(value: int, kind: K) -> float:
    """A whole number as a float, to nearest even."""
    digits = {K.F32: 24, K.F64: 53}[kind]
    excess = max(abs(value).bit_length() - digits, 0)
    quotient, rest, half = abs(value) >> excess, abs(value) & ((1 << excess) - 1), (1 << excess) >> 1
    quotient += rest > half or (rest == half and excess > 0 and quotient & 1)
    return float(quotient << excess) * (-1 if value < 0 else 1)


def converted(x: np.ndarray, target: K, *, wrap: bool = True) -> np.ndarray:
    """Conversion by value, one element at a time in Python's own numbers."""
    if target is K.BOOL:
        return x != 0
    if target.is_float:
        if np.issubdtype(x.dtype, np.floating):
            return stored(x, target)
        return np.array([rounded(int(v), target) for v in x], target.numpy)
    info = np.iinfo(target.numpy)

    def one(v: int | float) -> int:
        if isinstance(v, float):
            if v != v:
                return 0
            return max(info.min, min(info.max, int(v))) if abs(v) < 1e300 else (info.max if v > 0 else info.min)
        if not wrap:
            return max(info.min, min(info.max, v))
        return (v - info.min) % (1 << target.bits) + info.min

    return np.array([one(v) for v in x.tolist()], object).astype(target.numpy)


@pytest.mark.parametrize("target", COMPUTE, ids=label)
@pytest.mark.parametrize("source", COMPUTE, ids=label)
def test_cast(source: K, target: K, machine: Machine) -> None:
    x = samples(source)
    got = run(machine, pointwise(lambda x: cast(x, target), [source], [target], 1), {"x0": x})
    assert_same(got["y0"], converted(x, target))


@pytest.mark.parametrize("target", [*INTEGERS, K.BOOL], ids=label)
@pytest.mark.parametrize("source", COMPUTE, ids=label)
def test_cast_to_a_stored_integer(source: K, target: K, machine: Machine) -> None:
    """Floats saturate to the range of the storage kind, integers keep their low bits; both as values and as stored."""
    x = samples(source)
    formula_plan = pointwise(lambda x: (cast_to(x, target),) * 2, [source], [target, target.compute], 1)
    got = run(machine, formula_plan, {"x0": x})
    assert_same(got["y0"], converted(x, target))
    assert_same(got["y1"], converted(x, target).astype(target.compute.numpy))
    got = run(machine, pointwise(lambda x: saturate_to(x, target), [source], [target], 1), {"x0": x})
    assert_same(got["y0"], converted(x, target, wrap=False))


def comparisons() -> Iterator[tuple[str, Callable[..., np.ndarray]]]:
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield name, getattr(operator, name)


@pytest.mark.parametrize("kind", COMPUTE, ids=label)
def test_comparisons(kind: K, machine: Machine) -> None:
    """Signed, unsigned and of floats, NaN among them, of neighbours and of opposites."""
    x = np.sort(samples(kind))
    y = np.concatenate([x[1:], x[:1]])
    y[::3] = x[::3]
    y[::5] = x[::-1][::5]
    names, tests = zip(*comparisons(), strict=True)
    formula_plan = pointwise(lambda a, b: tuple(compare(n, a, b) for n in names), [kind] * 2, [K.BOOL] * 6, 1)
    got = run(machine, formula_plan, {"x0": x, "x1": y})
    with np.errstate(invalid="ignore"):
        for values, test in zip(got.values(), tests, strict=True):
            assert_same(values, test(x, y))


# --- compiling for CUDA -----------------------------------------------------------------------------------------------

TARGETS = (Target("sm_80", 108), Target("sm_90", 132), Target("sm_100", 148))


@kinds()
@pytest.mark.cpu_only
def test_cuda_kernels_compile(kind: K, full: bool) -> None:
    """Pointwise runs, tiles, rows, columns and rows with column sums of each kind, without --full two of these eight in turn;
    needs NVRTC, but no GPU."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.runtime.nvrtc import cubin

    carrier = K.F64 if kind.bits > 32 else K.F32

    def rows(x: Expr) -> tuple[Expr, ...]:
        wide = cast(x, carrier)
        return select(compare("eq", wide, max_(wide)), x, x), cast(min_(wide), K.S64)

    def columns(x: Expr) -> tuple[Expr, ...]:
        wide = cast(x, carrier)
        return select(compare("eq", wide, max_(wide)), x, x), sum_rows(wide)

    whole_space, row = {"x": (kind, Axes.FULL)}, (False, True)
    by_row = Formula(rows, whole_space, {"y": (kind, Axes.FULL), "n": (K.S64, Axes.OUTER)}, row)
    both = Formula(columns, whole_space, {"y": (kind, Axes.FULL), "s": (carrier, Axes.INNER)}, row)
    convert = pointwise(lambda x: tuple(cast(x, k) for k in COMPUTE), [kind], COMPUTE, 2)
    cases: list[tuple[Formula, tuple[int, int], list[str]]] = [
        (convert, (70, 133), ["contiguous"]), (convert, (70, 133), ["transposed", *["contiguous"] * 7]),
        (by_row, (70, 60), ["contiguous"]), (by_row, (5, 5000), ["contiguous"]), (by_row, (3, 200_000), ["contiguous"]),
        (by_row, (500, 70), ["transposed"]), (both, (3000, 300), ["contiguous"]), (both, (70, 133), ["transposed"]),
    ]  # fmt: skip
    for number, (formula, space, layouts) in enumerate(cases):
        if not full and (KINDS.index(kind) + number) % 4:
            continue
        target = TARGETS[(KINDS.index(kind) + number) % 3]
        for source in cuda_sources(formula, space, target, layouts):
            assert cubin(source, target.arch)[:4] == b"\x7fELF"
