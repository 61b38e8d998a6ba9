"""Plans with descriptors of their own: softmax, RMS norm, ALiBi, lerp, per-token quantization, each with its backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import baracuda
from baracuda.cli.bench.benchmark import Invocation, PlanBenchmark, Shape, block_shape
from baracuda.cli.bench.place import Tensor, Values
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.verify import values as data
from baracuda.cli.verify.plans import Subject, args_type, subject
from baracuda.core.axes import Axes
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Plan

#: The plans, by their labels in `baracuda.cli.verify.plans`.
OPS = {
    "softmax": "softmax", "softmax_backward": "softmax_backward",
    "log_softmax": "log_softmax", "log_softmax_backward": "log_softmax_backward",
    "rms_norm": "rms_norm", "rms_norm_backward": "rms_norm_backward",
    "alibi": "alibi", "alibi_backward": "alibi_backward",
    "lerp": "lerp", "lerp_backward": "lerp_backward",
    "quantize_per_token": "quantize_per_token_s8", "quantize_per_token_backward": "quantize_per_token_backward_s8",
    "dequantize_per_token": "dequantize_per_token_s8", "dequantize_per_token_backward": "dequantize_per_token_backward_s8",
}  # fmt: skip
#: What the frameworks have by name.
_CALLS: Mapping[str, Invocation] = {
    "softmax": Invocation("softmax", ("x",), {"axis": -1}),
    "log_softmax": Invocation("log_softmax", ("x",), {"axis": -1}),
    "rms_norm": Invocation("rms_norm", ("x", "gamma"), {"eps": 1e-6}),
    "rms_norm_backward": Invocation("rms_norm", ("x", "gamma"), {"eps": 0.0}, ("y",), ("x", "gamma")),
    "lerp": Invocation("lerp", ("a", "b"), {"weight": 0.3}),
}

#: Tensors that functions call otherwise than the plans.
_NAMES = {"gamma": "weight", "d_output": "dy"}


@dataclass(frozen=True)
class Shapes:
    """The extents of each shape class."""

    square: Shape
    short_rows: Shape
    long_rows: Shape
    attention: Shape


SHAPES = {
    "cuda": Shapes((8192, 8192), (1 << 20, 64), (16, 1 << 22), (8, 8, 1024, 1024)),
    "cpu": Shapes((4096, 4096), (1 << 18, 64), (4, 1 << 22), (4, 8, 512, 512)),
    "quick": Shapes((256, 192), (2048, 24), (2, 70_000), (2, 3, 40, 56)),
}


@dataclass(frozen=True)
class Seed(PlanBenchmark):
    """One plan on one element, shape and layout."""

    op: str
    element: ElementKind
    shape_class: str
    shape: Shape
    transposed: frozenset[str] = frozenset()
    suite: str = "seeds"
    variant: str = ""

    @property
    def subject(self) -> Subject:
        return subject(OPS[self.op])

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        plan: type[Plan[Any, Any]] = self.subject.plan
        return plan

    @property
    def descriptor(self) -> Any:
        return self.subject.describe(self.shape, self.element)

    def args(self, tensors: Mapping[str, Tensor]) -> Any:
        cls = args_type(self.plan)
        return cls(**{s.name: tensors.get(s.name) for s in self.plan.tensors})

    def with_extent(self, axis: int, extent: int) -> Any:
        """The descriptor with another extent of an axis."""
        return replace(self, shape=(*self.shape[:axis], extent, *self.shape[axis + 1 :])).descriptor

    def block(self, name: str, shape: Shape, kind: ElementKind, seed: int) -> Values:
        """Values of the sort that an input of this name has in use."""
        some, key = block_shape(shape), f"{self.op}/{name}/{seed}"
        if kind is ElementKind.S32:
            return data.integers(key, some, -8, 8).astype(kind.numpy)
        if not kind.is_float:
            return data.integers(key, some, -128, 127).astype(kind.numpy)
        normal = data.normal(key, some)
        if name == "scale":  # some elements are out of the range of the codes
            normal = 0.02 * np.clip(np.abs(normal), 0.5, 2.0)
        elif name == "rms":
            normal = 0.5 + data.uniform(key, some)
        elif name == "y":
            normal = -np.abs(normal) if self.op.startswith("log") else np.abs(normal) / shape[-1]
        elif name == "dy" and self.op == "alibi_backward":
            normal = normal * 2.0**-7  # the sums over millions of elements times a distance stay within f16
        elif self.op in ("softmax", "log_softmax"):
            normal = 4.0 * normal  # so that a few elements of a long row matter, as attention scores do
        return data.rounded(normal, kind)

    @property
    def invocation(self) -> Invocation | None:
        return _CALLS.get(self.op)

    def fresh(self, tensors: Mapping[str, Tensor], **words: Any) -> Callable[[], object]:
        call: Callable[..., object] = getattr(baracuda, self.op)
        operands = {_NAMES.get(name, name): tensors[name] for name, _, _, is_output in self.described() if not is_output}
        if self.op == "rms_norm":
            words |= {"eps": self.descriptor.eps, "saved": True}
        elif self.op == "alibi_backward":
            words |= {"slopes": tensors["dslopes"]}
        elif self.op.startswith("lerp"):
            words |= {"weight": self.descriptor.param}
            words |= {"a": tensors["dy"], "b": tensors["dy"]} if self.op == "lerp_backward" else {}
        elif self.op == "dequantize_per_token":
            words |= {"dtype": self.element}
        return lambda: call(**operands, **words)


def _layouts(op: str, shapes: Shapes) -> Iterator[tuple[str, Shape, frozenset[str]]]:
    """The shape classes of an op. To a pointwise op all contiguous shapes are one, so it has only the square."""
    attention = op.startswith("alibi")
    extents = shapes.attention if attention else shapes.square
    tried = subject(OPS[op])
    d = tried.describe(extents, ElementKind.F32)
    full = frozenset(s.name for s in tried.plan.tensors if s.presence(d) is not False and s.varies is Axes.FULL)
    yield ("attention" if attention else "square"), extents, frozenset()
    if not attention and not op.startswith("lerp"):
        yield "short rows", shapes.short_rows, frozenset()
        yield "long rows", shapes.long_rows, frozenset()
    if op == "lerp":
        yield "b transposed", extents, frozenset({"b"})
    yield "transposed", extents, full


def problems(request: Request) -> Iterator[Seed]:
    """All cases, an element after the other."""
    shapes = SHAPES["quick" if request.quick else request.kind]
    if request.shape is not None:
        shapes = replace(shapes, square=request.shape)
    for element in request.elements(("f32", "bf16", "f16", "f64") if request.kind == "cpu" else ("f32", "bf16", "f16")):
        if element.is_float and element.bits >= 16:
            for op in OPS:
                layouts: Sequence[tuple[str, Shape, frozenset[str]]] = list(_layouts(op, shapes))
                if request.shape is not None:
                    layouts = [layout for layout in layouts if layout[1] == request.shape]
                for shape_class, extents, transposed in layouts:
                    yield Seed(op, element, shape_class, extents, transposed)
