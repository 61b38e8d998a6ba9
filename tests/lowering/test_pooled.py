"""Pooled sums: rows cut into blocks have the reference interpreter's bits in every layout, and the values of two passes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baracuda.cli.verify.bits import canonical_bits
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import canonical as reference
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, cast, coord, input_, position, reduce
from baracuda.formula.functions import max_, mean, row_length, sum_, where
from baracuda.formula.order import POOLED_BLOCK, POOLED_LENGTH, POOLED_LONG, pool_block
from baracuda.formula.pooling import pooled, pooled_squares, pools, unpooled
from baracuda.formula.reductions import argmax
from baracuda.ops.reductions.reductions import log_sum_exp
from tests.lowering.graph_plan import compute, describe
from tests.lowering.test_reductions import kept, numbers, on, rows
from tests.machine import Machine

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def variance(x: Expr) -> tuple[Expr, ...]:
    n = row_length(x.kind)
    average = mean(x)
    d = x - average
    return pooled_squares(d * d, n, average) / n, average


def log_total(x: Expr) -> Expr:
    return log_sum_exp(x)


def of_positions(x: Expr) -> tuple[Expr, ...]:
    """Blocks know where they are: numbers in the row, and coordinates."""
    weight = cast(position() & 7, x.kind)
    weighted = x * weight + where(coord(-1) < 3, x, 0.0) + cast(coord(0) & 1, x.kind)
    total, n = sum_(weight), row_length(x.kind)
    centre = sum_(weighted) / n
    squares = pooled_squares((weighted - centre) * (weighted - centre), n, centre)
    return squares, total, argmax(cast(x, K.F32))


def of_what_is_there(x: Expr) -> Expr:
    """The variance of the elements above 0; blocks of a row may have none."""
    there = x > 0.0
    count = sum_(cast(there, x.kind))
    centre = sum_(where(there, x, 0.0)) / count
    d = where(there, x - centre, 0.0)
    return pooled_squares(d * d, count, centre) / count


FORMULAS = (variance, log_total, of_positions, of_what_is_there)
#: Blocks of one length, a shorter one at the end of the row or of an axis in it, several axes, axes in between.
SPACES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((3, 20_000), (1,)), ((2, 16_411), (1,)), ((16_411, 3), (0,)), ((20_000, 5), (0,)), ((130, 131), (0, 1)),
    ((2, 137, 131), (1, 2)), ((137, 3, 131), (0, 2)), ((2, 16_384, 4), (1,)), ((4099, 2, 5), (0, 2)), ((30, 40, 30), (0, 1, 2)),
)  # fmt: skip


#: What a kind is tried in, so that each layout has its turn.
LAYOUTS = {K.F32: ("contiguous", "transposed", "sliced", "misaligned"), K.F64: ("permuted",), K.BF16: ("negative",)}
CASES = [(formula, *space) for i, formula in enumerate(FORMULAS) for space in (SPACES if i < 2 else SPACES[i::3])]


@pytest.mark.parametrize(("formula", "shape", "axes"), CASES, ids=lambda x: getattr(x, "__name__", str(x)))
def test_bits(formula: Any, shape: tuple[int, ...], axes: tuple[int, ...], machine: Machine, full: bool) -> None:
    """In every kind and layout with --full; without, in a third of them, which take turns."""
    every = [(kind, layout) for kind in LAYOUTS for layout in (LAYOUTS[kind] if formula is variance else LAYOUTS[kind][:2])]
    for kind, layout in every if full else every[CASES.index((formula, shape, axes)) % 3 :: 3]:
        x = numbers(kind, shape)
        tensor = on(machine, x, layout)
        descriptor = describe(formula, kind, shape, axes)
        graph = expand(descriptor.graph)
        assert pools(graph, shape, descriptor.inner)
        expected = reference.run(graph, {"x": x}, shape, descriptor.inner)
        for (port, _), got in zip(graph.outputs, compute(machine, descriptor, tensor), strict=True):
            assert np.array_equal(canonical_bits(got), canonical_bits(expected[port.name])), (kind, layout, port)


@pytest.mark.parametrize(("shape", "axes"), SPACES, ids=str)
def test_values(shape: tuple[int, ...], axes: tuple[int, ...], machine: Machine) -> None:
    x = numbers(K.F32, shape) + np.float32(100)
    exact = rows(x.astype(np.float64), axes)
    descriptor = describe(variance, K.F32, shape, axes)
    variances, average = compute(machine, descriptor, on(machine, x))
    np.testing.assert_allclose(variances, exact.var(-1).reshape(kept(x, axes)), rtol=1e-6)
    np.testing.assert_allclose(average, exact.mean(-1).reshape(kept(x, axes)), rtol=3e-7)
    (total,) = compute(machine, describe(log_total, K.F32, shape, axes), on(machine, x))
    np.testing.assert_allclose(total, (np.log(np.exp(exact - 100).sum(-1)) + 100).reshape(kept(x, axes)), rtol=2e-7)


def test_coordinates_of_rows(machine: Machine) -> None:
    def formula(x: Expr) -> Expr:
        return variance(x)[0] * cast(coord(0), x.kind) + cast(coord(-1), x.kind)

    x = numbers(K.F64, (3, 20_000, 2))
    (result,) = compute(machine, describe(formula, K.F64, x.shape, (1,)), on(machine, x, "transposed"))
    expected = x.var(1, keepdims=True) * np.arange(3.0)[:, None, None] + np.arange(2.0)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_far_from_the_first_elements(machine: Machine) -> None:
    """Blocks far apart: what a sum of squares about the first element would lose is kept."""
    x = np.concatenate([np.zeros(3000), 1e4 + numbers(K.F64, (400_000,))]).astype(np.float32)[None]
    variances, _ = compute(machine, describe(variance, K.F32, x.shape, (1,)), on(machine, x))
    np.testing.assert_allclose(variances[0], x[0].astype(np.float64).var(), rtol=1e-6)
    x = x[:, 3000:].copy()
    variances, _ = compute(machine, describe(variance, K.F32, x.shape, (1,)), on(machine, x))
    np.testing.assert_allclose(variances[0], x[0].astype(np.float64).var(), rtol=2e-5)  # each deviation is off by 1e4 * 2**-24


def test_special_values(machine: Machine) -> None:
    infinite = np.inf
    x = np.full((6, 20_000), -infinite, np.float32)
    x[1, 7], x[2, 19_999], x[3, 11_111], x[3, 5], x[4, 5], x[5] = -5.0, 3.0, np.nan, infinite, infinite, 1000.0
    (total,) = compute(machine, describe(log_total, K.F32, x.shape, (1,)), on(machine, x))
    np.testing.assert_array_equal(total[:5, 0], np.float32([-infinite, -5.0, 3.0, np.nan, infinite]))
    np.testing.assert_allclose(total[5, 0], 1000 + np.log(20_000), rtol=1e-7)
    result, _ = compute(machine, describe(variance, K.F32, x.shape, (1,)), on(machine, x))
    np.testing.assert_array_equal(result[:, 0], np.float32([np.nan] * 5 + [0.0]))
    there = np.full((2, 20_000), -1.0, np.float32)
    there[1, 9:12] = 1.0, 2.0, 3.0  # all but one of the blocks have none
    (result,) = compute(machine, describe(of_what_is_there, K.F32, there.shape, (1,)), on(machine, there))
    np.testing.assert_array_equal(result[:, 0], np.float32([np.nan, 2 / 3]))


def test_what_is_not_pooled() -> None:
    """Short rows, elements that are written, sums that need what is pooled."""

    def standardised(x: Expr) -> Expr:
        return (x - mean(x)) / variance(x)[0]

    def skewness(x: Expr) -> Expr:
        spread, average = variance(x)
        z = (x - average) / spread
        return sum_(z * z * z)

    for formula, length in ((variance, POOLED_LENGTH - 1), (standardised, POOLED_LENGTH), (skewness, POOLED_LENGTH)):
        descriptor = describe(formula, K.F32, (2, length), (1,))
        assert not pools(descriptor.graph, descriptor.space, descriptor.inner)
        assert not any(n.op in ("pooled", "state") for n in unpooled(descriptor.graph).nodes)
        assert any(n.op == "pooled" for n in descriptor.graph.nodes)


def test_only_sums_are_pooled() -> None:
    x = input_("x", K.F32)
    for total in (x, max_(x), sum_(x) + 1.0, reduce("prod", x)):
        with pytest.raises(InvalidProblemError, match="expected a sum along the row"):
            pooled(total, lambda part, own, whole: part)


@settings(max_examples=300)
@given(st.lists(st.integers(1, 40_000), min_size=1, max_size=4))
def test_blocks(extents: list[int]) -> None:
    axis, length = pool_block(extents)
    behind = prod(extents[axis + 1 :])
    assert 1 <= length <= extents[axis]
    wanted = POOLED_BLOCK * (1 + (prod(extents) > POOLED_LONG))
    assert behind < wanted
    assert length * behind <= 2 * wanted
    if prod(extents) >= wanted:
        assert length * behind >= wanted / 2 or length == extents[axis]
