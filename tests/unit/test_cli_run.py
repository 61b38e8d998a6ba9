"""`baracuda run`: a model from the shell."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from baracuda.cli import main, running
from baracuda.runtime.cuda import device_count

onnx = pytest.importorskip("onnx")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """x + w, and where it is positive; x's first extent is open."""
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes = [helper.make_node("Add", ["x", "w"], ["file"]), helper.make_node("Greater", ["file", "zero"], ["positive"])]
    tensors = [onnx.numpy_helper.from_array(x, n) for n, x in (("w", np.float32([1, 2])), ("zero", np.float32(0)))]
    outputs = [helper.make_empty_tensor_value_info(n) for n in ("file", "positive")]
    inputs = [helper.make_tensor_value_info("x", kinds.FLOAT, ["batch", 2])]
    graph = helper.make_graph(nodes, "test", inputs, outputs, tensors)
    path = tmp_path / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString())
    return path


def test_outputs_are_written_and_hashed(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, output = np.float32([[1, -5], [0.25, 2]]), tmp_path / "new" / "out.npz"
    np.savez(tmp_path / "in.npz", x=x)
    assert main(["run", str(path), str(tmp_path / "in.npz"), "--output", str(output), "--repeat", "2"]) == 0
    out = capsys.readouterr().out
    with np.load(output) as file:
        assert sorted(file.files) == ["file", "positive"]  # the first is a parameter's name of numpy.savez
        assert np.array_equal(file["file"], x + np.float32([1, 2]))
        assert file["positive"].tolist() == [[True, False], [True, True]]
    for value in (x, x + np.float32([1, 2])):
        assert hashlib.sha256(value.tobytes()).hexdigest() in out
    assert "2x2" in out
    assert "first call" in out
    assert "2 calls after it, median" in out


def test_random_inputs_are_the_same_everywhere(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records: list[Any] = []
    for options in ([], [], ["--seed", "1"]):
        assert main(["run", str(path), "--shape", "x=3,2", "--json", "--repeat", "0", *options]) == 0
        records.append(json.loads(capsys.readouterr().out))
    first, again, other = records
    assert first["inputs"] == again["inputs"]
    assert first["outputs"] == again["outputs"]
    assert first["inputs"] != other["inputs"]
    assert first["inputs"][0]["shape"] == [3, 2]
    assert first["inputs"][0]["sha256"] == "f6f5a2e2b4bfa8609e5e497a8991de743e8ba22cd820745f4e778d4a256c7eec"
    assert first["drawn"]
    assert first["seconds"]["later"] == []
    assert first["seconds"]["median"] is None
    assert first["arithmetic"] == "reproducible"
    assert first["opsets"] == {"": 20}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["MODEL"], "InvalidProblemError: input 'x' is float32 (batch, 2); expected --shape x=... with all extents, or an .npz"),
        (["MODEL", "--shape", "x=1,a"], "InvalidProblemError: --shape x=1,a; expected a name and extents"),
        (["MODEL", "--shape", "y=1,2"], "InvalidProblemError: --shape y=...; expected one of the inputs x"),
        (["MODEL", "--shape", "x=1,3"], "InvalidProblemError: input 'x': shape (1, 3); expected (batch, 2)"),
        (["MODEL", "--shape", "x=99999999999,2"], "expected at most 4294967296"),
        (["MODEL", "INPUTS", "--shape", "x=1,2"], "InvalidProblemError: --shape is for random inputs"),
        (["MODEL", "none.npz"], "InvalidProblemError: none.npz: "),
        (["MODEL", "MODEL"], "expected a file that numpy.savez wrote"),
        (["MODEL", "NPY"], "holds one array without a name"),
        (["MODEL", "INPUTS"], "InvalidProblemError: input 'y'; expected no more"),
        (["none.onnx"], "InvalidProblemError: model: 'none.onnx'; expected a file that exists"),
        (["INPUTS"], "is no ONNX model"),
        (["MODEL", "--device", "tpu"], "InvalidProblemError: device: 'tpu'; expected 'cpu', 'cuda'"),
        (["MODEL", "--shape", "x=1,2", "--seed", str(1 << 64)], "InvalidProblemError: seed"),
        pytest.param(
            ["MODEL", "--device", "cuda"],
            "UnsupportedError",
            marks=pytest.mark.skipif(device_count() > 0, reason="there is a GPU"),
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    arguments: list[str], message: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"MODEL": path, "INPUTS": tmp_path / "in.npz", "NPY": tmp_path / "in.npy"}
    np.savez(files["INPUTS"], x=np.zeros((1, 2), np.float32), y=np.zeros(1))
    np.save(files["NPY"], np.zeros(1))
    assert main(["run", *(str(files.get(a, a)) for a in arguments)]) == 1
    found = capsys.readouterr()
    assert message in found.err
    assert found.err.count("\n") == 1
    assert not found.out


def test_elements_beyond_numpy_s_are_known_again(tmp_path: Path) -> None:
    helper, kinds = onnx.helper, onnx.TensorProto
    inputs = [helper.make_tensor_value_info("x", kinds.BFLOAT16, [2])]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "test", inputs, [helper.make_empty_tensor_value_info("y")])
    path = tmp_path / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString())
    np.savez(tmp_path / "in.npz", x=np.array([1, -2], ml_dtypes.bfloat16))
    found = running.run(path, tmp_path / "in.npz", repeat=0)
    assert found.arrays["y"].astype(np.float32).tolist() == [-1, 2]
    assert found.outputs[0].element == "bfloat16"


def test_without_the_extra_the_command_says_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == "onnx" or n.startswith("baracuda.onnx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["run", str(path)]) == 1
    assert capsys.readouterr().err == "UnsupportedError: models need the package onnx: pip install 'baracuda[onnx]'\n"
