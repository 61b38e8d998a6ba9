"""Every benchmark case on small shapes: our results, torch's fresh and reused ones, all against float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
import torch

from baracuda.cli.timing import Call
from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind as K
from benchmarks.cases import SHAPES, Case, cases
from benchmarks.seeds import measure


class Once:
    """A clock that runs everything once and calls it a second."""

    device = "cpu"
    warmups, rounds, round_budget, cache_bytes = 1, 1, 0.0, 1

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        return [float(len([call() for call in batch])) for batch in batches]

    def synchronise(self) -> None:
        pass

    def bystanders(self) -> float:
        return 0.0


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("case", list(cases(SHAPES["quick"], (K.BF16,))), ids=str)
def test_values(case: Case) -> None:
    row = measure(case, Once(), Stream(Device.cpu()))
    assert row.error < 4e-3
    assert row.ratio == row.ratio_fresh == 1.0
