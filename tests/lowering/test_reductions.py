"""Reductions over any axes, of every kind and layout: values against NumPy, sums and products as bits in the canonical order,
reductions of reductions against the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.placement import place
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import canonical as reference
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr, cast, coord, input_, position, reduce
from baracuda.formula.functions import exp, log, max_, mean, min_, sum_, sum_rows, where
from baracuda.formula.graph import Graph, Port
from baracuda.formula.reductions import argmax, argmin
from baracuda.lowering.nest.fission import split
from baracuda.lowering.nest.problem import Operand, Problem, normalise, reduces
from tests.lowering.graph_plan import compute, describe, nest, plan_types
from tests.machine import Machine

FLOATS = (K.F16, K.BF16, K.F32, K.F64)
INTEGERS = (K.S32, K.U32, K.S64, K.U64)
#: Shapes and the axes reduced: rows, columns, middle axes, several axes, all of them, sizes of one.
PROBLEMS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((37, 129), (1,)), ((37, 129), (0,)), ((1000,), (0,)), ((5, 70, 9), (1,)), ((5, 70, 9), (0, 2)), ((5, 70, 9), (0, 1)),
    ((3, 1100, 8), (0, 1, 2)), ((2, 3, 4, 5), (1, 3)), ((2, 3, 4, 5), (0, 2)), ((7, 1), (1,)), ((1, 7), (0,)), ((1, 1), (0, 1)),
    ((2, 5000), (1,)), ((5000, 3), (0,)), ((4, 1, 300), (0, 1)),
)  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns of overflow and NaN, which are meant here
LAYOUTS = ("contiguous", "transposed", "permuted", "sliced", "broadcast", "misaligned")


def numbers(kind: K, shape: Sequence[int], seed: int = 0) -> np.ndarray:
    """Values of both signs, where the kind has them, with repeats."""
    rng = np.random.default_rng([seed, prod(shape)])
    if kind is K.BOOL:
        return rng.random(shape) < 0.5
    if kind.is_float:
        return rng.standard_normal(shape).astype(kind.numpy)
    limits = np.iinfo(kind.numpy)
    return rng.integers(limits.min, limits.max, shape, kind.numpy, endpoint=True)


def on(machine: Machine, x: np.ndarray, layout: str = "contiguous") -> Any:
    """The array in the machine's memory, laid out as asked for; what is broadcast there is made equal in `x`."""
    placement = place(x.shape, K.from_numpy(x.dtype), layout, writable=False)
    block = placement.block(0)
    placement.view(block)[...] = x
    x[...] = placement.view(block)
    return machine.upload(block).tensor(placement, writable=False)


