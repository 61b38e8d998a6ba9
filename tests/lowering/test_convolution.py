"""The orders of convolutions against NumPy, bit by bit, and their CUDA kernels through the compiler."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import baracuda
from baracuda import MathPrecision, PlanPreference
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import OperandLayout
from baracuda.core.layout import contiguous_strides
from baracuda.formula.exact_fma import fma32
from baracuda.formula.integer_products import BLOCK, scaled
from baracuda.lowering.convolution.cuda.lower import ways
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.ops.convolution.plan import ConvolutionDescriptor, ConvolutionPlan
from baracuda.runtime.nvrtc import cubin
from tests.ops.composed import called, drawn

Array = Any


def chain(x: Array, w: Array, stride: int, padding: int) -> Array:
    """Each sum one chain of f32 in rising (tap, channel), which skips what is not there."""
    n, c, height, width = x.shape
    o, _, kh, kw = w.shape
    rows, columns = ((size + 2 * padding - k) // stride + 1 for size, k in ((height, kh), (width, kw)))
    y = np.zeros((n, o, rows, columns), np.float32)
    for b, oy, ox in product(range(n), range(rows), range(columns)):
        s = np.zeros(o, np.float32)
        for ky, kx in product(range(kh), range(kw)):
            iy, ix = oy * stride + ky - padding, ox * stride + kx - padding
            if 0 <= iy < height and 0 <= ix < width:
                for channel in range(c):
                    s = fma32(np.full(o, x[b, channel, iy, ix]), w[:, channel, ky, kx], s)
        y[b, :, oy, ox] = s
    return y


def integer_chain(x: Array, w: Array, bits: int, padding: int) -> Array:
    """Integer products whose blocks begin anew at each tap; where a factor is not finite, the sum of such products."""
    n, c, height, width = x.shape
    o, _, kh, kw = w.shape
    rows, columns = height + 2 * padding - kh + 1, width + 2 * padding - kw + 1
    y = np.zeros((n, o, rows, columns), np.float32)
    for b, oy, ox in product(range(n), range(rows), range(columns)):
        s, special, found = np.zeros(o, np.float32), np.zeros(o, np.float32), np.zeros(o, bool)
        for ky, kx in product(range(kh), range(kw)):
            iy, ix = oy + ky - padding, ox + kx - padding
            if not (0 <= iy < height and 0 <= ix < width):
                continue
            for first in range(0, c, BLOCK):
                u, v = x[b, first : first + BLOCK, iy, ix], w[:, first : first + BLOCK, ky, kx]
                (qu, eu), (qv, ev) = scaled(u, bits), scaled(v, bits)
                rounded = (qv @ qu).astype(np.float32)
                su, sv = (np.ldexp(np.float64(1), e - bits).astype(np.float32) for e in (eu, ev))
                low, high = np.minimum(su, sv), np.maximum(su, sv)
                s = fma32(rounded * low, high, s)
                odd = ~(np.isfinite(u)[None] & np.isfinite(v))
                with np.errstate(invalid="ignore"):
                    for channel in range(u.size):
                        special = special + np.where(odd[:, channel], u[channel] * v[:, channel], np.float32(0))
                found |= odd.any(-1)
        y[b, :, oy, ox] = np.where(found, special, s)
    return y


def same(y: Array, want: Array) -> None:
    assert y.shape == want.shape
    equal = (y + np.float32(0)).view(np.int32) == (want + np.float32(0)).view(np.int32)
    assert (equal | (np.isnan(y) & np.isnan(want))).all()


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("c", "o", "stride", "padding"), [(3, 5, 1, 1), (20, 34, 2, 1), (17, 3, 1, 2)])
def test_chains(c: int, o: int, stride: int, padding: int, last: bool, device: str) -> None:
    x, w = drawn((2, c, 5, 9), np.float32), drawn((o, c, 3, 3), np.float32)
    if last:
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    (y,) = called(lambda *t: baracuda.conv2d(*t, None, stride, padding), [x, w], device)
    same(np.ascontiguousarray(y), chain(x, w, stride, padding))


@pytest.mark.parametrize("precision", [MathPrecision.INT23, MathPrecision.INT15])
@pytest.mark.parametrize("strange", [False, True])
def test_integer_products(precision: MathPrecision, strange: bool, device: str) -> None:
    x, w = drawn((1, 150, 4, 4), np.float32), drawn((6, 150, 3, 3), np.float32)
    x *= np.exp(3 * drawn(x.shape, seed=5)).astype(np.float32)
    if strange:
        x[0, 3, 1, 1], w[1, 140, 0, 0], w[2, 5, 2, 2], w[2, 6, 2, 2] = np.inf, np.nan, np.inf, -np.inf
    bits = {MathPrecision.INT23: 23, MathPrecision.INT15: 15}[precision]
    with baracuda.preferring(PlanPreference(math=precision)):
        (y,) = called(lambda *t: baracuda.conv2d(*t, padding=1), [x, w], device)
    same(y, integer_chain(x, w, bits, 1))


def test_narrow_floats_are_integer_products_from_16_channels_on(device: str) -> None:
    for channels, precision in ((15, MathPrecision.F32), (16, MathPrecision.INT23)):
        x, w = (drawn(s, ml_dtypes.bfloat16) for s in ((1, channels, 5, 5), (4, channels, 3, 3)))
        (y,) = called(baracuda.conv2d, [x, w], device)
        wide = [a.astype(np.float32) for a in (x, w)]
        want = chain(*wide, 1, 0) if precision is MathPrecision.F32 else integer_chain(*wide, 23, 0)
        assert (y == want.astype(ml_dtypes.bfloat16)).all()


@pytest.mark.parametrize(("c", "o"), [(2, 4), (7, 20)])
def test_a_gradient_by_the_weight_is_summed_in_segments(c: int, o: int, device: str) -> None:
    x, dy = drawn((3, c, 1100), np.float32), drawn((3, o, 1100), np.float32)
    (dw,) = called(lambda d, u: baracuda.conv_weight_grad(d, u, weight_size=(o, c, 1)), [dy, x], device)
    length, total = -(-2048 // 3), None
    for first in range(0, 1100, length):
        s = np.zeros((o, c), np.float32)
        for place in range(first, min(first + length, 1100)):
            for b in range(3):
                s = fma32(np.broadcast_to(x[b, None, :, place], s.shape), np.broadcast_to(dy[b, :, None, place], s.shape), s)
        total = s if total is None else total + s
    same(dw[..., 0], total)


def _layout(d: ConvolutionDescriptor, *, last: bool, general: bool) -> tuple[OperandLayout | None, ...]:
    layouts: list[OperandLayout | None] = []
    for spec in ConvolutionPlan.tensors:
        if spec.presence(d) is False:
            layouts.append(None)
            continue
        shape = spec.expected_shape(d)
        strides = contiguous_strides(shape)
        if not last and len(shape) > 2:  # channels before the spatial axes
            order = [0, 1, len(shape) - 1, *range(2, len(shape) - 1)]
            packed = contiguous_strides([shape[a] for a in order])
            strides = tuple(packed[order.index(a)] for a in range(len(shape)))
        layouts.append(OperandLayout(strides, 64, general))
    return tuple(layouts)


E = ElementKind
KINDS: list[tuple[Any, ...]] = [
    (E.F32, E.F32, 2, 0, None), (E.F32, E.F32, 1, 7, None), (E.BF16, E.BF16, 2, 0, MathPrecision.INT23),
    (E.F16, E.F16, 3, 0, None),
    (E.F64, E.F64, 2, 4, None), (E.S8, E.S32, 2, 0, None), (E.F32, E.F32, 2, 0, MathPrecision.INT15),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_kernels_compile(number: int) -> None:
    kind, architecture = KINDS[number], ("sm_80", "sm_90", "sm_100")[number % 3]
    last, general = number % 2 == 0, number % 5 == 4
    x, y, rank, segment, math = kind
    d = ConvolutionDescriptor(
        2, 2, (9,) * rank, 32, 24, (9,) * rank, (3,) * rank, (1,) * rank, (1,) * rank, (1,) * rank, x, x, y,
        has_bias=y.is_float, activation="silu" if y.is_float else "none", segment=segment,
    )  # fmt: skip
    problem = replace(d.problem(_layout(d, last=last, general=general)), math=math)
    for lowered in islice(ways(problem, Target(architecture)), 2):
        for launch in lowered.launches:
            assert cubin(launch.source, architecture)
