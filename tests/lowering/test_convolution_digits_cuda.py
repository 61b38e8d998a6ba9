"""Convolutions in integers on tensor cores: the kernels compile for every architecture, and on a device have the bits of the
contract, step by step, whatever the layout, also where elements are not finite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import contiguous_strides
from baracuda.core.sku import MathPrecision
from baracuda.formula.exact_fma import fma32
from baracuda.formula.expand import expand
from baracuda.formula.expr import cast, input_
from baracuda.formula.graph import Graph, Port
from baracuda.formula.integer_products import BLOCK, scaled
from baracuda.lowering.backend import CpuBackend
from baracuda.lowering.convolution.cuda.digits.lower import digit_ways
from baracuda.lowering.convolution.cuda.digits.windows import digit_windows
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.problem import PRODUCT
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.nest.cuda.targets import target_of
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.device_memory import download, upload
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.program import Lowered
from baracuda.runtime.toolchain import toolchain_of
from tests.lowering.shares import compiled_for
from tests.machine import Machine

pytest.importorskip("cuda.bindings.nvrtc")

Array = np.ndarray[Any, Any]
Extents = tuple[int, ...]
TARGETS = (Target("sm_90", 132), Target("sm_80", 108), Target("sm_100", 148))


@dataclass(frozen=True)
class Case:
    """A convolution: how its tensors lie ("last": channels last; "beside": elements of the batch side by side;
    outputs so many positions apart), and what is special."""

    inputs: Extents
    channels: int
    columns: int
    taps: Extents
    stride: Extents
    dilation: Extents
    low: Extents
    outputs: Extents
    batch: int = 2
    groups: int = 1
    kind: K = K.BF16
    math: MathPrecision = MathPrecision.INT23
    last: bool = True
    bias: bool = False
    general: bool = False
    apart: int = 1
    segment: int = 0
    beside: bool = False

    def __str__(self) -> str:
        words = [f"{self.batch}x{self.groups}x{self.channels}to{self.columns}", str(self.kind), str(self.math)]
        words += ["x".join(map(str, n)) for n in (self.inputs, self.taps, self.stride, self.dilation, self.low)]
        return "-".join(
            [
                *words,
                *(n for n in ("last", "bias", "general") if getattr(self, n)),
                *["apart"] * (self.apart > 1),
                *["parts"] * (self.segment > 0),
                *["beside"] * self.beside,
            ]
        )

    def problem(self) -> ConvolutionProblem:
        rank, none = len(self.inputs), (0,) * len(self.inputs)

        def strides(extents: Extents, channels: int) -> Extents:
            """Over (batch, groups, *spatial, channels)."""
            if self.last:
                s = contiguous_strides((self.batch, *extents, self.groups, channels))
                return (s[0], s[1 + rank], *s[1 : 1 + rank], s[-1])
            s = contiguous_strides((self.batch, self.groups, channels, *extents))
            return (s[0], s[1], *s[3:], s[2])

        inner = (*self.taps, self.channels) if self.last else (self.channels, *self.taps)
        of_w = contiguous_strides((self.groups, self.columns, *inner))
        g, n, *more = of_w
        taps, c = (more[:-1], more[-1]) if self.last else (more[1:], more[0])
        xs, ys = strides(self.inputs, self.channels), strides(tuple(n * self.apart for n in self.outputs), self.columns)
        if self.beside:
            s = contiguous_strides((*self.inputs, self.channels, self.groups, self.batch))
            xs = (1, s[-2], *s[:rank], s[-3])
        ys = (*ys[:2], *(s * self.apart for s in ys[2:-1]), ys[-1])
        value, inputs = cast(input_(PRODUCT, K.F32), self.kind.compute) + 0.0, [Port(PRODUCT, K.F32)]
        operands = [Operand(self.kind, ys, 16, self.general)]
        if self.bias:
            inputs.append(Port("bias", self.kind))
            value = value + cast(input_("bias", self.kind), self.kind.compute)
            operands.insert(0, Operand(self.kind, (0, self.columns, *none, 1), 16, self.general))
        return ConvolutionProblem(
            self.batch, self.groups, self.outputs, self.inputs, self.taps, self.channels, self.columns, self.stride,
            self.dilation, self.low, Operand(self.kind, (*xs[:-1], *none, xs[-1]), 16, self.general),
            Operand(self.kind, (0, g, *none, *none, *taps, c, n), 16, self.general), K.F32,
            expand(Graph(tuple(inputs), ((Port("y", self.kind), value),))), tuple(operands), self.math,
            self.segment,
        )  # fmt: skip


_THREE = ((3, 3), (1, 1), (1, 1), (1, 1))
CASES = (
    Case((9, 10), 64, 70, *_THREE, (9, 10)),
    Case((9, 10), 16, 33, (3, 3), (2, 2), (1, 2), (0, 3), (4, 6), groups=2, math=MathPrecision.INT15),
    Case((7, 7), 200, 64, *_THREE, (7, 7), batch=1),
    Case((7, 7), 72, 40, *_THREE, (7, 7), batch=3, last=False, bias=True),
    Case((50,), 33, 65, (5,), (2,), (1,), (1,), (24,), math=MathPrecision.INT15),
    Case((5, 6, 7), 32, 16, (3, 2, 3), (1, 1, 1), (-1, 1, 1), (-1, 0, 1), (5, 6, 7), batch=1, groups=2),
    Case((9, 10), 40, 70, *_THREE, (9, 10), groups=2, last=False, general=True, math=MathPrecision.INT15, bias=True),
    Case((8, 8), 130, 130, *_THREE, (8, 8), kind=K.F32),
    Case((14, 14), 256, 64, (1, 1), (1, 1), (1, 1), (0, 0), (14, 14), math=MathPrecision.INT15, last=False),
    Case((6, 6), 48, 32, (3, 3), (2, 1), (3, 2), (9, 1), (5, 4), kind=K.F16),
    Case((9, 10), 64, 70, *_THREE, (9, 10), groups=2, apart=2),
    Case((9, 10), 32, 40, (8, 9), (1, 1), (1, 1), (1, 1), (4, 4), batch=9, segment=7, bias=True),
    Case((9, 10), 32, 40, (8, 9), (1, 1), (1, 1), (1, 1), (4, 4), batch=70, segment=7, beside=True),
    Case((9, 10), 150, 40, (4, 4), (1, 1), (2, 2), (1, 1), (3, 3), groups=2, segment=5, math=MathPrecision.INT15, last=False),
)


@pytest.mark.cpu_only
@pytest.mark.parametrize("number", range(len(CASES)))
def test_compiles(number: int, full: bool) -> None:
    """A case's kernels compile, without --full a share of them."""
    for target in compiled_for(number, 5, TARGETS, full):
        found = list(digit_ways(CASES[number].problem(), target))
        assert len(found) == (2 if target.arch == "sm_90" else 1)
        for lowered in found:
            for launch in lowered.launches:
                assert launch.shared <= target.shared_bytes
                assert len(cubin(launch.source, target.arch)) > 1000


