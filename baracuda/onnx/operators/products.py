"""Matrix products."""

from __future__ import annotations

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Tensor, near


@operator("MatMul")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """`baracuda.matmul`."""
    return baracuda.matmul(a, b)


@operator("Gemm")
def gemm(
    a: Tensor, b: Tensor, c: Tensor = None, *, alpha: float = 1.0, beta: float = 1.0, transA: bool = False, transB: bool = False
) -> Tensor:
    """alpha * a @ b + beta * c."""
    a = baracuda.permute(a, (1, 0)) if transA else a
    b = baracuda.permute(b, (1, 0)) if transB else b
    if c is None:
        y = baracuda.matmul(a, b)
        return y if alpha == 1.0 else baracuda.mul(y, near(alpha, y))
    return baracuda.addmm(baracuda.broadcast_to(c, (a.shape[0], b.shape[1])), a, b, beta=beta, alpha=alpha)


@operator("Einsum", since=12)
def einsum(*x: Tensor, equation: str) -> Tensor:
    """`baracuda.einsum`."""
    return baracuda.einsum(equation.replace(" ", ""), *x)


@operator("MatMulInteger", since=10)
def matmul_integer(a: Tensor, b: Tensor, a_zero_point: Tensor = None, b_zero_point: Tensor = None) -> Tensor:
    """(a - a_zero_point) @ (b - b_zero_point) in s32, exactly."""
    if a_zero_point is None and b_zero_point is None:
        return baracuda.int_mm(a, b)
    wide = ElementKind.S32

    def less(x: Tensor, zero: Tensor, by_rows: bool) -> Tensor:
        x = baracuda.cast(x, dtype=wide)
        if zero is None:
            return x
        zero = baracuda.cast(zero, dtype=wide)
        return baracuda.sub(x, baracuda.unsqueeze(zero, (-1,)) if by_rows and len(zero.shape) == 1 else zero)

    return baracuda.matmul(less(a, a_zero_point, True), less(b, b_zero_point, False))


@operator("QLinearMatMul", since=10)
def qlinear_matmul(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    """`baracuda.qlinear_matmul`."""
    f32 = ElementKind.F32
    scales = [baracuda.cast(s, dtype=f32) for s in (a_scale, b_scale, y_scale)]
    return baracuda.qlinear_matmul(a, scales[0], a_zero_point, b, scales[1], b_zero_point, scales[2], y_zero_point)
