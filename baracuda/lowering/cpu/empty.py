"""Problems with an empty axis: what is left to write is what does not run along it."""

from __future__ import annotations

from dataclasses import replace

from baracuda.formula.expr import Axes
from baracuda.lowering.cpu.kernel import Place, Words
from baracuda.lowering.cpu.pointwise import pointwise_step
from baracuda.lowering.problem import Nest
from baracuda.lowering.program import Program
from baracuda.runtime.jit import CpuTarget


def lower_empty(nest: Nest, words: Words, target: CpuTarget) -> Program:
    """The outputs that do not vary along the empty axes; they read no element, since there is none."""
    empty = [a for a, n in enumerate(nest.outer) if n == 0]
    kept = [a for a, n in enumerate(nest.outer) if n != 0]
    first = len(nest.graph.inputs)
    written = [
        i
        for i, (port, _) in enumerate(nest.graph.outputs, first)
        if port.axes is not Axes.FULL and all(nest.operands[i].strides[a] == 0 for a in empty)
    ]
    if not written:
        return Program((), (), 0, "empty")
    graph = nest.graph.select_outputs(frozenset(nest.graph.outputs[i - first][0].name for i in written))
    operands = tuple(replace(nest.operands[i], strides=tuple(nest.operands[i].strides[a] for a in kept)) for i in written)
    part = Nest(replace(graph, inputs=()), tuple(nest.outer[a] for a in kept), (), operands)
    step, name = pointwise_step(part, words, target, [Place(i) for i in written])
    return Program((step,), tuple(words.integers), 0, name)
