"""Combinations by destination: bits against the canonical order written in NumPy, values against np.add.at in float64, under
every layout and distribution of the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.placement import LAYOUTS, place
from baracuda.cli.verify.session import select_for
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import order
from baracuda.ops.indexing.scatter import ScatterArgs, ScatterDescriptor, ScatterKind, ScatterPlan
from tests.machine import Machine

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip


# --- the reference ----------------------------------------------------------------------------------------------------


def canonical(op: str, rows: np.ndarray, kind: K) -> np.ndarray:
    """Rows combined in the canonical order, one column beside another."""
    combine, count = COMBINE[op], -(-len(rows) // order.SEGMENT)
    padded = np.full((count * order.SEGMENT, *rows.shape[1:]), order.identity("sum" if op == "mean" else op, kind), rows.dtype)
    padded[: len(rows)] = rows
    elements = padded.reshape(count, order.CHAIN, order.LANES, *rows.shape[1:])
    lanes = elements[:, 0]
    for k in range(1, order.CHAIN):
        lanes = combine(lanes, elements[:, k])
    while lanes.shape[1] > 1:
        lanes = combine(lanes[:, 0::2], lanes[:, 1::2])
    results = list(lanes[:, 0])
    while len(results) > 1:
        joined = [combine(a, b) for a, b in zip(results[0::2], results[1::2], strict=False)]
        results = joined + results[2 * len(joined) :]
    return np.asarray(results[0])


def destinations(d: ScatterDescriptor, index: np.ndarray) -> np.ndarray:
    """The number of each position's destination, in logical order; -1 for one that goes nowhere."""
    extent = d.shape[d.axis]
    wide = index.astype(np.int64)
    wrapped = np.where((wide < 0) & d.wrap, wide + extent, wide)
    held = np.clip(wrapped, 0, extent - 1)
    if d.aligned:
        where = [np.minimum(c, n - 1) for c, n in zip(np.indices(index.shape), d.shape, strict=True)]
        where[d.axis] = held
        held = np.ravel_multi_index(where, d.shape)
    return np.where(wrapped == d.skip, -1, held).ravel() if d.skip is not None else held.ravel()


