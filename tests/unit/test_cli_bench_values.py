"""Every plan written out by hand, on small shapes: its values, and PyTorch's fresh and reused ones, as `python -m benchmarks`
times them."""

from __future__ import annotations

import pytest

from baracuda.cli.bench.checks import check
from baracuda.cli.bench.place import Place
from baracuda.cli.bench.rivals.torch import Torch
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.bench.suites.seeds import Seed, problems
from benchmarks.rivals import RIVALS
from benchmarks.tables import TABLES

CASES = list(problems(Request(dtypes=("bf16",), quick=True)))


pytestmark = pytest.mark.usefixtures("one_torch_thread")


def test_every_op_has_a_rival() -> None:
    assert {case.op for case in CASES} == set(RIVALS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values(case: Seed) -> None:
    place = Place("cpu")
    prepared = case.prepare(place, 0)
    check(case, place, prepared)
    library = Torch(place)
    library.tables = TABLES
    assert set(library.contenders(case, [prepared])) == {"torch", "torch out="}
