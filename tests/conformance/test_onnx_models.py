"""Models of others, against onnxruntime: those that packages of PyPI bring, and those that PyTorch exports."""

from __future__ import annotations

import importlib.util
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

import baracuda
import baracuda.onnx
from baracuda.onnx.placement import to_numpy
from tests.conformance import real_models

#: How far f32 may be from onnxruntime's, of values up to 1 and above: probabilities, but the state of silero's network.
CLOSE = {"magika": 1e-3, "silero_vad": 5e-6, "cls": 2e-6, "rec": 3e-5, "det": 2e-4}


def runtime(model: Any) -> Any:
    """onnxruntime's own session of a path or bytes."""
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 2, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda given: session.run(None, given)


@pytest.mark.parametrize("name", real_models.FILES)
def test_models_of_packages_agree_with_onnxruntime(name: str) -> None:
    path = real_models.path(name)
    if path is None:
        pytest.skip(f"{real_models.FILES[name][0]} is not installed")
    model = baracuda.onnx.load(path)
    found = list(real_models.outputs(name, lambda given: to_numpy(model.run((), given))))
    expected = list(real_models.outputs(name, runtime(str(path))))
    for x, y in zip(found, expected, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=CLOSE[name])
    own = baracuda.onnx.load(path, device=baracuda.Device.cpu())
    for x, y in zip(real_models.outputs(name, lambda given: to_numpy(own.run((), given))), found, strict=True):
        assert np.array_equal(x, y)
    if name in ("magika", "cls"):  # a row by itself is the row among others
        assert np.array_equal(found[1], found[0][1:2])


def test_magika_is_nearer_to_exact_results_than_onnxruntime() -> None:
    """Its distance from onnxruntime is onnxruntime's error: the same model in f64 says so."""
    path = real_models.path("magika")
    if path is None:
        pytest.skip("magika is not installed")
    exact = baracuda.onnx.load(doubled(onnx.load(path)))
    ours, theirs, x = baracuda.onnx.load(path), runtime(str(path)), next(real_models._files())
    wanted = exact(x)
    assert np.abs(ours(x) - wanted).max() < 1e-5
    assert np.abs(ours(x) - wanted).max() < np.abs(theirs({"bytes": x})[0] - wanted).max()


def doubled(model: Any) -> Any:
    """A model of f32 in f64."""
    single, double = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE

    def wide(t: Any) -> None:
        if t.data_type == single:
            t.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(t).astype(np.float64), t.name))

    for t in model.graph.initializer:
        wide(t)
    for node in model.graph.node:
        for a in node.attribute:
            wide(a.t)
            if node.op_type == "Cast" and a.i == single:
                a.i = double
    del model.graph.value_info[:]
    for v in (*model.graph.input, *model.graph.output):
        if v.type.tensor_type.elem_type == single:
            v.type.tensor_type.elem_type = double
    return model


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.LSTM(8, 12, 2, batch_first=True, bidirectional=True)
        self.second = torch.nn.GRU(24, 6, batch_first=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.second(self.first(x)[0])


class Convolutional(torch.nn.Module):
    """A residual block between a stem and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 7, 2, 3), torch.nn.BatchNorm2d(8), torch.nn.MaxPool2d(3, 2, 1))
        self.block = torch.nn.Sequential(torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.GELU(), torch.nn.GroupNorm(2, 8))
        self.head = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 5))

    def forward(self, x: torch.Tensor) -> Any:
        x = self.stem(x)
        x = torch.nn.functional.interpolate(x + self.block(x), scale_factor=2.0, mode="bilinear")
        return self.head(x).softmax(-1)


class Attending(torch.nn.Module):
    """A causal block over tokens, whose number is open."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.norm = torch.nn.Embedding(30, 16), torch.nn.LayerNorm(16)
        self.mixed, self.out = torch.nn.Linear(16, 48), torch.nn.Linear(16, 30)

    def forward(self, x: torch.Tensor) -> Any:
        n, length = x.shape
        y = self.norm(self.tokens(x))
        q, k, v = (t.reshape(n, length, 2, 8).transpose(1, 2) for t in self.mixed(y).chunk(3, -1))
        made = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y + made.transpose(1, 2).reshape(n, length, 16)).argmax(-1), y


