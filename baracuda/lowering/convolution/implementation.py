"""The formula backends of convolutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.core.sku import MathPrecision
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.convolution.turned import takes, turned
from baracuda.lowering.executables import EmptyExecutable, executable, given_parameters, picker
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.matmul.implementation import guarantee_of


class ConvolutionImplementation(GeneratedImplementation):
    """Kernels of one convolution on one device; `describe` gives the problem for a layout of the plan's tensors."""

    def __init__(
        self,
        device: Device,
        describe: Callable[[Layout], ConvolutionProblem],
        accumulator: ElementKind,
        parameters: Mapping[str, float],
        math: MathPrecision | None = None,
    ) -> None:
        super().__init__(device, accumulator)
        self.describe, self.math, self.parameters = describe, math, parameters
        if math is not None:
            self.guarantee = guarantee_of(math, accumulator)

    def placed(self, layout: Layout) -> tuple[ConvolutionProblem, list[tuple[int, int]]]:
        """The problem for a layout, and where its operands are: which of the plan's tensors, at which byte."""
        present = [(i, 0) for i, own in enumerate(layout) if own is not None]
        return replace(self.describe(layout), math=self.math), present

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem, present = self.placed(layout)
        if 0 in (problem.batch, problem.groups, *problem.outputs, problem.columns):
            return EmptyExecutable()
        params = given_parameters(problem.epilogue.params, self.parameters)
        pick = None if len(present) == len(layout) else picker(present)
        operands = len(problem.tensors)
        if self.way == 0 and takes(problem, self.device):

            def main_of(p: ConvolutionProblem) -> Executable | None:
                return executable(self.device, p, params, operands, compiled_only=compiled_only)

            return turned(problem, self.device, pick, main_of, compiled_only)
        return executable(self.device, problem, params, operands, way=self.way, pick=pick, compiled_only=compiled_only)
