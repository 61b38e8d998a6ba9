"""Convolutions by cuDNN: values, gradients, what is promised, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import baracuda as bc
from baracuda.core.errors import UnsupportedError
from baracuda.ops.convolution.plan import ConvolutionArgs, ConvolutionDescriptor, ConvolutionPlan

FASTEST = bc.PlanPreference(fastest=True)
ONLY = bc.PlanPreference(backend=bc.BackendKind.CUDNN)
CASES = [
    ((4, 32, 20, 22), (48, 32, 3, 3), {"padding": 1}),
    ((4, 32, 20, 22), (48, 32, 3, 3), {"padding": 1, "stride": 2}),
    ((3, 17, 29, 31), (23, 17, 3, 2), {"padding": (2, 1), "stride": (2, 1), "dilation": 2}),
    ((4, 64, 14, 14), (32, 16, 3, 3), {"padding": 1, "groups": 4}),
    ((4, 32, 14, 14), (64, 32, 1, 1), {}),
    ((4, 32, 100), (40, 32, 5), {"stride": 2, "padding": 1}),
    ((2, 16, 8, 9, 10), (24, 16, 3, 3, 3), {"padding": 1}),
]


def drawn(torch: Any, shape: tuple[int, ...], dtype: Any, last: bool, seed: int) -> Any:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to("cuda", dtype)
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.contiguous(memory_format=formats[len(shape)]) if last and len(shape) in formats else x


def function(shape: tuple[int, ...], ending: str = "") -> Any:
    return getattr(bc, f"conv{len(shape) - 2}d{ending}")


def error(x: Any, exact: Any) -> float:
    return float((x.double() - exact).norm() / exact.norm())


@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CASES, ids=str)
def test_values(
    torch: Any, x_shape: tuple[int, ...], w_shape: tuple[int, ...], options: dict[str, Any], dtype: str, last: bool
) -> None:
    """Forward and gradients with `fastest`, near float64."""
    pytest.importorskip("cudnn")
    kind, limit = getattr(torch, dtype), {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5}[dtype]
    x, w = drawn(torch, x_shape, kind, last, 0), drawn(torch, w_shape, kind, last, 1)
    leaves = [t.double().requires_grad_() for t in (x, w)]
    exact = getattr(torch.nn.functional, f"conv{len(x_shape) - 2}d")(*leaves, **options)
    dy = drawn(torch, tuple(exact.shape), kind, last, 2)
    with bc.preferring(FASTEST):
        y = function(x_shape)(x, w, **options)
        dx, dw = function(x_shape, "_backward")(dy, x, w, **options)
    wanted = [exact.detach(), *torch.autograd.grad(exact, leaves, dy.double())]
    assert [error(a, b) <= limit for a, b in zip((y, dx, dw), wanted, strict=True)] == [True] * 3
    with bc.preferring(FASTEST):
        assert torch.equal(function(x_shape)(x, w, **options), y)


@pytest.mark.parametrize("activation", ["none", "relu", "silu"])
def test_what_follows(torch: Any, activation: str) -> None:
    """A bias and an activation, whoever takes them."""
    pytest.importorskip("cudnn")
    x, w = drawn(torch, (2, 32, 14, 14), torch.float16, True, 0), drawn(torch, (64, 32, 3, 3), torch.float16, True, 1)
    bias = drawn(torch, (64,), torch.float16, False, 2)
    with bc.preferring(FASTEST):
        y = bc.conv2d(x, w, bias, padding=1, activation=activation)
    exact = torch.nn.functional.conv2d(x.double(), w.double(), bias.double(), padding=1)
    assert error(y, {"none": lambda z: z, "relu": torch.relu, "silu": torch.nn.functional.silu}[activation](exact)) < 2e-3


def test_what_is_chosen(torch: Any) -> None:
    """cuDNN promises the same bits from run to run, and is taken where a preference asks for the fastest."""
    pytest.importorskip("cudnn")
    stream = bc.Stream(bc.Device.cuda(0))

    def plan(element: Any, preference: Any, turned: bool = False, **more: Any) -> Any:
        d = ConvolutionDescriptor(2, 1, (9, 9), 32, 48, (9, 9), (3, 3), (1, 1), (1, 1), (1, 1), element, element, element, **more)
        kind = {bc.ElementKind.BF16: torch.bfloat16, bc.ElementKind.F32: torch.float32}.get(element, torch.float64)
        x, w, y = (torch.empty(shape, dtype=kind, device="cuda") for shape in (d.x_shape, (1, 48, 3, 3, 32), d.y_shape))
        w = torch.empty(d.w_shape, dtype=kind, device="cuda") if turned else w.permute(0, 2, 3, 4, 1)
        return ConvolutionPlan.select(stream, d, preference, like=ConvolutionArgs(x, w, y=y))

    def chosen(*args: Any, **more: Any) -> tuple[Any, str]:
        found = plan(*args, **more)
        return found.sku().backend, str(found.precision_guarantee())

    assert chosen(bc.ElementKind.BF16, FASTEST) == (bc.BackendKind.CUDNN, "bf16+f32/ds")
    assert chosen(bc.ElementKind.F32, FASTEST) == (bc.BackendKind.CUDNN, "f32+f32/ds")
    tf32 = bc.PlanPreference(fastest=True, allow_tf32=True)
    assert chosen(bc.ElementKind.F32, tf32) == (bc.BackendKind.CUDNN, "tf32+f32/ds")
    assert chosen(bc.ElementKind.BF16, None)[0] is bc.BackendKind.FORMULA_CUDA
    pinned = bc.PlanPreference(math=bc.MathPrecision.BF16)
    assert chosen(bc.ElementKind.BF16, pinned) == (bc.BackendKind.FORMULA_CUDA, "bf16+f32/dbs")
    with pytest.raises(UnsupportedError, match="activation mish; expected one of none, relu"):
        plan(bc.ElementKind.BF16, ONLY, activation="mish")
    with pytest.raises(UnsupportedError, match="cuDNN has no convolution of f64 and f64 to f64"):
        plan(bc.ElementKind.F64, ONLY)
    with pytest.raises(UnsupportedError, match="expected tensors without gaps, channels first or last in all of them"):
        plan(bc.ElementKind.BF16, ONLY, turned=True)
