"""Models as kept calls: the bits of their steps, for any values, and what is cut where a value is read on the host."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import baracuda.onnx
from baracuda.onnx import kept
from baracuda.onnx.coded import Coded, coded
from baracuda.onnx.kept import Part
from benchmarks.onnx_made import light, with_weights
from tests.conformance.onnx_cases import FAILING, cases, reason

RNG = np.random.default_rng(0)


def model(nodes: list[Any], inputs: dict[str, Any], outputs: list[str], weights: dict[str, Any], opset: int = 20) -> Any:
    kinds = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs.items()]
    made = [helper.make_empty_tensor_value_info(n) for n in outputs]
    constants = [numpy_helper.from_array(w, n) for n, w in weights.items()]
    graph = helper.make_graph(nodes, "test", kinds, made, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape, np.float32)


def bits(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return None if value is None else [bits(v) for v in value]
    array = value.codes if isinstance(value, Coded) else np.asarray(value)
    return array.dtype, array.shape, np.ascontiguousarray(array).tobytes()


def assert_kept(loaded: Any, inputs: list[Any], others: list[Any]) -> list[Part]:
    """Calls with some values, then with others, have the bits of the steps; gives the parts, each of which is kept."""
    first, second = (list(map(bits, loaded._program(v))) for v in (others, inputs))
    assert list(map(bits, loaded.run(others))) == first
    assert list(map(bits, loaded.run(inputs))) == second
    assert list(map(bits, loaded.run(others))) == first
    parts = [p for p in loaded._kept.pieces if isinstance(p, Part)]
    assert [(p.call.kept, p.call.why) for p in parts] == [(1, None)] * len(parts)
    return parts


def turned(inputs: list[Any]) -> list[Any]:
    """Other values of the same layouts."""
    return [np.ascontiguousarray(x.reshape(-1)[::-1].reshape(x.shape)) for x in inputs]


def test_node_tests_with_other_values_first(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a call reads of values on the host would show: all of the node tests with --full, else one of thirty."""
    monkeypatch.setattr(kept, "_FEWEST", 1)
    calls, different = 0, []
    for i, case in enumerate(c for c in cases() if not reason(c) and c.name not in FAILING and c.data_sets):
        given = [numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x for x in case.data_sets[0][0]]
        given = [coded(x) if isinstance(x, np.ndarray) else x for x in given]
        if not (full or i % 30 == 4) or not all(isinstance(x, np.ndarray) for x in given):
            continue
        loaded = baracuda.onnx.load(case.model)
        expected = list(map(bits, loaded._program(given)))
        with contextlib.suppress(baracuda.Error):  # other values may be out of an operator's bounds
            loaded._kept(turned(given))
        if any(list(map(bits, loaded._kept(given))) != expected for _ in range(2)):
            different.append(case.name)
        calls += sum(p.call.kept for p in loaded._kept.pieces if isinstance(p, Part))
    assert not different
    assert calls > 25


@pytest.mark.parametrize("name", light())
def test_light_models(name: str, full: bool) -> None:
    if not full and name != "squeezenet":
        pytest.skip("long")
    proto, values = with_weights(light()[name])
    inputs = list(values.values())
    assert len(assert_kept(baracuda.onnx.load(proto), inputs, turned(inputs))) == 1


