"""Files that are wrong, on purpose or by chance: each ends in a named error, in bounded time and memory."""

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

import baracuda
import baracuda.onnx
from tests.conformance.onnx_cases import cases, reason
from tests.conformance.test_onnx import model, nested


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


def several(message: Any, draw: random.Random) -> None:
    """Change some fields, and exchange two messages of a list: nodes out of order, values of other names."""
    for _ in range(draw.randint(1, 3)):
        with contextlib.suppress(ValueError):
            changed(message, draw)
    for of in (message.graph.node, message.graph.initializer):
        if len(of) > 1 and draw.random() < 0.3:
            a, b = draw.sample(range(len(of)), 2)
            kept = type(of[a])()
            kept.CopyFrom(of[a])
            of[a].CopyFrom(of[b])
            of[b].CopyFrom(kept)


def test_a_real_model_with_fields_changed_ends_in_a_named_error(full: bool) -> None:
    folder = Path(onnx.backend.test.__file__).parent / "data" / "light"
    names = ("squeezenet", "shufflenet", "inception_v1", "densenet121") if full else ("squeezenet",)
    draw, some = random.Random(3), [onnx.load(folder / f"light_{n}.onnx") for n in names]
    for _ in range(400 if full else 12):
        wrong = onnx.ModelProto()
        wrong.CopyFrom(draw.choice(some))
        several(wrong, draw)
        with contextlib.suppress(baracuda.Error), np.errstate(all="ignore"):
            f = baracuda.onnx.load(wrong.SerializeToString())
            if full:
                f.run([np.ones([min(n, 224) if isinstance(n, int) else 1 for n in v.shape or ()], v.element or np.float32)
                       for v in f.describe().inputs])  # fmt: skip


def deep(depth: int) -> Any:
    """Graphs within graphs, one each."""
    leaf = helper.make_graph([helper.make_node("Neg", ["a"], ["z"])], "leaf", [], [helper.make_empty_tensor_value_info("z")])
    made = leaf
    for _ in range(depth):
        node = helper.make_node("If", ["c"], ["z"], then_branch=made, else_branch=leaf)
        made = helper.make_graph([node], "branch", [], [helper.make_empty_tensor_value_info("z")])
    return [helper.make_node("If", ["c"], ["y"], then_branch=made, else_branch=leaf)]


def within(depth: int) -> bytes:
    """A file of graphs within graphs, deeper than protobuf itself writes one."""

    def field(number: int, data: bytes) -> bytes:
        size, digits = len(data), []
        while size > 127:
            digits.append(size & 127 | 128)
            size >>= 7
        return bytes([number << 3 | 2, *digits, size]) + data

    graph = field(2, b"leaf")
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, graph) + bytes([20 << 3 & 127 | 128, 1, 5])
        graph = field(2, b"branch") + field(1, field(2, b"y") + field(4, b"If") + field(5, attribute))
    return field(8, bytes([16, 20])) + field(7, graph)


def test_graphs_are_nested_within_a_bound() -> None:
    flags = [numpy_helper.from_array(np.asarray(True), "c")]
    f = baracuda.onnx.load(model(deep(25), {"a": [1]}, ["y"], initializer=flags))
    assert f(np.float32([2])).tolist() == [-2]
    for depth in (1, 30, 40, 70, 10_000):
        with pytest.raises(baracuda.InvalidProblemError):
            baracuda.onnx.load(within(depth))


def called(functions: list[Any]) -> Any:
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    graph = helper.make_graph(
        [helper.make_node("f0", ["x"], ["y"], domain="own")],
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_empty_tensor_value_info("y")],
    )
    bodies = [helper.make_function("own", f"f{i}", ["x"], ["y"], nodes, imports) for i, nodes in enumerate(functions)]
    return helper.make_model(graph, opset_imports=imports, functions=bodies)


def test_functions_call_one_another_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def calls(name: str) -> list[Any]:
        return [helper.make_node(name, [a], [b], domain="own") for a, b in (("x", "t"), ("t", "y"))]

    leaf = [helper.make_node("Neg", ["x"], ["y"])]
    assert baracuda.onnx.load(called([calls("f1"), calls("f2"), leaf]))(np.float32([1, -2])).tolist() == [1, -2]
    with pytest.raises(baracuda.InvalidProblemError, match="functions call one another more than 32 deep"):
        baracuda.onnx.load(called([[helper.make_node("f0", ["x"], ["y"], domain="own")]]))
    monkeypatch.setattr("baracuda.onnx.functions._MOST_NODES", 500)
    with pytest.raises(baracuda.InvalidProblemError, match="functions have more than 500 nodes where they are called"):
        baracuda.onnx.load(called([*(calls(f"f{i + 1}") for i in range(20)), leaf]))


