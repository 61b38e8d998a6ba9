"""Floats of 16 and 8 bits, held against ml_dtypes: 8-bit storage, rounding words, and conversions that round once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from baracuda.cli.verify import values as data
from baracuda.cli.verify.bits import canonical_bits
from baracuda.core.axes import Axes
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.formula.conversions import cast_to, saturate_to
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, cast, input_
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate
from baracuda.formula.small_floats import FORMATS, stored_as_integers
from tests.lowering.graphs import Formula, pointwise, run
from tests.lowering.test_dtypes import assert_same, samples, stored
from tests.machine import Machine

pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # NumPy, of NaNs that signal

EIGHT = (K.F8E4M3, K.F8E5M2)
SMALL = (K.F16, K.BF16, *EIGHT)
COMPUTE = (K.S32, K.U32, K.S64, K.U64, K.BOOL, K.F32, K.F64)


def label(value: object) -> str:
    return str(value)


def kinds(chosen: tuple[K, ...]) -> Callable[..., None]:
    return pytest.mark.parametrize("kind", chosen, ids=label)


def floats(kind: K) -> np.ndarray:
    """f32 values: random patterns, and every value of `kind`, every middle between two, and their neighbours in f32."""
    codes = np.arange(1 << kind.bits, dtype=f"u{kind.itemsize}").view(kind.numpy)
    values = np.unique(codes.astype(np.float64)[np.isfinite(codes.astype(np.float32))])
    largest = values[-1]
    values = np.concatenate([values, (values[1:] + values[:-1]) / 2, [largest * s for s in (1.01, -1.01, 1.1, -1.1, 2.0, -2.0)]])
    with np.errstate(all="ignore"):
        exact = values.astype(np.float32)
    patterns = data.raw(f"floats{kind}", 200_000).astype(np.uint32).view(np.float32)
    return np.concatenate([exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(-np.inf)), patterns])


@kinds(EIGHT)
def test_every_pattern_is_read_right(kind: K, machine: Machine) -> None:
    x = np.arange(256, dtype=np.uint8).view(kind.numpy)
    got = run(machine, pointwise(lambda x: x, [kind], [K.F32], 1), {"x0": x})
    assert_same(got["y0"], x.astype(np.float32))


@kinds(EIGHT)
@pytest.mark.parametrize("source", [K.F16, K.BF16], ids=label)
def test_every_half_is_written_right(kind: K, source: K, machine: Machine) -> None:
    """All 65,536 values of the 16-bit floats, bit for bit; a NaN is a NaN of either sign."""
    x = np.arange(65_536, dtype=np.uint16).view(source.numpy)
    got = run(machine, pointwise(lambda x: x, [source], [kind], 1), {"x0": x})
    expected = stored(x.astype(np.float32), kind)
    assert np.array_equal(canonical_bits(got["y0"]), canonical_bits(expected))


@kinds(EIGHT)
def test_every_class_of_floats_is_written_right(kind: K, machine: Machine) -> None:
    x = floats(kind)
    got = run(machine, pointwise(lambda x: x, [K.F32], [kind], 1), {"x0": x})
    assert np.array_equal(got["y0"].view(np.uint8), stored(x, kind).view(np.uint8))


@kinds(SMALL)
def test_rounding_within_a_formula(kind: K, machine: Machine) -> None:
    """`cast_to` gives the value that would be stored, `saturate_to` the nearest finite one."""
    x = floats(kind)
    formula_plan = pointwise(lambda x: (cast_to(x, kind), saturate_to(x, kind)), [K.F32], [K.F32, K.F32], 1)
    got = run(machine, formula_plan, {"x0": x})
    assert_same(got["y0"], stored(x, kind).astype(np.float32))
    most = np.float32(FORMATS[kind].maximum)
    assert most == np.array(FORMATS[kind].largest, f"u{kind.itemsize}").view(kind.numpy).astype(np.float32)
    assert_same(got["y1"], stored(np.clip(x, -most, most), kind).astype(np.float32))


def nearest(value: float | int, kind: K) -> float:
    """A real number rounded once, in exact arithmetic."""
    f = FORMATS[kind]
    if value != value:
        return float("nan")
    if value in (float("inf"), float("-inf")):
        return f.overflow if value > 0 else -f.overflow
    size = abs(Fraction(value))
    step = Fraction(f.smallest)
    while size >= step * 2 ** (f.mantissa + 1):
        step *= 2
    whole = round(size / step)  # Python rounds halves to even
    result = float(whole * step)
    result = f.overflow if result > f.maximum else result
    return -result if value < 0 else result


@pytest.mark.one_of(2)
@kinds(SMALL)
@pytest.mark.parametrize("source", COMPUTE, ids=label)
def test_conversions_round_once(kind: K, source: K, machine: Machine) -> None:
    """From f64 and from integers too, where a step by way of f32 would round twice."""
    x = samples(source)[::5]
    if source is K.F64:
        ties = np.array([1.0, 2.0**-20, 3.0, 100.0]) * (1 + 2.0 ** -(FORMATS[kind].mantissa + 1))
        x = np.concatenate([x, ties, np.nextafter(ties, 0.0), np.nextafter(ties, np.inf), [448.0, 464.0, 464.0000001]])
    elif source.bits == 64:
        ties = [(1 << e) + (1 << (e - FORMATS[kind].mantissa - 1)) + o for e in (20, 40, 62) for o in (-1, 0, 1)]
        x = np.concatenate([x, np.array(ties, source.numpy)])
    got = run(machine, pointwise(lambda x: cast_to(x, kind), [source], [kind], 1), {"x0": x})
    expected = np.array([nearest(v, kind) for v in x.tolist()])
    if source.is_float:
        expected = np.copysign(expected, x)
    assert_same(got["y0"], stored(expected.astype(np.float32), kind))


@kinds((*SMALL, K.F32, K.F64))
@pytest.mark.parametrize("source", [K.S32, K.U64, K.F32, K.F64], ids=label)
def test_saturation(kind: K, source: K, machine: Machine) -> None:
    """Infinities become the largest finite values; NaN stays."""
    x = samples(source)
    got = run(machine, pointwise(lambda x: saturate_to(x, kind), [source], [kind], 1), {"x0": x})["y0"]
    assert np.array_equal(np.isnan(got.astype(np.float64)), np.isnan(x.astype(np.float64)))
    assert not np.isinf(got.astype(np.float64)).any()
    if source is K.F64 and kind is not K.F64:
        assert abs(got[np.isinf(x)].astype(np.float64)).min() == abs(got[~np.isnan(x)].astype(np.float64)).max()


@kinds(EIGHT)
def test_in_rows_that_are_read_twice(kind: K, machine: Machine) -> None:
    """A tensor scaled by the largest magnitude of its rows, stored in 8 bits with its scales in f16, and read back."""
    from baracuda.formula.functions import max_

    def quantize(x: Expr) -> tuple[Expr, Expr]:
        scale = cast_to(max_(abs(x)) / FORMATS[kind].maximum, K.F16)
        return saturate_to(x / scale, kind), scale

    space = (37, 1300)
    inputs = {"x": (K.F32, Axes.FULL)}
    outputs = {"q": (kind, Axes.FULL), "s": (K.F16, Axes.OUTER)}
    x = (data.normal("rows", space) * 50).astype(np.float32)
    scale = (abs(x).max(1, keepdims=True) / np.float32(FORMATS[kind].maximum)).astype(np.float16)
    for layouts in (["contiguous"], ["transposed"], ["sliced", "padded"]):
        got = run(machine, Formula(quantize, inputs, outputs, (False, True)), {"x": x}, layouts)
        assert_same(got["s"], scale)
        most = np.float32(FORMATS[kind].maximum)
        assert_same(got["q"], stored(np.clip(x / scale.astype(np.float32), -most, most), kind))
        back = Formula(lambda q, s: q * s, outputs, {"y": (K.F32, Axes.FULL)}, (False, True))
        assert_same(run(machine, back, got, layouts)["y"], got["q"].astype(np.float32) * scale.astype(np.float32))


def test_a_copy_looks_at_no_value() -> None:
    """Bytes go through unchanged where an 8-bit tensor is only moved."""
    x = input_("x", K.F8E4M3)
    graph = stored_as_integers(Graph((Port("x", K.F8E4M3),), ((Port("y", K.F8E4M3), x),)))
    assert graph.outputs == ((Port("y", K.U8), input_("x", K.U8)),)


@kinds(SMALL)
def test_a_value_is_rounded_once(kind: K) -> None:
    """A conversion to the kind that a result is stored in is left to the store."""
    x = input_("x", K.F32)
    plain, asked = (Graph((Port("x", K.F32),), ((Port("y", kind), e),)) for e in (x * 2.0, cast_to(x * 2.0, kind)))
    assert expand(asked) == expand(plain)


@kinds(SMALL)
def test_gradient_passes_through_rounding(kind: K) -> None:
    """As through any cast; beyond the largest value, where saturation holds the result still, it is 0."""
    x = input_("x", K.F64)
    formula = Graph((Port("x", K.F64),), ((Port("y", K.F32), cast_to(x * 3.0, kind) + cast(saturate_to(x, kind), K.F32)),))
    gradient_graph = gradient(formula, ["x"])
    values = np.array([0.5, 1.7, -3.0, FORMATS[kind].maximum * 2, -FORMATS[kind].maximum * 2])
    slopes = evaluate(gradient_graph, {"dy": np.ones(5), "x": values}, (5,), (False,))["dx"]
    assert slopes.tolist() == [4.0, 4.0, 4.0, 3.0, 3.0]


def test_packed_kinds_are_refused() -> None:
    for word in (cast_to, saturate_to):
        with pytest.raises(UnsupportedError, match="no conversion to f4e2m1 in a formula"):
            word(input_("x", K.F32), K.F4E2M1)
