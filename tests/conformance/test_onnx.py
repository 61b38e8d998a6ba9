"""`baracuda.onnx`: the node tests of the package `onnx`, how a model is called, and what is wrong with a malformed one."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.runner import Runner

import baracuda
import baracuda.onnx
from baracuda.onnx import backend
from tests.conformance.onnx_cases import FAILING, cases, reason, run
from tools import make_onnx_coverage


def model(nodes: list[Any], inputs: dict[str, Any], outputs: list[str], opset: int = 20, **options: Any) -> Any:
    kinds = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs.items()]
    made = [helper.make_empty_tensor_value_info(n) for n in outputs]
    graph = helper.make_graph(nodes, "test", kinds, made, **options)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def test_node_tests(full: bool) -> None:
    """All of them with --full, else one of ten."""
    failures = []
    for i, case in enumerate(c for c in cases() if not reason(c) and c.name not in FAILING):
        if full or i % 10 == 3:
            try:
                run(case)
            except Exception as e:
                failures.append(f"{case.name}: {type(e).__name__}: {e}")
    assert not failures, "\n".join(failures)


def test_node_tests_with_our_own_arrays(full: bool) -> None:
    """What is read on the host, and what lies on a device, is told apart: arrays of our own stand for a GPU's here."""
    failures = []
    for i, case in enumerate(c for c in cases() if not reason(c) and c.name not in FAILING):
        if full or i % 25 == 7:
            try:
                run(case, baracuda.Device.cpu())
            except Exception as e:
                failures.append(f"{case.name}: {type(e).__name__}: {e}")
    assert not failures, "\n".join(failures)


LIGHT = sorted((Path(onnx.backend.test.__file__).parent / "data" / "light").glob("*.onnx"))


@pytest.mark.parametrize("path", LIGHT, ids=lambda p: p.stem)
def test_light_models_give_what_they_recorded(path: Path, full: bool) -> None:
    if not full and "squeezenet" not in path.stem:
        pytest.skip("runs with --full")
    f = baracuda.onnx.load(path)
    graph = onnx.load(path).graph
    kinds = {i.name: i for i in graph.input}
    y = f(*(Runner.generate_dummy_data(kinds[n]) for n in f.inputs))
    expected = numpy_helper.to_array(onnx.TensorProto.FromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes()))
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-7)


def test_what_is_said_to_fail_does() -> None:
    names = {c.name: c for c in cases()}
    assert set(FAILING) <= set(names)
    for name in FAILING:
        with pytest.raises((AssertionError, baracuda.Error)):
            run(names[name])


def test_a_model_is_called_by_position_and_by_name() -> None:
    f = baracuda.onnx.load(model([helper.make_node("Sub", ["a", "b"], ["y"])], {"a": [2], "b": ["n"]}, ["y"]))
    a, b = np.float32([3, 5]), np.float32([1, 1])
    assert f(a, b).tolist() == f(b=b, a=a).tolist() == f(a, b=b).tolist() == [2, 4]
    with pytest.raises(baracuda.InvalidProblemError, match="'b' is missing; expected a, b"):
        f(a)
    with pytest.raises(baracuda.InvalidProblemError, match=r"'a': shape \(3,\); expected \(2,\)"):
        f(np.zeros(3, np.float32), b)
    with pytest.raises(baracuda.InvalidProblemError, match="'a': element float64; expected float32"):
        f(np.zeros(2), b)


def test_an_operator_that_is_not_there_is_named_at_load() -> None:
    with pytest.raises(baracuda.UnsupportedError, match=r"operator StringConcat of domain 'ai.onnx' in version 20"):
        baracuda.onnx.load(model([helper.make_node("StringConcat", ["a", "a"], ["y"])], {"a": [1]}, ["y"]))
    made = model([helper.make_node("Foo", ["a"], ["y"], domain="bar")], {"a": [1]}, ["y"])
    with pytest.raises(baracuda.InvalidProblemError, match="Foo is of domain 'bar', which opset_import lacks"):
        baracuda.onnx.load(made)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (helper.make_node("Elu", ["a"], ["y"], alpha="x"), r"attribute alpha is 'x'; expected a float"),
        (helper.make_node("Elu", ["a"], ["y"], beta=1.0), r"attribute beta; expected one of: alpha"),
        (helper.make_node("Elu", ["a", "a"], ["y"]), r"2 inputs; expected 1 to 1"),
        (helper.make_node("Concat", ["a"], ["y"]), r"attribute axis is missing"),
        (helper.make_node("Elu", ["b"], ["y"]), r"reads 'b', which nothing before it makes"),
        (helper.make_node("Elu", ["a"], ["a"]), r"makes 'a', which there is already"),
        (helper.make_node("Elu", ["a"], ["z"]), r"output 'y' is made by no node"),
        (helper.make_node("BitShift", ["a", "a"], ["y"], direction="UP"), r"direction is 'UP'; expected 'LEFT', 'RIGHT'"),
    ],
)
def test_a_wrong_node_is_quoted(node: Any, message: str) -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=message):
        baracuda.onnx.load(model([node], {"a": [1]}, ["y"]))


