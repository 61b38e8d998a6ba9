"""`baracuda verify`: that promises that are kept pass, that every sort of broken one is found, and what is said then."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baracuda.cli import main
from baracuda.cli.verify import bits, canonical_reference, functions, products, reference, run, value, values, written
from baracuda.cli.verify.case import Array
from baracuda.cli.verify.certificate import PROMISES
from baracuda.cli.verify.checks import Checker
from baracuda.cli.verify.machine import Host
from baracuda.cli.verify.run import Selection, items, verify, verify_item
from baracuda.cli.verify.session import OutsideWriteError, Session
from baracuda.cli.verify.trials import OpCase, Trial, row_of, trial_of
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from baracuda.core.op_table import table
from baracuda.core.sku import PlanPreference
from baracuda.frontends.families import modules
from tests.cases.trial import sample

pytestmark = pytest.mark.cpu_only

SOME = ("gelu", "layer_norm", "cumsum", "mse_loss", "softcap", "cast", "logsumexp")


def first(op: str, element: str = "f32") -> Trial:
    return next(t for t in reference.of_ops() if t.name == op and t.element.label == element and not t.special)


def problem(op: str, element: str = "f32", number: int = 0) -> OpCase:
    return list(first(op, element).cases())[number]


def broken(case: Any, *, expected: str | None = None, thorough: bool = True) -> dict[str, str]:
    """The promises that fail, with the first message of each."""
    found: dict[str, str] = {}
    for check in Checker(Host(), case, expected).all(thorough=thorough):
        if check.broken:
            found.setdefault(check.promise, str(check))
    return found


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_promises_that_are_kept() -> None:
    seen: list[tuple[int, int]] = []
    selection = Selection(ops=(*SOME, "softmax", "rms_norm", "quantize_per_token", "matmul"), quick=True)
    certificate = verify("cpu", selection, on_progress=lambda done, total, so_far: seen.append((done, total)))
    assert certificate.kept, "\n".join(map(str, certificate.broken))
    assert certificate.complete
    assert seen[-1] == (len(items(selection)),) * 2
    tried = {p for tallies in certificate.families.values() for p in tallies}
    assert tried == set(PROMISES) - {"stream", "graph", "tuning"}
    record = json.loads(json.dumps(certificate.record()))
    assert record["differing_elements"] == record["broken_promises"] == 0
    assert record["environment"]["kind"] == "cpu"
    assert record["elements"] > 100_000
    assert sum(t["cases"] for f in record["families"].values() for t in f.values()) == record["checks"]


def test_several_processes_find_the_same() -> None:
    selection = Selection(ops=("gelu", "softcap"), quick=True)
    alone, together = verify("cpu", selection).record(), verify("cpu", selection, jobs=2).record()
    for key in ("families", "cases", "checks", "elements", "plans", "complete"):
        assert alone[key] == together[key]


def test_every_op_and_plan_is_selected() -> None:
    everything = items(Selection())
    assert len(everything) == len(reference.of_ops()) + len(reference.of_functions()) + len(written.hashed())
    thorough = [i for i in everything if i.thorough and i.kind == "op"]
    trials = list(reference.of_ops())
    assert len(thorough) == len({(t.name, t.element) for t in trials})
    quick = items(Selection(quick=True))
    assert {trials[i.number].name for i in quick if i.kind == "op"} == {t.name for t in trials}
    assert {written.hashed()[i.number].group for i in quick if i.kind == "plan"} == {c.group for c in written.hashed()}
    calls = list(reference.of_functions())
    assert [calls[i.number].name for i in quick if i.kind == "function"] == sorted({c.name for c in calls})
    assert {c.family for c in calls if c.op in table()} <= {row.family for row in table().values()}
    assert all(c.family == modules()[c.op].partition(".")[0] for c in calls if c.op not in table())
    softmaxes = items(Selection(families=("softmax",), ops=("log_softmax",)))
    names = {"op": [t.name for t in trials], "plan": [c.op for c in written.hashed()]}
    assert {(i.kind, names[i.kind][i.number]) for i in softmaxes} == {("op", "log_softmax"), ("plan", "log_softmax")}
    with pytest.raises(InvalidProblemError, match="nothing to verify"):
        items(Selection(ops=("no such op",)))


def test_another_hash_of_a_function_is_found() -> None:
    case, expected = next((c, h) for c, h in reference.of_functions().items() if c.name == "sort" and c.element is K.F32)
    kept = functions.checks(Host(), case, expected)
    assert [(c.promise, c.broken) for c in kept] == [(p, False) for p in ("runs", "hash", "repeat", "threads", "threads")]
    (wrong,) = (c for c in functions.checks(Host(), case, "0" * 16) if c.broken)
    assert str(wrong).startswith(f"hash broken: sort: {case}: hashes {expected}; expected 0000")
    (refused,) = functions.checks(Host(), replace(case, arguments=()), expected)
    assert (refused.promise, refused.broken) == ("runs", True)


# --- what is broken ---------------------------------------------------------------------------------------------------


def test_a_planted_fault_in_the_order_is_found(tmp_path: Path) -> None:
    """Lanes of a sum combined in halves instead of adjacent pairs: the values are as good, the bits are others."""
    program = (
        "import sys\nfrom baracuda.codegen.llvm import tree\ntree.order_free = lambda n: True\n"
        "from baracuda.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    out = tmp_path / "certificate.json"
    command = ["verify", "--device", "cpu", "--op", "sum", "--op", "layer_norm", "--quick", "--jobs", "1", "--out", str(out)]
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("hash broken: sum: sum ")]
    assert "against the canonical arithmetic in NumPy" in line
    assert " is 0x" in line
    assert "; expected 0x" in line
    record = json.loads(out.read_text())
    assert record["kept"] is False
    assert record["families"]["reduction"]["value"]["broken"] == 0
    (broken_sum,) = [b for b in record["broken"] if b["plan"] == "sum"]
    at = broken_sum["difference"]
    assert at["found_bits"] != at["expected_bits"]
    assert at["differing"] >= 1
    assert record["differing_elements"] >= 1


def test_a_wrong_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("softcap")
    assert "value" not in broken(case, thorough=False)
    outputs = Session(Host(), case).run()
    for error, differs in ((2.0**-23, False), (2.0**-16, True)):
        wrong = {"y": outputs["y"].copy()}
        wrong["y"][1, 5] *= np.float32(1 + error)
        difference = value.compare(case, case.inputs(), wrong)
        assert (difference is not None) is differs
        if difference is not None:
            assert (difference.tensor, difference.index, difference.differing) == ("y", (1, 5), 1)


class Faulty(Session):
    """A session whose outputs go wrong in some runs."""

    fault: Callable[[Faulty, Mapping[str, Any], dict[str, Array]], None]

    def run(self, **how: Any) -> dict[str, Array]:
        outputs = super().run(**how)
        type(self).fault(self, how, outputs)
        return outputs


FAULTS: dict[str, Callable[[Faulty, Mapping[str, Any], dict[str, Array]], Any]] = {
    "repeat": lambda s, how, found: how.get("poison") == 0xA5 and s.case.layout == "contiguous",
    "threads": lambda s, how, found: "around" in how,
    "layout": lambda s, how, found: s.case.layout != "contiguous",
    "batch": lambda s, how, found: found["y"].shape[0] > 3,
}


@pytest.mark.parametrize("promise", FAULTS)
def test_each_promise_is_tried(promise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An element that is one unit off in the runs that a promise is about breaks that promise and no other."""

    def fault(session: Faulty, how: Mapping[str, Any], outputs: dict[str, Array]) -> None:
        if not FAULTS[promise](session, how, outputs):
            return
        for row in outputs["y"] if promise == "batch" else [outputs["y"]]:
            row.reshape(-1)[3] = np.nextafter(row.reshape(-1)[3], np.float32(9))

    monkeypatch.setattr(Faulty, "fault", staticmethod(fault), raising=False)
    monkeypatch.setattr("baracuda.cli.verify.checks.Session", Faulty)
    case = problem("softcap")
    assert case.descriptor.shapes == ((3, 67),)
    failures = broken(case, expected=bits.digests(Session(Host(), case).run()))
    assert list(failures) == [promise]
    assert "y[0, 3] is 0x" in failures[promise]


