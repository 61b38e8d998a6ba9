"""The formula backends: a graph over an iteration space, lowered for one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.host import value_of
from baracuda.core.implementation import Executable, Layout, OperandLayout
from baracuda.core.layout import contiguous_strides, merged_axes, round_up
from baracuda.core.lazy import cached_property
from baracuda.core.spec import TensorSpec
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr
from baracuda.formula.functions import reserved_value
from baracuda.formula.gathers import MARK, TENSOR_EXTENT, GatherSource, parameter_value, separated, sources
from baracuda.formula.graph import Graph, Port
from baracuda.formula.pooling import pools, unpooled
from baracuda.lowering.backend import backend_of
from baracuda.lowering.executables import EmptyExecutable, GeneratedExecutable, Pick, picker
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.nest.build import build
from baracuda.lowering.nest.copies import copier
from baracuda.lowering.nest.multi_kernel import KernelStages, MultiKernelExecutable, TensorOffset, cut
from baracuda.lowering.nest.problem import Nest, Operand, Problem, normalise, reduces, scans
from baracuda.lowering.nest.sequence import (
    Copy,
    ExecutableSequence,
    LayoutCopyExecutable,
    inputs_to_copy,
    separable,
    side_by_side,
)
from baracuda.lowering.nest.two_level_reduction import split_two_level
from baracuda.runtime.program import Parameter


@dataclass(frozen=True)
class FormulaProblem:
    """A formula plan's problem: the traced graph, its iteration space, and the values of its parameters."""

    graph: Graph
    shape: tuple[int, ...]
    inner: tuple[bool, ...]
    parameters: Mapping[str, float]


