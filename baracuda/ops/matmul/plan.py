"""Matrix products: one plan for every product of two tensors, with what is done to the sums before they are stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from baracuda.backends import libraries
from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Found
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, KernelSku, MathPrecision, OpCategory
from baracuda.core.spec import TensorSpec
from baracuda.lowering.backend import candidates
from baracuda.lowering.matmul.implementation import LabelledMatmul, MatmulImplementation
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.epilogue import epilogue_graph


@dataclass
class MatmulArgs(Args):
    """a, b: the factors; c: what is added; bias: a vector that is added; a_scale, b_scale: factors of the product; a_zero,
    b_sum, b_zero, a_sum: zero points of integers, and the sums of the other factor; y_scale, y_zero: those of a quantized
    result; z: what the activation was applied to, read for its derivative; y: the result; z_saved: where z is written."""

    a: Any
    b: Any
    c: Any = None
    bias: Any = None
    a_scale: Any = None
    b_scale: Any = None
    a_zero: Any = None
    b_sum: Any = None
    b_zero: Any = None
    a_sum: Any = None
    y_scale: Any = None
    y_zero: Any = None
    z: Any = None
    y: Any = None
    z_saved: Any = None


def precisions(d: MatmulDescriptor) -> tuple[MathPrecision | None, ...]:
    """What a product's generated kernels compute in, the default first; None for chains."""
    if d.accumulator is not ElementKind.F32 or not (d.a_element.is_float and d.b_element.is_float):
        return (None,)
    narrow = d.a_element.bits < 32 and d.b_element.bits < 32
    return (MathPrecision.INT23, None, MathPrecision.INT15) if narrow else (None, MathPrecision.INT23, MathPrecision.INT15)


class MatmulPlan(Plan[MatmulDescriptor, MatmulArgs]):
    """y = activation(alpha * (a @ b) + beta * c + bias), over the axes that the descriptor names.

    The formula's plan takes each sum of f32, f64, integers and complex numbers as one chain of fused multiply-adds in rising k,
    and products of 16-bit and 8-bit floats as integers of 23 bits (`baracuda.lowering.matmul.problem`); with `math` F32, INT23 or
    INT15 narrow floats and f32 are taken as that says. All four promises hold. Integers need a workspace: on a GPU 3 bytes (15
    bits: 2) for each element of both factors, but where one has at most 64 rows or columns.

    With `math` BF16 or F16, a GPU's tensor cores take the sums of such factors, by cuBLASLt or by a generated kernel with the
    same bits: all promises but `bit_stable_across_hardware` hold. Another library's plan is taken where the preference asks for
    it, by its backend or by `fastest`, and promises what that library does. Without `fastest` the plan that promises most comes
    first, with it the fastest.

    Factors may have any strides, and so may every other tensor; a and b may not share memory with y, c and z may be y itself.
    """

    category, op, args, has_tiers = OpCategory.GEMM, "matmul", MatmulArgs, True
    tensors = (
        TensorSpec("a", "the left factor", "a_shape", "a_element", varies=Axes.OUTER),
        TensorSpec("b", "the right factor", "b_shape", "b_element", varies=Axes.OUTER),
        TensorSpec("c", "what is added", "c_shape", when="has_c"),
        TensorSpec("bias", "a vector that is added", "bias_shape", varies=Axes.INNER, when="has_bias"),
        TensorSpec("a_scale", "a factor", "a_scale", "scale_element", varies=Axes.INNER, when="has_a_scale"),
        TensorSpec("b_scale", "a factor", "b_scale", "scale_element", varies=Axes.INNER, when="has_b_scale"),
        TensorSpec("a_zero", "zero points of a", "a_zero", "zero_element", varies=Axes.INNER, when="has_a_zero"),
        TensorSpec("b_sum", "sums of b", "b_sum", "zero_element", varies=Axes.INNER, when="has_a_zero"),
        TensorSpec("b_zero", "zero points of b", "b_zero", "zero_element", varies=Axes.INNER, when="has_b_zero"),
        TensorSpec("a_sum", "sums of a", "a_sum", "zero_element", varies=Axes.INNER, when="has_b_zero"),
        TensorSpec(
            "y_scale", "the scale of the result's codes", "y_scale", "scale_element", varies=Axes.INNER, when="has_y_scale"
        ),
        TensorSpec(
            "y_zero", "the zero point of the result's codes", "y_zero", "zero_element", varies=Axes.INNER, when="has_y_zero"
        ),
        TensorSpec("z", "what the activation was applied to", "y_shape", when="gradient"),
        TensorSpec("y", "the result", "y_shape", written=True),
        TensorSpec("z_saved", "what the activation is applied to", "y_shape", written=True, when="saves"),
    )

    @classmethod
    def problem(cls, descriptor: MatmulDescriptor) -> LabelledMatmul:
        """What is lowered: labels, extents and the epilogue's graph."""
        d = descriptor
        bias = {} if d.bias_axis is None else {"bias": d.y_axes[d.bias_axis]}
        return LabelledMatmul(
            extents=d.extents,
            axes={"a": d.a_axes, "b": d.b_axes} | bias,
            y_axes=d.y_axes,
            summed=d.summed,
            accumulator=d.accumulator,
            exchanged=d.exchanged,
            epilogue=epilogue_graph(d),
            parameters=d.parameters,
        )

    @classmethod
    def implementations(cls, device: Device, descriptor: MatmulDescriptor) -> Found:
        reproducible, pinned, free = cls._by_tier(device, descriptor)
        return (*reproducible, *pinned, *free)

    @classmethod
    def fastest_first(cls, device: Device, descriptor: MatmulDescriptor) -> Found:
        reproducible, pinned, free = cls._by_tier(device, descriptor)
        return (*free, *pinned, *reproducible)

    @classmethod
    def _by_tier(cls, device: Device, d: MatmulDescriptor) -> tuple[Found, Found, Found]:
        """What has the same bits everywhere; what has them on one architecture, whatever the number of rows; all else."""
        arguments = device, cls.problem(d), cls.tensors, d
        if d.of_blocks:
            formula = BackendKind.FORMULA_CUDA if device.kind is DeviceKind.CUDA else BackendKind.FORMULA_CPU
            reason = "scales of blocks of k; expected factors that they are multiplied by"
            return ((formula, reason),), (), libraries.matmul(*arguments)
        make = partial(MatmulImplementation, *arguments)
        reproducible = tuple(c for math in precisions(d) for c in candidates(device, partial(make, math=math)))
        math = TENSOR_CORE_MATH.get(d.a_element) if d.a_element is d.b_element else None
        pinned: Found = ()
        if math is not None:
            ours = (
                partial(make, math=math)
                if device.kind is DeviceKind.CUDA
                else f"{math} is of tensor cores, the stream is on {device}"
            )
            pinned = (*libraries.pinned_matmul(*arguments), (BackendKind.FORMULA_CUDA, ours))
        return reproducible, pinned, libraries.matmul(*arguments)

    def sku(self) -> KernelSku:
        return replace(super().sku(), epilogue=self.descriptor.epilogue or None)
