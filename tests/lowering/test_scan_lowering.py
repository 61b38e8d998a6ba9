"""Scans beside reductions and other scans, their gradients, vector widths, general strides, and what NVRTC says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.cli.verify.placement import place
from baracuda.core.device import Stream
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr, cast, const, input_, position
from baracuda.formula.functions import exp, log, max_, mean, sum_
from baracuda.formula.graph import Graph, Port
from baracuda.formula.scans import (
    cummax,
    cummax_with_index,
    cummin,
    cumprod,
    cumsum,
    linear_recurrence,
    logcumsumexp,
    scan,
    segmented_cumsum,
)
from baracuda.lowering.nest.cpu.lower import lower as lower_for_cpu
from baracuda.lowering.nest.cuda.lower import Target
from baracuda.lowering.nest.cuda.lower import lower as lower_for_cuda
from baracuda.lowering.nest.problem import Nest, Operand, Problem, normalise
from baracuda.runtime.jit import CpuTarget, host
from tests.cases.trial import to_device, to_host
from tests.lowering.cpu_harness import bits, canonical, guarded, guards_intact, run
from tests.machine import Machine

# --- gradients, and formulas of several kernels -----------------------------------------------------------------------


def softmax(x: Expr) -> Expr:
    e = exp(x - max_(x))
    return e / sum_(e)


def reversed_(x: torch.Tensor, function: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    return function(x.flip(-1)).flip(-1)


#: Formula, and the same in PyTorch over the last axis.
GRADIENTS: dict[str, tuple[Callable[..., Expr], Callable[..., torch.Tensor]]] = {
    "cumsum": (lambda x: cumsum(x), lambda x: x.cumsum(-1)),
    "cumsum exclusive": (lambda x: cumsum(x, reverse=True, exclusive=True), lambda x: reversed_(x, lambda r: r.cumsum(-1)) - x),
    "cumprod": (lambda x: cumprod(x * 0.1 + 1.0), lambda x: (x * 0.1 + 1.0).cumprod(-1)),
    "cummax": (lambda x: cummax(x), lambda x: x.cummax(-1)[0]),
    "cummin": (lambda x: cummin(x, reverse=True) * x, lambda x: reversed_(x, lambda r: r.cummin(-1)[0]) * x),
    "cummax with index": (lambda x: cummax_with_index(x)[0] * x, lambda x: x.cummax(-1)[0] * x),
    "logcumsumexp": (lambda x: logcumsumexp(x * 9.0), lambda x: (x * 9.0).logcumsumexp(-1)),
    "of a softmax": (lambda x: cumsum(softmax(x)), lambda x: x.softmax(-1).cumsum(-1)),
    "of a scan": (lambda x: cumsum(cumsum(x), reverse=True), lambda x: reversed_(x.cumsum(-1), lambda r: r.cumsum(-1))),
    "beside a sum": (lambda x: cumsum(x) / sum_(x * x), lambda x: x.cumsum(-1) / (x * x).sum(-1, keepdim=True)),
    "below a mean": (lambda x: x - mean(cumsum(x)), lambda x: x - x.cumsum(-1).mean(-1, keepdim=True)),
    "both ways": (
        lambda x: cumsum(x) + cumsum(x * 2.0, reverse=True),
        lambda x: x.cumsum(-1) + reversed_(x * 2.0, lambda r: r.cumsum(-1)),
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str, device: str, full: bool) -> None:
    """Of four shapes, or without --full of two in turn."""
    formula, reference = GRADIENTS[name]
    fused = baracuda.fuse(lambda x: formula(x))
    generator = torch.Generator().manual_seed(1)
    shapes = ((3, 2, 40), (2, 5000), (7,), (4, 1))
    for shape in shapes if full else shapes[list(GRADIENTS).index(name) % 2 :: 2]:
        x = torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()
        y = reference(x)
        dy = torch.randn(shape, dtype=torch.float64, generator=generator)
        y.backward(dy)
        plain = x.detach().to(device)
        torch.testing.assert_close(fused(plain).cpu(), y.detach(), rtol=1e-10, atol=1e-10)
        (got,) = fused.gradient(plain, dy=dy.to(device))
        torch.testing.assert_close(got.cpu(), x.grad, rtol=1e-10, atol=1e-10)


def test_gradients_of_what_is_broadcast(device: str) -> None:
    """A tensor that does not vary along the row counts as equal all along it."""
    generator = torch.Generator().manual_seed(2)
    x, w = (torch.randn(s, dtype=torch.float64, generator=generator).requires_grad_() for s in ((5, 300), (5, 1)))
    fused = baracuda.fuse(lambda x, w: cumsum(w) * x + cumsum(x * w))
    y = w.expand(x.shape).cumsum(-1) * x + (x * w).cumsum(-1)
    dy = torch.randn(y.shape, dtype=torch.float64, generator=generator)
    y.backward(dy)
    plain = [t.detach().to(device) for t in (x, w)]
    torch.testing.assert_close(fused(*plain).cpu(), y.detach(), rtol=1e-11, atol=1e-11)
    for got, leaf in zip(fused.gradient(*plain, dy=dy.to(device)), (x, w), strict=True):
        torch.testing.assert_close(got.cpu(), leaf.grad, rtol=1e-10, atol=1e-10)


def test_gradient_of_a_product_with_zeros(device: str) -> None:
    x = torch.tensor([[2.0, 0.0, 3.0, 0.0, 5.0], [1.0, 2.0, 0.0, 4.0, 5.0]], dtype=torch.float64).requires_grad_()
    y = x.cumprod(-1)
    y.backward(torch.ones_like(y))
    (got,) = baracuda.fuse(lambda x: cumprod(x)).gradient(x.detach().to(device), dy=torch.ones_like(y).to(device))
    torch.testing.assert_close(got.cpu(), x.grad, rtol=1e-14, atol=0.0)


def test_gradient_of_logcumsumexp_far_apart(device: str) -> None:
    """Where exp(x) over- and underflows, and where nothing has come yet."""
    x = torch.tensor([[-torch.inf, 800.0, -900.0, 801.0, 0.0, 1000.0]], dtype=torch.float64)
    (got,) = baracuda.fuse(lambda x: logcumsumexp(x)).gradient(x.to(device), dy=torch.ones_like(x).to(device))
    small = np.exp(-1.0)
    wanted = [1.0, 1.0 + 1.0 + 2 * small / (1 + small), 0.0, 2 / (1 + small), 0.0, 1.0]
    np.testing.assert_allclose(got.cpu().numpy()[0], wanted, rtol=1e-12)


def test_several_kernels_have_the_bits_of_each(device: str) -> None:
    """A scan of what a reduction gives is the scan of that reduction's own bits."""
    x = torch.randn((6, 3000), generator=torch.Generator().manual_seed(4))
    both = baracuda.fuse(lambda x: (cumsum(softmax(x)), sum_(x), cumsum(cumsum(x), reverse=True)))
    scanned, total, twice = (t.cpu() for t in both(x.to(device)))
    probabilities = baracuda.fuse(softmax)(x.to(device))
    assert torch.equal(scanned, baracuda.fuse(lambda x: cumsum(x))(probabilities).cpu())
    assert np.array_equal(bits(total.numpy()[:, 0]), bits(canonical(x.numpy())))
    once = baracuda.fuse(lambda x: cumsum(x))(x.to(device))
    assert torch.equal(twice, baracuda.fuse(lambda x: cumsum(x, reverse=True))(once).cpu())


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [K.F32, K.F64, K.S64, K.F16], ids=str)
def test_general_strides(kind: K, machine: Machine, device: str) -> None:
    """What a plan runs for layouts that it was not selected for gives the same bits, and writes nothing else."""
    fused = baracuda.fuse(lambda x: cumsum(x, reverse=True) * x + cast(position(K.S32), x.kind))
    for shape in ((40, 9), (6, 300), (3, 4500)):
        x = (np.random.default_rng(6).standard_normal(shape) * 8).astype(kind.numpy)
        wide = x.astype(np.float64)
        reference = wide[:, ::-1].cumsum(1)[:, ::-1] * wide + np.arange(shape[1])
        plan = fused.select(machine.stream, to_device(x, device))
        workspace, wanted = machine.workspace(plan.workspace_size()), None
        for layout in ("contiguous", "transposed", "sliced", "negative", "padded"):
            lies, lies_y = (place(shape, kind, layout, writable=is_output) for is_output in (False, True))
            block, block_y = lies.block(0xA5), lies_y.block(0xA5)
            lies.view(block)[...] = x
            held, held_y = machine.upload(block), machine.upload(block_y)
            args = fused.args(plan, held.tensor(lies, writable=False), held_y.tensor(lies_y, writable=True))
            plan.run(machine.stream, workspace, args)
            machine.synchronize()
            y = held_y.download()
            wanted = lies_y.view(y).copy() if wanted is None else wanted
            lies_y.view(block_y)[...] = wanted
            assert np.array_equal(y, block_y), (shape, layout)
            assert np.array_equal(held.download(), block), (shape, layout)
        np.testing.assert_allclose(wanted.astype(np.float64), reference, rtol=1e-3, atol=0.05)


