"""The formula backends of attention: from a descriptor and a layout to an `Attention`, and its executable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baracuda.core.device import Device
from baracuda.core.implementation import Executable, Layout
from baracuda.core.layout import contiguous_strides
from baracuda.core.sku import MathPrecision
from baracuda.core.spec import TensorSpec
from baracuda.formula.graph import Graph
from baracuda.lowering.attention.problem import DOT, Attention
from baracuda.lowering.executables import EmptyExecutable, Extents, executable, given_parameters, picker
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.matmul.implementation import guarantee_of
from baracuda.lowering.nest.problem import Operand


@dataclass(frozen=True)
class AttentionProblem:
    """The formulas of an attention, in primitives, and the values of their parameters; slope is None for the forward."""

    score: Graph
    slope: Graph | None
    parameters: Mapping[str, float]


class AttentionImplementation(GeneratedImplementation):
    """Generated kernels of attention, for the CPU or for a CUDA device."""

    def __init__(
        self,
        device: Device,
        problem: AttentionProblem,
        specs: Sequence[TensorSpec],
        descriptor: Any,
        math: MathPrecision | None = None,
    ) -> None:
        super().__init__(device, descriptor.compute)
        self.math = math
        if math is not None:
            self.guarantee = guarantee_of(math, descriptor.compute)
        self.problem, self.specs, self.descriptor = problem, specs, descriptor

    def attention(self, layout: Layout) -> Attention:
        """The problem for a layout."""
        d, score, slope = self.descriptor, self.problem.score, self.problem.slope
        operands: dict[str, Operand | None] = {}
        for spec, tensor_layout in zip(self.specs, layout, strict=True):
            if tensor_layout is None:
                operands[spec.name] = None
                continue
            shape = spec.expected_shape(d)
            strides = tensor_layout.strides if all(shape) else contiguous_strides(shape)
            over: Sequence[int] = [s if n != 1 else 0 for s, n in zip(strides, shape, strict=True)]
            if spec.name in (p.name for p in score.inputs):
                over = spec.strides_over(d, 4, shape, strides)
            operands[spec.name] = Operand(spec.expected_kind(d), tuple(over), tensor_layout.alignment, tensor_layout.general)

        def required(name: str) -> Operand:
            operand = operands[name]
            assert operand is not None
            return operand

        return Attention(
            batch=d.batch,
            heads=d.heads,
            key_heads=d.key_heads,
            queries=d.queries,
            keys=d.keys,
            depth=d.depth,
            value_depth=d.value_depth,
            compute=d.compute,
            score=score,
            slope=slope,
            band=d.band,
            q=required("q"),
            k=required("k"),
            v=required("v"),
            y=required("y"),
            lse=operands["lse"],
            query_lengths=operands["query_lengths"],
            key_lengths=operands["key_lengths"],
            tensors=tuple(required(p.name) for p in score.inputs if p.name != DOT),
            **{name: operands.get(name) for name in ("dy", "dq", "dk", "dv", "dbias")},
            math=self.math,
        )

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        outputs = [s for s, tensor_layout in zip(self.specs, layout, strict=True) if s.written and tensor_layout is not None]
        if not any(all(s.expected_shape(self.descriptor)) for s in outputs):
            return EmptyExecutable()
        problem = self.attention(layout)
        params = given_parameters(problem.params, self.problem.parameters)
        present = [(i, 0) for i, tensor_layout in enumerate(layout) if tensor_layout is not None]
        return executable(
            self.device,
            problem,
            params,
            len(problem.operands),
            way=self.way,
            autotune=autotune,
            pick=picker(present),
            compiled_only=compiled_only,
            extents=lambda: _extents(problem),
        )


def _extents(problem: Attention) -> Extents:
    from baracuda.lowering.attention.cuda.lower import extents

    return extents(problem)
