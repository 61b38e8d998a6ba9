"""Any formula on any machine: inputs and outputs of chosen kinds, axes and layouts, and the kernels that they lead to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from baracuda.cli.verify.placement import TensorPlacement, place
from baracuda.core.axes import Axes
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import OperandLayout
from baracuda.core.spec import TensorSpec
from baracuda.core.tensor import tensor_ref
from baracuda.formula.expr import Expr, input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.nest.cuda.lower import Target, lower
from baracuda.lowering.nest.implementation import FormulaImplementation, FormulaProblem
from baracuda.runtime.offline import offline_device
from tests.machine import Machine, MemoryBlock

Ports = Mapping[str, tuple[ElementKind, Axes]]


@dataclass(frozen=True)
class Formula:
    """A formula over a space: the kind and axes of each input and output, and which axes of the space are inner."""

    function: Callable[..., Any]
    inputs: Ports
    outputs: Ports
    inner: tuple[bool, ...]

    @property
    def ports(self) -> dict[str, tuple[ElementKind, Axes]]:
        return {**self.inputs, **self.outputs}

    @property
    def graph(self) -> Graph:
        ports = [Port(name, kind, axes) for name, (kind, axes) in self.inputs.items()]
        results = self.function(*(input_(p.name, p.kind, p.axes) for p in ports))
        results = results if isinstance(results, tuple) else (results,)
        outputs = [(Port(n, k, a), r) for (n, (k, a)), r in zip(self.outputs.items(), results, strict=True)]
        assert all(isinstance(r, Expr) for _, r in outputs)
        return Graph(tuple(ports), tuple(outputs), self.inner)

    def shape(self, axes: Axes, space: Sequence[int]) -> tuple[int, ...]:
        """The space without the axes that a tensor does not vary along."""
        return tuple(n if axes & (Axes.INNER if i else Axes.OUTER) else 1 for n, i in zip(space, self.inner, strict=True))

    def places(self, space: tuple[int, ...], layouts: Sequence[str]) -> dict[str, TensorPlacement]:
        """Where each tensor lies; tensors take the layouts in turn."""
        return {
            name: place(self.shape(axes, space), kind, layouts[i % len(layouts)], writable=name in self.outputs, number=i)
            for i, (name, (kind, axes)) in enumerate(self.ports.items())
        }

    def problem(self, space: tuple[int, ...]) -> tuple[FormulaProblem, list[TensorSpec], Any]:
        """What a plan gives its implementation."""
        specs, described = [], {}
        for name, (kind, axes) in self.ports.items():
            described |= {f"shape_{name}": self.shape(axes, space), f"kind_{name}": kind}
            specs.append(TensorSpec(name, "", f"shape_{name}", f"kind_{name}", None, axes, name in self.outputs))
        return FormulaProblem(self.graph, space, self.inner, {}), specs, SimpleNamespace(**described)


def pointwise(function: Callable[..., Any], inputs: Sequence[ElementKind], outputs: Sequence[ElementKind], rank: int) -> Formula:
    """A formula without reductions, of tensors x0, x1, ... and y0, y1, ... that have the whole shape."""
    named = [{f"{letter}{i}": (k, Axes.FULL) for i, k in enumerate(kinds)} for letter, kinds in (("x", inputs), ("y", outputs))]
    return Formula(function, *named, (False,) * rank)


def _pointer(held: MemoryBlock, placement: TensorPlacement) -> int:
    flat = TensorPlacement((placement.nbytes,), (1,), ElementKind.U8, 0, placement.nbytes)
    return tensor_ref(held.tensor(flat, writable=False)).pointer + placement.offset


def run(
    machine: Machine,
    formula: Formula,
    values: Mapping[str, np.ndarray],
    layouts: Sequence[str] = ("contiguous",),
    space: tuple[int, ...] | None = None,
    *,
    like: bool = True,
) -> dict[str, np.ndarray]:
    """The outputs, after checking that nothing outside them was written.

    Values broadcast to the shapes of their tensors. `like` compiles for the very layouts, else a kernel for any strides is
    used.
    """
    space = np.broadcast_shapes(*(v.shape for v in values.values())) if space is None else space
    places = formula.places(space, layouts)
    before = {name: placement.block(0xFF) for name, placement in places.items()}
    for name, value in values.items():
        placement = places[name]
        if 0 in placement.strides:  # a broadcast tensor: write what its elements share once
            value = value[tuple(slice(0, 1) if s == 0 else slice(None) for s in placement.strides)]
            placement = TensorPlacement(value.shape, placement.strides, placement.kind, placement.offset, placement.nbytes)
        placement.view(before[name])[...] = value
    held = {name: machine.upload(block) for name, block in before.items()}
    pointers = [_pointer(held[name], placement) for name, placement in places.items()]
    implementation = FormulaImplementation(machine.stream.device, *formula.problem(space))
    lies = [
        OperandLayout(placement.strides, min(pointer & -pointer, 16) if like else 1, not like)
        for pointer, placement in zip(pointers, places.values(), strict=True)
    ]
    executable = implementation.executable(tuple(lies))
    assert executable is not None
    workspace = machine.workspace(executable.workspace_bytes)
    executable.call(pointers, workspace.pointer if workspace is not None else 0, machine.stream.handle)
    machine.synchronize()
    results = {}
    for name, placement in places.items():
        after = held[name].download()
        if name in formula.outputs:
            results[name] = placement.view(after).copy()
            placement.view(before[name])[...] = results[name]
        assert np.array_equal(after, before[name]), f"{name}: bytes that are not its own were written"
    return results


class _Offline(FormulaImplementation):
    """What lowers a problem, without the device that it would run on."""

    def __init__(self, device: Device, problem: FormulaProblem, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        self.device, self.problem, self.specs, self.descriptor = device, problem, specs, descriptor


def cuda_sources(formula: Formula, space: tuple[int, ...], target: Target, layouts: Sequence[str] = ("contiguous",)) -> list[str]:
    """The CUDA sources of a formula's kernels, for these layouts and for any strides."""
    sources, offline = [], _Offline(offline_device(target.arch), *formula.problem(space))
    for general in (False, True):
        lies = [
            OperandLayout(p.strides, 1 if general else min(16, p.offset & -p.offset), general)
            for p in formula.places(space, layouts).values()
        ]
        nest, _ = offline.nest(tuple(lies))
        sources += [launch.source for launch in lower(nest, target).launches]
    return sources
