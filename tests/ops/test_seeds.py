"""The five backward plans that this library began with, held to the letter of their originals in the Rust crate baracuda-kernels.

A section follows one original from its top to its bottom: the descriptor field by field and its methods, the args, what `select`
refuses in its order, what `can_implement` refuses in its order, workspace, sku and guarantee, and what `run` computes. What an
original says of a type parameter (the rank N, the element T) is here said by the descriptor; an element that T would not let
through is refused when it meets the descriptor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baracuda as b
from baracuda import InvalidProblemError, UnsupportedError
from baracuda.cli.verify.plans import FLOATS
from baracuda.core.elements import ElementKind as K
from baracuda.core.sku import OpCategory
from tests.machine import Machine, torch_dtype
from tests.ops.seeds import (
    OTHERS,
    RANKS,
    close,
    each_buffer_is_checked,
    each_element_is_checked,
    each_shape_is_checked,
    identity,
    is_a_value,
    names,
    normal,
    poisoned,
    refused,
    required,
    run,
    same,
)

torch = pytest.importorskip("torch")

elements = pytest.mark.parametrize("element", FLOATS, ids=[str(k) for k in FLOATS])


# --- RMSNorm backward plan, multi-axis --------------------------------------------------------------------------------

MASKS = [(shape, (1 << len(shape)) - (1 << a)) for shape in RANKS for a in range(len(shape))]


def rms_descriptor(**changed: Any) -> b.RMSNormBackwardDescriptor:
    fields: dict[str, Any] = {"input_shape": (4, 3, 5), "norm_axes_mask": 0b110, "has_gamma": True, "element": K.F32}
    return b.RMSNormBackwardDescriptor(**{"flat_gamma": True, **fields, **changed})


def rms_args(machine: Machine, d: b.RMSNormBackwardDescriptor) -> b.RMSNormBackwardArgs:
    dy, x = (normal(machine, seed, d.input_shape, d.element) for seed in ("dy", "x"))
    gamma = normal(machine, "gamma", d.gamma_shape, d.element) if d.has_gamma else None
    axes = tuple(a for a in range(x.ndim) if d.norm_axes_mask >> a & 1)
    rms = (x.double().square().mean(axes, keepdim=True) + 1e-6).sqrt().to(torch_dtype(d.rms_kind))
    outputs = (poisoned(machine, d.input_shape, d.element), poisoned(machine, d.gamma_shape, d.element) if d.has_gamma else None)
    return b.RMSNormBackwardArgs(dy, x, gamma, rms, *outputs)


def test_rms_norm_descriptor() -> None:
    """input_shape, norm_axes_mask, has_gamma, element; rms_shape() has extents of 1 along the normalised axes, and
    norm_total_extent() is the product of theirs, which does not saturate at 32 bits."""
    assert required(b.RMSNormBackwardDescriptor) == ["input_shape", "norm_axes_mask", "has_gamma", "element"]
    is_a_value(rms_descriptor(), "has_gamma")
    for shape, mask in MASKS:
        d = b.RMSNormBackwardDescriptor(shape, mask, True, K.F32)
        assert d.rms_shape() == tuple(1 if mask >> a & 1 else n for a, n in enumerate(shape))
        assert d.norm_total_extent() == np.prod([n for a, n in enumerate(shape) if mask >> a & 1])
        assert d.gamma_shape == tuple(n for a, n in enumerate(shape) if mask >> a & 1)
        assert replace(d, flat_gamma=True).gamma_shape == (d.norm_total_extent(),)
    assert rms_descriptor(input_shape=(1, 1 << 20, 1 << 20)).norm_total_extent() == 1 << 40


def test_rms_norm_args() -> None:
    assert names(b.RMSNormBackwardArgs) == ["dy", "x", "gamma", "rms", "dx", "dgamma"]


def test_rms_norm_select_refuses() -> None:
    """In the original's order: a mask that is no suffix, negative extents, a rank above 8, another element. Rank 0 is ours."""
    for mask in (0, 0b001, 0b011, 0b101, 0b1110):
        with pytest.raises(InvalidProblemError, match=r"norm_axes_mask: .*; expected a non-empty suffix of 3 axes"):
            rms_descriptor(norm_axes_mask=mask)
    with pytest.raises(InvalidProblemError, match=r"input_shape: \(4, -3, 5\) has a negative extent"):
        rms_descriptor(input_shape=(4, -3, 5))
    with pytest.raises(UnsupportedError, match=r"input_shape: .* has rank 9; expected 0 to 8"):
        rms_descriptor(input_shape=(1,) * 9, norm_axes_mask=1 << 8)
    for element in OTHERS:
        with pytest.raises(UnsupportedError, match=f"element: {element}; expected one of f16, bf16, f32, f64"):
            rms_descriptor(element=element)