EXPORTED = {
    "recurrent": (Recurrent, (2, 5, 8), (3, 5, 8), {0: "batch"}),
    "convolutional": (Convolutional, (2, 3, 32, 32), (3, 3, 32, 48), {0: "batch", 3: "width"}),
    "attending": (Attending, (2, 7), (3, 11), {0: "batch", 1: "length"}),
}


@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize("name", EXPORTED)
def test_models_that_pytorch_exports(name: str, dynamo: bool) -> None:
    if dynamo and importlib.util.find_spec("onnxscript") is None:
        pytest.skip("onnxscript is not installed")
    made, shape, other, axes = EXPORTED[name]
    torch.manual_seed(0)
    module = made().eval()

    def given(of: tuple[int, ...]) -> torch.Tensor:
        return torch.randint(0, 30, of) if name == "attending" else torch.randn(of)

    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dynamo:
            sizes = (dict.fromkeys(axes, torch.export.Dim.DYNAMIC),)
            torch.onnx.export(module, (given(shape),), buffer, dynamo=True, dynamic_shapes=sizes, verbose=False)
        else:
            torch.onnx.export(module, (given(shape),), buffer, dynamo=False, input_names=["x"], dynamic_axes={"x": axes})
    f = baracuda.onnx.load(buffer.getvalue())
    for of in (shape, other):
        x = given(of)
        with torch.no_grad():
            expected = module(x)
        found = f.run((x.numpy(),))
        assert len(found) == len(expected) if isinstance(expected, tuple) else 1
        for y, e in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
            np.testing.assert_allclose(y, e.numpy(), rtol=1e-4, atol=1e-5)


TRANSFORMERS = {
    "BertModel": ("BertConfig", {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 48}),
    "GPT2LMHeadModel": ("GPT2Config", {"n_layer": 2, "n_embd": 32, "n_head": 2, "bos_token_id": 0, "eos_token_id": 0}),
    "LlamaForCausalLM": (
        "LlamaConfig",
        {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48},
    ),
    "ViTModel": ("ViTConfig", {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 48,
                               "image_size": 32, "patch_size": 8}),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_that_pytorch_exports(name: str, full: bool, tmp_path: Path) -> None:
    if not full and name != "GPT2LMHeadModel":
        pytest.skip("runs with --full")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("onnxscript")
    config, words = TRANSFORMERS[name]
    torch.manual_seed(0)
    try:
        settings = getattr(transformers, config)(**words, **({} if name == "ViTModel" else {"vocab_size": 50}))
        module = getattr(transformers, name)(settings).eval()
    except ModuleNotFoundError as error:  # what transformers says of a torchvision that cannot be loaded
        pytest.skip(str(error))
    module.config.use_cache = False

    class First(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, x: torch.Tensor) -> Any:
            return self.inner(x)[0]

    def given(batch: int, length: int) -> torch.Tensor:
        return torch.randn(batch, 3, 32, 32) if name == "ViTModel" else torch.randint(0, 50, (batch, length))

    dynamic = torch.export.Dim.AUTO
    sizes = ({0: dynamic} if name == "ViTModel" else {0: dynamic, 1: dynamic},)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = tmp_path / "model.onnx"
        torch.onnx.export(First(), (given(2, 7),), path, dynamo=True, dynamic_shapes=sizes, verbose=False)
    f = baracuda.onnx.load(path)
    for x in (given(2, 7), given(3, 11)):
        with torch.no_grad():
            expected = First()(x).numpy()
        np.testing.assert_allclose(f(x.numpy()), expected, rtol=1e-4, atol=1e-5)