@pytest.mark.cpu_only
def test_the_source_does_not_depend_on_extents() -> None:
    sources = set()
    for size in (9, 30):
        case = replace(CASES[0], inputs=(size, 7), outputs=(size, 7), batch=size)
        sources.add(tuple(launch.source for lowered in digit_ways(case.problem(), TARGETS[0]) for launch in lowered.launches))
    assert len(sources) == 1


@pytest.mark.cpu_only
def test_refused() -> None:
    p = CASES[0].problem()
    with pytest.raises(UnsupportedError, match="a convolution in None; expected integers"):
        digit_windows(replace(p, math=None))
    with pytest.raises(UnsupportedError, match="windows that reach 1073741842 positions"):
        digit_windows(replace(p, dilation=(1 << 29, 1), low=(-9, 1), taps=(2, 3)))
    with pytest.raises(UnsupportedError, match="digits of 13027955712 bytes; expected at most 8589934592"):
        digit_windows(replace(p, batch=32, inputs=(1024, 1024), outputs=(1024, 1024)))
    assert list(digit_ways(replace(p, channels=0), TARGETS[0])) == []


def reference(p: ConvolutionProblem, x: Array, w: Array) -> Array:
    """The sums of x over (b, g, *i, c) and w over (g, *t, c, n), both f32: the order of `ConvolutionProblem`."""
    rank = p.rank
    s = np.zeros((p.batch, p.groups, *p.outputs, p.columns), np.float32)
    unusual, found = np.zeros_like(s), np.zeros(s.shape, bool)
    total = np.zeros_like(s)
    for number, tap in enumerate(np.ndindex(*p.taps)):
        if p.segment and number % p.segment == 0:
            total, s = total + s, np.zeros_like(s)
        at = [
            np.arange(o) * st + t * d - low for o, st, t, d, low in zip(p.outputs, p.stride, tap, p.dilation, p.low, strict=True)
        ]
        inside = [(i >= 0) & (i < n) for i, n in zip(at, p.inputs, strict=True)]
        seen = x[(slice(None), slice(None), *np.ix_(*(np.clip(i, 0, n - 1) for i, n in zip(at, p.inputs, strict=True))))]
        there = np.logical_and.reduce(np.meshgrid(*inside, indexing="ij"))[None, None, ..., None]
        own = w[(slice(None), *tap)]
        for first in range(0, p.channels, BLOCK):
            q_x, e_x = scaled(seen[..., first : first + BLOCK], p.bits)
            q_w, e_w = scaled(np.swapaxes(own[:, first : first + BLOCK], 1, 2), p.bits)
            exact = np.einsum("bgmc,gnc->bgmn", q_x.reshape(p.batch, p.groups, -1, q_x.shape[-1]), q_w).reshape(s.shape)
            of_x = np.ldexp(np.float32(1), e_x - p.bits)[..., None]
            of_w = np.ldexp(np.float32(1), e_w - p.bits).reshape(1, p.groups, *(1,) * rank, -1)
            with np.errstate(all="ignore"):
                more = fma32(exact.astype(np.float32) * np.minimum(of_x, of_w), np.maximum(of_x, of_w), s)
            s = np.where(there, more, s)
        for c in range(p.channels):
            u, v = seen[..., c, None], own[:, c].reshape(1, p.groups, *(1,) * rank, -1)
            special = ~(np.isfinite(u) & np.isfinite(v)) & there
            if special.any():
                with np.errstate(all="ignore"):
                    unusual = unusual + np.where(special, u * v, np.float32(0)).astype(np.float32)
                found |= special
    return np.where(found, unusual, total + s)