def test_rms_norm_can_implement_refuses(machine: Machine) -> None:
    """Shapes of dy, x, dx and rms; gamma and dgamma both present iff has_gamma, each of norm_total_extent elements; buffers."""
    d = rms_descriptor()
    plan, args = b.RMSNormBackwardPlan.select(machine.stream, d), rms_args(machine, d)
    everything = ("dy", "x", "dx", "rms", "gamma", "dgamma")
    each_element_is_checked(machine, plan, args, everything)
    each_shape_is_checked(machine, plan, args, everything)
    for changes in ({"gamma": None}, {"dgamma": None}, {"gamma": None, "dgamma": None}):
        refused(machine, plan, replace(args, **changes), InvalidProblemError, "None", "(15,)", "has_gamma=True")
    plain = b.RMSNormBackwardPlan.select(machine.stream, replace(d, has_gamma=False))
    for changes in ({"gamma": None}, {"dgamma": None}, {}):
        refused(machine, plain, replace(args, **changes), InvalidProblemError, "expected None because has_gamma=False")
    plain.can_implement(replace(args, gamma=None, dgamma=None))
    each_buffer_is_checked(machine, plan, args, ("gamma", "dgamma", "dy", "x", "dx", "rms"))


@elements
def test_rms_norm_identity(machine: Machine, element: K) -> None:
    """With rms in T no other element takes part. The workspace is for sums that the original makes without one."""
    plan = b.RMSNormBackwardPlan.select(machine.stream, rms_descriptor(element=element, rms_element=element), b.PlanPreference())
    identity(plan, OpCategory.NORMALIZATION, "rms_norm_backward", element)
    plain = b.RMSNormBackwardPlan.select(machine.stream, rms_descriptor(has_gamma=False))
    assert plain.workspace_size() == 0


@elements
@pytest.mark.parametrize("flat", [True, False], ids=["vector", "axes"])
def test_rms_norm_gradients(machine: Machine, element: K, flat: bool, full: bool) -> None:
    """In the formula's own words, for ranks 1 to 8 and suffixes of their axes in turn (without --full half of them); all from
    an rms in T. The forward's descriptor does as well."""
    for shape, mask in MASKS[2 * FLOATS.index(element) + flat :: 2 * len(FLOATS)][:: 1 if full else 2]:
        d = b.RMSNormBackwardDescriptor(shape, mask, True, element, rms_element=element, flat_gamma=flat)
        args = rms_args(machine, d)
        assert args.rms.dtype == args.dy.dtype == torch_dtype(element)
        run(machine, b.RMSNormBackwardPlan.select(machine.stream, d), args)
        dy, x, rms, gamma = (t.double() for t in (args.dy, args.x, args.rms, args.gamma))
        axes = tuple(a for a in range(len(shape)) if mask >> a & 1)
        g = dy * gamma.reshape(d.norm_shape)
        close(args.dx, g / rms - x * (g * x).sum(axes, keepdim=True) / (rms**3 * d.norm_total_extent()), element)
        forward = b.RMSNormDescriptor(shape, mask, True, element, 1e-3, rms_element=element, flat_gamma=flat)
        again = replace(args, dx=torch.full_like(args.dx, float("nan")), dgamma=torch.full_like(args.dgamma, float("nan")))
        run(machine, b.RMSNormBackwardPlan.select(machine.stream, forward), again)
        assert same(again.dx, args.dx)
        assert same(again.dgamma, args.dgamma)
        close(args.dgamma, (dy * x / rms).reshape(-1, d.norm_total_extent()).sum(0).reshape(d.gamma_shape), element)


