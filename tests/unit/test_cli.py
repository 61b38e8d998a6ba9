"""The command line: the demo's reference bits, its verdicts, its words where something is missing."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baracuda.cli import demo, devices, main, problems
from baracuda.cli.app import COMMANDS
from baracuda.cli.console import write_json
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import BackendError, InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorMut
from baracuda.core.version import ARITHMETIC_VERSION
from baracuda.core.workspace import Workspace
from baracuda.runtime import device_memory
from baracuda.runtime.cuda import device_count

ALL = [str(p) for p in problems.problems()]
without_gpu = pytest.mark.skipif(device_count() > 0, reason="there is a GPU")
with_gpu = pytest.mark.skipif(device_count() == 0, reason="there is no GPU")


def only(name: str) -> Any:
    return lambda problem: problem.name == name


def test_all_results_have_the_reference_bits() -> None:
    """The command itself, as a user runs it."""
    done = subprocess.run([sys.executable, "-m", "baracuda", "demo", "--device", "cpu"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == f"{len(ALL)} of {len(ALL)} results have the reference bits", done.stdout + done.stderr
    assert done.returncode == 0
    assert sum(line.endswith("  equal") for line in lines) == len(ALL)


def test_the_reference_is_complete_and_of_this_version() -> None:
    assert list(demo.reference()) == ALL
    assert {len(digest) for digest in demo.reference().values()} == {64}
    held = json.loads(Path(str(demo.__file__)).with_name("reference.json").read_text())
    assert held["arithmetic_version"] == ARITHMETIC_VERSION


def test_five_families_forward_and_backward_in_two_elements() -> None:
    names = {p.name for p in problems.problems()}
    assert {n.removesuffix("_backward") for n in names if n.endswith("_backward")} == {
        n for n in names if not n.endswith("_backward")
    }
    families = {p.plan.category.name for p in problems.problems()}
    assert families == {"SOFTMAX", "NORMALIZATION", "ATTENTION", "BINARY", "QUANTIZATION"}
    assert all({p.element for p in problems.problems() if p.name == n} == {K.F32, K.BF16} for n in names)


def test_a_wrong_bit_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**demo.reference(), "lerp bf16": "0" * 64}
    monkeypatch.setattr(demo, "reference", lambda: wrong)
    assert demo.run("cpu", only("lerp")) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("lerp ")] == ["equal", "DIFFERENT"]
    assert lines[-1] == "1 of 2 results have the reference bits"


def test_a_hash_of_another_version_is_no_reference(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "ARITHMETIC_VERSION", ARITHMETIC_VERSION + 1)
    assert demo.run("cpu", only("lerp")) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("lerp ")] == ["unknown", "unknown"]


def test_an_error_is_told_and_the_rest_still_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    execute = demo.execute

    def broken(problem: problems.Problem, device: Device) -> demo.Result:
        if problem.element is K.F32:
            raise BackendError("cuLaunchKernel", 700)
        return execute(problem, device)

    monkeypatch.setattr(demo, "execute", broken)
    assert demo.run("cpu", only("lerp")) == 1
    out = capsys.readouterr().out
    assert "lerp f32: BackendError: cuLaunchKernel returned 700" in out
    assert out.splitlines()[-1] == "1 of 2 results have the reference bits"


def test_an_element_that_is_left_alone_changes_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = next(p for p in problems.problems() if p.name == "lerp")
    monkeypatch.setattr(problem.plan, "run", lambda *args: None)
    nothing = demo.execute(problem, Device.cpu()).digest
    assert nothing == hashlib.sha256(bytes([demo.POISON]) * (4 * prod(problems.MATRIX))).hexdigest()


def test_inputs_are_what_they_always_were() -> None:
    """Philox and the arithmetic after it, recomputed without either's vector code."""
    seed = int.from_bytes(hashlib.sha256(b"lerp/a").digest()[:16], "little")
    words = np.random.Philox(key=seed).random_raw(4)
    expected = [((int(w) >> shift & 0xFFFFFFFF) >> 8) * 2.0**-21 - 4 for w in words for shift in (0, 32)]
    assert problems.values("lerp/a", "a", (2, 4), K.F32).ravel().tolist() == expected
    assert problems.values("lerp/a", "a", (7,), K.F32).tolist() == expected[:7]
    assert (problems.values("x", "scale", (1000,), K.F32) > 0).all()
    assert abs(problems.values("x", "zero_point", (1000,), K.S32)).max() == 8


def test_help_and_unknown_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert main(["dance"]) == 2
    assert "No such command 'dance'" in capsys.readouterr().err
    assert main(["--version"]) == 0
    assert f"arithmetic version {ARITHMETIC_VERSION}" in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_in_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"Examples:\n    baracuda {name}" in out


def test_an_error_with_a_name_is_a_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--device", "tpu"]) == 1
    assert capsys.readouterr().err == "InvalidProblemError: --device tpu; expected cpu, cuda or cuda:N\n"


def test_an_interruption_is_status_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(where: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    assert main(["demo"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("missing", [["click"], ["click", "rich"]])
def test_without_the_extra_the_command_says_what_to_install(missing: list[str]) -> None:
    code = f"import sys\nfor n in {missing}: sys.modules[n] = None\nfrom baracuda.cli import main\nsys.exit(main(['list']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"the baracuda command needs {' and '.join(missing)}: pip install 'baracuda[cli]'\n"


def test_json_is_written_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "new" / "record.json"
    write_json(path, {"a": [1, 2.5]})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": [1, 2.5]}
    assert [p.name for p in path.parent.iterdir()] == ["record.json"]


@without_gpu
def test_a_missing_gpu_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--device", "cuda"]) == 1
    assert "no GPU: there is " in capsys.readouterr().out
    assert devices.why_no_cuda()
    with pytest.raises(UnsupportedError, match="cuda:0 does not exist"):
        Workspace.allocate(8, Device.cuda(0))


def test_only_cuda_memory_is_downloaded() -> None:
    with pytest.raises(InvalidProblemError, match="expected contiguous CUDA memory"):
        device_memory.download(TensorMut(64, (2,), (1,), K.F32, Device.cpu()))
    with pytest.raises(InvalidProblemError, match=r"strides \(2,\)"):
        device_memory.download(TensorMut(64, (2,), (2,), K.F32, Device.cuda(0)))


@with_gpu
def test_device_memory() -> None:
    device = Device.cuda(0)
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = device_memory.upload(values.T, device)
    assert (tensor.shape, tensor.strides, tensor.kind, tensor.alignment) == ((4, 3), (3, 1), K.F32, 64)
    assert np.array_equal(device_memory.download(tensor), values.T)
    assert device_memory.download(device_memory.upload(np.empty((0, 3), np.int8), device)).shape == (0, 3)
    workspace = Workspace.allocate(1000, device)
    assert (workspace.nbytes, workspace.device, workspace.pointer % 256) == (1000, device, 0)
    assert Workspace.allocate(0, device).nbytes == 0


@with_gpu
def test_the_gpu_has_the_reference_bits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--device", "cuda"]) == 0, capsys.readouterr().out
