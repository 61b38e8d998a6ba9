"""Attention in integers against its written order bit by bit, and as promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.core.sku import BackendKind, MathPrecision, PlanPreference
from baracuda.formula import functions as f
from baracuda.formula.integer_products import INTEGER_BITS
from baracuda.lowering.attention.implementation import AttentionImplementation
from baracuda.ops.attention.plan import AttentionBackwardPlan, AttentionPlan
from baracuda.runtime.jit import CpuTarget
from tests.lowering.attention_cases import AttentionCase, different
from tests.lowering.attention_inputs import CASES, CAUSAL, Inputs
from tests.lowering.integer_attention_reference import IntegerEmulation
from tests.lowering.product_reference import same_bits
from tests.lowering.test_attention import LAYOUTS, array, backward, forward, laid, on, same
from tests.lowering.test_integer_products import instruction_sets
from tests.machine import threads

Tensor = torch.Tensor
MATHS = (MathPrecision.INT15, MathPrecision.INT23)
both = pytest.mark.parametrize("math", MATHS, ids=str)
#: Those of chains in 16-bit elements, and depths of a block, of part of one, of more than one, of one element.
SIXTEEN = tuple(replace(c, element=K.BF16 if i % 2 else K.F16) for i, c in enumerate(CASES))
DEPTHS = tuple(
    Inputs((1, 2, 1, 67, 80, depth, value_depth), element, CAUSAL)
    for depth, value_depth, element in ((1, 1, K.BF16), (40, 64, K.F16), (64, 40, K.BF16), (128, 3, K.F16), (192, 128, K.BF16))
)


def preferring(math: MathPrecision) -> Any:
    return baracuda.preferring(PlanPreference(math=math))


def emulation(case: Inputs, t: dict[str, Tensor], math: MathPrecision) -> IntegerEmulation:
    return IntegerEmulation(case.backward_descriptor, {n: array(x) for n, x in t.items()}, INTEGER_BITS[math])


def hold(case: Inputs, tensors: dict[str, Tensor], device: str, math: MathPrecision) -> None:
    """Every bit of results and gradients is that of the written order."""
    t = on(device, tensors)
    with preferring(math):
        y, lse = forward(case, t)
        gradients = backward(case, t, y, lse)
    with np.errstate(all="ignore"):
        order = emulation(case, tensors, math)
        expected, log_sum = order.forward()
        kind = case.element.numpy
        assert same_bits(array(lse), log_sum)
        assert same_bits(array(y), expected.astype(kind))
        for name, gradient in zip("qkv", order.backward(array(y), array(lse), array(tensors["dy"])), strict=True):
            assert same_bits(array(gradients[name]), gradient.astype(kind)), name


# --- bits -------------------------------------------------------------------------------------------------------------


@pytest.mark.one_of(2)
@both
@pytest.mark.parametrize("case", [*SIXTEEN, *DEPTHS], ids=str)
def test_order(case: Inputs, device: str, math: MathPrecision) -> None:
    hold(case, case.tensors(), device, math)


OPTIONS: tuple[dict[str, Any], ...] = ({}, {"causal": True}, {"causal": True, "offset": -3}, {"window": (20, 70)})


@pytest.mark.one_of(8)
@both
@pytest.mark.parametrize("queries", [1, 2, 15, 16, 17, 63, 64, 65, 129])
@pytest.mark.parametrize("keys", [1, 3, 4, 63, 64, 65, 130])
def test_sizes(device: str, keys: int, queries: int, math: MathPrecision, full: bool) -> None:
    grid = [(depths, options) for depths in ((1, 40), (40, 1), (64, 64), (130, 16), (16, 260)) for options in OPTIONS]
    for (depth, value_depth), options in grid if full else grid[(queries + 3 * keys) % len(grid) :][:1]:
        case = Inputs((1, 2, 1, queries, keys, depth, value_depth), K.BF16, options)
        hold(case, case.tensors(), device, math)


def _outliers(t: dict[str, Tensor]) -> None:
    for name in ("q", "k", "v", "dy"):
        t[name][..., 3] *= 300
        t[name][:, :, 5] *= 2.0**-20


def _subnormal(t: dict[str, Tensor]) -> None:
    for name in ("k", "v", "dy"):
        t[name][:, :, 1::3] *= 2.0**-130
        t[name][:, :, 4] = 0
    t["q"] *= 2.0**60
    t["k"][:, :, ::2] *= 2.0**-60


def _large(t: dict[str, Tensor]) -> None:
    t["q"] *= 2.0**100
    t["k"] *= 2.0**-90
    t["v"] *= 2.0**120
    t["dy"] *= 2.0**-120


def _not_finite(t: dict[str, Tensor]) -> None:
    t["q"][:, 0, 3, 2] = torch.nan
    t["k"][:, :, 60, 7] = -torch.inf
    t["v"][:, :, 69, 0] = torch.inf
    t["dy"][:, :, 9, 1] = torch.nan


def _zeros(t: dict[str, Tensor]) -> None:
    for x in t.values():
        x[...] = 0


@both
@pytest.mark.parametrize("change", [_outliers, _subnormal, _large, _not_finite, _zeros])
def test_values_of_all_kinds(change: Callable[[dict[str, Tensor]], None], device: str, math: MathPrecision) -> None:
    case = Inputs((2, 2, 1, 70, 130, 40, 48), K.BF16, {"causal": True})
    tensors = case.tensors()
    change(tensors)
    hold(case, tensors, device, math)


def hold_all_bits(inputs: Inputs, layout: str, math: MathPrecision, target: CpuTarget | None = None) -> None:
    """Of f32 elements, which no rounding to 16 bits hides: results, gradients and one for each pair, and what is beside them."""
    arrays = {n: array(x) for n, x in inputs.tensors().items()}
    with np.errstate(all="ignore"):
        order = IntegerEmulation(inputs.backward_descriptor, arrays, INTEGER_BITS[math])
        expected = dict(zip(("y", "lse"), order.forward(), strict=True))
        gradients = order.backward(expected["y"], expected["lse"], arrays["dy"])
    expected |= {**dict(zip(("dq", "dk", "dv"), gradients, strict=True)), "dbias": order.dbias}
    for wrt in ((), ("q", "k", "v", "bias")):
        for general in {False, layout != "contiguous"}:
            case = AttentionCase(inputs, wrt, {"all": layout}, general, math=math)
            blocks = case.blocks()
            wanted = {n: blocks[n].copy() for n in case.written}
            for name, block in wanted.items():
                case.placements[name].view(block)[...] = expected[name]
            case.run_on_cpu(blocks, target)
            assert different(case, blocks, wanted) == {}


class Unusual(Inputs):
    """Rows that are not finite, that are subnormal, that are zeros; weights that underflow, and of rows that nobody sees."""

    def tensors(self) -> dict[str, Tensor]:
        t = super().tensors()
        for change in (_not_finite, _subnormal):
            change(t)
        t["k"][:, :, 20:23] = t["v"][:, :, 20:23] = torch.nan  # which nobody sees
        t["mask"][..., 20:23] = False
        return t


WIDE = Inputs((2, 4, 2, 70, 130, 24, 136), K.F32, {"causal": True, "offset": 60, "softcap": 3.0}, bias=(2, 4, 70, 130))
ODD = Inputs((1, 1, 1, 37, 70, 137, 5), K.F32, {"causal": True, "offset": 33}, bias=(1, 1, 37, 70))
UNUSUAL = Unusual((1, 2, 1, 70, 90, 40, 24), K.F32, {"causal": True, "offset": 20}, bias=(1, 2, 70, 90), mask=(1, 1, 1, 90))


@pytest.mark.cpu_only
@pytest.mark.one_of(2)
@both
@pytest.mark.parametrize("layout", ["heads last", "transposed", "sliced", "negative", "padded", "misaligned"])
def test_all_bits(math: MathPrecision, layout: str) -> None:
    hold_all_bits(WIDE, layout, math)


@pytest.mark.cpu_only
@pytest.mark.one_of(2)
@both
@pytest.mark.parametrize("target", list(instruction_sets()))
def test_every_instruction_set_has_the_same_bits(target: CpuTarget, math: MathPrecision) -> None:
    for inputs in (WIDE, ODD, UNUSUAL):
        hold_all_bits(inputs, "contiguous", math, target)


# --- promises ---------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("heads", [2, 6])
def test_prefill_is_decoding(device: str, math: MathPrecision, heads: int) -> None:
    """A query has the same bits in a prefill, alone with the keys up to it, in other batches and among fewer queries."""
    case = Inputs((2, heads, 2, 140, 140, 40, 48), K.BF16, CAUSAL)
    t = on(device, case.tensors())
    with preferring(math):
        y, lse = baracuda.scaled_dot_product_attention(t["q"], t["k"], t["v"], causal=True, saved=True)
        for i in (0, 1, 2, 3, 14, 62, 63, 64, 65, 127, 128, 139):
            q, k, v = t["q"][:, :, i : i + 1], t["k"][:, :, : i + 1], t["v"][:, :, : i + 1]
            one = baracuda.scaled_dot_product_attention(q, k, v, saved=True)
            step = baracuda.scaled_dot_product_attention(q, t["k"], t["v"], causal=True, offset=i, saved=True)
            alone = baracuda.scaled_dot_product_attention(q[1:], k[1:], v[1:], saved=True)
            for found in (one, step):
                assert same(found[0], y[:, :, i : i + 1]), i
                assert same(found[1], lse[:, :, i : i + 1]), i
            assert same(alone[0], y[1:, :, i : i + 1]), i
        for first, count in ((0, 5), (3, 30), (60, 70), (100, 40)):
            part = t["q"][:, :, first : first + count]
            rows = baracuda.scaled_dot_product_attention(part, t["k"], t["v"], causal=True, offset=first)
            assert same(rows, y[:, :, first : first + count]), first


@pytest.mark.one_of(2)
@both
@pytest.mark.parametrize("causal", [False, True])
def test_a_sentence_alone_and_in_a_batch(causal: bool, device: str, math: MathPrecision) -> None:
    """Neither the other sentences nor what stands behind a sentence, NaN here, changes a bit of it, backward too."""
    lengths = (10, 64, 1, 90)
    case = Inputs((4, 4, 2, 90, 90, 16, 24), K.BF16, {"causal": causal}, query_lengths=lengths, key_lengths=lengths)
    t = case.tensors()
    for b, n in enumerate(lengths):
        for name in ("q", "k", "v", "dy"):
            t[name][b, :, n:] = torch.nan
    t = on(device, t)
    with preferring(math):
        y, lse = forward(case, t)
        gradients = backward(case, t, y, lse)
        for b, n in enumerate(lengths):
            alone = {name: t[name][b : b + 1, :, :n] for name in ("q", "k", "v", "dy")}
            single = Inputs((1, 4, 2, n, n, 16, 24), K.BF16, {"causal": causal})
            y1, lse1 = forward(single, alone)
            assert same(y[b : b + 1, :, :n], y1)
            assert same(lse[b : b + 1, :, :n], lse1)
            assert not y[b, :, n:].any()
            for name, x in backward(single, alone, y1, lse1).items():
                assert same(gradients[name][b : b + 1, :, :n], x), name
                assert not gradients[name][b, :, n:].any(), name


@pytest.mark.one_of(2)
@both
@pytest.mark.parametrize("how", LAYOUTS)
def test_layouts(how: str, device: str, math: MathPrecision) -> None:
    """Strides change no bit."""
    case = Inputs((2, 4, 2, 35, 66, 20, 24), K.F16, {"causal": True, "offset": 31}, bias=(1, 4, 35, 66), bias_element=K.F16)
    t = on(device, case.tensors())
    with preferring(math):
        y, lse = forward(case, t)
        gradients = backward(case, t, y, lse)
        views = {n: laid(x, how) for n, x in t.items()}
        moved, log_sum = forward(case, views)
        assert same(moved, y)
        assert same(log_sum, lse)
        for name, x in backward(case, views, laid(y, how), lse).items():
            assert same(x, gradients[name]), name


@both
def test_flex_is_the_options(device: str, math: MathPrecision) -> None:
    """A formula that says what the options say gives their bits."""
    case = Inputs((2, 4, 2, 70, 66, 16, 16), K.BF16, {"softcap": 2.0}, bias=(1, 4, 70, 66))
    t = on(device, case.tensors())

    def score(s: Any, b: Any, h: Any, i: Any, j: Any, bias: Any) -> Any:
        return 2.0 * f.tanh(s / 2.0) + bias

    with preferring(math):
        y, lse = forward(case, t)
        own, own_lse = baracuda.flex_attention(t["q"], t["k"], t["v"], t["bias"], score=score, saved=True)
        assert same(own, y)
        assert same(own_lse, lse)
        expected = backward(case, t, y, lse)
        wrt = ("first", "q", "k", "v")
        gradients = baracuda.flex_attention_backward(t["dy"], t["q"], t["k"], t["v"], y, lse, t["bias"], score=score, wrt=wrt)
    for name, x in zip(("bias", "q", "k", "v"), gradients, strict=True):
        assert same(x, expected[name]), name


@pytest.mark.cpu_only
@both
def test_threads_change_no_bit(math: MathPrecision) -> None:
    case = Inputs((2, 4, 2, 130, 70, 16, 16), K.BF16)
    t = case.tensors()
    runs = []
    for count in (1, 2, 3):
        with threads(count), preferring(math):
            y, lse = forward(case, t)
            runs.append([y, lse, *backward(case, t, y, lse).values()])
    assert all(same(a, b) for other in runs[1:] for a, b in zip(runs[0], other, strict=True))


@both
@pytest.mark.parametrize(
    "extents", [(0, 2, 1, 3, 4, 8, 8), (2, 2, 1, 0, 4, 8, 8), (2, 2, 1, 3, 0, 8, 8), (2, 2, 1, 3, 4, 0, 8)], ids=str
)
def test_empty(extents: Any, device: str, math: MathPrecision) -> None:
    case = Inputs(extents, K.BF16)
    hold(case, case.tensors(), device, math)


# --- selection --------------------------------------------------------------------------------------------------------


@pytest.mark.cpu_only
def test_what_is_chosen() -> None:
    """Integers of 15 bits by default, and of so many as are asked for, of 16-bit elements only."""
    case = Inputs((2, 4, 2, 70, 66, 16, 16), K.BF16)
    for plan, d in ((AttentionPlan, case.descriptor), (AttentionBackwardPlan, case.backward_descriptor)):
        assert plan.select(None, d).precision_guarantee().math is MathPrecision.INT15
        for math in MATHS:
            chosen = plan.select(None, d, PlanPreference(math=math))
            assert chosen.precision_guarantee().math is math
            assert chosen.precision_guarantee().missing(["batch_invariant", "deterministic"]) == ()
            assert str(math) in str(chosen.sku())
            with pytest.raises(UnsupportedError, match=f"the preference asks for {math}"):
                plan.select(None, replace(d, element=K.F32), PlanPreference(math=math))


@pytest.mark.cpu_only
def test_a_way_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with its reason beside others that can; alone it is the error, and no library takes its place."""
    d = Inputs((2, 4, 2, 70, 66, 16, 16), K.BF16).descriptor
    refused: set[MathPrecision | None] = {MathPrecision.INT15}
    made = AttentionImplementation.executables

    def executables(self: AttentionImplementation, *arguments: Any, **options: Any) -> Any:
        if self.math in refused:
            raise UnsupportedError(f"no kernels of {self.math}")
        return made(self, *arguments, **options)

    monkeypatch.setattr(AttentionImplementation, "executables", executables)
    reasons = [c.reason_refused for c in AttentionPlan.candidates(None, d) if c.backend is BackendKind.FORMULA_CPU]
    assert reasons == ["no kernels of int15", None, None]
    assert AttentionPlan.select(None, d).precision_guarantee().math is MathPrecision.F32
    assert (
        AttentionPlan.select(None, d, PlanPreference(math=MathPrecision.INT23)).precision_guarantee().math is MathPrecision.INT23
    )
    with pytest.raises(UnsupportedError, match=r"^no kernels of int15$"):
        AttentionPlan.select(None, d, PlanPreference(math=MathPrecision.INT15))
    refused |= {None, MathPrecision.INT23}
    with pytest.raises(UnsupportedError, match=r"^no kernels of int15$"):
        AttentionPlan.select(None, d)