F32 = TensorProto.FLOAT
NOT_FOLDED = {
    "Gather": ([helper.make_node("Gather", ["row", "index"], ["t"])], {"row": np.zeros((1, 30_000), np.float32),
                                                                      "index": np.zeros(30_000, np.int64)}),
    "Concat": ([helper.make_node("Concat", ["row"] * 1000, ["s"], axis=0),
                helper.make_node("Concat", ["s"] * 2000, ["t"], axis=0)], {"row": np.zeros(400, np.float32)}),
    "Conv": ([helper.make_node("Conv", ["image", "weight"], ["t"], pads=[1 << 20] * 4)],
             {"image": np.zeros((1, 1, 1, 1), np.float32), "weight": np.zeros((1, 1, 1, 1), np.float32)}),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_FOLDED)
def test_little_is_not_made_much_of_at_load(name: str) -> None:
    """What a file of a few bytes asks for is made where it is called for, if ever."""
    nodes, constants = NOT_FOLDED[name]
    made = model(
        [*nodes, helper.make_node("Shape", ["t"], ["y"])], {"a": [1]}, ["y"],
        initializer=[numpy_helper.from_array(v, n) for n, v in constants.items()],
    )  # fmt: skip
    f = baracuda.onnx.load(made)
    assert "t" not in f._program.constants


@pytest.mark.parametrize(
    ("node", "constant"),
    [
        (helper.make_node("ConstantOfShape", ["n"], ["y"]), np.array([1 << 50])),
        (helper.make_node("Tile", ["a", "n"], ["y"]), np.array([1 << 50])),
        (helper.make_node("Range", ["zero", "n", "one"], ["y"]), np.array(1 << 50)),
        (helper.make_node("Pad", ["a", "n"], ["y"]), np.array([1 << 50, 0])),
        (helper.make_node("HannWindow", ["n"], ["y"]), np.array(1 << 50)),
        (helper.make_node("RandomNormal", [], ["y"], shape=[1 << 50]), np.array(0)),
    ],
)
def test_what_no_memory_holds_is_a_named_error(node: Any, constant: np.ndarray) -> None:
    constants = {"n": constant, "zero": np.array(0), "one": np.array(1)}
    tensors = [numpy_helper.from_array(v, n) for n, v in constants.items()]
    f = baracuda.onnx.load(model([node], {"a": [1]}, ["y"], initializer=tensors))
    with pytest.raises(baracuda.OutOfMemoryError, match="bytes are not to be had"):
        f(np.float32([1]))


def test_values_are_made_before_they_are_read_and_once() -> None:
    cycle = [helper.make_node("Add", ["a", "z"], ["y"]), helper.make_node("Neg", ["y"], ["z"])]
    with pytest.raises(baracuda.InvalidProblemError, match="reads 'z', which nothing before it makes"):
        baracuda.onnx.load(model(cycle, {"a": [1]}, ["y"]))
    with pytest.raises(baracuda.InvalidProblemError, match="makes 'y', which there is already"):
        baracuda.onnx.load(model([helper.make_node("Neg", ["a"], ["y"])] * 2, {"a": [1]}, ["y"]))


@pytest.mark.parametrize(
    ("indices", "shape"),
    [([0, 5], [4]), ([-1, 0], [4]), ([0], [4]), ([0, 1], [1 << 40]), ([0, 1], [-4]), ([[0, 9], [1, 1]], [3, 3])],
)
def test_sparse_tensors_are_held_to_their_shape(indices: Any, shape: list[int]) -> None:
    values = numpy_helper.from_array(np.float32([1, 2]), "w")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices), "i"), shape)
    made = model([helper.make_node("Add", ["a", "w"], ["y"])], {"a": [1]}, ["y"], sparse_initializer=[sparse])
    with pytest.raises(baracuda.InvalidProblemError, match="sparse tensor 'w'"):
        baracuda.onnx.load(made)