class FormulaImplementation(GeneratedImplementation):
    """Kernels generated from a formula, for the CPU or for a CUDA device."""

    #: The functions that the device has instructions of.
    native: frozenset[str] = frozenset()

    def __init__(self, device: Device, problem: FormulaProblem, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        self.problem, self.specs, self.descriptor = problem, specs, descriptor
        self.native = backend_of(device).native(device)
        kinds = {n.kind for n in problem.graph.nodes}
        accumulator = next((k for k in (ElementKind.F64, ElementKind.F32) if k in kinds), problem.graph.outputs[0][1].kind)
        super().__init__(device, accumulator)

    @cached_property
    def _pools(self) -> bool:
        return pools(self.problem.graph, self.problem.shape, self.problem.inner)

    def nest(self, layout: Layout) -> tuple[Nest, list[tuple[int, int]]]:
        """The normalised problem for a layout, and where its operands are: which of the plan's tensors, at which byte."""
        return self._nest(*self.laid(layout))

    def _nest(self, problem: Problem, places: Mapping[str, tuple[int, int]]) -> tuple[Nest, list[tuple[int, int]]]:
        nest = normalise(replace(problem, graph=unpooled(problem.graph)))
        return nest, [places[p.name] for p in (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))]

    def nests(self, layout: Layout) -> list[Nest]:
        """The nests that a layout takes: several where scans must be cut apart."""
        stages = self._stages(self.laid(layout)[0])
        return [self.nest(layout)[0]] if stages is None else [normalise(problem) for problem in stages.problems]

    def _stages(self, problem: Problem) -> KernelStages | None:
        """The stages of a problem that takes several."""
        if scans(problem.graph):
            return cut(problem)
        return split_two_level(problem) if self._pools else None

    def laid(self, layout: Layout, *, primitives: bool = True) -> tuple[Problem, dict[str, tuple[int, int]]]:
        """The problem for a layout, in primitives unless its functions are to stay, and where each of its ports is.

        A complex tensor x is two operands, named x.re and x.im.
        """
        graph, shape = self.problem.graph, self.problem.shape
        tensors = {s.name: i for i, (s, o) in enumerate(zip(self.specs, layout, strict=True)) if o is not None}
        if any(_tensor(p.name) not in tensors for p, _ in graph.outputs):
            graph = graph.select_outputs(frozenset(p.name for p, _ in graph.outputs if _tensor(p.name) in tensors))
        graph = separated(expand(graph, self.native) if primitives else graph)
        source_of, operands = sources(graph), []
        for port in (*graph.inputs, *(p for p, _ in graph.outputs)):
            i, part = tensors[_tensor(port.name)], _part(port.name)
            spec, tensor_layout = self.specs[i], layout[i]
            assert tensor_layout is not None
            own = spec.expected_shape(self.descriptor)
            given_strides = tensor_layout.strides if all(own) else contiguous_strides(own)  # NumPy's are 0 where nothing is
            strides = spec.strides_over(self.descriptor, len(shape), own, given_strides)
            gathered: tuple[tuple[int, int], ...] = ()
            if port.name in source_of:
                strides, gathered = self._gathered(spec, source_of[port.name], strides, given_strides)
                if source_of[port.name].flat and not tensor_layout.general:
                    gathered = tuple(reversed(merged_axes(reversed(gathered))))  # one number counts along what lies like one axis
            if part is None:
                operands.append(
                    Operand(
                        spec.expected_kind(self.descriptor), strides, tensor_layout.alignment, tensor_layout.general, gathered
                    )
                )
            else:  # one part of a complex tensor: every other element
                strides = tuple(2 * s for s in strides)
                gathered = tuple((2 * s, n) for s, n in gathered)
                alignment = tensor_layout.alignment if part == "re" else min(tensor_layout.alignment, port.kind.itemsize)
                operands.append(Operand(port.kind, strides, alignment, tensor_layout.general, gathered))
        ports = (*graph.inputs, *(p for p, _ in graph.outputs))
        places = {p.name: (tensors[_tensor(p.name)], p.kind.itemsize if _part(p.name) == "im" else 0) for p in ports}
        return Problem(graph, shape, self.problem.inner, tuple(operands)), places

    def _gathered(
        self, spec: TensorSpec, source: GatherSource, over: Sequence[int], strides: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
        """The strides over the iteration space of a tensor that is read at indices, and the stride and the extent of each axis
        that they are of."""
        shape, rank = spec.expected_shape(self.descriptor), len(self.problem.shape)
        places = spec.placement(self.descriptor, rank, len(shape))
        inner = [t for t, a in enumerate(places) if a is not None and self.problem.inner[a]]
        dims = inner if source.dims is None else source.dims
        if source.dims is None and len(dims) != 1:
            raise UnsupportedError(f"{spec.name}: an index of rows along {len(dims)} axes; expected one")
        if any(shape[t] == 0 for t in dims) and all(self.problem.shape):
            raise InvalidProblemError(f"{spec.name}: shape {shape} is read at an index of an empty axis; expected one element")
        followed = list(over)
        for t in dims:
            if (a := places[t]) is not None:
                followed[a] = 0
        return tuple(followed), tuple((strides[t], shape[t]) for t in dims)

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem, places = self.laid(layout)
        stages = self._stages(problem)
        if stages is not None and not self._pools:  # scans, whose cut is the same whatever the layout
            return self._multi_kernel(stages, places, compiled_only, autotune)
        nest, order = self._nest(problem, places)
        if not nest.graph.outputs:
            return EmptyExecutable()
        composed = self._composed(layout, nest, order, compiled_only)
        if composed is not None:
            return composed[0]
        if stages is not None:
            return self._multi_kernel(stages, places, compiled_only, autotune)
        pick = None if order == [(i, 0) for i in range(len(layout))] else picker(order)
        return self._built(nest, compiled_only, autotune, pick)

    def _multi_kernel(
        self, stages: KernelStages, places: Mapping[str, tuple[int, int]], compiled_only: bool, autotune: bool
    ) -> Executable | None:
        """A problem that takes several kernels."""
        steps = []
        for i, problem in enumerate(stages.problems):
            nest = normalise(problem)
            starts = stages.starts[i] if stages.starts else {}
            executable = self._built(nest, compiled_only, autotune)
            if executable is None:
                return None
            ports = (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))
            at = [places.get(p.name) or (None, stages.temporaries[p.name]) for p in ports]
            places_of_step = [
                TensorOffset(tensor, start + starts.get(p.name, 0)) for p, (tensor, start) in zip(ports, at, strict=True)
            ]
            steps.append((executable, places_of_step))
        return MultiKernelExecutable(steps, stages.nbytes)

    def _composed(
        self, layout: Layout, nest: Nest, order: list[tuple[int, int]], compiled_only: bool
    ) -> tuple[Executable | None] | None:
        """Layouts that no one schedule reads well: outputs apart, or inputs copied; None where one does.

        A pass over memory in the wrong direction costs several in the right one.
        """
        stray = [j for j in inputs_to_copy(nest) if _part(_port(nest, j).name) is None]
        groups = separable(nest.graph)
        across = backend_of(self.device).separates_sums and reduces(nest.graph, Axes.OUTER) and side_by_side(nest)
        # Without a reduction every output is written for each point of the nest, so they must vary along the same axes.
        separate = len(groups) > 1 and not reduces(nest.graph, Axes.FULL) and not scans(nest.graph)
        if len(groups) > 1 and (stray or across or separate):
            executables = []
            for group in groups:
                names = {_tensor(name) for name in group}
                sublayout = tuple(
                    o if not s.written or s.name in names else None for s, o in zip(self.specs, layout, strict=True)
                )
                part = self.unloaded(sublayout, compiled_only=compiled_only)
                if part is None:
                    return (None,)
                executables.append(part)
            return (ExecutableSequence(executables),)
        if not stray:
            return None
        copies, relaid, nbytes = [], list(layout), 0
        for i in sorted({order[j][0] for j in stray}):
            spec, tensor_layout = self.specs[i], layout[i]
            assert tensor_layout is not None
            shape, kind = spec.expected_shape(self.descriptor), spec.expected_kind(self.descriptor)
            contiguous = contiguous_strides(shape)
            own = OperandLayout(tensor_layout.strides, tensor_layout.alignment)
            copy = copier(self.device, kind, shape, own, contiguous, compiled_only=compiled_only)
            if copy is None:
                return (None,)
            copies.append(Copy(i, nbytes, copy))
            relaid[i] = OperandLayout(contiguous, 64)
            nbytes += round_up(prod(shape) * kind.itemsize, 64)
        main = self.unloaded(tuple(relaid), compiled_only=compiled_only)
        return (None if main is None else LayoutCopyExecutable(copies, main, nbytes),)

    def _built(self, nest: Nest, compiled_only: bool, autotune: bool, pick: Pick = None) -> GeneratedExecutable | None:
        gathered = {p.name: o.gathered for p, o in zip(nest.graph.inputs, nest.operands, strict=False)}
        values = [self.parameter(n, gathered) for n in nest.graph.params]
        return build(self.device, nest, values, way=self.way, autotune=autotune, pick=pick, compiled_only=compiled_only)

    def parameter(self, n: Expr, gathered: Mapping[str, tuple[tuple[int, int], ...]]) -> Parameter:
        """What a parameter node is given; one that follows from the shapes has no name."""
        name: str = n.attr
        if name.startswith(TENSOR_EXTENT):
            tensor, axis = name.removeprefix(TENSOR_EXTENT).split(" ")
            spec = next(s for s in self.specs if s.name == _tensor(tensor))
            return Parameter(n.kind, spec.expected_shape(self.descriptor)[int(axis)])
        reserved = parameter_value(name, gathered)
        if reserved is None:
            reserved = reserved_value(name, self.problem.shape, self.problem.inner)
        if reserved is not None:
            return Parameter(n.kind, reserved)
        return Parameter(n.kind, value_of(name, self.problem.parameters), name)


def _port(nest: Nest, i: int) -> Port:
    return (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))[i]


def _tensor(port: str) -> str:
    """The tensor that a port belongs to."""
    return port.partition(MARK)[0].partition(".")[0]


def _part(port: str) -> str | None:
    """Which part of a complex tensor a port is."""
    return port.partition(MARK)[0].partition(".")[2] or None
