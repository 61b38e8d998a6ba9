"""Linear layers whose weights stay packed: codes of 8, 4 or 2 bits with scales for groups of them, read as they are."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import reshaped, view
from baracuda.lowering.packed_product.problem import Coding
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Dtype, Positive
from baracuda.ops.matmul.packed import PackedProductDescriptor, PackedProductPlan

#: Names of what may follow a product, as `baracuda.linear` takes them.
Activation = Literal[
    "none", "gelu", "gelu_tanh", "sigmoid", "tanh", "relu", "relu6", "relu_squared", "quick_gelu", "silu", "mish", "selu",
    "hardswish", "hardsigmoid", "softsign", "logsigmoid",
]  # fmt: skip
_GROUPS = "? : f16 bf16 f32"
PATTERNS: dict[str, Any] = {"x": "... k : f16 bf16 f32", "scale": _GROUPS, "bias": "n : f16 bf16 f32"}


def _group_size(name: str, shape: tuple[int, ...], k: int, given: int | None) -> int:
    """Steps of k that a scale counts for: what was given, or what the number of scales says."""
    count = shape[-1] if len(shape) == 2 else 1
    if given is not None:
        return given if len(shape) == 2 else max(k, 1)
    if count > 1 and k % count:
        raise InvalidProblemError(f"{name}: {count} for each row of {k} weights; expected group_size to say how many share one")
    return max(1, k // max(count, 1))


def _by_groups(name: str, tensor: TensorRef, n: int, k: int, group: int) -> TensorRef:
    """One for the tensor, for each row, or for each group of each row, as a view over (n, groups)."""
    groups = max(1, -(-k // group))
    shape, strides = tensor.shape, tensor.strides
    if shape in ((), (1,)):
        steps: tuple[int, ...] = (0, 0)
    elif shape in ((n,), (n, 1)):
        steps = (strides[0], 0)
    elif shape == (n, groups):
        steps = (strides[0], strides[1])
    else:
        raise InvalidProblemError(f"{name}: shape is {shape}; expected (), ({n},) or ({n}, {groups}), groups of {group}")
    found: TensorRef = view(tensor, 0, (n, groups), steps)
    return found


def packed_weight_gemm(
    do: Steps, coding: Coding, x: TensorRef, weight: TensorRef, scale: TensorRef, zero_point: Given, bias: Given,
    group_size: int | None, activation: str, dtype: ElementKind | None,
) -> Any:  # fmt: skip
    """A product with packed weights: x is (..., k), weight (n, bytes)."""
    *free, k = x.shape
    n, m = weight.shape[0], prod(free)
    if not coding.chunk and weight.shape[1] != coding.row_bytes(k):
        raise InvalidProblemError(
            f"weight: shape is {weight.shape}; expected (n, {coding.row_bytes(k)}), {k} codes of {coding.bits} bits a row"
        )
    group = _group_size("scale", scale.shape, k, group_size)
    kind = dtype or x.kind
    if bias is not None and bias.kind is not kind:
        raise InvalidProblemError(f"bias: element is {bias.kind}; expected {kind}, that of the result")
    d = PackedProductDescriptor(
        m, n, k, coding, group, x.kind, scale.kind, kind, None if zero_point is None else zero_point.kind, bias is not None,
        activation,
    )  # fmt: skip
    tensors = {
        "x": do.reshaped(x, (m, k)),
        "weight": weight,
        "scale": _by_groups("scale", scale, n, k, group),
        "zero_point": None if zero_point is None else _by_groups("zero_point", zero_point, n, k, group),
        "bias": bias,
    }
    return as_rows(do, do.result((*free, n), kind), lambda into: do.plan(PackedProductPlan, d, tensors, into))


def as_rows(do: Steps, y: TensorMut, make: Callable[[TensorRef | None], Any]) -> TensorRef:
    """y, written by what makes it as rows; where its strides let it not be seen so, by a copy of new ones."""
    flat = reshaped(y, (prod(y.shape[:-1]), y.shape[-1]))
    made = make(flat)
    if flat is None:
        do.copy(do.reshaped(made, y.shape), y)
    return y


@composed(out=True, weight="n bytes : u8", zero_point="? : int", **PATTERNS)
def int4_weight_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    scale: TensorRef,
    zero_point: Given = None,
    bias: Given = None,
    *,
    group_size: Positive | None = None,
    signed: bool = False,
    activation: Activation = "none",
    dtype: Dtype = None,
) -> TensorRef:
    """activation(x @ w.T + bias) with weights of 4 bits, w = (code - zero_point) * scale.

    x is (..., k) of f16, bf16 or f32, weight u8 (n, ceil(k / 2)) with two codes to a byte, the first one in the low bits: 0 to
    15, or with `signed` -8 to 7. scale, a float, and zero_point, an integer (None: 0), are (n, ceil(k / group_size)), (n,) or (),
    and differ from codes by 510 at most. group_size is 32, 64, a multiple of 128 or k; None: what the number of scales says. bias
    is (n), activation as in `linear`; the result has x's element, or `dtype`.

    x is taken as integers of 15 bits by blocks of k, sums of a block are exact: the same bits on every device, in every batch
    (`baracuda.lowering.packed_product.problem`). Errors: `InvalidProblemError` for shapes and groups, `UnsupportedError` for
    elements.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> weight = np.uint8([[0x21, 0x43], [0x0F, 0x00]])
    >>> baracuda.int4_weight_gemm(np.float32([[1, 1, 1, 1]]), weight, np.float32([0.5, 2]), np.int32([1, 0])).tolist()
    [[3.0, 30.0]]
    """
    coding = Coding.S4 if signed else Coding.U4
    return packed_weight_gemm(do, coding, x, weight, scale, zero_point, bias, group_size, activation, dtype)  # type: ignore[no-any-return]


@composed(out=True, weight="n k : s8 u8", zero_point="? : int", **PATTERNS)
def int8_weight_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    scale: TensorRef,
    zero_point: Given = None,
    bias: Given = None,
    *,
    group_size: Positive | None = None,
    activation: Activation = "none",
    dtype: Dtype = None,
) -> TensorRef:
    """`int4_weight_gemm` with weights of 8 bits: s8 or u8 (n, k).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.int8_weight_gemm(np.float32([[1, 2]]), np.int8([[3, -4]]), np.float32([0.5])).tolist()
    [[-2.5]]
    """
    coding = Coding.S8 if weight.kind is ElementKind.S8 else Coding.U8
    return packed_weight_gemm(do, coding, x, weight, scale, zero_point, bias, group_size, activation, dtype)  # type: ignore[no-any-return]


@composed(out=True, weight="n bytes : u8", **PATTERNS)
def ternary_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    scale: TensorRef,
    bias: Given = None,
    *,
    group_size: Positive | None = None,
    activation: Activation = "none",
    dtype: Dtype = None,
) -> TensorRef:
    """`int4_weight_gemm` with weights of 2 bits, w = (code - 1) * scale: -1, 0 and 1, as in BitNet b1.58 (Ma et al. 2024), and 2.

    weight is u8 (n, ceil(k / 4)) with four codes to a byte, the first one in the lowest bits.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ternary_gemm(np.float32([[1, 2, 4, 8]]), np.uint8([[0b10_01_00_10]]), np.float32([0.5])).tolist()
    [[3.5]]
    """
    return packed_weight_gemm(do, Coding.TERNARY, x, weight, scale, None, bias, group_size, activation, dtype)  # type: ignore[no-any-return]


@composed(out=True, weight="n bytes : u8", **PATTERNS)
def nf4_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    scale: TensorRef,
    bias: Given = None,
    *,
    group_size: Positive = 64,
    activation: Activation = "none",
    dtype: Dtype = None,
) -> TensorRef:
    """`int4_weight_gemm` with weights in NF4 (Dettmers et al. 2023): w = level(code) * scale, the scale being the largest
    magnitude of a group.

    weight is u8 (n, ceil(k / 2)) with two codes to a byte, the first one in the high bits, as bitsandbytes has it. scale is
    (n, ceil(k / group_size)), or where k is a multiple of group_size a vector of as many. A level counts as the nearest
    multiple of 2**-14.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.nf4_gemm(np.float32([[1, 2]]), np.uint8([[0x0F]]), np.float32([[3]])).tolist()
    [[3.0]]
    """
    n, k, groups = weight.shape[0], x.shape[-1], -(-x.shape[-1] // group_size)
    if len(scale.shape) == 1 and k % group_size == 0 and scale.shape == (n * groups,):
        scale = view(scale, 0, (n, groups), (scale.strides[0] * groups, scale.strides[0]))
    return packed_weight_gemm(do, Coding.NF4, x, weight, scale, None, bias, group_size, activation, dtype)  # type: ignore[no-any-return]
