"""Products with packed weights: descriptor, args and plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Found, Layout
from baracuda.core.lazy import cached_property
from baracuda.core.plan import Plan
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_shape
from baracuda.formula.expand import expand
from baracuda.formula.expr import cast, input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.backend import candidates
from baracuda.lowering.matmul.problem import PRODUCT, MatmulProblem
from baracuda.lowering.nest.problem import Operand
from baracuda.lowering.packed_product.implementation import PackedProductImplementation
from baracuda.lowering.packed_product.problem import Coding, PackedProduct, block_of
from baracuda.ops.matmul.epilogue import ACTIVATIONS

FLOATS = (ElementKind.F16, ElementKind.BF16, ElementKind.F32)


@dataclass(frozen=True)
class PackedProductDescriptor(Descriptor):
    """activation(x @ w.T + bias) with weights w = (code - zero_point) * scale.

    Attributes
    ----------
    m, n, k
        Extents: x is (m, k), the packed weights (n, bytes of k codes), y (m, n).
    coding
        Of the weights.
    group_size
        Steps of k that a scale counts for: 32, 64, a multiple of 128, or k and more.
    x_element, scale_element, element
        Of x, the scales and y: f16, bf16 or f32. The bias has y's.
    zero_element
        Of the zero points, an integer; None: there are none.
    has_bias
        Whether there is one, over n.
    activation
        One of `baracuda.ops.matmul.epilogue.ACTIVATIONS`.
    """

    m: int
    n: int
    k: int
    coding: Coding
    group_size: int
    x_element: ElementKind
    scale_element: ElementKind
    element: ElementKind
    zero_element: ElementKind | None = None
    has_bias: bool = False
    activation: str = "none"

    def validate(self) -> None:
        check_shape("y", (self.m, self.n))
        check_shape("x", (self.m, self.k))
        for name, kind in (("x", self.x_element), ("scale", self.scale_element), ("y", self.element)):
            check_element(name, kind, FLOATS)
        if self.zero_element is not None and not self.zero_element.is_integer:
            raise UnsupportedError(f"zero_point: element is {self.zero_element}; expected an integer")
        if self.group_size < 1:
            raise InvalidProblemError(f"group_size: {self.group_size}; expected 1 or more")
        block_of(self.group_size, self.k)
        if self.activation not in ACTIVATIONS:
            raise InvalidProblemError(f"activation: {self.activation!r}; expected one of {', '.join(ACTIVATIONS)}")

    x_shape = property(lambda self: (self.m, self.k))
    bias_shape = property(lambda self: (self.n,))
    y_shape = property(lambda self: (self.m, self.n))
    has_zero_point = property(lambda self: self.zero_element is not None)

    @property
    def weight_shape(self) -> tuple[int, ...]:
        """Bytes of rows, or chunks of them."""
        row_bytes, chunk = self.coding.row_bytes(self.k), self.coding.chunk
        return (self.n, row_bytes // chunk, chunk) if chunk else (self.n, row_bytes)

    @property
    def groups(self) -> int:
        """Scales of a row of weights."""
        return max(1, -(-self.k // self.group_size))

    @property
    def scale_shape(self) -> tuple[int, int]:
        return self.n, self.groups

    @property
    def weight_element(self) -> ElementKind:
        return ElementKind.S8 if self.coding is Coding.S8 else ElementKind.U8

    @property
    def zero_kind(self) -> ElementKind:
        """The zero points' element, whether there are any or not."""
        return self.zero_element or ElementKind.S32

    @cached_property
    def epilogue(self) -> Graph:
        """From the sums to the result."""
        value, inputs = input_(PRODUCT, ElementKind.F32), [Port(PRODUCT, ElementKind.F32)]
        if self.has_bias:
            inputs.append(Port("bias", self.element))
            value = value + cast(input_("bias", self.element), ElementKind.F32)
        return Graph(tuple(inputs), ((Port("y", self.element), ACTIVATIONS[self.activation](value)),))

    def problem(self, layout: Layout) -> PackedProduct:
        """The problem for a layout of x, weight, scale, zero_point, bias and y."""
        kinds = (self.x_element, self.weight_element, self.scale_element, self.zero_kind, self.element, self.element)
        shapes = (self.x_shape, self.weight_shape, self.scale_shape, self.scale_shape, (1, self.n), self.y_shape)
        operands: list[Operand | None] = []
        for kind, shape, lies in zip(kinds, shapes, layout, strict=True):
            if lies is None:
                operands.append(None)
                continue
            strides = (0,) * (2 - len(lies.strides)) + lies.strides
            strides = tuple(0 if n == 1 and not lies.general else s for n, s in zip(shape, strides, strict=True))
            operands.append(Operand(kind, strides, lies.alignment, lies.general))
        x, weight, scale, zero, bias, y = operands
        assert x is not None
        product = MatmulProblem(
            batch=(),
            m=self.m,
            n=self.n,
            k=self.k,
            a=(x,),
            b=tuple(o for o in (weight, scale, zero) if o is not None),
            accumulator=ElementKind.F32,
            epilogue=expand(self.epilogue),
            operands=tuple(o for o in (bias, y) if o is not None),
        )
        return PackedProduct(self.coding, self.group_size, product)


@dataclass
class PackedProductArgs(Args):
    """x: the left factor; weight: packed codes; scale, zero_point: of groups of them; bias: a vector that is added; y: the
    result."""

    x: Any
    weight: Any
    scale: Any
    zero_point: Any = None
    bias: Any = None
    y: Any = None


class PackedProductPlan(Plan[PackedProductDescriptor, PackedProductArgs]):
    """y = activation(x @ w.T + bias) with weights that are read as the codes they are packed as.

    x is taken as integers of 15 bits by blocks of k, whose sums with the codes are exact
    (`baracuda.lowering.packed_product.problem`); all four promises hold. Every tensor may have any strides.
    """

    category, op, args = OpCategory.GEMM, "packed_weight_gemm", PackedProductArgs
    tensors = (
        TensorSpec("x", "the left factor", "x_shape", "x_element", varies=Axes.OUTER),
        TensorSpec("weight", "packed codes", "weight_shape", "weight_element", varies=Axes.OUTER),
        TensorSpec("scale", "a scale for each group of codes", "scale_shape", "scale_element", varies=Axes.OUTER),
        TensorSpec("zero_point", "the code of 0 of each group", "scale_shape", "zero_kind", varies=Axes.OUTER,
                   when="has_zero_point"),
        TensorSpec("bias", "a vector that is added", "bias_shape", varies=Axes.INNER, when="has_bias"),
        TensorSpec("y", "the result", "y_shape", written=True),
    )  # fmt: skip

    @classmethod
    def implementations(cls, device: Device, descriptor: PackedProductDescriptor) -> Found:
        return candidates(device, partial(PackedProductImplementation, device, descriptor.problem))
