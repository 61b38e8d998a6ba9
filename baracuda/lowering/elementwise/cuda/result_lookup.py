"""Pointwise schedules that look up whole results: a long function of one 16-bit value has 65,536 of them.

They are computed once, by the same code as for any element, so that the bits are those of the plain schedule; NaN payloads
are 16-bit values like any other. 65,536 results of 16 bits fit the shared memory of a multiprocessor. An element then costs
about five instructions, where a copy at full speed leaves time for about thirty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from baracuda.core.elements import ElementKind
from baracuda.lowering.elementwise.cuda.pointwise import PointwiseKernel, runs_body, with_one_element
from baracuda.lowering.elementwise.cuda.table_storage import fill, lookup_launch, table_bytes
from baracuda.lowering.nest.costs import usual_cost
from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.runtime.program import Lowered

#: Values of 16 bits.
_ENTRIES = 1 << 16
#: Additions that a function must cost to be looked up rather than computed, and elements that a tensor must have: tables take
#: some microseconds to make and to copy.
_WORTH, _ELEMENTS = 26, 1 << 23
#: Threads of a block, of which a multiprocessor has one; so each thread has many bytes of input in flight.
_THREADS, _RUN_BYTES = 1024, 96
#: What nothing can be looked up from: positions, and values that come from elsewhere.
_ELSEWHERE = frozenset(["coord", "position", "gather", "reduce", "scan"])


class _ResultLookup(PointwiseKernel):
    """Runs whose one result is an entry of the table."""

    def compute(self, transposed: Mapping[int, str], bound: str, *, aligned: bool = False) -> tuple[list[str], str]:
        storage = self.frame.storage(1)
        one = f"out1.v[v] = (({storage}*)tables)[in0.v[v].bits];"
        return ["#pragma unroll", f"for (int v = 0; v < {self.width}; ++v) {bound}{one}"], ""


def lower_result_lookup(frame: Frame, target: Target) -> Lowered | None:
    """Lower a nest without reductions; None where it is not one long function of one 16-bit value."""
    with_one_element(frame)
    graph, size = frame.nest.graph, table_bytes(_ENTRIES, 2)
    if len(graph.inputs) != 1 or len(graph.outputs) != 1 or frame.nest.rows < _ELEMENTS or target.shared_bytes < size:
        return None
    value, argument, result = graph.outputs[0][1], *frame.operands
    last = len(frame.nest.outer) - 1
    if (
        argument.kind not in (ElementKind.F16, ElementKind.BF16)
        or result.kind.itemsize != 2
        or argument.general
        or result.general
    ):
        return None
    if argument.steps(last) == 0 or any(n.op in _ELSEWHERE for n in graph.nodes) or usual_cost(value) < _WORTH:
        return None
    storage = frame.storage(0)
    entry = [f"{storage} given; given.bits = (unsigned short)number;", "const float entry = widen(given);"]
    first = fill(frame, _ENTRIES, entry, [value], frame.storage(1), 2)
    frame.tuning = replace(frame.tuning, run_bytes=_RUN_BYTES)
    kernel = _ResultLookup(frame)
    body = runs_body(kernel, _THREADS)
    second = lookup_launch(frame, target, body, first.address, size, threads=_THREADS, held=1)
    launches, schedule = (first.launch, second), f"pointwise v{kernel.width} looked up"
    return Lowered(launches, tuple(frame.words.values), first.workspace, schedule)