@pytest.mark.parametrize("shape", [(40, 6, 11), (1100, 3, 7), (3, 50, 70)], ids=str)
def test_rms_norm_gamma_as_a_vector_has_the_bits_of_axes(machine: Machine, shape: tuple[int, ...]) -> None:
    """In memory of any stride, on kernels for it and on those for any."""
    d = b.RMSNormBackwardDescriptor(shape, 0b110, True, K.F32)
    wanted, flat = rms_args(machine, d), replace(d, flat_gamma=True)
    run(machine, b.RMSNormBackwardPlan.select(machine.stream, d), wanted)
    for stride in (1, 2):
        gamma, dgamma = (poisoned(machine, (stride * d.norm_total_extent(),), K.F32)[::stride] for _ in range(2))
        gamma.copy_(wanted.gamma.reshape(-1))
        for like in (True, False):
            args = replace(wanted, gamma=gamma, dx=torch.full_like(wanted.dx, float("nan")), dgamma=dgamma.fill_(float("nan")))
            run(machine, b.RMSNormBackwardPlan.select(machine.stream, flat, like=args if like else None), args)
            assert same(args.dx, wanted.dx)
            assert same(args.dgamma, wanted.dgamma.reshape(-1))
    dx, dgamma = b.rms_norm_backward(wanted.dy, wanted.x, wanted.gamma.reshape(-1), wanted.rms, axis=(1, 2))
    assert same(dx, wanted.dx)
    assert same(dgamma, wanted.dgamma.reshape(-1))


@elements
def test_rms_norm_rms_in_the_element(machine: Machine, element: K) -> None:
    """The forward pass rounds it once when it is stored, and y has the same bits; the backward pass reads what was stored."""
    x, dy = (normal(machine, seed, (5, 3, 70), element) for seed in ("x", "dy"))
    gamma = normal(machine, "gamma", (210,), element)
    y, wide = b.rms_norm(x, gamma, axis=(-2, -1), saved=True)
    in_y, stored = b.rms_norm(x, gamma, axis=(-2, -1), saved=True, rms_element=element)
    assert (wide.dtype, stored.dtype) == (torch_dtype(element.compute), torch_dtype(element))
    assert same(stored, wide.to(stored.dtype))
    assert same(in_y, y)
    for got, wanted in zip(
        b.rms_norm_backward(dy, x, gamma, stored, axis=(1, 2)),
        b.rms_norm_backward(dy, x, gamma, stored.to(wide.dtype), axis=(1, 2)),
        strict=True,
    ):
        assert same(got, wanted)


def test_rms_norm_of_nothing(machine: Machine) -> None:
    """No element: nothing is computed, and the sum over no rows is 0, where the original leaves dgamma as it is."""
    for shape in ((0, 3, 5), (4, 0, 5)):
        args = rms_args(machine, rms_descriptor(input_shape=shape))
        run(machine, b.RMSNormBackwardPlan.select(machine.stream, rms_descriptor(input_shape=shape)), args)
        assert (args.dgamma == 0).all()


# --- Softmax backward plan --------------------------------------------------------------------------------------------

KINDS = (b.SoftmaxKind.SOFTMAX, b.SoftmaxKind.LOG_SOFTMAX)


def softmax_descriptor(**changed: Any) -> b.SoftmaxBackwardDescriptor:
    fields: dict[str, Any] = {"kind": KINDS[0], "input_shape": (4, 6), "softmax_axis": 1, "element": K.F32}
    return b.SoftmaxBackwardDescriptor(**{**fields, **changed})


