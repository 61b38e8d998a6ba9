"""Indices out of range: told without waiting for the device, always the first, whatever looks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.runtime.reports import FEW

GPU = baracuda.Device.cuda(0)
KINDS = ("int32", "int64")


@pytest.fixture(autouse=True)
def nothing_pending(torch: Any) -> Iterator[None]:
    yield
    baracuda.synchronize()


def indices(torch: Any, count: int, kind: str, wrong: dict[int, int]) -> Any:
    index = torch.arange(count, device="cuda") % 5
    for place, value in wrong.items():
        index[place] = value
    return index.to(getattr(torch, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 31, 1024, 1025, FEW - 1, FEW, FEW + 1])
def test_the_first_is_told(torch: Any, kind: str, count: int) -> None:
    x = torch.ones(5, device="cuda")
    for first in {0, count // 2, count - 1}:
        for _ in range(2):  # the second is made from what was seen of the first
            baracuda.take_flat(x, indices(torch, count, kind, {first: 5, count - 1: 77}))
            with pytest.raises(baracuda.InvalidProblemError, match=rf"index at \({first},\) is out of range; expected -5 to 4"):
                baracuda.synchronize()
    baracuda.take_flat(x, indices(torch, count, kind, {}))
    baracuda.synchronize()


@pytest.mark.parametrize("step", [1, 2])
def test_below_the_first(torch: Any, step: int) -> None:
    x, index = torch.ones((5, 4), device="cuda"), torch.zeros((6, 4 * step), dtype=torch.int64, device="cuda")
    index[3, 2 * step] = -6
    baracuda.gather(x, index[:, ::step], 0)
    with pytest.raises(baracuda.InvalidProblemError, match=r"index at \(3, 2\) is out of range"):
        baracuda.synchronize()


def test_a_number_that_does_not_matter_may_change(torch: Any) -> None:
    logits, target = torch.zeros((8, 5), device="cuda"), torch.full((8,), 2, device="cuda")
    for ignored in (-100, 7, -3, 9):
        target[4] = ignored
        baracuda.cross_entropy(logits, target, ignore_index=ignored)
        baracuda.synchronize()
        baracuda.cross_entropy(logits, target, ignore_index=ignored - 1)
        with pytest.raises(baracuda.InvalidProblemError, match=r"target: index at \(4,\) is out of range"):
            baracuda.synchronize()


def test_it_can_be_recorded(torch: Any) -> None:
    x, index = (baracuda.to_device(a, GPU) for a in (np.ones((5, 4), np.float32), np.zeros(6, np.int64)))
    embed = baracuda.record(baracuda.embedding, index, x)
    embed(index, x)
    baracuda.synchronize()
    embed(baracuda.to_device(np.array([0, 4, 5, 0, 9, 0]), GPU), x)
    with pytest.raises(baracuda.InvalidProblemError, match=r"index at \(2,\) is out of range"):
        baracuda.synchronize()
