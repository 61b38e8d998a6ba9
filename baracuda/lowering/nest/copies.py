"""Copying a tensor to another layout, as an executable."""

from __future__ import annotations

from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.implementation import Executable, OperandLayout
from baracuda.formula.expr import input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.nest.build import build
from baracuda.lowering.nest.problem import Operand, Problem, normalise


def copier(
    device: Device,
    kind: ElementKind,
    shape: tuple[int, ...],
    source: OperandLayout,
    target: tuple[int, ...],
    *,
    alignment: int = 64,
    compiled_only: bool = False,
) -> Executable | None:
    """Copies a tensor, given two addresses, to one with the strides `target` and this alignment; None where it would have to be
    compiled and `compiled_only` is set."""
    strides = source.strides
    if kind.category is Category.COMPLEX:  # two numbers along one more axis
        kind = ElementKind.F32 if kind is ElementKind.C64 else ElementKind.F64
        shape, strides, target = (*shape, 2), (*(2 * s for s in strides), 1), (*(2 * s for s in target), 1)
    operands = (Operand(kind, strides, source.alignment, source.general), Operand(kind, target, alignment))
    ports = Port("from", kind), Port("to", kind)
    graph = Graph(ports[:1], ((ports[1], input_("from", kind)),))
    nest = normalise(Problem(graph, shape, (False,) * len(shape), operands))
    return build(device, nest, (), compiled_only=compiled_only)
