"""The benchmarks' bookkeeping: bytes, layouts, turns, ratios, checks and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from baracuda.cli.timing import Call, Comparison, Sample, compare, input_sets
from baracuda.core.elements import ElementKind as K
from benchmarks.cases import OPS, SHAPES, Case, cases
from benchmarks.rivals import RIVALS
from benchmarks.seeds import WrongResultError, check
from benchmarks.table import Results, Row, geometric_mean, markdown, plain, render

BY_NAME = {op.name: op for op in OPS}
N = 8 * 16
#: By hand, for [8, 16] (attention: [2, 3, 4, 5]) in bf16: elements times their sizes.
BYTES = {
    "softmax": 2 * N * 2,
    "softmax_backward": 3 * N * 2,
    "log_softmax": 2 * N * 2,
    "log_softmax_backward": 3 * N * 2,
    "rms_norm": 2 * N * 2 + 16 * 2 + 8 * 4,
    "rms_norm_backward": 3 * N * 2 + 2 * 16 * 2 + 8 * 4,
    "alibi": 2 * 120 * 2 + 3 * 2,
    "alibi_backward": 2 * 120 * 2 + 3 * 2,
    "lerp": 3 * N * 2,
    "lerp_backward": 3 * N * 2,
    "quantize_per_token": N * 2 + N + 8 * 4 + 8 * 4,
    "quantize_per_token_backward": 3 * N * 2 + 8 * 4 + 8 * 4,
    "dequantize_per_token": N + N * 2 + 8 * 4 + 8 * 4,
    "dequantize_per_token_backward": 2 * N * 2 + 8 * 4,
}


class FakeClock:
    """Runs every call once and says that its batch took the next of the given times."""

    device = "cpu"
    warmups, rounds, round_budget = 1, 6, 1e9
    cache_bytes = 100

    def __init__(self, seconds: Sequence[float], others: Sequence[float] = (0.0,)) -> None:
        self.seconds, self.others, self.taken, self.asked = seconds, others, 0, 0

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        times = []
        for batch in batches:
            for call in batch:
                call()
            times.append(self.seconds[self.taken % len(self.seconds)])
            self.taken += 1
        return times

    def synchronise(self) -> None:
        pass

    def bystanders(self) -> float:
        self.asked += 1
        return self.others[min(self.asked - 1, len(self.others) - 1)]


def test_every_op_is_covered() -> None:
    assert set(BYTES) == set(BY_NAME) == set(RIVALS)


@pytest.mark.parametrize("name", BYTES)
def test_minimal_bytes(name: str) -> None:
    op = BY_NAME[name]
    extents = (2, 3, 4, 5) if name.startswith("alibi") else (8, 16)
    assert op.minimal_bytes(op.describe(extents, K.BF16)) == BYTES[name]


@pytest.mark.parametrize("case", list(cases(SHAPES["quick"], (K.BF16,))), ids=str)
def test_tensors_lie_as_the_case_says(case: Case) -> None:
    tensors = case.tensors("cpu", 0)
    assert list(tensors) == [s.name for s in case.op.present(case.descriptor)]
    for name, tensor in tensors.items():
        if name in case.transposed:
            assert not tensor.is_contiguous()
            assert tensor.transpose(-1, -2).is_contiguous()
        else:
            assert tensor.is_contiguous()
    for name in case.op.outputs(case.descriptor):
        assert (tensors[name].isnan() if tensors[name].is_floating_point() else tensors[name] == 77).all()
    again = case.tensors("cpu", 0)
    assert all(torch.equal(tensors[name], again[name]) for name in case.op.inputs(case.descriptor))


def test_contenders_and_sets_take_turns() -> None:
    seen: list[str] = []
    calls = {name: [lambda name=name, i=i: seen.append(f"{name}{i}") for i in range(3)] for name in "ab"}
    compare(FakeClock([1.0]), calls)
    turns = seen[-12:]
    assert [t[0] for t in turns] == list("abbaabbaabba")
    assert all(a[1] != b[1] for a, b in pairwise(turns))


def test_short_calls_are_timed_in_batches() -> None:
    seen: list[str] = []
    compare(FakeClock([1e-5]), {"a": [lambda: seen.append("a")]})
    assert len(seen) == 1 + 6 * 20  # one to warm up, then 6 rounds of 200 us


def test_disturbed_attempts_are_repeated_and_the_least_disturbed_counts() -> None:
    # Others' processor time before and after each of three attempts, all disturbed, the second the least.
    clock = FakeClock([1.0] * 7 + [2.0] * 6 + [3.0] * 6, [0, 9e9, 9e9, 9e9 + 1e6, 0, 9e9])
    found: Comparison = compare(clock, {"a": [lambda: None]})
    assert clock.asked == 6
    assert found.samples["a"].median == 2.0


def test_sample() -> None:
    sample = Sample((5.0, 1.0, 2.0, 3.0, 4.0, 6.0))
    assert (sample.median, sample.spread) == (3.5, (2.0, 5.0))
    assert Sample((2.0, 30.0, 4.0)).ratio_to(Sample((1.0, 10.0, 4.0))) == 2.0


def test_input_sets() -> None:
    clock = FakeClock([1.0])
    assert [input_sets(clock, n) for n in (1000, 400, 399, 150, 1)] == [1, 1, 2, 3, 16]


@pytest.mark.parametrize("wrong", [1.01, math.nan])
def test_check_refuses_wrong_values(wrong: float) -> None:
    case = next(iter(cases(SHAPES["quick"], (K.F32,))))
    reference = torch.arange(1.0, 9.0, dtype=torch.float64)
    assert check(case, [reference.float()], [reference], "our", 1e-6) == 0.0
    with pytest.raises(WrongResultError, match="our y: relative error"):
        check(case, [(reference * wrong).float()], [reference], "our", 1e-6)


def test_results_survive_a_file_and_become_tables(tmp_path: Path) -> None:
    row = Row("softmax", "f32", "square", (4, 4), "rows", 128, 1e-8, 0.5, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 2.5, None, None, None)
    where = {"device": "Machine", "threads": None, "driver": "1.2", "date": "2026-01-01", "versions": {"torch": "2"}}
    results = Results(where, 1.28e8, [row], {"lerp f32": "wrong"})
    results.save(tmp_path / "r.json")
    assert Results.load(tmp_path / "r.json") == results
    text = render(results, markdown)
    assert "| softmax | f32 | square 4×4 | rows | 2.0 | 1.0–3.0 | 0.1 | 50 | 5.0 | 2.50 |" in text
    assert "1 of 1 cases were timed while other processes" in text
    assert "FAILED lerp f32: wrong" in text
    assert plain([["a", "b"], ["long", "12"]]) == "a      b\nlong  12"


def test_geometric_mean() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert math.isnan(geometric_mean([]))
