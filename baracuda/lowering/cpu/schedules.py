"""Schedules of row-wise problems whose rows are each worked on by one thread."""

from __future__ import annotations

from baracuda.formula.order import SEGMENT
from baracuda.lowering.cpu.analysis import RowAnalysis
from baracuda.lowering.cpu.ir import i64
from baracuda.lowering.cpu.kernel import Kernel, Words, element_ns
from baracuda.lowering.cpu.rows import RowPasses, scratch_fits
from baracuda.lowering.cpu.walk import Odometer
from baracuda.lowering.problem import Nest
from baracuda.lowering.program import Program
from baracuda.runtime.jit import CpuTarget


def row_odometer(kernel: Kernel) -> Odometer:
    """The rows of a nest: for each, the addresses of every operand's first element."""
    nest = kernel.nest
    axes = range(len(nest.outer))
    operands = range(len(nest.operands))
    return Odometer(
        kernel.b,
        kernel.integers(nest.outer),
        {i: kernel.byte_strides(i, axes) for i in operands},
        {i: kernel.operand(i) for i in operands},
    )


def lower_rows(nest: Nest, words: Words, target: CpuTarget) -> Program:
    """Each unit of work is one row: all its passes, while the row is in the cache."""
    kernel = Kernel(nest, words, target)
    analysis = RowAnalysis(nest)
    keep = scratch_fits(analysis)
    b = kernel.b
    passes = RowPasses(kernel, analysis, keep=keep)
    segments = kernel.integer(-(-nest.row_length // SEGMENT))
    odometer = row_odometer(kernel)
    odometer.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        passes.begin(odometer.pointers(), odometer.indices())
        for p in range(analysis.passes):
            for n, value in passes.reduce(p, i64(0), segments).items():
                passes.set_result(n, value)
        if analysis.element_outputs:
            passes.write_elements(i64(0), segments)
        passes.write_row()
        odometer.advance()
    passes.streaming.fence()
    cost = element_ns(nest, nest.graph.nodes) * nest.row_length + 20
    name = f"rows{'+kept' if passes.scratch else ''}"
    return Program((kernel.step(nest.rows, cost),), tuple(words.integers), 0, name)
