"""What neighbours of a run share on a GPU: the words of a counter, and nothing that an element has its own of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from baracuda.formula import canonical
from baracuda.formula.counters import U32, philox_4x32
from baracuda.formula.expr import Expr, cast, const, coord, input_, select
from baracuda.formula.functions import equal
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.nest.blocks import shared_by_blocks
from baracuda.lowering.nest.cpu import streaming
from baracuda.lowering.nest.cuda.lower import Target
from tests.lowering.graphs import cuda_sources, pointwise, run
from tests.machine import Machine

F32 = ElementKind.F32


def words(x: Expr) -> Expr:
    """Word i % 4 of counter i // 4, plus x."""
    place, zero, key = cast(coord(0), U32), const(0, U32), const(7, U32)
    w = philox_4x32((place >> 2, zero, zero, zero), (key, key))
    odd, upper = equal(place & 1, 1), equal(place >> 1 & 1, 1)
    return cast(select(upper, select(odd, w[3], w[2]), select(odd, w[1], w[0])), F32) + x


def _graph(function: Any) -> Graph:
    return Graph((Port("x0", F32),), ((Port("y0", F32), function(input_("x0", F32))),), (False,))


@pytest.mark.parametrize(("width", "block"), [(8, 4), (4, 4), (2, 2)])
def test_blocks(width: int, block: int) -> None:
    found, shared = shared_by_blocks(_graph(words), 0, width, lambda n: True)
    assert found == block
    assert shared
    assert not any(n.op in ("coord", "cast") for n in shared)


def test_nothing_is_shared() -> None:
    for function, width in ((words, 1), (lambda x: x + 1.0, 4), (lambda x: x + cast(coord(0), F32), 4)):
        assert shared_by_blocks(_graph(function), 0, width, lambda n: True)[1] == []


def test_source() -> None:
    """Each copy of the code has the ciphers of a run once, and each element its own number."""
    contiguous, general = cuda_sources(pointwise(words, (F32,), (F32,), 1), (4096,), Target("sm_90"))
    for source in (contiguous, general):
        kernel = source[source.index("__global__") :]
        copies = kernel.count("for (int b = 0; b < 4; b += 4)")
        assert copies == 2
        assert kernel.count("(int)(at + b)") == copies
        assert kernel.count("(int)(at + v)") == copies
        assert 18 * copies <= kernel.count("whole_product(") <= 20 * copies


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("layout", ["contiguous", "misaligned", "sliced"])
def test_bits(layout: str, streams: bool, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a block's first element is, and where memory begins."""
    monkeypatch.setattr(streaming, "leaves_cache", lambda nest: streams)
    formula = pointwise(words, (F32,), (F32,), 1)
    for n in (1, 3, 63, 64, 67, 1000, 9001):
        x = np.arange(n, dtype=np.float32)
        expected = canonical.run(formula.graph, {"x0": x}, (n,), (False,))["y0"]
        for layouts in ((layout,), ("contiguous", layout)):
            assert np.array_equal(run(machine, formula, {"x0": x}, layouts)["y0"], expected)
