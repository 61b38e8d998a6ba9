"""Convolutions: one plan for every convolution without holes, its transpose and its gradients, with what follows the sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from math import prod
from typing import Any

from baracuda.backends import libraries
from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Found, Layout, OperandLayout
from baracuda.core.lazy import cached_property
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, KernelSku, MathPrecision, OpCategory
from baracuda.core.spec import TensorSpec, check_shape
from baracuda.formula.expand import expand
from baracuda.formula.expr import cast, input_
from baracuda.formula.graph import Graph, Port
from baracuda.formula.small_floats import stored_as_integers
from baracuda.lowering.backend import candidates
from baracuda.lowering.convolution.implementation import ConvolutionImplementation
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.problem import PRODUCT, TENSOR_CORE_MATH
from baracuda.lowering.nest.problem import Operand
from baracuda.ops.matmul.epilogue import ACTIVATIONS

Shape = tuple[int, ...]
#: Channels from which on sums of 16-bit floats are integer products.
FEWEST_CHANNELS = 16


@dataclass(frozen=True)
class ConvolutionDescriptor(Descriptor):
    """y[b, g, o.., n] = activation(scale[g, n] * sum(x[b, g, i.., c] * w[g, t.., c, n]) + bias[g, n] + residual[b, g, o.., n])

    with i = o * stride + t * dilation - low along each spatial axis, and no term where i lies outside x.

    Attributes
    ----------
    batch, groups, inputs, channels, columns
        The extents of x, (batch, groups, *inputs, channels), and how many columns w has in each group.
    outputs, taps
        The spatial extents of y and of w.
    stride, dilation, low
        A whole number for each spatial axis.
    x_element, w_element, element
        What x, w and all else store.
    x_taps
        Whether x has an element for each tap, (batch, groups, *inputs, *taps, channels).
    w_places
        Where w varies beside: "outputs" for w of shape (groups, *outputs, *taps, channels, columns), "inputs" in the same way.
    has_scale, has_bias, has_residual
        Whether these are given.
    activation
        One of those of a product's epilogue.
    segment
        How many taps a chain takes; 0: all.
    base
        Along each spatial axis, how many positions there are to an element of x, i * base = o * stride + t * dilation - low; ():
        one. Libraries alone take more.
    """

    batch: int
    groups: int
    inputs: Shape
    channels: int
    columns: int
    outputs: Shape
    taps: Shape
    stride: Shape
    dilation: Shape
    low: Shape
    x_element: ElementKind
    w_element: ElementKind
    element: ElementKind
    x_taps: bool = False
    w_places: str = ""
    has_scale: bool = False
    has_bias: bool = False
    has_residual: bool = False
    activation: str = "none"
    segment: int = 0
    base: Shape = ()

    def validate(self) -> None:
        rank = len(self.outputs)
        for name in ("inputs", "taps", "stride", "dilation", "low"):
            if len(getattr(self, name)) != rank:
                raise InvalidProblemError(f"{name}: {getattr(self, name)}; expected {rank} numbers, one for each spatial axis")
        for name in ("x_shape", "w_shape", "y_shape"):
            check_shape(name, getattr(self, name))
        if self.w_places not in ("", "outputs", "inputs"):
            raise InvalidProblemError(f"w_places: {self.w_places!r}; expected '', 'outputs' or 'inputs'")
        if self.base and (len(self.base) != rank or min(self.base, default=1) < 1):
            raise InvalidProblemError(f"base: {self.base}; expected () or {rank} numbers of 1 or more")
        if self.segment < 0:
            raise InvalidProblemError(f"segment: {self.segment}; expected 0 or more")
        for name, kind in (("x", self.x_element), ("w", self.w_element), ("y", self.element)):
            if kind.category in (Category.BOOL, Category.COMPLEX) or kind.bits < 8 or (kind.is_float and kind.bits < 16):
                raise UnsupportedError(f"{name}: no convolution of {kind}; expected a float of 16 bits or more or an integer")
        if self.x_element.compute is not self.w_element.compute:
            raise InvalidProblemError(
                f"x has element {self.x_element}, w {self.w_element}; expected elements of one kind of number"
            )
        if self.element.is_float is not self.x_element.is_float:
            raise InvalidProblemError(f"y: element {self.element} for {self.x_element}; expected the same kind of number")
        if self.activation not in ACTIVATIONS:
            raise InvalidProblemError(f"activation: {self.activation!r}; expected one of {', '.join(ACTIVATIONS)}")
        if (self.activation != "none" or self.has_scale) and not self.element.is_float:
            raise UnsupportedError(f"activation, scale: of {self.element}; expected a float element")

    @property
    def x_shape(self) -> Shape:
        return (self.batch, self.groups, *self.inputs, *(self.taps if self.x_taps else ()), self.channels)

    @property
    def w_shape(self) -> Shape:
        places = {"": (), "outputs": self.outputs, "inputs": self.inputs}[self.w_places]
        return (self.groups, *places, *self.taps, self.channels, self.columns)

    @property
    def y_shape(self) -> Shape:
        return (self.batch, self.groups, *self.outputs, self.columns)

    @property
    def column_shape(self) -> Shape:
        return (self.groups, self.columns)

    @cached_property
    def accumulator(self) -> ElementKind:
        """The kind that sums are taken in."""
        return self.x_element.compute

    @cached_property
    def graph(self) -> Graph:
        """The epilogue."""
        return _epilogue(self.accumulator, self.element, self.has_scale, self.has_bias, self.has_residual, self.activation)

    def problem(self, layout: Layout) -> ConvolutionProblem:
        """The problem for a layout of the plan's tensors."""
        rank = len(self.outputs)
        x, w, *others = layout
        assert x is not None
        assert w is not None
        none, nothing = (0,) * rank, (0,)

        def held(strides: tuple[int, ...], extents: Shape) -> tuple[int, ...]:
            return tuple(s if n != 1 else 0 for s, n in zip(strides, extents, strict=True))

        xs, ws = held(x.strides, self.x_shape), held(w.strides, self.w_shape)
        if not self.x_taps:
            xs = (*xs[:-1], *none, xs[-1])
        at_outputs = ws[1 : 1 + rank] if self.w_places == "outputs" else none
        at_inputs = ws[1 : 1 + rank] if self.w_places == "inputs" else none
        ws = (*nothing, ws[0], *at_outputs, *at_inputs, *ws[len(ws) - 2 - rank :])
        operands = []
        for spec, kind, own in zip(("scale", "bias", "residual", "y"), (self.element,) * 4, others, strict=True):
            if own is not None:
                operands.append(self._operand(spec, kind, own))
        return ConvolutionProblem(
            self.batch, self.groups, self.outputs, self.inputs, self.taps, self.channels, self.columns, self.stride,
            self.dilation, self.low, Operand(self.x_element, xs, x.alignment, x.general),
            Operand(self.w_element, ws, w.alignment, w.general), self.accumulator, self.graph, tuple(operands), None,
            self.segment,
        )  # fmt: skip

    def _operand(self, name: str, kind: ElementKind, own: OperandLayout) -> Operand:
        strides = own.strides
        if name in ("scale", "bias"):
            strides = (0, strides[0], *(0,) * len(self.outputs), strides[1])
        extents = self.y_shape
        return Operand(kind, tuple(s if n != 1 else 0 for s, n in zip(strides, extents, strict=True)), own.alignment, own.general)

    @property
    def terms(self) -> int:
        return prod(self.taps) * self.channels


