"""Attention against float64 with the whole matrix of scores, against its written order bit by bit, and as promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.sku import MathPrecision, PlanPreference
from baracuda.core.workspace import Workspace
from baracuda.formula import functions as f
from baracuda.frontends.arrays import current_stream
from baracuda.frontends.call import device_of
from baracuda.ops.attention.plan import AttentionArgs, AttentionBackwardPlan, AttentionPlan
from tests.lowering.attention_cases import AttentionCase
from tests.lowering.attention_inputs import CASES, TOLERANCE, Inputs
from tests.lowering.attention_reference import Emulation, reference

Tensor = torch.Tensor
OPTIONS = ("causal", "window", "offset", "scale", "softcap")


def forward(case: Inputs, t: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """y and lse of a case on the device of its tensors."""
    options = {n: x for n, x in t.items() if n not in ("q", "k", "v", "dy")}
    results = baracuda.scaled_dot_product_attention(t["q"], t["k"], t["v"], saved=True, **case.options, **options)
    y, lse = results
    return y, lse


def backward(case: Inputs, t: dict[str, Tensor], y: Tensor, lse: Tensor) -> dict[str, Tensor]:
    """The gradients of a case, of the bias or the slopes too."""
    wrt = ["q", "k", "v", *[n for n in ("bias", "slopes") if n in t][:1]]
    options = {n: x for n, x in t.items() if n not in ("q", "k", "v", "dy")}
    gradients = baracuda.scaled_dot_product_attention_backward(
        t["dy"], t["q"], t["k"], t["v"], y, lse, wrt=wrt, **case.options, **options
    )
    return dict(zip(wrt, gradients, strict=True))


def on(device: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {n: x.to(device) for n, x in tensors.items()}


def same(a: Tensor, b: Tensor) -> bool:
    """Equal bits, NaN aside."""
    a, b = a.cpu().contiguous(), b.cpu().contiguous()
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(a.view(torch.uint8), b.view(torch.uint8))


def wide(x: Tensor) -> Tensor:
    return x.double() if x.is_floating_point() else x


# --- values and bits --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values(case: Inputs, device: str) -> None:
    """Results and gradients agree with float64 and autograd."""
    tensors = case.tensors()
    t = on(device, tensors)
    y, lse = forward(case, t)
    gradients = backward(case, t, y, lse)
    exact = {n: wide(x).requires_grad_(n in gradients) for n, x in tensors.items()}
    expected, log_sum = reference(case.descriptor, exact)
    expected.backward(tensors["dy"].double())
    tolerance = TOLERANCE[case.element]
    assert_close(y, expected.detach(), tolerance)
    finite = torch.isfinite(log_sum)
    assert torch.equal(torch.isfinite(lse.cpu()), finite)
    assert_close(lse.cpu()[finite], log_sum[finite], min(tolerance, 1e-5))
    for name, x in gradients.items():
        gradient = exact[name].grad
        assert gradient is not None
        assert_close(x, gradient, 4 * max(tolerance, torch.finfo(x.dtype).eps), name)


def assert_close(actual: Tensor, expected: Tensor, tolerance: float, what: str = "") -> None:
    if expected.numel():
        error = (actual.cpu().double() - expected).abs().max() / max(1.0, float(expected.abs().max()))
        assert error <= tolerance, (what, float(error))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_order(case: Inputs, device: str) -> None:
    """Every bit, forward and backward, is that of the written order, in chains."""
    tensors = case.tensors()
    t = on(device, tensors)
    with baracuda.preferring(PlanPreference(math=None if case.element is K.F64 else MathPrecision.F32)):
        y, lse = forward(case, t)
        results = backward(case, t, y, lse)
    arrays = {n: array(x) for n, x in tensors.items()}
    emulation = Emulation(case.backward_descriptor, arrays)
    expected, log_sum = emulation.forward()
    kind = case.element.numpy
    assert same_bits(array(y), expected.astype(kind))
    assert same_bits(array(lse), log_sum)
    gradients = emulation.backward(array(y), array(lse), arrays["dy"])
    for name, gradient in zip("qkv", gradients, strict=True):
        assert same_bits(array(results[name]), gradient.astype(kind)), name


def array(x: Tensor) -> np.ndarray:
    x = x.cpu().contiguous()
    return x.view(torch.uint16).numpy().view(K.BF16.numpy) if x.dtype is torch.bfloat16 else x.numpy()


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


# --- promises ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", [K.F32, K.BF16], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_a_sentence_alone_and_in_a_batch(element: K, causal: bool, device: str) -> None:
    """Neither the other sentences nor what stands behind a sentence, NaN here, changes a bit of it."""
    lengths = (10, 64, 1, 90)
    case = Inputs((4, 4, 2, 90, 90, 16, 16), element, {"causal": causal}, query_lengths=lengths, key_lengths=lengths)
    t = case.tensors()
    t["v"][0] = -(2.0**-149 if element is K.F32 else 2.0**-133)  # products that underflow to -0
    for b, n in enumerate(lengths):
        for name in ("q", "k", "v", "dy"):
            t[name][b, :, n:] = torch.nan
    t = on(device, t)
    y, lse = forward(case, t)
    gradients = backward(case, t, y, lse)
    for b, n in enumerate(lengths):
        alone = {name: t[name][b : b + 1, :, :n] for name in ("q", "k", "v", "dy")}
        single = Inputs((1, 4, 2, n, n, 16, 16), element, {"causal": causal})
        y1, lse1 = forward(single, alone)
        assert same(y[b : b + 1, :, :n], y1)
        assert same(lse[b : b + 1, :, :n], lse1)
        assert not y[b, :, n:].any()
        assert bool((lse[b, :, n:] == -torch.inf).all())
        for name, x in backward(single, alone, y1, lse1).items():
            assert same(gradients[name][b : b + 1, :, :n], x), name
            assert not gradients[name][b, :, n:].any(), name


def test_a_query_that_sees_nothing(device: str) -> None:
    """Its row is +0, its log-sum-exp -inf, its gradient +0, and it adds nothing to the others'."""
    case = Inputs((1, 2, 2, 70, 70, 16, 16), mask=(1, 1, 70, 70))
    t = case.tensors()
    t["mask"][:, :, 3] = False
    t = on(device, t)
    y, lse = forward(case, t)
    assert y[:, :, 3].cpu().numpy().tobytes() == bytes(2 * 16 * 4)
    assert bool((lse[:, :, 3] == -torch.inf).all())
    gradients = backward(case, t, y, lse)
    assert not gradients["q"][:, :, 3].any()
    assert all(bool(torch.isfinite(x).all()) for x in gradients.values())
    t["dy"][:, :, 3] = 1e30
    again = backward(case, t, y, lse)
    assert same(again["k"], gradients["k"])
    assert same(again["v"], gradients["v"])