def test_in_place(machine: Machine, device: str) -> None:
    for shape, axis in (((3, 5000), 1), ((5000, 3), 0), ((70, 9), 1)):
        fused = baracuda.fuse(lambda x: cumsum(x, exclusive=True) + x, axis=axis)
        x = to_device(np.random.default_rng(8).standard_normal(shape).astype(np.float32), device)
        apart = to_host(fused(x))
        plan = fused.select(machine.stream, x)
        workspace = machine.workspace(plan.workspace_size())
        plan.run(machine.stream, workspace, fused.args(plan, x, x))
        machine.synchronize()
        assert np.array_equal(bits(to_host(x)), bits(apart))


def test_large_outputs(device: str) -> None:
    """On the CPU they are written past the cache."""
    x = to_device(np.ones((2, 1 << 22), np.float32), device)
    y = to_host(baracuda.fuse(lambda x: cumsum(x))(x))
    assert np.array_equal(y[1], np.arange(1, (1 << 22) + 1, dtype=np.float32))
    z = to_host(baracuda.fuse(lambda x: cumsum(x, reverse=True))(x))
    assert np.array_equal(z[0], y[1][::-1])


# --- errors -----------------------------------------------------------------------------------------------------------


def test_bad_scans_are_refused() -> None:
    x, n = input_("x", K.F32), input_("n", K.S32)

    def add(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (a[0] + b[0],)

    with pytest.raises(InvalidProblemError, match="no operand"):
        scan(add, (), identity=())
    with pytest.raises(InvalidProblemError, match="no identity"):
        scan(add, (x,))
    with pytest.raises(InvalidProblemError, match="identity of 2 components; expected 1"):
        scan(add, (x,), identity=(0.0, 0.0))
    with pytest.raises(InvalidProblemError, match="tuple of 2"):
        scan(add, (x, n), identity=(0.0, 0))
    with pytest.raises(InvalidProblemError, match="component 1; expected 0 to 0"):
        scan(add, (x,), 1, identity=(0.0,))
    with pytest.raises(InvalidProblemError, match="kind s32; expected f32"):
        scan(lambda a, b: (cast(a[0], K.S32),), (x,), identity=(0.0,))
    with pytest.raises(InvalidProblemError, match="nothing but the two states"):
        scan(lambda a, b: (a[0] + x,), (x,), identity=(0.0,))
    with pytest.raises(UnsupportedError, match="has no derivative"):
        baracuda.fuse(lambda x: scan(add, (x,), identity=(0.0,))).gradient(np.zeros(3, np.float32), dy=np.zeros(3, np.float32))


def test_one_kernel_refuses_what_takes_several() -> None:
    x = input_("x", K.F32)
    for expr in (cumsum(x) / sum_(x), cumsum(cumsum(x)), cumsum(x) + cumsum(x, reverse=True)):
        nest = nest_of(lambda x, expr=expr: expr, (K.F32,), (4, 9000), (1,))
        for lower in (lower_for_cpu, lambda nest: lower_for_cuda(nest, Target("sm_90"))):
            with pytest.raises(UnsupportedError, match="expected them in kernels of their own"):
                lower(nest)


# --- the CPU's own ----------------------------------------------------------------------------------------------------

FULL = Axes.FULL
TARGETS = [replace(host(), vector_bits=bits_) for bits_ in (128, 256, 512) if bits_ <= host().vector_bits]
if host().triple.startswith("x86_64"):
    TARGETS.append(CpuTarget(host().triple, "x86-64-v3", "", 256))


@pytest.mark.cpu_only
@pytest.mark.parametrize("kind", [K.F32, K.F64, K.S64, K.F16], ids=str)
def test_vector_widths_and_general_strides(kind: K) -> None:
    """Outputs lie between guards; code that knows no stride gives the same bits."""
    rng = np.random.default_rng(6)

    def formula(x: Expr) -> Expr:
        return cumsum(x, reverse=True) * x + cast(position(K.S32), x.kind)

    for number, (rows, n) in enumerate([(40, 9), (19, 70), (6, 300), (3, 4500)]):
        x = (rng.standard_normal((rows, n)) * 8).astype(kind.numpy)
        results = []
        for target in TARGETS:
            for axis, general in ((1, False), (0, False), (1, True)):
                y, whole = guarded((rows, n), kind.numpy, None if axis else (1, 0))
                source = x if axis else np.ascontiguousarray(x.T).T
                run(formula, (rows, n), (False, True), [(("x", kind, FULL), source)], [(("y", kind, FULL), y)], {}, target,
                    general=general)  # fmt: skip
                assert guards_intact(whole)
                results.append(bits(y))
        assert all(np.array_equal(f, results[0]) for f in results), number


# --- NVRTC ------------------------------------------------------------------------------------------------------------


def nest_of(
    formula: Callable[..., Any], kinds: Sequence[K], shape: tuple[int, ...], axes: tuple[int, ...], *, general: bool = False
) -> Nest:
    """The nest of a formula over contiguous tensors."""
    inner = tuple(a in axes for a in range(len(shape)))
    ports = tuple(Port(f"x{i}", kind) for i, kind in enumerate(kinds))
    results = formula(*(input_(p.name, p.kind) for p in ports))
    results = results if isinstance(results, tuple) else (results,)
    like = {r.kind: next((k for k in kinds if k.compute is r.kind), r.kind) for r in results}
    outputs = tuple((Port(f"y{i}", like[r.kind]), r) for i, r in enumerate(results))
    strides = tuple(int(np.prod(shape[a + 1 :])) for a in range(len(shape)))
    operands = tuple(Operand(p.kind, strides, 16, general) for p in (*ports, *(p for p, _ in outputs)))
    return normalise(Problem(expand(Graph(ports, outputs, inner)), shape, inner, operands))


SPACES = [
    ((5, 7), (1,)), ((300, 1000), (1,)), ((8192, 8192), (1,)), ((3, 1000003), (1,)), ((8192, 8192), (0,)), ((100000, 40), (0,)),
    ((4, 64, 6, 8), (1, 3)), ((2, 3, 2, 2, 3, 2, 2, 50), (5, 7)), ((2, 1 << 32), (1,)),
]  # fmt: skip
KERNELS: dict[str, Callable[[Expr], Any]] = {
    "sums": lambda x: cumsum(x, reverse=True, exclusive=True) + cumsum(x, reverse=True),
    "index": lambda x: cummax_with_index(x),
    "logcumsumexp": lambda x: logcumsumexp(x),
    "two": lambda x: (linear_recurrence(x, x * 2.0), cumprod(x, exclusive=True)),
    "around": lambda x: log(cumsum(exp(x) * cast(position(K.S64), x.kind))) + segmented_cumsum(x, x > const(0.0, x.kind)),
}


@pytest.mark.cpu_only
@pytest.mark.parametrize("arch", ["sm_90", "sm_80", "sm_100"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile(name: str, arch: str, full: bool) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.runtime.nvrtc import cubin

    kinds = (K.F32, K.BF16, K.F64, K.F16)
    for number, (shape, axes) in enumerate(SPACES):
        if name == "index" and shape[-1] >= 1 << 31:
            continue  # its positions are s32
        turn = number + list(KERNELS).index(name)
        if not full and (turn + ["sm_90", "sm_80", "sm_100"].index(arch)) % 3:
            continue
        for kind in kinds if full else (kinds[turn % 4],):
            for general in (False, True) if full else (number % 2 == 0,):
                lowered = lower_for_cuda(nest_of(KERNELS[name], (kind,), shape, axes, general=general), Target(arch))
                for launch in lowered.launches:
                    assert cubin(launch.source, arch)[:4] == b"\x7fELF", f"{shape} {kind}"


def test_schedules_are_named() -> None:
    plan = baracuda.fuse(lambda x: cumsum(x)).select(Stream(baracuda.Device.cpu()), np.zeros((4, 100), np.float32))
    assert "scan" in plan.schedule
