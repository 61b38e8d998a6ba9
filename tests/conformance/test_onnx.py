"""`baracuda.onnx`: the node tests of the package `onnx`, how a model is called, and what is wrong with a malformed one."""

from __future__ import annotations

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


def test_the_backend_runs_a_node() -> None:
    (y,) = backend.run_node(helper.make_node("Neg", ["x"], ["y"]), [np.float32([1, -2])])
    assert y.tolist() == [-1, 2]
    assert backend.supports_device("CPU")
    assert not backend.supports_device("TPU")
    assert isinstance(onnx.backend.base.Backend, type)


def test_the_table_in_the_documentation_is_that_of_the_code() -> None:
    assert make_onnx_coverage.page() == make_onnx_coverage.PAGE.read_text()