def test_nan_reaches_its_own_query_only(device: str) -> None:
    case = Inputs((1, 1, 1, 66, 66, 8, 8))
    t = case.tensors()
    t["q"][0, 0, 5, 2] = torch.nan
    y, lse = forward(case, on(device, t))
    rows = torch.isnan(y).any(-1).cpu()[0, 0]
    assert rows.nonzero().flatten().tolist() == [5]
    assert torch.isnan(lse.cpu()[0, 0]).nonzero().flatten().tolist() == [5]


LAYOUTS = ("bshd", "depth first", "every other", "padded")


def laid(x: Tensor, how: str) -> Tensor:
    """The same values of four axes in another layout."""
    if how == "bshd":
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    if how == "depth first":
        return x.transpose(2, 3).contiguous().transpose(2, 3)
    size = [*x.shape[:-1], 2 * x.shape[-1]] if how == "every other" else [*x.shape[:2], x.shape[2] + 1, x.shape[3] + 3]
    whole = torch.full(size, torch.nan, dtype=x.dtype, device=x.device)
    view = whole[..., ::2] if how == "every other" else whole[:, :, : x.shape[2], 2 : 2 + x.shape[3]]
    return view.copy_(x)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("how", LAYOUTS)
@pytest.mark.parametrize("element", [K.F32, K.F16], ids=str)
def test_layouts(how: str, element: K, device: str) -> None:
    """Strides change no bit: of the inputs, of the results, and on the code for any strides."""
    case = Inputs((2, 4, 2, 35, 66, 20, 24), element, {"causal": True, "offset": 31}, bias=(1, 4, 35, 66), bias_element=element)
    t = on(device, case.tensors())
    y, lse = forward(case, t)
    gradients = backward(case, t, y, lse)
    views = {n: laid(x, how) for n, x in t.items()}
    moved, log_sum = forward(case, views)
    assert same(moved, y)
    assert same(log_sum, lse)
    for name, x in backward(case, views, laid(y, how), lse).items():
        assert same(x, gradients[name]), name
    target = laid(torch.zeros_like(y), how)
    options = {n: x for n, x in views.items() if n not in ("q", "k", "v", "dy")}
    baracuda.scaled_dot_product_attention(views["q"], views["k"], views["v"], out=target, **case.options, **options)
    assert same(target, y)
    stream = current_stream(y, device_of(y))
    plan = AttentionPlan.select(stream, replace(case.descriptor, lse=False))
    size = plan.workspace_size()
    workspace = Workspace(torch.empty(size, dtype=torch.uint8, device=device)) if size else None
    general = laid(torch.zeros_like(y), how)
    args = AttentionArgs(views["q"], views["k"], views["v"], bias=views["bias"], y=general)
    plan.run(stream, workspace, args)
    assert same(general, y)


