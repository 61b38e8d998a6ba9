"""Codebooks of 8 bits, against their published construction."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import baracuda
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


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(("n", "size"), [(1000, 256), (77, 2048)])
def test_blocks_of_a_map(signed: bool, n: int, size: int) -> None:
    rng = np.random.default_rng(n)
    x = (rng.standard_normal(n) * rng.choice([1e-6, 1e-3, 1, 30], n)).astype(np.float32)
    x = x if signed else np.abs(x)
    q, absmax = baracuda.quantize_int8_blockwise(x.reshape(-1, 1), block_size=size, signed=signed)
    blocks = np.concatenate([x, np.zeros(-n % size, np.float32)]).reshape(-1, size)
    assert absmax.tobytes() == np.abs(blocks).max(1).tobytes()
    shares = (blocks / absmax[:, None]).ravel()[:n]
    table = dynamic_map(signed)
    away = np.abs(shares.astype(np.float64)[:, None] - table.astype(np.float64))
    assert (away[np.arange(n), q.ravel()] <= away.min(1) + 1e-8).all()
    assert (q.ravel() == np.searchsorted(midpoints(signed), shares)).all()
    y = baracuda.dequantize_int8_blockwise(q, absmax, block_size=size, signed=signed)
    assert y.ravel().tobytes() == (table[q.ravel()] * np.repeat(absmax, size)[:n]).tobytes()
    out = np.empty((2 * n, 1), np.float32)[::2]
    assert (baracuda.dequantize_int8_blockwise(q, absmax, block_size=size, signed=signed, out=out) == y).all()
