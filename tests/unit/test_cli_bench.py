"""`baracuda bench`: bytes and operations by hand, checks that catch what is wrong, rivals, spreads, files, changes."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from baracuda.cli import main
from baracuda.cli.bench import run as running
from baracuda.cli.bench.benchmark import Benchmark, Prepared, relative_error
from baracuda.cli.bench.changes import changes, only_in_one
from baracuda.cli.bench.checks import WrongResultError, check
from baracuda.cli.bench.clocks import HostClock
from baracuda.cli.bench.measure import Measurement, allowance, measure, spread
from baracuda.cli.bench.place import Place
from baracuda.cli.bench.results import FRESH, OURS, Ceilings, Ratio, Results, Row, geometric_mean
from baracuda.cli.bench.rivals.torch import Torch
from baracuda.cli.bench.run import Bench, Selection
from baracuda.cli.bench.suites import SUITES, problems
from baracuda.cli.bench.suites.families import Declared
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.bench.suites.seeds import OPS, Seed
from baracuda.cli.timing import Call
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.unit.bench import Once, declared

QUICK = Request(quick=True)
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


pytestmark = pytest.mark.usefixtures("one_torch_thread")


@pytest.fixture
def place() -> Place:
    return Place("cpu", Once())


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs without waiting: every clock is `Once`, every ceiling made up."""
    monkeypatch.setattr(running, "Place", lambda name: Place(name, Once()))
    monkeypatch.setattr(running.ceilings, "copy_bandwidth", lambda clock, device: 1e9)

    def no_product(clock: Any, device: Any, element: K, *, fastest: bool) -> Any:
        raise UnsupportedError("made up")

    monkeypatch.setattr(running.ceilings, "product_rate", no_product)


# --- bytes and operations ---------------------------------------------------------------------------------------------


def test_every_plan_written_out_by_hand_is_covered() -> None:
    assert set(BYTES) == set(OPS)


@pytest.mark.parametrize("name", BYTES)
def test_least_bytes(name: str) -> None:
    extents = (2, 3, 4, 5) if name.startswith("alibi") else (8, 16)
    assert Seed(name, K.BF16, "square", extents).nbytes == BYTES[name]


def test_operations() -> None:
    assert Seed("lerp", K.F32, "square", (8, 16)).operations == 3 * N  # a + w * (b - a)
    assert Seed("lerp_backward", K.F32, "square", (8, 16)).operations == 2 * N + 1  # dy * w, dy * (1 - w), and 1 - w once
    assert Seed("softmax_backward", K.F32, "square", (8, 16)).operations == 4 * N  # y * (dy - sum(y * dy))
    product = next(p for p in problems("gemm", QUICK) if str(p).startswith("matmul f32 batched"))
    assert (product.operations, product.nbytes) == (2.0 * 4 * 64**3, 3 * 4 * 64 * 64 * 4)


def test_a_rare_slow_side_is_not_counted() -> None:
    from baracuda.cli.bench.operations import operations
    from baracuda.core.axes import Axes
    from baracuda.formula.expr import compare, input_, rare
    from baracuda.formula.graph import Graph, Port

    x = input_("x", K.F32)
    y = rare(compare("gt", x, 1e9), x / 3.0 / 5.0 / 7.0, x * 2.0)
    graph = Graph((Port("x", K.F32),), ((Port("y", K.F32, Axes.FULL), y),))
    assert operations(graph, (10,), (False,)) == 30  # compare, multiply, choose


def test_floor() -> None:
    row = Row("gemm", "matmul", "gemm", "bf16", "square", (4, 4), {OURS: (1.0, 2.0, 3.0)}, nbytes=1000, operations=4e6)
    held = Ceilings(1e9, {"bf16": 2e12, "f32": 1e9})
    assert held.floor(row) == pytest.approx(2e-6)
    assert held.fraction(row) == pytest.approx(1.0)
    assert not held.bound_by_memory(row)
    assert Ceilings(1e6, {"bf16": 2e12}).bound_by_memory(row)
    assert Ceilings().floor(row) == 0.0


# --- problems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transposed", [False, True])
def test_tensors(place: Place, transposed: bool) -> None:
    tensor = place.put(np.arange(5, dtype=np.float32), (3, 4), transposed=transposed)
    lies = tensor.T if transposed else tensor
    assert lies.flags.c_contiguous
    assert lies.ravel().tolist() == [0, 1, 2, 3, 4] * 2 + [0, 1]
    assert tensor.shape == (3, 4)
    place.poison(tensor)
    assert np.isnan(tensor).all()


@pytest.mark.parametrize("suite", SUITES)
def test_suites_have_problems_with_names_of_their_own(suite: str) -> None:
    for kind in ("cpu", "cuda"):
        all_problems = problems(suite, Request(kind))
        assert len({str(p) for p in all_problems}) == len(all_problems) > 0
        assert {p.suite for p in all_problems} == {suite}


