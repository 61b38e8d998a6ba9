"""Products by libraries, BLAS on the CPU and cuBLASLt on a GPU, and attention by cuDNN: values, promises and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

import baracuda as bc
from baracuda.core.errors import UnsupportedError

FASTEST = bc.PlanPreference(fastest=True)
EXACT = {torch.float32: 1e-5, torch.float64: 1e-12, torch.complex64: 1e-5, torch.complex128: 1e-12}
HALVES = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


@pytest.fixture
def library(device: str) -> bc.BackendKind:
    if device == "cpu":
        return bc.BackendKind.BLAS
    pytest.importorskip("nvmath.bindings")
    return bc.BackendKind.CUBLASLT


def drawn(shape: tuple[int, ...], dtype: torch.dtype, device: str, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    kind = torch.complex128 if dtype.is_complex else torch.float64
    return torch.randn(shape, generator=generator, dtype=kind).to(dtype).to(device)


def close(got: torch.Tensor, want: torch.Tensor) -> None:
    tolerance = (EXACT | HALVES)[got.dtype]
    wide = torch.complex128 if got.dtype.is_complex else torch.float64
    assert got.shape == want.shape
    assert (got.to(wide) - want.to(wide)).abs().max() <= tolerance * want.to(wide).abs().max()


def wide(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.complex128 if x.dtype.is_complex else torch.float64)


def dtypes(library: bc.BackendKind) -> list[torch.dtype]:
    return [*EXACT, *(HALVES if library is bc.BackendKind.CUBLASLT else ())]


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
def test_layouts(turned: tuple[bool, bool], library: bc.BackendKind, device: str) -> None:
    wish = bc.PlanPreference(backend=library)
    for dtype in dtypes(library):
        a, b = drawn((30, 20), dtype, device), drawn((20, 40), dtype, device, 1)
        a, b = (x.T.contiguous().T if t else x for x, t in zip((a, b), turned, strict=True))
        close(bc.matmul(a, b, preference=wish), wide(a) @ wide(b))


@pytest.mark.parametrize(
    ("a_shape", "b_shape"),
    [
        ((5, 30, 20), (5, 20, 40)),
        ((2, 5, 30, 20), (20, 40)),
        ((1, 7), (7, 1)),
        ((30, 20), (20,)),
        ((20,), (20, 4)),
        ((4, 1), (1, 4)),
    ],
)  # fmt: skip
def test_shapes(a_shape: tuple[int, ...], b_shape: tuple[int, ...], library: bc.BackendKind, device: str) -> None:
    a, b = drawn(a_shape, torch.float32, device), drawn(b_shape, torch.float32, device, 1)
    close(bc.matmul(a, b, preference=bc.PlanPreference(backend=library)), wide(a) @ wide(b))


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_tanh", "silu"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_epilogues(activation: str, with_bias: bool, library: bc.BackendKind, device: str) -> None:
    wish = bc.PlanPreference(backend=library)
    for dtype in (torch.float32, *(HALVES if library is bc.BackendKind.CUBLASLT else ())):
        x, w = drawn((33, 24), dtype, device), drawn((48, 24), dtype, device, 1)
        bias = drawn((48,), dtype, device, 2) if with_bias else None
        got = bc.linear(x, w, bias, activation=activation, preference=wish)
        close(got, bc.linear(*(None if t is None else t.cpu().double() for t in (x, w, bias)), activation=activation).to(device))


def test_what_is_added(library: bc.BackendKind, device: str) -> None:
    wish = bc.PlanPreference(backend=library)
    a, b, c = drawn((9, 16), torch.float32, device), drawn((16, 8), torch.float32, device), drawn((9, 8), torch.float32, device)
    close(bc.addmm(c, a, b, beta=0.5, alpha=2.0, preference=wish), torch.addmm(wide(c), wide(a), wide(b), beta=0.5, alpha=2.0))
    close(bc.addmm(c[0], a, b, preference=wish), torch.addmm(wide(c[0]), wide(a), wide(b)))
    y, z = bc.linear(a, b.T, activation="gelu", saved=True, preference=wish)
    dy = drawn((9, 8), torch.float32, device, 3)
    reproducible = bc.linear_backward(dy, a, b.T, activation="gelu", z=z)
    for got, want in zip(bc.linear_backward(dy, a, b.T, activation="gelu", z=z, preference=wish), reproducible, strict=True):
        close(got, want.double())
    close(y, F.gelu(wide(a) @ wide(b)))


def plan(preference: bc.PlanPreference | None, device: str, element: bc.ElementKind = bc.ElementKind.F32) -> Any:
    stream = None if device == "cpu" else torch.cuda.current_stream()
    return bc.MatmulPlan.select(stream, bc.MatmulDescriptor.matmul((8, 8), (8, 8), element), preference)


def test_the_preference_chooses(library: bc.BackendKind, device: str) -> None:
    """Reproducible unless the caller prefers speed, and never silently something else."""
    assert plan(None, device).precision_guarantee().bit_stable_across_hardware
    fast = plan(FASTEST, device)
    assert fast.sku().backend is library
    assert not fast.precision_guarantee().batch_invariant
    batch_invariant = bc.PlanPreference(fastest=True, require=["batch_invariant"])
    assert plan(batch_invariant, device).precision_guarantee().batch_invariant
    with pytest.raises(UnsupportedError, match="it is not bit_stable_across_hardware"):
        plan(bc.PlanPreference(backend=library, require=["bit_stable_across_hardware"]), device)


def test_refusals(device: str, library: bc.BackendKind) -> None:
    if device == "cpu":
        with pytest.raises(UnsupportedError, match="BLAS has no products of bf16"):
            plan(bc.PlanPreference(backend=library), device, bc.ElementKind.BF16)
        assert plan(FASTEST, device, bc.ElementKind.BF16).sku().backend is bc.BackendKind.FORMULA_CPU
        for math, element in ((bc.MathPrecision.BF16, bc.ElementKind.BF16), (bc.MathPrecision.F16, bc.ElementKind.F16)):
            with pytest.raises(UnsupportedError, match=f"{math} is of tensor cores, the stream is on cpu"):
                plan(bc.PlanPreference(math=math), device, element)
    a = drawn((8, 8), torch.float32, device)
    with pytest.raises(UnsupportedError, match="expected the last or the second to last of each to be 1"):
        bc.matmul(a[::2, ::2], a[:4], preference=bc.PlanPreference(backend=library))
    close(bc.matmul(a[::2, ::2], a[:4], preference=FASTEST), wide(a[::2, ::2]) @ wide(a[:4]))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_attention(causal: bool, dtype: torch.dtype, device: str) -> None:
    wish = bc.PlanPreference(backend=bc.BackendKind.CUDNN)
    q, k, v, dy = (drawn((2, 64, 4, 64), dtype, device, i).transpose(1, 2) for i in range(4))
    if device == "cpu":
        with pytest.raises(UnsupportedError, match="cudnn: the stream is on cpu"):
            bc.scaled_dot_product_attention(q, k, v, preference=wish)
        return
    pytest.importorskip("cudnn")
    leaves = [wide(t).requires_grad_() for t in (q, k, v)]
    want = F.scaled_dot_product_attention(*leaves, is_causal=causal)
    want.backward(wide(dy))
    y, lse = bc.scaled_dot_product_attention(q, k, v, causal=causal, saved=True, preference=wish)
    close(y, want.detach())
    for gradient, leaf in zip(
        bc.scaled_dot_product_attention_backward(dy, q, k, v, y, lse, causal=causal, preference=wish), leaves, strict=True
    ):
        assert leaf.grad is not None
        assert (gradient.double() - leaf.grad).abs().max() <= 4 * HALVES[dtype] * leaf.grad.abs().max()
