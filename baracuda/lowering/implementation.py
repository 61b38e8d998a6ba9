"""The formula backends: a graph over an iteration space, lowered for one device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import itemgetter
from typing import Any, Protocol

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import contiguous_strides
from baracuda.core.plan import Executable, Implementation, Layout, OperandLayout
from baracuda.core.sku import ArchSku, BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, input_
from baracuda.formula.functions import ROW_LENGTH
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.composite import Copy, InTurn, Relaid, astray, separable, side_by_side
from baracuda.lowering.problem import Nest, Operand, Problem, normalise, reduces
from baracuda.runtime.program import Program

_MATH = {ElementKind.F32: MathPrecision.F32, ElementKind.F64: MathPrecision.F64}


@dataclass(frozen=True)
class FormulaProblem:
    """A formula plan's problem: the traced graph, its iteration space, and the values of its parameters."""

    graph: Graph
    shape: tuple[int, ...]
    inner: tuple[bool, ...]
    parameters: Mapping[str, float]


class Call(Protocol):
    """A lowered program, ready to be called."""

    def call(self, pointers: Sequence[int], workspace: int, stream: int) -> None: ...

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]: ...


class FormulaExecutable:
    """A lowered problem for one layout, taking addresses in the order of the plan's tensors."""

    def __init__(self, program: Program, target: Call, pick: Callable[[Sequence[int]], Sequence[int]] | None) -> None:
        self.workspace_bytes, self.schedule = program.workspace_bytes, program.schedule
        self.target, self.pick = target, pick
        if pick is None:  # nothing to rearrange: a call goes straight to the kernel
            self.call, self.bind = target.call, target.bind  # type: ignore[method-assign]

    def call(self, pointers: Sequence[int], workspace: int, stream: int) -> None:
        assert self.pick is not None
        self.target.call(self.pick(pointers), workspace, stream)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        assert self.pick is not None
        return self.target.bind(self.pick(pointers), workspace, stream)


class NothingToDo:
    """The executable of a problem without elements."""

    workspace_bytes, schedule = 0, "empty"

    def call(self, pointers: Sequence[int], workspace: int, stream: int) -> None:
        """Return at once."""

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        return lambda: None


