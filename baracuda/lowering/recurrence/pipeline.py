"""Problems that take several kernels of different kinds: formulas over a space, recurrences, and sums along chains.

A pipeline names its tensors: those of a plan, and temporaries, which lie in the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.core.sku import MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr
from baracuda.formula.functions import reserved_value
from baracuda.formula.graph import Graph
from baracuda.lowering.executables import EmptyExecutable, executable, given_parameters
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.nest.build import build
from baracuda.lowering.nest.multi_kernel import MultiKernelExecutable, TensorOffset
from baracuda.lowering.nest.problem import Operand, Problem, normalise
from baracuda.lowering.recurrence.problem import ArrayLayout, Chains, Recurrence, RecurrenceProblem, in_primitives, tensors_of
from baracuda.lowering.recurrent.problem import Recurrent, RecurrentProblem
from baracuda.runtime.program import Parameter


@dataclass(frozen=True)
class View:
    """A tensor as a formula sees it: for each axis of the iteration space the tensor's axis along which it lies, or None;
    `skew` adds the strides of further axes."""

    tensor: str
    axes: tuple[int | None, ...]
    skew: tuple[tuple[int, int], ...] = ()

    def strides(self, array: ArrayLayout) -> tuple[int, ...]:
        """The strides over the iteration space."""
        strides = [0 if a is None or array.shape[a] == 1 else array.strides[a] for a in self.axes]
        for axis, other in self.skew:
            strides[axis] += array.strides[other]
        return tuple(strides)


@dataclass(frozen=True)
class Formula:
    """A formula over a space, each of whose ports is a view of a tensor."""

    graph: Graph
    shape: tuple[int, ...]
    inner: tuple[bool, ...]
    views: Mapping[str, View]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compute."""
        return 0 in self.shape


Stage: TypeAlias = Formula | Recurrence | Chains | Recurrent


@dataclass(frozen=True)
class Temporary:
    """A tensor in the workspace."""

    kind: ElementKind
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Pipeline:
    """Stages that run one after another. `math` is the kind that they compute in."""

    stages: tuple[Stage, ...]
    math: ElementKind
    temporaries: Mapping[str, Temporary] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)

    def starts(self) -> tuple[dict[str, int], int]:
        """Where each temporary begins in the workspace, and how many bytes they take."""
        starts, at = {}, 0
        for name, temporary in self.temporaries.items():
            starts[name] = at
            at += round_up(max(1, prod(temporary.shape)) * temporary.kind.itemsize, 256)
        return starts, at


class PipelineImplementation(GeneratedImplementation):
    """The kernels of a pipeline, for the CPU or for a CUDA device; `math` is what its products are in where that is not the kind
    that it computes in."""

    def __init__(
        self,
        device: Device,
        pipeline: Pipeline,
        specs: Sequence[TensorSpec],
        descriptor: Any,
        math: MathPrecision | None = None,
    ) -> None:
        super().__init__(device, pipeline.math)
        if math is not None:
            self.guarantee = PrecisionGuarantee.canonical(math, pipeline.math)
        self.pipeline, self.specs, self.descriptor = pipeline, specs, descriptor

    def arrays(self, layout: Layout) -> dict[str, ArrayLayout]:
        """How every tensor lies."""
        arrays = {n: ArrayLayout(t.kind, t.shape, contiguous_strides(t.shape)) for n, t in self.pipeline.temporaries.items()}
        for spec, tensor_layout in zip(self.specs, layout, strict=True):
            if tensor_layout is not None:
                shape = spec.expected_shape(self.descriptor)
                strides = tensor_layout.strides if all(shape) else contiguous_strides(shape)
                arrays[spec.name] = ArrayLayout(spec.expected_kind(self.descriptor), shape, strides, tensor_layout.general)
        return arrays

    def problem(self, stage: Formula, layout: Layout) -> Problem:
        """A formula of the pipeline as a problem."""
        arrays = self.arrays(layout)
        alignments = {s.name: o.alignment for s, o in zip(self.specs, layout, strict=True) if o is not None}
        operands = []
        for port in (*stage.graph.inputs, *(p for p, _ in stage.graph.outputs)):
            view = stage.views[port.name]
            array = arrays[view.tensor]
            alignment = alignments.get(view.tensor, 64)
            operands.append(Operand(array.kind, view.strides(array), alignment, array.general))
        return Problem(expand(stage.graph), stage.shape, stage.inner, tuple(operands))

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        arrays = self.arrays(layout)
        starts, nbytes = self.pipeline.starts()
        tensors = {s.name: i for i, s in enumerate(self.specs)}
        steps = []
        for stage in self.pipeline.stages:
            if stage.is_empty:
                continue
            if isinstance(stage, Formula):
                program, names = self._formula(stage, layout, compiled_only)
            else:
                program, names = self._recurrence(stage, arrays, compiled_only)
            if program is None:
                return None
            places = [TensorOffset(None, starts[n]) if n in starts else TensorOffset(tensors[n], 0) for n in names]
            steps.append((program, places))
        return MultiKernelExecutable(steps, nbytes) if steps else EmptyExecutable()

    def _formula(self, stage: Formula, layout: Layout, compiled_only: bool) -> tuple[Executable | None, list[str]]:
        nest = normalise(self.problem(stage, layout))
        values = [self._parameter(n, stage) for n in nest.graph.params]
        program = build(self.device, nest, values, way=self.way, compiled_only=compiled_only)
        names = [stage.views[p.name].tensor for p in (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))]
        return program, names

    def _recurrence(
        self, stage: Recurrence | Chains | Recurrent, arrays: Mapping[str, ArrayLayout], compiled_only: bool
    ) -> tuple[Executable | None, list[str]]:
        made = in_primitives(stage)
        problem = RecurrentProblem(made, arrays) if isinstance(made, Recurrent) else RecurrenceProblem(made, arrays)
        values = given_parameters(problem.stage.facts.params, self.pipeline.parameters)
        names = list(tensors_of(problem.stage))
        return executable(self.device, problem, values, len(names), way=self.way, compiled_only=compiled_only), names

    def _parameter(self, n: Expr, stage: Formula) -> Parameter:
        reserved = reserved_value(n.attr, stage.shape, stage.inner)
        if reserved is not None:
            return Parameter(n.kind, reserved)
        return Parameter(n.kind, self.pipeline.parameters[n.attr], n.attr)