def test_shapes_are_computed_once_for_each_layout() -> None:
    """x.reshape(n, -1) as exporters write it, scaled by a function of its shape."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"], end=1),
        helper.make_node("Concat", ["shape", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["flat"]),
        helper.make_node("Cast", ["shape"], ["n"], to=TensorProto.FLOAT),
        helper.make_node("Sqrt", ["n"], ["root"]),
        helper.make_node("Div", ["flat", "root"], ["scaled"]),
        helper.make_node("MatMul", ["scaled", "w"], ["y"]),
    ]
    w = normal(15, 40)
    loaded = baracuda.onnx.load(model(nodes, {"x": ["n", 3, 5]}, ["y"], {"rest": np.int64([-1]), "w": w}))
    for n in (2, 20, 7):
        x = normal(n, 3, 5)
        np.testing.assert_allclose(loaded(x), (x.reshape(n, -1) / n**0.5) @ w, 1e-4, 1e-5)
        assert bits(loaded(x)) == bits(loaded._program([x])[0])
    (part,) = (p for p in loaded._kept.pieces if isinstance(p, Part))
    assert (part.call.kept, part.call.why) == (3, None)


def test_packed_weights_are_made_once() -> None:
    """Both ways of packing: what a product reads, and what a convolution does, where weights are infinite beside padding too."""
    weights = {"w": normal(24, 6, 3, 3), "u": normal(200, 64)}
    weights["w"][3, 2, 0, 1] = np.inf
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Flatten", ["a"], ["b"], axis=3),
        helper.make_node("MatMul", ["b", "u"], ["y"]),
    ]
    loaded = baracuda.onnx.load(model(nodes, {"x": [1, 6, 10, 200]}, ["y"], weights))
    x = normal(1, 6, 10, 200)
    (part,) = assert_kept(loaded, [x], turned([x]))
    assert len(part.steps) == 3


def test_what_is_put_together_is_whole() -> None:
    """Large and small parts, by a convolution, by a pool and by nothing, put together before the next convolution."""
    weights = {"w": normal(48, 16, 3, 3), "s": normal(4, 16, 1, 1)}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["x", "s"], ["c"]),
        helper.make_node("Concat", ["c", "b", "p", "x"], ["all"], axis=1),
        helper.make_node("Conv", ["all", "v"], ["y"], pads=[1, 1, 1, 1]),
    ]
    weights["v"] = normal(8, 84, 3, 3)
    loaded = baracuda.onnx.load(model(nodes, {"x": [1, 16, 40, 40]}, ["y"], weights))
    x = normal(1, 16, 40, 40)
    assert_kept(loaded, [x], turned([x]))


def test_batch_norm_with_constant_statistics() -> None:
    """Its reciprocal deviation is made once, in the bits of `baracuda.batch_norm`."""
    weights = {n: normal(5) for n in ("scale", "bias", "mean")} | {"var": np.abs(normal(5))}
    node = helper.make_node("BatchNormalization", ["x", "scale", "bias", "mean", "var"], ["y"], epsilon=1e-3)
    loaded = baracuda.onnx.load(model([node], {"x": [2, 5, 3, 3]}, ["y"], weights))
    x = normal(2, 5, 3, 3)
    expected = baracuda.batch_norm(x, weights["mean"], weights["var"], weights["scale"], weights["bias"], eps=1e-3)
    assert bits(loaded(x)) == bits(expected)
    assert len(loaded._program.constants) == 5


def test_a_model_is_cut_where_values_are_read() -> None:
    """The counts of Tile are values of an input: before and behind it, steps are kept."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Exp", ["a"], ["b"]),
        helper.make_node("Cast", ["c"], ["counts"], to=TensorProto.INT64),
        helper.make_node("Tile", ["b", "counts"], ["d"]),
        helper.make_node("Shape", ["d"], ["s"]),
        helper.make_node("Neg", ["d"], ["e"]),
        helper.make_node("Expand", ["e", "s"], ["y"]),
    ]
    loaded = baracuda.onnx.load(model(nodes, {"x": [2, 3], "c": [2]}, ["y"], {}))
    x = normal(2, 3)
    for counts in ([1, 2], [3, 1], [1, 2]):
        y = loaded(x, np.float32(counts))
        np.testing.assert_allclose(y, -np.tile(np.exp(np.maximum(x, 0)), counts), 1e-6)
    parts = [p for p in loaded._kept.pieces if isinstance(p, Part)]
    assert [len(p.steps) for p in parts] == [3, 3]
    assert [p.call.kept for p in parts] == [1, 2]
