"""The command line as a whole: help, errors, interruptions, exit statuses; and memory on a device."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baracuda.cli import demo, main
from baracuda.cli.app import COMMANDS
from baracuda.cli.files import write_json
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorMut
from baracuda.core.version import ARITHMETIC_VERSION
from baracuda.core.workspace import Workspace
from baracuda.runtime import device_memory
from baracuda.runtime.cuda import device_count

without_gpu = pytest.mark.skipif(device_count() > 0, reason="there is a GPU")
with_gpu = pytest.mark.skipif(device_count() == 0, reason="there is no GPU")


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
    def interrupted(*arguments: object, **options: object) -> None:
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


#: What is done to write a file, in order: the modules' functions.
STEPS = [(tempfile, "mkstemp"), (os, "fsync"), (os, "chmod"), (os, "replace")]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("module", "step"), STEPS, ids=lambda v: v if isinstance(v, str) else "")
def test_an_interruption_leaves_the_old_file_or_the_new_one(
    module: Any, step: str, after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, done = tmp_path / "record.json", getattr(module, step)
    write_json(path, {"old": 1})

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        if after:
            done(*arguments, **keywords)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_json(path, {"new": 2})
    assert json.loads(path.read_text()) == ({"new": 2} if after and step == "replace" else {"old": 1})
    if step != "mkstemp":
        assert [p.name for p in tmp_path.iterdir()] == ["record.json"]


def test_a_process_that_is_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    code = (
        "import itertools, signal, sys\nfrom pathlib import Path\nfrom baracuda.cli.files import write_json\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a process in the background is started without
        "for i in itertools.count():\n    write_json(Path(sys.argv[1]), {'rows': [i] * 20000})"
    )
    for signal_, delay in ((signal.SIGKILL, 0.05), (signal.SIGTERM, 0.11), (signal.SIGINT, 0.17), (signal.SIGKILL, 0.23)):
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stderr=subprocess.DEVNULL) as writer:
            while not path.exists():
                time.sleep(0.005)
            time.sleep(delay)
            writer.send_signal(signal_)
            writer.wait(60)
        rows = json.loads(path.read_text())["rows"]
        assert len(rows) == 20000
        assert len(set(rows)) == 1


def test_links_are_followed_and_devices_written_to(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("target.json")
    write_json(tmp_path / "link.json", {"a": 1})
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "target.json").read_text()) == {"a": 1}
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE) as reader:
        write_json(tmp_path / "pipe", {"b": 2})
        out, _ = reader.communicate()
    assert json.loads(out) == {"b": 2}
    assert not (tmp_path / "pipe").is_file()


PRINTING = [["list"], ["list", "--json"], ["--version"], ["--help"], ["doctor", "--help"]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_full_disk_is_a_line_and_status_1(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "baracuda", *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "OSError: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_pipe_that_nobody_reads_is_quiet_and_status_1(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "baracuda", *arguments], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_what_cannot_be_read_or_written_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("no folder")
    results = Path(__file__).parents[2] / "benchmarks" / "results" / "launch-h200.json"
    assert main(["report", str(results), "--out", str(tmp_path / "file" / "page.html")]) == 1
    err = capsys.readouterr().err
    assert "ExistsError: " in err or "NotADirectoryError: " in err
    assert err.count("\n") == 1


@without_gpu
def test_a_missing_gpu_is_said() -> None:
    with pytest.raises(UnsupportedError, match="no GPU: there is "):
        demo.devices("cuda")
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
