"""Pointwise problems with long functions of one 16-bit value: a step computes them for every value, and another looks them up.

A table has an f32 entry for each of the 65,536 values, in the workspace; an entry's place is the value's bits.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.workspace import LEAST_ALIGNMENT, allocate_host
from baracuda.formula.expr import READS, Axes, Expr, cast, input_, node
from baracuda.formula.gathers import GatherSource
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.elementwise.cpu.pointwise import pointwise_step
from baracuda.lowering.elementwise.tables import Functions, functions, off_rare_branches, with_lookups
from baracuda.lowering.nest.costs import usual_cost
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.lowering.nest.fission import OperandAddress
from baracuda.lowering.nest.problem import Nest, Operand
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

_VALUES = 1 << 16
_KINDS = (ElementKind.BF16, ElementKind.F16)
_TABLE, _BITS = ElementKind.F32, ElementKind.U16
_NBYTES = _VALUES * _TABLE.itemsize
#: Elements that there must be for each value: then what a table costs is little.
_TIMES = 16
#: Additions that finding an entry costs beside its place and the read, and that tables must save an element (two threads of
#: Zen 4, 2026-11-22, 2048 x 2048 bf16, against computing: mish as fast, tanh 1.5 times, ndtr 4.5 times as fast).
_FOUND, _SAVED = 16, 15
#: Tables to a problem: more leave the cache that a core has to itself.
_TABLES = 2


def lower_table_lookup(nest: Nest, words: Words, target: CpuTarget) -> Lowered | None:
    """Lower a nest without reductions; None where tables would not make it faster."""
    if prod(nest.outer) < _TIMES * _VALUES or any(o.general for o in nest.operands):
        return None
    if not any(o.kind in _KINDS for o in nest.operands):
        return None
    candidates = off_rare_branches(nest.graph, functions(nest, _KINDS, len(nest.outer) - 1, _FOUND + 1), _entry)
    dearest = sorted(candidates, key=lambda row: usual_cost(row[0]), reverse=True)
    choices = [dearest[: n + 1] for n in range(_TABLES)]
    saved = [_saved(nest.graph, some) for some in choices]
    if max(saved) < _SAVED:
        return None
    candidates = choices[saved.index(max(saved))]
    steps = [_fill_table(nest, words, target, j, root, x) for j, (root, x) in enumerate(candidates)]
    step, name = _read(nest, words, target, candidates)
    return Lowered((*steps, step), tuple(words.integers), len(candidates) * _NBYTES, f"{name} tables {len(candidates)}")


def _saved(graph: Graph, replaced: Functions) -> int:
    """The additions to an element that tables of some functions save; what these have in common is computed once without them."""
    computed, rest = (usual_cost(*(e for _, e in g.outputs)) for g in (graph, with_lookups(graph, replaced, _entry)))
    return computed - rest - _FOUND * len(replaced)


def _entry(number: int, x: Expr) -> Expr:
    """The entry for the value of an input."""
    name, _, axes = x.attr
    bits = input_(_bits_of(name), _BITS, axes)
    return node("gather", (cast(bits, ElementKind.S64),), _TABLE.compute, GatherSource(_table(number), _TABLE, Axes.NONE, ()))


def _bits_of(name: str) -> str:
    return f"#bits of {name}"


def _table(number: int) -> str:
    return f"#table {number}"


@cache
def _every_value() -> np.ndarray[Any, Any]:
    """All 16-bit values in order of their bits."""
    values = allocate_host(2 * _VALUES, Device.cpu()).view(np.uint16)
    values[:] = np.arange(_VALUES)
    return values


def _fill_table(nest: Nest, words: Words, target: CpuTarget, number: int, root: Expr, x: Expr) -> Launch:
    """The step that computes a table."""
    name, kind, axes = x.attr
    graph = Graph((Port(name, kind, axes),), ((Port(_table(number), _TABLE, axes), root),), (False,))
    operands = (Operand(kind, (1,)), Operand(_TABLE, (1,), LEAST_ALIGNMENT))
    places = [OperandAddress(words.add(_every_value().ctypes.data)), words.scratch(number * _NBYTES)]
    return pointwise_step(Nest(graph, (_VALUES,), (), operands), words, target, places)[0]


def _read(nest: Nest, words: Words, target: CpuTarget, replaced: Functions) -> tuple[Launch, str]:
    """The step that looks values up, and the name of its schedule."""
    graph, count = nest.graph, len(nest.graph.inputs)
    rewritten = with_lookups(graph, replaced, _entry)
    read_names = {n.attr[0] for n in rewritten.nodes if n.op in READS}
    rows = [(p, nest.operands[i], words.place(i)) for i, p in enumerate(graph.inputs)]
    rows += [(Port(_bits_of(p.name), _BITS, p.axes), Operand(_BITS, o.strides, o.alignment), place) for p, o, place in rows]
    inputs = [row for row in rows if row[0].name in read_names]
    for j in range(len(replaced)):
        table = Operand(_TABLE, (0,) * len(nest.outer), LEAST_ALIGNMENT, gathered=((1, _VALUES),), resolved=True)
        inputs.append((Port(_table(j), _TABLE, Axes.NONE), table, words.scratch(j * _NBYTES)))
    outputs = [(nest.operands[count + k], words.place(count + k)) for k in range(len(graph.outputs))]
    operands = (*(o for _, o, _ in inputs), *(o for o, _ in outputs))
    places = [*(place for _, _, place in inputs), *(place for _, place in outputs)]
    whole = Graph(tuple(p for p, _, _ in inputs), rewritten.outputs, graph.inner_axes)
    return pointwise_step(Nest(whole, nest.outer, nest.inner, operands), words, target, places)
