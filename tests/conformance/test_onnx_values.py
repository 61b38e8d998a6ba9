"""What `baracuda.onnx` takes and gives: small elements on every device, shapes known at load, random operators, inputs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import baracuda
import baracuda.onnx
from baracuda.onnx.coded import Coded, encode, values_of

OWN = baracuda.Device.cpu()
FLOATS = ("float4_e2m1fn", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def model(nodes: list[Any], inputs: dict[str, Any], outputs: Any, opset: int = 25, **constants: Any) -> Any:
    """Outputs are names, or names with what is said of them; `constants` are tensors by name."""
    kinds = [helper.make_tensor_value_info(n, *kind) for n, kind in inputs.items()]
    said = outputs if isinstance(outputs, dict) else dict.fromkeys(outputs)
    made = [
        helper.make_empty_tensor_value_info(n) if k is None else helper.make_tensor_value_info(n, *k) for n, k in said.items()
    ]
    graph = helper.make_graph(nodes, "test", kinds, made, [numpy_helper.from_array(v, n) for n, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def patterns() -> np.ndarray:
    """f32 of all exponents and signs, their neighbours, halves between codes, infinities and NaN."""
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    return np.concatenate([high, high + 1, high - 1, high + 0x8000]).view(np.float32)


@pytest.mark.parametrize("name", FLOATS)
def test_codes_of_floats_are_those_of_ml_dtypes(name: str) -> None:
    kind, x = np.dtype(getattr(ml_dtypes, name)), patterns()
    with np.errstate(invalid="ignore"):
        expected = x.astype(kind).view(np.uint8)
    found = encode(x, kind, saturate=False)
    assert np.array_equal(found.codes if isinstance(found, Coded) else found.view(np.uint8), expected)
    codes = np.arange(16 if "4_" in name[:7] else 256, dtype=np.uint8)
    np.testing.assert_array_equal(values_of(Coded(codes, kind)), codes.view(kind).astype(np.float32))


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_codes_of_integers_are_their_lowest_bits(name: str) -> None:
    kind, x = np.dtype(getattr(ml_dtypes, name)), np.arange(-40, 40, dtype=np.int32)
    bits = int(name[-1])
    expected = x % (1 << bits)
    if name[0] == "i":
        expected = np.where(expected >= 1 << (bits - 1), expected - (1 << bits), expected)
    for given in (x, baracuda.to_device(x, OWN), x.astype(np.float32)):
        coded = encode(given, kind)
        assert np.array_equal(baracuda.to_host(values_of(coded)), expected)
        assert np.array_equal(coded.numpy().astype(np.int32), expected)


@pytest.mark.parametrize("element", ["INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1", "FLOAT8E8M0", "FLOAT8E5M2FNUZ"])
def test_small_elements_go_through_a_model_on_every_device(element: str) -> None:
    """Nothing of them is computed on the host: there are codes of ours from the input to the output."""
    number = getattr(TensorProto, element)
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], to=number),
        helper.make_node("Transpose", ["a"], ["b"]),
        helper.make_node("Reshape", ["b", "shape"], ["c"]),
        helper.make_node("Cast", ["c"], ["y"], to=TensorProto.FLOAT),
    ]
    made = model(nodes, {"x": (TensorProto.FLOAT, [2, 3])}, ["c", "y"], shape=np.array([6]))
    x = np.float32([[0, 1, 2], [1, 0.5, 3]])
    kind = np.dtype(helper.tensor_dtype_to_np_dtype(number))
    c, y = baracuda.onnx.load(made)(x)
    assert c.dtype == kind
    assert np.array_equal(c.astype(np.float32), y)
    own, own_y = baracuda.onnx.load(made, device=OWN)(baracuda.to_device(x, OWN))
    assert isinstance(own, Coded)
    assert isinstance(own.codes, baracuda.Array)
    assert own.dtype == kind
    assert np.array_equal(own.numpy().view(np.uint8), c.view(np.uint8))
    assert np.array_equal(baracuda.to_host(own_y), y)
    again = model(nodes[1:], {"a": (number, [2, 3])}, ["y"], shape=np.array([6]))
    a = np.reshape(c, (3, 2)).T
    for device, given in ((None, a), (OWN, a), (OWN, Coded(baracuda.to_device(a.view(np.uint8), OWN), kind))):
        assert np.array_equal(baracuda.to_host(baracuda.onnx.load(again, device=device)(given)), y)


def test_shapes_are_known_at_load() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Add", ["a", "x"], ["b"]),
        helper.make_node("SequenceConstruct", ["b", "a"], ["s"]),
        helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0),
        helper.make_node("Shape", ["x"], ["n"]),
    ]
    f = baracuda.onnx.load(model(nodes, {"x": (TensorProto.FLOAT, ["batch", 4])}, ["y", "n"], w=np.eye(4, dtype=np.float32)))
    assert f.shapes["a"].shape == f.shapes["b"].shape == ("batch", 4)
    assert f.shapes["a"].element == np.float32
    assert f.shapes["n"].shape == (2,)
    assert str(f.shapes["s"]) == "sequence of float32 (batch, 4)"
    assert "w" not in f.shapes
    found = f.describe()
    assert [v.name for v in found.inputs] == ["x"]
    assert [v.name for v in found.values] == ["a", "b", "s"]
    assert str(found).splitlines()[:2] == ["inputs", "  x: float32 (batch, 4)"]
    with pytest.raises(baracuda.InvalidProblemError, match=r"'x': shape \(3, 5\); expected \(batch, 4\)"):
        f(np.zeros((3, 5), np.float32))
    with pytest.raises(baracuda.InvalidProblemError, match=r"'x' is None; expected float32 \(batch, 4\)"):
        f(None)


F32, S64 = TensorProto.FLOAT, TensorProto.INT64


@pytest.mark.parametrize(
    ("node", "inputs", "said", "message"),
    [
        (("Add", "ab"), {"a": (F32, [2]), "b": (F32, [3])}, None, r"node 'n' .*'a' float32 \(2\), 'b' float32 \(3\)"),
        (("Add", "ab"), {"a": (F32, [2]), "b": (S64, [2])}, None, "inconsistent type"),
        (("MatMul", "ab"), {"a": (F32, [2, 3]), "b": (F32, [2, 3])}, None, "Incompatible dimensions"),
        (("Add", "ab"), {"a": (F32, [2]), "b": (F32, ["n"])}, (F32, [3]), r"'y' float32 \(2\); the model says float32 \(3\)"),
        (("Neg", "a"), {"a": (F32, [2])}, (S64, [2]), r"makes 'y' float32 \(2\); the model says int64 \(2\)"),
        (("Neg", "a"), {"a": (F32, [2])}, (F32, [2, 1]), r"makes 'y' float32 \(2\); the model says float32 \(2, 1\)"),
        (("Shape", "a"), {"a": (F32, [2])}, (F32, [1]), "the model says float32"),
    ],
)
def test_what_does_not_fit_is_an_error_at_load(node: Any, inputs: Any, said: Any, message: str) -> None:
    made = model([helper.make_node(node[0], list(node[1]), ["y"], name="n")], inputs, {"y": said})
    with pytest.raises(baracuda.InvalidProblemError, match=message):
        baracuda.onnx.load(made)


def test_lengths_that_a_file_names_take_no_memory_at_load() -> None:
    """ONNX's own inference of the whole graph writes out a shape of as many extents."""
    huge = 1 << 40
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["a"]),
        helper.make_node("Cast", ["a"], ["s"], to=S64),
        helper.make_node("ConstantOfShape", ["s"], ["y"]),
    ]
    f = baracuda.onnx.load(model(nodes, {"x": (F32, [huge])}, ["y"]))
    assert f.shapes["a"].shape == (huge,)
    assert f.shapes["y"].shape is None