@cache
def _epilogue(accumulator: ElementKind, element: ElementKind, scale: bool, bias: bool, residual: bool, activation: str) -> Graph:
    work = element.compute
    inputs = [Port(PRODUCT, accumulator)]
    value = cast(input_(PRODUCT, accumulator), work)
    if work.is_float:
        value = value + 0.0  # no sum is -0

    for name, given in (("scale", scale), ("bias", bias), ("residual", residual)):
        if given:
            inputs.append(Port(name, element))
            other = cast(input_(name, element), work)
            value = value * other if name == "scale" else value + other
    graph = Graph(tuple(inputs), ((Port("y", element), ACTIVATIONS[activation](value)),))
    return stored_as_integers(expand(graph))


@dataclass
class ConvolutionArgs(Args):
    """x: the input; w: the weights; scale, bias: factors and addends of columns; residual: what is added; y: the result."""

    x: Any
    w: Any
    scale: Any = None
    bias: Any = None
    residual: Any = None
    y: Any = None


def precisions(d: ConvolutionDescriptor) -> tuple[MathPrecision | None, ...]:
    """What a convolution's generated kernels compute in, the default first; None for chains."""
    if d.accumulator is not ElementKind.F32 or d.x_taps or d.w_places:
        return (None,)
    narrow = d.x_element.bits < 32 and d.w_element.bits < 32 and d.channels >= FEWEST_CHANNELS
    return (MathPrecision.INT23, None, MathPrecision.INT15) if narrow else (None, MathPrecision.INT23, MathPrecision.INT15)