def test_another_tuning_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the chosen implementation offers as tunings is run and compared; here, kernels of another formula."""
    case = problem("softcap")
    other = replace(case, op_descriptor=replace(case.op_descriptor, scalars=(("cap", 29.0),)))
    plan = Session(Host(), other).plan

    def tunings(self: Any, layout: Any) -> Iterator[tuple[str, Any]]:
        yield "tuning 1", plan._implementation.executable(layout)

    monkeypatch.setattr(type(plan), "tunings", tunings)
    failures = broken(case)
    assert list(failures) == ["tuning"]
    assert "(tuning 1)" in failures["tuning"]


def test_a_hash_that_nothing_explains_is_said_so() -> None:
    failures = broken(problem("softcap"), expected="0" * 16, thorough=False)
    assert "expected 0000000000000000; nothing here computes" in failures["hash"]


def test_bytes_outside_the_outputs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("softcap")
    session = Session(Host(), case)
    block = session.placed.held["y"].block  # type: ignore[attr-defined]
    session.run()
    block[3] ^= 1
    with pytest.raises(OutsideWriteError, match="1 bytes outside the outputs were written, first at 3"):
        session.placed.outputs()


def test_an_error_is_a_broken_promise_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = list(reference.of_ops())
    number = trials.index(first("softcap"))

    def failing(cls: Any, device: Any, descriptor: Any, preference: PlanPreference, layouts: Any) -> Any:
        raise MemoryError("no memory")

    monkeypatch.setattr(problem("softcap").plan, "select_layouts", classmethod(failing))
    checks = [c for checks_of_problem in verify_item(Host(), run.Item("op", number, False)) for c in checks_of_problem]
    assert [(c.promise, c.error) for c in checks if c.plan == "softcap"] == [("runs", "MemoryError: no memory")]
    assert any(c.plan == "softcap_backward" and not c.broken for c in checks)


def test_an_interruption_leaves_a_certificate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[int] = []

    def interrupted(machine: Any, item: Any) -> Any:
        if done:
            raise KeyboardInterrupt
        done.append(1)
        return verify_item(machine, item)

    monkeypatch.setattr(run, "verify_item", interrupted)
    out = tmp_path / "certificate.json"
    assert main(["verify", "--device", "cpu", "--op", "softcap", "--jobs", "1", "--json", "--out", str(out)]) == 130
    record = json.loads(out.read_text())
    assert (record["complete"], record["kept"]) == (False, True)
    assert record["cases"] >= 1


# --- what it stands on ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [*SOME, "prod", "fmod", "popcount", "logcumsumexp", "remainder", "argmax", "clz", "gcd", "nll_loss"]
)
def test_the_canonical_arithmetic_agrees_with_the_kernels(name: str, full: bool) -> None:
    """The arbiter, which shares no code with a lowering, has the same bits in every element."""
    for trial in [t for t in reference.of_ops() if t.name == name and (full or str(t) in sample())]:
        for case in trial.cases():
            session = Session(Host(), case)
            outputs = session.run()
            assert bits.difference(outputs, canonical_reference.canonical_outputs(case, session.placed.inputs)) is None, str(case)


@pytest.mark.parametrize("length", [7, 300, 4500])
@pytest.mark.parametrize("words", [{}, {"reverse": True}, {"exclusive": True}])
def test_scans_of_the_canonical_arithmetic(length: int, words: dict[str, bool]) -> None:
    trial = Trial("cumsum", K.F32, ((2, length),), tuple({"axis": -1, **words}.items()), ("any",), gradient=False)
    (case,) = trial.cases()
    assert bits.difference(Session(Host(), case).run(), canonical_reference.canonical_outputs(case, case.inputs())) is None


def test_larger_batches_contain_the_rows() -> None:
    case = problem("layer_norm", number=1)
    outputs = Session(Host(), case).run()
    batches = list(case.batches())
    assert len(batches) == 2
    for batch in batches:
        batch_outputs = Session(Host(), batch.case, values=batch.values).run()
        rows = {n: batch.within(n, a) for n, a in batch_outputs.items()}
        assert rows["dx"] is not None
        assert rows["dweight"] is None  # it is a sum over the rows
        assert bits.difference({"dx": outputs["dx"]}, {"dx": rows["dx"]}) is None
        assert not np.array_equal(rows["dx"], batch_outputs["dx"][:3])
    assert not list(problem("logsumexp").batches())  # over all axes


def test_rows_of_the_reference_file() -> None:
    for trial in list(reference.of_ops())[::97]:
        assert trial_of(trial.name, trial.domains, trial.gradient, json.loads(json.dumps(row_of(trial)))) == trial


def test_values_are_what_they_always_were() -> None:
    """By domain, recomputed from Philox's words without NumPy's arithmetic on arrays."""
    words = [int(w) for w in np.random.Philox(key=values.zlib.crc32(b"seed")).random_raw(3)]
    assert values.values("probability", "seed", (3,)).tolist() == [0.02 + 0.96 * ((w >> 11) * 2.0**-53) for w in words]
    assert values.values("index:5", "seed", (3,)).tolist() == [w % 5 for w in words]
    assert values.values("bits", "seed", (3,)).tolist() == [w >> 32 for w in words]
    with pytest.raises(InvalidProblemError, match="domain 'nothing'; expected index:N or one of any, "):
        values.values("nothing", "seed", (3,))


@pytest.mark.parametrize("domain", [*values.DOMAINS, "index:7"])
def test_domains_keep_what_they_say(domain: str) -> None:
    x = values.values(domain, "s", (40, 4))
    assert x.shape == (40, 4)
    limits = {"positive": (0, 99), "above one": (1, 99), "unit": (-0.95, 0.95), "probability": (0.02, 0.98), "index:7": (0, 6)}
    low, high = limits.get(domain, (-(2**33), 2**33))
    assert (x >= low).all()
    assert (x <= high).all()
    if domain == "box":
        assert (x[:, :2] < x[:, 2:]).all()
    if domain in ("nonzero", "sign"):
        assert (x < 0).any()
        assert (x > 0).any()
        assert (x != 0).all()


def test_differences_are_counted_and_the_first_is_shown() -> None:
    a = {"y": np.float32([[1, 2], [3, np.nan]]), "z": np.complex64([1 + 2j, 3])}
    b = {n: x.copy() for n, x in a.items()}
    b["y"].view(np.uint32)[1, 1] = 0xFFC00001
    assert bits.difference(a, b) is None
    b["y"][1, 0] = np.nextafter(np.float32(3), np.float32(9))
    b["z"][1] = complex(3, -0.0)
    shown = bits.difference(a, b)
    assert shown is not None
    assert (shown.tensor, shown.index, shown.differing, shown.elements) == ("y", (1, 0), 2, 6)
    assert str(shown) == "y[1, 0] is 0x40400000 (3.0); expected 0x40400001 (3.0000002); 2 of 6 elements differ"


@pytest.mark.parametrize(("number", "case"), list(enumerate(products.hashed())), ids=str)
def test_products_are_what_their_arithmetic_says(number: int, case: products.ProductCase, full: bool) -> None:
    if number % 3 and not full:
        pytest.skip("one of three without --full")
    session = Session(Host(), case)
    outputs = session.run()
    assert bits.difference(outputs, case.canonical_outputs(session.placed.inputs)) is None
    assert value.compare(case, session.placed.inputs, outputs) is None
    wrong = {"y": outputs["y"].copy()}
    wrong["y"].reshape(-1)[-1] += 1 + abs(wrong["y"].reshape(-1)[-1]) // 8
    assert value.compare(case, session.placed.inputs, wrong) is not None