def softmax_args(machine: Machine, d: b.SoftmaxBackwardDescriptor) -> b.SoftmaxBackwardArgs:
    x, dy = (normal(machine, seed, d.input_shape, d.element) for seed in ("x", "dy"))
    y = getattr(torch, d.kind.value)(x, d.softmax_axis)
    return b.SoftmaxBackwardArgs(dy, y, poisoned(machine, d.input_shape, d.element))


def test_softmax_descriptor_and_args() -> None:
    """kind, input_shape, softmax_axis, element; dy, y, dx."""
    assert names(b.SoftmaxBackwardDescriptor) == ["kind", "input_shape", "softmax_axis", "element"]
    is_a_value(softmax_descriptor(), "kind")
    assert names(b.SoftmaxBackwardArgs) == ["dy", "y", "dx"]


def test_softmax_select_refuses() -> None:
    """In the original's order: an axis out of range, negative extents, a rank above 8, another element or kind."""
    with pytest.raises(InvalidProblemError, match="softmax_axis: 2; expected an axis from -2 to 1"):
        softmax_descriptor(softmax_axis=2)
    for axis in (True, 1.0):
        with pytest.raises(InvalidProblemError, match=f"softmax_axis: {axis}"):
            softmax_descriptor(softmax_axis=axis)
    with pytest.raises(InvalidProblemError, match=r"input_shape: \(4, -6\) has a negative extent"):
        softmax_descriptor(input_shape=(4, -6))
    with pytest.raises(UnsupportedError, match="has rank 9; expected 0 to 8"):
        softmax_descriptor(input_shape=(1,) * 9)
    for element in OTHERS:
        with pytest.raises(UnsupportedError, match=f"element: {element}; expected one of f16, bf16, f32, f64"):
            softmax_descriptor(element=element)
    with pytest.raises(InvalidProblemError, match="kind: 'sparsemax'; expected one of"):
        softmax_descriptor(kind="sparsemax")


def test_softmax_can_implement_refuses(machine: Machine) -> None:
    """Shapes of dy, y and dx, then their buffers."""
    plan = b.SoftmaxBackwardPlan.select(machine.stream, softmax_descriptor())
    args = softmax_args(machine, softmax_descriptor())
    for check in (each_element_is_checked, each_shape_is_checked, each_buffer_is_checked):
        check(machine, plan, args, ("dy", "y", "dx"))


@elements
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_softmax_gradients(machine: Machine, kind: b.SoftmaxKind, element: K) -> None:
    """Without a workspace, for ranks 1 to 8, along each axis in turn. The forward's descriptor does as well."""
    for number, shape in enumerate(RANKS):
        d = softmax_descriptor(kind=kind, input_shape=shape, softmax_axis=number * 5 % len(shape), element=element)
        plan, args = b.SoftmaxBackwardPlan.select(machine.stream, d), softmax_args(machine, d)
        assert plan.workspace_size() == 0
        identity(plan, OpCategory.SOFTMAX, "softmax_backward", element)
        run(machine, plan, args)
        dy, y = args.dy.double(), args.y.double()
        total = (y * dy if kind is KINDS[0] else dy).sum(d.softmax_axis, keepdim=True)
        close(args.dx, y * (dy - total) if kind is KINDS[0] else dy - y.exp() * total, element)
        forward = b.SoftmaxDescriptor(kind, shape, d.softmax_axis, element)
        again = replace(args, dx=torch.full_like(args.dx, float("nan")))
        run(machine, b.SoftmaxBackwardPlan.select(machine.stream, forward), again)
        assert same(again.dx, args.dx)


def test_softmax_of_nothing(machine: Machine) -> None:
    d = softmax_descriptor(input_shape=(4, 0))
    run(machine, b.SoftmaxBackwardPlan.select(machine.stream, d), softmax_args(machine, d))


# --- Attention with linear biases (ALiBi) backward plan -----------------------------------------------------------------