def rows(x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """The reduced elements of each result along one last axis, in logical order."""
    outer = [a for a in range(x.ndim) if a not in axes]
    return x.transpose(*outer, *axes).reshape([x.shape[a] for a in outer] + [prod(x.shape[a] for a in axes)])


def kept(x: np.ndarray, axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 if a in axes else n for a, n in enumerate(x.shape))


def results(
    machine: Machine, formula: Callable[[Expr], Any], axes: Sequence[int], x: np.ndarray, operand: Any
) -> list[np.ndarray]:
    """The results of a formula, reduced along `axes`, for an array that lies in the machine's memory as `given`."""
    return compute(machine, describe(formula, K.from_numpy(x.dtype), x.shape, axes), operand)


def reducing(op: str) -> Callable[[Expr], Expr]:
    def formula(x: Expr) -> Expr:
        return reduce(op, x)

    formula.__name__ = f"reduce_{op}"
    return formula


def first_largest(x: Expr) -> Expr:
    return argmax(x)


def first_smallest(x: Expr) -> Expr:
    return argmin(x)


@pytest.mark.one_of(4)
@pytest.mark.parametrize("kind", FLOATS, ids=str)
@pytest.mark.parametrize(("shape", "axes"), PROBLEMS, ids=str)
def test_sums_and_products_have_the_canonical_bits(
    shape: tuple[int, ...], axes: tuple[int, ...], kind: K, machine: Machine
) -> None:
    for op in ("sum", "prod"):
        for layout in LAYOUTS:
            x = numbers(kind, shape)
            if op == "prod":
                x = (1 + np.asarray(x, np.float64) / 64).astype(kind.numpy)
            (y,) = results(machine, reducing(op), axes, x, on(machine, x, layout))
            expected = reference.row_reduced(op, rows(x, axes).astype(kind.compute.numpy)).astype(kind.numpy)
            assert np.array_equal(canonical_bits(y), canonical_bits(expected.reshape(kept(x, axes)))), (op, layout)


@pytest.mark.one_of(4)
@pytest.mark.parametrize("kind", [*INTEGERS, K.BOOL], ids=str)
@pytest.mark.parametrize(("shape", "axes"), PROBLEMS, ids=str)
def test_integers_and_bool(shape: tuple[int, ...], axes: tuple[int, ...], kind: K, machine: Machine) -> None:
    operations: dict[str, np.ufunc] = {
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "max": np.maximum, "min": np.minimum,
        "prod": np.multiply, "sum": np.add,
    }  # fmt: skip
    if kind is K.BOOL:
        del operations["sum"]
    for turn, (op, operation) in enumerate(operations.items()):
        for layout in LAYOUTS[turn % 2 :: 2]:
            x = numbers(kind, shape)
            if op in ("and", "prod"):  # not all zero in the end
                x |= numbers(kind, shape, 1) | numbers(kind, shape, 2)
            (y,) = results(machine, reducing(op), axes, x, on(machine, x, layout))
            assert np.array_equal(y, operation.reduce(rows(x, axes), axis=-1, dtype=kind.numpy).reshape(kept(x, axes))), (
                op,
                layout,
            )


@pytest.mark.parametrize("kind", FLOATS, ids=str)
@pytest.mark.parametrize("n", [2, 9, 130, 3000])
def test_extremes_of_special_values(n: int, kind: K, machine: Machine) -> None:
    """NaN wins, +0 is above -0, infinities count."""
    x = np.full((8, n), -1.0, np.float64)
    x[0, n // 2] = np.nan
    x[1], x[1, -1] = -0.0, 0.0
    x[2], x[2, 0] = 0.0, -0.0
    x[3], x[4], x[5, 1] = np.inf, -np.inf, np.inf
    x[6, :2] = np.nan, np.inf
    x = x.astype(kind.numpy)
    for layout in ("contiguous", "transposed"):
        operand = on(machine, x, layout)
        for formula, op in ((max_, "max"), (min_, "min")):
            (y,) = results(machine, formula, (1,), x, operand)
            assert np.array_equal(
                canonical_bits(y[:, 0]),
                canonical_bits(reference.row_reduced(op, x.astype(kind.compute.numpy)).astype(kind.numpy)),
            )
        (total,) = results(machine, sum_, (1,), x, operand)
        total = total[:, 0].astype(np.float64)
        assert np.isnan(total[[0, 6]]).all()
        assert total[3] == np.inf
        assert total[4] == -np.inf
        assert total[5] == np.inf


@pytest.mark.parametrize("kind", [K.F32, K.S32, K.U64, K.BOOL], ids=str)
def test_over_nothing(kind: K, machine: Machine) -> None:
    least, most = (
        (-np.inf, np.inf) if kind.is_float else (0, 1) if kind is K.BOOL else (np.iinfo(kind.numpy).min, np.iinfo(kind.numpy).max)
    )
    expected = {"sum": 0, "prod": 1, "max": least, "min": most, "and": -1, "or": 0, "xor": 0}
    for op, value in expected.items():
        if (op in ("and", "or", "xor") and kind.is_float) or (op == "sum" and kind is K.BOOL):
            continue
        x = np.empty((3, 0), kind.numpy)
        (y,) = results(machine, reducing(op), (1,), x, on(machine, x))
        assert np.array_equal(y, np.full((3, 1), value).astype(kind.numpy)), op
        (y,) = results(machine, reducing(op), (0,), x, on(machine, x))
        assert y.shape == (1, 0)


# --- where the extreme is ---------------------------------------------------------------------------------------------


@pytest.mark.one_of(4)
@pytest.mark.parametrize("kind", [K.BF16, K.F32, K.F64, *INTEGERS, K.S8, K.BOOL], ids=str)
@pytest.mark.parametrize(("shape", "axes"), PROBLEMS, ids=str)
def test_argmax_and_argmin(shape: tuple[int, ...], axes: tuple[int, ...], kind: K, machine: Machine) -> None:
    """The lowest index on ties; NaN before everything; both zeros equal."""
    for turn, layout in enumerate(LAYOUTS[::2] if kind.is_integer else LAYOUTS):
        x = numbers(kind, shape)
        if kind.is_float and turn % 3:
            x = np.round(x.astype(np.float64)).astype(kind.numpy)  # ties, and zeros of both signs
        elif kind.is_integer:
            x //= x.dtype.type(np.iinfo(x.dtype).max // 3)
        if kind.is_float and turn % 3 == 2:
            x[numbers(K.F64, shape, 2) > 2] = np.nan
        operand = on(machine, x, layout)
        for formula, expected in ((first_largest, np.argmax), (first_smallest, np.argmin)):
            wanted = expected(rows(x, axes).astype(np.float64) if kind.is_float else rows(x, axes), axis=-1).reshape(
                kept(x, axes)
            )
            (y,) = results(machine, formula, axes, x, operand)
            assert np.array_equal(y, wanted), (formula.__name__, layout)


def test_argmax_in_two_passes(machine: Machine) -> None:
    x = numbers(K.F32, (9, 700))
    x[2, 30] = np.nan
    operand = on(machine, x)
    y = results(machine, lambda x: (argmax(x, long_rows=True), max_(x), argmin(x, long_rows=True)), (1,), x, operand)
    assert np.array_equal(y[0][:, 0], np.argmax(x, 1))
    assert np.array_equal(y[1][:, 0], np.max(x, 1), equal_nan=True)
    assert np.array_equal(y[2][:, 0], np.argmin(x, 1))


def test_positions_beside_other_results(machine: Machine) -> None:
    """Where nothing is reduced along the row any more, positions are told by coordinates."""
    x = numbers(K.F64, (6, 5, 4))

    def formula(x: Expr) -> tuple[Expr, ...]:
        number = cast(position(), x.kind)
        return x * number, sum_(x * number), sum_rows(x * number), where(coord(1) < 2, x, 0.0) - sum_rows(x)

    y = results(machine, formula, (2, 0), x, on(machine, x))
    number = 4.0 * np.arange(6)[:, None, None] + np.arange(4)
    assert np.array_equal(y[0], x * number)
    np.testing.assert_allclose(y[1], (x * number).sum((0, 2), keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(y[2], (x * number).sum(1, keepdims=True), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(y[3], np.where(np.arange(5)[:, None] < 2, x, 0) - x.sum(1, keepdims=True), rtol=1e-12, atol=1e-13)


def test_coordinates_along_one_of_several_inner_axes(machine: Machine) -> None:
    for shape in ((5, 4, 8), (70, 3, 4), (3, 40, 50)):
        x = numbers(K.F64, shape)
        for axis in (1, -1):
            (y,) = results(machine, lambda x, a=axis: sum_(where(coord(a) < 2, x, 0.0)), (1, 2), x, on(machine, x))
            chosen = x[:, :2] if axis == 1 else x[..., :2]
            np.testing.assert_allclose(y, chosen.sum((1, 2), keepdims=True), rtol=1e-12, atol=1e-13)


# --- reductions of reductions -----------------------------------------------------------------------------------------


def loss(x: Expr) -> Expr:
    """The mean over rows of log-sum-exp."""
    rows = log(sum_(exp(x - max_(x)))) + max_(x)
    return reduce("sum", rows, Axes.OUTER) * 0.125


def totals(x: Expr) -> tuple[Expr, ...]:
    return reduce("sum", sum_(x), Axes.OUTER), sum_(x), sum_rows(x)


def standardised_columns(x: Expr) -> tuple[Expr, ...]:
    """Rows reduced of what was normalised by columns."""
    d = x - sum_rows(x) * 0.125
    spread = sum_(d * d)
    return d / spread, reduce("max", spread, Axes.OUTER), sum_rows(d * spread)


def centred_both_ways(x: Expr) -> tuple[Expr, ...]:
    return x - sum_rows(x), x - mean(x), reduce("min", x, Axes.OUTER), sum_(x)


def extremes(x: Expr) -> tuple[Expr, ...]:
    return reduce("max", argmax(x), Axes.OUTER), x * reduce("max", min_(x), Axes.OUTER), sum_(x - reduce("max", x, Axes.OUTER))


def over_all(x: Expr) -> tuple[Expr, ...]:
    return reduce("sum", x, Axes.FULL), x - reduce("max", x, Axes.FULL)


def normalised_by_numbers(x: Expr) -> tuple[Expr, ...]:
    """Numbers of the whole, one computed with another."""
    rows = sum_(x * x)
    share = rows / reduce("sum", rows * rows, Axes.OUTER)
    size = reduce("sum", share * rows, Axes.OUTER)
    return x / size, size, share


BOTH_WAYS = (loss, totals, standardised_columns, centred_both_ways, extremes, over_all, normalised_by_numbers)
SPACES = (
    ((37, 129), (1,)),
    ((40, 3000), (1,)),
    ((3000, 20), (1,)),
    ((5, 7, 30), (0, 2)),
    ((5, 7, 30), (1,)),
    ((1, 33), (1,)),
    ((33, 1), (1,)),
)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("formula", BOTH_WAYS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("shape", "axes"), SPACES, ids=str)
def test_reductions_of_reductions(
    formula: Any, shape: tuple[int, ...], axes: tuple[int, ...], machine: Machine, full: bool
) -> None:
    """The bits of the reference interpreter, whatever parts the graph is cut into; without --full in every other layout."""
    every = [(kind, layout) for kind in (K.F32, K.F64) for layout in ("contiguous", "transposed", "sliced")]
    for kind, layout in every if full else every[BOTH_WAYS.index(formula) % 2 :: 2]:
        x = numbers(kind, shape)
        operand = on(machine, x, layout)
        descriptor = describe(formula, kind, shape, axes)
        graph = expand(descriptor.graph)
        params = {"#row_length": float(prod(shape[a] for a in axes))}
        expected = reference.run(graph, {"x": x}, shape, descriptor.inner, params)
        for (port, _), got in zip(graph.outputs, compute(machine, descriptor, operand), strict=True):
            assert np.array_equal(canonical_bits(got), canonical_bits(expected[port.name])), (port, layout)


def test_a_number_is_computed_once() -> None:
    """What writes the elements reads it, and reduces nothing."""
    pieces, _ = split(nest(describe(normalised_by_numbers, K.F32, (64, 100), (1,)), "contiguous"))
    writing = [part.nest.graph for part in pieces if any(port.axes is Axes.FULL for port, _ in part.nest.graph.outputs)]
    assert [reduces(graph, Axes.FULL) for graph in writing] == [[]]


def test_in_place_beside_a_row_result(machine: Machine) -> None:
    """An output with an element for each point may overwrite the input after everything else has read it."""
    x = numbers(K.F64, (20, 30))
    descriptor = describe(lambda x: (x - sum_rows(x), sum_(x)), K.F64, x.shape, (1,))
    plan, args = plan_types(descriptor.graph)
    placements = [place(shape, K.F64, "contiguous", writable=True) for shape in (x.shape, (20, 1))]
    blocks = [placement.block(0) for placement in placements]
    placements[0].view(blocks[0])[...] = x
    held = [machine.upload(block) for block in blocks]
    y, total = (h.tensor(placement, writable=True) for h, placement in zip(held, placements, strict=True))
    plan_in_place = plan.select(machine.stream, descriptor)
    plan_in_place.run(machine.stream, machine.workspace(plan_in_place.workspace_size()), args(y, y, total))
    machine.synchronize()
    y, total = (placement.view(h.download()) for h, placement in zip(held, placements, strict=True))
    np.testing.assert_allclose(total, x.sum(1, keepdims=True), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(y, x - x.sum(0), rtol=1e-12, atol=1e-13)


# --- schedules --------------------------------------------------------------------------------------------------------


LONG = (
    ((3_000_001,), (0,)), ((3, 700_001), (1,)), ((300_001, 5), (0,)), ((4, 50_000, 3), (1,)), ((200, 300, 40), (0, 2)),
    ((60_000, 70), (0,)), ((3000, 1100), (0,)), ((130, 3, 16), (0, 2)), ((40, 3, 128), (0, 2)), ((1023, 65), (0,)),
)  # fmt: skip


@pytest.mark.parametrize(("shape", "axes"), LONG, ids=str)
def test_long_rows(shape: tuple[int, ...], axes: tuple[int, ...], machine: Machine) -> None:
    """Rows that are shared out among many threads, or read in the order of memory, keep their order."""
    x = numbers(K.F32, shape)
    operand = on(machine, x)
    (y,) = results(machine, sum_, axes, x, operand)
    assert np.array_equal(canonical_bits(y), canonical_bits(reference.row_reduced("sum", rows(x, axes)).reshape(kept(x, axes))))
    (numbered,) = results(machine, first_largest, axes, x, operand)
    assert np.array_equal(numbered, np.argmax(rows(x, axes), -1).reshape(kept(x, axes)))


# --- what is refused --------------------------------------------------------------------------------------------------


def test_what_is_not_defined_is_refused() -> None:
    x, condition = input_("x", K.F32), input_("c", K.BOOL)
    for op, operand in (("and", x), ("xor", x), ("sum", condition), ("median", x)):
        with pytest.raises(InvalidProblemError, match=op.replace("sum", "add")):
            reduce(op, operand)
    assert reduce("max", condition) is reduce("or", condition)
    with pytest.raises(InvalidProblemError, match="f32"):
        position(K.F32)
    graph = Graph((Port("x", K.F32),), ((Port("y", K.S64, Axes.NONE), argmax(x)),), (True,))
    operands = (Operand(K.F32, (1,)), Operand(K.S64, (0,)))
    with pytest.raises(UnsupportedError, match="4294967297 elements"):
        normalise(Problem(expand(graph), (2**32 + 1,), (True,), operands))
    mixed = Graph(
        (Port("x", K.F32),), ((Port("y", K.F32, Axes.NONE), reduce("sum", x, Axes.FULL) + reduce("sum", sum_(x), Axes.OUTER)),)
    )
    with pytest.raises(UnsupportedError, match="over all axes"):
        normalise(Problem(mixed, (2, 2), (False, True), (Operand(K.F32, (2, 1)), Operand(K.F32, (0, 0)))))


# --- CUDA source ------------------------------------------------------------------------------------------------------


@pytest.mark.cpu_only
def test_kernels_compile(full: bool) -> None:
    """Kinds, operations and schedules for sm_80, sm_90 and sm_100: some of each, or with --full all combinations of them."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.lowering.nest.cuda.lower import Target, lower
    from baracuda.runtime.nvrtc import cubin

    operations = ("sum", "prod", "max", "min", "and", "or", "xor")
    formulas = [*map(reducing, operations), first_largest, first_smallest, *BOTH_WAYS]
    shapes = (
        *PROBLEMS[:8],
        ((3, 70_001), (1,)),
        ((70_001, 300), (0,)),
        ((1 << 24,), (0,)),
        ((3000, 3000), (1,)),
        ((300, 40_000), (1,)),
    )
    targets = (Target("sm_80", 108), Target("sm_90", 132), Target("sm_100", 148))
    turn = 0
    for formula in formulas:
        for shape, axes in shapes:
            turn += 1
            if not full and turn % 5:
                continue
            kinds = FLOATS if formula in BOTH_WAYS else (*FLOATS, *INTEGERS, K.BOOL)
            if formula.__name__ in ("reduce_and", "reduce_or", "reduce_xor"):
                kinds = (*INTEGERS, K.BOOL)
            kind = kinds[turn % len(kinds)]
            if kind is K.BOOL and formula.__name__ == "reduce_sum":
                kind = K.S64
            layout = (*LAYOUTS, "general")[turn % 7]
            target = targets[turn % 3]
            for launch in lower(nest(describe(formula, kind, shape, axes), layout), target).launches:
                assert cubin(launch.source, target.arch)[:4] == b"\x7fELF", (formula.__name__, shape, axes, kind, layout)