def expected(d: ScatterDescriptor, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """What the plan promises, bit for bit."""
    compute = d.element.compute.numpy
    keys = destinations(d, inputs["index"])
    if d.aligned:
        shape: tuple[int, ...] = (int(np.prod(d.shape)), 1)
    else:
        shape = (d.shape[d.axis], int(np.prod(d.shape)) // max(d.shape[d.axis], 1))

    def columns(x: np.ndarray) -> np.ndarray:
        """A tensor of the result's shape, or of x's, with what the index runs over in front."""
        if d.aligned:
            return x.reshape(-1, 1)
        rank = x.ndim - len(d.shape) + 1
        moved = np.moveaxis(x, range(d.axis, d.axis + rank), range(rank))
        return moved.reshape(int(np.prod(moved.shape[:rank])), shape[1])

    kind = d.element.compute
    op, empty = d.reduce.value, 0.0
    if d.reduce is ScatterKind.COUNT:
        result = np.bincount(keys[keys >= 0], minlength=shape[0])[:, None].repeat(shape[1], 1).astype(compute)
    else:
        rows = columns(inputs["x"]).astype(compute)
        if d.has_rows:
            assert d.sources is not None
            rows = rows[np.clip(inputs["rows"].ravel(), 0, d.sources - 1)]
        if d.has_weights:
            rows = rows * inputs["weights"].reshape(-1, 1)
        base = columns(inputs["base"]).astype(compute) if d.has_base else None
        if op in ("prod", "max", "min"):
            empty = order.empty(op, kind if d.element.is_float else d.element)
        result = np.full(shape, empty, compute) if base is None else base.copy()
        joined = base if d.joined else None
        for number in np.unique(keys[keys >= 0]):
            own = rows[keys == number]
            value = canonical(op, own, kind)
            if d.alpha is not None:
                value = value * compute.type(d.alpha)
            if joined is not None:
                value = COMBINE[op](joined[number], value)
            if op == "mean":
                n = len(own) + (joined is not None)
                value = value / compute.type(n) if kind.is_float else value // compute.type(n)
            result[number] = value
    stored = result.astype(d.element.numpy)
    if d.aligned:
        return stored.reshape(d.shape)
    rest = (*d.shape[: d.axis], *d.shape[d.axis + 1 :])
    return np.moveaxis(stored.reshape(d.shape[d.axis], *rest), 0, d.axis)


# --- running ----------------------------------------------------------------------------------------------------------


def draw(shape: tuple[int, ...], kind: K, rng: np.random.Generator) -> np.ndarray:
    if kind.category.value == "complex":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind.numpy)
    if kind.is_float:
        return rng.standard_normal(shape).astype(kind.numpy)
    held = np.iinfo(kind.numpy)
    return rng.integers(held.min, held.max, shape, kind.numpy, endpoint=True)


def indices(d: ScatterDescriptor, spread: str, rng: np.random.Generator) -> np.ndarray:
    """Indices of a distribution: even, nearly all of them in one place, or a few of them out of range."""
    n = d.shape[d.axis]
    indices_ = rng.integers(0, max(n, 1), d.index_shape)
    if spread == "hot":
        indices_ = np.where(rng.random(d.index_shape) < 0.9, n // 2, indices_)
    if spread == "beyond":
        indices_ = np.where(rng.random(d.index_shape) < 0.1, rng.integers(-3 * n - 1, 3 * n + 2, d.index_shape), indices_)
    return indices_.astype(d.index_element.numpy)


def run(
    machine: Machine, d: ScatterDescriptor, *, layout: str = "contiguous", spread: str = "even", seed: int = 0, like: bool = True
) -> None:
    """Compare one problem bit for bit; nothing but the result may have been written."""
    rng = np.random.default_rng(seed)
    inputs: dict[str, np.ndarray] = {}
    tensors: dict[str, Any] = {}
    places, blocks, held = {}, {}, {}
    for number, spec in enumerate(ScatterPlan.tensors):
        if spec.presence(d) is False:
            continue
        shape, kind = spec.expected_shape(d), spec.expected_kind(d)
        at = place(shape, kind, layout if shape else "contiguous", writable=spec.written, number=number)
        block = at.block(0xFF)
        if not spec.written:
            if spec.name == "index":
                at.view(block)[...] = indices(d, spread, rng)
            elif spec.name == "rows":
                at.view(block)[...] = rng.integers(-1, (d.sources or 0) + 1, shape)
            else:
                at.view(block)[...] = draw(shape, kind, rng)
            inputs[spec.name] = at.view(block).copy()
        places[spec.name], blocks[spec.name], held[spec.name] = at, block, machine.upload(block)
        tensors[spec.name] = held[spec.name].tensor(at, writable=spec.written)
    args = ScatterArgs(**tensors)
    plan = select_for(ScatterPlan, machine.stream, d, args, general=not like and layout != "contiguous")
    plan.run(machine.stream, machine.workspace(plan.workspace_size()), args)
    machine.synchronize()
    after = held["y"].download()
    result = places["y"].view(after).copy()
    wanted = expected(d, inputs)
    same = canonical_bits(_real(result)) == canonical_bits(_real(wanted))
    where = np.argwhere(~same)[:1]
    assert same.all(), f"{d} {layout} {spread}: {(~same).sum()} elements differ, first at {where}"
    places["y"].view(blocks["y"])[...] = result
    assert np.array_equal(after, blocks["y"]), "bytes outside the result were written"


def _real(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x).view(np.empty(0, x.dtype).real.dtype) if x.dtype.kind == "c" and x.ndim else x


SUM = ScatterDescriptor(ScatterKind.SUM, (7, 5), 0, (40,), K.F32)


# --- bits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 2, 3, 8, 16, 33, 600])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 31, 33, 128, 129, 200, 1023, 1024, 1025, 2500])
def test_runs_of_every_length(machine: Machine, count: int, columns: int) -> None:
    run(machine, replace(SUM, shape=(1, columns), index_shape=(count,)))


@pytest.mark.parametrize("spread", ["even", "hot", "beyond"])
@pytest.mark.parametrize(
    ("rows", "count"), [(1, 5000), (2, 3000), (3, 40_000), (50, 3000), (1025, 3000), (5000, 2000), (70_000, 20_000)]
)
def test_distributions(machine: Machine, rows: int, count: int, spread: str) -> None:
    run(machine, replace(SUM, shape=(rows, 3), index_shape=(count,)), spread=spread)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("reduce", [k for k in ScatterKind if k is not ScatterKind.COUNT])
@pytest.mark.parametrize("kind", [K.F16, K.BF16, K.F32, K.F64, K.S8, K.U8, K.S32, K.U32, K.S64, K.U64])
def test_kinds(machine: Machine, kind: K, reduce: ScatterKind) -> None:
    d = ScatterDescriptor(reduce, (9, 4), 0, (300,), kind, K.S32 if kind.bits in (16, 32) else K.S64)
    for changed in (d, replace(d, has_base=True), replace(d, has_base=True, joined=False, skip=3), replace(d, alpha=2.0)):
        run(machine, changed, spread="hot")


@pytest.mark.parametrize("kind", [K.C64, K.C128])
@pytest.mark.parametrize("aligned", [False, True])
def test_complex_numbers(kind: K, aligned: bool) -> None:
    rng = np.random.default_rng(5)
    x, index = draw((2000, 3), kind, rng), rng.integers(0, 4, (2000, 3) if aligned else (2000,))
    zero = np.zeros((4, 3), kind.numpy)
    if aligned:
        y = baracuda.scatter_add(zero, index, x, axis=0)
        halves = [baracuda.scatter_add(z, index, p.copy(), axis=0) for z, p in ((zero.real, x.real), (zero.imag, x.imag))]
    else:
        y = baracuda.index_add(zero, index, x)
        halves = [baracuda.index_add(z, index, p.copy()) for z, p in ((zero.real, x.real), (zero.imag, x.imag))]
    assert np.array_equal(y, halves[0] + 1j * halves[1])


@pytest.mark.parametrize("layout", LAYOUTS[:-1])
@pytest.mark.parametrize("like", [True, False])
def test_layouts(machine: Machine, layout: str, like: bool) -> None:
    """Kernels for a layout, and those for any strides."""
    base = {"has_base": True, "element": K.F32}
    for d in (
        ScatterDescriptor(ScatterKind.SUM, (6, 5, 8), 1, (4, 30), **base),
        ScatterDescriptor(ScatterKind.SUM, (6, 5, 16), 2, (40,), **base),
        ScatterDescriptor(ScatterKind.MAX, (9, 4, 6), 0, (3, 2, 50), **base),
        ScatterDescriptor(ScatterKind.MEAN, (4, 6, 5), 1, (4, 70, 5), aligned=True, **base),
        ScatterDescriptor(ScatterKind.SUM, (4, 6, 5), 0, (60, 3, 5), aligned=True, wrap=True, **base),
        ScatterDescriptor(ScatterKind.SUM, (6, 8), 0, (30,), K.BF16, has_weights=True, sources=10),
    ):
        run(machine, d, layout=layout, spread="beyond", like=like)


def test_axes_of_extent_one_are_summed_along(machine: Machine) -> None:
    run(machine, ScatterDescriptor(ScatterKind.SUM, (1, 6, 1), 1, (4, 50, 9), K.F32, aligned=True))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3, 4)])