def alibi_descriptor(**changed: Any) -> b.AlibiBackwardDescriptor:
    fields: dict[str, Any] = {"batch_size": 2, "num_heads": 3, "query_len": 4, "key_len": 5, "element": K.F32}
    return b.AlibiBackwardDescriptor(**{**fields, **changed})


def alibi_args(machine: Machine, d: b.AlibiBackwardDescriptor) -> b.AlibiBackwardArgs:
    outputs = (poisoned(machine, d.input_shape, d.element), poisoned(machine, (d.num_heads,), d.element))
    return b.AlibiBackwardArgs(normal(machine, "dy", d.input_shape, d.element), *outputs)


def test_alibi_descriptor_and_args() -> None:
    """batch_size, num_heads, query_len, key_len, element; dy, and dscores and dslopes, which may be None."""
    assert names(b.AlibiBackwardDescriptor) == ["batch_size", "num_heads", "query_len", "key_len", "element"]
    is_a_value(alibi_descriptor(), "num_heads")
    assert names(b.AlibiBackwardArgs) == ["dy", "dscores", "dslopes"]
    assert b.AlibiBackwardArgs(1) == b.AlibiBackwardArgs(1, None, None)


def test_alibi_select_refuses() -> None:
    """In the original's order: a negative extent, another element."""
    for name in ("batch_size", "num_heads", "query_len", "key_len"):
        with pytest.raises(InvalidProblemError, match=r"\(batch_size, num_heads, query_len, key_len\): .* has a negative extent"):
            alibi_descriptor(**{name: -1})
        with pytest.raises(InvalidProblemError, match="expected a tuple of ints"):
            alibi_descriptor(**{name: 2.0})
    for element in OTHERS:
        with pytest.raises(UnsupportedError, match=f"element: {element}; expected one of f16, bf16, f32, f64"):
            alibi_descriptor(element=element)


def test_alibi_can_implement_refuses(machine: Machine) -> None:
    """The shape of dy, no output at all, the shapes of dscores and of dslopes, which is (num_heads); buffers. What is not
    contiguous is refused by the original alone."""
    d = alibi_descriptor()
    plan, args = b.AlibiBackwardPlan.select(machine.stream, d), alibi_args(machine, d)
    refused(machine, plan, b.AlibiBackwardArgs(args.dy), InvalidProblemError, "dscores, dslopes: all are None", "at least one")
    for check in (each_element_is_checked, each_shape_is_checked, each_buffer_is_checked):
        check(machine, plan, args, ("dy", "dscores", "dslopes"))
    swapped = args.dy.transpose(2, 3).contiguous().transpose(2, 3)
    run(machine, plan, args)
    again = b.AlibiBackwardArgs(swapped, torch.full_like(swapped, float("nan")), torch.full_like(args.dslopes, float("nan")))
    run(machine, plan, again)
    assert same(again.dscores, args.dscores)
    assert same(again.dslopes, args.dslopes)


@elements
def test_alibi_gradients(machine: Machine, element: K) -> None:
    """dscores is a copy of dy, dslopes the sum of dy * (j - i); each alone is what it is with the other. No workspace."""
    for extents in ((2, 3, 4, 5), (1, 1, 7, 1), (3, 2, 16, 33)):
        d = alibi_descriptor(
            **dict(zip(("batch_size", "num_heads", "query_len", "key_len"), extents, strict=True)), element=element
        )
        plan, args = b.AlibiBackwardPlan.select(machine.stream, d), alibi_args(machine, d)
        assert plan.workspace_size() == 0
        identity(plan, OpCategory.ATTENTION, "alibi_backward", element)
        run(machine, plan, args)
        assert same(args.dscores, args.dy)
        distance = torch.arange(extents[3], device=machine.name) - torch.arange(extents[2], device=machine.name)[:, None]
        close(args.dslopes, (args.dy.double() * distance).sum((0, 2, 3)), element)
        for name in ("dscores", "dslopes"):
            alone = b.AlibiBackwardArgs(args.dy, **{name: torch.full_like(getattr(args, name), float("nan"))})
            run(machine, plan, alone)
            assert same(getattr(alone, name), getattr(args, name))
        forward = alibi_args(machine, d)
        run(machine, b.AlibiBackwardPlan.select(machine.stream, b.AlibiDescriptor(*extents, element)), forward)
        assert same(forward.dslopes, args.dslopes)


