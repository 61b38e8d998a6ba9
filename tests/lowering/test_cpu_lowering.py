"""CPU kernels against NumPy: values in float64, sums as bits, over layouts, sizes, threads and vector widths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind as K
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr, cast, coord, param, rare
from baracuda.formula.functions import max_, min_, prod, sqrt, sum_, sum_rows, where
from baracuda.runtime.cpu import set_num_threads
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget, assembly, host
from baracuda.runtime.pool import available_cpus
from baracuda.runtime.program import KernelSource
from tests.lowering.cpu_harness import bits, canonical, guarded, guards_intact, program, run, trace

FULL, INNER, OUTER = Axes.FULL, Axes.INNER, Axes.OUTER
SIZES = [1, 3, 16, 40, 127, 128, 129, 250, 1023, 1024, 1025, 5000, 70000]
LAYOUTS = ["rows", "columns", "sliced", "negative", "strided"]


@pytest.fixture(autouse=True, params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> Any:
    set_num_threads(request.param)
    yield request.param
    set_num_threads(available_cpus())


def laid_out(a: np.ndarray, layout: str) -> np.ndarray:
    """The same values elsewhere in memory."""
    if layout == "rows":
        return np.ascontiguousarray(a)
    if layout == "columns":
        return np.asfortranarray(a)
    if layout == "negative":
        return np.ascontiguousarray(a[..., ::-1])[..., ::-1]
    step = 2 if layout == "strided" else 1
    wide = np.zeros((*a.shape[:-1], a.shape[-1] * step + 5), a.dtype)
    view = wide[..., 3 : 3 + a.shape[-1] * step : step]
    view[...] = a
    return view


def numbers(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def rows_of(n: int) -> int:
    return 2 if n > 5000 else 37 if n < 1000 else 9


@pytest.mark.one_of(2)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [K.F32, K.F64])
def test_row_sums_have_the_canonical_bits(n: int, layout: str, kind: K) -> None:
    x = laid_out(numbers((rows_of(n), n), kind.numpy), layout)
    out, whole = guarded((x.shape[0],), x.dtype)
    run(sum_, x.shape, (False, True), [(("x", kind, FULL), x)], [(("y", kind, OUTER), out)])
    assert np.array_equal(bits(out), bits(canonical(x)))
    assert guards_intact(whole)


@pytest.mark.parametrize("n", [5, 1000, 3000])
@pytest.mark.parametrize("op", ["prod", "max", "min"])
def test_other_reductions(n: int, op: str) -> None:
    x = numbers((7, n)) * np.float32(1 if op != "prod" else 0.1) + np.float32(1)
    out, whole = guarded((7,), x.dtype)
    f = {"prod": prod, "max": max_, "min": min_}[op]
    run(f, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, OUTER), out)])
    assert np.array_equal(bits(out), bits(canonical(x, op)))
    assert guards_intact(whole)


def test_maximum_propagates_nan_and_orders_zeros() -> None:
    x = np.full((4, 300), -1.0, np.float32)
    x[0, 77] = np.nan
    x[1, 5], x[1, 9] = 0.0, -0.0
    x[2, 5], x[2, 9] = -0.0, 0.0
    out, _ = guarded((4,), x.dtype)
    run(max_, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, OUTER), out)])
    assert np.isnan(out[0])
    assert bits(out)[1:].tolist() == [0, 0, bits(np.array(np.float32(-1))).item()]


def centre(x: Expr) -> Expr:
    """A two-stage row-wise formula with an expensive intermediate value."""
    e = sqrt(abs(x - max_(x)) + 0.25) / 3.0
    return e / sum_(e)


def centre_reference(x: np.ndarray) -> np.ndarray:
    e = np.sqrt(abs(x - x.max(-1, keepdims=True)) + x.dtype.type(0.25)) / x.dtype.type(3)
    return e / canonical(e)[..., None]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("out_layout", ["rows", "columns"])
def test_two_stages_have_the_canonical_bits(n: int, layout: str, out_layout: str) -> None:
    x = laid_out(numbers((rows_of(n), n)), layout)
    out, whole = guarded(x.shape, x.dtype, (0, 1) if out_layout == "rows" else (1, 0))
    run(centre, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), out)])
    assert np.array_equal(bits(out), bits(centre_reference(x)))
    assert guards_intact(whole)


@pytest.mark.parametrize("n", [16, 1000, 40000])
def test_in_place(n: int) -> None:
    for layout in ("rows", "columns", "strided"):
        x = laid_out(numbers((9, n)), layout)
        expected = centre_reference(x)
        run(centre, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), x)])
        assert np.array_equal(bits(x), bits(expected))


@pytest.mark.parametrize("shape", [(3, 5, 7, 11), (2, 3, 1024, 2), (4, 3, 130, 31), (1, 2, 64, 1000)])
@pytest.mark.parametrize("inner", [(1, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1), (1, 1, 0, 0)])
def test_several_reduced_axes(shape: tuple[int, ...], inner: tuple[int, ...]) -> None:
    x = numbers(shape)
    outer = [a for a in range(4) if not inner[a]]
    out, whole = guarded([shape[a] for a in outer], x.dtype)
    run(sum_, shape, [bool(i) for i in inner], [(("x", K.F32, FULL), x)], [(("y", K.F32, OUTER), out)])
    rows = x.transpose([*outer, *(a for a in range(4) if inner[a])]).reshape(*out.shape, -1)
    assert np.array_equal(bits(out), bits(canonical(rows)))
    assert guards_intact(whole)


@pytest.mark.parametrize("shape", [(2, 3, 40, 50), (2, 2, 100, 128), (3, 8, 7, 5)])
def test_coordinates_inside_a_reduction(shape: tuple[int, ...]) -> None:
    x = numbers(shape)
    out, _ = guarded((shape[1],), x.dtype)

    def f(x: Expr) -> Expr:
        return sum_(x * (cast(coord(3), K.F32) - cast(coord(2), K.F32)))

    run(f, shape, (True, False, True, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, OUTER), out)])
    i, j = np.indices(shape)[2:].astype(np.float32)
    rows = (x * (j - i)).transpose(1, 0, 2, 3).reshape(shape[1], -1)
    assert np.array_equal(bits(out), bits(canonical(rows)))


def norm_backward(dy: Expr, x: Expr, gamma: Expr, rms: Expr) -> tuple[Expr, Expr]:
    """A row-wise gradient with a reduction over the rows beside it."""
    h = x / rms
    g = dy * gamma
    return (g - h * sum_(g * h)) / rms, sum_rows(dy * h) * 2.0


@pytest.mark.one_of(2)
@pytest.mark.parametrize("rows", [1, 3, 17, 127, 128, 129, 1000, 1024, 1025, 3000])
@pytest.mark.parametrize("n", [1, 5, 64, 1030])
def test_sums_over_rows_beside_sums_along_them(rows: int, n: int) -> None:
    dy, x, gamma = numbers((rows, n), seed=1), numbers((rows, n), seed=2), numbers((n,), seed=3)
    rms = abs(numbers((rows,), seed=4)) + np.float32(0.5)
    dx, dx_whole = guarded((rows, n), np.float32)
    dgamma, dgamma_whole = guarded((n,), np.float32)
    run(
        norm_backward,
        (rows, n),
        (False, True),
        [(("dy", K.F32, FULL), dy), (("x", K.F32, FULL), x), (("g", K.F32, INNER), gamma), (("r", K.F32, OUTER), rms)],
        [(("dx", K.F32, FULL), dx), (("dg", K.F32, INNER), dgamma)],
    )
    h = x / rms[:, None]
    g = dy * gamma
    assert np.array_equal(bits(dx), bits((g - h * canonical(g * h)[:, None]) / rms[:, None]))
    assert np.array_equal(bits(dgamma), bits(canonical((dy * h).T) * np.float32(2)))
    assert guards_intact(dx_whole)
    assert guards_intact(dgamma_whole)


def test_sums_over_several_outer_axes() -> None:
    shape = (3, 5, 70, 40)
    dy, x = numbers(shape, seed=1).transpose(1, 0, 2, 3), numbers((5, 3, 70, 40), seed=2)
    gamma, rms = numbers((40,), seed=3), abs(numbers((5, 3, 70), seed=4)) + np.float32(0.5)
    dx, _ = guarded((5, 3, 70, 40), np.float32)
    dgamma, _ = guarded((40,), np.float32)
    run(
        norm_backward,
        (5, 3, 70, 40),
        (False, False, False, True),
        [(("dy", K.F32, FULL), dy), (("x", K.F32, FULL), x), (("g", K.F32, INNER), gamma), (("r", K.F32, OUTER), rms)],
        [(("dx", K.F32, FULL), dx), (("dg", K.F32, INNER), dgamma)],
    )
    h = x / rms[..., None]
    assert np.array_equal(bits(dgamma), bits(canonical((dy * h).reshape(-1, 40).T) * np.float32(2)))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty(shape: tuple[int, int]) -> None:
    x = numbers(shape)
    total, _ = guarded((shape[0],), x.dtype)
    run(sum_, shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, OUTER), total)])
    assert np.array_equal(total, np.zeros(shape[0], np.float32))
    out, whole = guarded(shape, x.dtype)
    run(centre, shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), out)])
    assert guards_intact(whole)


def blend(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return a + param("w", K.F32) * (b - a), where(a < b, b - a, a - b)


SHAPES = [(1,), (3,), (1000,), (70000,), (1, 5000), (3, 70001), (5000, 3), (64, 64), (257, 300), (70, 33, 9), (2, 3) * 4]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("out_layout", ["rows", "columns"])
def test_pointwise(shape: tuple[int, ...], layout: str, out_layout: str) -> None:
    axes = list(range(len(shape)))
    a, b = numbers(shape, seed=1), laid_out(numbers(shape, seed=2), layout)
    first, first_whole = guarded(shape, np.float32)
    second, second_whole = guarded(shape, np.float64, axes if out_layout == "rows" else axes[::-1])
    run(
        lambda a, b: (blend(a, b)[0], cast(blend(a, b)[1], K.F64)),
        shape,
        (False,) * len(shape),
        [(("a", K.F32, FULL), a), (("b", K.F32, FULL), b)],
        [(("y", K.F32, FULL), first), (("z", K.F64, FULL), second)],
        {"w": 0.3},
    )
    assert np.array_equal(bits(first), bits(a + np.float32(0.3) * (b - a)))
    assert np.array_equal(second, np.where(a < b, b - a, a - b).astype(np.float64))
    assert guards_intact(first_whole)
    assert guards_intact(second_whole)


@pytest.mark.parametrize("shape", [(40, 50), (3, 4, 1000)])
def test_mixed_kinds_broadcasts_and_coordinates(shape: tuple[int, ...]) -> None:
    q = np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)
    scale = abs(numbers((*shape[:-1], 1)))
    bias = numbers((1,) * (len(shape) - 1) + shape[-1:])
    out, whole = guarded(shape, np.float16)
    run(
        lambda q, s, b: cast(q, K.F32) * s + b + cast(coord(0), K.F32),
        shape,
        (False,) * len(shape),
        [(("q", K.S8, FULL), q), (("s", K.F32, FULL), scale), (("b", K.F32, FULL), bias)],
        [(("y", K.F16, FULL), out)],
    )
    expected = q.astype(np.float32) * scale + bias + np.indices(shape)[0].astype(np.float32)
    assert np.array_equal(bits(out), bits(expected.astype(np.float16)))
    assert guards_intact(whole)


@pytest.mark.parametrize("kind", [K.F16, K.BF16])
def test_half_floats_round_to_nearest_even(kind: K) -> None:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 6e-8, 65519.0, 65520.0, 3.4e38, 1.00390625, 1.01171875]
    x = np.concatenate([np.array(special, np.float32), numbers((3000,)) * np.float32(1e-5), numbers((3000,))])
    out, whole = guarded(x.shape, np.uint16)
    run(lambda x: x * 1.0, x.shape, (False,), [(("x", K.F32, FULL), x)], [(("y", kind, FULL), out)])
    with np.errstate(over="ignore"):
        expected = x.astype(kind.numpy)
    assert np.array_equal(np.isnan(out.view(kind.numpy)), np.isnan(expected))
    keep = ~np.isnan(expected)
    assert np.array_equal(out[keep], expected.view(np.uint16)[keep])
    assert guards_intact(whole)


def test_casts_saturate_and_integers_wrap() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 1.9, -1.9, 127.5, 300.0], np.float32)
    out, _ = guarded(x.shape, np.int32)
    run(lambda x: cast(x, K.S32), x.shape, (False,), [(("x", K.F32, FULL), x)], [(("y", K.S32, FULL), out)])
    top = 2**31 - 1
    assert out.tolist() == [0, top, -top - 1, top, -top - 1, 1, -1, 127, 300]
    small, _ = guarded(x.shape, np.int8)
    run(lambda x: cast(x, K.S32), x.shape, (False,), [(("x", K.F32, FULL), x)], [(("y", K.S8, FULL), small)])
    assert small.tolist() == [0, -1, 0, -1, 0, 1, -1, 127, 44]


@pytest.mark.parametrize("n", [5, 300, 3000])
def test_rare_branch(n: int) -> None:
    x = numbers((n,))
    x[n // 2] = 100.0
    out, _ = guarded(x.shape, x.dtype)

    def f(x: Expr) -> Expr:
        square = x * x
        return rare(abs(x) > 50.0, sqrt(square) / 3.0 + square, square + 1.0)

    run(f, x.shape, (False,), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), out)])
    square = x * x
    expected = np.where(abs(x) > 50, np.sqrt(square) / np.float32(3) + square, square + np.float32(1))
    assert np.array_equal(bits(out), bits(expected))


@pytest.mark.parametrize("vector_bits", [128, 256, 512])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
def test_bits_do_not_depend_on_the_vector_width(vector_bits: int, layout: str) -> None:
    if vector_bits > host().vector_bits:
        pytest.skip("the processor has no vectors this wide")
    targets = [replace(host(), vector_bits=vector_bits)]
    if vector_bits == 256 and host().triple.startswith("x86_64"):
        targets.append(CpuTarget(host().triple, "x86-64-v3", "", 256))
    for n in (7, 129, 200, 3000):
        x = laid_out(numbers((21, n)), layout)
        for target in targets:
            out, whole = guarded(x.shape, x.dtype)
            run(centre, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), out)], target=target)
            assert np.array_equal(bits(out), bits(centre_reference(x)))
            assert guards_intact(whole)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("kind", [K.BF16, K.F16, K.S8, K.U8, K.S16, K.S64])
@pytest.mark.parametrize("n", [1, 3, 16, 64, 130, 1000, 3001])
def test_narrow_and_wide_kinds_along_rows(kind: K, n: int) -> None:
    """Rounding on the way in and out, over short, long, side by side and strided rows."""
    x = (numbers((40, n)) * np.float32(20)).astype(kind.numpy)
    wide = x.astype(kind.compute.numpy)
    two = wide.dtype.type(2)
    for layout in ("rows", "columns", "strided"):
        out, whole = guarded(x.shape, kind.numpy)
        total, _ = guarded((40,), kind.compute.numpy)
        run(
            lambda x: (x * 2 + max_(x), sum_(x)),
            x.shape,
            (False, True),
            [(("x", kind, FULL), laid_out(x, layout))],
            [(("y", kind, FULL), out), (("z", kind.compute, OUTER), total)],
        )
        expected = (wide * two + wide.max(-1, keepdims=True)).astype(kind.numpy)
        assert np.array_equal(bits(out), bits(expected))
        assert np.array_equal(bits(total), bits(canonical(wide)))
        assert guards_intact(whole)


def test_few_columns_of_long_rows() -> None:
    """Rows side by side, too few to be shared out whole."""
    x = np.asfortranarray(numbers((40, 30000)))
    out, whole = guarded(x.shape, x.dtype, (1, 0))
    lowered = run(centre, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), out)])
    assert lowered.schedule == "split+columns"
    assert np.array_equal(bits(out), bits(centre_reference(x)))
    assert guards_intact(whole)


def test_large_outputs_are_streamed_from_any_alignment() -> None:
    x = numbers((1500, 5000))
    whole = np.empty(x.size + 64, np.float32)
    for start in (0, 1, 7, 16):
        whole[:] = 7.0
        out = whole[start : start + x.size].reshape(x.shape)
        run(lambda x: x * 3.0, x.shape, (False, False), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), out)])
        assert np.array_equal(out, x * np.float32(3))
        assert (whole[:start] == 7.0).all()
        assert (whole[start + x.size :] == 7.0).all()


@pytest.mark.parametrize("threads", [1], indirect=True)
@pytest.mark.parametrize(
    "target",
    [
        CpuTarget("x86_64-unknown-linux-gnu", "x86-64-v3", "", 256),
        CpuTarget("x86_64-unknown-linux-gnu", "x86-64-v4", "", 512),
        CpuTarget("aarch64-unknown-linux-gnu", "generic", "+neon", 128),
    ],
    ids=["x86-64-v3", "x86-64-v4", "aarch64"],
)
def test_code_for_other_processors(target: CpuTarget) -> None:
    texts: list[str] = []
    for shape, kind in (((40, 20), K.BF16), ((40, 3000), K.F16), ((2, 70000), K.F64)):
        x = np.zeros(shape, kind.numpy)
        for layout in ("rows", "columns"):
            for f, inner in ((centre, (False, True)), (lambda x: x * x, (False, False))):
                graph = trace(f, [("x", kind, FULL)], [("y", kind, FULL)])
                lowered, _ = program(graph, shape, inner, [laid_out(x, layout), x], target)
                texts += [launch.source for launch in lowered.launches]
    assert len(texts) >= 12
    for text in texts:
        assert assembly(text, target)


def test_a_kernel_serves_many_shapes(threads: int) -> None:
    def functions(n: int) -> list[KernelSource]:
        x = numbers((50, n))
        lowered, _ = program(trace(centre, [("x", K.F32, FULL)], [("y", K.F32, FULL)]), x.shape, (False, True), [x, x])
        return [launch.kernel for launch in lowered.launches]

    assert functions(1000) == functions(1001) == functions(5000)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [1, 5, 300, 3000])
def test_code_for_general_strides(layout: str, n: int) -> None:
    """One kernel, whatever the layout."""
    x = laid_out(numbers((30, n)), layout)
    out, whole = guarded(x.shape, x.dtype)
    lowered = run(centre, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), out)], general=True)
    assert np.array_equal(bits(out), bits(centre_reference(x)))
    assert guards_intact(whole)
    contiguous = run(
        centre, x.shape, (False, True), [(("x", K.F32, FULL), numbers(x.shape))], [(("y", K.F32, FULL), out)], general=True
    )
    assert [launch.kernel for launch in lowered.launches] == [launch.kernel for launch in contiguous.launches]


def test_what_is_loaded_is_known() -> None:
    """A kernel that has run is there; one of another formula is not, and lowering it compiles nothing."""
    x = numbers((20, 700))
    lowered = run(centre, x.shape, (False, True), [(("x", K.F32, FULL), x)], [(("y", K.F32, FULL), np.empty_like(x))])
    graph = trace(lambda x: x / (sum_(x * x) + 1234.5), [("x", K.F32, FULL)], [("y", K.F32, FULL)])
    other, _ = program(expand(graph), x.shape, (False, True), [x, x])
    toolchain = CpuToolchain()
    assert all(map(toolchain.is_loaded, lowered.launches))
    assert not any(map(toolchain.is_loaded, other.launches))