def test_without_positions_or_destinations(machine: Machine, shape: tuple[int, ...]) -> None:
    for reduce in ScatterKind:
        element = K.S64 if reduce is ScatterKind.COUNT else K.F32
        for positions in ((0,), (0, 3), (2, 0)):
            run(machine, ScatterDescriptor(reduce, shape, 0, positions, element))


def test_counting(machine: Machine) -> None:
    for rows, count in ((1, 10), (300, 5000), (3000, 100)):
        run(machine, ScatterDescriptor(ScatterKind.COUNT, (rows,), 0, (count,), K.S64, skip=0), spread="hot")
        run(machine, ScatterDescriptor(ScatterKind.COUNT, (rows, 6), 0, (count,), K.S64), spread="hot")


def test_special_values(machine: Machine) -> None:
    """NaN and infinities arrive; a run of one element keeps the sign of its zero, and no element at all gives +0."""
    x = np.float32([-0.0, np.nan, np.inf, -np.inf, np.inf, -0.0, -0.0])
    y = baracuda.segment_sum(x, np.array([0, 1, 2, 3, 3, 5, 5]), num_segments=6)
    wanted = np.float32([-0.0, np.nan, np.inf, np.nan, 0.0, -0.0])
    assert np.array_equal(canonical_bits(y), canonical_bits(wanted))


@pytest.mark.cpu_only
def test_threads_change_no_bit() -> None:
    rng = np.random.default_rng(3)
    x, index = rng.standard_normal((60_000, 4)).astype(np.float32), rng.integers(0, 30, 60_000)
    results = []
    before = baracuda.get_num_threads()
    for count in (1, 2, 3):
        baracuda.set_num_threads(count)
        results.append(baracuda.segment_sum(x, index, num_segments=30))
    baracuda.set_num_threads(before)
    assert all(np.array_equal(r, results[0]) for r in results)