def test_alibi_of_nothing(machine: Machine) -> None:
    """The slopes of no scores have the gradient 0, where the original leaves them as they are."""
    d = alibi_descriptor(batch_size=0)
    args = alibi_args(machine, d)
    run(machine, b.AlibiBackwardPlan.select(machine.stream, d), args)
    assert (args.dslopes == 0).all()


# --- Backward plan for the parameterized binary elementwise family ----------------------------------------------------


def lerp_descriptor(**changed: Any) -> b.BinaryParamBackwardDescriptor:
    fields: dict[str, Any] = {"kind": b.BinaryKind.LERP, "shape": (4, 6), "element": K.F32, "param": 0.3}
    return b.BinaryParamBackwardDescriptor(**{**fields, **changed})


def lerp_args(machine: Machine, d: b.BinaryParamBackwardDescriptor) -> b.BinaryParamBackwardArgs:
    outputs = (poisoned(machine, d.shape, d.element) for _ in range(2))
    return b.BinaryParamBackwardArgs(normal(machine, "dy", d.shape, d.element), *outputs)


def test_lerp_descriptor_and_args() -> None:
    """kind, shape, element, param, as the forward's; dy, da, db."""
    assert names(b.BinaryParamBackwardDescriptor) == names(b.BinaryParamDescriptor) == ["kind", "shape", "element", "param"]
    is_a_value(lerp_descriptor(), "param")
    assert names(b.BinaryParamBackwardArgs) == ["dy", "da", "db"]


def test_lerp_select_refuses() -> None:
    """In the original's order: negative extents, another kind or element. What no number is, and a rank above 8, is ours."""
    with pytest.raises(InvalidProblemError, match=r"shape: \(4, -6\) has a negative extent"):
        lerp_descriptor(shape=(4, -6))
    with pytest.raises(InvalidProblemError, match=r"kind: 'Lerp'; expected one of BinaryKind.LERP"):
        lerp_descriptor(kind="Lerp")
    for element in OTHERS:
        with pytest.raises(UnsupportedError, match=f"element: {element}; expected one of f16, bf16, f32, f64"):
            lerp_descriptor(element=element)
    for param in (True, None, "0.3", 1j):
        with pytest.raises(InvalidProblemError, match=r"param: .*; expected a number"):
            lerp_descriptor(param=param)
    with pytest.raises(UnsupportedError, match="has rank 9; expected 0 to 8"):
        lerp_descriptor(shape=(1,) * 9)


def test_lerp_can_implement_refuses(machine: Machine) -> None:
    """Shapes of dy, da and db; buffers. What is not contiguous is refused by the original alone."""
    d = lerp_descriptor()
    plan, args = b.BinaryParamBackwardPlan.select(machine.stream, d), lerp_args(machine, d)
    for check in (each_element_is_checked, each_shape_is_checked, each_buffer_is_checked):
        check(machine, plan, args, ("dy", "da", "db"))
    run(machine, plan, args)
    swapped = [poisoned(machine, (6, 4), K.F32).T for _ in range(3)]
    swapped[0].copy_(args.dy)
    run(machine, plan, b.BinaryParamBackwardArgs(*swapped))
    assert same(swapped[1], args.da)
    assert same(swapped[2], args.db)