def test_shapes_and_elements_of_the_callers(place: Place) -> None:
    assert {p.shape for p in problems("seeds", Request(shape=(64, 96), dtypes=("f32",))) if "alibi" not in p.op} == {(64, 96)}
    (one,) = {p.shape for p in problems("gemm", Request(shape=(8, 16, 32), dtypes=("f32",)))}
    assert one == (8, 16, 32)
    with pytest.raises(InvalidProblemError, match="dtype 'f17'"):
        problems("gemm", Request(dtypes=("f17",)))
    with pytest.raises(InvalidProblemError, match="suite 'speed'; expected some of seeds"):
        problems("speed", QUICK)
    with pytest.raises(UnsupportedError, match="expected rows and row length"):
        problems("families", Request(shape=(1, 2, 3)))


SMALL = [p for suite in ("gemm", "attention", "demo", "launch") for p in problems(suite, Request(dtypes=("f32",), quick=True))]


@pytest.mark.parametrize("problem", SMALL, ids=str)
def test_values_are_checked(problem: Benchmark, place: Place) -> None:
    if problem.variant == "fastest" and problem.suite == "attention":  # no library of the CPU has one
        with pytest.raises(UnsupportedError, match="no library has a plan"):
            problem.prepare(place, 0)
        return
    prepared = problem.prepare(place, 0)
    what = check(problem, place, prepared)
    assert what.startswith("float64") or not prepared.outputs
    assert prepared.backend
    for name in prepared.outputs[:1]:  # a wrong element is found
        launch, tensor = prepared.launch, prepared.tensors[name]

        def spoiled(launch: Call = launch, tensor: Any = tensor) -> None:
            launch()
            tensor[...] += np.float32(0.01) * np.abs(tensor).max()

        with pytest.raises(WrongResultError, match=r"times the allowed error|expected"):
            check(problem, place, Prepared(spoiled, prepared.tensors, prepared.outputs))


@pytest.mark.parametrize("op", ["gelu", "layer_norm", "cumsum", "cross_entropy", "sum"])
@pytest.mark.parametrize("backward", [False, True])
def test_declared_ops_are_checked_by_the_oracle(op: str, backward: bool, place: Place) -> None:
    problem = declared(op, backward=backward)
    prepared = problem.prepare(place, 0)
    used = [prepared.tensors[name] for name, _, _, _ in problem.described()]
    assert problem.nbytes == sum(prod(t.shape) * t.dtype.itemsize for t in used)
    assert check(problem, place, prepared).startswith("float64 oracle")


def test_an_element_that_is_not_written_is_found(place: Place) -> None:
    problem = declared("gelu")
    prepared = problem.prepare(place, 0)
    y = prepared.tensors["y"]

    def forgetful() -> None:
        last = y[-1, -1].copy()
        prepared.launch()
        y[-1, -1] = last

    with pytest.raises(WrongResultError, match="not written"):
        check(problem, place, Prepared(forgetful, prepared.tensors, prepared.outputs))


def test_relative_error() -> None:
    assert relative_error(np.array([3.0, 5.0]), np.array([3.0, 4.0])) == pytest.approx(0.2)
    assert relative_error(np.array([np.inf, 1.0]), np.array([np.inf, 1.0])) == 0.0
    assert relative_error(np.array([np.nan, 1.0]), np.array([0.0, 1.0])) == float("inf")


# --- rows -------------------------------------------------------------------------------------------------------------


def test_the_spread_holds_every_pass() -> None:
    passes = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3.0] * 6, [9.0, 8.0, 7.0, 8.0, 8.0, 8.0]]
    assert spread(passes, [1.0, 1.0, 1.0]) == (2.0, 3.5, 8.0)
    assert spread(passes, [1.0, 1.0, 0.1]) == (0.8, 3.5, 8.0)


def test_what_others_take_widens_the_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert [allowance(d) for d in (0.0, 0.5, 1.0)] == [1.0, 0.75 * 0.75, 0.25]
    assert allowance(9.0) > 0.0


def test_a_row_of_two_passes(place: Place) -> None:
    measurement = Measurement(declared("exp"))
    libraries = [Torch(place)]
    measure(measurement, place, libraries)
    measure(measurement, place, libraries)
    row = measurement.row()
    assert (row.passes, row.checked, row.backend) == (2, "float64 oracle", "formula-cpu")
    assert row.us[OURS] == row.us["torch"] == (1e6, 1e6, 1e6)
    assert row.ratios["torch"] == Ratio((1.0, 1.0, 1.0), FRESH)
    assert not row.dropped
    assert Row.of(json.loads(json.dumps(Results({}, rows=[row]).record()))["rows"][0]) == row