class FormulaImplementation(Implementation):
    """Kernels generated from a formula, for the CPU or for a CUDA device."""

    def __init__(self, device: Device, problem: FormulaProblem, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        self.device, self.problem, self.specs, self.descriptor = device, problem, specs, descriptor
        self._made: dict[Layout, Executable] = {}
        self._lock = threading.RLock()
        kinds = {n.kind for n in problem.graph.nodes}
        accumulator = next((k for k in (ElementKind.F64, ElementKind.F32) if k in kinds), problem.graph.outputs[0][1].kind)
        self.guarantee = PrecisionGuarantee.canonical(_MATH.get(accumulator, MathPrecision.INTEGER), accumulator)
        if device.kind is DeviceKind.CUDA:
            from baracuda.runtime.cuda import architecture

            major, minor, _ = architecture(device.index)
            if (major, minor) < (8, 0):
                raise UnsupportedError(f"{device} has compute capability {major}.{minor}; expected 8.0 or newer")
            self.backend, self.arch = BackendKind.FORMULA_CUDA, ArchSku.cuda(major, minor)
        else:
            self.backend, self.arch = BackendKind.FORMULA_CPU, ArchSku.host()

    def nest(self, layout: Layout) -> tuple[Nest, list[int]]:
        """The normalised problem for a layout, and which of the plan's tensors its operands are."""
        graph, shape = self.problem.graph, self.problem.shape
        given = {s.name: i for i, (s, o) in enumerate(zip(self.specs, layout, strict=True)) if o is not None}
        if any(p.name not in given for p, _ in graph.outputs):
            graph = graph.select_outputs(frozenset(given))
        order = [given[p.name] for p in (*graph.inputs, *(p for p, _ in graph.outputs))]
        operands = []
        for i in order:
            spec, lies = self.specs[i], layout[i]
            assert lies is not None
            own = spec.expected_shape(self.descriptor)
            strides = spec.strides_over(self.descriptor, len(shape), own, lies.strides)
            operands.append(Operand(spec.expected_kind(self.descriptor), strides, lies.alignment, lies.general))
        nest = normalise(Problem(expand(graph), shape, self.problem.inner, tuple(operands)))
        return nest, [given[p.name] for p in (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))]

    def executable(self, layout: Layout, *, compiled_only: bool = False, autotune: bool = False) -> Executable | None:
        with self._lock:
            found = self._made.get(layout)
            if found is None:
                found = self._make(layout, compiled_only, autotune and not any(o is not None and o.general for o in layout))
                if found is not None:
                    if len(self._made) >= 1024:
                        self._made.clear()
                    self._made[layout] = found
            return found

    def _make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        nest, order = self.nest(layout)
        if not nest.graph.outputs:
            return NothingToDo()
        composed = self._composed(layout, nest, order, compiled_only)
        if composed is not None:
            return composed[0]
        pick = None if order == list(range(len(layout))) else _picker(order)
        made = self._built(nest, compiled_only, autotune)
        if made is None:
            return None
        program, call = made
        return FormulaExecutable(program, call, pick)

    def _composed(self, layout: Layout, nest: Nest, order: list[int], compiled_only: bool) -> tuple[Executable | None] | None:
        """Layouts that no one schedule reads well: outputs apart, or inputs copied; None where one does.

        A pass over memory in the wrong direction costs several in the right one.
        """
        stray = astray(nest)
        groups = separable(nest.graph)
        across = self.device.kind is DeviceKind.CPU and reduces(nest.graph, Axes.OUTER) and side_by_side(nest)
        if len(groups) > 1 and (stray or across):
            parts = []
            for names in groups:
                kept = tuple(o if not s.written or s.name in names else None for s, o in zip(self.specs, layout, strict=True))
                part = self.executable(kept, compiled_only=compiled_only)
                if part is None:
                    return (None,)
                parts.append(part)
            return (InTurn(parts),)
        if not stray:
            return None
        copies, relaid, nbytes = [], list(layout), 0
        for i in (order[j] for j in stray):
            spec, lies = self.specs[i], layout[i]
            assert lies is not None
            shape, kind = spec.expected_shape(self.descriptor), spec.expected_kind(self.descriptor)
            contiguous = contiguous_strides(shape)
            operands = (Operand(kind, lies.strides, lies.alignment), Operand(kind, contiguous, 64))
            ports = Port("from", kind), Port("to", kind)
            graph = Graph(ports[:1], ((ports[1], input_("from", kind)),))
            made = self._built(normalise(Problem(graph, shape, (False,) * len(shape), operands)), compiled_only, autotune=False)
            if made is None:
                return (None,)
            copies.append(Copy(i, nbytes, FormulaExecutable(*made, None)))
            relaid[i] = OperandLayout(contiguous, 64)
            nbytes += -(-prod(shape) * kind.itemsize // 64) * 64
        main = self.executable(tuple(relaid), compiled_only=compiled_only)
        return (None if main is None else Relaid(copies, main, nbytes),)

    def _built(self, nest: Nest, compiled_only: bool, autotune: bool) -> tuple[Program, Call] | None:
        values = [(n.kind, self._parameter(n.attr)) for n in nest.graph.params]
        if self.device.kind is DeviceKind.CUDA:
            from baracuda.lowering.cuda.build import build as build_cuda

            return build_cuda(nest, values, self.device.index, compiled_only=compiled_only, autotune=autotune)
        from baracuda.lowering.cpu.build import build as build_cpu

        return build_cpu(nest, values, compiled_only=compiled_only)

    def _parameter(self, name: str) -> float:
        if name == ROW_LENGTH:
            return float(prod(n for n, i in zip(self.problem.shape, self.problem.inner, strict=True) if i))
        return float(self.problem.parameters[name])


def _picker(order: list[int]) -> Callable[[Sequence[int]], Sequence[int]]:
    if len(order) > 1:
        return itemgetter(*order)
    (only,) = order
    return lambda pointers: (pointers[only],)