@elements
def test_lerp_gradients(machine: Machine, element: K) -> None:
    """da = (1 - weight) * dy, db = weight * dy, without a workspace; ranks 0 to 8."""
    for number, shape in enumerate(((), *RANKS, (4, 0))):
        d = lerp_descriptor(shape=shape, element=element, param=(0.3, 0, -2.5, 1)[number % 4])
        plan, args = b.BinaryParamBackwardPlan.select(machine.stream, d), lerp_args(machine, d)
        assert plan.workspace_size() == 0
        identity(plan, OpCategory.BINARY, "binary_param_backward", element)
        run(machine, plan, args)
        close(args.da, (1 - d.param) * args.dy.double(), element)
        close(args.db, d.param * args.dy.double(), element)
        forward = lerp_args(machine, d)
        run(
            machine,
            b.BinaryParamBackwardPlan.select(machine.stream, b.BinaryParamDescriptor(d.kind, shape, element, d.param)),
            forward,
        )
        assert same(forward.da, args.da)


# --- dequantize_per_token backward plan, straight-through -------------------------------------------------------------


def token_args(machine: Machine, d: b.DequantizePerTokenBackwardDescriptor) -> b.DequantizePerTokenBackwardArgs:
    scale = normal(machine, "scale", (d.n,), d.scale_kind)
    return b.DequantizePerTokenBackwardArgs(
        scale, normal(machine, "dy", (d.n, d.d), d.element), poisoned(machine, (d.n, d.d), d.element)
    )


def test_dequantize_descriptor_and_args() -> None:
    """n, d, and the type parameters TIn and TOut; scale, d_output, d_input."""
    assert required(b.DequantizePerTokenBackwardDescriptor) == ["n", "d", "element", "quantized"]
    d = b.DequantizePerTokenBackwardDescriptor(4, 6)
    assert (d.n, d.d, d.element, d.quantized, d.scale_kind) == (4, 6, K.F32, K.S8, K.F32)
    is_a_value(d, "n")
    assert names(b.DequantizePerTokenBackwardArgs) == ["scale", "d_output", "d_input"]


def test_dequantize_select_refuses() -> None:
    """In the original's order: TIn is no float, TOut neither s8 nor u8, a negative n or d."""
    for element in OTHERS:
        with pytest.raises(UnsupportedError, match=f"element: {element}; expected one of f16, bf16, f32, f64"):
            b.DequantizePerTokenBackwardDescriptor(4, 6, element=element)
    for quantized in (K.S16, K.S32, K.F32):
        with pytest.raises(UnsupportedError, match=f"quantized: {quantized}; expected one of s8, u8"):
            b.DequantizePerTokenBackwardDescriptor(4, 6, quantized=quantized)
    for extents in ((-4, 6), (4, -6)):
        with pytest.raises(InvalidProblemError, match=r"\(n, d\): .* has a negative extent"):
            b.DequantizePerTokenBackwardDescriptor(*extents)


def test_dequantize_can_implement_refuses(machine: Machine) -> None:
    """Shapes of d_output and d_input, which are (n, d), and of scale, (n). That buffers are checked is ours."""
    d = b.DequantizePerTokenBackwardDescriptor(4, 6)
    plan, args = b.DequantizePerTokenBackwardPlan.select(machine.stream, d), token_args(machine, d)
    for check in (each_element_is_checked, each_shape_is_checked, each_buffer_is_checked):
        check(machine, plan, args, ("d_output", "d_input", "scale"))


@elements
def test_dequantize_gradients(machine: Machine, element: K) -> None:
    """d_input = scale[n] * d_output, the same for either code, with a scale in T and in the compute kind. No workspace."""
    for n, features in ((4, 6), (1, 1), (33, 70), (4, 0), (0, 6)):
        for scale_element in (element, None):
            d = b.DequantizePerTokenBackwardDescriptor(n, features, element, scale_element=scale_element)
            plan, args = b.DequantizePerTokenBackwardPlan.select(machine.stream, d), token_args(machine, d)
            assert plan.workspace_size() == 0
            aux = None if d.scale_kind is element else d.scale_kind
            identity(plan, OpCategory.QUANTIZATION, "dequantize_per_token_backward", element, aux)
            run(machine, plan, args)
            wanted = args.d_output.to(torch_dtype(element.compute)) * args.scale.to(torch_dtype(element.compute))[:, None]
            assert same(args.d_input, wanted.to(args.d_input.dtype))
            assert same(b.dequantize_per_token_backward(args.d_output, args.scale), args.d_input)
            others = (
                replace(d, quantized=K.U8),
                b.DequantizePerTokenDescriptor(n, features, element, K.U8, scale_element=scale_element),
            )
            for other in others:
                again = replace(args, d_input=torch.full_like(args.d_input, float("nan")))
                run(machine, b.DequantizePerTokenBackwardPlan.select(machine.stream, other), again)
                assert same(again.d_input, args.d_input)