def extents_of(p: ConvolutionProblem) -> tuple[Extents, Extents, Extents]:
    """The extents that the strides of x, of w and of the others run over."""
    x = (p.batch, p.groups, *p.inputs, *p.taps, p.channels)
    w = (1, p.groups, *p.outputs, *p.inputs, *p.taps, p.channels, p.columns)
    return x, w, (p.batch, p.groups, *p.outputs, p.columns)


def viewed(block: Array, operand: Operand, extents: Extents) -> Array:
    return np.lib.stride_tricks.as_strided(block, extents, [s * block.itemsize for s in operand.strides])


def drawn(rng: np.random.Generator, operand: Operand, extents: Extents, unusual: bool) -> Array:
    """The memory of an operand, of several magnitudes."""
    count = 1 + sum(s * (n - 1) for s, n in zip(operand.strides, extents, strict=True))
    values = rng.standard_normal(count, np.float32) * np.exp2(rng.integers(-6, 6, count)).astype(np.float32)
    if unusual:
        for value in (np.inf, -np.inf, np.nan, 0.0):
            values[rng.integers(0, count, 2)] = value
    return values.astype(operand.kind.numpy)


def factors_of(p: ConvolutionProblem, memory: list[Array], kind: Any) -> tuple[Array, Array]:
    """x over (b, g, *i, c) and w over (g, *t, c, n), given their memory."""
    x_extents, w_extents, _ = extents_of(p)
    every, one = slice(None), (0,) * p.rank
    x_at: Any = (..., *one, every)
    w_at: Any = (0, every, *one, *one)
    return viewed(memory[0], p.x, x_extents)[x_at].astype(kind), viewed(memory[1], p.w, w_extents)[w_at].astype(kind)


def run(lowered: Lowered, blocks: list[Array], scratch: Array, device: Device) -> None:
    """Runs a program on a device; the last block has its result afterwards."""
    call = toolchain_of(device).load(lowered, len(blocks), ())
    if device.kind is DeviceKind.CPU:
        call.call([block.ctypes.data for block in blocks], scratch.ctypes.data, 0)
        return
    held = [upload(block, device) for block in (*blocks, scratch)]
    call.call([h.pointer for h in held[:-1]], held[-1].pointer, 0)
    blocks[-1] = download(held[-2])


@pytest.mark.parametrize("unusual", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_bits(machine: Machine, case: Case, unusual: bool) -> None:
    """Every way has the contract's bits, on the CPU too; nothing of the workspace is taken for 0."""
    p, rng = case.problem(), np.random.default_rng(1)
    device = Device.cuda(0) if machine.name == "cuda" else Device.cpu()
    x_extents, w_extents, extents = extents_of(p)
    memory = [drawn(rng, p.x, x_extents, unusual), drawn(rng, p.w, w_extents, unusual)]
    memory += [drawn(rng, o, extents, False) for o in p.operands]
    x, w = factors_of(p, memory, np.float32)
    with np.errstate(all="ignore"):
        want = reference(p, x, w) + np.float32(0)
        if case.bias:
            want = want + viewed(memory[2], p.operands[0], extents).astype(np.float32)
        want = want.astype(case.kind.numpy).astype(np.float32)
    ways = digit_ways(p, target_of(device)) if machine.name == "cuda" else CpuBackend().ways(p, device)
    for lowered in ways:
        held = [block.copy() for block in memory]
        scratch = np.full(lowered.workspace_bytes + 64, 0xA5, np.uint8)
        run(lowered, held, scratch, device)
        found = viewed(held[-1], p.operands[-1], extents).astype(np.float32)
        same = (found.view(np.uint32) == want.view(np.uint32)) | (np.isnan(found) & np.isnan(want))
        assert same.all(), (lowered.schedule, np.argwhere(~same)[:3].tolist())