@pytest.mark.cpu_only
@pytest.mark.parametrize("depth", [17, 33, 18])
@pytest.mark.parametrize("element", [K.BF16, K.F16, K.F32], ids=str)
def test_nothing_is_written_beside_a_row(element: K, depth: int) -> None:
    """A row's last vector may have one element that exists, two bytes of memory."""
    for wrt in ((), ("q", "k", "v")):
        case = AttentionCase(Inputs((1, 1, 1, 3, 4, depth, depth), element), wrt, {"all": "padded"})
        blocks = case.blocks()
        before = {n: blocks[n].copy() for n in case.written}
        case.run_on_cpu(blocks)
        for name, block in before.items():
            case.placements[name].view(block)[...] = case.placements[name].view(blocks[name])
            assert block.tobytes() == blocks[name].tobytes(), name


@pytest.mark.cpu_only
def test_threads_change_no_bit() -> None:
    case = Inputs((2, 4, 2, 130, 70, 16, 16))
    t = case.tensors()
    before = baracuda.get_num_threads()
    runs = []
    try:
        for count in (1, 2, 3):
            baracuda.set_num_threads(count)
            y, lse = forward(case, t)
            runs.append([y, lse, *backward(case, t, y, lse).values()])
    finally:
        baracuda.set_num_threads(before)
    assert all(same(a, b) for other in runs[1:] for a, b in zip(runs[0], other, strict=True))


def test_heads_of_a_group_are_heads(device: str) -> None:
    """Shared key heads give the bits of repeated ones, whatever is computed side by side."""
    for queries in (1, 66):
        case = Inputs((2, 6, 2, queries, 66, 16, 16), options={"causal": True, "offset": 66 - queries})
        t = on(device, case.tensors())
        repeated = t | {n: t[n].repeat_interleave(3, 1) for n in "kv"}
        y, lse = forward(case, t)
        y1, lse1 = forward(Inputs((2, 6, 6, queries, 66, 16, 16), options=case.options), repeated)
        assert same(y, y1)
        assert same(lse, lse1)


@pytest.mark.parametrize(
    "extents", [(0, 2, 1, 3, 4, 8, 8), (2, 2, 1, 0, 4, 8, 8), (2, 2, 1, 3, 0, 8, 8), (2, 2, 1, 3, 4, 0, 8)], ids=str
)
def test_empty(extents: Any, device: str) -> None:
    """Without keys rows are +0; without depth every key counts the same."""
    case = Inputs(extents)
    t = on(device, case.tensors())
    y, lse = forward(case, t)
    expected, _ = reference(case.descriptor, {n: wide(x.cpu()) for n, x in t.items()})
    assert_close(y, expected, 1e-6)
    gradients = backward(case, t, y, lse)
    assert [tuple(gradients[n].shape) for n in "qkv"] == [tuple(t[n].shape) for n in "qkv"]
    assert all(bool(torch.isfinite(x).all()) for x in gradients.values())