def external(folder: Path, location: str, size: int, **info: str) -> Any:
    t = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[size], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **info}.items():
        t.external_data.add(key=key, value=value)
    made = model([helper.make_node("Add", ["a", "w"], ["y"])], {"a": [size]}, ["y"], initializer=[t])
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def test_external_data_is_read_from_the_model_s_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").write_bytes(np.arange(6, dtype=np.float32).tobytes())
    (tmp_path / "outside.bin").write_bytes(bytes(64))
    f = baracuda.onnx.load(external(folder, "w.bin", 4, offset="8", length="16"))
    assert f(np.zeros(4, np.float32)).tolist() == [2, 3, 4, 5]
    for location, size, words in (
        ("../outside.bin", 4, {}),
        (str(tmp_path / "outside.bin"), 4, {}),
        ("w.bin", 7, {}),
        ("w.bin", 4, {"offset": "-4"}),
        ("w.bin", 4, {"offset": "12"}),
        ("w.bin", 4, {"length": "20"}),
        ("w.bin", 4, {"offset": "x"}),
        ("w.bin", 1 << 50, {}),
        ("none.bin", 4, {}),
    ):
        with pytest.raises(baracuda.InvalidProblemError, match="tensor 'w'"):
            baracuda.onnx.load(external(folder, location, size, **words))


def test_a_tensor_whose_shape_its_data_does_not_fill_is_refused() -> None:
    for dims, raw in (([1 << 40], b""), ([3], bytes(8)), ([-1], b""), ([1 << 40, 0, 1 << 40], b"x")):
        t = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=raw)
        with pytest.raises(baracuda.InvalidProblemError, match="tensor 'w'"):
            baracuda.onnx.load(model([helper.make_node("Add", ["a", "w"], ["y"])], {"a": [1]}, ["y"], initializer=[t]))


def nested() -> bytes:
    then = helper.make_graph([helper.make_node("Add", ["a", "w"], ["t"])], "then", [], [helper.make_empty_tensor_value_info("t")])
    other = helper.make_graph([helper.make_node("Neg", ["a"], ["o"])], "else", [], [helper.make_empty_tensor_value_info("o")])
    nodes = [
        helper.make_node("ReduceSum", ["a"], ["s"], keepdims=0),
        helper.make_node("Greater", ["s", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
    ]
    weights = [numpy_helper.from_array(np.float32([1, 2]), "w"), numpy_helper.from_array(np.float32(0), "zero")]
    data: bytes = model(nodes, {"a": [2]}, ["y"], initializer=weights).SerializeToString()
    return data


def test_control_flow_reads_what_is_around_it() -> None:
    f = baracuda.onnx.load(nested())
    assert f(np.float32([1, 1])).tolist() == [2, 3]
    assert f(np.float32([-1, -1])).tolist() == [1, 1]


def test_malformed_files_end_in_a_named_error(full: bool) -> None:
    """Bytes changed, cut off and repeated: a model is loaded and runs, or an error of ours says why not."""
    data, draw = nested(), random.Random(1)
    x = np.float32([1, 2])
    for _ in range(5000 if full else 500):
        wrong = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(wrong))
            match draw.randrange(3):
                case 0:
                    wrong[at] = draw.randrange(256)
                case 1:
                    del wrong[at : at + draw.randint(1, 8)]
                case _:
                    wrong[at:at] = wrong[at : at + draw.randint(1, 8)]
        try:
            f = baracuda.onnx.load(bytes(wrong))
            f.run([x][: len(f.inputs)])
        except baracuda.Error:
            pass


def changed(message: Any, draw: random.Random) -> None:
    """Change one field of a message, somewhere within: left out, given twice, or with another value."""
    found: list[tuple[Any, Any]] = []

    def walk(m: Any) -> None:
        for field, value in m.ListFields():
            found.append((m, field))
            if field.type == field.TYPE_MESSAGE:
                for inner in value if field.is_repeated else (value,):
                    walk(inner)

    walk(message)
    m, field = draw.choice(found)
    if not field.is_repeated:
        if field.type == field.TYPE_MESSAGE or draw.random() < 0.3:
            m.ClearField(field.name)
        else:
            setattr(m, field.name, another(field, getattr(m, field.name), draw))
        return
    values = getattr(m, field.name)
    at = draw.randrange(len(values))
    if draw.random() < 0.5:
        del values[at]
    elif field.type == field.TYPE_MESSAGE:
        values.add().CopyFrom(values[at])
    else:
        values[at] = another(field, values[at], draw)


def another(field: Any, value: Any, draw: random.Random) -> Any:
    if isinstance(value, str):
        return draw.choice(["", "x", "Add", value + "1"])
    if isinstance(value, bytes):
        return draw.choice([b"", value[:-1], value + b"x", bytes([255])])
    if isinstance(value, float):
        return draw.choice([0.0, -1.0, 1e30, float("nan")])
    if field.type in (field.TYPE_INT32, field.TYPE_ENUM):
        return draw.choice([0, 1, 7, 2**31 - 1, -(2**31)])
    return draw.choice([0, -1, 1, 2**62, 2**40, -(2**63)])


def test_models_with_a_field_changed_end_in_a_named_error(full: bool) -> None:
    draw, some = random.Random(2), [c for c in cases() if not reason(c)]
    for _ in range(20_000 if full else 300):
        case = draw.choice(some)
        wrong = onnx.ModelProto()
        wrong.CopyFrom(case.model)
        with contextlib.suppress(ValueError):  # a number that the field cannot hold
            changed(wrong, draw)
        with contextlib.suppress(baracuda.Error), np.errstate(all="ignore"):
            f = baracuda.onnx.load(wrong.SerializeToString())
            f.run(list(case.data_sets[0][0])[: len(f.inputs)])


def test_the_backend_runs_a_node() -> None:
    (y,) = backend.run_node(helper.make_node("Neg", ["x"], ["y"]), [np.float32([1, -2])])
    assert y.tolist() == [-1, 2]
    assert backend.supports_device("CPU")
    assert not backend.supports_device("TPU")
    assert isinstance(onnx.backend.base.Backend, type)


def test_the_table_in_the_documentation_is_that_of_the_code() -> None:
    assert make_onnx_coverage.page() == make_onnx_coverage.PAGE.read_text()
