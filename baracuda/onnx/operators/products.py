"""Matrix products, and determinants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.onnx.operators.elements import to_element
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Tensor, near


@operator("MatMul")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """`baracuda.matmul`."""
    return baracuda.matmul(a, b)


@operator("Gemm", since=7)
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


@baracuda.fuse
def _eliminated(rest: Any, pivot_row: Any, below: Any, pivot: Any) -> Any:
    return f.where(abs(pivot) > 0.0, rest - below / pivot * pivot_row, rest)


@operator("Det", since=11)
def det(x: Tensor) -> Tensor:
    """The determinant of each matrix: the product of the pivots of an elimination that takes the largest of each column."""
    *batch, n, m = tuple(x.shape) if len(x.shape) > 1 else (0, 0, 1)
    if n != m:
        raise InvalidProblemError(f"x: shape {tuple(x.shape)}; expected square matrices")
    kind = np.dtype(x.dtype)
    left = baracuda.reshape(to_element(x, np.dtype(np.float64 if kind == np.float64 else np.float32)), (math.prod(batch), n, n))
    found = baracuda.ones((left.shape[0],), np.dtype(left.dtype), like=left)
    for extent in range(n, 0, -1):
        rows, column = baracuda.slice(left, 1, extent, 1), baracuda.select(left, 2, 0)
        at = baracuda.argmax(baracuda.abs(column), axis=1)
        place = baracuda.reshape(at, (-1, 1, 1))
        row = baracuda.gather(left, baracuda.broadcast_to(place, (left.shape[0], 1, extent)), axis=1)
        pivot = baracuda.slice(row, 0, 1, 2)
        turned = baracuda.where(baracuda.eq(at, near(0, at)), near(1, found), near(-1, found))
        found = baracuda.mul(found, baracuda.mul(turned, baracuda.reshape(pivot, (-1,))))
        if extent > 1:
            numbers = baracuda.reshape(baracuda.arange(1, extent, 1, np.dtype(np.int64), like=left), (1, extent - 1, 1))
            rest = baracuda.where(baracuda.eq(numbers, place), baracuda.slice(left, 0, 1, 1), rows)
            behind = [baracuda.slice(t, 1, extent, 2) for t in (rest, row)]
            left = _eliminated(*behind, baracuda.slice(rest, 0, 1, 2), pivot)
    return to_element(baracuda.reshape(found, tuple(batch)), kind)