class ConvolutionPlan(Plan[ConvolutionDescriptor, ConvolutionArgs]):
    """y = activation(scale * convolution(x, w) + bias + residual), in any layout, the axes in the order (batch, groups, spatial
    axes, channels).

    Each sum of f32, f64 and integers is one chain of fused multiply-adds in rising (tap, channel); sums of 16-bit floats over
    16 channels or more are integer products of 23 bits, with blocks that begin anew at each tap
    (`baracuda.lowering.convolution.problem`). With `math` F32, INT23 or INT15 they are taken as that says. With BF16 or F16 the
    tensor cores of a GPU take such elements' products, each sum one chain of steps of 16 channels of a tap, so that padding is
    zeros: all promises hold but `bit_stable_across_hardware`. cuDNN's, which are the fastest, promise the same bits from run to
    run on one device and nothing more.
    """

    category, op, args, has_tiers = OpCategory.CONVOLUTION, "convolution", ConvolutionArgs, True
    tensors = (
        TensorSpec("x", "the input", "x_shape", "x_element", varies=Axes.OUTER),
        TensorSpec("w", "the weights", "w_shape", "w_element", varies=Axes.OUTER),
        TensorSpec("scale", "a factor of each column", "column_shape", varies=Axes.INNER, when="has_scale"),
        TensorSpec("bias", "what is added to each column", "column_shape", varies=Axes.INNER, when="has_bias"),
        TensorSpec("residual", "what is added", "y_shape", when="has_residual"),
        TensorSpec("y", "the result", "y_shape", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: ConvolutionDescriptor) -> Found:
        reproducible, pinned, free = cls._by_tier(device, descriptor)
        return (*reproducible, *pinned, *free)

    @classmethod
    def fastest_first(cls, device: Device, descriptor: ConvolutionDescriptor) -> Found:
        reproducible, pinned, free = cls._by_tier(device, descriptor)
        return (*free, *pinned, *reproducible)

    @classmethod
    def _by_tier(cls, device: Device, d: ConvolutionDescriptor) -> tuple[Found, Found, Found]:
        """What has the same bits everywhere; what has them on one architecture, in every company; all else."""
        free = libraries.convolution(device, cls.tensors, d)
        if any(n > 1 for n in d.base):
            return (), (), free
        make = partial(ConvolutionImplementation, device, d.problem, d.accumulator, d.parameters)
        reproducible = tuple(c for math in precisions(d) for c in candidates(device, partial(make, math=math)))
        math = TENSOR_CORE_MATH.get(d.x_element) if d.x_element is d.w_element else None
        pinned: Found = ()
        if math is not None:
            ours = partial(make, math=math)
            refused = f"{math} is of tensor cores, the stream is on {device}"
            pinned = ((BackendKind.FORMULA_CUDA, ours if device.kind is DeviceKind.CUDA else refused),)
        return reproducible, pinned, free

    def sku(self) -> KernelSku:
        d = self.descriptor
        words = [name for name in ("scale", "bias", "residual") if getattr(d, f"has_{name}")]
        words += [d.activation] * (d.activation != "none")
        return replace(super().sku(), epilogue="+".join(words) or None)
