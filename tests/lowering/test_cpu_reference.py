"""Formulas and their gradients on the CPU, bit for bit against the reference interpreter."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from baracuda.formula import canonical as reference
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph
from baracuda.runtime.cpu_toolchain import CpuToolchain
from tests.lowering.cpu_harness import address, bits, program
from tests.unit.formulas import CASES, INNER_AXES, trace

SHAPE = (3, 1300)
EXTENTS = {Axes.FULL: SHAPE, Axes.OUTER: (3,), Axes.INNER: (1300,), Axes.NONE: ()}
#: Written in f64, or (the last) with a sum over rows of a value that is the same in each, which no schedule takes.
LEFT_OUT = {
    "cast", "coordinate", "pow of a constant", "square by pow", "first power", "zeroth power", "scalar summed over rows",
}  # fmt: skip


def check(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = {p.name: rng.uniform(0.1, 2.0, EXTENTS[p.axes]).astype(p.kind.numpy) for p in graph.inputs}
    space = {
        a: tuple(n if a & (Axes.INNER if i else Axes.OUTER) else 1 for n, i in zip(SHAPE, INNER_AXES, strict=True))
        for a in EXTENTS
    }
    wanted = reference.run(graph, {p.name: arrays[p.name].reshape(space[p.axes]) for p in graph.inputs}, SHAPE, INNER_AXES)
    arrays |= {p.name: np.full(EXTENTS[p.axes], np.nan, p.kind.numpy) for p, _ in graph.outputs}
    lowered, nest = program(graph, SHAPE, INNER_AXES, list(arrays.values()))
    row_length = [(n.kind, float(SHAPE[1])) for n in nest.graph.params]
    workspace = np.zeros(lowered.workspace_bytes + 64, np.uint8)
    ports = (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))
    CpuToolchain().load(lowered, len(ports), row_length).call(
        [address(arrays[p.name]) for p in ports], -(-address(workspace) // 64) * 64
    )
    for port, _ in graph.outputs:
        actual, expected = arrays[port.name].ravel(), wanted[port.name].ravel()
        same = (bits(actual) == bits(expected)) | (np.isnan(actual.astype(np.float32)) & np.isnan(expected.astype(np.float32)))
        assert same.all(), (port.name, lowered.schedule, actual[~same][:4], expected[~same][:4])


@pytest.mark.one_of(2)
@pytest.mark.parametrize("kind", [ElementKind.F32, ElementKind.BF16])
@pytest.mark.parametrize("name", sorted(set(CASES) - LEFT_OUT))
def test_bits(name: str, kind: ElementKind) -> None:
    case = CASES[name]
    forward = trace(case.formula, case.named(), case.result, kind)
    seed = zlib.crc32(name.encode())
    check(expand(gradient(forward, list(case.named()))), seed)
    check(expand(forward), seed)