def test_the_hosts_clock_waits_before_a_batch_and_not_after_it() -> None:
    seen: list[str] = []

    class Device(Once):
        def synchronise(self) -> None:
            seen.append("wait")

    HostClock(Device()).measure([[lambda: seen.append("call")] * 2, [lambda: seen.append("call")]])
    assert seen == ["wait", "call", "call", "wait", "call", "wait"]


def test_geometric_mean() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert np.isnan(geometric_mean([]))


# --- runs -------------------------------------------------------------------------------------------------------------

CHOSEN = Selection(("families",), ("f32",), quick=True, only=("atan2 f32", "trunc f32"), rivals=("torch",), passes=2)


@pytest.mark.usefixtures("fast")
def test_a_run_and_its_file(tmp_path: Path) -> None:
    results = Bench("cpu", CHOSEN).run()
    assert results.complete
    assert not results.failed
    assert {row.op for row in results.rows} == {"atan2", "trunc"}
    assert all(row.passes == 2 and row.checked and "torch" in row.ratios for row in results.rows)
    assert results.environment["versions"]["torch"].partition("+")[0] == torch.__version__.partition("+")[0]
    assert results.ceilings.copy_bandwidth == 1e9
    path = tmp_path / "r.json"
    path.write_text(json.dumps(results.record()))
    assert Results.load(path) == results


@pytest.mark.usefixtures("fast")
def test_an_interruption_leaves_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, done = running.measure, []

    def interrupted(*arguments: Any) -> None:
        if done:
            raise KeyboardInterrupt
        real(*arguments)
        done.append(1)

    monkeypatch.setattr(running, "measure", interrupted)
    out = tmp_path / "partial.json"
    assert (
        main(["bench", "families", "--device", "cpu", "--quick", "--only", "atan2 f32", "--only", "trunc f32", "--out", str(out)])
        == 130
    )
    held = Results.load(out)
    assert not held.complete
    assert len(held.rows) == 1


@pytest.mark.usefixtures("fast")
def test_what_goes_wrong_is_told_and_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = Declared.prepare

    def broken(self: Declared, place: Place, seed: int) -> Prepared:
        if self.op == "atan2":
            raise WrongResultError("made up")
        return prepare(self, place, seed)

    monkeypatch.setattr(Declared, "prepare", broken)
    results = Bench("cpu", CHOSEN).run()
    assert {name.split()[0]: why for name, why in results.failed.items()} == {"atan2": "WrongResultError: made up"}
    assert "trunc" in {row.op for row in results.rows}


@pytest.mark.usefixtures("fast")
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.json"
    words = ["bench", "families", "--device", "cpu", "--quick", "--dtype", "f32", "--only", "atan2 f32"]
    assert main([*words, "--rival", "torch", "--out", str(old)]) == 0
    out = capsys.readouterr().out
    assert "torch / ours: geometric mean 1.00 of" in out
    held = json.loads(old.read_text())
    for row in held["rows"]:
        row["us"][OURS] = [0.5 * t for t in row["us"][OURS]]
    old.write_text(json.dumps(held))
    assert main([*words, "--compare", str(old)]) == 0
    out = capsys.readouterr().out
    assert "slower: 1\n" in out
    assert "0.50 times as fast" in out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "baracuda bench"


def test_wrong_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["bench", "speed"]) == 1
    assert "suite 'speed'" in capsys.readouterr().err
    assert main(["bench", "--device", "tpu"]) == 1
    assert main(["bench", "--shape", "12by3"]) == 1
    assert "expected extents like 4096x4096" in capsys.readouterr().err
    assert main(["bench", "--only", "no such problem", "--device", "cpu"]) == 1
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1]")
    assert main(["bench", "--compare", str(wrong)]) == 1
    assert "expected a file that `baracuda bench --out` wrote" in capsys.readouterr().err


def test_changes() -> None:
    def results(**times: tuple[float, float, float]) -> Results:
        rows = [Row("seeds", op, "unary", "f32", "square", (4,), {OURS: t}) for op, t in times.items()]
        return Results({}, rows=rows)

    before = results(a=(9.0, 10.0, 11.0), b=(9.0, 10.0, 11.0), c=(9.0, 10.0, 11.0), gone=(1.0, 1.0, 1.0))
    after = results(a=(4.0, 5.0, 6.0), b=(10.5, 12.0, 13.0), c=(11.5, 20.0, 21.0), new=(1.0, 1.0, 1.0))
    by_op = {c.after.op: (c.factor, c.beyond) for c in changes(before, after)}
    assert by_op == {"a": (2.0, True), "b": (10 / 12, False), "c": (0.5, True)}
    assert only_in_one(before, after) == (["gone f32 square 4"], ["new f32 square 4"])