# --- formulas of the caller's own -------------------------------------------------------------------------------------


def test_flex_is_the_options(device: str) -> None:
    """A formula that says what the options say gives their bits."""
    case = Inputs((2, 4, 2, 70, 66, 16, 16), options={"softcap": 2.0}, bias=(1, 4, 70, 66))
    t = on(device, case.tensors())
    y, lse = forward(case, t)

    def score(s: Any, b: Any, h: Any, i: Any, j: Any, bias: Any) -> Any:
        return 2.0 * f.tanh(s / 2.0) + bias

    own, own_lse = baracuda.flex_attention(t["q"], t["k"], t["v"], t["bias"], score=score, saved=True)
    assert same(own, y)
    assert same(own_lse, lse)
    expected = backward(case, t, y, lse)
    wrt = ("first", "q", "k", "v")
    gradients = baracuda.flex_attention_backward(t["dy"], t["q"], t["k"], t["v"], y, lse, t["bias"], score=score, wrt=wrt)
    for name, x in zip(("bias", "q", "k", "v"), gradients, strict=True):
        assert same(x, expected[name]), name


def test_flex_coordinates(device: str) -> None:
    """A formula of b, h, i and j that masks: a prefix that everybody sees, and causal behind it."""
    t = on(device, Inputs((2, 4, 2, 70, 70, 16, 16)).tensors())
    prefix = torch.tensor([7, 33], dtype=torch.int32, device=device).reshape(2, 1, 1, 1)

    def score(s: Any, b: Any, h: Any, i: Any, j: Any, length: Any) -> Any:
        return f.where((j <= i) | (j < length), f.where(f.equal(h, 1), 1.5 * s, s), float("-inf"))

    y = baracuda.flex_attention(t["q"], t["k"], t["v"], prefix, score=score)
    mask = (torch.arange(70)[None] <= torch.arange(70)[:, None]) | (torch.arange(70) < prefix.cpu())
    q = t["q"].cpu().double() * torch.tensor([1, 1.5, 1, 1])[None, :, None, None]
    expected, _ = reference(
        Inputs((2, 4, 2, 70, 70, 16, 16)).descriptor, {"q": q, "k": wide(t["k"].cpu()), "v": wide(t["v"].cpu()), "mask": mask}
    )
    assert_close(y, expected, 4e-6)


def test_ranks(device: str) -> None:
    """Batch and heads may be left out."""
    t = on(device, Inputs((1, 1, 1, 9, 7, 16, 16)).tensors())
    y = baracuda.scaled_dot_product_attention(t["q"], t["k"], t["v"])
    for axes in (0, (0, 1)):
        narrow = [t[n].squeeze(axes) for n in "qkv"]
        result, lse = baracuda.scaled_dot_product_attention(*narrow, saved=True)
        assert same(result, y.squeeze(axes))
        dy, bias = t["dy"].squeeze(axes), torch.ones(9, 1, device=device)
        result, lse = baracuda.scaled_dot_product_attention(*narrow, saved=True, bias=bias)
        wrt = ("bias", "q")
        slopes = baracuda.scaled_dot_product_attention_backward(dy, *narrow, result, lse, bias=bias, wrt=wrt)
        assert [x.shape for x in slopes] == [bias.shape, narrow[0].shape]


