"""Codebooks of 8 bits, against their published construction."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from baracuda.ops.quantization.codebooks import dynamic_map, midpoints


def _published(signed: bool) -> np.ndarray:
    """The dynamic map of 7 bits of exponent, as Dettmers 2015 builds it, with PyTorch."""
    values = [0.0, 1.0]
    for i in range(7):
        edges = torch.linspace(0.1, 1, 2 ** (i if signed else i + 1) + 1, dtype=torch.float32)
        middles = (edges[:-1] + edges[1:]) / 2.0
        values += (10 ** (i - 6) * middles).tolist()
        if signed:
            values += (-(10 ** (i - 6)) * middles).tolist()
    return np.array(sorted(values), np.float32)


@pytest.mark.parametrize("signed", [True, False])
def test_dynamic_map(signed: bool) -> None:
    table = dynamic_map(signed)
    assert table.tobytes() == _published(signed).tobytes()
    assert len(table) == 256
    assert (np.diff(table) > 0).all()


@pytest.mark.parametrize("signed", [True, False])
def test_midpoints_lie_between_neighbours(signed: bool) -> None:
    table, middle = dynamic_map(signed), midpoints(signed)
    assert (table[:-1] < middle).all()
    assert (middle < table[1:]).all()
    assert np.abs((middle - table[:-1]) - (table[1:] - middle)).max() < 1e-7