def test_random_operators_without_a_seed_draw_from_that_of_load() -> None:
    nodes = [
        helper.make_node("RandomNormal", [], ["a"], shape=[4]),
        helper.make_node("RandomNormal", [], ["b"], shape=[4]),
        helper.make_node("Bernoulli", ["p"], ["c"]),
        helper.make_node("Multinomial", ["p"], ["d"], sample_size=6),
        helper.make_node("Dropout", ["p", "half", "yes"], ["e", "g"]),
        helper.make_node("RandomUniformLike", ["p"], ["f"], seed=1.0),
    ]
    constants = {"half": np.float32(0.5), "yes": np.bool_(True)}
    made = model(nodes, {"p": (F32, [2, 4])}, list("abcdefg"), **{n: np.asarray(v) for n, v in constants.items()})
    p = np.full((2, 4), 0.5, np.float32)
    first, again, other = (baracuda.onnx.load(made, seed=s)(p) for s in (0, 0, 1))
    for x, y, own in zip(first, again, baracuda.onnx.load(made, device=OWN)(p), strict=True):
        assert np.array_equal(x, y)
        assert np.array_equal(x, baracuda.to_host(own))
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], other[0])
    assert np.array_equal(first[5], other[5])
    assert np.array_equal(first[4], first[6])  # 0.5 / (1 - 0.5) where an element stays
    assert set(first[3].reshape(-1).tolist()) <= set(range(4))
    assert first[3].dtype == np.int32
    with pytest.raises(baracuda.InvalidProblemError, match="seed: -1; expected an integer of 64 bits"):
        baracuda.onnx.load(made, seed=-1)


