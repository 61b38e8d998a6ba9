"""The command line as a whole: help, errors, interruptions, exit statuses; and memory on a device."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from baracuda.cli import demo, main
from baracuda.cli.app import COMMANDS
from baracuda.cli.console import write_json
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