@elements
def test_quantize_and_dequantize_with_scales_in_the_element(machine: Machine, element: K) -> None:
    """As with scales of those values in the compute kind."""
    x = normal(machine, "x", (5, 70), element)
    scale = (normal(machine, "scale", (5,), K.F64).abs() / 50 + 0.01).to(x.dtype)
    wide = scale.to(torch_dtype(element.compute))
    codes = b.quantize_per_token(x, scale)
    assert same(codes, b.quantize_per_token(x, wide))
    assert same(b.quantize_per_token_backward(x, x, scale), b.quantize_per_token_backward(x, x, wide))
    assert same(b.dequantize_per_token(codes, scale, dtype=element), b.dequantize_per_token(codes, wide, dtype=element))


# --- what a launch may report, in all five -----------------------------------------------------------------------------


def test_errors() -> None:
    """Each error of the originals by its name, with what it carries; CutlassInternal(status) is BackendError(library, status)."""
    for error in (b.UnsupportedError, b.InvalidProblemError, b.MisalignedOperandError):
        assert issubclass(error, b.Error)
    for sized in (b.BufferTooSmallError("dy", needed=8, got=4), b.WorkspaceTooSmallError(needed=8, got=4)):
        assert isinstance(sized, b.Error)
        assert (sized.needed, sized.got) == (8, 4)
    failed = b.BackendError("cublas", 7)
    assert (failed.library, failed.status) == ("cublas", 7)


def test_a_misaligned_operand(machine: Machine) -> None:
    """Of each plan and each of its tensors."""
    d, softmax, alibi, lerp = rms_descriptor(), softmax_descriptor(), alibi_descriptor(), lerp_descriptor()
    token = b.DequantizePerTokenBackwardDescriptor(4, 6)
    for plan, args in (
        (b.RMSNormBackwardPlan.select(machine.stream, d), rms_args(machine, d)),
        (b.SoftmaxBackwardPlan.select(machine.stream, softmax), softmax_args(machine, softmax)),
        (b.AlibiBackwardPlan.select(machine.stream, alibi), alibi_args(machine, alibi)),
        (b.BinaryParamBackwardPlan.select(machine.stream, lerp), lerp_args(machine, lerp)),
        (b.DequantizePerTokenBackwardPlan.select(machine.stream, token), token_args(machine, token)),
    ):
        for name in names(type(args)):
            tensor = getattr(args, name)
            where = tensor.data_ptr() + 2, tuple(tensor.shape), tensor.stride(), K.F32, machine.stream.device
            refused(machine, plan, replace(args, **{name: b.TensorMut(*where)}), b.MisalignedOperandError, f"{name}: address")


def test_a_workspace_that_is_too_small(machine: Machine) -> None:
    """Where there is one at all."""
    d = rms_descriptor(input_shape=(3000, 5, 8))
    plan, args = b.RMSNormBackwardPlan.select(machine.stream, d), rms_args(machine, d)
    if not (needed := plan.workspace_size()):
        pytest.skip("the sums of this device take none")
    with pytest.raises(b.WorkspaceTooSmallError) as caught:
        plan.run(machine.stream, machine.workspace(needed - 1), args)
    assert (caught.value.needed, caught.value.got) == (needed, needed - 1)
    assert args.dx.isnan().all()
    assert args.dgamma.isnan().all()
