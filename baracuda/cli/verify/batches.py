"""Cases with more rows that contain a given one's: a row's bits must not depend on its neighbours or their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from baracuda.cli.verify.case import Array, Batch, Case
from baracuda.core.axes import Axes
from baracuda.core.errors import Error
from baracuda.formula.expr import Expr, topological
from baracuda.formula.functions import counts_rows, reads_extent
from baracuda.formula.graph import Graph
from baracuda.lowering.nest.sequence import directions
from baracuda.ops.declaration.formula_plan import FormulaPlan

#: Elements that the largest tensor of a larger case may have, and blocks of rows that it may be made of.
MOST_ELEMENTS, MOST_BLOCKS = 1 << 17, 300


def batch_axis(graph: Graph, shape: tuple[int, ...], inner: tuple[bool, ...]) -> int | None:
    """An outer axis whose number and extent the formula does not look at; None where there is no such axis."""
    rank = len(shape)
    looked_at = {n.attr % rank for n in graph.nodes if n.op == "coord"}
    for n in graph.params:
        axis = reads_extent(n.attr)
        if axis is not None:
            looked_at.add(axis % rank)
    return next((a for a in range(rank) if not inner[a] and shape[a] and a not in looked_at), None)


def mixes_rows(value: Expr) -> bool:
    """Whether a value of one row is made of other rows' too, or of their number."""
    return bool(directions(value) & Axes.OUTER) or any(n.op == "param" and counts_rows(n.attr) for n in topological([value]))


def batches(case: Case, extend: Callable[[int, int], Case]) -> Iterator[Batch]:
    """Larger cases of a formula plan; `extend` gives the case with an axis of the iteration space so many times as long.

    A block of rows of the larger case is the given one's, the others are that block in the opposite order.
    """
    plan, descriptor = case.plan, case.descriptor
    if not issubclass(plan, FormulaPlan):
        return
    graph = plan.graph(descriptor)
    axis = batch_axis(graph, descriptor.iteration_shape, descriptor.inner_axes)
    mixed = {port.name.partition(".")[0] for port, value in graph.outputs if mixes_rows(value)}
    compared = [s for s in case.tensors() if s.written and s.name not in mixed]
    if axis is None or not compared:
        return
    base = case.inputs()
    size = max(prod(s.expected_shape(descriptor)) for s in case.tensors())
    many = max(min(MOST_ELEMENTS // max(size, 1), MOST_BLOCKS), 3)
    for blocks, position in ((2, 1), (many, many - many // 8 - 1)):
        try:
            larger = extend(axis, blocks)
            shapes = {s.name: s.expected_shape(larger.descriptor) for s in larger.tensors()}
        except Error:  # the op asks for this very extent
            return
        own = {s.name: s.expected_shape(descriptor) for s in case.tensors()}
        if shapes.keys() != own.keys() or not any(shapes[s.name] != own[s.name] for s in compared):
            return
        values = {n: _repeated(a, shapes[n], blocks, position) for n, a in base.items()}
        within = _within(own, shapes, mixed, position)
        yield Batch(f"{blocks} times as many rows, from block {position}", larger, values, within)


def _repeated(array: Array, shape: tuple[int, ...], blocks: int, position: int) -> Array:
    axis = _axis(array.shape, shape)
    if axis is None:
        return array
    return np.concatenate([array if i == position else np.flip(array, axis) for i in range(blocks)], axis)


def _axis(small: tuple[int, ...], large: tuple[int, ...]) -> int | None:
    return next((a for a, (n, m) in enumerate(zip(small, large, strict=True)) if n != m), None)


def _within(
    own: dict[str, tuple[int, ...]], shapes: dict[str, tuple[int, ...]], mixed: set[str], position: int
) -> Callable[[str, Array], Array | None]:
    def within(name: str, array: Array) -> Array | None:
        axis = _axis(own[name], shapes[name])
        if axis is None or name in mixed:
            return None
        extent = own[name][axis]
        at: tuple[Any, ...] = (slice(None),) * axis + (slice(position * extent, (position + 1) * extent),)
        rows: Array = array[at]
        return rows

    return within