def test_multinomial_draws_by_logarithms_of_weights() -> None:
    made = model([helper.make_node("Multinomial", ["x"], ["y"], sample_size=4000, dtype=S64)], {"x": (F32, [1, 3])}, ["y"])
    y = baracuda.onnx.load(made)(np.log(np.float32([[1, 2, 5]])))
    assert y.dtype == np.int64
    np.testing.assert_allclose(np.bincount(y[0]) / 4000, [0.125, 0.25, 0.625], atol=0.03)


def test_inputs_come_from_any_library_and_device() -> None:
    made = model([helper.make_node("Neg", ["x"], ["y"])], {"x": (TensorProto.BFLOAT16, [2])}, ["y"])
    x = np.array([1, -2], ml_dtypes.bfloat16)
    for device in (None, OWN):
        f = baracuda.onnx.load(made, device=device)
        for given in (x, torch.tensor([1, -2], dtype=torch.bfloat16), baracuda.to_device(x, OWN), numpy_helper.from_array(x)):
            y = f(given)
            assert type(y) is (np.ndarray if device is None else baracuda.Array)
            assert (y if device is None else baracuda.to_host(y)).tolist() == [-1, 2]
    with pytest.raises(baracuda.InvalidProblemError, match="'x': element float32; expected bfloat16"):
        f(torch.ones(2))
    with pytest.raises(baracuda.InvalidProblemError, match="'x'"):
        f(object())


def test_arithmetic_chooses_products() -> None:
    made = model([helper.make_node("MatMul", ["x", "x"], ["y"])], {"x": (F32, [64, 64])}, ["y"])
    x = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    usual, reproducible, fastest = (baracuda.onnx.load(made, arithmetic=a)(x) for a in (None, "reproducible", "fastest"))
    assert np.array_equal(usual, reproducible)
    with baracuda.preferring(baracuda.PlanPreference(fastest=True)):
        assert np.array_equal(fastest, baracuda.matmul(x, x))
    with pytest.raises(baracuda.InvalidProblemError, match="arithmetic: 'fast'; expected None or one of reproducible, pinned"):
        baracuda.onnx.load(made, arithmetic="fast")  # type: ignore[arg-type]


def test_determinants() -> None:
    f = baracuda.onnx.load(model([helper.make_node("Det", ["x"], ["y"])], {"x": (TensorProto.DOUBLE, ["n", "m", "k"])}, ["y"]))
    x = np.random.default_rng(1).normal(size=(3, 5, 5))
    x[1, :, 2] = x[1, :, 0]
    np.testing.assert_allclose(f(x), np.linalg.det(x), rtol=1e-12, atol=1e-12)
    assert f(np.zeros((2, 0, 0))).tolist() == [1, 1]
    with pytest.raises(baracuda.InvalidProblemError, match="expected square matrices"):
        f(np.zeros((1, 2, 3)))


def test_scan_of_version_8_takes_lengths() -> None:
    kinds = [helper.make_tensor_value_info(n, F32, [2]) for n in ("s", "x")]
    made = [helper.make_tensor_value_info(n, F32, [2]) for n in ("t", "y")]
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "x"], ["t"]), helper.make_node("Identity", ["t"], ["y"])], "b", kinds, made
    )
    node = helper.make_node("Scan", ["n", "s0", "xs"], ["last", "sums"], num_scan_inputs=1, body=body)
    inputs = {"n": (S64, [2]), "s0": (F32, [2, 2]), "xs": (F32, [2, 3, 2])}
    f = baracuda.onnx.load(model([node], inputs, ["last", "sums"], opset=8))
    last, sums = f(np.array([3, 1]), np.zeros((2, 2), np.float32), np.ones((2, 3, 2), np.float32))
    assert last[:, 0].tolist() == [3, 1]
    assert sums[:, :, 0].tolist() == [[1, 2, 3], [1, 0, 0]]
    with pytest.raises(baracuda.InvalidProblemError, match="sequence_lens: 4; expected 1 to 3"):
        f(np.array([4, 1]), np.zeros((2, 2), np.float32), np.ones((2, 3, 2), np.float32))