def test_a_repeated_call(device: str) -> None:
    """What is kept of a call makes the same one again, on other tensors."""
    case = Inputs((2, 4, 2, 20, 30, 16, 16), options={"causal": True, "offset": 10})
    for seed in range(3):
        t = on(device, {n: x + seed for n, x in case.tensors().items()})
        y, lse = forward(case, t)
        copied = {n: laid(x, "padded") for n, x in t.items()}
        assert same(forward(case, copied)[0], y)
        only = baracuda.scaled_dot_product_attention(t["q"], t["k"], t["v"], **case.options)
        assert same(only, y)
        expected = backward(case, copied, laid(y, "padded"), lse)
        for name, x in backward(case, t, y, lse).items():
            assert same(x, expected[name])
        (dv, dk) = baracuda.scaled_dot_product_attention_backward(
            t["dy"], t["q"], t["k"], t["v"], y, lse, wrt=("v", "k"), **case.options
        )
        assert same(dv, expected["v"])
        assert same(dk, expected["k"])


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_input() -> None:
    q, k = torch.zeros(2, 4, 5, 8), torch.zeros(2, 2, 6, 8)
    attend = baracuda.scaled_dot_product_attention
    for arguments, options, words in (
        ((q, torch.zeros(2, 2, 6, 9), k), {}, "k: shape"),
        ((q, k, torch.zeros(2, 2, 7, 8)), {}, "v: shape"),
        ((q, torch.zeros(2, 3, 6, 8), torch.zeros(2, 3, 6, 8)), {}, "key_heads: 3"),
        ((q, k, k.double()), {}, "v: element is f64; expected f32, that of q"),
        ((q, k, k[0]), {}, r"v: shape is \(2, 6, 8\); expected \(2, 2, 6, value_depth\)"),
        ((q, k, k, torch.zeros(5, 6)), {}, "mask: element is f32"),
        ((q, k, k, torch.ones(5, 7, dtype=torch.bool)), {}, "mask: shape"),
        ((q, k, k), {"bias": torch.zeros(3, 1, 5, 6)}, "bias: shape"),
        ((q, k, k), {"slopes": torch.zeros(3)}, "slopes: shape"),
        ((q, k, k), {"window": (-1, 2)}, "window"),
        ((q, k, k), {"softcap": -1.0}, "softcap"),
        ((q, k, k), {"key_lengths": torch.zeros(3, dtype=torch.int32)}, "key_lengths: shape"),
        ((q, k, k), {"key_lengths": torch.zeros(2)}, "key_lengths: element"),
    ):
        with pytest.raises(InvalidProblemError, match=words):
            attend(*arguments, **options)
    with pytest.raises(UnsupportedError, match="element"):
        attend(q.int(), k.int(), k.int())
    with pytest.raises(InvalidProblemError, match="expression of f32"):
        baracuda.flex_attention(q, k, k, score=lambda s, b, h, i, j: i)
    y, lse = attend(q, k, k, saved=True)
    with pytest.raises(InvalidProblemError, match="wrt"):
        baracuda.scaled_dot_product_attention_backward(y, q, k, k, y, lse, wrt=("bias",))
    with pytest.raises(InvalidProblemError, match="overlaps"):
        attend(q, k, k, out=q)


def test_plan_says_what_it_is() -> None:
    d = Inputs((2, 4, 2, 70, 66, 16, 16), options={"causal": True, "softcap": 2.0}, mask=(2, 1, 1, 66)).descriptor
    plan = AttentionPlan.select(None, d)
    assert plan.sku().epilogue == "causal+softcap+mask"
    assert plan.precision_guarantee().bit_stable_across_hardware
    listed = [str(c) for c in AttentionPlan.candidates(None, d)]
    assert any(line.startswith("cudnn") for line in listed)


@pytest.mark.parametrize(("element", "math"), [(K.F16, "int15"), (K.BF16, "int15"), (K.F32, "f32"), (K.F64, "f64")], ids=str)
def test_what_products_are_taken_in(element: K, math: str) -> None:
    for plan, descriptor in (
        (AttentionPlan, Inputs((1, 1, 1, 2, 3, 4, 5), element).descriptor),
        (AttentionBackwardPlan, Inputs((1, 1, 1, 2, 3, 4, 5), element).backward_descriptor),
    ):
        guarantee = plan.select(None, descriptor).precision_guarantee()
        assert str(guarantee.math) == math
        assert guarantee.bit_stable_across_hardware