def test_in_place_on_the_base(machine: Machine) -> None:
    rng = np.random.default_rng(4)
    x, index, source = rng.standard_normal((5, 7)), rng.integers(0, 5, 100), rng.standard_normal((100, 7))
    wanted = baracuda.index_add(x, index, source, alpha=0.5)
    assert baracuda.index_add(x, index, source, alpha=0.5, out=x) is x
    assert np.array_equal(x, wanted)


def test_values_against_add_at() -> None:
    """The sum is right, and not only the one that the other NumPy code above computes."""
    rng = np.random.default_rng(2)
    x, index = rng.standard_normal((100_000, 5)).astype(np.float32), rng.zipf(1.3, 100_000) % 1000
    wanted, size = np.zeros((1000, 5)), np.zeros((1000, 5))
    np.add.at(wanted, index, x)
    np.add.at(size, index, np.abs(x))
    y = baracuda.segment_sum(x, index, num_segments=1000)
    assert np.all(np.abs(y - wanted) <= 30 * 2.0**-24 * size)


@pytest.mark.cpu_only
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_kernels_compile(arch: str, full: bool) -> None:
    """All problems for all architectures with --full; otherwise they take turns."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.lowering.nest.cuda.kernel import Target
    from baracuda.lowering.scatter.cuda.lower import lower
    from baracuda.lowering.scatter.problem import normalise
    from baracuda.runtime.nvrtc import cubin

    plain = ScatterDescriptor(ScatterKind.SUM, (50_000, 768), 0, (16, 1024), K.BF16)
    problems = [
        plain,
        replace(plain, has_base=True, alpha=2.0, skip=0, wrap=True),
        ScatterDescriptor(ScatterKind.MEAN, (4, 5, 7), 1, (4, 3000, 7), K.F64, K.S32, aligned=True, has_base=True, joined=False),
        ScatterDescriptor(ScatterKind.MEAN, (6, 8), 0, (900,), K.S32, K.S32, has_base=True),
        ScatterDescriptor(ScatterKind.SUM, (6, 8), 0, (300,), K.F32, has_weights=True, sources=10),
        ScatterDescriptor(ScatterKind.SUM, (50, 3), 0, (9000,), K.C64),
        ScatterDescriptor(ScatterKind.COUNT, (2000,), 0, (500_000,), K.S64),
    ]
    if full:
        kinds = (K.F16, K.BF16, K.F32, K.F64, K.S8, K.U8, K.S16, K.U16, K.S32, K.U32, K.S64, K.U64)
        reduces = [k for k in ScatterKind if k is not ScatterKind.COUNT]
        problems += [ScatterDescriptor(r, (9, 24), 0, (3000,), k) for k in kinds for r in reduces]
    turn = ("sm_80", "sm_90", "sm_100").index(arch)
    for d in problems if full else problems[turn::3]:
        for layout in ScatterPlan.layouts(d)[:2] if full else [ScatterPlan.layouts(d)[problems.index(d) % 2]]:
            for launch in lower(normalise(d.scatter(layout)), Target(arch)).launches:
                assert cubin(launch.source, arch)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_wrong_problems_are_told() -> None:
    with pytest.raises(InvalidProblemError, match="no entry along axis 0"):
        replace(SUM, shape=(0, 5))
    with pytest.raises(UnsupportedError, match="index_element: u8"):
        replace(SUM, index_element=K.U8)
    with pytest.raises(UnsupportedError, match="element: bool"):
        replace(SUM, element=K.BOOL)
    with pytest.raises(UnsupportedError, match="complex numbers are only summed"):
        replace(SUM, element=K.C64, reduce=ScatterKind.PROD)
    with pytest.raises(InvalidProblemError, match="expected none where positions are counted"):
        replace(SUM, reduce=ScatterKind.COUNT, has_base=True)
    with pytest.raises(InvalidProblemError, match="index_shape"):
        replace(SUM, aligned=True, index_shape=(3, 6))
    with pytest.raises(InvalidProblemError, match="sources"):
        replace(SUM, sources=4, axis=1)
    x, plan = np.zeros((7, 5), np.float32), ScatterPlan.select(None, replace(SUM, index_shape=(7,)))
    with pytest.raises(InvalidProblemError, match="overlaps"):
        plan.can_implement(ScatterArgs(np.zeros(7, np.int64), x, y=x))
