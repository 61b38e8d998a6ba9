"""The benchmarked cases as data: which op, element, shape and layout, and the tensors of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

import baracuda
from baracuda.core.axes import Axes
from baracuda.core.elements import Category, ElementKind
from baracuda.core.plan import Args, Plan
from baracuda.core.spec import TensorSpec
from baracuda.ops.binary import BinaryKind
from baracuda.ops.softmax import SoftmaxKind
from benchmarks.rivals import RIVALS, TORCH, Rival, Tensor, Tensors

Extents = tuple[int, ...]
EPS, WEIGHT = 1e-6, 0.3
FLOATS = {"bf16": ElementKind.BF16, "f16": ElementKind.F16, "f32": ElementKind.F32, "f64": ElementKind.F64}


@dataclass(frozen=True)
class Op:
    """One op: its plan, its function, and how its inputs are made plausible.

    Attributes
    ----------
    name : str
        baracuda's function, which takes the plan's inputs by name.
    plan, args
        The plan class and the class of its args.
    describe
        The descriptor of an iteration space and an element.
    keywords
        What the function takes besides tensors.
    prepare
        Changes inputs of random numbers (normally distributed; integers uniform) into what the op is used on.
    """

    name: str
    plan: type[Plan[Any, Any]]
    args: type[Args]
    describe: Callable[[Extents, ElementKind], Any]
    keywords: Callable[[Any], Mapping[str, Any]] = lambda descriptor: {}
    prepare: Callable[[Tensors], None] = lambda tensors: None

    @property
    def rival(self) -> Rival:
        return RIVALS[self.name]

    def present(self, descriptor: Any) -> list[TensorSpec]:
        """The tensors that a call has."""
        return [s for s in self.plan.tensors if s.presence(descriptor) is not False]

    def inputs(self, descriptor: Any) -> list[str]:
        return [s.name for s in self.present(descriptor) if not s.written]

    def outputs(self, descriptor: Any) -> list[str]:
        return [s.name for s in self.present(descriptor) if s.written]

    def minimal_bytes(self, descriptor: Any) -> int:
        """What any implementation moves: each input read once and each output written once."""
        specs = self.present(descriptor)
        return sum(prod(s.expected_shape(descriptor)) * s.expected_kind(descriptor).itemsize for s in specs)


@dataclass(frozen=True)
class Case:
    """An op on tensors of one element, shape and layout.

    `transposed` names the tensors whose last two axes are exchanged in memory, as those of a `.t()` view are.
    """

    op: Op
    element: ElementKind
    shape_class: str
    extents: Extents
    transposed: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.op.name} {self.element} {self.shape_class} {'x'.join(map(str, self.extents))}"

    @property
    def descriptor(self) -> Any:
        return self.op.describe(self.extents, self.element)

    def tensors(self, device: str, seed: int) -> Tensors:
        """All tensors of a call: inputs of the given seed, and outputs that hold NaN or an unlikely integer."""
        generator = torch.Generator(device).manual_seed(seed)
        made: Tensors = {}
        for spec in self.op.present(self.descriptor):
            shape, kind = spec.expected_shape(self.descriptor), spec.expected_kind(self.descriptor)
            lies = (*shape[:-2], shape[-1], shape[-2]) if spec.name in self.transposed else shape
            values = _poison(lies, kind, device) if spec.written else _random(lies, kind, generator, device)
            made[spec.name] = values.transpose(-1, -2) if spec.name in self.transposed else values
        self.op.prepare(made)
        return made

    def reference(self, tensors: Tensors) -> list[Tensor]:
        """What PyTorch computes in float64 from the same inputs."""
        descriptor = self.op.describe(self.extents, ElementKind.F64)
        wide = {n: tensors[n] for n in self.op.inputs(self.descriptor)}
        wide = {n: t.double() if t.is_floating_point() else t for n, t in wide.items()}
        rival = self.op.rival
        return list((rival.reference or rival.fresh)(wide, descriptor)())


def _random(shape: Extents, kind: ElementKind, generator: Any, device: str) -> Tensor:
    if kind.category is Category.FLOAT:
        working = torch.float64 if kind is ElementKind.F64 else torch.float32
        return torch.randn(shape, generator=generator, device=device, dtype=working).to(TORCH[kind])
    low, high = (-128, 128) if kind is ElementKind.S8 else (-8, 9)
    return torch.randint(low, high, shape, generator=generator, device=device, dtype=TORCH[kind])


def _poison(shape: Extents, kind: ElementKind, device: str) -> Tensor:
    return torch.full(shape, float("nan") if kind.is_float else 77, dtype=TORCH[kind], device=device)


def _spread_out(t: Tensors) -> None:
    t["x"].mul_(4.0)  # so that a few elements of a long row matter, as attention scores do


def _softmax_result(t: Tensors) -> None:
    t["y"].copy_(torch.softmax(t["y"].float() * 4.0, -1))


def _log_softmax_result(t: Tensors) -> None:
    t["y"].copy_(torch.log_softmax(t["y"].float() * 4.0, -1))


def _root_mean_square(t: Tensors) -> None:
    t["rms"].copy_(t["x"].double().square().mean(-1, keepdim=True).sqrt())


def _small(t: Tensors) -> None:
    t["dy"].mul_(2.0**-7)  # the sums over millions of elements times a distance stay within f16


def _scales(t: Tensors) -> None:
    t["scale"].abs_().clamp_(0.5, 2.0).mul_(0.02)  # some elements are out of range


def _token(cls: Any) -> Callable[[Extents, ElementKind], Any]:
    return lambda extents, element: cls(*extents, element, ElementKind.S8)


def _softmax(kind: SoftmaxKind) -> Callable[[Extents, ElementKind], Any]:
    return lambda extents, element: baracuda.SoftmaxDescriptor(kind, extents, -1, element)


def _lerp(extents: Extents, element: ElementKind) -> Any:
    return baracuda.BinaryParamDescriptor(BinaryKind.LERP, extents, element, WEIGHT)


def _alibi(extents: Extents, element: ElementKind) -> Any:
    return baracuda.AlibiDescriptor(*extents, element=element)


def _last_axis(extents: Extents) -> int:
    return 1 << (len(extents) - 1)


OPS = (
    Op("softmax", baracuda.SoftmaxPlan, baracuda.SoftmaxArgs, _softmax(SoftmaxKind.SOFTMAX), prepare=_spread_out),
    Op(
        "softmax_backward",
        baracuda.SoftmaxBackwardPlan,
        baracuda.SoftmaxBackwardArgs,
        _softmax(SoftmaxKind.SOFTMAX),
        prepare=_softmax_result,
    ),
    Op("log_softmax", baracuda.SoftmaxPlan, baracuda.SoftmaxArgs, _softmax(SoftmaxKind.LOG_SOFTMAX), prepare=_spread_out),
    Op(
        "log_softmax_backward",
        baracuda.SoftmaxBackwardPlan,
        baracuda.SoftmaxBackwardArgs,
        _softmax(SoftmaxKind.LOG_SOFTMAX),
        prepare=_log_softmax_result,
    ),
    Op(
        "rms_norm",
        baracuda.RMSNormPlan,
        baracuda.RMSNormArgs,
        lambda extents, element: baracuda.RMSNormDescriptor(extents, _last_axis(extents), True, element, EPS),
        lambda descriptor: {"eps": descriptor.eps, "return_rms": True},
    ),
    Op(
        "rms_norm_backward",
        baracuda.RMSNormBackwardPlan,
        baracuda.RMSNormBackwardArgs,
        lambda extents, element: baracuda.RMSNormBackwardDescriptor(extents, _last_axis(extents), True, element),
        prepare=_root_mean_square,
    ),
    Op("alibi", baracuda.AlibiPlan, baracuda.AlibiArgs, _alibi),
    Op("alibi_backward", baracuda.AlibiBackwardPlan, baracuda.AlibiBackwardArgs, _alibi, prepare=_small),
    Op("lerp", baracuda.BinaryParamPlan, baracuda.BinaryParamArgs, _lerp, lambda descriptor: {"weight": descriptor.param}),
    Op(
        "lerp_backward",
        baracuda.BinaryParamBackwardPlan,
        baracuda.BinaryParamBackwardArgs,
        _lerp,
        lambda descriptor: {"weight": descriptor.param},
    ),
    Op(
        "quantize_per_token",
        baracuda.QuantizePerTokenPlan,
        baracuda.QuantizePerTokenArgs,
        _token(baracuda.QuantizePerTokenDescriptor),
        prepare=_scales,
    ),
    Op(
        "quantize_per_token_backward",
        baracuda.QuantizePerTokenBackwardPlan,
        baracuda.QuantizePerTokenBackwardArgs,
        _token(baracuda.QuantizePerTokenBackwardDescriptor),
        prepare=_scales,
    ),
    Op(
        "dequantize_per_token",
        baracuda.DequantizePerTokenPlan,
        baracuda.DequantizePerTokenArgs,
        _token(baracuda.DequantizePerTokenDescriptor),
        lambda descriptor: {"element": descriptor.element},
        prepare=_scales,
    ),
    Op(
        "dequantize_per_token_backward",
        baracuda.DequantizePerTokenBackwardPlan,
        baracuda.DequantizePerTokenBackwardArgs,
        _token(baracuda.DequantizePerTokenBackwardDescriptor),
        prepare=_scales,
    ),
)


@dataclass(frozen=True)
class Shapes:
    """The extents of each shape class."""

    square: Extents
    short_rows: Extents
    long_rows: Extents
    attention: Extents


SHAPES = {
    "cuda": Shapes((8192, 8192), (1 << 20, 64), (16, 1 << 22), (8, 8, 1024, 1024)),
    "cpu": Shapes((4096, 4096), (1 << 18, 64), (4, 1 << 22), (4, 8, 512, 512)),
    "quick": Shapes((256, 192), (2048, 24), (2, 70_000), (2, 3, 40, 56)),
}


def _layouts(op: Op, shapes: Shapes) -> Iterator[tuple[str, Extents, frozenset[str]]]:
    """The shape classes of an op. To a pointwise op all contiguous shapes are one, so it has only the square."""
    attention = op.name.startswith("alibi")
    extents = shapes.attention if attention else shapes.square
    descriptor = op.describe(extents, ElementKind.F32)
    full = frozenset(s.name for s in op.present(descriptor) if s.varies is Axes.FULL)
    yield ("attention" if attention else "square"), extents, frozenset()
    if not attention and not op.name.startswith("lerp"):
        yield "short rows", shapes.short_rows, frozenset()
        yield "long rows", shapes.long_rows, frozenset()
    if op.name == "lerp":
        yield "b transposed", extents, frozenset({"b"})
    yield "transposed", extents, full


def cases(shapes: Shapes, elements: tuple[ElementKind, ...]) -> Iterator[Case]:
    """All cases, an element after the other."""
    for element in elements:
        for op in OPS:
            for shape_class, extents, transposed in _layouts(op, shapes):
                yield Case(op, element, shape_class, extents, transposed)
