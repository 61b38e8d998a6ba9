"""Operators of onnxruntime's domain: against NumPy, and against onnxruntime where it is installed."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import baracuda
import baracuda.onnx

Arrays = dict[str, Any]
draw = np.random.default_rng(7)


def f32(*shape: int) -> np.ndarray:
    return draw.normal(size=shape).astype(np.float32)


def u8(*shape: int) -> np.ndarray:
    return draw.integers(0, 256, shape).astype(np.uint8)


erf = np.vectorize(math.erf)


def gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + erf(x / np.sqrt(2))) / 2


def tanh_gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def layer_norm(x: np.ndarray, weight: Any, bias: Any = 0.0, eps: float = 1e-12) -> np.ndarray:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps) * weight + bias


def rms_norm(x: np.ndarray, weight: Any, eps: float) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def attended(q: Any, k: Any, v: Any, heads: int, mask: Any = 0.0, causal: bool = False) -> np.ndarray:
    """Of (batch, length, heads * width)."""
    q, k, v = (t.reshape(*t.shape[:2], heads, -1).swapaxes(1, 2) for t in (q, k, v))
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1]) + mask
    if causal:
        n, m = scores.shape[2:]
        scores = np.where(np.tril(np.ones((n, m), bool), m - n), scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    made = (shares / shares.sum(-1, keepdims=True)) @ v
    return made.swapaxes(1, 2).reshape(q.shape[0], q.shape[2], -1)


def rotated(x: Any, at: Any, cos: Any, sin: Any, interleaved: bool) -> np.ndarray:
    """Of (batch, heads, length, width)."""
    c, s = cos[at][:, None], sin[at][:, None]
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else np.split(x, 2, -1)
    first, second = a * c - b * s, b * c + a * s
    return np.stack((first, second), -1).reshape(x.shape) if interleaved else np.concatenate((first, second), -1)


def quantized(y: Any, scale: Any, zero: Any) -> np.ndarray:
    return np.clip(np.rint(y / scale) + zero, 0, 255).astype(np.uint8)


def unpacked(codes: np.ndarray, bits: int) -> np.ndarray:
    made = np.stack([codes >> p & ((1 << bits) - 1) for p in range(0, 8, bits)], -1)
    return made.reshape(*codes.shape[:-1], -1)


def weights_of(a: Arrays, n: int, k: int, block: int, bits: int) -> np.ndarray:
    blocks = -(-k // block)
    zero = unpacked(a["z"].reshape(n, -1), bits)[:, :blocks, None] if "z" in a else 1 << (bits - 1)
    codes = unpacked(a["b"].reshape(n, -1), bits).reshape(n, blocks, block)
    return ((codes.astype(np.float64) - zero) * a["s"].reshape(n, blocks, 1)).reshape(n, -1)[:, :k]


def added_norm(a: Arrays) -> list[np.ndarray]:
    total = a["x"] + a["skip"] + a["bias"]
    return [layer_norm(total, a["g"], a["b"]), None, None, total]


def biased_heads(a: Arrays) -> list[np.ndarray]:
    q, k, v = (a[n] + b for n, b in zip("qkv", np.split(a["bias"], 3), strict=True))
    mask = np.where(a["m"], 0, -10000.0)[:, None, None]
    return [attended(q, k, v, 2, mask)]


def projected(a: Arrays, **words: Any) -> list[np.ndarray]:
    return [attended(*np.split(a["x"] @ a["w"] + a["bias"], 3, -1), 2, **words)]


def codes(op: Callable[..., Any]) -> Callable[[Arrays], list[np.ndarray]]:
    def run(a: Arrays) -> list[np.ndarray]:
        values = [(a[n].astype(np.float64) - a[f"{n}z"]) * a[f"{n}s"] for n in ("x", "y") if n in a]
        return [quantized(op(*values), a["s"], a["z"])]

    return run


def scaled(prefix: str, *shape: int) -> Arrays:
    return {prefix: u8(*shape), f"{prefix}s": np.float32(0.02), f"{prefix}z": np.uint8(120)}


TO: Arrays = {"s": np.float32(0.03), "z": np.uint8(128)}
NORMED: Arrays = {"x": f32(2, 3, 8), "skip": f32(2, 3, 8), "g": f32(8)}
TOKENS: Arrays = {"ids": np.array([[1, 2, 4], [0, 3, 3]], np.int32), "seg": np.array([[0, 0, 1], [0, 1, 1]], np.int32)}
ROTATED: Arrays = {"x": f32(2, 2, 3, 8), "at": np.array([[0, 1, 2], [4, 5, 6]]), "c": f32(9, 4), "s": f32(9, 4)}
#: By name: operator, inputs in order (a name of "" is left out), attributes, results; None for one that is not compared.
CASES: dict[str, tuple[str, Arrays, dict[str, Any], Callable[[Arrays], list[Any]]]] = {
    "Gelu": ("Gelu", {"x": f32(3, 5)}, {}, lambda a: [gelu(a["x"])]),
    "QuickGelu": ("QuickGelu", {"x": f32(3, 5)}, {}, lambda a: [a["x"] * sigmoid(1.702 * a["x"])]),
    "BiasGelu": ("BiasGelu", {"x": f32(3, 5), "b": f32(5)}, {}, lambda a: [gelu(a["x"] + a["b"])]),
    "FastGelu": ("FastGelu", {"x": f32(3, 5), "b": f32(5)}, {}, lambda a: [tanh_gelu(a["x"] + a["b"])]),
    "FusedMatMul": ("FusedMatMul", {"a": f32(2, 4, 3), "b": f32(2, 5, 4)}, {"alpha": 0.5, "transA": 1, "transB": 1},
                    lambda a: [0.5 * a["a"].swapaxes(1, 2) @ a["b"].swapaxes(1, 2)]),
    "FusedGemm": ("FusedGemm", {"a": f32(2, 4), "b": f32(4, 3), "c": f32(3)}, {"activation": "Relu"},
                  lambda a: [np.maximum(a["a"] @ a["b"] + a["c"], 0)]),
    "SkipLayerNormalization": ("SkipLayerNormalization", {**NORMED, "b": f32(8), "bias": f32(8)}, {}, added_norm),
    "SkipSimplifiedLayerNormalization": ("SkipSimplifiedLayerNormalization", NORMED, {"epsilon": 1e-5},
                                         lambda a: [rms_norm(a["x"] + a["skip"], a["g"], 1e-5), None, None, a["x"] + a["skip"]]),
    "EmbedLayerNormalization": ("EmbedLayerNormalization",
                                {**TOKENS, "w": f32(5, 8), "p": f32(4, 8), "k": f32(2, 8), "g": f32(8), "b": f32(8),
                                 "mask": np.array([[1, 1, 0], [1, 1, 1]], np.int32)}, {},
                                lambda a: [layer_norm(a["w"][a["ids"]] + a["p"][:3] + a["k"][a["seg"]], a["g"], a["b"]),
                                           a["mask"].sum(1)]),
    "MultiHeadAttention": ("MultiHeadAttention", {"q": f32(2, 3, 8), "k": f32(2, 5, 8), "v": f32(2, 5, 8)}, {"num_heads": 2},
                           lambda a: [attended(a["q"], a["k"], a["v"], 2)]),
    "MultiHeadAttention with bias and mask": ("MultiHeadAttention",
                                              {"q": f32(2, 3, 8), "k": f32(2, 5, 8), "v": f32(2, 5, 8), "bias": f32(24),
                                               "m": np.array([[1, 1, 1, 0, 1], [1, 0, 1, 1, 1]], np.int32)},
                                              {"num_heads": 2}, biased_heads),
    "Attention": ("Attention", {"x": f32(2, 4, 8), "w": f32(8, 24), "bias": f32(24)}, {"num_heads": 2}, projected),
    "Attention, causal": ("Attention", {"x": f32(2, 4, 8), "w": f32(8, 24), "bias": f32(24)},
                          {"num_heads": 2, "unidirectional": 1}, lambda a: projected(a, causal=True)),
    "Attention with lengths": ("Attention",
                               {"x": f32(2, 4, 8), "w": f32(8, 24), "bias": f32(24), "m": np.array([3, 4], np.int32)},
                               {"num_heads": 2},
                               lambda a: projected(a, mask=np.where(np.arange(4) < a["m"][:, None], 0, -1e4)[:, None, None])),
    "RotaryEmbedding": ("RotaryEmbedding", ROTATED, {}, lambda a: [rotated(a["x"], a["at"], a["c"], a["s"], False)]),
    "RotaryEmbedding, interleaved": ("RotaryEmbedding", ROTATED, {"interleaved": 1},
                                     lambda a: [rotated(a["x"], a["at"], a["c"], a["s"], True)]),
    "QLinearAdd": ("QLinearAdd", {**scaled("x", 3, 5), **scaled("y", 5), **TO}, {}, codes(np.add)),
    "QLinearMul": ("QLinearMul", {**scaled("x", 3, 5), **scaled("y", 5), **TO}, {}, codes(np.multiply)),
    "QLinearSigmoid": ("QLinearSigmoid", {**scaled("x", 3, 5), "s": np.float32(1 / 256), "z": np.uint8(0)}, {}, codes(sigmoid)),
    "QLinearLeakyRelu": ("QLinearLeakyRelu", {**scaled("x", 3, 5), **TO}, {"alpha": 0.1},
                         codes(lambda x: np.where(x > 0, x, 0.1 * x))),
    "MatMulIntegerToFloat": ("MatMulIntegerToFloat",
                             {"a": u8(3, 4), "b": u8(4, 5), "as": np.float32(0.1), "bs": np.float32(0.02),
                              "az": np.uint8(9), "bz": np.uint8(130)}, {},
                             lambda a: [(a["a"].astype(int) - 9) @ (a["b"].astype(int) - 130) * (0.1 * 0.02)]),
    **{f"MatMulNBits of {bits} bits{', zero points' * zero}": (
        "MatMulNBits",
        {"a": f32(3, 40), "b": u8(5, 3, 16 * bits // 8), "s": f32(5 * 3), **({"z": u8(5 * -(-3 * bits // 8))} if zero else {})},
        {"K": 40, "N": 5, "bits": bits, "block_size": 16},
        lambda a, bits=bits: [a["a"] @ weights_of(a, 5, 40, 16, bits).T],
    ) for bits in (4, 8) for zero in (False, True)},
}  # fmt: skip


def made(operator: str, inputs: Arrays, attributes: dict[str, Any], count: int) -> Any:
    outputs = [f"y{i}" for i in range(count)]
    names = list(inputs)
    if operator == "MultiHeadAttention" and "bias" in inputs:
        names = ["q", "k", "v", "bias", "m"]
    node = helper.make_node(operator, names, outputs, domain="com.microsoft", **attributes)
    kinds = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype), np.shape(x))
        for n, x in inputs.items()
    ]
    graph = helper.make_graph([node], "test", kinds, [helper.make_empty_tensor_value_info(n) for n in outputs])
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


@pytest.mark.parametrize("name", CASES)
def test_operators_of_onnxruntime(name: str) -> None:
    operator, inputs, attributes, reference = CASES[name]
    expected = reference({n: x.astype(np.float64) if x.dtype == np.float32 else x for n, x in inputs.items()})
    model = made(operator, inputs, attributes, len(expected))
    found = baracuda.onnx.load(model).run((), inputs)
    steps = 1 if found[0].dtype == np.uint8 else 1e-5
    for y, e in zip(found, expected, strict=True):
        if e is not None:
            np.testing.assert_allclose(y.astype(np.float64), e, rtol=steps if steps < 1 else 0, atol=steps)
    own = baracuda.onnx.load(model, device=baracuda.Device.cpu()).run((), inputs)
    for y, o in zip(found, own, strict=True):
        assert y is o is None or np.array_equal(y, baracuda.to_host(o))
    if importlib.util.find_spec("onnxruntime"):
        import onnxruntime

        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for y, e, theirs in zip(found, expected, session.run(None, {n: np.asarray(x) for n, x in inputs.items()}), strict=True):
            if e is not None:
                assert y.dtype == theirs.dtype
                np.testing.assert_allclose(y.astype(np.float64), theirs, rtol=1e-4 if steps < 1 else 0, atol=steps)


def test_what_is_not_served_of_them_is_said() -> None:
    wrong = made("FusedGemm", {"a": f32(2, 4), "b": f32(4, 3)}, {"activation": "Elu"}, 1)
    with pytest.raises(baracuda.UnsupportedError, match="activation 'Elu'"):
        baracuda.onnx.load(wrong)(f32(2, 4), f32(4, 3))
    with pytest.raises(baracuda.UnsupportedError, match=r"operator NhwcMaxPool of domain 'com.microsoft' in version 1"):
        baracuda.onnx.load(made("NhwcMaxPool", {"x": u8(1, 4, 4, 1)}, {}, 1))
    short = {"a": f32(3, 40), "b": u8(5, 2, 8), "s": f32(15)}
    with pytest.raises(baracuda.InvalidProblemError, match=r"B: shape \(5, 2, 8\); expected \(5, 3, 8\)"):
        baracuda.onnx.load(made("MatMulNBits", short, {"K": 40, "N": 5, "block_size": 16}, 1)).run((), short)
    assert onnx.defs.onnx_opset_version() > 20
