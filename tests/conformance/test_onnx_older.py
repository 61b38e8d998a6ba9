"""Models of older operator sets: node tests that ONNX's converter takes down, and operators as they were before version 7."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, version_converter

import baracuda
import baracuda.onnx
from baracuda.onnx import backend
from tests.conformance.onnx_cases import FAILING, _compare, cases, reason

#: What the converter leaves as it is though it means something else in the older version.
WRONGLY_CONVERTED = ("test_softmax_axis", "test_logsoftmax_axis", "test_flexattention", "test_scan9", "test_prelu_broadcast")
TARGETS = (1, 6, 7, 8, 9, 10, 11, 12, 13, 15, 17, 18, 20, 21, 23)


def test_node_tests_of_older_versions(full: bool) -> None:
    """Each version that an operator of a case had, down to the first."""
    if not full:
        pytest.skip("runs with --full")
    failed, ran = [], 0
    chosen = [c for c in cases() if not reason(c) and c.name not in FAILING and not c.name.startswith(WRONGLY_CONVERTED)]
    for case in chosen:
        version = next((i.version for i in case.model.opset_import if not i.domain), 0)
        seen = set()
        for target in (t for t in TARGETS if t < version):
            try:
                made = version_converter.convert_version(case.model, target)
                onnx.checker.check_model(made, full_check=True)
            except Exception:  # what the converter cannot do, or does wrong
                continue
            of = tuple(
                (n.op_type, onnx.defs.get_schema(n.op_type, target).since_version) for n in made.graph.node if not n.domain
            )
            if of in seen:
                continue
            seen.add(of)
            try:
                prepared = backend.Prepared(baracuda.onnx.load(made))
                with np.errstate(all="ignore"):
                    for inputs, outputs in case.data_sets:
                        _compare(outputs, prepared.run(list(inputs)), case)
            except Exception as e:
                failed.append(f"{case.name} in version {target}: {type(e).__name__}: {e}")
            ran += 1
    assert not failed, "\n".join(failed)
    assert ran > 1800


def run(operator: str, *inputs: Any, version: int, outputs: int = 1, **attributes: Any) -> Any:
    names = [f"x{i}" for i in range(len(inputs))]
    kinds = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype), np.shape(x))
        for n, x in zip(names, inputs, strict=True)
    ]
    made = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(operator, names, made, **attributes)
    graph = helper.make_graph([node], "test", kinds, [helper.make_empty_tensor_value_info(n) for n in made])
    found = baracuda.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])).run(inputs)
    return found[0] if outputs == 1 else found


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: run("Add", X, X[0, :, 0], version=6, broadcast=1, axis=1), X + X[0, :, 0][:, None]),
        (lambda: run("Sub", X, X[0, 0], version=1, broadcast=1, consumed_inputs=[0, 0]), X - X[0, 0]),
        (lambda: run("Mul", X, X[0], version=6, broadcast=1, axis=-2), X * X[0]),
        (lambda: run("Greater", X, X[0, 0], version=1, broadcast=1), X[0, 0] < X),
        (lambda: run("Relu", X - 5, version=1, consumed_inputs=[1]), np.maximum(X - 5, 0)),
        (lambda: run("Clip", X, version=1, min=3.0, max=7.0), np.clip(X, 3, 7)),
        (lambda: run("PRelu", X - 12, np.float32([0, 1, 2]), version=6),
         np.where(X > 12, X - 12, (X - 12) * np.float32([0, 1, 2])[:, None])),
        (lambda: run("Gemm", X[0], X[1].T, X[0, :, 0], version=6, broadcast=1), X[0] @ X[1].T + X[0, :, 0]),
        (lambda: run("Reshape", X, version=1, shape=[0, -1]), X.reshape(2, -1)),
        (lambda: run("Cast", X, version=1, to="INT64"), X.astype(np.int64)),
        (lambda: run("Concat", X, X, version=1), np.concatenate((X, X), 1)),
        (lambda: run("Pad", X, version=1, paddings=[0, 0, 1, 0, 0, 2], value=9.0),
         np.pad(X, ((0, 0), (0, 0), (1, 2)), constant_values=9)),
        (lambda: run("Split", X, version=1, outputs=2, axis=2, split=[1, 3])[1], X[:, :, 1:]),
        (lambda: run("Tile", X, np.float32([2]), np.float32([1]), version=1), np.tile(X, (1, 2, 1))),
        (lambda: run("Upsample", X[None], version=1, height_scale=2.0, width_scale=1.0), X[None].repeat(2, 2)),
        (lambda: run("GlobalLpPool", X, version=1, p=1.0), np.abs(X).sum(2, keepdims=True)),
        (lambda: run("Dropout", X, version=6, is_test=1), X),
        (lambda: run("BatchNormalization", X, *(np.float32([a] * 3) for a in (2, 1, 5, 4)), version=6, is_test=1, epsilon=0.0),
         X - 4),
    ],
)  # fmt: skip
def test_operators_as_they_were(found: Any, expected: np.ndarray) -> None:
    y = found()
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_what_they_do_not_take_is_said() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match="without broadcast; expected one shape"):
        run("Add", X, X[0, 0], version=6)
    with pytest.raises(baracuda.UnsupportedError, match="Dropout with is_test = 0 is training"):
        run("Dropout", X, version=6)
    with pytest.raises(baracuda.InvalidProblemError, match="to: 'int'; expected the name of an element"):
        run("Cast", X, version=1, to="int")
    assert TensorProto.DataType.Value("INT64") == 7
